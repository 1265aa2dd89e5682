"""float16 in loop programs: conversions bit by bit, and ops that round each result."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import pytest

import occelo_graph as og
from occelo_graph import tensor as ot
from occelo_link import make_linker
from occelo_link.capabilities import is_installed
from occelo_link.loops.build import find_lowering, lower_graph
from occelo_link.loops.ir.verify import verify
from occelo_testing.loop_interpreter import run_program
from occelo_testing.loop_programs import has_compiler

THOROUGH = os.environ.get("HYPOTHESIS_PROFILE") == "thorough"
# Numba takes a minute for what the others take a second for
LINKERS = [
    "native",
    *(["c"] if has_compiler() else []),
    *(["numba"] if THOROUGH and is_installed("numba") else []),
]
ALL = np.arange(65536, dtype=np.uint16).view(np.float16)
FINITE = ALL[np.isfinite(ALL)].astype(np.float64)


def run(linker: str, given: list[Any], outputs: list[Any], arguments: list[Any]) -> list[Any]:
    graph = og.FunctionGraph(given, outputs)
    assert all(find_lowering(node) for node in graph.toposort())
    found = make_linker(linker).accept(graph).make_function()(*arguments)
    return found if isinstance(found, list) else [found]


@pytest.mark.parametrize("linker", LINKERS)
def test_every_half_is_the_single_that_it_was(linker: str) -> None:
    h = ot.tensor("h", dtype="float16", shape=(None,))
    single, again = run(linker, [h], [h.astype("float32"), h * 1], [ALL])
    np.testing.assert_array_equal(single.view(np.uint32), ALL.astype(np.float32).view(np.uint32))
    np.testing.assert_array_equal(again, ALL)
    plain = ~np.isnan(ALL)
    np.testing.assert_array_equal(again.view(np.uint16)[plain], ALL.view(np.uint16)[plain])


def near_ties(dtype: Any) -> Any:
    """Numbers halfway between two halves, and their neighbours; the ends of the range; anything."""
    ordered = np.sort(FINITE)
    middle = ((ordered[1:] + ordered[:-1]) / 2).astype(dtype)
    around = [np.nextafter(middle, dtype(side)) for side in (-np.inf, np.inf)]
    bits = np.random.default_rng(1).integers(0, 2**63, 200_000, dtype=np.uint64)
    ends = [65519.999, 65520, -65520, 65535, 1e6, 1e30, 2.0**-25, 2.0**-26, np.inf, -np.inf, np.nan]
    kind = np.uint32 if dtype is np.float32 else np.uint64
    anything = bits.astype(kind).view(dtype)
    scales = np.exp(np.random.default_rng(2).uniform(-20, 12, 100_000)).astype(dtype)
    return np.concatenate(
        [middle, *around, np.array(ends, dtype), anything, scales, FINITE.astype(dtype)]
    )


@pytest.mark.parametrize("linker", LINKERS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_conversions_round_once(linker: str, dtype: Any) -> None:
    x = ot.tensor("x", dtype=np.dtype(dtype).name, shape=(None,))
    given = near_ties(dtype)
    with np.errstate(all="ignore"):
        expected = given.astype(np.float16)
    [found] = run(linker, [x], [x.astype("float16")], [given])
    plain = ~np.isnan(expected)
    np.testing.assert_array_equal(np.isnan(found), ~plain)
    np.testing.assert_array_equal(found.view(np.uint16)[plain], expected.view(np.uint16)[plain])


def operations(h: Any, x: Any, k: Any) -> dict[str, Any]:
    """The name, the result, and whether NumPy rounds where we do."""
    return {
        "add": (h + h * 3, True),
        "mul": (h * x.astype("float16"), True),
        "div": (h / 3, True),
        "exp": (ot.exp(h), True),
        "erf": (ot.erf(h), False),
        "sqrt": (ot.sqrt(abs(h)), True),
        "sum": (h.sum(), True),
        "columns": (h.sum(axis=0), False),
        "max": (h.max(axis=1), True),
        "argmax": (ot.argmax(h, axis=1), True),
        "mean": (h.mean(), True),
        "cumsum": (ot.cumsum(h, axis=1), False),
        "dot": (ot.dot(h, h.T), False),
        "softmax": (ot.softmax(h, axis=1), False),
        "slice": (h[:, ::2], True),
        "transposed": (h.T, True),
        "with float64": (h + x, True),
        "whole": (h.astype("int64"), True),
        "from whole": ((k * 3).astype("float16"), True),
        "compared": (h > 0, True),
        "constant": (h + np.float16(0.1), True),
        "constants": (h + np.arange(5, dtype=np.float16), True),
        "switch": (ot.switch(h > 0, h, 0), True),
        "branches": (ot.ifelse(k > 0, h * 2, h), True),
        "range": (ot.arange(0, 5, 0.5, dtype="float16"), True),
        "eye": (ot.eye(4, dtype="float16"), True),
        "zeros": (ot.zeros((2, 3), dtype="float16"), True),
        "set": (ot.set_subtensor(h[0], 1), True),
        "complex": (ot.complex(h, h), True),
        "input": (h, True),
    }


@pytest.mark.parametrize("linker", LINKERS)
def test_results_are_those_of_numpy(linker: str) -> None:
    h = ot.tensor("h", dtype="float16", shape=(None, None))
    x, k = ot.dvector("x"), ot.lscalar("k")
    random = np.random.default_rng(0)
    arguments = [random.normal(size=(4, 5)).astype(np.float16), random.normal(size=5), np.array(1)]
    chosen = operations(h, x, k)
    outputs = [output for output, _ in chosen.values()]
    expected = og.evaluate(outputs, dict(zip([h, x, k], arguments, strict=True)))
    found = run(linker, [h, x, k], outputs, arguments)
    for (name, (_, exact)), a, b in zip(chosen.items(), found, expected, strict=True):
        assert a.dtype == b.dtype, name
        if exact:
            np.testing.assert_array_equal(a, b, name)
        else:
            # NumPy rounds in between
            np.testing.assert_allclose(
                a.astype(float), b.astype(float), rtol=4e-3, atol=1e-3, err_msg=name
            )
    programs = lower_graph([h, x, k], outputs, og.toposort(outputs))
    verify(programs)


def test_the_interpreter_of_programs_agrees() -> None:
    h = ot.tensor("h", dtype="float16", shape=(None,))
    output = h * h + h
    given = np.array([0.1, 1e-7, 6e4, np.inf, -0.0, 3.14159], np.float16)
    with np.errstate(all="ignore"):
        [found] = run_program(lower_graph([h], [output], og.toposort([output])), [given])
        np.testing.assert_array_equal(found, given * given + given)
    assert found.dtype == np.float16
