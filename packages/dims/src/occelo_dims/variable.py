"""`XTensorVariable`: a symbolic tensor with named dimensions, with Python's operators and the methods of xarray's arrays."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NoReturn

import occelo_sorting.functions as sorting
from occelo_dims import indexing, reduction, shape
from occelo_dims import math as elementwise
from occelo_dims.kinds import XTensorType, type_of
from occelo_dims.labelled import (
    Labelled,
    XTensorLike,
    describe,
    labelled,
    names_of,
    read_value,
    rebuilt,
    require,
)
from occelo_dims.shape import Missing
from occelo_graph import Apply, Constant, SharedVariable, TensorVariable
from occelo_graph import tensor as ot
from occelo_graph.ir import trees
from occelo_graph.narrowing import is_dict, is_list_or_tuple, is_tuple


class XTensorVariable(Labelled):
    """A symbolic tensor with named dimensions. ValueError if ``dims`` are not one name for each dimension.

    It holds a tensor without names, `values`, which is a variable of the graph; functions that take variables or trees of
    them take it in its place. Methods call the functions of the same names in `occelo.xtensor`.
    """

    __slots__ = ()
    __array_ufunc__ = None  # so that operators of arrays leave the work to those of this class

    @property
    def type(self) -> XTensorType:
        """The dtype, the names of the dimensions and their static lengths."""
        return type_of(self)

    @property
    def dtype(self) -> str:
        """The name of the dtype."""
        return self.values.type.dtype

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return len(self.dims)

    @property
    def shape(self) -> tuple[Any, ...]:
        """The lengths of the dimensions, as scalars."""
        lengths = self.values.shape
        return tuple(lengths[i] for i in range(self.ndim))

    @property
    def sizes(self) -> dict[str, Any]:
        """The length of each dimension, as a scalar."""
        return dict(zip(self.dims, self.shape, strict=True))

    @property
    def size(self) -> TensorVariable:
        """The number of elements."""
        return self.values.size

    @property
    def broadcastable(self) -> tuple[bool, ...]:
        """False for each dimension: only dimensions that are not there broadcast."""
        return (False,) * self.ndim

    @property
    def name(self) -> str | None:
        """The name of the variable ``values``. It may be set."""
        return self.values.name

    @name.setter
    def name(self, name: str | None) -> None:
        self.values.name = name

    @property
    def owner(self) -> Apply | None:
        """The node that computes ``values``; None for a root."""
        return self.values.owner

    @property
    def tag(self) -> Any:
        """The namespace of the variable ``values``, for notes."""
        return self.values.tag

    @property
    def as_numpy(self) -> XTensorVariable:
        """The variable itself, since values are NumPy's arrays."""
        return self

    def eval(self, inputs_to_values: Mapping[Any, Any] | None = None, **options: Any) -> Any:
        """Compute the value, as an array without names.

        ``inputs_to_values`` maps variables, with or without names of dimensions, or their own names to values. ``options``
        are those of variables.
        """
        values: dict[Any, Any] = {}
        for key, value in (inputs_to_values or {}).items():
            if isinstance(key, Labelled):
                (values[key.values],) = read_value(value, key.dims)
            else:
                values[key] = value
        return self.values.eval(values, **options)

    def dprint(self, **options: Any) -> Any:
        """Print the graph of ``values``; ``options`` are those of `debugprint`."""
        return self.values.dprint(**options)

    def clone(self, name: str | None = None) -> XTensorVariable:
        """A new root of the same type, with this name or ``name``."""
        return labelled(self.values.clone(name), self.dims)

    def __repr__(self) -> str:
        return f"<{describe(self)}>"

    def __str__(self) -> str:
        return str(self.values)

    # what needs a value or coordinates

    def _without_value(self) -> NoReturn:
        raise TypeError(
            f"{describe(self)} has no value before the graph runs; use eval() to compute it, or astype to convert it"
        )

    def __bool__(self) -> bool:
        raise TypeError(
            f"The truth value of {describe(self)} is not known before the graph runs; use where, or & and |"
        )

    def __int__(self) -> int:
        self._without_value()

    def __index__(self) -> int:
        self._without_value()

    def __float__(self) -> float:
        self._without_value()

    def __complex__(self) -> complex:
        self._without_value()

    def item(self) -> NoReturn:
        """TypeError: the value is not known before the graph runs."""
        self._without_value()

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        self._without_value()

    def __iter__(self) -> Any:
        raise TypeError(f"{describe(self)} cannot be iterated over; use isel for each part")

    def __len__(self) -> int:
        raise TypeError(f"The length of {describe(self)} is that of a dimension: sizes[name]")

    def __setitem__(self, key: Any, value: Any) -> None:
        raise TypeError(
            "A symbolic tensor cannot be changed; use y = x[key].set(value), or .inc(value) to add"
        )

    def _without_coordinates(self, what: str) -> NoReturn:
        raise NotImplementedError(
            f"{what} needs coordinates, which symbolic tensors do not have; isel takes positions"
        )

    @property
    def coords(self) -> NoReturn:
        """NotImplementedError: there are no coordinates."""
        self._without_coordinates("coords")

    @property
    def loc(self) -> NoReturn:
        """NotImplementedError: there are no coordinates."""
        self._without_coordinates("loc")

    def sel(self, *args: Any, **options: Any) -> NoReturn:
        """NotImplementedError: there are no coordinates."""
        self._without_coordinates("sel")

    # arithmetic

    def __add__(self, other: XTensorLike) -> XTensorVariable:
        return elementwise.add(self, other)

    def __radd__(self, other: XTensorLike) -> XTensorVariable:
        return elementwise.add(other, self)

    def __sub__(self, other: XTensorLike) -> XTensorVariable:
        return elementwise.sub(self, other)

    def __rsub__(self, other: XTensorLike) -> XTensorVariable:
        return elementwise.sub(other, self)

    def __mul__(self, other: XTensorLike) -> XTensorVariable:
        return elementwise.mul(self, other)

    def __rmul__(self, other: XTensorLike) -> XTensorVariable:
        return elementwise.mul(other, self)

    def __truediv__(self, other: XTensorLike) -> XTensorVariable:
        return elementwise.true_div(self, other)

    def __rtruediv__(self, other: XTensorLike) -> XTensorVariable:
        return elementwise.true_div(other, self)

    def __floordiv__(self, other: XTensorLike) -> XTensorVariable:
        return elementwise.floor_div(self, other)

    def __rfloordiv__(self, other: XTensorLike) -> XTensorVariable:
        return elementwise.floor_div(other, self)

    def __mod__(self, other: XTensorLike) -> XTensorVariable:
        return elementwise.mod(self, other)

    def __rmod__(self, other: XTensorLike) -> XTensorVariable:
        return elementwise.mod(other, self)

    def __pow__(self, other: XTensorLike) -> XTensorVariable:
        return elementwise.pow(self, other)

    def __rpow__(self, other: XTensorLike) -> XTensorVariable:
        return elementwise.pow(other, self)

    def __divmod__(self, other: XTensorLike) -> tuple[XTensorVariable, ...]:
        return elementwise.divmod(self, other)

    def __rdivmod__(self, other: XTensorLike) -> tuple[XTensorVariable, ...]:
        return elementwise.divmod(other, self)

    def __and__(self, other: XTensorLike) -> XTensorVariable:
        return elementwise.and_(self, other)

    def __rand__(self, other: XTensorLike) -> XTensorVariable:
        return elementwise.and_(other, self)

    def __or__(self, other: XTensorLike) -> XTensorVariable:
        return elementwise.or_(self, other)

    def __ror__(self, other: XTensorLike) -> XTensorVariable:
        return elementwise.or_(other, self)

    def __xor__(self, other: XTensorLike) -> XTensorVariable:
        return elementwise.xor(self, other)

    def __rxor__(self, other: XTensorLike) -> XTensorVariable:
        return elementwise.xor(other, self)

    def __lt__(self, other: XTensorLike) -> XTensorVariable:
        return elementwise.lt(self, other)

    def __le__(self, other: XTensorLike) -> XTensorVariable:
        return elementwise.le(self, other)

    def __gt__(self, other: XTensorLike) -> XTensorVariable:
        return elementwise.gt(self, other)

    def __ge__(self, other: XTensorLike) -> XTensorVariable:
        return elementwise.ge(self, other)

    def __neg__(self) -> XTensorVariable:
        return elementwise.neg(self)

    def __pos__(self) -> XTensorVariable:
        return self

    def __abs__(self) -> XTensorVariable:
        return elementwise.abs(self)

    def __invert__(self) -> XTensorVariable:
        return elementwise.invert(self)

    def __round__(self, ndigits: int | None = None) -> XTensorVariable:
        return elementwise.round(self, decimals=0 if ndigits is None else ndigits)

    def __ceil__(self) -> XTensorVariable:
        return elementwise.ceil(self)

    def __floor__(self) -> XTensorVariable:
        return elementwise.floor(self)

    def __trunc__(self) -> XTensorVariable:
        return elementwise.trunc(self)

    def __matmul__(self, other: XTensorLike) -> XTensorVariable:
        return elementwise.dot(self, other)

    def __rmatmul__(self, other: XTensorLike) -> XTensorVariable:
        return elementwise.dot(other, self)

    # comparison; == compares by identity, because variables are keys of dictionaries

    def eq(self, other: XTensorLike) -> XTensorVariable:
        """Whether elements are equal. ``==`` compares variables by identity instead."""
        return elementwise.eq(self, other)

    def neq(self, other: XTensorLike) -> XTensorVariable:
        """Whether elements differ. ``!=`` compares variables by identity instead."""
        return elementwise.neq(self, other)

    # elementwise

    def astype(self, dtype: Any) -> XTensorVariable:
        """See `cast`."""
        return elementwise.cast(self, dtype)

    def copy(self, name: str | None = None) -> XTensorVariable:
        """A new variable with the value of this one, and this ``name``."""
        copied = labelled(ot.tensor_copy(self.values), self.dims)
        copied.name = name
        return copied

    def clip(self, min: XTensorLike = None, max: XTensorLike = None) -> XTensorVariable:
        """The elements, but not less than ``min`` nor more than ``max``."""
        return elementwise.clip(self, min, max)

    def conj(self) -> XTensorVariable:
        """The complex conjugate."""
        return elementwise.conj(self)

    def conjugate(self) -> XTensorVariable:
        """The complex conjugate."""
        return elementwise.conj(self)

    def round(self, decimals: int = 0) -> XTensorVariable:
        """The elements rounded to ``decimals`` digits, halves to the even neighbour."""
        return labelled(ot.round(self.values, decimals=decimals), self.dims)

    def isin(self, test_elements: Any) -> XTensorVariable:
        """Whether each element is one of ``test_elements``, a tensor or an array of any shape."""
        among = test_elements.values if isinstance(test_elements, Labelled) else test_elements
        return labelled(sorting.isin(self.values, among), self.dims)

    def pipe(self, func: Any, *args: Any, **kwargs: Any) -> Any:
        """``func(self, *args, **kwargs)``. A pair (function, name) passes the tensor as the argument of that name."""
        if is_tuple(func):
            function, name = func
            return function(*args, **{name: self}, **kwargs)
        return func(self, *args, **kwargs)

    @property
    def real(self) -> XTensorVariable:
        """The real part."""
        return elementwise.real(self)

    @property
    def imag(self) -> XTensorVariable:
        """The imaginary part."""
        return elementwise.imag(self)

    def where(
        self, cond: XTensorLike, other: XTensorLike = float("nan"), drop: bool = False
    ) -> XTensorVariable:
        """The elements where ``cond`` holds, elsewhere those of ``other``, by default NaN. Own dimensions come first.

        NotImplementedError for ``drop=True``, since the length would depend on values.
        """
        if drop:
            raise NotImplementedError("where(drop=True) needs lengths that depend on values")
        fill = float("nan") if other is None else other
        return elementwise.where(cond, self, fill).transpose(*self.dims, ...)

    def fillna(self, value: XTensorLike) -> XTensorVariable:
        """The elements, with ``value`` in place of NaN. Own dimensions come first."""
        filled = elementwise.where(elementwise.isnan(self), value, self)
        return filled.transpose(*self.dims, ...)

    def isnull(self) -> XTensorVariable:
        """Whether elements are NaN."""
        return elementwise.isnan(self)

    def notnull(self) -> XTensorVariable:
        """Whether elements are not NaN."""
        return elementwise.logical_not(elementwise.isnan(self))

    def dot(self, other: XTensorLike, dim: Any = None) -> XTensorVariable:
        """See `dot`."""
        return elementwise.dot(self, other, dim)

    # indexing

    def __getitem__(self, key: Any) -> XTensorVariable:
        if is_dict(key):
            return indexing.isel(self, key)
        return indexing.index(self, *(key if _is_key(key) else (key,)))

    def isel(
        self,
        indexers: Mapping[str, Any] | None = None,
        drop: bool = False,
        missing_dims: Missing = "raise",
        **indexers_kwargs: Any,
    ) -> XTensorVariable:
        """See `isel`."""
        return indexing.isel(self, indexers, drop, missing_dims, **indexers_kwargs)

    def set(self, value: XTensorLike) -> XTensorVariable:
        """The tensor of which this is a part, ``x[key]``, with ``value`` in place of the part. ValueError if it is none."""
        return indexing.set_part(self, value, "set")

    def inc(self, value: XTensorLike) -> XTensorVariable:
        """The tensor of which this is a part, ``x[key]``, with ``value`` added to the part. ValueError if it is none."""
        return indexing.set_part(self, value, "inc")

    def head(self, indexers: Any = None, **indexers_kwargs: Any) -> XTensorVariable:
        """The first elements along dimensions: a number for all, by default 5, or a mapping to numbers."""
        return indexing.head_tail_thin(self, indexers, indexers_kwargs, "head")

    def tail(self, indexers: Any = None, **indexers_kwargs: Any) -> XTensorVariable:
        """The last elements along dimensions: a number for all, by default 5, or a mapping to numbers."""
        return indexing.head_tail_thin(self, indexers, indexers_kwargs, "tail")

    def thin(self, indexers: Any = None, **indexers_kwargs: Any) -> XTensorVariable:
        """Each n-th element along dimensions: a number for all, or a mapping to numbers. TypeError without one."""
        return indexing.head_tail_thin(self, indexers, indexers_kwargs, "thin")

    # shape

    @property
    def T(self) -> XTensorVariable:
        """The tensor with its dimensions in reverse order."""
        return shape.transpose(self)

    def transpose(self, *dim: Any, missing_dims: Missing = "raise") -> XTensorVariable:
        """See `transpose`."""
        return shape.transpose(self, *dim, missing_dims=missing_dims)

    def rename(self, new_name_or_name_dict: Any = None, **names: str) -> XTensorVariable:
        """The tensor with another name, a string, or with other names of dimensions: a mapping or keywords."""
        if isinstance(new_name_or_name_dict, str):
            renamed = shape.rename(self, names)
            renamed.name = new_name_or_name_dict
            return renamed
        return shape.rename(self, new_name_or_name_dict, **names)

    def squeeze(self, dim: Any = None, drop: Any = None, axis: Any = None) -> XTensorVariable:
        """See `squeeze`. ``axis`` has positions in place of names; ``drop`` is for coordinates, and changes nothing.

        ValueError for names and positions.
        """
        if axis is not None:
            if dim is not None:
                raise ValueError("squeeze takes dim or axis, not both")
            dim = [self.dims[i] for i in (axis if is_list_or_tuple(axis) else (axis,))]
        return shape.squeeze(self, dim)

    def expand_dims(
        self,
        dim: Any = None,
        create_index_for_new_dim: Any = None,
        axis: Any = None,
        **dim_kwargs: Any,
    ) -> XTensorVariable:
        """See `expand_dims`. ``create_index_for_new_dim`` is for coordinates, and changes nothing."""
        return shape.expand_dims(self, dim, axis, **dim_kwargs)

    def stack(self, dim: Any = None, **dims: Any) -> XTensorVariable:
        """See `stack`."""
        return shape.stack(self, dim, **dims)

    def unstack(self, dim: Any = None, **dims: Any) -> XTensorVariable:
        """See `unstack`."""
        return shape.unstack(self, dim, **dims)

    def broadcast_like(self, other: XTensorLike, exclude: Any = None) -> XTensorVariable:
        """The tensor with all dimensions of ``other``, which come first, except those of ``exclude``."""
        return shape.broadcast(other, self, exclude=exclude)[1]

    def diff(self, dim: str, n: int = 1) -> XTensorVariable:
        """See `diff`."""
        return shape.diff(self, dim, n)

    def roll(self, shifts: Any = None, **shifts_kwargs: Any) -> XTensorVariable:
        """The elements moved along dimensions by the numbers ``shifts``, a mapping, or by keywords, and round the end.

        ValueError for a dimension that the tensor lacks.
        """
        return shape.rolled(self, shape.mapping_of("roll", shifts, shifts_kwargs), "roll")

    def shift(
        self, shifts: Any = None, fill_value: Any = float("nan"), **shifts_kwargs: Any
    ) -> XTensorVariable:
        """The elements moved along dimensions by the numbers ``shifts``, a mapping, or by keywords; ``fill_value`` comes in.

        ValueError for a dimension that the tensor lacks.
        """
        return shape.shifted(self, shape.mapping_of("shift", shifts, shifts_kwargs), fill_value)

    def pad(
        self,
        pad_width: Any = None,
        mode: str = "constant",
        stat_length: Any = None,
        constant_values: Any = None,
        end_values: Any = None,
        reflect_type: Any = None,
        **pad_width_kwargs: Any,
    ) -> XTensorVariable:
        """The tensor with elements added at both ends of dimensions: a mapping, or keywords, to a number or a pair (before, after).

        ``mode`` and its options are those of ``ot.pad``, where an option may be a mapping from dimensions, too. "constant" adds
        ``constant_values``, by default NaN, so integers become floats. ValueError for a dimension that the tensor lacks; TypeError for bools without
        ``constant_values``.
        """
        options = {
            "stat_length": stat_length,
            "constant_values": constant_values,
            "end_values": end_values,
            "reflect_type": reflect_type,
        }
        widths = shape.mapping_of("pad", pad_width, pad_width_kwargs)
        return shape.padded(self, widths, mode, options)

    # orders

    def argsort(
        self, axis: int | None = -1, kind: str | None = None, *, stable: bool | None = None
    ) -> XTensorVariable:
        """The positions (int64) that sort each line along a dimension, which has the position ``axis``, by default the last one.

        ``kind`` and ``stable`` are NumPy's. TypeError for None as the axis, which has no name; IndexError for one that is not there.
        """
        if axis is None:
            raise TypeError(
                f"argsort needs an axis of {describe(self)}: all elements have no dimension"
            )
        return labelled(sorting.argsort(self.values, axis, kind, stable=stable), self.dims)

    def searchsorted(self, v: Any, side: Any = "left", sorter: Any = None) -> Any:
        """The positions (int64) in this sorted vector before which the elements of ``v`` keep it sorted.

        ``side`` and ``sorter`` are those of ``ot.searchsorted``. For a ``v`` with names the result has its dimensions; for an
        array it is a tensor without names, as xarray's is an array. ValueError if this is no vector.
        """
        if self.ndim != 1:
            raise ValueError(f"searchsorted needs a tensor of one dimension, got {describe(self)}")
        order = sorter.values if isinstance(sorter, Labelled) else sorter
        if not isinstance(v, Labelled):
            return sorting.searchsorted(self.values, v, side, order)
        return labelled(sorting.searchsorted(self.values, v.values, side, order), v.dims)

    def get_axis_num(self, dim: Any) -> Any:
        """The position of the dimension ``dim``, or a tuple of those of several. ValueError if the tensor lacks one."""
        if isinstance(dim, str):
            return require(self, dim, "get_axis_num")
        return tuple(require(self, each, "get_axis_num") for each in dim)

    # reductions

    def reduce(self, func: Any, dim: Any = None, **kwargs: Any) -> XTensorVariable:
        """``func(values, axis=axes, **kwargs)`` over ``dim``, by default all dimensions, for a function of tensors.

        ValueError if the tensor lacks a dimension.
        """
        names = names_of(self, dim, "reduce")
        values = func(self.values, axis=self.get_axis_num(names), **kwargs)
        return labelled(values, [d for d in self.dims if d not in names])

    def quantile(
        self, q: Any, dim: Any = None, *, method: str = "linear", skipna: bool = False
    ) -> XTensorVariable:
        """The quantiles ``q`` over ``dim``, a number or a vector, which becomes the first dimension, "quantile".

        ``method`` is one of NumPy's. ``skipna`` leaves NaN out. ValueError for a ``q`` of more dimensions.
        """
        ndim = ot.as_tensor_variable(q).type.ndim
        if ndim > 1:
            raise ValueError(f"quantile takes a number or a vector q, got {q!r}")
        names = names_of(self, dim, "quantile")
        function = sorting.nanquantile if skipna else sorting.quantile
        values = function(self.values, q, self.get_axis_num(names), method)
        return labelled(values, ["quantile"] * ndim + [d for d in self.dims if d not in names])

    def all(self, dim: Any = None) -> XTensorVariable:
        """See `all`."""
        return reduction.all(self, dim)

    def any(self, dim: Any = None) -> XTensorVariable:
        """See `any`."""
        return reduction.any(self, dim)

    def count(self, dim: Any = None) -> XTensorVariable:
        """See `count`."""
        return reduction.count(self, dim)

    def max(self, dim: Any = None, *, skipna: bool = False) -> XTensorVariable:
        """See `max`."""
        return reduction.max(self, dim, skipna=skipna)

    def min(self, dim: Any = None, *, skipna: bool = False) -> XTensorVariable:
        """See `min`."""
        return reduction.min(self, dim, skipna=skipna)

    def mean(self, dim: Any = None, *, skipna: bool = False) -> XTensorVariable:
        """See `mean`."""
        return reduction.mean(self, dim, skipna=skipna)

    def median(self, dim: Any = None, *, skipna: bool = False) -> XTensorVariable:
        """See `median`."""
        return reduction.median(self, dim, skipna=skipna)

    def prod(self, dim: Any = None, *, skipna: bool = False) -> XTensorVariable:
        """See `prod`."""
        return reduction.prod(self, dim, skipna=skipna)

    def sum(self, dim: Any = None, *, skipna: bool = False) -> XTensorVariable:
        """See `sum`."""
        return reduction.sum(self, dim, skipna=skipna)

    def cumsum(self, dim: Any = None, *, skipna: bool = False) -> XTensorVariable:
        """See `cumsum`."""
        return reduction.cumsum(self, dim, skipna=skipna)

    def cumprod(self, dim: Any = None, *, skipna: bool = False) -> XTensorVariable:
        """See `cumprod`."""
        return reduction.cumprod(self, dim, skipna=skipna)

    def std(self, dim: Any = None, ddof: Any = 0, *, skipna: bool = False) -> XTensorVariable:
        """See `std`."""
        return reduction.std(self, dim, ddof=ddof, skipna=skipna)

    def var(self, dim: Any = None, ddof: Any = 0, *, skipna: bool = False) -> XTensorVariable:
        """See `var`."""
        return reduction.var(self, dim, ddof=ddof, skipna=skipna)

    def argmax(self, dim: str) -> XTensorVariable:
        """See `argmax`."""
        return reduction.argmax(self, dim)

    def argmin(self, dim: str) -> XTensorVariable:
        """See `argmin`."""
        return reduction.argmin(self, dim)


