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
from occelo_graph.inner_graph import OpFromGraph
from occelo_graph.ops.control.python_function import wrap_py
from occelo_printing import pprint
from occelo_testing.checks import symbolic
from occelo_testing.examples import EXAMPLES, Example
from occelo_testing.formulas import evaluated, same_values
from occelo_testing.programs.trying import RandomGraph, on_random_graphs

settings.register_profile(
    "ci", max_examples=60, derandomize=True, deadline=None, suppress_health_check=list(HealthCheck)
)
settings.register_profile(
    "thorough", max_examples=2000, deadline=None, suppress_health_check=list(HealthCheck)
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))

DTYPES = ("float64", "float32", "int64", "int8", "bool")

x, y = ot.dvectors("x", "y")
m = ot.dmatrix("m")
n = ot.lscalar("n")
f = ot.fvector("f")
INPUTS = {"x": x, "y": y, "m": m, "n": n, "f": f}
VALUES: dict[Any, Any] = {
    x: np.array([0.5, -1.5, 2.0]),
    y: np.array([1.5, 0.25, -3.0]),
    m: np.array([[1.0, 2.0, -3.0], [0.5, 0.1, 7.0], [4.0, -5.0, 6.0]]),
    n: np.int64(2),
    f: np.array([0.1, 2.0, 3.0], "float32"),
}


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
    assert pprint(printed) == text.replace("m @ m.T @ y", "(m @ m.T) @ y")
    same_values(printed, pprint(printed), INPUTS, VALUES)


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
    same_values(printed, pprint(printed), INPUTS, VALUES)


@on_random_graphs(dtypes=DTYPES)
def test_formulas_of_random_graphs_evaluate_to_the_same_values(graph: RandomGraph) -> None:
    inputs = {v.name: v for v in graph.inputs}
    for printed in graph.outputs:
        if printed.owner is not None:
            same_values(printed, pprint(printed), inputs, graph.given())


def by_op() -> dict[str, list[Example]]:
    found: dict[str, list[Example]] = {}
    for example in EXAMPLES:
        found.setdefault(example.name, []).append(example)
    return found


BY_OP = by_op()


def itself(inputs: Any, outputs: Any) -> Any:
    return outputs


def check_formulas(example: Example, derive: Any) -> None:
    inputs, output = symbolic(example)
    for number, each in enumerate(inputs):
        each.name = f"v{number}"
    values = dict(zip(inputs, example.arguments, strict=True))
    outputs: Any = [output] if isinstance(output, og.Variable) else output
    for printed in derive(inputs, outputs):
        same_values(printed, pprint(printed), {v.name: v for v in inputs}, values)


@pytest.mark.parametrize("name", BY_OP)
def test_formulas_of_all_ops_evaluate_to_the_same_values(name: str) -> None:
    for example in BY_OP[name]:
        check_formulas(example, itself)


@pytest.mark.sampled(60)
@pytest.mark.parametrize("name", [n for n, of in BY_OP.items() if any(e.gradient for e in of)])
def test_formulas_of_gradients_evaluate_to_the_same_values(name: str) -> None:
    for example in BY_OP[name]:
        positions = example.gradient

        def gradients(inputs: Any, outputs: Any, positions: Any = positions) -> Any:
            cost = sum(abs(o).sum() if o.type.is_complex else o.sum() for o in outputs)
            return og.grad(cost, [inputs[k] for k in positions], disconnected_inputs="ignore")

        if positions:
            check_formulas(example, gradients)


def test_long_and_shared_parts_have_lines() -> None:
    y = x
    for _ in range(60):
        y = ot.exp(y) * y
    text = pprint(y)
    assert len(text) < 20_000
    assert text.count("\n") > 2
    same_values(y, text, INPUTS, VALUES)
    deep = x
    for _ in range(300):
        deep = ot.sin(deep)
    same_values(deep, pprint(deep), INPUTS, VALUES)
    # a name that the graph has is not used again
    t0 = ot.dvector("t0")
    late = deep * t0
    assert "\nt1 = " in "\n" + pprint(late)
    same_values(late, pprint(late), {**INPUTS, "t0": t0}, {**VALUES, t0: VALUES[x]})


def test_parts_with_names_are_defined() -> None:
    z = ot.exp(x)
    z.name = "z"
    assert pprint(z * y) == "z = exp(x)\nz * y"
    assert pprint([z, z + y]) == "z = exp(x)\nexp(x)\nz + y"
    total = (z * y).sum()
    # no names of Python, a name that an input has, and names of functions
    for name in ("no name", "for", "x", "sum", "exp", "loop"):
        z.name = name
        same_values(total, pprint(total), INPUTS, VALUES)
    same_values(og.grad(total, x), pprint(og.grad(total, x)), INPUTS, VALUES)


def test_constants_of_many_elements() -> None:
    for size, evaluates in ((8, True), (9, True), (1000, True), (1001, False)):
        data = np.arange(float(size)) / 3.0
        printed = ot.sum(data * n)
        text = pprint(printed)
        assert (text.startswith("c0 = constant([0.0, 0.333")) is (9 <= size <= 1000)
        if evaluates:
            same_values(printed, text, INPUTS, VALUES)
        else:
            with pytest.raises(SyntaxError):
                evaluated(text, INPUTS)
    single = ot.sum(np.full(9, 0.1, "float32")) * f
    same_values(single, pprint(single), INPUTS, VALUES)


def test_values_that_are_stretched_to_a_part() -> None:
    """`set` and `inc` stretch them by themselves, other readers call the op."""
    part = x[n:]
    for printed in (
        x.at[n:].add(-part),
        x.dimshuffle("x", 0)[ot.stack([0]), ot.stack([n, n])],
    ):
        same_values(printed, pprint(printed), INPUTS, VALUES)
        gradient = og.grad(printed.sum(), x)
        same_values(gradient, pprint(gradient), INPUTS, VALUES)


def test_inner_graphs_are_functions() -> None:
    inner = OpFromGraph([x, n], [ot.exp(x) * n, x[n:]])
    first, second = inner(x * 2.0, n), inner(y, n)
    printed = first[0] + second[0] * second[1].sum()
    text = pprint(printed)
    assert text.startswith("def f0(i0, i1):\n    return exp(i0) * i1, i0[i1:]\n")
    assert text.count("def ") == 1
    same_values(printed, text, INPUTS, VALUES)
    z = x
    for _ in range(300):  # each graph holds the one before
        z = OpFromGraph([x], [z + 1.0])(x)
    again = evaluated(pprint(z), INPUTS)
    np.testing.assert_array_equal(og.evaluate(again, VALUES), VALUES[x] + 300.0)


def test_what_has_no_form_in_python_does_not_evaluate() -> None:
    own: Any = wrap_py([x.type], [x.type])(np.sort)
    for printed in (own(x), og.shared(np.zeros(3)) + x, ot.dvector() + x):
        with pytest.raises((SyntaxError, NameError)):
            evaluated(pprint(printed), INPUTS)
