"""Cases for the rules of loops: graphs with scans that the rules apply to. `testing.examples` adds these cases to its
table.
"""

from __future__ import annotations

from typing import Any

import occelo_graph as og
from occelo_graph import TensorVariable
from occelo_graph import tensor as ot
from occelo_linalg import functions as linalg
from occelo_loops.ops.building.classic import scan
from occelo_loops.ops.building.loops import fori_loop, loop
from occelo_rewrite.examples.case import Case


def _equations(x: TensorVariable, kind: str) -> TensorVariable:
    """A loop whose steps solve equations with the same matrix."""
    matrix = ot.dot(x, x.T) * 0.1 + 2.0 * ot.eye(x.shape[0])
    if kind == "banded":
        matrix = ot.stack([x[0], x[0] + 5.0, x[1]])

    def solved(e: TensorVariable, s: TensorVariable, a: TensorVariable) -> TensorVariable:
        if kind == "banded":
            return linalg.solve_banded((1, 1), a, e + s)
        return linalg.solve(a, e + s, True, assume_a=kind)

    traces: TensorVariable = scan(
        solved,
        x,
        x[0],
        matrix,
        return_updates=False,
    )
    return traces


def _unchanged(x: TensorVariable) -> TensorVariable:
    state: Any = loop(lambda s, e: ((s[0] + e * s[1], s[1]), None), (x[0], x[1]), x)[0]
    return state[0] + state[1]


def _of_gradient(x: TensorVariable) -> TensorVariable:
    """A loop and its gradient. The gradient keeps the carried values of the loop as traces."""
    final, _ = loop(lambda s, e: (ot.tanh(s * e), None), x[0], x)
    return og.grad(final.sum(), x) * final


def _factors(x: TensorVariable) -> TensorVariable:
    """The gradient of a loop. Its steps factor a matrix of static shape, and solve equations with the factor."""

    def step(state: Any, e: Any) -> Any:
        s, total = state
        factor = linalg.cholesky(ot.dot(s, s.T) + ot.eye(2))
        solved = linalg.solve_triangular(factor, s, lower=True) * ot.cos(e).mean()
        return (solved, total + solved), None

    (_, total), _ = loop(step, (ot.eye(2), ot.zeros((2, 2))), x)
    return og.grad((total * total).sum(), x)


def _forward(x: TensorVariable, steps: Any) -> TensorVariable:
    """The gradient of the forward algorithm of a hidden Markov chain with two states."""
    logs = ot.specify_shape(x, (2, 3))[:, :2]

    def step(_: Any, alpha: Any) -> Any:
        return ot.logsumexp(alpha[:, None] + logs, axis=0)

    return og.grad(ot.logsumexp(fori_loop(0, steps, step, ot.zeros(2))), x)


def _cells(x: TensorVariable) -> TensorVariable:
    """The gradient of a recurrent cell whose steps compute a hyperbolic tangent and an exponential."""

    def step(s: Any, e: Any) -> Any:
        return ot.exp(-(ot.tanh(s * e) ** 2)), None

    return og.grad((loop(step, ot.ones(3), ot.specify_shape(x, (2, 3)))[0] ** 2).sum(), x)


def _two_loops(x: TensorVariable) -> TensorVariable:
    first, steps = x[0], x.shape[0]
    once = loop(lambda s, e: (s * e, s), first, x, length=steps)[1]
    again = loop(lambda s, e: (s * e, ot.sin(s)), first, x, length=steps)[1]
    return once + again


def _loops_apart(x: TensorVariable) -> TensorVariable:
    """Two loops of the same number of steps.

    They have a state and a trace in common, and the second loop also has a sequence of its own.
    """
    steps, first = x.shape[0], ot.zeros_like(x[0])

    def step(s: Any, e: Any) -> Any:
        return (s[0] * 0.5 + e, s[1] + s[0]), s[0]

    def other(s: Any, e: Any) -> Any:
        return (s[0] * 0.5 + e[0], ot.tanh(s[1] * e[1])), s[0]

    (one, _), once = loop(step, (first, first), x, length=steps)
    (two, more), again = loop(other, (first, first + 1.0), (x, ot.cos(x)), length=steps)
    return once * again + one - two + more


def _running(x: TensorVariable) -> TensorVariable:
    """A running sum and a running product of functions of two sequences, in reverse order."""

    def step(s: Any, e: Any) -> Any:
        total, product = s[0] + e[0] * 2.0, ot.cos(e[1]) * s[1]
        return (total, product), (total, product)

    (total, product), traces = loop(step, (x[0], x[-1]), (x, x + 1.0), reverse=True)
    return total * product + traces[0] * traces[1]


def _more_than_is_read(x: TensorVariable) -> TensorVariable:
    (total, _), traces = loop(
        lambda s, e: ((s[0] + e, s[1] * e), (s[0], s[1], s[0])), (x[0], x[0]), x
    )
    return total + traces[0] + traces[2]


def _products(x: TensorVariable) -> TensorVariable:
    """A loop whose steps multiply parts of a sequence by a matrix, but not the carried value."""
    matrix = x.T @ x
    traces: TensorVariable = loop(
        lambda s, e: (ot.tanh(s + ot.sin(e) @ matrix), s), x[0], x, length=x.shape[0]
    )[1]
    return traces


