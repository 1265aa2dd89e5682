"""`save_function` writes a compiled function to a file that needs no compiler: machine code, constants and a signature."""

from __future__ import annotations

import hashlib
import io
import json
import os
import sys
from pathlib import Path
from typing import Any

import numpy as np

from occelo_export.saved.file_format import KIND, LEVELS, READERS, SERVICES, SYSTEM, VERSION
from occelo_graph.canonical.archive import written
from occelo_graph.errors import describe, explained_by
from occelo_graph.ir.container import local
from occelo_link.blocks.vm import prepared
from occelo_link.cache.objects import object_code
from occelo_link.linker import check_compiled
from occelo_link.loops.build import lower_graph
from occelo_link.machine.elf_image import Image, image_of
from occelo_link.machine.processor import host_target
from occelo_link.machine.symbol_addresses import blas_library
from occelo_link.native.linker import optimization_level
from occelo_link.native.llvm import print_llvm
from occelo_link.standalone import services
from occelo_link.standalone.context import CODES
from occelo_link.standalone.forms import FORMS, Layout
from occelo_link.standalone.layouts import layout_of
from occelo_link.standalone.selection import NeedsPython, meaning, whole_part
from occelo_link.units.engine import compile_module


@explained_by("exporting")
def save_function(
    function: Any, file: str | os.PathLike[str], *, processor: str = "x86-64-v3"
) -> None:
    """Write a compiled function to a file, which `load_function` runs without a compiler.

    The file holds machine code, the constants, the values of shared variables, and the signature. ``processor`` is the
    level of processors that can run it: "x86-64", "x86-64-v2", "x86-64-v3" (with AVX2; most of those since 2015),
    "x86-64-v4" (with AVX-512), or "host" for all that this processor has. An existing file is replaced.

    Raises ValueError for an unknown ``processor``. Raises TypeError if the mode is neither ``native`` nor ``c``, if a
    node runs in Python (the message names it), if a value is not an array, if arguments or results are nested trees, and
    on systems other than Linux on x86-64. Raises OSError if the file cannot be written.
    """
    check_compiled(function, "save_function")
    triple = host_target()[0]
    if sys.platform != "linux" or not triple.startswith("x86_64"):
        raise TypeError(f"Saved functions are for Linux on x86-64 only, and this is {triple}")
    if function.maker.nested is not None:
        raise TypeError(
            f"{function} takes or returns nested trees; saved functions take arrays, and return an array, a list "
            "or a dict of arrays"
        )
    data = _Parts(function, _features(processor)).archive()
    target = Path(file)
    temporary = target.with_name(f"{target.name}.{os.getpid()}.tmp")
    try:
        temporary.write_bytes(data)
        temporary.replace(target)
    finally:
        temporary.unlink(missing_ok=True)


def _features(processor: str) -> list[str]:
    """The features that the code may use. Only those of some level, since readers must know how to ask for them."""
    if processor == "host":
        there = {each[1:] for each in host_target()[2].split(",") if each[:1] == "+"}
        return sorted(there.intersection(LEVELS["x86-64-v4"].split()))
    if processor not in LEVELS:
        raise ValueError(f"processor is one of {', '.join(LEVELS)} and host, not {processor!r}")
    return LEVELS[processor].split()


