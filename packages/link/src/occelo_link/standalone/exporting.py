"""Writes a compiled function as a C library: sources, constants, a header, CMake's file and examples of calls.

`Function.export` of `occelo_compile` calls `export_function`. The unit is the C code of the linker ``c``, so the library
computes the same bits.
"""

from __future__ import annotations

import ctypes
import math
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np

from occelo_graph import Apply
from occelo_graph.errors import describe
from occelo_graph.ir.container import local
from occelo_link.blocks.vm import prepared
from occelo_link.c.source import print_c
from occelo_link.loops.build import lower_graph
from occelo_link.loops.ir.program import Invoke, Program, Value
from occelo_link.standalone.c_arrays import array_text
from occelo_link.standalone.c_runtime import own_name, runtime
from occelo_link.standalone.context import BAD_LENGTH, CODES, NO_ROOM
from occelo_link.standalone.example_calls import EXAMPLES
from occelo_link.standalone.forms import Layout
from occelo_link.standalone.layouts import layout_of
from occelo_link.standalone.selection import NeedsPython, meaning, whole_part
from occelo_link.standalone.signature import C_TYPES, Argument, Names
from occelo_link.units.frame import (
    ALLOC_OUTPUT,
    FIRST_INPUT,
    GROW,
    INPUT_SLOTS,
    POLL,
    SERVICES,
    TAKE,
)

Blas = Literal["lp64", "ilp64"]
_FLAGS = (
    "-O3",
    "-fwrapv",
    "-fno-strict-aliasing",
    "-ffp-contract=off",
    "-fno-math-errno",
    "-fno-trapping-math",
)


def export_function(
    function: Any,
    folder: Path,
    name: str | None = None,
    blas: Blas = "lp64",
    example: Sequence[Any] | None = None,
) -> list[Path]:
    """Write a compiled function to a folder as a C library. `Function.export` explains it."""
    chosen = Names()(name or function.name, "f")
    if _is_of_libraries(chosen):
        chosen = f"{chosen}_function"
    if blas not in ("lp64", "ilp64"):
        raise ValueError(f"blas is 'lp64' or 'ilp64', not {blas!r}")
    library = _Library(function, chosen, blas)
    values = library.example(example)
    folder.mkdir(parents=True, exist_ok=True)
    texts = {
        f"{chosen}.h": library.header(),
        f"{chosen}_constants.h": library.constants(),
        f"{chosen}.c": library.source(),
        "CMakeLists.txt": library.cmake(),
        **{
            file: write(chosen, library.layout.arguments, values)
            for file, write in EXAMPLES.items()
        },
    }
    for file, text in texts.items():
        (folder / file).write_text(text, encoding="utf-8")
    return [folder / file for file in texts]


