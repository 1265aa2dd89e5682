"""Options of NumPy's ufuncs: ``dtype=`` and ``casting=`` of elementwise functions against NumPy, and hints for the others."""

from __future__ import annotations

import importlib
import inspect
import re
import warnings
from collections.abc import Iterable
from itertools import product
from typing import Any

import numpy as np
import pytest

from occelo import Variable, updates
from occelo.hints import parameters
from occelo_graph import evaluate
from occelo_graph.ops.elemwise.op import Elemwise

oc: Any = importlib.import_module("occelo")
ot: Any = importlib.import_module("occelo.tensor")
numpy: Any = np  # whose types know that a ufunc takes no variables

UFUNCS = sorted(
    name
    for name in dir(np)
    if isinstance(getattr(np, name), np.ufunc) and isinstance(getattr(ot, name, None), Elemwise)
)
GIVEN = {
    "int8": np.array([1, 2, 3], "int8"),
    "int64": np.array([[3, 1, 2]]),
    "uint16": np.array([[1], [2]], "uint16"),
    "float32": np.array([0.5, -0.25, 0.75], "float32"),
    "float64": np.array([0.1, 0.7, 1e-3]),
    "complex128": np.array([0.5 + 1j, 2.0, -1j]),
    "bool": np.array([True, False, True]),
}
DTYPES = ("bool", "int8", "uint16", "int64", "float32", "float64", "complex64")
OTHER_LOOPS = {
    "positive": "it takes booleans here, as identity functions do",
    "reciprocal": "integers give floats here",
}
"""Functions that take other dtypes than NumPy's, and what is different."""
WRITE = re.compile(
    r"; (a symbolic result .*: (write|leave)|write|use|variables never change.*: leave) "
)


def _outcome(function: Any, given: Iterable[Any], options: dict[str, Any]) -> Any:
    """The value, or None if the arguments are refused."""
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            made = function(*given, **options)
            return evaluate([made])[0] if isinstance(made, Variable) else np.asarray(made)
    except (TypeError, OverflowError):
        return None


@pytest.mark.sampled(8)
@pytest.mark.parametrize("name", [name for name in UFUNCS if name not in OTHER_LOOPS])
def test_dtype_and_casting_are_those_of_numpy(name: str) -> None:
    theirs, ours = getattr(np, name), getattr(ot, name)
    for first, dtype, casting in product(GIVEN, DTYPES, ("same_kind", "safe", "unsafe")):
        if first.startswith("complex") and casting == "unsafe" and dtype != "complex64":
            continue  # a cast of complex numbers to others is refused everywhere
        given = [GIVEN[first], GIVEN["int8"]][: theirs.nin]
        options = {"dtype": dtype, "casting": casting}
        wanted = _outcome(theirs, given, options)
        found = _outcome(ours, map(ot.as_tensor, given), options)
        if wanted is None or found is None:
            assert wanted is found, (first, options)
        else:
            assert found.dtype == wanted.dtype, (first, options)
            np.testing.assert_allclose(found, wanted, rtol=1e-5, err_msg=str((first, options)))


def test_python_numbers_beside_a_dtype() -> None:
    x = ot.as_tensor(np.array([1, 2], "int8"))
    for number in (3, 300, -1, 2.5, 1j):
        for dtype in ("int8", "uint8", "int16", "float32", "bool"):
            wanted = _outcome(np.add, [np.array([1, 2], "int8"), number], {"dtype": dtype})
            found = _outcome(ot.add, [x, number], {"dtype": dtype})
            assert (wanted is None) == (found is None), (number, dtype)
            if found is not None:
                assert found.dtype == wanted.dtype
                np.testing.assert_array_equal(found, wanted)


