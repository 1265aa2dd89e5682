"""Every rule by itself, on inputs drawn from its pattern: it applies and preserves value, gradient, dtype and shape."""

from __future__ import annotations

import importlib.util
import os
from typing import Any

import numpy as np
import pytest

import occelo_graph as og
from occelo_graph import tensor as ot
from occelo_rewrite import NodeRewriter, in2out, rewrite_graph
from occelo_rewrite.examples.case import Case, standard_rules
from occelo_testing.rules.cases import CASES

DRAWS = 200 if os.environ.get("HYPOTHESIS_PROFILE") == "thorough" else 20
RULES = standard_rules()


def arguments(case: Case, seed: int) -> list[Any]:
    generator = np.random.default_rng(seed)
    drawn = [generator.uniform(case.low, case.high, s) for s in case.shapes]
    return [
        np.asarray(np.rint(a) if case.dtype.startswith("int") else a, case.dtype) for a in drawn
    ]


def symbolic(case: Case) -> tuple[list[Any], Any]:
    inputs = [ot.TensorType(case.dtype, (None,) * len(s)).make_variable() for s in case.shapes]
    return inputs, case.build(*inputs)


TESTED_APART = {
    "sharpened_types": "below: needs a graph which is being changed",
    **dict.fromkeys(
        ("dead_draw", "read_through_draw", "dimshuffle_of_draw", "size_into_parameters"),
        "compile/test_random_generators.py: the graph has generators for inputs",
    ),
    **dict.fromkeys(
        (
            *("parts_of_parts", "stay_in_place", "count_places", "drop_stated"),
            *("product_with_symmetric", "solution_with_symmetric"),
        ),
        "sparse/test_facts.py: sparse matrices are no arrays",
    ),
}
"""Rules whose graphs are no functions of arrays, and where they are tested."""
WITH_FACTS = {
    *(
        "batched_product_of_orthogonal",
        "batched_product_with_diagonal",
        "batched_product_with_selection",
    ),
    *("cheapest_order", "product_of_orthogonal"),
}
"""Core rules whose cases have facts about matrices, or functions, of the family of linear algebra."""


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
    assert rule.__doc__
    if rule.name in WITH_FACTS and importlib.util.find_spec("occelo_linalg") is None:
        pytest.skip("its case needs occelo_linalg, which is not installed")
    assert rule.name in TESTED_APART or any(c.rule == rule.name for c in CASES)


@pytest.mark.measured(1)
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


def _less_its_largest(x: Any) -> Any:
    return x - x.max(0)


def _two_columns_written(x: Any, first: slice, second: slice, start: Any) -> Any:
    target = ot.specify_shape(start, (2, 3))
    once = ot.inc_subtensor(target[:, first], ot.specify_shape(x, (2, 3))[:, first])
    return ot.inc_subtensor(once[:, second], ot.specify_shape(x, (2, 3))[:, second])


REFUSED = [
    (
        "writes_of_all_slices",
        lambda x: _two_columns_written(x, slice(0, 1), slice(2, 3), ot.zeros((2, 3))),
    ),
    (
        "writes_of_all_slices",
        lambda x: _two_columns_written(x, slice(0, 2), slice(1, 3), ot.zeros((2, 3))),
    ),
    ("writes_of_all_slices", lambda x: _two_columns_written(x, slice(0, 1), slice(1, 3), x + 1.0)),
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
    ("extreme_of_monotone", lambda x: ot.sqrt(x).max(0)),
    ("extreme_of_monotone", lambda x: ot.exp(x).sum(0)),
    ("extreme_of_monotone", lambda x: _less_its_largest(ot.exp(x))),
    ("extreme_of_monotone", lambda x: og.grad(ot.exp(x).max(), x)),
    ("extreme_of_monotone", lambda x: (-ot.cast(x, "int8")).max(0)),
]


@pytest.mark.parametrize(("name", "build"), REFUSED, ids=[r[0] for r in REFUSED])
def test_a_rule_leaves_alone_what_its_law_does_not_cover(name: str, build: Any) -> None:
    rule = RULES[name]
    x = ot.dmatrix("x")
    graph = og.FunctionGraph([x], [build(x)])
    assert not in2out(rule).rewrite(graph).applications


