"""`quad`: integrals of functions of one number, with the names of `scipy.integrate.quad`, and the op `Integral`.

The derivatives of an integral are those of its limits times the integrand there, and integrals of the integrand's derivatives.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from occelo_graph.applicable import check_arguments
from occelo_graph.errors import describe
from occelo_graph.fgraph.frozen import FrozenFunctionGraph
from occelo_graph.ir.nodes import Constant, Variable
from occelo_graph.ir.op import Cotangents, Tangents
from occelo_graph.ops.join import concatenate
from occelo_graph.ops.shape.reading import length_product, shape_tuple
from occelo_graph.ops.shape.reshaping import reshape
from occelo_graph.tensors.constant import as_tensor_variable
from occelo_graph.tensors.nodes import is_tensor
from occelo_graph.tensors.type import TensorType
from occelo_optimize.ops.applying import is_loop
from occelo_optimize.ops.methods.quadrature import METHODS
from occelo_optimize.ops.regions import region_between
from occelo_optimize.ops.solver import Solver, connected, is_float, pulled, pushed

__all__ = ["Quadrature", "quad"]


class Quadrature(NamedTuple):
    """A pair as SciPy's function returns it: the integral, and an estimate of its error. TypeError if a field is missing."""

    integral: Any
    abserr: Any


class Settings(NamedTuple):
    """The method, its tolerances, and the most intervals."""

    method: str
    epsabs: float
    epsrel: float
    limit: int


class Integral(Solver, further=("integrand", "settings")):
    """The integral of a function between two limits. The inputs are the limits, which are finite, and the parameters.

    The outputs are the integral, a tensor like the function's value, and an estimate of its error.

    - ``integrand``: the graph of the function, from a scalar and the parameters.
    - ``settings``: a `Settings`, as a tuple.
    """

    integrand: FrozenFunctionGraph
    settings: tuple[Any, ...]

    def _inferred_pattern(self) -> list[list[bool]]:
        return [[is_float(v), False] for v in self.graph.inputs]

    def _at(self, x: Any, parameters: Sequence[Variable]) -> Any:
        return self.integrand.bind([x, *parameters])[0]

    def pullback(
        self, inputs: Sequence[Variable], outputs: Sequence[Variable], cotangents: Cotangents
    ) -> Cotangents:
        ct: Any = cotangents[0]
        if not connected(ct):
            return [ct if is_float(v) else None for v in inputs]
        low, high, *parameters = inputs
        chosen = [i for i, v in enumerate(parameters, 1) if is_float(v)]
        shapes = [shape_tuple(v) for v in (inputs[i + 1] for i in chosen) if is_tensor(v)]

        def slopes(x: Any) -> Any:
            _, *parts = pulled(self.integrand, [x, *parameters], chosen, ct)
            flat = [reshape(v, (length_product(s),)) for v, s in zip(parts, shapes, strict=True)]
            return concatenate(flat)

        pieces: dict[int, Any] = {}
        if chosen:
            total = integrate(slopes, low, high, Settings(*self.settings))[0]
            position: Any = 0
            for i, shape in zip(chosen, shapes, strict=True):
                end = position + length_product(shape)
                pieces[i] = reshape(total[position:end], shape)
                position = end
        ends = [
            -(ct * self._at(low, parameters)).sum(),
            (ct * self._at(high, parameters)).sum(),
        ]
        return [*ends, *(pieces.get(i) for i in range(1, len(parameters) + 1))]

    def pushforward(
        self, inputs: Sequence[Variable], outputs: Sequence[Variable], tangents: Tangents
    ) -> Tangents:
        live_tangents: list[Any] = [t if connected(t) else None for t in tangents]
        if all(t is None for t in live_tangents):
            return [next((t for t in tangents if t is not None), None), None]
        low, high, *parameters = inputs
        live = [i for i, t in enumerate(live_tangents[2:], 1) if t is not None]
        terms: list[Any] = []
        if live:

            def moving(x: Any) -> Any:
                return pushed(
                    self.integrand, [x, *parameters], live, [live_tangents[i + 1] for i in live]
                )[1]

            terms.append(integrate(moving, low, high, Settings(*self.settings))[0])
        if live_tangents[0] is not None:
            terms.append(-live_tangents[0] * self._at(low, parameters))
        if live_tangents[1] is not None:
            terms.append(live_tangents[1] * self._at(high, parameters))
        total: Any = sum(terms[1:], terms[0])
        return [total, None]


