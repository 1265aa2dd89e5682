"""`numba_function` makes a function that Numba's compiled code can call. `CFunction.numba` calls it."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from occelo_link.numba.library import numba, types
from occelo_link.standalone.context import BAD_LENGTH
from occelo_link.standalone.signature import Argument


def numba_function(function: Any, data: int, arguments: Sequence[Argument]) -> Callable[..., Any]:
    """Return an ``njit`` function that calls a C function of the form "arrays".

    ``function`` is the function for ctypes, and ``data`` its last argument. The ``njit`` function has the arguments
    without lengths, as numbers and arrays in C order of exactly their dtypes. Outputs must have the shapes of the
    results. It returns the code.
    """
    names = [each.name for each in arguments]
    lines, passed, checked, kinds = list[str](), list[str](), list[str](), list[Any]()
    for each in arguments:
        scalar = types.boolean if each.dtype == "bool" else numba.from_dtype(np.dtype(each.dtype))
        if each.by_value:
            kinds.append(scalar)
            passed.append(each.name)
            continue
        readonly = each.role == "input"
        kinds.append(types.Array(scalar, len(each.shape), "C", readonly=readonly))
        for axis, length in enumerate(each.shape):
            if length is not None:
                lines.append(f"if {each.name}.shape[{axis}] != {length}: return {BAD_LENGTH}")
        passed.append(f"{each.name}.ctypes")
        if each.has_lengths:
            lines.append(f"{each.name}_lengths = np.array({each.name}.shape)")
            passed.append(f"{each.name}_lengths.ctypes")
            if each.role != "input":
                checked += [
                    f"if {each.name}_lengths[{axis}] != {each.name}.shape[{axis}]: return {BAD_LENGTH}"
                    for axis in range(len(each.shape))
                ]
    lines.append(f"code = function({', '.join([*passed, 'data'])})")
    lines += ["if code != 0: return code", *checked, "return code"]
    text = "\n".join([f"def call({', '.join(names)}):", *(f"    {line}" for line in lines), ""])
    # an integer, since Numba converts no integer to a pointer
    kind = ctypes.CFUNCTYPE(function.restype, *function.argtypes[:-1], ctypes.c_size_t)
    address = ctypes.cast(function, ctypes.c_void_p).value or 0
    namespace: dict[str, Any] = {"function": ctypes.cast(address, kind), "data": data, "np": np}
    exec(text, namespace)
    call: Any = numba.njit(types.int64(*kinds))(namespace["call"])
    call.kept = function
    return call
