"""Steps of solvers of differential equations: of Dormand and Prince, and the collocation method Radau IIA for stiff ones.

A step goes from (t, y) by h. It returns the value at t + h, an estimate of its error, the coefficients of a polynomial that
interpolates inside of the step, and whether it can be used. The coefficients are rows; row i belongs to s^(i + 1), where s goes
from 0 to 1.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from occelo_graph.gradient.jacobians import jacobian
from occelo_graph.ops.create import eye
from occelo_graph.ops.elemwise.arithmetic import isfinite, switch
from occelo_graph.ops.join import concatenate, stack
from occelo_graph.ops.reduce import all as all_of
from occelo_graph.ops.shape.reshaping import reshape
from occelo_linalg.ops.equations.solve import solve
from occelo_linalg.ops.inverse import inv
from occelo_optimize.ops.methods.iterating import iterate

Rates = Callable[[Any, Any], Any]


class Step(NamedTuple):
    """The result of a step. ``rate`` is the derivative at its end, which the next step starts with."""

    y: Any
    rate: Any
    error: Any
    dense: Any
    usable: Any


class Method(NamedTuple):
    """A method: its step, the power of h with which its error decreases, and the rows of its interpolation."""

    step: Callable[[Rates, Any, Any, Any, Any], Step]
    order: int
    rows: int


_A = (
    (1 / 5,),
    (3 / 40, 9 / 40),
    (44 / 45, -56 / 15, 32 / 9),
    (19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729),
    (9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656),
    (35 / 384, 0.0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84),
)
_C = (1 / 5, 3 / 10, 4 / 5, 8 / 9, 1.0, 1.0)
_E = (71 / 57600, 0.0, -71 / 16695, 71 / 1920, -17253 / 339200, 22 / 525, -1 / 40)
# the interpolation of Shampine, of order 4: for each stage the coefficients of s, s^2, s^3 and s^4
_P = np.array(
    [
        [1, -8048581381 / 2820520608, 8663915743 / 2820520608, -12715105075 / 11282082432],
        [0, 0, 0, 0],
        [0, 131558114200 / 32700410799, -68118460800 / 10900136933, 87487479700 / 32700410799],
        [0, -1754552775 / 470086768, 14199869525 / 1410260304, -10690763975 / 1880347072],
        [0, 127303824393 / 49829197408, -318862633887 / 49829197408, 701980252875 / 199316789632],
        [0, -282668133 / 205662961, 2019193451 / 616988883, -1453857185 / 822651844],
        [0, 40617522 / 29380423, -110615467 / 29380423, 69997945 / 29380423],
    ]
).T


def _combined(weights: Any, stages: list[Any]) -> Any:
    return sum(w * k for w, k in zip(weights, stages, strict=False) if w)


def _dormand_prince(f: Rates, t: Any, y: Any, rate: Any, h: Any) -> Step:
    stages = [rate]
    after = y
    for weights, c in zip(_A, _C, strict=True):
        after = y + h * _combined(weights, stages)
        stages.append(f(t + c * h, after))
    dense = stack([h * _combined(row, stages) for row in _P.tolist()])
    error = h * _combined(_E, stages)
    return Step(after, stages[-1], error, dense, all_of(isfinite(after)))


_ROOT = 6.0**0.5
_NODES = np.array([(4 - _ROOT) / 10, (4 + _ROOT) / 10, 1.0])
_WEIGHTS = np.array([[_NODES[i] ** k for k in range(3)] for i in range(3)])
_COLLOCATION = np.array(
    [[_NODES[i] ** (k + 1) / (k + 1) for k in range(3)] for i in range(3)]
) @ np.linalg.inv(_WEIGHTS)
_REAL = 3 + 3 ** (2 / 3) - 3 ** (1 / 3)
_ESTIMATE = np.array([-13 - 7 * _ROOT, -13 + 7 * _ROOT, -1]) / 3
_TO_POWERS = np.linalg.inv(np.array([[_NODES[i] ** (k + 1) for k in range(3)] for i in range(3)]))
_NEWTON = 10


def _radau(f: Rates, t: Any, y: Any, rate: Any, h: Any) -> Step:
    """The values at three nodes solve a system of 3 n equations, by Newton's method with the Jacobian at the start."""
    n = y.shape[0]
    matrix = jacobian(f(t, y), y)
    dtype = y.dtype
    nodes, weights = _NODES.astype(dtype), _COLLOCATION.astype(dtype)
    # the Kronecker product of the weights and the Jacobian
    product = weights[:, None, :, None] * matrix[None, :, None, :]
    system = eye(3 * n, dtype=dtype) - h * reshape(product, (3 * n, 3 * n))
    inverse = inv(system, on_error="nan")
    small = np.finfo(dtype).eps ** 0.5 * 1e-2

    def correct(state: Any) -> Any:
        z, _, _ = state
        rates = stack([f(t + nodes[i] * h, y + z[i]) for i in range(3)])
        move = inverse @ reshape(h * (weights @ rates) - z, (3 * n,))
        z = z + reshape(move, (3, n))
        size = (move**2).sum() ** 0.5
        return z, size <= small * (1.0 + (z**2).sum() ** 0.5), ~isfinite(size)

    no = np.bool_(False)
    start = concatenate([nodes[i] * h * rate[None, :] for i in range(3)])
    (z, converged, _), _ = iterate(correct, lambda s: s[1] | s[2], (start, no, no), _NEWTON)
    estimate = rate + (_ESTIMATE.astype(dtype) @ z) / h
    error = solve(_REAL / h * eye(n, dtype=dtype) - matrix, estimate, on_error="nan")
    after = y + z[2]
    usable = converged & all_of(isfinite(after)) & all_of(isfinite(error))
    return Step(after, f(t + h, after), error, _TO_POWERS.astype(dtype) @ z, usable)


DORMAND_PRINCE = Method(_dormand_prince, 5, 4)
RADAU = Method(_radau, 4, 3)


def interpolated(y: Any, dense: Any, s: Any) -> Any:
    """The value inside of a step that starts with ``y``, at the fraction ``s`` of it."""
    value = 0.0 * y
    for i in reversed(range(dense.type.shape[0])):
        value = s * (value + dense[i])
    return y + value


def chosen(condition: Any, one: Any, other: Any) -> Any:
    """`switch` for each part of two equal tuples."""
    return tuple(switch(condition, a, b) for a, b in zip(one, other, strict=True))
