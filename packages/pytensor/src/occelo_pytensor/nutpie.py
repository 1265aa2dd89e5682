"""`nutpie_model`: a model of PyMC for the sampler nutpie, whose log density and trace are C functions of Occelo.

The sampler calls both on its own threads, without Python and without Numba. Data and constants are passed by their
addresses, so new data need no compilation.
"""

from __future__ import annotations

import dataclasses
import itertools
import threading
from collections.abc import Sequence
from typing import Any

import numpy as np
import nutpie._lib as nutpie_lib
import pandas as pd
from nutpie.sample import CompiledModel
from pymc.initial_point import make_initial_point_fn

import occelo as oc
from occelo_pytensor.conversion import Settings, convert, converting
from occelo_pytensor.library import theirs as pytensor
from occelo_pytensor.models import LogDensity, checks_of, joined, log_density

UNCONSTRAINED = "unconstrained_parameter"
"""The name of nutpie's dimension of all unconstrained parameters."""


@dataclasses.dataclass(frozen=True)
class _Names:
    """What the trace holds: names and shapes of its variables, in the order of the vector that the trace function gives."""

    names: list[str]
    shapes: list[tuple[int, ...]]
    sampled: int
    """The number of names that are unconstrained parameters; they come first."""


@dataclasses.dataclass(frozen=True)
class OcceloNutpieModel(CompiledModel):
    """What `nutpie.sample` takes.

    - ``density``: the C function of the log density and its gradient.
    - ``expand``: the C function from the unconstrained parameters to all values of the trace.
    """

    density: Any
    expand: Any
    initial_point: Any
    trace: _Names
    count: int
    _coords: dict[str, Any]
    _shapes: dict[str, tuple[int, ...]]
    _transform_adapt_args: dict[str, Any] | None = None

    @property
    def n_dim(self) -> int:
        """The number of unconstrained parameters."""
        return self.count

    @property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """The shapes of the variables of the trace by name."""
        return self._shapes

    @property
    def coords(self) -> dict[str, Any]:
        """The coordinates of the dimensions by name."""
        return self._coords

    def with_data(self, **updates: Any) -> OcceloNutpieModel:
        """The same model with other values of the model's data (``pm.Data``). Nothing is compiled.

        KeyError for names that the model does not have, ValueError for another number of dimensions.
        """
        names = {*self.density.names, *self.expand.names}
        unknown = sorted(set(updates) - names)
        if unknown:
            raise KeyError(f"The model has no data named {', '.join(unknown)}")
        return dataclasses.replace(
            self, density=self.density.with_data(updates), expand=self.expand.with_data(updates)
        )

    def with_transform_adapt(self, **options: Any) -> OcceloNutpieModel:
        """The same model, sampled with nutpie's adaptation of transforms."""
        return dataclasses.replace(self, _transform_adapt_args=options)

    def _make_sampler(
        self,
        settings: Any,
        init_mean: Any,
        cores: Any,
        progress_type: Any,
        extra_callback: Any,
        extra_callback_rate: Any,
        store: Any,
    ) -> Any:
        return nutpie_lib.PySampler.from_pymc(
            settings, cores, self._make_model(init_mean), progress_type, extra_callback,
            extra_callback_rate, store,
        )  # fmt: skip

    def _make_model(self, init_mean: Any) -> Any:
        size = int(sum(np.prod(shape, dtype=int) for shape in self.trace.shapes))
        density = nutpie_lib.LogpFunc(self.density.address, self.density.data, self)
        expand = nutpie_lib.ExpandFunc(
            self.count, size, self.expand.address, self.expand.data, self
        )
        sizes = {name: len(values) for name, values in self._coords.items()}
        names = self.trace.names
        variables = nutpie_lib.PyVariable.new_variables(
            names, ["float64"] * len(names), self.trace.shapes, sizes, dict(self.dims or {})
        )
        options = self._transform_adapt_args or {}

        def make_adapter(*arguments: Any, **more: Any) -> Any:
            from nutpie.transform_adapter import make_transform_adapter

            return make_transform_adapter(**options)(*arguments, **more, logp_fn=None)

        return nutpie_lib.PyMcModel(
            density, expand, variables, self.count, sizes, dict(self._coords), self._start,
            make_adapter,
        )  # fmt: skip

    def _start(self, seed: Any) -> Any:
        """An initial point at which no check fails, of ten. ValueError with the check and its line if there is none.

        The sampler itself knows checks by their numbers only.
        """
        code = 0
        for attempt in range(10):
            point = self.initial_point(seed + attempt)
            value, gradient = np.zeros(()), np.zeros_like(point)
            places = [a.ctypes.data for a in (point, gradient, value)]
            code = self.density.function.ctypes(len(point), *places, self.density.data)
            if code <= 0:
                return point
        raise ValueError(self.density.function.errors[code])


class _CFunction:
    """A C function of Occelo, with the names of its data."""

    def __init__(self, function: Any, names: frozenset[str]) -> None:
        self.function = function
        self.names = names

    @property
    def address(self) -> int:
        """The address of the function."""
        return self.function.address

    @property
    def data(self) -> int:
        """The address of its data."""
        return self.function.data

    def with_data(self, updates: dict[str, Any]) -> _CFunction:
        """The function with other values of those data that it has."""
        own = {name: value for name, value in updates.items() if name in self.names}
        return _CFunction(self.function.with_data(own), self.names) if own else self


