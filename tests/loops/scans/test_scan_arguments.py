"""The arguments of `scan` in the forms that programs for Theano and its successors use, on every linker.

Derivatives that loops compute row by row are compared with differences of NumPy functions.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import occelo_compile as oc
import occelo_graph as og
from occelo_graph import tensor as ot
from occelo_loops.ops.building.classic import foldl, reduce, scan, scan_checkpoints
from occelo_loops.ops.building.classic import map as mapped

pytestmark = pytest.mark.filterwarnings(
    "ignore:.*(jax|pytorch|cache|runs in Python|will be static)"
)
A = np.array([0.3, -0.2, 0.7])
B = np.array([1.0, 2.0, -1.0])
M = np.array([[1.0, 0.5, -2.0], [0.0, 1.5, 0.3], [2.0, -1.0, 0.7]])


def recurrence(x: Any) -> Any:
    trace = [x[0]]
    for element in x[1:]:
        trace.append(np.tanh(trace[-1] * element))
    return np.array(trace)


def looped(x: Any) -> Any:
    rest = scan(lambda e, s: ot.tanh(s * e), x[1:], x[0], return_updates=False)
    return ot.concatenate([x[:1], rest])


FUNCTIONS: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    "elementwise": (lambda x: ot.exp(x) * x[::-1], lambda x: np.exp(x) * x[::-1]),
    "product": (lambda x: ot.dot(M, x) ** 2, lambda x: (M @ x) ** 2),
    "quadratic": (lambda x: x * ot.dot(x, ot.dot(M, x)), lambda x: x * (x @ M @ x)),
    "a loop": (looped, recurrence),
    "x itself": (lambda x: x, lambda x: x),
}


def slopes(f: Callable[[Any], Any], at: Any, eps: float = 1e-5) -> Any:
    """The Jacobian of a NumPy function, by central differences."""
    steps = eps * np.eye(len(at))
    return np.stack([(f(at + h) - f(at - h)) / (2 * eps) for h in steps], axis=-1)


def rows(y: Any, x: Any, strict: bool = False) -> Any:
    """The Jacobian as the family's tutorials compute it."""
    return scan(
        lambda i, y, x: og.grad(y[i], x),
        sequences=ot.arange(y.shape[0]),
        non_sequences=[y, x],
        strict=strict,
        return_updates=False,
    )


def close(found: Any, expected: Any) -> None:
    np.testing.assert_allclose(found, expected, 1e-5, 1e-7)


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_derivatives_row_by_row(name: str, strict: bool) -> None:
    """Jacobian, Hessian and product with a vector, of which each row differentiates by a variable from outside."""
    compare(name, strict, "native" if strict or name != "a loop" else "vm")


@pytest.mark.sampled(3)
def test_derivatives_row_by_row_on_every_linker(mode: str) -> None:
    compare("elementwise", False, mode)


def compare(name: str, strict: bool, mode: str) -> None:
    """Compare the three derivatives of a function with differences."""
    ours, theirs = FUNCTIONS[name]
    x, v = ot.dvector("x"), ot.dvector("v")
    y = ours(x)
    slope = og.grad((y**2).sum(), x)
    product = scan(
        lambda i, y, x, v: ot.dot(og.grad(y[i], x), v),
        ot.arange(y.shape[0]),
        None,
        [y, x, v],
        strict=strict,
        return_updates=False,
    )
    outputs = [rows(y, x, strict), rows(slope, x, strict), product]
    jacobian, hessian, along = oc.function([x, v], outputs, mode=mode)(A, B)
    close(jacobian, slopes(theirs, A))
    close(hessian, slopes(lambda a: slopes(lambda b: np.sum(theirs(b) ** 2), a), A, 1e-4))
    close(along, slopes(theirs, A) @ B)


