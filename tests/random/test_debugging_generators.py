"""`DebugMode` finds generators that ops share, and tells of none where a draw overwrites its own."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import occelo_compile as oc
import occelo_graph as og
from occelo_compile.debugging.debug_mode import DebugMode
from occelo_compile.debugging.errors import BadViewMap
from occelo_random import functions as random


def test_generators_that_are_shared_or_not() -> None:
    class Same(og.Op):
        def infer(self, rng: Any) -> Any:
            return rng

        def evaluate(self, rng: Any) -> Any:
            return rng

    rng = random.rng("rng")
    f = oc.function([rng], Same()(rng), mode=DebugMode(linker="py"))
    with pytest.raises(BadViewMap, match="output 0 of Same shares memory with input 0"):
        f(np.random.default_rng(1))
    # a draw that overwrites its generator is told neither of a copy nor of a view
    following, x = rng.normal(size=2)
    f = oc.function([rng], [x, following.normal(size=2)[1]], mode=DebugMode(linker="py"))
    assert any(node.op.destroy_map for node in f.maker.fgraph.apply_nodes)
    g = np.random.default_rng(1)
    for found in f(np.random.default_rng(1)):
        np.testing.assert_array_equal(found, g.normal(size=2))
