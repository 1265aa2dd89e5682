"""Complex tensors as pairs of real ones in loop programs: values, special numbers, structure, branches."""

from __future__ import annotations

import itertools
import os
from typing import Any

import numpy as np
import pytest

import occelo_graph as og
from occelo_graph import tensor as ot
from occelo_link import make_linker
from occelo_link.capabilities import is_installed
from occelo_link.loops.build import find_lowering, lower_graph
from occelo_link.loops.ir.text import program_text
from occelo_link.loops.ir.verify import verify
from occelo_link.loops.python_only import COMPLEX, reason_for_python
from occelo_link.native.llvm import print_llvm
from occelo_testing.loop_interpreter import run_program
from occelo_testing.loop_programs import has_compiler

THOROUGH = os.environ.get("HYPOTHESIS_PROFILE") == "thorough"
# Numba takes a minute for what the others take a second for
LINKERS = [
    "native",
    *(["c"] if has_compiler() else []),
    *(["numba"] if THOROUGH and is_installed("numba") else []),
]
UNARY = (
    "exp log sqrt sin cos tan sinh cosh tanh abs angle conj real imag sigmoid exp2 expm1 log2 log10 log1p "
    "sqr reciprocal isnan isinf isfinite neg"
).split()
SPECIAL = [0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 1e308, 1e-310, 0.5, 710.0, -300.0, 1e-20]


def inputs() -> dict[str, Any]:
    return {
        "z": ot.tensor("z", dtype="complex128", shape=(None, None)),
        "w": ot.tensor("w", dtype="complex64", shape=(None,)),
        "x": ot.dmatrix("x"),
        "k": ot.lscalar("k"),
    }


def values() -> list[Any]:
    random = np.random.default_rng(4)
    z = random.normal(size=(5, 4)) + 1j * random.normal(size=(5, 4))
    w = (random.normal(size=4) + 1j * random.normal(size=4)).astype(np.complex64)
    return [z, w, random.normal(size=(5, 4)), np.array(1)]


def structures(z: Any, w: Any, x: Any, k: Any) -> dict[str, Any]:
    rows = ot.as_tensor(np.array([0, 2, 2]))
    wide = w.astype("complex128")
    return {
        "add": z + x,
        "mul": z * x * w,
        "div": z / w,
        "sub": x - z,
        "eq": ot.eq(z, z * w),
        "neq": ot.neq(z, ot.switch(x > 0, z, 1)),
        "dot": ot.dot(z, z.T),
        "real": ot.dot(z, x.T),
        "vector": ot.dot(z, w),
        "inner": ot.dot(w, w),
        "matmul": ot.matmul(ot.stack([z, z * 2]), z.T),
        "sum": z.sum(),
        "columns": (z * w).sum(axis=0),
        "mean": z.mean(axis=1),
        "cumsum": ot.cumsum(z, axis=0),
        "slice": z[1:, ::-1],
        "transposed": z.T + 1,
        "rows": z[rows],
        "join": ot.concatenate([z, z * 2]),
        "vector of": ot.stack([z[0, 0], z[1, 1] * 2]),
        "set": ot.set_subtensor(z[0], wide),
        "increment": ot.inc_subtensor(z[[1, 1]], z[:2]),
        "reshape": z.reshape((4, 5)),
        "switch": ot.switch(x > 0, z, z * 2),
        "branches": ot.ifelse(k > 0, z * 3, z.T.T - 1),
        "scalar branches": ot.ifelse(k > 5, z[0, 0], z.sum()),
        "shape": z.shape,
        "constant": z + np.array([1 + 2j, 3, 4, 5j]),
        "number": z * (2 + 1j),
        "alloc": ot.alloc(w, 3, 4),
        "input": w,
        "parts": ot.complex(x, x * 2),
        "wider": wide,
        "diagonal": ot.diagonal(z),
        "used twice": ot.exp(z) / ot.exp(z).sum(axis=0),
    }


def run(linker: str, given: list[Any], outputs: list[Any], arguments: list[Any]) -> list[Any]:
    graph = og.FunctionGraph(given, outputs)
    assert all(find_lowering(node) for node in graph.toposort())
    found = make_linker(linker).accept(graph).make_function()(*arguments)
    return found if isinstance(found, list) else [found]


@pytest.mark.parametrize("linker", LINKERS)
def test_results_are_those_of_numpy(linker: str) -> None:
    given = inputs()
    outputs = structures(**given)
    for name, key in itertools.product(UNARY, "zw"):
        outputs[f"{name}({key})"] = getattr(ot, name)(given[key])
    arguments = values()
    expected = og.evaluate(
        list(outputs.values()), dict(zip(given.values(), arguments, strict=True))
    )
    found = run(linker, list(given.values()), list(outputs.values()), arguments)
    for name, a, b in zip(outputs, found, expected, strict=True):
        assert a.dtype == b.dtype, name
        narrow = a.dtype in (np.float32, np.complex64)
        np.testing.assert_allclose(a, b, rtol=2e-6 if narrow else 1e-12, err_msg=name)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", list(structures(**inputs())))
@pytest.mark.parametrize("rows", [0, 1, 5])
def test_each_by_itself_is_well_formed_and_in_bounds(name: str, rows: int) -> None:
    given = inputs()
    output = structures(**given)[name]
    arguments = values()
    if rows != 5:
        if name in ("set", "increment", "rows", "reshape", "vector of", "scalar branches"):
            return
        arguments = [arguments[0][:rows], arguments[1], arguments[2][:rows], arguments[3]]
    order = og.toposort([output])
    program = lower_graph(list(given.values()), [output], order)
    verify(program)
    [expected] = og.evaluate([output], dict(zip(given.values(), arguments, strict=True)))
    if not any(":" in entry for entry in program.table):
        [found] = run_program(program, arguments)
        np.testing.assert_allclose(found, expected, rtol=1e-6)
    checked = lower_graph(list(given.values()), [output], order, check_bounds=True)
    verify(checked)
    [found] = run("native", list(given.values()), [output], arguments)
    np.testing.assert_allclose(found, expected, rtol=1e-6)


