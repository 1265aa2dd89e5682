"""Walks of new users, who have only the pages: each is a script that a user wrote and that checks what it computes.

Families of other packages are `test_family_from_outside`, the walk with PyMC and nutpie is in `tests/pytensor`.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
WALKS = sorted((Path(__file__).parent / "walks").glob("*.txt"))
BACKEND = (ROOT / "docs" / "adding-a-backend.md").read_text()
ENTRY_POINT = re.compile(r"^```toml\n\[project\.entry-points\.\"(.*?)\"\]\n(.*?)^```$", re.M | re.S)
USE = """
import sys
import numpy as np
import occelo as oc
import occelo.tensor as ot

x, n = ot.dvector("x"), ot.dmatrix("n")
assert "occ_straight" not in sys.modules
f = oc.function([x], [ot.softplus(x), oc.grad(ot.softplus(x).sum(), x)], mode="straight")
assert type(f.vm).__module__ == "occ_straight" and type(f.vm).__name__ == "StraightVM", f.vm
for value in ([], [0.0], [-1.0, 0.0, 800.0]):
    with np.errstate(over="ignore"):
        np.testing.assert_allclose(f(value)[0], np.logaddexp(0, value))
        np.testing.assert_allclose(f(value)[1], 1 / (1 + np.exp(-np.array(value))))
lazy = oc.function([x], oc.ifelse(x.sum() > 0, ot.log(x), x), mode="straight")
np.testing.assert_array_equal(lazy([-1.0]), [-1.0])
product = oc.function([n, x], n @ x, mode="straight")
try:
    product(np.ones((2, 3)), np.ones(2))
except ValueError as error:
    assert "n" in str(error) and "use.py:" in str(error), error
else:
    raise AssertionError("no error")
"""
SUITES = """
import occ_straight
{}


class TestMoreOps(OpSuite):
    backend = "signs"
"""


@pytest.mark.parametrize("walk", WALKS, ids=lambda p: p.stem)
def test_what_a_user_writes_from_the_pages_works(walk: Path, tmp_path: Path) -> None:
    """As a script of its own: what it registers must not stay, and messages show its lines."""
    text = walk.read_text()
    if (
        walk.stem == "port_a_script"
    ):  # docs/from-pytensor.md: it "runs after its imports are changed"
        text = text.replace("pytensor", "occelo")
    (tmp_path / "walk.py").write_text(text)
    run(tmp_path, "walk.py")


def test_every_walk_is_there() -> None:
    assert {walk.stem for walk in WALKS} == {
        "find_a_nan", "make_a_function_fast", "port_a_script", "write_a_native_lowering", "write_a_rule",
        "write_a_type", "write_an_op",
    }  # fmt: skip


def run(folder: Path, *arguments: str) -> None:
    """Run a program as a user does, with warnings as errors."""
    command = [sys.executable, "-W", "error", *arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert not done.returncode, done.stdout + done.stderr


def test_a_backend_of_another_package_passes_the_suites(tmp_path: Path) -> None:
    """The backend of docs/adding-a-backend.md, as a package with its entry point; and the test file of the page."""
    blocks = re.findall(r"^```python( quoted)?\n(.*?)^```$", BACKEND, re.M | re.S)
    code = "\n".join(text for quoted, text in blocks if not quoted)
    (quoted,) = (text for quoted, text in blocks if quoted)
    (tmp_path / "occ_straight.py").write_text(code)
    info = tmp_path / "occ_straight-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.4\nName: occ-straight\nVersion: 1.0\n")
    ((group, line),) = ENTRY_POINT.findall(BACKEND)
    (info / "entry_points.txt").write_text(f"[{group}]\n{line}".replace('"', ""))
    (tmp_path / "use.py").write_text(USE)
    run(tmp_path, "use.py")
    suites = SUITES.format(quoted).replace('"straight"\n', '"straight"\n    step = 40\n', 1)
    suites = suites.replace('"signs"\n', '"signs"\n    step = 90\n')
    (tmp_path / "test_suites.py").write_text(suites)
    run(tmp_path, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_suites.py")
