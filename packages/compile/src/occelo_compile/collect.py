"""Checks the arguments of `function`, applies givens, and finds shared variables and updates.

`function` first calls `collect`, and passes the result (`Collected`) to the maker (`maker`).
"""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from occelo_compile.options import BY_OPTION, ON_UNUSED_INPUT, WARN_FLOAT64
from occelo_compile.symbolic_io import In, Out, SymbolicInput, SymbolicOutput
from occelo_graph import (
    Constant,
    MissingInputError,
    SharedVariable,
    UnusedInputError,
    Variable,
    shared,
)
from occelo_graph.errors import describe, lines
from occelo_graph.families import registered
from occelo_graph.ir.clone import rebuilt, replacement_pairs
from occelo_graph.ir.nodes import AtomicVariable
from occelo_graph.ir.taken_constants import check_taken_constants
from occelo_graph.ir.traversal import ancestors, walk
from occelo_graph.ops.specialization import inputs_needed
from occelo_graph.tensor import as_tensor_variable
from occelo_graph.tensors.sequences import is_sequence, refuse_bool

Pairs = Mapping[Any, Any] | Iterable[tuple[Any, Any]] | None
Replace = Callable[[Sequence[Variable]], list[Variable]]
"""A function that copies the graphs of variables and applies givens in the copies."""


@dataclass
class Collected:
    """The result of `collect`: the inputs and outputs of the function to compile.

    ``inputs`` are the user's inputs, and then an implicit input for each shared variable, with its update. ``outputs``
    are the user's outputs. If the user passed a dict of outputs, ``output_keys`` are its keys. ``unpack_single`` is
    true if the user passed a single output, and ``return_none`` if the user passed None.
    """

    inputs: list[SymbolicInput]
    outputs: list[SymbolicOutput]
    output_keys: list[str] | None
    unpack_single: bool
    return_none: bool
    shared: list[SharedVariable] = field(default_factory=list[SharedVariable])
    name: str | None = None


def _as_input(given: object, allow_downcast: bool | None, position: int) -> SymbolicInput:
    variable = given.variable if isinstance(given, SymbolicInput) else given
    if isinstance(variable, Constant):
        raise TypeError(
            f"Input {position} is the constant {variable}; an input must be able to vary"
        )
    if isinstance(given, SymbolicInput):
        return given
    if isinstance(given, SharedVariable):
        raise TypeError(
            f"Input {position} is the shared variable {given}, which functions find by themselves; "
            f"to pass a value instead, make a variable x and use givens={{{given}: x}}"
        )
    if not isinstance(given, Variable):
        raise TypeError(f"Input {position} must be a variable or In, got {given!r}")
    return In(given, allow_downcast=allow_downcast)


def _inputs(given: object, allow_downcast: bool | None) -> list[SymbolicInput]:
    if not is_sequence(given):
        raise TypeError(f"The inputs must be a list, got {given!r}")
    inputs = [_as_input(x, allow_downcast, i) for i, x in enumerate(given)]
    seen: dict[Variable, int] = {}
    for position, each in enumerate(inputs):
        first = seen.setdefault(each.variable, position)
        if first != position:
            raise UnusedInputError(
                f"The variable {describe(each.variable)} is given twice, as input {first} and as input {position}"
            )
    return inputs


def _as_output(given: object) -> SymbolicOutput:
    if isinstance(given, SymbolicOutput):
        return given
    if isinstance(given, Variable):
        return Out(given)
    refuse_bool(given, "an output")
    try:
        return Out(as_tensor_variable(given))
    except (TypeError, ValueError):
        raise TypeError(f"An output must be a variable or Out, got {given!r}") from None


def _outputs(given: Any) -> tuple[list[SymbolicOutput], list[str] | None, bool, bool]:
    """Return the outputs, the keys if the user passed a dict, and two flags.

    The first flag says whether the user passed a single output instead of a list. The second flag says whether the user
    passed None.
    """
    if given is None:
        return [], None, False, True
    entries: Mapping[Any, object] = given
    if isinstance(given, dict):
        for key in entries:
            if not isinstance(key, str):
                raise TypeError(f"The keys of outputs must be strings, got {key!r}")
        keys = sorted(entries)
        return [_as_output(entries[k]) for k in keys], keys, False, False
    if is_sequence(given):
        return [_as_output(o) for o in given], None, False, False
    return [_as_output(given)], None, True, False


