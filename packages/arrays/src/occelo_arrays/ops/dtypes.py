"""NumPy's functions of dtypes, which take symbolic tensors in place of their dtypes: `result_type`, `can_cast` and others.

They return dtypes and bools of Python, not variables. A Python number among the arguments of `result_type` is weak, as in NumPy.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np

from occelo_graph.errors import explained_by
from occelo_graph.ir.nodes import Variable
from occelo_graph.narrowing import is_tuple

__all__ = ["can_cast", "finfo", "iinfo", "isdtype", "issubdtype", "promote_types", "result_type"]


def _taking_variables(function: Callable[..., Any], parameters: str) -> Callable[..., Any]:
    @explained_by("dtypes")
    @wraps(function)
    def calling(*args: Any, **options: Any) -> Any:
        return function(*map(_dtype_of, args), **options)

    names = ", ".join(f"``{name}``" for name in parameters.split())
    calling.__doc__ = (
        f"`numpy.{function.__name__}` of {names}, where symbolic tensors stand for their dtypes."
    )
    return calling


def _dtype_of(x: Any) -> Any:
    return np.dtype(x.type.dtype) if isinstance(x, Variable) else x


def isdtype(dtype: Any, kind: Any) -> bool:
    """Whether ``dtype``, or that of a tensor, is of a ``kind``: `numpy.isdtype`, which takes no names of dtypes.

    ``kind`` is a dtype, a word such as "real floating", "integral" or "bool", or a tuple of these. TypeError if there is no
    such dtype, ValueError for another word.
    """
    own = np.dtype(_dtype_of(dtype))
    kinds: tuple[Any, ...] = kind if is_tuple(kind) else (kind,)
    return np.isdtype(own, tuple(_dtype_of(each) for each in kinds))


can_cast = _taking_variables(np.can_cast, "from_ to casting")
finfo = _taking_variables(np.finfo, "dtype")
iinfo = _taking_variables(np.iinfo, "int_type")
issubdtype = _taking_variables(np.issubdtype, "arg1 arg2")
promote_types = _taking_variables(np.promote_types, "type1 type2")
result_type = _taking_variables(np.result_type, "arrays_and_dtypes")
