"""`checkpoint`: what it returns, its derivatives, and that these compute its values again instead of keeping them."""

from __future__ import annotations

import io
import pickle
import tracemalloc
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import pytest

import occelo_compile as oc
import occelo_graph as og
from occelo_graph import tensor as ot
from occelo_graph.inner_graph import OpFromGraph
from occelo_link.loops.build import lower_graph
from occelo_link.loops.ir.program import Alloc
from occelo_loops import functions as loops

Wrap: TypeAlias = Any
checkpoint: Any = loops.checkpoint
RNG = np.random.default_rng(0)
X, W = RNG.normal(size=4), RNG.normal(size=(4, 4))


def sines(h: Any) -> Any:
    for _ in range(3):
        h = ot.sin(ot.cumsum(h) + h)
    return h


def as_it_is(f: Callable[..., Any]) -> Any:
    return f


def agree(results: Any, expected: Any, rtol: float = 1e-11) -> None:
    for one, other in zip(results, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=rtol, atol=1e-14)


def beside_plain(
    build: Callable[[Wrap], list[Any]], inputs: list[Any], *values: Any, mode: Any = "py"
) -> None:
    """What ``build(checkpoint)`` computes is what ``build`` with the identity in its place does."""
    made, plain = build(checkpoint), build(as_it_is)
    given = {"on_unused_input": "ignore"}
    f, g = (
        oc.function(inputs, made, mode=mode, **given),
        oc.function(inputs, plain, mode="py", **given),
    )
    agree(f(*values), g(*values))


def count(f: Any, op_name: str) -> int:
    return sum(op_name in str(node.op) for node in f.maker.fgraph.toposort())


@pytest.mark.parametrize("length", [0, 1, 4])
@pytest.mark.sampled(5)
def test_values_and_derivatives(mode: str, length: int) -> None:
    x, w = ot.dvector("x"), ot.dmatrix("w")

    def build(wrap: Wrap) -> list[Any]:
        layer = wrap(lambda h, scale: ot.tanh(w @ sines(h)) * scale)
        y = layer(layer(x, 2.0), 0.5)
        cost = (y**2).sum()
        slope = og.grad(cost, x)
        second = og.grad((slope * ot.cos(x)).sum(), [x, w])
        forward = og.pushforward(y, x, ot.ones_like(x))
        over = og.grad(forward.sum(), w)
        return [cost, slope, *second, forward, over]

    beside_plain(build, [x, w], X[:length], W[:length, :length], mode=mode)


def test_what_a_gradient_computes_again() -> None:
    x = ot.dvector("x")
    plain = oc.function([x], og.grad(sines(sines(x)).sum(), x), mode="py")
    part = checkpoint(sines)
    made = oc.function([x], og.grad(part(part(x)).sum(), x), mode="py")
    # three sums in each part, and one for the derivative of each of them
    assert count(plain, "CumOp") == 6 + 6
    # the result of the second part is not needed, so only the first part is computed twice
    assert count(made, "CumOp") == 3 + 6 + 6
    # nothing is computed twice without a gradient
    value = oc.function([x], part(part(x)), mode="py")
    assert (count(value, "CumOp"), count(value, "After")) == (6, 0)


def test_less_is_kept_in_python() -> None:
    x = ot.dvector("x")

    def peak(f: Callable[..., Any]) -> float:
        h = x
        for _ in range(5):
            h = f(h)
        compiled = oc.function([x], og.grad(h.sum(), x), mode="vm")
        value = RNG.normal(size=50_000)
        compiled(value)
        tracemalloc.start()
        compiled(value)
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return most / value.nbytes

    assert peak(checkpoint(sines)) < 0.65 * peak(sines)


def test_less_is_allocated_in_loop_programs() -> None:
    """The programs of `native`, `c` and `numba`."""
    x = ot.TensorType("float64", (1000,)).make_variable("x")

    def arrays(f: Callable[..., Any]) -> int:
        h = x
        for _ in range(5):
            h = f(h)
        fgraph = oc.function([x], og.grad(h.sum(), x), mode="native").maker.fgraph
        program = lower_graph(fgraph.inputs, fgraph.outputs, fgraph.toposort())
        return sum(isinstance(s, Alloc) and s.reuse is None for s in program.body.statements)

    assert arrays(checkpoint(sines)) < 0.65 * arrays(sines)


