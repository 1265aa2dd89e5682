"""Graphs of Occelo as PyTensor graphs, and there and back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytensor
import pytensor.tensor as pt
import pytest
from pytensor import scan as theirs_scan
from pytensor.compile.mode import Mode
from pytensor.graph.basic import Apply
from pytensor.graph.op import Op as TheirOp

import occelo as oc
import occelo.tensor as ot
import occelo_pytensor as bridge
from occelo_graph import Op, equal_computations, toposort

pytestmark = [
    pytest.mark.filterwarnings("ignore:PyTensor could not link to a BLAS"),
    pytest.mark.filterwarnings("ignore:`axes` should not be"),  # NumPy's, in PyTensor's rfft
]
M = np.random.default_rng(0).normal(size=(3, 3)) + 2 * np.eye(3)
V = np.array([0.5, -1.0, 2.0])
I = np.array([0, 2])  # noqa: E741


def _stopping(v: Any, steps: Any) -> Any:
    """A loop with two traces, one of the carried value, which may end before ``steps`` are done; and how many were."""

    def step(s: Any) -> Any:
        return [s * 2, ot.sin(s)], oc.until((s > 9).any())

    rows, others = oc.scan(step, outputs_info=[v, None], n_steps=steps, return_updates=False)
    return rows.sum(0) + others.sum() + rows.shape[0]


GRAPHS: dict[str, Callable[[Any, Any, Any], Any]] = {
    "elementwise": lambda m, v, i: ot.exp(m) * 2 + v - ot.log1p(v**2) / (1 + ot.abs(m)),
    "comparison": lambda m, v, i: ot.switch(m > v, ot.sigmoid(m), ot.erf(v)),
    "reductions": lambda m, v, i: m.sum(0) + m.prod() + m.max() + ot.var(v) + ot.all(v > -9),
    "shapes": lambda m, v, i: m.T.reshape((-1,))[2:5] + m.shape[0] + ot.expand_dims(v, 0)[0],
    "reads": lambda m, v, i: m[i].sum(0) + m[1] + m[::-1, 0] + v[i[0]],
    "writes": lambda m, v, i: ot.set_subtensor(m[0], v)[0] + ot.inc_subtensor(v[i], 1.0),
    "joins": lambda m, v, i: ot.concatenate([v, ot.stack([v[0], v.sum()])]) + ot.zeros(5),
    "products": lambda m, v, i: m @ v + ot.dot(v, v) + ot.matmul(m[None], m)[0, 0],
    "linear algebra": lambda m, v, i: ot.linalg.cholesky(m @ m.T)[2] + ot.linalg.inv(m) @ v,
    "solve": lambda m, v, i: ot.linalg.solve_triangular(ot.tril(m), m, lower=True),
    "casts": lambda m, v, i: ot.cast(m, "float32") * ot.cast(i[0], "int8") + (v > 0),
    "softmax": lambda m, v, i: ot.softmax(m, axis=1) + ot.log_softmax(v, axis=0) + ot.logsumexp(m),
    "argmax": lambda m, v, i: ot.argmax(m, axis=0) + ot.cumsum(v) + ot.arange(3),
    "sorting": lambda m, v, i: ot.sort(m, axis=0) + ot.argsort(v) + ot.searchsorted(ot.sort(v), m),
    "loop": lambda m, v, i: oc.scan(lambda r, s: ot.tanh(s * r) + v, sequences=m, outputs_info=v, return_updates=False),
    "reversed loop": lambda m, v, i: ot.concatenate(oc.loop(lambda c, r: (ot.tanh(c * r), (c, r.sum() * v)), v, m, reverse=True)[1]) + v,
    "several taps": lambda m, v, i: oc.scan(lambda r, a, b: a * 0.5 + b * r.sum(), sequences=m, outputs_info={"initial": m[:2], "taps": [-2, -1]}, return_updates=False)[-1],
    "stopping loop": lambda m, v, i: _stopping(v, i[1] + 4),
    "no step": lambda m, v, i: _stopping(v, i[0]),
    "loop of numbers": lambda m, v, i: oc.scan(lambda s: s * 0.5 + 1, outputs_info=v.sum(), n_steps=4, return_updates=False)[::2],
    "factors": lambda m, v, i: ot.linalg.svdvals(m) + ot.linalg.eigvalsh(m + m.T) + ot.linalg.solve(m, v) + ot.linalg.slogdet(m)[1],
    "transform": lambda m, v, i: ot.fft.irfft(ot.fft.rfft(m, axis=0), 3, axis=0) + ot.repeat(v, i[0] + 2)[:3],
    "gradient": lambda m, v, i: oc.grad((ot.tanh(m @ v) ** 2).sum(), m),
}  # fmt: skip


@pytest.mark.parametrize("name", GRAPHS)
def test_values_are_the_same_and_graphs_come_back(name: str) -> None:
    m, v, i = ot.dmatrix("m"), ot.dvector("v"), ot.lvector("i")
    out = GRAPHS[name](m, v, i)
    values = (M, V, I)
    theirs, converted = bridge.to_pytensor([out], [m, v, i])
    f = pytensor.function(
        theirs, converted, mode=Mode("py", "fast_compile"), on_unused_input="ignore"
    )
    wanted = oc.function([m, v, i], [out], on_unused_input="ignore")(*values)
    for a, b in zip(f(*values), wanted, strict=True):
        assert a.dtype == b.dtype
        np.testing.assert_allclose(a, b, rtol=1e-6 if a.dtype == "float32" else 1e-11)
    assert [x.name for x in theirs] == ["m", "v", "i"]

    def back(outputs: Any, inputs: Any) -> tuple[Any, Any]:
        return bridge.from_pytensor(outputs, inputs)

    # the first trip makes broadcasting explicit, as PyTensor has it; after it, graphs come back as they were
    digests: list[str] = []
    for _ in range(3):
        ours, found = back(converted, theirs)
        digests.append(oc.digest(oc.FunctionGraph(ours, found)))
        theirs, converted = bridge.to_pytensor(found, ours)
    assert digests[-1] == digests[-2]


def test_shared_variables_have_one_storage() -> None:
    state = oc.shared(np.arange(3.0), "state")
    f = pytensor.function([], bridge.to_pytensor(state * 2), mode=Mode("py", "fast_compile"))
    state.set_value(np.ones(3))
    np.testing.assert_array_equal(f(), [2, 2, 2])


def test_what_has_no_equal_is_refused() -> None:
    with pytest.raises(TypeError, match="no equal"):
        bridge.to_pytensor(ot.dvector("v").at[ot.lvector("i")].max(1.0))


def test_derivatives_of_the_user_and_barriers_are_kept() -> None:
    x = ot.dvector("x")
    given = oc.OpFromGraph([x], [x**2], pullback=lambda inputs, outputs, cts: [cts[0] * 100.0])
    value = (given(x) + oc.grad_clip(3 * x, -0.5, 0.5) + x * oc.disconnected_grad(x)).sum()
    (theirs,), converted = bridge.to_pytensor(value, [x])
    f = pytensor.function(
        [theirs], pytensor.grad(converted, theirs), mode=Mode("py", "fast_compile")
    )
    found, wanted = f([1.0, 2.0]), oc.function([x], oc.grad(value, x))([1.0, 2.0])
    np.testing.assert_array_equal(wanted, [102.5, 103.5])
    np.testing.assert_array_equal(found, wanted)


def test_draws_from_generators_go_there_and_back() -> None:
    generator = oc.shared(np.random.default_rng(3), "generator")
    after, draw = ot.random.gamma(2.0, 1.5, size=(3,), rng=generator, return_next_rng=True)
    theirs = bridge.to_pytensor([after, draw])
    f = pytensor.function([], theirs[1], mode=Mode("py", "fast_compile"))
    wanted = np.random.default_rng(3).gamma(2.0, 1 / 1.5, size=3)
    np.testing.assert_allclose(f(), wanted, rtol=1e-12)
    again = bridge.from_pytensor(theirs[1])
    np.testing.assert_array_equal(oc.function([], again)(), f())


def test_derivatives_of_a_loop_are_the_same_there() -> None:
    m, v = ot.dmatrix("m"), ot.dvector("v")
    cost = GRAPHS["loop"](m, v, None)[-1].sum()
    inputs, theirs = bridge.to_pytensor(cost, [m, v])
    slopes = pytensor.function(
        inputs, pytensor.grad(theirs, inputs), mode=Mode("py", "fast_compile")
    )
    for a, b in zip(slopes(M, V), oc.function([m, v], oc.grad(cost, [m, v]))(M, V), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-11)


@pytest.mark.parametrize("rows", [0, 1, 4])
def test_a_loop_of_pytensor_reads_no_buffer(rows: int) -> None:
    """Its states are carried, and reads of its rows are its trace and its last value."""
    x, v = pt.dmatrix("x"), pt.dvector("v")
    trace = theirs_scan(lambda r, s: r * s + 1, sequences=x, outputs_info=v, return_updates=False)
    whole = trace.owner.inputs[0]
    inputs, (ours, last, every) = bridge.from_pytensor([trace, whole[-1], whole], [x, v])
    names = {type(n.op).__name__ for n in toposort([ours, last])}
    assert not names & {"Alloc", "IncSubtensor", "Join"}, names
    values = np.arange(2.0 * rows).reshape(rows, 2), np.array([0.5, -1.0])
    wanted = [values[1]]
    for row in values[0]:
        wanted.append(row * wanted[-1] + 1)
    found = oc.function(inputs, [ours, last, every])(*values)
    np.testing.assert_array_equal(found[0], np.reshape(wanted[1:], (rows, 2)))
    np.testing.assert_array_equal(found[1], wanted[-1])
    np.testing.assert_array_equal(found[2], wanted)


class Doubled(TheirOp):
    """A user's op, of which Occelo knows nothing."""

    __props__ = ()

    def make_node(self, x: Any) -> Any:
        return Apply(self, [pt.as_tensor(x)], [pt.as_tensor(x).type()])

    def perform(self, node: Any, inputs: Any, output_storage: Any) -> None:
        output_storage[0][0] = inputs[0] * 2