@pytest.mark.parametrize("dtype", ["int8", "uint64", "float16", "float32", "float64"])
@pytest.mark.parametrize("reduce", ["max", "min"])
@pytest.mark.parametrize("name", ["exp", "erfc", "neg", "trunc", "softplus"])
def test_extremes_of_monotone_functions(name: str, reduce: str, dtype: str) -> None:
    x = ot.TensorType(dtype, (None, None))("x")
    inner = getattr(ot, name)(x)
    out = getattr(ot, reduce)(inner, axis=0)
    graph = og.FunctionGraph([x], [out], clone=True)
    fired = bool(in2out(RULES["extreme_of_monotone"]).rewrite(graph).applications)
    assert fired == inner.dtype.startswith("float")
    values = np.array([[-3, 0, 7], [2, 0, 7], [1, -5, 100]])
    values = np.abs(values) if dtype == "uint64" else values
    given = [values.astype(dtype)]
    if dtype.startswith("float"):
        odd = given[0].copy()
        odd[:, 0], odd[1, 1], odd[1:, 2] = np.nan, -np.inf, (np.inf, -np.inf)
        given.append(odd)
    for value in given:
        with np.errstate(all="ignore"):
            expected = getattr(np, reduce)(inner.eval({x: value}), axis=0)
            (found,) = og.evaluate(graph.outputs, {graph.inputs[0]: value})
        assert found.dtype == expected.dtype
        np.testing.assert_allclose(found, expected, rtol=4 * float(np.finfo("float16").eps) / 2**13)
    empty = np.ones((0, 3), dtype)
    for outputs, start in ((out, x), (graph.outputs[0], graph.inputs[0])):
        with pytest.raises(ValueError, match="zero-size array"):
            og.evaluate(outputs, {start: empty})


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


@pytest.mark.parametrize(
    "first", [slice(None, -2), slice(None, None, -1), slice(1, None), slice(None, None, 2)]
)
def test_a_part_of_a_part_between_variables(first: slice) -> None:
    i, j = ot.lscalars("i", "j")
    x = ot.TensorType("float64", (5,)).make_variable("x")
    keys = [slice(i, 2, j), slice(i, None), slice(None, i), slice(None, None, j), slice(0, i, -1)]
    rewritten = rewrite_graph([x[first][key] for key in keys], include=("fast_run",))
    value = np.arange(5.0)
    for a in (-1, 0, 1):
        for b in (-1, 1, 2):
            found = og.evaluate(rewritten, {x: value, i: a, j: b})
            part = value[first]
            expected = [part[a:2:b], part[a:], part[:a], part[::b], part[0:a:-1]]
            for one, other in zip(found, expected, strict=True):
                np.testing.assert_array_equal(one, other)


def test_what_says_that_a_length_is_1_is_kept_where_that_is_needed() -> None:
    """A broadcast to length 1 is all that tells the product that its factor broadcasts."""
    x = ot.TensorType("float64", (None, 2)).make_variable("x")
    m = ot.dmatrix("m")
    row = ot.broadcast_to(x, (1, 2))
    outputs = [m * row, ot.minimum(m, ot.exp(row)), ot.concatenate([x, x]) + ot.exp(row)]
    rewritten = rewrite_graph(outputs, include=("fast_run",))
    value, matrix = np.array([[1.0, 2.0]]), np.arange(6.0).reshape(3, 2)
    found = og.evaluate(rewritten, {x: value, m: matrix})
    np.testing.assert_allclose(found[0], matrix * value)
    np.testing.assert_allclose(found[1], np.minimum(matrix, np.exp(value)))
    np.testing.assert_allclose(found[2], np.concatenate([value, value]) + np.exp(value))


def test_a_product_that_is_broadcast_when_it_is_added() -> None:
    """No update of BLAS adds a vector to each row."""
    x = ot.TensorType("float64", (5, 3)).make_variable("x")
    m, v = ot.dmatrix("m"), ot.dvector("v")
    given = {x: np.ones((5, 3)), m: np.arange(15.0).reshape(3, 5), v: np.arange(5.0)}
    found = og.evaluate(rewrite_graph(x + m @ v, include=("fast_run",)), given)
    np.testing.assert_array_equal(found, given[x] + given[m] @ given[v])


def test_a_length_that_only_an_assertion_tells_stays_asserted() -> None:
    """Nothing converges that takes away what the type of the replaced tensor asks for."""
    x = ot.TensorType("int64", (None, 1)).make_variable("x")
    empty = x * ot.repeat(x, 0, axis=None)
    outputs = ot.stack([ot.neq(empty, empty)] * 3, axis=1)
    found = og.evaluate(
        rewrite_graph(outputs, include=("fast_run",)), {x: np.ones((4, 1), "int64")}
    )
    assert found.shape == (4, 3, 0)
