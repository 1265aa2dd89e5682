"""`TensorVariable`: the class of symbolic tensors, with Python's operators and NumPy's methods.

The module also has the classes of tensor constants, shared tensors and inputs of inner graphs. Users do not make
objects of these classes directly: the constructors of `occelo.tensor`, the functions of tensors and `shared` do.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np

from occelo_graph.errors import formula_of
from occelo_graph.ir.nodes import Constant, NominalVariable, Variable
from occelo_graph.ir.shared import SharedVariable, shared_constructor
from occelo_graph.ir.taken_constants import read
from occelo_graph.ir.types import Type
from occelo_graph.missing_names import MissingNameError
from occelo_graph.narrowing import is_array
from occelo_graph.ops import cast, create, join, reduce, shape, statistics
from occelo_graph.ops.blas import products as blas
from occelo_graph.ops.elemwise import arithmetic as ar
from occelo_graph.ops.elemwise import complex as cx
from occelo_graph.ops.elemwise import transcendental as tr
from occelo_graph.ops.index import search, subtensor
from occelo_graph.ops.index.at import At
from occelo_graph.ops.shape.reading import length_op, length_product
from occelo_graph.tensors import numpy_functions
from occelo_graph.tensors.constant import TensorLike, as_tensor_variable, constant
from occelo_graph.tensors.sequences import is_sequence, leaf_types
from occelo_graph.tensors.type import DTYPES, TensorType, name_of, refuse_mask

if TYPE_CHECKING:
    from numpy.typing import NDArray


class TensorVariable(Variable):
    """A symbolic tensor. Methods call the functions of the same names in `occelo.tensor`, where these are documented. TypeError if the name is no string."""

    __slots__ = ()
    __array_priority__ = 1000
    type: TensorType  # pyright: ignore[reportIncompatibleVariableOverride]  # never assigned again, so it may be narrower

    if not TYPE_CHECKING:  # so that type checkers report unknown names

        def __getattr__(self, name: str) -> Any:
            text = f"{type(self).__name__!r} object has no attribute {name!r}"
            raise MissingNameError(text, name, self)

    @property
    def dtype(self) -> str:
        """The name of the dtype."""
        return self.type.dtype

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return self.type.ndim

    @property
    def broadcastable(self) -> tuple[bool, ...]:
        """For each dimension, whether its length is statically 1."""
        return self.type.broadcastable

    @property
    def shape(self) -> Any:
        """The lengths of the dimensions, as an int64 vector."""
        return shape.shape(self)

    @property
    def size(self) -> Any:
        """The number of elements, as an int64 scalar."""
        # that of a scalar is read from the scalar, too, so that it depends on it as other sizes do
        x = self if self.type.ndim else self.dimshuffle("x")
        return as_tensor_variable(length_product([length_op(i)(x) for i in range(x.type.ndim)]))

    @property
    def T(self) -> TensorVariable:
        """The tensor with its dimensions in reverse order."""
        return shape.transpose(self)

    @property
    def mT(self) -> TensorVariable:
        """The tensor with its last two dimensions swapped."""
        return shape.matrix_transpose(self)

    @property
    def real(self) -> TensorVariable:
        """The real part."""
        return cx.real(self)

    @property
    def imag(self) -> TensorVariable:
        """The imaginary part."""
        return cx.imag(self)

    # arithmetic

    def __add__(self, other: TensorLike) -> TensorVariable:
        return ar.add(self, other)

    def __radd__(self, other: TensorLike) -> TensorVariable:
        return ar.add(other, self)

    def __sub__(self, other: TensorLike) -> TensorVariable:
        return ar.sub(self, other)

    def __rsub__(self, other: TensorLike) -> TensorVariable:
        return ar.sub(other, self)

    def __mul__(self, other: TensorLike) -> TensorVariable:
        return ar.mul(self, other)

    def __rmul__(self, other: TensorLike) -> TensorVariable:
        return ar.mul(other, self)

    def __truediv__(self, other: TensorLike) -> TensorVariable:
        return cast.quotient(self, other)

    def __rtruediv__(self, other: TensorLike) -> TensorVariable:
        return cast.quotient(other, self)

    def __floordiv__(self, other: TensorLike) -> TensorVariable:
        return ar.int_div(self, other)

    def __rfloordiv__(self, other: TensorLike) -> TensorVariable:
        return ar.int_div(other, self)

    def __mod__(self, other: TensorLike) -> TensorVariable:
        return ar.mod(self, other)

    def __rmod__(self, other: TensorLike) -> TensorVariable:
        return ar.mod(other, self)

    def __divmod__(self, other: TensorLike) -> tuple[TensorVariable, TensorVariable]:
        return ar.divmod(self, other)

    def __rdivmod__(self, other: TensorLike) -> tuple[TensorVariable, TensorVariable]:
        return ar.divmod(other, self)

    def __pow__(self, other: TensorLike) -> TensorVariable:
        return tr.pow(self, other)

    def __rpow__(self, other: TensorLike) -> TensorVariable:
        return tr.pow(other, self)

    def __matmul__(self, other: TensorLike) -> TensorVariable:
        return blas.matmul(self, other)

    def __rmatmul__(self, other: TensorLike) -> TensorVariable:
        return blas.matmul(other, self)

    def __neg__(self) -> TensorVariable:
        return ar.neg(self)

    def __pos__(self) -> TensorVariable:
        return self

    def __abs__(self) -> TensorVariable:
        return ar.abs(self)

    def __invert__(self) -> TensorVariable:
        return ar.invert(self)

    def __and__(self, other: TensorLike) -> TensorVariable:
        return ar.and_(self, other)

    def __rand__(self, other: TensorLike) -> TensorVariable:
        return ar.and_(other, self)

    def __or__(self, other: TensorLike) -> TensorVariable:
        return ar.or_(self, other)

    def __ror__(self, other: TensorLike) -> TensorVariable:
        return ar.or_(other, self)

    def __xor__(self, other: TensorLike) -> TensorVariable:
        return ar.xor(self, other)

    def __rxor__(self, other: TensorLike) -> TensorVariable:
        return ar.xor(other, self)

    def __lshift__(self, other: TensorLike) -> TensorVariable:
        return _shifted(np.left_shift, self, other)

    def __rlshift__(self, other: TensorLike) -> TensorVariable:
        return _shifted(np.left_shift, other, self)

    def __rshift__(self, other: TensorLike) -> TensorVariable:
        return _shifted(np.right_shift, self, other)

    def __rrshift__(self, other: TensorLike) -> TensorVariable:
        return _shifted(np.right_shift, other, self)

    def __round__(self, ndigits: int | None = None) -> TensorVariable:
        return ar.round(self, decimals=0 if ndigits is None else ndigits)

    def __ceil__(self) -> TensorVariable:
        return ar.ceil(self)

    def __floor__(self) -> TensorVariable:
        return ar.floor(self)

    def __trunc__(self) -> TensorVariable:
        return ar.trunc(self)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        """Build a graph for a ufunc of NumPy or SciPy, or for an operator with an array on its left."""
        return numpy_functions.call_ufunc(ufunc, method, inputs, options)

    def __array_function__(
        self, func: Any, types: Any, args: Sequence[Any], kwargs: Mapping[str, Any]
    ) -> Any:
        """Build a graph for a function of NumPy."""
        return numpy_functions.call_function(func, args, kwargs)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        raise TypeError(
            f"{_written(self)} has no value before the graph runs, so it can be no array and no element of "
            "one; use occelo.tensor.stack or as_tensor, or eval() to compute it"
        )

    # comparison; == compares by identity, because variables are keys of dictionaries

    def __lt__(self, other: TensorLike) -> TensorVariable:
        return ar.lt(self, other)

    def __le__(self, other: TensorLike) -> TensorVariable:
        return ar.le(self, other)

    def __gt__(self, other: TensorLike) -> TensorVariable:
        return ar.gt(self, other)

    def __ge__(self, other: TensorLike) -> TensorVariable:
        return ar.ge(self, other)

    def eq(self, other: TensorLike) -> TensorVariable:
        """Whether elements are equal, element by element. ``==`` compares variables by identity instead."""
        return ar.eq(self, other)

    def neq(self, other: TensorLike) -> TensorVariable:
        """Whether elements differ, element by element. ``!=`` compares variables by identity instead."""
        return ar.neq(self, other)

    # operations that need a value

    def __bool__(self) -> bool:
        raise TypeError(
            f"The truth value of {_written(self)} is not known before the graph runs; "
            "use (a < x) & (x < b) for a < x < b, maximum(x, y) for max(x, y), switch or ifelse "
            "for if, or eval() to compute it"
        )

    def __len__(self) -> int:
        if self.ndim == 0:
            raise TypeError("A scalar has no length")
        length = self.type.shape[0]
        if length is None:
            raise TypeError(
                f"The length of {_written(self)} is not known before the graph runs; use shape[0]"
            )
        return length

    def __iter__(self) -> Iterator[TensorVariable]:
        if self.ndim == 0:
            raise TypeError("A scalar cannot be iterated over")
        length = self.type.shape[0]
        if length is None:
            raise ValueError(
                f"Cannot iterate over {_written(self)}: its length is not known before the graph runs; "
                "use what takes whole tensors, such as x.sum() for sum(x)"
            )
        return iter([self[i] for i in range(length)])

    def __setitem__(self, key: Any, value: Any) -> None:
        raise TypeError(
            "A symbolic tensor cannot be changed; use y = x[key].set(value), or .inc(value) to add"
        )

    def __contains__(self, value: Any) -> bool:
        raise TypeError(
            f"What {_written(self)} contains is not known before the graph runs; use any(eq(x, value))"
        )

    def _no_value(self) -> Any:
        raise TypeError(
            f"{_written(self)} has no value before the graph runs; use eval() to compute it"
        )

    __float__ = __int__ = __index__ = __complex__ = _no_value

    __hash__ = Variable.__hash__

    # indexing

    def __getitem__(self, key: Any) -> TensorVariable:
        return subtensor.getitem(self, key)

    def set(self, y: TensorLike) -> TensorVariable:
        """A copy of x in which a part is set: ``x[key].set(y)`` is x with ``y`` at ``key``."""
        return subtensor.set_subtensor(self, y)

    def inc(self, y: TensorLike, ignore_duplicates: bool = False) -> TensorVariable:
        """A copy of x in which a part is increased: ``x[key].inc(y)`` is x with ``y`` added at ``key``.

        If ``key`` contains a position several times, all increments are added, or only the last one if
        ``ignore_duplicates`` is true.
        """
        return subtensor.inc_subtensor(self, y, ignore_duplicates=ignore_duplicates)

    @property
    def at(self) -> At:
        """``x.at[key]`` has the methods ``set``, ``add``, ``multiply``, ``max`` and others of JAX, which change a part."""
        return At(self)

    def take(
        self, indices: TensorLike, axis: int | None = None, mode: search.Mode = "raise"
    ) -> TensorVariable:
        """See `take`."""
        return search.take(self, indices, axis, mode)

    def nonzero(
        self, return_matrix: bool = False, *, size: Any = None, fill_value: Any = None
    ) -> Any:
        """See `nonzero`."""
        return search.nonzero(self, return_matrix, size=size, fill_value=fill_value)

    def nonzero_values(self) -> TensorVariable:
        """See `nonzero_values`."""
        return search.nonzero_values(self)

    def diagonal(self, offset: int = 0, axis1: int = 0, axis2: int = 1) -> TensorVariable:
        """See `diagonal`."""
        return search.diagonal(self, offset, axis1, axis2)

    def choose(self, choices: TensorLike, mode: search.Mode = "raise") -> TensorVariable:
        """See `choose` of the family of arrays. TypeError if this family is not installed."""
        chosen: TensorVariable = numpy_functions.call_function(
            np.choose, (self, choices), {"mode": mode}
        )
        return chosen

    def compress(self, condition: TensorLike, axis: int | None = None) -> TensorVariable:
        """The slices of this tensor along ``axis`` at which ``condition``, a vector of truth values, is true.

        This is NumPy's method. In Theano, Aesara and PyTensor, x is the condition in ``x.compress(y)``. To detect
        programs that were written for these libraries, TypeError is raised if the dtype of ``condition`` is not bool.
        """
        holds = as_tensor_variable(condition)
        if holds.dtype != "bool":
            raise TypeError(
                f"The condition of x.compress(condition) must have truth values, got {holds.type}; "
                "compress(condition, x) takes it first, and numbers as well"
            )
        slices: TensorVariable = numpy_functions.call_function(np.compress, (holds, self, axis), {})
        return slices

    # shape

    def dimshuffle(self, *pattern: Any) -> TensorVariable:
        """Reorder, add and drop dimensions. See `dimshuffle`; "x" adds a dimension."""
        return shape.dimshuffle(self, *pattern)

    def transpose(self, *axes: Any) -> TensorVariable:
        """Reorder dimensions. By default their order is reversed. See `transpose`."""
        if len(axes) == 1 and (axes[0] is None or is_sequence(axes[0]) or np.ndim(axes[0]) == 1):
            return shape.transpose(self, axes[0])
        return shape.transpose(self, axes or None)

    def swapaxes(self, axis1: int, axis2: int) -> TensorVariable:
        """See `swapaxes`."""
        return shape.swapaxes(self, axis1, axis2)

    def reshape(self, *lengths: Any, ndim: int | None = None) -> TensorVariable:
        """See `reshape`. The lengths may be several arguments or one sequence."""
        newshape = lengths[0] if len(lengths) == 1 else lengths
        return shape.reshape(self, newshape, ndim)

    def flatten(self, ndim: int = 1) -> TensorVariable:
        """See `flatten`."""
        return shape.flatten(self, ndim)

    def ravel(self) -> TensorVariable:
        """See `ravel`."""
        return shape.ravel(self)

    def squeeze(self, axis: Any = None) -> TensorVariable:
        """See `squeeze`."""
        return shape.squeeze(self, axis)

    def broadcast_to(self, lengths: Any) -> TensorVariable:
        """See `broadcast_to`."""
        return create.broadcast_to(self, lengths)

    def specify_shape(self, lengths: Any) -> TensorVariable:
        """See `specify_shape`."""
        return shape.specify_shape(self, lengths)

    def repeat(self, repeats: TensorLike, axis: int | None = None) -> TensorVariable:
        """See `repeat`."""
        return join.repeat(self, repeats, axis)

    def join_with(self, *others: TensorLike, axis: int = 0) -> TensorVariable:
        """The concatenation of this tensor and ``others`` along ``axis``. See `join`."""
        return join.join(axis, self, *others)

    def zeros_like(self, dtype: Any = None) -> TensorVariable:
        """See `zeros_like`."""
        return create.zeros_like(self, dtype)

    def ones_like(self, dtype: Any = None) -> TensorVariable:
        """See `ones_like`."""
        return create.ones_like(self, dtype)

    def fill(self, value: TensorLike) -> TensorVariable:
        """A tensor of the shape and dtype of this one, with all elements equal to ``value``. See `full_like`."""
        return create.full_like(self, value)

    # elements

    def astype(self, dtype: Any, copy: bool = True) -> TensorVariable:
        """See `cast`. ``copy`` changes nothing."""
        return cast.cast(self, dtype)

    def copy(self, name: str | None = None) -> TensorVariable:
        """A new variable with the value of this one. See `tensor_copy`."""
        return ar.tensor_copy(self, name=name)

    def clip(
        self, a_min: Any = None, a_max: Any = None, *, min: Any = None, max: Any = None
    ) -> TensorVariable:
        """See `clip`. None means that there is no limit."""
        return ar.clip(self, min, max, a_min=a_min, a_max=a_max)

    def conj(self) -> TensorVariable:
        """The complex conjugate. See `conj`."""
        return cx.conj(self)

    conjugate = conj

    def round(
        self, mode: str | int = "half_to_even", decimals: int | None = None
    ) -> TensorVariable:
        """See `round`."""
        return ar.round(self, mode, decimals)

    def ceil(self) -> TensorVariable:
        """See `ceil`."""
        return ar.ceil(self)

    def floor(self) -> TensorVariable:
        """See `floor`."""
        return ar.floor(self)

    def trunc(self) -> TensorVariable:
        """See `trunc`."""
        return ar.trunc(self)

    def exp(self) -> TensorVariable:
        """See `exp`."""
        return tr.exp(self)

    def exp2(self) -> TensorVariable:
        """See `exp2`."""
        return tr.exp2(self)

    def expm1(self) -> TensorVariable:
        """See `expm1`."""
        return tr.expm1(self)

    def log(self) -> TensorVariable:
        """See `log`."""
        return tr.log(self)

    def log2(self) -> TensorVariable:
        """See `log2`."""
        return tr.log2(self)

    def log10(self) -> TensorVariable:
        """See `log10`."""
        return tr.log10(self)

    def log1p(self) -> TensorVariable:
        """See `log1p`."""
        return tr.log1p(self)

    def sqrt(self) -> TensorVariable:
        """See `sqrt`."""
        return ar.sqrt(self)

    def sin(self) -> TensorVariable:
        """See `sin`."""
        return tr.sin(self)

    def cos(self) -> TensorVariable:
        """See `cos`."""
        return tr.cos(self)

    def tan(self) -> TensorVariable:
        """See `tan`."""
        return tr.tan(self)

    def sinh(self) -> TensorVariable:
        """See `sinh`."""
        return tr.sinh(self)

    def cosh(self) -> TensorVariable:
        """See `cosh`."""
        return tr.cosh(self)

    def tanh(self) -> TensorVariable:
        """See `tanh`."""
        return tr.tanh(self)

    def arcsin(self) -> TensorVariable:
        """See `arcsin`."""
        return tr.arcsin(self)

    def arccos(self) -> TensorVariable:
        """See `arccos`."""
        return tr.arccos(self)

    def arctan(self) -> TensorVariable:
        """See `arctan`."""
        return tr.arctan(self)

    def arcsinh(self) -> TensorVariable:
        """See `arcsinh`."""
        return tr.arcsinh(self)

    def arccosh(self) -> TensorVariable:
        """See `arccosh`."""
        return tr.arccosh(self)

    def arctanh(self) -> TensorVariable:
        """See `arctanh`."""
        return tr.arctanh(self)

    def deg2rad(self) -> TensorVariable:
        """See `deg2rad`."""
        return tr.deg2rad(self)

    def rad2deg(self) -> TensorVariable:
        """See `rad2deg`."""
        return tr.rad2deg(self)

    # products and reductions

    def dot(self, right: TensorLike) -> TensorVariable:
        """See `dot`."""
        return blas.dot(self, right)

    def trace(
        self, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: Any = None
    ) -> TensorVariable:
        """See `trace`."""
        return blas.trace(self, offset, axis1, axis2, dtype)

    def sum(
        self, axis: Any = None, dtype: Any = None, keepdims: bool = False, acc_dtype: Any = None,
        **options: Any,
    ) -> TensorVariable:  # fmt: skip
        """See `sum`."""
        return reduce.sum(self, axis, dtype, keepdims, acc_dtype, **options)

    def prod(
        self, axis: Any = None, dtype: Any = None, keepdims: bool = False, acc_dtype: Any = None,
        **options: Any,
    ) -> TensorVariable:  # fmt: skip
        """See `prod`."""
        return reduce.prod(self, axis, dtype, keepdims, acc_dtype, **options)

    def mean(
        self, axis: Any = None, dtype: Any = None, keepdims: bool = False, acc_dtype: Any = None,
        **options: Any,
    ) -> TensorVariable:  # fmt: skip
        """See `mean`."""
        return statistics.mean(self, axis, dtype, keepdims, acc_dtype, **options)

    def var(
        self, axis: Any = None, ddof: int = 0, keepdims: bool = False, **options: Any
    ) -> TensorVariable:
        """See `var`."""
        return statistics.var(self, axis, ddof, keepdims, **options)

    def std(
        self, axis: Any = None, ddof: int = 0, keepdims: bool = False, **options: Any
    ) -> TensorVariable:
        """See `std`."""
        return statistics.std(self, axis, ddof, keepdims, **options)

    def norm(self, L: Any = None, axis: Any = None, keepdims: bool = False) -> TensorVariable:
        """See `norm` of linear algebra. TypeError if this family is not installed."""
        return _by_family(np.linalg.norm, self, L, axis, keepdims)

    def sort(
        self, axis: Any = -1, kind: Any = None, order: None = None, *, stable: Any = None
    ) -> TensorVariable:
        """A sorted copy; see `sort` of the family of sorting. TypeError if this family is not installed.

        NumPy's method of this name sorts an array in place. A symbolic tensor does not change.
        """
        return _by_family(np.sort, self, axis, kind, order, stable)

    def argsort(
        self, axis: Any = -1, kind: Any = None, order: None = None, *, stable: Any = None
    ) -> TensorVariable:
        """See `argsort` of the family of sorting. TypeError if this family is not installed."""
        return _by_family(np.argsort, self, axis, kind, order, stable)

    def searchsorted(
        self, v: TensorLike, side: str = "left", sorter: TensorLike | None = None
    ) -> TensorVariable:
        """See `searchsorted` of the family of sorting. TypeError if this family is not installed."""
        return _by_family(np.searchsorted, self, v, side, sorter)

    def max(self, axis: Any = None, keepdims: bool = False, **options: Any) -> TensorVariable:
        """See `max`."""
        return reduce.max(self, axis, keepdims, **options)

    def min(self, axis: Any = None, keepdims: bool = False, **options: Any) -> TensorVariable:
        """See `min`."""
        return reduce.min(self, axis, keepdims, **options)

    def argmax(self, axis: Any = None, keepdims: bool = False) -> TensorVariable:
        """See `argmax`."""
        return reduce.argmax(self, axis, keepdims)

    def argmin(self, axis: Any = None, keepdims: bool = False) -> TensorVariable:
        """See `argmin`."""
        return reduce.argmin(self, axis, keepdims)

    def all(self, axis: Any = None, keepdims: bool = False) -> TensorVariable:
        """See `all`."""
        return reduce.all(self, axis, keepdims)

    def any(self, axis: Any = None, keepdims: bool = False) -> TensorVariable:
        """See `any`."""
        return reduce.any(self, axis, keepdims)

    def ptp(self, axis: Any = None, keepdims: bool = False) -> TensorVariable:
        """See `ptp`."""
        return statistics.ptp(self, axis, keepdims)

    def cumsum(self, axis: Any = None, dtype: Any = None) -> TensorVariable:
        """See `cumsum`."""
        return reduce.cumsum(self, axis, dtype)

    def cumprod(self, axis: Any = None, dtype: Any = None) -> TensorVariable:
        """See `cumprod`."""
        return reduce.cumprod(self, axis, dtype)


_LONGEST_FORMULA = 80


def _by_family(function: Any, *args: Any) -> TensorVariable:
    """Call the function of a family that stands for one of NumPy. TypeError if it is not installed."""
    applied: TensorVariable = numpy_functions.call_function(function, args, {})
    return applied


def _shifted(ufunc: np.ufunc, x: Any, n: Any) -> TensorVariable:
    """Shift bits by the function of the family of arrays that stands for NumPy's. TypeError if it is not installed."""
    shifted: TensorVariable = numpy_functions.call_ufunc(ufunc, "__call__", (x, n), {})
    return shifted


