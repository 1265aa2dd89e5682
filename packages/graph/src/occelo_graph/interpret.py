"""The interpreter: runs a graph node by node with NumPy. Its results and errors are the reference for all backends.

It is used where speed does not matter:

- `Variable.eval` runs the interpreter if the package `occelo_compile` is not imported.
- When the call of a compiled function fails, `occelo_compile.debugging.error_replay` replays the user's graph in the interpreter
  to raise the error. If the graph has effects, a linker replays only the compiled block that failed.
- The linkers for JAX and PyTorch run single nodes with the interpreter while they trace.
- Ops with an inner graph run it with the interpreter if they run in Python: `OpFromGraph` with `evaluate`, loops with
  `loop_kernel` or `body_runner`. So the Python linkers use it, too.

Other modules use parts of the interpreter. The Python linkers (`occelo_link.vm`) use its liveness analysis
(`last_uses`). All linkers and DebugMode use its error messages (`annotate_error`).
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Collection, Generator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import field
from time import perf_counter
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from occelo_graph import upward
from occelo_graph.config import EXCEPTION_VERBOSITY
from occelo_graph.errors import (
    MissingInputError,
    UnusedInputError,
    describe,
    explained,
    in_context,
    lines,
    without_address,
)
from occelo_graph.frozen_dataclasses import frozen_dataclass
from occelo_graph.ir.nodes import Apply, Constant, Variable
from occelo_graph.ir.op import Kernel, Op
from occelo_graph.ir.regions import Loop, awaited, writes_into_carried
from occelo_graph.ir.shared import SharedVariable
from occelo_graph.ir.traversal import ancestors, get_var_by_name, toposort
from occelo_graph.ir.types import Type
from occelo_graph.narrowing import is_array
from occelo_graph.ops.specialization import (
    checks_without_values,
    fill_of_known_shape,
    known_lengths,
)

if TYPE_CHECKING:
    from occelo_graph.fgraph.frozen import FrozenFunctionGraph

_ANNOTATED = "_occelo_annotated"

Place = tuple[Apply, ...]
Recorded = Mapping[Place, deque[Any]]


def annotate_error(error: Exception, node: Apply, arrays: Sequence[Any]) -> Exception:
    """An exception like ``error``, with a message that names the failed node, its source line and its inputs.

    ``arrays`` are the values of the inputs. The old message stays as the last line. The option ``exception_verbosity``
    adds details. If an exception of this class cannot be made from a message, the text is added as a note instead.
    """
    if hasattr(error, _ANNOTATED):
        return error
    names = [f"`{v.name}`" for v in node.outputs if v.name is not None]
    what = f"{', '.join(names)} = {node.op}" if names else str(node.op)
    source = node.source
    context = [f"While computing {what}" + (f", made at {source}:" if source is not None else ":")]
    if source is not None and source.text:
        context.append(f"    {source.text}")
    verbosity = EXCEPTION_VERBOSITY.get()
    for position, (variable, array) in enumerate(zip(node.inputs, arrays, strict=False)):
        shown = _shown(array, verbosity != "low")
        context.append(f"  input {position}, {variable.name or str(variable)}: {shown}")
    if verbosity == "high":
        tree: str = upward.debugprint(node.outputs, file="str", depth=_DEEPEST_SHOWN)
        context += ["The graph of the node:", *(f"  {line}" for line in tree.rstrip().splitlines())]
    annotated = explained(in_context(error, context), "running")
    setattr(annotated, _ANNOTATED, True)
    return annotated


def _shown(array: Any, more: bool) -> str:
    """The dtype and shape of an input of a failed node. ``more`` adds strides, and the elements if they are few."""
    if not is_array(array):
        return without_address(repr(array))
    text = f"{array.dtype} {array.shape}"
    if not more:
        return text
    elements = f", values {array.tolist()}" if array.size <= _FEW else ""
    return f"{text}, strides {array.strides}{elements}"


_FEW = 8
_DEEPEST_SHOWN = 6


def last_uses(order: Sequence[Apply], outputs: Sequence[Variable]) -> list[list[Variable]]:
    """Liveness analysis: for each node of ``order``, the variables that are dead after it and were not dead before.

    Roots of the graph and ``outputs`` are never listed.
    """
    live = set(outputs)
    frees: list[list[Variable]] = []
    for node in reversed(order):
        free: list[Variable] = []
        for variable in (*node.inputs, *node.outputs):
            if variable not in live:
                live.add(variable)
                if variable.owner is not None:
                    free.append(variable)
        frees.append(free)
    frees.reverse()
    return frees


def run_node(node: Apply, arrays: Sequence[Any]) -> Sequence[Any]:
    """Compute the outputs of a node from the values of its inputs. An in-place op overwrites copies of the inputs.

    Inside of a ``with has_run(...)`` block, recorded results of the node are returned instead.
    """
    replay = _REPLAY.get()
    if replay is None:
        return _computed(node, arrays)
    place = (*replay.within, node)
    recorded = replay.results.get(place)
    if recorded:
        return _recorded(recorded)
    if not node.op.loops:
        return _computed(node, arrays)
    with has_run(replay.results, place):
        return _computed(node, arrays)


def _computed(node: Apply, arrays: Sequence[Any], overwrite: bool = False) -> Sequence[Any]:
    operands: Sequence[Any] = arrays
    if node.op.destroy_map and not overwrite:
        over = {i for sources in node.op.destroy_map.values() for i in sources}
        operands = [_own(node.inputs[i].type, a) if i in over else a for i, a in enumerate(arrays)]
    runner = _RUNNER.get()
    try:
        kernel = node.op.kernel(node)
        return kernel(*operands) if runner is None else runner.run(node, kernel, operands)
    except Exception as error:
        annotated = annotate_error(error, node, arrays)
        if annotated is error:
            raise
        raise annotated from None


class _Runner(Protocol):
    """An object that runs nodes of inner graphs. `_RUNNER` has the current one, if any."""

    def run(self, node: Apply, kernel: Kernel, arrays: Sequence[Any]) -> Sequence[Any]: ...


class _Clock:
    """Runs nodes of inner graphs and times them, for `inner_nodes_timed`."""

    def __init__(self, note: Callable[[Place, float, Sequence[Any]], None]) -> None:
        self.note = note
        self.within: Place = ()

    def run(self, node: Apply, kernel: Kernel, arrays: Sequence[Any]) -> Sequence[Any]:
        """Run a node, and pass its time to ``note``. The time includes the nodes of its inner graphs."""
        outside = self.within
        self.within = (*outside, node)
        start = perf_counter()
        try:
            results = kernel(*arrays)
            self.note(self.within, perf_counter() - start, results)
        finally:
            self.within = outside
        return results


_RUNNER: ContextVar[_Runner | None] = ContextVar("runner", default=None)


@contextmanager
def inner_nodes_timed(note: Callable[[Place, float, Sequence[Any]], None]) -> Generator[None]:
    """Inside of the ``with`` block, time the nodes of inner graphs, such as the bodies of loops, that run in Python.

    After each run of an inner node, ``note`` is called with the node's place, the time in seconds, and the results. The
    place lists the nodes whose inner graphs contain the node, from outside to inside, then the node itself. The place
    omits the outermost of these nodes, which is in no inner graph. ``note`` is called for the nodes of an inner graph
    before it is called for the node that has this inner graph.
    """
    token = _RUNNER.set(_Clock(note))
    try:
        yield
    finally:
        _RUNNER.reset(token)


class _Instead:
    """Runs nodes of inner graphs by calling a function, for `inner_nodes_run_by`.

    `annotate_error` does not change the errors that the function raises.
    """

    def __init__(self, function: Callable[[Apply, Kernel, Sequence[Any]], Sequence[Any]]) -> None:
        self.function = function

    def run(self, node: Apply, kernel: Kernel, arrays: Sequence[Any]) -> Sequence[Any]:
        try:
            return self.function(node, kernel, arrays)
        except Exception as error:
            setattr(error, _ANNOTATED, True)
            raise


@contextmanager
def inner_nodes_run_by(
    function: Callable[[Apply, Kernel, Sequence[Any]], Sequence[Any]] | None,
) -> Generator[None]:
    """Inside of the ``with`` block, ``function`` runs the nodes of inner graphs, such as the bodies of loops.

    DebugMode checks these nodes in this way. The function accepts a node, the node's kernel and the values of its
    inputs, and returns the results. If ``function`` is None, the nodes run as usual. Errors that the function raises
    keep their messages. A note is added that names the loop and the iteration.
    """
    token = _RUNNER.set(None if function is None else _Instead(function))
    try:
        yield
    finally:
        _RUNNER.reset(token)


@frozen_dataclass
class _Replay:
    """Recorded results, and the nodes whose inner graphs are running now, the outermost one first."""

    results: Recorded
    within: Place


_REPLAY: ContextVar[_Replay | None] = ContextVar("replay", default=None)


@contextmanager
def has_run(results: Recorded, within: Place = ()) -> Generator[None]:
    """Inside of the ``with`` block, nodes with recorded results do not run: their recorded results are returned.

    A replay uses this for nodes with effects, which must not run twice. ``results`` maps the place of a node to a queue
    with an entry for each run, in order. An entry is the list of results, or the exception that was raised. A place
    lists the nodes whose inner graphs contain the node, then the node itself. The node alone is not enough, since
    several nodes may share one inner graph. If the ``with`` block itself runs nodes of an inner graph, ``within`` lists
    the nodes around them: the beginning of their places.
    """
    token = _REPLAY.set(_Replay(results, within) if results else None)
    try:
        yield
    finally:
        _REPLAY.reset(token)


def _recorded(results: deque[Any]) -> Sequence[Any]:
    outcome: Any = results.popleft()
    if isinstance(outcome, BaseException):
        raise outcome
    return outcome


def _run_lazily(
    outputs: Sequence[Variable],
    values: dict[Variable, Any],
    instead: Mapping[Apply, Apply] | None = None,
) -> None:
    """Compute ``outputs``, in a graph with lazy ops. A node runs only if ``outputs`` or a node that runs need it.

    The results are added to ``values``. ``instead`` maps a node to the node that runs in its place.
    """
    stack = list(outputs)
    while stack:
        variable = stack[-1]
        if variable in values:
            stack.pop()
            continue
        owner = variable.owner
        assert owner is not None
        node = instead.get(owner, owner) if instead else owner
        missing = awaited(node, node.inputs, values.__contains__, values.__getitem__)
        if missing:
            stack.extend(missing)
            continue
        arrays = [values.get(v) for v in node.inputs]
        values.update(zip(owner.outputs, run_node(node, arrays), strict=True))
        stack.pop()


@frozen_dataclass
class _Plan:
    """How the nodes of an inner graph run.

    - ``order``: the nodes, in topological order.
    - ``instead``: maps a node to a node that runs in its place, and that may overwrite its inputs.
    - ``copied``: nodes whose results are copied, since they may be views of memory that is overwritten.
    """

    order: Sequence[Apply]
    instead: Mapping[Apply, Apply] = field(default_factory=dict[Apply, Apply])
    copied: Collection[Apply] = ()


def body_runner(
    body: FrozenFunctionGraph, plan: _Plan | None = None
) -> Callable[[Sequence[Any]], list[Any]]:
    """A function that runs the inner graph ``body`` once: from the values of its inputs to those of its outputs."""
    lazy = any(node.op.lazy for node in body.nodes)
    plan = plan or _Plan(body.nodes)
    constants: dict[Variable, Any] = {
        v: v.data
        for v in (*(v for node in body.nodes for v in node.inputs), *body.outputs)
        if isinstance(v, Constant)
    }

    def run(operands: Sequence[Any]) -> list[Any]:
        values: dict[Variable, Any] = {**constants, **dict(zip(body.inputs, operands, strict=True))}
        if lazy:
            _run_lazily(body.outputs, values)
        else:
            for node in plan.order:
                arrays = [values[v] for v in node.inputs]
                other = plan.instead.get(node)
                produced = (
                    run_node(node, arrays) if other is None else _computed(other, arrays, True)
                )
                if node in plan.copied:
                    produced = [np.array(each) for each in produced]
                values.update(zip(node.outputs, produced, strict=True))
        return [values[v] for v in body.outputs]

    return run


def _in_place(loop: Loop) -> _Plan:
    """A plan by which the body writes into carried values instead of copying them.

    Otherwise a loop with traces would take quadratic time. Nodes that write come after nodes that read the old value,
    as far as possible, and single rows that are read are copied. A value is overwritten only if neither it nor a view
    of it is needed afterwards.
    """
    body, chains = loop.body, writes_into_carried(loop)
    if not chains or any(node.op.lazy for node in body.nodes):
        return _Plan(body.nodes)
    late: set[Apply] = {node for chain in chains.values() for node in chain}
    for node in body.nodes:
        if any(v.owner in late for v in node.inputs):
            late.add(node)
    order = [n for n in body.nodes if n not in late] + [n for n in body.nodes if n in late]
    written = {v for ns in chains.values() for n in ns for v in (n.inputs[0], n.outputs[0])}
    copied = {n for n in order if n.inputs[:1] and n.inputs[0] in written and _is_row(n)}
    shown: dict[Variable, list[Variable]] = {}
    """The variables whose memory a view may show."""
    last_read: dict[Variable, Apply] = {}
    for node in order:
        for k, sources in () if node in copied else node.op.view_map.items():
            of = [u for i in sources for u in shown.get(node.inputs[i], [node.inputs[i]])]
            shown[node.outputs[k]] = [node.outputs[k], *of]
        last_read.update((u, node) for v in node.inputs for u in shown.get(v, [v]))
    final_uses = Counter(u for v in body.outputs for u in shown.get(v, [v]))
    instead: dict[Apply, Apply] = {}
    for chain in chains.values():
        read = [node.inputs[0] for node in chain]
        last = all(last_read[v] is node for v, node in zip(read, chain, strict=True))
        if last and not any(final_uses[v] for v in read) and final_uses[chain[-1].outputs[0]] == 1:
            for node in chain:
                variant: Any = node.op
                instead[node] = variant.with_inplace().make_node(*node.inputs)
    return _Plan(order, instead, copied)


def _is_row(node: Apply) -> bool:
    """Whether the result of a node is a view of its first input with fewer dimensions."""
    shape, whole = node.outputs[0].type.shape, node.inputs[0].type.shape
    return node.op.view_map == {0: [0]} and len(shape or ()) < len(whole or ())


def loop_kernel(loop: Loop, op: Op) -> Kernel:
    """A function that runs a loop in Python, for the interpreter and the Python linkers.

    ``op`` is the op of the loop; error messages name it and the iteration.
    """
    body = loop.body
    kinds = [v.type for v in body.inputs[: len(loop.carried)]]
    once = body_runner(body, _in_place(loop))

    def iteration(number: int, values: Sequence[Any]) -> list[Any]:
        try:
            return once(values)
        except Exception as error:
            error.add_note(f"This was iteration {number} of {op}.")
            raise

    def run(*arrays: Any) -> Sequence[Any]:
        # copies, since the body may overwrite carried values, but not the inputs of the node
        state = [_own(*each) for each in zip(kinds, (arrays[i] for i in loop.carried), strict=True)]
        read = [arrays[i] for i in loop.read]
        assert loop.count is not None
        for number in range(int(arrays[loop.count])):
            results = iteration(number, [*state, *read])
            state = results[: len(state)]
            if loop.stops and bool(results[-1]):
                break
        return [_own(*each) for each in zip(kinds, state, strict=True)]

    return run


def _own(kind: Type, value: Any) -> Any:
    if kind.parts() is not None:
        return kind.copy(value)
    copies: Any = getattr(value, "copy", None)
    return value if copies is None else copies()


def _root_value(variable: Variable, values: Mapping[Variable, Any]) -> Any:
    if variable in values:
        try:
            return variable.type.accept(values[variable], allow_downcast=None)
        except (TypeError, ValueError) as error:
            context = [f"The value of {describe(variable)}:"]
            raise explained(in_context(error, context), "calls") from None
    if isinstance(variable, Constant):
        return variable.data
    if isinstance(variable, SharedVariable):
        return variable.container.storage[0]
    context = [f"Values were given for {', '.join(str(v) for v in values) or 'no variable'}"]
    text = lines(context, f"There is no value for {describe(variable)}")
    raise explained(MissingInputError(text), "MissingInputError")


def _result(kind: Type, value: Any) -> Any:
    """A copy of an output's value, for the caller. A value that is neither an array nor made of arrays is not copied."""
    if is_array(value):
        return np.array(value)
    return value if kind.is_array or kind.parts() is None else kind.copy(value)


