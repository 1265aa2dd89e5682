"""The pages that explain errors, docs/errors.md and those of docs/errors, and which entry of them explains a message.

The pages of docs/errors/raised are written from the sources (docs/messages.py). They are read if no other explains a message.
An entry begins with the message, indented, in which ``...`` stands for what differs from case to case. Errors name their
entry when they are raised (`occelo_graph.errors.set_hints`); the pages are read then, and not before.
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


def _folder() -> str | None:
    """The folder of the pages. They are files of the package, and of the checkout."""
    here = os.path.dirname(
        os.path.dirname(__file__)
    )  # importing pathlib takes longer than reading the pages
    # the second holds if the package is installed from a checkout, editable
    for folder in (os.path.join(here, "docs"), os.path.join(here, "..", "..", "docs")):
        if os.path.exists(os.path.join(folder, _PAGE)):
            return folder
    return None  # without pages there is no entry; an error is raised, and must not be hidden by another one


def _read(pages: Iterator[str]) -> dict[str, Entry]:
    """The entries of pages by their titles."""
    listed: list[Entry] = []
    for page in pages:
        with open(os.path.join(_folder() or "", page), encoding="utf-8") as file:
            _, *sections = re.split(r"^## ", file.read(), flags=re.M)
        for section in sections:
            title, _, text = section.partition("\n")
            text = text.strip("\n")
            message = text.partition("\n")[0].strip() if text.startswith("    ") else ""
            listed.append(Entry(title, page, text, message))
    return {entry.title: entry for entry in listed}


def _within(*parts: str) -> Iterator[str]:
    """The pages of a folder."""
    folder = _folder()
    if folder is not None and os.path.exists(place := os.path.join(folder, *parts)):
        for name in sorted(os.listdir(place)):
            if name.endswith(".md"):
                yield "/".join([*parts, name])


@functools.cache
def entries_by_hand() -> dict[str, Entry]:
    """The entries that somebody wrote, by their titles, the kinds of errors of docs/errors.md first."""
    return {} if _folder() is None else _read(iter([_PAGE, *_within("errors")]))


@functools.cache
def _from_sources() -> dict[str, Entry]:
    return _read(_within("errors", "raised"))


def entries() -> dict[str, Entry]:
    """All entries by their titles: those that somebody wrote, then those from the sources."""
    return {**entries_by_hand(), **_from_sources()}


class _Finder:
    """Finds the entry of a message among entries, those with more fixed text first."""

    def __init__(self, listed: dict[str, Entry]) -> None:
        of_messages = [entry for entry in listed.values() if entry.message]
        of_messages.sort(key=lambda entry: -entry.fixed)
        self.by_longest_part = [(max(entry.parts, key=len), entry) for entry in of_messages]

    def __call__(self, raised: str) -> tuple[str, str] | None:
        for part, entry in self.by_longest_part:
            if part in raised and entry.fits(raised):
                return entry.page, entry.title
        return None


@functools.cache
def _finder(by_hand: bool) -> _Finder:
    return _Finder(entries_by_hand() if by_hand else _from_sources())


def entry_by_hand(raised: str) -> tuple[str, str] | None:
    """The page and the title of the entry that somebody wrote about a message; None if there is none."""
    return _finder(True)(raised)


def entry_of(raised: str) -> tuple[str, str] | None:
    """The page and the title of the entry that explains a message; None if there is none."""
    return _finder(True)(raised) or _finder(False)(raised)
