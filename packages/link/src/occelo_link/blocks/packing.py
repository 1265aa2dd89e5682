"""VMs of blocks as bytes for the cache: `pack_blocks`, and its inverse `unpack_blocks`.

`BlockLinker` calls these functions for VMs with several parts, or with nodes that run in Python. A VM whose only part
is a block without callbacks is packed in a shorter form (`BlockVM.pack`).

The bytes contain the units, and the nodes that run in Python between them and as callbacks. Variables and nodes are
numbered as in the canonical form of the rewritten graph (`occelo_graph.canonical.document.Numbering`). If a block fails,
the graph is rewritten again for the message. It must have the same digest, so that the numbers mean the same.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from occelo_graph import Apply, Constant, FunctionGraph, Variable, toposort
from occelo_graph.canonical.document import Numbering, digest_of_numbered
from occelo_graph.canonical.encoding import (
    GraphTable,
    decode,
    decode_value,
    encode,
    encode_value,
)
from occelo_graph.errors import SavedGraphError
from occelo_graph.provenance import Source
from occelo_link.blocks.partition import Part
from occelo_link.blocks.vm import BlockVM, called_by
from occelo_link.cache.packing import pack
from occelo_link.linker import Signature, Storage, StorageMap
from occelo_link.units.callbacks import Callbacks
from occelo_link.units.interface import MOST_CONSTANTS
from occelo_link.units.packing import pack_unit, unpack_unit


def pack_blocks(vm: BlockVM) -> bytes | None:
    """A VM as bytes. None if it cannot be cached.

    That is the case if a unit cannot be cached, or calls ops with effects, or ops in inner graphs; if a node has no
    canonical form, or if the outputs of the graph are not all computed, each by itself.
    """
    graph, outputs = vm.fgraph, vm.fgraph.outputs
    if len(set(outputs)) < len(outputs) or any(v.owner is None for v in outputs):
        return None
    numbering = Numbering(graph.inputs, outputs)
    number = numbering.numbers
    places = {node: i for i, node in enumerate(numbering.nodes)}
    parts: list[Any] = []
    units: list[bytes] = []
    ran: list[Apply] = []
    for part, unit in zip(vm.parts, vm.units, strict=True):
        packed = b"" if unit is None else pack_unit(unit)
        nodes = part.nodes if unit is None else called_by(unit)
        # the replay of a call with effects needs the nodes of the graph that was lowered
        if packed is None or getattr(unit, "has_effects", False) or not places.keys() >= {*nodes}:
            return None
        ran += nodes
        units.append(packed)
        ends = [[number[v] for v in vs] for vs in (part.inputs, part.outputs)]
        parts.append([unit is not None, *ends, [places[node] for node in nodes]])
    arrays = GraphTable()
    crossing = [v for part in vm.parts for v in (*part.inputs, *part.outputs)]
    seen = dict.fromkeys([*crossing, *(v for node in ran for v in (*node.inputs, *node.outputs))])
    try:
        header: dict[str, Any] = {
            "digest": digest_of_numbered(graph.inputs, outputs, numbering),
            "parts": parts,
            "outputs": [number[v] for v in outputs],
            "variables": [[number[v], encode(v.type, arrays), v.name] for v in seen],
            "constants": [
                [number[v], encode_value(v.type, v.data, arrays)]
                for v in seen
                if isinstance(v, Constant)
            ],
            "nodes": [
                [
                    places[node],
                    encode(node.op, arrays),
                    [number[v] for v in node.inputs],
                    [number[v] for v in node.outputs],
                    None if (at := node.source) is None else [at.filename, at.lineno, at.function],
                ]
                for node in ran
            ],
            "graphs": arrays.rows,
            "units": [len(packed) for packed in units],
            "arrays": [[array.dtype.str, array.shape] for array in arrays],
        }
        if sum(int(array.nbytes) for array in arrays) > MOST_CONSTANTS:
            return None
        table = _table(header, [array.copy() for array in arrays])
        read = [decode(row[1], table) for row in header["nodes"]]
    except (TypeError, ValueError, SavedGraphError):
        return None
    if any(type(a) is not type(b.op) or a != b.op for a, b in zip(read, ran, strict=True)):
        return None
    return pack(header, *units, *[np.ascontiguousarray(array).tobytes() for array in arrays])


def _table(header: dict[str, Any], arrays: Sequence[Any]) -> GraphTable:
    """The arrays and inner graphs to which the encoded parts of a header refer."""
    table = GraphTable(arrays)
    for row in header["graphs"]:
        table.graphs.append(decode(row, table))
    return table


def unpack_blocks(
    header: dict[str, Any],
    data: memoryview,
    graph: Signature,
    inputs: Sequence[Storage],
    outputs: Sequence[Storage],
    rewritten: Callable[[], FunctionGraph],
    allow_gc: bool,
) -> BlockVM | None:
    """The inverse of `pack_blocks`. ``header`` and ``data`` are those of the bytes.

    The other arguments are those of `Linker.unpack`. None if a class of ops or of units is not known here.
    """
    units: list[Any] = []
    at = 0
    for length in header["units"]:
        units.append(unpack_unit(data[at : at + length]) if length else None)
        at += length
    arrays: list[Any] = []
    for dtype, shape in header["arrays"]:
        element: np.dtype[Any] = np.dtype(dtype)
        count = int(np.prod(shape, dtype=np.int64))
        arrays.append(np.frombuffer(data, element, count, at).reshape(shape).copy())
        at += count * element.itemsize
    try:
        variables, nodes = _nodes(header, arrays)
    except SavedGraphError:
        return None
    ends = {
        **dict(enumerate(graph.inputs)),
        **dict(zip(header["outputs"], graph.outputs, strict=True)),
    }
    cells = {**dict(enumerate(inputs)), **dict(zip(header["outputs"], outputs, strict=True))}
    storage: StorageMap = {variable: cells[number] for number, variable in ends.items()}
    for number, variable in variables.items():
        held = [variable.data if isinstance(variable, Constant) else None]
        storage[variable] = cells.get(number, held)
    named = {**variables, **ends}
    parts: list[Part] = []
    for (compiled, read, made, ran), unit in zip(header["parts"], units, strict=True):
        if compiled and unit is None:
            return None
        own = [nodes[place] for place in ran]
        if compiled and own:
            unit.interface.callbacks = Callbacks([(node,) for node in own])
        remake = _remaking(rewritten, header["digest"], read, made) if compiled else None
        takes, gives = [named[n] for n in read], [named[n] for n in made]
        parts.append(Part(compiled, [] if compiled else own, takes, gives, remake))
    return BlockVM(graph, parts, units, storage, inputs, outputs, allow_gc)


def _nodes(
    header: dict[str, Any], arrays: Sequence[Any]
) -> tuple[dict[int, Variable], dict[int, Apply]]:
    """The variables and nodes of an entry, by their numbers."""
    table = _table(header, arrays)
    types = {number: decode(kind, table) for number, kind, _ in header["variables"]}
    variables = {n: types[n].make_variable(name) for n, _, name in header["variables"]}
    for number, value in header["constants"]:
        variables[number] = types[number].make_constant(decode_value(types[number], value, table))
    nodes: dict[int, Apply] = {}
    for place, op, read, made, source in header["nodes"]:
        node = Apply(decode(op, table), [variables[n] for n in read], [variables[n] for n in made])
        node.mark = None if source is None else Source(*source)
        nodes[place] = node
    return variables, nodes


def _remaking(
    rewritten: Callable[[], FunctionGraph], digest: str, read: Sequence[int], made: Sequence[int]
) -> Callable[[], Part]:
    """Return a function that rewrites the graph again, and returns a block with its nodes for a replay.

    ``read`` and ``made`` are the numbers of the variables that the block reads and computes.
    """

    def remake() -> Part:
        graph = rewritten()
        numbering = Numbering(graph.inputs, graph.outputs)
        if digest_of_numbered(graph.inputs, graph.outputs, numbering) != digest:
            raise RuntimeError(
                "Compiled code from the cache failed, and its message is lost, since rewriting now gives another graph; "
                "the option cache=False shows it"
            )
        inputs, outputs = ([numbering.variables[n] for n in ns] for ns in (read, made))
        return Part(True, toposort(outputs, blockers=frozenset(inputs)), inputs, outputs)

    return remake
