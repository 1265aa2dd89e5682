"""Fixtures of tests of JAX and PyTorch: each backend, skipped where its library is missing."""

from __future__ import annotations

import importlib.util

import pytest

LIBRARIES = {"jax": "jax", "pytorch": "torch"}


def _installed(name: str) -> str:
    library = LIBRARIES[name]
    if importlib.util.find_spec(library) is None:
        pytest.skip(f"{library} is not installed")
    return name


@pytest.fixture(params=LIBRARIES)
def backend(request: pytest.FixtureRequest) -> str:
    """The name of a linker to a library that traces, if that is installed."""
    return _installed(request.param)
