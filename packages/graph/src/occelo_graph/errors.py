"""Exceptions, and functions that compose error messages. All packages import them from here.

Users find the most common exceptions in `occelo`, and the others in `occelo_graph` and `occelo_rewrite`.
"""

from __future__ import annotations

import functools
import re
import threading
from collections.abc import Callable, Iterable, Sequence
from types import FunctionType
from typing import TYPE_CHECKING, Any, ClassVar, ParamSpec, TypeVar

if TYPE_CHECKING:
    from occelo_graph.ir.nodes import Apply, Variable

_ADDRESS = r" at 0x[0-9a-fA-F]+"
_SEE = "See docs/errors"
_UNKNOWN = r"(?:\w+\.)*(\w+)\(\) (?:got an unexpected keyword argument '(\w+)'|missing .*)"
_OURS = ("occelo", "numpy", "scipy")
E = TypeVar("E", bound=BaseException)
P = ParamSpec("P")
R = TypeVar("R")


def explained(error: E, entry: str) -> E:
    """Return ``error`` with a note that names the ``entry`` of docs/errors.md which explains it.

    If there is an entry of the message itself (`set_hints`), the note names that one. An error that has a note
    keeps it: the place that raises an error knows more than the places that it passes. Only an entry of its class makes way.
    """
    notes = _notes(error)
    existing = next((note for note in notes if note.startswith(_SEE)), None)
    of_class = getattr(error, "entry", "")
    if existing is None or (of_class and existing == kind_note(of_class)):
        # the text of a KeyError is the repr of its message
        text = str(error.args[0] if isinstance(error, KeyError) and error.args else error)
        single = None if _caught.inside else hint_about("entries", text)
        note = _note(*single) if single else kind_note(entry)
        if existing is None:
            error.add_note(note)
        elif single:
            notes[notes.index(existing)] = note
    return error


def kind_note(entry: str) -> str:
    """The note of an error that names an ``entry`` of docs/errors.md. No entry of its message is looked for."""
    return _note("errors.md", entry)


def _note(page: str, title: str) -> str:
    return f"{_SEE}{page.removeprefix('errors')}#{title.lower()} (occelo errors {title})"


class _Caught(threading.local):
    inside: int = 0


_caught = _Caught()


class errors_are_caught:
    """A context manager for code that catches errors of its own, such as rules that try something.

    Errors that this thread raises in the ``with`` block name an entry of their kind: to find one of the message takes long.
    """

    __slots__ = ()

    def __enter__(self) -> None:
        _caught.inside += 1

    def __exit__(self, *_: object) -> None:
        _caught.inside -= 1


def _notes(error: BaseException) -> list[str]:
    return getattr(error, "__notes__", [])


