"""The functions of the graph package that stand for functions of NumPy, which `np.sum(x)` of a symbolic tensor x calls.

Those of this family are in `functions`, which takes longer to import. The parameters of NumPy's functions are written as `occelo_graph.tensors.numpy_functions` says.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from occelo_graph.narrowing import is_list_or_tuple
from occelo_graph.ops import create, join, reduce, shape, statistics
from occelo_graph.ops.arguments import stands_for
from occelo_graph.ops.blas import products as blas
from occelo_graph.ops.elemwise import arithmetic as ar
from occelo_graph.ops.elemwise import complex as cx
from occelo_graph.ops.index import search
from occelo_graph.ops.shape.axes import normalize_axis
from occelo_graph.tensors.constant import as_tensor_variable


def _clip(a: Any, a_min: Any = None, a_max: Any = None, min: Any = None, max: Any = None) -> Any:
    return ar.clip(a, min, max, a_min=a_min, a_max=a_max)


def _split(ary: Any, indices_or_sections: Any, axis: int = 0) -> list[Any]:
    ary = as_tensor_variable(ary)
    where = normalize_axis(axis, ary)
    if not is_list_or_tuple(indices_or_sections) and np.ndim(indices_or_sections) == 0:
        length, count = ary.type.shape[where], int(indices_or_sections)
        if length is None:
            raise TypeError(
                "numpy.split into equal parts needs a length that is known when the graph is "
                "built; use occelo.tensor.split with the lengths of the parts"
            )
        if count <= 0 or length % count:
            raise ValueError(f"A length of {length} does not split into {count} equal parts")
        ends = (
            list(range(length // count, length, length // count)) if length else [0] * (count - 1)
        )
    else:
        ends = list(indices_or_sections)
    lead = [slice(None)] * where
    pairs = zip([None, *ends], [*ends, None], strict=True)
    return [ary[tuple([*lead, slice(start, stop)])] for start, stop in pairs]


def _atleast_3d(*arys: Any) -> Any:
    """NumPy's ``atleast_3d``: shape (n,) becomes (1, n, 1), and shape (m, n) becomes (m, n, 1)."""
    orders: dict[int, list[Any]] = {0: ["x"] * 3, 1: ["x", 0, "x"], 2: [0, 1, "x"]}
    results = [
        v.dimshuffle(orders[v.type.ndim]) if v.type.ndim < 3 else v
        for v in map(as_tensor_variable, arys)
    ]
    return results[0] if len(results) == 1 else tuple(results)


