"""The canonical form of a graph: a `document` of JSON values with a list of arrays, and its hash, the `digest`.

Graphs with equal documents and equal arrays compute the same. The document contains no names of variables and no
identities of Python objects. Instead, variables are numbered (`Numbering`). The inputs of the graph come first. Then
the nodes are visited in topological order, depth first from the first output. At each node, its inputs are numbered if
they have no number yet, and then its outputs.

`saving` writes the document to files. Users call `digest`, and the digest is part of the keys of the cache of compiled
functions. Frozen graphs with equal canonical forms are one object. The printers of dot and Python use `Numbering`.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np

from occelo_graph.canonical.encoding import Arrays, HashedGraphs, encode, encode_value
from occelo_graph.ir.graph_like import graph_parts
from occelo_graph.ir.nodes import Apply, Constant, NominalVariable, Variable
from occelo_graph.ir.shared import SharedVariable
from occelo_graph.ir.traversal import toposort


class _Table:
    """A list of encoded types or ops without duplicates, in the order of their first occurrence."""

    def __init__(self, arrays: Arrays) -> None:
        self.rows: list[Any] = []
        self._positions: dict[Any, int] = {}
        self._by_identity: dict[int, tuple[int, Any]] = {}
        self._arrays = arrays

    def position(self, value: Any) -> int:
        """The position of a value in the list. A new value is added."""
        # a shortcut: most values are objects that were seen before, and looking up an ``id`` is faster than hashing
        entry = self._by_identity.get(id(value))
        if entry is not None:
            return entry[0]
        position = self._positions.get(value)
        if position is None:
            position = self._positions[value] = len(self.rows)
            self.rows.append(encode(value, self._arrays))
        # stored with the value, so that the value stays alive and no other object gets its ``id``
        self._by_identity[id(value)] = position, value
        return position


class Numbering:
    """The variables of a graph with their numbers, and its nodes in topological order."""

    def __init__(self, inputs: Sequence[Variable], outputs: Sequence[Variable]) -> None:
        self.nodes: list[Apply] = toposort(outputs, blockers=frozenset(inputs))
        self.numbers: dict[Variable, int] = {v: i for i, v in enumerate(dict.fromkeys(inputs))}
        number = self.numbers.setdefault
        for node in self.nodes:
            for variable in node.inputs:
                number(variable, len(self.numbers))
            for variable in node.outputs:
                number(variable, len(self.numbers))
        for variable in outputs:
            number(variable, len(self.numbers))
        self.variables: list[Variable] = list(self.numbers)


def document(
    inputs: Sequence[Variable],
    outputs: Sequence[Variable],
    arrays: Arrays,
    numbering: Numbering | None = None,
) -> dict[str, Any]:
    """The document of a graph, as JSON values. Arrays, such as the values of constants, are appended to ``arrays``.

    ``numbering`` is the `Numbering` of the graph, if it is known.
    """
    numbered = Numbering(inputs, outputs) if numbering is None else numbering
    numbers = numbered.numbers
    types = _Table(arrays)
    ops = _Table(arrays)
    input_set = frozenset(inputs)
    computed = {out for node in numbered.nodes for out in node.outputs}
    roots: list[list[Any]] = []
    for number, variable in enumerate(numbered.variables):
        if variable in computed:
            continue
        row: list[Any] = [number, types.position(variable.type)]
        if variable in input_set:
            row.append("input")
        elif isinstance(variable, Constant):
            row += ["constant", encode_value(variable.type, variable.data, arrays)]
        elif isinstance(variable, SharedVariable):
            row.append("shared")
        elif isinstance(variable, NominalVariable):
            row += ["nominal", variable.id]
        else:
            row.append("root")
        roots.append(row)
    nodes = [
        [
            ops.position(node.op),
            [numbers[v] for v in node.inputs],
            [numbers[v] for v in node.outputs],
            [types.position(v.type) for v in node.outputs],
        ]
        for node in numbered.nodes
    ]
    return {
        "inputs": [numbers[v] for v in inputs],
        "outputs": [numbers[v] for v in outputs],
        "roots": roots,
        "nodes": nodes,
        "types": types.rows,
        "ops": ops.rows,
    }


def canonical_bytes(
    inputs: Sequence[Variable], outputs: Sequence[Variable], numbering: Numbering | None = None
) -> bytes:
    """The canonical form of a graph as bytes: the document as JSON, then the arrays with dtype and shape.

    Inner graphs stand in it as digests of their own canonical forms.
    """
    arrays: Arrays = HashedGraphs()
    plain = document(inputs, outputs, arrays, numbering)
    # json need not search for cycles: a new document has none
    text = json.dumps(plain, separators=(",", ":"), sort_keys=True, check_circular=False)
    parts = [text.encode()]
    for array in arrays:
        data = np.ascontiguousarray(array)
        parts.append(f"\n{data.dtype.str}{array.shape}".encode())
        parts.append(data.tobytes())
    return b"".join(parts)


def digest(outputs: Any, inputs: Sequence[Variable] = ()) -> str:
    """The BLAKE2b hash of the canonical form of a graph, as 64 hexadecimal digits.

    ``outputs`` is a variable, a sequence of variables, or a `FunctionGraph`. Roots that are not listed in ``inputs``
    are distinguished by their types, their kind (such as shared), and the order of their first occurrences; constants
    also by their values. TypeError if an op or a constant has no canonical form.
    """
    listed, inputs = graph_parts(
        outputs, inputs, "A digest is of a graph, such as a function's maker.fgraph"
    )
    return digest_of_numbered(inputs, listed, Numbering(inputs, listed))


def digest_of_numbered(
    inputs: Sequence[Variable], outputs: Sequence[Variable], numbering: Numbering
) -> str:
    """Like `digest`, for a graph with a known `Numbering`."""
    return digest_of_bytes(canonical_bytes(inputs, outputs, numbering))


def digest_of_bytes(form: bytes) -> str:
    """The BLAKE2b hash of a canonical form, as 64 hexadecimal digits."""
    import hashlib  # here, since it loads OpenSSL, which nothing else needs

    return hashlib.blake2b(form, digest_size=32).hexdigest()
