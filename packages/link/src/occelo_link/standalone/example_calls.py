"""Examples of calls of an exported function, in C, C++ and Julia.

Each of them passes the same values, asks for the lengths of the outputs if they are not static, and prints the results
in the same form. `exporting` writes them beside the library.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from occelo_graph.tensors.type import is_complex
from occelo_link.standalone.c_arrays import array_text, elements_of
from occelo_link.standalone.signature import C_TYPES, Argument

Values = Mapping[str, Any]
"""The value of each input and state, by the name of its argument."""
_JULIA = {"bool": "Bool", "float16": "UInt16", "complex64": "Float32", "complex128": "Float64"}


def _julia_type(dtype: str) -> str:
    return _JULIA.get(dtype) or dtype.capitalize().replace("Ui", "UI")


def _julia(value: Any) -> str:
    return repr(value).lower().replace("nan", "NaN").replace("inf", "Inf")


def _per_element(dtype: str) -> int:
    """How many C numbers an element consists of."""
    return 2 if is_complex(dtype) else 1


def _shown(dtype: str) -> tuple[str, str]:
    """The format for ``printf`` and the type to which an element is converted for it."""
    return ("%.17g", "double") if C_TYPES[dtype] in ("double", "float") else ("%lld", "long long")


def _static_count(each: Argument) -> int:
    return int(np.prod([n or 0 for n in each.shape], dtype=np.int64)) * _per_element(each.dtype)


def _lengths(name: str, lengths: Sequence[int], const: str = "") -> str:
    listed = ", ".join(str(n) for n in lengths)
    return f"  {const}int64_t {name}_lengths[] = {{{listed}}};"


def _given(each: Argument, value: Any) -> list[str]:
    """The declarations of an input or a state in C."""
    if each.by_value:
        return [f"  const {C_TYPES[each.dtype]} {each.name} = {elements_of(value)[0]};"]
    const = "const " if each.role == "input" else ""
    lines = ["  " + array_text(each.name, value, const)]
    return [*lines, _lengths(each.name, value.shape, const)] if each.has_lengths else lines


def _arguments(arguments: Sequence[Argument], null: str, cast: str = "{}") -> str:
    listed: list[str] = []
    for each in arguments:
        listed.append(
            cast.format(each.name) if each.role == "output" and each.has_lengths else each.name
        )
        if each.has_lengths:
            listed.append(f"{each.name}_lengths")
    return ", ".join([*listed, null])


def c_example(name: str, arguments: Sequence[Argument], values: Values) -> str:
    """The example in C."""
    lines: list[str] = []
    grown = [e for e in arguments if e.role == "output" and e.has_lengths]
    for each in arguments:
        if each.role != "output":
            lines += _given(each, values[each.name])
        elif each.has_lengths:
            lines.append(f"  {C_TYPES[each.dtype]} *{each.name} = 0;")
            lines.append(_lengths(each.name, [0] * len(each.shape)))
        else:
            lines.append(
                f"  static {C_TYPES[each.dtype]} {each.name}[{max(1, _static_count(each))}];"
            )
    lines.append("  int64_t code;")
    call = f"code = {name}({_arguments(arguments, '0')});"
    if grown:
        lines += ["  for (;;) {", f"    {call}", f"    if (code != {name.upper()}_NO_ROOM) break;"]
        for each in grown:
            count = f"{_per_element(each.dtype)} * count({each.name}_lengths, {len(each.shape)})"
            lines.append(
                f"    {each.name} = realloc({each.name}, sizeof *{each.name} * (size_t)({count} + 1));"
            )
            lines.append(f"    if (!{each.name}) return 1;")
        lines.append("  }")
    else:
        lines.append(f"  {call}")
    lines += [
        "  if (code) {",
        f'    fprintf(stderr, "%s\\n", {name}_message(code));',
        "    return 1;",
        "  }",
    ]
    for each in arguments:
        if each.role == "input":
            continue
        shown, kind = _shown(each.dtype)
        count = str(_static_count(each))
        if each.has_lengths:
            count = f"{_per_element(each.dtype)} * count({each.name}_lengths, {len(each.shape)})"
        lines += [
            f'  printf("{each.name}");',
            f'  for (int64_t i = 0; i < {count}; ++i) printf(" {shown}", ({kind}){each.name}[i]);',
            '  printf("\\n");',
        ]
    lines += [f"  free({each.name});" for each in grown]
    counting = _COUNT if any(e.has_lengths and e.role != "input" for e in arguments) else []
    return "\n".join(
        [
            f"/* Calls {name} once. */",
            "#include <stdio.h>",
            "#include <stdlib.h>",
            "",
            f'#include "{name}.h"',
            "",
            *counting,
            "int main(void) {",
            *lines,
            "  return 0;",
            "}",
            "",
        ]
    )


_COUNT = [
    "static int64_t count(const int64_t *lengths, int ndim) {",
    "  int64_t product = 1;",
    "  for (int i = 0; i < ndim; ++i) product *= lengths[i];",
    "  return product;",
    "}",
    "",
]


def cpp_example(name: str, arguments: Sequence[Argument], values: Values) -> str:
    """The example in C++."""
    lines: list[str] = []
    grown = [e for e in arguments if e.role == "output" and e.has_lengths]
    for each in arguments:
        if each.role != "output":
            lines += _given(each, values[each.name])
        elif each.has_lengths:
            # not of bool, since a vector of bool has no array
            lines.append(f"  std::unique_ptr<{C_TYPES[each.dtype]}[]> {each.name};")
            lines.append(_lengths(each.name, [0] * len(each.shape)))
        else:
            lines.append(f"  {C_TYPES[each.dtype]} {each.name}[{max(1, _static_count(each))}];")
    call = f"{name}({_arguments(arguments, 'nullptr', '{}.get()')})"
    lines.append(f"  int64_t code = {call};")
    if grown:
        lines.append(f"  while (code == {name.upper()}_NO_ROOM) {{")
        for each in grown:
            count = f"{_per_element(each.dtype)} * count({each.name}_lengths, {len(each.shape)})"
            lines.append(f"    {each.name}.reset(new {C_TYPES[each.dtype]}[{count} + 1]);")
        lines += [f"    code = {call};", "  }"]
    lines += [
        "  if (code) {",
        f"    std::cerr << {name}_message(code) << std::endl;",
        "    return 1;",
        "  }",
        "  std::cout.precision(17);",
    ]
    for each in arguments:
        if each.role == "input":
            continue
        _, kind = _shown(each.dtype)
        count = str(_static_count(each))
        if each.has_lengths:
            count = f"{_per_element(each.dtype)} * count({each.name}_lengths, {len(each.shape)})"
        converted = f"static_cast<{kind}>({each.name}[i])"
        lines += [
            f'  std::cout << "{each.name}";',
            f"  for (int64_t i = 0; i < {count}; ++i) std::cout << ' ' << {converted};",
            "  std::cout << std::endl;",
        ]
    counting = _COUNT if any(e.has_lengths and e.role != "input" for e in arguments) else []
    return "\n".join(
        [
            f"// Calls {name} once.",
            "#include <iostream>",
            *(["#include <memory>"] if grown else []),
            "",
            f'#include "{name}.h"',
            "",
            *counting,
            "int main() {",
            *lines,
            "  return 0;",
            "}",
            "",
        ]
    )


def julia_example(name: str, arguments: Sequence[Argument], values: Values) -> str:
    """The example in Julia. Its only argument is the path of the shared library."""
    lines, kinds, passed = list[str](), list[str](), list[str]()
    grown = [e for e in arguments if e.role == "output" and e.has_lengths]
    for each in arguments:
        kind = _julia_type(each.dtype)
        if each.role != "output":
            listed = ", ".join(map(_julia, elements_of(values[each.name], plain=True)))
            value = f"{kind}({listed})" if each.by_value else f"{kind}[{listed}]"
            lines.append(f"{each.name} = {value}")
            shape = values[each.name].shape
        else:
            lines.append(f"{each.name} = zeros({kind}, {max(0, _static_count(each))})")
            shape = (0,) * len(each.shape)
        kinds.append(kind if each.by_value else f"Ptr{{{kind}}}")
        passed.append(each.name)
        if each.has_lengths:
            lines.append(f"{each.name}_lengths = Int64[{', '.join(str(n) for n in shape)}]")
            kinds.append("Ptr{Int64}")
            passed.append(f"{each.name}_lengths")
    call = f"ccall(({name}_pointer), Int64, ({', '.join([*kinds, 'Ptr{Cvoid}'])}), {', '.join([*passed, 'C_NULL'])})"
    lines.append(f"code = {call}")
    if grown:
        lines.append("while code == -4  # no room")
        for each in grown:
            lines.append(
                f"    resize!({each.name}, {_per_element(each.dtype)} * prod({each.name}_lengths))"
            )
        lines += [f"    global code = {call}", "end"]
    lines.append(
        f"code == 0 || error(unsafe_string(ccall(Libdl.dlsym(library, :{name}_message), Cstring, (Int64,), code)))"
    )
    lines += [f'println("{e.name} ", join({e.name}, " "))' for e in arguments if e.role != "input"]
    return "\n".join(
        [
            f"# Calls {name} once: julia example.jl path/to/library.  Arrays are in C order: the last axis is contiguous.",
            "import Libdl",
            "",
            "library = Libdl.dlopen(ARGS[1])",
            f"{name}_pointer = Libdl.dlsym(library, :{name})",
            *lines,
            "",
        ]
    )


EXAMPLES: dict[str, Callable[[str, Sequence[Argument], Values], str]] = {
    "example.c": c_example,
    "example.cpp": cpp_example,
    "example.jl": julia_example,
}
