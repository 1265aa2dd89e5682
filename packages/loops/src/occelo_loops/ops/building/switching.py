"""`switch_case`: runs one of several branches, chosen by an index. Users call it from `occelo`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from occelo_graph.applicable import check_arguments
from occelo_graph.errors import explained_by
from occelo_graph.ir.nodes import Variable
from occelo_graph.ops.control.branches import ifelse
from occelo_graph.ops.elemwise.arithmetic import lt
from occelo_graph.tensors.constant import as_tensor_variable
from occelo_loops.ops.building.bodies import number_of_steps
from occelo_loops.ops.nested import Stepped, flatten, shown


@explained_by("loops")
def switch_case(index: Any, branches: Sequence[Stepped], *operands: Any) -> Any:
    """The result of ``branches[index](*operands)``. The other branches do not run.

    ``index`` is an integer scalar. A negative index chooses the first branch, and an index that is too large chooses
    the last one. All branches must return the same structure (a tensor, or nested tuples, lists, dicts and dataclasses
    of tensors), with the same dtypes and numbers of dimensions; else TypeError. ValueError if there are no branches.
    """
    if not branches:
        raise ValueError("switch_case needs at least one branch")
    for i, branch in enumerate(branches):
        if not callable(branch):
            raise TypeError(
                f"The branches of switch_case are functions, and branch {i} is {branch!r}"
            )
        check_arguments(
            f"Branch {i} of switch_case", branch, *[f"operand {k}" for k in range(len(operands))]
        )
    results = [branch(*operands) for branch in branches]
    flat = [flatten(result, "result") for result in results]
    leaves, structure = flat[0]
    for i, (_, other) in enumerate(flat):
        if other.kind != structure.kind:
            raise TypeError(
                f"All branches of switch_case must return one structure: branch 0 returns {shown(results[0])}, branch {i} {shown(results[i])}"
            )
    if not leaves:
        return structure.rebuild([])
    values = [
        [v if isinstance(v, Variable) else as_tensor_variable(v) for v in each] for each, _ in flat
    ]
    chosen = _choose(number_of_steps(index, "The index of switch_case"), values, 0, len(values))
    return structure.rebuild(chosen)


def _choose(index: Any, values: list[list[Any]], first: int, last: int) -> list[Any]:
    """The values of the branch at ``index``, by nested `ifelse` that search the branches ``first`` to ``last - 1``.

    Each `ifelse` halves the range of branches.
    """
    if last - first == 1:
        return values[first]
    middle = (first + last) // 2
    chosen: list[Any] = ifelse(
        lt(index, middle),
        _choose(index, values, first, middle),
        _choose(index, values, middle, last),
    )
    return chosen
