"""Checks the arguments of `function`, applies givens, and finds shared variables and updates.

`function` first calls `collect`, and passes the result (`Collected`) to the maker (`maker`).
"""

from __future__ import annotations

import importlib
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field
from typing import Any

from occelo_compile.nested_calls import Argument, NestedCall
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
from occelo_graph.errors import describe, explained_by, lines
from occelo_graph.families import registered
from occelo_graph.frozen_dataclasses import mutable_dataclass
from occelo_graph.ir import trees
from occelo_graph.ir.clone import rebuilt, replacement_pairs
from occelo_graph.ir.nodes import AtomicVariable
from occelo_graph.ir.taken_constants import check_taken_constants
from occelo_graph.ir.traversal import ancestors, walk
from occelo_graph.narrowing import is_dict, is_list_or_tuple
from occelo_graph.provenance import warn_user
from occelo_graph.tensor import as_tensor_variable
from occelo_graph.tensors.sequences import is_sequence, refuse_bool
from occelo_rewrite.specialization import inputs_needed, without_checks_of

Pairs = Mapping[Any, Any] | Iterable[tuple[Any, Any]] | None
Replace = Callable[[Sequence[Variable]], list[Variable]]
"""A function that copies the graphs of variables and applies givens in the copies."""


@mutable_dataclass
class Collected:
    """The result of `collect`: the inputs and outputs of the function to compile.

    ``inputs`` are the user's inputs, and then an implicit input for each shared variable, with its update. ``outputs``
    are the user's outputs. If the user passed a dict of outputs, ``output_keys`` are its keys. ``unpack_single`` is
    true if the user passed a single output, and ``return_none`` if the user passed None. ``nested`` is None unless
    arguments or results are trees. TypeError if a field is missing.
    """

    inputs: list[SymbolicInput]
    outputs: list[SymbolicOutput]
    output_keys: list[str] | None
    unpack_single: bool
    return_none: bool
    shared: list[SharedVariable] = field(default_factory=list[SharedVariable])
    name: str | None = None
    nested: NestedCall | None = None


def _as_input(given: object, allow_downcast: bool | None, path: str) -> SymbolicInput:
    variable = given.variable if isinstance(given, SymbolicInput) else given
    if isinstance(variable, Constant):
        raise TypeError(f"{path} is the constant {variable}; an input must be able to vary")
    if isinstance(given, SymbolicInput):
        return given
    if isinstance(given, SharedVariable):
        raise TypeError(
            f"{path} is the shared variable {given}, which functions find by themselves; "
            f"to pass a value instead, make a variable x and use givens={{{given}: x}}"
        )
    if not isinstance(given, Variable):
        raise TypeError(f"{path} must be a variable or In, got {given!r}")
    return In(given, allow_downcast=allow_downcast)


def _inputs(
    given: object, allow_downcast: bool | None
) -> tuple[list[SymbolicInput], list[Argument] | None]:
    """Return the inputs, and how arguments are divided into them if an argument is a tree."""
    if not is_sequence(given) and not is_dict(given):
        raise TypeError(f"The inputs must be a list or a dict, got {given!r}")
    entries: dict[Any, Any] = given if is_dict(given) else dict(enumerate(given))
    inputs: list[SymbolicInput] = []
    arguments: list[Argument] = []
    for key, entry in entries.items():
        path = f"inputs[{key!r}]"
        if trees.is_tree(entry) and entry is not None:
            leaves, structure = trees.flatten(entry, path)
            paths = structure.paths(path)
            own = [_as_leaf(x, allow_downcast, p) for x, p in zip(leaves, paths, strict=True)]
        else:
            structure = trees.LEAF
            own = [_as_input(entry, allow_downcast, f"Input {key}")]
            paths = [f"{key} ({own[0].name or own[0].variable})"]
        if is_dict(given):
            if not isinstance(key, str):
                raise TypeError(f"The keys of inputs must be strings, got {key!r}")
            if structure is trees.LEAF:
                own = [_named(own[0], key)]
        inputs += own
        if structure is not trees.LEAF or not own[0].implicit:
            named = own[0] if structure is trees.LEAF else entry
            name = key if is_dict(given) else getattr(named, "name", None)
            optional = structure is trees.LEAF and own[0].value is not None
            arguments.append(Argument(structure, name, optional, path, paths))
    seen: dict[Variable, int] = {}
    for position, each in enumerate(inputs):
        first = seen.setdefault(each.variable, position)
        if first != position:
            raise UnusedInputError(
                f"The variable {describe(each.variable)} is given twice, as input {first} and as input {position}"
            )
    plain = all(argument.structure is trees.LEAF for argument in arguments)
    return inputs, None if plain else arguments