class _Library:
    """The texts of a library. ``name`` is the name of its function, and the first part of all its other names."""

    def __init__(self, function: Any, name: str, blas: Blas) -> None:
        self.name = name
        self.function = function
        part = whole_part(function)
        self.program = lower_graph(
            part.inputs,
            part.outputs,
            part.nodes,
            blas_integer="int64" if blas == "ilp64" else "int32",
            callbacks=True,
            states=part.states,
        )
        _check_table(self.program)
        inputs = [function.maker.fgraph.inputs.index(v) for v in part.inputs]
        self.layout: Layout = layout_of(function, inputs, [name])
        names = Names()
        self.data: list[tuple[str, Any]] = []
        for position in self.layout.data:
            value = local(function.input_storage[position].storage[0])
            label = names(function.indices[position][0].variable.name, f"data_{len(self.data)}")
            self.data.append((label, prepared(np.asarray(value))))

    def example(self, given: Sequence[Any] | None) -> dict[str, Any]:
        """The values of the inputs and states in the examples. By default, inputs are ones, in three rows and columns.

        TypeError if there are not as many values as inputs, or if a value does not have the type of its input.
        """
        inputs = self.layout.with_role("input")
        if given is None:
            given = [np.ones([3 if n is None else n for n in e.shape], e.dtype) for e in inputs]
        if len(given) != len(inputs):
            raise TypeError(f"The examples need {len(inputs)} values, got {len(given)}")
        values = {
            each.name: self.function.indices[each.source][0].variable.type.accept(value)
            for each, value in zip(inputs, given, strict=True)
        }
        for each in self.layout.with_role("state"):
            values[each.name] = local(self.function.input_storage[each.source].storage[0])
        return {name: np.asarray(value) for name, value in values.items()}

    # the header

    @property
    def macro(self) -> str:
        """The start of the names of macros and of constants."""
        return self.name.upper()

    def prototype(self) -> str:
        """The declaration of the public function, without a semicolon."""
        declared = [text for each in self.layout.arguments for text in each.declarations()]
        listed = ",\n    ".join([*declared, f"const {self.name}_data *data"])
        return f"int64_t {self.name}(\n    {listed})"

    def codes(self) -> list[tuple[int, str, str]]:
        """The codes, each with the name of its constant and its meaning. Checks have no names."""
        named = {0: "OK", -1: "NO_MEMORY", BAD_LENGTH: "BAD_LENGTH", NO_ROOM: "NO_ROOM"}
        codes = [(code, f"{self.macro}_{named[code]}", text) for code, text in CODES.items()]
        for number, node in enumerate(self.program.sites):
            codes.append((number + 1, "", meaning(node)))
        return codes

    def header(self) -> str:
        rows = [
            f"   {code:4d}  {'(' + label + ') ' if label else ''}{_comment(text)}"
            for code, label, text in self.codes()
        ]
        named = [f"  {label} = {code}" for code, label, _ in self.codes() if label]
        fields = [line for label, array in self.data for line in _fields(label, array)] or [
            "  char unused;"
        ]
        shown = "\n".join(_described(each) for each in self.layout.arguments)
        guard = f"{self.macro}_H"
        return f"""\
/* {self.name}: a function that Occelo compiled. Any thread may call it, several at the same time.

   Arrays are in C order, and must not overlap. The arguments:

{shown}
   data             values of the shared variables; a null pointer stands for those at the time of the export

   Where lengths are an argument, they are the lengths of all dimensions. For an output they say, before the call, for how
   many elements there is memory (their product), and after it how long the result is. A state is read, and overwritten
   if the call succeeds.

   The function returns a code; after a failure the contents of outputs are undefined:

{chr(10).join(rows)}
*/
#ifndef {guard}
#define {guard}

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {{
#endif

enum {{
{("," + chr(10)).join(named)}
}};

/* the values of the shared variables; each array must stay where it is during calls */
typedef struct {{
{chr(10).join(fields)}
}} {self.name}_data;

/* the values at the time of the export */
extern const {self.name}_data {self.name}_default_data;

{self.prototype()};

/* the meaning of a code */
const char *{self.name}_message(int64_t code);

#ifdef __cplusplus
}}
#endif

#endif
"""

    # the constants

    def constant(self, number: int) -> str:
        """The name of a constant of the program."""
        return f"{self.name}_constant{number}_"

    def constants(self) -> str:
        lines = [f"/* The constants of {self.name}, and the values of its shared variables. */", ""]
        for k, array in enumerate(self.program.constants):
            lines.append(array_text(self.constant(k), np.asarray(array)))
        values: list[str] = []
        for k, (_, array) in enumerate(self.data):
            name = f"{self.name}_value{k}_"
            lines.append(array_text(name, array))
            values.append(name)
            if array.ndim:
                values.append(f"{{{', '.join(str(n) for n in array.shape)}}}")
        listed = ", ".join(values) or "0"
        lines += ["", f"const {self.name}_data {self.name}_default_data = {{{listed}}};", ""]
        return "\n".join(lines)

    # the source

    def source(self) -> str:
        unit = f"{self.name}_unit"
        services = {GROW: "grow", POLL: "poll", TAKE: "take", ALLOC_OUTPUT: "alloc_output"}
        slots = [f"(void *){own_name(self.name, services[slot])}" for slot in range(SERVICES)]
        slots += [self.entry(entry) for entry in self.program.table]
        table = f"static void *{own_name(self.name, 'table')}[{len(slots)}]"
        routines = [e.partition(":")[2] for e in self.program.table if _is_blas(e)]
        code = print_c([(unit, self.program)])
        return "\n".join(
            [
                f"/* {self.name}: see {self.name}.h. Written by Occelo. */",
                _PRAGMAS,
                "#include <math.h>",
                "#include <stdlib.h>",
                "#include <string.h>",
                "",
                f'#include "{self.name}.h"',
                f'#include "{self.name}_constants.h"',
                "",
                *([_BLAS] if routines else []),
                *(f"extern void BLAS({routine})(void);" for routine in routines),
                code.replace(f"\ni64 {unit}(", f"\nstatic i64 {unit}(", 1),
                f"{table};",
                "",
                runtime(self.name, unit, len(self.program.outputs)),
                f"{table} = {{",
                *(f"  {slot}," for slot in slots),
                "};",
                "",
                self.public_function(),
                self.message_function(),
            ]
        )

    def entry(self, name: str) -> str:
        """The address of an entry of the program's table, in C."""
        if name.startswith("constant"):
            return f"(void *){self.constant(int(name[8:]))}"
        function = name.partition(":")[2]
        return f"(void *)BLAS({function})" if _is_blas(name) else f"(void *){function}"

    def public_function(self) -> str:
        layout, lines = self.layout, list[str]()
        for each in layout.arguments:
            if each.role != "output" and each.has_lengths:
                checks = [
                    f"{each.name}_lengths[{k}] != {n}"
                    for k, n in enumerate(each.shape)
                    if n is not None
                ]
                if checks:
                    lines.append(f"  if ({' || '.join(checks)}) return {BAD_LENGTH};")
        slots = FIRST_INPUT + INPUT_SLOTS * len(layout.sources)
        lines += [
            f"  if (!data) data = &{self.name}_default_data;",
            f"  i64 frame[{slots}] = {{0}};",
            f"  {own_name(self.name, 'call_record')} call = {{.outputs = {len(layout.results)}}};",
        ]
        of_source = {each.source: each for each in layout.arguments if each.source >= 0}
        for position, source in enumerate(layout.sources):
            at = FIRST_INPUT + INPUT_SLOTS * position
            memory, lengths = self._input(of_source.get(source), source)
            if isinstance(lengths, list):
                listed = ", ".join(str(n) for n in lengths) or "0"
                lines.append(f"  static const i64 lengths{position}_[] = {{{listed}}};")
                lengths = f"lengths{position}_"
            lines.append(f"  frame[{at}] = (i64)(intptr_t){memory};")
            lines.append(f"  frame[{at + 1}] = (i64)(intptr_t){lengths};")
        kind = own_name(self.name, "output_record")
        of_result = {each.result: each for each in layout.arguments if each.result >= 0}
        for position, result in enumerate(layout.results):
            each = of_result[result]
            lengths = f"{each.name}_lengths" if each.has_lengths else "0"
            room = int(np.prod([n or 0 for n in each.shape], dtype=np.int64))
            size, later = np.dtype(each.dtype).itemsize, int(each.role == "state")
            record = f"{each.name}, {lengths}, {len(each.shape)}, {size}, {room}, {later}, 0"
            lines.append(f"  call.records[{position}] = ({kind}){{{record}}};")
        run = own_name(self.name, "run")
        return "\n".join(
            [f"{self.prototype()} {{", *lines, f"  return {run}(frame, &call);", "}", ""]
        )

    def _input(self, each: Argument | None, source: int) -> tuple[str, str | list[int]]:
        """The address of an input, and the address of its lengths, or its static lengths."""
        if each is None:
            label, array = self.data[self.layout.data.index(source)]
            return f"data->{label}", f"data->{label}_lengths" if array.ndim else []
        memory = f"&{each.name}" if each.by_value else each.name
        if each.has_lengths:
            return memory, f"{each.name}_lengths"
        return memory, [n for n in each.shape if n is not None]

    def message_function(self) -> str:
        cases = [f"    case {code}: return {_text(text)};" for code, _, text in self.codes()]
        return "\n".join(
            [
                f"const char *{self.name}_message(int64_t code) {{",
                "  switch (code) {",
                *cases,
                '    default: return "unknown code";',
                "  }",
                "}",
                "",
            ]
        )

    # building

    def cmake(self) -> str:
        blas = any(map(_is_blas, self.program.table))
        libraries = ["find_package(LAPACK REQUIRED)"] if blas else []
        linked = " ${LAPACK_LIBRARIES}" if blas else ""
        return "\n".join(
            [
                "cmake_minimum_required(VERSION 3.16)",
                f"project({self.name} C CXX)",
                "",
                f"add_library({self.name} {self.name}.c)",
                f"set_target_properties({self.name} PROPERTIES C_STANDARD 11 POSITION_INDEPENDENT_CODE ON)",
                f"target_include_directories({self.name} PUBLIC ${{CMAKE_CURRENT_SOURCE_DIR}})",
                "if(NOT MSVC)",
                f"  target_compile_options({self.name} PRIVATE {' '.join(_FLAGS)})",
                "endif()",
                *libraries,
                f"target_link_libraries({self.name} PUBLIC{linked} m)",
                "",
                "foreach(example example_c example_cpp)",
                "  if(example STREQUAL example_c)",
                "    add_executable(${example} EXCLUDE_FROM_ALL example.c)",
                "  else()",
                "    add_executable(${example} EXCLUDE_FROM_ALL example.cpp)",
                "  endif()",
                f"  target_link_libraries(${{example}} PRIVATE {self.name})",
                "endforeach()",
                "",
            ]
        )


