"""The list of PyTensor's public names in docs/ is that of the PyTensor that is installed."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytensor
import pytest

DOCS = Path(__file__).parents[2] / "docs"


def test_the_list_of_names_is_complete() -> None:
    listed = (DOCS / "names_of_pytensor.txt").read_text()
    if listed.splitlines()[0] != f"# PyTensor {pytensor.__version__}":
        pytest.skip(f"the list is of another version than {pytensor.__version__}")
    assert runpy.run_path(str(DOCS / "names_of_pytensor.py"))["collect"]() == listed