def _written(variable: Variable) -> str:
    """A variable in an error message: its name or formula, and the line of the user's code that made it."""
    formula = formula_of(variable)
    short = len(formula) <= _LONGEST_FORMULA and "\n" not in formula
    shown = formula if short else str(variable)
    return (
        shown
        if variable.owner is None or variable.source is None
        else f"{shown} (made at {variable.source})"
    )


class TensorConstant(TensorVariable, Constant):  # pyright: ignore[reportIncompatibleVariableOverride]  # `type`, as above
    """A tensor with a fixed value. TypeError if the type does not accept the value."""

    __slots__ = ()

    def __init__(self, type: TensorType, data: Any, name: str | None = None) -> None:
        Constant.__init__(self, type, data, name)

    def signature(self) -> tuple[Any, ...]:
        """A key that equal constants share: the type, the shape and the bytes.

        So NaN equals NaN, and -0.0 differs from 0.0. The type need not have all lengths.
        """
        return (self.type, self.data.shape, np.ascontiguousarray(self.data).tobytes())

    def clone(self, name: str | None = None) -> Any:
        return self

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return np.array(self.data, dtype=dtype, copy=copy)

    def __index__(self) -> int:
        """The value of an integer scalar, for an axis and the like. It is recorded (`taken_constants`)."""
        if self.data.dtype.kind not in "iu" or self.data.ndim:
            return super().__index__()
        return operator.index(read(self))

    __int__ = __index__

    def __copy__(self) -> TensorConstant:
        return self

    def __deepcopy__(self, memo: Any) -> TensorConstant:
        return self


