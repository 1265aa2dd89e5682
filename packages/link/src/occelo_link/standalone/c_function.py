"""`CFunction`: the address of a compiled function for C, with its types and the meanings of its codes.

`Function.c_function` of `occelo_compile` calls `make_c_function`.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from occelo_graph import Variable
from occelo_graph.ir.container import local
from occelo_link.blocks.vm import prepared
from occelo_link.cache.objects import object_code
from occelo_link.standalone.context import (
    CODES,
    CTX_DATA,
    CTX_FREE,
    CTX_MALLOC,
    CTX_TABLE,
    CTX_UNIT,
)
from occelo_link.standalone.forms import FORMS, Layout, Written
from occelo_link.standalone.layouts import layout_of
from occelo_link.standalone.selection import Chosen, choose, meaning
from occelo_link.standalone.services import memory_functions, service_addresses, services
from occelo_link.standalone.signature import Argument
from occelo_link.units.engine import Unit, compile_module, load_object
from occelo_link.units.python_entry import make_table

_START = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)


class CFunction:
    """A compiled function as machine code for C, which any thread may call without the GIL, several at the same time.

    ``address`` is the address of the function, and ``declaration`` declares it in C (and for cffi). The code stays
    loaded as long as this object or another one made by `with_data` lives. Each call returns a code: 0, or a key of
    `errors`. After a failure the contents of outputs are undefined, and states have their old values.

    ``arguments`` are the arguments in order. Arrays are in C order. No output may overlap another argument.

    The last argument, ``data``, is `data` of this object or of one that `with_data` returned. It has the addresses of
    the values of the shared variables. A null pointer stands for the values when `Function.c_function` was called.
    """

    def __init__(self, code: _Code, data: _Data) -> None:
        self._code = code
        self._data = data

    @property
    def form(self) -> str:
        """The name of the form: "arrays", "log_density_gradient", "vector" or "numbers"."""
        return self._code.form

    @property
    def arguments(self) -> Sequence[Argument]:
        """The arguments of the form "arrays", in order, without ``data``."""
        return self._code.layout.arguments

    @property
    def address(self) -> int:
        """The address of the C function."""
        return self._code.wrapper.address

    @property
    def data(self) -> int:
        """The address of the values of the shared variables, for the argument ``data``."""
        return self._data.address

    def declaration(self, name: str = "f") -> str:
        """Return the declaration of the function in C, without a semicolon."""
        return self._code.written.declaration.format(name=name)

    @property
    def pointer_type(self) -> str:
        """The type of the address in C, as in ``ffi.cast(c.pointer_type, c.address)``."""
        return self.declaration("(*)")

    @cached_property
    def ctypes(self) -> Any:
        """The function for ctypes. Addresses are void pointers, so arrays are passed as ``array.ctypes``."""
        function = self._code.written.function_type(self.address)
        function.kept = self._code, self._data
        return function

    @cached_property
    def errors(self) -> dict[int, str]:
        """The meanings of the codes that the function returns."""
        sites = self._code.chosen.program().sites
        meanings = dict(CODES)
        for number, node in enumerate(sites):
            meanings[number + 1] = meaning(node)
        return meanings

    def low_level_callable(self) -> Any:
        """Return a ``scipy.LowLevelCallable``, with ``data`` as its user data. The form must be "numbers" for SciPy's
        own functions to accept it.
        """
        from scipy import LowLevelCallable  # slow to import

        return LowLevelCallable(self.ctypes, ctypes.c_void_p(self.data))

    def numba(self) -> Callable[..., Any]:
        """Return an ``njit`` function that calls the function from code that Numba compiles, with this `data`.

        It takes the `arguments` as numbers and arrays in C order of exactly their dtypes, and returns the code. Outputs
        must have the shapes of the results. TypeError if the form is not "arrays", and ModuleNotFoundError without
        Numba.
        """
        if self.form != "arrays":
            raise TypeError(f"Numba calls functions of the form 'arrays', not {self.form!r}")
        from occelo_link.standalone.numba_calls import numba_function  # slow to import

        return numba_function(self.ctypes, self.data, self.arguments)

    def with_data(self, values: Mapping[Any, Any]) -> CFunction:
        """Return the same function with other `data`. Nothing is compiled: the address is the same.

        ``values`` maps shared variables, or their names, to new values; the others keep theirs. KeyError if the
        function has no such shared variable among its data, and TypeError if a value does not have its type.
        """
        code, held = self._code, dict(self._data.values)
        for key, value in values.items():
            position = code.positions.get(key)
            if position is None:
                raise KeyError(f"The data of the C function have no {key!r}")
            held[position] = prepared(np.asarray(code.accept[position](value)))
        return CFunction(code, _Data(code, held))

    def __repr__(self) -> str:
        return f"<CFunction {self.declaration()} at {self.address:#x}>"


class _Code:
    """What all `CFunction`s of one function share: its loaded code, and the facts about its data.

    ``default`` are the data that a null pointer stands for.
    """

    def __init__(
        self,
        chosen: Chosen,
        layout: Layout,
        form: str,
        inputs: Sequence[Variable],
        values: dict[int, Any],
    ) -> None:
        self.chosen = chosen
        self.layout = layout
        self.form = form
        self.written: Written = FORMS[form](layout)
        self.table = make_table(chosen.unit.interface, service_addresses())
        self.wrapper: Unit = _loaded(self.written.text)
        self.accept = {i: inputs[i].type.accept for i in layout.data}
        self.positions: dict[Any, int] = {inputs[i]: i for i in layout.data}
        self.positions.update({name: i for i in layout.data if (name := inputs[i].name)})
        self.default = _Data(self, values)
        _START(self.wrapper.find("start"))(services().find("run"), self.default.address)


class _Data:
    """The values of the data of a C function, and the context with their addresses."""

    def __init__(self, code: _Code, values: dict[int, Any]) -> None:
        self.values = values
        self._context = context = np.zeros(CTX_DATA + 2 * len(code.layout.data), dtype=np.int64)
        self._lengths: list[Any] = []
        context[CTX_UNIT] = code.chosen.unit.unit.address
        context[CTX_TABLE] = code.table.ctypes.data
        context[CTX_MALLOC], context[CTX_FREE] = memory_functions()
        for number, position in enumerate(code.layout.data):
            array = values[position]
            lengths = np.array(array.shape or (0,), dtype=np.int64)
            self._lengths.append(lengths)
            at = CTX_DATA + 2 * number
            context[at : at + 2] = array.ctypes.data, lengths.ctypes.data
        self.address: int = context.ctypes.data


def _loaded(text: str) -> Unit:
    return load_object(object_code(text, lambda: compile_module(text)), "call")


def make_c_function(function: Any, form: str = "arrays") -> CFunction:
    """Return a function that `occelo_compile` compiled as a `CFunction`. `Function.c_function` explains it."""
    if form not in FORMS:
        raise ValueError(f"A C function has one of the forms {', '.join(FORMS)}, not {form!r}")
    chosen = choose(function)
    layout = layout_of(function, chosen.inputs)
    values = {
        i: prepared(np.asarray(local(function.input_storage[i].storage[0]))) for i in layout.data
    }
    code = _Code(chosen, layout, form, [each.variable for each, _ in function.indices], values)
    return CFunction(code, code.default)
