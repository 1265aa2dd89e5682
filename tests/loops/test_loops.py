"""Loops over inner graphs, on every linker, against loops in Python over NumPy arrays."""

from __future__ import annotations

import functools
import importlib.util
import io
import os
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import occelo_compile as oc
import occelo_graph as og
from occelo_graph import tensor as ot
from occelo_graph.config import config
from occelo_linalg import functions as linalg
from occelo_link.loops.build import lower_graph
from occelo_link.loops.ir.verify import verify
from occelo_link.native.linker import NativeLinker
from occelo_link.standalone.selection import whole_part
from occelo_link.units import python_entry
from occelo_link.units.callbacks import Effects
from occelo_loops.ops.building.classic import scan, until
from occelo_testing.loop_interpreter import run_program
from occelo_testing.loop_programs import Compiled, has_compiler, interrupted_after
from occelo_testing.looping import again

pytestmark = pytest.mark.filterwarnings("ignore:.*(jax|pytorch|cache|runs in Python)")
THOROUGH = os.environ.get("HYPOTHESIS_PROFILE") == "thorough"
BLOCK_LINKERS = [
    "native",
    *(["c"] if has_compiler() else []),
    *(["numba"] if importlib.util.find_spec("numba") is not None else []),
]
"""The linkers that compile loop programs."""

Step = tuple[Callable[..., Any], Callable[..., Any]]


def repeated(count: int, values: list[Any], step: Callable[..., Any], *read: Any) -> list[Any]:
    for _ in range(count):
        values = list(step(*values, *read))
    return values


def test_scalars_vectors_and_matrices_are_carried(mode: str) -> None:
    n, a, x, w = ot.lscalar("n"), ot.dscalar("a"), ot.dvector("x"), ot.dmatrix("w")

    def step(lib: Any) -> Callable[..., Any]:
        return lambda a, x, m, w: [a * 0.5 + x.sum(), lib.tanh(w @ x) + a, m @ w + m.T]

    f = oc.function([n, a, x, w], again(n, [a, x, w], step(ot), [w]), mode=mode)
    generator = np.random.default_rng(0)
    vector, matrix = generator.normal(size=3), generator.normal(size=(3, 3))
    for count in (0, 1, 2, 7, -1):
        found = f(count, 0.3, vector, matrix)
        wanted = repeated(count, [0.3, vector, matrix], step(np), matrix)
        for one, other in zip(found, wanted, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-12)
    np.testing.assert_array_equal(f(0, 0.3, np.zeros(0), np.zeros((0, 0)))[1], np.zeros(0))


def test_what_is_carried_may_change_its_length(mode: str) -> None:
    n, x = ot.lscalar("n"), ot.dvector("x")

    def longer(v: Any) -> list[Any]:
        return [ot.concatenate([v[:1], v[:-1] + v[1:], v[-1:]])]

    f = oc.function([n, x], again(n, [x], longer), mode=mode)
    for count in (0, 1, 5, 9):
        wanted = [
            float(np.prod([(count - j) / (j + 1) for j in range(k)])) for k in range(count + 1)
        ]
        np.testing.assert_allclose(f(count, np.ones(1))[0], wanted)
    shorter = oc.function([n, x], again(n, [x], lambda v: [v[1:] * 2]), mode=mode)
    np.testing.assert_array_equal(shorter(3, np.arange(5.0))[0], [24.0, 32.0])
    assert shorter(7, np.arange(5.0))[0].shape == (0,)


def test_values_change_places_and_are_written_over(mode: str) -> None:
    n, x, y = ot.lscalar("n"), ot.dvector("x"), ot.dvector("y")

    def step(x: Any, y: Any, z: Any) -> list[Any]:
        return [y, x + y, z]

    f = oc.function([n, x, y], again(n, [x, y, x * 3], step), mode=mode)
    one, two = np.arange(4.0), np.ones(4)
    for count in range(5):
        wanted = repeated(count, [one, two, one * 3], step)
        for found, value in zip(f(count, one, two), wanted, strict=True):
            np.testing.assert_array_equal(found, value)

    def filled(v: Any, i: Any) -> list[Any]:
        return [v[i].set(v[i - 1] * 2 + v[-1]), i + 1]

    g = oc.function([n, x], again(n, [x, ot.constant(0)], filled), mode=mode)
    wanted_ = np.arange(6.0)
    for i in range(6):
        wanted_[i] = wanted_[i - 1] * 2 + wanted_[-1]
    given = np.arange(6.0)
    np.testing.assert_array_equal(g(6, given)[0], wanted_)
    np.testing.assert_array_equal(given, np.arange(6.0))


