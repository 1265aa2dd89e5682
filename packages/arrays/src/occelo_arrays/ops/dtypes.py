"""NumPy's functions of dtypes, which take symbolic tensors in place of their dtypes: `result_type`, `can_cast` and others.

They return dtypes and bools of Python, not variables. A Python number among the arguments of `result_type` is weak, as in NumPy.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np

from occelo_graph.ir.nodes import Variable

__all__ = ["can_cast", "finfo", "iinfo", "isdtype", "issubdtype", "promote_types", "result_type"]


def _taking_variables(function: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(function)
    def calling(*args: Any, **options: Any) -> Any:
        return function(*map(_dtype_of, args), **options)

    calling.__doc__ = (
        f"`numpy.{function.__name__}`, also of symbolic tensors, which stand for their dtypes."
    )
    return calling


def _dtype_of(given: Any) -> Any:
    return np.dtype(given.type.dtype) if isinstance(given, Variable) else given


can_cast = _taking_variables(np.can_cast)
finfo = _taking_variables(np.finfo)
iinfo = _taking_variables(np.iinfo)
isdtype = _taking_variables(np.isdtype)
issubdtype = _taking_variables(np.issubdtype)
promote_types = _taking_variables(np.promote_types)
result_type = _taking_variables(np.result_type)
