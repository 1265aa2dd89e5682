"""`loop`, `while_loop` and `fori_loop`: loops in the style of JAX, with a state of any nested structure.

Users call these functions from `occelo`. `looping.associative` and some distributions (`occelo_stats.functions`)
call them, too. (`looping.classic` has `scan`, in the style of Theano.)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from occelo_graph.applicable import check_arguments
from occelo_graph.errors import describe, explained_by
from occelo_graph.ir.nodes import Constant, Variable, nodes_made
from occelo_graph.ir.taken_constants import taken
from occelo_graph.narrowing import is_tuple
from occelo_graph.ops.control.checks import CheckAndRaise
from occelo_graph.ops.elemwise.arithmetic import ge, gt, maximum, minimum, switch
from occelo_graph.ops.shape.reading import shape_i
from occelo_graph.tensors.constant import as_tensor_variable
from occelo_graph.tensors.type import TensorType
from occelo_loops.ops.building.bodies import Step, as_condition, number_of_steps, scan_node
from occelo_loops.ops.derivatives.checkpoints import checkpointed
from occelo_loops.ops.nested import K, S, Stepper, Structure, flatten, made_at, shown
from occelo_loops.ops.states import default_updates

_MOST_STEPS = 2**62


def _variables(values: list[Any]) -> list[Variable]:
    return [v if isinstance(v, Variable) else as_tensor_variable(v) for v in values]


def _state_and_kept(returned: Any, step: Stepper[Any, Any]) -> tuple[Any, Any]:
    """The new state and the values to keep, from what ``step`` returned. TypeError if this is not a pair."""
    if is_tuple(returned) and len(returned) == 2:
        return returned[0], returned[1]
    raise TypeError(
        f"A step of a loop{made_at(step)} returns two values, the new state and what is kept (or None), and not {shown(returned)}"
    )


def _same_structure(state: Any, init: Any) -> None:
    """TypeError if the state after a step has another structure than the initial state."""
    if flatten(state)[1].kind != flatten(init)[1].kind:
        raise TypeError(
            f"The state of a loop keeps its structure: it starts as {shown(init)}, and a step returns {shown(state)}"
        )


@explained_by("loops")
def loop(
    step: Stepper[S, K],
    init: Any,
    xs: Any = None,
    length: Any = None,
    until: Callable[[Any], Any] | None = None,
    reverse: bool = False,
    *,
    checkpoint: int | str | None = None,
    name: str | None = None,
) -> tuple[S, K]:
    """Run ``step`` once for each element of ``xs``. Each step gets the state that the previous step returned.

    Returns the final state, and the kept values of all steps, stacked along a new first axis.

    - ``step(state, x)``: a function that returns a pair: the new state, and the values of this step to keep, or None.
      Without ``xs`` it is called as ``step(state)``.
    - ``init``: the initial state. States, elements and kept values may be tensors, nested tuples, lists, dicts and
      dataclasses of tensors, or None. A Python number in ``init`` gets the dtype that the steps return.
    - ``xs``: tensors that are read along their first axes.
    - ``length``: the number of steps, an integer scalar. The default is the length of ``xs``. If the lengths of several
      tensors in ``xs`` differ at run time, the default is the smallest one.
    - ``until(state)``: a function that returns a scalar condition of the new state. The loop ends after the first step
      in which the condition holds.
    - ``reverse``: go through ``xs`` from the last element to the first. Kept values are stacked in the order of ``xs``.
    - ``checkpoint``: for reverse mode, keep only the states between blocks of steps. This needs less memory, and one
      more forward pass. An integer is the number of steps in a block. "sqrt" means the square root of the number of
      steps, which needs the least memory. A text such as "64 MB" limits the memory for these states; if the limit is
      too small, "sqrt" is used. With ``until``, the size of blocks follows from the largest possible number of steps.
    - ``name``: the name of the loop in errors and printed graphs.

    If a step draws with a `RandomStream`, each step draws new numbers.

    TypeError if a step changes the structure of the state, or a dtype, number of dimensions or static length in it.
    ValueError without ``xs`` and ``length``, or if static lengths contradict each other. ValueError at run time for a
    negative ``length``, or if ``xs`` has fewer than ``length`` elements.
    """
    if xs is not None:
        check_arguments("The step of a loop", step, "the state", "an element of xs")
    elif length is not None:
        check_arguments("The step of a loop", step, "the state")
    return _run(step, init, xs, length, until, reverse, checkpoint=checkpoint, name=name)


def _run(
    step: Stepper[Any, Any],
    init: Any,
    xs: Any,
    length: Any,
    until: Callable[[Any], Any] | None,
    reverse: bool = False,
    *,
    checkpoint: int | str | None = None,
    name: str | None = None,
    bounded: bool = True,
    label: Callable[[str], str] = str,
) -> tuple[Any, Any]:
    """Like `loop`, with two more options. ``bounded`` is a field of `Scan`; ``label`` changes state names in errors."""
    run: Any = step
    state, state_structure = flatten(init, "state")
    elements, element_structure = flatten(xs, "xs")
    sequences = _variables(elements)
    steps = _steps(sequences, length, element_structure)
    structures: list[Structure] = []

    def body(carried: list[Variable], at: list[Variable], constants: list[Variable]) -> Step:
        tree = state_structure.rebuild(list(carried))
        with nodes_made() as nodes:
            if xs is None:
                returned = run(tree)
            else:
                returned = run(tree, element_structure.rebuild(list(at)))
            following, trace = _state_and_kept(returned, step)
            stop = None if until is None else until(following)
        _same_structure(following, init)
        new, _ = flatten(following, "state")
        traced, structure = flatten(trace, "kept")
        structures[:] = [structure]
        updates = default_updates([*new, *traced, stop], nodes, own=True)
        return Step(new, _variables(traced), stop, updates)

    op_, outputs = scan_node(
        body,
        steps,
        state,
        sequences,
        reverse=reverse,
        bounded=bounded,
        name=name,
        names=[f"The {label(n)}" for n in state_structure.names],
    )
    if checkpoint is not None:
        outputs = checkpointed(op_, outputs, checkpoint)
    first = len(state)
    final = state_structure.rebuild(list(outputs[:first]))
    traces = outputs[op_.carried : op_.carried + op_.traces]
    return final, structures[0].rebuild(list(traces))


def _steps(sequences: list[Variable], length: Any, structure: Structure) -> Any:
    for variable, name in zip(sequences, structure.names, strict=True):
        if not variable.type.ndim:
            raise TypeError(
                f"A loop reads {name} along its first axis, and this is a scalar: {describe(variable)}"
            )
    if length is not None:
        return number_of_steps(length)
    if not sequences:
        raise ValueError("A loop needs xs or a length, to know how many steps to take")
    lengths = {v.type.shape[0] for v in sequences if v.type.shape} - {None}
    if len(lengths) > 1:
        each = ", ".join(map(describe, sequences))
        raise ValueError(f"The sequences of a loop have different lengths: {each}")
    least = shape_i(sequences[0], 0)
    for other in sequences[1:]:
        least = minimum(least, shape_i(other, 0))
    return least


@explained_by("loops")
def fori_loop(lower: Any, upper: Any, body: Callable[[Any, Any], S], init: Any) -> S:
    """The final state of ``for i in range(lower, upper): state = body(i, state)``.

    The initial state is ``init``, which may have any nested structure, as in `loop`. If ``upper <= lower``, the result
    is ``init``.

    The bounds are integer scalars of any dtypes: numbers, NumPy scalars or variables. ``i`` is always an int64 scalar.
    So a state of a smaller dtype needs a cast of ``i``: float32 + int64 is float64, as for arrays in NumPy. (In JAX,
    ``i`` has the dtype of the bounds, which then must have equal dtypes. If JAX knows both bounds, ``i`` counts as a
    Python number. JAX also accepts floats as bounds.)

    TypeError for bounds that are not integer scalars. OverflowError for bounds that int64 cannot represent, when the
    graph is built or when it runs.
    """
    check_arguments("The body of fori_loop", body, "the number of the step", "the state")
    lower, upper = _bound(lower), _bound(upper)
    first = int(lower.data) if isinstance(lower, Constant) else None
    length: Any
    if first is not None and isinstance(upper, Constant):
        length = max(int(taken(upper)) - int(taken(lower)), 0)
    elif first == 0:
        length = maximum(upper, 0)
    else:
        # the difference may overflow: to a large number if there is no step, or to a negative one, which is an error
        length = switch(gt(upper, lower), upper - lower, np.int64(0))

    def step(carried: Any) -> Any:
        i, state = carried
        following = body(i, state)
        _same_structure(following, init)
        return (i + 1, following), None

    def label(name: str) -> str:
        return "state" + name.removeprefix("state[1]")

    (_, state), _ = _run(step, (lower, init), None, length, None, label=label)
    return state


def _bound(value: Any) -> Any:
    """A bound of a `fori_loop` as an int64 scalar."""
    what = "A bound of fori_loop"
    bound = number_of_steps(value, what)
    if isinstance(value, Variable) and value.type == TensorType("uint64", ()):
        # numbers that int64 cannot represent have become negative
        check = CheckAndRaise(OverflowError, f"{what} must be an int64 scalar, and is too large")
        return check(bound, ge(bound, 0))
    return bound


@explained_by("loops")
def while_loop(
    cond: Callable[[Any], Any],
    body: Callable[[Any], S],
    init: Any,
    max_steps: Any = None,
) -> S:
    """The final state of ``while cond(state): state = body(state)``.

    The initial state is ``init``, which may have any nested structure, as in `loop`. ``max_steps`` is the largest
    number of steps. Gradients in reverse mode need it, since they keep the states of all steps. Without it they raise
    NotImplementedError.
    """
    from occelo_graph.ops.control.branches import ifelse

    check_arguments("The condition of while_loop", cond, "the state")
    check_arguments("The body of while_loop", body, "the state")
    steps = as_tensor_variable(np.int64(_MOST_STEPS)) if max_steps is None else max_steps
    leaves, structure = flatten(init, "state")
    condition = as_condition(cond(structure.rebuild(list(_variables(leaves)))))
    first = ifelse(condition, number_of_steps(steps), as_tensor_variable(np.int64(0)))

    def step(state: Any) -> Any:
        return body(state), None

    def until(state: Any) -> Any:
        return ~as_condition(cond(state))

    state, _ = _run(step, init, None, first, until, bounded=max_steps is not None)
    return state
