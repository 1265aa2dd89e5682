"""Every kind of key in whole functions, with all rewrites."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

import occelo_graph as og
from occelo_compile import Mode, function
from occelo_graph import tensor as ot
from occelo_graph.ops.reduce import LinearRecurrence
from occelo_link.blocks import vm
from occelo_link.units.interface import UnitFailure
from occelo_testing.keys import Indexing, indexings

settings.register_profile(
    "ci", max_examples=50, derandomize=True, deadline=None, suppress_health_check=list(HealthCheck)
)
settings.register_profile(
    "thorough", max_examples=2000, deadline=None, suppress_health_check=list(HealthCheck)
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))


def check(indexing: Indexing, mode: Any) -> None:
    made = function(indexing.inputs, indexing.outputs(), mode=mode, on_unused_input="ignore")
    results = made(*indexing.values)
    for number, (value, wanted) in enumerate(zip(results, indexing.expected(), strict=True)):
        np.testing.assert_array_equal(value, wanted, err_msg=f"{number} of {indexing.plain}")


@given(indexings(dtypes=("float64", "int8", "complex128")))
def test_keys_with_all_rewrites(indexing: Indexing) -> None:
    check(indexing, "native")
    check(indexing, Mode("vm", "fast_run"))


v, w = ot.dvector("v"), ot.dvector("w")
rows, mask = ot.lvector("rows"), ot.tensor(dtype="bool", shape=(None,), name="mask")


@pytest.mark.parametrize(
    ("part", "length"), [(v[0:3].set(w), 3), (v[rows].inc(w), 2), (v[mask].set(w), 2)]
)
@pytest.mark.filterwarnings("ignore:Shapes in the graph depend on values:UserWarning")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # PyTorch's own
def test_values_that_do_not_fit_are_refused_by_one_text(mode: str, part: Any, length: int) -> None:
    f = function([v, w, rows, mask], part, mode=mode, on_unused_input="ignore")
    given = (np.array([0, 2]), np.array([True, False, True]))
    with pytest.raises(ValueError, match="Cannot write") as caught:
        f(np.ones(3), np.ones(4), *given)
    assert str(caught.value).splitlines()[-1] == (
        f"Cannot write a value of shape (4,) to a part of shape ({length},)"
    )
    f(np.ones(3), np.ones(1), *given)
    f(np.ones(3), np.ones(length), *given)


x, sizes = ot.dmatrix("x"), ot.lvector("sizes")


@pytest.mark.parametrize(
    ("outputs", "message"),
    [
        (ot.split(x, [1, 1], 2), "The 2 sizes of the parts must not be negative and must add up"),
        (ot.split(x, sizes, 2), "The 2 sizes of the parts must not be negative and must add up"),
        (ot.broadcast_shape(v, w), "The lengths of dimension 0 differ"),
        ([LinearRecurrence(1)(x[:, :1], x)], "LinearRecurrence{axis=1} takes tensors of one shape"),
        ([LinearRecurrence(0)(x, x[:, :1])], "LinearRecurrence{axis=0} takes tensors of one shape"),
    ],
)
@pytest.mark.filterwarnings("ignore:Shapes in the graph depend on values:UserWarning")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # PyTorch's own
def test_what_is_checked_when_a_graph_runs(mode: str, outputs: Any, message: str) -> None:
    f = function([x, sizes, rows, v, w], list(outputs), mode=mode, on_unused_input="ignore")
    given = (np.ones((4, 2)), np.array([5, -1]), np.array([0, 7]), np.ones(3), np.ones(1))
    with pytest.raises(ValueError, match=r"The 2|A posi|A num|The len|Linear") as caught:
        f(*given)
    assert str(caught.value).splitlines()[-1].startswith(message)


def test_a_check_that_fails_for_no_reason_costs_a_warning_only(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def failing(arrays: Any) -> Any:
        raise UnitFailure(0)

    f = function([v], v[1:] * 2.0, mode="native")
    block = f.vm._steps[0]
    monkeypatch.setattr(block, "_call", failing)
    monkeypatch.setattr(block.unit.program, "sites", [None])
    f.trust_input = False
    with pytest.warns(RuntimeWarning, match="fault of the compiler; this call ran in Python"):
        (result,) = vm.replay(block.part, [np.arange(3.0)], UnitFailure(0))
    np.testing.assert_array_equal(result, [2.0, 4.0])
    with pytest.warns(RuntimeWarning, match="this call ran in Python"):
        np.testing.assert_array_equal(f(np.arange(3.0)), [2.0, 4.0])
    with og.config.change_flags(check_bounds=True), pytest.raises(RuntimeError, match="fault"):
        vm.replay(block.part, [np.arange(3.0)], UnitFailure(0))
