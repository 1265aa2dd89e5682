"""The outputs of pages that are run in another environment belong to the cells that the pages have."""

from __future__ import annotations

import importlib
import json
import sys
from pathlib import Path
from typing import Any

import pytest

SITE = Path(__file__).parents[2] / "docs" / "site"
sys.path.insert(0, str(SITE))
try:
    stored: Any = importlib.import_module("stored")
finally:
    sys.path.remove(str(SITE))


@pytest.mark.parametrize("page", stored.pages(), ids=lambda p: p.name)
def test_stored_outputs_are_those_of_the_page(page: Path) -> None:
    text = page.read_text()
    kept = json.loads(stored.file_of(page).read_text())
    assert kept["cells"] == stored.digest(text), f"{page.name} has changed: nox -s stored"
    assert len(kept["outputs"]) == len(stored.CELL.findall(text))
    assert any(kept["outputs"])
    shown = stored.with_outputs(page, text)
    for output in kept["outputs"]:
        assert output in shown
        assert "/home/" not in output


def test_every_file_of_outputs_has_a_page() -> None:
    files = {p.name for p in (SITE.parent).rglob("*.outputs.json")}
    assert files == {stored.file_of(page).name for page in stored.pages()}


def test_other_cells_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "page", None)  # the module of the cells does not stay
    page = tmp_path / "page.md"
    page.write_text("# A page\n\n```python\n1 + 1\n```\n")
    outputs = stored.outputs_of(page.read_text() + "```python\nx = 3\nprint(x)\n```\n")
    assert outputs == ["2", "3"]
    kept = {"cells": stored.digest(page.read_text()), "outputs": ["2"]}
    stored.file_of(page).write_text(json.dumps(kept))
    text = page.read_text()
    assert stored.with_outputs(page, text).endswith("```python\n1 + 1\n```\n\n```text\n2\n```\n")
    page.write_text(text.replace("1 + 1", "1 + 2"))
    with pytest.raises(ValueError, match="nox -s stored"):
        stored.with_outputs(page, page.read_text())
