"""Examples of the families create, reduce, index, join, blas, cast and control, for the table in `occelo_testing.examples`.

The examples of the family index come from `index_examples`.
"""

from __future__ import annotations

import importlib
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from occelo_graph import tensor as ot
from occelo_graph.examples.example import Example, draw
from occelo_graph.gradient import barriers
from occelo_graph.inner_graph import OpFromGraph
from occelo_graph.ops.control.identities import After, ViewOp
from occelo_testing.core_examples import indexing as index_examples

if TYPE_CHECKING:
    from occelo_graph.tensors.signatures import Array, ArrayFunction, TensorFunction

REAL = (-2.5, 2.5)
A = draw(REAL, (2, 3))
B = draw(REAL, (3, 2), salt=1)
V = draw(REAL, (3,), salt=2)
T = draw(REAL, (2, 3, 4), salt=3)
S = draw(REAL, (), salt=4)
I = draw("int", (2, 3), "int32")  # noqa: E741
M = draw("bool", (2, 3))
WITH_ZEROS = np.array([[1.5, 0.0, 2.0], [0.0, -1.0, 0.0]])


def _softmax(x: Any, axis: Any = None) -> Any:
    powers = np.exp(x - np.max(x, axis=axis, keepdims=True))
    return powers / powers.sum(axis=axis, keepdims=True)


def _create() -> list[Example]:
    def make(
        name: str,
        function: TensorFunction,
        reference: ArrayFunction,
        *args: Array,
        grad: tuple[int, ...] = (),
        batched: tuple[int, ...] = (),
    ) -> Example:
        return Example(name, "create", function, reference, args, grad, 1e-12, batched)

    n = np.array(3)
    return [
        make(
            "alloc",
            lambda x: ot.alloc(x, 4, 2, 3),
            lambda x: np.broadcast_to(x, (4, 2, 3)),
            A,
            grad=(0,),
            batched=(0,),
        ),
        make(
            "alloc",
            lambda s, k: ot.alloc(s, k, 2),
            lambda s, k: np.full((int(k), 2), s),
            S,
            n,
            grad=(0,),
            batched=(0,),
        ),
        make("zeros", lambda k: ot.zeros((k, 2)), lambda k: np.zeros((int(k), 2)), n),
        make("ones", lambda k: ot.ones((2, k)), lambda k: np.ones((2, int(k))), n),
        make("full", lambda k: ot.full((k,), 2.5), lambda k: np.full((int(k),), 2.5), n),
        make("empty", lambda k: ot.empty((k,)), lambda k: np.zeros(int(k)), n),
        make("zeros_like", ot.zeros_like, np.zeros_like, A),
        make("ones_like", ot.ones_like, np.ones_like, I),
        make("full_like", lambda x: ot.full_like(x, 3), lambda x: np.full_like(x, 3), A),
        make("arange", lambda k: ot.arange(k), lambda k: np.arange(int(k)), n),
        make(
            "arange",
            lambda a: ot.arange(a, 5.0, 0.5),
            lambda a: np.arange(float(a), 5.0, 0.5),
            np.array(0.25),
        ),
        make(
            "arange",
            lambda a, b: ot.arange(a, b, -2),
            lambda a, b: np.arange(int(a), int(b), -2),
            np.array(7),
            np.array(-2),
        ),
        make(
            "arange",
            lambda a, b: ot.arange(a, b),
            lambda a, b: np.arange(int(a), int(b)),
            np.array(7),
            n,
        ),
        make("eye", lambda k: ot.eye(k, 4, 1), lambda k: np.eye(int(k), 4, 1), n),
        make("tri", lambda k: ot.tri(k, 4, -1), lambda k: np.tri(int(k), 4, -1), n),
        make("tril", lambda x: ot.tril(x, 1), lambda x: np.tril(x, 1), T, grad=(0,), batched=(0,)),
        make("triu", lambda x: ot.triu(x, -1), lambda x: np.triu(x, -1), T, grad=(0,)),
        make(
            "broadcast_to",
            lambda x: ot.broadcast_to(x, (2, 3)),
            lambda x: np.broadcast_to(x, (2, 3)),
            V,
            grad=(0,),
            batched=(0,),
        ),
    ]