def evaluate(
    outputs: Variable | Sequence[Variable], inputs: Mapping[Variable, Any] | None = None
) -> Any:
    """Compute the values of ``outputs`` with NumPy: one value for a variable, a list for a sequence.

    ``inputs`` maps roots, or other variables, to values. The type of the variable converts its value. Branches that are
    not taken are not computed. `MissingInputError` for a root without a value, and TypeError for a key that is no
    variable.
    """
    arguments = dict(inputs or {})
    keys: list[Any] = list(arguments)
    for key in keys:
        if not isinstance(key, Variable):
            raise explained(
                TypeError(
                    f"Values are told by variables, got {key!r}; the method eval takes names, too"
                ),
                "values",
            )
    single = isinstance(outputs, Variable)
    targets: list[Variable] = [outputs] if isinstance(outputs, Variable) else list(outputs)
    order = toposort(targets, blockers=arguments.keys())
    values: dict[Variable, Any] = {v: _root_value(v, arguments) for v in arguments}
    instead = _without_models(order) | checks_without_values(order, values)
    sizes = {v: n for node in order if (n := known_lengths(node)) is not None for v in node.outputs}
    if instead or sizes:
        values.update((v, np.array(n, "int64")) for v, n in sizes.items() if v not in values)
        order = _needed(order, targets, values, instead)
    read = [v for node in order for v in instead.get(node, node).inputs]
    for variable in (*read, *targets):
        if variable.owner is None and variable not in values:
            values[variable] = _root_value(variable, arguments)
    with np.errstate(all="ignore"):
        if any(node.op.lazy for node in order):
            _run_lazily(targets, values, instead)
        else:
            for node, free in zip(order, last_uses(order, targets), strict=True):
                run = instead.get(node, node)
                produced = run_node(run, [values[v] for v in run.inputs])
                values.update(zip(node.outputs, produced, strict=True))
                for variable in free:
                    values.pop(variable, None)
    results = [_result(v.type, values[v]) for v in targets]
    return results[0] if single else results


