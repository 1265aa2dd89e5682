"""`Row`, the formulas of one distribution of random numbers, and `Distribution`, the base class of objects with the methods of a distribution.

Modules of distributions, such as `on_the_line` and `counts`, write their distributions as rows. The classes derived from `Distribution` in
`continuous` and `discrete` turn a row into methods. `Distribution` checks the arguments of these methods.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from occelo_graph.config import FLOAT_X
from occelo_graph.ops.cast import cast
from occelo_graph.ops.elemwise.arithmetic import and_, isnan, second, switch
from occelo_graph.tensors.constant import as_tensor_variable, constant
from occelo_graph.tensors.type import is_complex, is_float

if TYPE_CHECKING:
    from occelo_graph.tensors.variable import TensorVariable

Formula = (
    Callable[[], Any]
    | Callable[[Any], Any]
    | Callable[[Any, Any], Any]
    | Callable[[Any, Any, Any], Any]
    | Callable[[Any, Any, Any, Any], Any]
)
"""A function of the standardized variable (or of a probability) and the shape parameters, all of one float dtype."""
AnyFormula = Callable[..., Any]
Check = Callable[[Any], Any]
"""A function that returns whether a parameter is valid: a bool for a number, a mask for a tensor."""


def number(value: Any) -> Any:
    """Whether a value is not NaN."""
    return (value <= 0) | (value > 0)


def positive(value: Any) -> Any:
    """Whether a value is above 0."""
    return value > 0


def positive_and_finite(value: Any) -> Any:
    """Whether a value is above 0 and finite."""
    return (value > 0) & (value < math.inf)


def not_negative(value: Any) -> Any:
    """Whether a value is 0 or more."""
    return value >= 0


def probability(value: Any) -> Any:
    """Whether a value is from 0 to 1."""
    return (value >= 0) & (value <= 1)


def probability_above_zero(value: Any) -> Any:
    """Whether a value is above 0, and at most 1."""
    return (value > 0) & (value <= 1)


def whole(value: Any) -> Any:
    """Whether a value is a nonnegative whole number."""
    return (value >= 0) & (value % 1 <= 0)


def constant_in(x: Any, value: Any) -> Any:
    """``value`` where ``x`` is a number, and NaN where ``x`` is NaN."""
    return switch(isnan(x), math.nan, value)


def _everything(*shapes: Any) -> None:
    return None


@dataclass(frozen=True)
class Row:
    """The formulas of one distribution, in its standard form (location 0, scale 1).

    A formula of a density or distribution function accepts the variable and then the shape parameters. A formula of a
    quantile accepts a probability and the parameters. A formula of a moment accepts only the parameters. Formulas are
    called only with values inside of the support. Outside of the support the methods need no formula; a density is 0
    there, for instance. If a row lacks a formula, `deriving` tries to derive it from the other formulas.

    - ``parameters``: the names of the shape parameters, each with a check of its value.
    - ``valid``: a check of all parameters together, such as ``a < b``.
    - ``support``: the lower and upper bound, each a number or a function of the parameters. None if the formulas hold
      on the whole line and at both infinities.
    - ``open_below``: whether the density at the lower bound is 0 and ``logdensity`` must not be called there.
    - ``inside``: a number within the support. By default, it is derived from the bounds.
    - ``from_logcdf`` and ``from_logsf``: the inverses of ``logcdf`` and ``logsf``.
    - ``symmetric``: whether the density is an even function.
    - ``periodic``: whether the density is periodic, and so has a value outside of the support, too.
    - ``density``: a formula of the density that is used only where the density can be 0: at the finite bounds of the
      support of a continuous distribution, and at the ``ends`` of a distribution on whole numbers. Everywhere else the density is
      computed as ``exp(logdensity)``, whose derivatives would be NaN where the density is 0.
    - ``ends``: for distributions on whole numbers; maps the name of a parameter to the values of the parameter at which some
      probabilities are 0.
    - ``searched``: whether quantiles are found by bisection, which calls ``logcdf`` and ``logsf``.
    """

    name: str
    doc: str
    logdensity: Formula
    parameters: Mapping[str, Check] = field(default_factory=dict[str, Check])
    valid: AnyFormula = _everything
    support: tuple[Any, Any] | None = (-math.inf, math.inf)
    open_below: bool = False
    density: Formula | None = None
    ends: Mapping[str, Sequence[float]] = field(default_factory=dict[str, Sequence[float]])
    inside: Any = None
    symmetric: bool = False
    periodic: bool = False
    searched: bool = False
    cdf: Formula | None = None
    sf: Formula | None = None
    logcdf: Formula | None = None
    logsf: Formula | None = None
    ppf: Formula | None = None
    isf: Formula | None = None
    from_logcdf: Formula | None = None
    from_logsf: Formula | None = None
    mean: Formula | None = None
    var: Formula | None = None
    entropy: Formula | None = None

    def bounds(self, shapes: Sequence[Any]) -> tuple[Any, Any]:
        """The lower and the upper bound of the support: tensors if they depend on parameters, else numbers."""
        low, high = self.support or (-math.inf, math.inf)
        return (
            low(*shapes) if callable(low) else low,
            high(*shapes) if callable(high) else high,
        )

    def interior(self, shapes: Sequence[Any]) -> Any:
        """A number (or tensor) within the support."""
        if self.inside is not None:
            return self.inside(*shapes) if callable(self.inside) else self.inside
        low, high = self.support or (-math.inf, math.inf)
        finite = [each for each in (low, high) if not callable(each) and math.isfinite(each)]
        if len(finite) == 2:
            return (low + high) / 2
        return finite[0] + 1.0 if finite and finite[0] is low else 0.0


def _is_weak(value: Any) -> bool:
    return isinstance(value, bool | int | float) and not isinstance(value, np.generic)


def float_dtype(values: Sequence[Any], where: str) -> str:
    """The common float dtype of arguments; floatX if all are integers or Python numbers.

    ``where`` is the name of the method for the TypeError that complex arguments raise.
    """
    strong = [as_tensor_variable(each).type.dtype for each in values if not _is_weak(each)]
    if any(is_complex(each) for each in strong):
        raise TypeError(f"{where} is defined for real tensors")
    dtype = np.result_type(*strong).name if strong else ""
    return dtype if is_float(dtype) else FLOAT_X.get()


def as_float(value: Any, dtype: str) -> Any:
    """The argument ``value`` as a tensor of the float dtype ``dtype``."""
    weak = constant(np.array(value, dtype)) if _is_weak(value) else None
    return cast(as_tensor_variable(value), dtype) if weak is None else weak


@dataclass
class Arguments:
    """The arguments of one call as tensors of one float dtype, and a mask of valid parameters.

    ``x`` is the variable or the probability; None for moments. ``shapes`` are the shape parameters. ``loc`` is None if
    it is 0, and ``scale`` is None if it is 1. ``valid`` is the mask; None if the parameters are known to be valid.
    """

    dtype: str
    x: Any
    shapes: tuple[Any, ...]
    loc: Any
    scale: Any
    valid: Any

    def checked(self, value: Any) -> TensorVariable:
        """``value``, cast to the dtype of the call, with NaN where a parameter is invalid."""
        typed = cast(value, self.dtype)
        if self.valid is None:
            return typed
        masked: TensorVariable = switch(self.valid, typed, constant(np.array(math.nan, self.dtype)))
        return masked

    def tensor(self, value: Any) -> Any:
        """``value`` as a tensor, if it is a Python number; else ``value`` itself."""
        return constant(np.array(value, self.dtype)) if _is_weak(value) else value

    def spread(self, value: Any) -> Any:
        """``value``, broadcast to the common shape of all parameters; NaN where the location is NaN."""
        if self.loc is not None:
            value = constant_in(self.loc, value)
        for each in (*self.shapes, self.loc, self.scale):
            if each is not None and each.type.ndim:
                value = second(each, value)
        return value


class Distribution:
    """Base class of distributions. It binds the arguments of methods to the names of parameters, converts them and checks them.

    `ContinuousDistribution` and `DiscreteDistribution` add the methods.
    """

    row: Row
    scaled: bool = True

    def __init__(self, row: Row) -> None:
        self.row = row
        self.__doc__ = row.doc

    def __repr__(self) -> str:
        return f"<distribution {self.row.name}({', '.join(self.names)})>"

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the parameters, in the order of positional arguments."""
        return (*self.row.parameters, "loc", *(("scale",) if self.scaled else ()))

    def _bound(self, method: str, args: Sequence[Any], named: Mapping[str, Any]) -> dict[str, Any]:
        where = f"{self.row.name}.{method}()"
        if len(args) > len(self.names):
            raise TypeError(
                f"{where} takes the parameters {', '.join(self.names)}, got {len(args)} of them"
            )
        bound = dict(zip(self.names, args, strict=False))
        for name, value in named.items():
            if name not in self.names:
                raise TypeError(f"{where} has no parameter {name!r}, but {', '.join(self.names)}")
            if name in bound:
                raise TypeError(f"{where} got two values for {name!r}")
            bound[name] = value
        missing = [name for name in self.row.parameters if name not in bound]
        if missing:
            raise TypeError(f"{where} needs {', '.join(missing)}")
        return {"loc": 0.0, "scale": 1.0} | bound

    def _arguments(
        self, method: str, x: Any, args: Sequence[Any], named: Mapping[str, Any]
    ) -> Arguments:
        bound = self._bound(method, args, named)
        values = [*([] if x is None else [x]), *bound.values()]
        dtype = float_dtype(values, f"{self.row.name}.{method}()")

        def tensor(value: Any) -> Any:
            return as_float(value, dtype)

        shapes = tuple(tensor(bound[name]) for name in self.row.parameters)
        loc, scale = (
            None if _is_weak(bound[name]) and bound[name] == usual else tensor(bound[name])
            for name, usual in (("loc", 0), ("scale", 1))
        )
        conditions = [
            check(value)
            for (name, check), value in zip(self.row.parameters.items(), shapes, strict=True)
            # a valid Python number needs no check when the graph runs
            if not (_is_weak(bound[name]) and check(bound[name]))
        ]
        if scale is not None and not (_is_weak(bound["scale"]) and bound["scale"] > 0):
            conditions.append(positive(scale))
        joint = self.row.valid(*shapes)
        valid: Any = None
        for condition in (*conditions, *([] if joint is None else [joint])):
            valid = condition if valid is None else and_(valid, condition)
        return Arguments(dtype, None if x is None else tensor(x), shapes, loc, scale, valid)

    def _formula(self, method: str, formula: AnyFormula | None) -> AnyFormula:
        """Return ``formula``. If it is None, raise NotImplementedError with the name of ``method``."""
        if formula is None:
            raise NotImplementedError(f"{self.row.name}.{method}() has no formula here")
        return formula
