"""Example calls of `einsum` and `cross`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from occelo_arrays import functions as arrays
from occelo_graph.examples.example import Example, draw

if TYPE_CHECKING:
    from occelo_graph.tensors.signatures import Array, ArrayFunction, TensorFunction

A = draw((-1.0, 1.0), (2, 3), salt=21)
B = draw((-1.0, 1.0), (3, 4), salt=22)
C = draw((-1.0, 1.0), (4, 2), salt=23)
V = draw((-1.0, 1.0), (3,), salt=24)
SQUARE = draw((-1.0, 1.0), (3, 3), salt=25)
STACK = draw((-1.0, 1.0), (2, 3, 3), salt=26)
COMPLEX = draw((-1.0, 1.0), (3, 3), "complex128", salt=27)


def _make(
    name: str,
    function: TensorFunction,
    reference: ArrayFunction,
    *args: Array,
    tolerance: float = 1e-10,
) -> Example:
    """An example that is vectorized over all arguments and, if they are float64, differentiated by all of them."""
    every = tuple(range(len(args)))
    grad = every if all(a.dtype == np.float64 for a in args) else ()
    return Example(name, "arrays", function, reference, args, grad, tolerance, every)


def _einsum(subscripts: str, *args: Array) -> Example:
    def function(*operands: Any) -> Any:
        return arrays.einsum(subscripts, *operands)

    def reference(*operands: Any) -> Any:
        return np.einsum(subscripts, *operands)

    return _make(
        "einsum", function, reference, *args, tolerance=1e-5 if args[0].itemsize == 4 else 1e-10
    )


EXAMPLES: list[Example] = [
    _einsum("ij,jk->ki", A, B),
    _einsum("ij,jk,kl->il", A, B, C),
    _einsum("bij,bj->bi", STACK, A),
    _einsum("bij,cj->ibc", STACK, A),
    _einsum("ij,ij->i", A, A + 1),
    _einsum("ii,ij->j", SQUARE, COMPLEX),
    _einsum("...ij,jk->...ki", STACK.astype("float32"), B.astype("float32")),
    _einsum("ij,jk->ik", A, np.zeros((3, 0))),
    _einsum("ij,kj->ik", draw("int", (2, 3), "int64", salt=28), draw("int", (2, 3), "int64")),
    _make("cross", arrays.cross, np.cross, A, A[::-1] + 1),
    _make("cross", arrays.cross, np.cross, COMPLEX, V),
]
