"""Formulas in LaTeX."""

from __future__ import annotations

from typing import Any

import pytest

from occelo_graph import tensor as ot
from occelo_graph.inner_graph import OpFromGraph
from occelo_printing import to_latex

x, y = ot.dvectors("x", "y_1")
m = ot.dmatrix("M")
mu, s = ot.dscalars("mu", "sigma_y")
v2 = ot.dvector("v2")

FORMULAS: dict[str, tuple[Any, str]] = {
    "quotient": (x / y, r"\frac{x}{y_{1}}"),
    "power of a quotient": (
        ((y - mu) / s) ** 3,
        r"\left(\frac{y_{1} - \mu}{\sigma_{y}}\right)^{3}",
    ),
    "difference of differences": (x - (y - x), r"x - \left(y_{1} - x\right)"),
    "sum of sums": (x + (y + x), r"x + \left(y_{1} + x\right)"),
    "product of sums": ((x + y) * (x - y), r"\left(x + y_{1}\right) \, \left(x - y_{1}\right)"),
    "number at the end": (x * 2.0, r"x \cdot 2"),
    "number in front": (-0.5 * x, r"-0.5 \, x"),
    "minus a negative product": (y - (-0.5 * x), r"y_{1} - \left(-0.5 \, x\right)"),
    "small number": (x + 1e-8, r"x + 1 \cdot 10^{-8}"),
    "power of a negative": ((-x) ** 3, r"\left(-x\right)^{3}"),
    "negative of a power": (-(x**3), r"-x^{3}"),
    "negative of a sum": (-(x + y), r"-\left(x + y_{1}\right)"),
    "functions": (ot.exp(ot.log(x)), r"\exp\left(\log\left(x\right)\right)"),
    "other functions": (ot.softplus(x), r"\operatorname{softplus}\left(x\right)"),
    "sigma": (ot.sigmoid(x), r"\sigma\left(x\right)"),
    "root": (ot.sqrt(x + 1), r"\sqrt{x + 1}"),
    "absolute value": (ot.abs(x - y), r"\left|x - y_{1}\right|"),
    "transpose and product": (m.T @ (m + m), r"M^\top \cdot \left(M + M\right)"),
    "sum of products": (ot.sum(m * m, axis=1), r"\sum_{\mathrm{axis}\;1} M \, M"),
    "sum of all": (ot.sum(m + m), r"\sum \left(M + M\right)"),
    "product of sum": (mu * ot.sum(m), r"\mu \, \left(\sum M\right)"),
    "part": (y[1:], r"{y_{1}}_{1:}"),
    "part of rows": (m[0, ::2], r"{M}_{0, ::2}"),
    "index with digits": (v2 * 3.0, r"v_{2} \cdot 3"),
    "comparison": (ot.switch(x > 0, x, 0.0), r"\operatorname{switch}\left(x > 0, x, 0\right)"),
    "keyword": (ot.mean(m, axis=0), r"\operatorname{mean}\left(M, \mathrm{axis}=0\right)"),
    "remainder": (x % 3 // 2, r"\left\lfloor\frac{x \bmod 3}{2}\right\rfloor"),
    "logic": ((x > 0) & ~(y > 0), r"\left(x > 0\right) \land \lnot \left(y_{1} > 0\right)"),
}


@pytest.mark.parametrize("name", FORMULAS)
def test_a_formula(name: str) -> None:
    variable, text = FORMULAS[name]
    assert to_latex(variable) == text


@pytest.mark.parametrize("name", FORMULAS)
def test_a_parser_of_formulas_reads_it(name: str) -> None:
    mathtext = pytest.importorskip("matplotlib.mathtext", reason="matplotlib is an extra")
    # which are other names of the same signs
    text = (
        FORMULAS[name][1]
        .replace(r"\bmod", r"\%")
        .replace(r"\lnot", r"\neg")
        .replace(r"\land", r"\wedge")
    )
    mathtext.MathTextParser("path").parse(f"${text}$")


def test_named_parts_come_first() -> None:
    p = ot.sigmoid(x)
    p.name = "p"
    assert to_latex(p * p) == r"p = \sigma\left(x\right)\\ p \, p"


def test_graphs_without_a_formula_are_refused() -> None:
    with pytest.raises(ValueError, match="definition of a function"):
        to_latex(OpFromGraph([x], [x * 2 + x])(y))
