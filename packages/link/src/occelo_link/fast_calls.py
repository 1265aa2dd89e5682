"""`make_fast_call`: the fast path of calls whose arguments need no conversion, in Python, for ``jax`` and ``pytorch``.

It is the counterpart of the machine-code entry of ``native``: it checks each argument, and if one needs conversion,
it takes the slow path with the same arguments. `traced.linker` makes it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

__all__ = ["Expected", "make_fast_call"]

Expected = tuple[str, tuple[int | None, ...]]
"""The dtype and the static shape of an argument."""


def make_fast_call(
    expected: Sequence[Expected],
    run: Callable[..., Sequence[Any] | None],
    single: bool,
    slow: Callable[..., Any],
) -> Callable[..., Any]:
    """A function of arrays in C order with a slow path.

    ``run`` gets the arrays, and returns the results or None. If it returns None, ``slow`` is called. With ``single``
    the only result is returned without a list.
    """
    kinds = [
        (np.dtype(dtype), len(shape), shape if any(n is not None for n in shape) else None)
        for dtype, shape in expected
    ]
    count = len(kinds)
    array = np.ndarray

    def call(*arguments: Any, **keywords: Any) -> Any:
        if keywords or len(arguments) != count:
            return slow(*arguments, **keywords)
        for argument, (dtype, ndim, shape) in zip(arguments, kinds, strict=True):
            if (
                type(argument) is not array
                or argument.dtype != dtype
                or argument.ndim != ndim
                or not argument.flags.carray
                or (
                    shape is not None
                    and any(
                        n is not None and n != m for n, m in zip(shape, argument.shape, strict=True)
                    )
                )
            ):
                return slow(*arguments)
        results = run(*arguments)
        if results is None:
            return slow(*arguments)
        return results[0] if single else results

    return call
