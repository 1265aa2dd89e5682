"""The pages that explain errors, docs/errors.md and those of docs/errors, and which entry of them explains a message.

An entry begins with the message, indented, in which ``...`` stands for what differs from case to case. Errors name their
entry when they are raised (`occelo_graph.errors.set_entry_finder`); the pages are read then, and not before.
`occelo.command.errors` prints entries.
"""

from __future__ import annotations

import functools
import os
import re
from collections.abc import Iterator
from typing import NamedTuple

_PAGE = "errors.md"


class Entry(NamedTuple):
    """An entry of a page: its title, the page's name in docs, its text, and the message, "" for an entry of a kind of errors."""

    title: str
    page: str
    text: str
    message: str

    @property
    def parts(self) -> list[str]:
        """The fixed parts of the message."""
        return self.message.split("...")

    @property
    def fixed(self) -> int:
        """How many characters of the message are fixed: of two entries that fit, the one with more says more."""
        return sum(map(len, self.parts))

    def fits(self, raised: str) -> bool:
        """Whether a line of what was raised is the message, perhaps after what was done, and before the arguments."""
        for line in raised.split("\n"):
            told = line.partition("; the arguments are ")[0]
            starts = [0, *(each.end() for each in re.finditer(": ", told))]
            if any(_consists_of(told[start:], self.parts) for start in starts):
                return True
        return False


def _consists_of(text: str, parts: list[str]) -> bool:
    """Whether a text begins with the first of some parts, ends with the last, and has the others between, in their order."""
    first, *inner, last = parts if len(parts) > 1 else [*parts, ""]
    end = len(text) - len(last)
    if not text.startswith(first) or not text.endswith(last) or len(first) > end:
        return False
    if len(parts) == 1:
        return text == first
    position = len(first)
    for part in inner:
        position = text.find(part, position, end)
        if position < 0:
            return False
        position += len(part)
    return True


def _pages() -> Iterator[tuple[str, str]]:
    """The pages with their names in docs. They are files of the package, and of the checkout."""
    here = os.path.dirname(
        os.path.dirname(__file__)
    )  # importing pathlib takes longer than reading the pages
    # the second holds if the package is installed from a checkout, editable
    for folder in (os.path.join(here, "docs"), os.path.join(here, "..", "..", "docs")):
        if os.path.exists(os.path.join(folder, _PAGE)):
            more = sorted(f"errors/{name}" for name in os.listdir(os.path.join(folder, "errors")))
            for page in (_PAGE, *more):
                with open(os.path.join(folder, page), encoding="utf-8") as file:
                    yield page, file.read()
            return
    # without pages there is no entry; an error is raised, and must not be hidden by another one


@functools.cache
def entries() -> dict[str, Entry]:
    """All entries by their titles, the kinds of errors of docs/errors.md first."""
    listed: list[Entry] = []
    for page, whole in _pages():
        _, *sections = re.split(r"^## ", whole, flags=re.M)
        for section in sections:
            title, _, text = section.partition("\n")
            text = text.strip("\n")
            message = text.partition("\n")[0].strip() if text.startswith("    ") else ""
            listed.append(Entry(title, page, text, message))
    return {entry.title: entry for entry in listed}


@functools.cache
def _of_messages() -> list[tuple[str, Entry]]:
    """The entries of messages, those with more fixed text first, each with its longest fixed part."""
    of_messages = [entry for entry in entries().values() if entry.message]
    of_messages.sort(key=lambda entry: -entry.fixed)
    return [(max(entry.parts, key=len), entry) for entry in of_messages]


def entry_of(raised: str) -> tuple[str, str] | None:
    """The page and the title of the entry that explains a message; None if there is none."""
    for part, entry in _of_messages():
        if part in raised and entry.fits(raised):
            return entry.page, entry.title
    return None
