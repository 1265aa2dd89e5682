"""Rules for Fourier transforms: a transform and its inverse cancel."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from occelo_graph import FunctionGraph, TensorApply
from occelo_graph.ops.cast import cast
from occelo_graph.ops.elemwise.arithmetic import true_div
from occelo_graph.ops.elemwise.op import Elemwise
from occelo_graph.ops.shape.reading import length_read, lengths_by_variables
from occelo_graph.tensors.constant import as_tensor_variable
from occelo_graph.tensors.nodes import computed_by
from occelo_rewrite import node_rewriter
from occelo_rewrite.family_rules import USUAL, StageRules
from occelo_rewrite.patterns.node_rule import Replacements, RuleSet
from occelo_signal.ops.transforms import FFT, REAL, InverseRealFFT, RealFFT

if TYPE_CHECKING:
    from occelo_graph.tensors.variable import TensorVariable

CHANGES = ("rounding", "comparison", "overflow", "finite")
"""Each element of a transform depends on all elements."""


def _unscaled(x: TensorVariable) -> tuple[TensorVariable, TensorVariable | None]:
    """What is left of ``x`` without a division by a scalar, and this scalar."""
    node = computed_by(x, Elemwise)
    if node is None or node.op != true_div or any(n != 1 for n in node.inputs[1].type.shape):
        return x, None
    return node.inputs[0], node.inputs[1]


def _times_elements(x: TensorVariable, ndim: int, divisor: TensorVariable | None) -> Replacements:
    """``x`` times the number of its elements in the last ``ndim`` dimensions, over the divisor.

    None if there might be no elements, of which the transform is an error.
    """
    if not all(x.type.shape[x.type.ndim - ndim :]):
        return None
    count: Any = as_tensor_variable(1)
    for n in lengths_by_variables(x)[x.type.ndim - ndim :]:
        count = count * n
    count = cast(count, REAL.get(x.dtype, x.dtype))
    return [x * (count if divisor is None else count / divisor)]


@node_rewriter([FFT], tags=CHANGES)
def transform_of_inverse(fgraph: FunctionGraph, node: TensorApply[FFT]) -> Replacements:
    """fft(ifft(x)) = x, where both are without scale factors: x times the number of elements."""
    spectrum, divisor = _unscaled(node.inputs[0])
    inner = computed_by(spectrum, FFT)
    if inner is None or inner.op != FFT(node.op.ndim, not node.op.inverse):
        return None
    return _times_elements(inner.inputs[0], node.op.ndim, divisor)


@node_rewriter([InverseRealFFT], tags=CHANGES)
def real_inverse_of_transform(
    fgraph: FunctionGraph, node: TensorApply[InverseRealFFT]
) -> Replacements:
    """irfft(rfft(x), n) = x for n elements of x, likewise."""
    spectrum, divisor = _unscaled(node.inputs[0])
    inner = computed_by(spectrum, RealFFT)
    if inner is None or inner.op.ndim != node.op.ndim:
        return None
    x = inner.inputs[0]
    length = x.type.shape[-1]
    if node.op.n is None:
        read = length_read(node.inputs[1])
        same = read == (x, x.type.ndim - 1)
    else:
        same = node.op.n == length
    return _times_elements(x, node.op.ndim, divisor) if same else None


RULES = (
    StageRules(
        "canonicalize", RuleSet((transform_of_inverse, real_inverse_of_transform), "signal"), USUAL
    ),
)
