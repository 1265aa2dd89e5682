"""`save` and `load`: write graphs to files and read them, in a versioned format without pickle.

Users call `occelo.save` and `occelo.load`. Dumps of functions (`occelo_compile.dumping`) contain such a file.

A file is a zip archive. It contains ``graph.json``, with the canonical document, names and source lines, and a file
``arrays/N.npy`` for each array. A version of Occelo reads the files of all earlier versions. Loading never runs code
from the file.
"""

from __future__ import annotations

import io
import json
import os
from collections.abc import Sequence
from typing import IO, Any

import numpy as np

from occelo_graph.canonical.document import Numbering, document
from occelo_graph.canonical.encoding import Arrays, decode, decode_value, encode_value
from occelo_graph.errors import MissingInputError, SavedGraphError, describe
from occelo_graph.frozen_dataclasses import frozen_dataclass
from occelo_graph.ir.graph_like import graph_parts
from occelo_graph.ir.nodes import Constant, Variable
from occelo_graph.ir.shared import SharedVariable, shared
from occelo_graph.ir.traversal import ancestors
from occelo_graph.provenance import Source

__all__ = ["FORMAT_VERSION", "SavedGraph", "load", "save"]

FORMAT_VERSION = 1
_EPOCH = (1980, 1, 1, 0, 0, 0)


@frozen_dataclass
class SavedGraph:
    """A loaded graph: its inputs and outputs, in the order in which they were saved."""

    inputs: list[Variable]
    outputs: list[Variable]


def save(
    file: str | os.PathLike[str] | IO[bytes],
    outputs: Any,
    inputs: Sequence[Variable] = (),
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
    arrays: Arrays = []
    numbering = Numbering(inputs, listed)
    plain = document(inputs, listed, arrays, numbering)
    variables = numbering.variables
    plain["names"] = {i: v.name for i, v in enumerate(variables) if v.name is not None}
    plain["shared"] = {
        i: encode_value(v.type, v.get_value(borrow=True), arrays)
        for i, v in enumerate(variables)
        if isinstance(v, SharedVariable)
    }
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
    import zipfile  # here, since only saving and loading need it

    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(zipfile.ZipInfo("graph.json", _EPOCH), text)
        for position, array in enumerate(arrays):
            member = io.BytesIO()
            np.lib.format.write_array(member, np.asarray(array), allow_pickle=False)
            archive.writestr(zipfile.ZipInfo(f"arrays/{position}.npy", _EPOCH), member.getvalue())
    return buffer.getvalue()


def load(file: str | os.PathLike[str] | IO[bytes]) -> SavedGraph:
    """Read a graph that `save` wrote. `SavedGraphError` if the file does not contain such a graph."""
    import struct
    import zipfile
    import zlib

    damage = (
        zipfile.BadZipFile, zlib.error, struct.error, KeyError, json.JSONDecodeError, ValueError,
        EOFError, NotImplementedError, RuntimeError,
    )  # fmt: skip
    try:
        with zipfile.ZipFile(file) as archive:
            plain: dict[str, Any] = json.loads(archive.read("graph.json"))
            arrays: Arrays = []
            for position in range(len(archive.namelist()) - 1):
                member = io.BytesIO(archive.read(f"arrays/{position}.npy"))
                arrays.append(np.lib.format.read_array(member, allow_pickle=False))
    except damage as error:
        raise SavedGraphError(f"{file} does not hold a saved graph: {error}") from None
    if plain.get("format") != "occelo-graph" or not isinstance(plain.get("version"), int):
        raise SavedGraphError(f"{file} does not hold a saved graph")
    if plain["version"] > FORMAT_VERSION:
        raise SavedGraphError(
            f"{file} has format version {plain['version']}; this version reads up to {FORMAT_VERSION}"
        )
    try:
        return _rebuild(plain, arrays)
    except (KeyError, IndexError, TypeError, AttributeError) as error:
        raise SavedGraphError(f"{file} is damaged: {type(error).__name__}: {error}") from error


def _root(row: list[Any], types: list[Any], plain: dict[str, Any], arrays: Arrays) -> Variable:
    number, type_position, kind, *data = row
    type_ = types[type_position]
    if kind == "constant":
        constant: Variable = type_.make_constant(decode_value(type_, data[0], arrays))
        return constant
    if kind == "shared":
        value = decode_value(type_, plain["shared"][str(number)], arrays)
        made = shared(value)
        variable: Variable = type(made)(type=type_, value=value, strict=False)
        return variable
    root: Variable = type_.make_variable()
    return root


def _rebuild(plain: dict[str, Any], arrays: Arrays) -> SavedGraph:
    types = [decode(row, arrays) for row in plain["types"]]
    ops = [decode(row, arrays) for row in plain["ops"]]
    variables: dict[int, Variable] = {
        row[0]: _root(row, types, plain, arrays) for row in plain["roots"]
    }
    for op_position, ins, outs, out_types in plain["nodes"]:
        node = ops[op_position].make_node(*(variables[i] for i in ins))
        for number, variable, expected in zip(outs, node.outputs, out_types, strict=True):
            if variable.type != types[expected]:
                raise SavedGraphError(
                    f"{node.op} now gives {variable.type} where the file says {types[expected]}"
                )
            variables[number] = variable
    for number, name in plain["names"].items():
        variable = variables[int(number)]
        if variable.name is None:
            variable.name = name
    places = plain["sources"]["places"]
    for number, place in plain["sources"]["of"].items():
        variables[int(number)].set_mark(Source(*places[place]))
    return SavedGraph(
        [variables[i] for i in plain["inputs"]], [variables[i] for i in plain["outputs"]]
    )