def _last(x: TensorVariable) -> TensorVariable:
    traces: TensorVariable = scan(lambda e, s: s * e, x, x[0], return_updates=False)
    return traces[-1]


def _last_of_function(x: TensorVariable) -> TensorVariable:
    traces = loop(lambda s, e: (s * e, (ot.cos(s).sum(), s[:2])), ot.ones(3), x, length=x.shape[0])[
        1
    ]
    return traces[0][-1] * traces[1][-1, 1]


def _last_elements(x: TensorVariable) -> TensorVariable:
    final, (one, two) = loop(lambda s, e: (s * e, (ot.cos(s), s + e)), ot.ones_like(x[0]), x)
    return one[-2] * two[-2:] + final


def _last_of_far_taps(x: TensorVariable) -> TensorVariable:
    rows = ot.concatenate([x, x, x])[:6]
    info = {"initial": ot.concatenate([rows, rows])[:9], "taps": [-9, -1]}
    traces: TensorVariable = scan(
        lambda far, near: ot.cos(far) + near,
        outputs_info=info,
        n_steps=x.shape[0] + 4,
        return_updates=False,
    )
    return traces[-1] + traces[-3:].sum(axis=0) + traces[-2]


def _outer_products(x: TensorVariable) -> TensorVariable:
    """The gradient of a loop with respect to a matrix. Each step multiplies a vector by this matrix."""
    matrix = x.T @ x
    final, _ = loop(lambda s, e: (ot.tanh(s @ matrix + e), None), x[0], x)
    return og.grad(final.sum(), matrix)


def _functions(x: TensorVariable) -> TensorVariable:
    """A loop whose steps compute two functions that do not depend on the carried value.

    One function is added to the carried value, and the other one becomes a trace.
    """
    (total, traces) = loop(lambda s, e: (s * 0.5 + ot.exp(e), e * 2.0), ot.zeros_like(x[0]), x)
    return total + traces


def _reductions(x: TensorVariable) -> TensorVariable:
    """A loop that adds a function of a sum to the carried value. The sums of the steps become a trace."""

    def step(s: Any, e: Any) -> tuple[Any, Any]:
        total = ot.exp(e).sum()
        return s * 0.5 + ot.log(total) * e, total * 2.0

    total, traces = loop(step, ot.zeros_like(x[0]), x)
    return total.sum() + traces


def _elements(x: TensorVariable) -> TensorVariable:
    total, traces = loop(lambda s, e: (s * 0.5 + e, e), ot.zeros_like(x[0]), x, length=2)
    return total + traces[-1]


def _first_elements(x: TensorVariable) -> TensorVariable:
    traces: TensorVariable = loop(lambda s, e: (s * e, s), x[0], ot.concatenate([x, x, x]))[1]
    return traces[:2] + traces[3]


def _elements_at(x: TensorVariable) -> TensorVariable:
    """Loops with reads of traces at dynamic positions."""
    rows = ot.concatenate([x, x, x])
    traces: TensorVariable = loop(lambda s, e: (s * e, s), x[0], rows)[1]
    ended: TensorVariable = loop(
        lambda s, e: (s * e, s), x[0], rows, until=lambda s: s.sum() > 1e3
    )[1]
    return traces[x.shape[0]] + traces[1 : x.shape[0]].sum(axis=0) + ended[x.shape[0] // 2]


CASES: list[Case] = [
    Case("sums_of_outer_products", _outer_products, differentiable=False),
    Case("functions_of_sequences", _functions),
    Case("reductions_of_sequences", _reductions),
    Case("elements_kept", _elements),
    Case("fewer_steps", _first_elements),
    Case("fewer_steps", _elements_at),
    Case("products_of_sequences", _products),
    Case("last_of_trace", _last),
    Case("last_elements_carried", _last_of_function),
    Case("last_rows_of_delay_lines", _last_of_far_taps),
    Case("last_steps_apart", _last_elements),
    Case("unrolled_scan", lambda x: fori_loop(0, 3, lambda i, s: s * x + i, x)),
    Case("unrolled_scan", lambda x: loop(lambda s: (s * x, s), x, length=2)[1]),
    Case("factors_before_loop", lambda x: _equations(x, "gen"), shapes=((3, 3),)),
    Case("factors_before_loop", lambda x: _equations(x, "pos"), shapes=((3, 3),)),
    Case("factors_before_loop", lambda x: _equations(x, "banded"), shapes=((3, 3),)),
    Case("hoisted_constants", _unchanged),
    Case("merged_scans", _of_gradient),
    Case("merged_scans", _two_loops),
    Case("running_sums_and_products", _running),
    Case("joined_scans", _loops_apart),
    Case("shared_factorizations", _factors),
    Case("costly_parts_kept", lambda x: _forward(x, 5)),
    Case("costly_parts_kept", _cells),
    Case("unused_of_scan", _more_than_is_read),
    Case("unused_of_scan", lambda x: fori_loop(0, 7, lambda i, s: s * x, x)),
]