@pytest.mark.parametrize("size", [1, 7, 8, 9, 33])
@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_parts_are_loaded_and_stored_together(size: int, dtype: str) -> None:
    z = ot.tensor("z", dtype=dtype, shape=(None,))
    output = z * z + 1
    program = lower_graph([z], [output], og.toposort([output]))
    text = print_llvm(program)
    assert "gather" not in text
    assert "scatter" not in text
    value = (np.arange(size) + 1j * np.arange(size)[::-1]).astype(dtype)
    np.testing.assert_allclose(run("native", [z], [output], [value])[0], value * value + 1)


def test_every_second_complex_number() -> None:
    """What is not side by side is not taken for it."""
    z = ot.tensor("z", dtype="complex128", shape=(None,))
    value = np.arange(33) * (1 - 2j)
    for part in (z[::2] * 1, z[1::2] * 1, z[::-1] * 1, z[3:9] * 1):
        [expected] = og.evaluate([part], {z: value})
        np.testing.assert_array_equal(run("native", [z], [part], [value])[0], expected)


@pytest.mark.parametrize(
    "name", ["exp", "log", "sqrt", "abs", "angle", "expm1", "conj", "reciprocal"]
)
def test_special_numbers_as_numpy_has_them(name: str) -> None:
    z = ot.tensor("z", dtype="complex128", shape=(None,))
    output = getattr(ot, name)(z)
    value = np.array([complex(a, b) for a, b in itertools.product(SPECIAL, SPECIAL)])
    with np.errstate(all="ignore"):
        [expected] = og.evaluate([output], {z: value})
    [found] = run("native", [z], [output], [value])
    for part in ("real", "imag"):
        a, b = getattr(found, part), getattr(expected, part)
        np.testing.assert_allclose(a, b, rtol=1e-13)
        whole = ~np.isnan(b)
        np.testing.assert_array_equal(np.signbit(a[whole]), np.signbit(b[whole]))


def test_logarithms_near_the_unit_circle_keep_their_digits() -> None:
    from mpmath import mp, mpc

    mp.prec = 200
    z = ot.tensor("z", dtype="complex128", shape=(None,))
    angles = np.linspace(0, 2 * np.pi, 50)
    value = np.exp(1j * angles) * (1 + np.linspace(-1e-9, 1e-9, 50))
    [found] = run("native", [z], [ot.log(z)], [value])
    exact = np.array([complex(mp.log(mpc(v.real, v.imag))) for v in value])
    np.testing.assert_allclose(found.real, exact.real, rtol=1e-14)
    np.testing.assert_allclose(found.imag, exact.imag, rtol=1e-15)


def test_gradients_of_complex_graphs_are_compiled() -> None:
    z = ot.tensor("z", dtype="complex128", shape=(None,))
    cost = (abs(ot.exp(z) * z) ** 2).sum()
    slope = og.grad(cost, z)
    value = np.array([0.3 + 1j, -1 + 0.2j])
    [expected] = og.evaluate([slope], {z: value})
    np.testing.assert_allclose(run("native", [z], [slope], [value])[0], expected, rtol=1e-12)


def test_programs_say_what_their_inputs_hold() -> None:
    z = ot.tensor("z", dtype="complex128", shape=(None,))
    output = z * 2
    text = program_text(lower_graph([z], [output], og.toposort([output])))
    assert "in1: complex128[:] as float64" in text
    assert "complex128[:] as float64)" in text


def test_what_has_no_formula_has_a_reason() -> None:
    turned = og.elementwise(
        "turned", 1, lambda dtypes: dtypes[0], lambda z: np.asarray(z * 1j), holomorphic=True
    )
    z = ot.tensor("z", dtype="complex128", shape=(None,))
    output = turned(z)
    assert find_lowering(output.owner) is None
    assert reason_for_python(output.owner) == COMPLEX
    value = np.array([0.5 + 1j, 2 - 0.3j])
    linker = make_linker("native").accept(og.FunctionGraph([z], [output]))
    [found] = linker.make_function()(value)
    np.testing.assert_allclose(found, value * 1j)


@pytest.mark.skipif(not has_compiler(), reason="there is no C compiler on this machine")
@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_c_gives_the_bits_of_native(dtype: str) -> None:
    """Compilers like to make one rounding of two where differences and sums of products alternate."""
    z, w = (ot.tensor(name, dtype=dtype, shape=(None,)) for name in "zw")
    outputs = [z * w, z * w + z, z * z * z, z / w, ot.sqr(z), ot.exp(z), (z * w).sum(), ot.sqrt(z)]
    outputs += [
        ot.pow(z, w),
        ot.arcsin(z),
        ot.arccosh(z),
        ot.arctan(z),
        ot.tanh(z),
        ot.maximum(z, w),
    ]
    random = np.random.default_rng(0)
    arguments = [
        (random.normal(size=1001) + 1j * random.normal(size=1001)).astype(dtype) for _ in "zw"
    ]
    native, c = (run(linker, [z, w], outputs, arguments) for linker in ("native", "c"))
    for a, b in zip(native, c, strict=True):
        np.testing.assert_array_equal(a, b)
