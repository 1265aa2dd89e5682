"""Ops without a lowering, called in Python from compiled code."""

from __future__ import annotations

import gc
import importlib.util
import threading
import weakref
from typing import Any

import numpy as np
import pytest

import occelo_compile as oc
import occelo_graph as og
from occelo_graph import tensor as ot
from occelo_graph.config import config
from occelo_graph.ir.shared import shared
from occelo_link.cache.store import counters
from occelo_link.loops.build import lower_graph
from occelo_link.loops.ir.text import program_text
from occelo_link.loops.ir.verify import verify
from occelo_testing.loop_programs import has_compiler


class Calling(og.Op):
    """Calls a function of arrays; results are of given types."""

    def __init__(self, function: Any, kinds: Any, pure: bool = True) -> None:
        self.function = function
        self.kinds = kinds
        self.effect = not pure

    @property
    def pure(self) -> bool:  # type: ignore[override] # pyright: ignore[reportIncompatibleVariableOverride]
        return not self.effect

    def __eq__(self, other: object) -> bool:
        return self is other

    def __hash__(self) -> int:
        return id(self)

    def make_node(self, *inputs: Any) -> Any:
        given = [ot.as_tensor(x) for x in inputs]
        return og.Apply(self, given, [kind() for kind in self.kinds])

    def perform(self, node: Any, inputs: Any, output_storage: Any) -> None:
        results = self.function(*inputs)
        for cell, value in zip(output_storage, results, strict=True):
            cell[0] = value


_NUMBA = ["numba"] if importlib.util.find_spec("numba") is not None else []
EVERY = ["py", "vm", "native", *(["c"] if has_compiler() else []), *_NUMBA]
VECTOR, MATRIX, SCALAR = (og.TensorType("float64", (None,) * n) for n in (1, 2, 0))


@pytest.fixture(params=["native", *(["c"] if has_compiler() else []), *_NUMBA])
def mode(request: Any) -> Any:
    return oc.Mode(request.param)


def parts_of(function: Any) -> list[bool]:
    return [part.compiled for part in function.vm.parts]


pytestmark = pytest.mark.filterwarnings("ignore:.*(cache|runs in Python)")


def test_a_graph_with_such_an_op_is_one_block(mode: Any) -> None:
    x = ot.dvector("x")
    twice = Calling(lambda a: [a * 2], [VECTOR])
    f = oc.function([x], ot.exp(twice(x + 1)).sum(), mode=mode)
    assert parts_of(f) == [True]
    assert [node.op for node in f.vm.python_nodes] == [twice]
    for _ in range(3):
        value = np.linspace(0, 1, 7)
        np.testing.assert_allclose(f(value), np.exp((value + 1) * 2).sum())
    assert "built-in" in repr(type(f).__call__)


def test_results_of_any_number_shape_and_dtype(mode: Any) -> None:
    x, n = ot.dmatrix("x"), ot.lscalar("n")
    kinds = [
        og.TensorType("int64", (None,)),
        SCALAR,
        og.TensorType("bool", (None, None)),
        og.TensorType("float32", (2, None)),
    ]

    def compute(a: Any, count: Any) -> list[Any]:
        return [
            np.arange(int(count)),
            np.asarray(a.sum()),
            a.T > 0,
            np.ones((2, int(count)), np.float32)[:, ::-1],
        ]

    made = Calling(compute, kinds)(x * 2, n + 1)
    whole, total, positive, ones = made
    f = oc.function([x, n], [whole * 3, total + 1, positive, ones.sum(), x[whole[0]]], mode=mode)
    for rows, count in ((3, 4), (0, 0), (1, 600), (2, 2000)):
        value = np.random.default_rng(rows).normal(size=(rows, 5))
        if rows == 0:
            with pytest.raises(IndexError):
                f(value, count)
            continue
        found = f(value, count)
        np.testing.assert_array_equal(found[0], np.arange(count + 1) * 3)
        np.testing.assert_allclose(found[1], value.sum() * 2 + 1)
        np.testing.assert_array_equal(found[2], value.T > 0)
        assert found[3] == 2 * (count + 1)
        np.testing.assert_array_equal(found[4], value[0])


