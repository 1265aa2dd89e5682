"""Makes `occelo_graph.shared` accept NumPy's generators. The package of random numbers imports this when it is imported."""

from __future__ import annotations

import sys
from typing import Any

from occelo_graph.ir.shared import SharedVariable, shared_constructor
from occelo_graph.lazy_names import at_first_call


def _is_generator(value: object) -> bool:
    # NumPy imports ``numpy.random`` at its first use; before that, no generator exists
    numpy_random: Any = sys.modules.get("numpy.random")
    return numpy_random is not None and isinstance(value, numpy_random.Generator)


_shared_rng = at_first_call("occelo_random.ops.generators", "shared_rng")


def _shared_generator(value: Any, name: str | None, borrow: bool, **_: Any) -> SharedVariable:
    variable: SharedVariable = _shared_rng(value, name=name, borrow=borrow)
    return variable


# `shared` calls this for a NumPy generator; the ops of random numbers are imported only then
shared_constructor(_is_generator, _shared_generator)
