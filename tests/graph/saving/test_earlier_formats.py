"""Saved graphs of a later format, and pickles of another format, are refused before anything of them is looked up."""

from __future__ import annotations

import io
import json
import pickle
import zipfile

import pytest

import occelo_graph as og
from occelo_graph import tensor as ot
from occelo_graph.ir import pickling

FORMAT_1 = (
    b"\x80\x04\x8c\x18occelo_graph.ir.pickling\x94\x8c\x07_output\x94\x93\x94h\x00\x8c\x11_with_empty_nodes\x94\x93\x94]\x94\x8c"
    b"\x1doccelo_graph.tensors.variable\x94\x8c\x0eTensorVariable\x94\x93\x94aC\x04\x01\x00\x00\x00\x94C\x04\x00\x00\x00\x00\x94\x87"
    b"\x94R\x94}\x94(\x8c\x03ops\x94]\x94\x8c\x17occelo_graph.ops.linalg\x94\x8c\x08Cholesky\x94\x93\x94"
)
"""How a pickle of that time began: its first op is of a module that is no more."""


def test_a_saved_graph_of_a_later_format_is_refused_with_its_number() -> None:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("graph.json", json.dumps({"format": "occelo-graph", "version": 3}))
    with pytest.raises(og.SavedGraphError, match="format version 3; this version reads up to 2"):
        og.load(file)


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
