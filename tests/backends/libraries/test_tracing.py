"""Lengths, checks, branches, fallbacks and state in the linkers to JAX and PyTorch."""

from __future__ import annotations

import sys
import threading
import warnings
from typing import Any

import numpy as np
import pytest

import occelo_compile as oc
import occelo_graph as og
from occelo_graph import tensor as ot
from occelo_graph.config import config
from occelo_graph.ir.regions import Region
from occelo_graph.ops.control.python_function import wrap_py
from occelo_link import make_linker, traces_scalar
from occelo_loops.ops.building.loops import loop
from occelo_rewrite import RewriteDatabaseQuery
from occelo_testing.fixtures import graphs_of_pytorch_run_as_they_are

__all__ = ["graphs_of_pytorch_run_as_they_are"]


@pytest.mark.parametrize("mode", ["NUMBA", "JAX", "PYTORCH"])
def test_what_the_library_does_itself_is_excluded_by_tag(mode: str) -> None:
    pytest.importorskip({"PYTORCH": "torch"}.get(mode, mode.lower()), reason="it is not installed")
    query = oc.get_mode(mode).query
    assert isinstance(query, RewriteDatabaseQuery)
    assert {"cxx_only", "BlasOpt", "fusion", "inplace"} <= query.exclude
    assert "minimum_compile" in query.include


class Greedy(og.Op):
    """Keeps what it is given, and changes it."""

    __props__ = ()

    def __init__(self, kept: list[Any]) -> None:
        self.kept = kept

    def infer(self, x: Any) -> Any:
        return x

    def evaluate(self, x: Any) -> Any:
        self.kept.append(x)
        x += 1
        return x


@pytest.mark.filterwarnings("ignore:.*(runs in Python|cache|static)")
@pytest.mark.parametrize("knows_shape", [False, True])
def test_an_op_may_keep_and_change_what_it_is_given(backend: str, knows_shape: bool) -> None:
    kept: list[Any] = []
    op = Greedy(kept)
    if knows_shape:

        class Shaped(Greedy):
            def infer_shape(self, node: Any, input_shapes: Any) -> Any:
                return input_shapes

        op = Shaped(kept)
    x = ot.dvector("x")
    f = oc.function([x], [op(x) * 2, x + 1], mode=backend)
    for number in (3.0, 5.0, 3.0):
        value = np.full(4, number)
        doubled, more = f(value)
        np.testing.assert_array_equal(doubled, np.full(4, (number + 1) * 2))
        np.testing.assert_array_equal(more, np.full(4, number + 1))
        np.testing.assert_array_equal(value, np.full(4, number))
    assert kept
    assert all((a == a[0]).all() and a[0] in (4.0, 6.0) for a in kept if a.any())


def test_lengths_of_shapes_are_no_values(backend: str) -> None:
    x = ot.dmatrix("x")
    y = ot.ones((x.shape[0] * 2, x.shape[1])).sum() + x.reshape((x.shape[1], -1)).sum()
    f = oc.function([x], [y, ot.arange(x.shape[0])], mode=backend)
    total, numbers = f(np.ones((2, 3)))
    assert total == 18.0
    assert numbers.tolist() == [0, 1]
    assert f(np.ones((1, 4)))[0] == 12.0


def test_lengths_that_depend_on_values_are_reported_and_static(backend: str) -> None:
    n, x = ot.lscalar("n"), ot.dvector("x")
    with pytest.warns(UserWarning, match="n will be static") as told:
        f = oc.function([n, x], [ot.zeros((n,)) + 1, x[:n]], mode=backend)
    text = str(told[0].message)
    assert "needs n, made at" in text
    assert __file__ in text
    for count in (1, 3, 2):
        ones, start = f(count, [1.0, 2.0, 3.0])
        assert ones.shape == (count,)
        assert start.shape == (count,)
    quiet = type(make_linker(backend))(static=["n"])
    g = oc.function([n, x], x[:n], mode=oc.Mode(quiet))
    np.testing.assert_array_equal(g(2, [1.0, 2.0, 3.0]), [1.0, 2.0])
    strict = oc.Mode(type(make_linker(backend))(strict=True))
    with pytest.raises(NotImplementedError, match="n must be static"):
        oc.function([n, x], x[:n], mode=strict)


