"""Fixtures of tests of whole functions: every linker, skipped where its library is missing. For a file ``conftest.py``."""

from __future__ import annotations

import importlib.util
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

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


@pytest.fixture(scope="module", autouse=True)
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


@pytest.fixture
def fresh(tmp_path: Path) -> Iterator[Path]:
    """A compile directory of the test's own."""
    with config.change_flags(compiledir=str(tmp_path / "compiled")):
        yield tmp_path / "compiled"


@pytest.fixture(autouse=True)
def without_the_cache() -> Iterator[None]:
    """Functions that are never asked for again are not kept, and no warning of theirs is told."""
    config.cache = False
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
    del config.cache


@pytest.fixture(autouse=True)
def surroundings(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """For functions whose lengths or values decide shapes: they are compiled anew, with warnings, in a directory of their own."""
    compiled = str(tmp_path_factory.mktemp("compiled"))
    with config.change_flags(compiledir=compiled), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        config.pytorch__compile = False
        yield
        del config.pytorch__compile