def test_a_loop_ends_where_it_says_so(mode: str) -> None:
    n, a, x = ot.lscalar("n"), ot.dscalar("a"), ot.dvector("x")

    def step(a: Any, i: Any, x: Any) -> list[Any]:
        return [a * 2, i + 1, x + a, a * 2 > 100.0]

    f = oc.function([n, a, x], again(n, [a, ot.constant(0), x], step, stops=True), mode=mode)
    for limit, wanted in ((1000, (128.0, 7, 127.0)), (3, (8.0, 3, 7.0)), (0, (1.0, 0, 0.0))):
        a_, i_, x_ = f(limit, 1.0, np.zeros(2))
        assert (a_, i_) == wanted[:2]
        np.testing.assert_array_equal(x_, np.full(2, wanted[2]))


def test_loops_and_branches_within_loops(mode: str) -> None:
    n, x = ot.lscalar("n"), ot.dvector("x")

    def step(v: Any, i: Any) -> list[Any]:
        inner = again(i, [v, ot.constant(1.0)], lambda t, s: [ot.sin(t) + t * s, s * 0.5])[0]
        return [ot.ifelse(ot.gt(i, 2), inner, v * 2 - i), i + 1]

    f = oc.function([n, x], again(n, [x, ot.constant(0)], step), mode=mode)
    value = np.array([0.1, 0.2, -0.3])
    for i in range(6):
        if i > 2:
            scale = 1.0
            for _ in range(i):
                value, scale = np.sin(value) + value * scale, scale * 0.5
        else:
            value = value * 2 - i
    np.testing.assert_allclose(f(6, [0.1, 0.2, -0.3])[0], value, rtol=1e-13)


@pytest.mark.parametrize("dtype", ["complex128", "float16", "float32", "int8", "bool"])
def test_any_dtype_is_carried(mode: str, dtype: str) -> None:
    n, x = ot.lscalar("n"), og.TensorType(dtype, (None,))("x")
    one = np.ones((), dtype)

    def step(lib: Any) -> Callable[..., Any]:
        if dtype == "bool":
            return lambda v: [v[::-1] ^ one]
        if dtype.startswith("complex"):
            return lambda v: [v * np.array(1j) + one]
        return lambda v: [v[::-1] * v + one]

    f = oc.function([n, x], again(n, [x], step(ot)), mode=mode)
    value = np.array([0, 1, 2]).astype(dtype)
    (found,) = f(4, value)
    (wanted,) = repeated(4, [value], step(np))
    assert found.dtype == wanted.dtype
    np.testing.assert_array_equal(found, wanted)


def test_errors_are_those_of_python(mode: str) -> None:
    n, x, y = ot.lscalar("n"), ot.dvector("x"), ot.dvector("y")
    f = oc.function([n, x, y], again(n, [x], lambda v, w: [v[1:] + w], [y]), mode=mode)
    np.testing.assert_array_equal(f(1, np.ones(4), np.ones(3))[0], np.full(3, 2.0))
    with pytest.raises(ValueError, match="Input dimension mismatch") as caught:
        f(2, np.ones(4), np.ones(3))
    assert any("iteration 1" in note for note in caught.value.__notes__)


