"""More cases of rules: with operands that differ in dtype, are broadcast, or have lengths of 1.

Tests of rules use these cases in addition to the table in `testing.examples`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from occelo_graph import tensor as ot
from occelo_rewrite.examples.case import Case

if TYPE_CHECKING:
    from occelo_graph.tensors.variable import TensorVariable

_KINDS = {
    "c": ("complex64", "complex128"),
    "f": ("float16", "float64"),
    "u": ("uint8", "uint64"),
    "i": ("int8", "int64"),
    "b": ("int8", "int64"),
}


def _narrow(v: TensorVariable) -> TensorVariable:
    return ot.cast(v, _KINDS[v.type.numpy_dtype.kind][0])


def _wide(v: TensorVariable) -> TensorVariable:
    return ot.cast(v, _KINDS[v.type.numpy_dtype.kind][1])


def _column(x: TensorVariable) -> TensorVariable:
    return ot.specify_shape(x[:, :1], (None, 1))


def _row(x: TensorVariable) -> TensorVariable:
    return ot.specify_shape(x[:1], (1, None))


def _known(x: TensorVariable) -> TensorVariable:
    return ot.specify_shape(x, (2, 3))


def _writes(w: Callable[[TensorVariable], TensorVariable]) -> list[Case]:
    places = np.array([1, 0])
    put, add = ot.set_subtensor, ot.inc_subtensor
    return [
        Case("set_of_own_sum", lambda x: put(x[0], x[0] + w(x[1]).astype(x.type.dtype))),
        Case("zeros_written_then_added", lambda x: add(ot.zeros_like(x)[0], w(x[1])) + x),
        Case("zeros_written_then_added", lambda x: put(ot.zeros_like(x)[0], w(x[1])) + x),
        Case(
            "zeros_written_anywhere_then_added",
            lambda x: add(ot.zeros_like(x)[np.array([0, 0])], w(x[1])) + x,
        ),
        Case("inc_of_zeros", lambda x: add(ot.zeros_like(x)[0], w(x[1]))),
        Case("inc_of_zeros", lambda x: add(ot.zeros_like(x)[places], w(x))),
        Case("write_of_everything", lambda x: ot.IncSubtensor((slice(None),) * 2, True)(x, w(x))),
        Case("write_of_everything", lambda x: ot.IncSubtensor((slice(None),) * 2, False)(x, w(x))),
        Case("write_of_write", lambda x: put(add(x[0], w(x[1]))[0], w(x[1]))),
        Case("inc_of_inc", lambda x: add(add(x[0], w(x[1]))[0], w(x[1]))),
        Case("inc_of_set", lambda x: add(put(x[0], w(x[1]))[0], w(x[1]))),
        Case("inc_of_set", lambda x: add(put(x[0], 1)[0], w(x[0, 0]))),
        Case("read_of_write", lambda x: put(x[0], w(x[1]))[0]),
        Case("read_of_write", lambda x: add(x[0], w(x[1]))[0]),
        Case("read_of_write", lambda x: put(x[0], w(x[1, 1]))[0]),
        Case("write_of_alloc", lambda x: put(x[0], ot.alloc(w(x[0, 0]), x.shape[1]))),
    ]


def _reductions_and_products(w: Callable[[TensorVariable], TensorVariable]) -> list[Case]:
    def other(x: TensorVariable) -> str:
        return w(x).type.dtype

    return [
        Case("sum_of_sums", lambda x: w(x).sum(0).sum()),
        Case("reduce_over_nothing", lambda x: ot.sum(_row(x), 0, x.type.dtype, acc_dtype=other(x))),
        Case("dot_of_length_one", lambda x: ot.dot(_column(x), w(_row(x)))),
        Case("dot_with_diagonal", lambda x: ot.dot(ot.diag(x[:, 0]), w(x))),
        Case("dot_with_diagonal", lambda x: ot.dot(w(x), ot.diag(x[0]))),
        Case("diagonal_of_product", lambda x: ot.diagonal(ot.dot(x, w(x).T))),
        Case("matmul_of_matrices", lambda x: ot.MatMul()(x, w(x).T)),
        Case("read_through_dot", lambda x: ot.dot(x, w(x).T)[1]),
        Case("read_through_reduce", lambda x: ot.sum(x, 0, dtype=other(x))[1]),
        Case("transposed_dot", lambda x: ot.dot(x.T, w(x)).T),
    ]


def _made_and_joined(w: Callable[[TensorVariable], TensorVariable]) -> list[Case]:
    return [
        Case("alloc_sinks", lambda x: ot.alloc(w(x[0, 0]), *x.shape) * x),
        Case("alloc_sinks", lambda x: ot.second(w(x), x[0, 0]) + x),
        Case("second_of_same_shape", lambda x: ot.second(w(x), x)),
        Case("second_to_alloc", lambda x: ot.second(w(x), x[0, 0])),
        Case("elemwise_of_alloc", lambda x: w(ot.alloc(x[0], 4, 3))),
        Case("join_of_join", lambda x: ot.join(0, ot.join(0, x, w(x)), x)),
        Case("read_of_join", lambda x: ot.join(0, _known(x), w(_known(x)))[3]),
        Case("cast_of_cast", lambda x: ot.cast(_wide(x), x.type.dtype), dtype="float32"),
        Case("explicit_conversions", lambda x: ot.exp(x) * w(x)),
        Case("explicit_conversions", lambda x: ot.add(w(x), x, x)),
        Case("zero_branch_sinks", lambda x: ot.switch(x > 0, x, 0) * w(x)),
        Case("canonical_sum", lambda x: ot.add(x, 0, w(x[0]).astype(x.type.dtype))),
    ]


MIXED: list[Case] = [
    *(c for w in (_narrow, _wide) for c in _writes(w)),
    *(c for w in (_narrow, _wide) for c in _reductions_and_products(w)),
    *(c for w in (_narrow, _wide) for c in _made_and_joined(w)),
    Case("second_to_alloc", lambda x: ot.second(x[:, 1:] + x[:, :2], x[0, 0])),
    Case("alloc_of_alloc", lambda x: ot.alloc(ot.alloc(x, 1, 1), 1, 1), shapes=((1, 1),)),
    Case("alloc_of_alloc", lambda x: ot.alloc(ot.alloc(x[0], 1, x.shape[1]), 2, x.shape[1])),
    Case("alloc_of_alloc", lambda x: ot.alloc(ot.alloc(x[0, 0], x.shape[1]), 2, x.shape[1])),
    Case("alloc_of_alloc", lambda x: ot.alloc(ot.alloc(_row(x), 1, x.shape[1]), 4, x.shape[1])),
    Case(
        "sum_of_squared_outer",
        lambda x: ot.sqr(x.dimshuffle(0, "x", 1) * x.dimshuffle("x", 0, 1)).sum((1, 2)),
    ),
    Case("transposed_symmetric", lambda x: ot.dot(x.T, x).T),
    Case("reshape_to_own_shape", lambda x: x.reshape((-1, x.shape[1]))),
    Case("reshape_of_reshape", lambda x: x.reshape((1, -1)).reshape((x.shape[1], x.shape[0]))),
    Case("reshape_of_dimshuffle", lambda x: _row(x).T.reshape((1, -1))),
    Case("join_of_repeats", lambda x: ot.join(0, *[_row(x)] * 3)),
    Case("read_of_shape_made", lambda x: ot.alloc(x[:1], 4, x.shape[1])[1:, 0]),
    Case("canonical_key", lambda x: _known(x)[-5:5, 2:0:-1]),
    Case("read_through_elemwise", lambda x: ot.add(x, x[0, 0])[::-1]),
    Case("elemwise_of_alloc", lambda x: ot.add(ot.alloc(x[0], 4, 3), x[0, 0])),
    Case("alloc_sinks_unchecked", lambda x: ot.alloc(x[0, 0], 2, 1) * x),
    Case("product_plus_term", lambda x: x[0] + ot.dot(x.T, x[:, 0])),
    Case("product_plus_term", lambda x: x + ot.dot(x, ot.dot(x.T, x))),
]
"""The cases of this module, which are not in the table of `examples`."""
