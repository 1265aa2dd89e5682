"""VMs of blocks as bytes for the cache: `pack_blocks`, and its inverse `unpack_blocks`.

`BlockLinker` calls these functions for VMs with several parts, or with nodes that run in Python. A VM whose only part
is a block without callbacks is packed in a shorter form (`BlockVM.pack`).

The bytes contain the units, and the nodes that run in Python between them and as callbacks. Variables and nodes are
numbered as in the canonical form of the rewritten graph (`occelo_graph.canonical.document.Numbering`). If a block fails,
the graph is rewritten again for the message. It must have the same digest, so that the numbers mean the same.

The place of a callback is kept as a path: the number of a node, and then, for each inner graph around the callback, the
position of the inner graph and that of the node in it. An op of another package is kept as its position in ``given``, a list
of ops that the user's graph has in every process. So its own code runs, whatever its class is called.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from occelo_graph import Apply, Constant, FunctionGraph, Op, Variable, toposort
from occelo_graph.canonical.document import Numbering, digest_of_numbered
from occelo_graph.canonical.encoding import (
    GraphTable,
    decode,
    decode_value,
    encode,
    encode_value,
    position_in,
)
from occelo_graph.errors import SavedGraphError
from occelo_graph.fgraph.frozen import inner_graphs
from occelo_graph.provenance import Source
from occelo_link.blocks.partition import Part
from occelo_link.blocks.vm import BlockVM, places_of_callbacks
from occelo_link.cache.packing import pack
from occelo_link.linker import Signature, Storage, StorageMap
from occelo_link.units.callbacks import Callbacks
from occelo_link.units.compiled_unit import CompiledUnit, pack_unit, unpack_unit
from occelo_link.units.interface import MOST_CONSTANTS
from occelo_link.units.unit import NativeUnit

Path = list[int]
"""A place of a node in a graph: see above."""


def pack_blocks(vm: BlockVM, given: Sequence[Op] = ()) -> bytes | None:
    """A VM as bytes. None if it cannot be cached.

    That is the case if a unit cannot be cached; if a node has no canonical form and its op is not in ``given``, or if
    the outputs of the graph are not all computed, each by itself.
    """
    graph, outputs = vm.fgraph, vm.fgraph.outputs
    if len(set(outputs)) < len(outputs) or any(v.owner is None for v in outputs):
        return None
    numbering = Numbering(graph.inputs, outputs)
    number = numbering.numbers
    positions = {node: i for i, node in enumerate(numbering.nodes)}
    parts: list[Any] = []
    units: list[bytes] = []
    ran: list[Apply] = []
    seen = dict.fromkeys(v for part in vm.parts for v in (*part.inputs, *part.outputs))
    for part, unit in zip(vm.parts, vm.units, strict=True):
        packed = b"" if unit is None else pack_unit(unit)
        places = [(node,) for node in part.nodes] if unit is None else places_of_callbacks(unit)
        paths = [_path(place, positions) for place in places]
        if packed is None or None in paths:
            return None
        nodes = [place[-1] for place in places]
        seen.update(dict.fromkeys(v for node in nodes for v in (*node.inputs, *node.outputs)))
        units.append(packed)
        ends = [[number[v] for v in vs] for vs in (part.inputs, part.outputs)]
        parts.append([unit is not None, *ends, [len(ran) + i for i in range(len(nodes))], paths])
        ran += nodes
    computed = {v for node in ran for v in node.outputs}
    # what messages call the inputs of callbacks, of which an entry has no graph
    called = {v: v.name or str(v) for v in seen if v not in number and v not in computed}
    for variable in seen:  # those of inner graphs
        number.setdefault(variable, len(number))
    arrays = GraphTable()
    position = {op: i for i, op in reversed(list(enumerate(given)))}
    try:
        header: dict[str, Any] = {
            "digest": digest_of_numbered(graph.inputs, outputs, numbering),
            "parts": parts,
            "outputs": [number[v] for v in outputs],
            "variables": [[number[v], encode(v.type, arrays), called.get(v, v.name)] for v in seen],
            "constants": [
                [number[v], encode_value(v.type, v.data, arrays)]
                for v in seen
                if isinstance(v, Constant)
            ],
            "nodes": [
                [
                    position[node.op] if node.op in position else encode(node.op, arrays),
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
        read = [_op(row[0], table, given) for row in header["nodes"]]
    except (TypeError, ValueError, SavedGraphError):
        return None
    if any(type(a) is not type(b.op) or a != b.op for a, b in zip(read, ran, strict=True)):
        return None
    return pack(header, *units, *[np.ascontiguousarray(array).tobytes() for array in arrays])


def _path(place: tuple[Apply, ...], positions: dict[Apply, int]) -> Path | None:
    """The path of a place in a graph. None if the place is not in the graph, but for instance in one that was lowered instead."""
    first = positions.get(place[0])
    path = [] if first is None else [first]
    for outer, node in pairwise(place):
        for i, graph in enumerate(inner_graphs(outer.op)):
            if node in graph.nodes:
                path += [i, graph.nodes.index(node)]
                break
    return path if len(path) == 2 * len(place) - 1 else None


def _place(path: Path, nodes: Sequence[Apply]) -> tuple[Apply, ...]:
    """The inverse of `_path`, for the nodes of an equal graph."""
    place = [nodes[path[0]]]
    for graph, node in zip(path[1::2], path[2::2], strict=True):
        place.append(inner_graphs(place[-1].op)[graph].nodes[node])
    return tuple(place)


def _op(plain: Any, table: GraphTable, given: Sequence[Op]) -> Op:
    """An op of an entry: one of ``given``, or what is encoded."""
    op: Op = given[position_in(plain, given)] if isinstance(plain, int) else decode(plain, table)
    return op


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
    given: Sequence[Op] = (),
) -> BlockVM | None:
    """The inverse of `pack_blocks`. ``header`` and ``data`` are those of the bytes.

    The other arguments are those of `Linker.unpack`. None if a class of ops or of units is not known here.
    """
    units: list[CompiledUnit | None] = []
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
        variables, nodes = _nodes(header, arrays, given)
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
    for (compiled, read, written, ran, paths), unit in zip(header["parts"], units, strict=True):
        if compiled and unit is None:
            return None
        own: list[Apply] = [nodes[i] for i in ran]
        if compiled and own:
            assert isinstance(unit, NativeUnit)
            unit.interface.callbacks = Callbacks([(node,) for node in own])
        ends_of = read, written, dict(zip(own, paths, strict=True))
        remake = _remaking(rewritten, header["digest"], *ends_of) if compiled else None
        takes, gives = [named[n] for n in read], [named[n] for n in written]
        parts.append(Part(compiled, [] if compiled else own, takes, gives, remake))
    return BlockVM(graph, parts, units, storage, inputs, outputs, allow_gc)


def _nodes(
    header: dict[str, Any], arrays: Sequence[Any], given: Sequence[Op]
) -> tuple[dict[int, Variable], list[Apply]]:
    """The variables of an entry, by their numbers, and its nodes."""
    table = _table(header, arrays)
    types = {number: decode(kind, table) for number, kind, _ in header["variables"]}
    variables = {n: types[n].make_variable(name) for n, _, name in header["variables"]}
    for number, value in header["constants"]:
        variables[number] = types[number].make_constant(decode_value(types[number], value, table))
    nodes: list[Apply] = []
    for op, read, written, source in header["nodes"]:
        ends = [variables[n] for n in read], [variables[n] for n in written]
        node = Apply(_op(op, table, given), *ends)
        node.mark = None if source is None else Source(*source)
        nodes.append(node)
    return variables, nodes


def _remaking(
    rewritten: Callable[[], FunctionGraph],
    digest: str,
    read: Sequence[int],
    written: Sequence[int],
    called: dict[Apply, Path],
) -> Callable[[], Part]:
    """Return a function that rewrites the graph again, and returns a block with its nodes for a replay.

    ``read`` and ``written`` are the numbers of the variables that the block reads and computes. ``called`` has the path of
    each callback.
    """

    def remake() -> Part:
        graph = rewritten()
        numbering = Numbering(graph.inputs, graph.outputs)
        if digest_of_numbered(graph.inputs, graph.outputs, numbering) != digest:
            raise RuntimeError(
                "Compiled code from the cache failed, and its message is lost, since rewriting now gives another graph; "
                "the option cache=False shows it"
            )
        inputs, outputs = ([numbering.variables[n] for n in ns] for ns in (read, written))
        places = {(node,): _place(path, numbering.nodes) for node, path in called.items()}
        nodes = toposort(outputs, blockers=frozenset(inputs))
        return Part(True, nodes, inputs, outputs, places=places)

    return remake
