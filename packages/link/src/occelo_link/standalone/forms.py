"""The forms of a C function: how C passes the arguments, and gets the results.

A form makes the `Written` of a compiled function: the text of its wrapper in LLVM IR, its declaration, and the types of
its arguments for ctypes. `FORMS` maps the names of the forms to their functions.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from typing import Any

from occelo_graph.frozen_dataclasses import frozen_dataclass
from occelo_link.standalone.context import BAD_LENGTH
from occelo_link.standalone.signature import Argument, prototype
from occelo_link.standalone.wrapper import LLVM_TYPES, Wrapper

_NUMBERS: dict[str, Any] = {
    "bool": ctypes.c_bool,
    "int8": ctypes.c_int8,
    "int16": ctypes.c_int16,
    "int32": ctypes.c_int32,
    "int64": ctypes.c_int64,
    "uint8": ctypes.c_uint8,
    "uint16": ctypes.c_uint16,
    "uint32": ctypes.c_uint32,
    "uint64": ctypes.c_uint64,
    "float32": ctypes.c_float,
    "float64": ctypes.c_double,
}


@frozen_dataclass(eq=False)
class Layout:
    """How the inputs and outputs of a unit and the arguments of a function belong together.

    ``sources`` has for each input of the unit the position of its input of the graph, and ``results`` for each output of
    the unit the position of its output of the graph. ``arguments`` are those of the function in order. ``data`` are the
    positions of the inputs of the graph that are no arguments, in the order of the context.
    """

    sources: Sequence[int]
    results: Sequence[int]
    arguments: Sequence[Argument]
    data: Sequence[int]

    def with_role(self, *roles: str) -> list[Argument]:
        """Return the arguments of some roles."""
        return [each for each in self.arguments if each.role in roles]


@frozen_dataclass(eq=False)
class Written:
    """A C function as text: its wrapper in LLVM IR, its declaration with ``{name}``, and its types for ctypes."""

    text: str
    declaration: str
    restype: Any
    argtypes: list[Any]

    @property
    def function_type(self) -> Any:
        """The type of the function for ctypes."""
        return ctypes.CFUNCTYPE(self.restype, *self.argtypes)


def _wrapper(layout: Layout) -> Wrapper:
    """Return a wrapper with the data of the context."""
    wrapper = Wrapper(len(layout.sources), len(layout.results))
    for position, source in enumerate(layout.sources):
        if source in layout.data:
            wrapper.data(position, layout.data.index(source))
    return wrapper


def _named(layout: Layout, each: Argument) -> tuple[int | None, int | None]:
    """The position of an argument among the unit's inputs and among its outputs. None if it is not there."""
    source = layout.sources.index(each.source) if each.source in layout.sources else None
    result = layout.results.index(each.result) if each.result in layout.results else None
    return source, result


def arrays(layout: Layout) -> Written:
    """``int64_t f(inputs..., outputs..., states..., const void *data)``: numbers by value, arrays by their address.

    An array whose shape is not static has a second argument, the address of its lengths. For an output the caller
    stores there how much room the memory has, and the call replaces it by the lengths of the result.
    """
    wrapper, params, types = _wrapper(layout), list[str](), list[Any]()
    for k, each in enumerate(layout.arguments):
        source, result = _named(layout, each)
        if each.by_value:
            params.append(f"{LLVM_TYPES[each.dtype]} %a{k}")
            types.append(_NUMBERS[each.dtype])
            if source is not None:
                wrapper.number(source, each.dtype, f"%a{k}")
            continue
        lengths = f"%n{k}" if each.has_lengths else ""
        params += [f"ptr %a{k}", *([f"ptr {lengths}"] if lengths else [])]
        types += [ctypes.c_void_p] * (1 + each.has_lengths)
        if source is not None:
            wrapper.array(source, f"%a{k}", each.shape, lengths)
        if result is not None:
            room = 1
            for n in each.shape:
                room *= n or 0
            ndim, later = len(each.shape), each.role == "state"
            wrapper.output(result, f"%a{k}", each.dtype, ndim, lengths, room, later)
    wrapper.run()
    declared = prototype("{name}", layout.arguments)
    return Written(wrapper.text(params), declared, ctypes.c_int64, [*types, ctypes.c_void_p])


def _vector(layout: Layout, form: str) -> Argument:
    """Return the only input of a function. Raises TypeError if it is not one vector of float64."""
    inputs = layout.with_role("input")
    if layout.with_role("state"):
        raise TypeError(f"The form {form!r} has no place for updates of shared variables")
    if len(inputs) != 1 or inputs[0].dtype != "float64" or len(inputs[0].shape) != 1:
        raise TypeError(f"The form {form!r} needs one input, a vector of float64, not {inputs}")
    return inputs[0]


def _vector_wrapper(layout: Layout, vector: Argument) -> Wrapper:
    """Return a wrapper in which the vector ``%x`` with ``%dim`` elements is the only input."""
    wrapper = _wrapper(layout)
    source, _ = _named(layout, vector)
    lengths = wrapper.stored("i64", "%dim")
    if vector.shape[0] is not None:
        wrapper.require("%dim", vector.shape[0])
    if source is not None:
        wrapper.array(source, "%x", (None,), lengths)
    return wrapper


def _result(layout: Layout, each: Argument) -> int:
    _, result = _named(layout, each)
    assert result is not None
    return result


