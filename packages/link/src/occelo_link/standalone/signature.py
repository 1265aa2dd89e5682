"""The arguments of a C function: which arrays and numbers it takes and gives, and how C declares them.

`wrapper` writes machine code for these arguments, and `c_function` their types for ctypes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Literal

from occelo_graph import Variable
from occelo_graph.frozen_dataclasses import frozen_dataclass

C_TYPES = {
    "bool": "bool",
    "int8": "int8_t",
    "int16": "int16_t",
    "int32": "int32_t",
    "int64": "int64_t",
    "uint8": "uint8_t",
    "uint16": "uint16_t",
    "uint32": "uint32_t",
    "uint64": "uint64_t",
    "float16": "uint16_t",
    "float32": "float",
    "float64": "double",
    "complex64": "float",
    "complex128": "double",
}
"""The C types of elements in memory. A complex number is a pair of them, and a float16 is its bits."""
_POINTED_AT = ("float16", "complex64", "complex128")
"""The dtypes that C has no number for, so that a scalar is passed by its address."""
_TAKEN = frozenset(
    """auto bool break case catch char class const continue data default delete do double else enum extern float for
    goto if inline int long namespace new operator register restrict return short signed sizeof static struct switch
    template this throw try typedef typename union unsigned using virtual void volatile while and or not xor true false
    nullptr NULL EOF linux unix i8 u8 i16 u16 i32 u32 i64 u64 UNUSED INDEPENDENT ALWAYS_INLINE NOT_INLINED code frame
    call main i count printf fprintf stderr free realloc std begin end function module let local global macro quote
    import export library""".split()
)
"""The names that an argument cannot have: keywords of C, C++ and Julia, and what exported code and examples use."""

Role = Literal["input", "output", "state"]


@frozen_dataclass(eq=False)
class Argument:
    """An input, an output, or a state: a value that a call reads and then overwrites with its new value.

    ``source`` is the position of an input or a state among the inputs of the graph, and ``result`` the position of an
    output or a state among the outputs of the graph; the other one is -1. A length of ``shape`` is None if it is known
    only in calls.
    """

    name: str
    dtype: str
    shape: tuple[int | None, ...]
    role: Role
    source: int = -1
    result: int = -1

    @property
    def by_value(self) -> bool:
        """Whether C passes a number instead of the address of an array."""
        return self.role == "input" and not self.shape and self.dtype not in _POINTED_AT

    @property
    def has_lengths(self) -> bool:
        """Whether the address of the lengths of all dimensions is a further argument."""
        return None in self.shape

    def declarations(self) -> list[str]:
        """Return the argument in C: one declaration, or two if the lengths are an argument."""
        kind, const = C_TYPES[self.dtype], "const " if self.role == "input" else ""
        if self.by_value:
            return [f"{kind} {self.name}"]
        pointer = [f"{const}{kind} *{self.name}"]
        return [*pointer, f"{const}int64_t *{self.name}_lengths"] if self.has_lengths else pointer


class Names:
    """Gives each argument a name of its own that C accepts, and that is not in ``taken``."""

    def __init__(self, taken: Iterable[str] = ()) -> None:
        self._given: set[str] = {*_TAKEN, *C_TYPES.values(), *taken}

    def __call__(self, wanted: str | None, otherwise: str) -> str:
        """Return ``wanted``, or ``otherwise`` if there is no name, in a form that C accepts and that is new."""
        name = re.sub(r"\W", "_", wanted or otherwise, flags=re.ASCII)
        if name[0].isdigit() or name[0] == "_":
            name = f"{otherwise}{name if name[0] == '_' else f'_{name}'}"
        unique, number = name, 1
        while {unique, f"{unique}_lengths"} & self._given:
            number += 1
            unique = f"{name}_{number}"
        self._given |= {unique, f"{unique}_lengths"}
        return unique


def array_type(variable: Variable) -> tuple[str, tuple[int | None, ...]]:
    """Return the dtype and the shape of a variable's values. Raises TypeError if the values are not arrays."""
    kind = variable.type
    if kind.is_array:
        for part in kind.parts() or ():
            return part.dtype, part.shape
    raise TypeError(f"A C function takes and gives arrays, and {variable} is of type {kind}")


def prototype(name: str, arguments: Sequence[Argument]) -> str:
    """Return the declaration in C of a function of arrays, without a semicolon."""
    declared = [text for each in arguments for text in each.declarations()]
    return f"int64_t {name}({', '.join([*declared, 'const void *data'])})"
