"""The registry of scalar functions on the arrays of libraries that trace, beside what each library has of its own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

from occelo_graph.form.sources import is_foreign, register_extension
from occelo_graph.ops.elemwise.scalar import ScalarFunction

__all__ = ["Conversion", "Scalar", "registered_scalar", "traces_scalar"]

Conversion = Literal["out", "common", "as is"]
"""To what the arguments are converted first: the dtype of the result, their common one, or nothing."""

Scalar = tuple[str, Callable[..., Any]]
"""How the inputs of a scalar function are converted first (a `Conversion`), and the function of the library."""

_functions: dict[tuple[str, str | None], tuple[Scalar, ScalarFunction | None]] = {}


def traces_scalar(
    *names: str, backend: str | None = None, convert: Conversion = "out"
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register scalar functions, by their names, on the arrays of libraries that trace, which are JAX and PyTorch.

    The decorated function takes the `Arrays` of the library and an array for each argument; they broadcast. It returns an
    array, which is converted to the dtype of the result. ``arrays.apply("exp", x)`` computes another scalar function, in any
    library. With ``backend`` ("jax" or "pytorch") it is for that library alone and may call what that has; it comes before
    one for all libraries.

    ``convert``: to what arguments are converted first, the dtype of the result ("out"), their common dtype ("common") or
    nothing ("as is"). What is registered takes the place of ours; its code is part of the keys of the cache.
    """

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        for name in names:
            # what another package registered stays, also if our families are loaded later
            known = _functions.get((name, backend))
            if known is not None and is_foreign(known[0][1]) and not is_foreign(function):
                continue
            _functions[name, backend] = (convert, function), ScalarFunction.named(name)
            place = f"{name} ({backend})" if backend else name
            register_extension("scalar function of arrays", place, function, convert)
        return function

    return register


def registered_scalar(backend: str, name: str) -> Scalar | None:
    """What was registered for a backend, or for all; None if nothing was. It takes the `Arrays` first."""
    for key in ((name, backend), (name, None)):
        if key in _functions:
            found, made_for = _functions[key]
            # a function may have been defined again since
            if made_for is None or made_for is ScalarFunction.named(name):
                return found
    return None
