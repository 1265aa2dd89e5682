"""Writes and reads files with the arguments of `function`, for reproducing a compilation elsewhere.

`function_dump` writes such a file, `load_dump` reads it, and the command ``occelo dump`` shows and runs it.

There are two formats. ``"pickle"`` is a pickle of the keyword arguments. ``"safe"`` is an archive of the saved graph
and a JSON description of the arguments. Loading a file in the format "safe" runs no code of the file.
"""

from __future__ import annotations

import io
import json
import os
import pickle
import zipfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeGuard

import numpy as np

from occelo_compile.mode import Mode
from occelo_compile.strip_pickler import StripPickler
from occelo_compile.symbolic_io import In, Out, SymbolicInput, SymbolicOutput
from occelo_graph import (
    Constant,
    Container,
    SavedGraphError,
    SharedVariable,
    Variable,
    load,
    save,
)
from occelo_graph.canonical.archive import reading, written
from occelo_graph.canonical.encoding import position_in
from occelo_graph.canonical.names import Trust
from occelo_graph.errors import explained_by
from occelo_graph.tensor import as_tensor_variable
from occelo_link import make_linker
from occelo_rewrite import RewriteDatabaseQuery

FORMATS = ("pickle", "safe")
_VERSION = 1
_FLAGS = ("name", "mutable", "strict", "allow_downcast", "implicit", "borrow", "shared")


def dump_arguments(
    filename: str | os.PathLike[str],
    arguments: dict[str, Any],
    extra_tag_to_remove: Sequence[str],
    format: str,
) -> None:
    """Write the file for `function_dump`. If writing fails, an existing file stays unchanged.

    Raises ValueError for an unknown ``format``.
    """
    if format not in FORMATS:
        raise ValueError(f"The format of a dump is {' or '.join(FORMATS)}, not {format!r}")
    if format == "safe":
        data = _safe(arguments)
    else:
        buffer = io.BytesIO()
        StripPickler(buffer, extra_tag_to_remove).dump_arguments(arguments, _variables(arguments))
        data = buffer.getvalue()
    temporary = Path(f"{os.fspath(filename)}.{os.getpid()}.tmp")
    try:
        temporary.write_bytes(data)
        temporary.replace(filename)
    finally:
        temporary.unlink(missing_ok=True)


def is_pickle(filename: str | os.PathLike[str]) -> bool:
    """Whether a dump has the format "pickle". Loading such a file may run any code."""
    with open(
        filename, "rb"
    ) as stream:  # `is_zipfile` of a path is False for a file that is missing
        return not zipfile.is_zipfile(stream)


@explained_by("SavedGraphError")
def load_dump(filename: str | os.PathLike[str], trust: Trust = False) -> dict[str, Any]:
    """Return the arguments of `function` that the dump ``filename`` contains.

    A pickle is loaded only if ``trust`` is True, since loading it may run any code; otherwise SavedGraphError is raised. A
    dump in the format "safe" is as safe as a saved graph; see `load` for that and for other values of ``trust``.
    Raises `SavedGraphError` if the file is not a dump, and OSError if it cannot be opened.
    """
    if is_pickle(filename):
        if trust is not True:
            raise SavedGraphError(
                f"{filename} is a pickle, or no dump at all: loading a pickle can run any code, so pass "
                "trust=True if you trust it"
            )
        with open(filename, "rb") as stream:
            content: object = pickle.load(stream)
        if not _is_object(content) or "inputs" not in content:
            raise SavedGraphError(f"{filename} does not hold the arguments of a function")
        return content
    with reading(filename, "a dump") as archive:
        plain = archive.json("function.json")
        if plain.get("format") != "occelo-function" or type(plain.get("version")) is not int:
            raise SavedGraphError("function.json is none of a dump")
        if plain["version"] > _VERSION:
            raise SavedGraphError("it is of a later version than this one reads")
        variables = load(io.BytesIO(archive.read("graph.zip")), trust).outputs
        return {k: _decode(v, variables) for k, v in plain["arguments"].items()}


def _variables(arguments: dict[str, Any]) -> list[Variable]:
    """Return the variables in the arguments, at any depth."""
    variables: dict[Variable, None] = {}

    def note(variable: Variable) -> int:
        variables[variable] = None
        return 0

    for value in arguments.values():
        with suppress(TypeError):  # a pickle may contain values that "safe" cannot
            _encode(value, note)
    for variable in list(variables):
        default = getattr(variable, "default_update", None)
        if default is not None:
            variables[default] = None
    return list(variables)


def _safe(arguments: dict[str, Any]) -> bytes:
    numbers: dict[Variable, int] = {}

    def number(variable: Variable) -> int:
        return numbers.setdefault(variable, len(numbers))

    plain = {
        "format": "occelo-function",
        "version": _VERSION,
        "arguments": {k: _encode(v, number) for k, v in arguments.items()},
    }
    graph = io.BytesIO()
    save(graph, list(numbers))
    text = json.dumps(plain, indent=1)
    return written({"function.json": text.encode(), "graph.zip": graph.getvalue()})


Numbers = Callable[[Variable], int]


