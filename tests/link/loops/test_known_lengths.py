"""Tensors of one shape in one nest of loops, some with more static lengths than others."""

from __future__ import annotations

import os
from itertools import product
from typing import Any

import numpy as np
import pytest

import occelo_graph as og
from occelo_graph import tensor as ot
from occelo_link.blocks.linker import BlockLinker
from occelo_link.c.linker import CLinker
from occelo_link.native.linker import NativeLinker
from occelo_testing.loop_programs import has_compiler

LINKERS = [NativeLinker, *([CLinker] if has_compiler() else [])]
THOROUGH = os.environ.get("HYPOTHESIS_PROFILE") == "thorough"
SHAPES = [(3, 1), (1, 3), (0, 1), (2, 3, 1)]


def knowing(kind: str, x: Any, shape: tuple[int, ...]) -> Any:
    if kind == "specified":
        return ot.specify_shape(x, shape)
    if kind == "alloc":
        return ot.alloc(x, *shape)
    if kind == "last":
        return ot.specify_shape(x, (*[None] * (len(shape) - 1), shape[-1]))
    return ot.specify_shape(x, (shape[0], *[None] * (len(shape) - 1)))


@pytest.mark.sampled(3)
@pytest.mark.parametrize("linker", LINKERS)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_all_are_right_in_any_order(linker: type[BlockLinker], shape: tuple[int, ...]) -> None:
    value = np.arange(1.0, 1.0 + np.prod(shape)).reshape(shape)
    wanted = [value * value + 0.5, np.sin(value) * 2.0, (value * 3.0).sum(axis=-1)]
    orders = ((0, 1), (1, 0), (0, 2), (0, 1, 2))
    if linker is CLinker and not THOROUGH:  # the loop programs are those of machine code
        orders = ((1, 0),) if shape[0] == 3 else ((0, 1, 2),)
    for kind, order in product(("specified", "alloc", "first", "last"), orders):
        x = og.TensorType("float64", (None,) * len(shape))("x")
        known = knowing(kind, x, shape)
        outputs = [x * x + 0.5, ot.sin(known) * 2.0, (known * 3.0).sum(axis=-1)]
        fgraph = og.FunctionGraph([x], [outputs[i] for i in order], clone=True)
        found = linker().accept(fgraph).make_function()(value)
        for one, i in zip(found, order, strict=True):
            assert one.shape == wanted[i].shape
            np.testing.assert_allclose(one, wanted[i], rtol=1e-14)
