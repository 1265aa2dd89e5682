"""Functions that traverse graphs, and return ancestors, inputs and topological orders.

None of them is recursive, so the depth of graphs is not limited. All layers use them.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Generator, Hashable, Iterable, Sequence
from typing import Any, TypeVar

from occelo_graph.ir.nodes import Apply, AtomicVariable, Constant, Variable
from occelo_graph.ir.shared import SharedVariable

__all__ = [
    "ancestors",
    "apply_ancestors",
    "apply_depends_on",
    "applys_between",
    "as_variables",
    "explicit_graph_inputs",
    "general_toposort",
    "get_var_by_name",
    "graph_inputs",
    "io_toposort",
    "orphans_between",
    "toposort",
    "toposort_with_orderings",
    "truncated_graph_inputs",
    "variable_depends_on",
    "vars_between",
    "walk",
]

T = TypeVar("T", bound=Hashable)


def as_variables(graphs: Variable | Iterable[Variable]) -> list[Variable]:
    """A list of variables from one or several."""
    return [graphs] if isinstance(graphs, Variable) else list(graphs)


def walk(
    nodes: Iterable[T],
    expand: Callable[[T], Iterable[T] | None],
    bfs: bool = True,
    hash_fn: Callable[[T], Any] = id,
) -> Generator[T, None, None]:
    """Visit ``nodes`` and, once each, everything that ``expand`` reaches from them."""
    pending = deque(nodes)
    seen: set[Any] = set()
    take = pending.popleft if bfs else pending.pop
    while pending:
        node = take()
        key = hash_fn(node)
        if key in seen:
            continue
        seen.add(key)
        yield node
        found = expand(node)
        if found:
            pending.extend(found if bfs else reversed(list(found)))


def ancestors(
    graphs: Variable | Iterable[Variable], blockers: Collection[Variable] | None = None
) -> Generator[Variable, None, None]:
    """The variables on which ``graphs`` depend, and ``graphs`` themselves, depth first.

    The variables of ``blockers`` are visited, but the traversal does not continue to their inputs.
    """
    stop = frozenset(blockers or ())

    def expand(variable: Variable) -> list[Variable] | None:
        if variable.owner is not None and variable not in stop:
            return variable.owner.inputs
        return None

    yield from walk(as_variables(graphs), expand, bfs=False)


def apply_ancestors(
    graphs: Variable | Iterable[Variable], blockers: Collection[Variable] | None = None
) -> Generator[Apply, None, None]:
    """The nodes on which ``graphs`` depend, once each."""
    seen: set[Apply] = set()
    stop = frozenset(blockers or ())
    for variable in ancestors(graphs, stop):
        owner = variable.owner
        if owner is not None and owner not in seen and variable not in stop:
            seen.add(owner)
            yield owner


def graph_inputs(
    graphs: Variable | Iterable[Variable], blockers: Collection[Variable] | None = None
) -> Generator[Variable, None, None]:
    """The roots of ``graphs``, constants included, and the ``blockers`` that are reached."""
    stop = frozenset(blockers or ())
    yield from (v for v in ancestors(graphs, stop) if v.owner is None or v in stop)


def explicit_graph_inputs(
    graphs: Variable | Iterable[Variable],
) -> Generator[Variable, None, None]:
    """The roots without a value: neither constants nor shared variables."""
    for variable in graph_inputs(graphs):
        if not isinstance(variable, AtomicVariable | SharedVariable):
            yield variable


def vars_between(
    ins: Collection[Variable], outs: Iterable[Variable]
) -> Generator[Variable, None, None]:
    """``outs`` and the variables on which they depend, back to ``ins`` and to roots, which are included."""
    yield from ancestors(list(outs), ins)


def orphans_between(
    ins: Collection[Variable], outs: Iterable[Variable]
) -> Generator[Variable, None, None]:
    """The roots of ``outs`` that are not among ``ins``."""
    given = frozenset(ins)
    yield from (v for v in vars_between(given, outs) if v.owner is None and v not in given)


def applys_between(
    ins: Collection[Variable], outs: Iterable[Variable]
) -> Generator[Apply, None, None]:
    """The nodes that compute ``outs`` from ``ins`` and from other roots, once each."""
    yield from apply_ancestors(list(outs), ins)


def apply_depends_on(apply: Apply, depends_on: Apply | Collection[Apply]) -> bool:
    """Whether ``apply`` is one of the nodes ``depends_on``, or depends on one."""
    wanted = {depends_on} if isinstance(depends_on, Apply) else set(depends_on)
    return apply in wanted or any(n in wanted for n in apply_ancestors(apply.inputs))


def variable_depends_on(variable: Variable, depends_on: Variable | Collection[Variable]) -> bool:
    """Whether ``variable`` is one of the variables ``depends_on``, or depends on one."""
    wanted = {depends_on} if isinstance(depends_on, Variable) else set(depends_on)
    return any(v in wanted for v in ancestors(variable))


def truncated_graph_inputs(
    outputs: Sequence[Variable], ancestors_to_include: Collection[Variable] | None = None
) -> list[Variable]:
    """The inputs of the smallest graph that computes ``outputs`` from ``ancestors_to_include``.

    The graph computes only variables that depend on one of ``ancestors_to_include``. Its inputs are the other variables
    that it reads: variables of ``ancestors_to_include``, and variables that depend on none of them. Constants are left
    out. An output that depends on none of ``ancestors_to_include`` is an input itself.
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
    """The nodes of ``graphs`` in topological order: each after the nodes on which it depends.

    The order depends only on the structure of the graph: depth first from the first output,
    inputs from left to right. A cycle is a ValueError.
    """
    stop = frozenset(blockers or ())
    done: dict[Apply, None] = {}
    # the nodes between the root of the search and the last one on the stack
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