def _as_leaf(given: object, allow_downcast: bool | None, path: str) -> SymbolicInput:
    leaf = _as_input(given, allow_downcast, path)
    if leaf.value is not None:
        raise TypeError(f"{path} has a default, which only whole arguments can have")
    return leaf


def _named(given: SymbolicInput, name: str) -> SymbolicInput:
    """Return an equal input with another name."""
    if given.name == name:
        return given
    renamed = object.__new__(type(given))
    renamed.__dict__.update(given.__dict__)
    renamed.name = name
    return renamed


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


@mutable_dataclass
class _Outputs:
    """The outputs of a function, and the form in which the user passed them (`Collected`).

    ``structure`` is that of a tree, None for a variable, a list, or a plain dict of variables.
    """

    outputs: list[SymbolicOutput]
    keys: list[str] | None = None
    unpack_single: bool = False
    return_none: bool = False
    structure: trees.Structure | None = None


def _outputs(given: Any) -> _Outputs:
    if given is None:
        return _Outputs([], return_none=True)
    if is_dict(given):
        for key in given:
            if not isinstance(key, str):
                raise TypeError(f"The keys of outputs must be strings, got {key!r}")
        if not any(map(trees.is_tree, given.values())):
            structure = trees.flatten(given)[1] if isinstance(given, OrderedDict) else None
            keys = sorted(given) if structure is None else list(given)
            return _Outputs([_as_output(given[k]) for k in keys], keys, structure=structure)
    if not trees.is_tree(given):
        return _Outputs([_as_output(given)], unpack_single=True)
    leaves, structure = trees.flatten(given, "outputs")
    outputs: list[SymbolicOutput] = []
    for position, leaf in enumerate(leaves):
        try:
            outputs.append(_as_output(leaf))
        except TypeError as error:
            path = structure.paths("outputs")[position]
            raise TypeError(lines([f"At {path}"], str(error))) from None
    return _Outputs(outputs, structure=structure if trees.is_nested(given) else None)


def _listed_updates(given: Any) -> Pairs:
    """The updates as a mapping or a list of pairs. TypeError for anything else."""
    entries: Any = given
    if entries is None or isinstance(entries, Mapping):
        return given
    several = hasattr(entries, "__iter__") and not isinstance(given, Variable | str)
    listed: list[Any] = list(entries) if several else [entries]
    for entry in listed:
        if not several or not is_list_or_tuple(entry) or len(entry) != 2:
            shown = describe(entry) if isinstance(entry, Variable) else repr(entry)
            raise TypeError(
                "updates is a list of pairs (variable, new value), or a dict that maps variables to new values; "
                f"got {shown}{' among them' if several else ''}"
            )
    return listed


def _updates(given: Pairs, inputs: Sequence[SymbolicInput]) -> dict[SharedVariable, Any]:
    listed = {each.variable: each for each in inputs}
    updates: dict[SharedVariable, Any] = {}
    for key, expression in replacement_pairs(_listed_updates(given), "The update"):
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


