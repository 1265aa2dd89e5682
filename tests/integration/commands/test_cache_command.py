"""The command ``occelo cache``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import occelo as oc
import occelo.tensor as ot
from occelo.cache import Store, explain_miss
from occelo.command.app import app


@pytest.fixture
def directory(tmp_path: Path) -> Any:
    with oc.config.change_flags(compiledir=str(tmp_path / "compiled")):
        yield tmp_path / "compiled"


def said(*arguments: str, code: int = 0) -> str:
    result = CliRunner().invoke(app, ["cache", *arguments])
    assert result.exit_code == code, result.output
    return result.output


def test_the_commands(directory: Path) -> None:
    assert said().strip() == str(directory)
    x = ot.dvector("x")
    f = oc.function([x], x * 2, mode="native")
    assert f([1.0]).tolist() == [2.0]
    assert explain_miss(f, file="str") == "The cache has no other function"
    assert "functions" in said("list")
    assert "and" in said("list", "--count", "1")
    assert "objects" in said("stats")
    assert "whole, 0 not" in said("verify")
    entry = next(iter(Store(directory / "cache").entries()))
    Path(entry.file).write_bytes(b"junk")
    assert f"not to be used: {entry.file}" in said("verify", code=1).replace("\n", "")
    assert said("cleanup").strip() == "deleted 1 files"
    assert "is not locked" in said("unlock").replace("\n", " ")
    assert said("clear").startswith("deleted ")
    assert list(Store(directory / "cache").entries()) == []
    assert str(directory) in said("purge").replace("\n", "")
    assert not directory.exists()
    with oc.config.change_flags(base_compiledir=str(directory)):
        assert said("purge", "--base") == ""
