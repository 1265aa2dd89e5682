"""The backends that belong to other libraries, each with the reason why it may be missing here."""

from __future__ import annotations

import importlib.util

import pytest

LIBRARIES = {"jax": "jax", "pytorch": "torch"}


@pytest.fixture(params=LIBRARIES)
def backend(request: pytest.FixtureRequest) -> str:
    """The name of a linker whose library is installed."""
    name: str = request.param
    if importlib.util.find_spec(LIBRARIES[name]) is None:
        pytest.skip(f"{LIBRARIES[name]} is not installed")
    return name
