"""Examples of the ops of the family shape, such as reshapes and transpositions, for the table in `occelo_testing.examples`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from occelo_graph import tensor as ot
from occelo_graph.examples.example import Example, draw

if TYPE_CHECKING:
    from occelo_graph.tensors.signatures import Array, ArrayFunction, TensorFunction

REAL = (-2.5, 2.5)
A = draw(REAL, (2, 3))
T = draw(REAL, (2, 3, 4), salt=3)


def _shape() -> list[Example]:
    def make(
        name: str,
        function: TensorFunction,
        reference: ArrayFunction,
        *args: Array,
        grad: tuple[int, ...] = (0,),
    ) -> Example:
        return Example(name, "shape", function, reference, args, grad, 1e-12, (0,))

    two = np.array(2)
    return [
        Example("shape", "shape", ot.shape, lambda x: np.array(x.shape), (T,)),
        Example("shape_i", "shape", lambda x: ot.shape_i(x, 1), lambda x: x.shape[1], (T,)),
        make(
            "shape",
            lambda x: ot.shape(x) * x[0, 0, :3],
            lambda x: np.array(x.shape) * x[0, 0, :3],
            T,
            grad=(),
        ),
        make("reshape", lambda x: ot.reshape(x, (3, 2)), lambda x: x.reshape(3, 2), A),
        make("reshape", lambda x: ot.reshape(x, (-1, 6)), lambda x: x.reshape(-1, 6), T),
        Example(
            "reshape",
            "shape",
            lambda x, k: ot.reshape(x, (k, -1)),
            lambda x, k: x.reshape(int(k), -1),
            (T, two),
            (0,),
            1e-12,
            (0,),
        ),
        make(
            "reshape",
            lambda x, k, n: ot.reshape(x, (k, n)),
            lambda x, k, n: x.reshape(int(k), int(n)),
            A,
            np.array(3),
            np.array(-1),
            grad=(0,),
        ),
        make(
            "reshape",
            lambda x, k: ot.reshape(x, (2, k, 3)),
            lambda x, k: x.reshape(2, int(k), 3),
            T,
            np.array(-1),
            grad=(0,),
        ),
        make(
            "reshape",
            lambda x, lengths: ot.reshape(x, lengths, ndim=2),
            lambda x, lengths: x.reshape(lengths),
            np.zeros((0, 2)),
            np.array([-1, 5]),
        ),
        make("flatten", lambda x: ot.flatten(x, 2), lambda x: x.reshape(2, 12), T),
        make("flatten", lambda x: ot.flatten(x, 2), lambda x: x.reshape(0, 6), np.zeros((0, 2, 3))),
        make("ravel", ot.ravel, np.ravel, T),
        make("transpose", ot.transpose, np.transpose, T),
        make(
            "transpose",
            lambda x: ot.transpose(x, (1, 2, 0)),
            lambda x: np.transpose(x, (1, 2, 0)),
            T,
        ),
        make("matrix_transpose", ot.matrix_transpose, lambda x: np.swapaxes(x, -1, -2), T),
        make("swapaxes", lambda x: ot.swapaxes(x, 0, 2), lambda x: np.swapaxes(x, 0, 2), T),
        make("moveaxis", lambda x: ot.moveaxis(x, 0, -1), lambda x: np.moveaxis(x, 0, -1), T),
        make(
            "expand_dims",
            lambda x: ot.expand_dims(x, (0, 2)),
            lambda x: np.expand_dims(x, (0, 2)),
            A,
        ),
        make("squeeze", lambda x: ot.squeeze(x[:1], 0), lambda x: x[0], A),
        make("dimshuffle", lambda x: x.dimshuffle("x", 1, 0), lambda x: x.T[None], A),
        make("shape_padleft", lambda x: ot.shape_padleft(x, 2), lambda x: x[None, None], A),
        make("shape_padright", lambda x: ot.shape_padright(x, 1), lambda x: x[..., None], A),
        make("atleast_3d", ot.atleast_3d, lambda x: x[None], A),
        make("specify_shape", lambda x: ot.specify_shape(x, (2, None)), lambda x: x, A),
        Example(
            "specify_shape",
            "shape",
            lambda x, k: ot.specify_shape(x, (k, 3)),
            lambda x, k: x,
            (A, two),
            (0,),
            1e-12,
            (0,),
        ),
        *(
            Example(
                "stretch",
                "shape",
                lambda x, y: x[:2, 1:].inc(y),
                lambda x, y: x + np.pad(np.broadcast_to(y, (2, 2)), ((0, 0), (1, 0))),
                (A, y),
                (0, 1),
                1e-12,
                (0, 1),
            )
            for y in (A[:, :2], A[:1, :2], A[:, :1], A[0, :1])
        ),
        make("join_dims", lambda x: ot.join_dims(x, 1, 2), lambda x: x.reshape(2, 12), T),
        make(
            "split_dims", lambda x: ot.split_dims(x, (2, 2), 2), lambda x: x.reshape(2, 3, 2, 2), T
        ),
    ]


EXAMPLES: list[Example] = _shape()
