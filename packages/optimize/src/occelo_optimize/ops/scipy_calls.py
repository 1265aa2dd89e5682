"""`ScipySolver`: an op that calls a solver of `scipy.optimize`, which calls one compiled function of values and derivatives.

It stands inside of an `ImplicitFunction`, which has its derivatives. On every backend the call is one of Python.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, cast

import numpy as np

from occelo_graph.errors import describe
from occelo_graph.fgraph.frozen import FrozenFunctionGraph, freeze
from occelo_graph.gradient.jacobians import jacobian
from occelo_graph.ir.nodes import Apply, Variable
from occelo_graph.ir.op import Cotangents, Op, op
from occelo_graph.ir.op_caches import cache_of
from occelo_graph.narrowing import is_list_or_tuple
from occelo_graph.optional_scipy import scipy_module
from occelo_graph.tensors.type import TensorType
from occelo_graph.upward import repeated
from occelo_optimize.ops.methods.iterating import TEXT, Found, derivative
from occelo_optimize.ops.regions import Region

WITHOUT_GRADIENT = ("nelder-mead", "powell", "cobyla", "cobyqa")
WITH_HESSIAN = ("newton-cg", "dogleg", "trust-ncg", "trust-exact", "trust-krylov", "trust-constr")
MINIMIZERS = (*WITHOUT_GRADIENT, *WITH_HESSIAN, "cg", "bfgs", "l-bfgs-b", "tnc", "slsqp")
"""SciPy's methods for `minimize`."""
WITH_CONSTRAINTS = ("slsqp", "trust-constr", "cobyla", "cobyqa")
WITH_JACOBIAN = ("hybr", "lm")
ROOTS = (
    *WITH_JACOBIAN, "broyden1", "broyden2", "anderson", "linearmixing", "diagbroyden", "excitingmixing", "krylov", "df-sane",
)  # fmt: skip
"""SciPy's methods for `root`."""
SCALAR_ROOTS = ("bisect", "brentq", "brenth", "ridder", "toms748", "newton", "secant", "halley")
"""SciPy's methods for `root_scalar`."""
SCALAR_MINIMIZERS = ("brent", "bounded", "golden")
"""SciPy's methods for `minimize_scalar`."""
LEAST_SQUARES = ("trf", "dogbox", "lm")
"""SciPy's methods for `least_squares`."""
_TEXT_BYTES = 256
_OTHERS = {
    "bfgs": ("hess_inv",),
    "l-bfgs-b": ("sk", "yk"),
    **dict.fromkeys(WITH_HESSIAN, ("nhev",)),
}
"""What a method of `minimize` returns beside the rest."""


