"""Window functions beside SciPy's: all lengths, symmetric and periodic, lengths and parameters that are variables."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import occelo_compile as oc
import occelo_graph as og
from occelo_graph import tensor as ot
from occelo_signal import windows

PARAMETERS: dict[str, tuple[Any, ...]] = {
    "general_cosine": ([0.5, 0.25, 0.125],),
    "general_hamming": (0.6,),
    "gaussian": (2.5,),
    "general_gaussian": (1.5, 3.0),
    "kaiser": (6.5,),
    "tukey": (0.3,),
}
NAMES = sorted(n for n, v in vars(windows).items() if callable(v) and not n.startswith("_"))


@pytest.mark.parametrize("name", NAMES)
def test_a_window_is_that_of_scipy(name: str) -> None:
    reference = getattr(pytest.importorskip("scipy.signal.windows"), name)
    n = ot.lscalar("n")
    arguments = PARAMETERS.get(name, ())
    function = getattr(windows, name)
    f = oc.function([n], [function(n, *arguments, sym=sym) for sym in (True, False)])
    for length in (0, 1, 2, 3, 8, 13):
        for made, sym in zip(f(length), (True, False), strict=True):
            expected = reference(length, *arguments, sym=sym)
            np.testing.assert_allclose(made, expected, atol=2e-15)
            assert made.dtype == "float64"
    assert function(7, *arguments).type.shape == (7,)


@pytest.mark.parametrize("alpha", [0.0, 1.0])
def test_tapers_of_nothing_and_of_all(alpha: float) -> None:
    expected = np.ones(9) if alpha == 0 else np.hanning(9)
    np.testing.assert_allclose(og.evaluate(windows.tukey(9, alpha)), expected, atol=1e-15)


def test_gradients_by_parameters() -> None:
    weights = np.linspace(-1, 2, 9)
    og.verify_grad(lambda b: (windows.kaiser(9, b) * weights).sum(), [np.array(4.0)])
    og.verify_grad(lambda s: (windows.gaussian(9, s) * weights).sum(), [np.array(2.0)])
    og.verify_grad(lambda t: (windows.exponential(9, tau=t) * weights).sum(), [np.array(2.0)])


def test_a_center_of_a_symmetric_window() -> None:
    with pytest.raises(ValueError, match="has its center in the middle"):
        windows.exponential(5, 1.0)
    made = og.evaluate(windows.exponential(5, 1.0, 2.0, sym=False))
    np.testing.assert_allclose(made, np.exp(-np.abs(np.arange(5) - 1) / 2))


def test_weights_of_cosines_are_a_sequence() -> None:
    with pytest.raises(TypeError, match="a of general_cosine is a sequence of weights, got 3"):
        windows.general_cosine(5, 3)