_PRAGMAS = """\
/* The results depend on these options: integers wrap around, and no product and sum are rounded only once. */
#if defined(__clang__)
#pragma clang fp contract(off)
#elif defined(__GNUC__)
#pragma GCC optimize("wrapv", "no-strict-aliasing", "fp-contract=off")
#endif
"""
_BLAS = """\
/* the names of the routines of BLAS and LAPACK: define BLAS if they differ in your library */
#ifndef BLAS
#define BLAS(name) name##_
#endif
"""


def _is_of_libraries(name: str) -> bool:
    """Whether the C library or its mathematical library has a function of this name."""
    library = ctypes.CDLL(None) if sys.platform != "win32" else ctypes.CDLL("ucrtbase")
    return hasattr(library, name) or hasattr(math, name)


def _is_blas(entry: str) -> bool:
    return entry.startswith(("blas:", "lapack:"))


def _check_table(program: Program) -> None:
    """Raise `NeedsPython` if a program calls a function that the C library, BLAS and LAPACK do not have."""
    for entry in program.table:
        if entry.startswith(("constant", "libm:", "blas:", "lapack:")):
            continue
        node = _user_of(program, entry)
        where = "" if node is None else f" for {node.op} of {describe(node.outputs[0])}"
        source = "SciPy" if entry.startswith("special:") else "Python"
        raise NeedsPython(f"The function cannot be exported: it calls {entry} of {source}{where}")


def _user_of(program: Program, entry: str) -> Apply | None:
    bodies = [f.body for f in program.functions.values()]
    for block in (*program.blocks(), *bodies):
        for each in block:
            calls = isinstance(each, Value) and each.op == "call" and each.args[0] == entry
            if calls or (isinstance(each, Invoke) and each.entry == entry):
                return program.nodes[each.node] if each.node >= 0 else None
    return None


def _fields(label: str, array: Any) -> list[str]:
    kind = C_TYPES[array.dtype.name]
    lines = [f"  const {kind} *{label};"]
    return [*lines, f"  int64_t {label}_lengths[{array.ndim}];"] if array.ndim else lines


def _described(each: Argument) -> str:
    dims = "x".join("?" if n is None else str(n) for n in each.shape)
    what = f"{each.dtype} of shape {dims}" if each.shape else each.dtype
    return f"   {each.name:<16} {each.role}: {what}"


def _comment(text: str) -> str:
    return text.replace("*/", "* /").replace("/*", "/ *")


def _text(text: str) -> str:
    """A string literal in C."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", " ").replace("?", "\\?")
    return f'"{escaped}"'
