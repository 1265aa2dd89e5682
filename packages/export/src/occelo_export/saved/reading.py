"""`load_function` reads a saved function, and `SavedFunction` calls it. They need NumPy, and no compiler.

Nothing of a file is unpickled or evaluated as Python; it holds JSON, arrays, and machine code that a call runs.
"""

from __future__ import annotations

import ctypes
import hashlib
import math
import os
import platform
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from occelo_export.saved.file_format import (
    CTX_DATA,
    CTX_FREE,
    CTX_MALLOC,
    CTX_TABLE,
    CTX_UNIT,
    KEYS,
    KIND,
    NO_ROOM,
    OLDEST,
    SYSTEM,
    VERSION,
    WORDS_OF_LINUX,
)
from occelo_export.saved.libraries import address_of, of_c_library
from occelo_export.saved.memory import Code
from occelo_graph.canonical.archive import Archive, reading
from occelo_graph.errors import SavedGraphError, explained_by
from occelo_graph.frozen_dataclasses import frozen_dataclass

_START = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)


@frozen_dataclass(eq=False)
class SavedArgument:
    """An argument, a result or a state of a saved function. A length of ``shape`` is None if calls decide it."""

    name: str
    dtype: str
    shape: tuple[int | None, ...]
    role: str
    by_value: bool
    default: Any = None

    @property
    def has_lengths(self) -> bool:
        """Whether C gets the address of the lengths."""
        return None in self.shape

    def accept(self, value: Any) -> Any:
        """The value as an array in C order. TypeError or ValueError if it does not have the type of the argument."""
        array = np.asarray(value)
        # what Python writes without a dtype may lose digits, as in calls of compiled functions
        casting = "safe" if isinstance(value, np.ndarray | np.generic) else "same_kind"
        if not np.can_cast(array.dtype, self.dtype, casting):
            raise TypeError(f"{self.name} has dtype {self.dtype}, and the value {array.dtype}")
        fits = array.ndim == len(self.shape) and all(
            n is None or n == m for n, m in zip(self.shape, array.shape, strict=True)
        )
        if not fits:
            raise ValueError(f"{self} cannot have a value of shape {array.shape}")
        return np.ascontiguousarray(array, self.dtype).reshape(array.shape)

    def __str__(self) -> str:
        lengths = ", ".join("?" if n is None else str(n) for n in self.shape)
        return f"{self.name}: {self.dtype} ({lengths})"


class SavedFunctionError(RuntimeError):
    """A check of a saved function failed, such as an index out of range. ``code`` is the code that C functions return."""

    def __init__(self, message: str, code: int) -> None:
        super().__init__(message)
        self.code = code


@explained_by("exporting")
def load_function(file: str | os.PathLike[str]) -> SavedFunction:
    """Read a function that `save_function` wrote. The process needs NumPy, and no compiler.

    Calls run the machine code of the file, as programs do: only load files from people whom you trust. Reading itself
    runs nothing of the file.

    `occelo_graph.errors.SavedGraphError` for a file that is damaged, of a version that this one does not read, or for
    another system or processor; the message ends with the cause. OSError if the file cannot be opened; TypeError
    if ``file`` is no path.
    """
    try:
        file = os.fspath(file)
    except TypeError:
        raise TypeError(f"load_function takes the path of a file, got {file!r}") from None
    with reading(file, "a saved function") as archive:
        header = _header(archive)
        arrays = [archive.array(f"arrays/{k}.npy") for k in range(len(archive.names) - 2)]
        code = archive.read("code")
        if hashlib.sha256(code).hexdigest() != header["digest"]:
            raise SavedGraphError("its code is damaged")
        arguments = [_argument(row, arrays) for row in header["arguments"]]
    _refuse_elsewhere(file, header)
    try:
        return SavedFunction(header, arguments, arrays, code)
    except (LookupError, TypeError, AttributeError) as error:  # parts that do not fit each other
        why = f"{type(error).__name__}: {error}"
        raise SavedGraphError(f"{file} cannot run here: {why}") from error


