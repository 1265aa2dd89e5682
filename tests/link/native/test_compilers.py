"""The C compiler of the package ``ziglang``, on machines without another one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from occelo_link.c.compiler import find_compiler
from occelo_testing.loop_programs import Compiled, compiled_c, map_program


def doubled(b: Any, x: Any) -> Any:
    return b.op("add", x, x)


@pytest.mark.measured(0)
def test_ziglang_compiles_where_nothing_else_does(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    pytest.importorskip("ziglang", reason="ziglang is not installed; thorough runs have it")
    monkeypatch.delenv("CC", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert find_compiler()[-2:] == ["ziglang", "cc"]
    program = map_program(doubled)
    (call,) = compiled_c(tmp_path / "made", program)
    x = np.linspace(-1.0, 1.0, 21)
    assert call(x)[0].tobytes() == Compiled(program)(x)[0].tobytes()
