"""Updates of parts of a shared variable: in place where no user can tell, else in a copy."""

from __future__ import annotations

import re
import threading
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from occelo_compile import In, Out, function, shared
from occelo_graph import tensor as ot
from occelo_link.units.object_layout import layout_fits
from occelo_testing.loop_programs import has_compiler

LINKERS = [
    "native",
    pytest.param(
        "c",
        marks=pytest.mark.skipif(
            not has_compiler(), reason="there is no C compiler on this machine"
        ),
    ),
]
fast_entry = pytest.mark.skipif(
    not layout_fits(), reason="objects of this Python lie elsewhere: the entry in Python copies"
)


def address(variable: Any) -> int:
    """Where the value of a shared variable lies."""
    found: int = variable.get_value(borrow=True).ctypes.data
    return found


def scattering(linker: str) -> tuple[Any, Any]:
    """A table, and a function that adds rows to it."""
    table = shared(np.zeros((40, 3)), name="table")
    rows, values = ot.lvector("rows"), ot.dmatrix("values")
    f = function([rows, values], [], updates={table: table[rows].inc(values)}, mode=linker)
    f([1], [[1.0, 2.0, 3.0]])
    return table, f


@fast_entry
@pytest.mark.parametrize("linker", LINKERS)
def test_rows_are_added_in_the_memory_of_the_table(linker: str) -> None:
    table, f = scattering(linker)
    rows, values = np.array([1, 5, 1]), np.ones((3, 3))
    f(rows, values)
    before = address(table)
    f(rows, values)
    f(rows, values)
    assert address(table) == before
    np.testing.assert_array_equal(table.get_value()[[1, 5]], [[7.0, 8.0, 9.0], [3.0] * 3])


@pytest.mark.parametrize("linker", LINKERS)
def test_arrays_that_somebody_holds_stay_as_they_are(linker: str) -> None:
    table, f = scattering(linker)
    rows, values = np.array([0, 2, 0]), np.ones((3, 3))
    for look in (lambda a: a, lambda a: a[:2], memoryview):
        held = look(table.get_value(borrow=True))
        copy = np.array(held)
        expected = table.get_value()
        f(rows, values)
        np.testing.assert_array_equal(np.asarray(held), copy)
        np.add.at(expected, rows, np.broadcast_to(values, expected[rows].shape))
        np.testing.assert_array_equal(table.get_value(), expected)


@pytest.mark.parametrize("linker", LINKERS)
def test_the_users_own_array_is_not_written(linker: str) -> None:
    table, f = scattering(linker)
    mine = np.zeros((4, 3))
    table.set_value(mine, borrow=True)
    for _ in range(3):
        f(np.array([0]), np.ones((1, 3)))
    assert not mine.any()
    fixed = np.zeros((4, 3))
    fixed.flags.writeable = False
    table.set_value(fixed, borrow=True)
    del fixed
    f(np.array([3]), np.ones((1, 3)))
    np.testing.assert_array_equal(table.get_value()[3], 1.0)


@pytest.mark.parametrize("linker", LINKERS)
def test_two_variables_may_hold_one_array(linker: str) -> None:
    array = np.arange(4.0)
    a, b = shared(array, borrow=True), shared(array, borrow=True)
    del array
    f = function([], [], updates={a: a[0].inc(1.0), b: b[1].inc(a[0])}, mode=linker)
    f()
    f()
    np.testing.assert_array_equal(a.get_value(), [2.0, 1.0, 2.0, 3.0])
    np.testing.assert_array_equal(b.get_value(), [0.0, 2.0, 2.0, 3.0])


@pytest.mark.parametrize("linker", LINKERS)
def test_a_call_that_fails_changes_nothing(linker: str) -> None:
    table, _ = scattering(linker)
    other = shared(np.zeros(5), name="other")
    i, x = ot.lvector("i"), ot.dvector("x")
    updates: dict[Any, Any] = {table: table[i, 0].inc(1.0), other: other[1:3].set(x)}
    g = function([i, x], x.sum(), updates=updates, mode=linker)
    g([0], [1.0, 2.0])
    before = table.get_value(), other.get_value()
    for rows, vector in (([1, 40], [1.0, 2.0]), ([1], [1.0, 2.0, 3.0]), ([-41], [0.0, 0.0])):
        with pytest.raises((IndexError, ValueError)):
            g(np.array(rows), np.array(vector))
        np.testing.assert_array_equal(table.get_value(), before[0])
        np.testing.assert_array_equal(other.get_value(), before[1])
    assert g(np.array([1]), np.array([3.0, 4.0])) == 7.0
    np.testing.assert_array_equal(other.get_value(), [0.0, 3.0, 4.0, 0.0, 0.0])


@pytest.mark.parametrize("linker", LINKERS)
def test_results_are_of_the_state_before_and_do_not_follow_it(linker: str) -> None:
    state = shared(np.arange(4.0), name="state")
    x = ot.dscalar("x")
    outputs = [state, state.sum(), Out(state[1:], borrow=True), state[0].inc(x)]
    f = function([In(x)], outputs, updates={state: state[0].inc(x)}, mode=linker)
    expected = np.arange(4.0)
    kept: list[tuple[Any, Any]] = []
    for _ in range(4):
        whole, total, rest, changed = f(2.0)
        after = expected + [2.0, 0.0, 0.0, 0.0]
        assert total == expected.sum()
        kept += [(whole, expected), (rest, expected[1:]), (changed, after)]
        expected = after
    for found, as_it_was in kept:
        np.testing.assert_array_equal(found, as_it_was)
    np.testing.assert_array_equal(state.get_value(), expected)


