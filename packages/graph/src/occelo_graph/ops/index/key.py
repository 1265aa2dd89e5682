"""Splits the index in ``x[...]`` into a static key and input variables, and computes shapes of indexed parts.

A key describes the static part of an index. It is a tuple of entries:

- an integer that is known when the graph is built
- `SCALAR`: an integer that is an input
- a slice; its start, stop and step are integers, None or `SCALAR`
- `ARRAY`: an index array or mask that is an input

For instance, ``x[2, i:]`` has the key ``(2, slice(SCALAR, None))`` and the input ``i``. Each entry indexes one
dimension, but a mask of n dimensions indexes n dimensions. A single boolean becomes a mask of a new dimension of length
1.

The ops in `subtensor` have a field `key`. Rules and lowerings of the index family read it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from occelo_graph.errors import broadcasting_hint
from occelo_graph.ir.nodes import Apply, Constant, Variable
from occelo_graph.ir.slices import slice_parts
from occelo_graph.ir.terms import ATOM, Term, called
from occelo_graph.narrowing import is_array, is_list, is_list_or_tuple, is_slice, is_tuple
from occelo_graph.ops.elemwise.arithmetic import minimum
from occelo_graph.ops.elemwise.op import broadcast_static
from occelo_graph.tensors.constant import as_tensor_variable, constant
from occelo_graph.tensors.nodes import is_tensor
from occelo_graph.tensors.sequences import refuse_bool
from occelo_graph.tensors.type import StaticShape, TensorType, is_discrete, refuse_mask, shape_text

LARGEST = 2**63 - 1
"""The largest int64."""

SCALAR = "scalar"
ARRAY = "array"
KeyEntry = Any
Key = tuple[KeyEntry, ...]


def _scalar_part(value: Any, inputs: list[Any]) -> Any:
    """The entry of the key for ``value``, which is an integer, a variable or None.

    For a variable, the entry is `SCALAR`, and the variable is appended to ``inputs``.
    """
    if value is None:
        return None
    if isinstance(value, Variable):
        if not is_tensor(value) or not is_discrete(value.dtype) or value.dtype == "bool":
            raise TypeError(f"An index must be an integer, got {value} of type {value.type}")
        if value.ndim:
            raise TypeError(
                f"The parts of a slice must be scalars, got {value} of type {value.type}"
            )
        if value.dtype == "uint64":
            value = minimum(value, LARGEST)  # a cast would make larger numbers negative
        inputs.append(value if value.dtype == "int64" else value.astype("int64"))
        return SCALAR
    if not _is_integer(value):
        raise TypeError(f"An index must be an integer, got {value!r}")
    return int(value)


def _clipped(part: Any) -> Any:
    """A part of a slice. As in Python, a larger integer than int64 holds means the same as the end of int64."""
    return max(-LARGEST - 1, min(part, LARGEST)) if isinstance(part, int) else part


def _is_integer(value: object) -> bool:
    if isinstance(value, bool | np.bool_):
        return False
    return isinstance(value, int | np.integer) or (is_array(value) and value.dtype.kind in "iu")


def _array_part(value: Any) -> Any:
    """Convert an index array or a mask to a variable. TypeError unless it holds integers or booleans."""
    array = as_tensor_variable(value) if isinstance(value, Variable) else None
    if array is None:
        refuse_mask(value)
        plain = np.asarray(value)
        if plain.size == 0 and plain.dtype.kind == "f":
            plain = plain.astype("int64")
        array = constant(plain)
    if not is_discrete(array.dtype):
        raise TypeError(f"An index array must hold integers or truth values, got {array.type}")
    return array


def _single_truth_value(mask: Any) -> Any:
    """Convert a boolean scalar to a mask of length 1. A constant becomes an array of positions: [] or [0]."""
    if isinstance(mask, Constant):
        return constant(np.zeros(int(mask.data), "int64"))
    return mask.dimshuffle(["x"])


def _is_scalar_index(value: Any) -> bool:
    if isinstance(value, Variable):
        return is_tensor(value) and value.type.ndim == 0 and value.type.dtype != "bool"
    return _is_integer(value) and (not is_array(value) or value.ndim == 0)


def _expand_ellipsis(entries: Sequence[Any], ndim: int) -> list[Any]:
    """Replace ``...`` by full slices, or append full slices for the dimensions that have no entry."""
    used = 0
    for e in entries:
        if e is None or e is Ellipsis:
            continue
        mask_ndim = _mask_ndim(e)
        used += 1 if mask_ndim is None else mask_ndim
    if sum(1 for e in entries if e is Ellipsis) > 1:
        raise IndexError("An index can have only one ellipsis ('...')")
    if used > ndim:
        raise IndexError(
            f"Too many indices: the tensor has {ndim} dimensions, but {used} were indexed"
        )
    fill = [slice(None)] * (ndim - used)
    result: list[Any] = []
    seen = False
    for e in entries:
        if e is Ellipsis:
            result += fill
            seen = True
        else:
            result.append(e)
    return result if seen else result + fill


def _mask_ndim(entry: Any) -> int | None:
    if isinstance(entry, Variable):
        return entry.type.ndim if is_tensor(entry) and entry.type.dtype == "bool" else None
    if isinstance(entry, bool | np.bool_):
        return 0
    if is_list(entry) or is_array(entry):
        plain = np.asarray(entry)
        return plain.ndim if plain.dtype == bool else None
    return None


def parse_key(key: Any, ndim: int) -> tuple[Key, list[Any], list[int]]:
    """Split the index of a tensor with ``ndim`` dimensions into a key, its inputs, and the positions of new dimensions.

    Before the caller applies the key, it must insert dimensions of length 1 at these positions. The key has an entry
    for each new dimension: a full slice for None, or a mask for a single boolean. TypeError if an entry is not an
    index, IndexError for too many entries, ValueError for a slice with step 0.
    """
    entries: Sequence[Any] = key if is_tuple(key) else (key,)
    expanded = _expand_ellipsis([_plain(e) for e in entries], ndim)
    static: list[Any] = []
    inputs: list[Any] = []
    new_axes: list[int] = []
    position = 0  # counts the dimensions of the tensor and the new dimensions
    for entry in expanded:
        if entry is None:
            new_axes.append(position)
            static.append(slice(None))
        elif isinstance(entry, slice):
            parts = slice_parts(entry)
            start, stop, step = (_clipped(_scalar_part(p, inputs)) for p in parts)
            if isinstance(step, int) and step == 0:
                raise ValueError("The step of a slice cannot be 0")
            static.append(slice(start, stop, None if step == 1 else step))
        elif _is_scalar_index(entry):
            part = _scalar_part(entry, inputs)
            if part != _clipped(part):
                raise IndexError(f"Index {part} is out of range: it exceeds int64")
            static.append(part)
        else:
            array = _array_part(entry)
            if array.dtype == "bool" and array.type.ndim == 0:
                new_axes.append(position)
                array = _single_truth_value(array)
            inputs.append(array)
            static.append(ARRAY)
            if array.dtype == "bool":
                position += array.type.ndim - 1
        position += 1
    return tuple(static), inputs, new_axes


def _plain(entry: Any) -> Any:
    if isinstance(entry, Variable) and not is_tensor(entry):
        return entry.type.as_index(entry)
    refuse_bool(entry, "an index")
    if is_list_or_tuple(entry):
        if any(isinstance(e, Variable) for e in entry):
            return as_tensor_variable(list(entry))
        return np.asarray(entry) if entry else np.zeros(0, dtype="int64")
    if isinstance(entry, float | np.floating | str | bytes):
        raise TypeError(f"An index must be an integer, got {entry!r}")
    return entry


def is_advanced(key: Key) -> bool:
    """Whether an entry is an index array or a mask. Then NumPy calls the index advanced, else basic."""
    return any(isinstance(e, str) and e == ARRAY for e in key)


def marks_of(key: Key) -> list[str]:
    """The marks `SCALAR` and `ARRAY` of a key, in the order of its inputs."""
    marks: list[str] = []
    for entry in key:
        if isinstance(entry, slice):
            parts = slice_parts(entry)
            marks += [SCALAR for p in parts if p == SCALAR]
        elif isinstance(entry, str):
            marks.append(entry)
    return marks


def count_inputs(key: Key) -> int:
    """The number of inputs of a key."""
    return sum(
        sum(1 for p in slice_parts(e) if p == SCALAR)
        if isinstance(e, slice)
        else isinstance(e, str)
        for e in key
    )


def fill_key(
    key: Key, inputs: Sequence[Any], scalar: Callable[[Any], Any] = int
) -> tuple[Any, ...]:
    """Replace each `SCALAR` and `ARRAY` in a key by the next input. ``scalar`` converts the inputs for `SCALAR`."""
    rest: Iterator[Any] = iter(inputs)
    filled: list[Any] = []
    for entry in key:
        if isinstance(entry, slice):
            parts = slice_parts(entry)
            filled.append(slice(*(scalar(next(rest)) if p == SCALAR else p for p in parts)))
        elif isinstance(entry, str):
            filled.append(scalar(next(rest)) if entry == SCALAR else next(rest))
        else:
            filled.append(entry)
    return tuple(filled)


def static_positions(key: Key, inputs: Sequence[Any], first: int) -> list[int]:
    """The positions of inputs that determine the shape of the result: masks, and starts, stops and steps of slices.

    ``inputs`` are the inputs of a node. The inputs of the key begin at position ``first``.
    """
    positions: list[int] = []
    position = first
    for entry in key:
        if isinstance(entry, slice):
            count = sum(1 for p in slice_parts(entry) if p == SCALAR)
            positions += range(position, position + count)
            position += count
        elif isinstance(entry, str):
            if inputs[position].type.dtype == "bool":
                positions.append(position)
            position += 1
    return positions


def slice_length(entry: slice, length: int | None) -> int | None:
    """The number of elements that a slice selects from a dimension of length ``length``; None if it is dynamic."""
    parts = slice_parts(entry)
    if parts == (None, None, None) or parts == (None, None, -1):
        return length
    if any(p == SCALAR for p in parts):
        return None
    if length is None:
        return 0 if _is_empty(*parts) else None
    return len(range(*slice(*parts).indices(length)))


def _is_empty(start: int | None, stop: int | None, step: int | None) -> bool:
    """Whether a slice selects no element, however many there are."""
    forward = step is None or step > 0
    first = 0 if forward else -1
    start = first if start is None else start
    if stop is None or stop == first:
        return stop is not None
    if (start < 0) != (stop < 0):
        return False  # bounds on different sides may be in either order
    return start >= stop if forward else start <= stop


def basic_shape(key: Key, shape: StaticShape) -> list[int | None]:
    """The static shape of the result of a basic index. IndexError if an integer is statically out of range."""
    result: list[int | None] = []
    for axis, (entry, length) in enumerate(zip(key, shape, strict=True)):
        if is_slice(entry):
            result.append(slice_length(entry, length))
        else:
            check_range(entry, length, axis)
    return result


def check_range(entry: Any, length: int | None, axis: int) -> None:
    """Raise IndexError if ``entry`` is an integer that is out of range for a dimension of static length ``length``."""
    if isinstance(entry, int) and length is not None and not -length <= entry < length:
        raise IndexError(f"Index {entry} is out of range for dimension {axis} of length {length}")


def advanced_layout(
    key: Key, shape: StaticShape, arrays: Sequence[TensorType], counts: Sequence[int | None] = ()
) -> tuple[list[int | None], int, int]:
    """The static shape of the result of an advanced index, and which of its dimensions come from index arrays.

    As in NumPy, integers count as index arrays, and all index arrays are broadcast together. If the arrays are adjacent
    in the key, their broadcast dimensions replace the indexed dimensions. Else the broadcast dimensions come first. The
    second result is the position of the first broadcast dimension, and the third result is the number of broadcast
    dimensions. For each array ``counts`` has the number of elements that it selects if it is a mask and this is known;
    by default none is known.
    """
    shapes: list[StaticShape] = []
    slices: list[int | None] = []
    places: list[int] = []
    rest = iter(zip(arrays, counts or [None] * len(arrays), strict=True))
    axis = 0
    before_first = 0
    for place, entry in enumerate(key):
        if is_slice(entry):
            slices.append(slice_length(entry, shape[axis]))
            axis += 1
            continue
        if not places:
            before_first = len(slices)
        places.append(place)
        if isinstance(entry, str) and entry == ARRAY:
            array, count = next(rest)
            if array.dtype == "bool":
                if array.ndim == 0:
                    raise TypeError(
                        "A mask needs a dimension; a single truth value is one of a new dimension of length 1"
                    )
                check_mask(array, shape[axis : axis + array.ndim], axis)
                shapes.append((count,))
                axis += array.ndim
                continue
            shapes.append(array.shape)
        else:
            check_range(entry, shape[axis], axis)
        axis += 1
    core = list(broadcast_static([*shapes, ()], "index arrays"))
    neighbours = places == list(range(places[0], places[-1] + 1))
    where = before_first if neighbours else 0
    return [*slices[:where], *core, *slices[where:]], where, len(core)


def check_mask(mask: TensorType, shape: StaticShape, axis: int) -> None:
    """Raise IndexError if a mask does not have the static lengths ``shape`` of the dimensions that it indexes.

    ``axis`` is the first of these dimensions, for the message.
    """
    for own, length in zip(mask.shape, shape, strict=True):
        if own is not None and length is not None and own != length:
            raise IndexError(
                f"A mask of shape {shape_text(mask.shape)} does not fit the dimensions "
                f"{shape_text(shape)} from {axis} on"
            )


# functions for run time, when lengths are numbers


def region_shape(entries: Sequence[Any], shape: Sequence[int]) -> tuple[int, ...]:
    """The shape of the part that an index selects from a tensor of the shape ``shape``.

    ``entries`` are slices, integers, arrays of integers, and masks. IndexError if the arrays do not broadcast.
    """
    slices: list[int] = []
    shapes: list[tuple[int, ...]] = []
    places: list[int] = []
    axis = before_first = 0
    for place, entry in enumerate(entries):
        if isinstance(entry, slice):
            slices.append(len(range(*entry.indices(int(shape[axis])))))
            axis += 1
            continue
        if not places:
            before_first = len(slices)
        places.append(place)
        shapes.append(_index_shape(entry))
        axis += entry.ndim if _is_mask(entry) else 1
    try:
        core = np.broadcast_shapes(*shapes)
    except ValueError:
        raise _arrays_differ(shapes) from None
    if not places or not any(hasattr(e, "shape") for e in entries):
        return tuple(slices)
    neighbours = places == list(range(places[0], places[-1] + 1))
    where = before_first if neighbours else 0
    return (*slices[:where], *core, *slices[where:])


def _is_mask(entry: Any) -> bool:
    return type(entry) is np.ndarray and str(entry.dtype) == "bool"


def _index_shape(entry: Any) -> tuple[int, ...]:
    if _is_mask(entry):
        return (int(np.count_nonzero(entry)),)
    return tuple(int(n) for n in getattr(entry, "shape", ()))


def _arrays_differ(shapes: Sequence[tuple[int, ...]]) -> IndexError:
    listed = ", ".join(str(s) for s in shapes)
    hint = broadcasting_hint(*(n for s in shapes for n in s))
    return IndexError(f"The index arrays, of the shapes {listed}, do not fit each other{hint}")


def check_index_arrays(types: Sequence[TensorType], arrays: Sequence[Any]) -> None:
    """Raise IndexError if the lengths of index arrays differ.

    Only lengths that are statically 1 in ``types`` broadcast.
    """
    shapes = [_index_shape(a) for a in arrays]
    static = [(None,) if t.dtype == "bool" else t.shape for t in types]
    for axis in range(-max((len(s) for s in shapes), default=0), 0):
        group = {
            s[axis] for s, t in zip(shapes, static, strict=True) if -axis <= len(s) and t[axis] != 1
        }
        if len(group) > 1:
            raise _arrays_differ(shapes)


def check_masks(entries: Sequence[Any], shape: Sequence[int]) -> None:
    """Raise IndexError if a mask does not have the lengths of the dimensions that it indexes.

    NumPy does not check empty masks.
    """
    axis = 0
    for entry in entries:
        if not _is_mask(entry):
            axis += 1
            continue
        for own in entry.shape:
            if own != shape[axis]:
                raise IndexError(
                    f"boolean index did not match indexed array along axis {axis}; size of axis is "
                    f"{shape[axis]} but size of corresponding boolean axis is {own}"
                )
            axis += 1


def check_written(type_: TensorType, shape: Sequence[int], region: Sequence[int]) -> None:
    """Raise ValueError if a value of the shape ``shape`` cannot be written to a part of the shape ``region``.

    The lengths of both shapes must be equal. Only lengths that are statically 1 in the value's type ``type_``
    broadcast.
    """
    lead = len(region) - len(shape)
    for static, own, length in zip(type_.shape, shape, region[lead:], strict=True):
        if static != 1 and own != length:
            raise ValueError(
                f"Cannot write a value of shape {tuple(shape)} to a part of shape {tuple(region)}"
                f"{broadcasting_hint(own)}"
            )


def key_text(key: Key) -> str:
    """The key as text, with "i" and "array" in the places of inputs."""

    def one(entry: Any) -> str:
        if isinstance(entry, slice):
            parts = slice_parts(entry)
            texts = ["" if p is None else "i" if p == SCALAR else str(p) for p in parts]
            return ":".join(texts[:2]) + (f":{texts[2]}" if texts[2] else "")
        return (
            {SCALAR: "i", ARRAY: "array"}.get(entry, str(entry))
            if isinstance(entry, str)
            else str(entry)
        )

    return "[" + ", ".join(one(e) for e in key) + "]"


def written_key(key: Key, operands: Sequence[Term]) -> str:
    """The key as it is written in brackets. Whole dimensions at its end are left out."""
    texts = fill_key(key, [term.short for term in operands], str)
    entries = list(texts)
    while len(entries) > 1 and entries[-1] == slice(None):
        entries.pop()

    def one(entry: Any) -> str:
        if not isinstance(entry, slice):
            return str(entry)
        parts = ["" if p is None else str(p) for p in slice_parts(entry)]
        return ":".join(parts[:2]) + (f":{parts[2]}" if parts[2] else "")

    return f"[{', '.join(map(one, entries))}]"


def written_read(self: Any, node: Apply, operands: Sequence[Term]) -> Term | None:
    """`Op.written` of ops that read the part that their key selects."""
    return Term(f"{operands[0].at(ATOM)}{written_key(self.key, operands[1:])}")


def written_write(self: Any, node: Apply, operands: Sequence[Term]) -> Term | None:
    """`Op.written` of ops that write to the part that their key selects."""
    if self.inplace:
        return None
    x, y, *key = operands
    part = f"{x.at(ATOM)}{written_key(self.key, key)}"
    return called(
        f"{part}.{'set' if self.set_instead_of_inc else 'inc'}", (y.unstretched or y).text
    )
