"""The function of NumPy, SciPy, JAX or xarray that has the name of an entry, and the address of its documentation.

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
XARRAY = "https://docs.xarray.dev/en/stable/generated/{}.html"
JAX = "https://docs.jax.dev/en/latest/_autosummary/{}.html"

PLACES = {
    "occelo.tensor": {"numpy": NUMPY, "scipy.special": SCIPY, "scipy.stats": SCIPY},
    "occelo.tensor.linalg": {"numpy.linalg": NUMPY, "scipy.linalg": SCIPY, "numpy": NUMPY},
    "occelo.tensor.fft": {"numpy.fft": NUMPY, "scipy.fft": SCIPY},
    "occelo.tensor.signal": {
        "scipy.signal": SCIPY,
        "scipy.signal.windows": SCIPY,
        "scipy.ndimage": SCIPY,
    },
    "occelo.tensor.signal.windows": {"scipy.signal.windows": SCIPY},
    "occelo.tensor.special": {"scipy.special": SCIPY},
    "occelo.tensor.stats": {"scipy.stats": SCIPY},
    "occelo.optimize": {
        "scipy.optimize": SCIPY,
        "scipy.integrate": SCIPY,
        "scipy.sparse.linalg": SCIPY,
    },
    "occelo.sparse": {
        "scipy.sparse": SCIPY,
        "scipy.sparse.linalg": SCIPY,
        "numpy": NUMPY,
        "numpy.linalg": NUMPY,
        "scipy.special": SCIPY,
    },
    "occelo.xtensor.math": {"numpy": NUMPY, "scipy.special": SCIPY},
    "occelo.xtensor.reduction": {"numpy": NUMPY},
    "occelo.xtensor.shape": {"numpy": NUMPY},
    "occelo.xtensor.linalg": {"numpy.linalg": NUMPY, "scipy.linalg": SCIPY},
    "occelo.xtensor.signal": {"scipy.ndimage": SCIPY},
    "occelo.xtensor.random": {"numpy.random.Generator": GENERATORS, "scipy.stats": SCIPY},
    "occelo.tensor.random": {"numpy.random.Generator": GENERATORS, "scipy.stats": SCIPY},
}
"""Where names of a door come from, the first that has one, and where it is documented."""

JAX_NN = """
celu dot_product_attention elu gelu glu hard_sigmoid hard_silu hard_swish hard_tanh leaky_relu log_sigmoid log_softmax one_hot
relu relu6 selu sigmoid silu soft_sign softmax softplus sparse_plus sparse_sigmoid squareplus standardize swish
"""
"""Names of `occelo.nn` that are documented in ``jax.nn``, which is not installed where the site is built."""
XARRAYS = "apply_ufunc broadcast concat dot full_like ones_like where zeros_like"
"""Names of `occelo.xtensor` that xarray has, which need not be installed."""

ALL = (
    "numpy", "numpy.linalg", "numpy.fft", "numpy.random.Generator", "scipy.special", "scipy.linalg", "scipy.fft", "scipy.signal",
    "scipy.signal.windows", "scipy.stats", "scipy.optimize", "scipy.integrate", "scipy.sparse", "scipy.sparse.linalg",
    "scipy.ndimage",
)  # fmt: skip
"""Where a function of the name of one of ours is looked for."""

UNLIKE = {
    "occelo.bisect": "finds a rewrite that is wrong, not a root",
    "occelo.jvp": "the product of a Jacobian and a vector, not a derivative of a Bessel function",
    "occelo.load": "reads graphs, not arrays",
    "occelo.minimize": "makes a function that trains; occelo.optimize.minimize is the one of SciPy",
    "occelo.save": "writes graphs, not arrays",
    "occelo.nn.identity": "returns its argument, not a matrix",
    "occelo.tensor.random.split": "makes keys of a key",
    "occelo.trees.ravel": "makes a vector of a tree",
    "occelo.typed_list.append": "adds an element to a list",
    "occelo.typed_list.insert": "adds an element to a list",
}
"""Functions that do something else than those of NumPy and SciPy with their names."""


def of_this_name(entry: Entry) -> list[str]:
    """The modules of NumPy and SciPy that have a function with the name of an entry."""
    return [place for place in ALL if _is_function(getattr(_of(place), entry.name, None))]


def _is_function(value: Any) -> bool:
    # distributions of SciPy are objects that can be called; dtypes and classes are no namesakes
    return callable(value) and not isinstance(value, type)


def namesake(entry: Entry) -> tuple[str, str] | None:
    """The full name of the function of NumPy, SciPy, JAX or xarray and the address of its page; None if there is none."""
    if entry.door == "occelo.nn" and entry.name in JAX_NN.split():
        return f"jax.nn.{entry.name}", JAX.format(f"jax.nn.{entry.name}")
    if entry.door == "occelo.nn.initializers" and entry.kind == "function":
        name = f"jax.nn.initializers.{entry.name}"
        return name, JAX.format(name)
    if entry.kind not in ("function", "constant"):
        return None
    if entry.door == "occelo.xtensor":
        name = f"xarray.{entry.name}"
        return (name, XARRAY.format(name)) if entry.name in XARRAYS.split() else None
    if entry.full in UNLIKE:
        return None
    for place, address in PLACES.get(entry.door, {}).items():
        value = getattr(_of(place), entry.name, None)
        if _is_function(value):
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
