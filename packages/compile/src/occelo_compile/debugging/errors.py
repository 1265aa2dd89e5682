"""The exceptions that DebugMode raises, one for each kind of fault.

`debug_mode`, `op_checks` and `trait_checks` raise them. If a call raises one of them, the interpreter does not replay
the call (`error_replay`).
"""

from __future__ import annotations

from occelo_graph import OcceloError


class DebugModeError(OcceloError, explained=True):
    """The base class of the faults that DebugMode finds. The last line of the message is the cause."""


class StochasticOrder(DebugModeError):
    """The same graph was rewritten twice, with different results or different replacements."""


class BadOptimization(DebugModeError):
    """A rule replaced a variable by a variable that has another value."""


class BadThunkOutput(DebugModeError):
    """A node has different results in Python and in compiled code, or for different memory layouts.

    The layouts are those of the inputs, or those of preallocated outputs. The error is also raised if an output of the
    function differs from the interpreter's.
    """


class BadDestroyMap(DebugModeError):
    """An op overwrote an input that its ``destroy_map`` does not name, or a value that a later node reads.

    The error is also raised if a function overwrote an argument that is not mutable.
    """


class BadViewMap(DebugModeError):
    """A result shares memory with an input or with another result, and neither ``view_map`` nor ``destroy_map`` says
    so.
    """


class BadTrait(DebugModeError):
    """The values of a call contradict a trait that an op declares, or the result of a method of the op.

    For example, an output has another shape than the op's ``infer_shape`` returns.
    """


class InvalidValueError(DebugModeError):
    """A result does not have the type of its variable, or is not finite although all inputs are."""


class OutputGuardError(DebugModeError):
    """A result of the function was overwritten after it was computed."""
