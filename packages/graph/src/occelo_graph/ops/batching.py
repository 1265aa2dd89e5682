"""`BatchedOp`, helpers for batching rules (`Op.batch`), and a parser of signatures such as ``"(n),(m,n)->(m)"``.

A batching rule applies an op to inputs with batch dimensions. Input ``i`` has ``batch_ndims[i]`` batch dimensions in
front of the dimensions that the op expects.

Matrix products, correlations and ops of linear algebra derive from `BatchedOp`, and `Blockwise`, the loop of an op that takes no
batch. The helpers are used by the batching rules of ops, `vectorize_graph` and `Blockwise`. `MatrixOp`, `Blockwise` and
`occelo_linalg.traced` call `parse_signature`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from occelo_graph.ir.known_values import known_integer
from occelo_graph.ir.nodes import AnyApply
from occelo_graph.ir.op import Op
from occelo_graph.ops.elemwise.arithmetic import second
from occelo_graph.tensors.constant import as_tensor_variable
from occelo_graph.upward import blockwise_loop

if TYPE_CHECKING:
    from occelo_graph.tensors.variable import TensorVariable

_SIGNATURE = r"^\s*(.*?)\s*->\s*(.*?)\s*$"
_CORE = r"\(([^()]*)\)"

Names = tuple[tuple[str, ...], ...]


@lru_cache(maxsize=1024)
def parse_signature(signature: str) -> tuple[Names, Names]:
    """Parse a signature in the notation of `numpy.vectorize`. ValueError if it is malformed.

    Returns the names of the dimensions of each argument and of each result. For ``"(n),(m,n)->(m)"`` it returns
    ``((("n",), ("m", "n")), (("m",),))``.
    """
    match = re.match(_SIGNATURE, signature)
    if match is None:
        raise ValueError(f"Not a signature: {signature!r}; write it as '(n),(m,n)->(m)'")

    def names(text: str) -> Names:
        cores = re.findall(_CORE, text)
        return tuple(tuple(d.strip() for d in core.split(",") if d.strip()) for core in cores)

    return names(match.group(1)), names(match.group(2))


class BatchedOp(Op):
    """Base class of ops that compute a result for each element of a batch.

    A subclass has a ``signature`` in the notation of `numpy.vectorize`, and a ``core_op``: the op for one element of the
    batch, which is the op itself if it takes elements as well. The last dimensions of an input are those in the signature,
    and all dimensions before them are of the batch.

    A call of the class itself, ``BatchedOp(op, signature)``, makes a `Blockwise`, the loop of any op over a batch.
    """

    if not TYPE_CHECKING:

        def __init__(self, *fields: Any, **options: Any) -> None:
            if type(self) is not BatchedOp:
                super().__init__(*fields, **options)
                return
            loop = blockwise_loop(*fields, **options)
            # by `__new__` this would cost time whenever an op of a subclass is made
            object.__setattr__(self, "__class__", type(loop))
            vars(self).update(vars(loop))

    @property
    def inputs_sig(self) -> Names:
        """The names of the dimensions of each input, for one element of the batch."""
        return parse_signature(signature_of(self))[0]

    @property
    def outputs_sig(self) -> Names:
        """The names of the dimensions of each result, for one element of the batch."""
        return parse_signature(signature_of(self))[1]

    def batch_ndim(self, node: AnyApply) -> int:
        """The number of batch dimensions of the results of ``node``: 0 if there is no batch."""
        return (node.outputs[0].type.ndim or 0) - len(self.outputs_sig[0])


def signature_of(op: Any) -> str:
    """The signature of an op: a field, a variable of the class or a property."""
    return op.signature


def align(variable: TensorVariable, extra: int, count: int) -> TensorVariable:
    """Add leading dimensions of length 1, so that ``variable`` has ``count`` batch dimensions instead of ``extra``."""
    if extra == count:
        return variable
    order: list[Any] = [*["x"] * (count - extra), *range(variable.type.ndim)]
    return variable.dimshuffle(order)


def batch_shape(inputs: Sequence[TensorVariable], batch_ndims: Sequence[int]) -> list[Any]:
    """Broadcast the batch dimensions of the inputs. Returns the lengths: each is a variable, or the integer 1."""
    sources = _sources(inputs, batch_ndims)
    return [1 if source is None else source[0].shape[source[1]] for source in sources]


def _sources(
    inputs: Sequence[TensorVariable], batch_ndims: Sequence[int]
) -> list[tuple[TensorVariable, int] | None]:
    """For each batch dimension, the input and the axis that have its length; None if the length is 1."""
    ndim = max(batch_ndims)
    sources: list[tuple[TensorVariable, int] | None] = [None] * ndim
    for variable, extra in zip(inputs, batch_ndims, strict=True):
        for i in range(extra):
            static = variable.type.shape[i]
            position = ndim - extra + i
            if static != 1 and (static is not None or sources[position] is None):
                sources[position] = variable, i
    return sources


def materialize(
    inputs: Sequence[TensorVariable], batch_ndims: Sequence[int]
) -> list[TensorVariable]:
    """The inputs, each broadcast to the `batch_shape` of all of them."""
    lengths = batch_shape(inputs, batch_ndims)
    numbers = [known_integer(n) for n in lengths]
    sources = _sources(inputs, batch_ndims)
    full: list[TensorVariable] = []
    for variable, extra in zip(inputs, batch_ndims, strict=True):
        whole = align(variable, extra, len(lengths))
        static = whole.type.shape[: len(lengths)]
        same = [n is not None and n == s for n, s in zip(numbers, static, strict=True)]
        own = [s is not None and s[0] is whole for s in sources]
        if not all(a or b for a, b in zip(same, own, strict=True)):
            whole = _repeated(whole, lengths)
        full.append(whole)
    return full


def _repeated(variable: TensorVariable, lengths: Sequence[Any]) -> TensorVariable:
    """Broadcast the first dimensions of ``variable`` to ``lengths``."""
    rest = variable.type.shape[len(lengths) :]
    if any(n is not None for n in rest):
        # the other lengths stay static; they change with the variable when the graph is rebuilt
        zero = as_tensor_variable(np.zeros((), variable.dtype))
        return second(zero.broadcast_to([*lengths, *(1 for _ in rest)]), variable)
    core = [variable.shape[i] for i in range(len(lengths), variable.type.ndim)]
    return variable.broadcast_to([*lengths, *core])