def _checked_length(wrapper: Wrapper, each: Argument, expected: str, place: str) -> str:
    """Write a check that a result, whose lengths are stored at ``place``, has the wanted length. Returns the code."""
    length, same, code = wrapper.fresh(), wrapper.fresh(), wrapper.fresh()
    wrapper.line(f"{length} = load i64, ptr {place}")
    wrapper.line(f"{same} = icmp eq i64 {length}, {expected}")
    failed, both = wrapper.fresh(), wrapper.fresh()
    wrapper.line(f"{failed} = icmp ne i64 %code, 0")
    wrapper.line(f"{both} = or i1 {same}, {failed}")
    wrapper.line(f"{code} = select i1 {both}, i64 %code, i64 {BAD_LENGTH}")
    return code


def log_density_gradient(layout: Layout) -> Written:
    """A density and its gradient, as samplers such as nutpie call them.

    ``int64_t f(uint64_t dim, const double *x, double *gradient, double *value, const void *data)``. The function has
    one input, a vector, and two outputs, a number and a vector of the same length, in any order.
    """
    form = "log_density_gradient"
    vector = _vector(layout, form)
    by_ndim = {len(each.shape): each for each in layout.with_role("output")}
    outputs = layout.with_role("output")
    if len(outputs) != 2 or set(by_ndim) != {0, 1} or {e.dtype for e in outputs} != {"float64"}:
        raise TypeError(f"The form {form!r} needs a number and a vector as outputs, not {outputs}")
    wrapper = _vector_wrapper(layout, vector)
    wrapper.output(_result(layout, by_ndim[0]), "%value", "float64", 0, room=1)
    place = wrapper.stored("i64", "%dim")
    wrapper.output(_result(layout, by_ndim[1]), "%gradient", "float64", 1, place)
    wrapper.run()
    code = _checked_length(wrapper, by_ndim[1], "%dim", place)
    params = ["i64 %dim", "ptr %x", "ptr %gradient", "ptr %value"]
    return Written(
        wrapper.text(params, result=code),
        "int64_t {name}(uint64_t dim, const double *x, double *gradient, double *value, const void *data)",
        ctypes.c_int64,
        [ctypes.c_uint64, *[ctypes.c_void_p] * 4],
    )


def vector(layout: Layout) -> Written:
    """A function from a vector to a vector, such as the values that a sampler stores for each draw.

    ``int64_t f(uint64_t dim, uint64_t count, const double *x, double *result, const void *data)``. ``count`` is the
    length of the result.
    """
    argument = _vector(layout, "vector")
    outputs = layout.with_role("output")
    if len(outputs) != 1 or outputs[0].dtype != "float64" or len(outputs[0].shape) != 1:
        raise TypeError(f"The form 'vector' needs one output, a vector of float64, not {outputs}")
    wrapper = _vector_wrapper(layout, argument)
    place = wrapper.stored("i64", "%count")
    wrapper.output(_result(layout, outputs[0]), "%result", "float64", 1, place)
    wrapper.run()
    code = _checked_length(wrapper, outputs[0], "%count", place)
    return Written(
        wrapper.text(["i64 %dim", "i64 %count", "ptr %x", "ptr %result"], result=code),
        "int64_t {name}(uint64_t dim, uint64_t count, const double *x, double *result, const void *data)",
        ctypes.c_int64,
        [ctypes.c_uint64, ctypes.c_uint64, *[ctypes.c_void_p] * 3],
    )


def numbers(layout: Layout) -> Written:
    """A function of numbers, as SciPy's integration calls it: ``double f(int count, double *x, void *data)``.

    All inputs and the only output are numbers of float64. If the call fails, the result is NaN.
    """
    inputs, outputs = layout.with_role("input"), layout.with_role("output")
    if any(e.dtype != "float64" or e.shape for e in layout.arguments) or len(outputs) != 1:
        raise TypeError(f"The form 'numbers' needs numbers of float64, not {layout.arguments}")
    if layout.with_role("state"):
        raise TypeError("The form 'numbers' has no place for updates of shared variables")
    wrapper = _wrapper(layout)
    wrapper.line("%count64 = sext i32 %count to i64")
    wrapper.require("%count64", len(inputs))
    for k, each in enumerate(inputs):
        source, _ = _named(layout, each)
        if source is not None:
            place = wrapper.fresh()
            wrapper.line(f"{place} = getelementptr double, ptr %x, i64 {k}")
            wrapper.array(source, place, ())
    result = wrapper.stored("double", "0x7FF8000000000000")
    wrapper.output(_result(layout, outputs[0]), result, "float64", 0, room=1)
    wrapper.run()
    wrapper.line(f"%found = load double, ptr {result}")
    wrapper.line("%good = icmp eq i64 %code, 0")
    wrapper.line("%answer = select i1 %good, double %found, double 0x7FF8000000000000")
    address = ctypes.POINTER(ctypes.c_double)
    text = wrapper.text(["i32 %count", "ptr %x"], "double", "%answer")
    return Written(
        text.replace(f"ret i64 {BAD_LENGTH}", "ret double 0x7FF8000000000000"),
        "double {name}(int count, double *x, void *data)",
        ctypes.c_double,
        [ctypes.c_int, address, ctypes.c_void_p],
    )


FORMS: dict[str, Callable[[Layout], Written]] = {
    "arrays": arrays,
    "log_density_gradient": log_density_gradient,
    "vector": vector,
    "numbers": numbers,
}
