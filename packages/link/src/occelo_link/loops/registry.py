"""Registry of lowerings of ops to loop programs, and the search for the lowering of a node.

A lowering accepts a context, a node and its lowered inputs, and returns the lowered outputs. An output is a formula if
possible, otherwise a tensor that a step of the schedule computes. The modules of op families and users register
lowerings. `Context`, the linkers and `capabilities` call `find_lowering`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from occelo_graph import Apply, Op, Type, Variable
from occelo_graph.ir.decomposing import decomposition
from occelo_graph.ir.nodes import OpT
from occelo_graph.narrowing import is_list_or_tuple
from occelo_graph.tensors.nodes import TensorApply
from occelo_link.loops.complexes import PARTS, as_real, by_parts, in_parts, parts_of
from occelo_link.loops.tensor_groups import leaves_of
from occelo_link.loops.tensors import Tensor
from occelo_link.lowering_table import (
    LateLowerings,
    LoweringTable,
    Registers,
    RegistersParts,
    wrong_results,
)
from occelo_link.withheld_lowerings import is_withheld

if TYPE_CHECKING:
    from occelo_link.loops.lowering import Context

Lowering = Callable[["Context", Apply, list[Tensor]], Sequence[Tensor]]
Condition = Callable[[Apply], bool]

LoweringOf = Callable[["Context", TensorApply[OpT], list[Tensor]], Sequence[Tensor]]
"""The lowering of an op whose inputs and outputs are all tensors."""
LoweringOfParts = Callable[["Context", Apply[OpT], list[Tensor]], Sequence[Tensor]]

_OpT = TypeVar("_OpT", bound=Op)

late = LateLowerings()
"""The modules of lowerings that are imported when the lowering of an op of their family is first looked up.

The family of all ops that run an inner graph repeatedly is "regions".
"""
_SCALARS = "lowers_scalar_to_loops"
_lowerings = LoweringTable["Context", Tensor]("lowering to loops", _SCALARS, late)
_complex = LoweringTable["Context", Tensor]("lowering of complex tensors", _SCALARS, late)
_parts = LoweringTable["Context", Tensor]("lowering of parts", _SCALARS, late)
_loops: list[tuple[Lowering, Condition]] = []

_DTYPES = frozenset(
    "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64 "
    "complex64 complex128".split()
)
_AS_THEY_ARE = _DTYPES - {"float16", *PARTS}
"""The dtypes in which loop programs compute. A complex tensor becomes two real tensors, and float16 is computed in
float32.
"""


def lowers_to_loops(
    op_class: type[_OpT], when: Callable[[TensorApply[_OpT]], bool] | None = None
) -> Registers[Context, Tensor, _OpT]:
    """Decorator that registers a lowering to loop programs, for those nodes of ``op_class`` for which ``when`` returns
    True.

    The lowering accepts a `Context`, the node and a `Tensor` for each input. It returns a `Tensor` for each output: a
    formula (`Context.virtual`) if possible, otherwise a stored tensor (`Context.step`, `Context.reduce`). The linkers
    ``native``, ``c`` and ``numba`` use it. A lowering from another package replaces Occelo's lowering, and its code
    becomes part of the cache keys.
    """
    return _lowerings.register((op_class,), when)


def lowers_iterations(when: Condition) -> Callable[[Lowering], Lowering]:
    """Decorator that registers a lowering of ops that run an inner graph repeatedly, for nodes for which ``when``
    returns True.
    """

    def register(function: Lowering) -> Lowering:
        _loops.append((function, when))
        return function

    return register


def consists_of_arrays(variable: Variable) -> bool:
    """Whether loop programs can represent a variable: its value must be an array, or consist of arrays, of known
    dtypes.
    """
    kind = variable.type
    if kind.is_array:
        return kind.dtype in _DTYPES
    parts = kind.parts()
    return parts is not None and all(part.dtype in _DTYPES for part in parts)


def can_be_callback(node: Apply) -> bool:
    """Whether compiled code can call Python to run a node.

    The inputs and outputs of the node must consist of arrays. Its op must not be lazy, and must not overwrite an input
    that is an array. The op may overwrite an input that consists of several arrays, such as the state of a generator,
    since the callback passes a copy.
    """
    op = node.op
    overwritten = [node.inputs[i] for at in op.destroy_map.values() for i in at]
    return not (op.lazy or any(v.type.is_array for v in overwritten)) and all(
        consists_of_arrays(v) for v in (*node.inputs, *node.outputs)
    )


def lowers_complex_to_loops(
    op_class: type[_OpT], when: Callable[[TensorApply[_OpT]], bool] | None = None
) -> Registers[Context, Tensor, _OpT]:
    """The same as `lowers_to_loops`, with ``op_class`` and ``when``, for nodes with complex tensors. The lowering receives and returns `ComplexTensor`
    objects.
    """
    return _complex.register((op_class,), when)


def lowers_parts_to_loops(
    op_class: type[_OpT], when: Callable[[Apply[_OpT]], bool] | None = None
) -> RegistersParts[Context, Tensor, _OpT]:
    """The same as `lowers_to_loops`, with ``op_class`` and ``when``, for values that are not arrays but consist of arrays.

    The lowering receives such a value as a `TensorGroup`, with a lowered tensor for each array. A complex array is a
    `ComplexTensor`. A float16 array is a float32 tensor; results are rounded to float16 after the lowering.
    """
    return _parts.register((op_class,), when)


def find_lowering(node: Apply) -> Lowering | None:
    """The lowering of a node, or None.

    If no lowering is registered for the node, the result is the lowering of the node's decomposition.
    """
    own = None if is_withheld(node) else _find_own(node)
    return own or _find_decomposed(node)


def check_lowered(node: Apply, results: Any) -> None:
    """TypeError if the results of a lowering are not tensors of the types of the node's outputs."""
    if not is_list_or_tuple(results) or len(results) != len(node.outputs):
        raise wrong_results(node, results, _told)
    for variable, tensor in zip(node.outputs, results, strict=True):
        if not isinstance(tensor, Tensor):
            raise wrong_results(node, results, _told)
        kind = variable.type
        if tensor.dtype == kind.dtype and len(tensor.shape) == kind.ndim:
            continue
        if not _consists_of(kind, tensor):
            raise wrong_results(node, results, _told)