@pytest.mark.parametrize("linker", LINKERS)
def test_readers_in_other_threads_see_whole_updates(linker: str) -> None:
    n = 60_000
    state = shared(np.zeros(n), name="state")
    changed = state[: n // 2].inc(1.0)
    step = function([], [], updates={state: changed[n // 2 :].inc(1.0)}, mode=linker)
    look = function([], [state.min(), state.max()], mode=linker)
    step()
    look()
    torn: list[Any] = []
    done = threading.Event()

    def read() -> None:
        while not done.is_set():
            array = state.get_value()
            least, most = look()
            if array.min() != array.max() or least != most:
                torn.append((array.min(), array.max(), least, most))

    readers = [threading.Thread(target=read) for _ in range(2)]
    for thread in readers:
        thread.start()
    for _ in range(400):
        step()
    done.set()
    for thread in readers:
        thread.join()
    assert not torn
    assert state.get_value()[0] == 401.0


@st.composite
def updating(draw: st.DrawFn) -> tuple[list[Any], list[Any], dict[Any, Any], Any]:
    """States, outputs and updates over them, each of which reads whatever it likes."""
    states = [shared(np.linspace(-1, 1, 6) + k, name=f"s{k}") for k in range(3)]
    i = ot.lvector("i")
    known: list[Any] = list(states)
    for _ in range(draw(st.integers(1, 8))):
        a, b = draw(st.sampled_from(known)), draw(st.sampled_from(known))
        move = draw(st.sampled_from(("set", "inc", "scatter", "put", "mean", "sin")))
        k = draw(st.integers(0, 2))
        made = {
            "set": lambda a=a, b=b, k=k: a[k : k + 3].set(b[3 - k : 6 - k]),
            "inc": lambda a=a, b=b, k=k: a[k].inc(b[k + 1] * 0.5),
            "scatter": lambda a=a, b=b: a[i].inc(b[:2] * 0.5),
            "put": lambda a=a, k=k: a[k].set(0.5),
            "mean": lambda a=a, b=b: (a + b) * 0.5,
            "sin": lambda a=a: ot.sin(a),
        }[move]()
        known.append(made)
    updates = {s: draw(st.sampled_from(known)) for s in states if draw(st.booleans())}
    outputs = draw(st.lists(st.sampled_from(known), max_size=2))
    return states, outputs, updates, i


@settings(max_examples=60, derandomize=True, deadline=None, suppress_health_check=list(HealthCheck))
@given(updating())
def test_random_updates_give_what_the_interpreter_gives(case: Any) -> None:
    states, outputs, updates, i = case
    start = [s.get_value() for s in states]
    runs: list[list[Any]] = []
    for linker in ("py", "native"):
        for variable, value in zip(states, start, strict=True):
            variable.set_value(value)
        f = function([i], outputs, updates=updates, mode=linker, on_unused_input="ignore")
        results = [f(np.array(rows)) for rows in ([0, 1], [3, 3], [-1, 2], [5, 0])]
        runs.append([*(r for call in results for r in call), *(s.get_value() for s in states)])
    for slow, fast in zip(*runs, strict=True):
        np.testing.assert_allclose(fast, slow, rtol=1e-13, atol=1e-13)


@fast_entry
def test_checks_of_positions_wait_for_nothing_else(tmp_path: Any) -> None:
    """Each update looks at its positions first; that may not write the update before it too early."""
    a, b = shared(np.zeros((30, 2))), shared(np.zeros(40))
    i, j = ot.lvector("i"), ot.lvector("j")
    f = function([i, j], [], updates={a: a[i].inc(1.0), b: b[j].inc(2.0)}, mode="native")
    f([0, 1], [3, 3])
    np.testing.assert_array_equal(a.get_value()[:3], [[1.0, 1.0], [1.0, 1.0], [0.0, 0.0]])
    np.testing.assert_array_equal(b.get_value()[2:5], [0.0, 4.0, 0.0])
    f.dump(tmp_path)
    # of each update, the state is changed in place and the positions are read where they lie
    assert (tmp_path / "block0.program.txt").read_text().count("over in") == 4
    with pytest.raises(IndexError):
        f([0, 1], [3, 40])
    assert a.get_value().sum() == 4.0


@fast_entry
def test_what_an_update_takes_is_in_the_program(tmp_path: Any) -> None:
    _, f = scattering("native")
    f.dump(tmp_path)
    text = (tmp_path / "block0.program.txt").read_text()
    (taken,) = re.findall(r"alloc out\d+: float64 .* over in(\d+)\n", text)
    assert f"in{taken}: float64[:, :]" in text


@pytest.mark.parametrize("back", [1, 3])
def test_a_part_that_is_moved_by_static_bounds_is_known_to_fit(back: int) -> None:
    """Lengths that are always equal need no broadcasting at run time."""
    x = ot.dvector("x")
    y: Any = ot.exp(x)
    f = function(
        [x],
        [
            y[back:].set(y[:-back]),
            y[:-back].inc(y[back:][::-1]),
            y[back:-1].inc(y[back + 1 :] + y[: -back - 1]),
            y[-back:].set(y[:back] * 2.0),
        ],
    )
    listed = {type(node.op).__name__ for node in f.maker.fgraph.apply_nodes}
    assert "Stretch" not in listed
    for count in (back + 1, 9):
        given = np.linspace(-1.0, 1.0, count)
        v = np.exp(given)
        expected = [v.copy() for _ in range(4)]
        expected[0][back:] = v[:-back]
        expected[1][:-back] += v[back:][::-1]
        expected[2][back:-1] += v[back + 1 :] + v[: -back - 1]
        expected[3][-back:] = v[:back] * 2.0
        for result, wanted in zip(f(given), expected, strict=True):
            np.testing.assert_allclose(result, wanted, rtol=1e-14)
