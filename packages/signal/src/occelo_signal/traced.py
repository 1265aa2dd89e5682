"""Lowerings of Fourier transforms for JAX and PyTorch.

`occelo_link.traced.linker` imports this module when transforms are first used, to register the lowerings.
"""

from __future__ import annotations

from collections.abc import Sequence

from occelo_graph import TensorApply
from occelo_link.traced.registry import traces
from occelo_link.traced.traced_values import Array
from occelo_link.traced.tracer import Tracer
from occelo_signal.ops.transforms import FFT, InverseRealFFT, RealFFT, check_lengths

__all__: list[str] = []


def _checked(tracer: Tracer, x: Array, ndim: int) -> Array:
    x = tracer.array(x)
    check_lengths([int(n) for n in x.shape[len(x.shape) - ndim :]])
    return x


@traces(FFT)
def lower_fft(tracer: Tracer, node: TensorApply[FFT], inputs: list[Array]) -> Sequence[Array]:
    x = _checked(tracer, inputs[0], node.op.ndim)
    return [tracer.arrays.fft(x, node.op.ndim, node.op.inverse)]


@traces(RealFFT)
def lower_real_fft(
    tracer: Tracer, node: TensorApply[RealFFT], inputs: list[Array]
) -> Sequence[Array]:
    return [tracer.arrays.real_fft(_checked(tracer, inputs[0], node.op.ndim), node.op.ndim)]


@traces(InverseRealFFT)
def lower_inverse_real_fft(
    tracer: Tracer, node: TensorApply[InverseRealFFT], inputs: list[Array]
) -> Sequence[Array]:
    x = _checked(tracer, inputs[0], node.op.ndim)
    n = node.op.n if node.op.n is not None else tracer.integer(node, 1, inputs[1])
    node.op.check_last(int(x.shape[-1]), int(n))
    return [tracer.arrays.inverse_real_fft(x, node.op.ndim, int(n))]
