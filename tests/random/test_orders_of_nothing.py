"""Orders of constants with and without elements."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import occelo_graph as og
from occelo_graph import tensor as ot
from occelo_random import functions as random


@pytest.mark.parametrize("shape", [(0,), (0, 2), (3,)])
@pytest.mark.parametrize("size", [None, (2,)])
def test_orders_of_constants_without_elements(shape: Any, size: Any) -> None:
    constant = np.arange(float(np.prod(shape))).reshape(shape)
    constant.flags.writeable = False
    rng = random.default_rng(1)
    for draw in (random.generators.permutation, random.generators.shuffle):
        _, made = draw(ot.constant(constant), rng=rng, size=size)
        (found,) = og.evaluate([made], {})
        assert found.shape == (*(size or ()), *shape)
        assert sorted(found.ravel()) == sorted(np.tile(constant.ravel(), len(found) if size else 1))
