"""Example calls of least squares, fixed points, linear systems, differential equations and integrals."""

from __future__ import annotations

from typing import Any

import numpy as np

from occelo_graph.examples.example import Example
from occelo_graph.ops.elemwise.transcendental import cos, exp
from occelo_graph.ops.join import stack
from occelo_graph.optional_scipy import scipy_module
from occelo_optimize import functions as optimize

POINT = np.array([0.3, 0.8])
RATES = np.array([0.7, 1.3])
MATRIX = np.array([[2.0, 0.3], [0.3, 1.5]])
_PLACES = np.array([0.0, 0.5, 1.5])


def _fit(x: Any, w: Any) -> Any:
    return x[0] * exp(-x[1] * _PLACES) - w[0] * exp(-w[1] * _PLACES)


def _ode(method: str) -> Example:
    def ours(y: Any, k: Any) -> Any:
        def decay(y: Any, t: Any) -> Any:
            del t
            return stack([-k[0] * y[0], k[0] * y[0] - k[1] * y[1]])

        return optimize.odeint(decay, y, _PLACES, method=method)

    def theirs(y: Any, k: Any) -> Any:
        t = _PLACES
        first = y[0] * np.exp(-k[0] * t)
        grown = y[0] * k[0] / (k[1] - k[0]) * (np.exp(-k[0] * t) - np.exp(-k[1] * t))
        return np.stack([first, y[1] * np.exp(-k[1] * t) + grown], 1)

    return Example("odeint", "optimize", ours, theirs, (POINT, RATES), (0, 1), 1e-6, (1,))


def _reached(y: Any, k: Any) -> Any:
    def decay(t: Any, y: Any) -> Any:
        del t
        return -k * y

    return optimize.solve_ivp(decay, (0.0, 1.5), y, rtol=1e-9, atol=1e-9).y


def _integral(method: str) -> Example:
    def ours(a: Any, k: Any) -> Any:
        def decay(x: Any) -> Any:
            return exp(-k * x)

        return optimize.quad(decay, a, 2.0, method=method).integral

    return Example(
        "quad",
        "optimize",
        ours,
        lambda a, k: (np.exp(-k * a) - np.exp(-2.0 * k)) / k,
        (np.array(0.4), RATES),
        (0, 1),
        1e-9,
        (0,),
    )


def _system(name: str) -> Example:
    return Example(
        name,
        "optimize",
        lambda a, b: getattr(optimize, name)(a, b, rtol=1e-12).x,
        np.linalg.solve,
        (MATRIX, POINT),
        (0, 1) if name == "gmres" else (1,),
        1e-9,
        (1,),
    )


def _fixed(x: Any, a: Any) -> Any:
    def shrink(x: Any) -> Any:
        return a * np.cos(x)

    solve: Any = scipy_module("optimize", "a reference")
    return solve.fixed_point(shrink, x, xtol=1e-13)


EXAMPLES: list[Example] = [
    Example(
        "least_squares",
        "optimize",
        lambda x, w: optimize.least_squares(_fit(x, w), x, xtol=1e-12, ftol=1e-14).x,
        lambda x, w: w,
        (POINT, RATES),
        (1,),
        1e-7,
        (1,),
    ),
    Example(
        "fixed_point",
        "optimize",
        lambda x, a: optimize.fixed_point(a * cos(x), x, xtol=1e-12).x,
        _fixed,
        (POINT, np.array(0.8)),
        (1,),
        1e-9,
        (1,),
    ),
    *map(_ode, ("RK45", "Radau")),
    Example(
        "solve_ivp",
        "optimize",
        _reached,
        lambda y, k: (y * np.exp(-1.5 * k))[:, None],
        (POINT, RATES),
        (0, 1),
        1e-7,
        (1,),
    ),
    *map(_integral, ("quad", "tanhsinh")),
    *map(_system, ("cg", "minres", "gmres")),
]
