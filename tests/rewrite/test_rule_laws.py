"""Every registered rule by itself, at random types and values, against what its tags promise.

The draws have lengths of 1 and 0, static or dynamic, all dtypes, NaN, infinities, signed zeros, the ends of the range and
subnormals. The outputs are the value alone, with its gradient, or with its intermediate values. The reference is the
original graph in the interpreter.
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import pytest

import occelo_graph as og
from occelo_graph import tensor as ot
from occelo_graph.config import config
from occelo_graph.ops.control import CheckAndRaise
from occelo_rewrite import node_rewriter, optimizer_query, rewriter_for
from occelo_rewrite.examples.case import Case, drawn_cases, standard_rules
from occelo_rewrite.examples.mixed_dtypes import MIXED
from occelo_testing.rules.cases import CASES
from occelo_testing.rules.draws import DTYPES, KINDS, SINGULAR, draw
from occelo_testing.rules.laws import LawBroken, try_law

TRIALS = 400 if os.environ.get("HYPOTHESIS_PROFILE") == "thorough" else 12
RULES = standard_rules()
TESTED_ELSEWHERE = {"sharpened_types"}
"""Rules that need a graph which is being changed."""


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", [n for n in RULES if n not in TESTED_ELSEWHERE])
def test_a_rule_keeps_what_its_tags_promise(name: str) -> None:
    cases = [c for c in (*CASES, *MIXED) if c.rule == name]
    fired = [sum(try_law(RULES[name], draw(c, seed)) for seed in range(TRIALS)) for c in cases]
    assert all(fired)
    if not any(c.wildcards for c in cases):
        # some laws hold only for part of what their pattern matches, so these need not apply
        for case in drawn_cases(RULES[name]):
            for seed in range(TRIALS * 2):
                try_law(RULES[name], draw(case, seed))


def test_draws_reach_all_dtypes_lengths_and_kinds_of_values() -> None:
    case = Case("rule", lambda *inputs: ot.add(*inputs), shapes=((2, 3), (2, 3)), wildcards=True)
    draws = [draw(case, seed) for seed in range(1000)]
    assert {d for each in draws for d in each.dtypes} == set(DTYPES)
    assert {each.kind for each in draws} == set(KINDS)
    assert {n for each in draws for own in each.lengths for n in own} >= {0, 1, 2, 3}
    unknown = [
        pair
        for each in draws
        for own, lengths in zip(each.static, each.lengths, strict=True)
        for pair in zip(own, lengths, strict=True)
    ]
    assert {(None, 0), (None, 1), (0, 0), (1, 1), (3, 3)} <= set(unknown)
    values = [v for each in draws for v in each.values() if v.size]
    floats = [v for v in values if v.dtype.kind == "f"]
    assert any(np.isnan(v).any() for v in floats)
    assert any(np.isinf(v).any() for v in floats)
    assert any((np.signbit(v) & (v == 0)).any() for v in floats)
    assert any((np.abs(v[v != 0]) < np.finfo(v.dtype).tiny).any() for v in floats)
    assert any((v == np.finfo(v.dtype).max).any() for v in floats)
    integers = [v for v in values if v.dtype.kind in "iu"]
    assert any((v == np.iinfo(v.dtype).min).any() for v in integers)
    assert any((v == np.iinfo(v.dtype).max).any() for v in integers)


def _through_float32(v: Any) -> Any:
    return _square(v.astype("float32")).astype(v.dtype) if v.type.dtype == "float64" else v * v


def _square(v: Any) -> Any:
    return ot.mul(v, v)


WRONG: list[tuple[str, Any, tuple[str, ...]]] = [
    ("another function", lambda v: ot.mul(v, ot.abs(v)), ("rounding",)),
    ("a narrower dtype", _through_float32, ("rounding", "overflow", "finite")),
    ("the last digits", lambda v: _square(v * 3) / 9, ()),
    ("what overflows", lambda v: _square(v * 4) * 0.0625, ("rounding",)),
    ("what cancels", lambda v: (_square(v) + 1.0) - 1.0, ("rounding", "overflow")),
    ("what is not finite", lambda v: _square(v) + 0 * v, ("rounding",)),
    ("the sign of a zero", lambda v: ot.neg(ot.sub(0.0, _square(v))), ()),
    ("the shape", lambda v: _square(v)[:1], ("rounding", "shape_unsafe")),
    ("where it is empty", lambda v: _square(v) + ot.max(v) * 0, ("finite", "rounding")),
    ("digits that it has", lambda v: (_square(v) + 1e6) - 1e6, ("stabler",)),
]


def _tried(rule: Any, case: Case, fits: Any = lambda drawn: True) -> str:
    """What is told of the first law that a rule breaks."""
    for seed in range(300):
        drawn = draw(case, seed)
        if fits(drawn):
            try:
                try_law(rule, drawn)
            except LawBroken as error:
                return str(error)
    return ""


@pytest.mark.parametrize(("law", "tags"), [w[1:] for w in WRONG], ids=[w[0] for w in WRONG])
def test_a_rule_that_changes_what_its_tags_do_not_allow_is_found(law: Any, tags: Any) -> None:
    @node_rewriter([ot.sqr], name="wrong", tags=tags)
    def wrong(fgraph: Any, node: Any) -> Any:
        made = law(node.inputs[0])
        return [made] if made.type.dtype == node.outputs[0].type.dtype else None

    assert _tried(wrong, Case("wrong", ot.sqr, wildcards=True))


def test_a_rule_that_hides_that_shapes_do_not_fit_is_found() -> None:
    def hiding(*tags: str) -> Any:
        @node_rewriter([ot.second], name="hiding", tags=tags)
        def law(fgraph: Any, node: Any) -> Any:
            return [node.inputs[1]] if node.inputs[1].type.ndim == 2 else None

        return law

    def spans(drawn: Any) -> bool:
        return all(len(s) == 2 and 1 not in s for s in drawn.static)

    case = Case("hiding", ot.second, shapes=((2, 3), (2, 3)), wildcards=True)
    assert "hides" in _tried(hiding(), case, spans)
    assert not _tried(hiding("shape_unsafe"), case, spans)


ERRORS = [
    (np.linalg.LinAlgError, "singular", ("unsafe", "shape_unsafe")),
    (ValueError, "shape_unsafe", ("singular",)),
    (AssertionError, "unsafe", ("singular", "shape_unsafe")),
    (IndexError, "unsafe", ("singular", "shape_unsafe")),
]


@pytest.mark.parametrize(("error", "right", "wrong"), ERRORS, ids=lambda v: str(v))
def test_only_the_tag_for_its_class_lets_a_rule_hide_an_error(
    error: Any, right: str, wrong: tuple[str, ...]
) -> None:
    def hiding(tags: tuple[str, ...]) -> Any:
        @node_rewriter([CheckAndRaise], name="hiding", tags=tags)
        def law(fgraph: Any, node: Any) -> Any:
            return [node.inputs[0]]

        return law

    case = Case("hiding", lambda x: CheckAndRaise(error, "negative")(x, ot.all(ot.ge(x, 0))))
    assert "hides" in _tried(hiding(wrong), case)
    assert not _tried(hiding((right,)), case)


def test_singular_draws_make_rows_vanish() -> None:
    case = Case("rule", ot.neg, shapes=((3, 3),), vanishing=(-20.0,))
    draws = [each for each in (draw(case, seed) for seed in range(300)) if each.kind == SINGULAR]
    values = [v.astype("complex128") for each in draws for v in each.values() if v.shape == (3, 3)]
    singular = [(v * 0.1 + 2 * np.eye(3) == 0).all(axis=1).any() for v in values]
    assert any(singular)
    assert not all(singular)


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int32", "int64", "uint64"])
def test_numbers_at_the_ends_of_a_range_wrap_around_as_they_are_written(dtype: str) -> None:
    x = ot.TensorType(dtype, (None,)).make_variable()
    info = np.iinfo(dtype)
    value = np.array([info.min, 0, 1, info.max], dtype)
    rewriter = rewriter_for(optimizer_query("o3"))
    ends = [ot.constant(np.asarray(n, dtype)) for n in (info.min, info.max, info.max // 2 + 1, 1)]
    for a in ends:
        for b in ends:
            built = [
                x * a + x * b,
                x * a - x * b,
                (x + a) - b,
                ot.neg(x * a) - b,
                (x * a) * b,
                x - (a - x * b),
            ]
            graph = og.FunctionGraph([x], built, clone=True)
            with config.change_flags(on_opt_error="raise"):
                rewriter.rewrite(graph)
            found = og.evaluate(list(graph.outputs), {graph.inputs[0]: value})
            for one, other in zip(found, og.evaluate(built, {x: value}), strict=True):
                np.testing.assert_array_equal(one, other)
