"""What notebooks show of compiled functions."""

from __future__ import annotations

import occelo_compile as oc
import occelo_printing
from occelo_graph import tensor as ot


def test_a_function_is_shown_as_its_rewritten_graph() -> None:
    x = ot.dvector("x")
    f = oc.function([x], ot.log(1 + ot.exp(x)), name="f")
    html = f._repr_html_()
    assert html is not None
    assert "f&#x27;(x)" in html
    assert "softplus" in html
    assert f._repr_svg_() == occelo_printing.draw(f.maker.fgraph).svg
