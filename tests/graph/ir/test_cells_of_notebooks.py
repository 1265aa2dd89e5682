"""Tests of what messages say of variables that cells of a notebook made."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from types import SimpleNamespace

import pytest

from occelo_graph.provenance import Source

CELL = str(Path(tempfile.gettempdir()) / "ipykernel_17" / "3246945847.py")


def shell(**members: object) -> SimpleNamespace:
    """A module that looks as IPython does, with a running shell that has some members."""
    return SimpleNamespace(get_ipython=lambda: SimpleNamespace(**members))


def test_a_line_of_a_cell_is_named_by_its_cell(monkeypatch: pytest.MonkeyPatch) -> None:
    compiler = SimpleNamespace(
        format_code_name=lambda name: ("Cell", "In[3]") if name == CELL else None
    )
    monkeypatch.setitem(sys.modules, "IPython", shell(compile=compiler))
    assert str(Source(CELL, 2, "<module>")) == "In[3]:2"
    assert str(Source("model.py", 2, "f")) == "model.py:2"


@pytest.mark.parametrize("module", [SimpleNamespace(get_ipython=lambda: None), shell(), None])
def test_files_stay_where_no_shell_knows_cells(
    module: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "IPython", module)
    assert str(Source(CELL, 2, "<module>")) == f"{CELL}:2"


def test_a_real_shell_names_its_cells() -> None:
    ipython = pytest.importorskip("IPython", reason="IPython comes with the tools of the site")
    code = "import occelo_graph.tensor as ot\n\nx = ot.dvector('x')\nprint(x.source)"
    made = ipython.core.interactiveshell.InteractiveShell.instance()
    try:
        made.run_cell(code, store_history=True)
        assert str(made.user_ns["x"].source) == "In[1]:3"
    finally:
        type(made).clear_instance()
