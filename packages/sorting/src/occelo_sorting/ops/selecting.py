"""`topk`, `partition` and `lexsort`, with their relatives: graphs of `OrderStatistics`, `sort` and `argsort`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from occelo_graph.ir.known_values import known_integer
from occelo_graph.ir.nodes import Constant
from occelo_graph.ir.taken_constants import taken
from occelo_graph.narrowing import is_list_or_tuple
from occelo_graph.ops.arguments import stands_for
from occelo_graph.ops.cast import cast
from occelo_graph.ops.control.checks import raise_unless
from occelo_graph.ops.create import arange, broadcast_arrays
from occelo_graph.ops.elemwise.arithmetic import gt, maximum, switch
from occelo_graph.ops.index.search import take_along_axis
from occelo_graph.ops.index.subtensor import getitem
from occelo_graph.ops.join import flip
from occelo_graph.ops.shape.axes import normalize_axis
from occelo_graph.ops.shape.dimensions import moveaxis
from occelo_graph.ops.shape.reading import lengths_by_variables
from occelo_graph.tensors.constant import as_tensor_variable
from occelo_graph.tensors.type import TensorType, is_discrete
from occelo_sorting.ops.order_statistics import ArgOrderStatistics, OrderStatistics
from occelo_sorting.ops.orders import (
    LexicographicOrder,
    argsort,
    axis_back,
    last_axis,
    row_order,
    sort,
)

if TYPE_CHECKING:
    from occelo_graph.tensors.variable import TensorVariable

__all__ = [
    "argpartition",
    "argtopk",
    "lexsort",
    "partition",
    "top_k",
    "topk",
    "topk_and_argtopk",
]


_MOST_LISTED = 1000  # positions that a graph holds as a constant


def _counted(kth: Any) -> Any:
    """The numbers 0, 1, ... below the absolute value of ``kth``."""
    k = known_integer(kth)
    if k is None or abs(k) > _MOST_LISTED:
        return arange(maximum(kth, -kth))
    return as_tensor_variable(np.arange(abs(k)))


def _largest_or_smallest(kth: Any, largest: Callable[[], Any], smallest: Callable[[], Any]) -> Any:
    k = known_integer(kth)
    if k is None:
        return switch(kth > 0, largest(), smallest())
    return largest() if k > 0 else smallest()


def _first_elements(rows: TensorVariable, kth: Any) -> Any:
    """The ``kth`` largest elements of rows, largest first, or the ``-kth`` smallest, smallest first."""
    last, each = _last_position(rows), _counted(kth)
    at = _largest_or_smallest(kth, lambda: last - each, lambda: each)
    return OrderStatistics()(rows, at)


def _first_positions(rows: TensorVariable, kth: Any) -> Any:
    """The positions of these elements. Equal elements keep their order, also where the largest one comes first."""
    last, each = _last_position(rows), _counted(kth)
    return _largest_or_smallest(
        kth,
        lambda: last - ArgOrderStatistics()(flip(rows, -1), last - each),
        lambda: ArgOrderStatistics()(rows, each),
    )


def _last_position(rows: TensorVariable) -> Any:
    return as_tensor_variable(lengths_by_variables(rows)[-1]) - 1


def _checked_count(kth: Any, x: TensorVariable, name: str, positive: bool = False) -> Any:
    """``kth`` as an integer variable. ValueError if it is 0, or statically larger than the rows, or not ``positive``."""
    taken(kth)  # the list of positions does not follow if the constant is replaced
    count = as_tensor_variable(kth)
    if not is_discrete(count.dtype) or count.dtype == "bool" or count.type.ndim:
        raise TypeError(f"kth of {name} must be an integer, got {count} of type {count.type}")
    k, length = known_integer(count), x.type.shape[-1]
    if positive and k is not None and k < 1:
        raise ValueError(f"k of {name} must be at least 1, got {k}")
    if k == 0:
        raise ValueError(f"kth of {name} must not be 0")
    if k is not None and length is not None and abs(k) > length:
        raise ValueError(f"{name} of {abs(k)} elements along an axis of {length}: {x}")
    count = cast(count, "int64")
    if k is not None and abs(k) <= _MOST_LISTED:
        return count
    message = f"kth of {name} must not be 0, and at most the length of the axis"
    if positive:
        message = f"k of {name} must be at least 1, and at most the length of the axis"
    size = count if positive else maximum(count, -count)
    return raise_unless(count, gt(size, 0), error=ValueError, message=message)


def topk_and_argtopk(
    x: Any, kth: Any, axis: int | None = -1, sorted: bool = True, idx_dtype: str = "int64"
) -> list[TensorVariable]:
    """The results of `topk` and `argtopk` of ``x``, ``kth``, ``axis``, ``sorted`` and ``idx_dtype``, as a list."""
    rows, where = last_axis(x, axis, "topk_and_argtopk")
    positions = _first_positions(rows, _checked_count(kth, rows, "topk_and_argtopk"))
    values = take_along_axis(rows, positions, axis=-1)
    indices = _positions_in(idx_dtype, positions, "topk_and_argtopk")
    return [axis_back(values, where), axis_back(indices, where)]


def topk(
    x: Any, kth: Any, axis: int | None = -1, sorted: bool = True, idx_dtype: str = "int64"
) -> TensorVariable:
    """The ``kth`` largest elements of ``x`` along ``axis``, largest first, or of all elements if ``axis`` is None.

    If ``kth`` is negative, the ``-kth`` smallest, smallest first. NaN counts as the largest value. The result is always
    sorted, whatever ``sorted`` says; ``idx_dtype`` is for `argtopk`. ``kth`` may be a variable. ValueError if it is larger than the axis, at once if it is
    known to be larger or 0. TypeError if it is no integer.
    """
    rows, where = last_axis(x, axis, "topk")
    return axis_back(_first_elements(rows, _checked_count(kth, rows, "topk")), where)


def top_k(
    a: Any, k: Any, /, *, axis: int = -1, mode: str = "largest", sorted: bool = True
) -> tuple[TensorVariable, TensorVariable]:
    """The ``k`` largest elements of ``a`` along ``axis``, largest first, and their positions (int64); with ``mode="smallest"``
    the smallest ones, smallest first.

    As `topk_and_argtopk`, by the name and with the arguments of JAX. ``k`` is at least 1, and may be a variable. The result is
    always sorted, whatever ``sorted`` says. ValueError if ``k`` is not positive or larger than the axis, and for an unknown ``mode``.
    """
    if mode not in ("largest", "smallest"):
        raise ValueError(f"The mode of top_k is 'largest' or 'smallest', got {mode!r}")
    rows, where = last_axis(a, axis, "top_k")
    count = _checked_count(k, rows, "top_k", positive=True)
    positions = _first_positions(rows, count if mode == "largest" else -count)
    return axis_back(take_along_axis(rows, positions, axis=-1), where), axis_back(positions, where)


def argtopk(
    x: Any, kth: Any, axis: int | None = -1, sorted: bool = True, idx_dtype: str = "int64"
) -> TensorVariable:
    """The positions of the elements that `topk` returns, in ``idx_dtype``. Of equal elements, the first ones come first.

    ``x``, ``kth``, ``axis`` and ``sorted`` are those of `topk`. TypeError if ``idx_dtype`` is no dtype of integers.
    """
    rows, where = last_axis(x, axis, "argtopk")
    positions = _first_positions(rows, _checked_count(kth, rows, "argtopk"))
    return axis_back(_positions_in(idx_dtype, positions, "argtopk"), where)


def _positions_in(dtype: str, positions: Any, name: str) -> Any:
    kind = TensorType(dtype, ())
    if not kind.is_discrete or kind.dtype == "bool":
        raise TypeError(f"idx_dtype of {name} must be a dtype of integers, got {dtype!r}")
    return cast(positions, kind.dtype)


def _check_partition(name: str, x: TensorVariable, kth: Any, kind: str, order: Any) -> None:
    if kind != "introselect":
        raise ValueError(f"The kind of {name} is introselect, got {kind!r}")
    if order is not None:
        raise TypeError(f"{name} takes no order={order!r}: symbolic tensors have no named fields")
    length = x.type.shape[-1]
    for each in kth if is_list_or_tuple(kth) else (kth,):
        variable = as_tensor_variable(each)
        if not is_discrete(variable.dtype) or variable.dtype == "bool":
            raise TypeError(f"kth of {name} must be integers, got {variable.type}")
        if length is None or not isinstance(variable, Constant):
            continue
        if not ((variable.data >= -length) & (variable.data < length)).all():
            raise ValueError(
                f"kth={variable.data} of {name} is out of bounds of an axis of {length}: {x}"
            )


@stands_for("partition", "a kth axis kind order")
def partition(
    a: Any, kth: Any, axis: int | None = -1, kind: str = "introselect", order: None = None
) -> TensorVariable:
    """``a`` with the ``kth`` element along ``axis`` in sorted order, no larger ones before it, no smaller ones after it.

    All elements are sorted, which satisfies this for every ``kth``. NumPy's order of the other elements differs.
    ``kind`` is "introselect" and ``order`` None. ValueError if ``kth`` is statically out of range.
    """
    rows, _ = last_axis(a, axis, "partition")
    _check_partition("partition", rows, kth, kind, order)
    return sort(a, axis)


@stands_for("argpartition", "a kth axis kind order")
def argpartition(
    a: Any, kth: Any, axis: int | None = -1, kind: str = "introselect", order: None = None
) -> TensorVariable:
    """The positions (int64) of the elements that `partition` returns for the same ``a``, ``kth`` and ``axis``.

    ``kind`` is "introselect" and ``order`` None, as there. ValueError if ``kth`` is statically out of range.
    """
    rows, _ = last_axis(a, axis, "argpartition")
    _check_partition("argpartition", rows, kth, kind, order)
    return argsort(a, axis)


@stands_for("lexsort", "keys axis")
def lexsort(keys: Any, axis: int = -1) -> TensorVariable:
    """The positions (int64) that sort by several keys: by the last one, where it is equal by the one before, and so on.

    ``keys`` is a sequence of tensors, which broadcast, or a tensor whose rows are the keys; they are sorted along
    ``axis``. ValueError if there are no keys, when the graph is built; if a tensor turns out to have no rows, all positions are equal.
    """
    if is_list_or_tuple(keys):
        if not keys:
            raise ValueError("lexsort needs at least one key")
        parts: list[TensorVariable] = list(broadcast_arrays(*map(as_tensor_variable, keys)))
    else:
        whole = as_tensor_variable(keys)
        if not whole.type.ndim or whole.type.shape[0] == 0:
            raise ValueError(f"lexsort needs at least one key, got {whole.type}")
        if whole.type.shape[0] is None:
            return _order_by_rows(whole, axis)
        parts = [getitem(whole, i) for i in range(whole.type.shape[0])]
    if not parts[0].type.ndim:
        return as_tensor_variable(np.int64(0))
    number = normalize_axis(axis, parts[0].type.ndim)
    rows = [last_axis(part, number, "lexsort") for part in parts]
    where = rows[0][1]
    order = row_order(rows[0][0])
    for row, _ in rows[1:]:
        order = take_along_axis(order, row_order(take_along_axis(row, order, -1)), -1)
    return axis_back(order, where)


def _order_by_rows(keys: TensorVariable, axis: int) -> TensorVariable:
    """`lexsort` of the rows of a tensor, of which there may be any number."""
    if keys.type.ndim == 1:
        return as_tensor_variable(np.int64(0))
    where = normalize_axis(axis, keys.type.ndim - 1)
    # the first key decides last
    columns = moveaxis(moveaxis(flip(keys, 0), 0, -1), where, -2)
    order: TensorVariable = LexicographicOrder()(columns)
    return axis_back(order, where)
