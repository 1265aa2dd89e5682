"""The code in the package's README runs with what the package declares."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from types import ModuleType

import pytest

README = Path(__file__).parents[2] / "packages" / "rewrite" / "README.md"


def test_readme_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"^```python\n(.*?)^```$", README.read_text(), flags=re.M | re.S)
    assert blocks
    module = ModuleType("readme")
    monkeypatch.setitem(sys.modules, "readme", module)
    exec(compile("\n".join(blocks), str(README), "exec"), module.__dict__)
