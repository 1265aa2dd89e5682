"""`Labelled`: a tensor and the names of its dimensions, and what all functions of such tensors share.

A tensor with names is no variable of a graph: it holds one. Each function of such tensors builds the graph of tensors
without names at once, so gradients, rewriting and backends know nothing of names.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from occelo_graph import TensorType, TensorVariable, Variable, is_tensor
from occelo_graph import tensor as ot
from occelo_graph.errors import explained, explained_by, formula_of
from occelo_graph.ir import trees
from occelo_graph.narrowing import is_list_or_tuple
from occelo_graph.tensors.type import shape_text

if TYPE_CHECKING:
    from occelo_dims.variable import XTensorVariable

_LONGEST = 40
"""The most characters of a formula that a message shows for a tensor without a name; a longer one would hide the message."""
XTensorLike = Any
"""The type of arguments: tensors with names, numbers, scalars, and arrays of xarray."""
Dims = tuple[str, ...]


class Labelled:
    """A tensor ``values`` and the names of its dimensions, ``dims``."""

    __slots__ = ("__weakref__", "_dims", "_place", "_values")

    variable_class: ClassVar[Callable[..., Any]]

    def __init__(self, values: TensorVariable, dims: Iterable[str], place: Any = None) -> None:
        self._values = values
        self._dims = check_dims(dims)
        self._place = place
        if values.ndim != len(self._dims):
            raise ValueError(
                f"{len(self._dims)} dims {self._dims} do not name the {values.ndim} dimensions of {values}"
            )

    @property
    def values(self) -> TensorVariable:
        """The tensor without names."""
        return self._values

    @property
    def dims(self) -> Dims:
        """The names of the dimensions."""
        return self._dims

    @property
    def place(self) -> Any:
        """What was indexed and how, if this is a part ``x[key]``; else None."""
        return self._place

    def __occelo_tensor__(self) -> TensorVariable:
        """The tensor of a scalar. TypeError for others: functions of tensors would match dimensions by position."""
        if self._dims:
            raise explained(
                TypeError(
                    f"{describe(self)} has named dimensions, which a function of tensors would match by position; use its "
                    "values, or functions of occelo.xtensor, and as_xtensor(tensor, dims) for the tensors beside it"
                ),
                "dimensions",
            )
        return self._values


def labelled(values: TensorVariable, dims: Iterable[str], place: Any = None) -> XTensorVariable:
    """The tensor ``values`` with names. ValueError if their number is not that of its dimensions."""
    tensor: XTensorVariable = Labelled.variable_class(values, dims, place)
    return tensor


@explained_by("dimensions")
def check_dims(dims: Any) -> Dims:
    """Names as a tuple: one string is one name. TypeError if one is no string, ValueError for two equal names."""
    if isinstance(dims, str):
        return (dims,)
    try:
        names: tuple[Any, ...] = tuple(dims)
    except TypeError:
        raise TypeError(f"dims must be names, such as ('a', 'b'), got {dims!r}") from None
    for name in names:
        if not isinstance(name, str):
            raise TypeError(f"The name of a dimension must be a string, got {name!r}")
    if len(set(names)) < len(names):
        raise ValueError(f"The names of dimensions must differ, got {names}")
    return names


def describe(x: Labelled) -> str:
    """A tensor with its names and static lengths, for messages: ``x (float64, a: 3, b: ?)``. Without a name, a formula."""
    kind = x.values.type
    pairs = zip(x.dims, kind.shape, strict=True)
    inner = ", ".join([kind.dtype, *(f"{d}: {'?' if n is None else n}" for d, n in pairs)])
    shown = formula_of(x.values)
    return f"{shown if len(shown) <= _LONGEST and shown.isprintable() else x.values} ({inner})"


def is_data_array(value: object) -> bool:
    """Whether a value is an array of xarray. xarray is not imported for it."""
    module: Any = sys.modules.get("xarray")
    return module is not None and isinstance(value, module.DataArray)


@explained_by("dimensions")
def as_xtensor(
    x: Any, dims: Sequence[str] | str | None = None, *, name: str | None = None
) -> XTensorVariable:
    """A tensor with named dimensions from a tensor, an array, a number or an array of xarray, named ``name``.

    ``dims`` are the names. Without them ``x`` must have its own, or no dimensions: else TypeError. ValueError if ``x``
    has other names, or another number of dimensions.
    """
    own = None if dims is None else check_dims(dims)
    if isinstance(x, Labelled):
        if own is not None and own != x.dims:
            raise ValueError(
                f"{describe(x)} has the dims {x.dims}, not {own}; use transpose or rename"
            )
        same: Any = x
        return same
    if is_data_array(x):
        return _of_data_array(x, own, name)
    values = x if isinstance(x, Variable) else ot.as_tensor_variable(x, name)
    if not isinstance(values.type, TensorType):
        raise TypeError(f"Only tensors have named dimensions, got {values} of type {values.type}")
    tensor: Any = values
    if own is None and tensor.ndim:
        what = tensor if isinstance(x, Variable) else "an array"
        raise TypeError(
            f"{what} of shape {shape_text(tensor.type.shape)} needs the names of its dimensions: as_xtensor(x, dims)"
        )
    if name is not None and isinstance(x, Variable):
        tensor = ot.tensor_copy(tensor)
        tensor.name = name
    return labelled(tensor, own or ())


def _of_data_array(x: Any, dims: Dims | None, name: str | None) -> XTensorVariable:
    own = check_dims(x.dims)
    if dims is not None and dims != own:
        raise ValueError(f"The array has the dims {own}, not {dims}; use transpose or rename")
    return labelled(ot.constant(x.values, x.name if name is None else name), own)


@explained_by("dimensions")
def static_lengths(
    variables: Iterable[Labelled], without: Sequence[str] = ()
) -> dict[str, int | None]:
    """The dimensions of some tensors in the order in which they come first, with their static lengths.

    ``without`` are dimensions that are left out. ValueError for two different lengths of a dimension; it names both
    tensors. A length of 1 is as any other.
    """
    lengths: dict[str, int | None] = {}
    of: dict[str, Labelled] = {}
    for x in variables:
        for dim, n in zip(x.dims, x.values.type.shape, strict=True):
            if dim in without:
                continue
            length = lengths.setdefault(dim, n)
            if n is None:
                continue
            if length is None:
                lengths[dim] = n
            elif length != n:
                first = describe(of[dim])
                raise ValueError(
                    f"Dimension {dim!r} has length {length} in {first} and {n} in {describe(x)}"
                )
            of.setdefault(dim, x)
    return lengths


def aligned(x: Labelled, dims: Sequence[str], lengths: dict[str, int | None]) -> Any:
    """The tensor of ``x`` with its dimensions in the order of ``dims``. Those that it lacks have length 1 and broadcast.

    ``lengths`` are the known lengths. A dimension of x that must have length 1 is checked when the graph runs: as a
    dynamic length it would broadcast.
    """
    values = x.values
    static = [lengths.get(dim) for dim in x.dims]
    if any(n == 1 and m is None for n, m in zip(static, values.type.shape, strict=True)):
        values = ot.specify_shape(values, [n if n == 1 else None for n in static])
    if tuple(dims) == x.dims:
        return values
    return values.dimshuffle([x.dims.index(d) if d in x.dims else "x" for d in dims])


class _Probe:
    """What stands for a leaf while the names of leaves are asked for."""

    dims: Dims | None = None


def dims_of_leaves(structure: trees.Structure) -> list[Dims | None]:
    """The names of the dimensions of each leaf of a tree, None for a leaf without names."""
    probes = [_Probe() for _ in range(structure.count)]
    structure.unflatten(probes)
    return [probe.dims for probe in probes]


def rebuilt(dims: Any, parts: Sequence[Any]) -> Any:
    """A tensor with names from a variable without, for trees; the results of a function are arrays.

    TypeError for a tensor with more dimensions than names.
    """
    (value,) = parts
    if isinstance(value, _Probe):
        value.dims = dims
    if not is_tensor(value):
        return value
    if value.ndim > len(dims):
        raise TypeError(
            f"A result for a tensor with the dims {dims} has {value.ndim} dimensions, whose names are not known; "
            "jacobian, hessian, vmap, loop and scan of occelo.xtensor name them"
        )
    return labelled(value, dims)


def is_plain(value: object) -> bool:
    """Whether a value is a number or None, which keep their sense for functions of tensors."""
    return value is None or isinstance(value, bool | int | float | complex | np.generic)


def broadcasting(function: Callable[..., Any]) -> Callable[..., XTensorVariable]:
    """A function of tensors with names from an elementwise one of tensors. Dimensions of the same name are matched.

    The result has the dimensions of all arguments, in the order in which they come first. Its attribute ``of_tensors`` is
    ``function``.
    """

    def call(*args: Any, **options: Any) -> Any:
        arguments = [x if is_plain(x) else as_xtensor(x) for x in args]
        named = [x for x in arguments if isinstance(x, Labelled)]
        lengths = static_lengths(named)
        dims = tuple(lengths)
        tensors = [aligned(x, dims, lengths) if isinstance(x, Labelled) else x for x in arguments]
        results = function(*tensors, **options)
        if is_list_or_tuple(results):
            return tuple(labelled(each, dims) for each in results)
        return labelled(results, dims)

    call.__name__ = call.__qualname__ = getattr(function, "__name__", None) or str(function)
    own = (function.__doc__ or "").strip()
    call.__doc__ = (
        f"{own}\n\n    Dimensions of the arguments with the same name are matched; see docs/dims.md. ValueError for two static "
        "lengths of a dimension."
    )
    call.__dict__["of_tensors"] = function
    call.__dict__["__wrapped__"] = function  # whose signature `help` shows
    told: Callable[..., Any] = explained_by("dimensions")(call)
    return told


def names_of(x: Labelled, dim: Any, what: str) -> Dims:
    """The dimensions that an argument ``dim`` names: a name, names, or all for None and an ellipsis.

    ValueError if ``x`` lacks one; ``what`` names the function in the message.
    """
    if dim is None or dim is ...:
        return x.dims
    names = check_dims(dim)
    for name in names:
        require(x, name, what)
    return names


@explained_by("dimensions")
def require(x: Labelled, dim: str, what: str) -> int:
    """The position of a dimension. ValueError if ``x`` lacks it; ``what`` names the function in the message."""
    if dim not in x.dims:
        raise ValueError(f"{what}: {describe(x)} has no dimension {dim!r}; it has {x.dims}")
    return x.dims.index(dim)


def read_value(value: Any, dims: Dims) -> tuple[Any]:
    """The tensor or array of a value that stands for a tensor with the dimensions ``dims``, in their order.

    ``value`` is a tensor or an array of xarray with these names in any order, or an array without names. ValueError if
    it has others.
    """
    if isinstance(value, Labelled):
        if value.dims == dims:
            return (value.values,)
        if set(value.dims) == set(dims):
            return (value.values.dimshuffle([value.dims.index(d) for d in dims]),)
        raise ValueError(f"has the dims {value.dims}, not {dims}")
    if is_data_array(value):
        if set(value.dims) != set(dims):
            raise ValueError(f"has the dims {value.dims}, not {dims}")
        return (value.transpose(*dims).values,)
    return (value,)
