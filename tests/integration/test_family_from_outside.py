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


EDITED = """
import importlib, sys
import occelo as oc
import occelo.tensor as ot
from occ_cyclic import cyclic_difference
from occ_cyclic.ops.differences import CyclicDifference

CyclicDifference.decompose = oc.Op.decompose  # its lowering alone
x = ot.dvector("x")

def compiled():
    f = oc.function([x], cyclic_difference(x), mode=oc.Mode("native"))
    print(f([1.0, 4.0]).tolist(), f.maker.from_cache)

with oc.config.change_flags(cache=False):
    oc.function([x], ot.exp(x), mode=oc.Mode("native"))  # the parts of the family are imported here
for step in sys.argv[1:]:
    if step == "compile":
        compiled()
    elif step == "edit":
        with open("occ_cyclic/lowerings.py") as file:
            text = file.read()
        with open("occ_cyclic/lowerings.py", "w") as file:
            file.write(text.replace('builder.op("sub", x.at', 'builder.op("add", x.at'))
    else:
        import occ_cyclic.lowerings
        importlib.reload(occ_cyclic.lowerings)
"""


def _run(package: Path, program: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    # without bytecode, which tells changes within a second by sizes alone
    command = [sys.executable, "-B", "-c", program, *arguments]
    return subprocess.run(command, cwd=package, capture_output=True, text=True, check=False)


def test_what_runs_is_in_the_key_though_files_change(package: Path) -> None:
    """Code of before an edit is never found by what imports the code after it, nor the other way round."""
    old, new = "[-3.0, 3.0]", "[5.0, 5.0]"
    done = _run(package, EDITED, "compile", "compile", "edit", "compile", "reload", "compile")
    assert not done.returncode, done.stderr
    values = [line.rpartition(" ") for line in done.stdout.splitlines()]
    assert [value for value, _, _ in values] == [old, old, old, new]
    assert [cached for _, _, cached in values[:2]] == ["False", "True"]
    (package / "occ_cyclic" / "lowerings.py").write_text(
        dict(FILES.findall(PAGE.read_text()))["occ_cyclic/lowerings.py"]
    )
    # an edit before anything of the family is compiled
    assert _run(package, EDITED, "edit", "compile").stdout == f"{old} False\n"
    assert _run(package, EDITED, "compile").stdout == f"{new} False\n"
    assert _run(package, EDITED, "compile").stdout == f"{new} True\n"


BROKEN = """
import sys
import occelo as oc
import occelo.tensor as ot

x = ot.dvector("x")
if sys.argv[2:]:
    oc.function([x], ot.exp(x), mode=oc.Mode("py"))  # the stages hold their rules already
with open("occ_cyclic/rules.py") as file:
    good = file.read()
with open("occ_cyclic/rules.py", "w") as file:
    file.write(good + sys.argv[1])
from occ_cyclic import cyclic_difference
messages = set()
for i in range(9):
    try:
        oc.function([x], ot.exp(x) + i, mode=oc.Mode("py"))
    except Exception as error:
        messages.add(f"{type(error).__name__}: {str(error).splitlines()[0]}")
    else:
        messages.add("compiled")
print(*messages)
with open("occ_cyclic/rules.py", "w") as file:
    file.write(good)
sys.modules.pop("occ_cyclic.rules", None)
f = oc.function([x], cyclic_difference(-x), mode=oc.Mode("py"))
print(*(application.rule for application in f.maker.rewritten.record.applications))
"""


@pytest.mark.parametrize("late", [(), ("late",)])
@pytest.mark.parametrize(
    ("faulty", "message"),
    [
        ("import numpy.nothing\n", "ModuleNotFoundError: No module named 'numpy.nothing'"),
        (
            "RULES = (*RULES, *RULES)\n",
            "ValueError: canonicalize has two rewrites named 'cyclic_difference_of_negated', of occ_cyclic.rules and "
            "of occ_cyclic.rules: rename one of them",
        ),
        (
            "RULES = (*RULES, StageRules('canonicalise', RULES[0].rules))\n",
            "ValueError: The family cyclic has rules for ['canonicalise']: no such stage",
        ),
    ],
)
def test_rules_that_cannot_be_registered_are_an_error_until_they_can(
    package: Path, faulty: str, message: str, late: tuple[str, ...]
) -> None:
    """Nothing is compiled with some of the rules, and every attempt says why; then all rules are there, each once."""
    done = _run(package, BROKEN, faulty, *late)
    assert not done.returncode, done.stderr
    told, rules = done.stdout.splitlines()
    assert told == message
    assert rules.split()[0] == "cyclic_difference_of_negated"


SAVED = """
import warnings
import occelo as oc
import occelo.tensor as ot
import occelo_graph as og
from occelo_graph.canonical.names import import_own

warnings.simplefilter("ignore")
try:
    oc.load("kept.occ")
except og.SavedGraphError as error:
    print(str(error).splitlines()[0])
x = ot.dmatrix("x")
oc.save("other.occ", [ot.linalg.det(x)], [x])
print(len(oc.load("other.occ").outputs), import_own("linalg:Det"))
"""


def test_a_broken_family_is_told_and_breaks_no_other(package: Path) -> None:
    save = (
        "import occelo as oc, occelo.tensor as ot; from occ_cyclic import cyclic_difference; x = ot.dvector('x')\n"
        "oc.save('kept.occ', [cyclic_difference(x)], [x])"
    )
    assert not _run(package, save).returncode
    points = package / "occ_cyclic-1.0.dist-info" / "entry_points.txt"
    text = points.read_text()
    points.write_text(text.replace("occ_cyclic.family", "occ_gone.family"))
    done = _run(package, SAVED)
    assert done.stdout.splitlines() == [
        "kept.occ does not hold a saved graph: The graph uses cyclic:CyclicDifference, whose package cannot be imported: "
        "No module named 'occ_gone'",
        "1 True",
    ], done.stderr
    points.unlink()
    assert _run(package, SAVED).stdout.splitlines()[0].endswith("before loading it")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (
            '    requires=("nothing",),',
            "ImportError: The family 'cyclic' requires 'nothing', and no imported package has a family of this name: "
            "occ_cyclic imports the packages of the families that it requires",
        ),
        (
            '    package="occ_other",',
            "ImportError: The family 'cyclic' is of a package occ_other, which is not imported",
        ),
    ],
)
def test_a_family_that_says_what_is_not_so_is_refused(
    package: Path, line: str, message: str
) -> None:
    file = package / "occ_cyclic" / "family.py"
    text = file.read_text()
    if "package" in line:
        text = text.replace('"cyclic",\n    "occ_cyclic",', f'"cyclic",\n{line}')
    else:
        text = text.replace('"occ_cyclic",', f'"occ_cyclic",\n{line}')
    file.write_text(text)
    program = (
        "import occelo as oc, occelo.tensor as ot; from occ_cyclic import cyclic_difference; x = ot.dvector('x')\n"
        "oc.function([x], cyclic_difference(x))"
    )
    assert _run(package, program).stderr.splitlines()[-1] == message


REQUIRED = """
import occelo_graph as og
from occelo_compile import function
from occelo_graph import tensor as ot
from occelo_loops.functions import scan

x = ot.dvector("x")
y = scan(lambda a, s: s + a, sequences=[x], outputs_info=[ot.as_tensor(0.0)], return_updates=False)
before = function([x], y).maker.cache_key
import occelo_linalg.functions, occelo_stats.functions
after = function([x], y).maker.cache_key
assert before == after, {k for k in before.keys() | after.keys() if before.get(k) != after.get(k)}
assert "sources of linalg" in before
"""


def test_keys_have_required_families_whether_they_are_imported(tmp_path: Path) -> None:
    """Loops need linear algebra, which their package does not import until it is used."""
    done = _run(tmp_path, REQUIRED)
    assert not done.returncode, done.stderr


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