def test_an_op_may_keep_what_it_is_given_and_write_to_it(mode: Any) -> None:
    kept: list[Any] = []

    def compute(a: Any) -> list[Any]:
        kept.append(a)
        a += 1
        return [a]

    x = ot.dvector("x")
    f = oc.function([x], Calling(compute, [VECTOR])(x) * 2, mode=mode)
    values = [np.full(n, float(n)) for n in (3, 3000, 3)]
    for value in values:
        np.testing.assert_array_equal(f(value), (value + 1) * 2)
    gc.collect()
    for a, value in zip(kept, values, strict=True):
        assert (value == len(value)).all()
        assert (a == len(value) + 1).all()


def test_what_it_raises_comes_out_as_it_was(mode: Any) -> None:
    class OwnError(Exception):
        pass

    runs: list[int] = []

    def compute(a: Any) -> list[Any]:
        runs.append(1)
        if a[0] < 0:
            raise OwnError("the first is negative")
        return [a]

    x = ot.dvector("x")
    state = shared(np.zeros(2))
    f = oc.function(
        [x], Calling(compute, [VECTOR])(x * 2).sum(), updates=[(state, state + x)], mode=mode
    )
    for _ in range(3):
        f(np.ones(2))
        with pytest.raises(OwnError, match="the first is negative") as caught:
            f(-np.ones(2))
        assert "Calling" in str(caught.value)
    np.testing.assert_array_equal(state.get_value(), [3.0, 3.0])


def test_a_wrong_result_is_a_type_error(mode: Any) -> None:
    x = ot.dvector("x")

    class Wrong(Calling):
        def kernel(self, node: Any) -> Any:
            return self.function

    for bad in (np.ones(2, np.float32), np.ones((2, 2)), np.ones(2, ">f8")):
        f = oc.function([x], Wrong(lambda a, bad=bad: [bad], [VECTOR])(x) + 1, mode=mode)
        with pytest.raises(TypeError, match="gave"):
            f(np.ones(2))


def test_an_interrupt_within_it_ends_the_call(mode: Any) -> None:
    def compute(a: Any) -> list[Any]:
        if a[0] < 0:
            raise KeyboardInterrupt
        return [a]

    x = ot.dvector("x")
    f = oc.function([x], Calling(compute, [VECTOR])(x * 2).sum(), mode=mode)
    assert f(np.ones(3)) == 6
    for _ in range(2):
        with pytest.raises(KeyboardInterrupt):
            f(-np.ones(3))
        assert f(np.ones(3)) == 6


def test_branches_with_such_ops_are_compiled_and_lazy(mode: Any) -> None:
    runs: list[str] = []

    def noting(name: str) -> Any:
        def compute(a: Any) -> list[Any]:
            runs.append(name)
            return [a + 1]

        return Calling(compute, [VECTOR])

    x, k = ot.dvector("x"), ot.lscalar("k")
    then, orelse = noting("then")(ot.exp(x)), noting("orelse")(x * 2)
    f = oc.function([x, k], ot.ifelse(k > 0, then * 2, orelse - 1), mode=mode)
    assert parts_of(f) == [True]
    value = np.linspace(0, 1, 4)
    for _ in range(2):
        np.testing.assert_allclose(f(value, 1), (np.exp(value) + 1) * 2)
        np.testing.assert_allclose(f(value, 0), value * 2)
    assert runs == ["then", "orelse"] * 2


