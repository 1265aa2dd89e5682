"""Provenance of variables: the lines of the user's code that made them.

A mark is a code object and an instruction offset, taken from the innermost frame outside of this
library. It costs a few dictionary look-ups; file, line and text are computed on demand.
Frames are not kept, because they would keep the user's local variables alive.

Variables and nodes keep a mark (`ir.nodes`). Error messages, saved graphs and the record of a rewriting show the line.
The packages above declare their files as the library's own by `register_internal`.
"""

from __future__ import annotations

import linecache
import os
import sys
from types import CodeType, FrameType

from occelo_graph.frozen_dataclasses import frozen_dataclass

__all__ = [
    "Mark",
    "Source",
    "enabled",
    "here",
    "register_internal",
    "set_enabled",
    "source_of",
    "user_frame",
]

Mark = tuple[CodeType, int]

_internal_roots: list[str] = []
_internal_files: set[str] = set()
_user_files: set[str] = set()
_enabled = True


@frozen_dataclass
class Source:
    """A place in the user's code: file, line (1-based, 0 if unknown) and enclosing function."""

    filename: str
    lineno: int
    function: str

    @property
    def text(self) -> str:
        """The line itself, stripped; empty if the file cannot be read."""
        return linecache.getline(self.filename, self.lineno).strip()

    def __str__(self) -> str:
        return f"{self.filename}:{self.lineno}"


def register_internal(directory: str) -> None:
    """Treat all files below ``directory`` as the library's own, not as the user's."""
    root = os.path.join(os.path.abspath(directory), "")
    if root not in _internal_roots:
        _internal_roots.append(root)
        _user_files.clear()


def set_enabled(on: bool) -> None:
    """Switch the recording of marks on (the default) or off, for the whole process."""
    global _enabled
    _enabled = on


def enabled() -> bool:
    """Whether marks are recorded."""
    return _enabled


def _classify(filename: str) -> bool:
    internal = filename.startswith(tuple(_internal_roots))
    (_internal_files if internal else _user_files).add(filename)
    return internal


def user_frame(depth: int = 1) -> FrameType | None:
    """The innermost frame that is not in the library; None if there is none or marks are off.

    The search starts ``depth`` frames up the call stack (1: the caller's frame). Python creates an object for each
    frame that is examined, so ``depth`` should skip frames that are certainly the library's. Callers must not keep the
    frame.
    """
    if not _enabled:
        return None
    frame: FrameType | None = sys._getframe(depth)  # pyright: ignore[reportPrivateUsage]  # inspect.currentframe takes no depth
    internal, users = _internal_files, _user_files
    while frame is not None:
        filename = frame.f_code.co_filename
        if filename not in internal and (filename in users or not _classify(filename)):
            return frame
        frame = frame.f_back
    return None


def here() -> Mark | None:
    """The mark of the line of the user's code that is running; None if there is none."""
    frame = user_frame(2)
    return None if frame is None else (frame.f_code, frame.f_lasti)


def source_of(mark: Mark | Source | None) -> Source | None:
    """File, line and function of a mark."""
    if mark is None or isinstance(mark, Source):
        return mark
    code, offset = mark
    line = 0
    for start, end, lineno in code.co_lines():
        if start <= offset < end and lineno is not None:
            line = lineno
            break
    return Source(code.co_filename, line, code.co_qualname)


register_internal(os.path.dirname(__file__))
