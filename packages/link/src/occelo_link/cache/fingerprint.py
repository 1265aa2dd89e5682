"""The environment that compiled code depends on besides its graph: Occelo's sources, versions and the processor.

The keys of object code (`objects`) and of whole functions (`occelo_compile.function_cache`) contain the environment. So
code that was compiled in another environment is not found.
"""

from __future__ import annotations

import functools
import os
import struct
import sys

import numpy as np

import occelo_graph
import occelo_rewrite

__all__ = ["digest_text", "environment", "manifest"]

_NO_SOURCES = frozenset(
    (
        *("__pycache__", "testing", "random_programs", "debugging", "jax", "torch", "traced"),
        *("printing", "stats"),
    )
)
"""The names of folders that `manifest` skips, because cached code does not depend on their sources.

They contain tests, printing, probability distributions (which only build graphs), and the modes and linkers whose
functions are not cached.
"""

_BY_DESCRIPTOR = os.stat in os.supports_dir_fd and os.listdir in os.supports_fd
"""Whether names can be looked up in an open folder, which is faster than to look up paths."""


def digest_text(text: str | bytes) -> str:
    """Return a digest of a text, in hexadecimal digits."""
    import hashlib  # slow to import: loads OpenSSL

    data = text.encode() if isinstance(text, str) else text
    return hashlib.blake2b(data, digest_size=16).hexdigest()


@functools.cache
def manifest(*roots: str) -> str:
    """Return a digest of the paths, sizes and modification times of all .py files below the folders ``roots``.

    Folders with a name in `_NO_SOURCES` are skipped.
    """
    names: list[str] = []
    numbers: list[int] = []
    for root in roots:
        pending = [root]
        while pending:
            folder = pending.pop()
            opened = os.open(folder, os.O_RDONLY) if _BY_DESCRIPTOR else None
            try:
                # faster than os.scandir, since it makes fewer objects
                found = os.listdir(folder if opened is None else opened)
                found.sort()
                names.append(folder)
                for name in found:
                    if name[-3:] == ".py":
                        path = f"{folder}/{name}" if opened is None else name
                        status = os.stat(path, dir_fd=opened)
                        names.append(name)
                        numbers += status.st_size, status.st_mtime_ns
                    elif "." not in name and name not in _NO_SOURCES:
                        pending.append(f"{folder}/{name}")
            except NotADirectoryError:
                continue
            finally:
                if opened is not None:
                    os.close(opened)
    packed = struct.pack(f"<{len(numbers)}q", *numbers)
    return digest_text("\n".join(names).encode() + b"\0" + packed)


def _package_folder(file: str | None) -> str:
    assert file is not None
    return os.path.dirname(file)


@functools.cache
def environment() -> dict[str, str]:
    """Return the environment of this process: a dict from components, such as "numpy", to their versions or digests."""
    import llvmlite

    from occelo_link.machine.processor import host_target
    from occelo_link.machine.symbol_addresses import blas_library

    here = os.path.dirname(os.path.dirname(__file__))
    triple, processor, features = host_target()
    return {
        "sources of graph": manifest(_package_folder(occelo_graph.__file__)),
        "sources of rewrite": manifest(_package_folder(occelo_rewrite.__file__)),
        "sources of link": manifest(here),
        "python": f"{sys.implementation.cache_tag} {sys.version}",
        "numpy": np.__version__,
        "llvmlite": str(llvmlite.__version__),
        "platform": triple,
        "processor": processor,
        "processor features": features,
        "blas integers": blas_library().integer,
    }
