"""Provenance: finds the line of the user's code that made a variable.

`ir.nodes` stores a mark in each new variable and node. A mark is a code object and an instruction offset, read from the
innermost frame of the call stack that is not in a file of Occelo. Making a mark takes only a few dictionary look-ups.
File, line and text are computed when they are needed (`source_of`): for error messages, saved graphs and the record of
a rewriting. Frames themselves are not kept, because they would keep the user's local variables alive.

Which packages are Occelo's is said by `is_own` alone; `register_internal` adds the files of a library that Occelo calls.
"""

from __future__ import annotations

import linecache
import os
import sys
import warnings
from collections.abc import Callable
from threading import get_ident
from types import CodeType, FrameType
from typing import Any

from occelo_graph.frozen_dataclasses import frozen_dataclass

Mark = tuple[CodeType, int]

_internal_roots: list[str] = []
_internal_files: set[str] = set()
_user_files: set[str] = set()
_lines: dict[int, FrameType] = {}
"""By the number of a thread, the frame whose line everything gets that the thread makes now (`at_line`)."""


@frozen_dataclass
class Source:
    """A line of the user's code: its file, number (from 1; 0 if unknown) and enclosing function."""

    filename: str
    lineno: int
    function: str

    @property
    def text(self) -> str:
        """The text of the line, without spaces around it. Empty if the file cannot be read."""
        # a saved graph may name any file, such as a pipe or a device
        if os.path.exists(self.filename) and not os.path.isfile(self.filename):
            return ""
        return linecache.getline(self.filename, self.lineno).strip()

    def __str__(self) -> str:
        return f"{_cell_of(self.filename) or self.filename}:{self.lineno}"


def _cell_of(filename: str) -> str | None:
    """The name that IPython shows for a cell of a notebook, such as "In[3]"; None for a file.

    The cells of a notebook have file names in a temporary folder, which tell a reader nothing.
    """
    ipython: Any = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    format_code_name = getattr(getattr(shell, "compile", None), "format_code_name", None)
    named: tuple[str, str] | None = None if format_code_name is None else format_code_name(filename)
    return None if named is None else named[1]


def is_own(module: str) -> bool:
    """Whether a module belongs to one of Occelo's packages: their import names are ``occelo`` and ``occelo_...``.

    The version and the content of such a package stand for its code, for instance in cache keys. Other code, also that
    of other people's families, is external: it is described by its source text.
    """
    package = module.partition(".")[0]
    return package == "occelo" or package.startswith("occelo_")


def register_internal(directory: str) -> None:
    """Declare that all files below ``directory`` count as Occelo's own: their lines are not taken for the user's."""
    root = os.path.join(os.path.abspath(directory), "")
    if root not in _internal_roots:
        _internal_roots.append(root)
        _user_files.clear()


def _is_internal(frame: FrameType) -> bool:
    """Whether a frame runs code of Occelo or of a declared folder. Code of the package for tests plays the user.

    Known for each file from the first time on. What is made from text, such as the methods of a dataclass, shares its
    file name with the user's own text and never counts as Occelo's.
    """
    filename = frame.f_code.co_filename
    if filename in _internal_files or filename in _user_files:
        return filename in _internal_files
    module = frame.f_globals.get("__name__") or ""
    internal = filename.startswith(tuple(_internal_roots)) or (
        is_own(module) and not module.startswith("occelo_testing") and filename[:1] != "<"
    )
    (_internal_files if internal else _user_files).add(filename)
    return internal


_frame_at: Callable[[int], Any] = sys._getframe  # pyright: ignore[reportPrivateUsage]  # inspect.currentframe takes no depth


def user_frame(depth: int = 1) -> FrameType | None:
    """The innermost frame of the call stack that is not in a file of Occelo. None if there is none, or marks are off.

    The search starts ``depth`` frames up the call stack (1: the caller's frame). Python creates an object for each
    frame that is examined, so ``depth`` should skip frames that are certainly Occelo's. Callers must not keep the
    frame.
    """
    if _lines:
        line = _lines.get(get_ident())
        if line is not None:
            return line
    frame = _frame_at(depth)
    internal = _internal_files
    try:
        while True:
            while frame.f_code.co_filename in internal:
                frame = frame.f_back
            if frame.f_code.co_filename in _user_files or not _is_internal(frame):
                return frame
    except AttributeError:
        # there are no more frames: to find out so is faster than to compare each with None
        return None


class at_line:
    """A context manager. What this thread makes in the ``with`` block gets the line that ``frame`` runs now.

    Without a frame, lines are looked for as usual. To look for a line takes as long as to make a variable, so code of
    Occelo that makes many nodes for one call looks once. Around calls of the user's functions lines are looked for.
    """

    __slots__ = ("_before", "_frame", "_thread")

    def __init__(self, frame: FrameType | None) -> None:
        self._frame = frame
        self._thread = get_ident()

    def __enter__(self) -> None:
        self._before = _lines.get(self._thread)
        self._set(self._frame)

    def __exit__(self, *_: object) -> None:
        self._set(self._before)

    def _set(self, frame: FrameType | None) -> None:
        if frame is None:
            _lines.pop(self._thread, None)
        else:
            _lines[self._thread] = frame


def here() -> Mark | None:
    """The mark of the line of the user's code that is running now. None if there is none, or marks are off."""
    frame = user_frame(2)
    return None if frame is None else (frame.f_code, frame.f_lasti)


def called_by_user() -> bool:
    """Whether the function that asks was called by code that is not Occelo's."""
    frame = _frame_at(2)
    return not _is_internal(frame)


def warn_user(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn at the innermost line of the call stack that is not in a file of Occelo."""
    import inspect  # slow to import

    level = 1
    frame: Any = inspect.currentframe()
    while frame.f_back is not None and _is_internal(frame):
        frame = frame.f_back
        level += 1
    warnings.warn(message, category, stacklevel=level)


def source_of(mark: Mark | Source | None) -> Source | None:
    """The file, line and function of a mark. A `Source`, and None, are returned as they are."""
    if mark is None or isinstance(mark, Source):
        return mark
    code, offset = mark
    line = 0
    for start, end, lineno in code.co_lines():
        if start <= offset < end and lineno is not None:
            line = lineno
            break
    return Source(code.co_filename, line, code.co_qualname)
