"""`to_pytensor`: a graph of Occelo as a PyTensor graph, for the ops that have an equal there.

`equals` has a function for each class of ops. An op without one is replaced by its decomposition into simpler ops, if it
has one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from occelo_pytensor import equals as equals
from occelo_pytensor.equals.registry import converted, root


def to_pytensor(
    outputs: Any,
    inputs: Sequence[Any] | None = None,
    *,
    replace: Mapping[Any, Any] | None = None,
) -> Any:
    """Convert a graph of Occelo to a graph of PyTensor.

    ``outputs`` is a variable or a list of them. Without ``inputs``, the result has the same form. With ``inputs``, a list
    of Occelo's variables, the result is a pair of a list of PyTensor's variables for them, and the converted
    ``outputs``. Shared variables have one storage on both sides. ``replace`` maps variables of Occelo to PyTensor's
    variables that take their places.

    Barriers of gradients, and derivatives that the user gave an `OpFromGraph`, are PyTensor's there. TypeError for an op
    that has no equal in PyTensor and no decomposition, with the line that applied it.
    """
    several = isinstance(outputs, list | tuple)
    memo: dict[Any, Any] = dict(replace or {})
    arguments = [memo.setdefault(v, root(v)) for v in inputs or ()]
    results = converted(list(outputs) if several else [outputs], memo)
    whole: Any = results if several else results[0]
    return whole if inputs is None else (arguments, whole)
