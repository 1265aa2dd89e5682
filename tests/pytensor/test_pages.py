"""The code of the pages about PyTensor and PyMC runs, and so does the command."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
NEEDS_PYTENSOR = re.compile(r"^(import|from) (occelo[._]pytensor|pymc)\b", re.M)
PAGES = sorted(
    page
    for page in [*ROOT.glob("docs/*.md"), *ROOT.glob("packages/*/README.md")]
    if NEEDS_PYTENSOR.search(page.read_text())
)
"""The pages that the other tests of pages leave out."""
EXAMPLES = {
    "eight_schools": ("PyMC: A ", "nutpie: A ", "nutpie, errors halved: A "),
    "damped_pendulum": ("length: 1.50", "friction: 0.2"),
    "coal_mining": ("until 1880: ", "until 1950: 3.", "change in 18"),
}
"""By script, what it prints."""
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


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_examples_draw_their_pictures(name: str, tmp_path: Path) -> None:
    for needed in ("nutpie", "matplotlib"):
        pytest.importorskip(needed)
    script = ROOT / "packages" / "pytensor" / "examples" / f"{name}.py"
    done = subprocess.run(
        [sys.executable, "-W", "ignore", script, "picture.png"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert (tmp_path / "picture.png").stat().st_size > 1000
    for part in EXAMPLES[name]:
        assert part in done.stdout


def test_pages_of_examples_quote_their_scripts() -> None:
    for name in EXAMPLES:
        script = (ROOT / "packages" / "pytensor" / "examples" / f"{name}.py").read_text()
        page = (ROOT / "docs" / "examples" / f"{name.replace('_', '-')}.md").read_text()
        for block in re.findall(r"^```python\n(.*?)^```$", page, flags=re.M | re.S):
            for line in block.splitlines():
                assert line.strip() in script, line