def test_gradients_go_through_the_pullback_of_the_op(mode: str) -> None:
    n, x, w = ot.lscalar("n"), ot.dvector("x"), ot.dmatrix("w")
    y = again(n, [x], lambda v, m: [ot.tanh(m @ v) + 0.5 * v], [w])[0]
    gradients = oc.function([n, x, w], og.grad((y**2).sum(), [x, w]), mode=mode)
    generator = np.random.default_rng(1)
    vector, matrix = generator.normal(size=3), generator.normal(size=(3, 3))

    def cost(vector: Any, matrix: Any) -> Any:
        for _ in range(4):
            vector = np.tanh(matrix @ vector) + 0.5 * vector
        return (vector**2).sum()

    of_x, of_w = gradients(4, vector, matrix)
    for where, found in ((0, of_x), (1, of_w)):
        for index in np.ndindex(*found.shape):
            point = [vector.astype(complex), matrix.astype(complex)]
            point[where][index] += 1e-30j
            np.testing.assert_allclose(found[index], cost(*point).imag / 1e-30, rtol=1e-10)


def test_what_is_carried_twice_has_the_sum_of_both_gradients() -> None:
    x = ot.dvector("x")
    one, other = again(2, [x, 3 * x], lambda v, w: [v * w, v * w])
    f = oc.function([x], og.grad((one + 2 * other).sum(), x))
    # (3 x^2)^2, three times
    np.testing.assert_allclose(f([1.0, -2.0]), 3 * 36 * np.array([1.0, -8.0]))


def test_saved_printed_and_digested() -> None:
    n, x = ot.lscalar("n"), ot.dvector("x")
    outputs = again(n, [x], lambda v: [v * 2])
    stream = io.BytesIO()
    og.save(stream, outputs, [n, x])
    loaded = og.load(stream)
    assert og.digest(loaded.outputs, loaded.inputs) == og.digest(outputs, [n, x])
    np.testing.assert_array_equal(
        og.evaluate(loaded.outputs[0], dict(zip(loaded.inputs, [3, np.ones(2)], strict=True))),
        [8.0, 8.0],
    )
    assert "Again" in og.dprint(outputs, file="str")


def test_compiled_loops_are_kept_in_the_cache(tmp_path: Any) -> None:
    with config.change_flags(compiledir=str(tmp_path)):
        made = []
        for _ in range(2):
            n, x = ot.lscalar("n"), ot.dvector("x")
            made.append(oc.function([n, x], again(n, [x], lambda v: [v * 2 + 1])))
        other = oc.function([n, x], again(n, [x], lambda v: [v * 2 + 2]))
    assert [f.maker.from_cache for f in made] == [False, True]
    assert not other.maker.from_cache
    np.testing.assert_array_equal(made[1](3, np.zeros(2))[0], [7.0, 7.0])
    np.testing.assert_array_equal(other(3, np.zeros(2))[0], [14.0, 14.0])


def random_loop(generator: np.random.Generator) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """A random step over a scalar, a vector, a matrix and a counter: over variables, and over arrays."""
    kinds = generator.integers(0, 12, size=int(generator.integers(2, 8)))
    shifts = generator.integers(0, 3, size=len(kinds))

    def step(lib: Any, write: Callable[..., Any]) -> Callable[..., Any]:
        def run(a: Any, v: Any, m: Any, i: Any, r: Any) -> list[Any]:
            for kind, shift in zip(kinds, shifts, strict=True):
                k = int(shift)
                if kind == 0:
                    v = lib.tanh(v) + a
                elif kind == 1:
                    a = lib.sin(v.sum()) + a * 0.5
                elif kind == 2:
                    m = lib.tanh(m @ m.T) - m
                elif kind == 3:
                    v = m[k] * 0.5 + r
                elif kind == 4:
                    v = write(v, i % 3, a)
                elif kind == 5:
                    m = write(m, k, v)
                elif kind == 6:
                    v, r = v[::-1], v * 0.25
                elif kind == 7:
                    m = m.T
                elif kind == 8:
                    a = a * 0.9 + m[k, 1]
                elif kind == 9:
                    v = lib.cos(m) @ v * 0.3
                elif kind == 10:
                    v = lib.concatenate([v[1:], v[:1]])
                else:
                    m = write(m, (k, slice(None)), m[:, k] + a)
            return [a, v, m, i + 1]

        return run

    def set_array(x: Any, key: Any, value: Any) -> Any:
        x = x.copy()
        x[key] = value
        return x

    return step(ot, lambda x, key, value: x[key].set(value)), step(np, set_array)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("linker", ["native", *(["c"] if has_compiler() else []), "vm"])
