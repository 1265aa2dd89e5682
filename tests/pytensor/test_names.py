"""The list of PyTensor's public names in docs/ is that of the PyTensor that is installed."""

from __future__ import annotations

import runpy
from importlib.util import find_spec
from pathlib import Path

import pytensor
import pytest

OF_LIBRARIES = {"graph.rewriting.kanren": "kanren", "link.jax": "jax"}
SOMETIMES = {"as_sparse_or_tensor_variable", "var"}
"""Functions for which the order of imports decides whether a package lists them: one of another module, and one that a module of the same name
replaces when it is imported.
"""
DOCS = Path(__file__).parents[2] / "docs"


def _by_place(text: str) -> dict[str, set[str]]:
    rows = (line.split(":") for line in text.splitlines()[1:])
    return {place: set(names.split()) for place, names in rows}


def test_the_list_of_names_is_complete() -> None:
    text = (DOCS / "names_of_pytensor.txt").read_text()
    if text.splitlines()[0] != f"# PyTensor {pytensor.__version__}":
        pytest.skip(f"the list is of another version than {pytensor.__version__}")
    listed = _by_place(text)
    collected = _by_place(runpy.run_path(str(DOCS / "names_of_pytensor.py"))["collect"]())
    for place, names in collected.items():
        assert names ^ listed[place] <= SOMETIMES, place
    # modules that are not imported, since their libraries are not installed
    unknown = tuple(place for place, name in OF_LIBRARIES.items() if find_spec(name) is None)
    assert [
        place for place in listed if place not in collected and not place.startswith(unknown)
    ] == []
