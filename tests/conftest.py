"""Fixtures of all tests."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator

import pytest


@pytest.fixture(scope="session", autouse=True)
def own_compile_directory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Keep compiled code of tests out of the user's directory."""
    if importlib.util.find_spec("occelo_link") is None:
        yield
        return
    import occelo_link  # noqa: F401 declares the option
    from occelo_graph.config import config

    config.base_compiledir = str(tmp_path_factory.mktemp("occelo"))
    yield
    del config.base_compiledir


@pytest.fixture(scope="session", autouse=True)
def rewrites_that_fail_are_errors() -> Iterator[None]:
    """A rule that fails fails the test, instead of being left out with a warning."""
    if importlib.util.find_spec("occelo_rewrite") is None:
        yield
        return
    import occelo_rewrite  # noqa: F401 declares the option
    from occelo_graph.config import config

    config.on_opt_error = "raise"
    yield
    del config.on_opt_error