@pytest.mark.filterwarnings("ignore:These ops have no conversion")
def test_ops_that_are_called_and_draws_of_any_law_go_back() -> None:
    """So a log density with `pm.Minibatch`, whose rows are drawn, is a graph of PyTensor again."""
    rng = pytensor.shared(np.random.default_rng(5))
    _, row = pt.random.integers(0, 3, size=(2,), rng=rng, return_next_rng=True)
    x = pt.dvector("x")
    once = bridge.from_pytensor(Doubled()(x)[row], [x])
    inputs, theirs = bridge.to_pytensor(once[1], once[0])
    f = pytensor.function(inputs, theirs, mode=Mode("py", "fast_compile"))
    positions = np.random.default_rng(5).integers(0, 3, size=2)
    np.testing.assert_array_equal(f(V), 2 * V[positions])
    twice = bridge.from_pytensor(theirs, inputs)
    assert equal_computations([once[1]], [twice[1]], once[0], twice[0])


class Quartered(Op):
    """A user's op of Occelo, which has no decomposition."""

    def infer(self, *types: Any, **_: Any) -> Any:
        return types

    def evaluate(self, *arrays: Any, **_: Any) -> Any:
        return (arrays[0] / 4,)


QUARTERED = Quartered()


class QuarteredThere(TheirOp):
    """The same in PyTensor."""

    __props__ = ()

    def make_node(self, x: Any) -> Any:
        return Apply(self, [pt.as_tensor(x)], [pt.as_tensor(x).type()])

    def perform(self, node: Any, inputs: Any, output_storage: Any) -> None:
        output_storage[0][0] = inputs[0] / 4