def test_lengths_that_loops_find_are_static_after_these_loops(
    backend: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    compiled: list[int] = []
    kind = type(make_linker(backend))
    compile_traced = kind.compile_traced
    monkeypatch.setattr(
        kind, "compile_traced", lambda *given: (compiled.append(1), compile_traced(*given))[1]
    )
    s, calls = ot.dscalar("s"), oc.shared(0, "calls")
    final, trace = loop(lambda v: (v * 2, v), s, length=20, until=lambda v: v > 100)
    # another loop takes as many steps as the first one, or ends before
    product, products = loop(lambda v, e: (v * e, v), final, trace, until=lambda v: v > 1e9)
    slope = og.grad(trace.sum() + final, s)
    outputs = [final, trace, product, products, slope]
    once = oc.function([s], outputs, mode=backend)
    # this reads a trace in another way than row by row
    with pytest.warns(UserWarning, match=r"Subtensor.* needs Iterate.*0, made at(.|\n)*be static"):
        f = oc.function([s], [*outputs, trace[::2]], updates={calls: calls + 1}, mode=backend)

    def by_hand(v: float) -> list[Any]:
        kept = [v]
        while kept[-1] <= 100:
            kept.append(kept[-1] * 2)
        v, more = kept.pop(), list[float]()
        state = v
        for e in kept:
            more.append(state)
            state *= e
            if state > 1e9:
                break
        return [v, kept, state, more, 2.0 ** (len(kept) + 1) - 1, kept[::2]]

    counts: list[int] = []
    for start in (1.0, 1.1, 3.0, 3.1, 1.2):
        for found, wanted in zip(f(start), by_hand(start), strict=True):
            np.testing.assert_allclose(found, wanted)
        counts.append(len(compiled))
    # 7 steps at first, then 6, then again 7
    assert counts[0] == counts[1] < counts[2] == counts[3] == counts[4]
    assert calls.get_value() == 5
    strict = oc.Mode(kind(strict=True))
    with pytest.raises(NotImplementedError, match=r"Iterate.* must be static"):
        oc.function([s], trace[::2], mode=strict)
    compiled.clear()
    for start in (1.0, 3.0):
        for found, wanted in zip(once(start), by_hand(start), strict=False):
            np.testing.assert_allclose(found, wanted)
    assert compiled == [1]


def test_masks_and_nonzero(backend: str) -> None:
    x = ot.dvector("x")
    with pytest.warns(UserWarning, match="x will be static"):
        f = oc.function([x], [x[x > 0], ot.nonzero(x)[0]], mode=backend)
    for value in ([1.0, -1.0, 2.0], [-1.0, 3.0]):
        plain = np.array(value)
        kept, places = f(plain)
        np.testing.assert_array_equal(kept, plain[plain > 0])
        np.testing.assert_array_equal(places, np.nonzero(plain)[0])


def test_checks_that_fail_in_compiled_code_leave_state_as_it_was(backend: str) -> None:
    total = oc.shared(np.zeros(2), "total")
    x, i = ot.dvector("x"), ot.lscalar("i")
    f = oc.function([x, i], x[i], updates={total: total + x}, mode=backend)
    assert f([1.0, 2.0], -1) == 2.0
    with pytest.raises(IndexError, match="index 2 is out of bounds for axis 0 with size 2"):
        f([1.0, 2.0], 2)
    np.testing.assert_array_equal(total.get_value(), [1.0, 2.0])
    checked = oc.function([x], ot.assert_op(x, (x > 0).all(), msg="not positive") * 2, mode=backend)
    with pytest.raises(AssertionError, match="not positive"):
        checked([-1.0])


def test_only_lengths_known_to_be_one_broadcast(backend: str) -> None:
    x, y = ot.dvectors("x", "y")
    f = oc.function([x, y], x + y, mode=backend)
    with pytest.raises(ValueError, match="dimension mismatch"):
        f([1.0], [1.0, 2.0])
    with pytest.raises(ValueError, match="dimension mismatch"):
        f([1.0, 2.0], [1.0])
    assert f([1.0], [2.0]) == [3.0]


def test_branches(backend: str) -> None:
    c, x = ot.bscalar("c"), ot.dvector("x")
    f = oc.function([c, x], ot.ifelse(c, x * 2, ot.exp(x)), mode=backend)
    np.testing.assert_array_equal(f(1, [1.0]), [2.0])
    np.testing.assert_array_equal(f(0, [0.0]), [1.0])
    # what fails in the branch that is not taken does no harm
    guarded = ot.ifelse(c, ot.assert_op(x, (x > 0).all()), x)
    g = oc.function([c, x], guarded * 1.0, mode=backend)
    np.testing.assert_array_equal(g(0, [-1.0]), [-1.0])
    with pytest.raises(AssertionError):
        g(1, [-1.0])
    # branches of different shapes need the condition's value
    h = oc.function([c, x], ot.ifelse(c, x, x[:1]).sum(), mode=backend)
    assert (h(1, [1.0, 2.0]), h(0, [1.0, 2.0])) == (3.0, 1.0)


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")  # PyTorch's own
def test_a_failure_of_the_side_that_is_not_taken(backend: str, compiled: bool) -> None:
    """JAX leaves that side alone; PyTorch computes it, so the call is made again in Python."""
    c, x, i = ot.bscalar("c"), ot.dvector("x"), ot.lscalar("i")
    total = oc.shared(0.0, "total")
    with config.change_flags(pytorch__compile=compiled):
        f = oc.function(
            [c, x, i], ot.ifelse(c, x[i], x.sum()), updates={total: total + 1}, mode=backend
        )
    assert f(1, [1.0, 2.0], 1) == 2.0
    assert f(0, [1.0, 2.0], 1) == 3.0
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        assert f(0, np.array([1.0, 2.0]), 7) == 3.0
    assert any("ran in Python" in str(w.message) for w in told) == (backend == "pytorch")
    assert total.get_value() == 3.0
    with pytest.raises(IndexError):
        f(1, [1.0, 2.0], 7)
    assert total.get_value() == 3.0


def test_checks_that_only_some_lengths_have_are_made(backend: str) -> None:
    x = ot.dvector("x")
    total = oc.shared(0.0, "total")
    checked = ot.assert_op(x, (x > 0).all(), msg="not positive")
    f = oc.function(
        [x], ot.ifelse(x.shape[0] > 2, checked, x).sum(), updates={total: total + 1}, mode=backend
    )
    for _ in range(2):
        assert f([-1.0]) == -1.0
        assert f([1.0, 2.0, 3.0]) == 6.0
        with pytest.raises(AssertionError, match="not positive"):
            f([1.0, -2.0, 3.0])
        assert f([-1.0, 0.0]) == -1.0
    assert total.get_value() == 6.0


def test_an_input_may_become_static_after_simple_calls(backend: str) -> None:
    v, x, y = ot.dvector("v"), ot.dvector("x"), ot.dvector("y")
    # of one element, the branches have one shape, and the condition need not be known
    f = oc.function([v, x, y], ot.ifelse(v.sum() > 0, x, x[:1]).sum() + y.sum(), mode=backend)
    for _ in range(3):
        assert f(np.ones(1), np.ones(1), np.ones(1)) == 2.0
        for _ in range(3):
            assert f(np.full(2, 5.0), np.ones(2), np.full(2, 10.0)) == 22.0
            assert f(np.full(2, -5.0), np.ones(2), np.full(2, 10.0)) == 21.0
    # unless the linker is to refuse that
    branches = ot.ifelse(v.sum() > 0, x, x[:1]).sum()
    strict = oc.function([v, x], branches, mode=oc.Mode(type(make_linker(backend))(strict=True)))
    assert strict(np.ones(1), np.ones(1)) == 1.0
    with pytest.raises(NotImplementedError, match="v must be static"):
        strict(np.ones(2), np.ones(2))


@wrap_py([ot.dvector], [ot.tensor("out", dtype="float64", shape=(2,)).type])
def ends(x: Any) -> Any:
    """The first and the last element."""
    return x[[0, -1]]


def test_an_op_that_the_library_lacks_runs_in_python_with_one_warning(backend: str) -> None:
    x = ot.dvector("x")
    f = oc.function([x], [ends(x * 2) + 1, ends(x)], mode=backend)
    with pytest.warns(UserWarning, match="it runs in Python") as told:
        found, _ = f([1.0, 2.0, 3.0])
    assert len([t for t in told if "it runs in Python" in str(t.message)]) == 1
    np.testing.assert_array_equal(found, [3.0, 7.0])
    np.testing.assert_array_equal(f([5.0, 2.0, 3.0])[0], [11.0, 7.0])
    strict = oc.Mode(type(make_linker(backend))(strict=True))
    g = oc.function([x], ends(x), mode=strict)
    with pytest.raises(NotImplementedError, match="it runs in Python"):
        g([1.0, 2.0])


def test_state_stays_with_the_library_and_is_given_as_numpy(backend: str) -> None:
    total = oc.shared(np.zeros(2), "total")
    x = ot.dvector("x")
    f = oc.function([x], total * 1.0, updates={total: total + x}, mode=backend)
    f([1.0, 2.0])
    held = total.container.storage[0]
    assert not isinstance(held, np.ndarray)
    assert type(total.get_value()) is np.ndarray
    assert type(total.get_value(borrow=True)) is np.ndarray
    assert type(total.get_value(return_internal_type=True, borrow=True)) is type(held)
    assert type(f[total]) is np.ndarray
    # another linker takes it over
    g = oc.function([], None, updates={total: total * 10}, mode="native")
    g()
    np.testing.assert_array_equal(total.get_value(), [10.0, 20.0])
    f([0.0, 0.0])
    h = oc.function([], total + 1, mode="vm")
    np.testing.assert_array_equal(h(), [11.0, 21.0])


def test_the_librarys_arrays_go_in_and_come_out(backend: str) -> None:
    x = ot.fvector("x")
    f = oc.function([x], x * 2, mode=backend)
    assert type(f(np.ones(2, dtype="float32"))) is np.ndarray
    if backend == "jax":
        import jax.numpy

        given = jax.numpy.ones(2, "float32")
    else:
        import torch

        given = torch.ones(2)
    out = f(given)
    assert type(out) is type(given)
    assert [float(v) for v in out] == [2.0, 2.0]
    assert type(oc.function([x], x * 2, mode="vm")(given)) is np.ndarray


def test_output_subsets_and_threads(backend: str) -> None:
    x = ot.dvector("x")
    f = oc.function([x], [x * 2, ot.exp(x)], mode=backend)
    np.testing.assert_array_equal(f([0.0], output_subset=[1])[0], [1.0])
    wrong: list[Any] = []

    def work(seed: int) -> None:
        for i in range(20):
            value = np.full(2 + (i + seed) % 3, float(i))
            if not np.allclose(f(value)[0], value * 2):
                wrong.append(value)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_updates_of_simple_calls_in_threads_are_all_made(backend: str) -> None:
    count, x = oc.shared(np.zeros(2), "count"), ot.dvector("x")
    f = oc.function([x], count.sum(), updates={count: count + x}, mode=backend)
    one = np.ones(2)
    f(one)  # the first call is not a simple one
    assert type(type(f).__dict__["__call__"]).__name__ == "staticmethod"
    seen: list[float] = []
    threads = [
        threading.Thread(target=lambda: seen.extend(float(f(one)) for _ in range(20)))
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    np.testing.assert_array_equal(count.get_value(), [161.0, 161.0])
    assert sorted(seen) == [2.0 * k for k in range(1, 161)]


def test_a_check_that_fails_in_a_simple_call_updates_nothing(backend: str) -> None:
    count, x, y = oc.shared(0.0, "count"), ot.dvector("x"), ot.dvector("y")
    f = oc.function([x, y], (x + y).sum(), updates={count: count + x.sum()}, mode=backend)
    f(np.ones(2), np.ones(2))
    with pytest.raises(ValueError, match="mismatch"):
        f(np.ones(2), np.ones(3))
    assert count.get_value() == 2.0


def test_state_passes_from_one_library_to_the_other() -> None:
    pytest.importorskip("jax", reason="jax is not installed")
    pytest.importorskip("torch", reason="torch is not installed")
    total, x = oc.shared(np.zeros(2), "total"), ot.dvector("x")
    adding = [
        oc.function([x], None, updates={total: total + x}, mode=mode)
        for mode in ("jax", "pytorch", "native", "vm")
    ]
    for _ in range(3):
        for f in adding:
            f(np.array([1.0, 2.0]))
    np.testing.assert_array_equal(total.get_value(), [12.0, 24.0])


def test_pickling(backend: str) -> None:
    import pickle

    total = oc.shared(1.0, "total")
    f = oc.function([], total * 2, updates={total: total + 1}, mode=backend)
    f()
    g = pickle.loads(pickle.dumps(f))
    assert g() == 4.0
    assert f() == 4.0


def test_the_users_jax_keeps_its_settings() -> None:
    jax = pytest.importorskip("jax", reason="jax is not installed")
    x = ot.dvector("x")
    f = oc.function([x], x * 2, mode="jax")
    assert f([1.0]).dtype == np.float64
    assert jax.numpy.ones(1).dtype == np.float32


def test_as_jax_works_inside_jit_grad_and_vmap() -> None:
    jax = pytest.importorskip("jax", reason="jax is not installed")
    from occelo_link import as_jax

    x, k = ot.fvector("x"), ot.fscalar("k")
    w = oc.shared(np.float32(2.0), "w")
    f = oc.function([x, k], (ot.log(1 + ot.exp(x)) * k * w).sum(), mode="vm")
    plain = as_jax(f)
    value = jax.numpy.array([0.0, 1.0], "float32")
    slope = jax.jit(jax.grad(plain))(value, 3.0)
    np.testing.assert_allclose(slope, 6.0 / (1 + np.exp(-np.array([0.0, 1.0]))), rtol=1e-5)
    many = jax.vmap(plain, in_axes=(0, None))(jax.numpy.stack([value, value * 2]), 1.0)
    np.testing.assert_allclose(many[0], f(np.float32([0.0, 1.0]), np.float32(1.0)), rtol=1e-5)


def test_as_torch_works_with_autograd() -> None:
    torch = pytest.importorskip("torch", reason="torch is not installed")
    from occelo_link import as_torch

    x = ot.dvector("x")
    w = oc.shared(np.array([1.0, 3.0]), "w")
    f = oc.function([x], (ot.exp(x) * w).sum(), mode="vm")
    value = torch.tensor([0.0, 1.0], dtype=torch.float64, requires_grad=True)
    out = as_torch(f)(value)
    out.backward()
    np.testing.assert_allclose(value.grad, np.exp([0.0, 1.0]) * [1.0, 3.0])


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")  # PyTorch's own
def test_torch_compile_compiles_whole_functions() -> None:
    pytest.importorskip("torch", reason="torch is not installed")
    from occelo_link.torch.linker import PytorchLinker

    x = ot.dvector("x")
    w = oc.shared(np.zeros(3), "w")
    cost = ((ot.exp(x) - w) ** 2).sum()
    mode = oc.Mode(PytorchLinker(compiled=True))
    f = oc.function([x], cost, updates={w: w - 0.1 * og.grad(cost, w)}, mode=mode)
    plain = oc.function([x], cost, mode="vm")
    value = np.array([0.0, 0.5, 1.0])
    before = plain(value)
    limit = sys.getrecursionlimit()
    np.testing.assert_allclose(f(value), before)
    assert plain(value) < before
    assert sys.getrecursionlimit() == limit


def test_a_library_that_is_missing_is_named(monkeypatch: pytest.MonkeyPatch, backend: str) -> None:
    library = {"jax": "jax", "pytorch": "torch"}[backend]
    for name in list(sys.modules):
        if name.startswith(f"occelo_link.{library}"):
            monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(ModuleNotFoundError, match=f"occelo-link\\[{library}\\]"):
        oc.Mode(backend)


@pytest.mark.filterwarnings("ignore:.*runs in Python")
@pytest.mark.parametrize("axis", [None, 1])
@pytest.mark.parametrize("name", ["max", "min", "argmax", "argmin"])
def test_complex_numbers_have_an_order(backend: str, name: str, axis: int | None) -> None:
    z = ot.zmatrix("z")
    f = oc.function([z], getattr(ot, name)(z, axis=axis), mode=backend)
    values = [[[1 + 2j, 3, -1], [0, 5j, 3 + 1j]], [[2j, 1j, 3j], [-1j, 5j, -5j]]]
    if backend == "pytorch":  # what JAX makes of NaN in one part is its own
        values.append([[1 + 2j, complex(np.nan, 1), -1], [complex(1, np.nan), 5j, np.nan]])
    for value in map(np.asarray, values):
        np.testing.assert_array_equal(f(value), getattr(np, name)(value, axis=axis))


@og.op
class _Picked(og.Op):
    """Ten times one of several tensors; the others are not computed."""

    lazy = True

    def infer(self, which: Any, *values: Any) -> Any:
        return og.TensorType("float64", (None,))

    def regions(self, node: Any) -> Any:
        return [Region((i,)) for i in range(1, len(node.inputs))]

    def chosen(self, node: Any, values: Any) -> Any:
        return [self.regions(node)[int(values[0])]]

    def evaluate(self, which: Any, *values: Any) -> Any:
        return values[int(which)] * 10


@pytest.mark.filterwarnings("ignore:.*static:UserWarning", "ignore:.*runs in Python:UserWarning")
def test_a_lazy_op_without_lowering_runs_what_its_operands_choose(backend: str) -> None:
    k, x = ot.lscalar("k"), ot.dvector("x")
    calls: list[int] = []

    def counted(add: int) -> Any:
        def run(value: Any) -> Any:
            calls.append(add)
            return value + add

        return wrap_py([x.type], [x.type])(run)(x)

    f = oc.function([k, x], _Picked()(k, counted(1), ot.exp(x), counted(2)) + 1, mode=backend)
    value = np.array([1.0, 2.0])
    for which, wanted in enumerate([value + 1, np.exp(value), value + 2]):
        calls.clear()
        np.testing.assert_allclose(f(which, value), wanted * 10 + 1)
        assert set(calls) <= {(1, 0, 2)[which]}


def test_arguments_of_own_functions_keep_what_the_result_cannot_hold(backend: str) -> None:
    """By default an argument is converted to the result's dtype only where that dtype has all its values."""
    level = og.elementwise(
        f"level_{backend}",
        1,
        lambda dtypes: "int8",
        lambda x: np.floor(np.asarray(x) * 4).astype("int8"),
        [None],
    )
    power = og.elementwise(
        f"power_{backend}",
        1,
        lambda dtypes: np.zeros(1, og.inexact(dtypes)).real.dtype.name,
        lambda x: np.asarray(x).real ** 2 + np.asarray(x).imag ** 2.0,
    )

    @traces_scalar(f"level_{backend}")
    def level_of_arrays(arrays: Any, x: Any) -> Any:
        return arrays.apply("floor", arrays.apply("mul", x, 4.0))

    @traces_scalar(f"power_{backend}")
    def power_of_arrays(arrays: Any, x: Any) -> Any:
        kinds.append(arrays.dtype(x))
        magnitude = arrays.apply("abs", x)
        return arrays.apply("mul", magnitude, magnitude)

    kinds: list[str] = []
    x, z, n = ot.dvector("x"), ot.zvector("z"), ot.ivector("n")
    f = oc.function([x, z, n], [level(x), power(z), power(n)], mode=backend)
    one, two, three = f([0.6, -1.3], [3 + 4j, 1j], [-2, 3])
    np.testing.assert_array_equal(one, np.array([2, -6], np.int8))
    np.testing.assert_allclose(two, [25.0, 1.0])
    np.testing.assert_array_equal(three, [4.0, 9.0])
    assert set(kinds) == {"complex128", "float64"}


def test_own_functions_that_would_drop_parts_of_numbers_raise(backend: str) -> None:
    half = og.elementwise(
        f"half_{backend}", 1, lambda dtypes: "float64", lambda x: np.real(x) / 2.0
    )

    @traces_scalar(f"half_{backend}", convert="common")
    def half_of_arrays(arrays: Any, x: Any) -> Any:
        return arrays.apply("mul", x, 0.5)

    for x, message in (
        (ot.ivector("x"), r"0\.5 is no number of int32"),
        (ot.zvector("x"), f"half_{backend} gave complex numbers, not float64"),
    ):
        f = oc.function([x], half(x), mode=backend)
        with pytest.raises(TypeError, match=message):
            f(np.ones(2, x.dtype))


def test_callbacks_of_jax_have_64_bits_in_every_thread() -> None:
    pytest.importorskip("jax", reason="jax is not installed")
    import threading

    import jax

    from occelo_link.jax.arrays import JaxArrays

    seen: list[Any] = []

    def both(x: Any, n: Any, z: Any) -> list[Any]:
        seen.extend((x, n, z))
        return [x.sum() + 1e-12, n + 1, z * 2, np.array(x[0] > 1)]

    arrays = [np.array([1 + 1e-12, 2.0]), np.array(2**40), np.array([[1 + 1e-12 + 2j]])]
    kinds: list[Any] = [("float64", ()), ("int64", ()), ("complex128", (1, 1)), ("bool", ())]
    with jax.enable_x64(True):
        run = jax.jit(lambda *a: JaxArrays().callback(both, a, kinds))
        given = [jax.numpy.asarray(a) for a in arrays]
        compiled = run.lower(*given).compile()
    found: list[Any] = []
    # a thread in which 64 bits are not enabled
    thread = threading.Thread(target=lambda: found.extend(map(np.asarray, compiled(*given))))
    thread.start()
    thread.join()
    for one, other in zip(seen[:3], arrays, strict=True):
        np.testing.assert_array_equal(one, other)
    wanted = both(*arrays)
    for one, other in zip(found, wanted, strict=True):
        np.testing.assert_array_equal(one, other)
        assert one.dtype == np.asarray(other).dtype


def test_loops_run_without_python(backend: str) -> None:
    x, a = ot.dvector("x"), ot.dscalar("a")
    _, states = loop(lambda state, each: (ot.tanh(a * state + each),) * 2, 0.0, x)
    slope = og.grad(states.sum(), a)
    linker = type(make_linker(backend))(strict=True)
    f = oc.function([x, a], [states, slope], mode=oc.Mode(linker, "fast_run"))
    for count in (0, 1, 2000):
        given = np.linspace(-2.0, 1.0, count)
        found, derivative = f(given, 0.7)
        state, tangent, total, wanted = 0.0, 0.0, 0.0, []
        for each in given:
            tangent = (1 - np.tanh(0.7 * state + each) ** 2) * (state + 0.7 * tangent)
            state = np.tanh(0.7 * state + each)
            total += tangent
            wanted.append(state)
        np.testing.assert_allclose(found, wanted, rtol=1e-12)
        np.testing.assert_allclose(derivative, total, rtol=1e-10)
