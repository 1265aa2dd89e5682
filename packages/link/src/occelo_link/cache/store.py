"""The store of the cache: keeps payloads of bytes under keys, each in a file of its own.

`cache.objects` keeps object code and shared libraries in it, and `occelo_compile.function_cache` keeps whole functions.
`occelo.cache` and the command line list and delete entries.

An entry is written to a temporary file, which is then renamed. So readers need no lock, and a killed process leaves no
incomplete entry. Each file starts with the name of the format and a digest of its kind, its key and its payload. Readers
check the digest. A file with another digest counts as missing and is deleted if possible.

Writers keep the store below its size limit without listing it: they count bytes (`sizes`), and if there are too many,
they list a few folders and delete what was not used for the longest time. As keys are digests, any few folders are a
sample of all entries. So a write takes as long with many entries as with few.

The content of files is executed. So folders and files must belong to the user or to the superuser, and nobody else may
have permission to write to them. Each folder is checked once in a process. One check is enough: nobody else can change
a safe folder if all folders above it are safe, too.
"""

from __future__ import annotations

import os
import stat
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from occelo_graph.provenance import warn_user
from occelo_link.cache.directory import (
    distrust,
    distrust_folder,
    make_private,
    private_directory,
    usable_directory,
)
from occelo_link.cache.sizes import PARTS, Sizes
from occelo_link.options import CACHE, CACHE_SIZE

if TYPE_CHECKING:
    from pathlib import Path

_MAGIC = b"occelo3\n"
_DIGEST = 32
_START = len(_MAGIC) + _DIGEST
_NEW = ".new-"
_TOUCH_AFTER = 3600.0
_LOOK_EVERY = 32
"""After the first of so many writes of a process, two parts are counted again."""
_SAMPLE = 128
"""So many entries are compared if some of them must be deleted; all entries, if there are fewer."""
_MORE = 16
"""At least one in so many of them is deleted then."""
_LARGE = 4
"""So many parts with the most bytes are compared, too, if large entries must be deleted."""
_STALE = 3600.0
# flags that do not follow links and do not wait for pipes
_READ = os.O_RDONLY | sum(getattr(os, f"O_{n}", 0) for n in ("NOFOLLOW", "NONBLOCK", "BINARY"))
_WRITE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)

counters: Counter[str] = Counter()
"""Counts of events in this process, such as "rewriting", "code generation" and "object hits"."""


class Entry(NamedTuple):
    """A ``file`` of the store, by its path; ``used`` is the time of its last use."""

    kind: str
    key: str
    file: str
    size: int
    used: float