def test_a_package_registers_both_ways_of_its_op() -> None:
    x = ot.dvector("x")
    graph = QUARTERED(x) + 1.0
    with pytest.raises(TypeError, match="no equal"):
        bridge.to_pytensor(graph, [x])
    bridge.register_equal(Quartered)(lambda op, v: QuarteredThere()(v))
    bridge.register_conversion(QuarteredThere)(lambda node, v: QUARTERED(v))
    inputs, theirs = bridge.to_pytensor(graph, [x])
    f = pytensor.function(inputs, theirs, mode=Mode("py", "fast_compile"))
    np.testing.assert_array_equal(f(V), V / 4 + 1)
    again = bridge.from_pytensor(theirs, inputs)
    twice = bridge.from_pytensor(*reversed(bridge.to_pytensor(again[1], again[0])))
    assert equal_computations([again[1]], [twice[1]], again[0], twice[0])
    with pytest.raises(TypeError, match="register_equal takes classes of ops, got 3"):
        bridge.register_equal(3)  # pyright: ignore[reportArgumentType]


TRANSFORMS: dict[str, Callable[[Any], Any]] = {
    "rfft": lambda x: ot.fft.rfft(x),
    "of a column": lambda x: ot.real(ot.fft.rfft(x, axis=0)),
    "irfft": lambda x: ot.fft.irfft(ot.fft.rfft(x), x.shape[1]),
    "odd length": lambda x: ot.fft.irfftn(ot.fft.rfftn(x), (3, 3)),
    "fft": lambda x: ot.abs(ot.fft.fft(x)),
    "ifft": lambda x: ot.imag(ot.fft.ifft2(ot.exp(1j * x))),
}


@pytest.mark.parametrize("lengths", [(1, 1), (2, 3), (3, 3)])
@pytest.mark.parametrize("name", TRANSFORMS)
def test_transforms_come_back_as_they_were(name: str, lengths: tuple[int, int]) -> None:
    """Also after PyTensor's rewriting, which inlines them, with the same values."""
    x = ot.dmatrix("x")
    out = TRANSFORMS[name](x)
    inputs, theirs = bridge.to_pytensor(out, [x])
    once, twice = x, out
    digests: list[str] = []
    for _ in range(2):
        (once,), twice = bridge.from_pytensor(theirs, inputs)
        digests.append(oc.digest(oc.FunctionGraph([once], [twice])))
        inputs, theirs = bridge.to_pytensor(twice, [once])
    assert digests[0] == digests[1]
    point = np.random.default_rng(2).normal(size=lengths)
    wanted = oc.function([x], out)(point) if lengths == (3, 3) or "odd" not in name else None
    for rewriting in ("fast_compile", "fast_run") if wanted is not None else ():
        found = pytensor.function(inputs, theirs, mode=Mode("py", rewriting))(point)
        np.testing.assert_allclose(found, wanted, rtol=1e-11, atol=1e-13)
