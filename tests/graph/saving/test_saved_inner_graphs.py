"""Saved graphs with graphs inside of graphs: each is in the file once, and the depth of nesting does not matter."""

from __future__ import annotations

import io
import json
import zipfile
from typing import Any

import numpy as np
import pytest

import occelo_graph as og
from occelo_graph import tensor as ot
from occelo_graph.canonical.saving import load, save
from occelo_graph.errors import SavedGraphError
from occelo_graph.inner_graph import OpFromGraph


def nested(depth: int, reads: int = 1) -> Any:
    """A graph as an op, which computes sin(x) * 1.5 as often as it is deep; each level calls the one below."""
    op: Any = None
    for _ in range(depth):
        v = ot.dvector()
        inner = v if op is None else sum((op(v) for _ in range(reads - 1)), op(v))
        op = OpFromGraph([v], [ot.sin(inner) * 1.5])
    return op


def saved(outputs: list[Any], inputs: list[Any]) -> bytes:
    file = io.BytesIO()
    save(file, outputs, inputs)
    return file.getvalue()


@pytest.mark.parametrize("gradient", [False, True])
def test_graphs_in_graphs_of_any_depth_are_saved(gradient: bool) -> None:
    x = ot.dvector("x")
    y = nested(400)(x)
    outputs = [og.grad(y.sum(), x)] if gradient else [y]
    found = load(io.BytesIO(saved(outputs, [x])))
    assert og.digest(found.outputs, found.inputs) == og.digest(outputs, [x])


def test_a_graph_that_occurs_twice_is_in_the_file_once() -> None:
    x = ot.dvector("x")
    op = nested(12, reads=2)  # 4,096 calls of the innermost graph
    data = saved([op(x), op(x + 1.0)], [x])
    text = json.loads(zipfile.ZipFile(io.BytesIO(data)).read("graph.json"))
    assert len(text["graphs"]) == 12
    found = load(io.BytesIO(data))
    value, expected = np.linspace(-1.0, 1.0, 5), np.linspace(-1.0, 1.0, 5)
    (result, _) = og.evaluate(found.outputs, {found.inputs[0]: value})
    for level in range(12):
        expected = np.sin(expected * (1.0 if level == 0 else 2.0)) * 1.5
    np.testing.assert_allclose(result, expected, rtol=1e-13)


@pytest.mark.parametrize("row", [1, 2, -1, True, "0"])
def test_a_graph_that_is_not_in_the_table_before_is_refused(row: Any) -> None:
    x = ot.dvector("x")
    data = saved([nested(2)(x)], [x])
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    text = json.loads(members["graph.json"])
    (call,) = (node for node in text["graphs"][1]["data"]["nodes"] if node[0].get("coded"))
    call[0]["data"]["graph"]["data"] = row
    members["graph.json"] = json.dumps(text).encode()
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    file.seek(0)
    with pytest.raises(SavedGraphError):
        load(file)