def nutpie_model(
    model: Any, *, var_names: Sequence[str] | None = None, initial_points: Any = None
) -> OcceloNutpieModel:
    """A model of PyMC as `nutpie.sample` takes it.

    ``var_names`` are the names of the variables that the trace holds besides the sampled ones, by default all.
    ``initial_points`` are overrides of initial values, as PyMC's ``initvals``. TypeError for models with discrete
    parameters, or with an op that can run in Python only.
    """
    discrete = [v.name for v in model.free_RVs if not v.type.dtype.startswith("float")]
    if discrete:
        raise TypeError(f"nutpie cannot sample the discrete parameters {', '.join(discrete)}")
    variables = [model.rvs_to_values[v] for v in model.free_RVs]
    values = _initial_values(model, initial_points)
    start = values(0)
    shapes = {k: tuple(np.shape(v)) for k, v in start.items()}
    density = log_density(model, variables=variables, shapes=shapes)
    rest = _rest(model, variables, var_names)
    expand, trace = _expansion(model, density, variables, start, rest)
    functions = [
        _compiled(density.function(), "log_density_gradient"),
        _compiled(oc.function([density.point], expand), "vector"),
    ]
    dims, coords = _dims(model, variables, trace)
    return OcceloNutpieModel(
        dims=dims,
        reparameterized_names=[
            model.rvs_to_values[v].name
            for v in model.free_RVs
            if model.rvs_to_transforms.get(v) is not None
        ],
        density=functions[0],
        expand=functions[1],
        initial_point=_initial_point(values, variables),
        trace=trace,
        count=int(density.point.type.shape[0]),
        _coords=coords,
        _shapes=dict(zip(trace.names, trace.shapes, strict=True)),
    )


def _compiled(function: Any, form: str) -> _CFunction:
    names = frozenset(v.name for v in function.get_shared() if v.name)
    return _CFunction(function.c_function(form), names)


def _rest(model: Any, variables: Sequence[Any], var_names: Sequence[str] | None) -> list[Any]:
    """The variables of the trace that are computed from the sampled ones."""
    sampled = {v.name for v in variables}
    rest = [v for v in model.unobserved_value_vars if v.name not in sampled]
    return rest if var_names is None else [v for v in rest if v.name in set(var_names)]


def _expansion(
    model: Any,
    density: LogDensity,
    variables: Sequence[Any],
    start: dict[str, Any],
    rest: Sequence[Any],
) -> tuple[Any, _Names]:
    memo: dict[Any, Any] = {v: density.pieces[v.name] for v in variables}
    with converting(Settings(checks_of(model))):
        computed = convert(list(rest), dict(memo))
    values = [density.pieces[v.name] for v in variables]
    vector = joined([*values, *computed], "float64")
    names = [v.name for v in (*variables, *rest)]
    shapes = [tuple(np.shape(start[v.name])) for v in variables]
    shapes += _evaluated_shapes(computed, density, [start[v.name] for v in variables])
    return vector, _Names(names, shapes, len(variables))


def _evaluated_shapes(
    computed: Sequence[Any], density: LogDensity, start: Sequence[Any]
) -> list[tuple[int, ...]]:
    if all(None not in v.type.shape for v in computed):
        return [tuple(v.type.shape) for v in computed]
    lengths = oc.function([density.point], [v.shape for v in computed], on_unused_input="ignore")
    point = np.concatenate([np.ravel(v) for v in start])
    return [tuple(int(n) for n in shape) for shape in lengths(point)]


def _initial_values(model: Any, overrides: Any) -> Any:
    """PyMC's function from a seed to initial values. It runs once for each chain, so PyTensor compiles no C for it."""
    with pytensor.config.change_flags(cxx=""):
        return make_initial_point_fn(
            model=model, overrides=overrides, default_strategy="support_point",
            jitter_rvs=set(model.free_RVs), return_transformed=True,
        )  # fmt: skip


def _initial_point(values: Any, variables: Sequence[Any]) -> Any:
    """The function from a seed to a vector of initial values, as nutpie calls it."""
    # chains start in threads of their own, and a function of PyTensor keeps its values in itself
    lock = threading.Lock()

    def start(seed: Any) -> Any:
        with lock:
            point = values(seed)
        return np.concatenate([np.ravel(np.asarray(point[v.name], "float64")) for v in variables])

    return start


def _dims(
    model: Any, variables: Sequence[Any], trace: _Names
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The dimensions of the variables of the trace, and the coordinates, among them nutpie's own of all parameters."""
    coords = {
        name: pd.Index(
            pd.RangeIndex(int(model.dim_lengths[name].eval())) if values is None else values
        )
        for name, values in model.coords.items()
    }
    labels: list[str] = []
    for name, shape in zip(trace.names[: trace.sampled], trace.shapes, strict=False):
        at = itertools.product(*map(range, shape))
        labels += [f"{name}_{'.'.join(map(str, i))}" if i else name for i in at]
    coords[UNCONSTRAINED] = pd.Index(labels)
    dims = dict(model.named_vars_to_dims)
    shapes = dict(zip(trace.names, trace.shapes, strict=True))
    for variable in variables:
        own = dims.get(model.values_to_rvs[variable].name)
        if (
            own is not None
            and shapes.get(model.values_to_rvs[variable].name) == shapes[variable.name]
        ):
            dims[variable.name] = own
    return dims, coords
