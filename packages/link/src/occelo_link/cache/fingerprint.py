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

import occelo_forms
import occelo_graph
import occelo_rewrite

_NO_SOURCES = frozenset((*("__pycache__", "examples", "debugging", "jax", "torch", "traced"),))
"""The names of folders that `manifest` skips, because cached code does not depend on their sources.

They contain examples, and the modes and linkers whose functions are not cached.
"""

_SOURCES = frozenset((".py", ".ll", ".so"))
_UNCHANGED = (0, 0, 0)
_BY_DESCRIPTOR = os.stat in os.supports_dir_fd and os.listdir in os.supports_fd
"""Whether names can be looked up in an open folder, which is faster than to look up paths."""


def digest_text(text: str | bytes) -> str:
    """Return a digest of a text, in hexadecimal digits."""
    import hashlib  # slow to import: loads OpenSSL

    data = text.encode() if isinstance(text, str) else text
    return hashlib.blake2b(data, digest_size=16).hexdigest()


@functools.cache
def manifest(*roots: str) -> str:
    """Return a digest that changes with the sources below the folders ``roots``, each of them the folder of a package.

    For a package that was installed from a wheel, the digest is that of the wheel's list of files with their hashes,
    ``RECORD``. For all other sources, and for sources that were changed after the installation, it depends on their
    paths, sizes, and times of modification and of change. Nobody can set the time of change, so that no edit is missed.
    Folders with a name in `_NO_SOURCES` are skipped.
    """
    names: list[str] = []
    numbers: list[int] = []
    for root in roots:
        record, installed_at = _record(root)
        names.append(record or root)
        pending = [root]
        while pending:
            folder = pending.pop()
            opened = os.open(folder, os.O_RDONLY) if _BY_DESCRIPTOR else None
            try:
                # faster than os.scandir, since it makes fewer objects
                entries = os.listdir(folder if opened is None else opened)
                entries.sort()
                names.append(folder[len(root) :])
                for name in entries:
                    if name[-3:] in _SOURCES:
                        path = f"{folder}/{name}" if opened is None else name
                        status = os.stat(path, dir_fd=opened)
                        names.append(name)
                        if status.st_mtime_ns > installed_at:
                            numbers += status.st_size, status.st_mtime_ns, status.st_ctime_ns
                        else:
                            numbers += _UNCHANGED
                    elif "." not in name and name not in _NO_SOURCES:
                        pending.append(f"{folder}/{name}")
            except NotADirectoryError:
                continue
            finally:
                if opened is not None:
                    os.close(opened)
    packed = struct.pack(f"<{len(numbers)}q", *numbers)
    return digest_text("\n".join(names).encode() + b"\0" + packed)


def has_changed(root: str) -> bool:
    """Whether sources of a package changed since `manifest` was first called for its folder."""
    return manifest.__wrapped__(root) != manifest(root)


def _record(root: str) -> tuple[str | None, int]:
    """Return the digest of the list of files of an installed package, and the time at which it was installed.

    Returns None and -1 if the package was not installed from a wheel, for instance if its installation is editable.
    """
    folder, package = os.path.split(root)
    version = getattr(sys.modules.get(package), "__version__", "")
    try:
        with open(f"{folder}/{package}-{version}.dist-info/RECORD", "rb") as stream:
            content = stream.read()
            installed_at = os.fstat(stream.fileno()).st_mtime_ns
    except OSError:
        return None, -1
    if f"{package}/__init__.py,sha256=".encode() not in content:
        return None, -1
    return digest_text(content), installed_at


def _package_folder(file: str | None) -> str:
    assert file is not None
    return os.path.dirname(file)


@functools.cache
def environment() -> dict[str, str]:
    """Return the environment of this process: a dict from components, such as "numpy", to their versions or digests."""
    from occelo_link.cache.host import host
    from occelo_link.machine.symbol_addresses import blas_library

    here = os.path.dirname(os.path.dirname(__file__))
    machine = host()
    return {
        "sources of graph": manifest(_package_folder(occelo_graph.__file__)),
        "sources of forms": manifest(_package_folder(occelo_forms.__file__)),
        "sources of rewrite": manifest(_package_folder(occelo_rewrite.__file__)),
        "sources of link": manifest(here),
        "python": f"{sys.implementation.cache_tag} {sys.version}",
        "numpy": np.__version__,
        "llvmlite": machine.llvmlite,
        "platform": machine.triple,
        "processor": machine.processor,
        "processor features": machine.features,
        "blas integers": blas_library().integer,
    }
