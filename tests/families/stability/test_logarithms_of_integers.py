"""Functions that are logarithms, of integers up to 800 in magnitude and of arguments of two dtypes, beside SciPy in float64."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.special

import occelo_compile as oc
from occelo_arrays import functions as arrays
from occelo_graph import tensor as ot
from occelo_networks import functions as networks
from occelo_special import functions as sp

Function = Callable[..., Any]
OF_ONE: dict[str, tuple[Function, Function]] = {
    "log_ndtr": (sp.log_ndtr, scipy.special.log_ndtr),
    "log_expit": (sp.log_expit, scipy.special.log_expit),
    "log of ndtr": (lambda x: ot.log(sp.ndtr(x)), scipy.special.log_ndtr),
    "loggamma": (lambda x: sp.loggamma(abs(x) + 1), lambda x: scipy.special.gammaln(abs(x) + 1)),
    "entr": (sp.entr, scipy.special.entr),
    "log_softmax": (ot.log_softmax, scipy.special.log_softmax),
    "log_sigmoid": (networks.log_sigmoid, scipy.special.log_expit),
    "log_softmax of networks": (networks.log_softmax, scipy.special.log_softmax),
    "softplus": (networks.softplus, lambda x: np.logaddexp(0, x)),
    "logmeanexp": (networks.logmeanexp, lambda x: scipy.special.logsumexp(x) - np.log(x.size)),
    "cumlogsumexp": (arrays.cumlogsumexp, np.logaddexp.accumulate),
    "logsumexp": (ot.logsumexp, scipy.special.logsumexp),
}
OF_TWO: dict[str, tuple[Function, Function]] = {
    "rel_entr": (sp.rel_entr, scipy.special.rel_entr),
    "kl_div": (sp.kl_div, scipy.special.kl_div),
    "boxcox": (lambda x, y: sp.boxcox(abs(x), y), lambda x, y: scipy.special.boxcox(abs(x), y)),
    "logaddexp": (ot.logaddexp, np.logaddexp),
    "logaddexp2": (arrays.logaddexp2, np.logaddexp2),
    "log of a sum": (lambda x, y: ot.log(ot.exp(x) + ot.exp(y)), np.logaddexp),
    "xlogy": (lambda x, y: sp.xlogy(x, abs(y)), lambda x, y: scipy.special.xlogy(x, abs(y))),
}


def compare(found: Any, expected: Any) -> None:
    rtol = {"float32": 2e-5, "float16": 2e-3}.get(found.dtype.name, 1e-11)
    np.testing.assert_allclose(found, expected, rtol=rtol, atol=rtol)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("mode", ["py", "native"])
@pytest.mark.parametrize("name", OF_ONE)
def test_logarithms_of_integers(name: str, mode: str) -> None:
    ours, theirs = OF_ONE[name]
    for dtype in ("int64", "int32", "int16", "float64", "float32"):
        x = ot.vector("x", dtype=dtype)
        values = np.array([-800, -30, 0, 5, 800], dtype)
        found = oc.function([x], ours(x), mode=mode)(values)
        compare(found, theirs(values.astype("float64")))


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("mode", ["py", "native"])
@pytest.mark.parametrize("name", OF_TWO)
def test_logarithms_of_two_dtypes(name: str, mode: str) -> None:
    ours, theirs = OF_TWO[name]
    for dtypes in (
        ("int64", "float64"),
        ("int32", "float32"),
        ("float64", "int64"),
        ("float32", "float64"),
        ("int16", "int64"),
    ):
        x, y = (ot.vector(name, dtype=d) for name, d in zip("xy", dtypes, strict=True))
        first = np.array([800, 2, -800, 1, 30], dtypes[0])
        second = np.array([801.5, 0.5, 1, -799, -30]).astype(dtypes[1])
        found = oc.function([x, y], ours(x, y), mode=mode)(first, second)
        compare(found, theirs(first.astype("float64"), second.astype("float64")))
