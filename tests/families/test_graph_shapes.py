"""The work to build, differentiate and compile a graph grows linearly with its size, for many shapes of graphs.

Work is counted, not timed: the lines of Occelo's code that run. A count of three sizes finds each function whose work
grows faster, even if it takes little of the time yet.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable
from types import CodeType, FrameType
from typing import Any

import numpy as np
import pytest

import occelo_compile as oc
from occelo_link.native import linker
from occelo_link.units import plain_units
from occelo_testing.graph_shapes import SHAPES, Shape, differentiated

SIZES = (30, 60, 120)
BOUNDED = ("outputs", "branches", "branches in sequence", "slices", "differences", "network")
"""Shapes with functions whose work only stops growing at larger sizes: the search for independent branches looks at 200
nodes, that for the value of a length (of slices of slices) at 64, that for facts about matrices is 200 nodes deep, and
large programs have a function for each loop. Only the total is checked.
"""
SLOW = ("nested loops",)
"""Shapes that take too long to count."""
TOTAL = 1.3
"""The largest exponent of growth of all lines together, at these small sizes."""
SINGLE = 1.6
"""The largest exponent of growth of the lines of one function that has a share of all lines."""
SHARE = 0.005


def _compile(shape: Shape, nodes: int) -> None:
    inputs, outputs, updates = differentiated(shape, nodes)
    oc.function(inputs, outputs, updates=updates, on_unused_input="ignore")


def _lines(work: Callable[[], object]) -> Counter[str]:
    """The number of lines that run, by function."""
    counts: dict[CodeType, list[int]] = {}

    def called(frame: FrameType, event: str, _: Any) -> Any:
        code = frame.f_code
        if "occelo_" not in code.co_filename:
            return None
        count = counts.setdefault(code, [0])

        def line(frame: FrameType, event: str, _: Any) -> Any:
            count[0] += 1
            return line

        return line

    before = sys.gettrace()
    sys.settrace(called)
    try:
        work()
    finally:
        sys.settrace(before)
    found: Counter[str] = Counter()
    for code, (count,) in counts.items():
        found[f"{code.co_filename.rpartition('/')[2]}: {code.co_qualname}"] += count
    return found


@pytest.mark.sampled(2)
@pytest.mark.measured(0)
@pytest.mark.parametrize("name", [name for name in SHAPES if name not in SLOW])
def test_work_grows_linearly(name: str) -> None:
    shape = SHAPES[name]
    small, middle, large = SIZES
    _compile(shape, small + 2)  # what happens once in a process does not count
    with oc.config.change_flags(cache=False):
        first, second, third = (_lines(lambda n=n: _compile(shape, n)) for n in SIZES)
    total = third.total()
    assert total < first.total() * (large / small) ** TOTAL
    if name in BOUNDED:
        return
    # a function that only begins to run at some size makes one jump, not two
    bent = {
        each: (first[each], second[each], count)
        for each, count in third.items()
        if count > SHARE * total
        and count > max(second[each], 1) * (large / middle) ** SINGLE
        and second[each] > first[each] * (middle / small) ** SINGLE > 0
    }
    assert not bent


@pytest.mark.parametrize(
    ("nodes", "chosen", "expected"),
    [(60, None, [0, 1]), (2400, None, [0]), (60, 0, [0]), (60, "3", [3])],
)
def test_programs_of_many_blocks_are_compiled_at_the_lowest_level(
    monkeypatch: pytest.MonkeyPatch, nodes: int, chosen: int | str | None, expected: list[int]
) -> None:
    levels: list[int] = []

    def compiled(text: str, level: int = 1) -> bytes:
        levels.append(level)
        return compile_module(text, level=level)

    compile_module = linker.compile_module
    for module in (linker, plain_units):
        monkeypatch.setattr(module, "compile_module", compiled)
    inputs, outputs, _ = SHAPES["branches in sequence"].build(nodes)
    with oc.config.change_flags(cache=False, native__llvm_level=chosen):
        f: Any = oc.function(inputs, outputs, mode="native")
        f.vm.units[0].optimize()
    assert levels == expected
    x = y = np.linspace(0.1, 2.0, 5)
    for _ in range(nodes // 6):
        y = np.sin(y) if y[0] > 0.5 else np.cos(y)
    np.testing.assert_allclose(f(x)[0], y, rtol=1e-12)


@pytest.mark.parametrize("level", [4, -1, "quick", True])
def test_other_levels_are_refused(level: object) -> None:
    with (
        pytest.raises(ValueError, match="expected None, 0, 1, 2 or 3"),
        oc.config.change_flags(native__llvm_level=level),
    ):
        pass


def test_the_gradient_of_nested_loops_infers_the_lengths_of_each_loop_once() -> None:
    shape = SHAPES["nested loops"]
    differentiated(shape, 2)
    first, second = (_lines(lambda n=n: differentiated(shape, n)).total() for n in (6, 12))
    assert second < 2**1.5 * first
