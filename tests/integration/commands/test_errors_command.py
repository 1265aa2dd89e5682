"""`occelo errors` leads from each message that the packages raise to an entry, or to the place that writes it."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from click.testing import CliRunner

from occelo.command.app import app
from occelo.command.messages import written
from occelo.hints.explanations import entry_of

ROOT = Path(__file__).parents[3]
EACH = 23
"""One in so many messages is looked for. Those of occelo-pytensor are not, which is not installed with the others."""
LEAST = 12
"""Fixed characters without which a message says too little to be found."""


def message(node: ast.expr) -> str:
    """A message with a word for each field."""
    if isinstance(node, ast.Constant):
        return str(node.value)
    if isinstance(node, ast.JoinedStr):
        return "".join(map(message, node.values))
    return "q7"


def raised() -> list[tuple[Path, str]]:
    """The messages of raise statements, with their files."""
    sources = [p for p in ROOT.glob("packages/*/src/**/*.py") if "pytensor" not in p.parts]
    return [
        (path, text)
        for path in sorted([*sources, *ROOT.glob("src/**/*.py")])
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call) and node.exc.args
        if len((text := message(node.exc.args[0])).replace("q7", "")) >= LEAST
    ]


def test_messages_lead_to_an_entry_or_to_where_they_are_written() -> None:
    chosen = raised()[::EACH]
    assert len(chosen) > 40
    for path, text in chosen:
        if entry_of(text) is None:
            assert written(text), f"{path.name}: {text}"


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        (
            "The option blas__ldflags has no effect: BLAS is called through the library that NumPy or SciPy brought",
            ("occelo_link.options",),
        ),
        ("so that it chooses none", ("No rewrite has the tag", "occelo_rewrite.database")),
    ],
)
def test_what_is_said_of_a_text_that_is_not_raised(text: str, parts: tuple[str, ...]) -> None:
    assert entry_of(text) is None
    done = CliRunner().invoke(app, ["errors", text], catch_exceptions=False)
    assert done.exit_code == 0
    assert [part for part in parts if part not in done.output] == []


def test_of_a_message_from_the_sources_the_kind_is_explained() -> None:
    text = "unwrap turns angles back, which int8 cannot hold; cast them"
    done = CliRunner().invoke(app, ["errors", text], catch_exceptions=False)
    assert "raised by `occelo_arrays.ops.calculus.unwrap`" in done.output
    assert "Running\n---" in done.output


def test_words_of_no_message_are_an_error() -> None:
    done = CliRunner().invoke(app, ["errors", "the dog ate the graph of it"])
    assert done.exit_code == 2
    assert "No entry contains" in done.output