def _reduce() -> list[Example]:
    def make(
        name: str,
        function: TensorFunction,
        reference: ArrayFunction,
        *args: Array,
        grad: tuple[int, ...] = (0,),
        tol: float = 1e-10,
    ) -> Example:
        grads = grad if args[0].dtype == np.float64 else ()
        return Example(name, "reduce", function, reference, args, grads, tol, (0,))

    examples: list[Example] = []
    for name in ("sum", "prod", "max", "min", "mean", "var", "std"):
        for axis in (None, 0, -1, (0, 2), ()):
            if axis == () and name in ("mean", "var", "std"):
                continue
            examples.append(
                make(
                    name,
                    partial(getattr(ot, name), axis=axis),
                    partial(getattr(np, name), axis=axis),
                    T,
                    grad=() if axis == () and name in ("var", "std") else (0,),
                )
            )
        examples.append(
            make(
                name,
                partial(getattr(ot, name), axis=1, keepdims=True),
                partial(getattr(np, name), axis=1, keepdims=True),
                A,
            )
        )
        examples.append(
            make(
                name,
                getattr(ot, name),
                getattr(np, name),
                I,
            )
        )
        examples.append(
            make(
                name,
                getattr(ot, name),
                getattr(np, name),
                A.astype("float32"),
                tol=1e-5,
            )
        )
    return [
        *examples,
        make("sum", lambda x: ot.sum(x, dtype="float32"), lambda x: np.sum(x, dtype="float32"), I),
        make("sum", ot.sum, np.sum, np.zeros((0, 3))),
        make("sum", lambda x: ot.sum(x, 0), lambda x: np.sum(x, 0), np.zeros((0, 3))),
        make("prod", ot.prod, np.prod, WITH_ZEROS),
        make("prod", lambda x: ot.prod(x, 0), lambda x: np.prod(x, 0), np.zeros((0, 0))),
        make("prod", lambda x: ot.prod(x, 1), lambda x: np.prod(x, 1), np.zeros((0, 2))),
        make("prod", lambda x: ot.prod(x, 1), lambda x: np.prod(x, 1), WITH_ZEROS),
        make("all", lambda x: ot.all(x, 1), lambda x: np.all(x, 1), M, grad=()),
        make("any", lambda x: ot.any(x, 0), lambda x: np.any(x, 0), M, grad=()),
        make("ptp", lambda x: ot.ptp(x, 1), lambda x: np.ptp(x, 1), A),
        make("argmax", lambda x: ot.argmax(x, 1), lambda x: np.argmax(x, 1), T, grad=()),
        make("argmax", ot.argmax, np.argmax, T, grad=()),
        make("argmin", lambda x: ot.argmin(x, 0), lambda x: np.argmin(x, 0), T, grad=()),
        make("argmin", lambda x: ot.argmin(x, 0), lambda x: np.argmin(x, 0), I, grad=()),
        make("cumsum", lambda x: ot.cumsum(x, 1), lambda x: np.cumsum(x, 1), T),
        make("cumsum", ot.cumsum, np.cumsum, I, grad=()),
        make("cumprod", lambda x: ot.cumprod(x, 1), lambda x: np.cumprod(x, 1), T),
        make("cumprod", lambda x: ot.cumprod(x, 1), lambda x: np.cumprod(x, 1), WITH_ZEROS),
        make("sum_of_squares", ot.sum_of_squares, lambda x: np.sum(x * x), A),
        make(
            "sum_of_squares",
            lambda x: ot.sum_of_squares(x, (0, 2), keepdims=True),
            lambda x: np.sum(x * x, (0, 2), keepdims=True),
            T,
        ),
        make(
            "sum_of_squares",
            lambda x: ot.sum_of_squares(x, 1),
            lambda x: np.sum(np.square(x, dtype="int64"), 1),
            I,
            grad=(),
        ),
        make("softmax", lambda x: ot.softmax(x, 1), lambda x: _softmax(x, 1), T),
        make("softmax", ot.softmax, _softmax, A),
        make("log_softmax", lambda x: ot.log_softmax(x, -1), lambda x: np.log(_softmax(x, -1)), T),
        make("logsumexp", lambda x: ot.logsumexp(x, 1), lambda x: _logsumexp(x, axis=1), T),
        make("logsumexp", ot.logsumexp, _logsumexp, np.array([1000.0, 1000.0, -1000.0])),
        make(
            "logsumexp",
            lambda x, b: ot.logsumexp(x, 1, b=b, return_sign=True)[0],
            lambda x, b: _logsumexp(x, axis=1, b=b, return_sign=True)[0],
            T,
            T - 0.5,
            grad=(0, 1),
        ),
        make(
            "LinearRecurrence",
            lambda a, b: ot.LinearRecurrence(1)(a, b),
            _recurrence,
            A,
            A[::-1].copy(),
            grad=(0, 1),
        ),
    ]