def _updates(given: Pairs, inputs: Sequence[SymbolicInput]) -> dict[SharedVariable, Any]:
    listed = {each.variable: each for each in inputs}
    updates: dict[SharedVariable, Any] = {}
    for key, expression in replacement_pairs(given):
        if not isinstance(key, SharedVariable):
            shown = describe(key) if isinstance(key, Variable) else repr(key)
            raise TypeError(f"Only shared variables can be updated, not {shown}")
        if key in listed and listed[key].update is None:
            raise ValueError(
                f"The shared variable {describe(key)} is an input, so updates cannot update it; "
                "leave the input out, or give it its update: In(variable, update=...)"
            )
        if key in updates or key in listed:
            raise ValueError(f"The shared variable {describe(key)} is given two updates")
        updates[key] = expression
    return updates


def _update_expression(variable: SharedVariable, expression: Any) -> Variable:
    try:
        return variable.type.filter_variable(expression)
    except (TypeError, ValueError) as error:
        shown = describe(expression) if isinstance(expression, Variable) else repr(expression)
        raise TypeError(
            lines(
                [f"The update of {describe(variable)} by {shown} does not fit"],
                str(error),
            )
        ) from None


def _givens(
    given: Pairs, inputs: Sequence[SymbolicInput], strict: bool
) -> dict[Variable, Variable]:
    listed = {i.variable for i in inputs}
    replacements: dict[Variable, Variable] = {}
    for old, new in replacement_pairs(given):
        if not isinstance(old, Variable):
            raise TypeError(f"The keys of givens must be variables, got {old!r}")
        if old in listed:
            raise RuntimeError(f"{describe(old)} is an input, so givens cannot replace it")
        if not isinstance(new, Variable):
            refuse_bool(new)
            new = shared(new)
        if strict:
            try:
                new = old.type.filter_variable(new)
            except (TypeError, ValueError) as error:
                raise TypeError(
                    lines([f"The given {describe(new)} cannot replace {describe(old)}"], str(error))
                ) from None
        replacements[old] = new
    return replacements


def _follows_default_update(variable: SharedVariable, no_default_updates: Any) -> bool:
    if variable.default_update is None:
        return False
    if isinstance(no_default_updates, bool) or no_default_updates is None:
        return not no_default_updates
    return variable not in no_default_updates


def collect(
    inputs: Any,
    outputs: Any = None,
    updates: Pairs = None,
    givens: Pairs = None,
    no_default_updates: Any = False,
    rebuild_strict: bool = True,
    allow_input_downcast: bool | None = None,
    on_unused_input: str | None = None,
    name: str | None = None,
) -> Collected:
    """Check the arguments of `function`, apply givens, and find shared variables and their updates."""
    given_inputs = _inputs(inputs, allow_input_downcast)
    outs, keys, unpack_single, return_none = _outputs(outputs)
    if not isinstance(no_default_updates, bool | list | tuple) and no_default_updates is not None:
        raise TypeError(f"no_default_updates is True, False or a list, got {no_default_updates!r}")
    replacements = _givens(givens, given_inputs, rebuild_strict)
    cut = {i.variable: i.variable for i in given_inputs}

    def replaced(variables: Sequence[Variable]) -> list[Variable]:
        if not replacements:
            return list(variables)
        return rebuilt(variables, {**cut, **replacements}.items(), rebuild_strict=rebuild_strict)

    explicit = _updates(updates, given_inputs)
    if replacements:
        updated = [i.update for i in given_inputs if i.update is not None]
        updated += [_update_expression(k, e) for k, e in explicit.items()]
        check_taken_constants(replacements, [*(o.variable for o in outs), *updated])
    new_outs = replaced([o.variable for o in outs])
    outs = [type(o)(v, borrow=o.borrow) for o, v in zip(outs, new_outs, strict=True)]
    given_inputs = [_with_update(i, replaced) for i in given_inputs]
    expressions = {k: replaced([_update_expression(k, e)])[0] for k, e in explicit.items()}
    expressions = {k: _update_expression(k, e) for k, e in expressions.items()}
    roots = [o.variable for o in outs] + [i.update for i in given_inputs if i.update is not None]
    found = _find_shared(roots, expressions, cut, replaced, no_default_updates)
    _check_missing([*roots, *expressions.values()], cut, given_inputs)
    _check_float64([*roots, *expressions.values()], cut)
    _check_unused(given_inputs, [*roots, *expressions.values()], cut, on_unused_input)
    for family in registered():
        checks = family.load("checks")
        if checks is not None:
            for message in checks.warnings_of([*roots, *expressions.values()], cut):
                warnings.warn(message, stacklevel=3)
    implicit = [_implicit(v, expressions.get(v)) for v in found]
    return Collected(
        [*given_inputs, *implicit], outs, keys, unpack_single, return_none, found, name
    )


