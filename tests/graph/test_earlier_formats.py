"""Saved graphs of the format before are read; pickles of another format are refused before anything of them is looked up."""

from __future__ import annotations

import io
import json
import pickle
import zipfile
from typing import Any

import numpy as np
import pytest

import occelo_graph as og
import occelo_linalg  # noqa: F401  (without it the graph cannot be read)
from occelo_graph import tensor as ot
from occelo_graph.ir import pickling

VERSION_1 = """
{"format":"occelo-graph","version":1,"inputs":[0],"outputs":[5],"roots":[[0,0,"input"],[3,1,"constant",{"array":0}]],
"nodes":[[0,[0],[1],[0]],[1,[0,1],[2],[0]],[2,[2,3],[4],[0]],[3,[4],[5],[0]]],"types":[
{"type":"occelo_graph.tensors.type:TensorType","key":["float64",{"tuple":[null,null]}]},
{"type":"occelo_graph.tensors.type:TensorType","key":["float64",{"tuple":[]}]}],"ops":[
{"op":"occelo_graph.ops.shape.dimensions:DimShuffle","fields":{"input_ndim":2,"new_order":{"tuple":[1,0]}}},
{"op":"occelo_graph.ops.blas.products:Dot","fields":{}},
{"op":"occelo_graph.ops.elemwise.op:Elemwise","fields":{"scalar_op":{"static":"occelo_graph.ops.elemwise.scalar:ScalarFunction",
"fields":{"name":"add"}},"inplace":{"tuple":[]}}},
{"op":"occelo_graph.ops.linalg.cholesky:Cholesky","fields":{"on_error":"raise"}}],"names":{"0":"a"},"shared":{},
"sources":{"places":[["model.py",3,"<module>"]],"of":{"0":0,"1":0,"2":0,"4":0,"5":0}}}
"""
"""The text in a file of version 1, which named modules: cholesky(a @ a.T + 1), when linear algebra was a part of the core."""

FORMAT_1 = (
    b"\x80\x04\x8c\x18occelo_graph.ir.pickling\x94\x8c\x07_output\x94\x93\x94h\x00\x8c\x11_with_empty_nodes\x94\x93\x94]\x94\x8c"
    b"\x1doccelo_graph.tensors.variable\x94\x8c\x0eTensorVariable\x94\x93\x94aC\x04\x01\x00\x00\x00\x94C\x04\x00\x00\x00\x00\x94\x87"
    b"\x94R\x94}\x94(\x8c\x03ops\x94]\x94\x8c\x17occelo_graph.ops.linalg\x94\x8c\x08Cholesky\x94\x93\x94"
)
"""How a pickle of that time began: its first op is of a module that is no more."""


def saved(document: dict[str, Any]) -> io.BytesIO:
    file, array = io.BytesIO(), io.BytesIO()
    np.save(array, np.float64(1.0))
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("graph.json", json.dumps(document))
        archive.writestr("arrays/0.npy", array.getvalue())
    file.seek(0)
    return file


def test_a_saved_graph_that_names_modules_of_the_core_is_read() -> None:
    graph = og.load(saved(json.loads(VERSION_1)))
    a = np.array([[2.0, 0.5], [1.0, 3.0]])
    (value,) = og.evaluate(graph.outputs, {graph.inputs[0]: a})
    np.testing.assert_allclose(value, np.linalg.cholesky(a @ a.T + 1.0), rtol=1e-13)
    assert graph.inputs[0].name == "a"


def test_a_saved_graph_of_a_later_format_is_refused_with_its_number() -> None:
    with pytest.raises(og.SavedGraphError, match="format version 3; this version reads up to 2"):
        og.load(saved({**json.loads(VERSION_1), "version": 3}))


def test_a_pickle_of_the_format_before_is_refused_with_its_number() -> None:
    with pytest.raises(pickle.UnpicklingError, match=r"has format 1, and .* reads format 2"):
        pickle.loads(FORMAT_1)


def test_a_pickle_of_a_later_format_is_refused_with_its_number(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with monkeypatch.context() as later:
        later.setattr(pickling, "FORMAT", 3)
        kept = pickle.dumps(ot.exp(ot.dvector("x")))
    with pytest.raises(pickle.UnpicklingError, match=r"has format 3, and .* reads format 2"):
        pickle.loads(kept)
