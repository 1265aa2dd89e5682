"""Exceptions of the graph package, and functions that compose their messages.

All packages use both. Users find the most common exceptions in `occelo`, the others in `occelo_graph` and `occelo_rewrite`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from occelo_graph.ir.nodes import Apply, Variable

__all__ = [
    "ConflictingAssumptionsError",
    "DisconnectedInputError",
    "GradientError",
    "InconsistencyError",
    "MethodNotDefined",
    "MissingInputError",
    "NullTypeGradError",
    "OcceloError",
    "ReplacementDidNotRemoveError",
    "SavedGraphError",
    "UnusedInputError",
    "WrongResultError",
    "at_node",
    "broadcasting_hint",
    "describe",
    "in_context",
    "lines",
]


class OcceloError(Exception):
    """Base of the exceptions that only this library raises."""


class MissingInputError(OcceloError, ValueError):
    """A graph needs a root variable that is not among its inputs."""


class UnusedInputError(OcceloError, ValueError):
    """An input is listed twice, or is not needed for any output."""


class InconsistencyError(OcceloError):
    """A change would leave a graph that cannot be computed in any order."""


class ReplacementDidNotRemoveError(OcceloError):
    """A replacement promised to remove nodes that are still in use."""


class MethodNotDefined(OcceloError, NotImplementedError):
    """An op lacks a method that was needed."""


class ConflictingAssumptionsError(OcceloError, ValueError):
    """Two assumptions about a variable contradict each other."""


class DisconnectedInputError(OcceloError, ValueError):
    """The cost of a gradient does not depend on the variable."""


class NullTypeGradError(OcceloError, TypeError):
    """A gradient that is not defined was needed."""


class GradientError(OcceloError, AssertionError):
    """An analytic gradient differs from its finite-difference estimate."""


class WrongResultError(OcceloError, TypeError):
    """An op computed something that is not of the type of its output."""


class SavedGraphError(OcceloError, ValueError):
    """A file does not hold a graph that this version can read."""


def describe(variable: Variable) -> str:
    """A variable in one line: its name or the op that computes it, its type, its source line."""
    source = variable.source
    where = f", made at {source}" if source is not None else ""
    return f"{variable} ({variable.type}){where}"


def with_arguments(error: Exception, variables: Iterable[Variable]) -> Exception:
    """The same error; its message ends with the arguments that an op refused."""
    listed = ", ".join(f"{v} ({v.type})" for v in variables)
    return type(error)(f"{error}; the arguments are {listed}")


def in_context(error: Exception, context: Sequence[str]) -> Exception:
    """The same exception with context lines before its message, which stays the last line.

    If the class cannot be constructed from a message alone, the context is added as a note.
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
    """The same exception, with the node where it happened and the line of the user's code that made the node."""
    source = node.source
    context = [f"While {doing} {node.op}" + (f", made at {source}:" if source is not None else ":")]
    if source is not None and source.text:
        context.append(f"    {source.text}")
    return in_context(error, context)


def broadcasting_hint(*lengths: int) -> str:
    """The end of a message about unequal lengths: which lengths of 1 broadcast, if one of these is 1; else nothing."""
    if 1 not in lengths:
        return ""
    return (
        "; a dimension broadcasts only if its length is known to be 1 when the graph is built "
        "(specify_broadcastable says so)"
    )


def lines(context: Iterable[str], cause: str) -> str:
    """Join context lines and the cause so that the cause is the last line."""
    return "\n".join([*context, cause])
