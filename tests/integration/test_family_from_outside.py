"""The family that docs/adding-a-family.md adds in a package of its own, built from the page in an empty folder."""

from __future__ import annotations

import importlib
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "adding-a-family.md"
FILES = re.compile(r"^<!-- (\S+\.py) -->\n```py\n(.*?)^```$", flags=re.M | re.S)

USE = """
import sys
from importlib.util import find_spec
import numpy as np
import occelo as oc
import occelo.tensor as ot

x = ot.dvector("x")
before = oc.function([x], ot.exp(x)).maker.cache_key
from occ_cyclic import cyclic_difference
y = cyclic_difference(-x)
parts = {f"occ_cyclic.{part}" for part in ("rules", "facts", "lowerings", "traced")}
assert not parts & sys.modules.keys()
for value in ([], [3.0], [1.0, 4.0, -2.0]):
    for mode in ("FAST_RUN", "FAST_COMPILE", "c|py"):
        f = oc.function([x], [y, oc.grad((y**2).sum(), x)], mode=mode)
        v = np.array(value)
        d = -(v - np.roll(v, 1))
        np.testing.assert_allclose(f(v)[0], d)
        np.testing.assert_allclose(f(v)[1], -2 * (d - np.roll(d, -1)))
from occ_cyclic.ops.differences import CyclicDifference
CyclicDifference.decompose = oc.Op.decompose  # its lowerings alone
for backend in ("native", *(["jax"] if find_spec("jax") else [])):
    assert oc.supports(backend, y) == []
f = oc.function([x], cyclic_difference(x) * 2.0, mode=oc.Mode("native"))
for value in ([], [3.0], [1.0, 4.0, -2.0]):
    np.testing.assert_allclose(f(value), 2 * (np.array(value) - np.roll(value, 1)))
expected = parts if find_spec("jax") else parts - {"occ_cyclic.traced"}
assert expected <= sys.modules.keys(), expected - sys.modules.keys()
single = ot.TensorType("float64", (1,))("x")
assert "abs" not in oc.debugprint(oc.function([single], abs(cyclic_difference(single))), file="str")
f = oc.function([x], y)
names = [application.rule for application in oc.function([x], y, mode=oc.Mode("py")).maker.rewritten.record.applications]
assert "cyclic_difference_of_negated" in names, names
assert "sources of cyclic" in f.maker.cache_key and f.maker.from_cache in (False, True)
assert oc.function([x], ot.exp(x)).maker.cache_key == before
oc.save("kept.occ", [y], [x])
"""
LOAD = """
import sys
import numpy as np
import occelo as oc
from occelo_testing.examples import every_example
from occelo_testing.checks import symbolic

loaded = oc.load("kept.occ")
assert "occ_cyclic.ops.differences" in sys.modules
value = oc.evaluate(loaded.outputs[0], {loaded.inputs[0]: np.array([1.0, 3.0])})
np.testing.assert_allclose(value, [2.0, -2.0])
assert any(example.family == "cyclic" for example in every_example())
"""
METADATA = """\
Metadata-Version: 2.4
Name: occ-cyclic
Version: 1.0
Requires-Dist: occelo-graph<0.2,>=0.1
Provides-Extra: compile
Requires-Dist: occelo-link<0.2,>=0.1; extra == 'compile'
Requires-Dist: occelo-rewrite{}; extra == 'compile'
"""
"""What a builder writes of the page's ``pyproject.toml``, but for the range of one layer."""


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A folder with the package, installed as far as entry points are concerned."""
    files = FILES.findall(PAGE.read_text())
    assert len(files) == 9
    for name, text in files:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    info = tmp_path / "occ_cyclic-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(METADATA.format("<0.2,>=0.1"))
    points = re.findall(
        r"^```toml\n\[project\.entry-points\.(.*?)^```$", PAGE.read_text(), flags=re.M | re.S
    )
    (info / "entry_points.txt").write_text(
        "[" + points[0].replace('"occelo.families"', "occelo.families", 1).replace('"', "")
    )
    return tmp_path


def test_a_family_of_another_package_works_in_every_layer(package: Path) -> None:
    for program in (USE, LOAD):
        done = subprocess.run(
            [sys.executable, "-c", program],
            cwd=package,
            capture_output=True,
            text=True,
            check=False,
        )
        assert not done.returncode, done.stderr


NAMES = """
from occelo_graph import elementwise, promoted, register_reduction
from occelo_graph.tensor import register_fact
import occ_cyclic.ops

