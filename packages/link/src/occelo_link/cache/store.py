"""The store: entries by key, in files that are whole or absent.

An entry is written to a temporary file in its folder and renamed, so readers need no lock and a
process killed at any moment leaves nothing half written. Each file starts with a digest of the rest,
which is checked when it is read; what fails the check is deleted and counts as absent.
"""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from occelo_link.cache.directory import compile_directory
from occelo_link.options import CACHE, CACHE_SIZE

__all__ = ["Entry", "Store", "counters", "default_store"]

_MAGIC = b"occelo1\n"
_DIGEST = 32
_TOUCH_AFTER = 3600.0
_LOOK_EVERY = 32
_STALE = 3600.0

counters: Counter[str] = Counter()
"""How often in this process each thing happened: ``rewriting``, ``code generation``, hits, misses."""


def _digest(payload: bytes) -> bytes:
    import hashlib  # loads OpenSSL, which only the cache needs

    return hashlib.blake2b(payload, digest_size=_DIGEST).digest()


@dataclass(frozen=True)
class Entry:
    """A file of the store."""

    kind: str
    key: str
    path: Path
    size: int
    used: float


class Store:
    """Entries of several kinds below a directory."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self._written = 0

    def path(self, kind: str, key: str) -> Path:
        """Where an entry lies."""
        return self.directory / kind / key[:2] / key

    def get(self, kind: str, key: str) -> bytes | None:
        """The payload of an entry; None if there is none that is whole."""
        path = self.path(kind, key)
        try:
            content = path.read_bytes()
            used = path.stat().st_mtime
        except OSError:
            return None
        payload = _checked(content)
        if payload is None:
            path.unlink(missing_ok=True)
            return None
        now = time.time()
        if now - used > _TOUCH_AFTER:
            try:
                os.utime(path, (now, now))
            except OSError:
                pass  # a directory that can only be read is still of use
        return payload

    def put(self, kind: str, key: str, payload: bytes) -> bool:
        """Write an entry; False if the directory does not take it."""
        import tempfile  # slow to import, and only writers need it

        path = self.path(kind, key)
        try:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            handle, name = tempfile.mkstemp(prefix=".new-", dir=path.parent)
        except OSError:
            return False
        try:
            with os.fdopen(handle, "wb") as stream:
                stream.write(_MAGIC + _digest(payload) + payload)
                stream.flush()
                os.fsync(stream.fileno())
            Path(name).replace(path)
        except OSError:
            Path(name).unlink(missing_ok=True)
            return False
        self._written += 1
        if self._written % _LOOK_EVERY == 1:
            self.trim(CACHE_SIZE.get() * 2**20)
        return True

    def entries(self) -> Iterator[Entry]:
        """All entries, in no order."""
        for path in self.directory.glob("*/*/*"):
            if path.name.startswith(".new-"):
                continue
            try:
                found = path.stat()
            except OSError:
                continue
            yield Entry(path.parts[-3], path.name, path, found.st_size, found.st_mtime)

    def verify(self) -> tuple[int, list[Path]]:
        """How many entries are whole, and the files of those that are not."""
        whole, broken = 0, list[Path]()
        for entry in self.entries():
            try:
                good = _checked(entry.path.read_bytes()) is not None
            except OSError:
                continue
            if good:
                whole += 1
            else:
                broken.append(entry.path)
        return whole, broken

    def trim(self, limit: int) -> int:
        """Delete entries, those not used for longest first, until ``limit`` bytes are left."""
        listed = sorted(self.entries(), key=lambda e: e.used)
        total = sum(e.size for e in listed)
        removed = 0
        for entry in listed:
            if total <= limit:
                break
            entry.path.unlink(missing_ok=True)
            total -= entry.size
            removed += 1
        return removed

    def cleanup(self) -> int:
        """Delete what interrupted writers left, and entries that are not whole; returns how many."""
        removed = 0
        for path in self.directory.glob("*/*/.new-*"):
            if time.time() - path.stat().st_mtime > _STALE:
                path.unlink(missing_ok=True)
                removed += 1
        for path in self.verify()[1]:
            path.unlink(missing_ok=True)
            removed += 1
        return removed

    def clear(self) -> int:
        """Delete all entries; returns how many there were."""
        removed = 0
        for entry in list(self.entries()):
            entry.path.unlink(missing_ok=True)
            removed += 1
        return removed


def _checked(content: bytes) -> bytes | None:
    start = len(_MAGIC) + _DIGEST
    if len(content) < start or not content.startswith(_MAGIC):
        return None
    payload = content[start:]
    return payload if _digest(payload) == content[len(_MAGIC) : start] else None


_stores: dict[Path, Store] = {}


def default_store() -> Store | None:
    """The store in the compile directory; None if caching is switched off."""
    if not CACHE.get():
        return None
    directory = compile_directory() / "cache"
    found = _stores.get(directory)
    if found is None:
        found = _stores[directory] = Store(directory)
    return found
