"""The command ``occelo errors``, which prints the entries of docs/errors.md and docs/errors. Messages name the entry that explains them."""

from __future__ import annotations

import difflib
import re
import textwrap

import click

from occelo.command.messages import Written, written
from occelo.hints.explanations import Entry, entries, entry_of

_KIND = re.compile(r"^The kind of error: \[(\w+)\]", re.M)
"""The line of an entry from the sources that names the kind, whose entry explains more."""
_SHOWN = 3
"""Of more entries than these, only one line each is printed."""


def show_errors(words: str | None) -> None:
    """Print the entry that is called ``words`` or explains the message ``words``, or else those that contain the words.

    Of a message without an entry, the place that writes it is printed, and the entry of its kind. Without words, one line
    is printed of each kind of error. ValueError if neither an entry nor a message contains them.
    """
    all_entries = entries()
    if words is None:
        kinds = [entry for entry in all_entries.values() if not entry.message]
        _list(kinds)
        count = len(all_entries) - len(kinds)
        click.echo(
            f"\nThere are {count} entries of single messages: occelo errors 'WORDS OF THE MESSAGE'"
        )
        return
    chosen = _chosen(words)
    if not chosen and (places := written(words)):
        _show_places(places)
        return
    if not chosen:
        near = difflib.get_close_matches(words.lower(), [t.lower() for t in all_entries], 1)
        hint = f"; did you mean {near[0]}?" if near else "; occelo errors lists all kinds"
        raise ValueError(f"No entry contains {words!r}{hint}")
    if len(chosen) > _SHOWN:
        _list(chosen)
        return
    for entry in chosen:
        _show(entry)


def _show_places(places: list[Written]) -> None:
    """Print what is known of a message without an entry: where it is written, what the function does, and the kind of errors.

    Of several places, those that write the same as the first are named.
    """
    first = places[0]
    click.echo(f"    {first.message}\n")
    for place in places[:_SHOWN]:
        if place.message == first.message:
            click.echo(f"written by {place.module}, line {place.line}: {place.function}")
    if first.docstring:
        click.echo(f"\n{_wrapped(first.docstring)}")
    if first.kind:
        click.echo()
        _show(entries()[first.kind])


def _show(entry: Entry) -> None:
    click.echo(f"{entry.title}\n{'-' * len(entry.title)}\n{_as_text(entry.text)}\n")
    kind = _KIND.search(entry.text)
    if kind is not None:
        _show(entries()[kind[1]])


def _chosen(words: str) -> list[Entry]:
    all_entries = entries()
    called = [entry for title, entry in all_entries.items() if title.lower() == words.lower()]
    if called:
        return called
    place = entry_of(words)
    if place is not None:
        return [all_entries[place[1]]]
    whole = [e for e in all_entries.values() if words.lower() in f"{e.title} {e.text}".lower()]
    if whole:
        return whole
    tokens = set(re.findall(r"\w+", words.lower()))
    return [e for e in all_entries.values() if tokens <= set(re.findall(r"\w+", e.text.lower()))]


def _list(chosen: list[Entry]) -> None:
    formatter = click.HelpFormatter()  # which wraps the second column
    formatter.write_dl([(e.title, e.message or _first_sentence(e.text)) for e in chosen])
    click.echo(formatter.getvalue().rstrip("\n"))


def _first_sentence(text: str) -> str:
    return re.split(r"(?<=\.)\s", " ".join(text.split()))[0]


def _as_text(section: str) -> str:
    """An entry for the terminal: paragraphs are wrapped, and code is indented."""
    text, *blocks = re.split(r"^```.*\n?", section, flags=re.M)
    parts = [_wrapped(text)]
    for number, block in enumerate(blocks):
        shown = textwrap.indent(block, "    ") if number % 2 == 0 else _wrapped(block)
        parts.append(shown.strip("\n"))
    return "\n\n".join(part for part in parts if part)


def _wrapped(text: str) -> str:
    """Paragraphs of 80 columns. The message of an entry, which is indented, stays a line."""
    paragraphs = text.strip("\n").split("\n\n")
    return "\n\n".join(p if p.startswith("    ") else click.wrap_text(p, 80) for p in paragraphs)