def _logsumexp(x: Array, axis: int | None = None, **options: Any) -> Any:
    return importlib.import_module("scipy.special").logsumexp(x, axis=axis, **options)


def _recurrence(a: Any, b: Any) -> Any:
    result = np.zeros_like(b)
    state = np.zeros(b.shape[0])
    for k in range(b.shape[1]):
        state = a[:, k] * state + b[:, k]
        result[:, k] = state
    return result


def _join() -> list[Example]:
    def make(
        name: str,
        function: TensorFunction,
        reference: ArrayFunction,
        *args: Array,
        grad: tuple[int, ...] = (0,),
        batched: tuple[int, ...] = (0,),
    ) -> Example:
        return Example(name, "join", function, reference, args, grad, 1e-12, batched)

    return [
        make(
            "join",
            lambda x, z: ot.join(1, x, z),
            lambda x, z: np.concatenate([x, z], 1),
            A,
            A[:, :2],
            grad=(0, 1),
            batched=(0, 1),
        ),
        make(
            "concatenate",
            lambda x, z: ot.concatenate([x, z]),
            lambda x, z: np.concatenate([x, z]),
            V,
            V[:2].astype("float32"),
        ),
        make(
            "stack",
            lambda x, z: ot.stack([x, z], 1),
            lambda x, z: np.stack([x, z], 1),
            A,
            2 * A,
            grad=(0, 1),
            batched=(0, 1),
        ),
        make(
            "stack",
            lambda x, z: ot.stack([x, z]),
            lambda x, z: np.stack([x, z]),
            S,
            2 * S,
            grad=(0, 1),
            batched=(0, 1),
        ),
        make(
            "split",
            lambda x: ot.split(x, [1, 2], 2, axis=1)[1],
            lambda x: np.split(x, [1], axis=1)[1],
            A,
        ),
        make("repeat", lambda x: ot.repeat(x, 2, 1), lambda x: np.repeat(x, 2, 1), A),
        make(
            "repeat",
            lambda x, r: ot.repeat(x, r, 1),
            lambda x, r: np.repeat(x, r, 1),
            A,
            np.array([2, 0, 3]),
        ),
        make("tile", lambda x: ot.tile(x, (2, 1, 3)), lambda x: np.tile(x, (2, 1, 3)), A),
        make("flip", lambda x: ot.flip(x, 1), lambda x: np.flip(x, 1), T),
        make("diff", lambda x: ot.diff(x, 2), lambda x: np.diff(x, 2), A),
    ]


def _blas() -> list[Example]:
    def make(
        name: str,
        function: TensorFunction,
        reference: ArrayFunction,
        *args: Array,
        grad: tuple[int, ...] = (0, 1),
        tol: float = 1e-10,
    ) -> Example:
        return Example(name, "blas", function, reference, args, grad, tol, tuple(range(len(args))))

    left, right = draw(REAL, (4, 2, 3), salt=11), draw(REAL, (4, 3, 2), salt=12)
    return [
        make("dot", ot.dot, np.dot, A, B),
        make("dot", ot.dot, np.dot, A, V),
        make("dot", ot.dot, np.dot, V, B),
        make("dot", ot.dot, np.dot, V, V),
        make("dot", ot.dot, np.dot, T, draw(REAL, (4, 2))),
        make("dot", ot.dot, np.dot, S, A),
        make("dot", ot.dot, np.dot, I, I.T.copy(), grad=()),
        make("dot", ot.dot, np.dot, A.astype("float32"), B, grad=()),
        make("dot", ot.dot, np.dot, A + 1j * A, B - 2j * B, grad=()),
        make("dot", ot.dot, np.dot, np.zeros((2, 0)), np.zeros((0, 3))),
        make("matmul", ot.matmul, np.matmul, left, right),
        make("matmul", ot.matmul, np.matmul, left, right[:1]),
        make("matmul", ot.matmul, np.matmul, A, right),
        make("matmul", ot.matmul, np.matmul, V, right),
        make("matmul", ot.matmul, np.matmul, left, V),
        make("matvec", ot.matvec, lambda m, v: (m @ v[..., None])[..., 0], left, V),
        make("vecmat", ot.vecmat, lambda v, m: (v[..., None, :] @ m)[..., 0, :], V, right),
        make("vecdot", ot.vecdot, lambda x, z: (x * z).sum(-1), A, V),
        make("outer", ot.outer, np.outer, V, A),
        make(
            "tensordot",
            lambda x, z: ot.tensordot(x, z, 1),
            lambda x, z: np.tensordot(x, z, 1),
            left,
            B,
        ),
        make(
            "tensordot",
            lambda x, z: ot.tensordot(x, z, [[0, 2], [0, 1]]),
            lambda x, z: np.tensordot(x, z, ((0, 2), (0, 1))),
            left,
            right,
        ),
        make("batched_dot", ot.batched_dot, np.matmul, left, right),
        make("trace", ot.trace, np.trace, A[:, :2].copy(), grad=(0,)),
        Example(
            "gemm",
            "blas",
            lambda z, alpha, x, y, beta: ot.Gemm()(z, alpha, x, y, beta),
            lambda z, alpha, x, y, beta: beta * z + alpha * (x @ y),
            (
                A[:, :2],
                np.array(0.5),
                A,
                B[:3, :2] if B.shape[0] >= 3 else A.T[:3, :2],
                np.array(2.0),
            ),
            (0, 1, 2, 3, 4),
            1e-12,
            (0, 1, 2, 3, 4),
        ),
        Example(
            "gemv",
            "blas",
            lambda z, alpha, x, y, beta: ot.Gemv()(z, alpha, x, y, beta),
            lambda z, alpha, x, y, beta: beta * z + alpha * (x @ y),
            (A[:, 0], np.array(0.5), A, A[0], np.array(2.0)),
            (0, 1, 2, 3, 4),
            1e-12,
            (0, 1, 2, 3, 4),
        ),
        Example(
            "ger",
            "blas",
            lambda z, alpha, x, y: ot.Ger()(z, alpha, x, y),
            lambda z, alpha, x, y: z + alpha * np.outer(x, y),
            (A, np.array(0.5), A[:, 0], A[0]),
            (0, 1, 2, 3),
            1e-12,
            (0, 1, 2, 3),
        ),
    ]


