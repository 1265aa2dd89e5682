"""Random chains of products: transposes of factors and of products, strides, lengths and dtypes, in 1 to 8 threads."""

import ctypes
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import occelo as oc
import occelo.tensor as ot
from occelo_link.machine.symbol_addresses import blas_library
from occelo_link.units.thread_pool import thread_pool

LENGTHS = (0, 1, 2, 3, 7, 8, 24, 33, 48, 50, 64, 97, 128, 130, 200, 256, 300)
LARGE = (*LENGTHS[1:], 384, 400, 500, 512, 513, 600, 768, 1000, 2100)
DTYPES = ("float32", "float64", "float64", "complex128", "complex64")


@pytest.fixture(autouse=True)
def little_work_in_threads(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Products of some thousand elements run in as many threads as BLAS has."""
    get, put = blas_library().thread_functions()
    monkeypatch.setattr(thread_pool(), "worth", 1000)
    before = ctypes.CFUNCTYPE(ctypes.c_int)(get or 0)() if get else 0
    yield
    if put:
        ctypes.CFUNCTYPE(None, ctypes.c_int)(put)(before)


class Chain:
    """A product of random matrices, whose factors are some of them transposed, in a random order of multiplication."""

    def __init__(self, seed: int, lengths: tuple[int, ...]) -> None:
        self.random = np.random.default_rng(seed)
        self.dtype = str(self.random.choice(DTYPES))
        count = int(self.random.integers(2, 5))
        self.dims = [int(n) for n in self.random.choice(lengths, count + 1)]
        self.turned = [bool(t) for t in self.random.integers(0, 2, count)]
        self.batched = self.random.random() < 0.15
        pairs = list(zip(self.dims[:-1], self.dims[1:], strict=True))
        self.arrays = [
            self._array(p[::-1] if t else p) for p, t in zip(pairs, self.turned, strict=True)
        ]
        self.tree = self._tree(0, count, False)

    def _array(self, shape: tuple[int, ...]) -> Any:
        """An array of random numbers with its elements in one of several orders."""
        shape = (3, *shape) if self.batched else shape
        kind = self.random.integers(0, 5)
        if kind == 4:
            return self._numbers((*shape[:-2], 2 * shape[-2], 3 * shape[-1]))[..., ::2, 1::3]
        values = self._numbers(shape)
        if kind == 1:
            return np.asfortranarray(values)
        if kind == 2:
            return values[..., ::-1, :]
        if kind == 3:
            return np.ascontiguousarray(values.swapaxes(-1, -2)).swapaxes(-1, -2)[..., ::-1]
        return values

    def _numbers(self, shape: tuple[int, ...]) -> Any:
        values = self.random.standard_normal(shape)
        if not self.dtype.startswith("complex"):
            return values.astype(self.dtype)
        return (values + 1j * self.random.standard_normal(shape)).astype(self.dtype)

    def _tree(self, start: int, stop: int, flipped: bool) -> Any:
        """A number of a factor, a pair of factors of a product, or "T" and what is transposed."""
        if self.random.random() < 0.25:
            return "T", self._tree(start, stop, not flipped)
        if stop - start == 1:
            return start if self.turned[start] == flipped else ("T", start)
        middle = int(self.random.integers(start + 1, stop))
        parts = [self._tree(start, middle, flipped), self._tree(middle, stop, flipped)]
        return tuple(reversed(parts)) if flipped else tuple(parts)

    def value(self, factors: Any, tree: Any = None) -> Any:
        tree = self.tree if tree is None else tree
        if isinstance(tree, int):
            return factors[tree]
        if tree[0] == "T":
            return self.value(factors, tree[1]).swapaxes(-1, -2)
        return self.value(factors, tree[0]) @ self.value(factors, tree[1])


def check(seed: int, lengths: tuple[int, ...]) -> None:
    chain = Chain(seed, lengths)
    inputs = [ot.tensor(dtype=chain.dtype, shape=(None,) * a.ndim) for a in chain.arrays]
    product = chain.value(inputs)
    with oc.config.change_flags(native__threads=8):
        f = oc.function(inputs, [product, (product * 2.0).sum()], mode="native")
    expected = chain.value([a.astype(complex) for a in chain.arrays])
    size = chain.value([np.abs(a).astype(float) for a in chain.arrays])
    bound = np.finfo(chain.dtype).eps * (sum(chain.dims) + 10.0) * size
    _, put = blas_library().thread_functions()
    results: list[Any] = []
    for threads in (1, 2, 3, 8):
        if put:
            ctypes.CFUNCTYPE(None, ctypes.c_int)(put)(threads)
        got, total = f(*chain.arrays)
        assert got.dtype == chain.dtype
        assert got.shape == expected.shape
        assert (np.abs(got - expected) <= bound + 1e-30).all(), (seed, chain.dims)
        assert np.abs(total - 2 * expected.sum()) <= 4 * bound.sum() + 1e-30
        results.append(got)
    divided = blas_library().has_small_kernels and max(chain.dims) <= 512
    if divided and not chain.dtype.startswith("complex"):
        assert len({r.tobytes() for r in results}) == 1, (seed, chain.dims)


@pytest.mark.parametrize("seed", range(16))
def test_chains_of_products_in_several_threads(seed: int) -> None:
    check(seed, LENGTHS)
