"""The pages that explain errors, docs/errors.md and those of docs/errors, and which entry of them explains a message.

An entry begins with the message, indented, in which ``...`` stands for what differs from case to case. Errors name their
entry when they are raised (`occelo_graph.errors.set_entry_finder`); the pages are read then, and not before.
`occelo.command.errors` prints entries.
"""

from __future__ import annotations

import functools
import re
from pathlib import Path
from typing import NamedTuple

_PAGE = "errors.md"


class Entry(NamedTuple):
    """An entry of a page: its title, the page's name in docs, its text, and the fixed parts of the message, if it is of one."""

    title: str
    page: str
    text: str
    parts: tuple[str, ...]

    @property
    def fixed(self) -> int:
        """How many characters of the message are fixed: of two entries that fit, the one with more says more."""
        return sum(map(len, self.parts))

    def fits(self, message: str) -> bool:
        """Whether the fixed parts are in a message, in their order."""
        position = 0
        for part in self.parts:
            position = message.find(part, position)
            if position < 0:
                return False
            position += len(part)
        return bool(self.parts)


def _pages() -> list[tuple[str, Path]]:
    """The pages with their names in docs. They are files of the package, and of the checkout."""
    folder = Path(__file__).with_name("docs")
    if not (folder / _PAGE).exists():  # the package is installed from a checkout, editable
        folder = Path(__file__).parents[2] / "docs"
    if not (folder / _PAGE).exists():
        return []  # an error is raised, and must not be hidden by another one
    more = sorted((folder / "errors").glob("*.md"))
    return [(_PAGE, folder / _PAGE), *((f"errors/{path.name}", path) for path in more)]


@functools.cache
def entries() -> dict[str, Entry]:
    """All entries by their titles, the kinds of errors of docs/errors.md first."""
    listed: list[Entry] = []
    for page, path in _pages():
        _, *sections = re.split(r"^## ", path.read_text(encoding="utf-8"), flags=re.M)
        for section in sections:
            title, _, text = section.partition("\n")
            text = text.strip("\n")
            message = text.partition("\n")[0] if text.startswith("    ") else ""
            parts = tuple(part for part in message.strip().split("...") if part)
            listed.append(Entry(title, page, text, parts))
    return {entry.title: entry for entry in listed}


@functools.cache
def _of_messages() -> list[tuple[str, Entry]]:
    """The entries of messages, those with more fixed text first, each with its longest fixed part."""
    of_messages = [entry for entry in entries().values() if entry.parts]
    of_messages.sort(key=lambda entry: -entry.fixed)
    return [(max(entry.parts, key=len), entry) for entry in of_messages]


def entry_of(message: str) -> tuple[str, str] | None:
    """The page and the title of the entry that explains a message; None if there is none."""
    for part, entry in _of_messages():
        if part in message and entry.fits(message):
            return entry.page, entry.title
    return None
