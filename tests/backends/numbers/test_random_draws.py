"""Draws by keys on JAX and PyTorch: the numbers of the interpreter, up to the last digits."""

from __future__ import annotations

import os

import numpy as np
import pytest

import occelo_compile as oc
import occelo_graph as og
from occelo_graph import tensor as ot
from occelo_graph.config import config
from occelo_random import functions as random

THOROUGH = os.environ.get("HYPOTHESIS_PROFILE") == "thorough"
KEY = np.uint64(987654321987654321)


@pytest.mark.sampled(2)
@pytest.mark.filterwarnings("ignore")  # what runs in Python, and PyTorch's own
def test_the_same_numbers(backend: str) -> None:
    key = ot.scalar("key", dtype="uint64")
    keys = [random.fold_in(key, i) for i in range(5)]
    made = [
        random.normal(keys[0], size=300),
        random.exponential(keys[1], size=300),
        random.gamma(keys[2], [0.25, 1.0, 40.0], size=(100, 3)),
        random.poisson(keys[3], [12.0, 40.0, 1e5], size=(100, 3)),
        random.permutation(keys[4], 50),
        random.bits(key, (9,)),
    ]
    if backend == "pytorch" and not THOROUGH:
        made = made[1:2]  # its products of unsigned integers take minutes to build for the others
    expected = [np.asarray(og.evaluate(v, {key: KEY})) for v in made]
    with config.change_flags(pytorch__compile=False):
        found = oc.function([key], made, mode=backend)(KEY)
    for one, other in zip(found, expected, strict=True):
        if other.dtype.kind == "f":
            np.testing.assert_array_max_ulp(np.asarray(one), other, 64)
        else:
            np.testing.assert_array_equal(one, other)
