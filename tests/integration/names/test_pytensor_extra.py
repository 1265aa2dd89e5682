"""`occelo.pytensor` where its package is not installed."""

from __future__ import annotations

import importlib.util

import pytest

import occelo.pytensor as bridge


@pytest.mark.skipif(
    importlib.util.find_spec("occelo_pytensor") is not None, reason="the package is installed"
)
def test_its_names_name_the_extra_and_others_are_no_attributes() -> None:
    assert {"from_pytensor", "use", "nutpie_model", "doctor"} <= set(dir(bridge))
    with pytest.raises(ModuleNotFoundError, match=r"needs the extra occelo\[pytensor\]"):
        _ = bridge.from_pytensor
    assert not hasattr(bridge, "nothing")
