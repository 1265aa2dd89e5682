"""Products of vectors, matrices and batches of matrices: the ops `Dot` and `MatMul`, and functions such as `tensordot`.

Users call the functions from `occelo.tensor`; some are in `occelo.tensor.linalg`, too. `einsum`, functions of linear
algebra and rules call them. The linkers for machine code compile the ops to calls of BLAS, or to loops if the matrices
are small.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from occelo_graph.errors import broadcasting_hint
from occelo_graph.ir.nodes import Apply, Variable
from occelo_graph.ir.op import ZERO, Cotangents, Op, op
from occelo_graph.ir.taken_constants import taken
from occelo_graph.ir.terms import PRODUCT, Term
from occelo_graph.ir.traits import FIRST, SECOND
from occelo_graph.narrowing import is_list_or_tuple
from occelo_graph.ops.batching import BatchedOp, align
from occelo_graph.ops.cast import cast
from occelo_graph.ops.control.checks import raise_unless
from occelo_graph.ops.elemwise.arithmetic import eq
from occelo_graph.ops.elemwise.op import broadcast_static, unbroadcast
from occelo_graph.ops.reduce import sum as sum_
from occelo_graph.ops.shape.asserting import specify_shape
from occelo_graph.ops.shape.axes import listed_axes, normalize_axis, static_integer
from occelo_graph.ops.shape.dimensions import expand_dims, matrix_transpose, moveaxis, transpose
from occelo_graph.ops.shape.reading import length_product, lengths_by_variables
from occelo_graph.ops.shape.reshaping import reshape
from occelo_graph.tensors.constant import as_tensor_variable
from occelo_graph.tensors.nodes import Tensors, tensors
from occelo_graph.tensors.type import TensorType, is_complex, is_discrete, name_of

if TYPE_CHECKING:
    from occelo_graph.tensors.variable import TensorVariable

__all__ = [
    "Dot",
    "MatMul",
    "batched_dot",
    "batched_tensordot",
    "dense_dot",
    "dot",
    "matmul",
    "matvec",
    "outer",
    "tensordot",
    "trace",
    "vecdot",
    "vecmat",
]


def _contract(a: int | None, b: int | None, x: TensorType, y: TensorType) -> None:
    if a is not None and b is not None and a != b:
        raise ValueError(
            f"Cannot multiply {x} and {y}: the contracted dimensions have lengths {a} and {b}"
        )


def _product_dtype(x: TensorType, y: TensorType) -> str:
    return name_of(np.result_type(x.numpy_dtype, y.numpy_dtype))


def _hermitian(x: Any) -> Any:
    turned = matrix_transpose(x)
    return turned.conj() if is_complex(x.dtype) else turned


def _as_dtype(ct: Any, like: Any) -> Any:
    if ct.type.dtype == like.type.dtype:
        return ct
    if is_complex(ct.dtype) and not is_complex(like.dtype):
        ct = ct.real
    return ct if is_discrete(like.dtype) or ct.dtype == like.dtype else ct.astype(like.dtype)


def _with_equal_lengths(x: Any, i: int, y: Any, j: int) -> tuple[Any, Any]:
    """Assert that dimension ``i`` of ``x`` and dimension ``j`` of ``y`` have the same length, if one length is static.

    ``x`` and ``y`` are returned, with the static length in both types. So a length of 1 does not broadcast in the
    product of the tensors.
    """
    n, m = x.type.shape[i], y.type.shape[j]
    if n is None and m is not None:
        x = specify_shape(x, [m if k == i else None for k in range(x.ndim)])
    if m is None and n is not None:
        y = specify_shape(y, [n if k == j else None for k in range(y.ndim)])
    return x, y


def _total(terms: Any, axis: int) -> Any:
    """Sum products along ``axis`` in their own dtype. So integers wrap, and sums of booleans are booleans."""
    return sum_(terms, axis=axis, dtype=terms.dtype)


class _Product(Op):
    """Base class of the ops that ``@`` applies."""

    def linear_in(self, node: Apply) -> Sequence[slice]:
        return FIRST, SECOND

    def may_fail(self, node: Apply) -> bool:
        return False

    def written(self, node: Apply, operands: Sequence[Term]) -> Term | None:
        return Term(" @ ".join(term.at(PRODUCT + 1) for term in operands), PRODUCT)


@op
class Dot(_Product):
    """Product of two inputs, each of which is a matrix or a vector."""

    def infer(self, x: TensorType, y: TensorType) -> TensorType:
        if x.ndim not in (1, 2) or y.ndim not in (1, 2):
            raise TypeError(f"Dot takes vectors and matrices, got {x} and {y}")
        _contract(x.shape[-1], y.shape[0], x, y)
        return TensorType(_product_dtype(x, y), x.shape[:-1] + y.shape[1:])

    def evaluate(self, x: Any, y: Any) -> Any:
        return np.asarray(np.dot(x, y))

    def decompose(self, x: Any, y: Any) -> Sequence[Any]:
        x, y = _with_equal_lengths(x, x.ndim - 1, y, 0)
        terms = x.dimshuffle(*range(x.ndim), "x") * y if y.ndim == 2 else x * y
        return [_total(terms, x.ndim - 1)]

    def pullback(self, inputs: Tensors, outputs: Tensors, cotangents: Tensors) -> Cotangents:
        return Dot.pull(self, inputs, outputs, cotangents, (True, True))

    def pull(
        self, inputs: Any, outputs: Any, cotangents: Any, wanted: Sequence[bool]
    ) -> Sequence[Any]:
        (x, y), ct = inputs, cotangents[0]
        if outputs[0].type.is_discrete:
            return [ZERO, ZERO]
        of_x = of_y = None
        x_conj = x.conj() if x.type.is_complex else x
        y_conj = y.conj() if y.type.is_complex else y
        if wanted[0]:
            if y.ndim == 1:
                of_x = ct * y_conj if x.ndim == 1 else ct.dimshuffle(0, "x") * y_conj
            else:
                of_x = self(ct, y_conj.T) if x.ndim == 2 else self(y_conj, ct)
            of_x = _as_dtype(of_x, x)
        if wanted[1]:
            if x.ndim == 1:
                of_y = ct * x_conj if y.ndim == 1 else x_conj.dimshuffle(0, "x") * ct
            else:
                of_y = self(x_conj.T, ct)
            of_y = _as_dtype(of_y, y)
        return [of_x, of_y]

    def infer_shape(self, node: Apply, input_shapes: Sequence[Any]) -> Sequence[Any]:
        return [(*input_shapes[0][:-1], *input_shapes[1][1:])]

    def batch(
        self, node: Apply, inputs: Sequence[Any], batch_ndims: Sequence[int]
    ) -> Sequence[Any]:
        x, y = inputs
        x_core, y_core = (v.type.ndim for v in node.inputs)
        if x_core == 2 and batch_ndims[1] == 0:
            # all elements of the batch have the same right factor, so one matrix product computes all
            return [tensordot(x, y, axes=1)]
        if x_core == 1 and batch_ndims[1] == 0:
            return [self(x, y) if x.ndim <= 2 else tensordot(x, y, axes=1)]
        if y_core == 1 and batch_ndims[0] == 0:
            # all elements of the batch have the same matrix, so one matrix product computes all
            return [tensordot(y, x, axes=[[y.ndim - 1], [x.ndim - 1]])]
        x = expand_dims(x, -2) if x_core == 1 else x
        y = expand_dims(y, -1) if y_core == 1 else y
        ndim = max(batch_ndims)
        x, y = align(x, batch_ndims[0], ndim), align(y, batch_ndims[1], ndim)
        result = MatMul()(x, y)
        drop = ([-2] if x_core == 1 else []) + ([-1] if y_core == 1 else [])
        return [result.squeeze(axis=drop) if drop else result]


@op
class MatMul(_Product, BatchedOp):
    """Products of matrices, which lie in the last two dimensions of the inputs. The other dimensions broadcast."""

    signature: ClassVar[str] = "(m,k),(k,n)->(m,n)"

    @property
    def core_op(self) -> Op:
        return Dot()

    def infer(self, x: TensorType, y: TensorType) -> TensorType:
        if x.ndim < 2 or y.ndim < 2:
            raise TypeError(f"MatMul takes at least two dimensions, got {x} and {y}")
        _contract(x.shape[-1], y.shape[-2], x, y)
        batch = (
            broadcast_static([x.shape[:-2], y.shape[:-2]], "matmul") if x.ndim + y.ndim > 4 else ()
        )
        return TensorType(_product_dtype(x, y), (*batch, x.shape[-2], y.shape[-1]))

    def evaluate(self, x: Any, y: Any) -> Any:
        return np.matmul(x, y)

    def decompose(self, x: Any, y: Any) -> Sequence[Any]:
        x, y = _with_equal_lengths(x, x.ndim - 1, y, y.ndim - 2)
        terms = expand_dims(x, -1) * expand_dims(y, -3)
        return [_total(terms, terms.ndim - 2)]

    def kernel(self, node: Apply) -> Any:
        x_type, y_type = (v.type for v in node.inputs)
        assert isinstance(x_type, TensorType)
        assert isinstance(y_type, TensorType)
        ndim = min(x_type.ndim, y_type.ndim)
        paired = [
            axis for axis in range(-ndim, -2) if x_type.shape[axis] != 1 and y_type.shape[axis] != 1
        ]

        def running(x: Any, y: Any) -> Sequence[Any]:
            for axis in paired:
                if x.shape[axis] != y.shape[axis]:
                    hint = broadcasting_hint(x.shape[axis], y.shape[axis])
                    raise ValueError(
                        f"Batch dimensions do not match: {x.shape} and {y.shape}{hint}"
                    )
            return (np.matmul(x, y),)

        return running

    def pullback(self, inputs: Tensors, outputs: Tensors, cotangents: Tensors) -> Cotangents:
        (x, y), ct = inputs, cotangents[0]
        if is_discrete(outputs[0].dtype):
            return [ZERO, ZERO]
        of_x = MatMul()(ct, _hermitian(y))
        of_y = MatMul()(_hermitian(x), ct)
        batch = TensorType(ct.dtype, (*ct.type.shape[:-2], None, None))
        targets = [TensorType(v.dtype, (*v.type.shape[:-2], None, None)) for v in (x, y)]
        return [
            _as_dtype(unbroadcast(of_x, batch, targets[0]), x),
            _as_dtype(unbroadcast(of_y, batch, targets[1]), y),
        ]

    def infer_shape(self, node: Apply, input_shapes: Sequence[Any]) -> Sequence[Any]:
        x, y = input_shapes
        ndim = max(len(x), len(y)) - 2
        batch: list[Any] = [1] * ndim
        for variable, lengths in zip(node.inputs, input_shapes, strict=True):
            assert isinstance(variable.type, TensorType)
            lead = ndim - (len(lengths) - 2)
            for i, n in enumerate(lengths[:-2]):
                if variable.type.shape[i] != 1:
                    batch[lead + i] = n
        return [(*batch, x[-2], y[-1])]

    def batch(
        self, node: Apply, inputs: Sequence[Any], batch_ndims: Sequence[int]
    ) -> Sequence[Any]:
        operands = tensors(node.inputs)
        core = max(v.type.ndim for v in operands)
        aligned: list[Any] = []
        for old, new, extra in zip(operands, inputs, batch_ndims, strict=True):
            missing = core - old.type.ndim
            if extra and missing:
                order: list[Any] = [*range(extra), *["x"] * missing, *range(extra, new.type.ndim)]
                new = new.dimshuffle(order)
            aligned.append(new)
        return [MatMul()(*aligned)]


_DOT = Dot()  # one op for all products, which keeps the types that it infers


def _operands(a: Any, b: Any) -> tuple[Any, Any]:
    # a Python number has dtype int64 or float64 here, as in NumPy's dot, and does not adapt to the other dtype
    x, y = as_tensor_variable(a), as_tensor_variable(b)
    if x.type.dtype == y.type.dtype:
        return x, y
    dtype = name_of(np.result_type(x.type.numpy_dtype, y.type.numpy_dtype))
    # BLAS needs the same dtype for both operands
    return cast(x, dtype), cast(y, dtype)


def dot(l: Any, r: Any) -> TensorVariable:  # noqa: E741
    """NumPy's dot: contracts the last dimension of ``l`` with the second to last dimension of ``r``.

    If ``r`` is a vector, its only dimension is contracted. If an operand is a scalar, the result is ``l * r``.
    """
    x, y = _operands(l, r)
    if x.type.ndim == 0 or y.type.ndim == 0:
        product: TensorVariable = x * y
        return product
    if x.type.ndim <= 2 and y.type.ndim <= 2:
        contracted: TensorVariable = _DOT(x, y)
        return contracted
    return tensordot(x, y, axes=[[x.type.ndim - 1], [max(0, y.type.ndim - 2)]])


dense_dot = dot


def _in_dtype(a: Any, b: Any, dtype: Any, function: str) -> tuple[Any, Any]:
    """`_operands`, cast to ``dtype`` unless it is None. TypeError if they lose their kind, such as floats to integers."""
    x, y = _operands(a, b)
    if dtype is None:
        return x, y
    if isinstance(dtype, np.ndarray):  # the place of out in NumPy's function
        raise TypeError(f"{function} takes no out: graphs do not write into arrays")
    target = np.dtype(dtype)
    if not np.can_cast(x.type.numpy_dtype, target, "same_kind"):
        raise TypeError(
            f"{function} cannot compute with {x.dtype} in dtype {target.name}; cast first"
        )
    return cast(x, target.name), cast(y, target.name)


def matmul(x1: Any, x2: Any, dtype: Any = None) -> TensorVariable:
    """NumPy's matmul of ``x1`` and ``x2``: products of matrices over broadcasting batches, in ``dtype`` if it is given.

    ValueError for scalars, TypeError if the operands cannot be cast to ``dtype`` within their kind.
    """
    x, y = _in_dtype(x1, x2, dtype, "matmul")
    if x.type.ndim == 0 or y.type.ndim == 0:
        raise ValueError("matmul does not take scalars; use *")
    if x.type.ndim <= 2 and y.type.ndim <= 2:
        product: TensorVariable = Dot()(x, y)
        return product
    if x.type.ndim == 1:
        return MatMul()(expand_dims(x, 0), y).squeeze(-2)
    if y.type.ndim == 1:
        return MatMul()(x, expand_dims(y, 1)).squeeze(-1)
    batched: TensorVariable = MatMul()(x, y)
    return batched


def matvec(x1: Any, x2: Any, dtype: Any = None) -> TensorVariable:
    """Products of the matrices ``x1`` and vectors, over broadcasting batches. The vectors lie in the last dimension of ``x2``.

    ValueError if ``x1`` has less than two dimensions, or ``x2`` is a scalar. ``dtype`` as in `matmul`.
    """
    x, y = _in_dtype(x1, x2, dtype, "matvec")
    _check_matrix_and_vector("matvec", x, y)
    return matmul(x, expand_dims(y, -1)).squeeze(-1)


def _check_matrix_and_vector(name: str, matrix: TensorVariable, vector: TensorVariable) -> None:
    if matrix.type.ndim < 2 or not vector.type.ndim:
        raise ValueError(
            f"{name} multiplies matrices and vectors, got {matrix.type} and {vector.type}"
        )


def vecmat(x1: Any, x2: Any, dtype: Any = None) -> TensorVariable:
    """Products of vectors and the matrices ``x2``, over broadcasting batches. The vectors lie in the last dimension of ``x1``.

    Complex vectors are conjugated, as in NumPy. ``dtype`` and errors as in `matvec`.
    """
    x, y = _in_dtype(x1, x2, dtype, "vecmat")
    _check_matrix_and_vector("vecmat", y, x)
    x = x.conj() if is_complex(x.dtype) else x
    return matmul(expand_dims(x, -2), y).squeeze(-2)


def vecdot(x1: Any, x2: Any, axis: Any = -1, dtype: Any = None) -> TensorVariable:
    """Inner products of vectors of ``x1``, conjugated, and ``x2`` along ``axis``, over broadcasting batches.

    They are computed in ``dtype`` if it is given. ValueError for scalars, TypeError if ``axis`` is not an integer, or if
    the vectors cannot be cast to ``dtype`` within their kind.
    """
    x, y = _in_dtype(x1, x2, dtype, "vecdot")
    if x.type.ndim == 0 or y.type.ndim == 0:
        raise ValueError("vecdot does not take scalars; use *")
    x = x.conj() if is_complex(x.dtype) else x
    if not isinstance(axis, int | np.integer):
        raise TypeError(f"axis of vecdot must be an integer, got {axis!r}; there is no out")
    # the axis is resolved for each tensor separately, since their numbers of dimensions may differ
    if axis != -1:
        x, y = moveaxis(x, axis, -1), moveaxis(y, axis, -1)
    return sum_(x * y, axis=-1, dtype=x.dtype)


def outer(x: Any, y: Any) -> TensorVariable:
    """Outer product: a matrix of all products of an element of ``x`` and an element of ``y``. Both are flattened."""
    a, b = _operands(x, y)
    product: TensorVariable = a.flatten().dimshuffle(0, "x") * b.flatten().dimshuffle("x", 0)
    return product


def tensordot(a: Any, b: Any, axes: Any = 2) -> TensorVariable:
    """Products of ``a`` and ``b``, summed over pairs of axes.

    ``axes`` is a pair of lists: the axes of ``a`` and the axes of ``b``. A number n pairs the last n axes of ``a`` with
    the first n axes of ``b``.

    ValueError if the lists have different lengths, or if n is larger than the number of dimensions of a tensor.
    """
    x, y = _operands(a, b)
    axes = taken(axes)
    if not is_list_or_tuple(axes) and np.ndim(axes) == 0:
        count = static_integer(axes, "number of axes")
        if count > min(x.type.ndim, y.type.ndim) or count < 0:
            raise ValueError(f"Cannot contract {count} axes of {x.type} and {y.type}")
        left = list(range(x.type.ndim - count, x.type.ndim))
        right = list(range(count))
    else:
        left, right = (
            [normalize_axis(i, v) for i in listed_axes(part)]
            for part, v in zip(axes, (x, y), strict=True)
        )
    if len(left) != len(right):
        raise ValueError(f"As many axes of one tensor as of the other, got {left} and {right}")
    for i, j in zip(left, right, strict=True):
        _contract(x.type.shape[i], y.type.shape[j], x.type, y.type)
    keep_x = [i for i in range(x.type.ndim) if i not in left]
    keep_y = [i for i in range(y.type.ndim) if i not in right]
    x_shape, y_shape = lengths_by_variables(x), lengths_by_variables(y)
    if len(left) == 1 and x.type.ndim <= 2 and y.type.ndim <= 2:
        contracted: TensorVariable = Dot()(
            transpose(x, [*keep_x, *left]), transpose(y, [*right, *keep_y])
        )
        return contracted
    inner, equal = contracted_lengths(
        "tensordot", [x_shape[i] for i in left], [y_shape[j] for j in right]
    )
    rows = length_product([x_shape[i] for i in keep_x])
    columns = length_product([y_shape[i] for i in keep_y])
    flat_x = reshape(transpose(x, [*keep_x, *left]), (rows, inner))
    flat_y = reshape(transpose(y, [*right, *keep_y]), (equal, columns))
    product: TensorVariable = Dot()(flat_x, flat_y)
    return reshape(product, [*(x_shape[i] for i in keep_x), *(y_shape[i] for i in keep_y)])


def contracted_lengths(
    name: str, x_lengths: Sequence[Any], y_lengths: Sequence[Any]
) -> tuple[Any, Any]:
    """The products of the contracted lengths of both tensors.

    The product of the tensors checks that both are equal, and a check that is added here that each pair is.
    """
    pairs = [(n, m) for n, m in zip(x_lengths, y_lengths, strict=True) if n is not m]
    x_product, y_product = length_product(x_lengths), length_product(y_lengths)
    conditions = [eq(n, m) for n, m in pairs if isinstance(n, Variable) or isinstance(m, Variable)]
    if len(x_lengths) > 1 and conditions:
        message = f"{name} needs equal lengths of the contracted axes"
        y_product = raise_unless(
            as_tensor_variable(y_product), *conditions, error=ValueError, message=message
        )
    return x_product, y_product


def batched_dot(a: Any, b: Any) -> TensorVariable:
    """`dot` for each element of a batch. The first dimension of ``a`` and ``b`` is the batch dimension."""
    return _batched("batched_dot", a, b, 1)


def batched_tensordot(x: Any, y: Any, axes: Any = 2) -> TensorVariable:
    """`tensordot` for each element of a batch. Axis 0 of ``x`` and ``y`` is the batch dimension.

    Lists in ``axes`` count the batch dimension as axis 0. A number n pairs the last n axes of ``x`` with the axes 1 to
    n of ``y``. There are two exceptions. If n is 1 and ``y`` has more than two dimensions, the second to last axis of
    ``y`` is contracted. If ``x`` or ``y`` is a vector, no axis is contracted. ValueError for a scalar, for axes that do
    not pair, and for batches of different lengths, of which one that is statically 1 broadcasts.
    """
    return _batched("batched_tensordot", x, y, axes)


def _batched(name: str, x: Any, y: Any, axes: Any) -> TensorVariable:
    a, b = _operands(x, y)
    if a.type.ndim < 1 or b.type.ndim < 1:
        raise ValueError(f"{name} takes batches, got {a.type} and {b.type}")
    n, m = a.type.shape[0], b.type.shape[0]
    if len({n, m} - {None, 1}) > 1:
        raise ValueError(f"{name} takes two batches of one length, got {a.type} and {b.type}")
    axes = taken(axes)
    if not is_list_or_tuple(axes) and np.ndim(axes) == 0:
        count = int(axes)
        left = list(range(a.type.ndim - count, a.type.ndim))
        right = list(range(1, count + 1))
        if b.type.ndim == 1 or a.type.ndim == 1:
            left, right = [], []
        elif count == 1 and b.type.ndim > 2:
            right = [b.type.ndim - 2]
    else:
        left, right = (
            [normalize_axis(i, v) for i in listed_axes(part)]
            for part, v in zip(axes, (a, b), strict=True)
        )
    too_many = max(left, default=0) >= a.type.ndim or max(right, default=0) >= b.type.ndim
    if len(left) != len(right) or min([*left, *right], default=1) < 1 or too_many:
        raise ValueError(
            f"{name} pairs as many axes of {a.type} as of {b.type}, and not axis 0, got axes={axes}"
        )
    for i, j in zip(left, right, strict=True):
        _contract(a.type.shape[i], b.type.shape[j], a.type, b.type)
    keep_a = [i for i in range(1, a.type.ndim) if i not in left]
    keep_b = [i for i in range(1, b.type.ndim) if i not in right]
    a_shape, b_shape = lengths_by_variables(a), lengths_by_variables(b)
    inner, equal = contracted_lengths(name, [a_shape[i] for i in left], [b_shape[j] for j in right])
    flat_a = reshape(
        transpose(a, [0, *keep_a, *left]),
        (a_shape[0], length_product([a_shape[i] for i in keep_a]), inner),
    )
    flat_b = reshape(
        transpose(b, [0, *right, *keep_b]),
        (b_shape[0], equal, length_product([b_shape[i] for i in keep_b])),
    )
    product: TensorVariable = MatMul()(flat_a, flat_b)
    batch = b_shape[0] if n == 1 else a_shape[0]
    return reshape(product, [batch, *(a_shape[i] for i in keep_a), *(b_shape[i] for i in keep_b)])


def trace(
    a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: Any = None
) -> TensorVariable:
    """Sum of the diagonal ``offset`` of the matrices in dimensions ``axis1`` and ``axis2`` of ``a``, in ``dtype``. ValueError if they are one."""
    return as_tensor_variable(a).diagonal(offset, axis1, axis2).sum(-1, dtype=dtype)
