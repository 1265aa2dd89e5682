"""Makes entries in Python for the linkers ``jax`` and ``pytorch``. They do calls whose arguments need no conversion.

An entry checks each argument. If an argument needs conversion, the entry passes all arguments on to a slower function.
`occelo_link.traced.linker` calls `make_fast_call`. The linker ``native`` has entries in machine code instead.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

Expected = tuple[str, tuple[int | None, ...]]
"""The dtype and the static shape of an argument. None in the shape allows any length."""


def make_fast_call(
    expected: Sequence[Expected],
    run: Callable[..., Sequence[Any] | None],
    single: bool,
    slow: Callable[..., Any],
) -> Callable[..., Any]:
    """Return an entry that accepts C-contiguous, writable arrays of the ``expected`` types.

    ``run`` gets the arrays and returns the list of results. If ``single`` is true, the entry returns the only result
    instead of a list. ``slow`` does the call instead, with the same arguments, if an argument has another type or if
    ``run`` returns None.
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
