"""Python functions that stand for a whole call where all arguments are what they should be.

They do what machine code does for `native`: look at each argument, and leave everything that is not simple to
the long way, which gets the same arguments.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

__all__ = ["Expected", "quick_call"]

Expected = tuple[str, tuple[int | None, ...]]
"""The dtype and the static shape of an argument."""


def quick_call(
    expected: Sequence[Expected],
    run: Callable[..., Sequence[Any] | None],
    single: bool,
    slow: Callable[..., Any],
) -> Callable[..., Any]:
    """A function of arrays in C order.

    ``run`` gets the arrays and returns the results, or None if the long way is to be taken; ``single``
    says that the only result is returned bare.
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
