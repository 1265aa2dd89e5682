"""Examples of products of several tensors: Kronecker products, chains and powers of matrices, cross products, norms.

They belong to the family linalg, and are part of the table in `examples`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from occelo_graph.examples.example import Example, draw
from occelo_linalg import functions as linalg
from occelo_linalg.examples.factors import dominant

if TYPE_CHECKING:
    from occelo_graph.tensors.signatures import Array, ArrayFunction, TensorFunction

npl: Any = np.linalg
A = draw((-1.0, 1.0), (2, 3), salt=21)
B = draw((-1.0, 1.0), (3, 4), salt=22)
C = draw((-1.0, 1.0), (4, 2), salt=23)
V = draw((-1.0, 1.0), (3,), salt=24)
SQUARE = draw((-1.0, 1.0), (3, 3), salt=25)
STACK = draw((-1.0, 1.0), (2, 3, 3), salt=26)
COMPLEX = draw((-1.0, 1.0), (3, 3), "complex128", salt=27)


def make(
    name: str,
    function: TensorFunction,
    reference: ArrayFunction,
    *args: Array,
    tolerance: float = 1e-10,
    differentiated: bool = True,
) -> Example:
    """An example that is vectorized over all arguments.

    If all arguments are float64, it is also differentiated with respect to all of them.
    """
    real = differentiated and all(a.dtype == np.float64 for a in args)
    grad = tuple(range(len(args))) if real else ()
    batched = tuple(range(len(args)))
    return Example(name, "linalg", function, reference, args, grad, tolerance, batched)


def _blocks() -> list[Example]:
    def three_blocks(x: Array, y: Array, z: Array) -> Array:
        whole = np.zeros((6, 8))
        whole[:2, :3], whole[2:5, 3:7], whole[5:, 7:] = x, y, z
        return whole

    def of_batch(x: Array, y: Array) -> Array:
        whole = np.zeros((2, 5, 6))
        whole[:, :3, :3], whole[:, 3:, 3:] = x, y
        return whole

    return [
        make("kron", linalg.kron, np.kron, A, B),
        make("kron", linalg.kron, np.kron, V, COMPLEX),
        make(
            "kron",
            linalg.kron,
            np.kron,
            STACK.astype("float32"),
            A.astype("float32"),
            tolerance=1e-6,
        ),
        make("block_diag", linalg.block_diag, three_blocks, A, B, V[:1]),
        make("block_diag", linalg.block_diag, of_batch, STACK, A),
    ]


def _chains() -> list[Example]:
    def power(n: int) -> tuple[TensorFunction, ArrayFunction]:
        return lambda x: linalg.matrix_power(x, n), lambda x: npl.matrix_power(x, n)

    return [
        make(
            "multi_dot",
            lambda v, a, b, c: linalg.multi_dot([v, b, c, a]),
            lambda v, a, b, c: npl.multi_dot([v, b, c, a]),
            V,
            A,
            B,
            C,
        ),
        make("matrix_dot", linalg.matrix_dot, lambda x, y: x @ y, STACK, B),
        make("matrix_power", *power(0), STACK, differentiated=False),
        *[make("matrix_power", *power(n), STACK) for n in (1, 3, 6)],
        make("matrix_power", *power(5), draw("int", (3, 3), "int64", salt=29)),
        make("matrix_power", *power(2), COMPLEX),
        make(
            "matrix_power",
            lambda x: linalg.matrix_power(dominant(x), -3),
            lambda x: npl.matrix_power(dominant(x), -3),
            STACK,
        ),
    ]


def _vectors() -> list[Example]:
    def trace(x: Array) -> Any:
        return np.trace(x, 1, -2, -1)

    return [
        make(
            "cross",
            lambda x: linalg.cross(x, x + V, axis=0),
            lambda x: np.cross(x, x + V, axis=0),
            SQUARE,
        ),
        make("norm", linalg.norm, np.linalg.norm, A),
        make("norm", lambda x: linalg.norm(x, 1, axis=1), lambda x: np.abs(x).sum(1), A),
        make(
            "norm",
            lambda x: linalg.norm(x, 3, axis=1),
            lambda x: (np.abs(x) ** 3).sum(1) ** (1 / 3),
            A,
        ),
        make("norm", lambda x: linalg.norm(x, np.inf), lambda x: np.linalg.norm(x, np.inf), A),
        make("norm", lambda x: linalg.norm(x, -1), lambda x: np.linalg.norm(x, -1), A),
        make("outer", linalg.outer, np.outer, V, V[:2]),
        make("trace", lambda x: linalg.trace(x, offset=1), trace, STACK),
        make("diagonal", lambda x: linalg.diagonal(x), lambda x: np.diagonal(x, 0, -2, -1), STACK),
        make(
            "vector_norm",
            lambda x: linalg.vector_norm(x, axis=(0, 2)),
            lambda x: npl.norm(x.swapaxes(0, 1).reshape(3, -1), axis=-1),
            STACK,
        ),
        make(
            "matrix_norm",
            lambda x: linalg.matrix_norm(x),
            lambda x: npl.norm(x, axis=(-2, -1)),
            STACK,
        ),
    ]


EXAMPLES: list[Example] = [*_blocks(), *_chains(), *_vectors()]
