"""`Shown`: how notebooks show variables, function graphs, compiled functions, options, modes and profiles.

The package `occelo_printing` draws and writes what is shown; without it notebooks show texts.
"""

from __future__ import annotations

from collections.abc import Sequence

from occelo_graph.errors import written_as

Table = tuple[Sequence[str], Sequence[Sequence[object]]]
"""The headings of a table, and its rows."""


class Shown:
    """Base class of what notebooks show: a graph as a picture with its text above it, or as formulas."""

    __slots__ = ()

    def _repr_svg_(self) -> str | None:
        return written_as("svg", self)

    def _repr_html_(self) -> str | None:
        return written_as("html", self)

    def _repr_latex_(self) -> str | None:
        return written_as("latex", self)


class Tabulated(Shown):
    """Base class of what is no graph: notebooks show it as tables, below a picture if it has one."""

    __slots__ = ()

    def notebook_tables(self) -> list[Table]:
        """What is shown."""
        raise NotImplementedError

    def notebook_picture(self) -> str | None:
        """The text of a picture in SVG, or None: then the tables are drawn."""
        return None
