"""Prints tables on the terminal, as plain text: a library of tables would take longer to import than most commands run."""

from __future__ import annotations

import shutil
import textwrap
from collections.abc import Iterable, Sequence
from itertools import zip_longest

_GAP = "  "


def print_table(
    headings: Sequence[str], rows: Iterable[Sequence[str]], *, width: int | None = None
) -> None:
    """Print a table with a column for each heading. Long texts are wrapped, never cut.

    ``width`` is the number of characters of a line; by default that of the terminal.
    """
    print("\n".join(_lines([headings, *rows], width or shutil.get_terminal_size().columns)))


def _lines(rows: list[Sequence[str]], width: int) -> Iterable[str]:
    """The lines of a table whose first row has the headings, with a rule below it."""
    widths = _widths([max(map(_length, column)) for column in zip(*rows, strict=True)], width)
    for i, row in enumerate(rows):
        cells = [_wrapped(text, w) for text, w in zip(row, widths, strict=True)]
        for line in zip_longest(*cells, fillvalue=""):
            yield _GAP.join(t.ljust(w) for t, w in zip(line, widths, strict=True)).rstrip()
        if i == 0:
            yield _GAP.join("-" * w for w in widths)


def _length(text: str) -> int:
    return max(map(len, text.split("\n")))


def _wrapped(text: str, width: int) -> list[str]:
    if len(text) <= width and "\n" not in text:  # most: making a wrapper takes longer than the rest
        return [text]
    return [part for line in text.split("\n") for part in textwrap.wrap(line, width) or [""]]


def _widths(lengths: list[int], width: int) -> list[int]:
    """The widths of columns whose longest lines are ``lengths``: as few as needed are narrowed to fit into ``width``."""
    room = width - len(_GAP) * (len(lengths) - 1)
    widest = max(lengths)
    while widest > 8 and sum(min(n, widest) for n in lengths) > room:
        widest -= 1
    return [min(n, widest) for n in lengths]
