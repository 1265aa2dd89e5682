"""Reductions along other axes than the last one that have few terms, whose totals stay in registers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import occelo_graph as og
from occelo_link import make_linker
from occelo_link.loops.build import lower_graph
from occelo_link.loops.ir.program import For
from occelo_testing.loop_programs import has_compiler

LINKERS = ["native", *(["c"] if has_compiler() else []), "numba"]
REDUCTIONS = {"float64": "sum max min prod mean", "float32": "sum max prod", "int16": "sum max"}


@pytest.mark.parametrize("linker", LINKERS)
@pytest.mark.parametrize("dtype", REDUCTIONS)
def test_random_shapes(linker: str, dtype: str) -> None:
    for seed in range(25 if linker == "native" else 6):
        rng = np.random.default_rng(seed)
        ndim = int(rng.integers(2, 5))
        shape = [*rng.choice([1, 2, 3, 4, 5], ndim - 1), rng.choice([0, 1, 7, 40])]
        axes = tuple(sorted(rng.choice(ndim - 1, rng.integers(1, ndim), replace=False).tolist()))
        names = REDUCTIONS[dtype].split()
        name = names[seed % len(names)]
        step = int(rng.choice([1, -1, 2]))
        whole: Any = rng.uniform(-3, 3, [n * abs(step) for n in shape]).astype(dtype)
        values = whole[(slice(None, None, step),) * ndim]
        if dtype != "int16" and values.size and name != "prod":
            values.flat[rng.integers(values.size)] = rng.choice([np.nan, np.inf, -0.0])
        static = [int(n) if i in axes or rng.random() < 0.5 else None for i, n in enumerate(shape)]
        x = og.TensorType(dtype, static)("x")
        outputs = [getattr(y, name)(axis=axes) for y in (x, x * x)]
        graph = og.FunctionGraph([x], outputs, clone=True)
        results = make_linker(linker).accept(graph).make_function()(values)
        for result, y in zip(results, (values, values * values), strict=True):
            with np.errstate(invalid="ignore"):
                wanted = getattr(y, name)(axis=axes)
            np.testing.assert_allclose(result, wanted, 1e-5 if dtype == "float32" else 1e-13, 1e-5)


@pytest.mark.parametrize("rows", [1, 4, 8, 9])
def test_which_have_no_accumulators_in_memory(rows: int) -> None:
    x = og.TensorType("float64", (rows, None))("x")
    graph = og.FunctionGraph([x], [(x * x).sum(axis=0)], clone=True)
    program = lower_graph(graph.inputs, graph.outputs, graph.toposort())
    loops = [s for block in program.blocks() for s in block if isinstance(s, For)]
    assert (len(loops) == 1) == (rows <= 8)
