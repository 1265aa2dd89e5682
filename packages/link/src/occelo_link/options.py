"""The options of the link package, such as the default linker, the number of threads and the size of the cache.

Linkers, `registry`, the cache (`cache`) and the threads of compiled code (`machine.threads`) read the options. Each
constant, such as `LINKER`, is an option, and ``LINKER.get()`` returns its value. The functions parse the values that
users set; each docstring says which values are accepted.
"""

from __future__ import annotations

import warnings
from typing import Any

from occelo_graph.config import boolean, config, text


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


LINKER = config.declare(
    "linker",
    "auto",
    "the linker of modes that name none; auto is the fastest one",
    text,
    "occelo_link",
)
ALLOW_GC = config.declare(
    "allow_gc",
    True,
    "drop values between inputs and outputs after their last use",
    boolean,
    "occelo_link",
)
BASE_COMPILEDIR = config.declare(
    "base_compiledir",
    "",
    "where compile directories are made; ~/.occelo by default",
    text,
    "occelo_link",
)
COMPILEDIR = config.declare(
    "compiledir",
    "",
    "the compile directory; by default one is made below base_compiledir",
    text,
    "occelo_link",
)
COMPILEDIR_FORMAT = config.declare(
    "compiledir_format",
    "compiledir_%(short_platform)s-%(processor)s-%(python_version)s-%(python_bitwidth)s",
    "the name of the compile directory below base_compiledir",
    text,
    "occelo_link",
)
CHECK_BOUNDS = config.declare(
    "check_bounds",
    False,
    "check every access of compiled code to memory; slow, for finding faults of the compiler",
    boolean,
    "occelo_link",
)
CACHE = config.declare(
    "cache",
    True,
    "keep compiled code in the compile directory, and use what is kept there",
    boolean,
    "occelo_link",
)
CACHE_SIZE = config.declare(
    "cache_size",
    1024,
    "the size limit of the cache in megabytes; the least recently used code is deleted first",
    positive,
    "occelo_link",
)
COMPILER = config.declare(
    "cxx",
    "auto",
    "the C compiler of the linkers c and c|py: a command; auto finds one, an empty text means none",
    text,
    "occelo_link",
)
COMPILER_FLAGS = config.declare(
    "gcc__cxxflags", "", "more flags for the C compiler, separated by spaces", text, "occelo_link"
)
COMPILER_VERBOSE = config.declare(
    "compiler_verbose", False, "print each command that compiles C", boolean, "occelo_link"
)
LAZY = config.declare(
    "vm__lazy",
    None,
    "whether the linker vm computes on demand; None does so where a graph has lazy branches",
    if_known,
    "occelo_link",
)
THREADS = config.declare(
    "native__threads",
    0,
    "how many threads native and c may use for one large loop; 0 means the number of processors; results do not depend on it",
    not_negative,
    "occelo_link",
)
LLVM_LEVEL = config.declare(
    "native__llvm_level",
    None,
    "LLVM's level of optimization, 0 to 3: 0 compiles in half the time; None means 1, and 0 for long programs",
    level,
    "occelo_link",
)
LOCK_TIMEOUT = config.declare(
    "compile__timeout",
    120.0,
    "for how many seconds lock_ctx waits for the lock of the compile directory; -1 for no limit",
    seconds,
    "occelo_link",
)
TORCH_COMPILE = config.declare(
    "pytorch__compile",
    True,
    "the linker pytorch compiles FX graphs with Inductor; if False, it runs them as they are",
    boolean,
    "occelo_link",
)
TORCH_DEVICE = config.declare(
    "pytorch__device",
    "auto",
    "where the linker pytorch computes: a device of PyTorch's; auto is cuda where there is one, else cpu",
    text,
    "occelo_link",
)
config.declare(
    "blas__ldflags",
    "",
    "accepted for compatibility with older programs; has no effect",
    _without_effect,
    "occelo_link",
)
