"""Exceptions, and functions that compose error messages. All packages import them from here.

Users find the most common exceptions in `occelo`, and the others in `occelo_graph` and `occelo_rewrite`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from occelo_graph.ir.nodes import Apply, Variable

_ADDRESS = r" at 0x[0-9a-fA-F]+"


class OcceloError(Exception):
    """Base class of the exceptions that Occelo defines."""


class MissingInputError(OcceloError, ValueError):
    """A root of a graph is not among its inputs, or has no value."""


class UnusedInputError(OcceloError, ValueError):
    """An input of a function is listed twice, or no output depends on it."""


class InconsistencyError(OcceloError):
    """A change would make a function graph invalid, for instance by a cycle, or by overwriting a constant."""


class ReplacementDidNotRemoveError(OcceloError):
    """A rewrite promised to remove nodes from a graph, but the graph still uses some of them."""


class MethodNotDefined(OcceloError, NotImplementedError):
    """An op, or another class, does not define an optional method that is needed."""


class ConflictingAssumptionsError(OcceloError, ValueError):
    """Two assumptions about one variable contradict each other, such as "positive" and "negative"."""


class DisconnectedInputError(OcceloError, ValueError):
    """A gradient was computed with respect to a variable on which the cost does not depend."""


class NullTypeGradError(OcceloError, TypeError):
    """A gradient is needed that is not defined, or not implemented."""


class GradientError(OcceloError, AssertionError):
    """An analytic gradient differs from its estimate by finite differences (`verify_grad`)."""


class WrongResultError(OcceloError, TypeError):
    """An op computed a value that does not have the type of the output."""


class SavedGraphError(OcceloError, ValueError):
    """A file does not contain a saved graph, or this version of Occelo cannot read it."""


def describe(variable: Variable) -> str:
    """A variable in one line for messages: its name or the op that computes it, its type, and its source line."""
    source = variable.source
    where = f", made at {source}" if source is not None else ""
    return f"{variable} ({variable.type}){where}"


_formula_writer: list[Callable[[Variable], str]] = []


def set_formula_writer(writer: Callable[[Variable], str]) -> None:
    """Let error messages show variables as ``writer`` writes them; `occelo_printing` has one for formulas."""
    _formula_writer[:] = [writer]


def formula_of(variable: Variable) -> str:
    """A variable in an error message: its name, or its formula if there is a writer (`set_formula_writer`)."""
    return variable.name or (_formula_writer[0] if _formula_writer else str)(variable)


def with_arguments(error: Exception, variables: Iterable[Variable]) -> Exception:
    """An error like ``error``, with a message that also lists ``variables``, the arguments that an op refused."""
    listed = ", ".join(f"{v} ({v.type})" for v in variables)
    return type(error)(f"{error}; the arguments are {listed}")


def in_context(error: Exception, context: Sequence[str]) -> Exception:
    """An exception like ``error``, with the lines of ``context`` in front of its message.

    If an exception of this class cannot be made from a message, ``error`` itself is returned, with the text as a note.
    """
    cause = str(error) or type(error).__name__
    try:
        made = type(error)(lines(context, cause))
        if str(made) != lines(context, cause):
            raise TypeError
    except Exception:
        error.add_note(lines(context, f"{type(error).__name__}: {cause}"))
        return error
    for note in getattr(error, "__notes__", ()):
        made.add_note(note)
    return made


def at_node(error: Exception, doing: str, node: Apply) -> Exception:
    """An exception like ``error``, with a message that names a node and the line of the user's code that made it.

    ``doing`` says in the message what was done with the node, such as "vectorizing".
    """
    source = node.source
    context = [f"While {doing} {node.op}" + (f", made at {source}:" if source is not None else ":")]
    if source is not None and source.text:
        context.append(f"    {source.text}")
    return in_context(error, context)


def broadcasting_hint(*lengths: int) -> str:
    """A text that ends messages about unequal ``lengths``. It explains when a length of 1 broadcasts.

    The text is empty if no length is 1.
    """
    if 1 not in lengths:
        return ""
    return (
        "; a dimension broadcasts only if its length is known to be 1 when the graph is built "
        "(specify_broadcastable says so)"
    )


def lines(context: Iterable[str], cause: str) -> str:
    """A message of several lines: the lines of ``context``, then ``cause``."""
    return "\n".join([*context, cause])


def without_address(text: str) -> str:
    """The ``repr`` of an object without its address in memory, which changes from run to run."""
    return re.sub(_ADDRESS, "", text) if " at 0x" in text else text
