"""PyMC models of many kinds, one function each: ``MODELS`` maps a name to the function that makes the model.

Data are drawn with a seed of the model's own. `posteriors` has real data.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

MODELS: dict[str, Callable[[], Any]] = {}


def model(make: Callable[[], Any]) -> Callable[[], Any]:
    """Decorator that adds a model to the list."""
    MODELS[make.__name__] = make
    return make
