"""The mode "OCCELO" does what PyTensor's functions promise."""

from __future__ import annotations

import copy
import io
import itertools
import pickle
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pymc as pm
import pytensor
import pytensor.tensor as pt
import pytest
from pytensor import sparse
from pytensor.compile.mode import Mode, get_mode
from pytensor.graph.basic import Apply
from pytensor.graph.op import Op
from pytensor.scan.utils import until
from pytensor.tensor.random.op import RandomVariable
from scipy.sparse import csr_matrix

import occelo as oc
import occelo_pytensor
from occelo_compile.function_cache import counters
from occelo_graph.config import config


def test_updates_givens_and_states() -> None:
    x, y = pt.dvector("x"), pt.dvector("y")
    state = pytensor.shared(np.zeros(2), "state")
    f = pytensor.function(
        [x], [y * 2, state], updates={state: state + y}, givens={y: x + 1}, mode="OCCELO"
    )
    doubled, before = f([1.0, 2.0])
    np.testing.assert_array_equal(doubled, [4, 6])
    np.testing.assert_array_equal(before, [0, 0])
    np.testing.assert_array_equal(state.get_value(), [2, 3])
    f([0.0, 0.0])
    np.testing.assert_array_equal(state.get_value(), [3, 4])


def test_results_are_the_callers() -> None:
    state = pytensor.shared(np.zeros(2))
    f = pytensor.function([], state, mode="OCCELO")
    f()[:] = 7
    np.testing.assert_array_equal(f(), [0, 0])
    x = pt.dvector()
    given = np.ones(2)
    same = pytensor.function([x], x, mode="OCCELO")(given)
    same[:] = 5
    np.testing.assert_array_equal(given, [1, 1])


SCALARS: dict[str, tuple[float, ...]] = {
    "GammaRV": (2.0, 1.5), "BetaRV": (2.0, 3.0), "PoissonRV": (3.0,), "ExponentialRV": (2.0,),
    "BinomialRV": (10, 0.3), "NegBinomialRV": (4, 0.3), "GeometricRV": (0.3,),
    "HyperGeometricRV": (10, 5, 4), "TriangularRV": (0.0, 0.4, 1.0),
    "StudentTRV": (4.0, 0.0, 1.0), "InvGammaRV": (2.0, 1.0), "BernoulliRV": (0.3,),
    "BetaBinomialRV": (10, 2.0, 3.0), "GenGammaRV": (1.5, 2.0, 3.0), "WeibullRV": (1.5,),
    "TruncExponentialRV": (1.0, 0.5, 2.0), "IntegersRV": (0, 100),
}  # fmt: skip
"""The parameters of laws that do not take 0.5 and 1.5."""
VECTORS: dict[str, tuple[Any, ...]] = {
    "CategoricalRV": (np.array([0.2, 0.3, 0.5]),), "DirichletRV": (np.array([1.0, 2.0, 0.5]),),
    "MultinomialRV": (10, np.array([0.2, 0.3, 0.5])), "MvNormalRV": (np.array([1.0, 2.0]), np.eye(2) + 0.5),
}  # fmt: skip
OPTIONS = {"MvNormalRV": {"method": "cholesky"}}
NOT_BY_SIZE = {"ChoiceWithoutReplacement", "PermutationRV", "RandomVariable", "ScipyRandomVariable"}
BASIC = pytensor.tensor.random.basic
NAMES = sorted(
    name
    for name, each in vars(BASIC).items()
    if isinstance(each, type) and issubclass(each, RandomVariable) and name not in NOT_BY_SIZE
)
GENERATORS = ("PCG64", "PCG64DXSM", "MT19937", "Philox", "SFC64")


def _forms(law: str) -> Iterator[tuple[tuple[Any, ...], tuple[int, ...]]]:
    """Parameters of a law, and their shape as a batch: numbers, and arrays that broadcast."""
    if law in VECTORS:
        yield VECTORS[law], ()
        return
    numbers = SCALARS.get(law, (0.5, 1.5))
    yield numbers, ()
    arrays = [np.full((3, 1) if i == 0 else (4,), number) for i, number in enumerate(numbers)]
    yield tuple(arrays), np.broadcast_shapes(*(each.shape for each in arrays))


