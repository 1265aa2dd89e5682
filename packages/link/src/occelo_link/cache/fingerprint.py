"""Environment of compiled code, as part of cache keys: versions, source files, processor, size of BLAS integers.

It is part of the keys of object code (`objects`) and of whole functions (`occelo_compile.function_cache`).
"""

from __future__ import annotations

import functools
import os
import sys
from pathlib import Path

import numpy as np

import occelo_graph
import occelo_rewrite

__all__ = ["digest_text", "environment", "manifest"]


def digest_text(text: str | bytes) -> str:
    """A digest of a text, in hexadecimal digits."""
    import hashlib  # loads OpenSSL

    data = text.encode() if isinstance(text, str) else text
    return hashlib.blake2b(data, digest_size=16).hexdigest()


@functools.cache
def manifest(*roots: str) -> str:
    """A digest of paths, sizes and times of all source files below some folders."""
    rows: list[str] = []
    for root in roots:
        pending = [root]
        while pending:
            with os.scandir(pending.pop()) as found:
                for each in found:
                    if each.is_dir() and each.name != "__pycache__":
                        pending.append(each.path)
                    elif each.name.endswith(".py"):
                        status = each.stat()
                        rows.append(f"{each.path} {status.st_size} {status.st_mtime_ns}")
    return digest_text("\n".join(sorted(rows)))


def _package_folder(file: str | None) -> str:
    assert file is not None
    return str(Path(file).parent)


@functools.cache
def environment() -> dict[str, str]:
    """The environment that code is compiled for, part by part."""
    import llvmlite

    from occelo_link.machine.processor import host_target
    from occelo_link.machine.symbol_addresses import blas_library

    here = str(Path(__file__).parent.parent)
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
