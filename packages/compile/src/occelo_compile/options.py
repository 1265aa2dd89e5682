"""The options of the compile package except ``mode``, which `mode` declares: unused inputs, float64 warnings,
unpickling, profiles and debugging modes.

Users set them as fields of `config`, like all options. The modules of this package read them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from occelo_graph.config import Option, boolean, config, one_of, text

T = TypeVar("T")


def count(value: Any) -> int:
    """Parse a whole number that is not negative."""
    number = int(value)
    if number < 0 or isinstance(value, bool):
        raise ValueError("expected a whole number that is not negative")
    return number


class _ByOption(str):
    """A default argument that means "the value of the option". It is printed as the default of the option."""

    __slots__ = ()


BY_OPTION = _ByOption("raise")
"""The default of ``on_unused_input``: the option of that name, which is "raise" unless it was changed."""


def _declare(name: str, default: T, parse: Callable[[Any], T], doc: str) -> Option[T]:
    return config.declare(name, default, doc, parse, "occelo_compile")


ON_UNUSED_INPUT = _declare(
    "on_unused_input",
    "raise",
    one_of("raise", "warn", "ignore"),
    "what happens when no output depends on an input",
)
WARN_FLOAT64 = _declare(
    "warn_float64",
    "ignore",
    one_of("ignore", "warn", "raise", "pdb"),
    "what happens when a function computes with float64, for those who want float32 throughout",
)
UNPICKLE_FUNCTION = _declare(
    "unpickle_function", True, boolean, "compile functions when they are unpickled; else give None"
)

PROGRESS = _declare(
    "compile__progress",
    "auto",
    one_of("auto", "always", "never"),
    "report the progress of compilations of more than two seconds on stderr; auto: on terminals and in notebooks",
)

PROFILE = _declare(
    "profile", False, boolean, "profile every function, and print the profiles when Python exits"
)
PROFILE_MEMORY = _declare(
    "profile_memory", True, boolean, "show bytes and shapes of nodes in reports of profiles"
)
PRINT_GLOBAL_STATS = _declare(
    "print_global_stats", False, boolean, "the same as profile, by its older name"
)
N_APPLY = _declare("profiling__n_apply", 20, count, "how many nodes a report of a profile shows")
N_OPS = _declare(
    "profiling__n_ops", 20, count, "how many ops and rules a report of a profile shows"
)
PROFILE_DESTINATION = _declare(
    "profiling__destination", "stderr", text, "where reports go: stderr, stdout or a file"
)
IGNORE_FIRST_CALL = _declare(
    "profiling__ignore_first_call", False, boolean, "leave the first call out of profiles"
)
TIME_THUNKS = _declare(
    "profiling__time_thunks", True, boolean, "measure nodes; else only calls and compilation"
)

NAN_GUARD_NAN = _declare("NanGuardMode__nan_is_error", True, boolean, "NanGuardMode reports NaN")
NAN_GUARD_INF = _declare(
    "NanGuardMode__inf_is_error", True, boolean, "NanGuardMode reports infinite values"
)
NAN_GUARD_BIG = _declare(
    "NanGuardMode__big_is_error", True, boolean, "NanGuardMode reports values beyond 1e10"
)
NAN_GUARD_ACTION = _declare(
    "NanGuardMode__action", "raise", one_of("raise", "warn", "pdb"), "what NanGuardMode does then"
)

DEBUG_PATIENCE = _declare(
    "DebugMode__patience",
    10,
    count,
    "how often DebugMode rewrites a graph, to check that the result is always the same",
)
DEBUG_CHECK_C = _declare(
    "DebugMode__check_c", True, boolean, "DebugMode compares compiled code with the interpreter"
)
DEBUG_CHECK_PY = _declare(
    "DebugMode__check_py", True, boolean, "DebugMode checks the Python implementation of each op"
)
DEBUG_CHECK_FINITE = _declare(
    "DebugMode__check_finite", True, boolean, "DebugMode reports values that are not finite"
)
DEBUG_CHECK_STRIDES = _declare(
    "DebugMode__check_strides",
    0,
    count,
    "whether results of Python and compiled code must have equal strides: 0 no, 1 warn, 2 raise",
)
DEBUG_WARN_NOT_REUSED = _declare(
    "DebugMode__warn_input_not_reused",
    True,
    boolean,
    "DebugMode warns of an in-place op that does not use its input's memory",
)
DEBUG_CHECK_LAYOUTS = _declare(
    "DebugMode__check_preallocated_output",
    "",
    text,
    "layouts of arrays that DebugMode gives to ops, separated by colons: c_contiguous, f_contiguous, "
    "strided, initial, previous, wrong_size or ALL",
)
