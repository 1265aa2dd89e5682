"""What DebugMode raises."""

from __future__ import annotations

from occelo_graph import OcceloError

__all__ = [
    "BadDestroyMap",
    "BadOptimization",
    "BadThunkOutput",
    "BadViewMap",
    "DebugModeError",
    "InvalidValueError",
    "OutputGuardError",
    "StochasticOrder",
]


class DebugModeError(OcceloError):
    """Base of the faults that DebugMode finds; the last line of the text is the cause."""


class StochasticOrder(DebugModeError):
    """Rewriting the same graph again gave something else."""


class BadOptimization(DebugModeError):
    """A rule replaced a variable with one of another value."""


class BadThunkOutput(DebugModeError):
    """Two ways of computing a node disagree: Python and compiled code, or two layouts of its inputs."""


class BadDestroyMap(DebugModeError):
    """An op changed an input without saying so in its ``destroy_map``, or before all had read it."""


class BadViewMap(DebugModeError):
    """A result shares memory with an input or another result, and ``view_map`` does not say so."""


class InvalidValueError(DebugModeError):
    """A result is none of its type, or not finite although all inputs are."""


class OutputGuardError(DebugModeError):
    """A result of the function was overwritten after it was computed."""
