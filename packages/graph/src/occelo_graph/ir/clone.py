"""Functions that copy graphs, replace variables in a copy, and compare the structure of graphs.

`FunctionGraph` copies graphs with `clone_get_equiv`. `occelo.function` applies givens with `clone_replace`. Users,
frozen graphs, gradients, loops and rules also call `clone_replace`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from occelo_graph.errors import describe, explained_by
from occelo_graph.ir import trees
from occelo_graph.ir.nodes import Apply, AtomicVariable, Constant, Variable
from occelo_graph.ir.shared import SharedVariable
from occelo_graph.ir.taken_constants import check_taken_constants
from occelo_graph.ir.traversal import as_variables, toposort
from occelo_graph.provenance import warn_user

Replacements = Mapping[Any, Any] | Iterable[tuple[Any, Any]] | None


def clone_get_equiv(
    inputs: Iterable[Variable],
    outputs: Iterable[Variable],
    copy_inputs: bool = True,
    copy_orphans: bool = True,
    memo: dict[Any, Any] | None = None,
) -> dict[Any, Any]:
    """Copy the graph from ``inputs`` to ``outputs``, and return a mapping from old nodes and variables to new ones.

    ``copy_inputs`` decides whether the inputs are copied, ``copy_orphans`` whether all other roots are copied. The
    method ``clone`` of a root makes its copy. A constant is never copied: its ``clone`` returns the constant itself.
    If the mapping ``memo`` is given, the new pairs are added to it, and it is returned. Whatever it contained before is
    not copied again.
    """
    equiv: dict[Any, Any] = {} if memo is None else memo
    inputs = list(inputs)
    outputs = list(outputs)
    for variable in inputs:
        if variable not in equiv:
            equiv[variable] = variable.clone() if copy_inputs else variable
    for node in toposort(outputs, blockers=frozenset(equiv)):
        if node in equiv:
            continue
        for variable in node.inputs:
            if variable not in equiv:
                equiv[variable] = variable.clone() if copy_orphans else variable
        copied = node.clone_with_new_inputs([equiv[v] for v in node.inputs])
        equiv[node] = copied
        for old, new in zip(node.outputs, copied.outputs, strict=True):
            equiv.setdefault(old, new)
    for variable in outputs:
        if variable not in equiv:
            equiv[variable] = variable.clone() if copy_orphans else variable
    return equiv


def clone(
    inputs: Sequence[Variable],
    outputs: Sequence[Variable],
    copy_inputs: bool = True,
    copy_orphans: bool | None = None,
) -> tuple[list[Variable], list[Variable]]:
    """Copy a graph, and return the new inputs and the new outputs. The arguments are those of `clone_get_equiv`.

    By default, ``copy_orphans`` is the same as ``copy_inputs``.
    """
    orphans = copy_inputs if copy_orphans is None else copy_orphans
    equiv = clone_get_equiv(inputs, outputs, copy_inputs, orphans)
    return [equiv[v] for v in inputs], [equiv[v] for v in outputs]


def replacement_pairs(
    replace: Replacements, name: str = "The replacement"
) -> list[tuple[Any, Any]]:
    """A list of pairs of old and new variables, from a mapping or an iterable of pairs, each of variables or trees.

    ``name`` is what errors call a new tree: ValueError if it has another structure than the old one.
    """
    if replace is None:
        return []
    untyped: Any = replace
    pairs: Iterable[tuple[Any, Any]] = untyped.items() if isinstance(replace, Mapping) else untyped
    leaf_pairs: list[tuple[Any, Any]] = []
    for old, new in pairs:
        leaves, structure = trees.flatten(old, "The replaced tree")
        leaf_pairs += zip(leaves, structure.leaves_of(new, name), strict=True)
    return leaf_pairs


@explained_by("graphs")
def clone_replace(
    output: Variable | Sequence[Variable],
    replace: Replacements = None,
    *,
    rebuild_strict: bool = True,
    copy_inputs_over: bool = True,
) -> Any:
    """Copy the graph of ``output``, and return the new output or list of outputs. ``replace`` maps variables to others.

    The replacements themselves are not changed, even if they depend on a replaced variable. With ``rebuild_strict``, a
    replacement is converted to the type of the old variable; TypeError if this is impossible. Without
    ``rebuild_strict``, ops infer the types of their outputs again. With ``copy_inputs_over=False``, roots that are not
    replaced are copied, too, except constants and shared variables.

    Without ``rebuild_strict``, there is a warning if an old variable has a static length of 1 and its replacement has
    not. The reason: a gradient with respect to a variable that broadcasts contains a sum. The replacement may not need
    this sum, but the sum is not removed.

    A constant may have been used as a Python number, such as an axis, or in an inner graph, such as the body of a loop;
    ops keep it in a field and do not follow a replacement. ValueError if such a constant is replaced. With ``rebuild_strict``, ValueError also if the static length of a loop follows from a constant, and
    contradicts its replacement.
    """
    pairs = replacement_pairs(replace)
    outputs = as_variables(output)
    if isinstance(output, str):
        raise TypeError(f"The outputs to copy are variables, got {output!r}")
    check_taken_constants((old for old, _ in pairs), outputs)
    results = rebuilt(outputs, pairs, rebuild_strict, copy_inputs_over)
    return results[0] if isinstance(output, Variable) else results


def rebuilt(
    outputs: Sequence[Variable],
    replace: Iterable[tuple[Any, Any]],
    rebuild_strict: bool = True,
    copy_inputs_over: bool = True,
) -> list[Variable]:
    """`clone_replace` for a list of outputs, without its check of constants."""
    equiv: dict[Variable, Variable] = {}
    for old, new in replace:
        if not isinstance(old, Variable):
            raise TypeError(f"Only variables can be replaced, got {old!r}")
        equiv[old] = _replacement(old, new, rebuild_strict)
    for node in toposort(outputs, blockers=frozenset(equiv)):
        new_inputs = [_root(equiv, v, copy_inputs_over) for v in node.inputs]
        if all(a is b for a, b in zip(new_inputs, node.inputs, strict=True)):
            continue
        if rebuild_strict:
            _check_lengths(node, new_inputs)
        copied = node.clone_with_new_inputs(new_inputs, strict=rebuild_strict)
        for old, new in zip(node.outputs, copied.outputs, strict=True):
            equiv.setdefault(old, new)
    return [_root(equiv, v, copy_inputs_over) for v in outputs]


def _check_lengths(node: Apply, inputs: Sequence[Variable]) -> None:
    """Check that a node keeps the static lengths that it took from the known value of an input: a number of steps.

    ValueError if another known value contradicts them: the copy would keep lengths that are wrong. Ops with the trait
    ``types_follow_values`` check their lengths themselves.
    """
    if node.op.types_follow_values:
        return
    pairs = list(zip(node.inputs, inputs, strict=True))
    if any(old.type != new.type for old, new in pairs):
        return
    if not any(old is not new and old.type.shape == () for old, new in pairs):
        return  # numbers of steps are scalars
    for before, after in zip(node.outputs, node.op.types_for(inputs), strict=False):
        for a, b in zip(before.type.shape or (), after.shape or (), strict=False):
            if None not in (a, b) and a != b:
                raise ValueError(
                    f"{describe(before)} has a length of {a}, and of {b} with the replacements: pass rebuild_strict=False "
                    "to infer the lengths again"
                )


def _replacement(old: Variable, new: Any, strict: bool) -> Variable:
    if strict:
        return old.type.filter_variable(new)
    variable: Variable = (
        new if isinstance(new, Variable) else old.type.make_constant(old.type.filter(new))
    )
    before, after = old.type.shape or (), variable.type.shape or ()
    if any(a == 1 and b != 1 for a, b in zip(before, after, strict=False)):
        warn_user(
            f"{describe(old)} has a length of 1 that its replacement {variable} ({variable.type}) has not. What was summed or "
            "repeated because of it, as in gradients, stays so: build the graph anew from the replacement"
        )
    return variable


def _root(equiv: dict[Variable, Variable], variable: Variable, keep: bool) -> Variable:
    copy = equiv.get(variable)
    if copy is None:
        root = variable.owner is None and not isinstance(variable, AtomicVariable | SharedVariable)
        copy = variable.clone() if root and not keep else variable
        equiv[variable] = copy
    return copy


@explained_by("graphs")
def graph_replace(
    outputs: Variable | Sequence[Variable], replace: Replacements = None, *, strict: bool = True
) -> Any:
    """Copy the graph of ``outputs`` with variables replaced, as ``replace`` maps them, also inside of the replacements.

    If a replacement depends on another replaced variable, this variable is replaced in it, too. (`clone_replace` does
    not do this.) With ``strict``, a replaced variable on which ``outputs`` do not depend raises ValueError. Constants that
    ops keep in fields are checked as in `clone_replace`.
    """
    pairs = {old: new for old, new in replacement_pairs(replace)}
    results = as_variables(outputs)
    check_taken_constants(pairs, results)
    needed: set[Variable] = set()
    order = toposort(results)
    for node in order:
        needed.update(node.inputs)
        needed.update(node.outputs)
    needed.update(results)
    unused = [old for old in pairs if old not in needed]
    if unused and strict:
        raise ValueError("Some replacements were not used: " + ", ".join(str(v) for v in unused))
    # roots first, so that a replacement is rebuilt after the replacements on which it depends
    rank = {out: i for i, node in enumerate(order) for out in node.outputs}
    resolved: dict[Variable, Any] = {}
    for old in sorted((o for o in pairs if o in needed), key=lambda v: rank.get(v, -1)):
        new = pairs[old]
        if old.owner is not None and isinstance(new, Variable):
            (new,) = rebuilt([new], resolved.items())
        resolved[old] = new
    results = rebuilt(results, resolved.items())
    return results[0] if isinstance(outputs, Variable) else results


def _equal_roots(x: Variable, y: Variable, strict_dtype: bool) -> bool:
    if isinstance(x, Constant) and isinstance(y, Constant):
        if strict_dtype and x.type != y.type:
            return False
        if x.type == y.type:
            return x.equals(y)
        try:
            return x.type.values_eq(x.data, x.type.filter(y.data, allow_downcast=True))
        except (TypeError, ValueError):
            return False
    return False


def _equal_values(x: Any, y: Any) -> bool:
    """Whether two values that are not variables are equal. Arrays must have the same dtype, shape and elements."""
    nested = all(isinstance(v, list | tuple) for v in (x, y))
    if nested:
        return len(x) == len(y) and all(map(_equal_values, x, y))
    if not (hasattr(x, "__array__") or hasattr(y, "__array__")):
        return x is y or bool(x == y)
    first, second = np.asarray(x), np.asarray(y)
    if first.dtype != second.dtype or first.shape != second.shape:
        return False
    return np.array_equal(first, second, equal_nan=first.dtype.kind in "fc")


@explained_by("graphs")
def equal_computations(
    xs: Sequence[Any],
    ys: Sequence[Any],
    in_xs: Sequence[Variable] = (),
    in_ys: Sequence[Variable] = (),
    strict_dtype: bool = True,
) -> bool:
    """Whether two lists of variables are computed by equal graphs.

    Each variable in ``in_xs`` is treated as equal to the variable at its place in ``in_ys``. The lists may also contain
    values such as arrays, which are equal to constants with the same value. With ``strict_dtype=False``, constants of
    different types may be equal.

    ValueError if ``xs`` and ``ys`` differ in length, or ``in_xs`` and ``in_ys``.
    """
    if len(xs) != len(ys):
        raise ValueError(f"The lists differ in length: {len(xs)} and {len(ys)}")
    if len(in_xs) != len(in_ys):
        raise ValueError(f"The input lists differ in length: {len(in_xs)} and {len(in_ys)}")
    same: set[tuple[Variable, Variable]] = set(zip(in_xs, in_ys, strict=True))
    if any(x.type != y.type for x, y in same):
        return False
    given_x, given_y = set(in_xs), set(in_ys)
    pending: list[tuple[Variable, Variable]] = []
    for x, y in zip(xs, ys, strict=True):
        if isinstance(x, Variable) and isinstance(y, Variable):
            pending.append((x, y))
        elif isinstance(x, Variable) or isinstance(y, Variable):
            variable, value = (x, y) if isinstance(x, Variable) else (y, x)
            if not (isinstance(variable, Constant) and variable.type.is_valid_value(value, False)):
                return False
            if strict_dtype and getattr(value, "dtype", variable.data.dtype) != variable.data.dtype:
                return False
            if not variable.type.values_eq(variable.data, variable.type.filter(value)):
                return False
        elif not _equal_values(x, y):
            return False
    while pending:
        x, y = pending.pop()
        if (x, y) in same or (x is y and x not in given_x and y not in given_y):
            continue
        if x in given_x or y in given_y:
            return False
        if x.owner is None or y.owner is None:
            if x.owner is not y.owner or not _equal_roots(x, y, strict_dtype):
                return False
            same.add((x, y))
            continue
        a, b = x.owner, y.owner
        if a.op != b.op or x.index != y.index or len(a.inputs) != len(b.inputs):
            return False
        same.add((x, y))
        pending.extend(zip(a.inputs, b.inputs, strict=True))
    return True
