"""Digests of PyTensor graphs: texts that name everything on which a conversion of the graph depends.

Two graphs with one digest are converted to equal graphs. A compiled function is found by the digest, so that a graph
which was compiled before is not converted again. A graph has no digest if something in it is not known to the last detail:
an op of a class from elsewhere than PyTensor and PyMC, a field without a text, a conversion that a user registered.
"""

from __future__ import annotations

import functools
import hashlib
import itertools
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from types import FunctionType
from typing import Any

import numpy as np
from pytensor.graph.basic import Constant
from pytensor.graph.fg import FrozenFunctionGraph, FunctionGraph
from pytensor.graph.op import Op
from pytensor.graph.traversal import toposort
from pytensor.graph.utils import MetaObject
from pytensor.scalar.basic import ScalarType
from pytensor.tensor.type import TensorType
from pytensor.tensor.type_other import NoneTypeT, SliceType

import occelo
from occelo_link.cache.fingerprint import manifest
from occelo_pytensor.calls import RELEASED
from occelo_pytensor.registry import conversion_of
from occelo_pytensor.variables import is_shared, is_sparse_type

_PLAIN = (int, float, complex, str, bytes, bool, type(None))
_TAGS = ("lower_triangular", "upper_triangular")
"""Tags of variables that conversions read."""


class NoDigest(Exception):
    """A graph has a part that no text names."""


@functools.cache
def _environment() -> str:
    """The versions of the libraries whose graphs are converted, and the sources that convert them. Keys have the other sources."""
    libraries = [f"{n} {sys.modules[n].__version__}" for n in RELEASED if n in sys.modules]
    folders = [os.path.dirname(f) for f in (__file__, occelo.__file__)]
    return repr([libraries, *map(manifest, folders)])


@functools.cache
def _name(part: Any) -> str:
    """The name of a class or a function of a released package. `NoDigest` if it is of another one, or has no such name."""
    name, path = part.__module__, part.__qualname__
    target: Any = sys.modules.get(name)
    for each in path.split("."):
        target = getattr(target, each, None)
    package = name.partition(".")[0]
    if target is not part or package not in (*RELEASED, "numpy", "builtins"):
        raise NoDigest(f"{name}.{path}")
    return f"{name}.{path}"


