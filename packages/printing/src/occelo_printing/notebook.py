"""What notebooks show of graphs, options, modes and profiles, as HTML, SVG and LaTeX (`occelo_graph.notebook`)."""

from __future__ import annotations

import html
import re
from typing import Any

from occelo_graph.notebook import Tabulated
from occelo_printing.charts import drawn_table
from occelo_printing.drawing import draw
from occelo_printing.latex import to_latex

_LONGEST = 2000
"""The number of characters of the longest formula that a notebook shows."""
_SIGNS = {"\\": r"\backslash ", "^": r"\hat{\;}", "~": r"\sim "} | {c: f"\\{c}" for c in "_#%&{}$"}
"""Characters that mean something in LaTeX, in formulas, where LaTeX, MathJax and KaTeX agree about them."""


def html_of(shown: Any) -> str:
    """A graph's text with its picture, or the picture of an object with its tables."""
    if not isinstance(shown, Tabulated):
        return f"<div><code>{html.escape(repr(shown))}</code></div>{svg_of(shown)}"
    parts = [f"<div>{shown.notebook_picture() or ''}</div>"]
    for headings, rows in shown.notebook_tables():
        lines = ["".join(f"<th>{html.escape(each)}</th>" for each in headings)]
        for first, *others in rows:
            cells = "".join(
                f"<td style='text-align: left'>{html.escape(str(c))}</td>" for c in others
            )
            lines.append(f"<th style='text-align: left'>{html.escape(str(first))}</th>{cells}")
        parts.append(f"<table>{''.join(f'<tr>{line}</tr>' for line in lines)}</table>")
    return "".join(parts)


def svg_of(shown: Any) -> str:
    """The text of `draw`, or of an object's picture; its tables, if it has none."""
    if not isinstance(shown, Tabulated):
        return draw(shown).svg
    return shown.notebook_picture() or drawn_table(*shown.notebook_tables()[0])


def latex_of(shown: Any) -> str | None:
    """The formulas of a graph, or an object's tables as arrays; None if a graph has no formulas, or long ones."""
    if isinstance(shown, Tabulated):
        text = r"\\[1em] ".join(
            _array([headings, *rows]) for headings, rows in shown.notebook_tables()
        )
        return rf"$\displaystyle \begin{{array}}{{l}} {text} \end{{array}}$"
    try:
        text = to_latex(shown)
    except ValueError:  # not all graphs have formulas in LaTeX
        return None
    return rf"$\displaystyle {text}$" if len(text) <= _LONGEST else None


def _array(rows: Any) -> str:
    head, *lines = (" & ".join(_text(str(cell)) for cell in row) for row in rows)
    return (
        rf"\begin{{array}}{{{'l' * len(rows[0])}}} {head} \\ \hline "
        + r" \\ ".join(lines)
        + r" \end{array}"
    )


def _text(cell: str) -> str:
    """Words of a formula: special characters stand between them, since not all that read LaTeX know them inside."""
    pieces = re.split(r"([\\^~_#%&{}$])", cell)
    return "".join(_SIGNS.get(piece, rf"\text{{{piece}}}") for piece in pieces if piece)
