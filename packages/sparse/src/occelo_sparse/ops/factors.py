"""Factors of square CSC matrices by SuperLU, and elements of the inverses, in NumPy code.

A thread keeps the factors of its last matrix: a solution, its gradient and a determinant of one matrix factorize it once.
SciPy has no sparse Cholesky factors. For a matrix that equals its conjugate transpose, SuperLU is asked for L U without
exchanges of rows: if all pivots are positive, this is L D L^H, and the matrix is positive definite.
"""

from __future__ import annotations

import threading
from contextlib import suppress
from typing import Any

import numpy as np

from occelo_graph.optional_scipy import scipy_module
from occelo_sparse.ops.structure import check_structure

_SYMMETRIC: dict[str, Any] = {
    "permc_spec": "MMD_AT_PLUS_A",
    "diag_pivot_thresh": 0.0,
    "options": {"SymmetricMode": True},
}
_COLUMNS = 64
"""How many columns of an inverse are computed at once."""


class Factors:
    """The factors of a matrix of values, indices and offsets. LinAlgError if it is singular, ValueError for no structure."""

    def __init__(self, values: Any, indices: Any, offsets: Any) -> None:
        n = self.n = len(offsets) - 1
        self.lines = check_structure(indices, offsets, n)
        # SciPy puts arrays in order in place, so it gets copies
        self.parts: tuple[Any, ...] = tuple(np.array(part) for part in (values, indices, offsets))
        copies = tuple(map(np.copy, self.parts))
        matrix = scipy_module("sparse", "splu").csc_matrix(copies, shape=(n, n))
        matrix.sum_duplicates()
        self.definite = False
        self.lu: Any = None
        if n:
            self._factorize(matrix)

    def _factorize(self, matrix: Any) -> None:
        splu = scipy_module("sparse.linalg", "splu").splu
        if np.all(matrix.diagonal().real > 0) and _is_hermitian(matrix):
            # an indefinite matrix may have a pivot of 0, which only exchanges of rows avoid
            with suppress(RuntimeError):
                self.lu = splu(matrix, **_SYMMETRIC)
                same = np.array_equal(self.lu.perm_r, self.lu.perm_c)
                self.definite = same and bool(np.all(self.lu.U.diagonal().real > 0))
        if self.definite:
            return
        try:
            self.lu = splu(matrix)
        except RuntimeError as error:
            raise np.linalg.LinAlgError(f"The sparse matrix is singular: {error}") from None

    def are_of(self, *parts: Any) -> bool:
        """Whether these are the factors of the matrix with these parts."""
        return all(
            own.dtype == other.dtype and np.array_equal(own, other)
            for own, other in zip(self.parts, parts, strict=True)
        )

    def solve(self, b: Any, transposed: bool) -> Any:
        """The solution of A x = b, or of A' x = b, for a vector or a matrix ``b``."""
        if not b.size:
            return np.array(b)
        solution = self.lu.solve(np.ascontiguousarray(b), "T" if transposed else "N")
        return np.ascontiguousarray(solution, dtype=b.dtype)

    def slogdet(self) -> tuple[Any, Any]:
        """The sign of the determinant, and the logarithm of its absolute value."""
        dtype = self.parts[0].dtype
        if self.lu is None:
            return np.ones((), dtype), np.zeros((), dtype)[()].real
        pivots = np.asarray(self.lu.U.diagonal(), dtype)
        sizes = np.abs(pivots)
        exchanges = _sign(self.lu.perm_r) * _sign(self.lu.perm_c)
        return exchanges * np.prod(pivots / sizes), np.sum(np.log(sizes))

    def inverse_at_places(self) -> Any:
        """For each stored value the element of the inverse at the transposed place: at its line (row) and index (column)."""
        if self.lu is None:
            return self.parts[0]
        elements = self.selected() if self.definite else None
        return self.by_columns() if elements is None else elements

    def by_columns(self) -> Any:
        """Solve for columns of the transposed inverse, some at a time."""
        values, indices, offsets = self.parts
        elements = np.empty_like(values)
        for first in range(0, self.n, _COLUMNS):
            last = min(first + _COLUMNS, self.n)
            units = np.zeros((self.n, last - first), values.dtype)
            units[np.arange(first, last), np.arange(last - first)] = 1
            solved = self.lu.solve(units, "T")
            own = slice(offsets[first], offsets[last])
            elements[own] = solved[indices[own], self.lines[own] - first]
        return elements

    def selected(self) -> Any:
        """Elements of the inverse Z of L D L^H by the recursion of Takahashi; None if one of them has no place in L.

        From the last column j to the first, Z[I, j] = -Z[I, I] L[I, j] and Z[j, j] = 1 / D[j] - L[I, j]^H Z[I, j], where
        I are the rows below j at which L has values. The first of them is the parent of j, whose own rows and itself contain
        I, unless a value of L was 0 by chance. So Z[I, I] is a part of the parent's block, which is kept for its children.
        """
        lower = self.lu.L.tocsc()
        lower.sort_indices()
        starts, rows, pivots = lower.indptr.tolist(), lower.indices, self.lu.U.diagonal().real
        z, blocks = np.empty_like(lower.data), dict[int, Any]()
        children = self._children(lower)
        for j in range(self.n - 1, -1, -1):
            first, last = starts[j : j + 2]
            below, column = rows[first + 1 : last], lower.data[first + 1 : last]
            block = np.empty((last - first, last - first), z.dtype)
            if len(below):
                parent = int(below[0])
                around = rows[starts[parent] : starts[parent + 1]]
                at = around.searchsorted(below)
                if at[-1] == len(around) or not np.array_equal(around[at], below):
                    return None
                block[1:, 1:] = blocks[parent][at[:, None], at]
                block[1:, 0] = -block[1:, 1:] @ column
                block[0, 1:] = block[1:, 0].conj()
                children[parent] -= 1
                if not children[parent]:
                    del blocks[parent]
            block[0, 0] = 1 / pivots[j] - (column.conj() @ block[1:, 0]).real
            z[first:last] = block[:, 0]
            if children[j]:
                blocks[j] = block
        keys = np.repeat(np.arange(self.n), np.diff(lower.indptr)) * self.n + rows
        return self._taken(keys, z)

    def _children(self, lower: Any) -> list[int]:
        """For each column of L the number of columns whose first row below the diagonal it is."""
        firsts = lower.indptr[:-1][np.diff(lower.indptr) > 1] + 1
        return np.bincount(lower.indices[firsts], minlength=self.n).tolist()

    def _taken(self, keys: Any, z: Any) -> Any:
        """The elements for the stored values, from those of the lower triangle of the inverse in the order of the factors."""
        order: Any = self.lu.perm_r.astype("int64")
        row = np.asarray(order[self.lines], np.int64)
        column = np.asarray(order[self.parts[1]], np.int64)
        own = np.minimum(row, column) * self.n + np.maximum(row, column)
        at = np.minimum(np.searchsorted(keys, own), len(keys) - 1)
        if not np.array_equal(keys[at], own):
            return None
        elements = np.asarray(z[at])
        return np.where(row >= column, elements, elements.conj())


def _is_hermitian(matrix: Any) -> bool:
    turned = matrix.T.conj().tocsc()
    turned.sort_indices()
    return all(
        np.array_equal(getattr(matrix, part), getattr(turned, part))
        for part in ("indptr", "indices", "data")
    )


def _sign(permutation: Any) -> int:
    """1 for an even permutation, -1 for an odd one."""
    following, seen, cycles = permutation.tolist(), bytearray(len(permutation)), 0
    for start in range(len(following)):
        cycles += not seen[start]
        while not seen[start]:
            seen[start] = 1
            start = following[start]
    return -1 if (len(following) - cycles) % 2 else 1


_last = threading.local()


def factorized(values: Any, indices: Any, offsets: Any) -> Factors:
    """The factors of a matrix: those of this thread's last matrix, if it is the same."""
    factors: Factors | None = getattr(_last, "factors", None)
    if factors is None or not factors.are_of(values, indices, offsets):
        _last.factors = None
        factors = _last.factors = Factors(values, indices, offsets)
    return factors
