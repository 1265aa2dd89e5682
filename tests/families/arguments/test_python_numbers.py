"""Python numbers take their dtype from the tensors beside them in functions of families, too."""

from __future__ import annotations

import pytest

from occelo_arrays import functions as arrays
from occelo_graph import tensor as ot
from occelo_linalg import functions as linalg
from occelo_random import functions as random
from occelo_special import functions as special
from occelo_stats import functions as stats


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_parameters_of_laws_are_weak(dtype: str) -> None:
    x, m = ot.tensor("x", dtype=dtype, shape=(None,)), ot.matrix("m", dtype=dtype)
    key = random.key(1)
    made = [
        stats.norm.logpdf(x, 0.0, 1.5),
        stats.norm.logpdf(1.5, x, 2),
        stats.gamma.logpdf(x, 2.0),
        stats.beta.logcdf(x, 2.0, 3),
        stats.poisson.logpmf(2, x),
        random.normal(key, x, 1.5),
        random.uniform(key, 0, x),
        random.gamma(key, x, 2.0),
        special.gammainc(x, 2.0),
        special.betainc(2.0, 3, x),
        special.xlogy(x, 2.0),
        special.polygamma(1, x),
        special.kv(2.5, x),
        special.hyp2f1(1, 2.0, 3, x),
        ot.softmax(x / 2.0),
        arrays.fill_diagonal(m, 2.0),
        linalg.norm(x, 3.0),
    ]
    assert [str(v.type.dtype) for v in made] == [dtype] * len(made)
    assert ot.complex_from_polar(x, 1.5).dtype == (
        "complex64" if dtype == "float32" else "complex128"
    )
