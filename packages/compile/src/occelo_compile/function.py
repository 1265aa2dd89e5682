"""`function`, which compiles a graph into a callable, and `function_dump`, which saves the arguments of `function`.

Users call both. `function` calls `collect`, makes a `FunctionMaker` for the mode, and calls its method ``create``.
`Variable.eval` calls `evaluate`.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from time import perf_counter
from typing import TYPE_CHECKING, Any, TypedDict, overload
from weakref import WeakKeyDictionary

from occelo_compile.calling import Function
from occelo_compile.collect import Pairs, collect
from occelo_compile.maker import FunctionMaker
from occelo_compile.mode import Mode
from occelo_compile.options import BY_OPTION, PRINT_GLOBAL_STATS, PROFILE
from occelo_compile.symbolic_io import Out
from occelo_graph import TensorVariable, Variable
from occelo_graph.errors import explained_by
from occelo_graph.upward import set_evaluator

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from typing_extensions import Unpack

Inputs = Sequence[Any] | Mapping[str, Any]
AnyMode = str | Mode | None


class Options(TypedDict, total=False):
    """The arguments of `function` that are passed by keywords."""

    no_default_updates: bool | Sequence[Any] | None
    accept_inplace: bool
    name: str | None
    rebuild_strict: bool
    allow_input_downcast: bool | None
    profile: Any
    on_unused_input: str | None
    trust_input: bool


@overload
def function(
    inputs: Inputs,
    outputs: TensorVariable,
    mode: AnyMode = None,
    updates: Pairs = None,
    givens: Pairs = None,
    **options: Unpack[Options],
) -> Function[NDArray[Any]]: ...
@overload
def function(
    inputs: Inputs,
    outputs: Sequence[TensorVariable | Out] | None = None,
    mode: AnyMode = None,
    updates: Pairs = None,
    givens: Pairs = None,
    **options: Unpack[Options],
) -> Function[list[NDArray[Any]]]: ...
@overload
def function(
    inputs: Inputs,
    outputs: Mapping[str, TensorVariable | Out],
    mode: AnyMode = None,
    updates: Pairs = None,
    givens: Pairs = None,
    **options: Unpack[Options],
) -> Function[dict[str, NDArray[Any]]]: ...
@overload
def function(
    inputs: Inputs,
    outputs: Any,
    mode: AnyMode = None,
    updates: Pairs = None,
    givens: Pairs = None,
    **options: Unpack[Options],
) -> Function[Any]: ...


@explained_by("inputs")
def function(
    inputs: Inputs,
    outputs: Any = None,
    mode: AnyMode = None,
    updates: Pairs = None,
    givens: Pairs = None,
    no_default_updates: bool | Sequence[Any] | None = False,
    accept_inplace: bool = False,
    name: str | None = None,
    rebuild_strict: bool = True,
    allow_input_downcast: bool | None = None,
    profile: Any = None,
    on_unused_input: str | None = BY_OPTION,
    trust_input: bool = False,
) -> Function:
    """Compile the graph from ``inputs`` to ``outputs`` into a `Function`.

    - ``inputs``: a list of variables or `In`, or a dict of them, whose keys are the keywords of the arguments. Shared
      variables are not listed; they are found in the graph. An entry may be a tree of variables: calls pass a tree of
      values there (`occelo_graph.ir.trees`).
    - ``outputs``: a variable or `Out`, a list of them (the function returns a list), a dict of them (it returns a dict),
      any other tree of them (it returns this tree), or None (it only updates).
    - ``updates``: pairs of a shared variable and an expression for its new value after each call, or pairs of a tree of
      shared variables and a tree of expressions. All expressions are computed from the old values.
    - ``givens``: pairs of a variable and its replacement in this function.
    - ``mode``: a `Mode` or the name of a mode.
    - ``profile``: True, a name or a `ProfileStats` to measure compiling and calls. If it is None, the options decide.
    - ``no_default_updates``: True to ignore all default updates, or a list of shared variables whose default updates are
      ignored.
    - ``on_unused_input``: "raise", "warn" or "ignore". By default, and if it is None, the option of that name decides,
      which is "raise" unless it was changed.
    - ``allow_input_downcast``: as ``allow_downcast`` in `In`, for all inputs. ``rebuild_strict``: as in `clone_replace`.
    - ``accept_inplace``: accept graphs with in-place ops. ``trust_input``: do not check arguments of calls.

    Raises TypeError, ValueError, `UnusedInputError` or `MissingInputError`. The last line of the message is the cause.
    """
    start = perf_counter()
    collected = collect(
        inputs,
        outputs,
        updates,
        givens,
        no_default_updates,
        rebuild_strict,
        allow_input_downcast,
        on_unused_input,
        name,
    )
    stats = None
    if profile is not None or PROFILE.get() or PRINT_GLOBAL_STATS.get():
        from occelo_compile.profiling import chosen_profile  # slow to import

        stats = chosen_profile(profile, name)
    maker = FunctionMaker.from_collected(collected, mode, accept_inplace, profile=stats)
    maker.times.collect = perf_counter() - start
    compiled = maker.create()
    compiled.trust_input = trust_input
    return compiled


@explained_by("SavedGraphError")
def function_dump(
    filename: str | os.PathLike[str],
    inputs: Sequence[Any] | Mapping[str, Any],
    outputs: Any = None,
    mode: str | Mode | None = None,
    updates: Pairs = None,
    givens: Pairs = None,
    no_default_updates: bool | Sequence[Any] = False,
    accept_inplace: bool = False,
    name: str | None = None,
    rebuild_strict: bool = True,
    allow_input_downcast: bool | None = None,
    profile: Any = None,
    on_unused_input: str | None = None,
    extra_tag_to_remove: Sequence[str] | None = None,
    format: str = "pickle",
) -> None:
    """Write the arguments of `function` to the file ``filename``, for reproducing a compilation elsewhere.

    These are ``inputs``, ``outputs``, ``mode``, ``updates``, ``givens``, ``no_default_updates``, ``accept_inplace``,
    ``name``, ``rebuild_strict``, ``allow_input_downcast``, ``profile`` and ``on_unused_input``.

    Load the file with ``function(**pickle.load(open(filename, "rb")))``. The file contains the values of shared
    variables; set them to zeros first if they are confidential. The notes in `Variable.tag` are written, except
    ``trace`` and the attributes named in ``extra_tag_to_remove``. ``format="safe"`` writes a format that `load_dump`
    reads without running any code of the file. Arguments that this format does not support raise TypeError. ``occelo
    dump`` shows, compares and runs dumps of both formats.
    """
    arguments: dict[str, Any] = {
        "inputs": inputs,
        "outputs": outputs,
        "mode": mode,
        "updates": updates,
        "givens": givens,
        "no_default_updates": no_default_updates,
        "accept_inplace": accept_inplace,
        "name": name,
        "rebuild_strict": rebuild_strict,
        "allow_input_downcast": allow_input_downcast,
        "profile": profile,
        "on_unused_input": on_unused_input,
    }
    from occelo_compile.debugging.dumping import dump_arguments  # slow to import: pickle

    dump_arguments(filename, arguments, extra_tag_to_remove or (), format)


_compiled: WeakKeyDictionary[Variable, dict[Any, Function]] = WeakKeyDictionary()


def evaluate(variable: Variable, given: Mapping[Variable, Any], **options: Any) -> Any:
    """Compile and call a function for `Variable.eval`. The function is kept for later calls."""
    key = (tuple(given), tuple(sorted((k, repr(v)) for k, v in options.items())))
    functions = _compiled.setdefault(variable, {})
    if key not in functions:
        functions[key] = function(list(given), variable, **options)
    return functions[key](*given.values())


set_evaluator(evaluate)
