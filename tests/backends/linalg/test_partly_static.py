"""Ops of linear algebra whose core lengths are static for one dimension, and dynamic for all others.

The table of examples has the ops; each is applied to the leading parts of its operands, so that matrices are tiny, too.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np
import pytest

import occelo_graph as og
from occelo_graph import Op
from occelo_graph.ir.traversal import toposort
from occelo_graph.tensors.type import TensorType
from occelo_link import make_linker
from occelo_link.capabilities import BACKENDS, is_installed
from occelo_testing.examples import EXAMPLES
from occelo_testing.fixtures import surroundings
from occelo_testing.loop_programs import has_compiler

__all__ = ["surroundings"]

THOROUGH = os.environ.get("HYPOTHESIS_PROFILE") == "thorough"
HERE = [
    b
    for b in BACKENDS
    if b not in ("py", "vm") and is_installed(b) and (not b.startswith("c") or has_compiler())
]
SIZES = (1, 2, 3, 99) if THOROUGH else (2,)
FAMILIES = ("linalg", "blas")


@cache
def applied() -> dict[str, tuple[Op, list[Any]]]:
    """The ops of the examples that have a signature, and arrays that each is applied to."""
    found: dict[str, tuple[Op, list[Any]]] = {}
    for example in EXAMPLES:
        if example.family not in FAMILIES:
            continue
        inputs = [TensorType(a.dtype, a.shape).make_variable() for a in example.arguments]
        nodes = toposort([example.function(*inputs)])
        for node in nodes:
            kinds = [v.type for v in (*node.inputs, *node.outputs)]
            if not hasattr(node.op, "signature") or not all(k.is_array for k in kinds):
                continue
            name = f"{node.op}({', '.join(f'{k.dtype} {k.ndim}' for k in kinds)})"
            if name not in found:
                values = og.evaluate(
                    list(node.inputs), dict(zip(inputs, example.arguments, strict=True))
                )
                found[name] = node.op, [np.asarray(a) for a in values]
    return found


def leading(arrays: list[Any], most: int) -> list[Any]:
    return [np.ascontiguousarray(a[(slice(most),) * a.ndim]) if a.ndim else a for a in arrays]


def partly_static(arrays: list[Any]) -> Iterator[list[TensorType]]:
    """Types of the arrays, of which one length is static, or one is dynamic."""
    for i, array in enumerate(arrays):
        for axis in range(array.ndim):
            for one in (True, False):
                yield [
                    TensorType(
                        a.dtype,
                        tuple(
                            n if ((i, axis) == (j, k)) is one else None
                            for k, n in enumerate(a.shape)
                        ),
                    )
                    for j, a in enumerate(arrays)
                ]


@pytest.mark.sampled(12)
@pytest.mark.parametrize("backend", HERE)
@pytest.mark.parametrize("name", applied())
def test_one_length_is_static_and_the_others_are_not(name: str, backend: str) -> None:
    op, values = applied()[name]
    for size in SIZES:
        arrays = leading(values, size)
        for types in partly_static(arrays):
            compare(op, types, arrays, backend)


def compare(op: Op, types: list[TensorType], arrays: list[Any], backend: str) -> None:
    """Compare a backend with the interpreter."""
    inputs = [kind.make_variable(f"x{i}") for i, kind in enumerate(types)]
    try:
        outputs: list[Any] = op(*inputs, return_list=True)
    except (TypeError, ValueError):
        return  # the leading parts do not fit the op
    with np.errstate(all="ignore"):
        try:
            expected: Any = og.evaluate(outputs, dict(zip(inputs, arrays, strict=True)))
        except (ValueError, IndexError, np.linalg.LinAlgError) as error:
            expected = type(error)
        vm, containers, results = (
            make_linker(backend).accept(og.FunctionGraph(inputs, outputs)).make_thunk()
        )
        for container, array in zip(containers, arrays, strict=True):
            container.value = array
        if isinstance(expected, type):
            with pytest.raises(expected):
                vm()
            return
        vm()
    for result, right in zip(results, expected, strict=True):
        shapes = [str(t) for t in types]
        assert np.shape(result.value) == np.shape(right), shapes
        np.testing.assert_allclose(result.value, right, 1e-3, 1e-4, err_msg=str(shapes))
