"""Drawings as SVG, and what notebooks show."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import occelo_graph as og
import occelo_printing as op
from occelo_graph import tensor as ot
from occelo_printing.layout import layered

SVG = "{http://www.w3.org/2000/svg}"
x, y = ot.dvectors("x", "y")


def boxes(svg: str) -> list[tuple[str, str, tuple[float, float, float, float]]]:
    """The kind, the full text, and the rectangle of each box: left, top, right, bottom."""
    found: list[Any] = []
    for group in ET.fromstring(svg).iter(f"{SVG}g"):
        rect: Any = group.find(f"{SVG}rect")
        left, top, width, height = (float(rect.get(k)) for k in ("x", "y", "width", "height"))
        title: Any = group.find(f"{SVG}title")
        found.append((group.get("class"), title.text, (left, top, left + width, top + height)))
    return found


def edges(svg: str) -> list[tuple[tuple[float, float], tuple[float, float]]]:
    """The first and the last point of each edge."""
    ends: list[Any] = []
    for path in ET.fromstring(svg).iter(f"{SVG}path"):
        numbers = [float(n) for n in re.findall(r"-?[\d.]+", str(path.get("d")))]
        ends.append(((numbers[0], numbers[1]), (numbers[-2], numbers[-1])))
    return ends


def overlap(a: tuple[float, ...], b: tuple[float, ...]) -> bool:
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]


def test_a_drawing_has_a_box_for_each_node_input_and_output() -> None:
    state = og.shared(np.ones(2), "state")
    mean = ot.exp(x) * state
    mean.name = "mean"
    found = boxes(op.draw([mean, mean + 1.0]).svg)
    texts = {text: kind for kind, text, _ in found}
    assert texts == {
        "x float64 (?,)": "input",
        "state float64 (?,)": "shared",
        "exp float64 (?,)": "op",
        "mean = mul float64 (?,)": "op",
        "1.0 float64 ()": "constant",
        "add float64 (?,)": "op",
        "mean float64 (?,)": "output",
        "output 1 float64 (?,)": "output",
    }
    assert not any(overlap(a[2], b[2]) for i, a in enumerate(found) for b in found[:i])


def test_edges_lead_down_from_box_to_box() -> None:
    svg = op.draw(og.grad(ot.sum(ot.tanh(x * y) ** 2 + x), [x, y])).svg
    found = boxes(svg)
    for start, end in edges(svg):
        assert start[1] < end[1]
        above = [b for *_, b in found if b[3] == start[1] and b[0] <= start[0] <= b[2]]
        below = [b for *_, b in found if b[1] == end[1] and b[0] <= end[0] <= b[2]]
        assert len(above) == len(below) == 1


def test_text_is_escaped() -> None:
    odd = ot.dvector("a<b&c>")
    assert any("a<b&c>" in text for _, text, _ in boxes(op.draw(odd * 2).svg))


def test_a_large_graph_is_folded_and_says_how_much() -> None:
    z: Any = x
    for i in range(5000):
        z = ot.tanh(z + i)
    found = boxes(op.draw(z, most=20).svg)
    assert sum(kind == "op" for kind, *_ in found) == 20
    folded = [text for kind, text, _ in found if kind == "folded"]
    # each step adds a sum, a tanh, and a dimension of the constant
    above = len(og.toposort([z])) - 20
    assert [int(text.split()[0]) for text in folded if text.split()[0] == str(above)]


@pytest.mark.parametrize("graph", [x, [], og.FunctionGraph([x], [x * 2, x]), ot.constant(1.0)])
def test_small_graphs(graph: Any) -> None:
    svg = op.draw(graph).svg
    assert len(boxes(svg)) == len(ET.fromstring(svg).findall(f"{SVG}g"))
    assert svg.startswith("<svg")


def test_a_drawing_is_saved(tmp_path: Any) -> None:
    drawing = op.draw(x * 2)
    assert drawing.save(tmp_path / "x.svg").read_text() == drawing.svg == drawing._repr_svg_()


@given(st.data())
def test_layouts_keep_order_distance_and_direction(data: st.DataObject) -> None:
    n = data.draw(st.integers(0, 12))
    order = list(range(n))
    pairs = [(i, j) for j in order for i in range(j)]
    chosen = data.draw(st.lists(st.sampled_from(pairs), max_size=30)) if pairs else []
    widths = {i: data.draw(st.floats(1, 200)) for i in order}
    layout = layered(order, chosen, widths)
    assert set(layout.bends) == set(chosen)
    for start, end in chosen:
        assert layout.layers[start] < layout.layers[end]
        between = [layer for _, layer in layout.bends[start, end]]
        assert between == list(range(layout.layers[start] + 1, layout.layers[end]))
    for layer in set(layout.layers.values()):
        row = sorted(
            (k for k in order if layout.layers[k] == layer), key=layout.centers.__getitem__
        )
        for a, b in pairwise(row):
            gap = layout.centers[b] - layout.centers[a] - (widths[a] + widths[b]) / 2
            assert gap > 13.9
    for k in order:
        assert widths[k] / 2 <= layout.centers[k] + 1e-6
        assert layout.centers[k] + widths[k] / 2 <= layout.width + 1e-6


def test_the_style_of_a_picture_is_for_itself_alone() -> None:
    svg = op.draw(x * 2).svg
    (style,) = re.findall("<style>(.*?)</style>", svg, re.S)
    selectors = re.findall(r"([^{}]+){[^}]*}", style)
    assert len(selectors) > 5
    assert all(each.strip().startswith(".occelo-graph ") for each in selectors)
    assert ET.fromstring(svg).get("class") == "occelo-graph"


def test_notebooks_show_variables_and_graphs() -> None:
    loss = ot.sum(x * y)
    loss.name = "loss"
    graph = og.FunctionGraph([x, y], [loss])
    for shown, text in ((loss, "&lt;loss: float64 ()&gt;"), (graph, "x, y")):
        html = shown._repr_html_()
        assert html is not None
        assert text in html
        assert "<svg" in html
    assert loss._repr_latex_() == r"$\displaystyle \sum_{\mathrm{axis}\;0} x \, y$"


def test_the_text_of_a_variable_has_name_or_op_dtype_and_shape() -> None:
    assert repr(x) == "<x: float64 (?,)>"
    assert (
        repr(ot.exp(ot.tensor("t", dtype="float32", shape=(3, None))))
        == "<exp.out: float32 (3, ?)>"
    )
    assert repr(ot.dvector()) == "<float64 (?,)>"
    assert str(x) == "x"
