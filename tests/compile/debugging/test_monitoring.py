"""`NanGuardMode` and `MonitorMode`, on every linker."""

from __future__ import annotations

import pdb
from typing import Any

import numpy as np
import pytest

import occelo_compile as oc
from occelo_compile.debugging.monitor import MonitorMode, detect_nan
from occelo_compile.debugging.nan_guard import NanGuardMode
from occelo_graph import tensor as ot
from occelo_graph.config import config
from occelo_graph.ops.control import ifelse

LINKERS = ["native", "vm", "py"]


@pytest.fixture(params=LINKERS)
def linker(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


# NanGuardMode


def test_the_first_value_that_is_no_number_is_found(linker: str) -> None:
    x = ot.dvector("x")
    f = oc.function([x], ot.where(x > 0, ot.log(x), 0.0).sum(), mode=NanGuardMode(linker=linker))
    assert f([1.0, 1.0]) == 0.0
    with pytest.raises(AssertionError) as caught:
        f([1.0, -2.0])
    text = str(caught.value)
    assert (
        "NanGuardMode found NaN in log.out (float64 (?,)), made at " + __file__
        in text.splitlines()[-1]
    )
    assert "input 0, x: [ 1. -2.]" in text


def test_infinite_and_big_values(linker: str) -> None:
    x = ot.dvector("x")
    f = oc.function([x], ot.exp(x) * 1.0, mode=NanGuardMode(linker=linker))
    with pytest.raises(AssertionError, match="found a value beyond 1e"):
        f([30.0])
    with pytest.raises(AssertionError, match="found an infinite value"):
        f([1000.0])
    with pytest.raises(AssertionError, match="in an input"):
        f([np.inf])
    with pytest.raises(AssertionError, match="in an input"):
        f([np.nan])
    loose = NanGuardMode(True, False, False, linker=linker)
    assert oc.function([x], ot.exp(x) * 1.0, mode=loose)([1000.0]) == [np.inf]
    small = ot.bvector("small")
    assert oc.function([small], small + 1, mode=NanGuardMode(linker=linker))([1]) == [2]


def test_a_variable_can_be_left_out(linker: str) -> None:
    x = ot.dvector("x")
    y = ot.log(x)
    y.tag.nan_guard_mode_check = False
    x.tag.nan_guard_mode_check = False
    f = oc.function([x], ot.isnan(y), mode=NanGuardMode(linker=linker))
    np.testing.assert_array_equal(f([-1.0, 1.0]), [True, False])
    assert f([np.nan])[0]


def test_what_is_found_leaves_shared_values_as_they_were(linker: str) -> None:
    total = oc.shared(1.0, "total")
    x = ot.dscalar("x")
    f = oc.function([x], None, updates={total: ot.log(x)}, mode=NanGuardMode(linker=linker))
    with pytest.raises(AssertionError):
        f(-1.0)
    assert total.get_value() == 1.0
    f(1.0)
    assert total.get_value() == 0.0


def test_actions(linker: str, monkeypatch: pytest.MonkeyPatch) -> None:
    x = ot.dvector("x")
    with config.change_flags(NanGuardMode__action="warn"):
        f = oc.function([x], ot.log(x), mode=NanGuardMode(linker=linker))
    with pytest.warns(UserWarning, match="found NaN"):
        assert np.isnan(f([-1.0]))
    stops: list[int] = []
    monkeypatch.setattr(pdb, "set_trace", lambda: stops.append(1))
    with config.change_flags(NanGuardMode__action="pdb", NanGuardMode__inf_is_error=False):
        f = oc.function([x], ot.log(x), mode="NanGuardMode")
    with pytest.warns(UserWarning, match="found NaN"):
        f([-1.0])
    assert stops == [1]
    with pytest.raises(ValueError, match="expected one of raise, warn, pdb"):
        config.NanGuardMode__action = "odd"


# MonitorMode


def test_functions_are_called_around_each_node(linker: str) -> None:
    log: list[Any] = []

    def before(fgraph: Any, i: int, node: Any, thunk: Any) -> None:
        log.append(("before", i, str(node.op), [cell[0] for cell in thunk.inputs]))

    def after(fgraph: Any, i: int, node: Any, thunk: Any) -> None:
        assert node in fgraph.apply_nodes
        log.append(("after", i, str(node.op), [float(cell[0]) for cell in thunk.outputs]))

    x = ot.dscalar("x")
    mode = MonitorMode(before, after, linker=linker).excluding("fusion", "inplace")
    f = oc.function([x], ot.exp(x) * 2.0, mode=mode)
    assert log == []
    assert f(0.0) == 2.0
    assert [entry[:3] for entry in log] == [
        ("before", 0, "exp"),
        ("after", 0, "exp"),
        ("before", 1, "mul"),
        ("after", 1, "mul"),
    ]
    assert log[1][3] == [1.0]
    assert log[3][3] == [2.0]


def test_only_branches_that_are_taken_are_seen(linker: str) -> None:
    seen: list[str] = []
    c, x = ot.bscalar("c"), ot.dvector("x")
    mode = MonitorMode(post_func=lambda g, i, n, t: seen.append(str(n.op)), linker=linker)
    f = oc.function(
        [c, x], ifelse(c, ot.exp(x), ot.sin(x)), mode=mode.excluding("fusion", "inplace")
    )
    f(1, [0.0])
    assert "exp" in seen
    assert "sin" not in seen


def test_detect_nan_prints_the_node(linker: str, capsys: pytest.CaptureFixture[str]) -> None:
    x = ot.dvector("x")
    f = oc.function([x], ot.log(x), mode=MonitorMode(post_func=detect_nan, linker=linker))
    f([1.0])
    assert capsys.readouterr().out == ""
    f([-1.0])
    printed = capsys.readouterr().out
    assert "NaN in log" in printed
    assert "input 0: [-1.]" in printed


def test_modes_that_watch_can_be_changed_like_others(linker: str) -> None:
    mode = NanGuardMode(linker=linker)
    changed = mode.including("fusion").excluding("inplace")
    assert type(changed) is NanGuardMode
    x = ot.dvector("x")
    with pytest.raises(AssertionError, match="found NaN"):
        oc.function([x], ot.log(x), mode=changed)([-1.0])
    total = oc.shared(np.zeros(2), "total")
    f = oc.function([x], total * 2, updates={total: total + x}, mode=mode)
    f([1.0, 2.0])
    np.testing.assert_array_equal(f(x=[0.0, 0.0]), [2.0, 4.0])
