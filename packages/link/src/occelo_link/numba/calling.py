"""`as_numba` turns a compiled function into a function that Numba code can call. Numba is imported when it is called."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from occelo_link.linker import check_compiled


def as_numba(function: Any) -> Callable[..., Any]:
    """Return an ``njit`` function that computes the same as a function compiled with the linker ``numba``.

    The ``njit`` function accepts the same arguments in order, as arrays of exactly the dtypes of the inputs. A scalar
    may also be a number. The function returns a tuple of new arrays, and raises ValueError if a check fails. Shared
    variables keep their present values, and nothing is updated. Numba does not cache the function, since its code
    contains addresses.

    Raises ModuleNotFoundError if Numba is not installed. Raises TypeError if the function is not a single block
    compiled by Numba, if it calls Python, or if an input or output is not an array.
    """
    check_compiled(function, "as_numba")
    # Numba is slow to import, and may not be installed
    from occelo_link.numba.njit_functions import njit_function

    return njit_function(function)
