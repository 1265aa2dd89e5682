"""Helpers for batching rules of nodes whose lengths depend on a batched input: `common_lengths` and others.

The elements of a batch lie in one tensor, so they must have equal lengths. Batching rules take this for granted, and
check it when the graph runs. `OpFromGraph` computes one element after the other instead
(`refused_where_lengths_vary`), so that only its outputs must have equal lengths.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

from occelo_graph.ir.op import Op
from occelo_graph.ops.elemwise.arithmetic import eq

if TYPE_CHECKING:
    from occelo_graph.tensors.variable import TensorVariable


class LengthsVary(NotImplementedError):
    """A part of a graph has different lengths for the elements of a batch, or may have, so it cannot be vectorized."""


_BY_ELEMENT: ContextVar[bool] = ContextVar("_BY_ELEMENT", default=False)


@contextmanager
def refused_where_lengths_vary() -> Generator[None, None, None]:
    """A context in which batching rules raise `LengthsVary` instead of checking at run time that lengths are equal.

    The caller can then compute the elements of the batch one after the other.
    """
    token = _BY_ELEMENT.set(True)
    try:
        yield
    finally:
        _BY_ELEMENT.reset(token)


def is_refused_where_lengths_vary() -> bool:
    """Whether the caller is in the context `refused_where_lengths_vary`."""
    return _BY_ELEMENT.get()


def promise_equal_lengths(op: Op) -> None:
    """Batching rules call it before they take lengths of the elements of a batch to be equal, checked at run time.

    LengthsVary in the context `refused_where_lengths_vary`. ``op`` is named in the message.
    """
    if _BY_ELEMENT.get():
        raise LengthsVary(f"{op} may have other lengths for each element of a batch")


def common_lengths(
    op: Op, inputs: Sequence[Any], batch_ndims: Sequence[int], positions: Sequence[int]
) -> list[Any]:
    """The inputs of a batching rule, with those at ``positions``, which are lengths, without batch dimensions.

    Such an input must be the same for all elements of the batch; ValueError at run time if it is not. For an empty batch
    it is 0.
    """
    common = list(inputs)
    for i in positions:
        if batch_ndims[i]:
            promise_equal_lengths(op)
            common[i] = common_length(op, common[i])
    return common


def common_length(op: Op, lengths: TensorVariable) -> TensorVariable:
    """The element that all elements of ``lengths`` equal, or 0 if it has none. ValueError at run time if they differ."""
    from occelo_graph.ops.control.checks import raise_unless  # which imports this module

    first: Any = lengths[(slice(1),) * lengths.type.ndim].sum(dtype=lengths.dtype)
    return raise_unless(
        first,
        eq(lengths, first).all(),
        error=ValueError,
        message=f"{op} has other lengths for some elements of a batch than for others",
    )
