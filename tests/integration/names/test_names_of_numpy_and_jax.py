"""Public names of NumPy and JAX: each is in Occelo, or has a written reason why it is not, which errors tell."""

from __future__ import annotations

import runpy
from pathlib import Path

import numpy as np
import pytest

import occelo.tensor as ot

DOCS = Path(__file__).parents[3] / "docs"


def test_the_table_of_names_is_complete() -> None:
    """Making the page fails for a name that is missing without a reason."""
    script = runpy.run_path(str(DOCS / "names_of_numpy_and_jax.py"))
    assert script["page"]() == (DOCS / "names-of-numpy-and-jax.md").read_text()
    assert sum(map(len, script["read"]().values())) > 1000


def test_the_list_has_the_functions_of_the_numpy_that_is_installed() -> None:
    """A function that a newer NumPy adds must not be missed."""
    script = runpy.run_path(str(DOCS / "names_of_numpy_and_jax.py"))
    read = script["read"]()
    series = ".".join(np.__version__.split(".")[:2])
    if f"numpy {series}." in script["NAMES"].read_text().splitlines()[0]:
        functions = {n for n in dir(np) if n[0] != "_" and callable(getattr(np, n))}
        assert functions <= set(read["numpy"])


def test_an_error_says_why() -> None:
    for name, hint in (
        ("copyto", "; it writes into its argument, and variables never change"),
        ("einsum_path", "; use einsum, which finds the order itself"),
        ("bfloat16", "; NumPy has no such dtype"),
        ("frompyfunc", "; use vectorize for a function that builds graphs"),
        ("longdouble", "; tensors have floats of at most 64 bits"),
    ):
        with pytest.raises(AttributeError, match=f"no attribute '{name}'{hint}"):
            getattr(ot, name)