def _header(archive: Archive) -> dict[str, Any]:
    """The header of a file. SavedGraphError if this version cannot read it."""
    header = archive.json("function.json")
    version, readers = header.get("version"), header.get("readers")
    if header.get("format") != KIND or type(version) is not int or type(readers) is not int:
        raise SavedGraphError("function.json is none of a saved function")
    if readers > VERSION:
        raise SavedGraphError(
            f"it needs a reader of format version {readers}, and this one is of version {VERSION}; "
            "install a later occelo-export"
        )
    if version < OLDEST:
        raise SavedGraphError(
            f"it has format version {version}, and this reader reads from {OLDEST} on; save it again"
        )
    wrong = [key for key, kind in KEYS.items() if not isinstance(header.get(key), kind)]
    if wrong:
        raise SavedGraphError(f"function.json has no {wrong[0]!r}, or one of another kind")
    return header


def _refuse_elsewhere(file: str, header: dict[str, Any]) -> None:
    """SavedGraphError if the code is for another system or processor than this one."""
    if header["system"] != SYSTEM or sys.platform != "linux" or platform.machine() != "x86_64":
        here = f"{sys.platform} {platform.machine()}"
        raise SavedGraphError(
            f"{file} cannot run here: its code is for {header['system']}, and this is {here}"
        )
    lacking = sorted(set(header["features"]) - _features_here())
    if lacking:
        raise SavedGraphError(
            f"{file} cannot run here: this processor lacks {', '.join(lacking)}; save it for "
            "processor='x86-64'"
        )


def _features_here() -> set[str]:
    """The features of this processor, in LLVM's words."""
    text = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    line = next((x for x in text.splitlines() if x.startswith("flags")), "")
    flags = set(line.partition(":")[2].split())
    return flags | {ours for ours, theirs in WORDS_OF_LINUX.items() if theirs in flags}


