"""The names that NumPy source of random programs may use: NumPy, `scipy.special`, and functions that NumPy lacks.

`program` evaluates steps in this namespace. `listing` prints the definitions that a program uses.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from scipy import special


def set_at(x: Any, key: Any, y: Any) -> Any:
    x = np.array(x)
    x[key] = y
    return x


def inc_at(x: Any, key: Any, y: Any) -> Any:
    # a loop over elements, since np.add.at of NumPy 2.4 loses increments that are broadcast
    x = np.array(x, order="C")
    positions: Any = np.reshape(np.arange(int(x.size)), x.shape)
    where = positions[key]
    for i, v in zip(
        where.ravel(), np.broadcast_to(np.asarray(y, x.dtype), where.shape).ravel(), strict=True
    ):
        x.reshape(-1)[i] += v
    return x


def softmax(x: Any, axis: Any) -> Any:
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


def logsumexp(x: Any, axis: Any) -> Any:
    m = x.max(axis=axis, keepdims=True)
    return np.squeeze(np.log(np.exp(x - m).sum(axis=axis, keepdims=True)) + m, axis=axis)


def log_softmax(x: Any, axis: Any) -> Any:
    w = x - x.max(axis=axis, keepdims=True)
    return w - np.log(np.exp(w).sum(axis=axis, keepdims=True))


def sigmoid(x: Any) -> Any:
    return 1 / (1 + np.exp(-x))


_OWN: list[Callable[..., Any]] = [set_at, inc_at, softmax, logsumexp, log_softmax, sigmoid]

NUMPY_NAMES: dict[str, Any] = {"np": np, "special": special, **{f.__name__: f for f in _OWN}}


_IMPORTS: dict[str, str] = {}


def register_names(
    helpers: Sequence[Callable[..., Any]], modules: Mapping[str, Any], imports: Mapping[str, str]
) -> None:
    """Add functions and modules to the names of NumPy source, and lines of source that import names for a listing."""
    _OWN.extend(helpers)
    NUMPY_NAMES.update(modules)
    NUMPY_NAMES.update({f.__name__: f for f in helpers})
    _IMPORTS.update(imports)


def imports_of(text: str) -> list[str]:
    """The lines that import the registered names in the source ``text``."""
    return [line for name, line in _IMPORTS.items() if re.search(rf"\b{name}[.(]", text)]


def source_of(text: str) -> list[str]:
    """The source of the definitions and imports that the source ``text`` needs."""
    sources = [
        inspect.getsource(f).replace(": Any", "").replace(" -> Any", "")
        for f in _OWN
        if f"{f.__name__}(" in text
    ]
    if re.search(r"\bspecial\.", text):
        sources.insert(0, "from scipy import special\n")
    return sources
