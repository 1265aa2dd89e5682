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


def sums_of_rows(x: Any, y: Any, m: Any) -> list[Any]:
    """Reductions over the last axis, one value of which (``x[:, 0]``) is the same in a row."""
    pairs = x[:, None, :] - y[None, :, :]
    return [
        m.sum(pairs * pairs, axis=-1),
        m.max(pairs, axis=-1),
        m.sum((pairs + 1) * x[:, 0][:, None, None], axis=-1) + x[:, 0][:, None],
        m.sum(x[:, ::-1] * y[0], axis=-1),
    ]


@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "int16"])
@pytest.mark.parametrize("static", [False, True])
def test_sums_over_rows_of_unknown_length(dtype: str, static: bool) -> None:
    """Eight rows at a time if they turn out to be short, with the same bits as one after the other (as C computes)."""
    rng = np.random.default_rng(0)
    columns = (1, 2, 7, 8, 9, 10, 15, 16, 17, 40, 2049)
    shapes = [(9, n) for n in columns] + [(rows, 10) for rows in (0, 1, 8, 17)]
    compiled: list[Any] = []
    for rows, n in shapes:
        x, y = (rng.normal(size=s) * 50 for s in ((rows, n), (11, n)))
        x, y = x.astype(dtype), y.astype(dtype)
        if dtype.startswith("float") and rows > 2:
            x[1, 0], x[2, -1], y[3, 0] = np.inf, np.nan, -0.0
        if static or not compiled:
            length = n if static else None
            inputs: list[Any] = [og.TensorType(dtype, (None, length))(name) for name in "xy"]
            outputs: list[Any] = sums_of_rows(inputs[0], inputs[1], ot)
            fgraph = og.FunctionGraph(inputs, outputs, clone=True)
            compiled = [linker().accept(fgraph.clone()).make_function() for linker in LINKERS]
        results = [call(x, y) for call in compiled]
        with np.errstate(all="ignore"):
            wanted = sums_of_rows(x, y, np)
        for one, each in zip(results[0], wanted, strict=True):
            scale = np.max(np.abs(np.nan_to_num(each, posinf=0, neginf=0)), initial=1)
            tolerance = 1e-4 if dtype == "float32" else 1e-12
            np.testing.assert_allclose(one, each, rtol=tolerance, atol=tolerance * scale)
        for other in results[1:]:
            for one, each in zip(results[0], other, strict=True):
                np.testing.assert_array_equal(one, each)


@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "bool"])
def test_rows_are_added_one_after_the_other(dtype: str) -> None:
    """Several rows are added at a time, and leave over up to three: the bits are those of one row after the other."""
    rng = np.random.default_rng(0)
    lengths = [(r, c) for r in (0, 1, 3, 4, 5, 7, 8, 9, 4001) for c in (0, 1, 7, 8, 17)]
    shapes: list[list[int | None]] = [[None, None], [None, 7], [9, None], [8, 17], [4001, 8]]
    for shape in shapes:
        x = og.TensorType(dtype, shape)("x")
        several = og.TensorType(dtype, [2, *shape])("y")
        outputs: list[Any] = [x.sum(axis=0), several.sum(axis=1), (x * x).sum(axis=0)]
        outputs += [x.max(axis=0)] if shape[0] == 9 else []
        fgraph = og.FunctionGraph([x, several], outputs, clone=True)
        calls = [linker().accept(fgraph.clone()).make_function() for linker in LINKERS]
        for own in lengths:
            if any(n not in (None, m) for n, m in zip(shape, own, strict=True)):
                continue
            values = (rng.normal(size=(3, *own)) * 50).astype(dtype)
            a, b = values[0], values[1:]
            if dtype.startswith("float") and a.size:
                a[0, 0], a[-1, -1] = -0.0, np.nan
            out = np.int64 if dtype == "bool" else a.dtype
            wanted = [np.zeros(own[1], out), np.zeros((2, own[1]), out), np.zeros(own[1], out)]
            for row in range(own[0]):
                for total, term in zip(wanted, (a[row], b[:, row], a[row] * a[row]), strict=True):
                    total += term
            for call in calls:
                results = call(a, b)
                for one, each in zip(results, wanted, strict=False):
                    np.testing.assert_array_equal(one, each)
                for one in results[3:]:
                    np.testing.assert_array_equal(one, a.max(axis=0))
