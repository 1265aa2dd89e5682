"""Formulas that `pprint` prints: as expressions of `occelo.tensor` they compute what the graph computes."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import occelo_graph as og
from occelo_graph import tensor as ot
from occelo_linalg import functions as linalg
from occelo_testing.checks import symbolic
from occelo_testing.examples import EXAMPLES, Example
from occelo_testing.programs.trying import RandomGraph, on_random_graphs

settings.register_profile(
    "ci", max_examples=60, derandomize=True, deadline=None, suppress_health_check=list(HealthCheck)
)
settings.register_profile(
    "thorough", max_examples=2000, deadline=None, suppress_health_check=list(HealthCheck)
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))

SPACE: dict[str, Any] = {name: getattr(ot, name) for name in dir(ot) if name[0].islower()}
SPACE["linalg"] = linalg
DTYPES = ("float64", "float32", "int64", "int8", "bool")

x, y = ot.dvectors("x", "y")
m = ot.dmatrix("m")
n = ot.lscalar("n")
f = ot.fvector("f")
INPUTS = {"x": x, "y": y, "m": m, "n": n, "f": f}
VALUES = {
    x: np.array([0.5, -1.5, 2.0]),
    y: np.array([1.5, 0.25, -3.0]),
    m: np.array([[1.0, 2.0, -3.0], [0.5, 0.1, 7.0], [4.0, -5.0, 6.0]]),
    n: np.int64(2),
    f: np.float32([0.1, 2.0, 3.0]),
}


def evaluated(text: str, inputs: dict[str, Any]) -> Any:
    return eval(text, dict(SPACE), dict(inputs))


def check(printed: Any, text: str, inputs: dict[str, Any], values: dict[Any, Any]) -> None:
    again = evaluated(text, inputs)
    assert again.type.dtype == printed.type.dtype, text
    with np.errstate(all="ignore"):
        expected, found = og.evaluate([printed, again], values)
    np.testing.assert_array_equal(found, expected, err_msg=text)


@pytest.mark.parametrize(
    "text",
    [
        "x[1:]", "x[::-1]", "x[n]", "m[1:, 0]", "m[n - 1, :2]", "m[[0, 1]]", "m[:, [0, 1]]", "x[x > 0.0]",
        "x[1:].set(y[1:])", "x[:n].inc(y[:n])", "sum(x, axis=0)", "sum(m)", "sum(m, axis=1)", "max(m, axis=0)",
        "mean(m, axis=0)", "mean(m)", "mean(x)", "mean(m, axis=1, keepdims=True)", "all(x > 0.0, axis=0)",
        "argmax(m, axis=1)", "cumsum(x, axis=0)", "softmax(x, axis=0)", "logsumexp(m, axis=1)",
        "y * (m @ y)", "(y * m) @ y", "m @ m.T @ y", "x * (y % x)", "x * y % x", "x % y // x", "x - (y - x)",
        "x / (y / x)", "x / y / x", "-x ** 2.0", "(-x) ** 2.0", "x ** -y", "x ** y ** x", "(x ** y) ** x", "-(x * y)",
        "(x < y) > (y < x)", "(x < y) & (x > 0.0)", "eq(x, y)", "neq(x, eq(x, y))", "2.0 - x", "2.0 ** x", "x + -2.0",
        "f * 2.5", "f * constant(2.5)", "x + constant([1.0, 2.0, 3.0])", "exp(constant(2.0))", "m + x", "m.T + x",
        "m + x.dimshuffle(0, 'x')", "(m + 1.0)[1:]", "exp(m).T", "cast(x, 'float32')", "x.reshape([n + 1, -1])",
        "concatenate([x, y], axis=0)", "arange(0, n, 1, dtype='int64')", "eye(n, 3, 1, dtype='float64')",
        "alloc(x, [n, 3])", "ifelse(n > 0, x, y)", "switch(x < y, x, 0.0)", "clip(x, 0.0, 1.0)", "m.shape[1] * n",
        "nonzero(x)[0]", "nonzero(m)[1]", "diag(x, 1)", "specify_shape(x, [n + 1])", "x + float(\"inf\")",
        "switch(x > 0.0, f, constant(1.5))", "n + constant(2, dtype='int8')", "exp(tensor_copy(x))",
    ],
)  # fmt: skip
def test_formulas_print_as_they_are_written(text: str) -> None:
    printed = evaluated(text, INPUTS)
    assert og.pprint(printed) == text.replace("m @ m.T @ y", "(m @ m.T) @ y")
    check(printed, og.pprint(printed), INPUTS, VALUES)


_BINARY = ("+", "-", "*", "/", "//", "%", "**", "@", "<", "<=", ">", ">=")


@st.composite
def sources(draw: st.DrawFn, depth: int = 4) -> str:
    """An expression of Python with all its parentheses, of vectors and scalars."""
    kind = draw(st.sampled_from(["leaf", "binary", "binary", "binary", "call", "unary"]))
    if depth == 0 or kind == "leaf":
        leaves = ["x", "y", "f", "n", "sum(x)", "mean(y)", "2.0", "-1.5", "3", "m[0]", "x[::-1]"]
        return draw(st.sampled_from(leaves))
    one = draw(sources(depth - 1))
    if kind == "unary":
        return f"(-({one} + x))"
    if kind == "call":
        name = draw(st.sampled_from(["exp", "abs", "maximum", "eq", "mean", "sum", "switch"]))
        if name in ("maximum", "eq"):
            return f"{name}({one}, {draw(sources(depth - 1))})"
        return (
            f"switch({one}, {draw(sources(depth - 1))}, y)"
            if name == "switch"
            else f"{name}({one})"
        )
    return f"({one} {draw(st.sampled_from(_BINARY))} {draw(sources(depth - 1))})"


@given(sources())
def test_operators_keep_their_order(source: str) -> None:
    try:
        with np.errstate(all="ignore"):
            printed = evaluated(f"x + {source}", INPUTS)
    except (TypeError, ValueError, ZeroDivisionError, OverflowError):
        return
    check(printed, og.pprint(printed), INPUTS, VALUES)


@on_random_graphs(dtypes=DTYPES)
def test_formulas_of_random_graphs_evaluate_to_the_same_values(graph: RandomGraph) -> None:
    inputs = {v.name: v for v in graph.inputs}
    for printed in graph.outputs:
        if printed.owner is not None:
            check(printed, og.pprint(printed), inputs, graph.given())


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda e: e.name)
def test_formulas_of_all_ops_are_right_or_no_expressions(example: Example) -> None:
    inputs, output = symbolic(example)
    for number, each in enumerate(inputs):
        each.name = f"v{number}"
    for printed in output if isinstance(output, list | tuple) else [output]:
        text = og.pprint(printed)
        if "(...)" in text:
            continue  # it would be too long, and is cut short
        try:
            evaluated(text, {v.name: v for v in inputs})
        except (SyntaxError, NameError):
            continue
        values = dict(zip(inputs, example.arguments, strict=True))
        check(printed, text, {v.name: v for v in inputs}, values)
