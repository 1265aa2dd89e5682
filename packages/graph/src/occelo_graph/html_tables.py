"""`html_table`: how notebooks show options and modes."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence


def html_table(headings: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A table for notebooks; the first cell of a row is its heading."""
    lines = ["".join(f"<th>{html.escape(each)}</th>" for each in headings)]
    for first, *others in rows:
        cells = "".join(f"<td style='text-align: left'>{html.escape(str(c))}</td>" for c in others)
        lines.append(f"<th style='text-align: left'>{html.escape(str(first))}</th>{cells}")
    return f"<table>{''.join(f'<tr>{line}</tr>' for line in lines)}</table>"