def test_less_is_kept_by_jax() -> None:
    """Where XLA does not undo it, as it does for `sines`, also for ``jax.checkpoint`` of these."""
    jax = pytest.importorskip("jax")
    from occelo_link.jax.calling import as_jax

    x = ot.fvector("x")

    def part(h: Any) -> Any:
        for _ in range(4):
            h = ot.sin(ot.cumsum(h) * 0.1)
        return h

    def kept(f: Callable[..., Any]) -> float:
        h = x
        for _ in range(4):
            h = f(h)
        run = as_jax(oc.function([x], og.grad(h.sum(), x), mode="py"))
        value = RNG.normal(size=10_000).astype("float32")
        compiled = jax.jit(run).lower(value).compile()
        size: int = compiled.memory_analysis().temp_size_in_bytes
        return size / value.nbytes

    assert kept(checkpoint(part)) < 0.65 * kept(part)


def test_in_loops(mode: str) -> None:
    x, w = ot.dmatrix("x"), ot.dvector("w")

    def build(wrap: Wrap) -> list[Any]:
        step = wrap(lambda s, e: ot.sin(ot.cumsum(s * w) + e))
        last, trace = loops.loop(lambda s, e: (step(s, e), s), ot.zeros_like(w), x)
        cost = (last**2).sum() + trace.sum()
        slope = og.grad(cost, w)
        return [cost, slope, og.grad(cost, x), og.grad(slope.sum(), x)]

    beside_plain(build, [x, w], RNG.normal(size=(3, 4)), X, mode=mode)


def test_batches() -> None:
    x, w = ot.dmatrix("x"), ot.dmatrix("w")
    row = ot.dvector("row")

    def build(wrap: Wrap) -> list[Any]:
        f = wrap(lambda h: ot.tanh(w @ sines(h)))
        cost = f(f(row)).sum()
        each = og.vectorize_graph([cost, og.grad(cost, row)], {row: x})
        mapped = og.vmap(f)(x)
        return [*each, mapped, og.grad((mapped**2).sum(), x)]

    beside_plain(build, [x, w], RNG.normal(size=(3, 4)), W)
    both = build(checkpoint)
    assert count(oc.function([x, w], both[1], mode="py"), "After")
    assert count(oc.function([x, w], both[3], mode="py"), "After")


def test_batches_whose_lengths_differ() -> None:
    n, counts = ot.lscalar("n"), ot.lvector("counts")
    x = ot.dscalar("x")

    cost = checkpoint(lambda n, x: ot.sin(ot.arange(n) * x).sum())(n, x)
    outputs = og.vectorize_graph([cost, og.grad(cost, x)], {n: counts})
    values, slopes = oc.function([counts, x], outputs)([3, 0, 2], 0.7)
    np.testing.assert_allclose(values, [np.sin(0.7) + np.sin(1.4), 0.0, np.sin(0.7)])
    np.testing.assert_allclose(slopes, [np.cos(0.7) + 2.0 * np.cos(1.4), 0.0, np.cos(0.7)])


def test_integers_branches_and_several_results(mode: str) -> None:
    x, i, flag = ot.dvector("x"), ot.lvector("i"), ot.bscalar("flag")

    def build(wrap: Wrap) -> list[Any]:
        @wrap
        def f(h: Any, places: Any) -> dict[str, Any]:
            taken = sines(h)[places]
            return {"y": taken, "n": places * 2, "z": (ot.ifelse(flag > 0, h.sum(), taken.sum()),)}

        made = f(x, i)
        only = og.grad(made["y"].sum(), x)
        cost = made["y"].sum() + (made["z"][0] * made["n"]).sum()
        return [made["y"], made["n"], only, og.grad(cost, x), og.grad(made["z"][0], x)]

    for flag_value in (0, 1):
        beside_plain(build, [x, i, flag], X, [0, 0, -1], flag_value, mode=mode)


def test_nested(mode: str) -> None:
    x = ot.dvector("x")

    def build(wrap: Wrap) -> list[Any]:
        inner = wrap(sines)
        outer = wrap(lambda h: inner(inner(h) * h))
        y = outer(outer(x))
        slope = og.grad(y.sum(), x)
        return [y, slope, og.grad((slope**2).sum(), x)]

    beside_plain(build, [x], X, mode=mode)