@op
class ScipySolver(Op):
    """A call of the function ``name`` of `scipy.optimize`.

    ``graph`` computes values and derivatives, from the variable and parameters. The inputs of a node are the
    start, which is a tensor like the variable, and the parameters; the outputs are those of `Found`, where ``status`` is SciPy's own number,
    with ``others`` by their names. ``options`` are the other arguments of the function.
    """

    graph: FrozenFunctionGraph
    name: str
    options: Mapping[str, Any]
    others: tuple[str, ...]

    def infer(self, *types: Any) -> Any:
        return (
            types[0],
            TensorType("bool", ()),
            *[TensorType("int64", ())] * 4,
            *[self._other_type(name, types[0]) for name in self.others],
        )

    def _other_type(self, name: str, of_start: Any) -> TensorType:
        if name == TEXT:
            return TensorType("uint8", (_TEXT_BYTES,))
        if name in ("sk", "yk"):
            return TensorType(of_start.dtype, (self._corrections, *of_start.shape))
        if name == "hess_inv":
            return TensorType(of_start.dtype, of_start.shape * 2)
        return TensorType("int64", ())

    @property
    def _corrections(self) -> int:
        """How many steps SciPy's L-BFGS-B keeps."""
        own: Any = self.options.get("options") or {}
        return int(own.get("maxcor", 10))

    def infer_shape(self, node: Apply, input_shapes: Sequence[Any]) -> Sequence[Any]:
        shape = tuple(input_shapes[0])
        rows = (self._corrections, *shape)
        lengths = {TEXT: (_TEXT_BYTES,), "hess_inv": shape * 2, "sk": rows, "yk": rows}
        return [shape, *[()] * 5, *(lengths.get(name, ()) for name in self.others)]

    def batch(
        self, node: Apply, inputs: Sequence[Any], batch_ndims: Sequence[int]
    ) -> Sequence[Any]:
        return repeated(node, inputs)

    def pullback(
        self, inputs: Sequence[Variable], outputs: Sequence[Variable], cotangents: Cotangents
    ) -> Cotangents:
        raise NotImplementedError(f"{self} has no derivatives; the ImplicitFunction around it has")

    def evaluate(self, start: Any, *parameters: Any) -> Any:
        optimize = scipy_module("optimize", f"optimize.{self.name}")
        values = _Values(self._compiled(), parameters, start.dtype)
        result = self._searched(optimize, values, np.asarray(start, np.float64))
        x = result.x if hasattr(result, "x") else result.root
        success = result.success if hasattr(result, "success") else result.converged
        # SciPy's COBYLA and "lm" of roots call a point a solution where the function is not finite
        unchecked = str(self.options.get("method")) in WITHOUT_GRADIENT
        value = values(0, x) if unchecked else result.get("fun", 0.0)
        success = success and bool(np.isfinite(value).all())
        points = result.get("nfev", values.points)
        steps = result.get("nit", result.get("iterations", points))
        status = result.get("status", 0 if success else 1)
        numbers = steps, points, result.get("njev", 0), status
        return (
            np.asarray(x, start.dtype).reshape(start.shape),
            np.asarray(success, "bool"),
            *(np.asarray(n, "int64") for n in numbers),
            *(self._other(name, result, start) for name in self.others),
        )

    def _searched(self, optimize: Any, values: _Values, start: Any) -> Any:
        """SciPy's result. Without elements, or where SciPy refuses a NaN at the start, there is no search, as in loops."""
        first = int(self.name in ("root", "least_squares"))
        if start.size == 0:
            return optimize.OptimizeResult(
                x=start, success=True, status=first, nit=0, message="There are no elements."
            )
        try:
            return getattr(_CALLS, self.name)(optimize, values, start, dict(self.options))
        except (ValueError, ArithmeticError, np.linalg.LinAlgError):
            if np.isfinite(start).all() and np.isfinite(values(0, start)).all():
                raise
            told = "The start, or the function there, is not finite."
            return optimize.OptimizeResult(
                x=start, success=False, status=first - 1, nit=0, message=told
            )

    def _other(self, name: str, result: Any, start: Any) -> Any:
        if name == TEXT:
            text = str(result.get("message", result.get("flag", ""))).encode()[:_TEXT_BYTES]
            return np.frombuffer(text.ljust(_TEXT_BYTES, b"\0"), "uint8")
        if name in ("sk", "yk"):
            # the product has as many rows as there were steps, the newest one last
            rows = np.zeros((self._corrections, *start.shape), start.dtype)
            if "hess_inv" in result:
                kept = getattr(result.hess_inv, name)
                rows[len(rows) - len(kept) :] = kept
            return rows
        if name == "hess_inv":
            inverse = result.get("hess_inv", np.eye(start.size))
            return np.asarray(inverse, start.dtype).reshape(start.shape * 2)
        return np.asarray(result.get(name, 0), "int64")

    def _compiled(self) -> Callable[..., Any]:
        cache = cache_of(self, "_functions_cache")
        if None not in cache:
            from occelo_compile import In, Out, function  # slow to import

            inputs = [v.type.make_variable() for v in self.graph.inputs]
            outputs = [Out(v, borrow=True) for v in self.graph.bind(inputs)]
            arguments = [In(v, borrow=True) for v in inputs]
            cache[None] = function(arguments, outputs, on_unused_input="ignore")
        compiled: Callable[..., Any] = cache[None]
        return compiled

    def __str__(self) -> str:
        return f"ScipySolver{{{self.name}, {self.options.get('method')}}}"


class _Values:
    """The values and derivatives at a point. SciPy asks for them one by one, and they are computed together.

    SciPy gets doubles, which some of its methods need, whatever ``dtype`` the function takes.
    """

    def __init__(self, function: Callable[..., Any], parameters: Sequence[Any], dtype: Any) -> None:
        self.function = function
        self.parameters = parameters
        self.dtype = dtype
        self.point: Any = None
        self.points = 0
        self.found: Sequence[Any] = ()

    def __call__(self, which: int, x: Any) -> Any:
        return self.found_at(x)[which]

    def found_at(self, x: Any) -> Sequence[Any]:
        """All values at a point."""
        if self.point is None or not np.array_equal(self.point, x, equal_nan=True):
            point = np.array(x)
            self.points += 1
            results = self.function(point.astype(self.dtype), *self.parameters)
            # an error leaves the point of before, with its values
            self.point, self.found = point, [np.array(v, np.float64) for v in results]
        return self.found