register_fact("cyclic_matrix", implies=("nonnegative",), transposed="cyclic_matrix")
register_fact("growing_cyclic", implies=("cyclic_matrix",))
either = elementwise(
    "either", 2, promoted, None, [lambda ct, x, y, out: ct * (1 - y), lambda ct, x, y, out: ct * (1 - x)],
    formula=lambda x, y: x + y - x * y,
)
any_of = register_reduction(either, {identity}, title='Any')
"""
"""A module of the family that registers a fact and a reduction by name, which are of no op of the family."""
KEYS = """
import json, sys
import numpy as np
import occelo as oc
import occelo.tensor as ot

x, m = ot.dvector("x"), ot.dmatrix("m")
graphs = [ot.exp(x).sum(), ot.cumsum(x), abs(ot.assume(m, positive=True)), ot.maximum(x, 0.0).prod()]

def compiled():
    functions = [oc.function([x, m], y, on_unused_input="ignore") for y in graphs]
    return [f.maker.cache_key for f in functions], [oc.digest(f.maker.fgraph.outputs) for f in functions]

before = compiled()
import occ_cyclic
from occ_cyclic import names
oc.function([x], occ_cyclic.cyclic_difference(x))
own = [
    abs(ot.assume(m, growing_cyclic=True)), abs(ot.assume(m, cyclic_matrix=True)), names.any_of(x), names.any_of.running(x),
]
keys = [oc.function([x, m], y, on_unused_input="ignore").maker.cache_key["extensions"] for y in own]
for y, expected in zip(own[2:], (0.75, [0.5, 0.75]), strict=True):
    np.testing.assert_allclose(oc.function([x], y)([0.5, 0.5]), expected)
assert compiled() == before, (compiled(), before)
print(json.dumps(keys))
"""


def _keys_with(package: Path, names: str) -> list[str]:
    (package / "occ_cyclic" / "names.py").write_text(names)
    # not from bytecode of the same second
    command = [sys.executable, "-B", "-c", KEYS]
    done = subprocess.run(command, cwd=package, capture_output=True, text=True, check=False)
    assert not done.returncode, done.stderr
    keys: list[str] = json.loads(done.stdout)
    return keys


def test_names_that_a_family_registers_are_in_the_keys_of_graphs_that_hold_them(
    package: Path,
) -> None:
    """Facts with all that they imply, and reductions, also running ones: what they mean decides what is compiled."""
    plain = NAMES.format(identity="0")
    keys = _keys_with(package, plain)
    assert _keys_with(package, plain) == keys
    of_facts = _keys_with(package, plain.replace('("nonnegative",)', '("positive_definite",)'))
    of_reductions = _keys_with(package, NAMES.format(identity="0.0"))
    for i, (key, fact, reduction) in enumerate(zip(keys, of_facts, of_reductions, strict=True)):
        assert (key != fact) == (i < 2)
        assert (key != reduction) == (i >= 2)


COMPILE = """
import occelo_graph as og
import occelo_graph.tensor as ot
from occ_cyclic import cyclic_difference

x = ot.dvector("x")
y = cyclic_difference(-x)
assert og.evaluate(y, {x: [1.0, 4.0]}).tolist() == [3.0, -3.0]
assert og.grad(y.sum(), x).eval({x: [1.0, 4.0]}).tolist() == [0.0, 0.0]
from occelo_compile import function

function([x], y)
"""


@pytest.mark.parametrize("ranges", [">=0.2", "<0.1", "<0.3,>0.1", "!=0.1.0"])
def test_layers_of_other_versions_are_refused_when_a_part_is_loaded(
    package: Path, ranges: str
) -> None:
    """The graph builds, and the interpreter runs; rules are not mixed with a layer that they were not written for."""
    (package / "occ_cyclic-1.0.dist-info" / "METADATA").write_text(METADATA.format(ranges))
    done = subprocess.run(
        [sys.executable, "-c", COMPILE], cwd=package, capture_output=True, text=True, check=False
    )
    version = importlib.import_module("occelo_rewrite").__version__
    assert done.returncode
    assert done.stderr.splitlines()[-1] == (
        f"ImportError: occ_cyclic is made for occelo-rewrite{ranges}, and occelo-rewrite {version} is installed: "
        "install versions that fit, as 'pip install occ-cyclic[compile]' does"
    )