class Store:
    """A key-value store in a directory. An entry has a kind, such as "objects", and a key of hexadecimal digits.

    The caller must have made sure that the directory is in a safe folder.
    """

    def __init__(self, directory: str | os.PathLike[str]) -> None:
        self._folder = os.fspath(directory)
        self._written = 0
        self._sizes = Sizes(os.path.join(self._folder, ".sizes"))
        self._trusted: dict[str, bool] = {}

    @property
    def directory(self) -> Path:
        """The path of the directory."""
        return _path(self._folder)

    def path(self, kind: str, key: str) -> Path:
        """Return the path of the file of an entry."""
        return _path(self._file(kind, key))

    def _file(self, kind: str, key: str) -> str:
        return os.path.join(self._folder, kind, key[:2], key)

    def get(self, kind: str, key: str) -> bytes | None:
        """Return the payload of an entry.

        Returns None if the entry is missing or damaged, or if another user can have written it.
        """
        if not self._is_safe(kind, key[:2]):
            return None
        path = self._file(kind, key)
        read = _read(path)
        if read is None:
            return None
        content, used = read
        payload = _checked(kind, key, content)
        if payload is None:
            _delete(path)
            return None
        now = time.time()
        if now - used > _TOUCH_AFTER:
            with suppress(OSError):  # a read-only directory can still be read
                os.utime(path, (now, now))
        return payload

    def put(self, kind: str, key: str, payload: bytes) -> bool:
        """Write an entry. Returns False if it cannot be written or if its folder is not safe."""
        path = self._file(kind, key)
        try:
            folder = os.path.dirname(path)
            make_private(folder)
            if not self._is_safe(kind, key[:2]):
                return False
            # the module `tempfile` takes longer to import than the file to write
            name = f"{folder}/{_NEW}{os.getpid()}-{os.urandom(8).hex()}"
            handle = os.open(name, _WRITE, 0o600)
        except OSError:
            return False
        try:
            with os.fdopen(handle, "wb") as stream:
                os.chmod(name, 0o600)  # whatever the umask is
                # no fsync: if a power failure leaves an incomplete file, its digest is wrong
                stream.write(_MAGIC + _digest(kind, key, payload) + payload)
            os.replace(name, path)
        except OSError:
            _delete(name)
            return False
        except BaseException:  # an interrupt must not leave a file either
            _delete(name)
            raise
        self._count(_part(key), _START + len(payload), CACHE_SIZE.get() * 2**20)
        return True

    def _count(self, part: int, size: int, limit: int) -> None:
        """Count a new entry of ``size`` bytes, and delete other entries if there are more than ``limit`` bytes."""
        total = self._sizes.add(part, size)
        self._written += 1
        if self._written % _LOOK_EVERY == 1:
            for each in (part, self._sizes.next_part()):
                total = self._sizes.put({each: sum(f.size for f in self._listed(each))})
        if total > limit:
            self._evict(total, limit)

    def _evict(self, total: int, limit: int) -> None:
        """Delete the least recently used entries of a sample until at most ``limit`` of ``total`` bytes are left.

        Some more are deleted, so that the next writes need no sample.
        """
        counted = self._sizes.of_parts()
        start = os.urandom(1)[0]
        parts = [part for part in (*range(start, PARTS), *range(start)) if counted[part]]
        sample: list[tuple[int, Entry]] = []
        sizes: dict[int, int] = {}

        def take(part: int) -> None:
            nonlocal total
            files = self._listed(part)
            sizes[part] = sum(file.size for file in files)
            total += sizes[part] - counted[part]
            sample.extend((part, file) for file in files)

        while parts and len(sample) < _SAMPLE:
            take(parts.pop(0))
        # if the sample has too few bytes, large entries are elsewhere, and small ones should not go in their place
        for part in sorted(parts, key=counted.__getitem__, reverse=True)[:_LARGE]:
            if sum(sizes.values()) < 2 * (total - limit):
                take(part)
        sample.sort(key=lambda each: each[1].used)
        more = len(sample) // _MORE
        for i, (part, file) in enumerate(sample):
            if total <= limit and i >= more:
                break
            if _delete(file.file):
                total -= file.size
                sizes[part] -= file.size
        self._sizes.put(sizes)

    def _listed(self, part: int) -> list[Entry]:
        """The entries of a part. Deletes its temporary files that interrupted writers left."""
        name = f"{part:02x}"
        files: list[Entry] = []
        for kind in _names(self._folder):
            if not kind.startswith(".") and self._is_safe(kind, name):
                files += _files_in(os.path.join(self._folder, kind, name))
        _sweep(files)
        return [file for file in files if not file.key.startswith(_NEW)]

    def entries(self) -> Iterator[Entry]:
        """Iterate over all entries, in no particular order."""
        return (file for file in self._files() if not file.key.startswith(_NEW))

    def verify(self) -> tuple[int, list[Path]]:
        """Return the number of entries that `get` accepts, and the paths of the files and folders that it rejects."""
        whole = 0
        broken: list[Path] = []
        for entry in self.entries():
            read = _read(entry.file)
            if read is not None and _checked(entry.kind, entry.key, read[0]) is not None:
                whole += 1
            elif os.path.lexists(entry.file):  # another process may have deleted it meanwhile
                broken.append(_path(entry.file))
        for folder, reason in self._folders():
            if reason is not None:
                broken.append(_path(folder))
        return whole, broken

    def trim(self, limit: int) -> int:
        """Delete the least recently used entries until the store has at most ``limit`` bytes.

        Also deletes temporary files of interrupted writers, which are older than an hour. Returns the number of deleted
        entries.
        """
        files = list(self._files())
        _sweep(files)
        listed = [file for file in files if not file.key.startswith(_NEW)]
        listed.sort(key=lambda file: file.used)
        total = sum(file.size for file in listed)
        sizes = dict.fromkeys(range(PARTS), 0)
        removed = 0
        for file in listed:
            if total > limit and _delete(file.file):
                total -= file.size
                removed += 1
            else:
                sizes[_part(file.key)] += file.size
        self._sizes.put(sizes)
        return removed

    def cleanup(self) -> int:
        """Delete damaged entries, and temporary files of interrupted writers. Returns the number of deleted files."""
        return _sweep(self._files()) + sum(_delete(str(path)) for path in self.verify()[1])

    def clear(self) -> int:
        """Delete all entries. Returns the number of deleted entries."""
        removed = sum(_delete(entry.file) for entry in list(self.entries()))
        self._sizes.put(dict.fromkeys(range(PARTS), 0))
        return removed

    def _files(self) -> Iterator[Entry]:
        """Iterate over all files in safe folders, also temporary ones."""
        for folder, reason in self._folders():
            # entries are exactly two levels below the directory
            if reason is not None or not self._holds_entries(folder):
                continue
            yield from _files_in(folder)

    def _folders(self) -> Iterator[tuple[str, str | None]]:
        """Iterate over the folders of the store. Yields each folder with the reason why it is not safe, or None if it
        is safe.

        Folders inside of unsafe folders are skipped.
        """
        pending = [self._folder]
        while pending:
            folder = pending.pop()
            try:
                reason = distrust_folder(folder)
            except OSError:
                continue
            yield folder, reason
            if reason is None and not self._holds_entries(folder):
                names = [name for name in _names(folder) if not name.startswith(".")]
                pending += [os.path.join(folder, name) for name in names]

    def _holds_entries(self, folder: str) -> bool:
        return os.path.dirname(os.path.dirname(folder)) == self._folder

    def _is_safe(self, kind: str, part: str) -> bool:
        """Whether no other user can have written to the folder ``kind/part`` of the store. A missing folder is safe."""
        name = f"{self._folder}/{kind}/{part}"
        safe = self._trusted.get(name)
        if safe is None:
            try:
                safe = all(
                    self._is_trusted(folder)
                    for folder in (str(self._folder), f"{self._folder}/{kind}", name)
                )
            except OSError:
                return True  # a missing folder: nothing to read, and writers check again
            self._trusted[name] = safe
        return safe

    def _is_trusted(self, folder: str) -> bool:
        trusted = self._trusted.get(folder)
        if trusted is None:
            reason = distrust_folder(folder)
            trusted = self._trusted[folder] = reason is None
            if not trusted:
                warn_user(f"Occelo does not use compiled code in {folder}: {reason}")
        return trusted


