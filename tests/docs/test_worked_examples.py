"""Tests that the worked examples of public names run, and are about the names in their titles."""

from __future__ import annotations

import importlib
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import occelo as oc

SITE = Path(__file__).parents[2] / "docs" / "site"
sys.path.insert(0, str(SITE))
try:
    examples: Any = importlib.import_module("worked_examples")
    inventory: Any = importlib.import_module("inventory")
finally:
    sys.path.remove(str(SITE))

THOROUGH = os.environ.get("HYPOTHESIS_PROFILE") == "thorough"
SECTIONS = examples.sections()
REGISTERS = re.compile(r"\bregister_|^@|\belementwise\(|\bconfig\.\w+ = |\bclass ", re.M)
"""Code that adds to the tables of a process, or changes its options."""


@pytest.mark.sampled(10)
@pytest.mark.parametrize("section", SECTIONS, ids=lambda each: each.label)
def test_worked_examples_run(section: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the mode that users have, in thorough runs. Else in a cheaper one, unless the result depends on it."""
    for library in re.findall(r"^import (jax|numba|torch)$", section.code, re.M):
        pytest.importorskip(library)
    monkeypatch.chdir(tmp_path)
    if REGISTERS.search(section.code):
        script = [str(SITE / "worked_examples.py"), *section.label.split()]
        done = subprocess.run(
            [sys.executable, "-W", "error", *script], capture_output=True, text=True, check=False
        )
        assert not done.returncode, done.stdout + done.stderr
        return
    if not THOROUGH:
        with oc.config.change_flags(mode="vm"):
            if not section.problems():
                return
    assert not (said := section.problems()), said


@pytest.mark.parametrize("path", sorted({each.path for each in SECTIONS}), ids=lambda p: p.stem)
def test_examples_are_about_the_names_of_their_titles(path: Path) -> None:
    listed = {(each.door, each.name) for each in inventory.entries()}
    for section in SECTIONS:
        if section.path == path:
            for name in section.names:
                assert (section.door, name) in listed, (
                    f"{section.label}: {name} is not public there"
                )
                assert re.search(rf"\b{name}\b", section.code), f"{section.label}: no {name} in it"


def test_a_name_has_one_section_at_its_door() -> None:
    titles = [(each.door, name) for each in SECTIONS for name in each.names]
    assert sorted({t for t in titles if titles.count(t) > 1}) == []
    # those that are written by code are of no other, and run
    made = examples.constructors.examples()
    listed = {each.name for each in inventory.entries() if each.kind == "type"}
    assert made.keys() == listed
    assert not {name for door, name in titles if door == examples.constructors.DOOR} & listed
    for name, text in made.items():
        assert f"ot.{name}(" in text
        (section,) = examples.read(Path("occelo.tensor/made.txt"), f"{name}\n---\n\n{text}")
        assert not (said := section.problems()), said


def test_a_wrong_example_is_seen() -> None:
    (section,) = examples.read(Path("occelo/a.txt"), "grad, sum\n---------\n\n>>> 1 + 1\n3\n")
    assert section.names == ("grad", "sum")
    assert section.door == "occelo"
    assert section.code == "1 + 1\n"
    assert "Expected:\n    3\nGot:\n    2" in section.problems()
    with pytest.raises(ValueError, match="stands in no section"):
        examples.read(Path("occelo/a.txt"), ">>> 1\n1\n")
