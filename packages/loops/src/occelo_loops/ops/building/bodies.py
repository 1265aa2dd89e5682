"""`scan_node`: makes a node of `Scan` from a Python function that computes one step.

The function is called with symbolic variables, and the graph of its results becomes the body. Variables that the
function reads from outside become constants of the node. `loop`, `scan` and similar functions call `scan_node`. The
derivatives, the batching rule and the checkpoints of `Scan` call it, too.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import field
from typing import Any

import numpy as np

from occelo_graph.errors import describe, explained_by
from occelo_graph.fgraph.frozen import freeze
from occelo_graph.frozen_dataclasses import frozen_dataclass
from occelo_graph.ir.clone import rebuilt
from occelo_graph.ir.known_values import known_integer
from occelo_graph.ir.nodes import Apply, Constant, Variable, nodes_made
from occelo_graph.ir.shared import SharedVariable
from occelo_graph.ir.taken_constants import held_by, take_all
from occelo_graph.ir.traversal import general_toposort, graph_inputs
from occelo_graph.ir.types import Type
from occelo_graph.ops.shape.reading import length_read
from occelo_graph.tensors.constant import as_tensor_variable, constant
from occelo_graph.tensors.nodes import is_tensor
from occelo_graph.tensors.type import TensorType
from occelo_loops.ops.building.carried import CarriedValue, is_number
from occelo_loops.ops.guarding import alike_in_all_steps, guarded
from occelo_loops.ops.scan_op import Scan
from occelo_loops.ops.states import forget_updates, is_made_by, with_updates


@frozen_dataclass
class Step:
    """The results of one step.

    - ``carried``: the new carried values.
    - ``traced``: the elements of traces.
    - ``stop``: the condition that this step is the last one. None if all steps run.
    - ``updates``: maps shared variables to their new values. The loop carries these values after ``carried``.
    """

    carried: Sequence[Any]
    traced: Sequence[Any] = ()
    stop: Any = None
    updates: Mapping[SharedVariable, Any] = field(
        default_factory=lambda: dict[SharedVariable, Any]()
    )


Stepping = Callable[[list[Variable], list[Variable], list[Variable]], Step]
"""The type of a function that computes a step. Its arguments are three lists: the carried values, the elements of
sequences, and the constants.
"""


def element_type(kind: Type) -> TensorType:
    """The type of the elements of a sequence, along its first axis. TypeError for a type without a first axis."""
    if not isinstance(kind, TensorType) or not kind.ndim:
        raise TypeError(f"A sequence must be a tensor with a first axis, and not of type {kind}")
    return TensorType(kind.dtype, kind.shape[1:])


def number_of_steps(value: Any, what: str = "The number of steps") -> Any:
    """Convert an integer scalar, such as the number of steps, to an int64 scalar. TypeError for anything else.

    OverflowError for a known integer that int64 cannot represent. ``what`` names the integer in messages.
    """
    if value is None or isinstance(value, bool):
        raise TypeError(f"{what} must be an integer scalar, and is {value}")
    if isinstance(value, int):
        _check_range(value, what)
    steps = as_tensor_variable(value)
    if steps.type.ndim or steps.type.numpy_dtype.kind not in "iu":
        raise TypeError(f"{what} must be an integer scalar, and is {describe(steps)}")
    if isinstance(steps, Constant):
        _check_range(int(steps.data), what)
    return steps if steps.dtype == "int64" else steps.astype("int64")


def _check_range(value: int, what: str) -> None:
    if not -(2**63) <= value < 2**63:
        raise OverflowError(f"{what} must be an int64 scalar, which cannot be {value}")


def scan_node(
    step: Stepping,
    steps: Any,
    carried: Sequence[Any],
    sequences: Sequence[Variable] = (),
    constants: Sequence[Variable] = (),
    *,
    reverse: bool = False,
    truncate: int | None = None,
    bounded: bool = True,
    name: str | None = None,
    names: Sequence[str] = (),
    capture: bool = True,
) -> tuple[Scan, list[Variable]]:
    """Make a node of `Scan` with the body that ``step`` computes. Returns the op and the outputs of the node.

    - ``steps``: the number of steps, an integer scalar.
    - ``carried``: the initial carried values, variables or Python numbers (see `CarriedValue`). ``names`` are their
      names in error messages.
    - ``constants``: variables that each step gets as arguments.
    - ``reverse``, ``truncate``, ``bounded``, ``name``: the fields of `Scan`.
    - ``capture``: whether ``step`` may read other variables from outside, which become constants of the node. If False,
      such a variable raises ValueError.

    Shared variables that a step updates are carried after ``carried``. A step may set the default update of a shared
    variable, as draws with a `RandomStream` do. Then the value after the last step becomes the default update.

    TypeError if a carried value changes its dtype, its number of dimensions or a static length.
    """
    count = _checked(number_of_steps(steps), sequences)
    labels = names or [f"Carried value {i}" for i in range(len(carried))]
    values = [CarriedValue(v, label) for v, label in zip(carried, labels, strict=True)]
    while True:
        # repeats until the types stay: each repetition makes a static length dynamic, or a dtype larger
        inner = [v.inner() for v in values]
        elements: list[Variable] = [element_type(v.type).make_variable() for v in sequences]
        read = [v.type.make_variable(v.name) for v in constants]
        with nodes_made() as nodes:
            try:
                taken = step(inner, elements, read)
                following = [
                    as_variable(v, before.kind, before.label)
                    for v, before in zip(taken.carried, values, strict=True)
                ]
                changed = _adapted(values, following)
            except TypeError:
                # perhaps a Python number had too small a dtype: try its default dtype
                if not any([v.settle() for v in values]):
                    raise
                forget_updates(nodes)
                continue
            if changed or any([v.settle() for v in values]):
                forget_updates(nodes)
                continue
            results: list[Any] = [*following, *map(_traced, taken.traced)]
            if taken.stop is not None:
                results.append(as_condition(taken.stop))
            pairs = list(zip(constants, read, strict=True))
            if not capture:
                # the step may read a constant from outside instead of the argument for it
                results = rebuilt(results, pairs)
            states, results = with_updates(taken.updates, len(values), results, pairs)
        break
    values += [CarriedValue(state, str(state)) for state in states]
    inner += states.values()
    own = {
        s
        for s, update in taken.updates.items()
        if update is s.default_update and is_made_by(update, nodes)
    }
    arguments = [*inner, *elements, *read]
    if not capture:
        _check_strict(results, arguments, nodes)
    outside, values_outside = _outside(count, results, arguments, nodes)
    body = freeze([*arguments, *outside], results)
    stops = taken.stop is not None
    op_ = Scan(body, len(values), len(sequences), stops, reverse, truncate, bounded, name)
    outputs: list[Variable] = op_(
        count,
        *(v.initial() for v in values),
        *sequences,
        *constants,
        *values_outside,
        return_list=True,
    )
    for state, after in zip(states, outputs[len(carried) :], strict=False):
        if state in own:
            state.default_update = after
    return op_, outputs


def _adapted(values: Sequence[CarriedValue], following: Sequence[Variable]) -> bool:
    """Adapt the types of carried values to their values after a step. Returns whether a type changed.

    The types of Python numbers are adapted first, since their dtypes may affect the dtypes of all values after a step.
    If one of them changes, the step function must be called again before the other types are compared.
    """
    pairs = list(zip(values, following, strict=True))
    numbers = [before.adapt(v) for before, v in pairs if before.number is not None]
    return any(numbers) or any([before.adapt(v) for before, v in pairs])


def _checked(steps: Variable, sequences: Sequence[Variable]) -> Variable:
    """The number of steps. If it is known statically, and not by constants alone, it is returned as a constant.

    ValueError if it is known to be negative, or larger than the static length of a sequence.
    """
    number = known_integer(steps)
    if number is None:
        return steps
    if number < 0:
        raise ValueError(f"The number of steps is {number}, and cannot be negative")
    for i, sequence in enumerate(sequences):
        length = (sequence.type.shape or (None,))[0]
        if length is not None and length < number:
            raise ValueError(
                f"The loop has {number} steps, but its sequence {i} has only {length} elements: {describe(sequence)}"
            )
    # what is computed from constants stays, so that they can be replaced in a copy of the graph
    alone = all(isinstance(v, Constant) for v in graph_inputs([steps]))
    return steps if alone else constant(np.int64(number))


def as_variable(value: Any, kind: Type, label: str) -> Variable:
    """Convert a carried value that a step returned to a variable.

    ``kind`` is the type of the value before the step, and ``label`` its name in messages. A Python number gets the
    dtype of ``kind`` if this dtype can hold it.
    """
    if isinstance(value, Variable):
        return value
    if value is None:
        raise TypeError(f"{label} starts as {kind}, and a step returns None for it")
    if isinstance(kind, TensorType):
        if is_number(value) and _has_dtype(value, kind.dtype):
            return as_tensor_variable(value, dtype=kind.dtype)
        return as_tensor_variable(value)
    return kind.filter_variable(value)


def _has_dtype(number: Any, dtype: str) -> bool:
    """Whether a dtype can hold a Python number, up to rounding."""
    kind = np.dtype(dtype).kind
    if isinstance(number, int):
        return kind in "fc" or (
            kind in "iu" and np.iinfo(dtype).min <= number <= np.iinfo(dtype).max
        )
    return kind in ("fc" if isinstance(number, float) else "c")


def _traced(value: Any) -> Variable:
    return value if isinstance(value, Variable) else as_tensor_variable(value)


@explained_by("loops")
def as_condition(value: Any) -> Any:
    """Convert the condition of a loop to a bool scalar. TypeError if it is not a scalar."""
    if value is None:
        raise TypeError("The condition of a loop is None, and must be a scalar")
    condition = _traced(value)
    if not is_tensor(condition) or condition.type.ndim:
        raise TypeError(f"The condition of a loop must be a scalar, and is {describe(condition)}")
    return condition if condition.type.dtype == "bool" else condition.astype("bool")


def own_nodes(results: Sequence[Variable], nodes: Sequence[Apply]) -> list[Apply]:
    """Those of ``nodes`` that ``results`` depend on, in topological order."""
    among = set(nodes)

    def before(node: Apply) -> list[Apply]:
        return [v.owner for v in node.inputs if v.owner in among]

    starts = [v.owner for v in results if v.owner in among]
    return general_toposort(dict.fromkeys(starts), before)


def read_from_outside(
    body: Sequence[Apply], results: Sequence[Variable], inner: Collection[Variable]
) -> list[Variable]:
    """The variables, except constants, that are neither in ``inner`` nor computed by the nodes of ``body``."""
    own = {*inner, *(v for node in body for v in node.outputs)}
    read = dict.fromkeys(v for node in body for v in node.inputs if v not in own)
    read.update(dict.fromkeys(v for v in results if v not in own))
    return [v for v in read if not isinstance(v, Constant)]


def _check_strict(
    results: Sequence[Variable], arguments: Collection[Variable], nodes: Sequence[Apply]
) -> None:
    """ValueError if the step reads a variable from outside that does not depend on constants alone."""
    for v in read_from_outside(own_nodes(results, nodes), results, arguments):
        if not all(isinstance(root, Constant) for root in graph_inputs([v])):
            raise ValueError(
                f"A strict loop reads only its arguments, and this is not among non_sequences: {describe(v)}"
            )


def _outside(
    steps: Variable,
    results: Sequence[Variable],
    arguments: Sequence[Variable],
    nodes: Sequence[Apply],
) -> tuple[list[Variable], list[Variable]]:
    """The variables that the body reads from outside, and for each of them the variable to pass to the node.

    ``nodes`` are the nodes that the step made. A node that is alike in all steps is hoisted out of the loop
    (`alike_in_all_steps`), so that the body reads its result from outside. If a hoisted node may fail, the variable to
    pass is guarded: it is computed only if the loop has a step. A node that reads a length is not hoisted, since
    derivatives of an inner loop must know to which variable the length belongs. An integer that is known is not hoisted
    either, since types in the body have static lengths that follow from it, also in copies of the body.
    """
    order = own_nodes(results, nodes)
    inner = set(arguments)
    stay: set[Apply] = {
        node
        for node in order
        if length_read(node.outputs[0]) is not None or known_integer(node.outputs[0]) is not None
    }
    while True:
        moved = alike_in_all_steps(order, results, arguments, stay)
        body = [node for node in order if node not in moved]
        read = read_from_outside(body, results, inner)
        values = guarded(steps, read, moved)
        # nodes with results that cannot be guarded stay in the body
        more = {v.owner for v, g in zip(read, values, strict=True) if g is None and v.owner}
        if not more:
            take_all(held_by(body, results))
            return read, values
        stay |= more
