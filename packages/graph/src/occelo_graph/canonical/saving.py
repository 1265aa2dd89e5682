"""`save` and `load`: write graphs to files and read them, in a versioned format without pickle.

Users call `occelo.save` and `occelo.load`. Dumps of functions (`occelo_compile.debugging.dumping`) contain such a file.

A file is a zip archive without compression. It contains ``graph.json``, with the canonical document, a table of inner
graphs, names and source lines, and a file ``arrays/N.npy`` for each array. A version of Occelo reads the files of all earlier versions.
"""

from __future__ import annotations

import io
import json
import os
from collections.abc import Sequence
from typing import IO, Any

import numpy as np

from occelo_graph.canonical.archive import reading, written
from occelo_graph.canonical.document import Numbering, document
from occelo_graph.canonical.encoding import (
    Arrays,
    GraphTable,
    decode,
    decode_value,
    encode_value,
    position_in,
)
from occelo_graph.canonical.names import Trust, trusting
from occelo_graph.errors import MissingInputError, SavedGraphError, describe, explained_by
from occelo_graph.frozen_dataclasses import frozen_dataclass
from occelo_graph.ir.graph_like import graph_parts
from occelo_graph.ir.nodes import Constant, Variable
from occelo_graph.ir.op import Op
from occelo_graph.ir.shared import SharedVariable, shared
from occelo_graph.ir.traversal import ancestors
from occelo_graph.ir.types import Type
from occelo_graph.provenance import Source

FORMAT_VERSION = 2


@frozen_dataclass
class SavedGraph:
    """A loaded graph: its inputs and outputs, in the order in which they were saved. TypeError if a field is missing."""

    inputs: list[Variable]
    outputs: list[Variable]


@explained_by("SavedGraphError")
def save(
    file: str | os.PathLike[str] | IO[bytes], outputs: Any, inputs: Sequence[Variable] = ()
) -> None:
    """Write the graph of ``outputs`` to a file, with its constants and the values of its shared variables.

    ``outputs`` is a variable, a sequence of variables, or a `FunctionGraph`. If ``inputs`` is given, it must list all
    roots that have no value; else `MissingInputError`. TypeError if an op or a value cannot be encoded. If there is an
    error, an existing file stays unchanged.
    """
    listed, inputs = graph_parts(
        outputs,
        inputs,
        "Only graphs are saved, without compiled code; pickle a function, or save its maker.fgraph",
    )
    _refuse_missing(listed, inputs)
    arrays = GraphTable()
    numbering = Numbering(inputs, listed)
    plain = document(inputs, listed, arrays, numbering)
    variables = numbering.variables
    plain["names"] = {i: v.name for i, v in enumerate(variables) if v.name is not None}
    plain["shared"] = {
        i: encode_value(v.type, v.get_value(borrow=True), arrays)
        for i, v in enumerate(variables)
        if isinstance(v, SharedVariable)
    }
    plain["graphs"] = arrays.rows
    places: dict[tuple[str, int, str], int] = {}
    rows: dict[int, int] = {}
    for number, variable in enumerate(variables):
        source = variable.source
        if source is not None:
            place = (source.filename, source.lineno, source.function)
            rows[number] = places.setdefault(place, len(places))
    plain["sources"] = {"places": list(places), "of": rows}
    plain = {"format": "occelo-graph", "version": FORMAT_VERSION, **plain}
    data = _archive(json.dumps(plain, indent=None, separators=(",", ":")), arrays)
    if isinstance(file, str | os.PathLike):
        temporary = f"{os.fspath(file)}.{os.getpid()}.tmp"
        try:
            with open(temporary, "wb") as stream:
                stream.write(data)
            os.replace(temporary, file)
        finally:
            if os.path.exists(temporary):
                os.unlink(temporary)
    else:
        file.write(data)


def _refuse_missing(outputs: Sequence[Variable], inputs: Sequence[Variable]) -> None:
    """`MissingInputError` for a root without a value that is not in ``inputs``. Empty ``inputs`` are not checked."""
    if not inputs:
        return
    for variable in ancestors(outputs, blockers=inputs):
        if (
            variable.owner is None
            and variable not in inputs
            and not isinstance(variable, Constant | SharedVariable)
        ):
            raise MissingInputError(f"The graph needs {describe(variable)}, which is no input")


def _archive(text: str, arrays: Arrays) -> bytes:
    members = {"graph.json": text.encode()}
    for position, array in enumerate(arrays):
        member = io.BytesIO()
        np.lib.format.write_array(member, np.asarray(array), allow_pickle=False)
        members[f"arrays/{position}.npy"] = member.getvalue()
    return written(members)


