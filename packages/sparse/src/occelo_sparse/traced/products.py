"""Lines and products of rows by PyTorch's sparse matrices, on the CPU. Elsewhere the decompositions are traced.

PyTorch checks no structure, and reads where the indices say. So ops of our own check it first, and give zeros for a wrong one; a
check in the graph then fails, and the interpreter raises the error.
"""

from __future__ import annotations

import functools
import sys
import warnings
from collections.abc import Callable, Sequence
from typing import Any

from occelo_graph import TensorApply
from occelo_graph.ir.decomposing import decomposition
from occelo_graph.tensors.type import is_discrete
from occelo_link.traced.registry import traces
from occelo_link.traced.traced_values import Array
from occelo_link.traced.tracer import Tracer
from occelo_sparse.ops.products import LineProduct
from occelo_sparse.ops.structure import Lines


def _library_of(tracer: Tracer, inputs: Sequence[Array], arrays: Sequence[Array]) -> Any:
    """PyTorch, if these are tensors of the CPU that the linker traces; None for other arrays and for `as_torch`, which differentiates."""
    if not any(map(tracer.is_traced, inputs)):
        return None  # what is known now is computed now
    torch: Any = sys.modules.get("torch")
    if torch is None or not all(isinstance(each, torch.Tensor) for each in arrays):
        return None
    traced = not torch.is_grad_enabled() and all(each.device.type == "cpu" for each in arrays)
    return torch if traced and torch.backends.mkl.is_available() else None


def _decomposed(tracer: Tracer, node: TensorApply[Any], inputs: list[Array]) -> Sequence[Array]:
    parts = decomposition(node)
    assert parts is not None
    return tracer.decomposed(node, parts, inputs)


@functools.cache
def _hear_of_beta_versions(torch: Any) -> None:
    """PyTorch warns once in a process that its matrices in CSR are a beta version."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        torch.sparse_csr_tensor([0, 1], [0], [1.0])


@functools.cache
def _ops(torch: Any) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """The two ops: lines, and products of rows. Each also tells whether the structure is right."""

    def counts_of(indices: Any, offsets: Any) -> Any:
        """The numbers of values of lines, or None if offsets do not increase from 0 to the number of indices."""
        counts = torch.diff(offsets)
        ends = len(offsets) > 0 and int(offsets[0]) == 0 and int(offsets[-1]) == len(indices)
        return counts if ends and not bool((counts < 0).any()) else None

    def lines(indices: Any, offsets: Any) -> Any:
        counts = counts_of(indices, offsets)
        if counts is None:
            return torch.zeros(len(indices), dtype=torch.int64), torch.tensor(False)
        every = torch.arange(len(counts))
        return torch.repeat_interleave(every, counts, output_size=len(indices)), torch.tensor(True)

    def product(values: Any, indices: Any, offsets: Any, x: Any) -> Any:
        shape = (len(offsets) - 1, len(x))
        good = counts_of(indices, offsets) is not None and len(values) == len(indices)
        if good and len(indices):
            least, most = torch.aminmax(indices)
            good = 0 <= int(least) and int(most) < len(x)
        if not good or not len(indices):
            return x.new_zeros((shape[0], *x.shape[1:])), torch.tensor(good)
        _hear_of_beta_versions(torch)
        matrix = torch.sparse_csr_tensor(offsets, indices, values, shape, check_invariants=False)
        return matrix @ x, torch.tensor(True)

    def told(first: Any) -> Any:
        return first, torch.empty((), dtype=torch.bool)

    def fake_lines(indices: Any, offsets: Any) -> Any:
        return told(indices.new_empty(indices.shape, dtype=torch.int64))

    def fake_product(values: Any, indices: Any, offsets: Any, x: Any) -> Any:
        return told(x.new_empty((offsets.shape[0] - 1, *x.shape[1:])))

    return (
        _registered(torch, "lines", "indices offsets", lines, fake_lines),
        _registered(torch, "product", "values indices offsets x", product, fake_product),
    )


def _registered(
    torch: Any, name: str, arguments: str, function: Callable[..., Any], fake: Callable[..., Any]
) -> Callable[..., Any]:
    schema = f"({', '.join(f'Tensor {each}' for each in arguments.split())}) -> (Tensor, Tensor)"
    op: Any = torch.library.custom_op(
        f"occelo::sparse_{name}", function, mutates_args=(), schema=schema
    )
    op.register_fake(fake)
    made: Callable[..., Any] = op
    return made


@traces(Lines)
def trace_lines(tracer: Tracer, node: TensorApply[Lines], inputs: list[Array]) -> Sequence[Array]:
    arrays = [tracer.array(each) for each in inputs]
    torch = _library_of(tracer, inputs, arrays)
    if torch is None:
        return _decomposed(tracer, node, inputs)
    lines, good = _ops(torch)[0](*arrays)
    tracer.check(good)
    return [lines]


@traces(LineProduct)
def trace_line_product(
    tracer: Tracer, node: TensorApply[LineProduct], inputs: list[Array]
) -> Sequence[Array]:
    arrays = [tracer.array(each) for each in inputs]
    torch = _library_of(tracer, inputs, arrays)
    if torch is None or is_discrete(node.outputs[0].type.dtype):
        return _decomposed(tracer, node, inputs)
    product, good = _ops(torch)[1](*arrays)
    tracer.check(good)
    return [product]
