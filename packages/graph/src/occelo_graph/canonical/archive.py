"""Reads archives of saved graphs and dumps, whose content may be damaged or hostile.

`saving.load` and the loader of dumps (`occelo_compile.debugging.dumping`) read files with `Archive`. Members are stored without
compression, and the sizes that an archive or an array states are compared with the size of the file before memory is
taken. So no reader takes more memory than a small multiple of the size of the file.
"""

from __future__ import annotations

import io
import json
import math
import os
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import IO, Any

import numpy as np

from occelo_graph.errors import SavedGraphError
from occelo_graph.narrowing import is_dict

_EPOCH = (1980, 1, 1, 0, 0, 0)
_HEADERS: dict[tuple[int, int], Callable[[IO[bytes]], Any]] = {
    (1, 0): np.lib.format.read_array_header_1_0,
    (2, 0): np.lib.format.read_array_header_2_0,
}
_MOST = 500
"""The largest number of characters of a cause in a message, since a file can make it as long as it likes."""


def written(members: dict[str, bytes]) -> bytes:
    """An archive with these members, the same bytes for the same members."""
    import zipfile  # here, since only saving and loading need it

    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:
        for name, data in members.items():
            archive.writestr(zipfile.ZipInfo(name, _EPOCH), data)
    return buffer.getvalue()


class Archive:
    """An archive that `written` made. `SavedGraphError` and the exceptions of `zipfile` if it is damaged."""

    def __init__(self, stream: IO[bytes]) -> None:
        import zipfile

        self._size = stream.seek(0, os.SEEK_END)
        self._archive = zipfile.ZipFile(stream)
        self._stored = zipfile.ZIP_STORED
        self.names: list[str] = self._archive.namelist()

    def read(self, name: str) -> bytes:
        """The content of a member. KeyError if there is none of this name."""
        info = self._archive.getinfo(name)
        if info.compress_type != self._stored:
            raise SavedGraphError(f"{name} is compressed, which a saved graph never is")
        if max(info.compress_size, info.file_size) > self._size:
            raise SavedGraphError(f"{name} claims to be larger than the file")
        return self._archive.read(info)

    def json(self, name: str) -> dict[str, Any]:
        """The content of a member that is a JSON object."""
        content: object = json.loads(self.read(name))
        if not is_dict(content):
            raise SavedGraphError(f"{name} is no JSON object")
        return content

    def array(self, name: str) -> Any:
        """The array in a member in NumPy's format."""
        data = self.read(name)
        stream = io.BytesIO(data)
        version = np.lib.format.read_magic(stream)
        if version not in _HEADERS:
            raise SavedGraphError(f"{name} has version {version} of NumPy's format")
        shape, is_fortran, dtype = _HEADERS[version](stream)
        start = stream.tell()
        if dtype.hasobject or dtype.itemsize == 0:
            raise SavedGraphError(f"{name} has elements of dtype {dtype}")
        if min(shape, default=0) < 0 or math.prod(shape) * dtype.itemsize != len(data) - start:
            raise SavedGraphError(f"{name} does not have the size of an array {dtype} {shape}")
        array = np.frombuffer(data, dtype, offset=start).copy()
        if dtype.kind == "b" and array.view(np.uint8).max(initial=0) > 1:
            raise SavedGraphError(f"{name} has elements that are neither true nor false")
        return array.reshape(shape, order="F" if is_fortran else "C")


@contextmanager
def reading(file: str | os.PathLike[str] | IO[bytes], what: str) -> Generator[Archive]:
    """Open a file or stream as an `Archive`. ``what`` says what it must contain, such as "a saved graph".

    All exceptions in the context become `SavedGraphError`, with a message that names the file and ends with the cause.
    But OSError if the file cannot be opened.
    """
    if isinstance(file, str | os.PathLike):
        with open(file, "rb") as stream, _reporting(os.fspath(file), what):
            yield Archive(stream)
    else:
        with _reporting(str(getattr(file, "name", file)), what):
            yield Archive(file)


@contextmanager
def _reporting(name: str, what: str) -> Generator[None]:
    try:
        yield
    except SavedGraphError as error:
        raise SavedGraphError(f"{name} does not hold {what}: {_short(str(error))}") from error
    # whatever a damaged file leads to is an error of the file
    except Exception as error:
        cause = f"{type(error).__name__}: {error}"
        raise SavedGraphError(f"{name} does not hold {what}: {_short(cause)}") from error


def _short(cause: str) -> str:
    return cause if len(cause) <= _MOST else f"{cause[:_MOST]}..."
