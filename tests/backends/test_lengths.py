"""Lengths that are known only at run time: inferred, checked, and the same on every backend."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pytest

import occelo_compile as oc
import occelo_graph as og
from occelo_graph import tensor as ot
from occelo_graph.examples.example import Example
from occelo_graph.tensors.type import TensorType
from occelo_link import make_linker
from occelo_link.capabilities import BACKENDS, is_installed
from occelo_testing.examples import EXAMPLES
from occelo_testing.fixtures import surroundings
from occelo_testing.loop_programs import has_compiler

__all__ = ["surroundings"]

THOROUGH = os.environ.get("HYPOTHESIS_PROFILE") == "thorough"
UNIQUE = list({e.name: e for e in EXAMPLES}.values())
HERE = [
    backend
    for backend in BACKENDS
    if is_installed(backend) and (backend not in ("c", "c|py") or has_compiler())
]


def outcome(call: Any, *arrays: Any) -> tuple[Any, ...]:
    """What a call gives, or the class and the cause of what it raises."""
    try:
        found = call(*arrays)
    except Exception as error:
        return type(error).__name__, str(error).splitlines()[-1]
    return tuple(np.asarray(a).tolist() for a in found)


def function(backend: str, inputs: list[Any], outputs: list[Any]) -> Any:
    return oc.function(inputs, outputs, mode=oc.Mode(backend), on_unused_input="ignore")


LENGTHS = [
    ((6,), (2, 3)),
    ((6,), (2, -1)),
    ((6,), (-1, 2)),
    ((6,), (1, -1)),
    ((1,), (-1, 1)),
    ((0,), (-1, 2)),
    ((0,), (3, -1)),
    ((0,), (0, 5)),
]
IMPOSSIBLE = [
    ((6,), (-1, -1), "can only specify one unknown dimension"),
    ((1,), (-1, -1), "can only specify one unknown dimension"),
    ((6,), (4, -1), "cannot reshape array of size 6 into shape (4,newaxis)"),
    ((6,), (2, 4), "cannot reshape array of size 6 into shape (2,4)"),
    ((6,), (0, -1), "cannot reshape array of size 6 into shape (0,newaxis)"),
    ((0,), (0, -1), "cannot reshape array of size 0 into shape (0,newaxis)"),
    ((6,), (-2, 3), "A shape has lengths from 0 on and at most one -1, got (-2, 3)"),
    ((6,), (-2, -3), "A shape has lengths from 0 on and at most one -1, got (-2, -3)"),
    ((6,), (-1, -6), "A shape has lengths from 0 on and at most one -1, got (-1, -6)"),
    (
        (0,),
        (2**32, 2**32),
        "cannot reshape array of size 0 into shape (4294967296,4294967296)",
    ),
]


@pytest.mark.parametrize("backend", HERE)
def test_a_length_of_minus_one_is_worked_out(backend: str) -> None:
    x, n, k, lengths = ot.dvector("x"), ot.lscalar("n"), ot.lscalar("k"), ot.lvector("lengths")
    two = x.reshape((n, k))
    f = function(backend, [x, n, k], [two, two.shape, two.sum(0).shape])
    of_vector = ot.reshape(x, lengths, ndim=2)
    g = function(backend, [x, lengths], [of_vector, of_vector.shape])
    mixed = x.reshape((n, 1, k))
    h = function(backend, [x, n, k], [mixed, mixed.shape])
    # libraries that trace compile anew for all lengths
    for (size,), wanted in LENGTHS[:: 3 if backend in ("jax", "pytorch") else 1]:
        a = np.arange(float(size))
        expected = a.reshape(wanted)
        given = [a, *map(np.array, wanted)]
        assert outcome(f, *given) == (
            expected.tolist(),
            list(expected.shape),
            [expected.shape[1]],
        )
        assert outcome(g, a, np.array(wanted)) == (expected.tolist(), list(expected.shape))
        between = expected[:, None]
        assert outcome(h, *given) == (between.tolist(), list(between.shape))


@pytest.mark.parametrize("backend", HERE)
def test_lengths_that_do_not_fit_raise_the_same_everywhere(backend: str) -> None:
    x, n, k = ot.dvector("x"), ot.lscalar("n"), ot.lscalar("k")
    f = function(backend, [x, n, k], [x.reshape((n, k))])
    for (size,), wanted, cause in IMPOSSIBLE:
        found = outcome(f, np.arange(float(size)), *map(np.array, wanted))
        assert found == ("ValueError", cause), wanted
    g = function(backend, [x, n], [x.reshape((-1, n))])
    assert outcome(g, np.arange(6.0), np.array(-1)) == (
        "ValueError",
        "can only specify one unknown dimension",
    )
    assert outcome(g, np.arange(6.0), np.array(2)) == (np.arange(6.0).reshape(-1, 2).tolist(),)


@pytest.mark.parametrize("backend", [b for b in HERE if b not in ("jax", "pytorch")])
def test_a_tensor_that_is_too_large_is_refused(backend: str) -> None:
    """A product of lengths that wraps in int64 is none of a small tensor."""
    n, x, counts = ot.lscalar("n"), ot.dvector("x"), ot.lvector("counts")
    zeros = ot.zeros((n, n))
    many = np.array(2**32)
    for output in (zeros, zeros[0, 0].set(1.0).sum(), ot.dot(zeros, x)[0], ot.eye(n) + x):
        kind, cause = outcome(function(backend, [n, x], [output]), many, np.ones(1))
        assert (kind, cause[:16]) == ("ValueError", "array is too big"), output
    for length in (2**61, 2**62):
        f = function(backend, [n], [ot.cumsum(ot.ones(n))[0]])
        kind, cause = outcome(f, np.array(length))
        assert (kind, cause[:16]) == ("ValueError", "array is too big")
    f = function(backend, [x, counts], [ot.repeat(x, counts)])
    for each in ([2**61, 2**61], [2**62, 2**62], [2**62] * 4):
        assert outcome(f, np.ones(len(each)), np.array(each)) == (
            "ValueError",
            "The numbers of repeats are too large",
        )
    assert outcome(f, np.array([1.0, 2.0]), np.array([0, 2])) == ([2.0, 2.0],)


def with_other_lengths(arguments: Sequence[Any]) -> Iterator[list[Any]]:
    """The arguments, one dimension of one of them changed at a time: to 1, to none, to one more."""
    for i, array in enumerate(arguments):
        for axis, length in enumerate(array.shape):
            for new in {1, 0, length + 1} - {length}:
                shape = (*array.shape[:axis], new, *array.shape[axis + 1 :])
                changed = list(arguments)
                changed[i] = np.resize(array, shape) if array.size else np.ones(shape, array.dtype)
                yield changed


def sample(backend: str) -> list[Example]:
    """Examples, of elementwise functions only some: what decides their lengths is the same for all."""
    chosen = [e for e in UNIQUE if e.family != "elemwise"]
    chosen += [e for e in UNIQUE if e.family == "elemwise"][::20]
    if THOROUGH or backend in ("native", "vm"):
        return chosen
    return chosen[HERE.index(backend) :: 30 if backend in ("jax", "numba", "pytorch") else 12]


@pytest.mark.sampled(5)
@pytest.mark.parametrize("backend", [b for b in HERE if b != "py"])
def test_lengths_at_run_time_are_judged_alike(backend: str) -> None:
    """A length that happens to be 1 broadcasts nowhere, and what one backend refuses all refuse."""
    for example in sample(backend):
        judge(backend, example)


def judge(backend: str, example: Example) -> None:
    """Compare a backend with the interpreter."""
    kinds = [TensorType(a.dtype, (None,) * a.ndim) for a in example.arguments]
    inputs = [kind.make_variable(f"x{i}") for i, kind in enumerate(kinds)]
    try:
        output = example.function(*inputs)
    except (TypeError, ValueError):
        return  # it needs to know lengths when the graph is built
    linker = make_linker(backend).accept(og.FunctionGraph(inputs, [output]))
    vm, containers, results = linker.make_thunk()

    def run(*arrays: Any) -> Any:
        for container, array in zip(containers, arrays, strict=True):
            container.value = array
        vm()
        return np.asarray(results[0].value)

    def interpret(*arrays: Any) -> Any:
        return og.evaluate(output, dict(zip(inputs, arrays, strict=True)))

    for arrays in with_other_lengths(example.arguments):
        shapes = [a.shape for a in arrays]
        found, expected = judged(run, arrays), judged(interpret, arrays)
        if isinstance(expected, str) or isinstance(found, str):
            assert found == expected, (example, shapes)
        else:
            assert (found.dtype, found.shape) == (expected.dtype, expected.shape), example
            np.testing.assert_allclose(found, expected, 1e-3, 1e-4, err_msg=f"{example} {shapes}")


def judged(call: Any, arrays: Sequence[Any]) -> Any:
    """A result, or the class of the error; that of a compiled check which the interpreter does not share counts."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.filterwarnings("error", message="A check of compiled code failed")
        try:
            return call(*arrays)
        except Exception as error:
            return type(error).__name__