@pytest.mark.parametrize("dtype", ["float32", "complex128", "float16"])
@pytest.mark.sampled(6)
def test_dtypes(mode: str, dtype: str) -> None:
    x = ot.TensorType(dtype, (None,)).make_variable("x")

    def build(wrap: Wrap) -> list[Any]:
        y = wrap(lambda h: ot.sin(h * h) * h)(x)
        cost = abs(y * y).sum()
        return [og.grad(cost.astype("float64"), x).astype("complex128")]

    value = (X + (1j * W[0] if dtype == "complex128" else 0)).astype(dtype)
    made, plain = build(checkpoint), build(as_it_is)
    tolerance = {"float32": 1e-5, "complex128": 1e-12, "float16": 1e-2}[dtype]
    f, g = oc.function([x], made, mode=mode), oc.function([x], plain, mode="py")
    agree(f(value), g(value), rtol=tolerance)


def test_what_the_function_reads_besides() -> None:
    """Variables, computed ones among them, shared variables and constants; gradients go to them as well."""
    x, v = ot.dvector("x"), ot.dvector("v")
    state = og.shared(X.copy(), "state")
    hidden = ot.exp(v)

    def build(wrap: Wrap) -> list[Any]:
        y = wrap(lambda h: sines(h * hidden + state) + ot.arange(4) * 0.1)(x)
        return [y, *og.grad((y**2).sum(), [x, v, state])]

    beside_plain(build, [x, v], X, X[::-1].copy())


def test_arguments_that_are_no_variables() -> None:
    x = ot.TensorType("float64", (4,)).make_variable("x")

    @dataclass
    class Scales:
        first: Any
        axis: int

    @checkpoint
    def f(h: Any, scales: Scales, how: str, n: Any, *, k: Any = None) -> Any:
        assert (how, k, scales.axis) == ("sum", None, 0)
        # a length that is known stays known
        return ot.zeros(n).shape[0] * getattr(h * scales.first, how)(axis=scales.axis), ot.zeros(n)

    y, zeros = f(x, Scales(3.0, 0), "sum", x.shape[0])
    assert zeros.type.shape == (4,)
    np.testing.assert_allclose(og.evaluate(y, {x: X}), 12.0 * X.sum())
    assert f.__name__ == "f"


def test_draws_are_the_same_when_they_are_computed_again() -> None:
    random = pytest.importorskip("occelo_random")
    x = ot.dvector("x")
    stream = random.RandomStream(3)

    @checkpoint
    def noisy(h: Any) -> Any:
        return ot.sin(h * stream.normal(size=h.shape))

    y = noisy(x)
    f = oc.function([x], [y, og.grad(y.sum(), x)])
    assert not np.array_equal(f(X)[0], f(X)[0])  # the stream goes on
    # for small x, sin(x n) is x n and its slope n, with n from one draw
    value, slope = f(np.full(4, 1e-9))
    np.testing.assert_allclose(value, slope * 1e-9, rtol=1e-9)


def test_saved_and_pickled() -> None:
    x = ot.dvector("x")
    y = checkpoint(sines)(x)
    file = io.BytesIO()
    og.save(file, [y], [x])
    file.seek(0)
    loaded = og.load(file)
    op = y.owner.op
    assert pickle.loads(pickle.dumps(op)) == op
    assert og.digest([y], [x]) == og.digest([checkpoint(sines)(x)], [x])
    assert og.digest([y], [x]) != og.digest([OpFromGraph([x], [sines(x)], name="sines")(x)], [x])
    inner: Any
    outer: Any
    (inner,), (outer,) = loaded.inputs, loaded.outputs
    assert outer.owner.op == op
    slope = oc.function([inner], og.grad(outer.sum(), inner), mode="py")
    assert count(slope, "After")
    agree([slope(X)], [oc.function([x], og.grad(sines(x).sum(), x))(X)])


def test_replaced_inputs_follow() -> None:
    x, z = ot.dvector("x"), ot.dvector("z")
    cost = checkpoint(sines)(x).sum()
    slope = og.clone_replace(og.grad(cost, x), {x: z * 2.0})
    value = oc.function([z], slope)(X)
    agree([value], [oc.function([x], og.grad(sines(x).sum(), x))(2.0 * X)])


def test_mistakes() -> None:
    x = ot.dvector("x")
    with pytest.raises(TypeError, match="checkpoint takes a function of tensors, got <x: float64"):
        checkpoint(x)
    with pytest.raises(TypeError, match="A result of a function of checkpoint is 'no'"):
        checkpoint(lambda h: "no")(x)
    assert checkpoint(lambda h: {"nothing": None})(x) == {"nothing": None}
