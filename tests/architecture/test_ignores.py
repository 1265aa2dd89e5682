"""Tests of comments that silence type checkers: they are few, and each gives its reason."""

from __future__ import annotations

import io
import re
import runpy
import tokenize
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCES = sorted(
    p for folder in (ROOT / "src", *(ROOT / "packages").glob("*/src")) for p in folder.rglob("*.py")
)
MOST = 6
"""How many ignores there may be."""
IGNORE = re.compile(r"# pyright: ignore\S* +# \S.*")
"""An ignore that says why; that it names its rules is Ruff's to say."""

SWITCH = re.compile(r"(pyright|mypy): *(?!ignore(?:\[|\s|$))[a-z]\w+", re.IGNORECASE)
"""A comment that sets rules for its whole file."""


def _comments(pattern: re.Pattern[str]) -> list[str]:
    found: list[str] = []
    for path in SOURCES:
        text = path.read_text()
        if not pattern.search(text):
            continue
        comments = [
            t
            for t in tokenize.generate_tokens(io.StringIO(text).readline)
            if t.type == tokenize.COMMENT and pattern.search(t.string)
        ]
        found += [f"{path.relative_to(ROOT)}:{t.start[0]}: {t.string}" for t in comments]
    return found


def _ignores() -> list[str]:
    return _comments(re.compile(r"(type|pyright): *ignore"))


def test_ignores_are_few() -> None:
    found = _ignores()
    assert len(found) <= MOST, "\n".join([f"{len(found)}, and at most {MOST}:", *found])


def test_ignores_give_reasons() -> None:
    wrong = [each for each in _ignores() if not IGNORE.fullmatch(each[each.index("#") :])]
    assert not wrong, "\n".join(wrong)


def test_no_file_sets_rules_of_its_own() -> None:
    """All sources are checked strictly: one line at the top of a file would hide more than many ignores."""
    assert not _comments(SWITCH), "\n".join(_comments(SWITCH))


@pytest.mark.parametrize(
    "comment",
    [
        "# pyright: basic",
        "# pyright: reportUnknownLambdaType=false, reportUnknownMemberType=false",
        "#pyright:standard",
        "# mypy: ignore-errors",
        "# mypy: disable-error-code=misc",
    ],
)
def test_comments_that_set_rules_are_found(comment: str) -> None:
    assert SWITCH.search(comment)
    assert not SWITCH.search("# pyright: ignore[reportPrivateUsage]  # why")


def test_module_of_a_user_runs() -> None:
    """What the type checkers read in ``tests/typing`` also runs."""
    client = runpy.run_path(str(ROOT / "tests" / "typing" / "client.py"))
    assert client["function"]() == 3.0
    assert client["walk"](client["graph"]())
    assert client["doubled_twice"].name == "doubled_twice"