class SavedFunction:
    """A function from a file. It is called as the function that was saved, by position or by name.

    ``name`` is the name of the function. ``arguments``, ``results`` and ``states`` are its signature. ``values`` are the
    values of the shared variables that calls only read, by name, and ``state_values`` those of the shared variables that
    calls update; the arrays may be written to. Several threads may call a function; calls that update states wait for
    each other.

    A call raises TypeError and ValueError for arguments that do not fit, and `SavedFunctionError` if a check fails.
    """

    def __init__(
        self,
        header: dict[str, Any],
        rows: Sequence[SavedArgument],
        arrays: Sequence[Any],
        code: bytes,
    ) -> None:
        self.name: str | None = header["name"]
        self._all = rows
        self.arguments = [each for each in rows if each.role == "input"]
        self.results = [each for each in rows if each.role == "output"]
        self.states = [each for each in rows if each.role == "state"]
        self.state_values: dict[str, Any] = {each.name: each.default for each in self.states}
        # "one", "nothing", "list" or the keys of a dict
        self._returns: str | list[str] = header["returns"]
        self._errors: dict[str, str] = header["errors"]
        self._lock = threading.Lock()
        self._lengths = {r.name: [0 if n is None else n for n in r.shape] for r in self.results}
        self._load(header, arrays, code)

    def _load(self, header: dict[str, Any], arrays: Sequence[Any], code: bytes) -> None:
        """Put the code into memory, and the addresses that it reads into its context and its table."""
        self._code = Code(code, header["writable bytes"], header["imports"])
        places, start = header["functions"], self._code.address
        constants = [arrays[k] for k in header["constants"]]
        table = [start + place for place in places["services"]]
        for name in header["table"]:
            if name.startswith("constant"):
                table.append(constants[int(name[8:])].ctypes.data)
            else:
                table.append(address_of(name, header["blas integers"]))
        data = [arrays[k] for _, k in header["data"]]
        self.values = {name: array for (name, _), array in zip(header["data"], data, strict=True)}
        context: Any = np.zeros(CTX_DATA + 2 * len(data), np.int64)
        lengths: list[Any] = [np.array(a.shape or (0,), np.int64) for a in data]
        addresses: Any = np.array(table, np.int64)
        context[CTX_UNIT], context[CTX_TABLE] = start + places["unit"], addresses.ctypes.data
        context[CTX_MALLOC], context[CTX_FREE] = of_c_library("malloc"), of_c_library("free")
        for k, (array, its) in enumerate(zip(data, lengths, strict=True)):
            at = CTX_DATA + 2 * k
            context[at : at + 2] = array.ctypes.data, its.ctypes.data
        self._kept = constants, data, lengths, addresses, context
        _START(start + places["start"])(start + places["run"], context.ctypes.data)
        types = [t for each in self._all for t in _c_types(each)]
        self._call: Any = ctypes.CFUNCTYPE(ctypes.c_int64, *types, ctypes.c_void_p)(
            start + places["call"]
        )

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        arguments = self._match(args, kwargs)
        if self.states:
            with self._lock:
                results = self._run(arguments)
        else:
            results = self._run(arguments)
        if self._returns == "nothing":
            return []
        if isinstance(self._returns, str):
            return results[0] if self._returns == "one" else results
        return dict(zip(self._returns, results, strict=True))

    def _match(self, args: Sequence[Any], kwargs: dict[str, Any]) -> dict[str, Any]:
        """The arrays of the arguments by name."""
        names = [each.name for each in self.arguments]
        if len(args) > len(names):
            raise TypeError(f"{self} takes {len(names)} arguments, got {len(args)}")
        by_name = dict(zip(names, args, strict=False))
        for name, value in kwargs.items():
            if name not in names:
                raise TypeError(f"{self} has no argument named {name!r}")
            if name in by_name:
                raise TypeError(f"{self} got its argument {name!r} twice")
            by_name[name] = value
        for each in self.arguments:
            if each.name not in by_name and each.default is None:
                raise TypeError(f"{self} is missing its argument {each}")
        return {
            each.name: each.accept(by_name[each.name]) if each.name in by_name else each.default
            for each in self.arguments
        }

    def _run(self, given: dict[str, Any]) -> list[Any]:
        """Call the machine code, with more room for results if they had too little."""
        while True:
            results = {r.name: np.empty(self._lengths[r.name], r.dtype) for r in self.results}
            by_role = {"input": given, "output": results, "state": self.state_values}
            values: list[Any] = []
            # of results and states, the lengths of the room; a call replaces them by those of the result
            lengths: dict[tuple[str, str], Any] = {}
            for each in self._all:
                array = by_role[each.role][each.name]
                values.append(array.item() if each.by_value else array.ctypes.data)
                if each.has_lengths:
                    its: Any = np.array(array.shape, np.int64)
                    lengths[each.role, each.name] = its
                    values.append(its.ctypes.data)
            code = self._call(*values, None)
            needed: dict[tuple[str, str], list[int]] = {k: n.tolist() for k, n in lengths.items()}
            short = False
            for (role, name), shape in needed.items():
                if role == "output":
                    short |= math.prod(shape) > results[name].size
                    self._lengths[name] = shape
            if code == NO_ROOM and short:
                continue
            if code:
                raise SavedFunctionError(f"{self}: {self._errors.get(str(code), code)}", code)
            for (role, name), shape in needed.items():
                arrays = by_role[role]
                if role != "input" and list(arrays[name].shape) != shape:
                    arrays[name] = arrays[name].reshape(-1)[: math.prod(shape)].reshape(shape)
            return list(results.values())

    def __str__(self) -> str:
        return f"The saved function {self.name!r}" if self.name else "The saved function"

    def __repr__(self) -> str:
        return f"<SavedFunction {self.name or ''}({', '.join(map(str, self.arguments))})>"


def _argument(row: dict[str, Any], arrays: Sequence[Any]) -> SavedArgument:
    default = arrays[row["value"]] if "value" in row else None
    shape = tuple(row["shape"])
    return SavedArgument(row["name"], row["dtype"], shape, row["role"], row["by value"], default)


def _c_types(each: SavedArgument) -> list[Any]:
    if each.by_value:
        kind: Any = (
            ctypes.c_bool if each.dtype == "bool" else np.ctypeslib.as_ctypes_type(each.dtype)
        )
        return [kind]
    return [ctypes.c_void_p] * (1 + each.has_lengths)