@pytest.mark.parametrize("seed", range(400 if THOROUGH else 25))
def test_random_loops(seed: int, linker: str) -> None:
    generator = np.random.default_rng(seed)
    symbolic, numeric = random_loop(generator)
    n, a, x, w, r = ot.lscalar(), ot.dscalar(), ot.dvector(), ot.dmatrix(), ot.dvector()
    outputs = again(n, [a, x, w, ot.constant(0)], symbolic, [r])
    f = oc.function([n, a, x, w, r], outputs, mode=linker, on_unused_input="ignore")
    values = [0.3, generator.normal(size=3), generator.normal(size=(3, 3)), 0]
    read = generator.normal(size=3)
    for count in (0, 1, 2, 5):
        wanted = repeated(count, values, numeric, read)
        for found, value in zip(f(count, *values[:3], read), wanted, strict=True):
            np.testing.assert_allclose(found, value, rtol=1e-9, atol=1e-12)


def growing(n: Any, x: Any) -> list[Any]:
    """A vector whose working memory has another size in each iteration."""

    def step(v: Any, i: Any) -> list[Any]:
        part = ot.exp(-v[: i % 50 + 1])
        return [v[::-1] * 0.5 + (part * part[::-1]).sum() * ot.dot(part, part), i + 1]

    return again(n, [x, ot.constant(0)], step)


def test_iterations_take_no_memory_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    n, x = ot.lscalar("n"), ot.dvector("x")
    outputs = growing(n, x)
    program = lower_graph([n, x], outputs, og.toposort(outputs))
    verify(program)
    compiled, taken, empty = Compiled(program), [], np.empty

    def counted(shape: Any, *args: Any, **options: Any) -> Any:
        if isinstance(shape, int):
            taken.append(shape)
        return empty(shape, *args, **options)

    monkeypatch.setattr(python_entry.np, "empty", counted)
    found = {}
    for count in (100, 10_000):
        taken.clear()
        compiled(np.array(count), np.linspace(0, 1, 60))
        found[count] = list(taken)
    assert found[100] == found[10_000]
    assert len(found[100]) < 40
    for count in (0, 3, 12):
        fast = compiled(np.array(count), np.linspace(0, 1, 60))[0]
        if not any(":" in name for name in program.table):
            np.testing.assert_array_equal(
                fast, run_program(program, [np.array(count), np.linspace(0, 1, 60)])[0]
            )
        wanted = og.evaluate(outputs[0], {n: count, x: np.linspace(0, 1, 60)})
        np.testing.assert_allclose(fast, wanted, rtol=1e-9)


def shrinking_and_growing(n: Any, x: Any, w: Any) -> list[Any]:
    """States of other lengths in each iteration; products, a factorization and a loop within over parts of a matrix."""

    def step(v: Any, i: Any, w: Any) -> list[Any]:
        k = i % 13 + 1
        square = w[:k, :k] @ w[:k, :k].T + ot.eye(k)
        inner = again(k, [v[:k]], lambda u: [u[::-1] * 0.5 + 1])[0]
        part = linalg.solve(square, inner) + ot.cumsum(ot.dot(w[:k], v[:3].sum() * w[0]))
        longer = ot.concatenate([v, part])
        return [longer[ot.maximum(longer.shape[0] - 30, 0) :] * 0.5, i + 1]

    return again(n, [x, ot.constant(0)], step, [w])


