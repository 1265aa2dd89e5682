"""The command ``occelo explain``."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import occelo as oc
import occelo.tensor as ot


def run(*arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "occelo", "explain", *arguments, "--no-open"],
        capture_output=True,
        text=True,
        cwd=folder,
        env={**os.environ, "COLUMNS": "200"},
        check=False,
    )


def test_a_saved_graph_is_explained(tmp_path: Path) -> None:
    x = ot.dvector("x")
    oc.save(tmp_path / "graph.zip", ot.log(1 + ot.exp(x)))
    done = run("graph.zip", "--text", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "log_one_plus" in done.stdout
    assert "the page is rewriting.html" in done.stdout
    assert "log1p_exp" in (tmp_path / "rewriting.html").read_text()


def test_a_variable_of_a_module_is_explained(tmp_path: Path) -> None:
    (tmp_path / "model.py").write_text(
        "import occelo.tensor as ot\nx = ot.dvector('x')\ny = x * 1.0\n"
    )
    done = run("model:y", "--page", "out.html", "--optimizer", "fast_compile", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "mul_one" in (tmp_path / "out.html").read_text()


def test_what_is_not_there_ends_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "model.py").write_text("y = 3\n")
    for name, text in (
        ("nothing", "There is no file"),
        ("nothing:y", "No module named"),
        ("nothing.py:y", "There is no file 'nothing.py'"),
        ("model.py:y", "model.py:y is no variable"),
        ("model.py:z", "has no attribute 'z'"),
    ):
        done = run(name, folder=tmp_path)
        assert done.returncode == 2
        assert text in done.stderr
        assert "Traceback" not in done.stderr