class _Parts:
    """The parts of the file of a function."""

    def __init__(self, function: Any, features: list[str]) -> None:
        self.function = function
        self.features = features
        self.arrays: list[Any] = []
        part = whole_part(function)
        self.program = lower_graph(
            part.inputs,
            part.outputs,
            part.nodes,
            blas_integer=blas_library().integer,
            callbacks=True,
            states=part.states,
        )
        if self.program.callbacks:
            node = self.program.callbacks[0][-1]
            output = describe(node.outputs[0])
            raise NeedsPython(
                f"A saved function calls no Python, and the op {node.op} of {output} runs in it"
            )
        for entry in self.program.table:
            module, dot, _ = entry.partition(":")[0].partition(".")
            if dot:
                raise NeedsPython(
                    f"A saved function runs without Occelo, and this one calls {entry}, which belongs to {module}"
                )
        inputs = [function.maker.fgraph.inputs.index(v) for v in part.inputs]
        self.layout: Layout = layout_of(function, inputs)

    def image(self) -> Image:
        features = ",".join(f"+{each}" for each in self.features)
        unit = print_llvm(self.program, threads=False, features=features)
        shared = Path(services.__file__).with_name("services.ll").read_text(encoding="utf-8")
        texts = {"unit:": unit, "call:": FORMS["arrays"](self.layout).text, "run:": shared}

        def compiled(text: str) -> bytes:
            level = optimization_level(self.program, text)
            key = f"saved {features} {level}\n{text}"
            return object_code(key, lambda: compile_module(text, "x86-64", features, level))

        return image_of({prefix: compiled(text) for prefix, text in texts.items()})

    def keep(self, value: Any) -> int:
        """Put an array into the file. Returns its number."""
        self.arrays.append(np.ascontiguousarray(value))
        return len(self.arrays) - 1

    def value(self, position: int) -> int:
        """Put the value of an input of the graph into the file."""
        stored = local(self.function.input_storage[position].storage[0])
        return self.keep(prepared(np.asarray(stored)))

    def arguments(self) -> list[dict[str, Any]]:
        rows: list[dict[str, Any]] = []
        for each, name in zip(self.layout.arguments, self.names(), strict=True):
            row: dict[str, Any] = {"name": name, "dtype": each.dtype}
            row |= {"shape": list(each.shape), "role": each.role, "by value": each.by_value}
            if each.role == "state":
                row["value"] = self.value(each.source)
            elif each.role == "input" and not self.function.defaults[each.source][0]:
                row["value"] = self.value(each.source)
            rows.append(row)
        return rows

    def names(self) -> list[str]:
        """The names of the arguments: the user's, or those that C has if there is none, or one of the same role has it."""
        function, keys = self.function, self.function.output_keys
        names: list[str] = []
        taken: set[tuple[str, str]] = set()
        for each in self.layout.arguments:
            if each.role == "output":
                own = keys[each.result] if keys else function.outputs[each.result].variable.name
            else:
                its = function.indices[each.source][0]
                own = its.name or its.variable.name
            name = own or each.name
            while (each.role, name) in taken:
                name = f"{name}_"
            taken.add((each.role, name))
            names.append(name)
        return names

    def header(self, image: Image) -> dict[str, Any]:
        function, program = self.function, self.program
        slots = sorted(program.table, key=program.table.__getitem__)
        names = [function.indices[i][0].variable.name for i in self.layout.data]
        return {
            "format": KIND,
            "version": VERSION,
            "readers": READERS,
            "name": function.name,
            "system": SYSTEM,
            "features": self.features,
            "arguments": self.arguments(),
            "returns": _returns(function),
            "data": [[n, self.value(i)] for n, i in zip(names, self.layout.data, strict=True)],
            "errors": {
                **{str(code): text for code, text in CODES.items()},
                **{str(k + 1): meaning(node) for k, node in enumerate(program.sites)},
            },
            "table": slots,
            "constants": [self.keep(c) for c in program.constants],
            "blas integers": blas_library().integer,
            "functions": {
                "unit": image.symbols["unit:unit"],
                "start": image.symbols["call:start"],
                "call": image.symbols["call:call"],
                "run": image.symbols["run:run"],
                "services": [image.symbols[f"run:{name}"] for name in SERVICES],
            },
            "imports": image.imports,
            "writable bytes": image.writable,
            "digest": hashlib.sha256(image.code).hexdigest(),
        }

    def archive(self) -> bytes:
        image = self.image()
        header = json.dumps(self.header(image), indent=1)
        members = {"function.json": header.encode(), "code": image.code}
        for number, array in enumerate(self.arrays):
            member = io.BytesIO()
            np.lib.format.write_array(member, array, allow_pickle=False)
            members[f"arrays/{number}.npy"] = member.getvalue()
        return written(members)


def _returns(function: Any) -> Any:
    """What a call returns: "one" array, "nothing", a "list", or the keys of a dict."""
    if function.return_none:
        return "nothing"
    if function.output_keys is not None:
        return list(function.output_keys)
    return "one" if function.unpack_single else "list"
