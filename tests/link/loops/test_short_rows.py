"""Rows that are shorter than vectors: elements, and reductions along either axis, are computed column by column."""

from __future__ import annotations

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
SHAPES = [
    (7, 3),
    (8, 1),
    (8, 2),
    (13, 3),
    (60, 4),
    (9, 6),
    (9, 7),
    (2, 11, 5),
    (2049, 3),
    (0, 3),
    (8, 0),
]


def graphs(x: Any, r: Any) -> list[Any]:
    column = r[..., None]
    heavy = ot.exp(x - column) * ot.log1p(ot.abs(x)) * ot.sigmoid(x + column)
    return [
        ot.exp(x - column), heavy, heavy[..., ::-1] + 1, heavy.sum(axis=-1), (x * column).sum(axis=-2),
        x.sum(axis=-2), ot.exp(x - column).sum(), ot.eq(x, column).any(axis=-2), heavy.sum(axis=-2),
    ]  # fmt: skip


def expected(x: Any, r: Any) -> list[Any]:
    column = r[..., None]
    heavy = np.exp(x - column) * np.log1p(np.abs(x)) / (1 + np.exp(-x - column))
    return [
        np.exp(x - column), heavy, heavy[..., ::-1] + 1, heavy.sum(axis=-1), (x * column).sum(axis=-2),
        x.sum(axis=-2), np.exp(x - column).sum(), (x == column).any(axis=-2), heavy.sum(axis=-2),
    ]  # fmt: skip


@pytest.mark.parametrize("linker", LINKERS)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_rows_of_all_lengths(linker: type[BlockLinker], shape: tuple[int, ...], dtype: str) -> None:
    rng = np.random.default_rng(0)
    values = [rng.normal(size=s).astype(dtype) for s in (shape, shape[:-1])]
    values[0][..., -1:] = values[1][..., None]
    inputs = [og.TensorType(dtype, v.shape)("x") for v in values]
    fgraph = og.FunctionGraph(inputs, graphs(*inputs), clone=True)
    found = linker().accept(fgraph).make_function()(*values)
    tolerance = 1e-13 if dtype == "float64" else 1e-4
    for one, other in zip(found, expected(*values), strict=True):
        np.testing.assert_allclose(one, other, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("linker", LINKERS)
def test_largest_elements_and_steps_backwards(linker: type[BlockLinker]) -> None:
    x = og.TensorType("float64", (40, 3))("x")
    value = np.random.default_rng(1).normal(size=(40, 3))
    value[5, 1] = np.nan
    back = x[::-2, ::-1]
    outputs = [back.max(axis=0), (back * back).sum(axis=0), ot.tanh(back).max(axis=1)]
    found = linker().accept(og.FunctionGraph([x], outputs, clone=True)).make_function()(value)
    other = value[::-2, ::-1]
    wanted = [other.max(axis=0), (other * other).sum(axis=0), np.tanh(other).max(axis=1)]
    for one, each in zip(found, wanted, strict=True):
        np.testing.assert_allclose(one, each, rtol=1e-14)