@pytest.mark.sampled(4)
@pytest.mark.parametrize("law", NAMES)
def test_draws_are_numpys_streams(law: str) -> None:
    """Every law of PyTensor, bit by bit, with all of NumPy's generators, whose states go on in the same way."""
    op_class = getattr(BASIC, law)
    dtypes = ["float64", "float32"] if op_class.dtype == "floatX" else [op_class.dtype]
    for dtype, (parameters, batch) in itertools.product(dtypes, _forms(law)):
        state = pytensor.shared(np.random.default_rng(1))
        after, draws = state, list[Any]()
        for size in (None, (0, *batch), (1, *batch), (1000, *batch)):
            after, draw = op_class(dtype=dtype, **OPTIONS.get(law, {}))(
                *parameters, size=size, rng=after, return_next_rng=True
            )
            draws.append(draw)
        compiled = [
            pytensor.function([], draws, updates={state: after}, mode=mode)
            for mode in ("OCCELO", Mode("py", None))
        ]
        for generator in GENERATORS:
            found: list[list[Any]] = []
            for f in compiled:
                state.set_value(np.random.Generator(getattr(np.random, generator)(7)))
                found.append([*f(), *f(), np.asarray(state.get_value().random())])
            for ours, theirs in zip(*found, strict=True):
                assert (ours.dtype, ours.shape) == (theirs.dtype, theirs.shape)
                assert ours.tobytes() == theirs.tobytes()


def test_orders_and_choices_are_numpys() -> None:
    x, p = pt.constant(np.arange(12.0).reshape(4, 3)), [0.1, 0.2, 0.3, 0.4]

    def drawn(mode: Any) -> Any:
        state = pytensor.shared(np.random.default_rng(3))
        draws = list[Any]()
        after: Any = state
        for draw in (
            lambda **options: pt.random.permutation(x, **options),
            lambda **options: pt.random.permutation(7, **options),
            lambda **options: pt.random.choice(x, size=(2,), replace=False, **options),
            lambda **options: pt.random.choice(4, size=(3,), replace=False, p=p, **options),
            lambda **options: pt.random.choice(4, size=(), replace=False, **options),
            lambda **options: pt.random.choice(x, size=(3, 2), **options),
        ):
            after, numbers = draw(rng=after, return_next_rng=True)
            draws.append(numbers)
        return pytensor.function([], draws, updates={state: after}, mode=mode)

    f, theirs = drawn("OCCELO"), drawn("FAST_COMPILE")
    printed = oc.debugprint(f, file="str")
    assert all(name in printed for name in ("permutation_rv", "choice_rv", "integers_rv"))
    for found, expected in zip([*f(), *f()], [*theirs(), *theirs()], strict=True):
        np.testing.assert_array_equal(found, expected, strict=True)


def test_draws_from_numbers_that_are_no_probabilities() -> None:
    """PyTensor draws indices from them: PyMC has such numbers where cut points drawn from a prior have no order."""
    p = pt.constant(np.array([[0.5, -0.2, 0.7], [0.1, 0.2, 0.3]]))
    drawn = pt.random.categorical(
        p, size=(40, 2), rng=pt.random.default_rng(3), return_next_rng=True
    )[1]
    ours, theirs = (pytensor.function([], drawn, mode=m)() for m in ("OCCELO", "FAST_COMPILE"))
    np.testing.assert_array_equal(ours, theirs)


def test_copies_and_pickles() -> None:
    x = pt.dvector("x")
    state = pytensor.shared(np.ones(2), "state")
    f = pytensor.function([x], x * state, updates={state: state + 1}, mode="OCCELO")
    other = pytensor.shared(np.full(2, 10.0))
    g = f.copy(swap={state: other})
    np.testing.assert_array_equal(g([1.0, 2.0]), [10, 20])
    np.testing.assert_array_equal(state.get_value(), [1, 1])
    h = pickle.loads(pickle.dumps(f))
    np.testing.assert_array_equal(h([1.0, 2.0]), [1, 2])
    np.testing.assert_array_equal(copy.copy(f)([3.0, 3.0]), [3, 3])


def test_a_graph_that_was_compiled_is_not_compiled_again() -> None:
    def compiled() -> Any:
        x = pt.dvector("x")
        return pytensor.function([x], pt.exp(x) * 3.25 + x.sum(), mode="OCCELO")

    compiled()
    before = counters["function hits"]
    compiled()
    assert counters["function hits"] == before + 1


def test_errors_name_the_users_line() -> None:
    x, y = pt.dvector("x"), pt.dvector("y")
    f = pytensor.function([x, y], x + y, mode="OCCELO")
    with pytest.raises(ValueError, match=r"test_mode\.py"):
        f([1.0], [1.0, 2.0])