def integrate(
    function: Callable[[Any], Any], low: Any, high: Any, settings: Settings
) -> tuple[Any, Any]:
    """The integral of a function of a scalar between finite limits, and an estimate of its error."""
    x = TensorType(low.dtype, ()).make_variable("x")
    region = region_between([as_tensor_variable(function(x))], (x,))
    inner = [v.type.make_variable(v.name) for v in (low, high, *region.parameters)]
    value: Any = region.graph.bind([inner[0], *inner[2:]])[0]
    shape = shape_tuple(value)

    def flat(x: Any) -> Any:
        value: Any = region.graph.bind([x, *inner[2:]])[0]
        return reshape(value, (length_product(shape),))

    total, error, success = METHODS[settings.method](
        flat,
        inner[0],
        inner[1],
        epsabs=settings.epsabs,
        epsrel=settings.epsrel,
        limit=settings.limit,
    )
    del success
    outputs = [reshape(total, shape), error]
    op = Integral(inner, outputs, "integral", integrand=region.graph, settings=tuple(settings))
    integral, abserr = op(low, high, *region.parameters, return_list=True)
    return integral, abserr


def quad(
    func: Callable[..., Any],
    a: Any,
    b: Any,
    *,
    args: Sequence[Any] = (),
    epsabs: float = 1.49e-8,
    epsrel: float = 1.49e-8,
    limit: int = 50,
    method: str = "quad",
) -> Quadrature:
    """The integral of ``func`` from ``a`` to ``b``.

    - ``func(x, *args)``: a Python function of a scalar, which returns a real tensor. (SciPy has ``quad`` for
      scalars and ``quad_vec`` for any shape.)
    - ``a``, ``b``: the limits, real scalars. ``-np.inf`` and ``np.inf`` are limits as numbers, not as values of variables.
    - ``epsabs``, ``epsrel``, ``limit``: numbers: the estimated error is at most the larger one of ``epsabs`` and ``epsrel``
      times the largest element, if ``limit`` intervals suffice.
    - ``method``: "quad", adaptive bisection by the rule of Gauss and Kronrod with 21 points; or "tanhsinh", the rule of
      Takahasi and Mori, for functions that are smooth inside of the interval and may be singular at its ends.

    Returns a pair: the integral and an estimate of its error. The integral has derivatives with respect to the limits
    and everything that ``func`` reads, which are integrals by the same method.

    TypeError for limits that are no real scalars, or for a ``func`` that returns no real tensor. ValueError for an unknown
    method or tolerances that are not positive.
    """
    name, _ = is_loop("quad", method, None, METHODS, ())
    check_arguments("The function of quad", func, "the variable", *("one of args" for _ in args))
    if not max(epsabs, epsrel) > 0 or limit < 1:
        raise ValueError(
            f"quad needs a positive epsabs or epsrel, and limit, got {epsabs}, {epsrel} and {limit}"
        )
    settings = Settings(name, float(epsabs), float(epsrel), int(limit))

    def f(x: Any) -> Any:
        value = as_tensor_variable(func(x, *args))
        if value.type.numpy_dtype.kind != "f":
            raise TypeError(f"quad needs a function with real values, got {describe(value)}")
        return value

    ends = [_limit(a, "a"), _limit(b, "b")]
    dtype = np.result_type(*(v.dtype for v in ends)).name
    ends = [v.astype(dtype) for v in ends]
    infinite = [_infinite(v) for v in ends]
    if not any(infinite):
        return Quadrature(*integrate(f, ends[0], ends[1], settings))
    return _over_infinite(f, ends, infinite, settings)


def _over_infinite(
    f: Callable[[Any], Any], ends: Sequence[Any], infinite: Sequence[int], settings: Settings
) -> Quadrature:
    """The integral with infinite limits, by x = c + (1 - t) / t or x = c - (1 - t) / t for t from 0 to 1."""
    low, high = infinite
    if low and high and low == high:
        raise ValueError("quad: both limits are the same infinity")
    if low > 0 or high < 0:
        mirrored = _over_infinite(f, ends[::-1], infinite[::-1], settings)
        return Quadrature(-mirrored.integral, mirrored.abserr)
    dtype = ends[0].dtype
    zero, one = (as_tensor_variable(np.asarray(v, dtype)) for v in (0.0, 1.0))

    def changed(t: Any) -> Any:
        step, weight = (1.0 - t) / t, 1.0 / t**2
        if low and high:
            return (f(step) + f(-step)) * weight
        return (f(ends[0] + step) if high else f(ends[1] - step)) * weight

    return Quadrature(*integrate(changed, zero, one, settings))


def _limit(value: Any, name: str) -> Any:
    limit = as_tensor_variable(float(value) if type(value) is int else value)
    if limit.type.ndim or limit.type.numpy_dtype.kind not in "fiu":
        raise TypeError(f"quad needs a real scalar as its limit {name}, got {describe(limit)}")
    return limit if limit.type.numpy_dtype.kind == "f" else limit.astype("float64")


def _infinite(limit: Any) -> int:
    """1 or -1 for a limit that is known to be infinite, else 0."""
    if not isinstance(limit, Constant) or not np.isinf(limit.data):
        return 0
    return 1 if limit.data > 0 else -1
