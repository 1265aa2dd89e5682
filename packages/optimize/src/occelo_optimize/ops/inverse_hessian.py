"""`InverseHessian`: the inverse Hessian of the limited-memory BFGS method, as the steps that it follows from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from occelo_graph.ir import trees
from occelo_graph.ops.create import eye


class InverseHessian:
    """A symmetric matrix that is known by its products, as SciPy's ``LbfgsInvHessProduct``.

    ``sk`` are the last steps and ``yk`` the differences of gradients along them, the newest in the last row; rows of 0
    are none. Both are variables, or arrays in what a compiled function has returned, and so are the products
    ``inverse @ v`` and the matrix ``inverse.todense()``. Without steps it is the identity.
    """

    def __init__(self, sk: Any, yk: Any) -> None:
        self.sk = sk
        self.yk = yk

    @property
    def shape(self) -> tuple[Any, Any]:
        """The lengths of the matrix."""
        n = self.sk.shape[1]
        return n, n

    def matvec(self, v: Any) -> Any:
        """The product with a vector, or with each column of a matrix."""
        products = (self.sk * self.yk).sum(1)
        usable = products > 0.0
        weights = usable / (products + ~usable)
        count = _static_length(self.sk)
        steps = [(self.sk[i], self.yk[i], weights[i]) for i in range(count)]
        sizes: list[Any] = []
        for s, y, weight in reversed(steps):
            sizes.append(weight * (s @ v))
            v = v - _outer(y, sizes[-1])
        for (s, y, weight), size in zip(steps, reversed(sizes), strict=True):
            v = v + _outer(s, size - weight * (y @ v))
        return v

    __matmul__ = matvec

    def todense(self) -> Any:
        """The matrix itself."""
        identity: Any = eye if hasattr(self.sk, "type") else np.eye
        return self.matvec(identity(self.shape[0], dtype=self.sk.dtype))

    def __repr__(self) -> str:
        return f"InverseHessian(sk={self.sk}, yk={self.yk})"


def _static_length(rows: Any) -> int:
    """The number of rows of a variable or an array."""
    shape: Any = getattr(rows, "type", rows).shape
    return int(shape[0])


def _outer(vector: Any, size: Any) -> Any:
    """The vector times a number, or times each of a vector of numbers, as columns."""
    return vector[:, None] * size if size.ndim else vector * size


def _take_apart(inverse: InverseHessian) -> tuple[list[Any], None]:
    return [inverse.sk, inverse.yk], None


def _rebuild(_: None, parts: Sequence[Any]) -> InverseHessian:
    return InverseHessian(*parts)


trees.register(InverseHessian, _take_apart, _rebuild)