def _tuple_of_several(function: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap ``function``, which returns a list for several arguments, so that it returns a tuple."""

    def calling(*arys: Any) -> Any:
        results = function(*arys)
        return results if len(arys) == 1 else tuple(results)

    return calling


_FUNCTIONS: dict[str, tuple[Callable[..., Any], str]] = {
    # reductions
    "sum": (reduce.sum, "a:input axis dtype -out keepdims initial where"),
    "prod": (reduce.prod, "a:input axis dtype -out keepdims initial where"),
    "mean": (statistics.mean, "a:input axis dtype -out keepdims where"),
    "var": (
        statistics.var,
        "a:input axis dtype -out ddof keepdims where mean correction",
    ),
    "std": (
        statistics.std,
        "a:input axis dtype -out ddof keepdims where mean correction",
    ),
    "max": (reduce.max, "a:x axis -out keepdims initial where"),
    "amax": (reduce.max, "a:x axis -out keepdims initial where"),
    "min": (reduce.min, "a:x axis -out keepdims initial where"),
    "amin": (reduce.min, "a:x axis -out keepdims initial where"),
    "ptp": (statistics.ptp, "a axis -out keepdims"),
    "argmax": (reduce.argmax, "a:x axis -out keepdims"),
    "argmin": (reduce.argmin, "a:x axis -out keepdims"),
    "all": (reduce.all, "a:x axis -out keepdims where"),
    "any": (reduce.any, "a:x axis -out keepdims where"),
    "cumsum": (reduce.cumsum, "a:x axis dtype -out"),
    "cumprod": (reduce.cumprod, "a:x axis dtype -out"),
    # products
    "dot": (blas.dot, "a:l b:r -out"),
    "outer": (blas.outer, "a:x b:y -out"),
    "tensordot": (blas.tensordot, "a b axes"),
    "trace": (blas.trace, "a offset axis1 axis2 dtype -out"),
    # shapes
    "shape": (shape.shape, "a:x"),
    "reshape": (shape.reshape, "a:x shape:newshape -order=C -copy=True"),
    "ravel": (shape.ravel, "a:x -order=C"),
    "transpose": (shape.transpose, "a:x axes"),
    "matrix_transpose": (shape.matrix_transpose, "x"),
    "swapaxes": (shape.swapaxes, "a:x axis1 axis2"),
    "moveaxis": (shape.moveaxis, "a:x source destination"),
    "expand_dims": (shape.expand_dims, "a axis"),
    "squeeze": (shape.squeeze, "a:x axis"),
    "atleast_1d": (_tuple_of_several(shape.atleast_1d), "*"),
    "atleast_2d": (_tuple_of_several(shape.atleast_2d), "*"),
    "atleast_3d": (_atleast_3d, "*"),
    "broadcast_to": (create.broadcast_to, "array:x shape -subok=False"),
    "broadcast_arrays": (create.broadcast_arrays, "*"),
    # joining and splitting
    "concatenate": (join.concatenate, "arrays:tensor_list axis -out dtype casting"),
    "stack": (join.stack, "arrays:tensors axis -out dtype casting"),
    "split": (_split, "ary indices_or_sections axis"),
    "repeat": (join.repeat, "a repeats axis"),
    "tile": (join.tile, "A reps"),
    "flip": (join.flip, "m:arr axis"),
    "diff": (join.diff, "a n axis prepend append"),
    # making
    "zeros_like": (create.zeros_like, "a:model dtype -order=K -subok=True shape -device"),
    "ones_like": (create.ones_like, "a:model dtype -order=K -subok=True shape -device"),
    "empty_like": (
        create.empty_like,
        "prototype:model dtype -order=K -subok=True shape -device",
    ),
    "full_like": (
        create.full_like,
        "a fill_value dtype -order=K -subok=True shape -device",
    ),
    "tril": (create.tril, "m k"),
    "triu": (create.triu, "m k"),
    # elements
    "clip": (_clip, "a a_min a_max -out min max"),
    "round": (ar.round, "a decimals -out"),
    "isclose": (ar.isclose, "a b rtol atol equal_nan"),
    "allclose": (ar.allclose, "a b rtol atol equal_nan"),
    "isposinf": (ar.isposinf, "x -out"),
    "isneginf": (ar.isneginf, "x -out"),
    "real": (cx.real, "*"),
    "imag": (cx.imag, "*"),
    "angle": (cx.angle, "z deg"),
    "where": (ar.where, "condition:cond x:ift y:iff"),
    # positions
    "nonzero": (search.nonzero, "a"),
    "flatnonzero": (search.flatnonzero, "a"),
    "take": (search.take, "a indices axis -out mode"),
    "take_along_axis": (search.take_along_axis, "arr indices axis"),
    "diag": (search.diag, "v k"),
    "diagonal": (search.diagonal, "a offset axis1 axis2"),
    # linear algebra
    "linalg.matrix_transpose": (shape.matrix_transpose, "x"),
    "linalg.matmul": (blas.matmul, "x1 x2"),
    "linalg.tensordot": (blas.tensordot, "x1:a x2:b axes"),
    "linalg.vecdot": (blas.vecdot, "x1 x2 axis"),
}
if tuple(map(int, np.__version__.split(".")[:2])) < (2, 1):
    _FUNCTIONS["reshape"] = (shape.reshape, "a:x newshape -order=C")
for _name, (_function, _parameters) in _FUNCTIONS.items():
    stands_for(_name, _parameters)(_function)
