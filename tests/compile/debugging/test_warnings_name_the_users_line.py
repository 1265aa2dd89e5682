"""Warnings name the line of the user, however deep in the packages they are raised."""

from __future__ import annotations

import warnings
from pathlib import Path

import pytest

import occelo_compile as oc
from occelo_graph import provenance
from occelo_graph import tensor as ot
from occelo_graph.config import config


def test_a_cache_that_cannot_be_used(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    x = ot.dvector("x")
    with (
        config.change_flags(compiledir=str(tmp_path / "file")),
        warnings.catch_warnings(record=True) as seen,
    ):
        warnings.simplefilter("always")
        oc.function([x], x * 5.0, mode="native")
    assert [w.filename for w in seen if "does not keep compiled code" in str(w.message)] == [
        __file__
    ]


def test_unused_inputs() -> None:
    x, y = ot.dvectors("x", "y")
    with pytest.warns(UserWarning, match="is not needed") as seen:
        oc.function([x, y], x, on_unused_input="warn")
    assert seen[0].filename == __file__


def test_a_call_from_nowhere_warns_at_the_outermost_frame() -> None:
    with pytest.warns(RuntimeWarning, match="text") as seen:
        provenance.warn_user("text", RuntimeWarning)
    assert seen[0].filename == __file__
