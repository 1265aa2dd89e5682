"""Ways to copy graphs through pickles and deep copies, and a long chain of nodes."""

from __future__ import annotations

import copy
import io
import pickle
from typing import Any

from occelo_graph import tensor as ot


def pickled(value: Any) -> Any:
    """Through the pickler of the standard library."""
    return pickle.loads(pickle.dumps(value))


def pickled_in_python(value: Any) -> Any:
    """Through the pickler in Python, whose recursion is limited more tightly."""
    stream = io.BytesIO()
    vars(pickle)["_Pickler"](stream).dump(value)
    return pickle.loads(stream.getvalue())


COPIES = (pickled, pickled_in_python, copy.deepcopy)


def long_chain(nodes: int) -> tuple[Any, Any]:
    """A vector, and so many nodes above it."""
    x: Any = ot.dvector("x")
    y = x
    for _ in range(nodes // 2):
        y = ot.sin(y) * 1.5
    return x, y
