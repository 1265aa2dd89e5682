"""Rules, facts and lowerings of other packages that could never apply are refused when they are registered."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from occelo_graph import tensor as ot
from occelo_graph.ops.reduce import Softmax
from occelo_link import (
    lowers_complex_to_loops,
    lowers_parts_to_loops,
    lowers_scalar_to_loops,
    lowers_to_loops,
    traces,
    traces_parts,
    traces_scalar,
)
from occelo_rewrite import OpPattern, call, infers, node_rewriter, wild

x = wild("x")
OF_CLASSES: list[tuple[Callable[..., Any], int]] = [
    (lambda cls: node_rewriter([cls]), 2),
    (lambda cls: infers("positive", cls), 2),
    (lambda cls: call(cls, x), 0),
    (lambda cls: OpPattern(cls), 0),
    (lowers_to_loops, 3),
    (lowers_complex_to_loops, 3),
    (lowers_parts_to_loops, 3),
    (traces, 3),
    (traces_parts, 3),
]
"""How something is registered for a class of ops, and the number of arguments that its function gets."""
FUNCTIONS: list[Callable[..., Any]] = [
    lambda: None,
    lambda a: None,
    lambda a, b: None,
    lambda a, b, c: None,
    lambda a, b, c, d: None,
    lambda a, *, needed: None,
]


def make(decorate: Callable[..., Any], subject: Any, function: Any, count: int) -> None:
    found = decorate(subject)
    if count:
        found(function)


@pytest.mark.parametrize(("decorate", "count"), OF_CLASSES)
def test_what_is_no_class_of_ops_is_refused(decorate: Any, count: int) -> None:
    function = FUNCTIONS[count]
    for wrong in ("Softmax", np.exp, int, ot.exp.scalar_op, None):
        with pytest.raises(TypeError, match="is for classes of ops, not for"):
            make(decorate, wrong, function, count)
    if decorate in (lowers_to_loops, traces):
        with pytest.raises(TypeError, match=r"for elementwise functions use .*scalar"):
            make(decorate, ot.exp, function, count)


@pytest.mark.parametrize(("decorate", "count"), [row for row in OF_CLASSES if row[1]])
def test_functions_of_other_arguments_are_refused(decorate: Any, count: int) -> None:
    class Own(Softmax):
        pass

    for number, function in enumerate(FUNCTIONS):
        if number != count:
            with pytest.raises(TypeError, match=r"is called with .*, which .*<lambda> cannot take"):
                decorate(Own)(function)
    for function in (FUNCTIONS[count], lambda *args: None, lambda a, b, c=1, d=2: None):
        assert decorate(Own)(function) is not None


def test_names_that_mean_nothing_are_refused() -> None:
    for decorate in (lowers_scalar_to_loops, traces_scalar):
        with pytest.raises(ValueError, match="no scalar function 'nothing'"):
            decorate("nothing")(lambda a, b, c: None)
        with pytest.raises(TypeError, match="none is given"):
            decorate()(lambda a, b, c: None)
    with pytest.raises(TypeError, match="the builder, the dtype, the arguments"):
        lowers_scalar_to_loops("tan")(lambda builder, dtype: None)
    with pytest.raises(TypeError, match="is called with the arrays, x1, x2"):
        traces_scalar("arctan2")(lambda arrays, x: x)
    with pytest.raises(ValueError, match="jax or pytorch, not for 'tpu'"):
        traces_scalar("tan", backend="tpu")(lambda arrays, x: x)
    with pytest.raises(ValueError, match="no fact 'nothing'; there are diagonal"):
        infers("nothing", Softmax)(lambda node, ask: None)
    with pytest.raises(ValueError, match="counted from the first"):
        infers("positive", Softmax, output=-1)(lambda node, ask: None)
    with pytest.raises(ValueError, match="Softmax has no field 'axes'"):
        OpPattern(Softmax, (("axes", 1),))
    for none in (lambda: traces()(FUNCTIONS[3]), lambda: infers("positive")(FUNCTIONS[2])):
        with pytest.raises(TypeError, match="none is given"):
            none()
    with pytest.raises(TypeError, match="None is for all"):
        node_rewriter([])(FUNCTIONS[2])
    with pytest.raises(TypeError, match=r"computes the inputs .* not for 'exp'"):
        node_rewriter([Softmax], below=["exp"])(FUNCTIONS[2])
