"""The command ``occelo errors``, which prints the sections of docs/errors.md. Messages name the section that explains them."""

from __future__ import annotations

import difflib
import re
import textwrap
from pathlib import Path

import click

_PAGE = "errors.md"


def sections() -> dict[str, str]:
    """The sections of the page by their titles. The page is a file of the package, and of the checkout."""
    here = Path(__file__)
    page = here.with_name(_PAGE)
    if not page.exists():  # the package is installed from a checkout, editable
        page = here.parents[3] / "docs" / _PAGE
    _, *parts = re.split(r"^## ", page.read_text(encoding="utf-8"), flags=re.M)
    return {title: text.strip() for title, _, text in (part.partition("\n") for part in parts)}


def show_errors(word: str | None) -> None:
    """Print the section called ``word``, or else all sections that contain it; without a word, one line of each.

    ValueError if no section contains it.
    """
    found = sections()
    if word is None:
        for title, text in found.items():
            sentence = re.split(r"(?<=\.)\s", " ".join(text.split()))[0]
            click.echo(f"{title:<30} {sentence}")
        return
    chosen = [title for title in found if title.lower() == word.lower()]
    chosen = chosen or [t for t, text in found.items() if word.lower() in f"{t} {text}".lower()]
    if not chosen:
        near = difflib.get_close_matches(word.lower(), [t.lower() for t in found], 1)
        hint = f"; did you mean {near[0]}?" if near else "; occelo errors lists all"
        raise ValueError(f"No entry contains {word!r}{hint}")
    for title in chosen:
        click.echo(f"{title}\n{'-' * len(title)}\n{_as_text(found[title])}\n")


def _as_text(section: str) -> str:
    """A section for the terminal: paragraphs are wrapped, and code is indented."""
    text, *blocks = re.split(r"^```.*\n?", section, flags=re.M)
    parts = [click.wrap_text(text, 80, preserve_paragraphs=True)]
    for number, block in enumerate(blocks):
        shown = textwrap.indent(block, "    ") if number % 2 == 0 else click.wrap_text(block, 80)
        parts.append(shown.rstrip())
    return "\n\n".join(part for part in parts if part)
