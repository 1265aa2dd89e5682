"""`either_way`: a function that draws by a key also draws with a generator, as PyTensor's function of its name does.

``normal(key, 0, 1, size=3)`` draws by the key. ``normal(0, 1, size=3, rng=rng)`` draws with a generator, as the method
``rng.normal`` does. A first argument of dtype uint64 is a key, and nothing else is.
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal, ParamSpec, Protocol, overload

from numpy.random import Generator

from occelo_random.ops.generator_type import RandomGeneratorType, unseeded

if TYPE_CHECKING:
    from occelo_graph.tensors.variable import TensorVariable

P = ParamSpec("P")


class Draws(Protocol[P]):
    """A function that draws by a key or with a generator."""

    @overload
    def __call__(self, *args: P.args, **options: P.kwargs) -> TensorVariable: ...
    @overload
    def __call__(
        self, *parameters: Any, rng: Any = None, return_next_rng: Literal[True], **options: Any
    ) -> tuple[Any, TensorVariable]: ...
    @overload
    def __call__(
        self,
        *parameters: Any,
        rng: Any = None,
        return_next_rng: Literal[False] = False,
        **options: Any,
    ) -> TensorVariable: ...


def either_way(by_key: Callable[P, TensorVariable]) -> Draws[P]:
    """The function ``by_key``, which without a key draws with a generator.

    Its arguments are then those of PyTensor: the parameters, ``size``, ``dtype``, ``name``, ``rng``, and
    ``return_next_rng``, which asks for a pair of the next generator and the draw. Without ``rng`` the draw has a
    generator of its own with an unknown seed, and there is a warning, since each call draws the same numbers.
    TypeError for a key and a generator.
    """
    name = by_key.__name__

    @functools.wraps(by_key)
    def draw(*args: Any, **options: Any) -> Any:
        if "key" in options or (args and _dtype(args[0]) == "uint64"):
            if "rng" in options or "return_next_rng" in options:
                raise TypeError(
                    f"{name} draws by a key, which is its first argument of dtype uint64, or with a generator, rng=; "
                    "it got both. A parameter of dtype uint64 is cast to another dtype first"
                )
            return by_key(*args, **options)
        return _with_generator(name, args, **options)

    draw.__doc__ = _with_common_arguments(by_key)
    return draw


def _with_common_arguments(by_key: Callable[..., Any]) -> str | None:
    """The docstring of a function, with a sentence about those of ``key``, ``size`` and ``dtype`` that it does not name."""
    code, doc = by_key.__code__, by_key.__doc__
    parameters = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    unnamed = [
        n for n in ("key", "size", "dtype") if n in parameters and f"``{n}``" not in (doc or n)
    ]
    if doc is None or not unnamed or by_key.__name__ == "uniform":
        return doc
    *most, last = [f"``{name}``" for name in unnamed]
    listed = f"{', '.join(most)} and {last} are" if most else f"{last} is"
    return f"{doc.rstrip()}\n\n    {listed} as in `uniform`.\n    "


def _dtype(value: Any) -> Any:
    return getattr(getattr(value, "type", value), "dtype", None)


def _is_generator(value: Any) -> bool:
    return isinstance(getattr(value, "type", None), RandomGeneratorType)


def _with_generator(
    name: str,
    parameters: tuple[Any, ...],
    /,
    rng: Any = None,
    return_next_rng: bool = False,
    **options: Any,
) -> Any:
    generators = importlib.import_module("occelo_random.ops.generators")
    if parameters and (_is_generator(parameters[0]) or isinstance(parameters[0], Generator)):
        raise TypeError(
            f"{name} takes a generator as rng=; a first argument is a key or a parameter"
        )
    if rng is None:
        rng = unseeded(f"{name} got no key as its first argument and no generator as rng=")
    elif not _is_generator(rng):
        raise TypeError(
            f"{name} takes as rng= a generator, made by random.shared_rng() or random.rng(), got {rng!r}; "
            "a key of dtype uint64, made by random.key(seed), is its first argument"
        )
    parameters, options = arranged(name, parameters, options)
    following, drawn = generators.DISTRIBUTIONS[name](*parameters, rng=rng, **options)
    return (following, drawn) if return_next_rng else drawn


Arranged = tuple[tuple[Any, ...], dict[str, Any]]


def _gamma(shape: Any, rate: Any = None, scale: Any = None, **options: Any) -> Arranged:
    lengths = {"rate": rate, "scale": scale}
    return (shape,), {**{k: v for k, v in lengths.items() if v is not None}, **options}


def _multivariate_normal(
    mean: Any, cov: Any, size: Any = None, method: str = "cholesky", **options: Any
) -> Arranged:
    return (mean, cov), {"size": size, "method": method, **options}


def _permutation(x: Any, size: Any = None, **options: Any) -> Arranged:
    return (x,), {"size": size, **options}


def arranged(name: str, parameters: tuple[Any, ...], options: dict[str, Any]) -> Arranged:
    """The arguments of PyTensor's function of this name, as those of the method of generators, which is NumPy's."""
    arrange = _AS_IN_PYTENSOR.get(name)
    return (parameters, options) if arrange is None else arrange(*parameters, **options)


_AS_IN_PYTENSOR: dict[str, Callable[..., Arranged]] = {
    "gamma": _gamma,
    "multivariate_normal": _multivariate_normal,
    "permutation": _permutation,
}
"""What rearranges the arguments where PyTensor's order or defaults are not those of NumPy, which methods of generators have."""
