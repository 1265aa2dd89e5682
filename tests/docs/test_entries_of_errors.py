"""The entries of docs/errors: the example of each raises the message that it explains, and what to write instead runs."""

from __future__ import annotations

import re
import warnings
from pathlib import Path
from typing import Any

import pytest

import occelo as oc
from occelo.hints.explanations import Entry, entries, entry_of

DOCS = Path(__file__).parents[2] / "docs"
PAGES = sorted((DOCS / "errors").glob("*.md"))
INSTEAD = re.compile(r"^Instead: `(.+)`$", re.M)


def listed(page: Path) -> list[Entry]:
    return [entry for entry in entries().values() if entry.page == f"errors/{page.name}"]


def raised_by(code: str, names: dict[str, Any]) -> BaseException:
    """What ``code`` raises. Its file has the name that it has in the tests of mistakes, since equal graphs keep the first."""
    try:
        exec(compile(code, "FILE", "exec"), dict(names))
    except Exception as error:
        return error
    raise AssertionError(f"{code} raises nothing")


def check(page: Path, entry: Entry, names: dict[str, Any]) -> None:
    (example,) = re.findall(r"^```python raises\n(.*?)^```$", entry.text, re.M | re.S)
    error = raised_by(example, names)
    notes = getattr(error, "__notes__", [])
    assert f"See docs/{entry.page}#{entry.title} (occelo errors {entry.title})" in notes, error
    paragraphs = entry.text.split("\n\n")
    assert re.match('[A-Z`"]', paragraphs[1]), f"{entry.title} says nothing"
    for instead in INSTEAD.findall(entry.text):
        exec(compile(instead, "FILE", "exec"), dict(names))


@pytest.mark.sampled(1)  # all of them take six seconds of processor time
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_entries_explain_what_their_examples_raise(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    first, _ = page.read_text().split("\n## ", 1)
    (preamble,) = re.findall(r"^```python\n(.*?)^```$", first, re.M | re.S)
    names: dict[str, Any] = {}
    exec(preamble, names)
    failed: list[str] = []
    with oc.config.change_flags(mode="vm"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for entry in listed(page):
            try:
                check(page, entry, names)
            except Exception as error:
                failed.append(f"{entry.title}: {type(error).__name__}: {error}")
    assert not failed, "\n".join(failed)


def test_titles_are_addresses() -> None:
    """A title is the anchor of its entry, and no two pages have the same."""
    pages = [*PAGES, *(DOCS / "errors" / "raised").glob("*.md")]
    titles = [t for page in pages for t in re.findall(r"^## (.*)$", page.read_text(), re.M)]
    assert all(re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", title) for title in titles)
    kinds = re.findall(r"^## (.*)$", (DOCS / "errors.md").read_text(), re.M)
    both = [*titles, *(kind.lower() for kind in kinds)]
    assert sorted(set(both)) == sorted(both)


def test_a_message_finds_its_entry() -> None:
    _, title = entry_of(
        "x (float64 (?,)), made at FILE: axis 1 is out of bounds for array of dimension 1"
    ) or ("", "")
    assert title == "no-such-axis"
    assert entry_of("The dog ate it") is None


WITHOUT = {
    "an assertion": "the message is the user's own",
    "a check of one's own": "the message is the user's own",
    "a wrapped function that fails": "the message is the user's own",
}
"""Mistakes of tests/mistakes/mistakes.txt without an entry of their message, and why."""


def test_messages_of_all_linkers_have_entries() -> None:
    golden = (DOCS.parent / "tests" / "mistakes" / "mistakes.txt").read_text()
    _, *parts = re.split(r"^## ", golden, flags=re.M)
    told = dict(part.strip().split("\n", 1) for part in parts)
    errors = {name: text for name, text in told.items() if "Warning: " not in text.split("\n")[0]}
    assert set(WITHOUT) <= set(errors)
    lacking = [name for name, text in errors.items() if entry_of(text) is None]
    assert sorted(lacking) == sorted(WITHOUT)
