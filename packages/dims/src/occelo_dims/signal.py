"""Convolutions along named dimensions, at PyTensor's place."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

import occelo_signal as functions
from occelo_dims.applying import apply_ufunc
from occelo_dims.labelled import XTensorLike, check_dims
from occelo_graph.errors import explained_by

if TYPE_CHECKING:
    from occelo_dims.variable import XTensorVariable

__all__ = ["convolve1d"]


@explained_by("dimensions")
def convolve1d(
    in1: XTensorLike,
    in2: XTensorLike,
    mode: Literal["full", "valid", "same"] = "full",
    *,
    dims: Sequence[str],
) -> XTensorVariable:
    """The convolution of ``in1`` along the first of the two ``dims`` with ``in2`` along the second one.

    The result has the first one, last of all. ``mode`` is that of `scipy.signal.convolve`. ValueError if there are not two
    different dims, if an argument lacks its own or has that of the other, and for another mode.
    """
    names = check_dims(dims)
    if len(names) != 2:
        raise ValueError(f"convolve1d needs two dims, one of each argument, got {names}")
    convolution: XTensorVariable = apply_ufunc(
        functions.convolve1d,
        in1,
        in2,
        input_core_dims=[names[:1], names[1:]],
        output_core_dims=[names[:1]],
        kwargs={"mode": mode},
    )
    return convolution
