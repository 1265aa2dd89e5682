"""`Shown`: how notebooks show variables, function graphs and compiled functions.

The package `occelo_printing` draws and writes what is shown; without it notebooks show texts.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

_LONGEST = 2000
"""The number of characters of the longest formula that a notebook shows."""
_svg_of: Callable[[Any], str] | None = None
_latex_of: Callable[[Any], str] | None = None


def set_notebook_writers(svg_of: Callable[[Any], str], latex_of: Callable[[Any], str]) -> None:
    """Set the functions that draw a graph, and that write it as formulas. The second raises ValueError if it cannot."""
    global _svg_of, _latex_of
    _svg_of, _latex_of = svg_of, latex_of


class Shown:
    """Base class of what notebooks show as a picture of its graph, with its text above it, or as formulas."""

    __slots__ = ()

    def _repr_svg_(self) -> str | None:
        return None if _svg_of is None else _svg_of(self)

    def _repr_html_(self) -> str | None:
        import html  # slow to import

        picture = self._repr_svg_()
        return (
            None
            if picture is None
            else f"<div><code>{html.escape(repr(self))}</code></div>{picture}"
        )

    def _repr_latex_(self) -> str | None:
        if _latex_of is None:
            return None
        try:
            text = _latex_of(self)
        except ValueError:  # not all graphs have formulas in LaTeX
            return None
        return rf"$\displaystyle {text}$" if len(text) <= _LONGEST else None
