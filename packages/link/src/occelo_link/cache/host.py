"""The host: LLVM's names for this machine and its processor, kept on disk so that starts need not load LLVM.

Cache keys (`cache.fingerprint`) and the default name of the compile directory contain the host. LLVM is asked once for each
processor and each installation of llvmlite, and the answer is kept beside the compile directories. What the answer depends on
is its key: what the processor says of itself, and the file with llvmlite's version. Without a key, LLVM is asked each time.
"""

from __future__ import annotations

import functools
import importlib.util
import os
from typing import NamedTuple

from occelo_link.cache.fingerprint import digest_text
from occelo_link.cache.store import private_store
from occelo_link.machine.processor_identity import processor_identity

_KIND = "hosts"


class Host(NamedTuple):
    """The version of llvmlite, and LLVM's target triple, processor and processor features of this machine."""

    llvmlite: str
    triple: str
    processor: str
    features: str


@functools.cache
def host() -> Host:
    """Return the host. Loads LLVM only if no process has asked it before on this machine."""
    store, key = private_store("processors"), _key()
    if store is None or key is None:
        return _asked()
    stored = store.get(_KIND, key)
    if stored is not None:
        return Host(*stored.decode().split("\n"))
    answer = _asked()
    store.put(_KIND, key, "\n".join(answer).encode())
    return answer


def _asked() -> Host:
    import llvmlite

    from occelo_link.machine.processor import host_target

    return Host(str(llvmlite.__version__), *host_target())


def _key() -> str | None:
    """The key of LLVM's answer. None if what it depends on cannot be found out."""
    identity, installed = processor_identity(), importlib.util.find_spec("llvmlite")
    if identity is None or installed is None or installed.origin is None:
        return None
    version = os.path.join(os.path.dirname(installed.origin), "_version.py")
    try:
        status = os.stat(version)
    except OSError:  # packed in an archive
        return None
    return digest_text(
        repr([identity, version, status.st_size, status.st_mtime_ns, status.st_ctime_ns])
    )