def _without_models(order: Sequence[Apply]) -> dict[Apply, Apply]:
    """Maps nodes such as ``zeros_like(x)``, for x of static shape, to nodes that compute the same tensor without x."""
    instead: dict[Apply, Apply] = {}
    for node in order:
        fill = fill_of_known_shape(node)
        if fill is not None:
            op, value = fill
            instead[node] = simpler = op.make_node(value)
            simpler.mark = node.mark
    return instead


def _needed(
    order: Sequence[Apply],
    targets: Sequence[Variable],
    values: Mapping[Variable, Any],
    instead: Mapping[Apply, Apply],
) -> list[Apply]:
    """The nodes of ``order`` that must run to compute ``targets``, in order.

    ``values`` has the values of variables that need no computation. ``instead`` maps a node to the node that runs in its
    place.
    """
    needed = {v for v in targets if v not in values}
    nodes: list[Apply] = []
    for node in reversed(order):
        if not needed.isdisjoint(node.outputs):
            needed.update(v for v in instead.get(node, node).inputs if v not in values)
            nodes.append(node)
    nodes.reverse()
    return nodes


def variable_eval(
    variable: Variable, inputs_to_values: Mapping[Any, Any] | None = None, **options: Any
) -> Any:
    """The function behind `Variable.eval`, with a compiler or the interpreter (`upward.set_evaluator`).

    ``inputs_to_values`` maps variables, or their names, to values. ValueError if no variable has the given name, or if
    several have it, or if a variable is given two values. If ``on_unused_input`` is "raise", a given variable that is
    not needed raises `UnusedInputError` (a ValueError).
    """
    by_variable: dict[Variable, Any] = {}
    lenient = options.get("on_unused_input", "raise") != "raise"
    for key, value in (inputs_to_values or {}).items():
        if isinstance(key, str):
            matches = list(get_var_by_name([variable], key))
            if not matches and lenient:
                continue
            if not matches:
                raise ValueError(f"No variable named {key!r} is needed for {variable}")
            if len(matches) > 1:
                raise ValueError(f"Several variables are named {key!r}; use the variable itself")
            key = matches[0]
        if key in by_variable:
            raise ValueError(f"{key} is given two values")
        by_variable[key] = value
    return upward.evaluator(variable, by_variable, **options)


def interpret(
    variable: Variable,
    given: Mapping[Variable, Any],
    on_unused_input: str = "raise",
    **options: Any,
) -> Any:
    """Compute a variable with `evaluate`. `Variable.eval` uses this function while `occelo_compile` is not imported.

    If ``on_unused_input`` is "raise", a variable in ``given`` that is not needed raises `UnusedInputError`. TypeError
    for ``options``, since only the compiler has options.
    """
    if options:
        raise TypeError(f"eval() got unexpected arguments {sorted(options)}")
    if on_unused_input == "raise":
        needed = set(ancestors([variable], given.keys()))
        for key in given:
            if key not in needed:
                raise UnusedInputError(f"{variable} is computed without {describe(key)}")
    return evaluate(variable, given)