class TensorNominalVariable(TensorVariable, NominalVariable):  # pyright: ignore[reportIncompatibleVariableOverride]  # `type`, as above
    """A tensor that is an input of an inner graph."""

    __slots__ = ()

    def __init__(self, id: int, type: Type) -> None:
        NominalVariable.__init__(self, id, type)

    def clone(self, name: str | None = None) -> Any:
        return self


class TensorSharedVariable(TensorVariable, SharedVariable):  # pyright: ignore[reportIncompatibleVariableOverride]  # `type`, as above
    """A shared variable whose value is a tensor. Several compiled functions can use and update the value. TypeError if the type does not accept the value."""

    __slots__ = ()

    def __init__(self, *args: Any, **options: Any) -> None:
        SharedVariable.__init__(self, *args, **options)

    def clone(self, name: str | None = None) -> Any:
        return SharedVariable.clone(self, name)

    def __str__(self) -> str:
        return SharedVariable.__str__(self)

    if TYPE_CHECKING:

        @overload
        def get_value(
            self, borrow: bool = False, return_internal_type: Literal[False] = False
        ) -> NDArray[Any]: ...
        @overload
        def get_value(self, borrow: bool = False, return_internal_type: bool = False) -> Any: ...
        def get_value(self, borrow: bool = False, return_internal_type: bool = False) -> Any: ...

    def zero(self, borrow: bool = False) -> None:
        """Set all elements of the value to 0. With ``borrow`` the array is changed in place."""
        if borrow:
            self.container.storage[0][...] = 0
        else:
            self.container.storage[0] = np.zeros_like(self.container.storage[0])


