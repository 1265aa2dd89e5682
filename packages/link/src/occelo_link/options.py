"""The options of the link package, such as the default linker, the number of threads and the size of the cache.

Linkers, `registry`, the cache (`cache`) and the threads of compiled code (`machine.threads`) read the options. Each
constant, such as `LINKER`, is an option, and ``LINKER.get()`` returns its value. The functions parse the values that
users set; each docstring says which values are accepted.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, TypeVar

from occelo_graph.config import Option, boolean, config, text

T = TypeVar("T")


def positive(value: Any) -> int:
    """Parse a positive whole number."""
    number = int(value)
    if number <= 0 or isinstance(value, bool):
        raise ValueError("expected a positive whole number")
    return number


def not_negative(value: Any) -> int:
    """Parse a whole number that is not negative."""
    return 0 if str(value) == "0" else positive(value)


def seconds(value: Any) -> float:
    """Parse a number of seconds; -1 means no limit."""
    return float(value)


def if_known(value: Any) -> bool | None:
    """Parse True, False or None."""
    return None if value in (None, "None") else boolean(value)


def level(value: Any) -> int | None:
    """Parse None, or a level of optimization: 0, 1, 2 or 3."""
    if value in (None, "None"):
        return None
    if str(value) not in ("0", "1", "2", "3"):
        raise ValueError("expected None, 0, 1, 2 or 3")
    return int(value)


_warned: list[str] = []


def _without_effect(value: Any) -> str:
    """Parse the value of an option without effect: any text. The first text that is not empty causes a warning."""
    if value and not _warned:
        _warned.append(str(value))
        warnings.warn(
            "The option blas__ldflags has no effect: BLAS is called through the library that NumPy "
            "or SciPy brought",
            stacklevel=4,
        )
    return text(value)


def _declare(name: str, default: T, doc: str, parse: Callable[[Any], T]) -> Option[T]:
    return config.declare(name, default, doc, parse, "occelo_link")


LINKER = _declare(
    "linker", "auto", "the linker of modes that name none; auto is the fastest one", text
)
ALLOW_GC = _declare(
    "allow_gc", True, "drop values between inputs and outputs after their last use", boolean
)
BASE_COMPILEDIR = _declare(
    "base_compiledir", "", "where compile directories are made; ~/.occelo by default", text
)
COMPILEDIR = _declare(
    "compiledir", "", "the compile directory; by default one is made below base_compiledir", text
)
COMPILEDIR_FORMAT = _declare(
    "compiledir_format",
    "compiledir_%(short_platform)s-%(processor)s-%(python_version)s-%(python_bitwidth)s",
    "the name of the compile directory below base_compiledir",
    text,
)
CHECK_BOUNDS = _declare(
    "check_bounds",
    False,
    "check every access of compiled code to memory; slow, for finding faults of the compiler",
    boolean,
)
CACHE = _declare(
    "cache",
    True,
    "keep compiled code in the compile directory, and use what is kept there",
    boolean,
)
CACHE_SIZE = _declare(
    "cache_size",
    1024,
    "the size limit of the cache in megabytes; the least recently used code is deleted first",
    positive,
)
COMPILER = _declare(
    "cxx",
    "auto",
    "the C compiler of the linkers c and c|py: a command; auto finds one, an empty text means none",
    text,
)
COMPILER_FLAGS = _declare(
    "gcc__cxxflags", "", "more flags for the C compiler, separated by spaces", text
)
COMPILER_VERBOSE = _declare(
    "compiler_verbose", False, "print each command that compiles C", boolean
)
LAZY = _declare(
    "vm__lazy",
    None,
    "whether the linker vm computes on demand; None does so where a graph has lazy branches",
    if_known,
)
THREADS = _declare(
    "native__threads",
    0,
    "how many threads native and c may use for one large loop; 0 means the number of processors; results of loops do not depend on it",
    not_negative,
)
LLVM_LEVEL = _declare(
    "native__llvm_level",
    None,
    "LLVM's level of optimization, 0 to 3: 0 compiles in half the time; None means 0, and 1 once calls have taken a while, unless the program is long",
    level,
)
LOCK_TIMEOUT = _declare(
    "compile__timeout",
    120.0,
    "for how many seconds lock_ctx waits for the lock of the compile directory; -1 for no limit",
    seconds,
)
TORCH_COMPILE = _declare(
    "pytorch__compile",
    True,
    "the linker pytorch compiles FX graphs with Inductor; if False, it runs them as they are",
    boolean,
)
TORCH_DEVICE = _declare(
    "pytorch__device",
    "auto",
    "where the linker pytorch computes: a device of PyTorch's; auto is cuda where there is one, else cpu",
    text,
)
_declare(
    "blas__ldflags",
    "",
    "accepted for compatibility with older programs; has no effect",
    _without_effect,
)
