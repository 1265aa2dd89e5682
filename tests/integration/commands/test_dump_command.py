"""The command ``occelo dump``."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import occelo as oc
import occelo.tensor as ot
from occelo.command.app import app


@pytest.fixture
def dumps(tmp_path: Path) -> Path:
    x = ot.dvector("x")
    w = oc.shared(np.ones(2), "w")
    oc.function_dump(tmp_path / "safe", [x], ot.exp(x) + w, updates={w: w * 2}, format="safe")
    oc.function_dump(tmp_path / "other", [x], ot.sin(x) + w, updates={w: w * 2}, format="safe")
    oc.function_dump(tmp_path / "pickle", [], w * 3.0, updates={w: w * 2})
    return tmp_path


def run(*arguments: str) -> tuple[int, str]:
    result = CliRunner().invoke(app, ["dump", *arguments])
    return result.exit_code, result.output


def test_show(dumps: Path) -> None:
    code, text = run("show", str(dumps / "safe"))
    assert code == 0
    assert "exp" in text
    assert "update of w" in text
    code, text = run("show", str(dumps / "pickle"))
    assert code == 2
    assert "can run any code" in " ".join(text.replace("│", " ").split())
    code, text = run("show", str(dumps / "pickle"), "--trust")
    assert code == 0
    assert "mul" in text


def test_diff(dumps: Path) -> None:
    code, text = run("diff", str(dumps / "safe"), str(dumps / "other"))
    assert code == 1
    assert any(line.startswith("-") and "exp" in line for line in text.splitlines())
    assert any(line.startswith("+") and "sin" in line for line in text.splitlines())
    code, text = run("diff", str(dumps / "safe"), str(dumps / "safe"))
    assert (code, text.strip()) == (0, "The dumps are alike")


def test_run(dumps: Path) -> None:
    code, text = run("run", str(dumps / "safe"), "--mode", "vm")
    assert code == 0
    assert "rewrite" in text
    assert "1 arguments are needed for a call" in text
    code, text = run("run", str(dumps / "pickle"), "--trust")
    assert code == 0
    assert "result: [3. 3.]" in text
    assert run("run", str(dumps / "pickle"))[0] == 2