def test_trusted_inputs_and_borrowed_results() -> None:
    x = pt.dvector("x")
    f = pytensor.function(
        [pytensor.In(x, borrow=True, mutable=True)],
        pytensor.Out(x * 2, borrow=True),
        mode="OCCELO",
        trust_input=True,
    )
    given = np.arange(3.0)
    np.testing.assert_array_equal(f(given), [0, 2, 4])
    np.testing.assert_array_equal(given, [0, 1, 2])


def test_the_mode_may_be_the_default() -> None:
    x = pt.dscalar("x")
    before = pytensor.config.mode
    pytensor.config.mode = "OCCELO"
    try:
        f = pytensor.function([x], x + 1)
    finally:
        pytensor.config.mode = before
    assert type(f.maker.linker).__name__ == "OcceloLinker"
    assert f(1.0) == 2


def test_compiled_functions_can_be_inspected() -> None:
    x = pt.dvector("x")
    f = pytensor.function([x], pt.exp(x) * 2 + pt.exp(x), mode="OCCELO", profile=True)
    np.testing.assert_allclose(f([0.0]), [3.0])
    assert isinstance(f.vm, oc.Function)
    text = oc.explain(f, file="str")
    assert "exp" in text
    assert "test_mode.py" in text
    assert f.profile.fct_callcount == 1


def test_tools_take_the_function_inside() -> None:
    x = pt.dvector("x")
    f = pytensor.function([x], pt.log(1 + pt.exp(x)), mode="OCCELO")
    np.testing.assert_array_equal(f([800.0]), [800])
    culprit = oc.bisect(f, lambda g: "softplus" not in str(oc.debugprint(g, file="str")))
    assert "softplus" in str(culprit.application.after)
    assert "test_mode.py" in str(culprit.application.source)


def test_tools_take_functions_of_pymc() -> None:
    with pm.Model() as model:
        pm.Normal("a")
    inside = oc.debugprint(model.compile_logp(mode="OCCELO").f.vm, file="str")
    assert oc.debugprint(model.compile_logp(mode="OCCELO"), file="str") == inside
    density = model.logp_dlogp_function(ravel_inputs=True, mode="OCCELO")
    assert "sqr" in oc.debugprint(density, file="str")
    other = pytensor.function([], pt.constant(1.0), mode="FAST_COMPILE")
    with pytest.raises(TypeError, match="OCCELO"):
        oc.explain(other)


def test_the_namespace_of_the_facade_registers_the_mode() -> None:
    code = "import occelo.pytensor, pytensor.compile.mode as m; m.get_mode('OCCELO')"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_dumps_of_the_function_inside(tmp_path: Path) -> None:
    x = pt.dvector("x")
    f = pytensor.function([x], pt.exp(x) * 2, mode="OCCELO")
    written = {path.name for path in f.vm.dump(tmp_path)}
    assert {"graph.txt", "block0.ll"} <= written
    assert "exp" in (tmp_path / "graph.txt").read_text()
    oc.function_dump(tmp_path / "again", [], f.vm.maker.outputs)
    assert (tmp_path / "again").exists()


def test_functions_of_sparse_matrices_have_what_others_have(tmp_path: Path) -> None:
    matrix, x = sparse.csr_matrix("matrix"), pt.dmatrix("x")
    f = pytensor.function([matrix, x], sparse.structured_dot(matrix, x), mode="OCCELO")
    assert "graph.txt" in {path.name for path in f.vm.dump(tmp_path)}
    for g in (f, copy.deepcopy(f), pickle.loads(pickle.dumps(f))):
        found = g(csr_matrix(np.eye(2)), np.ones((2, 1)))
        np.testing.assert_array_equal(found, np.ones((2, 1)))


def test_warnings_name_the_users_line() -> None:
    x = pt.dvector("x")
    with pm.Model() as model:
        pm.Potential("p", Scaled(2.0)(pm.Normal("a", shape=2)).sum())
    for compile_ in (
        lambda: pytensor.function([x], Scaled(4.0)(x), mode="OCCELO"),
        lambda: occelo_pytensor.from_pytensor(Scaled(4.0)(x)),
        lambda: model.compile_logp(mode="OCCELO"),
    ):
        with pytest.warns(UserWarning, match="have no conversion.*Scaled") as warned:
            compile_()
        assert {Path(each.filename).name for each in warned} == {"test_mode.py"}


