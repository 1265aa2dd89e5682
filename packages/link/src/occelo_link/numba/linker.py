"""``numba``: each block as one function that Numba compiles."""

from __future__ import annotations

import ctypes
import hashlib
import linecache
import warnings
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from occelo_graph import Apply, FunctionGraph
from occelo_link.blocks.interface import UnitInterface
from occelo_link.blocks.linker import BlockLinker
from occelo_link.blocks.partition import Part
from occelo_link.blocks.vm import CompiledUnit, UnitFailure, prepared
from occelo_link.linker import VM, Scheduler, Storage, StorageMap
from occelo_link.loops.build import find_lowering
from occelo_link.loops.ir.program import Program
from occelo_link.native.addresses import address_of
from occelo_link.native.entry import NOTHING, SINGLE
from occelo_link.numba.library import numba
from occelo_link.numba.printer import External, print_numba
from occelo_link.numba.support import NAMESPACE
from occelo_link.quick import quick_call

__all__ = ["NumbaLinker", "NumbaUnit", "as_numba"]

_MOST_KEPT = 256
_kept: OrderedDict[str, Any] = OrderedDict()


def _c_type(dtype: str) -> Any:
    if dtype in ("pointer", "int64"):
        return ctypes.c_int64
    if dtype == "":
        return None
    named = {"float64": "double", "float32": "float", "bool": "bool"}
    return getattr(ctypes, f"c_{named.get(dtype, dtype)}")


def _callable(external: External, constants: Sequence[Any]) -> Any:
    entry, result, takes = external
    kind = ctypes.CFUNCTYPE(_c_type(result), *map(_c_type, takes))
    return kind(address_of(entry, constants))


def _compiled(program: Program) -> Any:
    """The dispatcher of a program; the same text gives the same one."""
    text, externals = print_numba(program)
    constants = [np.ascontiguousarray(c).reshape(-1) for c in program.constants]
    data = b"".join(c.tobytes() for c in constants if program.functions)
    key = hashlib.blake2b(text.encode() + repr(externals).encode() + data).hexdigest()
    found = _kept.get(key)
    if found is not None:
        _kept.move_to_end(key)
        return found
    name = f"<occelo numba {key[:16]}>"
    # so that Numba's messages, and debuggers, can show the text
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    namespace: dict[str, Any] = dict(NAMESPACE)
    namespace["njit"] = numba.njit(error_model="numpy")
    namespace.update({f"constant{i}": c for i, c in enumerate(constants)})
    namespace.update({made: _callable(e, program.constants) for e, made in externals.items()})
    exec(compile(text, name, "exec"), namespace)
    _kept[key] = numba.njit(error_model="numpy", nogil=True)(namespace["unit"])
    if len(_kept) > _MOST_KEPT:
        _kept.popitem(last=False)
    return _kept[key]


class NumbaUnit:
    """A block; calling it takes and returns arrays, and `dispatcher` is Numba's own function."""

    def __init__(self, program: Program, part: Part) -> None:
        self.program = program
        self.interface = UnitInterface.of(program, part)
        self.dispatcher = _compiled(program)
        self.constants = [np.ascontiguousarray(c).reshape(-1) for c in program.constants]

    def entry(
        self,
        kind: int,
        slow: Callable[..., Any],
        sources: Sequence[int | list[Any]],
        scalars: Sequence[bool],
        cells: Sequence[list[Any] | None],
    ) -> Callable[..., Any] | None:
        """A function that does a whole call; None for functions with updates, whose calls take turns."""
        if kind == NOTHING or any(cell is not None for cell in cells):
            return None
        dispatcher, constants = self.dispatcher, self.constants
        numbers = [s for s in sources if isinstance(s, int)]
        if sorted(numbers) != list(range(len(numbers))):
            return None
        of_argument = {s: k for k, s in enumerate(sources) if isinstance(s, int)}
        types = [self.interface.inputs[of_argument[n]] for n in range(len(numbers))]

        def run(*arrays: Any) -> Any:
            given = [arrays[s] if isinstance(s, int) else prepared(s[0]) for s in sources]
            found = dispatcher(*given, *constants)
            return None if found[0] else list(found[1:])

        return quick_call(types, run, kind == SINGLE, slow)

    def __call__(self, arrays: Sequence[Any]) -> list[Any]:
        status, *results = self.dispatcher(*arrays, *self.constants)
        if status:
            raise UnitFailure(int(status) - 1)
        return results  # type: ignore[no-any-return]


class NumbaLinker(BlockLinker):
    """``numba``: each block as one function of Numba's, with the same bits as ``native``.

    Ops without a loop lowering run in Python between the blocks, with one warning for each; under ``strict``
    they are a NotImplementedError.
    """

    name = "numba"

    def __init__(
        self,
        *,
        allow_gc: bool | None = None,
        scheduler: Scheduler | None = None,
        strict: bool = False,
    ) -> None:
        super().__init__(allow_gc=allow_gc, scheduler=scheduler)
        self.strict = strict

    def make_vm(
        self,
        fgraph: FunctionGraph,
        order: Sequence[Apply],
        storage_map: StorageMap,
        inputs: Sequence[Storage],
        outputs: Sequence[Storage],
    ) -> VM:
        for op in dict.fromkeys(n.op for n in order if find_lowering(n) is None):
            message = f"numba has no {op}: it runs in Python, between the compiled blocks"
            if self.strict:
                raise NotImplementedError(message)
            warnings.warn(message, stacklevel=2)
        return super().make_vm(fgraph, order, storage_map, inputs, outputs)

    def compile(self, program: Program, part: Part) -> CompiledUnit:
        return NumbaUnit(program, part)


def as_numba(function: Any) -> Callable[..., Any]:
    """A function compiled with the linker ``numba`` as an ``njit`` function that other such can call.

    It takes the function's arguments in order, as arrays in C order, and returns a tuple of the outputs;
    it raises ValueError where a check fails. Shared variables have the values that they have now, and
    nothing is updated. TypeError if the function is not one block of Numba's.
    """
    units = getattr(function.vm, "units", [])
    if len(units) != 1 or not isinstance(units[0], NumbaUnit):
        raise TypeError("The function is not one block compiled by Numba")
    unit: NumbaUnit = units[0]
    graph, part = function.maker.call_graph, function.vm.parts[0]
    explicit = [i for i, (each, _) in enumerate(function.indices) if not each.implicit]
    names = {graph.inputs[i]: f"a{k}" for k, i in enumerate(explicit)}
    namespace: dict[str, Any] = {"unit": unit.dispatcher}
    given: list[str] = []
    for k, variable in enumerate(part.inputs):
        if variable not in names:
            cell = function.input_storage[graph.inputs.index(variable)].storage
            namespace[f"shared{k}"] = np.ascontiguousarray(cell[0])
        given.append(names.get(variable, f"shared{k}"))
    for k, constant in enumerate(unit.constants):
        namespace[f"constant{k}"] = constant
        given.append(f"constant{k}")
    count = len(function.outputs)
    positions = [1 + part.outputs.index(v) for v in graph.outputs[:count]]
    listed = ", ".join(f"found[{p}]" for p in positions)
    text = (
        f"def call({', '.join(names[graph.inputs[i]] for i in explicit)}):\n"
        f"    found = unit({', '.join(given)})\n"
        "    if found[0] != 0:\n"
        "        raise ValueError('A check of a compiled function failed')\n"
        f"    return ({listed},)\n"
    )
    exec(text, namespace)
    made: Callable[..., Any] = numba.njit(namespace["call"])
    return made
