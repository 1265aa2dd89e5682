"""A sample of all kinds of keys on the backends of other libraries, and in C."""

from __future__ import annotations

import os

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

from occelo_compile import function
from occelo_graph import tensor as ot
from occelo_link.capabilities import is_installed
from occelo_testing.fixtures import graphs_of_pytorch_run_as_they_are
from occelo_testing.keys import Indexing, indexings
from occelo_testing.loop_programs import has_compiler
from occelo_testing.programs.generating import WRITES
from occelo_testing.random_programs.running import run_seeds

__all__ = ["graphs_of_pytorch_run_as_they_are"]

THOROUGH = os.environ.get("HYPOTHESIS_PROFILE") == "thorough"
MORE = 20 if THOROUGH else 1


@pytest.mark.sampled(5)
@pytest.mark.parametrize(
    ("backend", "count"), [("c", 6), ("c|py", 6), ("numba", 4), ("jax", 12), ("pytorch", 16)]
)
@pytest.mark.filterwarnings(
    "ignore:Shapes in the graph depend on values:UserWarning",
    "ignore::DeprecationWarning",  # PyTorch's own
)
def test_keys_mean_what_they_mean_in_numpy(backend: str, count: int) -> None:
    if not is_installed(backend):
        pytest.skip(f"the library of {backend} is not installed")
    if backend.startswith("c") and not has_compiler():
        pytest.skip("there is no C compiler on this machine")

    # which of several values set at one place stays is not defined in JAX and PyTorch
    @settings(
        max_examples=MORE * count,
        derandomize=True,
        deadline=None,
        suppress_health_check=list(HealthCheck),
        database=None,
    )
    @given(indexings(dtypes=("float64", "float32", "int8"), unique=backend in ("jax", "pytorch")))
    def check(indexing: Indexing) -> None:
        made = function(indexing.inputs, indexing.outputs(), mode=backend, on_unused_input="ignore")
        results = made(*indexing.values)
        for number, (value, wanted) in enumerate(zip(results, indexing.expected(), strict=True)):
            np.testing.assert_array_equal(value, wanted, err_msg=f"{number} of {indexing.plain}")

    check()


@pytest.mark.parametrize(("backend", "count"), [("numba", 3), ("jax", 8), ("pytorch", 12)])
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # PyTorch's own
@pytest.mark.filterwarnings(
    "ignore:.* computes both sides of a branch:UserWarning",
    "ignore:Shapes in the graph depend on values:UserWarning",
)
def test_writes_are_seen_by_all_later_reads(backend: str, count: int) -> None:
    if not is_installed(backend):
        pytest.skip(f"the library of {backend} is not installed")
    report = run_seeds(range(MORE * count), lambda _: [(backend, None)], profile=WRITES)
    assert not report.faults, "\n".join(report.texts.values())
    assert report.outcomes[backend]["kept"] == MORE * count, report.outcomes


@pytest.mark.parametrize(
    "dtype", ["uint8", "uint16", "uint32", "uint64", "int8", "float16", "bool"]
)
def test_reversed_tensors_and_arguments(backend: str, dtype: str) -> None:
    """Reversed arrays of one element are called contiguous by NumPy, and have a negative stride."""
    x = ot.TensorType(dtype, (None,)).make_variable("x")
    i = ot.lscalar("i")
    f = function([x, i], [x[::-1], ot.outer(x, x), x[i]], mode=backend)
    for value in (np.ones(1, dtype)[::-1], np.arange(4).astype(dtype)[::-1]):
        backward, squares, one = f(value, -1)
        assert one == value[-1]
        np.testing.assert_array_equal(backward, value[::-1])
        np.testing.assert_array_equal(squares, np.outer(value, value))


def test_a_write_of_all_elements_is_read_from_its_end() -> None:
    """XLA would abort the process if the write were a scatter."""
    pytest.importorskip("jax")
    x, n = ot.dmatrix("x"), ot.lscalar("n")
    zeros = ot.zeros((3, 2))
    written = [zeros[:n].set(x), ot.ones((3, 2))[:].inc(x), zeros[:].set(x[0])]
    with pytest.warns(UserWarning, match="n will be static"):
        f = function([x, n], [w[::-1] for w in written], mode="jax")
    value = np.arange(6.0).reshape(3, 2)
    plain = [value, 1.0 + value, np.broadcast_to(value[0], (3, 2))]
    for found, wanted in zip(f(value, 3), plain, strict=True):
        np.testing.assert_array_equal(found, wanted[::-1])
