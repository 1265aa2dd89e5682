"""Nested structures as states of loops: what counts as the same structure, and what users are told if it differs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from occelo_graph import tensor as ot
from occelo_loops.ops.building.associative import associative_scan
from occelo_loops.ops.building.loops import fori_loop, loop, while_loop
from occelo_loops.ops.building.switching import switch_case


@dataclass
class Pair:
    first: Any
    second: Any


def test_dicts_are_the_same_in_any_order() -> None:
    a = ot.dscalar("a")

    def step(s: Any) -> Any:
        return {"y": s["x"], "x": s["x"] + s["y"]}

    of_loop, kept = loop(
        lambda s: (step(s), {"q": s["y"], "p": s["x"]}), {"x": 1.0, "y": a}, None, 5
    )
    of_while = while_loop(lambda s: s["x"] < 6, step, {"y": a, "x": 1.0})
    of_for = fori_loop(0, 5, lambda i, s: step(s), {"x": 1.0, "y": a})
    assert list(of_loop) == ["x", "y"]
    assert list(of_while) == ["y", "x"]
    assert list(kept) == ["q", "p"]
    x, y, values = 1.0, 0.5, []
    for _ in range(5):
        values.append((x, y))
        x, y = x + y, x
    for state in (of_loop, of_for):
        assert [v.eval({a: 0.5}) for v in (state["x"], state["y"])] == [x, y]
    np.testing.assert_array_equal(kept["p"].eval({a: 0.5}), [v[0] for v in values])
    np.testing.assert_array_equal(kept["q"].eval({a: 0.5}), [v[1] for v in values])
    x, y = 1.0, 0.5
    while x < 6:
        x, y = x + y, x
    assert [v.eval({a: 0.5}) for v in (of_while["x"], of_while["y"])] == [x, y]


def test_dicts_in_other_functions() -> None:
    x, i = ot.dvector("x"), ot.lscalar("i")
    sums = associative_scan(
        lambda a, b: {"v": a["v"] * b["v"], "u": a["u"] + b["u"]}, {"u": x, "v": x}
    )
    given = np.arange(1.0, 5.0)
    np.testing.assert_array_equal(sums["u"].eval({x: given}), np.cumsum(given))
    np.testing.assert_array_equal(sums["v"].eval({x: given}), np.cumprod(given))
    chosen = switch_case(i, [lambda: {"u": x, "v": x * 2}, lambda: {"v": x * 3, "u": x * 4}])
    np.testing.assert_array_equal(chosen["u"].eval({x: given, i: 1}), given * 4)
    np.testing.assert_array_equal(chosen["v"].eval({x: given, i: 1}), given * 3)


def test_keys_without_an_order() -> None:
    final, _ = loop(lambda s: ({1: s["a"], "a": s[1]}, None), {1: 2.0, "a": 3.0}, length=3)
    assert list(final) == [1, "a"]
    assert [v.eval() for v in final.values()] == [3, 2]


@pytest.mark.parametrize(
    ("init", "returned", "wanted"),
    [
        ((1.0, 2.0), lambda s: [s[0], s[1]], r"as \(1.0, 2.0\), and a step returns \[<.*>.*, <.*>.*\]"),
        ([1.0], lambda s: s[0], r"as \[1.0\], and a step returns <.*> \(float\d+ \(\)\), made at .*\.py:\d+"),
        ({"a": 1.0}, lambda s: {"b": s["a"]}, r"as \{'a': 1.0\}, and a step returns \{'b': <.*\}"),
        (Pair(1.0, None), lambda s: Pair(1.0, 2.0), r"Pair\(first=1.0, second=None\), and .* Pair\("),
    ],
    ids=["tuple and list", "list and element", "other key", "dataclass"],
)  # fmt: skip
def test_messages_show_both_structures(init: Any, returned: Any, wanted: str) -> None:
    with pytest.raises(TypeError, match=wanted):
        loop(lambda s: (returned(s), None), init, length=2)