@explained_by("SavedGraphError")
def load(file: str | os.PathLike[str] | IO[bytes], trust: Trust = False) -> SavedGraph:
    """Read a graph that `save` wrote, from a path or a stream.

    `SavedGraphError` for every file that is damaged, hostile, or of a later version. The message names the file and
    ends with the cause. OSError if the file cannot be opened; TypeError if ``trust`` is a string.

    A file from anywhere may be loaded, as far as Occelo's own classes go:

    - A file contains no code. Loading takes at most a small multiple of the memory of the file.
    - A file names classes. Loading makes objects of them with parameters from the file. These can only be subclasses of
      `Op` and `Type`, scalar ops, and classes with a coder (`register_coder`). They must be imported; only modules of
      `occelo_graph` are imported when they are named.
    - A file names derivatives of an `OpFromGraph` and exceptions of a `CheckAndRaise`. They are called when the graph is
      differentiated or evaluated. They can only be what is registered with `register_loadable`; static functions and
      exceptions in the body of a class of ops; and exceptions of Python, NumPy and Occelo.

    Not safe is a file from anywhere in a program with classes of these kinds whose code does harm with some parameters,
    such as an op that writes to a file that a parameter names. Nor does loading limit what a graph computes: evaluating
    it may take any time and memory.

    ``trust`` is a collection of further functions and exceptions that the file may name, such as
    ``["my_module:my_pullback"]``. With True it may name any object of the imported modules, so the file can run any
    code: only for files from people whom you trust.
    """
    with trusting(trust), reading(file, "a saved graph") as archive:
        plain = archive.json("graph.json")
        version = plain.get("version")
        if plain.get("format") != "occelo-graph" or type(version) is not int:
            raise SavedGraphError("graph.json is none of a saved graph")
        if version > FORMAT_VERSION:
            raise SavedGraphError(
                f"it has format version {version}; this version reads up to {FORMAT_VERSION}"
            )
        arrays = GraphTable(
            [archive.array(f"arrays/{position}.npy") for position in range(len(archive.names) - 1)]
        )
        return _rebuild(plain, arrays)


def _root(row: list[Any], types: list[Any], plain: dict[str, Any], arrays: Arrays) -> Variable:
    number, type_position, kind, *data = row
    type_ = types[position_in(type_position, types)]
    if kind == "constant":
        constant: Variable = type_.make_constant(decode_value(type_, data[0], arrays))
        return constant
    if kind == "shared":
        value = decode_value(type_, plain["shared"][str(number)], arrays)
        prototype = shared(value)
        variable: Variable = type(prototype)(type=type_, value=value, strict=False)
        return variable
    if kind not in ("input", "root", "nominal"):
        raise SavedGraphError(f"There are no roots of kind {kind!r}")
    root: Variable = type_.make_variable()
    return root


class _Numbered(dict[int, Variable]):
    """The variables of a file by their numbers. Each number is defined once."""

    def __setitem__(self, number: int, variable: Variable) -> None:
        if type(number) is not int or number in self:
            raise SavedGraphError(f"The number {number!r} is no new number of a variable")
        super().__setitem__(number, variable)

    def __missing__(self, number: object) -> Variable:
        raise SavedGraphError(f"There is no variable {number!r} yet")


def _rebuild(plain: dict[str, Any], arrays: GraphTable) -> SavedGraph:
    for row in plain.get("graphs", ()):  # files of version 1 have none
        arrays.graphs.append(decode(row, arrays))
    types = [decode(row, arrays) for row in plain["types"]]
    ops = [decode(row, arrays) for row in plain["ops"]]
    for kind, parts in ((Type, types), (Op, ops)):
        if not all(isinstance(part, kind) for part in parts):
            raise SavedGraphError(f"A value in the list of {kind.__name__}s is none")
    variables = _Numbered()
    for row in plain["roots"]:
        variables[row[0]] = _root(row, types, plain, arrays)
    for op_position, ins, outs, out_types in plain["nodes"]:
        node = ops[position_in(op_position, ops)].make_node(*(variables[i] for i in ins))
        for number, variable, expected in zip(outs, node.outputs, out_types, strict=True):
            if variable.type != types[position_in(expected, types)]:
                raise SavedGraphError(
                    f"{node.op} now gives {variable.type} where the file says {types[expected]}"
                )
            variables[number] = variable
    for number, name in plain["names"].items():
        variable = variables[int(number)]
        if not isinstance(name, str):
            raise SavedGraphError(f"The name of the variable {number} is no text")
        if variable.name is None:
            variable.name = name
    places = [_source(*place) for place in plain["sources"]["places"]]
    for number, place in plain["sources"]["of"].items():
        variables[int(number)].set_mark(places[position_in(place, places)])
    inputs = [variables[i] for i in plain["inputs"]]
    outputs = [variables[i] for i in plain["outputs"]]
    _refuse_missing(outputs, inputs)
    return SavedGraph(inputs, outputs)


def _source(filename: object, line: object, function: object) -> Source:
    if not (isinstance(filename, str) and type(line) is int and isinstance(function, str)):
        raise SavedGraphError("A source line is no file, number and function")
    return Source(filename, line, function)
