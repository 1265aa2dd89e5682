"""Functions that traverse graphs and return ancestors, inputs or topological orders. All packages use them.

No function is recursive, so the depth of graphs is not limited.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Generator, Hashable, Iterable, Sequence
from typing import Any, Literal, TypeVar, overload

from occelo_graph.errors import explained, explained_by
from occelo_graph.ir.nodes import Apply, AtomicVariable, Constant, Variable
from occelo_graph.ir.shared import SharedVariable

T = TypeVar("T", bound=Hashable)


def as_variables(graphs: Variable | Iterable[Variable]) -> list[Variable]:
    """A list of variables, from one variable or an iterable of variables. TypeError for anything else."""
    if isinstance(graphs, Variable):
        return [graphs]
    several = hasattr(graphs, "__iter__") and not isinstance(graphs, str)
    listed: list[Any] = list(graphs) if several else [graphs]
    for each in listed:
        if not isinstance(each, Variable):
            raise explained(TypeError(f"A graph is told by its variables, got {each!r}"), "graphs")
    return listed


def _stops(blockers: Variable | Collection[Variable] | None) -> frozenset[Variable]:
    return frozenset([blockers] if isinstance(blockers, Variable) else blockers or ())


@overload
def walk(
    nodes: Iterable[T],
    expand: Callable[[T], Iterable[T] | None],
    bfs: bool = True,
    return_children: Literal[False] = False,
    *,
    hash_fn: Callable[[T], Any] = id,
) -> Generator[T, None, None]: ...
@overload
def walk(
    nodes: Iterable[T],
    expand: Callable[[T], Iterable[T] | None],
    bfs: bool = True,
    *,
    return_children: Literal[True],
    hash_fn: Callable[[T], Any] = id,
) -> Generator[tuple[T, Iterable[T] | None], None, None]: ...
def walk(
    nodes: Iterable[T],
    expand: Callable[[T], Iterable[T] | None],
    bfs: bool = True,
    return_children: bool = False,
    *,
    hash_fn: Callable[[T], Any] = id,
) -> Generator[Any, None, None]:
    """Visit ``nodes``, and everything that is reached from them, once each.

    ``expand`` returns the neighbours of a node. The order is breadth first, or depth first with ``bfs=False``. With
    ``return_children``, pairs of a node and what ``expand`` returns for it are yielded. Two objects with equal
    ``hash_fn`` count as the same node.
    """
    start: Any = nodes
    if not isinstance(start, Iterable) or not callable(expand):
        text = f"walk takes nodes, and a function of a node that returns its neighbours, got {start!r} and {expand!r}"
        raise explained(TypeError(text), "graphs")
    pending = deque(nodes)
    seen: set[Any] = set()
    take = pending.popleft if bfs else pending.pop
    while pending:
        node = take()
        key = hash_fn(node)
        if key in seen:
            continue
        seen.add(key)
        if not return_children:
            yield node
        neighbours = expand(node)
        if return_children:
            yield node, neighbours
        if neighbours:
            pending.extend(neighbours if bfs else reversed(list(neighbours)))


def ancestors(
    graphs: Variable | Iterable[Variable], blockers: Collection[Variable] | None = None
) -> Generator[Variable, None, None]:
    """The variables ``graphs``, and all variables on which they depend, depth first.

    The traversal does not continue from the variables in ``blockers`` to the variables that compute them.
    """
    stop = _stops(blockers)

    def expand(variable: Variable) -> list[Variable] | None:
        if variable.owner is not None and variable not in stop:
            return variable.owner.inputs
        return None

    yield from walk(as_variables(graphs), expand, bfs=False)


def apply_ancestors(
    graphs: Variable | Iterable[Variable], blockers: Collection[Variable] | None = None
) -> Generator[Apply, None, None]:
    """The nodes on which the variables ``graphs`` depend, once each. The traversal stops at ``blockers``."""
    seen: set[Apply] = set()
    stop = _stops(blockers)
    for variable in ancestors(graphs, stop):
        owner = variable.owner
        if owner is not None and owner not in seen and variable not in stop:
            seen.add(owner)
            yield owner


def graph_inputs(
    graphs: Variable | Iterable[Variable], blockers: Collection[Variable] | None = None
) -> Generator[Variable, None, None]:
    """The roots on which ``graphs`` depend, including constants, and the ``blockers`` that are reached."""
    stop = _stops(blockers)
    yield from (v for v in ancestors(graphs, stop) if v.owner is None or v in stop)


def explicit_graph_inputs(graphs: Variable | Iterable[Variable]) -> Generator[Variable, None, None]:
    """The roots on which ``graphs`` depend, without constants and shared variables: the roots that need a value."""
    for variable in graph_inputs(graphs):
        if not isinstance(variable, AtomicVariable | SharedVariable):
            yield variable


def vars_between(
    ins: Collection[Variable], outs: Iterable[Variable]
) -> Generator[Variable, None, None]:
    """The variables ``outs``, and all variables on which they depend. The traversal stops at ``ins`` and at roots.

    The variables at which it stops are included.
    """
    yield from ancestors(list(outs), ins)


def orphans_between(
    ins: Collection[Variable], outs: Iterable[Variable]
) -> Generator[Variable, None, None]:
    """The roots that are not in ``ins`` and on which ``outs`` depend. The traversal stops at ``ins``."""
    blockers = frozenset(ins)
    yield from (v for v in vars_between(blockers, outs) if v.owner is None and v not in blockers)


def applys_between(
    ins: Collection[Variable], outs: Iterable[Variable]
) -> Generator[Apply, None, None]:
    """The nodes that compute ``outs`` from ``ins`` and other roots, once each."""
    yield from apply_ancestors(list(outs), ins)


def apply_depends_on(apply: Apply, depends_on: Apply | Collection[Apply]) -> bool:
    """Whether the node ``apply`` is in ``depends_on``, or depends on a node in ``depends_on``."""
    sources = {depends_on} if isinstance(depends_on, Apply) else set(depends_on)
    return apply in sources or any(n in sources for n in apply_ancestors(apply.inputs))


def variable_depends_on(variable: Variable, depends_on: Variable | Collection[Variable]) -> bool:
    """Whether ``variable`` is in ``depends_on``, or depends on a variable in ``depends_on``."""
    sources = {depends_on} if isinstance(depends_on, Variable) else set(depends_on)
    return any(v in sources for v in ancestors(variable))


def truncated_graph_inputs(
    outputs: Sequence[Variable], ancestors_to_include: Collection[Variable] | None = None
) -> list[Variable]:
    """The inputs of the smallest graph that computes ``outputs`` from the variables ``ancestors_to_include``.

    The graph computes only variables that depend on ``ancestors_to_include``. All other variables that it reads are its
    inputs, except constants. An output that does not depend on ``ancestors_to_include`` is an input, too.
    """
    include = frozenset(ancestors_to_include or ())
    dependent: set[Variable] = set()
    order = toposort(outputs, blockers=include)
    for node in order:
        if any(v in include or v in dependent for v in node.inputs):
            dependent.update(node.outputs)
    truncated: dict[Variable, None] = {}
    for variable in walk(
        outputs,
        lambda v: (
            v.owner.inputs if v.owner is not None and v in dependent and v not in include else None
        ),
        bfs=False,
    ):
        if (variable in include or variable not in dependent) and not isinstance(
            variable, Constant
        ):
            truncated[variable] = None
    return list(truncated)


def toposort(
    graphs: Variable | Iterable[Variable], blockers: Collection[Variable] | None = None
) -> list[Apply]:
    """The nodes that compute ``graphs``, in topological order: each node comes after the nodes on which it depends.

    The order depends only on the structure of the graph. It is depth first, from the first output, with inputs from
    left to right. The traversal stops at ``blockers``. ValueError for a cycle.
    """
    stop = _stops(blockers)
    done: dict[Apply, None] = {}
    # the nodes on the path from the start of the search to the node on top of the stack
    path: set[Apply] = set()
    for variable in as_variables(graphs):
        if variable.owner is None or variable in stop:
            continue
        stack: list[Apply] = [variable.owner]
        while stack:
            node = stack[-1]
            if node in done:
                stack.pop()
                continue
            if node in path:
                path.discard(node)
                done[node] = None
                stack.pop()
                continue
            path.add(node)
            for needed in reversed(node.inputs):
                owner = needed.owner
                if owner is not None and owner not in done and needed not in stop:
                    if owner in path:
                        raise ValueError(f"The graph has a cycle through {owner}")
                    stack.append(owner)
    return list(done)


@explained_by("graphs")
def general_toposort(outputs: Iterable[T], deps: Callable[[T], Iterable[T] | None]) -> list[T]:
    """A topological order of ``outputs``, which may be any hashable values, and of everything on which they depend.

    ``deps`` returns the values that must come before a value. ValueError for a cycle.
    """
    done: dict[T, None] = {}
    open_: set[T] = set()
    stack = list(outputs)[::-1]
    while stack:
        node = stack[-1]
        if node in done or node in open_:
            open_.discard(node)
            done[stack.pop()] = None
            continue
        open_.add(node)
        for needed in reversed(list(deps(node) or ())):
            if needed in open_:
                raise ValueError(f"The graph has a cycle through {needed}")
            if needed not in done:
                stack.append(needed)
    return list(done)


def io_toposort(
    inputs: Collection[Variable],
    outputs: Iterable[Variable],
    orderings: dict[Apply, list[Apply]] | None = None,
) -> list[Apply]:
    """The nodes that compute ``outputs`` from ``inputs``, in topological order.

    ``orderings`` maps a node to further nodes that must come before it.
    """
    if not orderings:
        return toposort(outputs, inputs)
    return toposort_with_orderings(outputs, inputs=inputs, orderings=orderings)


def toposort_with_orderings(
    graphs: Variable | Iterable[Variable],
    *,
    inputs: Collection[Variable] | None = None,
    orderings: dict[Apply, list[Apply]] | None = None,
) -> list[Apply]:
    """The nodes that compute ``graphs`` from ``inputs``, in a topological order with additional constraints.

    ``orderings`` maps a node to further nodes that must come before it.
    """
    stop = frozenset(inputs or ())
    extra = orderings or {}

    def deps(node: Apply) -> list[Apply]:
        owners = [v.owner for v in node.inputs if v.owner is not None and v not in stop]
        return owners + extra.get(node, [])

    starts = [v.owner for v in as_variables(graphs) if v.owner is not None and v not in stop]
    return general_toposort(dict.fromkeys(starts), deps)


def get_var_by_name(
    graphs: Variable | Iterable[Variable], target_var_id: str
) -> tuple[Variable, ...]:
    """The variables with the name or `auto_name` ``target_var_id``.

    They are searched among ``graphs`` and the variables on which these depend.
    """
    return tuple(
        v for v in ancestors(as_variables(graphs)) if target_var_id in (v.name, v.auto_name)
    )
