"""Profiles of functions."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import occelo_compile as oc
from occelo_graph import tensor as ot
from occelo_graph.config import config

MODES = ["FAST_RUN", "FAST_COMPILE", "py", "vm"]


@pytest.fixture(params=MODES)
def mode(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


def profiled(mode: str, **options: Any) -> Any:
    x = ot.dmatrix("x")
    y = ot.dot(x, x)
    y.name = "product"
    return oc.function([x], ot.exp(y).sum(), mode=mode, profile=True, name="f", **options)


def test_calls_stages_rules_and_nodes_are_counted(mode: str) -> None:
    f = profiled(mode)
    value = np.full((20, 20), 0.01)
    plain = oc.function([f.maker.inputs[0].variable], f.maker.outputs[0].variable, mode=mode)
    for _ in range(50):
        assert f(value) == plain(value)
    stats = f.profile
    assert stats.calls == 50
    assert 0 < stats.run_time <= stats.call_time
    assert set(stats.compile_time) == {"collect", "rewrite", "link", "wrap"}
    assert any("canonicalize" in stage for stage in stats.stages)
    assert any(rule == "dot_of_nothing" for _, rule in stats.rules)
    product = next(c for c in stats.costs() if c.op.startswith("Dot"))
    assert product.name == "product"
    assert product.shapes == ((20, 20),)
    assert product.bytes == 3200
    assert product.seconds > 0
    assert product.source.startswith(__file__)
    assert 1 <= stats.nodes.samples < 50
    assert stats.nodes.peak_bytes >= 3200


def test_updates_are_done_once_a_call(mode: str) -> None:
    total = oc.shared(0.0, "total")
    f = oc.function([], total * 2, updates={total: total + 1}, profile=True, mode=mode)
    for i in range(30):
        assert f() == 2.0 * i
    assert total.get_value() == 30.0
    assert f.profile.calls == 30


def test_the_report_the_figures_and_the_page(tmp_path: Path, mode: str) -> None:
    f = profiled(mode)
    f(np.ones((3, 3)))
    stream = io.StringIO()
    f.profile.summary(stream)
    text = stream.getvalue()
    for part in ("Profile of f", "1 calls", "Compiling", "Rules", "Ops", "Nodes", "(3, 3)", "Dot"):
        assert part in text
    figures = json.loads(f.profile.to_json(tmp_path / "profile.json"))
    assert figures["calls"] == 1
    assert {n["op"] for n in figures["nodes"]} >= {"Dot"}
    assert json.loads((tmp_path / "profile.json").read_text()) == figures
    page = f.profile.write_page(tmp_path / "profile.html").read_text()
    assert "rewrite" in page
    assert "product" in page
    opened: list[str] = []

    class Balance(HTMLParser):
        def handle_starttag(self, tag: str, attrs: Any) -> None:
            if tag != "meta":
                opened.append(tag)

        def handle_endtag(self, tag: str) -> None:
            assert opened.pop() == tag

    Balance().feed(page)
    assert opened == []


def test_what_the_argument_takes() -> None:
    x = ot.dscalar("x")
    stats = oc.ProfileStats("both")
    one = oc.function([x], x + 1, profile=stats)
    two = oc.function([x], x * 2, profile=stats)
    one(1.0)
    two(1.0)
    assert one.profile is two.profile is stats
    assert stats.calls == 2
    assert oc.function([x], x + 1, profile="mine").profile.message == "mine"
    assert oc.function([x], x + 1, profile=True, name="n").profile.message == "n"
    assert oc.function([x], x + 1).profile is None
    with config.change_flags(profile=True):
        assert oc.function([x], x + 1, profile=False).profile is None
    with pytest.raises(TypeError, match="not 3"):
        oc.function([x], x + 1, profile=3)
    copied = one.copy(profile=True)
    copied(1.0)
    assert copied.profile is not stats
    assert copied.profile.calls == 1


def test_options(tmp_path: Path) -> None:
    x = ot.dscalar("x")
    with config.change_flags(profiling__ignore_first_call=True):
        f = oc.function([x], x + 1, profile=True)
        for _ in range(3):
            f(1.0)
    assert f.profile.calls == 2
    with config.change_flags(profiling__time_thunks=False):
        f = oc.function([x], x + 1, profile=True)
        f(1.0)
    assert f.profile.nodes.samples == 0
    with config.change_flags(profiling__destination=str(tmp_path / "report.txt")):
        f.profile.summary()
    assert "Profile of" in (tmp_path / "report.txt").read_text()
    many = oc.function([x], [ot.exp(x), ot.sin(x), ot.tanh(x)], mode="py", profile=True)
    many(1.0)
    with config.change_flags(profiling__n_apply=1, profile_memory=False):
        nodes = many.profile.report().split("Nodes:")[1].strip().splitlines()
    assert len(nodes) == 2
    assert "bytes" not in nodes[0]


def test_profiles_of_the_option_are_printed_at_the_end() -> None:
    program = (
        "import occelo_compile as oc\nfrom occelo_graph import tensor as ot\n"
        "x = ot.dscalar('x')\nf = oc.function([x], x + 1, name='mine')\nf(1)\nf(2)\n"
    )
    ran = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "OCCELO_FLAGS": "profile=True,profiling__destination=stdout"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert "Profile of mine" in ran.stdout
    assert "2 calls" in ran.stdout


def test_keywords_and_errors_are_counted_right() -> None:
    x = ot.dvector("x")
    f = oc.function([x], x + np.ones(2), profile=True)
    f(x=[1.0, 2.0])
    f(np.ones(2))
    f(np.ones(2))
    with pytest.raises(ValueError, match="mismatch"):
        f(np.ones(3))
    assert f.profile.calls == 3
    f(np.ones(2))
    assert f.profile.calls == 4
