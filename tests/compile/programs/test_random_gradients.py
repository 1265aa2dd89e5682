"""Gradients of random programs at dynamic lengths of 0, 1 and more, against complex steps in NumPy.

A program is a list of steps over three vectors and a scalar, written twice: with tensors and with NumPy.
Variables have several users; value and gradients are computed together, apart, and a second time.
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st

import occelo_graph as og
from occelo_compile import function
from occelo_graph import tensor as ot

THOROUGH = os.environ.get("HYPOTHESIS_PROFILE") == "thorough"
STEP = 1e-200


def _increased(x: Any, y: Any) -> Any:
    result = x.copy()
    result[:1] += y[:1]
    return result


def _set(x: Any, y: Any) -> Any:
    result = x.copy()
    result[1:] = y[1:]
    return result


# each keeps the length, and the size of what it is given
UNARY: dict[str, tuple[Any, Any]] = {
    "sin": (ot.sin, np.sin),
    "tanh": (ot.tanh, np.tanh),
    "softplus": (lambda x: ot.log1p(ot.exp(x)), lambda x: np.log1p(np.exp(x))),
    "reversed": (lambda x: x[::-1], lambda x: x[::-1]),
    "running sum": (lambda x: ot.cumsum(x) * 0.25, lambda x: np.cumsum(x) * 0.25),
    "running product": (lambda x: ot.cumprod(x * 0.5), lambda x: np.cumprod(x * 0.5)),
    "centered": (lambda x: x - x.sum(keepdims=True) * 0.1, lambda x: x - x.sum() * 0.1),
    "matrix": (
        lambda x: ot.dot(ot.outer(x, x), x) * 0.1,
        lambda x: np.dot(np.outer(x, x), x) * 0.1,
    ),
    "column": (
        lambda x: (x.dimshuffle(0, "x") * x.dimshuffle("x", 0)).sum(axis=0) * 0.2,
        lambda x: (x[:, None] * x[None, :]).sum(axis=0) * 0.2,
    ),
    "reshaped": (lambda x: (x.reshape((1, -1)) * 2.0).flatten(), lambda x: x * 2.0),
    "rotated": (
        lambda x: ot.join(0, x[1:], x[:1]),
        lambda x: np.concatenate([x[1:], x[:1]]),
    ),
    "repeated and folded": (
        lambda x: ot.tile(x, 2).reshape((2, x.shape[0])).sum(axis=0) * 0.5,
        lambda x: x,
    ),
    "gathered": (
        lambda x: x[ot.arange(x.shape[0]) // 2],
        lambda x: x[np.arange(len(x)) // 2],
    ),
}
BINARY: dict[str, tuple[Any, Any]] = {
    "add": (lambda x, y: x + y, lambda x, y: x + y),
    "mul": (lambda x, y: x * y, lambda x, y: x * y),
    "div": (lambda x, y: x / (2.0 + y * y), lambda x, y: x / (2.0 + y * y)),
    "power": (lambda x, y: (1.5 + ot.tanh(x)) ** y, lambda x, y: (1.5 + np.tanh(x)) ** y),
    "inc": (lambda x, y: x[:1].inc(y[:1]), _increased),
    "set": (lambda x, y: x[1:].set(y[1:]), _set),
    "scaled by a sum": (lambda x, y: x * ot.sin(y.sum()), lambda x, y: x * np.sin(y.sum())),
    "dot": (lambda x, y: x * ot.dot(x, y) * 0.1, lambda x, y: x * np.dot(x, y) * 0.1),
    "outer": (
        lambda x, y: ot.dot(ot.outer(x, y) * 0.2, y),
        lambda x, y: np.dot(np.outer(x, y) * 0.2, y),
    ),
    "join": (
        lambda x, y: ot.join(0, x, y)[: x.shape[0]] * ot.join(0, y, x)[y.shape[0] :],
        lambda x, y: x * x,
    ),
    "switch": (
        lambda x, y: ot.switch(ot.arange(x.shape[0]) > 0, x, y),
        lambda x, y: np.where(np.arange(len(x)) > 0, x, y),
    ),
}
ENDS: dict[str, tuple[Any, Any]] = {
    "sum": (lambda x: x.sum(), lambda x: x.sum()),
    "sum of squares": (lambda x: (x * x).sum(), lambda x: (x * x).sum()),
    "product": (lambda x: ot.prod(1.0 + 0.3 * x), lambda x: np.prod(1.0 + 0.3 * x)),
}

programs = st.tuples(
    st.lists(
        st.tuples(
            st.sampled_from([*UNARY, *BINARY, *BINARY]), st.integers(0, 9), st.integers(0, 9)
        ),
        min_size=1,
        max_size=5,
    ),
    st.sampled_from(list(ENDS)),
)


def run(program: Any, values: list[Any], which: int) -> Any:
    """The cost of a program with tensors (0) or with NumPy (1)."""
    steps, end = program
    made = list(values)
    for name, i, j in steps:
        if name in UNARY:
            made.append(UNARY[name][which](made[i % len(made)]))
        else:
            made.append(BINARY[name][which](made[i % len(made)], made[j % len(made)]))
    total = ENDS[end][which](made[-1])
    return total + 0.5 * ENDS["sum"][which](made[-2])


def by_complex_steps(program: Any, at: list[Any]) -> list[Any]:
    results: list[Any] = []
    for i, point in enumerate(at):
        result = np.zeros(point.shape)
        for k in range(len(point)):
            moved = [p.astype(complex) for p in at]
            moved[i][k] += STEP * 1j
            result[k] = np.imag(run(program, moved, 1)) / STEP
        results.append(result)
    return results


def second(program: Any, at: list[Any], direction: list[Any]) -> list[Any]:
    """The Hessian times a vector, by differences of gradients."""
    width = 1e-6
    ends = [
        by_complex_steps(program, [p + s * width * d for p, d in zip(at, direction, strict=True)])
        for s in (1, -1)
    ]
    return [(a - b) / (2 * width) for a, b in zip(*ends, strict=True)]


def compare(program: Any, mode: str) -> None:
    inputs = [ot.dvector(name) for name in "xyz"]
    directions = [ot.dvector(f"d{name}") for name in "xyz"]
    cost = run(program, inputs, 0)
    gradients = og.grad(cost, inputs, disconnected_inputs="ignore")
    products = og.hessian_vector_product(cost, inputs, directions, disconnected_inputs="ignore")
    unused: dict[str, Any] = {"on_unused_input": "ignore", "mode": mode}
    together = function(inputs, [cost, *gradients], **unused)
    alone = function(inputs, gradients, **unused)
    curved = function([*inputs, *directions], products, **unused)
    for n in (0, 1, 3):
        at = [np.linspace(-0.6, 0.8, n) + 0.1 * (i + 1) for i in range(3)]
        along = [np.linspace(0.3, -0.4, n) + 0.2 * i for i in range(3)]
        expected = by_complex_steps(program, at)
        value, *found = together(*at)
        np.testing.assert_allclose(value, run(program, at, 1), rtol=1e-10, atol=1e-12)
        for results in (found, alone(*at)):
            for mine, wanted in zip(results, expected, strict=True):
                assert mine.shape == wanted.shape
                np.testing.assert_allclose(mine, wanted, rtol=1e-9, atol=1e-10)
        for mine, wanted in zip(curved(*at, *along), second(program, at, along), strict=True):
            assert mine.shape == wanted.shape
            scale = 1.0 + np.max(np.abs(wanted), initial=0.0)
            np.testing.assert_allclose(mine, wanted, rtol=1e-5, atol=1e-6 * scale)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("mode", ["native", "vm"])
@pytest.mark.parametrize("name", [*UNARY, *BINARY])
def test_each_step_alone(name: str, mode: str) -> None:
    compare(([(name, 0, 1), ("mul", 3, 2)], "sum of squares"), mode)


@pytest.mark.parametrize("mode", ["native", "FAST_COMPILE"])
@settings(
    max_examples=2000 if THOROUGH else 15,
    deadline=None,
    suppress_health_check=list(HealthCheck),
    database=None,
)
@seed(11)
@given(program=programs)
def test_gradients_of_random_programs(mode: str, program: Any) -> None:
    compare(program, mode)
