"""Lengths of slices with static bounds: right for every length, and in one form where the lengths are always equal."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import occelo_graph as og
from occelo_graph import tensor as ot
from occelo_graph.ops.index.slice_lengths import clipped_length, length_of_slice

LARGEST = 2**63 - 1
BOUNDS = (None, 0, 1, 2, 3, 7, LARGEST, -1, -2, -3, -7, -LARGEST, -LARGEST - 1)
N = range(9)


@pytest.mark.parametrize("forward", [True, False])
def test_lengths_are_those_of_python(forward: bool) -> None:
    for start, stop in itertools.product(BOUNDS, repeat=2):
        entry = slice(start, stop, 1 if forward else -1)
        counted = [len(range(*entry.indices(n))) for n in N]
        found = clipped_length(start, stop, forward)
        if found is None:
            continue
        less, most = found
        assert counted == [
            max(n - less, 0) if most is None else min(max(n - less, 0), most) for n in N
        ]
        assert 0 <= less <= LARGEST
        assert most is None or 0 <= most <= LARGEST


@pytest.mark.parametrize("step", [None, 1, 2, 3, LARGEST, -1, -2, -3, -LARGEST])
def test_computed_lengths_are_those_of_numpy(step: int | None) -> None:
    n = ot.lscalar("n")
    entries = [slice(a, b, step) for a, b in itertools.product(BOUNDS, repeat=2)]
    lengths = [ot.as_tensor_variable(length_of_slice(entry, n)) for entry in entries]
    for value in (0, 1, 2, 5):
        found = og.evaluate(lengths, {n: np.array(value)})
        expected = [len(range(*entry.indices(value))) for entry in entries]
        assert [int(each) for each in found] == expected


def test_slices_that_always_have_equal_lengths_have_one_form() -> None:
    """Unless a length has no such form: then a start from the end and a stop from the beginning are the reason."""
    forms: dict[tuple[int, ...], set[tuple[int, int | None]]] = {}
    without: set[tuple[bool, bool]] = set()
    for start, stop in itertools.product((None, *range(-4, 5)), repeat=2):
        found = clipped_length(start, stop, True)
        if found is None:
            without.add((start is not None and start < 0, stop is not None and stop >= 0))
            continue
        less, most = found
        counted = tuple(len(range(*slice(start, stop).indices(n))) for n in range(20))
        forms.setdefault(counted, set()).add((0 if most == 0 else less, most))
    assert all(len(found) == 1 for found in forms.values())
    assert without == {(True, True)}
