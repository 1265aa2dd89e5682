"""The pages of docs/errors/raised are what the sources say, and every message of a raise statement has an entry."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import Any

import pytest

from occelo.hints.explanations import entries, entry_of

DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture(scope="module")
def messages() -> Any:
    sys.path.insert(0, str(DOCS))
    try:
        return importlib.import_module("messages")
    finally:
        sys.path.remove(str(DOCS))


def test_pages_are_written_from_the_sources(messages: Any) -> None:
    written = messages.pages()
    assert {*messages.FOLDER.glob("*.md")} == {*written}
    differ = [path.name for path, text in written.items() if path.read_text() != text]
    assert not differ, "python docs/messages.py writes them again"


def test_every_message_has_an_entry_or_is_caught(messages: Any) -> None:
    sources = messages.read()
    raised = [each for each in sources.raised() if not sources.is_internal(each)]
    assert len(raised) > 1500
    lacking = [r for r in raised if entry_of(r.message.replace("...", "q7")) is None]
    assert not lacking


TAKE_ANYTHING = {
    "occelo.Print", "occelo.tensor.After", "occelo.tensor.Argmax", "occelo.tensor.Assume", "occelo.tensor.DeepCopyOp", "occelo.tensor.Shape",
    "occelo.tensor.Shape_i", "occelo.tensor.SumOfSquares", "occelo.tensor.ViewOp", "occelo_graph.Output",
}  # fmt: skip
"""Ops without an error of their own: they take what they are given, or rules alone make them."""


def test_errors_of_ops_are_those_that_their_classes_reach(messages: Any) -> None:
    raised = messages.by_op()
    ops = {e.full for e in messages.inventory.documented() if e.kind == "op"}
    assert {name for name in ops if not raised.get(name)} == TAKE_ANYTHING
    assert "TypeError: ... takes real floats, got ..." in raised["occelo.tensor.Gemm"]
    assert "TypeError: ... has no parameter named ..." in raised["occelo.tensor.random.BinomialRV"]


def test_what_a_message_may_be_is_read_from_the_source(messages: Any) -> None:
    unwrap = "unwrap turns angles back, which ... cannot hold; cast them"
    (found,) = (entry for entry in entries().values() if entry.message == unwrap)
    assert found.page == "errors/raised/arrays.md"
    assert "`occelo.tensor.unwrap`" in found.text
    assert "[Running](../../errors.md#running)" in found.text


def test_entries_show_mistakes_uses_that_work_and_the_entries_of_their_cases() -> None:
    texts = {entry.message: entry.text for entry in entries().values()}
    of_clip = texts["... and a_... of clip are two names of one argument"]
    assert "x.clip(0, min=1)\n```\n\n```text\nValueError: min and a_min of clip" in of_clip
    unwrap = texts["unwrap turns angles back, which ... cannot hold; cast them"]
    assert "This works:\n\n```pycon\n>>> " in unwrap
    assert "Cases of it are explained in [no-pullback](../gradients.md#no-pullback)." in "".join(
        texts.values()
    )
    # the others have advice, without which no page is written
    assert "`occelo config` lists the options" in texts["There is no option ..."]


def test_all_advice_is_about_a_message(messages: Any) -> None:
    raised = [*messages.read().raised()]
    patterns = [pattern for group, _ in messages.advice() for pattern in group]
    assert [p for p in patterns if not any(messages.fits(p, place) for place in raised)] == []
    with pytest.raises(ValueError, match="must say what helps with 'no such message'"):
        messages._advised(raised[0]._replace(message="no such message", unit=("none", "none")))


def test_short_messages_are_found_by_their_phrases() -> None:
    """A few words in a row say enough; fields with a word or two between them do not."""
    place = entry_of("relu has no loop")
    assert place == ("errors/raised/graph.md", "has-no-loop")
    assert entry_of("a is b, got c") is None
