"""Exceptions that DebugMode raises, one for each kind of fault that it finds.

`debug_mode`, `op_checks` and `trait_checks` raise them. If a call raises one of them, the call is not replayed
(`error_replay`).
"""

from __future__ import annotations

from occelo_graph import OcceloError

__all__ = [
    "BadDestroyMap",
    "BadOptimization",
    "BadThunkOutput",
    "BadTrait",
    "BadViewMap",
    "DebugModeError",
    "InvalidValueError",
    "OutputGuardError",
    "StochasticOrder",
]


class DebugModeError(OcceloError):
    """Base of the faults that DebugMode finds; the last line of the text is the cause."""


class StochasticOrder(DebugModeError):
    """Rewriting the same graph twice gave different graphs, or took different steps."""


class BadOptimization(DebugModeError):
    """A rule replaced a variable with one that has another value."""


class BadThunkOutput(DebugModeError):
    """A node gives different results in Python and in compiled code, or for different memory layouts.

    The layout is that of the inputs, or of the output cells. An output of the function that differs from the
    interpreter's raises this error, too.
    """


class BadDestroyMap(DebugModeError):
    """An op overwrote an input that its ``destroy_map`` does not name, or a value that a later node reads.

    A function that overwrote an argument that is not mutable raises this error, too.
    """


class BadViewMap(DebugModeError):
    """A result shares memory with an input or another result, and neither ``view_map`` nor ``destroy_map`` says so."""


class BadTrait(DebugModeError):
    """The values of a call contradict a trait that an op declares, or a method of the op."""


class InvalidValueError(DebugModeError):
    """A result does not have the type of its variable, or is not finite although all inputs are."""


class OutputGuardError(DebugModeError):
    """A result of the function was overwritten after it was computed."""