def _consists_of(kind: Type, tensor: Tensor) -> bool:
    leaves = [(leaf.dtype, len(leaf.shape)) for leaf in leaves_of(kind)]
    return [(t.dtype, t.ndim) for t in parts_of(tensor)] == leaves


def _told(tensor: Any) -> str:
    if not isinstance(tensor, Tensor):
        return type(tensor).__name__
    return " with ".join(f"{t.dtype} of {t.ndim} dimensions" for t in parts_of(tensor))


def _find_decomposed(node: Apply) -> Lowering | None:
    if node.op.destroy_map or node.op.lazy or not node.op.has_decompose:
        return None
    if any(v.type.is_array and v.type.dtype == "float16" for v in node.inputs):
        from occelo_link.loops.float16 import as_float32, in_float32  # seldom needed

        # intermediate results need not be rounded to float16
        wide = as_float32(node)
        try:
            lowering = _by_parts_of_op(wide)
        except TypeError:
            lowering = None  # with float32 inputs, the decomposition does not return float32
        if lowering is not None:
            return in_float32(lowering)
    return _by_parts_of_op(node)


def _by_parts_of_op(node: Apply) -> Lowering | None:
    parts = decomposition(node)
    if parts is None:
        return None
    lowerings: list[Lowering] = []
    for each in parts.order:
        own = find_lowering(each)
        if own is None:
            return None
        lowerings.append(own)
    return lambda context, node, inputs: context.lower_decomposed(node, parts, lowerings, inputs)


def _find_own(node: Apply) -> Lowering | None:
    if node.op.loops:
        late.import_family("regions")
        return next((function for function, when in _loops if when(node)), None)
    dtypes = {v.type.dtype if v.type.is_array else None for v in (*node.inputs, *node.outputs)}
    if dtypes <= _AS_THEY_ARE:
        return _find(node)
    if None in dtypes:
        return _find_parts(node)
    if not dtypes <= _DTYPES:
        return None
    if not dtypes.isdisjoint(PARTS):
        return _find_complex(node)
    if "float16" in dtypes and not node.op.lazy:
        from occelo_link.loops.float16 import as_float32, in_float32  # seldom needed

        lowering = _find(as_float32(node))
        return None if lowering is None else in_float32(lowering)
    return _find(node)


def _find_complex(node: Apply) -> Lowering | None:
    """The lowering of a node with complex tensors.

    This is the lowering that is registered for complex tensors. If there is none, it is the lowering for real tensors,
    applied to both parts.
    """
    if node.op.lazy:
        return _find(node)
    own = _complex.find(node.op)
    if own is not None:
        function, condition = own
        if condition is None or condition(node):
            return function
    if not by_parts(node):
        return None
    lowering = _find(as_real(node))
    return None if lowering is None else in_parts(lowering)


def _find_parts(node: Apply) -> Lowering | None:
    """The lowering of a node with values that are not arrays but consist of arrays."""
    if node.op.destroy_map or not all(consists_of_arrays(v) for v in (*node.inputs, *node.outputs)):
        return None
    entry = _parts.find(node.op)
    if entry is None:
        return None
    function, condition = entry
    return _with_parts_rounded(function) if condition is None or condition(node) else None


def _with_parts_rounded(lowering: Lowering) -> Lowering:
    """Extend a lowering: round the float16 arrays of its results."""
    from occelo_link.loops.float16 import with_float16_rounded  # seldom needed

    def lowered(context: Context, node: Apply, inputs: list[Tensor]) -> Sequence[Tensor]:
        results = lowering(context, node, inputs)
        check_lowered(node, results)
        return [
            with_float16_rounded(context, v.type, t)
            for v, t in zip(node.outputs, results, strict=True)
        ]

    return lowered


def _find(node: Apply) -> Lowering | None:
    """The lowering that is registered for a node, or None. Loop programs must be able to represent the types of the
    node's inputs and outputs.
    """
    entry = _lowerings.find(node.op)
    if entry is None:
        return None
    function, condition = entry
    if condition is not None and not condition(node):
        return None
    return None if node.op.destroy_map else function