_NUMBERS = (bool, int, float, complex)
_ELEMENTS = (*_NUMBERS, np.number, np.bool_, np.ndarray)
"""The elements of lists and tuples that `shared` makes tensors of."""


def _is_tensor_value(value: Any) -> bool:
    dtype: Any = getattr(value, "dtype", None)
    if isinstance(value, np.ndarray | np.generic):
        return name_of(dtype) in DTYPES
    if is_sequence(value):
        # a list of anything else, such as strings, is kept as it is
        return all(issubclass(kind, _ELEMENTS) for kind in leaf_types(value))
    return isinstance(value, _NUMBERS)


def _shared_tensor(
    value: Any,
    name: str | None = None,
    strict: bool = False,
    allow_downcast: bool | None = None,
    borrow: bool = False,
    shape: Any = None,
) -> TensorSharedVariable:
    """The constructor behind `shared` for tensors. Numbers, lists and tuples get the same dtypes as in `constant`."""
    refuse_mask(value)
    if is_array(value):
        data = value if borrow else np.array(value, order="C")
    else:
        data = np.array(constant(value).data)
    type_ = TensorType(data.dtype, (None,) * data.ndim if shape is None else shape)
    return TensorSharedVariable(type_, data, strict, allow_downcast, None, name)


TensorType.variable_class = TensorVariable
TensorType.constant_class = TensorConstant
TensorType.nominal_class = TensorNominalVariable
shared_constructor(_is_tensor_value, _shared_tensor)
