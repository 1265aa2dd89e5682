"""Models of PyMC: their log densities as graphs of Occelo, differentiated here, and `use`, which makes them PyMC's own.

A log density that is converted before it is differentiated has the stable gradients of Occelo. The mode "OCCELO" sees
only the gradient that PyTensor made.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any, ClassVar

import numpy as np
import pymc.model.core as pymc_core
from pymc.model.core import ValueGradFunction, modelcontext
from pytensor.compile.mode import get_mode, predefined_modes

import occelo as oc
import occelo.tensor as ot
from occelo_compile.deferred_graphs import Built, DeferredGraph
from occelo_pytensor.conversion import Checks, Settings, convert, converting
from occelo_pytensor.digests import NoDigest, digest_of
from occelo_pytensor.library import theirs as pytensor
from occelo_pytensor.linker import OcceloLinker
from occelo_pytensor.mode import NAME
from occelo_pytensor.variables import converted_shared, our_type


@dataclass
class LogDensity:
    """A log density as a graph of Occelo.

    - ``point``: its input, a float64 vector of all unconstrained parameters, one after the other.
    - ``value``, ``gradient``: the log density (a scalar), and its gradient (a vector like ``point``).
    - ``pieces``: for each value variable of the model by name, the part of ``point`` in its shape.
    """

    point: Any
    value: Any
    gradient: Any
    pieces: dict[str, Any]

    def function(self, **options: Any) -> Any:
        """Compile the function from ``point`` to a list of ``value`` and ``gradient``. ``options`` are those of `occelo.function`."""
        return oc.function([self.point], [self.value, self.gradient], **options)


def log_density(
    model: Any,
    *,
    costs: Any = None,
    variables: Sequence[Any] | None = None,
    shapes: Mapping[str, Sequence[int]] | None = None,
    jacobian: bool = True,
) -> LogDensity:
    """The log density of a model of PyMC, with the Jacobians of the transforms unless ``jacobian`` is false.

    ``variables`` are the value variables that ``point`` consists of, by default those of all free continuous variables;
    ``shapes`` are their shapes by name, by default those of the model's initial point. ``costs`` is a scalar of PyTensor
    that replaces the model's log density. TypeError if the variables are not of floats.
    """
    variables = list(model.continuous_value_vars if variables is None else variables)
    if shapes is None:
        shapes = {k: np.shape(v) for k, v in model.initial_point().items()}
    cost = model.logp(jacobian=jacobian) if costs is None else costs
    settings = Settings(checks_of(model))
    return _converted(model, cost, _point(variables, shapes), variables, shapes, settings)


def _converted(
    model: Any,
    cost: Any,
    point: Any,
    variables: Sequence[Any],
    shapes: Mapping[str, Sequence[int]],
    settings: Settings,
) -> LogDensity:
    pieces = _pieces(point, variables, shapes)
    with model, converting(settings):  # the model's lines are those of the factors
        (value,) = convert([cost], dict(pieces))
    parts = oc.grad(value, list(pieces.values()), disconnected_inputs="ignore")
    named = {v.name: piece for v, piece in pieces.items()}
    return LogDensity(point, value, joined(parts, point.dtype), named)


def checks_of(model: Any) -> Checks:
    """What failed checks of parameters give in densities of a model."""
    return "minus_infinity" if model is None or model.check_bounds else "none"


def _size(shape: Sequence[int]) -> int:
    return int(np.prod(shape, dtype=int))


def _point(variables: Sequence[Any], shapes: Mapping[str, Sequence[int]]) -> Any:
    wrong = [v.name for v in variables if not v.type.dtype.startswith("float")]
    if wrong:
        raise TypeError(f"A log density has no gradient with respect to {', '.join(wrong)}")
    dtype = np.result_type(*(v.type.dtype for v in variables)).name if variables else "float64"
    return ot.tensor("point", dtype=dtype, shape=(sum(_size(shapes[v.name]) for v in variables),))


def _pieces(
    point: Any, variables: Sequence[Any], shapes: Mapping[str, Sequence[int]]
) -> dict[Any, Any]:
    pieces: dict[Any, Any] = {}
    start = 0
    for variable in variables:
        shape = tuple(shapes[variable.name])
        stop = start + _size(shape)
        piece = point[start:stop] if shape else point[start]
        piece = piece if len(shape) < 2 else ot.reshape(piece, shape)
        pieces[variable] = ot.cast(piece, variable.type.dtype)
        start = stop
    return pieces


def deferred_density(
    model: Any, cost: Any, variables: Sequence[Any], shapes: Mapping[str, Sequence[int]]
) -> tuple[Any, list[Any]]:
    """The point, and the value and the gradient of a log density, as those of `log_density`.

    They are converted and differentiated only when something reads their graph: not if the function is in the cache. If
    the graph of PyTensor has no digest, they are converted at once.
    """
    point = _point(variables, shapes)
    sizes = [(v.type.dtype, tuple(shapes[v.name])) for v in variables]
    settings = Settings(checks_of(model))
    try:
        digest, shared = digest_of([cost], variables, point.type, sizes, settings.checks)
    except NoDigest:
        density = _converted(model, cost, point, variables, shapes, settings)
        return point, [density.value, density.gradient]
    roots = [point, *map(converted_shared, shared)]

    def build() -> Built:
        density = _converted(model, cost, point, variables, shapes, settings)
        return Built(roots, [density.value, density.gradient], not settings.called)

    kinds = our_type(cost.type), point.type
    return point, DeferredGraph(digest, kinds, build)(*roots, return_list=True)


def joined(parts: Sequence[Any], dtype: str) -> Any:
    """The elements of all ``parts`` as one vector."""
    flat = [ot.cast(ot.ravel(part), dtype) for part in parts]
    if not flat:
        return ot.constant(np.zeros(0, dtype))
    return flat[0] if len(flat) == 1 else ot.concatenate(flat)


class ConvertedValueGrad(ValueGradFunction):
    """What ``Model.logp_dlogp_function`` gives while `use` is on: value and gradient, differentiated here.

    With another mode than "OCCELO" it is PyMC's own.
    """

    def __init__(
        self,
        costs: Sequence[Any],
        grad_vars: Sequence[Any],
        extra_vars_and_values: Mapping[Any, Any] | None = None,
        *,
        dtype: str | None = None,
        casting: str = "no",
        compute_grads: bool = True,
        model: Any = None,
        initial_point: Any = None,
        ravel_inputs: bool | None = None,
        **options: Any,
    ) -> None:
        linker = get_mode(options.get("mode")).linker
        if not isinstance(linker, OcceloLinker) or not compute_grads or not ravel_inputs:
            super().__init__(
                costs, grad_vars, extra_vars_and_values, dtype=dtype, casting=casting,
                compute_grads=compute_grads, model=model, initial_point=initial_point,
                ravel_inputs=ravel_inputs, **options,
            )  # fmt: skip
            return
        model = modelcontext(model)
        extra = dict(extra_vars_and_values or {})
        self._grad_vars = list(grad_vars)
        self._extra_vars = list(extra)
        self._extra_var_names = {v.name for v in extra}
        self.dtype = pytensor.config.floatX if dtype is None else dtype
        self._n_costs = len(costs)
        self._weights: Any = pytensor.shared(np.ones(len(costs) - 1, self.dtype), "__weights")
        self._extra_vars_shared = {
            v.name: pytensor.shared(value, f"{v.name}_shared__", shape=np.shape(value))
            for v, value in extra.items()
        }
        self._extra_are_set = False
        self._raveled_inputs = True
        start = model.initial_point() if initial_point is None else initial_point
        point, density = deferred_density(
            model,
            self._total(costs),
            self._grad_vars,
            {k: np.shape(v) for k, v in start.items()},
        )
        self._pytensor_function = oc.function(
            [point], density, mode=linker.occelo_mode, on_unused_input="ignore"
        )

    def _total(self, costs: Sequence[Any]) -> Any:
        total, weights = costs[0], self._weights
        for i, cost in enumerate(costs[1:]):
            total = total + weights[i] * cost
        if self._extra_vars:
            replacements = {v: self._extra_vars_shared[v.name] for v in self._extra_vars}
            (total,) = pytensor.graph.replace.graph_replace([total], replacements, strict=False)
        return total

    def copy(self) -> Any:
        if not hasattr(self, "_weights"):
            return super().copy()
        copied = object.__new__(type(self))
        copied.__dict__.update(self.__dict__)
        held = {"__weights": self._weights, **self._extra_vars_shared}
        new = {
            name: pytensor.shared(old.get_value(), old.name, shape=old.type.shape)
            for name, old in held.items()
        }
        copied._weights = new.pop("__weights")
        copied._extra_vars_shared = new
        copied._extra_are_set = False
        from occelo_pytensor.variables import converted_shared

        pairs = [(self._weights, copied._weights)]
        pairs += [(old, new[name]) for name, old in self._extra_vars_shared.items()]
        used = set(self._pytensor_function.get_shared())
        swap = {
            converted_shared(old): converted_shared(other)
            for old, other in pairs
            if converted_shared(old) in used
        }
        copied._pytensor_function = self._pytensor_function.copy(swap=swap)
        return copied


class use:  # called like a function
    """Make Occelo the default of PyTensor and PyMC in this process, until `stop` or the end of a ``with`` block.

    The mode of PyTensor becomes "OCCELO", and ``Model.logp_dlogp_function`` (for NUTS, ``find_MAP`` and others) gives
    value and gradient that are differentiated here. Functions that are compiled already stay as they are. Several uses
    may overlap: the last that stops restores what was before the first.
    """

    _active: ClassVar[list[use]] = []
    _before: ClassVar[tuple[Any, Any]]

    def __init__(self) -> None:
        if not self._active:
            use._before = (pytensor.config.mode, pymc_core.ValueGradFunction)
        self._active.append(self)
        pytensor.config.mode = predefined_modes[NAME]
        pymc_core.ValueGradFunction = ConvertedValueGrad

    def stop(self) -> None:
        """Restore the mode and the function from before, unless another use goes on. A second call has no effect."""
        if self not in self._active:
            return
        self._active.remove(self)
        if not self._active:
            pytensor.config.mode, pymc_core.ValueGradFunction = self._before

    def __enter__(self) -> use:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()
