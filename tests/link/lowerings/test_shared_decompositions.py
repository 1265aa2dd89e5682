"""Ops of the same arguments whose decompositions have nodes in common: these are computed once, and nothing else changes."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

import occelo_graph as og
from occelo_graph import tensor as ot
from occelo_link.loops.build import lower_graph
from occelo_link.loops.ir.program import Program, Value
from occelo_link.loops.ir.verify import verify
from occelo_testing.loop_interpreter import run_program
from occelo_testing.loop_programs import Compiled


def softmax(x: Any, axis: int | None) -> Any:
    power = np.exp(x - x.max(axis, keepdims=True))
    return power / power.sum(axis, keepdims=True)


def log_softmax(x: Any, axis: int | None) -> Any:
    less = x - x.max(axis, keepdims=True)
    return less - np.log(np.exp(less).sum(axis, keepdims=True))


def logsumexp(x: Any, axis: int | None) -> Any:
    most = x.max(axis, keepdims=True)
    return np.squeeze(most + np.log(np.exp(x - most).sum(axis, keepdims=True)), axis)


FUNCTIONS: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    "softmax": (ot.softmax, softmax),
    "log_softmax": (ot.log_softmax, log_softmax),
    "logsumexp": (ot.logsumexp, logsumexp),
    "var": (ot.var, np.var),
    "std": (ot.std, np.std),
    "mean": (ot.mean, np.mean),
    "ptp": (ot.ptp, np.ptp),
}


def check(inputs: Sequence[Any], outputs: Sequence[Any], arrays: Sequence[Any]) -> Program:
    """Compare the program, interpreted and compiled, with one that is compiled for each output alone."""
    program = lower_graph(inputs, outputs, og.toposort(outputs))
    verify(program)
    found = Compiled(program)(*arrays)
    for output, fast, slow in zip(outputs, found, run_program(program, arrays), strict=True):
        np.testing.assert_array_equal(fast, slow)
        alone = lower_graph(inputs, [output], og.toposort([output]))
        np.testing.assert_array_equal(fast, Compiled(alone)(*arrays)[0])
    return program


def exponentials(program: Program) -> int:
    """How many exponentials the statements of a program compute."""
    return sum(
        isinstance(s, Value) and s.op in ("apply", "call") and "exp" in str(s.args[0])
        for block in program.blocks()
        for s in block
    )


def test_log_softmax_and_softmax_share_their_exponentials() -> None:
    x = ot.dmatrix("x")
    one = exponentials(check([x], [ot.softmax(x, axis=1)], [np.ones((3, 4))]))
    array = np.random.default_rng(1).standard_normal((3, 4)) * 5
    array[1] = -np.inf
    array[2, 1] = np.inf
    both = check([x], [ot.log_softmax(x, axis=1), ot.softmax(x, axis=1)], [array])
    other = check([x], [ot.log_softmax(x, axis=0), ot.softmax(x, axis=1)], [array[:1]])
    assert one > 0
    assert exponentials(both) == one
    assert exponentials(other) == 2 * one


@pytest.mark.parametrize("axis", [0, 1, None], ids=str)
def test_pairs_of_functions_of_one_matrix(axis: int | None) -> None:
    x = ot.dmatrix("x")
    rng = np.random.default_rng(4)
    arrays = [rng.standard_normal(shape) for shape in [(3, 4), (1, 5), (5, 1), (1, 1), (40, 30)]]
    for first, second in itertools.permutations(FUNCTIONS, 2):
        pair = [FUNCTIONS[first], FUNCTIONS[second]]
        outputs = [symbolic(x, axis=axis) for symbolic, _ in pair]
        program = lower_graph([x], outputs, og.toposort(outputs))
        verify(program)
        compiled = Compiled(program)
        for array in arrays:
            for found, (_, plain) in zip(compiled(array), pair, strict=True):
                expected = plain(array, axis=axis)
                np.testing.assert_allclose(found, expected, rtol=1e-13, atol=1e-14)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_layouts_and_empty_matrices(dtype: str) -> None:
    x = ot.tensor("x", dtype=dtype, shape=(None, None))
    outputs = [ot.log_softmax(x, axis=1), ot.softmax(x, axis=1), ot.logsumexp(x, axis=1)]
    order = og.toposort(outputs)
    compiled = Compiled(lower_graph([x], outputs, order, contiguous=[False]))
    base = np.random.default_rng(5).standard_normal((6, 8)).astype(dtype)
    layouts = [base, base[::-1], base[:, ::-2], base.T, base[::3, 1:2], base[:0], base[:1, :1]]
    for array in layouts:
        plain = [log_softmax(array, 1), softmax(array, 1), logsumexp(array, 1)]
        for found, expected in zip(compiled(array), plain, strict=True):
            assert found.dtype == expected.dtype
            tolerance = 40 * np.finfo(dtype).eps
            np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance)


def test_results_that_are_the_same_tensor_have_their_own_memory() -> None:
    x = ot.dmatrix("x")
    kept = ot.mean(x, axis=1, keepdims=True)
    outputs = [ot.mean(x, axis=1), ot.var(x, axis=1), kept, x - kept]
    array = np.arange(6.0).reshape(2, 3)
    program = check([x], outputs, [array])
    found = Compiled(program)(array)
    for a, b in itertools.combinations(found, 2):
        assert not np.shares_memory(a, b)


def test_a_branch_that_is_not_taken_leaves_nothing_to_others() -> None:
    c, x = ot.bscalar("c"), ot.dmatrix("x")
    array = np.random.default_rng(2).standard_normal((3, 4))
    plain = [log_softmax(array, 1), softmax(array, 1)]
    for order in ([0, 1], [1, 0]):
        one, two = [[ot.log_softmax, ot.softmax][k](x, axis=1) for k in order]
        outputs = [ot.ifelse(c, one, x), two + 1]
        program = lower_graph([c, x], outputs, og.toposort(outputs))
        verify(program)
        compiled = Compiled(program)
        for taken in (0, 1):
            found = compiled(np.array(taken, np.int8), array)
            expected = [plain[order[0]] if taken else array, plain[order[1]] + 1]
            for a, b in zip(found, expected, strict=True):
                np.testing.assert_allclose(a, b, rtol=1e-13)


def test_what_is_shared_before_a_change_stays_as_it_was() -> None:
    x = ot.dmatrix("x")
    soft = ot.softmax(x, axis=1)
    changed = ot.set_subtensor(soft[0], 7.0)
    logs = ot.log_softmax(x, axis=1)
    array = np.random.default_rng(3).standard_normal((3, 4))
    expected = softmax(array, 1)
    expected[0] = 7.0
    program = check([x], [changed, logs], [array])
    for a, b in zip(Compiled(program)(array), [expected, log_softmax(array, 1)], strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-13)
