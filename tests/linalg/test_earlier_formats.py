"""A saved graph of the format before, when linear algebra was a part of the core, is read."""

from __future__ import annotations

import io
import json
import zipfile
from typing import Any

import numpy as np

import occelo_graph as og
import occelo_linalg  # noqa: F401  (without it the graph cannot be read)

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