def test_dtype_of_the_ufuncs_of_numpy_for_variables() -> None:
    x = ot.dvector("x")
    for made in (numpy.exp(x, dtype="float32"), ot.exp(x, dtype=np.float32)):
        assert made.type == ot.fvector
        slope = oc.grad(made.sum(), x).eval({x: [1.0, 2.0]})
        assert slope.dtype == "float64"
        np.testing.assert_allclose(slope, np.exp([1.0, 2.0]), rtol=1e-6)
    with pytest.raises(TypeError, match="not cast to float32 by the rule casting='safe'"):
        numpy.add(x, 1.0, dtype="float32", casting="safe")
    with pytest.raises(
        TypeError,
        match=r"dtype=float32 is not for isnan, which gives bool .*; write isnan\(\.\.\.\)\.astype",
    ):
        ot.isnan(x, dtype="float32")
    for function in (numpy.add, numpy.logical_and):
        with pytest.raises(TypeError, match=r"; write occelo\.tensor\.where\(mask, "):
            function(x, x, where=[True, False])


@pytest.mark.parametrize("parameter", ["out", "where", "dtype", "casting", "order", "subok"])
def test_functions_without_an_option_say_what_to_write(parameter: str) -> None:
    wrong: list[str] = []
    for name in dir(ot):
        function: Any = getattr(ot, name)
        elementwise = isinstance(function, Elemwise)
        own = inspect.isfunction(function) and function.__module__.startswith("occelo")
        if name.startswith("_") or not (elementwise or own) or name == "make_slice":
            continue
        listed = inspect.signature(function).parameters
        if parameter in listed or any(p.kind is p.VAR_KEYWORD for p in listed.values()):
            continue
        if elementwise and parameter in ("dtype", "casting"):
            continue
        with pytest.raises(TypeError) as caught:
            getattr(ot, name)(**{parameter: None})
        if not WRITE.search(str(caught.value)):
            wrong.append(f"{name}: {caught.value}")
    assert wrong == []


def test_words_for_parameters() -> None:
    x, m = ot.dvector("x"), ot.dmatrix("m")
    sgd: Any = updates.sgd
    for call, hint in (
        (lambda: ot.sum(m, dim=0), "use axis="),
        (lambda: m.max(keepdim=True), "use keepdims="),
        (lambda: sgd(x.sum(), [x], lr=0.1), "use learning_rate="),
        (lambda: ot.linspace(start=0, end=1), "use stop="),
        (lambda: oc.tensor.linalg.solve_sylvester(A=m, b=m, q=m), r"did you mean a=\?"),
        (
            lambda: ot.moveaxis(a=m, source=0, destination=1),
            "its parameters are x, source, destination",
        ),
        (lambda: ot.sum(m, axsi=0), r"did you mean axis=\?"),
        (
            lambda: ot.median(m, frobnicate=0),
            "its parameters are a, axis, keepdims, overwrite_input",
        ),
        (
            lambda: ot.maximum(m, axis=0),
            "use occelo.tensor.max, which combines the elements along an axis",
        ),
        (lambda: ot.exp(x=x), r"inputs are given by position: write exp\(\.\.\.\)"),
        (
            lambda: ot.exp(x, np.ones(3)),
            r"exp takes 1 argument, got 2; a symbolic result fills no array",
        ),
        (
            lambda: m.reshape((2, -1), order="F"),
            r"write reshape\(x\.T, shape\[::-1\]\)\.T for order='F'",
        ),
        (
            lambda: ot.argmax(m, where=m > 0),
            r"write argmax\(occelo\.tensor\.where\(mask, x, fill\), \.\.\.\)",
        ),
    ):
        with pytest.raises(TypeError, match=rf"{hint}(?m:$|, |: | with)"):
            call()
    assert set(parameters.SYNONYMS).isdisjoint(parameters.HINTS)


def test_hints_are_for_occelos_own_functions() -> None:
    def mine(value: object) -> object:
        return numpy.ones(value, dim=1)

    with pytest.raises(TypeError) as caught:
        ot.vectorize(mine)(ot.dvector("x"))
    assert ";" not in str(caught.value)
