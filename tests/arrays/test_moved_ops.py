"""Ops that the graph package once had: what was saved then, printed parts, and parts without the family."""

from __future__ import annotations

import io
import subprocess
import sys
import zipfile
from typing import Any

import numpy as np
import pytest

import occelo_arrays as arrays
import occelo_compile as oc
import occelo_graph as og
from occelo_arrays.ops.parts.scatter import Scatter
from occelo_arrays.ops.parts.windows import SlidingWindow
from occelo_graph import tensor as ot
from occelo_testing.formulas import same_values

MOVED = {SlidingWindow, Scatter}
VALUE = np.array([0.1, 0.9, 0.2])
PLACES = np.array([0, 0, 1])
RESULTS = [[[0.1, 0.9], [0.9, 0.2]], [0.5, 0.9, 0.2], [0.025, 0.45, 0.2]]


def graph() -> tuple[list[Any], list[Any]]:
    x, i = ot.dvector("x"), ot.lvector("i")
    outputs = [arrays.sliding_window_view(x, 2), x.at[i].max(0.5), x.at[i].multiply(0.5)]
    assert {type(v.owner.op) for v in outputs} == MOVED
    return [x, i], outputs


def check(inputs: Any, outputs: Any) -> None:
    for found, expected in zip(
        og.evaluate(outputs, dict(zip(inputs, (VALUE, PLACES), strict=True))), RESULTS, strict=True
    ):
        np.testing.assert_allclose(found, expected)


def test_saved_graphs_of_the_version_before() -> None:
    """In a process of its own, which imports no family beforehand."""
    inputs, outputs = graph()
    stream, old = io.BytesIO(), io.BytesIO()
    og.save(stream, outputs, inputs)
    with zipfile.ZipFile(stream) as new, zipfile.ZipFile(old, "w") as written:
        for name in new.namelist():
            data = new.read(name)
            for cls in MOVED:
                assert name != "graph.json" or f"arrays:{cls.__name__}".encode() in data
                data = data.replace(
                    f'"arrays:{cls.__name__}"'.encode(), f'"graph:{cls.__name__}"'.encode()
                )
            written.writestr(name, data)
    loading = """
import io, sys, numpy as np, occelo_graph as og
graph = og.load(io.BytesIO(sys.stdin.buffer.read()))
assert not {type(v.owner.op).__name__ for v in graph.outputs} - {"SlidingWindow", "Scatter"}
values = dict(zip(graph.inputs, (np.array([0.1, 0.9, 0.2]), np.array([0, 0, 1]))))
print([v.round(12).tolist() for v in og.evaluate(graph.outputs, values)])
"""
    ran = subprocess.run(
        [sys.executable, "-c", loading], input=old.getvalue(), capture_output=True, check=True
    )
    assert ran.stdout.decode().strip() == str(RESULTS)


def test_printed_parts_that_stretch() -> None:
    pprint = pytest.importorskip("occelo_printing").pprint
    x, n = ot.dvector("x"), ot.lscalar("n")
    values = {x: np.array([0.5, -1.0, 2.0, 0.25]), n: np.array(2)}
    for made in (x.at[n:].max(-x[n:]), x.at[ot.stack([n, n])].min(ot.stack([0.5]))):
        inputs = {"x": x, "n": n}
        same_values(made, pprint(made), inputs, values)
        gradient = og.grad(made.sum(), x)
        same_values(gradient, pprint(gradient), inputs, values)


def test_a_scatter_overwrites_what_is_dead() -> None:
    x, i = ot.dvector("x"), ot.lvector("i")
    part = (x * 2.0).at[i].max(0.5)
    f = oc.function([x, i], part, mode="vm")
    (node,) = (n for n in f.maker.fgraph.apply_nodes if isinstance(n.op, Scatter))
    assert node.op.inplace
    np.testing.assert_allclose(f(VALUE, PLACES), [0.5, 1.8, 0.4])
    kept = oc.function([x, i], x.at[i].max(0.5), mode="vm")
    (node,) = (n for n in kept.maker.fgraph.apply_nodes if isinstance(n.op, Scatter))
    assert not node.op.inplace


def test_what_parts_do_without_the_family() -> None:
    """Sets and sums need no family. The others say that one is missing."""
    alone = """
import numpy as np, occelo_graph as og
from occelo_graph import families, tensor as ot
families._import_installed = lambda: None
x = ot.dvector("x")
print(og.evaluate(x.at[[0, 0]].add(1.0), {x: np.zeros(2)}).tolist())
for build in (lambda: x.at[[0]].max(1.0), lambda: x.at[[9]].get(mode="clip")):
    try:
        build()
    except TypeError as error:
        print(error)
"""
    ran = subprocess.run([sys.executable, "-c", alone], capture_output=True, check=True, text=True)
    assert ran.stdout.splitlines() == [
        "[2.0, 0.0]",
        "x.at[key] by a function of two numbers needs a family of ops that is not installed",
        "x.at[key] with a mode needs a family of ops that is not installed",
    ]
