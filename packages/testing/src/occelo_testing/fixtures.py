"""Fixtures of tests of whole functions: every linker, skipped where its library is missing. For a file ``conftest.py``."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterator

import pytest

from occelo_graph.config import config
from occelo_rewrite import limits
from occelo_testing.loop_programs import has_compiler

LINKERS = ["native", "vm", "py", "c", "c|py", "numba", "jax", "pytorch"]
LIBRARIES = {"numba": "numba", "jax": "jax", "pytorch": "torch"}
HAS_COMPILER = has_compiler()


@pytest.fixture(params=LINKERS)
def mode(request: pytest.FixtureRequest) -> str:
    """Every linker, as the name of a mode."""
    name: str = request.param
    if name.startswith("c") and not HAS_COMPILER:
        pytest.skip("there is no C compiler on this machine")
    library = LIBRARIES.get(name)
    if library is not None and importlib.util.find_spec(library) is None:
        pytest.skip(f"{library} is not installed; the session `backends` has it")
    return name


@pytest.fixture(scope="session", autouse=True)
def graphs_of_pytorch_run_as_they_are() -> Iterator[None]:
    """Compiling each of hundreds of functions by torch.compile would take an hour."""
    config.pytorch__compile = False
    yield
    del config.pytorch__compile


@pytest.fixture
def allowed(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[int], None]]:
    """A function that sets how often each rule may apply in a rewriter; rewriters that stop warn."""

    def allow(most: int) -> None:
        monkeypatch.setattr(limits, "LEAST", most)

    with config.change_flags(optdb__on_limit="warn", optdb__max_use_ratio=0.0):
        yield allow
