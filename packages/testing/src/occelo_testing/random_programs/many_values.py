"""Laws of random programs that run with values other than those of the program: states that alias and swap, and
batches.

They are two of the `LAWS` in `laws`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from occelo_graph import shared, vectorize_graph
from occelo_testing.programs.program import Input, Program
from occelo_testing.programs.rounding import Expected, expected_results
from occelo_testing.random_programs.case import Case, Unsuited, Violation

_CALLS = 3


def _is_float(node: Any) -> bool:
    return isinstance(node, Input) and np.dtype(node.dtype).kind in "fc"


def _expected(
    program: Program, runs: int, values: Sequence[Any], outputs: Sequence[int]
) -> list[Expected] | None:
    """The results of NumPy for other values of the inputs; None if NumPy rejects them or a float is not finite."""
    if not all(np.isfinite(v).all() for v in values if v.dtype.kind in "fc"):
        return None
    try:
        return expected_results(replace(program, outputs=tuple(outputs)), runs, values)
    except (ValueError, IndexError, np.linalg.LinAlgError):
        return None  # values that decide lengths or positions have changed, or a matrix is singular


def aliases_and_swaps(case: Case, random: np.random.Generator) -> None:
    """States that exchange their values, take the same new value, or a view of another state, have NumPy's values
    after each of several calls, and so have the results.
    """
    program = case.program
    floats = [i for i in program.inputs if _is_float(program.nodes[i])]
    if not floats:
        raise Unsuited
    first = floats[int(random.integers(len(floats)))]
    values = dict(zip(program.inputs, program.values(), strict=True))
    node = program.nodes[first]
    assert isinstance(node, Input)
    states = [
        shared(np.array(v, order="C"), shape=node.shape)
        for v in (values[first], values[first][::-1] if values[first].ndim else values[first] / 2)
    ]
    variables = program.variables({first: states[0]})
    # what each state becomes: text for both sides, in which a and b are the states
    ways = ["(b, a)", "(b, b)", "(a, a)", "(a + b, a)", "(b, a * 0.5)"]
    if values[first].ndim:
        ways += ["(b[::-1], a)", "(a[::-1], a[::-1])", "(b, a[::-1])"]
    way = ways[int(random.integers(len(ways)))]
    news = eval(way, {"a": states[0], "b": states[1]})
    arguments = [i for i in program.inputs if i != first]
    outputs = [*(variables[i] for i in program.outputs), states[0], states[1]]
    f = case.compiled(
        [variables[i] for i in arguments], outputs, updates=list(zip(states, news, strict=True))
    )
    a, b = (s.get_value() for s in states)
    for call in range(_CALLS):
        values[first] = a
        oracle = _expected(program, case.runs, [values[i] for i in program.inputs], program.outputs)
        if oracle is None:
            if not call:
                raise Unsuited
            return
        results = case.called(f, [values[i] for i in arguments])
        case.compare(results[:-2], oracle)
        with np.errstate(all="ignore"):
            following = [np.array(v) for v in eval(way, {"a": a, "b": b})]
        actual = [*results[-2:], *(s.get_value() for s in states)]
        for name, one, right in zip(
            ("the first state", "the second state", "the new first state", "the new second state"),
            actual,
            (a, b, *following),
            strict=True,
        ):
            if not np.array_equal(one, right, equal_nan=True):
                raise Violation(
                    "value", f"updates {way}, call {call}: {name} is {one!r}, not {right!r}"
                )
        a, b = following


def batch_of_values(case: Case, random: np.random.Generator) -> None:
    """A program that is vectorized over a batch of different values has the results of a loop over the batch."""
    program = case.program
    chosen = [_is_float(program.nodes[i]) and random.random() < 0.7 for i in program.inputs]
    if not any(chosen):
        raise Unsuited
    count = int(random.integers(0, 4))
    values = program.values()
    factors = [1.0, 0.75, -1.0]
    items = [
        [
            np.asarray(v * v.dtype.type(factors[k])) if c else v
            for v, c in zip(values, chosen, strict=True)
        ]
        for k in range(count)
    ]
    oracles = [_expected(program, case.runs, item, program.outputs) for item in items]
    shapes = [e.value.shape for e in case.expected]
    if any(w is None or [e.value.shape for e in w] != shapes for w in oracles):
        raise Unsuited
    static = count if random.random() < 0.5 or count == 1 else None
    batches = {
        v: v.type.clone(shape=(static, *v.type.shape)).make_variable(f"{v.name}_batch")
        for v, c in zip(case.inputs, chosen, strict=True)
        if c
    }
    try:
        outputs = vectorize_graph(case.outputs, batches)
    except NotImplementedError as error:
        raise Unsuited from error
    except Exception as error:
        raise Violation("build", f"vectorize_graph: {type(error).__name__}: {error}") from error
    stacked = [
        np.stack([item[k] for item in items])
        if c and count
        else np.zeros((0, *v.shape), v.dtype)
        if c
        else v
        for k, (v, c) in enumerate(zip(values, chosen, strict=True))
    ]
    results = case.called(case.compiled([batches.get(v, v) for v in case.inputs], outputs), stacked)
    batched = [b.type.ndim > o.type.ndim for b, o in zip(outputs, case.outputs, strict=True)]
    for result, shape, is_batch in zip(results, shapes, batched, strict=True):
        if is_batch and np.shape(result) != (count, *shape):
            raise Violation(
                "value", f"a batch of {count} has the shape {np.shape(result)}, an item {shape}"
            )
    for k, one in enumerate(oracles):
        single = [np.asarray(r[k] if b else r) for r, b in zip(results, batched, strict=True)]
        assert one is not None
        case.compare(single, one)