@pytest.mark.parametrize("pure", [True, False])
def test_nested_branches_run_what_only_python_knows_where_it_is_needed(
    mode: Any, pure: bool
) -> None:
    runs: list[str] = []

    def noting(name: str, factor: float) -> Any:
        def compute(a: Any) -> list[Any]:
            runs.append(name)
            return [a * factor]

        return Calling(compute, [VECTOR], pure)

    x, k = ot.dvector("x"), ot.dscalar("k")
    third = ot.ifelse(k > 1, noting("c", 4.0)(x) + 1, noting("d", 5.0)(ot.sin(x)))
    second = ot.ifelse(k > 2, noting("b", 3.0)(ot.exp(x)), third * 2)
    y = ot.ifelse(k > 3, noting("a", 2.0)(x) - 1, second)
    f = oc.function([x, k], [y, y.sum()], mode=mode)
    assert parts_of(f) == [True]
    v = np.linspace(0.0, 1.0, 5)
    expected = {"a": v * 2 - 1, "b": np.exp(v) * 3, "c": (v * 4 + 1) * 2, "d": np.sin(v) * 5 * 2}
    for at, (name, wanted) in zip((4.0, 3.0, 2.0, 1.0), expected.items(), strict=True):
        runs.clear()
        found, total = f(v, at)
        assert runs == [name]
        np.testing.assert_allclose(found, wanted, rtol=1e-14)
        np.testing.assert_allclose(total, wanted.sum(), rtol=1e-14)


def test_what_has_had_its_effect_is_not_done_again_to_tell_an_error(mode: Any) -> None:
    runs: list[int] = []

    def compute(a: Any) -> list[Any]:
        runs.append(len(a))
        return [a[1:]]

    x, w, k = ot.dvector("x"), ot.dvector("w"), ot.lscalar("k")
    shorter = Calling(compute, [VECTOR], pure=False)(x)
    f = oc.function([x, w, k], ot.ifelse(k > 0, shorter * w, w), mode=mode)
    np.testing.assert_array_equal(f(np.ones(3), np.ones(2), 1), np.ones(2))
    np.testing.assert_array_equal(f(np.ones(3), np.ones(7), 0), np.ones(7))
    runs.clear()
    with pytest.raises(ValueError, match=r"input 0 \(2,\), w \(3,\)"):
        f(np.ones(3), np.ones(3), 1)
    assert runs == [3]
    np.testing.assert_array_equal(f(np.ones(4), np.ones(3), 1), np.ones(3))
    assert runs == [3, 4]


@pytest.mark.parametrize("dtype", ["complex64", "complex128", "float16"])
@pytest.mark.parametrize("length", [0, 1, 5])
def test_complex_and_16_bit_arrays_are_handed_over(mode: Any, dtype: str, length: int) -> None:
    kind = og.TensorType(dtype, (None, None))

    def compute(a: Any) -> list[Any]:
        assert a.dtype == dtype
        return [a[::-1].T * a.dtype.type(2)]

    x, k = kind("x"), ot.lscalar("k")
    made = Calling(compute, [kind])(x + x)
    f = oc.function([x, k], [ot.ifelse(k > 0, made * x.T, x), made], mode=mode)
    assert parts_of(f) == [True]
    value = (np.arange(2.0 * length) - 1.5j).real.reshape(length, 2).astype(dtype)
    if dtype.startswith("complex"):
        value = value + value.dtype.type(0.25j)
    whole = (value + value)[::-1].T * value.dtype.type(2)
    for at, wanted in ((1, whole * value.T), (0, value)):
        found, always = f(value, at)
        assert found.dtype == always.dtype == dtype
        np.testing.assert_allclose(found, wanted, rtol=1e-6)
        np.testing.assert_allclose(always, whole, rtol=1e-6)


def test_an_op_with_effects_stays_between_blocks() -> None:
    x = ot.dvector("x")
    effect = Calling(lambda a: [a], [VECTOR], pure=False)
    output = ot.exp(effect(x + 1))
    f = oc.function([x], output, mode="native")
    assert parts_of(f) == [True, False, True]
    np.testing.assert_allclose(f(np.ones(2)), np.exp([2.0, 2.0]))


def test_a_graph_of_nothing_else_is_not_compiled() -> None:
    x = ot.dvector("x")
    f = oc.function([x], Calling(lambda a: [a], [VECTOR])(x), mode="native")
    assert not any(parts_of(f))


