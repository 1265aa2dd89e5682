"""Every rule by itself, on inputs drawn from its pattern: that it fires, value, gradient, dtype, shape."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import occelo_graph as og
from occelo_graph import tensor as ot
from occelo_rewrite import NodeRewriter, in2out, rewrite_graph
from occelo_rewrite.rules import elemwise, fold, reduce, shape

DRAWS = 200 if os.environ.get("HYPOTHESIS_PROFILE") == "thorough" else 20
RULES: list[NodeRewriter] = [
    rule
    for rules in (
        fold.RULES,
        elemwise.CANONICALIZE,
        elemwise.STABILIZE,
        reduce.CANONICALIZE,
        reduce.STABILIZE,
        shape.CANONICALIZE,
    )
    for rule in rules
]


@dataclass(frozen=True)
class Case:
    rule: str
    build: Callable[..., Any]
    low: float = -2.0
    high: float = 2.0
    shapes: tuple[tuple[int, ...], ...] = ((2, 3),)
    dtype: str = "float64"
    differentiable: bool = True


CASES = [
    Case("constant_folding", lambda x: x * (ot.constant(2.0) + 3.0)),
    Case("drop_gradient_barriers", lambda x: og.grad_scale(x, 1.0) * 2),
    Case("add_zero", lambda x: x + 0.0),
    Case("add_zero", lambda x: ot.add(x, 0.0, ot.sin(x))),
    Case("add_zero", lambda x: x + np.zeros((4, 2, 3))),
    Case("add_zero", lambda x: x + 0, dtype="int64", differentiable=False),
    Case("add_zero", lambda x: x + ot.constant(0.0), dtype="float32", differentiable=False),
    Case("mul_one", lambda x: x * 1.0),
    Case("mul_one", lambda x: x[0] * np.ones((2, 3))),
    Case("mul_one", lambda x: ot.mul(x, 1, 1.0), dtype="int64", differentiable=False),
    Case("sub_zero", lambda x: x - 0.0),
    Case("div_one", lambda x: x / 1.0),
    Case("div_one", lambda x: x / 1, dtype="int64", differentiable=False),
    Case("pow_one_or_two", lambda x: x**2),
    Case("pow_one_or_two", lambda x: x**1),
    Case("pow_one_or_two", lambda x: x**2.0, dtype="int64", differentiable=False),
    Case("neg_neg", lambda x: ot.neg(ot.neg(x))),
    Case("reciprocal_reciprocal", lambda x: ot.reciprocal(ot.reciprocal(x)), low=0.5),
    Case("switch_constant", lambda x: ot.switch(True, x, -x)),
    Case("switch_constant", lambda x: ot.switch(np.zeros(3), x, ot.sin(x))),
    Case("switch_constant", lambda x: _both_branches(x, x[0])),
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
    Case("log_one_plus", lambda x: ot.log(1 + x), low=-0.5),
    Case("log_one_plus", lambda x: ot.log(ot.add(x, 1.0, x)), low=0.0),
    Case("log_one_minus", lambda x: ot.log(1 - x), low=-1.0, high=0.5),
    Case("log_one_minus", lambda x: ot.log(1 - ot.sigmoid(x))),
    Case("log1p_exp", lambda x: ot.log1p(ot.exp(x))),
    Case("log1p_exp", lambda x: ot.log1p(-ot.exp(x)), low=-2.0, high=-0.1),
    Case("log1p_exp", lambda x: ot.log1p(-ot.sigmoid(x))),
    Case("log_sigmoid", lambda x: ot.log(ot.sigmoid(x))),
    Case("exp_minus_one", lambda x: ot.exp(x) - 1),
    Case("exp_minus_one", lambda x: 1 - ot.exp(x)),
    Case("one_minus_sigmoid", lambda x: 1 - ot.sigmoid(x)),
    Case("one_minus_erf", lambda x: 1 - ot.erf(x)),
    Case("one_minus_erf", lambda x: 1 - ot.erfc(x)),
    Case("logistic", lambda x: 1 / (1 + ot.exp(-x))),
    Case("logistic", lambda x: ot.exp(x) / (1 + ot.exp(x))),
    Case("logistic", lambda x: ot.reciprocal(1 + ot.exp(x))),
    Case("logistic", lambda x: ot.sin(x) / (ot.exp(x) + 1)),
    Case("logistic", lambda x: ot.constant(np.full((4, 2, 3), 5.0)) / (ot.exp(x) + 1)),
    Case("exp_times_sigmoid", lambda x: ot.exp(x) * ot.sigmoid(-x)),
    Case("exp_times_sigmoid", lambda x: (x * ot.sigmoid(-x)) * (ot.exp(x) * 3.0)),
    Case("cancel_division", lambda x: _times_itself(x, ot.exp(x))),
    Case("cancel_division", lambda x: _negated_times_itself(x, ot.exp(x))),
    Case("zero_branch_sinks", lambda x: ot.switch(x > 0, ot.sin(x), 0.0) * x),
    Case("zero_branch_sinks", lambda x: ot.exp(x) * ot.switch(x > 0, 0.0, x)),
    Case("zero_branch_sinks", lambda x: ot.switch(x > 1, x, 0.0) / ot.exp(x)),
    Case("sqrt_of_square", lambda x: ot.sqrt(ot.sqr(x)), low=0.1),
    Case("sum_of_sum", lambda x: x.sum(0).sum(1), shapes=((2, 3, 4),)),
    Case("sum_of_sum", lambda x: x.sum(1).sum(), shapes=((2, 3, 4),)),
    Case("reduce_over_nothing", lambda x: ot.sum(x, axis=())),
    Case("log_sum_exp", lambda x: ot.log(ot.exp(x).sum(1))),
    Case("log_sum_exp", lambda x: ot.log(ot.exp(x).sum())),
    Case("log_of_softmax", lambda x: ot.log(ot.softmax(x, 1))),
    Case("exp_over_its_sum", lambda x: _divided(ot.exp(x), 1)),
    Case("exp_over_its_sum", lambda x: _divided(ot.exp(x), 0)),
    Case("exp_over_its_sum", lambda x: _divided(ot.exp(x), None)),
    Case("length_from_inputs", lambda x: x * ot.shape_i(ot.exp(x).T, 0)),
    Case("length_from_inputs", lambda x: x * ot.join(0, x, x).shape[0]),
    Case("shape_of_lengths", lambda x: x[:, :2] * ot.shape(ot.exp(x))),
    Case("dimshuffle_of_dimshuffle", lambda x: ot.sin(x.T.T)),
    Case("dimshuffle_of_dimshuffle", lambda x: x.dimshuffle("x", 1, 0).dimshuffle(2, 1)),
    Case("reshape_of_reshape", lambda x: x.reshape((3, 2)).reshape((6,))),
    Case("reshape_of_reshape", lambda x: x.reshape((x.shape[0] * 3,)).reshape((-1, 2))),
    Case(
        "specify_what_is_known",
        lambda x: ot.SpecifyShape((2, 3), (False, False))(
            ot.SpecifyShape((2, 3), (False, False))(x)
        ),
    ),
]


def _both_branches(x: Any, value: Any) -> Any:
    return ot.switch(x > 0, value, value)


def _times_itself(x: Any, d: Any) -> Any:
    return ((x / d) * 3.0) * d


def _negated_times_itself(x: Any, d: Any) -> Any:
    return -(x / d) * d


def _divided(power: Any, axis: Any) -> Any:
    return power / power.sum(axis=axis, keepdims=axis is not None)


def arguments(case: Case, seed: int) -> list[Any]:
    generator = np.random.default_rng(seed)
    drawn = [generator.uniform(case.low, case.high, s) for s in case.shapes]
    return [
        np.asarray(np.rint(a) if case.dtype.startswith("int") else a, case.dtype) for a in drawn
    ]


def symbolic(case: Case) -> tuple[list[Any], Any]:
    inputs = [ot.TensorType(case.dtype, (None,) * len(s)).make_variable() for s in case.shapes]
    return inputs, case.build(*inputs)


@pytest.mark.parametrize("rule", RULES, ids=str)
def test_every_rule_has_a_case_and_states_its_law(rule: NodeRewriter) -> None:
    assert any(c.rule == rule.name for c in CASES)
    assert rule.__doc__


@pytest.mark.parametrize("case", CASES, ids=lambda c: c.rule)
def test_a_rule_fires_and_keeps_value_gradient_dtype_and_shape(case: Case) -> None:
    (rule,) = [r for r in RULES if r.name == case.rule]
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
    for seed in range(DRAWS):
        values = arguments(case, seed)
        expected = og.evaluate(output, dict(zip(inputs, values, strict=True)))
        found = og.evaluate(rewritten, dict(zip(graph.inputs, values, strict=True)))
        assert found.dtype == expected.dtype
        assert found.shape == expected.shape
        tolerance = 1e-6 if case.dtype == "float32" else 1e-11
        np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance)
        if case.differentiable:
            for a, b, value in zip(before, after, values, strict=True):
                wanted = og.evaluate(a, dict(zip(inputs, values, strict=True)))
                got = og.evaluate(b, dict(zip(graph.inputs, values, strict=True)))
                assert got.shape == value.shape
                np.testing.assert_allclose(got, wanted, rtol=1e-9, atol=1e-9)


REFUSED = [
    ("mul_one", lambda x: x * 2.0),
    ("add_zero", lambda x: x + 1.0),
    ("cast_of_cast", lambda x: ot.cast(ot.cast(x, "float32"), "float64")),
    ("log_one_plus", lambda x: ot.log(2 + x)),
    ("sum_of_sum", lambda x: ot.sum(ot.sum(x, 0, dtype="float32"))),
    (
        "exp_over_its_sum",
        lambda x: ot.exp(x) / ot.exp(x).sum(0, keepdims=True).T.sum(0, keepdims=True),
    ),
    ("dimshuffle_of_dimshuffle", lambda x: ot.exp(x.T)),
    ("sqrt_of_square", lambda x: ot.sqrt(ot.sqr(ot.cast(x, "int64")))),
]


@pytest.mark.parametrize(("name", "build"), REFUSED, ids=[r[0] for r in REFUSED])
def test_a_rule_leaves_alone_what_its_law_does_not_cover(name: str, build: Any) -> None:
    (rule,) = [r for r in RULES if r.name == name]
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
