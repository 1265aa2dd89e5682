"""What notebooks show of compiled functions."""

from __future__ import annotations

import occelo_compile as oc
import occelo_printing
from occelo_graph import tensor as ot
from occelo_graph.config import config


def test_a_function_is_shown_as_its_rewritten_graph() -> None:
    x = ot.dvector("x")
    f = oc.function([x], ot.log(1 + ot.exp(x)), name="f")
    html = f._repr_html_()
    assert html is not None
    assert "f&#x27;(x)" in html
    assert "softplus" in html
    assert f._repr_svg_() == occelo_printing.draw(f.maker.fgraph).svg


def test_options_modes_and_profiles_are_tables() -> None:
    shown = config._repr_html_()
    for option in config.options():
        assert f"<th style='text-align: left'>{option.name}</th>" in shown
    with config.change_flags(floatX="float32"):
        assert "&#x27;float32&#x27;" in config._repr_html_()
    assert "native</td>" in oc.get_mode("native")._repr_html_()
    x = ot.dvector("x")
    f = oc.function([x], ot.exp(x), profile="a <name>")
    f([1.0])
    profile = f.profile
    assert profile is not None
    assert repr(profile).startswith("ProfileStats(a <name>: 1 calls")
    assert "Profile of a &lt;name&gt;" in profile._repr_html_()