@pytest.mark.parametrize("linker", BLOCK_LINKERS)
def test_no_compiler_of_loops_takes_memory_in_each_iteration(
    linker: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    n, x, w = ot.lscalar("n"), ot.dvector("x"), ot.dmatrix("w")
    outputs = shrinking_and_growing(n, x, w)
    f = oc.function([n, x, w], outputs, mode=linker)
    vm: Any = f.vm
    (part,), (compiled,) = vm.parts, vm.units
    unit = python_entry.PythonEntry(compiled.unit.address, compiled.interface)
    vector, matrix = np.linspace(0, 1, 5), np.random.default_rng(1).normal(size=(13, 13))
    given = {n: np.array(0), x: vector, w: matrix}
    order = [given[[n, x, w][vm.fgraph.inputs.index(v)]] for v in part.inputs]
    taken, empty = list[int](), np.empty

    def counted(shape: Any, *args: Any, **options: Any) -> Any:
        if isinstance(shape, int):
            taken.append(shape)
        return empty(shape, *args, **options)

    numbers = {}
    for count in (100, 10_000):
        taken.clear()
        given[n][...] = count
        with monkeypatch.context() as patched:
            patched.setattr(python_entry.np, "empty", counted)
            unit(order)
        numbers[count] = len(taken)
    assert 0 < numbers[100] == numbers[10_000] < 100
    for count in (0, 1, 20):
        wanted = og.evaluate(outputs[0], {n: count, x: vector, w: matrix})
        np.testing.assert_allclose(f(count, vector, matrix)[0], wanted, rtol=1e-9)


@pytest.mark.parametrize("linker", ["native", *(["c"] if has_compiler() else [])])
def test_a_long_loop_is_interrupted(linker: str) -> None:
    n, x = ot.lscalar("n"), ot.dvector("x")
    f = oc.function([n, x], growing(n, x), mode=linker)
    f(2, np.ones(60))
    start = time.perf_counter()
    with interrupted_after(0.3), pytest.raises(KeyboardInterrupt):
        f(10**10, np.ones(60))
    assert time.perf_counter() - start < 20
    assert f(2, np.ones(60))[1] == 2


@pytest.mark.parametrize("linker", ["native", *(["c"] if has_compiler() else [])])
def test_a_loop_of_few_long_iterations_is_interrupted(linker: str) -> None:
    n, x = ot.lscalar("n"), ot.dvector("x")
    outputs = again(n, [x], lambda v: [v[::-1] * 0.5 + v])
    f = oc.function([n, x], outputs, mode=linker)
    f(2, np.ones(60))
    start = time.perf_counter()
    with interrupted_after(0.1), pytest.raises(KeyboardInterrupt):
        f(10**6, np.ones(1_000_000))
    assert time.perf_counter() - start < 20


def test_lengths_that_iterations_change_within_lengths_that_they_do_not(mode: str) -> None:
    n, x = ot.lscalar("n"), ot.tensor("x", dtype="float64", shape=(300, None))
    (y,) = again(n, [x], lambda v: [ot.concatenate([v, v * 0.5], axis=1)])
    f = oc.function([n, x], ot.exp(y), mode=mode)
    value = np.linspace(0.0, 1.0, 600).reshape(300, 2)
    (wanted,) = repeated(3, [value], lambda v: [np.concatenate([v, v * 0.5], axis=1)])
    np.testing.assert_allclose(f(3, value), np.exp(wanted), rtol=1e-12)


NOTED: list[float] = []


class Noted(og.Op):
    """An op with an effect: it notes what it was given."""

    __props__ = ()
    pure = False

    def make_node(self, x: Any) -> og.Apply:
        return og.Apply(self, [x], [x.type()])

    def perform(self, node: Any, inputs: Any, outputs: Any) -> None:
        NOTED.append(float(inputs[0][0]))
        outputs[0][0] = inputs[0] + 1.0


def test_loops_with_effects_are_neither_made_one_nor_run_to_tell_an_error() -> None:
    n, x, y = ot.lscalar("n"), ot.dvector("x"), ot.dvector("y")

    def step(v: Any, w: Any) -> list[Any]:
        return [Noted()(v) + w]

    first, second = (again(n, [x], step, [y])[0] for _ in range(2))
    for name in ("vm", "native"):
        NOTED.clear()
        f = oc.function([n, x, y], [first, second], mode=name)
        np.testing.assert_array_equal(f(2, np.zeros(2), np.zeros(2))[1], [2.0, 2.0])
        assert sorted(NOTED) == [0.0, 0.0, 1.0, 1.0]
    NOTED.clear()
    f = oc.function([n, x, y], first, mode="vm")
    with pytest.raises(ValueError, match="Input dimension mismatch"):
        f(2, np.zeros(2), np.zeros(3))
    assert NOTED == [0.0]


def test_what_looks_into_functions_sees_loops() -> None:
    n, x = ot.lscalar("n"), ot.dvector("x")
    (out,) = again(n, [x], lambda s, w: [s * w + 1.0], [x * 2.0])

    def plain(count: int, v: Any) -> Any:
        (found,) = repeated(count, [v], lambda s: [s * (v * 2.0) + 1.0])
        return found

    v = np.array([0.5, 1.0, 1.5])
    for mode in (oc.DebugMode(), oc.NanGuardMode(), "native"):
        f = oc.function([n, x], out, mode=mode, profile=mode == "native")
        np.testing.assert_array_equal(f(3, v), plain(3, v))
    assert f.profile is not None
    name = str(out.owner.op)
    assert [op for op in f.profile.by_op() if str(op) == name or name in str(op)]
    assert any(name in str(each) for each in f.time_loops(3, v, runs=2))
    guarded = oc.function([n, x], out, mode=oc.NanGuardMode(big_is_error=False))
    with pytest.raises(AssertionError, match="an infinite value in Again"):
        guarded(2000, np.array([1e9]))


def test_effects_of_loops_that_fail_happen_once(mode: str) -> None:
    n, x, w = ot.lscalar("n"), ot.dvector("x"), ot.dvector("w")

    def step(v: Any, i: Any, w: Any) -> list[Any]:
        noted = Noted()(v)
        return [noted + w[: ot.switch(ot.eq(i, 2), 1, 2) + 1], i + 1]

    f = oc.function([n, x, w], again(n, [x, ot.constant(0)], step, [w])[0], mode=mode)
    NOTED.clear()
    np.testing.assert_array_equal(f(2, np.zeros(3), np.zeros(4)), [2.0, 2.0, 2.0])
    assert NOTED == [0.0, 1.0]
    NOTED.clear()
    with pytest.raises(ValueError, match="Input dimension mismatch") as caught:
        f(5, np.zeros(3), np.zeros(4))
    assert NOTED == [0.0, 1.0, 2.0]
    assert any("iteration 2" in note for note in caught.value.__notes__)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("depth", [1, 2])
def test_loops_over_one_body_keep_their_effects_apart(mode: str, depth: int) -> None:
    """Where a call fails, each loop is replayed with its own results, in whatever order loops run."""
    x, y, k = ot.dvector("x"), ot.dvector("y"), ot.lscalar("k")

    def step(v: Any, level: int = depth) -> list[Any]:
        return [Noted()(v) * 2.0] if level == 1 else again(2, [v], lambda w: step(w, level - 1))

    first, second = (again(2, [v], step)[0] for v in (x, y))
    assert first.owner.op.body is second.owner.op.body
    f = oc.function([x, y, k], ot.ifelse(k > 0, first * second, x), mode=mode)
    for sizes in ((3, 4), (4, 3)):
        NOTED.clear()
        with pytest.raises(ValueError, match=rf"input 0 \({sizes[0]},\), .* \({sizes[1]},\)"):
            f(np.zeros(sizes[0]), np.full(sizes[1], 10.0), 1)
        wanted: list[float] = []
        for start in (0.0, 10.0):
            for _ in range(2**depth):
                wanted.append(start)
                start = (start + 1) * 2
        assert sorted(NOTED) == sorted(wanted)
    NOTED.clear()
    found = f(np.zeros(2), np.full(2, 10.0), 1)
    ends = [0.0, 10.0]
    for _ in range(2**depth):
        ends = [(v + 1) * 2 for v in ends]
    np.testing.assert_array_equal(found, [ends[0] * ends[1]] * 2)


def test_effects_whose_results_are_not_kept_are_not_repeated(
    mode: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Effects, "__init__", functools.partialmethod(Effects.__init__, room=1000))
    n, x, w = ot.lscalar("n"), ot.dvector("x"), ot.dvector("w")

    def step(v: Any, i: Any, w: Any) -> list[Any]:
        return [Noted()(v) + w[: ot.switch(ot.eq(i, 20), 1, 2) + 1], i + 1]

    f = oc.function([n, x, w], again(n, [x, ot.constant(0)], step, [w])[0], mode=mode)
    NOTED.clear()
    with pytest.raises((ValueError, RuntimeError), match=r"dimension mismatch|is lost"):
        f(50, np.zeros(3), np.zeros(4))
    assert NOTED == [float(i) for i in range(21)]


class NotedOnce(Noted):
    """An op with an effect that fails when it is given 2."""

    def perform(self, node: Any, inputs: Any, outputs: Any) -> None:
        super().perform(node, inputs, outputs)
        if inputs[0][0] == 2.0:
            raise LookupError("two is too many")


def test_an_op_with_effects_that_fails_in_a_loop_says_in_which_iteration(mode: str) -> None:
    n, x = ot.lscalar("n"), ot.dvector("x")
    f = oc.function([n, x], again(n, [x], lambda v: [NotedOnce()(v) * 1.0])[0], mode=mode)
    NOTED.clear()
    with pytest.raises(LookupError, match="two is too many") as caught:
        f(5, np.zeros(3))
    assert NOTED == [0.0, 1.0, 2.0]
    assert str(caught.value).splitlines()[-1].strip("'\"").endswith("two is too many")
    assert any("iteration 2" in note for note in caught.value.__notes__)


def test_a_step_whose_result_has_static_lengths_that_its_first_value_lacks() -> None:
    x = ot.tensor("x", dtype="float64", shape=(None, None))

    def step(e: Any, s: Any) -> Any:
        return ot.specify_shape(e + ot.sin(s), (1,))

    kept = scan(step, x, x[0], return_updates=False)
    cost = ot.sqr(kept).sum()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        gradient = og.grad(cost, x)
    array = np.array([[0.3], [-0.2], [0.7]])

    def plain(a: Any) -> float:
        s, total = a[0, 0], 0.0
        for e in a[:, 0]:
            s = e + np.sin(s)
            total += s * s
        return total

    for linker in ("vm", "native"):
        f = oc.function([x], [cost, gradient], mode=linker)
        value, found = f(array)
        np.testing.assert_allclose(value, plain(array), rtol=1e-14)
        for i in range(3):
            low, high = array.copy(), array.copy()
            low[i] -= 1e-6
            high[i] += 1e-6
            expected = (plain(high) - plain(low)) / 2e-6
            np.testing.assert_allclose(found[i, 0], expected, rtol=1e-7)
        assert f(np.zeros((1, 1)))[1].shape == (1, 1)


@pytest.mark.parametrize("linker", BLOCK_LINKERS)
def test_linear_models_in_steps(linker: str) -> None:
    """They are computed in blocks of rows, also where a step carries a number and may be the last one."""
    rng = np.random.default_rng(6)
    x, y, w = (np.asarray(rng.normal(size=s)) for s in ((300, 4), 300, 4))
    inputs = data, labels, first = ot.dmatrix("x"), ot.dvector("y"), ot.dvector("w")

    def step(total: Any, weights: Any) -> Any:
        eta = data @ weights
        r = labels - ot.sigmoid(eta)
        total = total + (r**2).sum() - eta[2]
        return [total, weights + 0.01 * (data.T @ r)], until(total > 1000)

    totals, weights = scan(
        step, outputs_info=[ot.constant(0.0), first], n_steps=7, return_updates=False
    )
    f = oc.function(list(inputs), [totals, weights[-1]], mode=linker)
    if linker == "native":
        table = NativeLinker().program(whole_part(f)).table
        modules = [name.partition(":")[0] for name in table if not name.startswith("constant")]
        assert modules == ["occelo_link.units.row_products"]
    found, wanted = f(x, y, w), [0.0]
    while wanted[-1] <= 1000:
        eta = x @ w
        r = y - 1 / (1 + np.exp(-eta))
        wanted.append(wanted[-1] + (r**2).sum() - eta[2])
        w = w + 0.01 * (x.T @ r)
    assert 3 < len(wanted) < 8
    np.testing.assert_allclose(found[0], wanted[1:], rtol=1e-12)
    np.testing.assert_allclose(found[1], w, rtol=1e-12)
