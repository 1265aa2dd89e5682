"""Every rule by itself, on inputs drawn from its pattern: that it fires, value, gradient, dtype, shape."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pytest

import occelo_graph as og
from occelo_graph import tensor as ot
from occelo_graph.inner_graph import OpFromGraph
from occelo_rewrite import (
    NodeRewriter,
    blas_db,
    canonicalize_db,
    expand_db,
    in2out,
    inline_db,
    rewrite_graph,
    specialize_db,
    stabilize_db,
)
from occelo_rewrite.pattern import Number, Wild
from occelo_rewrite.pattern_rule import PatternRule

DRAWS = 200 if os.environ.get("HYPOTHESIS_PROFILE") == "thorough" else 20
RULES: dict[str, NodeRewriter] = {
    name: db[name]
    for db in (inline_db, canonicalize_db, expand_db, stabilize_db, blas_db, specialize_db)
    for name in db.names()
}


@dataclass(frozen=True)
class Case:
    rule: str
    build: Callable[..., Any]
    low: float = -2.0
    high: float = 2.0
    shapes: tuple[tuple[int, ...], ...] = ((2, 3),)
    dtype: str = "float64"
    differentiable: bool = True


def _compared_to_itself(name: str, x: Any) -> Any:
    return x + getattr(ot, name)(x, x)


CASES = [
    Case("constant_folding", lambda x: x * (ot.constant(2.0) + 3.0)),
    Case("drop_gradient_barriers", lambda x: og.grad_scale(x, 1.0) * 2),
    # sums
    Case("canonical_sum", lambda x: x + 0.0),
    Case("canonical_sum", lambda x: ot.add(x, 0.0, ot.sin(x))),
    Case("canonical_sum", lambda x: x + np.zeros((4, 2, 3))),
    Case("canonical_sum", lambda x: x + 0, dtype="int64", differentiable=False),
    Case(
        "canonical_sum",
        lambda x: x + ot.constant(np.float32(0.0)),
        dtype="float32",
        differentiable=False,
    ),
    Case("canonical_sum", lambda x: (x + 1.0) + (2.0 - ot.sin(x))),
    Case("canonical_sum", lambda x: x + ot.sin(x) - (ot.cos(x) + 3.0 - x[0])),
    Case("canonical_sum", lambda x: 2.0 * x + x),
    Case("canonical_sum", lambda x: x - 3 * x - 4 * ot.sin(x), dtype="int64", differentiable=False),
    Case("canonical_sum", lambda x: -(x - 5.0)),
    Case("cancelled_sum", lambda x: x + ot.sin(x) - x),
    Case("cancelled_sum", lambda x: x - x),
    Case("cancelled_sum", lambda x: _plus_and_minus(x, x[0])),
    Case("cancelled_sum", lambda x: 2 * x - x - x, dtype="int64", differentiable=False),
    # products
    Case("mul_one", lambda x: x * 1.0),
    Case("mul_one", lambda x: x[0] * np.ones((2, 3))),
    Case("mul_one", lambda x: ot.mul(x, 1, 1.0), dtype="int64", differentiable=False),
    Case("div_one", lambda x: x / 1, dtype="int64", differentiable=False),
    Case("canonical_product", lambda x: (2 * x) / (-4.0)),
    Case("canonical_product", lambda x: -(x * 2.0) * (-ot.sin(x)) * 3.0),
    Case("canonical_product", lambda x: x / 2.0 / ot.exp(x)),
    Case("canonical_product", lambda x: 1 / (3 / x), low=0.5),
    Case("cancelled_product", lambda x: _times_itself(x, ot.exp(x))),
    Case("cancelled_product", lambda x: _negated_times_itself(x, ot.exp(x))),
    Case("cancelled_product", lambda x: _over_itself(ot.exp(x))),
    Case("distribute_number", lambda x: 2.0 * (3.0 * x + 4.0)),
    Case("pow_two", lambda x: x**2.0, dtype="int64", differentiable=False),
    Case("pow_zero", lambda x: x[0] ** np.zeros((2, 3))),
    Case("switch_constant", lambda x: ot.switch(np.zeros(3), x, ot.sin(x))),
    Case("switch_constant", lambda x: ot.switch(True, x, -x)),
    Case("switch_same", lambda x: _both_branches(x, x[0])),
    Case("switch_of_not", lambda x: ot.switch(ot.invert(x > 0), x, ot.sin(x))),
    Case("switch_in_then", lambda x: _nested(x, x > 0)),
    Case("switch_in_else", lambda x: _nested_else(x, x > 0)),
    Case(
        "invert_of_invert", lambda x: ot.invert(ot.invert(x)), dtype="int64", differentiable=False
    ),
    *[
        Case(
            f"{name}_itself",
            partial(_compared_to_itself, name),
            dtype="int64",
            differentiable=False,
        )
        for name in ("lt", "gt", "neq", "le", "ge", "eq")
    ],
    Case("lt_itself", lambda x: x + ot.lt(x, x), differentiable=False),
    Case("length_is_not_negative", lambda x: x * ot.lt(ot.shape_i(x, 0), 0)),
    Case("length_is_not_negative", lambda x: x * ot.ge(ot.shape_i(x, 0), 0)),
    Case("length_is_no_negative_number", lambda x: x * ot.eq(ot.shape_i(x, 0), -1)),
    Case("abs_of_nonnegative", lambda x: ot.abs(ot.exp(x) + 2.0 * ot.abs(x))),
    Case("sign_of_positive", lambda x: ot.sign(ot.exp(x))),
    Case("sign_of_positive", lambda x: ot.sign(ot.sigmoid(x))),
    Case("sign_of_quotient", lambda x: ot.sign(x / 3.0)),
    Case("sign_of_quotient", lambda x: ot.sign(x / ot.exp(x))),
    Case("sign_of_quotient", lambda x: ot.sign(x / -2.0)),
    Case("product_of_equal_bases", lambda x: ot.constant(2.0) ** x * ot.constant(2.0) ** ot.sin(x)),
    Case("product_of_equal_bases", lambda x: _equal_bases(ot.exp(x), x)),
    Case("small_power", lambda x: x**5),
    Case("small_power", lambda x: x**-3.0, low=0.5),
    Case(
        "cast_of_cast",
        lambda x: ot.cast(ot.cast(x, "float64"), "float32"),
        dtype="float32",
        differentiable=False,
    ),
    Case(
        "cast_of_cast",
        lambda x: ot.cast(ot.cast(x, "int64"), "float64"),
        dtype="int8",
        differentiable=False,
    ),
    # stable forms
    Case("log_one_plus", lambda x: ot.log(ot.add(x, 1.0, ot.exp(x))), low=0.0),
    Case("log_erfc", lambda x: ot.log(ot.erfc(x)), high=5.0),
    Case("log_kv", lambda x: ot.log(ot.kv(1.5, x)), low=0.1, differentiable=False),
    Case("log_iv", lambda x: ot.log(ot.iv(1.5, x)), low=0.1, differentiable=False),
    Case("log_difference_of_powers", lambda x: ot.log(ot.exp(x) - ot.exp(x - 1.0))),
    Case("log_of_scaled", lambda x: ot.log(3.0 * ot.exp(x))),
    Case("log_sum_of_powers", lambda x: ot.log(ot.add(ot.exp(x), ot.exp(ot.sin(x)), ot.exp(-x)))),
    Case("logistic", lambda x: 1 / (1 + ot.exp(-x))),
    Case("logistic", lambda x: ot.exp(x) / (1 + ot.exp(x))),
    Case("logistic", lambda x: ot.reciprocal(1 + ot.exp(x))),
    Case("logistic", lambda x: ot.sin(x) / (ot.exp(x) + 1)),
    Case("logistic", lambda x: ot.constant(np.full((4, 2, 3), 5.0)) / (ot.exp(x) + 1)),
    Case("exp_times_sigmoid", lambda x: ot.exp(x) * ot.sigmoid(-x)),
    Case("exp_times_sigmoid", lambda x: (x * ot.sigmoid(-x)) * (ot.exp(x) * 3.0)),
    Case("exp_times_sigmoid", lambda x: ot.sigmoid(x) / ot.sigmoid(-x)),
    Case("gaussian_over_erfc", lambda x: ot.exp(-ot.sqr(x)) * x / ot.erfc(x), low=-1.5, high=3.0),
    Case("zero_branch_sinks", lambda x: ot.switch(x > 0, ot.sin(x), 0.0) * x),
    Case("zero_branch_sinks", lambda x: ot.exp(x) * ot.switch(x > 0, 0.0, x)),
    Case("zero_branch_sinks", lambda x: ot.switch(x > 1, x, 0.0) / ot.exp(x)),
    # reductions
    Case("reduce_of_reduce", lambda x: x.sum(0).sum(1), shapes=((2, 3, 4),)),
    Case("reduce_of_reduce", lambda x: x.max(1).max(), shapes=((2, 3, 4),)),
    Case("reduce_over_nothing", lambda x: ot.sum(x, axis=())),
    Case("reduce_over_nothing", lambda x: x[:, :1].dimshuffle(0, "x", 1).sum((0, 1, 2))),
    Case("sum_of_neg", lambda x: ot.neg(x).sum(0)),
    Case("sum_of_scaled", lambda x: (x * 3.0).sum(0)),
    Case("sum_of_scaled", lambda x: (x * x[0, 0]).sum()),
    Case("sum_of_scaled", lambda x: (x / 3.0).sum(1)),
    Case("sum_of_scaled", lambda x: (ot.sin(x) * x[0]).sum(0)),
    Case("sum_of_scaled", lambda x: (ot.sin(x) / x.sum(1, keepdims=True)).sum(1), low=0.5),
    Case("reduce_of_alloc", lambda x: ot.second(x, x[0]).sum(0)),
    Case("reduce_of_alloc", lambda x: ot.second(x, x[0, 0]).sum()),
    Case("reduce_of_alloc", lambda x: ot.alloc(x[0], 4, 3).sum(0)),
    Case("reduce_of_alloc", lambda x: ot.alloc(x[0, 0], 4, x.shape[0]).sum()),
    Case("reduce_of_alloc", lambda x: ot.alloc(x[0], 4, 3).max((0, 1))),
    Case("reduce_of_alloc", lambda x: ot.alloc(x[0], 4, 3).prod(0), low=0.5),
    Case("neg_of_max", lambda x: -((-x).max(0))),
    Case("neg_of_min", lambda x: -((-x).min())),
    Case("log_sum_exp", lambda x: ot.log(ot.exp(x).sum(1))),
    Case("log_sum_exp", lambda x: ot.log(ot.exp(x).sum())),
    Case("log_of_softmax", lambda x: ot.log(ot.softmax(x, 1))),
    Case("exp_of_log_softmax", lambda x: ot.exp(ot.log_softmax(x, 1))),
    Case("log_of_prod", lambda x: ot.log(ot.exp(x).prod(1))),
    Case("exp_over_its_sum", lambda x: _divided(ot.exp(x), 1)),
    Case("exp_over_its_sum", lambda x: _divided(ot.exp(x), 0)),
    Case("exp_over_its_sum", lambda x: _divided(ot.exp(x), None)),
    Case("exp_over_sum_of_powers", lambda x: _of_powers(ot.exp(x), ot.exp(ot.sin(x)))),
    Case("exp_over_sum_of_powers", lambda x: _of_powers(ot.exp(x), ot.exp(ot.sin(x)), ot.exp(-x))),
    Case("log_of_spread_sum_exp", lambda x: ot.log(ot.exp(x).sum(1, keepdims=True))),
    Case(
        "sum_of_squared_outer",
        lambda x: ot.sqr(x.dimshuffle("x", 0, 1) * ot.sin(x).dimshuffle(0, "x", 1)).sum((1, 2)),
    ),
    # tensors that are made
    Case("alloc_of_own_shape", lambda x: ot.alloc(ot.sin(x), x.shape[0], x.shape[1])),
    Case("alloc_of_alloc", lambda x: ot.alloc(ot.alloc(x[0], 2, 3), 4, 2, 3)),
    Case("alloc_sinks", lambda x: ot.alloc(x[0, 0], *x.shape) * x),
    Case("alloc_sinks", lambda x: ot.exp(x) + ot.second(x, x[0, 0])),
    Case("alloc_sinks_unchecked", lambda x: ot.alloc(x[0, 0], 2, 3) * x),
    Case("second_of_same_shape", lambda x: ot.second(x, ot.sin(x))),
    Case("second_to_alloc", lambda x: ot.second(ot.exp(x), x[0, 0])),
    Case("elemwise_of_alloc", lambda x: ot.exp(ot.alloc(x[0], 4, 3))),
    # shapes
    Case("length_from_inputs", lambda x: x * ot.shape_i(ot.exp(x).T, 0)),
    Case("length_from_inputs", lambda x: x * ot.join(0, x, x).shape[0]),
    Case("shape_of_lengths", lambda x: x[:, :2] * ot.shape(ot.exp(x))),
    Case("dimshuffle_of_dimshuffle", lambda x: ot.sin(x.T.T)),
    Case("dimshuffle_of_dimshuffle", lambda x: x.dimshuffle("x", 1, 0).dimshuffle(2, 1)),
    Case("dimshuffle_lift", lambda x: (x.T + ot.sin(x).T).T),
    Case("dimshuffle_lift", lambda x: (x + x[0]).dimshuffle(0, "x", 1)),
    Case("dimshuffle_of_alloc", lambda x: ot.alloc(x[0], 4, 3).T),
    Case("reshape_of_reshape", lambda x: x.reshape((3, 2)).reshape((6,))),
    Case("reshape_of_reshape", lambda x: x.reshape((x.shape[0] * 3,)).reshape((-1, 2))),
    Case("reshape_to_own_shape", lambda x: x.reshape((x.shape[0], x.shape[1])) * 2.0),
    Case("reshape_to_own_shape", lambda x: x[0].reshape((-1,)) * 2.0),
    Case("reshape_of_dimshuffle", lambda x: x.dimshuffle("x", 0, 1).reshape((3, 2))),
    Case(
        "specify_what_is_known",
        lambda x: ot.SpecifyShape((2, 3), (False, False))(
            ot.SpecifyShape((2, 3), (False, False))(x)
        ),
    ),
    Case(
        "specify_of_specify", lambda x: ot.specify_shape(ot.specify_shape(x, (2, None)), (None, 3))
    ),
    Case("specify_lift", lambda x: ot.exp(ot.specify_shape(x, (2, 3)))),
    # reads
    Case("read_of_everything", lambda x: ot.Subtensor((slice(None), slice(None)))(x) * 2.0),
    Case("canonical_key", lambda x: ot.specify_shape(x, (2, 3))[-1]),
    Case("canonical_key", lambda x: ot.specify_shape(x, (2, 3))[0:2, -2:]),
    Case("canonical_key", lambda x: x[0:1]),
    Case("read_of_read", lambda x: x[1:][0]),
    Case("read_of_read", lambda x: ot.specify_shape(x, (2, 3))[:, ::-1][:, 2]),
    Case("read_of_read", lambda x: ot.specify_shape(x, (2, 3))[:, 1:][:, 0:1]),
    Case("read_of_read", lambda x: x[:, 1:][:, 1:], shapes=((2, 4),)),
    Case("read_of_read", lambda x: x[1][1:]),
    Case("read_of_shape_made", lambda x: x.T[1]),
    Case("read_of_shape_made", lambda x: x.dimshuffle(1, "x", 0)[1:, 0]),
    Case("read_of_shape_made", lambda x: ot.alloc(x[0], 4, 3)[1, 1:]),
    Case("read_of_shape_made", lambda x: ot.alloc(x[0], 4, 3)[1:3]),
    Case("read_of_specified", lambda x: ot.specify_shape(x, (None, 3))[1]),
    Case("read_of_vector", lambda x: ot.make_vector(x[0, 0], x[1, 1], x[0, 2])[1]),
    Case("read_of_vector", lambda x: ot.make_vector(x[0, 0], x[1, 1], x[0, 2])[1:]),
    Case("read_of_join", lambda x: ot.join(0, *[ot.specify_shape(x, (2, 3))] * 2)[3]),
    Case("read_of_join", lambda x: ot.join(0, *[ot.specify_shape(x, (2, 3))] * 2)[2:4]),
    Case("read_of_write", lambda x: ot.set_subtensor(x[0], x[1])[0]),
    Case("read_of_write", lambda x: ot.set_subtensor(x[0], 2.0)[0] * x[1]),
    Case("read_of_write", lambda x: ot.inc_subtensor(x[0], x[1])[0]),
    Case("read_of_write", lambda x: _advanced_set(x, 3.0)),
    Case("arange_is_slice", lambda x: ot.specify_shape(x, (2, 3))[:, ot.arange(0, 3, 2)]),
    Case("arange_is_slice", lambda x: ot.specify_shape(x, (2, 3))[:, np.array([1, 2])]),
    Case("paired_aranges_are_diagonal", lambda x: _square(x), shapes=((3, 3),)),
    Case("diagonal_of_product", lambda x: ot.diagonal(ot.dot(x, ot.sin(x).T))),
    Case("read_through_elemwise", lambda x: (ot.exp(x) * 2.0 * ot.sin(x))[1]),
    Case("read_through_dot", lambda x: ot.dot(x, ot.sin(x).T)[1]),
    Case("read_through_dot", lambda x: ot.dot(x, ot.sin(x).T)[:, 1]),
    Case("read_through_dot", lambda x: ot.dot(x, ot.sin(x).T)[1, 0]),
    Case("read_through_dot", lambda x: ot.dot(x, ot.sin(x)[0])[1]),
    Case("read_through_reduce", lambda x: ot.exp(x).sum(0)[1]),
    Case("read_through_reduce", lambda x: ot.exp(x).max(1)[1:], shapes=((2, 3, 2),)),
    Case("read_through_softmax", lambda x: ot.softmax(x, 1)[1]),
    # writes
    Case("write_of_write", lambda x: _written_twice(x, ot.set_subtensor, ot.set_subtensor)),
    Case("write_of_write", lambda x: _written_twice(x, ot.inc_subtensor, ot.inc_subtensor)),
    Case("write_of_write", lambda x: _written_twice(x, ot.set_subtensor, ot.inc_subtensor)),
    Case("write_of_everything", lambda x: ot.IncSubtensor((slice(None),) * 2, True)(x, ot.sin(x))),
    Case("write_of_everything", lambda x: ot.IncSubtensor((slice(None),) * 2, False)(x, ot.sin(x))),
    Case("zeros_written_then_added", lambda x: ot.inc_subtensor(ot.zeros_like(x)[0], x[1]) + x),
    Case(
        "zeros_written_then_added",
        lambda x: ot.inc_subtensor(ot.zeros_like(x)[np.array([0, 0])], x[1]) + x,
    ),
    Case("inc_of_zeros", lambda x: ot.inc_subtensor(ot.zeros_like(x)[0], x[1])),
    Case("set_of_own_sum", lambda x: ot.set_subtensor(x[0], x[0] + ot.sin(x[1]))),
    Case("write_of_alloc", lambda x: ot.set_subtensor(x[0], ot.alloc(x[0, 0], x.shape[1]))),
    Case("diagonal_of_diagonal", lambda x: ot.diagonal(ot.diag(x[0]))),
    Case("inc_of_zeros", lambda x: ot.inc_subtensor(ot.zeros_like(x)[np.array([1, 0])], x)),
    # joins
    Case("join_of_one", lambda x: ot.Join(0)(x) * 2.0),
    Case("join_without_empty", lambda x: ot.join(0, ot.specify_shape(x, (2, 3)), np.zeros((0, 3)))),
    Case("join_of_join", lambda x: ot.join(0, ot.join(0, x, ot.sin(x)), x)),
    Case("join_of_adjacent_slices", lambda x: _slices(ot.specify_shape(x, (2, 3)))),
    Case("join_of_repeats", lambda x: ot.join(0, *[x.dimshuffle("x", 0, 1)] * 3)),
    Case("join_of_allocs", lambda x: _joined_allocs(x[0])),
    Case("vector_of_own_elements", lambda x: _elements(ot.specify_shape(x[0], (3,)))),
    # matrices
    Case("dot_of_nothing", lambda x: ot.dot(x[:, :0], np.zeros((0, 2))) + x[:, :2]),
    Case("dot_of_length_one", lambda x: ot.dot(_cut(x[:, :1], 2, 1), _cut(x[:1], 1, 3))),
    Case("dot_of_length_one", lambda x: ot.dot(_cut(x[:, :1], 2, 1), _cut(x[0, :1], 1))),
    Case("dot_of_length_one", lambda x: ot.dot(_cut(x[0, :1], 1), _cut(x[:1], 1, 3))),
    Case("transposed_dot", lambda x: ot.dot(x, ot.sin(x).T).T),
    Case("matmul_of_matrices", lambda x: ot.MatMul()(x, ot.sin(x).T)),
    Case("matmul_with_one_matrix", lambda x: ot.matmul(x, ot.sin(x)[0].T), shapes=((4, 2, 3),)),
    Case("product_plus_term", lambda x: x + 2.0 * ot.dot(x, ot.sin(x)), shapes=((3, 3),)),
    Case("product_plus_term", lambda x: x[0] - ot.dot(x, x[1]), shapes=((3, 3),)),
    Case("product_plus_term", lambda x: x * 0.5 + ot.outer(x[:, 0], x[1])),
    Case(
        "scaled_product",
        lambda x: 3.0 * ot.Gemm()(x, ot.constant(2.0), x, ot.sin(x), ot.constant(0.5)),
        shapes=((3, 3),),
    ),
    # what is assumed
    Case("dot_with_diagonal", lambda x: ot.dot(ot.diag(x[:, 0]), x)),
    Case("dot_with_diagonal", lambda x: ot.dot(x, ot.diag(x[0]))),
    Case("dot_with_diagonal", lambda x: ot.dot(ot.diag(x[0]), x[1])),
    Case("dot_of_orthogonal", lambda x: _gram(ot.constant([[0.0, 1.0], [1.0, 0.0]])) + x[:, :2]),
    Case("dot_with_selection", lambda x: ot.dot(np.array([[0.0, 1.0], [1.0, 0.0], [1.0, 0.0]]), x)),
    Case("dot_with_selection", lambda x: ot.dot(np.array([[0.0, 1.0], [1.0, 0.0]]), x[:, 0])),
    Case("transposed_symmetric", lambda x: _gram(x).T),
    # control
    Case("inline_graph", lambda x: _inner_graph(x, inline=True)),
    Case("expand_graph", lambda x: _inner_graph(x, inline=False)),
    Case("check_of_truth", lambda x: ot.assert_op(x, True, ot.gt(x.sum(), -99.0))),
    Case("branch_of_constant", lambda x: ot.ifelse(True, x, ot.sin(x))),
    Case("equal_branches", lambda x: ot.ifelse(x.sum() > 0, x, x)),
    Case("nested_branches", lambda x: _nested_branches(x, x.sum() > 0)),
    Case("merged_branches", lambda x: _two_branches(x, x.sum() > 0)),
    Case("drop_check", lambda x: ot.assert_op(x, ot.gt(x.sum(), -99.0))),
]


def _both_branches(x: Any, value: Any) -> Any:
    return ot.switch(x > 0, value, value)


def _times_itself(x: Any, d: Any) -> Any:
    return ((x / d) * 3.0) * d


def _negated_times_itself(x: Any, d: Any) -> Any:
    return -(x / d) * d


def _divided(power: Any, axis: Any) -> Any:
    return power / power.sum(axis=axis, keepdims=axis is not None)


def _gram(x: Any) -> Any:
    return ot.dot(x, x.T)


def _over_itself(x: Any) -> Any:
    return x / x


def _plus_and_minus(x: Any, row: Any) -> Any:
    return row + x - row


def _cut(x: Any, *shape: int) -> Any:
    return ot.specify_shape(x, shape)


def _nested_else(x: Any, condition: Any) -> Any:
    return ot.switch(condition, x, ot.switch(condition, ot.cos(x), ot.exp(x)))


def _of_powers(first: Any, *others: Any) -> Any:
    return first * 3.0 / ot.add(first, *others)


def _nested(x: Any, condition: Any) -> Any:
    return ot.switch(condition, ot.switch(condition, x, ot.cos(x)), ot.exp(x))


def _equal_bases(base: Any, x: Any) -> Any:
    return base**x * base ** ot.sin(x)


def _advanced_set(x: Any, value: float) -> Any:
    places = ot.constant(np.array([0, 1, 0]))
    return ot.set_subtensor(x[places], value)[places] * x[0]


def _square(x: Any) -> Any:
    known = ot.specify_shape(x, (3, 3))
    places = ot.constant(np.arange(3))
    return known[places, places]


def _written_twice(x: Any, first: Any, second: Any) -> Any:
    once = first(x[0], x[1])
    return second(once[0], ot.sin(x[1]))


def _slices(x: Any) -> Any:
    return ot.join(1, x[:, :1], x[:, 1:2], x[:, 2:])


def _joined_allocs(v: Any) -> Any:
    return ot.join(0, ot.alloc(v, 2, 3), ot.alloc(v, 4, 3))


def _elements(v: Any) -> Any:
    return ot.make_vector(v[0], v[1], v[2])


def _inner_graph(x: Any, inline: bool) -> Any:
    inner = x.type.make_variable()
    return OpFromGraph([inner], [ot.sin(inner) * 2.0], inline=inline)(x) + x


def _nested_branches(x: Any, condition: Any) -> Any:
    return ot.ifelse(condition, ot.ifelse(condition, x, ot.sin(x)), ot.cos(x))


def _two_branches(x: Any, condition: Any) -> Any:
    return ot.ifelse(condition, x, ot.sin(x)) + ot.ifelse(condition, ot.exp(x), ot.cos(x))


# cases drawn from the patterns themselves


def _instance(pattern: Any, variables: dict[str, Any]) -> Any:
    """A graph that a pattern matches, over matrices."""
    if isinstance(pattern, Wild):
        if pattern.name not in variables:
            variables[pattern.name] = ot.TensorType("float64", (None, None)).make_variable(
                pattern.name
            )
        return variables[pattern.name]
    if isinstance(pattern, Number):
        accepts = pattern.where or (lambda n: True)
        return (
            pattern.value
            if pattern.value is not None
            else next(n for n in (3.0, -2.0, 0.5) if accepts(n))
        )
    return pattern.op(*(_instance(a, variables) for a in pattern.args))


def _drawn(rule: PatternRule, pattern: Any) -> Case:
    names: dict[str, Any] = {}
    _instance(pattern, names)

    def build(*inputs: Any) -> Any:
        return _instance(pattern, dict(zip(names, inputs, strict=True)))

    return Case(rule.name, build, shapes=((2, 3),) * len(names))


WRITTEN = {c.rule for c in CASES}
CASES += [
    _drawn(rule, pattern)
    for rule in RULES.values()
    if isinstance(rule, PatternRule) and rule.name not in WRITTEN
    for pattern in rule.patterns
]


def arguments(case: Case, seed: int) -> list[Any]:
    generator = np.random.default_rng(seed)
    drawn = [generator.uniform(case.low, case.high, s) for s in case.shapes]
    return [
        np.asarray(np.rint(a) if case.dtype.startswith("int") else a, case.dtype) for a in drawn
    ]


def symbolic(case: Case) -> tuple[list[Any], Any]:
    inputs = [ot.TensorType(case.dtype, (None,) * len(s)).make_variable() for s in case.shapes]
    return inputs, case.build(*inputs)


TESTED_BELOW = {"sharpened_types"}
"""Rules that need a graph which is being changed."""


@pytest.mark.parametrize("lengths", [(2, 3), (None, 3), (1, 1)])
def test_types_are_sharpened_as_lengths_become_known(lengths: Any) -> None:
    x = ot.dmatrix("x")
    out = ot.exp(x).T * 2.0
    for seed in range(DRAWS):
        graph = og.FunctionGraph([x], [out, og.grad(out.sum(), x)])
        start = graph.inputs[0]
        graph.replace(start, ot.specify_shape(start, lengths), reason="test")
        assert graph.outputs[0].type.shape == (None, None)
        record = in2out(RULES["sharpened_types"]).rewrite(graph)
        assert {a.rule for a in record.applications} == {"sharpened_types"}
        assert graph.outputs[0].type.shape == lengths[::-1]
        value = np.random.default_rng(seed).normal(size=[n or 4 for n in lengths])
        found = og.evaluate(graph.outputs, {start: value})
        expected = og.evaluate([out, og.grad(out.sum(), x)], {x: value})
        for a, b in zip(found, expected, strict=True):
            np.testing.assert_array_equal(a, b)
            assert a.dtype == b.dtype


@pytest.mark.parametrize("rule", RULES.values(), ids=str)
def test_every_rule_has_a_case_and_states_its_law(rule: NodeRewriter) -> None:
    assert rule.name in TESTED_BELOW or any(c.rule == rule.name for c in CASES)
    assert rule.__doc__


@pytest.mark.parametrize("case", CASES, ids=lambda c: c.rule)
def test_a_rule_fires_and_keeps_value_gradient_dtype_and_shape(case: Case) -> None:
    rule = RULES[case.rule]
    inputs, output = symbolic(case)
    graph = og.FunctionGraph(inputs, [output])
    record = in2out(rule).rewrite(graph)
    assert case.rule in {a.rule for a in record.applications}, "the rule did not fire"
    graph.check_integrity()
    (rewritten,) = graph.outputs
    assert rewritten.type.dtype == output.type.dtype
    assert rewritten.type.ndim == output.type.ndim
    if case.differentiable:
        before = og.grad(output.sum(), inputs, disconnected_inputs="ignore")
        after = og.grad(rewritten.sum(), graph.inputs, disconnected_inputs="ignore")
    decisive = slopes = 0
    for seed in range(DRAWS):
        values = arguments(case, seed)
        with np.errstate(all="ignore"):
            expected = og.evaluate(output, dict(zip(inputs, values, strict=True)))
            found = og.evaluate(rewritten, dict(zip(graph.inputs, values, strict=True)))
        decisive += bool(np.isfinite(expected).any())
        assert found.dtype == expected.dtype
        assert found.shape == expected.shape
        tolerance = 1e-6 if case.dtype == "float32" else 1e-11
        np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance)
        if case.differentiable:
            for a, b, value in zip(before, after, values, strict=True):
                with np.errstate(all="ignore"):
                    wanted = og.evaluate(a, dict(zip(inputs, values, strict=True)))
                    got = og.evaluate(b, dict(zip(graph.inputs, values, strict=True)))
                assert got.shape == value.shape
                # the law holds where the value is defined; a rule may give a derivative where there was none
                defined = np.isfinite(expected)
                kept = np.isfinite(wanted) & (
                    defined if defined.shape == wanted.shape else defined.all()
                )
                slopes += bool(kept.any())
                np.testing.assert_allclose(got[kept], wanted[kept], rtol=1e-9, atol=1e-9)
    assert decisive, "no draw gave a finite value"
    assert slopes or not case.differentiable, "no draw compared a gradient"


def _power_twice(power: Any) -> Any:
    return power / ot.add(power, power)


def _used_again(first: Any, second: Any) -> Any:
    return first * second + ot.sqrt(first)


def _over_and_above(power: Any) -> Any:
    return ot.sin(power) / power


REFUSED = [
    ("mul_one", lambda x: x * 2.0),
    ("canonical_sum", lambda x: x + 1.0),
    ("cast_of_cast", lambda x: ot.cast(ot.cast(x, "float32"), "float64")),
    ("log_one_plus", lambda x: ot.log(2 + x)),
    ("reduce_of_reduce", lambda x: ot.sum(ot.sum(x, 0, dtype="float32"))),
    (
        "exp_over_its_sum",
        lambda x: ot.exp(x) / ot.exp(x).sum(0, keepdims=True).T.sum(0, keepdims=True),
    ),
    ("dimshuffle_of_dimshuffle", lambda x: ot.exp(x.T)),
    ("exp_over_sum_of_powers", lambda x: _power_twice(ot.exp(x))),
    ("product_of_powers", lambda x: _used_again(ot.exp(x), ot.exp(ot.sin(x)))),
    ("over_exp", lambda x: _over_and_above(ot.exp(x))),
    ("sqrt_of_square", lambda x: ot.sqrt(ot.sqr(ot.cast(x, "int64")))),
]


@pytest.mark.parametrize(("name", "build"), REFUSED, ids=[r[0] for r in REFUSED])
def test_a_rule_leaves_alone_what_its_law_does_not_cover(name: str, build: Any) -> None:
    rule = RULES[name]
    x = ot.dmatrix("x")
    graph = og.FunctionGraph([x], [build(x)])
    assert not in2out(rule).rewrite(graph).applications


EXTREME = np.array([-1e4, -745.0, -50.0, -1.0, -1e-20, 0.0, 1e-20, 1.0, 50.0, 710.0, 1e4])


def _sigmoid(x: Any) -> Any:
    small = np.exp(-np.abs(x))
    return np.where(x >= 0, 1, small) / (1 + small)


def _sigmoid_slope(x: Any) -> Any:
    return _sigmoid(x) * _sigmoid(-x)


def _softplus(x: Any) -> Any:
    return np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x)))


STABLE = [
    ("log(1 + exp(x))", lambda x: ot.log(1 + ot.exp(x)), _softplus, _sigmoid),
    (
        "log(sigmoid(x))",
        lambda x: ot.log(ot.sigmoid(x)),
        lambda x: -_softplus(-x),
        lambda x: _sigmoid(-x),
    ),
    (
        "log(1 - sigmoid(x))",
        lambda x: ot.log(1 - ot.sigmoid(x)),
        lambda x: -_softplus(x),
        lambda x: -_sigmoid(x),
    ),
    ("sigmoid(x)", ot.sigmoid, _sigmoid, _sigmoid_slope),
    (
        "where(x > 0, log(x), 0)",
        lambda x: ot.switch(x > 0, ot.log(x), 0.0),
        lambda x: np.where(x > 0, np.log(np.where(x > 0, x, 1)), 0),
        lambda x: np.where(x > 0, 1 / np.where(x > 0, x, 1), 0),
    ),
]


@pytest.mark.parametrize("include", ["fast_run", "fast_compile"])
@pytest.mark.parametrize(
    ("build", "value", "slope"), [s[1:] for s in STABLE], ids=[s[0] for s in STABLE]
)
def test_stable_at_extreme_inputs(build: Any, value: Any, slope: Any, include: str) -> None:
    x = ot.dvector("x")
    out = rewrite_graph(build(x), include=(include,))
    with np.errstate(all="ignore"):
        expected, expected_slope = value(EXTREME), slope(EXTREME)
    np.testing.assert_allclose(og.evaluate(out, {x: EXTREME}), expected, rtol=1e-12, atol=1e-300)
    gradient = rewrite_graph(og.grad(build(x).sum(), x), include=(include,))
    found = og.evaluate(gradient, {x: EXTREME})
    np.testing.assert_allclose(found, expected_slope, rtol=1e-12, atol=1e-300)


ROWS = np.array(
    [
        [1000.0, 1000.0, -1000.0],
        [-1000.0, -999.0, -1000.0],
        [0.0, 1e-20, 1.0],
        [1e4, -1e4, 0.0],
        [710.0, 709.0, 5.0],
    ]
)


def _shifted(rows: Any) -> tuple[Any, Any]:
    top = rows.max(axis=1, keepdims=True)
    powers = np.exp(rows - top)
    total = powers.sum(axis=1, keepdims=True)
    return (top + np.log(total))[:, 0], powers / total


SUMS = [
    (
        "log(sum(exp(x)))",
        lambda x: ot.log(ot.exp(x).sum(axis=1)),
        lambda r: _shifted(r)[0],
        lambda r: _shifted(r)[1],
    ),
    (
        "x - log(sum(exp(x)))",
        lambda x: x - ot.log(ot.exp(x).sum(axis=1, keepdims=True)),
        lambda r: r - _shifted(r)[0][:, None],
        lambda r: 1 - 3 * _shifted(r)[1],
    ),
    (
        "log(exp(x) / sum(exp(x)))",
        lambda x: ot.log(ot.exp(x) / ot.exp(x).sum(axis=1, keepdims=True)),
        lambda r: r - _shifted(r)[0][:, None],
        lambda r: 1 - 3 * _shifted(r)[1],
    ),
    (
        "log(exp(x0) + exp(x1) + exp(x2))",
        lambda x: ot.log(ot.exp(x[:, 0]) + ot.exp(x[:, 1]) + ot.exp(x[:, 2])),
        lambda r: _shifted(r)[0],
        lambda r: _shifted(r)[1],
    ),
]


@pytest.mark.parametrize("include", ["fast_run", "fast_compile"])
@pytest.mark.parametrize(
    ("build", "value", "slope"), [s[1:] for s in SUMS], ids=[s[0] for s in SUMS]
)
def test_sums_of_powers_are_stable(build: Any, value: Any, slope: Any, include: str) -> None:
    x = ot.dmatrix("x")
    out = rewrite_graph(build(x), include=(include,))
    np.testing.assert_allclose(og.evaluate(out, {x: ROWS}), value(ROWS), rtol=1e-12, atol=1e-12)
    gradient = rewrite_graph(og.grad(build(x).sum(), x), include=(include,))
    found = og.evaluate(gradient, {x: ROWS})
    np.testing.assert_allclose(found, slope(ROWS), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("include", ["fast_run", "fast_compile"])
def test_tails_of_the_normal_distribution(include: str) -> None:
    """Expected values are mpmath's, with 40 digits."""
    x = ot.dvector("x")
    at = np.array([-3.0, 0.0, 0.5, 30.0, 100.0])
    out = rewrite_graph(ot.log(ot.erfc(x)), include=(include,))
    expected = [0.69313613525045, 0.0, -0.73501112983708, -903.97411711064, -10005.177585123]
    np.testing.assert_allclose(og.evaluate(out, {x: at}), expected, rtol=1e-12)
    gradient = rewrite_graph(og.grad(ot.log(ot.erfc(x)).sum(), x), include=(include,))
    slope = og.evaluate(gradient, {x: at})
    expected = [
        -6.962729502415e-5,
        -1.1283791670955,
        -1.8327056412987,
        -60.033296398756,
        -200.00999900025,
    ]
    np.testing.assert_allclose(slope, expected, rtol=1e-12)


def test_log_sum_exp_of_large_numbers() -> None:
    x = ot.dmatrix("x")
    out = rewrite_graph(ot.log(ot.exp(x).sum(axis=1)), include=("fast_compile",))
    found = og.evaluate(out, {x: [[1000.0, 1000.0], [-1000.0, -1000.0]]})
    np.testing.assert_allclose(found, [1000 + np.log(2), -1000 + np.log(2)], rtol=1e-12)
    soft = ot.exp(x) / ot.exp(x).sum(axis=1, keepdims=True)
    merged = rewrite_graph(soft, include=("fast_run",))
    np.testing.assert_allclose(og.evaluate(merged, {x: [[1000.0, 1000.0]]}), [[0.5, 0.5]])


def test_rules_that_may_hide_a_shape_error_can_be_left_out() -> None:
    x, y = ot.dvectors("x", "y")
    length = (x + y).shape[0]
    usual = rewrite_graph(length, include=("fast_run",))
    assert not any(n.op == ot.add for n in og.toposort(usual))
    strict = rewrite_graph(length, include=("fast_run",), exclude=("shape_unsafe",))
    with pytest.raises(ValueError, match="mismatch"):
        og.evaluate(strict, {x: [1.0], y: [1.0, 2.0]})