def general_toposort(outputs: Iterable[T], deps: Callable[[T], Iterable[T] | None]) -> list[T]:
    """A topological order of hashable values: each comes after the values that ``deps`` returns for it.

    ValueError on a cycle.
    """
    done: set[T] = set()
    open_: set[T] = set()
    order: list[T] = []
    stack: list[tuple[T, bool]] = [(o, False) for o in reversed(list(outputs))]
    while stack:
        node, expanded = stack.pop()
        if node in done:
            continue
        if expanded:
            open_.discard(node)
            done.add(node)
            order.append(node)
            continue
        if node in open_:
            raise ValueError(f"The graph has a cycle through {node}")
        open_.add(node)
        stack.append((node, True))
        for needed in reversed(list(deps(node) or ())):
            if needed in open_:
                raise ValueError(f"The graph has a cycle through {needed}")
            if needed not in done:
                stack.append((needed, False))
    return order


def io_toposort(
    inputs: Collection[Variable],
    outputs: Iterable[Variable],
    orderings: dict[Apply, list[Apply]] | None = None,
) -> list[Apply]:
    """`toposort` that stops at ``inputs``; ``orderings`` maps nodes to further nodes that must come before them."""
    if not orderings:
        return toposort(outputs, inputs)
    return toposort_with_orderings(outputs, inputs=inputs, orderings=orderings)


def toposort_with_orderings(
    graphs: Variable | Iterable[Variable],
    *,
    inputs: Collection[Variable] | None = None,
    orderings: dict[Apply, list[Apply]] | None = None,
) -> list[Apply]:
    """A topological order in which each key of ``orderings`` also comes after the nodes listed for that key."""
    stop = frozenset(inputs or ())
    extra = orderings or {}

    def deps(node: Apply) -> list[Apply]:
        found = [v.owner for v in node.inputs if v.owner is not None and v not in stop]
        return found + extra.get(node, [])

    starts = [v.owner for v in as_variables(graphs) if v.owner is not None and v not in stop]
    return general_toposort(dict.fromkeys(starts), deps)


def get_var_by_name(
    graphs: Variable | Iterable[Variable], target_var_id: str
) -> tuple[Variable, ...]:
    """The variables whose name or automatic name is ``target_var_id``."""
    return tuple(
        v for v in ancestors(as_variables(graphs)) if target_var_id in (v.name, v.auto_name)
    )
