"""`Shown`: how notebooks show variables, function graphs, compiled functions, options, modes and profiles.

The package `occelo_printing` draws and writes what is shown; without it notebooks show texts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

Table = tuple[Sequence[str], Sequence[Sequence[object]]]
"""The headings of a table, and its rows."""
Writer = Callable[[Any], str | None]
_writers: dict[str, Writer] = {}


def set_notebook_writers(html_of: Writer, svg_of: Writer, latex_of: Writer) -> None:
    """Set the functions that write what is shown in the three formats. They return None for what a format cannot show."""
    _writers.update(html=html_of, svg=svg_of, latex=latex_of)


class Shown:
    """Base class of what notebooks show: a graph as a picture with its text above it, or as formulas."""

    __slots__ = ()

    def _repr_svg_(self) -> str | None:
        return _writers["svg"](self) if _writers else None

    def _repr_html_(self) -> str | None:
        return _writers["html"](self) if _writers else None

    def _repr_latex_(self) -> str | None:
        return _writers["latex"](self) if _writers else None


class Tabulated(Shown):
    """Base class of what is no graph: notebooks show it as tables, below a picture if it has one."""

    __slots__ = ()

    def notebook_tables(self) -> list[Table]:
        """What is shown."""
        raise NotImplementedError

    def notebook_picture(self) -> str | None:
        """The text of a picture in SVG, or None: then the tables are drawn."""
        return None