class _Reader:
    """Writes the texts of graphs. Ops and types that occur several times are written once."""

    def __init__(self) -> None:
        self._texts: dict[int, tuple[Any, str]] = {}
        self._conversions: dict[type, bool] = {}

    def graph(self, outputs: Sequence[Any], known: Mapping[Any, int]) -> tuple[str, list[Any]]:
        """The text of a graph, and its shared variables. ``known`` numbers its inputs."""
        numbers: dict[Any, int] = dict(known)
        shared: list[Any] = []
        rows: list[str] = []
        for node in toposort(outputs, blockers=list(known)):
            for variable in node.inputs:
                if variable not in numbers:
                    rows.append(self._root(variable, shared))
                    numbers[variable] = len(numbers)
            if not self._is_converted(type(node.op), node.op):
                raise NoDigest(f"{node.op}, which has no conversion")
            inputs = [numbers[v] for v in node.inputs]
            types = [self._output(v) for v in node.outputs]
            numbers.update(zip(node.outputs, itertools.count(len(numbers)), strict=False))
            rows.append(f"{self.once(node.op, self.attributes)} {inputs} {types}")
        for variable in outputs:
            if variable not in numbers:
                rows.append(self._root(variable, shared))
                numbers[variable] = len(numbers)
        rows.append(str([numbers[v] for v in outputs]))
        return "\n".join(rows), shared

    def once(self, part: Any, write: Callable[[Any], str]) -> str:
        """The text of an object, kept for the next time. The object is kept alive, so that no other has its ``id``."""
        entry = self._texts.get(id(part))
        if entry is None:
            entry = self._texts[id(part)] = (part, write(part))
        return entry[1]

    def _output(self, variable: Any) -> str:
        text = self.once(variable.type, self.kind)
        tags = [name for name in _TAGS if getattr(variable.tag, name, False)]
        return f"{text} {tags}" if tags else text

    def _root(self, variable: Any, shared: list[Any]) -> str:
        kind = self.once(variable.type, self.kind)
        if isinstance(variable, Constant):
            return f"constant {kind} {self._data(variable.data)}"
        if not is_shared(variable):
            raise NoDigest(f"the input {variable}")
        shared.append(variable)
        return f"shared {kind}"

    @staticmethod
    def _data(data: Any) -> str:
        if data is None or isinstance(data, slice):
            return repr(data)
        array = np.asarray(data)
        if array.dtype.kind not in "biufc":
            raise NoDigest(f"a constant of {array.dtype}")
        digest = hashlib.blake2b(np.ascontiguousarray(array), digest_size=16)
        return f"{array.dtype.str} {array.shape} {digest.hexdigest()}"

    def kind(self, kind: Any) -> str:
        """The text of a type. Its other attributes have no part in a conversion."""
        if is_sparse_type(kind):
            raise NoDigest(str(kind))
        if type(kind) is TensorType:
            return f"{kind.dtype}{kind.shape}"
        if type(kind) is ScalarType:
            return f"scalar {kind.dtype}"
        if type(kind) in (NoneTypeT, SliceType):
            return type(kind).__name__
        raise NoDigest(str(kind))

    def _is_converted(self, kind: type, op: Any) -> bool:
        """Whether ops of a class have a conversion. `NoDigest` if it is not Occelo's own."""
        is_converted = self._conversions.get(kind)
        if is_converted is None:
            convert = conversion_of(op)
            if convert is not None and not convert.__module__.startswith("occelo_pytensor."):
                raise NoDigest(f"{op}, whose conversion is a user's")
            is_converted = self._conversions[kind] = convert is not None
        return is_converted

    def attributes(self, part: Any) -> str:
        """The text of an object with properties, or whose attributes all have texts."""
        named: Sequence[str] | None = getattr(part, "__props__", None)
        fields: list[Any] = [_name(type(part))]
        fields += [(name, self.value(getattr(part, name))) for name in named or ()]
        for name, value in sorted(vars(part).items()):
            if name.startswith("_") or name in (named or ()):
                continue
            try:
                fields.append((name, self.value(value)))
            except NoDigest:
                if named is None:
                    raise
        return repr(fields)

    def value(self, value: Any) -> str:
        """The text of a value of a property."""
        if type(value) in _PLAIN:
            return f"{type(value).__name__} {value!r}"
        if isinstance(value, tuple | list):
            return f"{type(value).__name__} {[self.value(v) for v in value]}"
        if isinstance(value, Mapping):
            return f"dict {[(self.value(k), self.value(v)) for k, v in value.items()]}"
        if isinstance(value, slice):
            return f"slice {[self.value(v) for v in (value.start, value.stop, value.step)]}"
        if isinstance(value, np.dtype):
            return f"dtype {value.str}"
        if isinstance(value, type | FunctionType):
            return f"code {_name(value)}"
        if isinstance(value, FunctionGraph | FrozenFunctionGraph):
            inputs = list(value.inputs)
            text, shared = self.graph(value.outputs, {v: i for i, v in enumerate(inputs)})
            if shared:
                raise NoDigest("a shared variable in an inner graph")
            return f"graph {[self._output(v) for v in inputs]} {text}"
        if isinstance(value, ScalarType | TensorType | NoneTypeT | SliceType):
            return f"type {self.kind(value)}"
        if is_dataclass(value):
            return f"{_name(type(value))} {[self.value(getattr(value, f.name)) for f in fields(value)]}"
        if isinstance(value, Op):
            self._is_converted(type(value), value)
        if isinstance(value, Op | MetaObject):
            return self.once(value, self.attributes)
        raise NoDigest(f"a {type(value).__name__}")


def digest_of(
    outputs: Sequence[Any], inputs: Sequence[Any], *options: Any
) -> tuple[str, list[Any]]:
    """The digest of the graph from ``inputs`` to ``outputs``, of ``options``, and of the code that converts it; and the
    shared variables of the graph, in the order in which it reads them.

    `NoDigest` if something of the graph has no text.
    """
    reader = _Reader()
    text, shared = reader.graph(outputs, {v: i for i, v in enumerate(inputs)})
    whole = [_environment(), repr(options), *(reader.kind(v.type) for v in inputs), text]
    return hashlib.blake2b("\n".join(whole).encode(), digest_size=16).hexdigest(), shared
