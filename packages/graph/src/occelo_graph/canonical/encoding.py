"""Encodes ops, types and their parameters as JSON values (`encode`), and decodes them (`decode`).

The canonical form (`document`), saved graphs (`saving`) and source texts of extensions (`extensions`) consist of such
values. Arrays are not part of the JSON value: they are collected in a list.

Ops and types are encoded by the names of their classes and by their fields. For other classes, a coder (two functions)
can be registered. There are coders for frozen graphs, `OpFromGraph` and exceptions; other packages may register more.

Decoding never runs code from a file. A file can name classes with a coder, and subclasses of `Op`, `Type` and `Static`.
What functions and other classes it can name is decided in `canonical.names`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

import numpy as np

from occelo_graph.canonical.names import import_own, saved_name, subclass
from occelo_graph.errors import SavedGraphError, explained_by
from occelo_graph.ir.op import Op
from occelo_graph.ir.slices import slice_parts
from occelo_graph.ir.types import Type
from occelo_graph.narrowing import is_dict, is_list
from occelo_graph.provenance import is_own

Arrays = list[Any]


class HashedGraphs(list[Any]):
    """A list of arrays for an encoding that is only compared, and never decoded: inner graphs are encoded as digests.

    So the encoding of a graph is as long as the graph, however deep graphs are inside of graphs.
    """


class GraphTable(list[Any]):
    """A list of arrays for an encoding in which each inner graph is a position in a table of encoded graphs.

    So nothing recurses over the depth of nesting, and a graph that occurs several times is encoded once.
    """

    def __init__(self, arrays: Sequence[Any] = ()) -> None:
        super().__init__(arrays)
        self.positions: dict[Any, int] = {}
        """The positions of the graphs that are encoded."""
        self.rows: list[Any] = []
        """The encoded graphs. Each one refers only to those before it."""
        self.graphs: list[Any] = []
        """The graphs that are decoded, in the order of the table."""


_PLAIN = frozenset((type(None), bool, str, int))
_JSON = (bool, str, int)

_coders: dict[str, tuple[type, Callable[[Any, Arrays], Any], Callable[[Any, Arrays], Any]]] = {}


class Static:
    """Base class of objects that can be parameters of ops, and are encoded by their own fields, such as scalar ops."""

    def fields(self) -> dict[str, Any]:
        """The fields by name. The class, called with them as keyword arguments, makes an equal object."""
        raise NotImplementedError

    @classmethod
    def from_fields(cls, fields: dict[str, Any]) -> Static:
        """The object with these `fields`."""
        return cls(**fields)


@explained_by("rules")
def register_coder(
    cls: type, to_plain: Callable[[Any, Arrays], Any], from_plain: Callable[[Any, Arrays], Any]
) -> None:
    """Register functions that encode and decode objects of class ``cls``, for saved graphs and digests.

    ``to_plain(value, arrays)`` returns a JSON value. It may append NumPy arrays to ``arrays``, and refer to them by
    their positions in this list. ``from_plain(plain, arrays)`` returns an equal object. Different objects must have
    different encodings, since the keys of the cache contain the encodings.

    The coder is not used for subclasses of ``cls``. A second coder for a class replaces the first one.
    """
    if not isinstance(cast("object", cls), type):
        raise TypeError(f"A coder is for a class, got {cls!r}")
    _coders[saved_name(cls)] = (cls, to_plain, from_plain)


def coders() -> dict[str, tuple[type, Callable[[Any, Arrays], Any], Callable[[Any, Arrays], Any]]]:
    """The registered coders: maps the name of a class to the class and its two functions."""
    return dict(_coders)


def encode(value: Any, arrays: Arrays) -> Any:
    """Encode ``value`` as a JSON value, from which `decode` makes an equal value. Arrays are appended to ``arrays``.

    TypeError if ``value`` cannot be encoded.
    """
    if type(value) in _PLAIN or isinstance(value, _JSON):
        return value
    if isinstance(value, float):
        return {"float": value.hex()}
    if isinstance(value, complex):
        return {"complex": [value.real.hex(), value.imag.hex()]}
    if isinstance(value, bytes):
        return {"bytes": value.hex()}
    items: Sequence[Any] = value
    mapping: Mapping[Any, Any] = value
    if isinstance(value, tuple):
        return {"tuple": [encode(v, arrays) for v in items]}
    if isinstance(value, list):
        return [encode(v, arrays) for v in items]
    if isinstance(value, dict):
        return {"dict": [[encode(k, arrays), encode(v, arrays)] for k, v in mapping.items()]}
    if isinstance(value, slice):
        parts = slice_parts(value)
        return {"slice": [encode(v, arrays) for v in parts]}
    if isinstance(value, np.dtype):
        return {"dtype": value.str}
    if isinstance(value, (np.ndarray, np.generic)):
        arrays.append(np.asarray(items))
        return {"array": len(arrays) - 1}
    return _encode_object(value, arrays)


class NoCanonicalForm(TypeError):
    """An op cannot be encoded, since it is equal only to itself."""


def _encode_object(value: object, arrays: Arrays) -> Any:
    name = saved_name(type(value))
    if name in _coders:
        return {"coded": name, "data": _coders[name][1](value, arrays)}
    if isinstance(value, Op):
        props = value.props()
        if props is None:
            raise NoCanonicalForm(
                f"The op {value} has no fields and no __props__, so no canonical form"
            )
        return {"op": name, "fields": {k: encode(v, arrays) for k, v in props.items()}}
    if isinstance(value, Type):
        return {"type": name, "key": [encode(v, arrays) for v in value.key()]}
    if isinstance(value, Static):
        return {"static": name, "fields": {k: encode(v, arrays) for k, v in value.fields().items()}}
    raise TypeError(f"{value!r} of {type(value)} has no canonical form")


def encode_value(kind: Type, value: Any, arrays: Arrays) -> Any:
    """Encode a value of the type ``kind``. A value that consists of several arrays is encoded array by array."""
    if kind.is_array or not kind.parts():
        return encode(value, arrays)
    return {"parts": [encode(np.asarray(part), arrays) for part in kind.to_parts(value)]}


def decode_value(kind: Type, plain: Any, arrays: Arrays) -> Any:
    """Decode ``plain``, which `encode_value` returned for a value of the type ``kind``."""
    if is_dict(plain) and "parts" in plain:
        return kind.from_parts([decode(part, arrays) for part in plain["parts"]])
    return decode(plain, arrays)


_TAKEN: Any = object()


def _taken(arrays: Arrays, index: object) -> Any:
    """The array at a position. Each array is taken once, so that values have no more elements than the file."""
    position = position_in(index, arrays)
    array = arrays[position]
    if array is _TAKEN:
        raise SavedGraphError(f"The array {position} occurs twice")
    arrays[position] = _TAKEN
    return array


def position_in(index: object, table: Sequence[Any]) -> int:
    """A position in a list, as an int. `SavedGraphError` if it is none."""
    if type(index) is not int or not 0 <= index < len(table):
        raise SavedGraphError(f"{index!r} is no position in a list of {len(table)}")
    return index


def _decode_op(name: str, fields: dict[str, Any]) -> Op:
    cls = subclass(Op, name)
    foreign = fields.keys() - set(cls.prop_names() or ())
    if foreign:
        raise SavedGraphError(f"{name} has no fields {sorted(foreign)}")
    try:
        return cls(**fields)
    except TypeError as error:
        raise SavedGraphError(f"{name} cannot be made from {sorted(fields)}: {error}") from None


def _coder(name: str) -> tuple[type, Callable[[Any, Arrays], Any], Callable[[Any, Arrays], Any]]:
    if name not in _coders:
        import_own(name)
    coder = _coders.get(name)
    if coder is None and is_own(name.partition(":")[0]):  # a file of an earlier version
        coder = _coders.get(f"graph:{name.partition(':')[2]}")
    if coder is None:
        raise SavedGraphError(f"The graph uses {name}, which is not known here")
    return coder


def decode(plain: Any, arrays: Arrays) -> Any:
    """Decode ``plain``, which `encode` returned. `SavedGraphError` if it is not the encoding of a value."""
    if is_list(plain):
        return [decode(v, arrays) for v in plain]
    return _decode_dict(plain, arrays) if is_dict(plain) else plain


def _decode_dict(entry: dict[str, Any], arrays: Arrays) -> Any:
    match entry:
        case {"float": text}:
            return float.fromhex(text)
        case {"complex": [re, im]}:
            return complex(float.fromhex(re), float.fromhex(im))
        case {"bytes": text}:
            return bytes.fromhex(text)
        case {"tuple": parts}:
            return tuple(decode(v, arrays) for v in parts)
        case {"dict": items}:
            return {decode(k, arrays): decode(v, arrays) for k, v in items}
        case {"slice": parts}:
            return slice(*(decode(v, arrays) for v in parts))
        case {"dtype": str(text)}:
            return np.dtype(text)
        case {"array": index}:
            return _taken(arrays, index)
        case {"coded": str(name), "data": data}:
            return _coder(name)[2](data, arrays)
        case {"op": name, "fields": fields}:
            return _decode_op(name, {k: decode(v, arrays) for k, v in fields.items()})
        case {"type": name, "key": key}:
            return subclass(Type, name)(*(decode(v, arrays) for v in key))
        case {"static": name, "fields": fields}:
            cls = subclass(Static, name)
            return cls.from_fields({k: decode(v, arrays) for k, v in fields.items()})
        case _:
            raise SavedGraphError(f"Not a saved value: {sorted(entry)}")