def _with_update(given: SymbolicInput, replaced: Replace) -> SymbolicInput:
    if given.update is None:
        return given
    (update,) = replaced([given.update])
    if update is given.update:
        return given
    made = object.__new__(type(given))
    made.__dict__.update(given.__dict__)
    made.update = update
    return made


def _implicit(variable: SharedVariable, update: Variable | None) -> SymbolicInput:
    made = In(
        variable,
        value=variable.container,
        update=update,
        mutable=update is not None,
        borrow=True,
        implicit=True,
        shared=True,
    )
    return made


def _find_shared(
    roots: Sequence[Variable],
    expressions: dict[SharedVariable, Variable],
    cut: Mapping[Variable, Variable],
    replaced: Replace,
    no_default_updates: Any,
) -> list[SharedVariable]:
    """Return the shared variables of a graph, in the order in which they are found.

    Their default updates are added to ``expressions``, and are searched for further shared variables.
    """
    found: dict[SharedVariable, None] = {}
    seen: set[Variable] = set()
    pending: list[Variable] = [*roots, *expressions, *expressions.values()]
    while pending:
        # ``seen`` serves all walks, since outputs may share most of their graphs
        stack = [pending.pop(0)]
        while stack:
            variable = stack.pop()
            if variable in seen:
                continue
            seen.add(variable)
            if variable.owner is not None and variable not in cut:
                stack.extend(reversed(variable.owner.inputs))
            if not isinstance(variable, SharedVariable) or variable in cut:
                continue
            found[variable] = None
            if variable not in expressions and _follows_default_update(
                variable, no_default_updates
            ):
                assert variable.default_update is not None
                (expression,) = replaced([variable.default_update])
                expressions[variable] = _update_expression(variable, expression)
                pending.append(expressions[variable])
    return list(found)


def _read(variable: Variable, cut: Mapping[Variable, Variable]) -> Sequence[Variable]:
    """Return the variables that the computation of ``variable`` needs.

    A variable is not needed if only its static lengths are used.
    """
    if variable.owner is None or variable in cut:
        return ()
    return inputs_needed(variable.owner)


def _check_missing(
    roots: Sequence[Variable], cut: Mapping[Variable, Variable], inputs: Sequence[SymbolicInput]
) -> None:
    for variable in walk(roots, lambda v: _read(v, cut)):
        if (
            variable.owner is None
            and variable not in cut
            and not isinstance(variable, AtomicVariable | SharedVariable)
        ):
            context = ["The outputs cannot be computed from the inputs:"]
            context += [f"  {describe(i.variable)}" for i in inputs]
            raise MissingInputError(
                lines(
                    context,
                    f"The variable {describe(variable)} is needed but is not an input, and has no value",
                )
            )


def _check_float64(roots: Sequence[Variable], cut: Mapping[Variable, Variable]) -> None:
    """Report a float64 variable that is computed without float64 variables.

    The option ``warn_float64`` chooses a warning, an error or the debugger.
    """
    action = WARN_FLOAT64.get()
    if action == "ignore":
        return
    for variable in ancestors(list(roots), cut):
        inputs = () if variable.owner is None or variable in cut else variable.owner.inputs
        if _is_float64(variable) and not any(_is_float64(v) for v in inputs):
            message = f"float64 enters the graph with {describe(variable)}"
            if action == "raise":
                raise TypeError(message)
            warnings.warn(message, stacklevel=5)
            if action == "pdb":
                # slow to import
                importlib.import_module("pdb").set_trace()
            return


def _is_float64(variable: Variable) -> bool:
    return bool(variable.type.dtype == "float64")


def _check_unused(
    inputs: Sequence[SymbolicInput],
    roots: Sequence[Variable],
    cut: Mapping[Variable, Variable],
    on_unused_input: str | None,
) -> None:
    given = on_unused_input is not None and on_unused_input is not BY_OPTION
    chosen = on_unused_input if given else ON_UNUSED_INPUT.get()
    if chosen == "ignore":
        return
    used = set(ancestors(list(roots), cut))
    for position, each in enumerate(inputs):
        if each.variable in used or each.update is not None:
            continue
        message = (
            f"Input {position}, {describe(each.variable)}, is not needed for the outputs; "
            "leave it out, or pass on_unused_input='ignore'"
        )
        if chosen == "raise":
            raise UnusedInputError(message)
        if chosen != "warn":
            raise ValueError(f"on_unused_input is raise, warn or ignore, not {chosen!r}")
        warnings.warn(message, stacklevel=4)


def construct_function_ins_and_outs(
    params: Any, outputs: Any = None, **options: Any
) -> tuple[list[SymbolicInput], list[SymbolicOutput]]:
    """Return the inputs and outputs that `collect` finds."""
    collected = collect(params, outputs, **options)
    return collected.inputs, collected.outputs
