"""The meta-package: names, import cost, the command line, the demo."""

from __future__ import annotations

import io
import operator
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from rich.console import Console

import occelo as oc
import occelo.tensor as ot
from occelo.command.app import app
from occelo.command.demo import DemoSettings, run_demo
from occelo.hints import words
from occelo_linalg.missing_names import LINEAR_ABSENT
from occelo_sorting import functions as sorting

RUNNER = CliRunner()

FACADE = (
    "function In Out Function shared Mode get_mode config grad pullback pushforward jacobian hessian "
    "verify_grad dprint function_dump Lop Rop hessian_vector_product zero_grad disconnected_grad grad_clip "
    "grad_scale ifelse vectorize vectorize_graph clone_replace graph_replace FunctionGraph Op Apply Type "
    "Variable Constant save load rewrite_graph node_rewriter optdb WrapLinker pp pprint debugprint"
).split()
TENSOR = (
    "dscalar dvectors tensor3 as_tensor_variable exp dot switch set_subtensor inc_subtensor scalar fmatrix lrow "
    "zmatrices arange alloc eye linspace where maximum clip isclose sigmoid softplus erf gammaln betainc sum mean "
    "logsumexp softmax cumsum argmax reshape dimshuffle concatenate stack split tile roll pad take nonzero diag "
    "tril matmul tensordot outer cast ifelse vectorize abs round add power true_div bitwise_and"
).split()


@pytest.mark.parametrize("name", FACADE)
def test_the_facade_has(name: str) -> None:
    assert hasattr(oc, name)


@pytest.mark.parametrize("name", TENSOR)
def test_the_tensor_library_has(name: str) -> None:
    assert callable(getattr(ot, name))


def test_importing_loads_no_heavy_package() -> None:
    code = (
        "import sys, occelo, occelo.tensor\n"
        "heavy = {'scipy', 'rich', 'click', 'matplotlib', 'sklearn', 'numba', 'jax', 'torch', 'llvmlite'} & set(sys.modules)\n"
        "assert not heavy, heavy"
    )
    subprocess.run(
        [sys.executable, "-P", "-c", code], check=True, env={"PYTHONPATH": ":".join(sys.path)}
    )


def test_a_wrong_name_in_the_environment_is_reported() -> None:
    done = subprocess.run(
        [sys.executable, "-P", "-c", "import occelo"],
        capture_output=True,
        text=True,
        check=False,
        env={"PYTHONPATH": ":".join(sys.path), "OCCELO_FLAGS": "flotX=float32"},
    )
    assert done.returncode != 0
    assert "did you mean floatX?" in done.stderr.splitlines()[-2]


def test_the_demo_learns_and_reports() -> None:
    console = Console(record=True, width=120, file=io.StringIO())
    results = run_demo(DemoSettings(epochs=40, graphs=True), console)
    assert results[1].accuracy >= 0.95
    assert results[0].losses[-1] < results[0].losses[0]
    for result in results:
        assert result.largest_difference < 1e-9
        assert result.times.first_call > 0
    text = console.export_text()
    for part in (
        "seed 0",
        "collect, ms",
        "rewrite, ms",
        "link, ms",
        "first call, ms",
        "one step, us",
        "the same step in NumPy, us",
        "nodes as built",
        "nodes as compiled",
    ):
        assert part in text


def test_shuffled_labels_teach_nothing() -> None:
    console = Console(file=io.StringIO())
    results = run_demo(DemoSettings(epochs=15, shuffle_labels=True, graphs=False), console)
    assert all(r.accuracy < 0.2 for r in results)


@pytest.mark.sampled(5)
@pytest.mark.parametrize("mode", ["FAST_COMPILE", "py", "vm", "DebugMode", "NanGuardMode"])
def test_the_demo_runs_in_every_mode(mode: str, tmp_path: Path) -> None:
    plot = tmp_path / "loss.png"
    done = RUNNER.invoke(app, ["demo", "--mode", mode, "--epochs", "1", "--plot", str(plot)])
    assert done.exit_code == 0, done.output
    assert plot.read_bytes().startswith(b"\x89PNG")


def test_command_line() -> None:
    assert "occelo demo" in RUNNER.invoke(app, ["--help"]).output
    assert "floatX" in RUNNER.invoke(app, ["config"]).output
    assert "floatX" in RUNNER.invoke(app, ["config", "floatX"]).output
    assert "FAST_RUN" in RUNNER.invoke(app, ["modes"]).output
    assert RUNNER.invoke(app, ["version"]).output.strip() == oc.__version__
    wrong = RUNNER.invoke(app, ["demo", "--mode", "FAST_WALK"])
    assert wrong.exit_code == 2
    assert "There is no mode 'FAST_WALK'" in re.sub(r"\s+", " ", wrong.output)
    assert isinstance(RUNNER.invoke(app, ["config", "flotX"]).exception, AttributeError)


