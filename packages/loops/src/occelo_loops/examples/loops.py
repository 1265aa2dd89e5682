"""Examples of loops with carried values, with traces or with an early end, and of functions that consist of loops.

`testing.examples` adds these examples to its table.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from occelo_graph import tensor as ot
from occelo_graph.examples.example import Example, draw
from occelo_loops.ops.building.associative import associative_scan
from occelo_loops.ops.building.classic import scan
from occelo_loops.ops.building.loops import fori_loop, loop, while_loop
from occelo_loops.ops.building.recomputing import checkpoint
from occelo_loops.ops.building.switching import switch_case

if TYPE_CHECKING:
    from occelo_graph.tensors.signatures import Array, ArrayFunction, TensorFunction

RATES = draw((0.2, 0.8), (2,), salt=21)
X = draw((-1.0, 1.0), (4, 2), salt=22)
SQUARE = draw((-0.5, 0.5), (2, 2), salt=23)


def make(
    name: str,
    function: TensorFunction,
    reference: ArrayFunction,
    *args: Array,
    grad: tuple[int, ...] = (),
    batched: tuple[int, ...] = (),
) -> Example:
    """An example of the family "looping", with a relative tolerance of 1e-10."""
    return Example(name, "looping", function, reference, args, grad, 1e-10, batched)


def _recurrence(rates: Array, x: Array) -> Array:
    state, trace = np.zeros_like(rates), list[Any]()
    for element in x:
        state = np.tanh(rates * state + element)
        trace.append(state)
    return np.array(trace).reshape(x.shape)


def _recurrent(rates: Any, x: Any) -> Any:
    def step(state: Any, element: Any) -> tuple[Any, Any]:
        state = ot.tanh(rates * state + element)
        return state, state

    return loop(step, ot.zeros_like(rates), x)[1]


def _products(weights: Array, x: Array) -> Array:
    state = np.ones_like(weights[0])
    for element in x[::-1]:
        state = np.tanh(state @ weights) * element
    return state


def _doublings(x: Array) -> Array:
    while np.abs(x).sum() < 50.0:
        x = 2.0 * x
    return x


def _fibonacci(first: Array) -> Array:
    values = list(first)
    for _ in range(5):
        values.append(values[-2] + 0.5 * values[-1])
    return np.array(values[2:])


def _doubled(x: Any) -> Any:
    return x * 2.0


EXAMPLES: list[Example] = [
    make("loop", _recurrent, _recurrence, RATES, X, grad=(0, 1), batched=(0, 1)),
    make("loop", _recurrent, _recurrence, RATES, X[:0]),
    make(
        "loop",
        lambda w, x: loop(
            lambda s, e: (ot.tanh(ot.dot(s, w)) * e, None), ot.ones_like(w[0]), x, reverse=True
        )[0],
        _products,
        SQUARE,
        X,
        grad=(0, 1),
        batched=(0, 1),
    ),
    make(
        "while_loop",
        lambda x: while_loop(lambda s: abs(s).sum() < 50.0, lambda s: 2.0 * s, x, max_steps=30),
        _doublings,
        RATES,
        grad=(0,),
    ),
    make(
        "fori_loop",
        lambda x: fori_loop(2, 6, lambda i, s: s * x + i, x),
        lambda x: (((x * x + 2) * x + 3) * x + 4) * x + 5,
        RATES,
        grad=(0,),
        batched=(0,),
    ),
    make(
        "scan",
        lambda first: scan(
            lambda older, old: older + 0.5 * old,
            outputs_info=[{"initial": first, "taps": [-2, -1]}],
            n_steps=5,
            return_updates=False,
        ),
        _fibonacci,
        RATES,
        grad=(0,),
    ),
    make(
        "associative_scan",
        lambda x: associative_scan(lambda p, q: p * q, x),
        lambda x: np.cumprod(x, 0),
        X,
        grad=(0,),
        batched=(0,),
    ),
    make(
        "checkpoint",
        checkpoint(lambda x: ot.exp(ot.sin(x) * x)),
        lambda x: np.exp(np.sin(x) * x),
        X,
        grad=(0,),
        batched=(0,),
    ),
    make(
        "switch_case",
        lambda k, x: switch_case(k, [_doubled, ot.exp, ot.sin], x),
        lambda k, x: np.exp(x),
        np.array(1),
        X,
        grad=(1,),
    ),
]