@pytest.mark.parametrize("strict", [False, True])
def test_derivatives_of_loops_of_derivatives(strict: bool) -> None:
    """Loops in loops, in batches, and differentiated."""
    x = ot.dvector("x")
    ours, theirs = FUNCTIONS["quadratic"]
    y = ours(x)

    def hessian_of(i: Any, y: Any, x: Any) -> Any:
        return rows(og.grad(y[i], x), x)

    each = scan(
        hessian_of, ot.arange(y.shape[0]), None, [y, x], strict=strict, return_updates=False
    )
    jacobian = rows(y, x, strict)
    cost = (jacobian**2).sum()
    found, of_cost = oc.function([x], [each, og.grad(cost, x)], mode="native")(A)
    close(found, slopes(lambda a: slopes(theirs, a), A, 1e-4))
    close(of_cost, slopes(lambda a: np.sum(slopes(theirs, a) ** 2), A, 1e-4))
    batch = ot.dmatrix("batch")
    many = og.vectorize_graph(jacobian, {x: batch})
    elements = np.stack([A, B, A * 2])
    close(many.eval({batch: elements}), np.stack([slopes(theirs, a) for a in elements]))


def test_a_function_gets_the_variables_themselves() -> None:
    x, y = ot.dvector("x"), ot.dvector("y")
    state = og.shared(np.array(2.0), name="state")
    number = ot.constant(3.0)
    given = [x, ot.exp(y), state, number]
    seen: list[list[Any]] = []

    def step(*arguments: Any) -> Any:
        seen.append(list(arguments[-4:]))
        return arguments[0] * 1.0

    scan(step, x, None, given, return_updates=False)
    scan(step, x, None, given, strict=True, return_updates=False)
    mapped(step, x, given, return_updates=False)
    reduce(step, x, ot.constant(0.0), given, return_updates=False)
    foldl(step, x, ot.constant(0.0), given, return_updates=False)
    scan_checkpoints(step, x, [None], given, return_updates=False)
    assert len(seen) >= 6
    for arguments in seen:
        assert all(a is b for a, b in zip(arguments, given, strict=True))


@pytest.mark.filterwarnings("ignore:scan will return:DeprecationWarning")
@pytest.mark.parametrize("strict", [False, True])
def test_updates_of_an_argument(mode: str, strict: bool) -> None:
    x = ot.dvector("x")
    state = og.shared(np.array(1.0), name="state")
    outputs, updates = scan(
        lambda e, s: (e * s, {s: s + e}), x, non_sequences=[state], strict=strict, return_list=True
    )
    f = oc.function([x], outputs[0], updates=updates, mode=mode)
    close(f(A), A * (1.0 + np.array([0.0, 0.3, 0.1])))
    close(state.get_value(), 1.8)


@pytest.mark.parametrize("given", [None, [], (), 2.0, [2.0], np.float32(2.0), [ot.constant(2.0)]])
@pytest.mark.parametrize("outputs_info", [None, [], (), [None, None], [{}, None]])
def test_empty_and_single_arguments(given: Any, outputs_info: Any) -> None:
    x = ot.dvector("x")
    factor = 1.0 if given is None or given in ([], ()) else 2.0

    def step(e: Any, *more: Any) -> list[Any]:
        return [e * more[0] if more else e * 1.0, e + 1.0]

    two = scan(step, x, outputs_info, given, return_updates=False)
    first, second = oc.function([x], two, mode="vm")(A)
    close(first, A * factor)
    close(second, A + 1.0)


def test_strict_loops_refuse_what_their_arguments_do_not_cover() -> None:
    x, y = ot.dvector("x"), ot.dvector("y")
    with pytest.raises(ValueError, match="not among non_sequences: y"):
        scan(lambda e, s: e * y[0], x, None, [x], strict=True)
    with pytest.raises(ValueError, match="not among non_sequences: x"):
        # the derivative of y * x reads x, and y is only among what is passed as a product
        scan(lambda i, z: og.grad(z[i], y), ot.arange(3), None, [y * x], strict=True)
