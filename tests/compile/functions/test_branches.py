"""Branches that read common values, some of which ops overwrite in place."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import pytest

import occelo_compile as oc
import occelo_graph as og
from occelo_graph import Op, op
from occelo_graph import tensor as ot
from occelo_graph.ops.control.python_function import wrap_py
from occelo_testing.loop_programs import has_compiler

pytestmark = pytest.mark.filterwarnings("ignore:.*(jax|pytorch|runs in Python)")
THOROUGH = os.environ.get("HYPOTHESIS_PROFILE") == "thorough"
LINKERS = ["vm", "py", "native", *(["c|py", "c"] if has_compiler() else [])]
# compilers of C are slow: one seed in four
CASES = [
    (seed, linker)
    for seed in range(12)
    for linker in LINKERS
    if THOROUGH or seed % 4 == 0 or not linker.startswith("c")
]


def branching(seed: int) -> tuple[Any, Any]:
    """A function of a library, a choice, two flags and two vectors; the choice takes a flag and two lists."""
    generator = np.random.default_rng(seed)
    steps = generator.integers(0, 8, size=9)
    picks = generator.integers(0, 1000, size=(9, 3))

    def run(lib: Any, choose: Any, flags: Any, x: Any, y: Any) -> list[Any]:
        pool = [x + 0.5, y * 2.0]
        for kind, (i, j, k) in zip(steps, picks, strict=True):
            a, b = pool[i % len(pool)], pool[j % len(pool)]
            if kind == 0:
                pool.append(lib.exp(-a * a))
            elif kind == 1:
                pool.append(lib.cumsum(a))
            elif kind == 2:
                pool.append(a + b)
            elif kind == 3:
                pool.append(a[::-1] * 1.5)
            elif kind == 4:
                pool.append(lib.sqrt(abs(a)) - b)
            elif kind == 5:
                pool += choose(flags[k % 2], [a + 1.0, b * 0.5], [b - 2.0, a])
            else:
                pool += choose(flags[k % 2], [lib.sin(a)], [lib.cos(b) + a])
        return pool[-3:]

    return run, generator


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("seed", "linker"), CASES)
def test_nothing_is_overwritten_that_is_still_read(seed: int, linker: str) -> None:
    run, generator = branching(seed)
    c, d, x, y = ot.bscalar("c"), ot.bscalar("d"), ot.dvector("x"), ot.dvector("y")
    outputs = run(ot, ot.ifelse, (c, d), x, y)
    f = oc.function([c, d, x, y], outputs, mode=linker, on_unused_input="ignore")
    values = generator.normal(size=5), generator.normal(size=5)
    for flags in ((0, 0), (0, 1), (1, 0), (1, 1)):
        wanted = run(np, lambda flag, then, other: then if flag else other, flags, *values)
        for found, value in zip(f(*flags, *values), wanted, strict=True):
            np.testing.assert_allclose(found, value, rtol=1e-12)


@pytest.mark.parametrize("linker", ["vm", "py"])
def test_a_reader_in_the_other_branch_is_not_run_for_an_op_that_overwrites(linker: str) -> None:
    class Failing(og.Op):
        __props__ = ()

        def make_node(self, x: Any) -> Any:
            return og.Apply(self, [x], [x.type()])

        def perform(self, node: Any, inputs: Any, output_storage: Any) -> None:
            raise AssertionError("this branch is not taken")

    c, x = ot.bscalar("c"), ot.dvector("x")
    t = ot.cumsum(x)
    one, two = ot.exp(t), Failing()(t)
    f = oc.function([c, x], [ot.ifelse(c, one, two), ot.ifelse(c, t[::-1], two)], mode=linker)
    found = f(1, np.ones(3))
    np.testing.assert_allclose(found[0], np.exp([1.0, 2.0, 3.0]))
    np.testing.assert_allclose(found[1], [3.0, 2.0, 1.0])


CALLS: list[int] = []


@og.op
class Numbered(og.Op):
    """What only Python knows; it notes its number."""

    number: int

    def infer(self, x: Any) -> Any:
        return x

    def evaluate(self, x: Any) -> Any:
        CALLS.append(self.number)
        return x + self.number

    def infer_shape(self, node: Any, input_shapes: Any) -> Any:
        return input_shapes

    def pullback(self, inputs: Any, outputs: Any, cotangents: Any) -> Any:
        return list(cotangents)


@pytest.mark.sampled(3)
def test_branches_on_one_condition_in_different_branches_of_another_stay_lazy(mode: str) -> None:
    if mode == "pytorch":
        pytest.skip("without torch.compile, both branches run to tell the shapes of results")
    x, flags = ot.dvector("x"), [ot.lscalar(f"c{i}") for i in range(3)]

    def choice(flags: list[Any], first: int, count: int) -> Any:
        if count == 1:
            return Numbered(first)(x) * 2.0
        half = count // 2
        then, other = (choice(flags[1:], first + k, half) for k in (0, half))
        return ot.ifelse(flags[0], then, other)

    f = oc.function([x, *flags], choice(flags, 0, 8), mode=mode)
    for number in range(8):
        CALLS.clear()
        taken = [1 - (number >> k & 1) for k in (2, 1, 0)]
        np.testing.assert_array_equal(f([1.0, 2.0], *taken), [2.0 + 2 * number, 4.0 + 2 * number])
        assert set(CALLS) == {number}


def test_a_branch_that_is_not_taken_does_not_fail(mode: str) -> None:
    a, c = ot.lscalar("a"), ot.lscalar("c")
    x, y = ot.dvector("x"), ot.dvector("y")
    f = oc.function(
        [a, c, x, y],
        ot.ifelse(a, ot.ifelse(c, x[0], 1.0), ot.ifelse(c, y[0], 2.0)),
        mode=mode,
    )
    assert [f(1, 1, [5.0], []), f(0, 1, [], [6.0]), f(1, 0, [], []), f(0, 0, [], [])] == [
        5,
        6,
        1,
        2,
    ]
    with pytest.raises(IndexError):
        f(1, 1, [], [6.0])


def test_branches_that_are_needed_together_are_merged() -> None:
    c, d, x = ot.lscalar("c"), ot.lscalar("d"), ot.dvector("x")

    def choices(made: Any) -> list[Any]:
        graph = oc.function([c, d, x], made, mode="vm", on_unused_input="ignore").maker.fgraph
        return [n for n in graph.toposort() if n.op.lazy]

    one = ot.ifelse(d, ot.sin(x), x)
    assert len(choices([one, ot.ifelse(d, ot.exp(x), x * 2.0)])) == 1
    # both in one branch
    inner = one * ot.ifelse(d, ot.exp(x), x * 2.0)
    assert len(choices(ot.ifelse(c, inner, x))) == 2
    # needed in both branches, and so always
    both = ot.ifelse(c, one + 1.0, one * 2.0)
    assert len(choices([both, ot.ifelse(d, ot.cos(x), x)])) == 2
    # one is always needed, the other one in a branch
    assert len(choices([one, ot.ifelse(c, ot.ifelse(d, ot.cos(x), x), x)])) == 3


def test_a_branch_that_is_not_taken_has_no_part_in_gradients(mode: str) -> None:
    c, x = ot.lscalar("c"), ot.dvector("x")
    y = ot.ifelse(c, ot.log(x[0]) * x.sum(), (x * 3.0).sum())
    of_x = og.grad(y, x)
    f = oc.function([c, x], [y, of_x, og.grad(of_x.sum(), x)], mode=mode)
    for value in (np.zeros(2), np.zeros(0)):
        total, first, second = f(0, value)
        assert total == 0.0
        np.testing.assert_array_equal(first, np.full(value.shape, 3.0))
        np.testing.assert_array_equal(second, np.zeros(value.shape))
    _, first, second = f(1, [2.0, 3.0])
    np.testing.assert_allclose(first, [2.5 + np.log(2.0), np.log(2.0)])
    np.testing.assert_allclose(second, [3.0 / 2.0 - 5.0 / 4.0, 1.0 / 2.0])


def test_the_gradient_of_a_branch_that_is_not_taken_does_not_run(mode: str) -> None:
    if mode == "pytorch":
        pytest.skip("without torch.compile, both branches run to tell the shapes of results")
    c, d, x = ot.lscalar("c"), ot.lscalar("d"), ot.dvector("x")
    inner = ot.ifelse(d, Numbered(1)(ot.sqrt(x)), Numbered(2)(x) ** 2)
    y = ot.ifelse(c, inner, ot.ifelse(d, Numbered(3)(x), x)).sum()
    f = oc.function([c, d, x], [y, og.grad(y, x)], mode=mode)
    x_ = np.zeros(2)
    for flags, ran, slope in (((1, 0), {2}, 4.0), ((0, 1), {3}, 1.0), ((0, 0), set(), 1.0)):
        CALLS.clear()
        np.testing.assert_array_equal(f(*flags, x_)[1], np.full(2, slope))
        assert set(CALLS) == ran


def choosing(seed: int) -> Any:
    """A scalar function of a library, a choice, three flags, two vectors and a number, with nested choices."""
    generator = np.random.default_rng(seed)
    kinds, picks = generator.integers(0, 8, 10), generator.integers(0, 1000, (10, 3))

    def run(lib: Any, choose: Any, flags: Any, x: Any, y: Any, w: Any) -> Any:
        pool = [x * 1.0, y * 2.0]
        for kind, (i, j, k) in zip(kinds, picks, strict=True):
            a, b, flag = pool[i % len(pool)], pool[j % len(pool)], flags[k % 3]
            if kind == 0:
                pool.append(lib.exp(-a * a))
            elif kind == 1:
                pool.append(a * b)
            elif kind == 2:
                pool.append(lib.sin(a) + b[::-1])
            elif kind == 3:
                pool.append(a.sum() * b + w)
            elif kind == 4:
                pool += choose(flag, [a * b, b * 0.5], [b - 2.0, a])
            elif kind == 5:
                then = choose(flags[(k + 1) % 3], [lib.sin(a)], [lib.cos(b) * a])
                pool += choose(flag, then, [lib.cos(b) + a * w])
            else:
                pool += choose(flag, [lib.sin(a)], [lib.cos(b) + a])
        return sum((each * (n + 1)).sum() for n, each in enumerate(pool[-3:]))

    return run


@pytest.mark.sampled(3)
@pytest.mark.parametrize("seed", range(200 if THOROUGH else 15))
def test_gradients_of_nested_branches(seed: int) -> None:
    run = choosing(seed)
    flags = [ot.lscalar() for _ in range(3)]
    wrt = [ot.dvector("x"), ot.dvector("y"), ot.dscalar("w")]
    values = [np.array([0.3, -0.7, 1.1]), np.array([0.2, 0.5, -0.4]), np.array(0.6)]
    cost = run(ot, ot.ifelse, flags, *wrt)
    gradients = og.grad(cost, wrt, disconnected_inputs="ignore")
    mode = "native" if seed % 2 else "vm"
    f = oc.function([*flags, *wrt], gradients, mode=mode, on_unused_input="ignore")
    for number in range(8):
        taken = [number >> k & 1 for k in range(3)]
        for k, found in enumerate(f(*taken, *values)):
            for index in np.ndindex(*found.shape):
                point = [v.astype(complex) for v in values]
                point[k][index] += 1e-25j
                at = run(np, lambda flag, then, other: then if flag else other, taken, *point)
                np.testing.assert_allclose(found[index], at.imag / 1e-25, rtol=1e-9, atol=1e-12)


def test_gradients_of_deeply_nested_branches() -> None:
    count = 30
    flags, weights = [ot.lscalar() for _ in range(count)], [ot.dscalar() for _ in range(count)]
    z = ot.dscalar("z")
    y: Any = z
    for flag, weight in zip(flags, weights, strict=True):
        y = ot.ifelse(flag, y * weight, weight * 3.0)
    f = oc.function([z, *flags, *weights], og.grad(y, [z, *weights]), mode="vm")
    values = np.linspace(0.5, 1.5, count)
    for first in (0, 1, 17, count):
        found = f(0.7, *[int(k >= first) for k in range(count)], *values)
        # the last weight whose flag is 0 begins the product
        start = first - 1
        total = np.prod(values[first:]) * (0.7 if first == 0 else 3.0 * values[start])
        slopes = [total / v if k >= start else 0.0 for k, v in enumerate(values)]
        np.testing.assert_allclose(found, [total / 0.7 if first == 0 else 0.0, *slopes])


@pytest.mark.parametrize("linker", ["py", "vm", "native"])
def test_functions_of_different_branches_are_not_fused(linker: str) -> None:
    ran: list[str] = []

    @op
    class Told(Op):
        name: str

        def infer(self, x: Any) -> Any:
            return x

        def infer_shape(self, node: Any, input_shapes: Any) -> Any:
            return input_shapes

        def evaluate(self, x: Any) -> Any:
            ran.append(self.name)
            return x + 1

    x, c = ot.dvector("x"), ot.dscalar("c")
    shared = ot.exp(ot.cumsum(x))  # which both branches read
    out = ot.ifelse(c > 0, shared * Told("then")(x) + 1, ot.sin(shared * Told("other")(x)))
    f = oc.function([x, c], out, mode=oc.Mode(linker, "fast_run"))
    value = np.array([0.5, 2.0])
    for number, name, expected in (
        (1.0, "then", np.exp(value.cumsum()) * (value + 1) + 1),
        (-1.0, "other", np.sin(np.exp(value.cumsum()) * (value + 1))),
    ):
        ran.clear()
        np.testing.assert_allclose(f(value, number), expected)
        assert ran == [name]


@pytest.mark.parametrize("mode", ["native", "vm", "py"])
@pytest.mark.parametrize("in_python", [False, True])
@pytest.mark.filterwarnings("error")
def test_what_two_branches_share_may_fail_where_neither_is_taken(
    mode: str, in_python: bool
) -> None:
    x, n = ot.dvector("x"), ot.lscalar("n")

    def first(values: Any) -> Any:
        if not values.size:
            raise KeyError("nothing there")
        return np.asarray(values[0])

    read = wrap_py([ot.dvector], [ot.dscalar])(first)(x) if in_python else x[0]
    built = ot.ifelse(n > 0, read, 0.0) + ot.ifelse(n > 1, read * x[1], 0.0)
    function = oc.function([x, n], built, mode=mode)
    assert function([], 0) == 0.0
    assert function([2.0, 3.0], 1) == 2.0
    assert function([2.0, 3.0], 2) == 8.0
    for _ in range(2):
        with pytest.raises(KeyError if in_python else IndexError):
            function([], 1)
        assert function([], 0) == 0.0


@pytest.mark.parametrize("linker", LINKERS)
def test_a_length_is_that_of_the_branch_that_is_taken_and_of_no_other(linker: str) -> None:
    ran: list[str] = []

    def counted(name: str, function: Any) -> Any:
        def run(v: Any) -> Any:
            ran.append(name)
            return function(v)

        return wrap_py([ot.dvector], [ot.dvector])(run)

    c, x, y = ot.lscalar("c"), ot.dvector("x"), ot.dvector("y")
    doubled = counted("doubled", lambda v: np.repeat(v, 2))(x)
    shortened = counted("shortened", lambda v: v[1:].copy())(y)
    chosen = ot.ifelse(c, doubled, shortened)
    # the length of a read is checked, and the check may fail
    failing = ot.ifelse(c, x, ot.zeros_like(y[y > 0.0] + x))
    for built, of_doubled, of_shortened in (
        (chosen.shape[0], 4, 3),
        (ot.ones(chosen.shape).sum() + chosen.shape[0], 8.0, 6.0),
        (ot.ones_like(chosen).sum(), 4.0, 3.0),
    ):
        f = oc.function(
            [c, x, y], built, mode=oc.Mode(linker, "fast_run"), on_unused_input="ignore"
        )
        for condition, name, expected in (
            (1, "doubled", of_doubled),
            (0, "shortened", of_shortened),
        ):
            f(condition, [1.0, 2.0], [1.0] * 4)
            ran.clear()
            assert f(condition, [1.0, 2.0], [1.0] * 4) == expected
            assert ran == [name]
    f = oc.function([c, x, y], failing.shape[0], mode=oc.Mode(linker, "fast_run"))
    assert f(1, [1.0, 2.0], [1.0] * 4) == 2


def test_lengths_of_inputs_are_compared_without_branches() -> None:
    c, x, y = ot.lscalar("c"), ot.dvector("x"), ot.dvector("y")
    length = ot.ifelse(c, ot.exp(x[1:]), ot.sin(y)).shape[0]
    graph = oc.function([c, x, y], length, mode="vm").maker.fgraph
    assert not any(n.op.lazy for n in graph.apply_nodes)


@op
class Noting(Op):
    """An op over complex numbers that only Python knows, with an effect: it notes its name."""

    name: str
    pure = False

    def infer(self, z: Any) -> Any:
        return og.TensorType("complex128", (None,) * z.ndim)

    def evaluate(self, z: Any) -> Any:
        NOTED.append(self.name)
        return np.conj(z) * 1j + len(NOTED)


NOTED: list[str] = []


def test_effects_over_complex_numbers_stay_in_the_branches_that_are_taken(mode: str) -> None:
    """Each call notes what it takes, once: nothing is left to a trace of the graph, or to an earlier call."""
    z, k = ot.zmatrix("z"), ot.lscalar("k")
    chosen = Noting("d")(z * 2)
    for at, name in ((2, "c"), (1, "b"), (0, "a")):
        chosen = ot.ifelse(ot.eq(k, at), Noting(name)(z) + at, chosen)
    f = oc.function([z, k], [chosen, z.sum()], mode=mode)
    value = np.array([[0.1 + 0.2j, -0.3j], [0.25, -0.1 + 0.1j]])
    for at in (0, 2, 2, 3, 1):
        NOTED.clear()
        found, total = f(value, at)
        assert NOTED == ["abcd"[at]]
        given = value if at < 3 else value * 2
        np.testing.assert_allclose(found, np.conj(given) * 1j + 1 + at % 3, rtol=1e-14)
        np.testing.assert_allclose(total, value.sum(), rtol=1e-14)


class Interrupting(Op):
    """An op of Python that the user interrupts."""

    def infer(self, x: Any) -> Any:
        return x

    def infer_shape(self, node: Any, input_shapes: Any) -> Any:
        return input_shapes

    def evaluate(self, x: Any) -> Any:
        NOTED.append("run")
        if x[0] < 0:
            raise KeyboardInterrupt
        return x * 2.0


def test_an_interrupt_in_python_ends_the_call(mode: str) -> None:
    x = ot.dvector("x")
    f = oc.function([x], ot.exp(Interrupting()(x)), mode=mode)
    for _ in range(3):  # later calls of simple functions take another way
        np.testing.assert_allclose(f([0.0, 1.0]), np.exp([0.0, 2.0]))
        NOTED.clear()
        with pytest.raises(KeyboardInterrupt):
            f([-1.0, 1.0])
        assert NOTED == ["run"]
