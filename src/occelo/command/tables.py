"""Prints tables on the terminal. Rich is imported at the first use, since many commands print none."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def print_table(
    headings: Sequence[str], rows: Iterable[Sequence[str]], *, width: int | None = None
) -> None:
    """Print a table with a column for each heading. Long texts are wrapped, never cut.

    ``width`` is the number of characters of a line; by default that of the terminal.
    """
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table()
    for heading in headings:
        table.add_column(heading, overflow="fold")
    for row in rows:
        table.add_row(*map(Text, row))
    Console(width=width).print(table)
