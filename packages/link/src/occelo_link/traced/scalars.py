"""The registry of functions that compute scalar ops in JAX and PyTorch, in addition to the table in `traced.functions`.

Users and other packages register functions with `traces_scalar`. `traced.arrays` and `capabilities` look them up by
name.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal, get_args

from occelo_graph.applicable import check_arguments, check_scalar_names
from occelo_graph.errors import explained
from occelo_graph.extensions import is_external, register_extension
from occelo_graph.ops.elemwise.scalar import ScalarFunction

Conversion = Literal["exact", "out", "common", "as is"]
"""The conversion of arguments: to the result's dtype ("out"), to their common dtype ("common"), none ("as is"), or to the
result's dtype if it has all values of the arguments, and else to their common dtype ("exact").
"""

LIBRARIES = ("jax", "pytorch")

Scalar = tuple[str, Callable[..., Any]]
"""The `Conversion` of the arguments of a scalar function, and the library's function."""

_functions: dict[tuple[str, str | None], tuple[Scalar, ScalarFunction | None]] = {}


def traces_scalar(
    *names: str, backend: str | None = None, convert: Conversion = "exact"
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return a decorator that registers a function which computes the scalar functions ``names`` in JAX and PyTorch.

    The decorated function gets the `Arrays` of the library and an array for each argument; the arrays broadcast. The
    function returns an array, which is converted to the dtype of the result. With ``arrays.apply("exp", x)`` it can
    compute other scalar functions in either library. If ``backend`` is "jax" or "pytorch", the function is only for
    this library. Then it may call functions of the library, and takes precedence over a function for both libraries.

    ``convert`` is the conversion of the arguments: to the dtype of the result ("out"), to their common dtype
    ("common"), or none ("as is"). By default ("exact") it is to the dtype of the result if that dtype has all values of
    the arguments; otherwise, for instance if a function of complex numbers has real results, to their common dtype.

    A registered function replaces Occelo's own. Cache keys contain its code.
    """

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        if is_external(function):
            _check(names, function, backend)
            if convert not in get_args(Conversion):
                raise explained(
                    ValueError(
                        f"convert is one of {', '.join(get_args(Conversion))}, not {convert!r}"
                    ),
                    "rules",
                )
        for name in names:
            # a function from another package stays, even if Occelo's families are imported later
            other = _functions.get((name, backend))
            if other is not None and is_external(other[0][1]) and not is_external(function):
                continue
            _functions[name, backend] = (convert, function), ScalarFunction.named(name)
            place = f"{name} ({backend})" if backend else name
            what, module = "scalar function of arrays", ScalarFunction.module_of(name)
            register_extension(what, place, function, convert, module=module)
        return function

    return register


def _check(names: Sequence[str], function: Callable[..., Any], backend: str | None) -> None:
    what = "A function of arrays"
    check_scalar_names(what, names)
    if backend not in (None, *LIBRARIES):
        raise explained(
            ValueError(f"{what} is for {' or '.join(LIBRARIES)}, not for {backend!r}"), "rules"
        )
    for name in names:
        count = ScalarFunction(name).nin
        if count is not None:
            xs = ["x"] if count == 1 else [f"x{number + 1}" for number in range(count)]
            check_arguments(f"The function of arrays for {name}", function, "the arrays", *xs)


def registered_scalar(backend: str, name: str) -> Scalar | None:
    """Return the registered function that computes the scalar function ``name``, or None if there is none.

    A function for this backend is preferred to a function for both. The first argument of the function is the `Arrays`.
    """
    for key in ((name, backend), (name, None)):
        if key in _functions:
            scalar, made_for = _functions[key]
            # the scalar function may have been defined again after the registration
            if made_for is None or made_for is ScalarFunction.named(name):
                return scalar
    return None
