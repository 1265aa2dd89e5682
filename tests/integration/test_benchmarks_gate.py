"""The rule by which `benchmarks/against.py` says that a figure has changed."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest

FILE = Path(__file__).resolve().parents[2] / "benchmarks" / "against.py"


@pytest.fixture
def against(monkeypatch):
    spec = importlib.util.spec_from_file_location("against", FILE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "against", module)  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ([1.0, 1.1], [1.2, 1.3], "worse"),
        ([1.2, 1.3], [1.0, 1.1], "better"),
        ([1.0, 1.25], [1.2, 1.3], ""),  # the rounds overlap
        ([1.0, 1.001], [1.02, 1.03], ""),  # within the tolerance
        ([1.02, 1.03], [1.0, 1.001], ""),
        ([1.0], [1.0], ""),
    ],
)
def test_a_figure_changes_when_rounds_do_not_overlap(against, before, after, expected):
    assert against.change(before, after, 0.03) == expected


def test_figures_of_one_side_alone_and_of_numpy_are_not_compared(against):
    before = {"sum": [1.0, 1.1], "sum, numpy": [1.0, 1.0], "zero": [0.0, 0.0]}
    after = {"sum": [2.0, 2.1], "sum, numpy": [9.0, 9.0], "zero": [1.0, 1.0], "new": [1.0]}
    assert against.compared(before, after) == ["sum"]
    assert against.worse(before, after, 0.03) == {"sum"}