def explained_by(entry: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """A decorator: errors that a function raises, and that name no entry of docs/errors.md, are explained by ``entry``.

    Errors of the user's own code that the function calls stay as they are.
    """

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        @functools.wraps(function)
        def explaining(*args: P.args, **kwargs: P.kwargs) -> R:
            try:
                return function(*args, **kwargs)
            except Exception as error:
                if _is_ours(error):
                    unknown = re.match(_UNKNOWN, str(error))
                    if unknown and unknown[1] == function.__name__:
                        hint = hint_about("parameters", function, unknown[2], *kwargs)
                        error.args = (unknown[0] + hint,)
                    explained(error, entry)
                raise

        vars(explaining)["entry"] = entry
        return explaining

    return decorate


_hints: dict[str, Callable[..., Any]] = {}


def set_hints(**hints: Callable[..., Any]) -> None:
    """Let errors say what ``parameters(function, parameter, *given)`` and ``names(name, owner)`` return about what is missing.

    ``entries(message)`` returns a page of docs and the title of the message's entry, or None if it has none. `occelo` sets
    all three. It reads its pages when the first error is raised.
    """
    _hints.update(hints)


def hint_about(kind: str, *missing: Any) -> Any:
    """What to write instead of a parameter or name that is missing. Empty if nothing is set (`set_hints`)."""
    return _hints[kind](*missing) if kind in _hints else ""


def _is_ours(error: BaseException) -> bool:
    """Whether an error is about what Occelo was asked: it passed no code but that of Occelo and of the libraries of arrays."""
    if isinstance(error, ImportError | OSError | MemoryError):
        return isinstance(error, FileNotFoundError)
    place = error.__traceback__
    while place is not None:
        if not str(place.tb_frame.f_globals.get("__name__")).startswith(_OURS):
            return False
        place = place.tb_next
    return True


def explain_methods(kind: type, entry: str, *names: str) -> None:
    """Let the methods ``names`` of a class explain their errors by ``entry`` (`explained_by`)."""
    for name in names:
        setattr(kind, name, explained_by(entry)(vars(kind)[name]))


_explaining: dict[Callable[..., Any], Callable[..., Any]] = {}
"""The functions that `explain_errors` has replaced, by what they were, so that aliases stay aliases."""


def explain_errors(namespace: dict[str, Any], entry: str) -> None:
    """Let the functions of a module explain their errors by ``entry`` (`explained_by`): those of its own package.

    The modules in which families collect their functions for users call it with ``globals()``.
    """
    door = namespace["__name__"]
    package = door.partition(".")[0] + "."
    for name, value in list(namespace.items()):
        if type(value) is not FunctionType or name.startswith("_") or hasattr(value, "entry"):
            continue
        if value not in _explaining and value.__module__.startswith(package):
            _explaining[value] = told = explained_by(entry)(value)
            told.__module__ = door  # where pickle finds it
        namespace[name] = _explaining.get(value, value)


class OcceloError(Exception):
    """Base class of the exceptions that Occelo defines."""

    entry: ClassVar[str] = ""
    """The entry of docs/errors.md that explains the class."""

    def __init_subclass__(cls, explained: bool = False) -> None:
        """Let an entry of the name of a class explain it if ``explained`` is true, and else that of its base class."""
        if explained:
            cls.entry = cls.__name__

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        if self.entry:
            self.add_note(kind_note(self.entry))


class MissingInputError(OcceloError, ValueError, explained=True):
    """A root of a graph is not among its inputs, or has no value."""


class UnusedInputError(OcceloError, ValueError, explained=True):
    """An input of a function is listed twice, or no output depends on it."""


class InconsistencyError(OcceloError, explained=True):
    """A change would make a function graph invalid, for instance by a cycle, or by overwriting a constant."""


class ReplacementDidNotRemoveError(OcceloError, explained=True):
    """A rewrite promised to remove nodes from a graph, but the graph still uses some of them."""


class MethodNotDefined(OcceloError, NotImplementedError, explained=True):
    """An op, or another class, does not define an optional method that is needed."""


class ConflictingAssumptionsError(OcceloError, ValueError, explained=True):
    """Two assumptions about one variable contradict each other, such as "positive" and "negative"."""


class DisconnectedInputError(OcceloError, ValueError, explained=True):
    """A gradient was computed with respect to a variable on which the cost does not depend."""


class NullTypeGradError(OcceloError, TypeError, explained=True):
    """A gradient is needed that is not defined, or not implemented."""


class GradientError(OcceloError, AssertionError, explained=True):
    """An analytic gradient differs from its estimate by finite differences (`verify_grad`)."""


class WrongResultError(OcceloError, TypeError, explained=True):
    """An op computed a value that does not have the type of the output."""


class SavedGraphError(OcceloError, ValueError, explained=True):
    """A file does not contain a saved graph, or this version of Occelo cannot read it."""


def describe(variable: Variable) -> str:
    """A variable in one line for messages: its name or the op that computes it, its type, and its source line."""
    source = variable.source
    where = f", made at {source}" if source is not None else ""
    return f"{variable} ({variable.type}){where}"


Writer = Callable[[Any], str | None]
_writers: dict[str, Writer] = {}


def set_writers(*, html: Writer, svg: Writer, latex: Writer, formula: Writer) -> None:
    """Set the functions that write what notebooks show in three formats, and variables in error messages.

    They return None for what a format cannot show.
    """
    _writers.update(html=html, svg=svg, latex=latex, formula=formula)


def written_as(form: str, shown: Any) -> str | None:
    """What is shown in one of the formats of `set_writers`. None if nothing is set."""
    return _writers[form](shown) if _writers else None


def formula_of(variable: Variable) -> str:
    """A variable in an error message: its name, or its formula if there is a writer (`set_writers`)."""
    return variable.name or written_as("formula", variable) or str(variable)


def with_arguments(error: Exception, variables: Iterable[Variable]) -> Exception:
    """An error like ``error``, with a message that also lists ``variables``, the arguments that an op refused."""
    listed = ", ".join(f"{v} ({v.type})" for v in variables)
    extended = type(error)(f"{error}; the arguments are {listed}")
    return explained(_with_notes_of(error, extended), "arguments")


def _with_notes_of(error: BaseException, copy: E) -> E:
    for note in _notes(error):
        if note not in _notes(copy):
            copy.add_note(note)
    return copy


def in_context(error: Exception, context: Sequence[str]) -> Exception:
    """An exception like ``error``, with the lines of ``context`` in front of its message.

    If an exception of this class cannot be made from a message, ``error`` itself is returned, with the text as a note.
    """
    cause = str(error) or type(error).__name__
    try:
        extended = type(error)(lines(context, cause))
        if str(extended) != lines(context, cause):
            raise TypeError
    except Exception:
        error.add_note(lines(context, f"{type(error).__name__}: {cause}"))
        return error
    return _with_notes_of(error, extended)


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
