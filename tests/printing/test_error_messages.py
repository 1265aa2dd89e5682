"""Error messages show variables as formulas where the package is imported, and else by their ops."""

from __future__ import annotations

import subprocess
import sys

WITHOUT = """
import sys
import pytest
import occelo_graph.tensor as ot

x = ot.dvector("x")
assert "occelo_printing" not in sys.modules
with pytest.raises(TypeError, match=r"^exp.* has no value before the graph runs") as caught:
    ot.exp(x).__array__()
assert "exp(x)" not in str(caught.value)
with pytest.raises(TypeError, match=r"^x has no value before the graph runs"):
    x.__array__()
import occelo_printing

assert "occelo_printing.formulas" not in sys.modules
with pytest.raises(TypeError, match=r"^exp\\(x\\).* has no value before the graph runs"):
    ot.exp(x).__array__()
"""


def test_messages_show_formulas_once_the_package_is_imported() -> None:
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT], capture_output=True, text=True, check=False, timeout=300
    )
    assert not done.returncode, done.stderr