def _read(path: str) -> tuple[bytes, float] | None:
    """Return the content of a file and the time of its last use.

    Returns None if the file cannot be read, or if another user can have written it.
    """
    try:
        handle = os.open(path, _READ)
    except OSError:
        return None
    try:
        status = os.fstat(handle)
        if distrust(status, stat.S_ISREG) is not None:
            return None
        with os.fdopen(handle, "rb", closefd=False) as stream:
            return stream.read(), status.st_mtime
    except OSError:
        return None
    finally:
        os.close(handle)


def _path(name: str) -> Path:
    from pathlib import Path  # slow to import, and only what lists entries needs paths

    return Path(name)


def _delete(path: str) -> bool:
    """Delete a file. Returns False if that fails, for instance because another process has deleted it."""
    try:
        os.unlink(path)
    except OSError:
        return False
    return True


def _sweep(files: Iterable[Entry]) -> int:
    """Delete temporary files of interrupted writers. Returns the number of deleted files."""
    limit = time.time() - _STALE
    left = [each.file for each in files if each.key.startswith(_NEW) and each.used < limit]
    return sum(_delete(path) for path in left)


def _part(key: str) -> int:
    """The part of the store that a key belongs to. A file that somebody put into the store may have any name."""
    try:
        return int(key[:2], 16)
    except ValueError:
        return 0


def _files_in(folder: str) -> list[Entry]:
    kind = os.path.basename(os.path.dirname(folder))
    files: list[Entry] = []
    with suppress(OSError), os.scandir(folder) as listed:
        for each in listed:
            try:
                status = each.stat(follow_symlinks=False)
            except OSError:  # another process may have deleted it
                continue
            files.append(Entry(kind, each.name, each.path, status.st_size, status.st_mtime))
    return files


def _names(folder: str) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError:
        return []  # deleted by another process, or not readable


def _digest(kind: str, key: str, payload: bytes) -> bytes:
    import hashlib  # slow to import: loads OpenSSL

    digest = hashlib.blake2b(f"{kind}\n{key}\n".encode(), digest_size=_DIGEST)
    digest.update(payload)
    return digest.digest()


def _checked(kind: str, key: str, content: bytes) -> bytes | None:
    if len(content) < _START or not content.startswith(_MAGIC):
        return None
    payload = content[_START:]
    return payload if _digest(kind, key, payload) == content[len(_MAGIC) : _START] else None


_stores: dict[str, Store] = {}


def default_store() -> Store | None:
    """Return the store in the compile directory. Returns None if caching is off or the directory cannot be used."""
    if not CACHE.get():
        return None
    directory = usable_directory()
    if directory is None:
        return None
    store = _stores.get(directory)
    if store is None:
        store = _stores[directory] = Store(os.path.join(directory, "cache"))
    return store


def private_store(name: str) -> Store | None:
    """Return a store of its own beside the compile directories, for what does not depend on them. None as in
    `default_store`.
    """
    if not CACHE.get():
        return None
    directory = private_directory()
    return None if directory is None else Store(os.path.join(directory, name))