def _is_object(value: object) -> TypeGuard[dict[str, Any]]:
    """Whether a value is a dict. The keys are not checked, since all dicts that are passed have strings as keys."""
    return isinstance(value, dict)


def _is_list(value: object) -> TypeGuard[Sequence[object]]:
    return isinstance(value, list | tuple)


def _is_mapping(value: object) -> TypeGuard[Mapping[object, object]]:
    return isinstance(value, Mapping)


def _encode(value: object, number: Numbers) -> Any:
    """Return an argument as a JSON value in which each variable is replaced by its number.

    Raises TypeError for a value that the format "safe" does not support.
    """
    if value is None or isinstance(value, bool | str | int):
        return value
    if isinstance(value, Variable):
        return {"variable": number(value)}
    if isinstance(value, SymbolicInput):
        return {"In": _encode_input(value, number)}
    if isinstance(value, SymbolicOutput):
        return {"Out": [number(value.variable), value.borrow]}
    if _is_list(value):
        return [_encode(v, number) for v in value]
    if _is_mapping(value):
        return {"dict": [[_encode(k, number), _encode(v, number)] for k, v in value.items()]}
    if isinstance(value, Mode):
        return {"Mode": _encode_mode(value)}
    if isinstance(value, np.ndarray | np.generic | float | complex):
        return {"array": number(as_tensor_variable(value))}
    raise TypeError(f"{value!r} has no safe form; dump it as a pickle")


def _encode_input(given: SymbolicInput, number: Numbers) -> dict[str, Any]:
    flags = {flag: getattr(given, flag) for flag in _FLAGS}
    value = given.value
    if isinstance(value, Container):
        holder = given.variable
        if not (isinstance(holder, SharedVariable) and holder.container is value):
            raise TypeError(f"The container of {given} has no safe form; dump it as a pickle")
    elif value is not None:
        value = _encode(np.asarray(value), number)
    return {
        "variable": number(given.variable),
        "update": None if given.update is None else number(given.update),
        "value": "container" if isinstance(value, Container) else value,
        **flags,
    }


def _encode_mode(mode: Mode) -> dict[str, Any]:
    query = mode.own_query
    if type(mode) is not Mode or not isinstance(query, RewriteDatabaseQuery):
        raise TypeError(f"The mode {mode} has no safe form; give its name, or dump it as a pickle")
    if query.subquery or query.extra_rewrites:
        raise TypeError(f"The mode {mode} has rewriters of its own; dump it as a pickle")
    if type(make_linker(mode.linker.name)) is not type(mode.linker):
        raise TypeError(f"The linker {mode.linker} has no safe form; dump it as a pickle")
    return {
        "linker": mode.linker.name,
        "name": mode.name,
        "include": sorted(query.include),
        "require": sorted(query.require),
        "exclude": sorted(query.exclude),
        "position_cutoff": repr(query.position_cutoff),
    }


def _decode(plain: object, variables: Sequence[Variable]) -> Any:
    if _is_list(plain):
        return [_decode(v, variables) for v in plain]
    if not _is_object(plain):
        return plain
    if len(plain) == 1:
        ((kind, content),) = plain.items()
        if kind in _DECODERS:
            return _DECODERS[kind](content, variables)
    raise SavedGraphError(f"Not an argument of a function: {sorted(plain)}")


def _decode_mode(parts: dict[str, Any]) -> Mode:
    query = RewriteDatabaseQuery(
        parts["include"],
        parts["require"],
        parts["exclude"],
        position_cutoff=float(parts["position_cutoff"]),
    )
    return Mode(parts["linker"], query, name=parts["name"])


def _array(variable: Variable) -> Any:
    if not isinstance(variable, Constant):
        raise SavedGraphError(f"The value of an argument is no constant: {variable}")
    return variable.data


def _decode_input(parts: dict[str, Any], variables: Sequence[Variable]) -> In:
    variable = variables[position_in(parts["variable"], variables)]
    value = parts["value"]
    if value == "container":
        value = getattr(variable, "container", None)
    elif value is not None:
        value = _decode(value, variables)
    update = parts["update"]
    flags = {flag: parts[flag] for flag in _FLAGS}
    for flag, setting in flags.items():
        if not (setting is None or isinstance(setting, str if flag == "name" else bool)):
            raise SavedGraphError(f"{setting!r} is no value of {flag}")
    return In(
        variable,
        value=value,
        update=None if update is None else variables[position_in(update, variables)],
        autoname=False,
        **flags,
    )


_DECODERS: dict[str, Callable[[Any, Sequence[Variable]], Any]] = {
    "variable": lambda position, variables: variables[position_in(position, variables)],
    "In": _decode_input,
    "Out": lambda given, variables: Out(
        variables[position_in(given[0], variables)], borrow=given[1]
    ),
    "dict": lambda items, variables: {
        _decode(k, variables): _decode(v, variables) for k, v in items
    },
    "Mode": lambda parts, variables: _decode_mode(parts),
    "array": lambda position, variables: _array(variables[position_in(position, variables)]),
}
"""For each kind of encoded value, the function that decodes it.

An encoded value is a dict with one key, its kind. The function gets the content and the variables of the graph.
"""
