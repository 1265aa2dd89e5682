"""Where in the user's code a variable was made.

A mark is a code object and an instruction offset, taken from the first frame outside this
library. It costs a few dictionary look-ups; file, line and text are worked out when asked for.
A frame itself is never kept, because it would keep the caller's local variables alive.
"""

from __future__ import annotations

import linecache
import os
import sys
from dataclasses import dataclass
from types import CodeType, FrameType

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
_is_internal: dict[str, bool] = {}
_enabled = True


@dataclass(frozen=True)
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
    """Count every file below ``directory`` as the library's own, never as the user's."""
    root = os.path.join(os.path.abspath(directory), "")
    if root not in _internal_roots:
        _internal_roots.append(root)
        _is_internal.clear()


def set_enabled(on: bool) -> None:
    """Switch the taking of marks on (the default) or off for the whole process."""
    global _enabled
    _enabled = on


def enabled() -> bool:
    """Whether marks are taken."""
    return _enabled


def _classify(filename: str) -> bool:
    internal = filename.startswith(tuple(_internal_roots))
    _is_internal[filename] = internal
    return internal


def user_frame(depth: int = 1) -> FrameType | None:
    """The innermost frame that is not the library's own; None if there is none or marks are off.

    The search begins ``depth`` frames up, 1 being the caller's: Python makes a frame object for
    each frame that is looked at, so what is surely the library's is better passed over at once.
    Callers take code object and offset from the frame and let it go.
    """
    if not _enabled:
        return None
    frame: FrameType | None = sys._getframe(depth)  # pyright: ignore[reportPrivateUsage]
    known = _is_internal
    while frame is not None:
        filename = frame.f_code.co_filename
        internal = known.get(filename)
        if internal is None:
            internal = _classify(filename)
        if not internal:
            return frame
        frame = frame.f_back
    return None


def here() -> Mark | None:
    """Mark the user's line that is running; None if there is none."""
    frame = user_frame(2)
    return None if frame is None else (frame.f_code, frame.f_lasti)


def source_of(mark: Mark | Source | None) -> Source | None:
    """Work out file, line and function of a mark."""
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