def _converted(x: Array, dtype: str) -> Array:
    return x.astype(dtype)


def _cast_and_control() -> list[Example]:
    flag = np.array(1.0)
    casts = [
        Example(
            "cast",
            "cast",
            partial(ot.cast, dtype=d),
            partial(_converted, dtype=d),
            (A,),
            (),
            1e-6,
            (0,),
        )
        for d in ("float32", "int8", "bool", "complex64", "float64")
    ]
    return [
        *casts,
        Example(
            "cast",
            "cast",
            lambda x: ot.cast(ot.cast(x, "float32"), "float64") * 2,
            lambda x: x.astype("float32").astype("float64") * 2,
            (A,),
            (),
            1e-6,
        ),
        Example(
            "ifelse",
            "control",
            lambda c, x, z: ot.ifelse(c > 0, x, z),
            lambda c, x, z: x,
            (flag, A, 2 * A),
            (1, 2),
            1e-12,
            (1,),
        ),
        Example(
            "ifelse",
            "control",
            lambda c, x, z: ot.ifelse(c > 0, x, z),
            lambda c, x, z: z,
            (-flag, A, B),
            (1, 2),
            1e-12,
        ),
        Example(
            "assert_op",
            "control",
            lambda x: ot.assert_op(x, x.sum() < 1e9),
            lambda x: x,
            (A,),
            (0,),
        ),
        Example(
            "assume",
            "control",
            lambda x: ot.exp(ot.assume(x, diagonal=False)),
            np.exp,
            (A,),
            (0,),
        ),
        Example("op_from_graph", "control", _inner, lambda x: np.exp(x) * x, (A,), (0,), 1e-12),
        *_identities(),
    ]


def _inner(x: Any) -> Any:
    inside = ot.dmatrix()
    return OpFromGraph([inside], [ot.exp(inside) * inside])(x)


def _after(x: Any) -> Any:
    return After()(x, x * 2.0)


def _identities() -> list[Example]:
    """Examples of ops that return their input unchanged, such as barriers of gradients and views."""
    functions = (
        ("zero_grad", barriers.zero_grad),
        ("disconnected_grad", barriers.disconnected_grad),
        ("undefined_grad", barriers.undefined_grad),
        ("grad_clip", partial(barriers.grad_clip, lower_bound=-1.0, upper_bound=1.0)),
        ("grad_scale", partial(barriers.grad_scale, multiplier=2.0)),
        ("view", ViewOp()),
        ("after", _after),
    )
    return [Example(name, "control", f, lambda x: x, (A,)) for name, f in functions]


EXAMPLES: list[Example] = [
    *_create(),
    *_reduce(),
    *index_examples.EXAMPLES,
    *_join(),
    *_blas(),
    *_cast_and_control(),
]
