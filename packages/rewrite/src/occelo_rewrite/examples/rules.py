"""`CASES`: the table of cases for the rules of the core, written by hand. Families have tables of their own."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

import occelo_graph as og
from occelo_graph import tensor as ot
from occelo_graph.inner_graph import OpFromGraph
from occelo_graph.ops.shape.stretching import Stretch
from occelo_rewrite.examples.case import Case

if TYPE_CHECKING:
    from collections.abc import Callable

    from occelo_graph.tensors.variable import TensorVariable

_Write: TypeAlias = "Callable[[TensorVariable, TensorVariable], TensorVariable]"


def _short(x: TensorVariable, length: int) -> TensorVariable:
    return ot.specify_shape(x, (length,))


def _of_elements(x: TensorVariable, last: int = 1) -> TensorVariable:
    return x[0] * ot.sin(x[last])


def _added(x: TensorVariable, place: int, value: TensorVariable) -> TensorVariable:
    return ot.inc_subtensor(x[place], value)


def _other(x: TensorVariable) -> TensorVariable:
    """Another variable of the same dtype and shape."""
    return ot.mul(x, x)


def _compared_to_itself(name: str, x: TensorVariable) -> TensorVariable:
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
    Case("canonical_sum", lambda x: (x + ot.sin(x)) + (2.0 - ot.sin(x))),
    Case("canonical_sum", lambda x: x + ot.neg(ot.sin(x))),
    Case("canonical_sum", lambda x: ot.add(ot.neg(x), ot.neg(ot.cos(x)), ot.sin(x), x[0])),
    Case("canonical_sum", lambda x: ot.neg(x) - ot.sin(x)),
    Case("canonical_sum", lambda x: 1.0 + x),
    Case("collected_sum", lambda x: ((x - ot.sin(x)) + 1.0) - 3.0),
    Case("collected_sum", lambda x: ot.add(x, ot.sin(x), ot.as_tensor(np.arange(3.0))) + 2.0),
    Case("collected_sum", lambda x: x + 1.0 + 2.0),
    Case("collected_sum", lambda x: 2.0 * x + x),
    Case("collected_sum", lambda x: _three_more(ot.sin(x))),
    Case("collected_sum", lambda x: x - 3 * x - 4 * ot.sin(x), dtype="int64", differentiable=False),
    Case("collected_sum", lambda x: x - x * np.int8(-128), dtype="int8", differentiable=False),
    Case("neg_of_difference", lambda x: -(x - 5.0)),
    Case("cancelled_sum", lambda x: x + ot.sin(x) - x),
    Case("cancelled_sum", lambda x: x - x),
    Case("cancelled_sum", lambda x: ot.exp(s := x + ot.sin(x)) * (s - x)),
    Case("cancelled_sum", lambda x: ot.exp(s := ot.sin(x) + 3.0) * (s + 1.0 - 4.0)),
    Case("cancelled_sum", lambda x: _plus_and_minus(x, x[:1].sum(axis=0))),
    Case("cancelled_sum", lambda x: 2 * x - x - x, dtype="int64", differentiable=False),
    # products
    Case("mul_one", lambda x: x * 1.0),
    Case("mul_one", lambda x: x[0] * np.ones((2, 3))),
    Case("mul_one", lambda x: ot.mul(x, 1, 1.0), dtype="int64", differentiable=False),
    Case("div_one", lambda x: x / 1, dtype="int64", differentiable=False),
    Case("canonical_product", lambda x: ot.neg(x) * 2.0),
    Case("canonical_product", lambda x: -(x * 2.0) * (-ot.sin(x)) * 3.0),
    Case("canonical_product", lambda x: ot.neg(x / 3.0) * ot.sin(x)),
    Case("canonical_product", lambda x: (x * -1.0) / ot.exp(x)),
    Case("division_by_power_of_two", lambda x: x / -4.0),
    Case("division_by_power_of_two", lambda x: x / np.full((4, 2, 3), 0.5)),
    Case("collected_numbers", lambda x: (2 * x) / (-4.0)),
    Case("collected_numbers", lambda x: -(x * 2.0) * (-ot.sin(x)) * 3.0),
    Case("collected_numbers", lambda x: x / 3.0 / ot.exp(x) / 5.0),
    Case("collected_numbers", lambda x: 1e200 * (1e-200 * x)),
    Case("collected_numbers", lambda x: 2 / (3 / x), low=0.5),
    Case("cancelled_product", lambda x: _times_itself(x, ot.exp(x))),
    Case("cancelled_product", lambda x: _negated_times_itself(x, ot.exp(x))),
    Case("cancelled_product", lambda x: _over_itself(ot.exp(x))),
    Case("distribute_number", lambda x: -2.0 * (3.0 * x + 4.0)),
    Case("pow_two", lambda x: x**2.0, dtype="int64", differentiable=False),
    Case("pow_zero", lambda x: x[0] ** np.zeros((2, 3))),
    Case("switch_constant", lambda x: ot.switch(np.zeros(3), x, ot.sin(x))),
    Case("switch_constant", lambda x: ot.switch(np.True_, x, -x)),
    Case(
        "switch_constant", lambda x: ot.exp(ot.switch(ot.alloc(np.False_, x.shape[0], 3), 1.0, x))
    ),
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
    Case("decided_truth", lambda x: ot.switch(ot.and_(np.zeros((2, 1), bool), x[0] > 0), -x, x)),
    Case("decided_truth", lambda x: x * ot.or_(x > 0, np.True_), differentiable=False),
    Case("decided_truth", lambda x: x * ot.and_(x > 0, np.True_), differentiable=False),
    Case("decided_truth", lambda x: x * ot.or_(np.False_, ot.lt(x, 0)), differentiable=False),
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
    Case("explicit_conversions", lambda x: ot.pow(x, 3) / x, dtype="int8", differentiable=False),
    Case("explicit_conversions", lambda x: ot.arctan2(ot.cast(x, "float16"), x)),
    # stable forms
    Case(
        "stable_through_casts",
        lambda x: 1.0 - ot.sigmoid(x).astype("float64"),
        dtype="float32",
        differentiable=False,
    ),
    Case(
        "stable_through_casts",
        lambda x: ot.log(ot.exp(x).astype("float64")),
        dtype="float32",
        differentiable=False,
    ),
    Case("split_root", lambda x: ot.sqrt(ot.sigmoid(x) * ot.sqr(x) / 3)),
    Case("split_root", lambda x: ot.softplus(x) ** -0.25),
    Case("split_root", lambda x: ot.sqr(x / ot.sqrt(ot.sigmoid(x)))),
    Case("stable_root", lambda x: ot.sqrt(ot.cosh(x)) + ot.sqrt(1 + ot.exp(x))),
    Case("stable_root", lambda x: ot.sqrt(ot.sigmoid(x)) + ot.sqrt(ot.exp(x))),
    Case("stable_root", lambda x: ot.sigmoid(x) ** -0.3),
    Case("difference_of_sigmoids", lambda x: ot.sigmoid(x) - ot.sigmoid(ot.sin(x))),
    Case(
        "difference_of_sigmoids",
        lambda x: ot.diff(
            ot.concatenate([ot.zeros(1), ot.sigmoid(x[0].astype("float64")), ot.ones(1)])
        ),
    ),
    Case("stable_product", lambda x: ot.sigmoid(x) * x / ot.sqrt(ot.sigmoid(x))),
    Case("stable_product", lambda x: ot.exp(x) ** 2 * (1 - ot.sigmoid(x)) ** 3 / ot.exp(3 * x)),
    Case("stable_product", lambda x: x / ot.softmax(x, axis=1) * ot.softmax(x, axis=1) ** 2),
    Case("stable_product", lambda x: (x / ot.exp(x) + 2.0) * ot.exp(x)),
    Case("stable_product", lambda x: (2 / ot.sigmoid(x) - 3 * x + x**2) * ot.sigmoid(x)),
    Case("stable_product", lambda x: x / ot.cosh(x) * ot.sinh(x)),
    Case("stable_product", lambda x: x / ot.sqrt(ot.cosh(x)) * ot.sinh(x)),
    Case("stable_product", lambda x: 1 / ot.softplus(x) * ot.sigmoid(x)),
    Case("vanishing_sum", lambda x: (1 - ot.tanh(x)) + (ot.tanh(x) ** 2 - 1)),
    Case("stable_product", lambda x: 1 / ot.sum(x * ot.exp(x)) * ot.exp(x) * x, low=0.1),
    Case("product_that_vanishes", lambda x: ot.exp(x) * ot.sigmoid(-ot.exp(x))),
    Case("product_that_vanishes", lambda x: ot.sinh(x) / ot.cosh(ot.cosh(x)) ** 2),
    Case("split_root", lambda x: ot.sqrt(2.0 * ot.expm1(x)), low=0.1),
    Case("stable_root", lambda x: ot.sqrt(3.0 + ot.exp(x))),
    Case("stable_difference", lambda x: x - ot.softplus(x)),
    Case("stable_logarithm", lambda x: ot.log(ot.tanh(x)) + ot.log(ot.sinh(x)), low=0.1),
    Case("stable_logarithm", lambda x: ot.log(ot.softplus(x)) + ot.log(ot.log1p(ot.sigmoid(x)))),
    Case("stable_logarithm", lambda x: ot.log1p(ot.sinh(x)), low=-0.5),
    Case("log_one_plus", lambda x: ot.log(ot.add(x, 1.0, ot.exp(x))), low=0.0),
    Case("log_erfc", lambda x: ot.log(ot.erfc(x)), high=5.0),
    Case("log_difference_of_powers", lambda x: ot.log(ot.exp(x) - ot.exp(x - 1.0))),
    Case("log_of_scaled", lambda x: ot.log(3.0 * ot.exp(x))),
    Case("log_sum_of_powers", lambda x: ot.log(ot.add(ot.exp(x), ot.exp(ot.sin(x)), ot.exp(-x)))),
    Case("stable_logarithm", lambda x: ot.log(ot.exp(x) + 3.0)),
    Case("stable_logarithm", lambda x: ot.log(ot.exp(x) + x[0]), low=0.1),
    Case("stable_logarithm", lambda x: ot.log(ot.exp(x) - 0.1 * ot.sin(x)), low=0.0),
    Case("stable_logarithm", lambda x: ot.log(ot.exp(x).mean(0))),
    Case("stable_logarithm", lambda x: ot.log((x[0] * ot.exp(x)).sum(1)), low=0.1),
    Case("stable_logarithm", lambda x: ot.log((ot.exp(x) / x[0]).mean(1)), low=0.1),
    Case("stable_logarithm", lambda x: ot.log(ot.cosh(x))),
    Case("stable_logarithm", lambda x: ot.log2(ot.exp(x) + ot.exp(-x))),
    Case("stable_logarithm", lambda x: ot.log10(_divided(ot.exp(x), 1)[0])),
    Case("stable_logarithm", lambda x: ot.log(ot.exp(x)[0, 0] / ot.exp(x[1]).sum())),
    Case("stable_logarithm", lambda x: ot.log(ot.exp(x[0]) / ot.exp(x[0]).sum())),
    Case("stable_logarithm", lambda x: ot.log(ot.exp(x[0])[1] / ot.exp(x[0]).sum())),
    Case("stable_logarithm", lambda x: ot.log(1 + ot.erf(x))),
    Case("stable_logarithm", lambda x: ot.log(0.5 * ot.erfc(x))),
    Case("stable_logarithm", lambda x: ot.log(0.5 - 0.5 * ot.erf(x))),
    Case("stable_logarithm", lambda x: ot.log(1 - 0.5 * (1 + ot.erf(x)))),
    Case("stable_logarithm", lambda x: ot.log(2 - ot.erfc(x))),
    Case("stable_logarithm", lambda x: ot.log(1 - ot.tanh(x) ** 2)),
    Case("stable_logarithm", lambda x: ot.log(3 - ot.tanh(x) * ot.tanh(x) * 3)),
    Case("stable_logarithm", lambda x: ot.log(1 - ot.tanh(x))),
    Case("stable_logarithm", lambda x: ot.log(ot.tanh(x) / 4 + 0.25)),
    Case("stable_logarithm", lambda x: ot.log2(1 + 2**x)),
    Case("stable_logarithm", lambda x: ot.log(ot.exp2(x) + 3.0)),
    Case("stable_logarithm", lambda x: ot.log10(10**x)),
    Case("stable_logarithm", lambda x: ot.log2(10**x)),
    Case("stable_logarithm", lambda x: ot.log(1 - ot.erf(x))),
    Case("stable_logarithm", lambda x: ot.log(ot.expm1(x)), low=0.1),
    Case("stable_logarithm", lambda x: ot.log(ot.exp(x) - 0.5), low=0.1),
    Case("stable_logarithm", lambda x: ot.log(ot.sqrt(ot.exp(x)) ** 1.5 * 2.0)),
    Case("stable_logarithm", lambda x: ot.log(ot.sigmoid(x).prod(1))),
    Case("stable_logarithm", lambda x: ot.log1p(ot.exp(x) + 2.0)),
    Case("stable_quotient", lambda x: ot.exp(-x) / (1 + ot.exp(-x)) ** 2),
    Case("stable_quotient", lambda x: x / (1 + ot.exp(x))),
    Case("stable_quotient", lambda x: (ot.exp(x) * x).sum(1) / ot.exp(x).sum(1)),
    Case("stable_quotient", lambda x: ot.exp(x[0])[2] / ot.exp(x[0]).sum()),
    Case("stable_quotient", lambda x: (ot.exp(x) - ot.exp(-x)) / (ot.exp(x) + ot.exp(-x))),
    Case("stable_quotient", lambda x: ot.sinh(x) / ot.cosh(x)),
    Case("stable_quotient", lambda x: (ot.exp(2 * x) - 1) / (ot.exp(2 * x) + 1)),
    Case("stable_quotient", lambda x: (1 - ot.exp(-x)) / (1 + ot.exp(-x))),
    Case("stable_quotient", lambda x: ot.expm1(x) / ot.exp(x)),
    Case("expm1_over_power_plus_one", lambda x: ot.expm1(x) / (1 + ot.exp(x))),
    Case("expm1_over_power_plus_one", lambda x: x * -ot.expm1(x) / (ot.exp(x) + 1)),
    Case("stable_quotient", lambda x: x * ot.exp(x) / (ot.exp(x) + 3.0)),
    Case("stable_difference", lambda x: 2 / (1 + ot.exp(-2 * x)) - 1),
    Case("stable_difference", lambda x: 2 * ot.sigmoid(x) + (-1.0)),
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
    Case("reduce_of_reduce", lambda x: x.min(0).min(1), shapes=((2, 3, 4),)),
    Case("sum_of_sums", lambda x: x.sum(0).sum(1), shapes=((2, 3, 4),)),
    Case("sum_of_sums", lambda x: x.prod(0).prod(), shapes=((2, 3, 4),)),
    Case("reduce_of_reduce", lambda x: x.max(1).max(), shapes=((2, 3, 4),)),
    Case("reduce_over_nothing", lambda x: ot.sum(x, axis=())),
    Case("reduce_over_nothing", lambda x: x[:, :1].dimshuffle(0, "x", 1).sum((0, 1, 2))),
    Case("sum_of_neg", lambda x: ot.neg(x).sum(0)),
    Case("sum_of_scaled", lambda x: (x * 3.0).sum(0)),
    Case("sum_of_scaled", lambda x: (x * x[0, 0]).sum(), dtype="int64", differentiable=False),
    Case("sum_of_scaled", lambda x: (x / 0.3).sum(1)),
    Case("sum_of_scaled", lambda x: (abs(x) * x[0]).sum(0), dtype="int64", differentiable=False),
    Case("reduce_of_alloc", lambda x: ot.second(x, x[0]).sum(0)),
    Case("reduce_of_alloc", lambda x: ot.second(x, x[0, 0]).sum()),
    Case("reduce_of_alloc", lambda x: ot.alloc(x[0], 4, 3).sum(0)),
    Case("reduce_of_alloc", lambda x: ot.alloc(x[0, 0], 4, x.shape[0]).sum()),
    Case("reduce_of_alloc", lambda x: ot.alloc(x[0], 4, 3).max((0, 1))),
    Case("reduce_of_alloc", lambda x: ot.alloc(x[0], 4, 3).prod(0), low=0.5),
    Case("neg_of_max", lambda x: -((-x).max(0))),
    Case("neg_of_min", lambda x: -((-x).min())),
    Case("extreme_of_monotone", lambda x: ot.exp(x).max(0)),
    Case("extreme_of_monotone", lambda x: ot.erfc(x).max()),
    Case("extreme_of_monotone", lambda x: ot.floor(x).min(1)),
    Case("extreme_of_monotone", lambda x: (-x).min((0, 1))),
    Case("log_sum_exp", lambda x: ot.log(ot.exp(x).sum(1))),
    Case("log_sum_exp", lambda x: ot.log(ot.exp(x).sum())),
    Case("log_of_softmax", lambda x: ot.log(ot.softmax(x, 1))),
    Case("exp_of_log_softmax", lambda x: ot.exp(ot.log_softmax(x, 1))),
    Case("log_of_prod", lambda x: ot.log(ot.exp(x).prod(1))),
    Case("exp_over_its_sum", lambda x: _divided(ot.exp(x), 1)),
    Case("exp_over_its_sum", lambda x: _divided(ot.exp(x), 0)),
    Case("exp_over_its_sum", lambda x: _divided(ot.exp(x), None)),
    Case("exp_over_sum_of_powers", lambda x: _of_powers(ot.exp(x), ot.exp(_other(x)))),
    Case("exp_over_sum_of_powers", lambda x: _of_powers(ot.exp(x), ot.exp(_other(x)), ot.exp(-x))),
    Case("log_of_spread_sum_exp", lambda x: ot.log(ot.exp(x).sum(1, keepdims=True))),
    Case(
        "sum_of_squared_outer",
        lambda x: ot.sqr(x.dimshuffle("x", 0, 1) * _other(x).dimshuffle(0, "x", 1)).sum((1, 2)),
    ),
    # tensors made by alloc and second
    Case("alloc_of_own_shape", lambda x: ot.alloc(_other(x), x.shape[0], x.shape[1])),
    Case("alloc_of_alloc", lambda x: ot.alloc(ot.alloc(x[0], 2, 3), 4, 2, 3)),
    Case("alloc_sinks", lambda x: ot.alloc(x[0, 0], *x.shape) * x),
    Case("alloc_sinks", lambda x: ot.exp(x) + ot.second(x, x[0, 0])),
    Case("alloc_sinks_unchecked", lambda x: ot.alloc(x[0, 0], 2, 3) * x),
    Case("second_of_same_shape", lambda x: ot.second(x, _other(x))),
    Case("second_to_alloc", lambda x: ot.second(ot.exp(x), x[0, 0])),
    Case("elemwise_of_alloc", lambda x: ot.exp(ot.alloc(x[0], 4, 3))),
    Case("uniform_constants", lambda x: ot.exp(x[0, :1]) * np.full(5, 3.0)),
    Case("uniform_constants", lambda x: ot.exp(x[0, 0] * np.arange(3.0)) * np.full(3, 2.5)),
    # shapes
    Case("length_from_inputs", lambda x: x * ot.shape_i(ot.exp(x).T, 0)),
    Case("length_from_inputs", lambda x: x * ot.shape_i(ot.join(0, x, x), 0)),
    Case("read_of_shape", lambda x: x * x.shape[1]),
    Case("read_of_shape", lambda x: x * ot.exp(x).T.shape[-2]),
    Case("lengths_that_are_known", lambda x: x * ot.ones(ot.make_vector(ot.shape_i(x, 0), 1))),
    Case("lengths_that_are_known", lambda x: x[:, ot.stack([ot.shape_i(x, 0), 2])[1]]),
    Case("shape_of_lengths", lambda x: x[:, :2] * ot.shape(ot.exp(x))),
    Case("dimshuffle_of_dimshuffle", lambda x: _other(x.T.T)),
    Case("dimshuffle_of_dimshuffle", lambda x: x.dimshuffle("x", 1, 0).dimshuffle(2, 1)),
    Case("dimshuffle_lift", lambda x: (x.T + _other(x).T).T),
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
    Case("specify_lift", lambda x: 2.0 * ot.specify_shape(x, (2, None))),
    Case("specify_lift", lambda x: ot.specify_shape(x, (2, 3)) * ot.exp(x)),
    Case("specify_lift", lambda x: x - ot.specify_shape(ot.exp(x[::-1]), (x.shape[0], None))),
    Case("specify_what_is_known", lambda x: ot.specify_shape(ot.exp(x), (x.shape[0], None))),
    Case("stretch_to_own_lengths", lambda x: ot.exp(x)[:2].set(x[:2]) * 2.0),
    Case(
        "stretch_to_own_lengths",
        lambda x: Stretch((4, None, None), (False, False, False))(x.dimshuffle("x", 0, 1)) * 2.0,
    ),
    Case("stretch_lift", lambda x: x[:, 1:].set(ot.exp(x[:1, 1:]) * 2.0)),
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
    Case("diagonal_of_product", lambda x: ot.diagonal(ot.dot(x, _other(x).T))),
    Case("diagonal_of_product", lambda x: ot.diagonal(ot.dot(x, _other(x).T[:, 1:]))),
    Case("read_through_elemwise", lambda x: (ot.exp(x) * 2.0 * _other(x))[1]),
    Case("element_of_elemwise", lambda x: _of_elements(_short(x, 3) * 2.0), shapes=((3,),)),
    Case("element_of_elemwise", lambda x: _of_elements(_short(x, 2) + x[0], -1), shapes=((2,),)),
    Case("write_of_element", lambda x: _added(ot.exp(_short(x, 3)), 1, x[0]), shapes=((3,),)),
    Case("write_of_element", lambda x: _added(ot.stack([x[1, 0], x[0, 2]]), -1, x[1, 1])),
    Case(
        "write_of_element",
        lambda x: ot.set_subtensor(ot.exp(_short(x, 2))[-1], x[0]),
        shapes=((2,),),
    ),
    Case(
        "write_of_element",
        lambda x: _added(ot.as_tensor(np.array([1, 2, 3, 4], "int8")), 2, x[0]),
        shapes=((3,),),
        dtype="int8",
        differentiable=False,
    ),
    Case("read_through_dot", lambda x: ot.dot(x, _other(x).T)[1]),
    Case("read_through_dot", lambda x: ot.dot(x, _other(x).T)[:, 1]),
    Case("read_through_dot", lambda x: ot.dot(x, _other(x).T)[1, 0]),
    Case("read_through_dot", lambda x: ot.dot(x, _other(x)[0])[1]),
    Case("read_through_reduce", lambda x: ot.exp(x).sum(0)[1]),
    Case("read_through_reduce", lambda x: ot.exp(x).max(1)[1:], shapes=((2, 3, 2),)),
    Case("read_through_softmax", lambda x: ot.softmax(x, 1)[1]),
    # writes
    Case("write_of_write", lambda x: _written_twice(x, ot.set_subtensor, ot.set_subtensor)),
    Case("write_of_write", lambda x: _written_twice(x, ot.inc_subtensor, ot.set_subtensor)),
    Case("inc_of_inc", lambda x: _written_twice(x, ot.inc_subtensor, ot.inc_subtensor)),
    Case("inc_of_inc", lambda x: _narrow_twice(x, ot.inc_subtensor)),
    Case("inc_of_set", lambda x: _written_twice(x, ot.set_subtensor, ot.inc_subtensor)),
    Case("inc_of_set", lambda x: _narrow_twice(x, ot.set_subtensor)),
    Case(
        "inc_of_set",
        lambda x: _narrow_twice(x, ot.inc_subtensor),
        dtype="int64",
        differentiable=False,
    ),
    Case("write_of_everything", lambda x: ot.IncSubtensor((slice(None),) * 2, True)(x, _other(x))),
    Case("write_of_everything", lambda x: ot.IncSubtensor((slice(None),) * 2, False)(x, _other(x))),
    Case("zeros_written_then_added", lambda x: ot.inc_subtensor(ot.zeros_like(x)[0], x[1]) + x),
    Case(
        "zeros_written_anywhere_then_added",
        lambda x: ot.inc_subtensor(ot.zeros_like(x)[np.array([0, 0])], x[1]) + x,
    ),
    Case("inc_of_zeros", lambda x: ot.inc_subtensor(ot.zeros_like(x)[0], x[1])),
    Case("set_of_own_sum", lambda x: ot.set_subtensor(x[0], x[0] + _other(x[1]))),
    Case("write_of_alloc", lambda x: ot.set_subtensor(x[0], ot.alloc(x[0, 0], x.shape[1]))),
    Case("writes_of_all_slices", lambda x: _tiled(ot.zeros((2, 3)), x, ot.inc_subtensor)),
    Case("writes_of_all_slices", lambda x: _tiled(ot.exp(_other(x)), x, ot.set_subtensor)),
    Case(
        "writes_of_all_slices",
        lambda x: _tiled(ot.zeros((2, 3), "float32"), x, _added_or_set),
        dtype="float32",
    ),
    Case("diagonal_of_diagonal", lambda x: ot.diagonal(ot.diag(x[0]))),
    Case("inc_of_zeros", lambda x: ot.inc_subtensor(ot.zeros_like(x)[np.array([1, 0])], x)),
    # joins
    Case("join_of_one", lambda x: ot.Join(0)(x) * 2.0),
    Case("join_without_empty", lambda x: ot.join(0, ot.specify_shape(x, (2, 3)), np.zeros((0, 3)))),
    Case("join_of_join", lambda x: ot.join(0, ot.join(0, x, _other(x)), x)),
    Case("join_of_adjacent_slices", lambda x: _slices(ot.specify_shape(x, (2, 3)))),
    Case("join_of_repeats", lambda x: ot.join(0, *[x.dimshuffle("x", 0, 1)] * 3)),
    Case("join_of_allocs", lambda x: _joined_allocs(x[0])),
    Case("vector_of_own_elements", lambda x: _elements(ot.specify_shape(x[0], (3,)))),
    # matrices
    Case("dot_of_nothing", lambda x: ot.dot(x[:, :0], np.zeros((0, 2))) + x[:, :2]),
    Case("dot_of_length_one", lambda x: ot.dot(_cut(x[:, :1], 2, 1), _cut(x[:1], 1, 3))),
    Case("dot_of_length_one", lambda x: ot.dot(_cut(x[:, :1], 2, 1), _cut(x[0, :1], 1))),
    Case("dot_of_length_one", lambda x: ot.dot(_cut(x[0, :1], 1), _cut(x[:1], 1, 3))),
    Case("transposed_dot", lambda x: ot.dot(x, _other(x).T).T),
    Case("transposed_dot", lambda x: ot.dot(x, _other(x)).T, shapes=((3, 3),)),
    Case("matmul_of_matrices", lambda x: ot.MatMul()(x, _other(x).T)),
    Case("matmul_with_one_matrix", lambda x: ot.matmul(x, _other(x)[0].T), shapes=((4, 2, 3),)),
    Case("product_plus_term", lambda x: x + 2.0 * ot.dot(x, _other(x)), shapes=((3, 3),)),
    Case("product_plus_term", lambda x: x[0] - ot.dot(x, x[1]), shapes=((3, 3),)),
    Case("product_plus_term", lambda x: x[0] - ot.dot(x[1], x), shapes=((3, 3),)),
    Case(
        "product_plus_broadcast_term",
        lambda x: x[0] - ot.dot(x, _other(x)) * 2.0,
        shapes=((3, 3),),
    ),
    Case("outer_plus_term", lambda x: x * 0.5 + ot.outer(x[:, 0], x[1])),
    Case(
        "scaled_product",
        lambda x: 3.0 * ot.Gemm()(x, ot.constant(2.0), x, _other(x), ot.constant(0.5)),
        shapes=((3, 3),),
    ),
    # facts that are assumed
    Case("dot_with_diagonal", lambda x: ot.dot(ot.diag(x[:, 0]), x)),
    Case("dot_with_diagonal", lambda x: ot.dot(x, ot.diag(x[0]))),
    Case("dot_with_diagonal", lambda x: ot.dot(ot.diag(x[0]), x[1])),
    Case("dot_of_orthogonal", lambda x: _gram(ot.constant([[0.0, 1.0], [1.0, 0.0]])) + x[:, :2]),
    Case("dot_with_selection", lambda x: ot.dot(np.array([[0.0, 1.0], [1.0, 0.0], [1.0, 0.0]]), x)),
    Case("dot_with_selection", lambda x: ot.dot(np.array([[0.0, 1.0], [1.0, 0.0]]), x[:, 0])),
    Case("dot_with_permutation", lambda x: ot.dot(x.T, np.array([[0.0, 1.0], [1.0, 0.0]]))),
    Case("dot_with_permutation", lambda x: ot.dot(x[:, 0], np.array([[0.0, 1.0], [1.0, 0.0]]))),
    Case("transposed_symmetric", lambda x: _gram(x).T),
    # control
    Case("inline_graph", lambda x: _inner_graph(x, inline=True)),
    Case("expand_graph", lambda x: _inner_graph(x, inline=False)),
    Case("check_of_truth", lambda x: ot.assert_op(x, np.True_, ot.gt(x.sum(), -99.0))),
    Case("branch_of_constant", lambda x: ot.ifelse(np.True_, x, _other(x))),
    Case("equal_branches", lambda x: ot.ifelse(x.sum() > 0, x, x)),
    Case("nested_branches", lambda x: _nested_branches(x, x.sum() > 0)),
    Case("merged_branches", lambda x: _two_branches(x, x.sum() > 0)),
    Case("drop_check", lambda x: ot.assert_op(x, ot.gt(x.sum(), -99.0))),
]


def _three_more(x: TensorVariable) -> TensorVariable:
    return -(x - 5.0) + x * 3.0


def _both_branches(x: TensorVariable, value: TensorVariable) -> TensorVariable:
    return ot.switch(x > 0, value, value)


def _times_itself(x: TensorVariable, d: TensorVariable) -> TensorVariable:
    return ((x / d) * 3.0) * d


def _negated_times_itself(x: TensorVariable, d: TensorVariable) -> TensorVariable:
    return -(x / d) * d


def _divided(power: TensorVariable, axis: int | None) -> TensorVariable:
    return power / power.sum(axis=axis, keepdims=axis is not None)


def _gram(x: TensorVariable) -> TensorVariable:
    return ot.dot(x, x.T)


def _over_itself(x: TensorVariable) -> TensorVariable:
    return x / x


def _plus_and_minus(x: TensorVariable, row: TensorVariable) -> TensorVariable:
    return row + x - row


def _cut(x: TensorVariable, *shape: int) -> TensorVariable:
    return ot.specify_shape(x, shape)


def _nested_else(x: TensorVariable, condition: TensorVariable) -> TensorVariable:
    return ot.switch(condition, x, ot.switch(condition, ot.cos(x), ot.exp(x)))


def _of_powers(first: TensorVariable, *others: TensorVariable) -> TensorVariable:
    return first * 3.0 / ot.add(first, *others)


def _nested(x: TensorVariable, condition: TensorVariable) -> TensorVariable:
    return ot.switch(condition, ot.switch(condition, x, ot.cos(x)), ot.exp(x))


def _equal_bases(base: TensorVariable, x: TensorVariable) -> TensorVariable:
    return base**x * base ** ot.sin(x)


def _advanced_set(x: TensorVariable, value: float) -> TensorVariable:
    places = ot.constant(np.array([0, 1, 0]))
    return ot.set_subtensor(x[places], value)[places] * x[0]


def _square(x: TensorVariable) -> TensorVariable:
    square = ot.specify_shape(x, (3, 3))
    places = ot.constant(np.arange(3))
    return square[places, places]


def _written_twice(x: TensorVariable, first: _Write, second: _Write) -> TensorVariable:
    once = first(x[0], x[1])
    return second(once[0], _other(x[1]))


def _narrow_twice(x: TensorVariable, first: _Write) -> TensorVariable:
    value = ot.constant(np.array([100, -100, 3], "int8"))
    return ot.inc_subtensor(first(x[0], value)[0], value)


def _tiled(target: TensorVariable, x: TensorVariable, write: _Write) -> TensorVariable:
    """A graph that writes the columns of a matrix of static shape in two slices."""
    static = ot.specify_shape(target, (2, 3))
    once = write(static[:, 1:], ot.specify_shape(x, (2, 3))[:, :2])
    return write(once[:, :1], ot.specify_shape(_other(x), (2, 3))[:, 2:])


def _added_or_set(part: TensorVariable, value: TensorVariable) -> TensorVariable:
    """A ``write`` for `_tiled`: it sets the slice of two columns, and adds to the slice of one column.

    The value is cast to float32.
    """
    write = ot.set_subtensor if part.type.shape[1] == 2 else ot.inc_subtensor
    return write(part, value.astype("float32"))


def _slices(x: TensorVariable) -> TensorVariable:
    return ot.join(1, x[:, :1], x[:, 1:2], x[:, 2:])


def _joined_allocs(v: TensorVariable) -> TensorVariable:
    return ot.join(0, ot.alloc(v, 2, 3), ot.alloc(v, 4, 3))


def _elements(v: TensorVariable) -> TensorVariable:
    return ot.make_vector(v[0], v[1], v[2])


def _inner_graph(x: TensorVariable, inline: bool) -> TensorVariable:
    inner = x.type.make_variable()
    return OpFromGraph([inner], [ot.sin(inner) * 2.0], inline=inline)(x) + x


def _nested_branches(x: TensorVariable, condition: TensorVariable) -> TensorVariable:
    return ot.ifelse(condition, ot.ifelse(condition, x, ot.sin(x)), ot.cos(x))


def _two_branches(x: TensorVariable, condition: TensorVariable) -> TensorVariable:
    return ot.ifelse(condition, x, ot.sin(x)) + ot.ifelse(condition, ot.exp(x), ot.cos(x))
