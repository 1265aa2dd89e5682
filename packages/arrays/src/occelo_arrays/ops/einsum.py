"""`einsum`, which builds a graph of matrix products, sums and diagonals from subscripts such as ``"ij,jk->ik"``.

Users call `einsum` from `occelo.tensor`. It is not an op, so it needs no derivatives and no lowering.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from occelo_arrays.ops.subscripts import (
    Labels,
    label_name,
    labels_of_operand,
    labels_of_result,
    read_subscripts,
)
from occelo_graph.narrowing import is_list_or_tuple
from occelo_graph.ops.arguments import stands_for
from occelo_graph.ops.blas.products import contracted_lengths, matmul
from occelo_graph.ops.cast import cast
from occelo_graph.ops.index.search import diagonal
from occelo_graph.ops.reduce import sum as sum_
from occelo_graph.ops.shape.asserting import specify_shape
from occelo_graph.ops.shape.dimensions import (
    dimshuffle,
    expand_dims,
    matrix_transpose,
    squeeze,
)
from occelo_graph.ops.shape.reading import length_product, lengths_by_variables
from occelo_graph.ops.shape.reshaping import reshape
from occelo_graph.tensors.constant import as_tensor_variable

if TYPE_CHECKING:
    from occelo_graph.tensors.variable import TensorVariable

__all__ = ["einsum"]

_UNKNOWN = 100
"""When the order of contractions is chosen, dynamic lengths are assumed to be this number."""


@dataclass(frozen=True)
class _Term:
    """A factor of the product: a tensor with a label for each dimension. All its labels are different.

    A label is a number for a subscript such as "i" (`Labels`).
    """

    tensor: Any
    labels: Labels

    def axis(self, label: int) -> int:
        return self.labels.index(label)

    def ordered(self, labels: Sequence[int]) -> Any:
        """The tensor with its dimensions in the order of ``labels``.

        Labels that the tensor lacks become dimensions of length 1.
        """
        if tuple(labels) == self.labels:
            return self.tensor
        return dimshuffle(self.tensor, [self.axis(i) if i in self.labels else "x" for i in labels])

    def summed(self, remaining: frozenset[int]) -> _Term:
        """The term summed over all dimensions whose labels are not in ``remaining``."""
        gone = tuple(i for i, label in enumerate(self.labels) if label not in remaining)
        if not gone:
            return self
        total = sum_(self.tensor, axis=gone, dtype=self.tensor.dtype)
        return _Term(total, tuple(label for label in self.labels if label in remaining))


@stands_for("einsum", "* -out -dtype -order=K -casting=safe optimize")
def einsum(*operands: Any, optimize: Any = True) -> TensorVariable:
    """NumPy's einsum: a sum of products of tensors. For instance, ``einsum("ij,jk->ik", a, b)`` is ``a @ b``.

    A subscript names a dimension of an operand. The products are summed over all subscripts that are not in the result.
    The subscripts are a string, or a list of integers after each operand, as in ``einsum(a, [0, 1], b, [1, 2], [0,
    2])``. If a subscript occurs twice in one operand, the diagonal of the operand is taken. "..." is any number of
    dimensions, which broadcast. Without "->", the result has the dimensions of "...", then the subscripts that occur
    once, in alphabetical order. Only lengths that are statically 1 broadcast. The result has the common dtype of the
    operands.

    Two operands at a time are contracted, by one product of matrices or of batches of matrices. An operand is
    transposed or copied only if the product needs its dimensions in another order.

    ``optimize`` chooses the order of contractions for three or more operands. If it is True, opt_einsum finds the best
    order; it assumes that dynamic lengths are 100. If it is False, operands are contracted from left to right. It may
    also be the name of a method of opt_einsum, such as "optimal" or "greedy". Or it is a path, a list of pairs of
    positions, which may start with "einsum_path" as in NumPy.

    ValueError if the subscripts do not fit the operands, or if the lengths of a subscript differ. ModuleNotFoundError
    if opt_einsum is needed and not installed.
    """
    arguments, codes, result_codes = read_subscripts(operands)
    tensors = [as_tensor_variable(v) for v in arguments]
    dtype = np.result_type(*(v.type.numpy_dtype for v in tensors)).name
    listed = [
        labels_of_operand(c, v.type.ndim, i)
        for i, (c, v) in enumerate(zip(codes, tensors, strict=True))
    ]
    result = labels_of_result(result_codes, listed)
    lengths = _lengths(tensors, listed)
    terms = [
        _without_ones(_with_diagonals(cast(v, dtype), labels))
        for v, labels in zip(tensors, listed, strict=True)
    ]
    present = frozenset(label for t in terms for label in t.labels)
    order = tuple(label for label in result if label in present)
    whole = _contract_all(terms, order, lengths, optimize).ordered(order)
    product: TensorVariable = dimshuffle(
        whole, [order.index(label) if label in present else "x" for label in result]
    )
    return product


def _lengths(tensors: Sequence[Any], listed: Sequence[Labels]) -> dict[int, int | None]:
    """The static length of each label, or None if it is dynamic.

    Static lengths of 1 broadcast. ValueError if other static lengths of a label differ.
    """
    sizes: dict[int, set[int | None]] = {}
    for v, labels in zip(tensors, listed, strict=True):
        for n, label in zip(v.type.shape, labels, strict=True):
            sizes.setdefault(label, set()).add(n)
    for label, lengths in sizes.items():
        if len(lengths - {None, 1}) > 1:
            listed_types = " and ".join(str(v.type) for v in tensors)
            raise ValueError(
                f"einsum: the subscript {label_name(label)} has different lengths in {listed_types}"
            )
    # if a length is static in one operand, it is used for all operands
    return {
        label: next(iter(lengths - {None, 1}), None if None in lengths else 1)
        for label, lengths in sizes.items()
    }


def _with_diagonals(tensor: Any, labels: Labels) -> _Term:
    """Make a term of an operand. Dimensions with the same label are replaced by their diagonal."""
    for label in dict.fromkeys(labels):
        while labels.count(label) > 1:
            first = labels.index(label)
            second = labels.index(label, first + 1)
            n, m = (tensor.type.shape[i] for i in (first, second))
            if n is not None and m is not None and n != m:
                raise ValueError(
                    f"einsum: the subscript {label_name(label)} has the lengths {n} and {m} in one operand"
                )
            tensor = diagonal(_with_equal_lengths(tensor, first, second), 0, first, second)
            labels = (*(k for i, k in enumerate(labels) if i not in (first, second)), label)
    return _Term(tensor, labels)


def _without_ones(term: _Term) -> _Term:
    """Drop the dimensions of static length 1 from a term. They broadcast, so the products do not need them."""
    ones = [i for i, n in enumerate(term.tensor.type.shape) if n == 1]
    if not ones:
        return term
    labels = tuple(label for i, label in enumerate(term.labels) if i not in ones)
    return _Term(squeeze(term.tensor, axis=tuple(ones)), labels)


def _with_equal_lengths(tensor: Any, first: int, second: int) -> Any:
    """The tensor with a check that its dimensions ``first`` and ``second`` have the same length."""
    n, m = (tensor.type.shape[i] for i in (first, second))
    if n is not None and n == m:
        return tensor
    shape: list[Any] = [None] * tensor.ndim
    shape[second] = lengths_by_variables(tensor)[first] if n is None and m is None else n or m
    shape[first] = None if n is None and m is None else shape[second]
    return specify_shape(tensor, shape)


def _contract_all(
    terms: list[_Term], result: Labels, lengths: Mapping[int, int | None], optimize: Any
) -> _Term:
    """Multiply all terms, two at a time, and sum over all labels that are not in ``result``."""
    for step in _path([t.labels for t in terms], result, lengths, optimize):
        chosen = [terms[i] for i in step]
        terms = [t for i, t in enumerate(terms) if i not in step]
        while len(chosen) > 1:
            rest = [*terms, *chosen[2:]]
            needed = frozenset(result).union(*(t.labels for t in rest))
            product = _contract(chosen[0], chosen[1], needed, result)
            chosen = [*chosen[2:], product]
        terms.append(chosen[0])
    return terms[0].summed(frozenset(result))


def _path(
    listed: Sequence[Labels], result: Labels, lengths: Mapping[int, int | None], optimize: Any
) -> Sequence[Sequence[int]]:
    """The order of contractions: a list of steps, each of which lists the positions of the terms to contract.

    After a step, its terms are removed from the list of terms, and the step's result is appended.
    """
    count = len(listed)
    if is_list_or_tuple(optimize) and optimize and not isinstance(optimize[0], str):
        return _checked_path(optimize, count)
    if is_list_or_tuple(optimize) and optimize:
        if optimize[0] == "einsum_path":
            return _checked_path(optimize[1:], count)
        optimize = optimize[0]  # NumPy accepts a pair of a method and a memory limit
    if count < 2:
        return []
    if count == 2 or optimize is False or optimize is None:
        return [(0, 1), *((n - 1, 0) for n in range(count - 1, 1, -1))]
    library = _opt_einsum()
    names = {label: library.get_symbol(i) for i, label in enumerate(lengths)}
    parts = ",".join("".join(names[i] for i in labels) for labels in listed)
    text = f"{parts}->{''.join(names[i] for i in result)}"
    sizes = {i: _UNKNOWN if n is None else n for i, n in lengths.items()}
    shapes = [tuple(sizes[i] for i in labels) for labels in listed]
    method = "auto" if optimize is True else optimize
    path, _ = library.contract_path(text, *shapes, shapes=True, optimize=method)
    return [sorted(step) for step in path]


def _checked_path(path: Sequence[Any], count: int) -> Sequence[Sequence[int]]:
    """The path ``path`` that the user passed as ``optimize``. ValueError unless it contracts ``count`` terms to one."""
    steps = [tuple(int(i) for i in step) for step in path]
    left = count
    for step in steps:
        if not step or len(set(step)) < len(step) or not all(0 <= i < left for i in step):
            raise ValueError(f"einsum: the step {step} of optimize does not fit {left} terms")
        left -= len(step) - 1
    if left != 1:
        raise ValueError(f"einsum: the path {steps} of optimize leaves {left} terms")
    return steps


def _opt_einsum() -> Any:
    try:
        return importlib.import_module("opt_einsum")
    except ModuleNotFoundError:
        raise ModuleNotFoundError(
            "einsum finds the order of three or more operands by opt_einsum, which is not installed: "
            "pip install 'occelo-arrays[einsum]'; or give optimize=False",
            name="opt_einsum",
        ) from None


def _contract(x: _Term, y: _Term, needed: frozenset[int], result: Labels) -> _Term:
    """The product of two terms, summed over all labels that are not in ``needed``.

    ``result`` is the preferred order of the remaining labels.
    """
    x, y = x.summed(needed.union(y.labels)), y.summed(needed.union(x.labels))
    inner = [i for i in x.labels if i in y.labels and i not in needed]
    batch = [i for i in x.labels if i in y.labels and i in needed]
    rows = [i for i in x.labels if i not in y.labels]
    columns = [i for i in y.labels if i not in x.labels]
    if rows and columns and inner and _comes_first(columns, rows, result):
        # swapping the factors costs nothing, and transposing the result might need a copy
        x, y, rows, columns = y, x, columns, rows
    if not inner:
        labels = tuple(i for i in result if i in (*x.labels, *y.labels))
        labels = (*labels, *(i for i in (*x.labels, *columns) if i not in labels))
        return _Term(x.ordered(labels) * y.ordered(labels), labels)
    if not rows and not columns and (batch or len(inner) > 1):
        # `matmul` might copy its operands; an elementwise product and its sum need no copies
        terms = x.tensor * y.ordered(x.labels)
        return _Term(terms, x.labels).summed(frozenset(batch))
    inner = _order_without_copies(x, y, batch, rows, inner, columns)
    sides = [[lengths_by_variables(v.tensor)[v.axis(i)] for i in inner] for v in (x, y)]
    lengths = {tuple(inner): contracted_lengths("einsum", *sides)[1]}
    product = matmul(_matrix(x, batch, rows, inner), _matrix(y, batch, inner, columns, lengths))
    return _split(product, x, y, batch, rows, columns)


def _comes_first(labels: Sequence[int], others: Sequence[int], result: Labels) -> bool:
    """Whether a label of ``labels`` comes before all labels of ``others`` in ``result``."""
    places = [result.index(i) for i in labels if i in result]
    of_others = [result.index(i) for i in others if i in result]
    return bool(places and of_others) and min(places) < min(of_others)


def _order_without_copies(
    x: _Term,
    y: _Term,
    batch: Sequence[int],
    rows: Sequence[int],
    inner: Sequence[int],
    columns: Sequence[int],
) -> Sequence[int]:
    """The labels ``inner``, which are contracted, in the order of ``x`` or of ``y``: the order that needs fewer copies."""
    orders = [[i for i in t.labels if i in inner] for t in (x, y)]

    def copies(order: Sequence[int]) -> int:
        pairs = ((x, rows), (y, columns))
        return sum(not _is_matrix(t, batch, free, order) for t, free in pairs)

    return min(orders, key=copies)


def _is_matrix(
    term: _Term, batch: Sequence[int], free: Sequence[int], inner: Sequence[int]
) -> bool:
    """Whether the term can be reshaped to a matrix (or a batch of matrices) without a copy.

    This is so if all ``free`` labels come before all ``inner`` labels, or after them.
    """
    rest = [i for i in term.labels if i not in batch]
    return rest in ([*free, *inner], [*inner, *free])


def _matrix(
    term: _Term,
    batch: Sequence[int],
    rows: Sequence[int],
    columns: Sequence[int],
    length_of: Mapping[Labels, Any] = MappingProxyType({}),
) -> TensorVariable:
    """The term reshaped to a matrix or a batch of matrices. All labels in ``rows`` become one dimension.

    All labels in ``columns`` become the other dimension; ``length_of`` has lengths of such dimensions. Batch dimensions come first. Without batch dimensions, the
    result is a vector if ``rows`` or ``columns`` is empty.
    """
    rest = [i for i in term.labels if i not in batch]
    if rest == [*columns, *rows] and rows and columns:
        return matrix_transpose(
            _merged(term.ordered([*batch, *rest]), batch, columns, rows, length_of)
        )
    return _merged(term.ordered([*batch, *rows, *columns]), batch, rows, columns, length_of)


def _merged(
    tensor: Any,
    batch: Sequence[int],
    rows: Sequence[int],
    columns: Sequence[int],
    length_of: Mapping[Labels, Any],
) -> TensorVariable:
    groups = [g for g in (rows, columns) if g or batch]
    if any(len(g) > 1 for g in groups):
        lengths = lengths_by_variables(tensor)
        first = len(batch)
        shape: list[Any] = list(lengths[:first])
        for group in groups:
            own = length_product(lengths[first : first + len(group)])
            shape.append(length_of.get(tuple(group), own))
            first += len(group)
        return reshape(tensor, shape)
    missing = [len(batch) + i for i, g in enumerate(groups) if not g]
    return expand_dims(tensor, missing) if missing else tensor


def _split(
    product: Any,
    x: _Term,
    y: _Term,
    batch: Sequence[int],
    rows: Sequence[int],
    columns: Sequence[int],
) -> _Term:
    """Reshape the product of two matrices to a term with a dimension for each label."""
    labels = (*batch, *rows, *columns)
    if len(rows) > 1 or len(columns) > 1:
        of_x, of_y = lengths_by_variables(x.tensor), lengths_by_variables(y.tensor)
        sides = [(x, of_x, i) for i in (*batch, *rows)] + [(y, of_y, i) for i in columns]
        return _Term(reshape(product, [n[t.axis(i)] for t, n, i in sides]), labels)
    missing = [len(batch) + i for i, g in enumerate((rows, columns)) if batch and not g]
    return _Term(squeeze(product, axis=tuple(missing)) if missing else product, labels)
