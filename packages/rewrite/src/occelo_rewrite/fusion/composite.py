"""`Composite`: a scalar op that is a graph of other scalar ops. `Elemwise` applies it in one pass over the elements.

Fusion (`occelo_rewrite.fusion`) makes a `Composite` of connected elementwise nodes, and all linkers compile it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from occelo_graph.fgraph.frozen import FrozenFunctionGraph
from occelo_graph.ir.nodes import Constant, Variable
from occelo_graph.ops.elemwise.scalar import Derivative, ScalarOp
from occelo_graph.tensors.nodes import tensors
from occelo_graph.tensors.type import is_discrete

if TYPE_CHECKING:
    from occelo_graph.ops.elemwise.op import Elemwise
    from occelo_graph.tensors.nodes import TensorApply

_BLOCK = 8192
"""NumPy code computes this many elements at a time, so that intermediate results stay in the processor's cache."""

_MOST_NAMES = 8


class Composite(ScalarOp):
    """A scalar op with one or several outputs, computed by a graph of elementwise nodes.

    ``inner`` is the graph. It is frozen, and its variables are scalars.
    """

    name = "composite"

    def __init__(self, inner: FrozenFunctionGraph) -> None:
        self.inner = inner
        self.nout = len(inner.outputs)

    @property
    def nin(self) -> int:
        return len(self.inner.inputs)

    @property
    def inner_nodes(self) -> Sequence[TensorApply[Elemwise]]:
        """The nodes of ``inner`` in topological order."""
        return cast("Sequence[TensorApply[Elemwise]]", self.inner.nodes)

    def fields(self) -> dict[str, Any]:
        return {"inner": self.inner}

    def output_dtypes(self, dtypes: Sequence[str]) -> tuple[str, ...]:
        expected = [v.type.dtype for v in tensors(self.inner.inputs)]
        if list(dtypes) != expected:
            raise TypeError(f"it was made for {', '.join(expected)}")
        return tuple(v.type.dtype for v in tensors(self.inner.outputs))

    def evaluate(self, *arrays: Any) -> Any:
        full = [a for a in arrays if np.size(a) != 1]
        blocked = (
            full
            and full[0].size > 2 * _BLOCK
            and all(a.shape == full[0].shape and a.flags.c_contiguous for a in full)
            and all(a.ndim == full[0].ndim or a.ndim == 0 for a in arrays)
        )
        if not blocked:
            shape = np.broadcast_shapes(*(np.shape(a) for a in arrays))
            results = [np.array(np.broadcast_to(r, shape)) for r in self._compute(arrays)]
        else:
            results = self._in_blocks(arrays, full[0].shape)
        return results[0] if len(results) == 1 else tuple(results)

    def _in_blocks(self, arrays: Sequence[Any], shape: tuple[int, ...]) -> list[Any]:
        flat = [a.reshape(-1) if a.size != 1 else a.reshape(()) for a in arrays]
        size = int(np.prod(shape))
        results: list[Any] = [
            np.empty(size, v.type.numpy_dtype) for v in tensors(self.inner.outputs)
        ]
        for start in range(0, size, _BLOCK):
            here = slice(start, start + _BLOCK)
            parts = self._compute([a[here] if a.ndim else a for a in flat])
            for result, part in zip(results, parts, strict=True):
                result[here] = part
        return [r.reshape(shape) for r in results]

    def _compute(self, arrays: Sequence[Any]) -> list[Any]:
        values: dict[Variable, Any] = dict(zip(self.inner.inputs, arrays, strict=True))

        def value(v: Variable) -> Any:
            return v.data if isinstance(v, Constant) else values[v]

        for node in self.inner_nodes:
            result: Any = node.op.scalar_op.evaluate(*(value(v) for v in node.inputs))
            results: Sequence[Any] = result if len(node.outputs) > 1 else (result,)
            for out, each in zip(node.outputs, results, strict=True):
                values[out] = np.asarray(each, dtype=out.type.numpy_dtype)
        return [value(v) for v in self.inner.outputs]

    @property
    def is_formula(self) -> bool:
        return True

    def composed(self, inputs: Sequence[Any]) -> Sequence[Any]:
        return self.expand(inputs)

    def expand(self, inputs: Sequence[Any]) -> list[Any]:
        """Undo the fusion: compute the outputs by one node over tensors for each inner node."""
        values = self._applied(inputs)
        return [values.get(v, v) for v in self.inner.outputs]

    def _applied(self, inputs: Sequence[Any]) -> dict[Variable, Any]:
        """Apply the inner ops to the tensors ``inputs``.

        Returns a tensor for each inner variable that is not a constant.
        """
        outer: dict[Variable, Any] = dict(zip(self.inner.inputs, inputs, strict=True))
        for node in self.inner.nodes:
            outer[node.outputs[0]] = node.op(*(outer.get(v, v) for v in node.inputs))
        return outer

    def pull(self, inputs: Sequence[Any], cotangents: Sequence[Any]) -> list[Any]:
        """Compute the cotangents of the inputs from the cotangents of the outputs.

        The cotangent of an unused output is None. If an input gets no cotangent, the result is None for this input.
        """
        outer = self._applied(inputs)
        pending: dict[Variable, Any] = {}
        for out, ct in zip(self.inner.outputs, cotangents, strict=True):
            if ct is not None:
                pending[out] = pending[out] + ct if out in pending else ct
        for node in reversed(self.inner_nodes):
            ct = pending.pop(node.outputs[0], None)
            if ct is None or is_discrete(node.outputs[0].type.dtype):
                continue
            values = [outer.get(v, v) for v in node.inputs]
            partials = node.op.scalar_op.derivatives(len(values))
            for v, partial in zip(node.inputs, partials, strict=True):
                if partial is None or isinstance(v, Constant):
                    continue
                term = partial(ct, *values, outer[node.outputs[0]])
                pending[v] = pending[v] + term if v in pending else term
        return [pending.get(v) for v in self.inner.inputs]

    def derivatives(self, nin: int) -> Sequence[Derivative]:
        def partial(position: int) -> Derivative:
            def of_input(ct: Any, *rest: Any) -> Any:
                return self._term(ct, rest[:-1], position)

            return of_input

        return [partial(i) for i in range(nin)]

    def _term(self, ct: Any, inputs: Sequence[Any], position: int) -> Any:
        term = self.pull(inputs, [ct])[position]
        return ct * 0 if term is None else term

    def __str__(self) -> str:
        nodes = self.inner.nodes
        names = [str(node.op) for node in nodes[:_MOST_NAMES]]
        if len(nodes) > _MOST_NAMES:
            names[-1] = f"... {len(nodes)} functions"
        return f"Composite{{{', '.join(names)}}}"