def test_profiles_of_pytensor() -> None:
    x = pt.dvector("x")
    f = pytensor.function([x], pt.exp(x) * 2, mode="OCCELO", profile=True)
    f([1.0])
    text = io.StringIO()
    f.profile.summary(file=text)
    assert "Time in 1 calls" in text.getvalue()


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda f: pickle.loads(pickle.dumps(f))])
def test_copies_have_states_of_their_own(copied: Any) -> None:
    generator = pt.random.shared_rng(seed=5)
    after, draw = pt.random.normal(size=2, rng=generator, return_next_rng=True)
    x = pt.dvector("x")
    f = pytensor.function([x], x + draw, updates={generator: after}, mode="OCCELO")
    wanted = pytensor.function([x], x + draw, updates={generator: after}, mode="FAST_COMPILE")
    first = wanted([0.0, 0.0])
    generator.set_value(np.random.default_rng(5))
    g = copied(f)
    np.testing.assert_array_equal(g([0.0, 0.0]), first)
    np.testing.assert_array_equal(f([0.0, 0.0]), first)


def test_the_tag_of_inplace_draws_arrives() -> None:
    generator = pt.random.shared_rng(seed=5)
    after, draw = pt.random.normal(size=2, rng=generator, return_next_rng=True)
    mode = get_mode("OCCELO").including("random_make_inplace")
    f = pytensor.function([], draw, updates={generator: after}, mode=mode)
    numbers = np.random.default_rng(5)
    for _ in range(2):
        np.testing.assert_array_equal(f(), numbers.normal(size=2))


@pytest.mark.filterwarnings("ignore:The `mode` argument of `scan`:FutureWarning")  # PyTensor's
@pytest.mark.parametrize("mode", ["OCCELO", "FAST_COMPILE", Mode("py", "fast_run")])
def test_a_loop_with_the_mode_runs_in_every_mode(mode: Any) -> None:
    x = pt.dvector("x")
    sums, powers = pytensor.scan(
        lambda row, total, power: ((total + row, power * 2.0), until(total > 4.0)),
        sequences=[x],
        outputs_info=[pt.zeros(()), pt.ones(())],
        mode="OCCELO",
        return_updates=False,
    )
    f = pytensor.function([x], [sums, powers[-1], x.sum()], mode=mode)
    for _ in range(2):
        found = f(np.arange(6.0))
        np.testing.assert_array_equal(found[0], [0.0, 1.0, 3.0, 6.0, 10.0])
        assert (float(found[1]), float(found[2])) == (32.0, 15.0)


class Scaled(Op):
    """A user's op of PyTensor, which has no conversion."""

    __props__ = ("factor",)

    def __init__(self, factor: float) -> None:
        self.factor = factor

    def make_node(self, x: Any) -> Any:
        x = pt.as_tensor_variable(x)
        return Apply(self, [x], [x.type()])

    def perform(self, node: Any, inputs: Any, output_storage: Any) -> None:
        output_storage[0][0] = np.asarray(inputs[0] * self.factor)


@pytest.mark.filterwarnings("ignore:These ops have no conversion")
def test_functions_with_a_users_op_are_kept(tmp_path: Path) -> None:
    x = pt.dvector("x")

    class Local(Scaled):
        """Cannot be pickled."""

    def inside(v: Any, kind: Any = Scaled) -> Any:
        return pt.exp(kind(2.0)(pt.sin(v)))

    def local(v: Any) -> Any:
        return inside(v, Local)

    graphs = {
        "beside": Scaled(2.0)(pt.sin(x)) + 1.0,
        "other": Scaled(3.0)(pt.sin(x)) + 1.0,
        "in a loop": pytensor.scan(inside, sequences=x, return_updates=False),
        "local": Local(2.0)(pt.sin(x)) + 1.0,
        "local in a loop": pytensor.scan(local, sequences=x, return_updates=False),
    }
    values = {
        "beside": 2.0 * np.sin([0.5, 1.0]) + 1.0,
        "other": 3.0 * np.sin([0.5, 1.0]) + 1.0,
        "in a loop": np.exp(2.0 * np.sin([0.5, 1.0])),
        "local": 2.0 * np.sin([0.5, 1.0]) + 1.0,
        "local in a loop": np.exp(2.0 * np.sin([0.5, 1.0])),
    }
    with config.change_flags(compiledir=str(tmp_path)):
        for again in (False, True):
            for name, graph in graphs.items():
                f: Any = pytensor.function([x], graph, mode="OCCELO")
                assert f.vm.maker.from_cache is again, name
                np.testing.assert_allclose(f([0.5, 1.0]), values[name])
