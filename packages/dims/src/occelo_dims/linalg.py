"""Linear algebra over two named dimensions, at PyTensor's place. `apply_ufunc` applies further functions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import occelo_linalg.functions as functions
from occelo_dims.applying import apply_ufunc
from occelo_dims.labelled import XTensorLike, as_xtensor, check_dims, describe
from occelo_graph.errors import explained_by

if TYPE_CHECKING:
    from occelo_dims.variable import XTensorVariable

__all__ = ["cholesky", "det", "inv", "solve"]


@explained_by("dimensions")
def _two(dims: Sequence[str], what: str) -> tuple[str, str]:
    names = check_dims(dims)
    if len(names) != 2:
        raise ValueError(f"{what} needs two dims, those of rows and columns, got {names}")
    return names[0], names[1]


def cholesky(
    x: XTensorLike, lower: bool = True, *, check_finite: bool = True, dims: Sequence[str]
) -> XTensorVariable:
    """The Cholesky factor of the matrices with rows and columns ``dims``, which come last; upper ones if not ``lower``.

    ``check_finite`` changes nothing. ValueError if there are not two dims, or ``x`` lacks one.
    """
    core = _two(dims, "cholesky")
    factor: XTensorVariable = apply_ufunc(
        functions.cholesky,
        x,
        input_core_dims=[core],
        output_core_dims=[core],
        kwargs={"lower": lower},
    )
    return factor


def inv(x: XTensorLike, *, dims: Sequence[str]) -> XTensorVariable:
    """The inverses of the matrices with rows and columns ``dims``. Those of the results come last, in the order (columns, rows).

    ValueError if there are not two dims, or ``x`` lacks one.
    """
    rows, columns = _two(dims, "inv")
    inverse: XTensorVariable = apply_ufunc(
        functions.inv, x, input_core_dims=[(rows, columns)], output_core_dims=[(columns, rows)]
    )
    return inverse


def det(x: XTensorLike, *, dims: Sequence[str]) -> XTensorVariable:
    """The determinants of the matrices with rows and columns ``dims``. ValueError if there are not two, or ``x`` lacks one."""
    dets: XTensorVariable = apply_ufunc(functions.det, x, input_core_dims=[_two(dims, "det")])
    return dets


@explained_by("dimensions")
def solve(
    a: XTensorLike,
    b: XTensorLike,
    dims: Sequence[str],
    assume_a: str = "gen",
    lower: bool = False,
    check_finite: bool = True,
) -> XTensorVariable:
    """The solution of the linear equations with the matrices ``a``.

    With two ``dims``, both those of ``a``, ``b`` has one of them, over which the equations run; the other one is that of
    the solution. With three, the third one is that of ``b`` alone, of its columns, and comes last. ``assume_a`` and
    ``lower`` are those of `scipy.linalg.solve`; ``check_finite`` changes nothing. ValueError for other dims.
    """
    first, second = as_xtensor(a), as_xtensor(b)
    names = check_dims(dims)
    if len(names) not in (2, 3):
        raise ValueError(
            f"solve needs two dims of a, and a third one for columns of b; got {names}"
        )
    columns = [d for d in names if d not in first.dims]
    unknown = [d for d in names if d not in second.dims]
    shared = [d for d in names if d not in columns and d not in unknown]
    if len(columns) != len(names) - 2 or len(unknown) != 1 or len(shared) != 1:
        raise ValueError(
            f"solve: {describe(first)} must have two of {names}, and {describe(second)} one of these"
            + (" and the third one" if len(names) == 3 else "")
        )
    solution: XTensorVariable = apply_ufunc(
        functions.solve,
        first,
        second,
        input_core_dims=[(*shared, *unknown), (*shared, *columns)],
        output_core_dims=[(*unknown, *columns)],
        kwargs={"assume_a": assume_a, "lower": lower, "b_ndim": len(names) - 1},
    )
    return solution
