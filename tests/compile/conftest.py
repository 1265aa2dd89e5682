"""The linkers that the tests of whole functions go over."""

from __future__ import annotations

import pytest

from occelo_link.c.compiler import CompilerMissing, find_compiler

LINKERS = ["native", "vm", "py", "c", "c|py"]


def _has_compiler() -> bool:
    try:
        find_compiler()
    except CompilerMissing:
        return False
    return True


HAS_COMPILER = _has_compiler()


@pytest.fixture(params=LINKERS)
def mode(request: pytest.FixtureRequest) -> str:
    """Every linker that exists, as the name of a mode."""
    name: str = request.param
    if name.startswith("c") and not HAS_COMPILER:
        pytest.skip("there is no C compiler on this machine")
    return name
