"""Examples of SciPy's keywords that do not change a result, of which ``check_finite`` adds a check to the graph."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from occelo_graph.examples.example import Example
from occelo_graph.narrowing import is_list_or_tuple
from occelo_linalg import functions as linalg
from occelo_linalg.examples.factors import COLUMNS, VECTOR, M, dominant, positive_definite
from occelo_linalg.examples.products import make

if TYPE_CHECKING:
    from collections.abc import Callable

    from occelo_graph.tensors.signatures import Array

scipy_linalg: Any = importlib.import_module("scipy.linalg")


def _row(name: str, prepared: Callable[[Any], Any], *arguments: Array, **options: Any) -> Example:
    """A call of the function of this name here and in SciPy, with a prepared matrix and the same keywords.

    Of several results, all but the first are left out. SciPy overwrites copies.
    """

    def call(module: Any) -> Callable[..., Any]:
        def function(a: Any, *others: Any) -> Any:
            own = [x.copy() for x in others]
            result: Any = getattr(module, name)(prepared(a), *own, **options)
            return result[0] if is_list_or_tuple(result) else result

        return function

    return make(name, call(linalg), call(scipy_linalg), *arguments)


EXAMPLES: list[Example] = [
    _row("solve", dominant, M, COLUMNS, check_finite=True, overwrite_a=True, overwrite_b=True),
    _row("solve_triangular", dominant, M, VECTOR, lower=True, check_finite=True, overwrite_b=True),
    _row("cholesky", positive_definite, M, lower=True, check_finite=True, overwrite_a=True),
    _row("inv", dominant, M, check_finite=True, overwrite_a=True),
    _row("det", dominant, M, check_finite=True, overwrite_a=True),
    _row("eigh", positive_definite, M, check_finite=True, driver="ev"),
    _row("svdvals", dominant, M, check_finite=True, overwrite_a=True),
    _row("norm", dominant, M, check_finite=True),
    _row("inv", positive_definite, M, assume_a="pos", lower=True, overwrite_a=True),
    _row("inv", dominant, M, assume_a="upper triangular", check_finite=True),
    _row("inv", dominant, M, assume_a="diagonal"),
    _row("qr", dominant, M, lwork=64, mode="full", overwrite_a=True),
]