@explained_by("inputs")
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
    """Check the arguments of `function`, apply givens, and find shared variables and their updates.

    ``inputs``, ``outputs``, ``updates``, ``givens``, ``no_default_updates``, ``rebuild_strict``,
    ``allow_input_downcast``, ``on_unused_input`` and ``name`` are as there, and so are the errors.
    """
    given_inputs, arguments = _inputs(inputs, allow_input_downcast)
    asked = _outputs(outputs)
    outs = asked.outputs
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
    shareds = _find_shared(roots, expressions, cut, replaced, no_default_updates)
    missing = _missing([*roots, *expressions.values()], cut)
    if missing:
        copies = without_checks_of(missing, [*roots, *expressions.values()], cut)
        outs = [type(o)(copies.get(o.variable, o.variable), borrow=o.borrow) for o in outs]
        given_inputs = [
            _with_update(i, lambda vs: [copies.get(v, v) for v in vs]) for i in given_inputs
        ]
        expressions = {k: copies.get(e, e) for k, e in expressions.items()}
        roots = [copies.get(v, v) for v in roots]
        _check_missing(_missing([*roots, *expressions.values()], cut), given_inputs)
    _check_float64([*roots, *expressions.values()], cut)
    _check_unused(given_inputs, [*roots, *expressions.values()], cut, on_unused_input)
    for family in registered():
        checks = family.load("checks")
        if checks is not None:
            for message in checks.warnings_of([*roots, *expressions.values()], cut):
                warn_user(message)
    implicit = [_implicit(v, expressions.get(v)) for v in shareds]
    nested = None
    if arguments is not None or asked.structure is not None:
        nested = NestedCall(arguments, asked.structure)
    return Collected(
        [*given_inputs, *implicit],
        outs,
        asked.keys,
        asked.unpack_single,
        asked.return_none,
        shareds,
        name,
        nested,
    )


def _with_update(given: SymbolicInput, replaced: Replace) -> SymbolicInput:
    if given.update is None:
        return given
    (update,) = replaced([given.update])
    if update is given.update:
        return given
    updated = object.__new__(type(given))
    updated.__dict__.update(given.__dict__)
    updated.update = update
    return updated


def _implicit(variable: SharedVariable, update: Variable | None) -> SymbolicInput:
    shared_input = In(
        variable,
        value=variable.container,
        update=update,
        mutable=update is not None,
        borrow=True,
        implicit=True,
        shared=True,
    )
    return shared_input


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
    shareds: dict[SharedVariable, None] = {}
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
            shareds[variable] = None
            if variable not in expressions and _follows_default_update(
                variable, no_default_updates
            ):
                assert variable.default_update is not None
                (expression,) = replaced([variable.default_update])
                expressions[variable] = _update_expression(variable, expression)
                pending.append(expressions[variable])
    return list(shareds)


def _read(variable: Variable, cut: Mapping[Variable, Variable]) -> Sequence[Variable]:
    """Return the variables that the computation of ``variable`` needs.

    A variable is not needed if only its static lengths are used.
    """
    if variable.owner is None or variable in cut:
        return ()
    return inputs_needed(variable.owner)


def _missing(roots: Sequence[Variable], cut: Mapping[Variable, Variable]) -> list[Variable]:
    """The roots without a value that the computation of ``roots`` needs."""
    return [
        variable
        for variable in walk(roots, lambda v: _read(v, cut))
        if variable.owner is None
        and variable not in cut
        and not isinstance(variable, AtomicVariable | SharedVariable)
    ]


def _check_missing(missing: Sequence[Variable], inputs: Sequence[SymbolicInput]) -> None:
    if missing:
        context = ["The outputs cannot be computed from the inputs:"]
        context += [f"  {describe(i.variable)}" for i in inputs]
        cause = (
            f"The variable {describe(missing[0])} is needed but is not an input, and has no value"
        )
        raise MissingInputError(lines(context, cause))


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
            warn_user(message)
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
    is_set = on_unused_input is not None and on_unused_input is not BY_OPTION
    chosen = on_unused_input if is_set else ON_UNUSED_INPUT.get()
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
        warn_user(message)


@explained_by("inputs")
def construct_function_ins_and_outs(
    params: Any, outputs: Any = None, **options: Any
) -> tuple[list[SymbolicInput], list[SymbolicOutput]]:
    """Return the inputs and outputs that `collect` finds for ``params``, ``outputs`` and ``options``."""
    collected = collect(params, outputs, **options)
    return collected.inputs, collected.outputs
