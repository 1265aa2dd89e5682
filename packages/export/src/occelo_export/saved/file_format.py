"""The format of saved functions: what a file holds, its versions, and the layout of the memory that its code reads.

A file is an archive (`occelo_graph.canonical.archive`) of

- ``function.json``: the format, its versions, the signature, and where the parts of the code are,
- ``code``: an image of machine code, which runs at any address,
- ``arrays/N.npy``: constants, values of shared variables, states and defaults.

``version`` is the version of the format that wrote the file, and ``readers`` the oldest version of a reader that
understands it. A change that readers of version N may ignore raises ``version`` only, so that they read on; another
change raises ``readers``, too. Keys that a reader does not know are ignored. `OLDEST` is the oldest version that this
reader understands; it rises only with a major version of the package.

The machine code is called as in `occelo_link.standalone`: the constants here are those of its modules ``context`` and
of ``units.frame``, which a test compares. They are part of the format, so they are not imported: the reader needs no
compiler, and a later version of the link package must not change what a file means.
"""

from __future__ import annotations

VERSION = 1
READERS = 1
OLDEST = 1
KIND = "occelo-function"
SYSTEM = "linux x86-64"
"""The only system so far: the calling convention of System V, in the pages of Linux."""

CTX_UNIT, CTX_TABLE, CTX_MALLOC, CTX_FREE, CTX_WORK, CTX_DATA = range(6)
NO_ROOM = -4
SERVICES = ("alloc_output", "grow", "poll", "take")
"""The first slots of the table of a unit, in order."""

LEVELS = {
    "x86-64": "",
    "x86-64-v2": "cx16 popcnt sahf sse3 sse4.1 sse4.2 ssse3",
    "x86-64-v3": "cx16 popcnt sahf sse3 sse4.1 sse4.2 ssse3 avx avx2 bmi bmi2 f16c fma lzcnt movbe",
    "x86-64-v4": "cx16 popcnt sahf sse3 sse4.1 sse4.2 ssse3 avx avx2 bmi bmi2 f16c fma lzcnt movbe "
    "avx512bw avx512cd avx512dq avx512f avx512vl",
}
"""The features of the levels of x86-64 processors, in LLVM's words."""
WORDS_OF_LINUX = {
    "bmi": "bmi1",
    "sse3": "pni",
    "sse4.1": "sse4_1",
    "sse4.2": "sse4_2",
    "lzcnt": "abm",
    "sahf": "lahf_lm",
}
"""Features whose names in ``/proc/cpuinfo`` differ from LLVM's."""

KEYS: dict[str, type] = {
    "system": str,
    "features": list,
    "arguments": list,
    "data": list,
    "errors": dict,
    "table": list,
    "constants": list,
    "blas integers": str,
    "functions": dict,
    "imports": dict,
    "writable bytes": int,
    "digest": str,
}
"""What ``function.json`` has besides ``format``, ``version``, ``readers``, ``name`` and ``returns``."""
