"""Pictures in SVG of what is no graph: bars of figures (`bar_chart`), and tables (`drawn_table`)."""

from __future__ import annotations

import html
from collections.abc import Sequence

_LETTER, _LINE, _BARS = 6.4, 20.0, 260.0
"""The width of a letter, the height of a line, and the length of the longest bar."""
_STYLE = """\
.occelo-chart text{font:11px ui-monospace,monospace;fill:#1b2733}
.occelo-chart .title{font-weight:bold}
.occelo-chart .label{text-anchor:end}
.occelo-chart rect{fill:#7fb0e6}
.occelo-chart line{stroke:#c3ccd4}"""
Group = tuple[str, Sequence[tuple[str, float, str]]]
"""A title, and for each bar its label, its figure and the text of the figure."""


def bar_chart(groups: Sequence[Group]) -> str:
    """Bars of figures that are not negative, the largest of each group as long as those of others."""
    margin = 10 + _LETTER * max((len(label) for _, rows in groups for label, *_ in rows), default=0)
    figures = max((len(text) for _, rows in groups for *_, text in rows), default=0)
    titles = max((len(title) for title, _ in groups), default=0)
    width = max(margin + _BARS + 12 + _LETTER * figures, 8 + _LETTER * titles)
    parts: list[str] = []
    y = 0.0
    for title, rows in groups:
        parts.append(_words(4, y + 14, title, "title"))
        largest = max((figure for _, figure, _ in rows), default=0.0) or 1.0
        for label, figure, text in rows:
            y += _LINE
            length = _BARS * figure / largest
            parts.append(
                f"<g>{_words(margin - 6, y + 14, label, 'label')}"
                f'<rect x="{margin:.1f}" y="{y + 3:.0f}" width="{length:.1f}" height="14"/>'
                f"{_words(margin + length + 6, y + 14, text)}</g>"
            )
        y += _LINE * 1.5
    return _picture(parts, width, y - _LINE / 2)


def drawn_table(headings: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """A table as a picture, for what shows no HTML."""
    cells = [list(headings), *([str(cell) for cell in row] for row in rows)]
    widths = [_LETTER * max(map(len, column)) + 16 for column in zip(*cells, strict=True)]
    parts = [f'<line x1="0" y1="{_LINE}" x2="{sum(widths):.1f}" y2="{_LINE}"/>']
    for number, row in enumerate(cells):
        x = 4.0
        for cell, width in zip(row, widths, strict=True):
            parts.append(_words(x, number * _LINE + 14, cell, "" if number else "title"))
            x += width
    return _picture(parts, sum(widths), len(cells) * _LINE)


def _words(x: float, y: float, text: str, kind: str = "") -> str:
    named = f' class="{kind}"' if kind else ""
    return f'<text{named} x="{x:.1f}" y="{y:.0f}">{html.escape(text)}</text>'


def _picture(parts: Sequence[str], width: float, height: float) -> str:
    start = (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="occelo-chart" viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" '
        f'style="max-width:100%;height:auto;background:#fff" role="img"><style>{_STYLE}</style>'
    )
    return "\n".join([start, *parts, "</svg>"])
