"""What notebooks show of compiled functions, options, modes and profiles."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from typing import Any

import pytest

import occelo_compile as oc
import occelo_printing
import occelo_rewrite
from occelo_graph import tensor as ot
from occelo_graph.config import config

SVG = "{http://www.w3.org/2000/svg}"
x = ot.dvector("x")


def texts(svg: str | None) -> list[str]:
    """The words of a picture, from its first to its last."""
    assert svg is not None
    return [str(each.text) for each in ET.fromstring(svg).iter(f"{SVG}text")]


@pytest.fixture(scope="module")
def profile() -> Any:
    f = oc.function([x], ot.exp(x) @ x, profile="a <name> & 5_%", mode="vm")
    for _ in range(20):
        f([1.0])
    assert f.profile is not None
    return f.profile


def test_a_function_is_shown_as_its_rewritten_graph() -> None:
    f = oc.function([x], ot.log(1 + ot.exp(x)), name="f")
    html = f._repr_html_()
    assert html is not None
    assert "f&#x27;(x)" in html
    assert "softplus" in html
    assert f._repr_svg_() == occelo_printing.draw(f.maker.fgraph).svg
    assert f._repr_latex_() == r"$\displaystyle \operatorname{softplus}\left(x\right)$"


def test_options_are_tables() -> None:
    shown, latex, drawn = config._repr_html_(), config._repr_latex_(), texts(config._repr_svg_())
    assert shown is not None
    assert latex is not None
    for option in config.options():
        assert f"<th style='text-align: left'>{option.name}</th>" in shown
        assert option.name in drawn
        assert r"\text{" + option.name.replace("_", r"}\_\text{") + "}" in latex.replace(
            r"\_\_", r"\_\text{}\_"
        )
    with config.change_flags(floatX="float32"):
        assert "&#x27;float32&#x27;" in str(config._repr_html_())
        assert r"\text{floatX} & \text{'float32'} & \text{context}" in str(config._repr_latex_())


def test_a_mode_is_a_table_and_the_way_of_a_graph() -> None:
    mode = oc.get_mode("native").excluding("specialize")
    shown, drawn = str(mode._repr_html_()), texts(mode._repr_svg_())
    assert "native</td>" in shown
    assert str(mode._repr_svg_()) in shown
    assert drawn[:2] == ["graph", "as it was written"]
    assert drawn[-2:] == ["function", "linker native"]
    stages = drawn[2:-2:2]
    assert stages == [str(each) for each in vars(mode.optimizer)["rewriters"]]
    assert "canonicalize" in stages
    assert "specialize" not in stages
    assert re.fullmatch(r"rules: \d+", drawn[2 * stages.index("canonicalize") + 3])
    assert r"\text{native} & \text{native} & \text{fast}\_\text{run}" in str(mode._repr_latex_())


def test_a_mode_with_one_rewriter_has_one_stage() -> None:
    rewriter = occelo_rewrite.graph_rewriter(lambda fgraph: None)
    assert texts(oc.Mode("vm", rewriter)._repr_svg_())[2:-2] == [str(rewriter), "one rewriter"]


def test_a_profile_is_bars_and_tables(profile: Any) -> None:
    assert repr(profile).startswith("ProfileStats(a <name> & 5_%: 20 calls")
    shown = profile._repr_html_()
    assert "Profile of a &lt;name&gt; &amp; 5_%" in shown
    assert profile._repr_svg_() in shown
    bars = [
        (str(group[0].text), float(group[1].get("width", "")), str(group[2].text))
        for group in ET.fromstring(profile._repr_svg_()).iter(f"{SVG}g")
    ]
    assert [label for label, *_ in bars[:4]] == ["collect", "rewrite", "link", "wrap"]
    ops = profile.by_op()
    assert [label for label, *_ in bars[4:]] == [op for op, *_ in ops]
    # the largest of each group is as long as the other's, and the rest in proportion
    assert max(width for _, width, _ in bars[:4]) == max(width for _, width, _ in bars[4:])
    assert [width / bars[4][1] for _, width, _ in bars[4:]] == pytest.approx(
        [seconds / ops[0][1] for _, seconds, _ in ops], abs=1e-3
    )
    latex = profile._repr_latex_()
    assert r"\text{Profile of a <name> }\&\text{ 5}\_\%" in latex
    assert latex.count(r"\begin{array}") == latex.count(r"\end{array}") > 3


def test_a_profile_without_calls_has_the_steps_of_compiling_alone() -> None:
    with config.change_flags(profiling__ignore_first_call=True):
        f = oc.function([x], x + 1, profile=True, mode="vm")
    assert f.profile is not None
    assert texts(f.profile._repr_svg_())[0] == "Compiling"
    assert "Ops" not in str(f.profile._repr_html_())
    empty = oc.ProfileStats()
    assert texts(empty._repr_svg_()) == ["Compiling"]
    assert r"\text{step} & \text{time} \\ \hline" in str(empty._repr_latex_())
