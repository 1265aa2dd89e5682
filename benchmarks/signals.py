"""Workloads of signal processing for the benchmarks: transforms, convolutions, convolutions of networks, pooling.

`compiled` measures them, in the part `signal` of `run`, beside the same functions of the other libraries. SciPy's functions
stand in the column of NumPy.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from workloads import Workload, of_one_function

__all__ = ["SIGNAL_WORKLOADS"]


def _normal(*shape: int, dtype: str = "float64") -> Any:
    # each workload has numbers of its own, so that every process makes the same ones
    return np.random.default_rng(5).standard_normal(shape).astype(dtype)


def _scipy(m: Any, module: str) -> Any:
    """SciPy's module of a name, or JAX's."""
    import importlib

    return importlib.import_module(f"scipy.{module}" if m is np else f"jax.scipy.{module}")


def _fft(name: str, *shape: int, real: bool = False) -> Workload:
    x = _normal(*shape)
    function = "rfft" if real else "fft"
    return of_one_function(
        f"{function}, {name}",
        lambda ot, x: getattr(ot.fft, function)(x),
        lambda m, x: getattr(_scipy(m, "fft") if m is np else m.fft, function)(x),
        x if real else x + 1j * x[..., ::-1],
        torch=lambda torch: getattr(torch.fft, function),
        pytensor=False,
    )


def _dct(name: str, *shape: int) -> Workload:
    return of_one_function(
        f"dct, {name}",
        lambda ot, x: ot.fft.dct(x),
        lambda m, x: _scipy(m, "fft").dct(x),
        _normal(*shape),
        pytensor=False,
    )


def _convolve(name: str, n: int, m: int, mode: str = "full") -> Workload:
    def theirs(library: Any, x: Any, k: Any) -> Any:
        return _scipy(library, "signal").convolve(x, k, mode)

    return of_one_function(
        f"convolve, {name}",
        lambda ot, x, k: ot.signal.convolve(x, k, mode),
        theirs,
        _normal(n),
        _normal(m)[::-1].copy(),
        torch=lambda torch: (
            lambda x, k: torch.nn.functional.conv1d(
                x[None, None], k.flip(0)[None, None], padding=m - 1 if mode == "full" else 0
            )[0, 0]
        ),
        static=True,
        pytensor=False,
    )


def _convolve2d(name: str, n: int, m: int) -> Workload:
    return of_one_function(
        f"convolve2d, {name}",
        lambda ot, x, k: ot.signal.convolve2d(x, k, "valid"),
        lambda library, x, k: _scipy(library, "signal").convolve2d(x, k, "valid"),
        _normal(n, n),
        _normal(m, m) + 1,
        torch=lambda torch: (
            lambda x, k: torch.nn.functional.conv2d(x[None, None], k.flip(0, 1)[None, None])[0, 0]
        ),
        static=True,
        pytensor=False,
    )


def _in_windows(x: Any, length: int, stride: int, axes: tuple[int, ...]) -> Any:
    view = np.lib.stride_tricks.sliding_window_view(x, (length,) * len(axes), axes)
    key = [slice(None)] * x.ndim
    for axis in axes:
        key[axis] = slice(None, None, stride)
    return view[tuple(key)]


def _network(
    name: str,
    batch: int,
    channels: int,
    out: int,
    length: int,
    kernel: int,
    ndim: int = 2,
    **options: Any,
) -> Workload:
    """A convolution of a network, of float32: ``options`` are `stride`, `padding` and `groups`."""
    stride, padding = options.get("stride", 1), options.get("padding", 0)
    groups = options.get("groups", 1)
    x = _normal(batch, channels, *[length] * ndim, dtype="float32")
    w = _normal(out, channels // groups, *[kernel] * ndim, dtype="float32")

    def theirs(m: Any, x: Any, w: Any) -> Any:
        if m is np:
            x = np.pad(x, [(0, 0), (0, 0), *[(padding, padding)] * ndim])
            windows = _in_windows(x, kernel, stride, tuple(range(2, 2 + ndim)))
            split = windows.reshape(batch, groups, channels // groups, *windows.shape[2:])
            rows = w.reshape(groups, out // groups, *w.shape[1:])
            at, within = "xyz"[:ndim], "uvw"[:ndim]
            made = np.einsum(f"bgc{at}{within},goc{within}->bgo{at}", split, rows, optimize=True)
            return made.reshape(batch, out, *made.shape[3:])
        from jax import lax

        return lax.conv_general_dilated(
            x, w, (stride,) * ndim, [(padding, padding)] * ndim, feature_group_count=groups
        )

    return of_one_function(
        f"conv{ndim}d, {name}",
        lambda ot, x, w: getattr(ot.signal, f"conv{ndim}d")(x, w, **options),
        theirs,
        x,
        w,
        torch=lambda torch: (
            lambda x, w: getattr(torch.nn.functional, f"conv{ndim}d")(x, w, **options)
        ),
        static=True,
        pytensor=False,
        rtol=1e-3,
    )


def _network_gradient(name: str, batch: int, channels: int, length: int, kernel: int) -> Workload:
    """The derivatives of the sum of squares of a convolution of a network, by its input and its kernels."""
    x = _normal(batch, channels, length, length, dtype="float32")
    w = _normal(channels, channels, kernel, kernel, dtype="float32")

    def build(lib: Any) -> Any:
        inputs = [lib.tensor.tensor(dtype="float32", shape=a.shape) for a in (x, w)]
        cost = (lib.tensor.signal.conv2d(*inputs) ** 2).sum()
        return inputs, lib.grad(cost, inputs), []

    def with_jax(jax: Any) -> Any:
        def cost(x: Any, w: Any) -> Any:
            made = jax.lax.conv_general_dilated(x, w, (1, 1), "VALID")
            return (made**2).sum()

        return jax.grad(cost, (0, 1))

    return Workload(
        f"gradient of conv2d, {name}",
        build,
        (x, w),
        jax=with_jax,
        torch=lambda torch: _torch_gradient(
            torch, lambda x, w: (torch.nn.functional.conv2d(x, w) ** 2).sum()
        ),
        torch_compiles=False,
        goal=0.8,
        rtol=1e-2,
        pytensor=False,
    )


def _torch_gradient(torch: Any, cost: Callable[..., Any]) -> Callable[..., Any]:
    def run(*given: Any) -> Any:
        with torch.enable_grad():
            leaves = [a.detach().requires_grad_() for a in given]
            return torch.autograd.grad(cost(*leaves), leaves)

    return run


def _pool(which: str, batch: int, channels: int, length: int, kernel: int) -> Workload:
    x = _normal(batch, channels, length, length, dtype="float32")

    def theirs(m: Any, x: Any) -> Any:
        if m is np:
            windows = _in_windows(x, kernel, kernel, (2, 3))
            return windows.max((-1, -2)) if which == "max" else windows.mean((-1, -2))
        return _reduced_windows(which, x, kernel)

    function = f"{which}_pool2d"
    return of_one_function(
        f"{function}, {batch} x {channels} x {length} x {length}, windows of {kernel}",
        lambda ot, x: getattr(ot.signal, function)(x, kernel),
        theirs,
        x,
        torch=lambda torch: lambda x: getattr(torch.nn.functional, function)(x, kernel),
        static=True,
        pytensor=False,
        rtol=1e-4,
    )


def _reduced_windows(which: str, x: Any, kernel: int, stride: int | None = None) -> Any:
    from jax import lax

    each = (1, 1, kernel, kernel)
    steps = (1, 1, stride or kernel, stride or kernel)
    if which == "max":
        return lax.reduce_window(x, -np.inf, lax.max, each, steps, "VALID")
    return lax.reduce_window(x, 0.0, lax.add, each, steps, "VALID") / kernel**2


def _pool_gradient(
    which: str, batch: int, channels: int, length: int, kernel: int, stride: int
) -> Workload:
    """The derivatives of the sum of squares of pooled elements."""
    x = _normal(batch, channels, length, length, dtype="float32")
    function = f"{which}_pool2d"

    def build(lib: Any) -> Any:
        v = lib.tensor.tensor(dtype="float32", shape=x.shape)
        cost = (getattr(lib.tensor.signal, function)(v, kernel, stride) ** 2).sum()
        return [v], [lib.grad(cost, v)], []

    return Workload(
        f"gradient of {function}, {batch} x {channels} x {length} x {length}, windows of {kernel}, stride {stride}",
        build,
        (x,),
        jax=lambda jax: (
            lambda x: [
                jax.grad(lambda v: (_reduced_windows(which, v, kernel, stride) ** 2).sum())(x)
            ]
        ),
        torch=lambda torch: _torch_gradient(
            torch, lambda v: (getattr(torch.nn.functional, function)(v, kernel, stride) ** 2).sum()
        ),
        torch_compiles=False,
        goal=0.8,
        rtol=1e-3,
        pytensor=False,
    )


SIGNAL_WORKLOADS: list[Callable[[], Workload]] = [
    lambda: _fft("256", 256),
    lambda: _fft("2^20", 2**20),
    lambda: _fft("1009, a prime", 1009),
    lambda: _fft("1,000 rows of 256", 1000, 256),
    lambda: _fft("2^20", 2**20, real=True),
    lambda: _fft("1,000 rows of 251, a prime", 1000, 251, real=True),
    lambda: _dct("1,000 rows of 256", 1000, 256),
    lambda: _convolve("1e6 by 9", 10**6, 9),
    lambda: _convolve("100 by 10", 100, 10),
    lambda: _convolve("1e5 by 2,000", 10**5, 2000),
    lambda: _convolve("1,000 by 100, valid", 1000, 100, "valid"),
    lambda: _convolve2d("512 x 512 by 5 x 5", 512, 5),
    lambda: _convolve2d("256 x 256 by 15 x 15", 256, 15),
    lambda: _network("1 x 8 x 1,000, 16 kernels of 5", 1, 8, 16, 1000, 5, 1),
    lambda: _network("8 x 3 x 64 x 64, 16 kernels of 5 x 5", 8, 3, 16, 64, 5),
    lambda: _network("4 x 32 x 32 x 32, 32 kernels of 3 x 3, padded", 4, 32, 32, 32, 3, padding=1),
    lambda: _network("4 x 32 x 32 x 32, 64 kernels of 3 x 3, stride 2", 4, 32, 64, 32, 3, stride=2),
    lambda: _network("4 x 64 x 32 x 32, 64 kernels of 1 x 1", 4, 64, 64, 32, 1),
    lambda: _network("4 x 32 x 32 x 32, 3 x 3 for each channel", 4, 32, 32, 32, 3, groups=32),
    lambda: _network_gradient("4 x 16 x 32 x 32, 16 kernels of 3 x 3", 4, 16, 32, 3),
    lambda: _pool("max", 4, 16, 64, 2),
    lambda: _pool("avg", 4, 16, 64, 2),
    lambda: _pool_gradient("max", 4, 16, 32, 2, 2),
    lambda: _pool_gradient("max", 4, 16, 32, 3, 2),
    lambda: _pool_gradient("avg", 4, 16, 32, 2, 2),
]
