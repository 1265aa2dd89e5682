"""Derivatives of every example whose inputs depend on each other, inside of other graphs, beside the chain rule.

The laws of examples differentiate by separate inputs. Here all inputs but the first one also move with the first one, and the
example stands in an inner graph, a branch, the body of a loop or a batch. So a rule that differentiates by its own
inputs, and counts what one of them adds to another twice, or not at all, is found.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

import occelo_graph as og
from occelo_compile import function
from occelo_graph import tensor as ot
from occelo_graph.inner_graph import OpFromGraph
from occelo_graph.tensors.type import TensorType
from occelo_loops import checkpoint, loop
from occelo_testing.examples import EXAMPLES

Scalar = Callable[..., Any]

FUNCTIONS_OF_VARIABLES = ("least_squares", "fixed_point", "minimize", "root")
"""They solve for an argument, which cannot be an expression."""
STEP = 1e-5


def _usable(example: Any) -> bool:
    dtypes = {example.arguments[i].dtype.name for i in example.gradient}
    return dtypes == {"float64"} and not example.name.startswith(FUNCTIONS_OF_VARIABLES)


EACH = [e for e in EXAMPLES if _usable(e)]


class Case:
    """An example as a scalar function of its differentiated arguments, with the values of these and its gradient there."""

    def __init__(self, example: Any) -> None:
        self.example = example
        self.random = np.random.default_rng(zlib.crc32(str(example).encode()))
        self.points = [example.arguments[i] for i in example.gradient]
        self.inputs: list[Any] = [
            TensorType("float64", [n if n == 1 else None for n in p.shape]).make_variable(f"u{i}")
            for i, p in enumerate(self.points)
        ]
        self.values = dict(zip(self.inputs, self.points, strict=True))
        out = self.of(*self.inputs)
        self.weights = self.random.uniform(0.5, 1.5, og.evaluate(out, self.values).shape)
        self.slopes = og.evaluate(self.gradient(self.scalar(*self.inputs)), self.values)
        start = self.points[0]
        self.rates = [0.3 * (i + 1) for i in range(len(self.points) - 1)]
        total = sum(r * s.sum() for r, s in zip(self.rates, self.slopes[1:], strict=True))
        self.expected = [self.slopes[0] + total * np.cos(start), *self.slopes[1:]]

    def of(self, *values: Any) -> Any:
        full: list[Any] = [ot.constant(a) for a in self.example.arguments]
        for i, v in zip(self.example.gradient, values, strict=True):
            full[i] = v
        return self.example.function(*full)

    def scalar(self, *values: Any) -> Any:
        out = self.of(*values)
        if out.type.is_complex:
            return (ot.real(out) * self.weights + 0.3 * ot.imag(out)).sum()
        return (out * self.weights).sum().astype("float64")

    def gradient(self, cost: Any) -> list[Any]:
        return og.grad(cost, self.inputs, disconnected_inputs="ignore")

    def dependent(self) -> list[Any]:
        """The inputs, to all but the first of which something is added that depends on the first, and is 0 here."""
        first, *rest = self.inputs
        move = ot.sin(first).sum() - np.sin(self.points[0]).sum()
        return [first, *(v + r * move for v, r in zip(rest, self.rates, strict=True))]


def _in_graphs(case: Case) -> dict[str, Any]:
    """The scalar of dependent inputs inside of other graphs."""
    inputs, scalar = case.dependent(), case.scalar
    inner = [v.type.make_variable() for v in inputs]
    once, twice = np.array([1.0]), np.array([0.25, 0.75])
    in_branch = ot.ge(case.inputs[0].size, 0)
    rows = tuple(ot.stack([v]) for v in inputs)
    total, _ = loop(lambda s, t: (s + t * scalar(*inputs), None), ot.constant(0.0), twice)
    (last, _), _ = loop(
        lambda state, t: ((state[0] + t * scalar(*state[1]), state[1]), None),
        (ot.constant(0.0), tuple(inputs)),
        once,
    )
    by_rows, _ = loop(lambda s, row: (s + scalar(*row), None), ot.constant(0.0), rows)
    return {
        "alone": scalar(*inputs),
        "graph": OpFromGraph(inner, [scalar(*inner)])(*inputs),
        "checkpoint": checkpoint(scalar)(*inputs),
        "branch": ot.ifelse(in_branch, scalar(*inputs), 0.0),
        "constants of a loop": total,
        "carried values": last,
        "rows": by_rows,
    }


def _of_batches(case: Case) -> list[tuple[list[Any], list[Any]]]:
    """Gradients of batches of one input each, and of all, with what they should be."""
    positions = [k for k, i in enumerate(case.example.gradient) if i in case.example.batched]
    pairs: list[tuple[list[Any], list[Any]]] = []
    weights = np.array([1.0, -2.0, 0.5])
    for chosen in {(k,) for k in positions} | {tuple(positions)}:
        if not chosen:
            continue
        rows = {case.inputs[k]: ot.constant(np.stack([case.points[k]] * 3)) for k in chosen}
        whole = og.vectorize_graph(case.scalar(*case.inputs), rows)
        by = [rows.get(v, v) for v in case.inputs]
        found = og.grad((whole * weights).sum(), by, disconnected_inputs="ignore")
        expected = [
            np.multiply.outer(weights, s) if k in chosen else weights.sum() * s
            for k, s in enumerate(case.slopes)
        ]
        pairs.append((found, expected))
    return pairs


def _close(found: Sequence[Any], expected: Sequence[Any], what: str, rtol: float = 1e-7) -> None:
    for a, b in zip(found, expected, strict=True):
        scale = max(1.0, np.nanmax(np.abs(b), initial=0.0))
        np.testing.assert_allclose(a, b, rtol=rtol, atol=rtol * scale, err_msg=what)


@pytest.mark.sampled(20)
@pytest.mark.parametrize("example", EACH, ids=str)
def test_by_the_interpreter(example):
    case = Case(example)
    directions = [ot.constant(case.random.normal(size=p.shape)) for p in case.points]
    along = sum((g * d.data).sum() for g, d in zip(case.expected, directions, strict=True))
    for name, cost in _in_graphs(case).items():
        moved = og.pushforward(cost, case.inputs, directions, disconnected_outputs="ignore")
        *slopes, tangent = og.evaluate([*case.gradient(cost), moved], case.values)
        _close([*slopes, tangent], [*case.expected, along], name)
    for found, expected in _of_batches(case):
        _close(og.evaluate(found, case.values), expected, "a batch")


@pytest.mark.sampled(100)
@pytest.mark.parametrize("example", EACH, ids=str)
def test_compiled_together(example):
    case = Case(example)
    graphs = _in_graphs(case)
    slopes = [g for cost in graphs.values() for g in case.gradient(cost)]
    batches = _of_batches(case)
    outputs = [*graphs.values(), *slopes, *(g for found, _ in batches for g in found)]
    results = function(case.inputs, outputs, "native", on_unused_input="ignore")(*case.points)
    value = og.evaluate(graphs["alone"], case.values)
    expected = [value] * len(graphs) + case.expected * len(graphs)
    _close(results, [*expected, *(v for _, values in batches for v in values)], "compiled")


@pytest.mark.sampled(20)
@pytest.mark.parametrize("example", EACH, ids=str)
def test_second_derivatives(example):
    """In reverse mode twice and in forward over reverse mode, beside central differences of first derivatives."""
    case = Case(example)
    moves, seeds = ([case.random.normal(size=p.shape) for p in case.points] for _ in range(2))
    graphs = _in_graphs(case)
    for name in ("alone", "graph", "rows"):
        slopes = case.gradient(graphs[name])
        along = sum((g * s).sum() for g, s in zip(slopes, seeds, strict=True))
        try:
            curved = case.gradient(along)
        except og.NullTypeGradError:
            pytest.skip("the op has no second derivative")
        reverse = sum((g * d).sum() for g, d in zip(curved, moves, strict=True))
        directions = [ot.constant(d) for d in moves]
        forward = og.pushforward(along, case.inputs, directions, disconnected_outputs="ignore")

        def at(step: float, along: Any = along) -> Any:
            points = [p + step * d for p, d in zip(case.points, moves, strict=True)]
            return og.evaluate(along, dict(zip(case.inputs, points, strict=True)))

        wide, near = ((at(h) - at(-h)) / (2 * h) for h in (2 * STEP, STEP))
        error = 10 * abs(wide - near) + 1e-5 * (1 + abs(near))
        found = np.array(og.evaluate([reverse, forward], case.values))
        assert np.all(abs(found - near) <= error), (name, found, near)
