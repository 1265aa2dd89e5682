"""The function of NumPy, SciPy or JAX that has the name of an entry, and the address of its documentation.

NumPy and SciPy are looked at, so that no address is of a function that they lack. Nothing of it needs the network.
"""

from __future__ import annotations

import functools
import importlib
from typing import Any

from inventory import Entry

NUMPY = "https://numpy.org/doc/stable/reference/generated/{}.html"
GENERATORS = "https://numpy.org/doc/stable/reference/random/generated/{}.html"
SCIPY = "https://docs.scipy.org/doc/scipy/reference/generated/{}.html"
JAX = "https://docs.jax.dev/en/latest/_autosummary/{}.html"

PLACES = {
    "occelo.tensor": {"numpy": NUMPY, "scipy.special": SCIPY},
    "occelo.tensor.linalg": {"numpy.linalg": NUMPY, "scipy.linalg": SCIPY},
    "occelo.tensor.fft": {"numpy.fft": NUMPY, "scipy.fft": SCIPY},
    "occelo.tensor.signal": {"scipy.signal": SCIPY, "scipy.signal.windows": SCIPY},
    "occelo.tensor.special": {"scipy.special": SCIPY},
    "occelo.tensor.stats": {"scipy.stats": SCIPY},
    "occelo.optimize": {
        "scipy.optimize": SCIPY,
        "scipy.integrate": SCIPY,
        "scipy.sparse.linalg": SCIPY,
    },
    "occelo.tensor.random": {"numpy.random.Generator": GENERATORS, "scipy.stats": SCIPY},
}
"""Where names of a door come from, the first that has one, and where it is documented."""

JAX_NN = """
celu dot_product_attention elu gelu glu hard_sigmoid hard_silu hard_swish hard_tanh leaky_relu log_sigmoid log_softmax one_hot
relu relu6 selu sigmoid silu soft_sign softmax softplus sparse_plus sparse_sigmoid squareplus standardize swish
"""
"""Names of `occelo.nn` that are documented in ``jax.nn``, which is not installed where the site is built."""


def namesake(entry: Entry) -> tuple[str, str] | None:
    """The full name of the function of NumPy, SciPy or JAX and the address of its page; None if there is none."""
    if entry.door == "occelo.nn" and entry.name in JAX_NN.split():
        return f"jax.nn.{entry.name}", JAX.format(f"jax.nn.{entry.name}")
    if entry.kind not in ("function", "constant"):
        return None
    for place, address in PLACES.get(entry.door, {}).items():
        value = getattr(_of(place), entry.name, None)
        # distributions of SciPy are objects that can be called; dtypes and classes are no namesakes
        if callable(value) and not isinstance(value, type):
            # `numpy.abs` stands under `absolute`
            own = getattr(value, "__name__", entry.name)
            known = own if getattr(_of(place), own, None) is value else entry.name
            return f"{place}.{entry.name}", address.format(f"{place}.{known}")
    return None


@functools.cache
def _of(place: str) -> Any:
    if place == "numpy.random.Generator":
        return importlib.import_module("numpy.random").Generator
    return importlib.import_module(place)