def test_one_graph_from_definition_to_a_trained_model() -> None:
    x, y = ot.dmatrix("x"), ot.lvector("y")
    w = oc.shared(np.zeros((2, 2)), "w")
    logits = x @ w
    loss = -ot.log_softmax(logits, axis=1)[ot.arange(y.shape[0]), y].mean()
    step = oc.function([x, y], loss, updates={w: w - oc.grad(loss, w)})
    generator = np.random.default_rng(0)
    data = generator.normal(size=(100, 2))
    labels = (data[:, 0] > data[:, 1]).astype("int64")
    for _ in range(100):
        last = step(data, labels)
    assert last < 0.2
    assert np.mean(oc.function([x], logits.argmax(axis=1))(data) == labels) > 0.97


def test_graphs_print_as_rich_trees_and_in_notebooks() -> None:
    x = ot.dvector("x")
    tree = oc.dprint((ot.exp(x) * 2 + x).sum(), file="rich")
    console = Console(file=io.StringIO(), record=True, width=80)
    console.print(tree)
    text = console.export_text()
    assert "exp" in text
    assert text.index("Sum") < text.index("add") < text.index("mul") < text.index("exp")

    shown: list[str] = []
    printer = type("Printer", (), {"text": staticmethod(shown.append)})
    ot.exp(x)._repr_pretty_(printer, False)
    assert shown == ["exp [id A]\n └─ x [id B]"]


def test_names_in_unusual_places_say_where_to_look() -> None:
    for name in dir(oc):
        if not hasattr(ot, name) and not name.startswith("_"):
            with pytest.raises(AttributeError, match=rf"use occelo\.{name}(?m:$)"):
                getattr(ot, name)
    for name, target in words.NAMES.items():
        assert operator.attrgetter(target.removeprefix("occelo."))(oc), name
    for name, message in (
        ("conv1d", r"use occelo\.tensor\.signal\.conv1d(?m:$)"),
        ("conv", r"use occelo\.tensor\.signal\.conv2d(?m:$)"),
        ("root", r"use occelo\.optimize\.root(?m:$)"),
        ("xtensor", r"use occelo\.xtensor(?m:$)"),
        ("RandomStreams", r"use occelo\.tensor\.random\.RandomStream(?m:$)"),
        ("nnet", r"; use occelo\.nn, and occelo\.tensor, which has"),
        ("cholesky", r"use occelo\.tensor\.linalg\.cholesky(?m:$)"),
        ("matrix_inverse", r"use occelo\.tensor\.linalg\.inv(?m:$)"),
        ("gardient", r"'gardient'; did you mean gradient\?(?m:$)"),
        ("qwertzuiop", r"'qwertzuiop'(?m:$)"),
    ):
        with pytest.raises(AttributeError, match=message):
            getattr(ot, name)
    for name, message in (
        ("einsum", r"'occelo\.tensor\.linalg' has .*; use occelo\.tensor\.einsum(?m:$)"),
        ("tril", r"; use occelo\.tensor\.tril(?m:$)"),
        ("matrix_inverse", r"; use occelo\.tensor\.linalg\.inv(?m:$)"),
        ("choleski", r"'choleski'; did you mean cholesky\?(?m:$)"),
        *((n, "does not have it yet(?m:$)") for n in sorted(LINEAR_ABSENT)),
    ):
        assert not hasattr(ot.linalg, name), f"{name} is there now"
        with pytest.raises(AttributeError, match=message):
            getattr(ot.linalg, name)
    with pytest.raises(ImportError, match=r"use occelo\.scan(?m:$)"):
        exec("from occelo.tensor import scan")


def test_functions_of_families_are_names_of_the_tensor_library_without_being_imported() -> None:
    program = (
        "import sys, occelo.tensor as ot\n"
        "assert {'gammaln', 'sort', 'exp', 'linalg', 'random', 'kron', 'norm'} <= set(dir(ot))\n"
        "assert 'occelo_special.ops' not in sys.modules\n"
        "from occelo.tensor import *\n"
        "from occelo_special.ops import special_functions\n"
        "assert set(special_functions.__all__) <= set(dir(ot))\n"
        "assert gammaln is ot.gammaln is special_functions.gammaln\n"
        "assert [name for name in dir(ot) if not hasattr(ot, name)] == []"  # `all` is that of tensors now
    )
    subprocess.run([sys.executable, "-c", program], check=True)


def test_the_facade_has_every_name_of_sorting() -> None:
    names = [name for name in vars(sorting) if not name.startswith("_")]
    assert "argsort" in names
    for name in names:
        assert getattr(ot, name) == getattr(sorting, name)
