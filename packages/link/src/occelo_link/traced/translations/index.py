"""Lowerings of indexing, diagonals and nonzero for JAX and PyTorch.

`occelo_link.traced.linker` imports this module to register the lowerings. The tracer calls them for nodes.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from occelo_graph import TensorApply, Variable
from occelo_graph.interpret import run_node
from occelo_graph.ir.slices import slice_parts
from occelo_graph.narrowing import is_slice
from occelo_graph.ops.index.key import (
    ARRAY,
    SCALAR,
    Key,
    check_index_arrays,
    check_written,
    region_shape,
)
from occelo_graph.ops.index.search import AllocDiag, ExtractDiag, Nonzero
from occelo_graph.ops.index.subtensor import (
    AdvancedIncSubtensor,
    AdvancedSubtensor,
    IncSubtensor,
    Subtensor,
)
from occelo_link.traced.registry import traces
from occelo_link.traced.traced_values import Array, Arrays, Entry
from occelo_link.traced.tracer import Tracer


def in_bounds(tracer: Tracer, index: Array, length: int) -> Array:
    """Return positions counted from the front, and check that they are in bounds."""
    arrays = tracer.arrays
    if not arrays.is_traced(index):
        plain = np.asarray(index)
        if plain.size and (plain.min() < -length or plain.max() >= length):
            raise IndexError(f"An index is out of bounds for a length of {length}")
        return np.where(plain < 0, plain + length, plain)
    index = arrays.cast(index, "int64")
    end, start = (arrays.constant(np.array(n, "int64")) for n in (length, -length))
    lt, ge = arrays.scalars["lt"][1], arrays.scalars["ge"][1]
    both = arrays.scalars["and"][1]
    fine = both(ge(index, start), lt(index, end))
    tracer.check(arrays.reduce("and", fine, range(len(index.shape))))
    zero = arrays.constant(np.array(0, "int64"))
    shifted = arrays.scalars["add"][1](index, end)
    negative = lt(index, zero)
    return arrays.where(negative, shifted, index)


def _key(
    tracer: Tracer,
    node: TensorApply,
    key: Key,
    shape: Sequence[int],
    first: int,
    inputs: Sequence[Array],
) -> list[Entry]:
    """Return an index key with one entry for each dimension of the tensor.

    An entry is a static slice, or positions counted from the front.
    """
    rest = iter(enumerate(inputs[first:], first))
    entries: list[Entry] = []
    arrays: list[tuple[Array, Array]] = []
    axis = 0
    for entry in key:
        length = int(shape[axis])
        if isinstance(entry, slice):
            parts = [
                tracer.integer(node, *next(rest)) if p == SCALAR else p for p in slice_parts(entry)
            ]
            if parts[2] == 0:
                raise ValueError("slice step cannot be zero")
            if parts[2] is not None:
                # a longer step selects the same elements, but lengths overflow in XLA, which may end the process
                parts[2] = min(max(parts[2], -max(length, 1)), max(length, 1))
            entries.append(slice(*parts))
            axis += 1
        elif entry == ARRAY:
            position, value = next(rest)
            if _is_mask(node, position):
                mask = tracer.known(node, position, value)
                if mask.shape != tuple(int(n) for n in shape[axis : axis + mask.ndim]):
                    raise IndexError("A mask must have the shape of what it selects from")
                arrays.append((node.inputs[position].type, mask))
                entries.extend(np.nonzero(mask))
                axis += mask.ndim
            else:
                arrays.append((node.inputs[position].type, value))
                entries.append(in_bounds(tracer, value, length))
                axis += 1
        else:
            value = next(rest)[1] if entry == SCALAR else np.array(entry, "int64")
            entries.append(in_bounds(tracer, value, length))
            axis += 1
    check_index_arrays(*zip(*arrays, strict=True) if arrays else ((), ()))
    entries += [slice(None)] * (len(shape) - axis)
    return entries


def _is_mask(node: TensorApply, position: int) -> bool:
    return node.inputs[position].type.dtype == "bool"


@traces(Subtensor)
def lower_read(tracer: Tracer, node: TensorApply[Subtensor], inputs: list[Array]) -> Arrays:
    op = node.op
    arrays, x = tracer.arrays, tracer.array(inputs[0])
    key = _key(tracer, node, op.key, x.shape, 1, inputs)
    plain = [
        entry if is_slice(entry) else slice(None) if arrays.is_traced(entry) else int(entry)
        for entry in key
    ]
    result = arrays.read(x, plain)
    axis = 0
    for entry in key:
        if isinstance(entry, slice):
            axis += 1
        elif arrays.is_traced(entry):
            result = _row(tracer, node.inputs[0], result, axis, entry)
    return [result]


def _row(tracer: Tracer, source: Variable, x: Array, axis: int, index: Array) -> Array:
    """Return the row of ``x`` at a dynamic position. ``x`` is the value of ``source``, or a part of it.

    If an iteration of a loop writes into ``source``, the row is read by a function that is compiled apart. Without
    such a function, the library may read the row several times, also after the write. Then each iteration would copy
    the whole tensor.
    """
    arrays = tracer.arrays
    if source not in tracer.rows_read:
        return arrays.pick(x, axis, index)
    (row,) = arrays.apart(lambda: [arrays.pick(x, axis, index)])
    tracer.rows_read[source].append(row)
    return row


@traces(AdvancedSubtensor)
def lower_gather(
    tracer: Tracer, node: TensorApply[AdvancedSubtensor], inputs: list[Array]
) -> Arrays:
    op = node.op
    x = tracer.array(inputs[0])
    key = _key(tracer, node, op.key, x.shape, 1, inputs)
    return [tracer.arrays.gather(x, [_part(tracer, entry) for entry in key])]


def _part(tracer: Tracer, entry: Entry) -> Array:
    return entry if is_slice(entry) else tracer.array(entry)


@traces(IncSubtensor, AdvancedIncSubtensor)
def lower_write(
    tracer: Tracer, node: TensorApply[IncSubtensor | AdvancedIncSubtensor], inputs: list[Array]
) -> Arrays:
    op = node.op
    x, y = tracer.array(inputs[0]), tracer.array(inputs[1])
    key = [_part(tracer, e) for e in _key(tracer, node, op.key, x.shape, 2, inputs)]
    check_written(node.inputs[1].type, tuple(map(int, y.shape)), region_shape(key, x.shape))
    arrays = tracer.arrays
    y = arrays.cast(y, arrays.dtype(x))
    adds = not op.set_instead_of_inc
    source, dynamic = node.inputs[0], [i for i, e in enumerate(key) if arrays.is_traced(e)]
    if source in tracer.rows_read and len(dynamic) == 1 and not op.advanced:
        (axis,) = dynamic
        if adds and all(e == slice(None) for i, e in enumerate(key) if i != axis):
            y = arrays.scalars["add"][1](_row(tracer, source, x, axis, key[axis]), y)
            adds = False
        # after all reads, so that the library writes in place
        key[axis] = arrays.after(key[axis], tracer.rows_read[source])
    return [arrays.write(x, key, y, "sum" if adds else None)]


@traces(ExtractDiag)
def lower_diagonal(tracer: Tracer, node: TensorApply[ExtractDiag], inputs: list[Array]) -> Arrays:
    op = node.op
    return [tracer.arrays.diagonal(inputs[0], op.offset, op.axis1, op.axis2)]


@traces(AllocDiag)
def lower_diagonal_matrix(
    tracer: Tracer, node: TensorApply[AllocDiag], inputs: list[Array]
) -> Arrays:
    op = node.op
    arrays, (x,) = tracer.arrays, inputs
    count = int(x.shape[-1])
    n = count + abs(op.offset)
    empty = arrays.constant(np.zeros((*(int(m) for m in x.shape[:-1]), n, n), arrays.dtype(x)))
    at = np.arange(count)
    rows, columns = (arrays.constant(at + max(0, s * op.offset)) for s in (-1, 1))
    key = [*[slice(None)] * (len(x.shape) - 1), rows, columns]
    return [arrays.write(empty, key, x, None)]


@traces(Nonzero)
def lower_nonzero(tracer: Tracer, node: TensorApply[Nonzero], inputs: list[Array]) -> Arrays:
    return run_node(node, [tracer.known(node, 0, inputs[0])])
