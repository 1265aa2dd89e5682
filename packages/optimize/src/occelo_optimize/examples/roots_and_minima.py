"""Example calls of the solvers that are loops of the graph."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from occelo_graph.examples.example import Example
from occelo_graph.ops.join import stack
from occelo_graph.optional_scipy import scipy_module
from occelo_optimize import functions as optimize

PLACE = np.array(0.7)
POINT = np.array([0.3, 0.8])
WEIGHTS = np.array([1.5, 0.4])


def _zero(function: Callable[..., Any], *args: Any) -> Any:
    """A root by SciPy's `brentq`."""
    solve: Any = scipy_module("optimize", "a reference")
    return solve.brentq(function, -9.0, 9.0, args, xtol=1e-14)


def _zeros(function: Callable[..., Any], start: Any, *args: Any) -> Any:
    """A root of a system by SciPy's `root`."""
    solve: Any = scipy_module("optimize", "a reference")
    return solve.root(function, start, args, tol=1e-13).x


def _cubic(x: Any, a: Any) -> Any:
    return x**3 + a * x - 2.0


def _hollow(x: Any, a: Any) -> Any:
    return (x - a) ** 4 + (x - a) ** 2 + a * x


def _slope(x: Any, a: Any) -> Any:
    return 4.0 * (x - a) ** 3 + 2.0 * (x - a) + a


def _system(x: Any, w: Any) -> list[Any]:
    return [x[0] ** 2 + w[0] * x[1] - 1.0, x[0] - w[1] * x[1] ** 3]


def _equations(x: Any, w: Any) -> Any:
    return stack(_system(x, w))


def _valley(x: Any, w: Any) -> Any:
    return w[0] * (x[1] - x[0] ** 2) ** 2 + (w[1] - x[0]) ** 2


def _root(method: str, **options: Any) -> Example:
    return Example(
        "root_scalar",
        "optimize",
        lambda x, a: optimize.root_scalar(partial(_cubic, a=a), x, method=method, **options).root,
        lambda x, a: _zero(_cubic, a),
        (PLACE, np.array(1.5)),
        (1,),
        1e-9,
        (1,),
    )


def _least(method: str, **options: Any) -> Example:
    # golden sections find a place to 8 digits, too few for differences of it
    gradient = () if method == "golden" else (1,)
    return Example(
        "minimize_scalar",
        "optimize",
        lambda x, a: optimize.minimize_scalar(partial(_hollow, a=a), x, method=method, **options).x,
        lambda x, a: _zero(_slope, a),
        (PLACE, np.array(0.6)),
        gradient,
        1e-6,
        (1,),
    )


def _of_system(method: str) -> Example:
    return Example(
        "root",
        "optimize",
        lambda x, w: optimize.root(partial(_equations, w=w), x, method=method, tol=1e-12).x,
        lambda x, w: _zeros(_system, x, w),
        (POINT, WEIGHTS),
        (1,),
        1e-9,
        (1,),
    )


def _of_valley(method: str) -> Example:
    return Example(
        "minimize",
        "optimize",
        lambda x, w: optimize.minimize(partial(_valley, w=w), x, method=method, tol=1e-10).x,
        lambda x, w: np.array([w[1], w[1] ** 2]),
        (POINT, WEIGHTS),
        (1,),
        1e-8,
        (1,),
    )


EXAMPLES: list[Example] = [
    *map(_root, ("newton", "halley", "secant")),
    *(_root(method, bracket=[-3.0, 3.0]) for method in ("bisect", "brentq")),
    *(_least(method) for method in ("brent", "golden")),
    _least("bounded", bounds=[-2.0, 2.0], tol=1e-9),
    *map(_of_system, ("newton", "lm")),
    *map(_of_valley, ("BFGS", "L-BFGS", "newton")),
]