def test_calls_from_several_threads_do_not_mix(mode: Any) -> None:
    x = ot.dvector("x")
    f = oc.function([x], Calling(lambda a: [a[: int(a[0])]], [VECTOR])(x * 1).sum() * 2, mode=mode)
    f(np.full(3, 2.0))
    wrong: list[Any] = []

    def work(n: int) -> None:
        for _ in range(100):
            found = f(np.full(50_000, float(n)))
            if found != 2 * n * n:
                wrong.append(found)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(1, 6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_such_functions_are_not_kept_in_the_cache_and_are_freed(mode: Any, tmp_path: Any) -> None:
    with config.change_flags(compiledir=str(tmp_path)):
        x = ot.dvector("x")
        before = dict(counters)
        op = Calling(lambda a: [a * 3], [VECTOR])
        f = oc.function([x], op(x) + 1, mode=mode)
        np.testing.assert_array_equal(f(np.ones(2)), [4.0, 4.0])
        assert not f.maker.from_cache
        assert counters["rewriting"] > before["rewriting"]
        gone = weakref.ref(f)
        del f
        gc.collect()
        assert gone() is None


def test_bounds_checked_builds_call_them_too() -> None:
    x = ot.dvector("x")
    with config.change_flags(check_bounds=True):
        f = oc.function([x], Calling(lambda a: [a[1:]], [VECTOR])(x * 2) + 1, mode="native")
        np.testing.assert_array_equal(f(np.arange(4.0)), [3, 5, 7])


def test_programs_show_the_call() -> None:
    x = ot.dvector("x")
    y = Calling(lambda a: [a], [VECTOR])(x * 2) + 1
    program = lower_graph([x], [y], og.toposort([y]), callbacks=True)
    verify(program)
    text = program_text(program)
    assert "table 0: callback:0" in text
    assert "invoke callback:0(&tmp" in text
    assert "invoke results:0(&tmp" in text


def test_an_elementwise_function_must_keep_the_shape(mode: str) -> None:
    x = ot.dvector("x")
    shortened = og.elementwise("shortened", 1, og.inexact, lambda a: a[:1])
    f = oc.function([x], shortened(x), mode=mode)
    assert f([2.0]) == [2.0]
    with pytest.raises(
        og.errors.WrongResultError, match=r"shortened must .* \(3,\), and gave \(1,\)"
    ):
        f([1.0, 2.0, 3.0])


def inverting(ran: list[int]) -> Any:
    """An op without a lowering: the inverse of each element, ZeroDivisionError for a 0. It notes lengths in ``ran``."""

    def inverse(x: Any) -> Any:
        ran.append(len(x))
        if not x.all():
            raise ZeroDivisionError("a zero in the branch that is not taken")
        return [1 / x]

    return Calling(inverse, [VECTOR])


@pytest.mark.parametrize("mode", EVERY)
def test_the_length_of_a_choice_does_not_run_what_was_not_chosen(mode: str) -> None:
    ran: list[int] = []
    inverted = inverting(ran)
    a, c = ot.dscalar("a"), ot.dscalar("c")
    v, w = ot.dvector("v"), ot.dvector("w")
    t = ot.ifelse(a > 0, v, inverted(w))
    other = ot.ifelse(c > 0, ot.outer(t, v)[0], v * t.shape[0])
    f = oc.function([a, c, v, w], [ot.ifelse(c > 0, t, v * t.shape[0]), other], mode=mode)
    for first in (1.0, -1.0):
        for second in (1.0, -1.0):
            ran.clear()
            zeros = np.zeros(4) if first > 0 else np.full(3, 2.0)
            chosen = np.ones(3) if first > 0 else np.full(3, 0.5)
            found = f(first, second, np.ones(3), zeros)
            wanted = [chosen, np.full(3, chosen[0])] if second > 0 else [np.full(3, 3.0)] * 2
            for one, by_hand in zip(found, wanted, strict=True):
                np.testing.assert_array_equal(one, by_hand)
            assert len(ran) == (first < 0)
