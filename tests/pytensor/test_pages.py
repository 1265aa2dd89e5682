"""The code of the pages about PyTensor and PyMC runs, and so does the command."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "docs" / "pymc.md", ROOT / "packages" / "pytensor" / "README.md"]
MODEL = """
import pymc as pm

with pm.Model() as model:
    x = pm.Normal("x", shape=3)
    pm.Normal("y", x.sum(), 1, observed=2.0)
"""


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_code_in_pages_runs(page: Path, tmp_path: Path) -> None:
    pytest.importorskip("nutpie")
    blocks = re.findall(r"^```python\n(.*?)^```$", page.read_text(), flags=re.M | re.S)
    (tmp_path / "page.py").write_text("\n".join(blocks))
    subprocess.run([sys.executable, "page.py"], cwd=tmp_path, check=True)


def test_the_command_reports_on_a_model(tmp_path: Path) -> None:
    (tmp_path / "given.py").write_text(MODEL)
    done = subprocess.run(
        [sys.executable, "-m", "occelo", "pytensor", "doctor", "given:model"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    for part in ("unconstrained parameters", "microseconds of an evaluation", "none"):
        assert part in done.stdout


def test_the_example_draws_its_picture(tmp_path: Path) -> None:
    for needed in ("nutpie", "matplotlib"):
        pytest.importorskip(needed)
    script = ROOT / "packages" / "pytensor" / "examples" / "eight_schools.py"
    done = subprocess.run(
        [sys.executable, "-W", "ignore", script, "picture.png"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert (tmp_path / "picture.png").stat().st_size > 1000
    medians = {line.partition(":")[0]: line for line in done.stdout.splitlines()}
    assert {"PyMC", "nutpie", "nutpie, errors halved"} <= medians.keys()