class _Calls:
    """How each function of SciPy is called, with the values in the order of the graph."""

    def minimize(self, module: Any, values: _Values, start: Any, options: dict[str, Any]) -> Any:
        method = str(options["method"]).lower()
        use = options.pop("jac", True)
        if isinstance(options.get("bounds"), dict):
            options["bounds"] = module.Bounds(**options["bounds"])
        derivatives: dict[str, Any] = {}
        if method not in WITHOUT_GRADIENT and use:
            derivatives["jac"] = partial(values, 1)
        if method in WITH_HESSIAN:
            derivatives["hess"] = partial(values, 2)
        kinds = options.pop("kinds", ())
        first = len(values.found_at(start)) - 2 * len(kinds)
        if kinds:
            options["constraints"] = [
                {"type": k, "fun": partial(values, i), "jac": partial(values, i + 1)}
                for k, i in zip(kinds, range(first, first + 2 * len(kinds), 2), strict=True)
            ]
        return module.minimize(partial(_number, values, 0), start, **derivatives, **options)

    def root(self, module: Any, values: _Values, start: Any, options: dict[str, Any]) -> Any:
        method = str(options["method"]).lower()
        use = options.pop("jac", True) and method in WITH_JACOBIAN
        derivatives = {"jac": partial(values, 1)} if use else {}
        return module.root(partial(values, 0), start, **derivatives, **options)

    def least_squares(
        self, module: Any, values: _Values, start: Any, options: dict[str, Any]
    ) -> Any:
        return module.least_squares(partial(values, 0), start, jac=partial(values, 1), **options)

    def root_scalar(self, module: Any, values: _Values, start: Any, options: dict[str, Any]) -> Any:
        slopes = {"fprime": partial(_number, values, 1), "fprime2": partial(_number, values, 2)}
        needed = {"newton": ["fprime"], "halley": ["fprime", "fprime2"]}.get(options["method"], [])
        begin = {} if "bracket" in options else {"x0": float(start)}
        return module.root_scalar(
            partial(_number, values, 0), **begin, **{k: slopes[k] for k in needed}, **options
        )

    def minimize_scalar(
        self, module: Any, values: _Values, start: Any, options: dict[str, Any]
    ) -> Any:
        if options["method"] != "bounded":
            options.setdefault("bracket", (float(start), float(start) + 1.0))
        return module.minimize_scalar(partial(_number, values, 0), **options)


_CALLS = _Calls()


def _number(values: _Values, which: int, x: Any) -> float:
    return float(values(which, x))


def call_scipy(
    region: Region, name: str, order: int, options: Mapping[str, Any]
) -> Callable[..., Found]:
    """A method for `apply_method` that calls the function ``name`` of SciPy.

    The value of ``region`` and its first derivatives, so many as ``order`` says, are computed together, with the further
    values of ``region``, which are constraints, and their Jacobians. TypeError for options that
    are variables.
    """
    own = [v.type.make_variable() for v in region.graph.inputs]
    x = own[0]
    value, *limits = cast("list[Any]", list(region.graph.bind(own)))
    values = [value]
    if order > 0:
        values.append(derivative(value, x) if value.type.ndim == 0 else jacobian(value, x))
    if order > 1:
        scalar = x.type == value.type
        values.append(
            derivative(values[1], x, disconnected_inputs="ignore")
            if scalar
            else jacobian(values[1], x, disconnected_inputs="ignore")
        )
    for limit in limits:
        values += [limit, jacobian(limit, x, disconnected_inputs="ignore")]
    graph = freeze(own, values)
    settings = {k: _plain(name, k, v) for k, v in options.items() if v is not None}
    others = (TEXT, *_OTHERS.get(str(settings.get("method")), ()))
    if name == "root_scalar":
        others = (TEXT, "function_calls")

    def solve(function: Any, start: Any, *, parameters: Sequence[Any]) -> Found:
        del function
        results = ScipySolver(graph, name, settings, others)(start, *parameters)
        named = dict(zip(others, results[6:], strict=True))
        return Found(*results[:6])._replace(others=named)

    return solve


def _plain(name: str, key: str, value: Any) -> Any:
    """An option as plain Python values. TypeError for a variable, or for an object that is no number, text or list."""
    if isinstance(value, np.ndarray | np.generic):
        return _plain(name, key, value.tolist())
    if type(value) is dict:
        options = cast("dict[str, Any]", value)
        return {k: _plain(name, k, v) for k, v in options.items()}
    if is_list_or_tuple(value):
        return tuple(_plain(name, key, v) for v in value)
    if value is None or isinstance(value, bool | int | float | str):
        return value
    shown = describe(value) if hasattr(value, "type") else repr(value)
    raise TypeError(f"SciPy's {name} takes numbers and texts as options here, and {key} is {shown}")
