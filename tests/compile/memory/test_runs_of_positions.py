"""Sums at positions that repeat: elements of equal positions one after the other are added in a register."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import occelo_compile as oc
from occelo_graph import TensorType
from occelo_graph import tensor as ot
from occelo_link.loops.ir.program import If, Store
from occelo_testing.loop_programs import has_compiler

MODES = ["native", "numba", *(["c"] if has_compiler() else [])]
ROWS = 9
POSITIONS: dict[str, list[int]] = {
    "none": [],
    "one": [4],
    "two": [4, 4],
    "one run": [3] * 40,
    "sorted": sorted([*range(ROWS)] * 11),
    "from the end": [-1] * 20 + [ROWS - 1] * 20 + [0] * 20 + [-ROWS] * 7,
    "runs again": [*[2] * 9, *[5] * 9, *[2] * 9, 5, *[2] * 9],
    "shuffled": [(7 * k * k) % ROWS for k in range(60)],
    "many": [(7 * k * k) % ROWS - ROWS * (k % 3 == 1) for k in range(131)],
}
compiled: Callable[..., Any] = oc.function


def of_dtype(dtype: str, length: int, seed: int = 0) -> Any:
    array = np.random.default_rng(seed).normal(size=length) * 9
    return array > 0 if dtype == "bool" else array.astype(dtype)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "bool"])
def test_sums_are_numpys_to_the_bit(mode: str, dtype: str) -> None:
    x, y = (TensorType(dtype, (None,))() for _ in range(2))
    for name, listed in POSITIONS.items():
        at = np.array(listed, np.int64)
        f = compiled([x, y], ot.inc_subtensor(x[ot.constant(at)], y), mode=mode)
        start, added = of_dtype(dtype, ROWS), of_dtype(dtype, len(at), 1)
        expected = start.copy()
        np.add.at(expected, at, added)
        for _ in range(2):
            np.testing.assert_array_equal(f(start, added), expected, err_msg=name)
    # positions that are an input: if they seem to be in runs, the register is chosen at run time
    i, j = ot.lvector(), ot.ivector()
    f = compiled([x, y, i, j], [ot.inc_subtensor(x[k], y) for k in (i, j)], mode=mode)
    for name, listed in POSITIONS.items():
        for times in (1, 5, 40):
            for at in (
                np.repeat(np.array(listed, np.int64), times),
                np.array(listed * times, np.int64),
            ):
                start, added = of_dtype(dtype, ROWS), of_dtype(dtype, len(at), 1)
                expected = start.copy()
                np.add.at(expected, at, added)
                for result in f(start, added, at, at.astype("int32")):
                    np.testing.assert_array_equal(result, expected, err_msg=name)


def test_numbers_that_are_not_finite_stay_where_they_are() -> None:
    at = np.repeat(np.arange(ROWS), 6)
    y = ot.dvector()
    f = compiled([y], ot.inc_subtensor(ot.zeros(ROWS)[ot.constant(at)], y))
    added = np.ones(len(at))
    added[[7, 20, 33, 34]] = np.nan, np.inf, np.inf, -np.inf
    expected = np.zeros(ROWS)
    with np.errstate(all="ignore"):
        np.add.at(expected, at, added)
    np.testing.assert_array_equal(f(added), expected)


def test_one_number_for_all_positions_and_elements_of_a_matrix() -> None:
    at = np.repeat(np.arange(ROWS), 6)
    x, y, i, z = ot.dmatrix(), ot.dvector(), ot.lscalar(), ot.dscalar()
    sums = [ot.inc_subtensor(x[ot.constant(at), i], y), ot.inc_subtensor(x[i, ot.constant(at)], z)]
    f = compiled([x, y, i, z], sums)
    a, b = np.arange(81.0).reshape(9, 9), of_dtype("float64", len(at))
    first, second = a.copy(), a.copy()
    np.add.at(first[:, 3], at, b)
    np.add.at(second[3], at, 0.1)
    for result, expected in zip(f(a, b, 3, 0.1), (first, second), strict=True):
        np.testing.assert_array_equal(result, expected)


@pytest.mark.parametrize("name", ["one run", "sorted", "runs again", "shuffled"])
def test_a_state_is_changed_in_place(name: str) -> None:
    at = np.array(POSITIONS[name])
    state = oc.shared(np.zeros(ROWS))
    y = ot.dvector()
    f = compiled([y], [], updates={state: ot.inc_subtensor(state[ot.constant(at)], y)})
    expected, added = np.zeros(ROWS), of_dtype("float64", len(at))
    for _ in range(3):
        f(added)
        np.add.at(expected, at, added)
        np.testing.assert_array_equal(state.get_value(), expected)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "int8"])
def test_what_is_added_may_be_a_result_too(mode: str, dtype: str) -> None:
    x, i, state = TensorType(dtype, (None,))(), ot.lvector(), oc.shared(np.zeros(ROWS))
    taken = x[i] * 2
    sums = [ot.zeros_like(x)[i].inc(taken), ot.ones(ROWS)[i].set(taken)]
    updates = {state: state[i].inc(taken)}
    f = compiled([x, i], [*sums, taken, taken[::-1]], updates=updates, mode=mode)
    for listed in POSITIONS.values():
        for times in (1, 40):
            at, start = np.array(listed * times, np.int64), of_dtype(dtype, ROWS)
            added = start[at] * np.array(2, dtype)
            by_hand = [np.zeros(ROWS, dtype), np.ones(ROWS), state.get_value()]
            for each in by_hand[::2]:
                np.add.at(each, at, added)
            by_hand[1][at] = added
            results = [*f(start, at), state.get_value()]
            expected = [*by_hand[:2], added, added[::-1], by_hand[2]]
            for result, one in zip(results, expected, strict=True):
                np.testing.assert_array_equal(result, one)


def test_one_loop_adds_and_stores() -> None:
    x, i = ot.dvector(), ot.lvector()
    taken = x[i] * 2.0
    f = compiled([x, i], [taken, ot.zeros_like(x)[i].inc(taken)])
    program = f.vm.units[0].program
    last = program.body.statements[-1]
    assert isinstance(last, If)  # in runs or not
    for block in last.blocks:
        stores = [
            s.buffer for loop in block for b in loop.blocks for s in b if isinstance(s, Store)
        ]
        assert set(stores) == set(program.outputs)


@pytest.mark.parametrize("mode", MODES)
def test_positions_out_of_range_are_an_error(mode: str) -> None:
    y, i = ot.dvector("y"), ot.lvector("i")
    with pytest.raises(IndexError):
        compiled([y], ot.inc_subtensor(ot.zeros(ROWS)[np.repeat([1, ROWS], 9)], y))(np.ones(18))
    f = compiled([y, i], [y[i] * 2.0, ot.zeros(ROWS)[i].inc(y[i] * 2.0)], mode=mode)
    for wrong in (ROWS, -ROWS - 1):
        for count in (1, 300):
            at = np.full(count, 2)
            at[count // 2] = wrong
            with pytest.raises(IndexError, match=f"index {wrong} is out of bounds") as error:
                f(np.ones(ROWS), at)
            assert "y[i]" in str(error.value)


def branches(at: Any) -> int:
    y = ot.dvector()
    f = compiled([y], ot.inc_subtensor(ot.zeros(ROWS)[at], y))
    blocks = f.vm.units[0].program.blocks()
    return sum(isinstance(statement, If) for block in blocks for statement in block)


def test_constant_positions_without_runs_are_not_branched_on() -> None:
    assert branches(ot.constant(np.array(POSITIONS["sorted"]))) > branches(
        ot.constant(np.array(POSITIONS["shuffled"]))
    )
