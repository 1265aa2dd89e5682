"""`make_fast_call` makes the entry of the linkers ``jax`` and ``pytorch``: a Python function for calls whose arguments
need no conversion.

The entry checks each argument. If an argument needs conversion, the entry calls another function, the slow path, with
the same arguments. ``native`` has an entry in machine code instead. `traced.linker` calls `make_fast_call`.
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
    """An entry, which takes arrays in C order whose types are ``expected``, and passes other arguments on to ``slow``.

    ``run`` gets the arrays and returns the list of results. If it returns None instead, ``slow`` does the whole call.
    If ``single`` is True, the entry returns the only result itself, not a list.
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
