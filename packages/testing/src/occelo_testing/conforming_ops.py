"""Conformance tests of linkers: a pytest suite that Occelo's tests and authors of other backends run.

A test file with

    class TestMine(OpSuite):
        backend = "mine"

tests the linker "mine" with every example of `occelo_testing.examples`, and tests broadcasting, dtypes and
errors. Another package registers its linker with `register_linker`, or as an entry point of the group
``occelo.backends``. `GAPS`, from `capabilities`, lists what Occelo's backends are known to lack.
`occelo_testing.conforming_functions` has tests of whole functions.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from typing import Any, ClassVar

import numpy as np
import pytest

from occelo_graph import FunctionGraph, TensorType, Variable, evaluate
from occelo_graph import tensor as ot
from occelo_graph.examples.example import Example
from occelo_graph.tensors.sequences import is_sequence
from occelo_link.capabilities import GAPS as GAPS
from occelo_link.capabilities import Gap as Gap
from occelo_link.capabilities import gaps_of as gaps_of
from occelo_link.registry import make_linker
from occelo_testing.examples import EXAMPLES


@contextmanager
def quiet() -> Generator[None]:
    """Suppress two warnings of backends: that a node runs in Python, and that an input must be static."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Shapes in the graph depend on values")
        warnings.filterwarnings("ignore", ".* it runs in Python")
        yield


def compiled(
    backend: str, inputs: Sequence[Variable], outputs: Sequence[Variable]
) -> Callable[..., Any]:
    """Link a graph with a backend, without rewriting the graph.

    Returns a function that accepts the values of the inputs and returns a list of the values of the outputs.
    """
    graph = FunctionGraph(list(inputs), list(outputs), clone=True)
    return make_linker(backend).accept(graph).make_function()


def tolerance(dtype: np.dtype[Any]) -> float:
    """Return the relative tolerance for results of a dtype. Elementary functions of libraries differ by rounding
    errors.
    """
    if dtype.itemsize <= 2:
        return 2e-3
    return 1e-4 if dtype.name in ("float32", "complex64") else 1e-8


class OpSuite:
    """The tests of one linker. A subclass sets ``backend``, the name of the linker.

    A subclass may set ``step``; then only every ``step``-th example is tested.
    """

    backend: ClassVar[str]
    step: ClassVar[int] = 1

    def pytest_generate_tests(self, metafunc: pytest.Metafunc) -> None:
        """Parametrize `test_an_example` with the position of every ``step``-th example."""
        if "position" in metafunc.fixturenames:
            chosen = range(0, len(EXAMPLES), self.step)
            metafunc.parametrize("position", chosen, ids=[str(EXAMPLES[i]) for i in chosen])

    def test_an_example(self, position: int) -> None:
        """The results of an example have the same dtypes, shapes and values as in the interpreter."""
        self.check_example(EXAMPLES[position], known=position % 3 == 0)

    def check_example(self, example: Example, known: bool) -> None:
        """Compare the results of an example with those of the interpreter.

        If ``known`` is true, all lengths are static. Otherwise only lengths of 1 are static.
        """
        arguments = [
            TensorType(
                a.dtype.name, [n if known or n == 1 else None for n in a.shape]
            ).make_variable()
            for a in example.arguments
        ]
        output = example.function(*arguments)
        outputs: list[Variable] = list(output) if is_sequence(output) else [output]
        with quiet():
            actual = compiled(self.backend, arguments, outputs)(*example.arguments)
        expected = evaluate(outputs, dict(zip(arguments, example.arguments, strict=True)))
        for a, b in zip(actual, expected, strict=True):
            plain = np.asarray(a)
            assert plain.dtype == b.dtype
            assert plain.shape == b.shape
            close = tolerance(b.dtype)
            np.testing.assert_allclose(plain, b, rtol=close, atol=close * 1e-2)

    @pytest.mark.parametrize(
        "shapes", [((3, 1), (1, 4)), ((), (2, 3)), ((1,), (0,)), ((2, 1, 1), (5,))]
    )
    def test_broadcasting(self, shapes: tuple[tuple[int, ...], tuple[int, ...]]) -> None:
        """Axes of static length 1 broadcast as in NumPy."""
        x, y = (TensorType("float64", s)() for s in shapes)
        values = [np.arange(float(np.prod(s))).reshape(s) + 1 for s in shapes]
        (actual,) = compiled(self.backend, [x, y], [x * y + x])(*values)
        np.testing.assert_allclose(np.asarray(actual), values[0] * values[1] + values[0])

    @pytest.mark.parametrize(
        "dtype", ["bool", "int8", "int32", "int64", "uint8", "float32", "float64"]
    )
    def test_dtypes(self, dtype: str) -> None:
        """Sums, comparisons, casts and maxima have the dtypes that the graph says, for inputs of many dtypes."""
        x = TensorType(dtype, (None,))()
        value = np.array([0, 1, 1], dtype=dtype)
        outputs = [x.sum(), ot.eq(x, x[::-1]), x.astype("float32"), ot.maximum(x, x)]
        with quiet():
            actual = compiled(self.backend, [x], outputs)(value)
        for a, v in zip(actual, outputs, strict=True):
            assert np.asarray(a).dtype == v.type.dtype
        np.testing.assert_array_equal(np.asarray(actual[1]), [False, True, False])

    def test_errors_have_the_class_and_text_of_the_interpreter(self) -> None:
        """An invalid call raises an error of the same class, with the same message, as the interpreter."""
        x, y, i = ot.dvector("x"), ot.dvector("y"), ot.lscalar("i")
        cases: list[tuple[list[Variable], Variable, list[Any]]] = [
            ([x, y], x + y, [np.ones(2), np.ones(3)]),
            ([x, i], x[i], [np.ones(2), np.array(2)]),
            ([x], x.reshape((2, 2)), [np.ones(3)]),
            ([x], ot.assert_op(x, (x > 0).all(), msg="not positive") * 1.0, [np.zeros(1)]),
        ]
        for inputs, output, values in cases:
            with quiet(), pytest.raises((ValueError, IndexError, AssertionError)) as caught:
                compiled(self.backend, inputs, [output])(*values)
            with pytest.raises(type(caught.value)) as expected:
                evaluate(output, dict(zip(inputs, values, strict=True)))
            assert str(caught.value) == str(expected.value)