def _is_key(key: object) -> bool:
    """Whether an index is a key of several entries. A pair of names and an array is one entry."""
    return is_tuple(key) and not (len(key) == 2 and isinstance(key[0], str))


class XTensorConstant(XTensorVariable):
    """A constant with named dimensions. ValueError if ``dims`` are not one name for each dimension."""

    __slots__ = ()

    @property
    def data(self) -> Any:
        """The array."""
        constant: Any = self.values
        return constant.data


class XTensorSharedVariable(XTensorVariable):
    """A shared variable with named dimensions. ValueError if ``dims`` are not one name for each dimension."""

    __slots__ = ()

    @property
    def _shared(self) -> Any:
        return self.values

    @property
    def container(self) -> Any:
        """What holds the value."""
        return self._shared.container

    def get_value(self, borrow: bool = False, return_internal_type: bool = False) -> Any:
        """A copy of the value, as an array without names. The options are those of shared variables."""
        return self._shared.get_value(borrow, return_internal_type)

    def set_value(self, new_value: Any, borrow: bool = False) -> None:
        """Replace the value. An array of xarray is transposed; ValueError if it has other names. ``borrow`` as there."""
        (value,) = read_value(new_value, self.dims)
        self._shared.set_value(value, borrow)

    @property
    def default_update(self) -> XTensorVariable | None:
        """The value after a call of a function that updates it by nothing else; None for no change. It may be set."""
        update = self._shared.default_update
        return None if update is None else labelled(update, self.dims)

    @default_update.setter
    def default_update(self, expression: Any) -> None:
        (value,) = (None,) if expression is None else read_value(expression, self.dims)
        self._shared.default_update = value


def _class_of(values: TensorVariable) -> type[XTensorVariable]:
    if isinstance(values, Constant):
        return XTensorConstant
    return XTensorSharedVariable if isinstance(values, SharedVariable) else XTensorVariable


def _made(values: TensorVariable, dims: Any, place: Any = None) -> XTensorVariable:
    return _class_of(values)(values, dims, place)


Labelled.variable_class = _made
for _class in (XTensorVariable, XTensorConstant, XTensorSharedVariable):
    trees.register(
        _class,
        lambda x: ([x.values], x.dims),
        rebuilt,
        read=lambda value, dims: read_value(value, dims),
    )
