"""Says which step of a long compilation runs, on a terminal or in a notebook.

`FunctionMaker.create` and the first call of a function use `reporting`. The option ``compile__progress`` says when it
reports.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from time import perf_counter
from typing import TextIO

from occelo_compile.options import PROGRESS

PATIENCE = 2.0
"""The seconds after which a compilation is long."""
_INTERVAL = 0.25
_INTERVAL_OF_LOGS = 10.0
"""The seconds between two reports: in a line that is written anew, and in a file, where each report is a line."""
_reported = threading.Lock()
"""Held by the compilation that is reported: the outermost one, and one thread's only."""


@contextmanager
def reporting(name: str, describe: Callable[[], str]) -> Generator[None]:
    """A context in which a line on stderr says what happens, once `PATIENCE` seconds have passed.

    ``name`` says what is compiled. ``describe`` is called by another thread, and returns the step that runs.
    """
    stream = _stream()
    if stream is None or not _reported.acquire(blocking=False):
        yield
        return
    try:
        line = _Line(name, describe, stream)
        with suppress(RuntimeError):  # where threads cannot be started, nothing is reported
            line.thread.start()
        try:
            yield
        finally:
            line.finish()
    finally:
        _reported.release()


def _stream() -> TextIO | None:
    """Stderr if progress is to be reported there, otherwise None."""
    when, stream = PROGRESS.get(), sys.stderr
    if when == "never" or stream is None:
        return None
    return stream if when == "always" or _is_live(stream) else None


def _is_live(stream: TextIO) -> bool:
    """Whether somebody looks at the stream, so that a line can be written anew."""
    return stream.isatty() or "ipykernel" in sys.modules


class _Line:
    """A line of text that a thread writes again and again, until it is told to finish."""

    def __init__(self, name: str, describe: Callable[[], str], stream: TextIO) -> None:
        self.name = name
        self.describe = describe
        self.stream = stream
        self.start = perf_counter()
        self.width = 0
        self.live = _is_live(stream)
        self.done = threading.Event()
        self.thread = threading.Thread(target=self.run, name="occelo progress", daemon=True)

    def run(self) -> None:
        pause = PATIENCE
        while not self.done.wait(pause):
            self.show(f"compiling {self.name}: {self.describe()}", "" if self.live else "\n")
            pause = _INTERVAL if self.live else _INTERVAL_OF_LOGS

    def finish(self) -> None:
        self.done.set()
        if self.thread.ident is not None:
            self.thread.join()
        if self.width:
            self.show(f"compiled {self.name}; its compile_report() says what took long", "\n")

    def show(self, text: str, end: str) -> None:
        seconds = f" ({perf_counter() - self.start:.0f} s)"
        import shutil  # slow to import

        columns = shutil.get_terminal_size().columns - 1
        if self.live:
            text = "\r" + text[: max(columns - len(seconds), 0)]
        shown = text + seconds
        # a closed or broken stream must not stop a compilation
        with suppress(OSError, ValueError):
            self.stream.write((shown.ljust(self.width) if self.live else shown) + end)
            self.stream.flush()
        self.width = len(shown)
