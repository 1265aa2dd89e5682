"""`DebugMode`, a mode that checks every rewrite and every op on every call.

Users choose it with ``mode="DebugMode"``, or pass a `DebugMode` with other settings. The test suite runs many programs
in this mode.

A call computes every variable that was in the graph at any time during rewriting. Each variable is computed by its
first definition (`definitions`), node by node, with checks of each op and of its traits (`op_checks`, `trait_checks`).
Then the call checks, in this order:

- each replacement: the old and the new variable must have equal values;
- the compiled code of the graph, with every variable as an output, against the interpreter;
- the rewritten graph with its in-place ops, in the linker's order: nothing may be overwritten before its last use;
- the results of the mode's own linker, against those of the interpreter.

The call returns the results of the mode's own linker.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from occelo_compile import options
from occelo_compile.debugging.comparing import agree, copied, difference, same
from occelo_compile.debugging.definitions import Definitions, Replacement, Values
from occelo_compile.debugging.errors import (
    BadDestroyMap,
    BadOptimization,
    BadThunkOutput,
    DebugModeError,
    InvalidValueError,
    OutputGuardError,
    StochasticOrder,
)
from occelo_compile.debugging.loop_steps import step_that_differs
from occelo_compile.debugging.op_checks import (
    OpChecks,
    all_copied,
    check_finite,
    chosen_layouts,
    node_context,
)
from occelo_compile.maker import FunctionMaker, Linked, Rewritten
from occelo_compile.memory import insert_deepcopy
from occelo_compile.mode import Mode, Optimizer
from occelo_graph import Apply, Constant, FunctionGraph, ReplaceValidate, Variable
from occelo_graph.errors import describe, lines
from occelo_graph.interpret import inner_nodes_run_by
from occelo_graph.ir.clone import clone_get_equiv
from occelo_graph.ir.container import local
from occelo_graph.ir.op import Kernel
from occelo_link import VM, Linker, make_linker
from occelo_link.linker import Storage, StorageMap, WrappingVM
from occelo_rewrite import RewriteDatabaseQuery, RewriteRecord

if TYPE_CHECKING:
    from occelo_graph.config import Option
    from occelo_rewrite.database import RewriteDatabase

T = TypeVar("T")


class DebugMode(Mode):
    """A slow mode that checks rewriting, ops and compiled code against the interpreter, on every call.

    - ``stability_patience``: how often the graph is rewritten, to check that the result is always the same;
    - ``check_c_code``: compare compiled code with the interpreter, node by node;
    - ``check_py_code``: check each op: overwritten inputs, views, dtypes, values, and the traits that it declares;
    - ``check_isfinite``: report a result that is not finite although all inputs of its node are;
    - ``check_preallocated_output``: further runs of each op, as names separated by colons, or ``"ALL"``. The names
      ``"c_contiguous"``, ``"f_contiguous"``, ``"strided"`` and ``"backward"`` mean a run with inputs in this memory
      layout. The other names mean a run of ``perform`` with output cells that contain None (``"initial"``), the results
      (``"previous"``) or arrays of other lengths (``"wrong_size"``);
    - ``require_matching_strides``: compare strides of interpreted and compiled results: 0 no, 1 warn, 2 raise;
    - ``linker``, ``optimizer`` and ``db``: as in `Mode`.

    The default of an argument is the option ``DebugMode__...``. A fault is raised as a `DebugModeError`: as
    `StochasticOrder`, `BadOptimization`, `BadThunkOutput`, `BadTrait`, `BadDestroyMap`, `BadViewMap`,
    `InvalidValueError` or `OutputGuardError`.
    """

    def __init__(
        self,
        optimizer: Optimizer = "fast_run",
        stability_patience: int | None = None,
        check_c_code: bool | None = None,
        check_py_code: bool | None = None,
        check_isfinite: bool | None = None,
        check_preallocated_output: str | None = None,
        require_matching_strides: int | None = None,
        linker: str | Linker | None = None,
        db: RewriteDatabase | None = None,
    ) -> None:
        super().__init__(linker, optimizer, db, "DebugMode")
        self.stability_patience = _chosen(stability_patience, options.DEBUG_PATIENCE)
        self.check_c_code = _chosen(check_c_code, options.DEBUG_CHECK_C)
        self.check_py_code = _chosen(check_py_code, options.DEBUG_CHECK_PY)
        self.check_isfinite = _chosen(check_isfinite, options.DEBUG_CHECK_FINITE)
        self.require_matching_strides = _chosen(
            require_matching_strides, options.DEBUG_CHECK_STRIDES
        )
        self.check_preallocated_output = chosen_layouts(
            _chosen(check_preallocated_output, options.DEBUG_CHECK_LAYOUTS)
        )

    def function_maker(self, *args: Any, **given: Any) -> DebugMaker:
        return DebugMaker(*args, **given)


def _chosen(given: T | None, option: Option[T]) -> T:
    return option.get() if given is None else given


class DebugMaker(FunctionMaker):
    """Makes functions in DebugMode. It rewrites the graph several times, and wraps the linked VM in a VM that checks
    calls.
    """

    mode: DebugMode
    definitions: Definitions

    def create_fgraph(self) -> FunctionGraph:
        fgraph = super().create_fgraph()
        self.definitions = Definitions()
        fgraph.attach_feature(self.definitions)
        return fgraph

    def prepare_fgraph(self, fgraph: FunctionGraph) -> Rewritten:
        first = fgraph.clone(check_integrity=False, attach_feature=True)
        rewritten = super().prepare_fgraph(fgraph)
        form = _canonical_form(rewritten.fgraph) if self.mode.stability_patience > 1 else None
        for _ in range(self.mode.stability_patience - 1):
            again = super().prepare_fgraph(first.clone(check_integrity=False))
            self._compare(rewritten.record, again.record)
            if _canonical_form(again.fgraph) != form:
                raise StochasticOrder(
                    "Rewriting the same graph twice by the same replacements gave different graphs"
                )
        return rewritten

    @staticmethod
    def _compare(one: RewriteRecord, other: RewriteRecord) -> None:
        steps, others = (
            [(a.stage, a.rule, a.before, a.after) for a in record.applications]
            for record in (one, other)
        )
        if steps == others:
            return
        at = next(
            (i for i, (a, b) in enumerate(zip(steps, others, strict=False)) if a != b),
            min(len(steps), len(others)),
        )
        context = [
            f"  {when}: " + (" ".join(each[at][1:3]) if at < len(each) else "no replacement")
            for when, each in (("once", steps), ("then", others))
        ]
        raise StochasticOrder(
            lines(
                ["Rewriting the same graph twice went different ways:", *context],
                f"Replacement {at + 1} depends on more than the graph",
            )
        )

    def link(self, storage_map: StorageMap | None = None) -> Linked:
        linked = super().link(storage_map)
        vm = _DebugVM(self, linked.vm, self.input_cells_of(linked))
        return Linked(vm, linked.inputs, linked.outputs)

    @staticmethod
    def input_cells_of(linked: Linked) -> list[Storage]:
        """Return the cells of the inputs, in order."""
        return [container.storage for container in linked.inputs]


def _canonical_form(fgraph: FunctionGraph) -> Any:
    """Return a description of a graph. Two graphs have equal descriptions if they differ only in names."""
    try:
        return fgraph.freeze().canonical
    except TypeError:  # some op of a user has no canonical form
        return fgraph.dprint(file="str")


class _DebugVM(WrappingVM):
    """The VM of a function in DebugMode. It runs all checks, and then the VM of the mode's linker."""

    def __init__(self, maker: DebugMaker, vm: VM, inputs: Sequence[Storage]) -> None:
        super().__init__(vm)
        self.maker = maker
        self.inputs = list(inputs)
        mode = maker.mode
        self.checks = OpChecks(
            mode.check_py_code,
            mode.check_preallocated_output,
            options.DEBUG_WARN_NOT_REUSED.get(),
        )
        self.compiled = _Compiled.of(maker) if mode.check_c_code else None

    def __call__(self, output_subset: Sequence[int] | None = None) -> None:
        fgraph, definitions = self.maker.fgraph, self.maker.definitions
        arguments = all_copied(fgraph.inputs, [local(cell[0]) for cell in self.inputs])
        values = Values(definitions, dict(zip(fgraph.inputs, arguments, strict=True)), self.checks)
        expected = [values.compute(v) for v in definitions.outputs]
        for each in definitions.replacements:
            _check_replacement(each, values)
        if self.compiled is not None:
            self.compiled.check(arguments, self.checks, self.maker.mode.require_matching_strides)
        if any(node.op.lazy for node in fgraph.apply_nodes):
            _check_lazily(self.maker, arguments)
        else:
            _check_order(self.maker, arguments)
        self.vm(output_subset)
        if output_subset is None:
            self._check_results(expected)

    def _check_results(self, expected: Sequence[Any]) -> None:
        fgraph = self.maker.fgraph
        for i, (variable, value) in enumerate(zip(fgraph.outputs, expected, strict=True)):
            actual = local(self.storage_map[variable][0])
            if not agree(variable.type, value, actual, stable=True):
                raise BadThunkOutput(
                    lines(
                        [f"{describe(variable)}:", f"  {difference(variable.type, value, actual)}"],
                        f"Output {i} of the linker {self.maker.mode.linker} differs from the interpreter's",
                    )
                )


def _check_replacement(each: Replacement, values: Values) -> None:
    """Raise `BadOptimization` if the old and the new variable differ where the old variable is finite."""
    try:
        old = values.compute(each.old)
    except DebugModeError:
        raise
    except Exception:
        return  # if the old variable cannot be computed, any replacement is right
    try:
        new = values.compute(each.new)
    except DebugModeError:
        raise
    except Exception as error:
        apart = f"{type(error).__name__}: {str(error).splitlines()[-1]}"
    else:
        if agree(each.new.type, old, new, stable=True):
            return
        apart = difference(each.new.type, old, new)
    context = [
        f"The rule {each.reason} replaced {describe(each.old)}:",
        *_tree(each.old),
        f"with {describe(each.new)}:",
        *_tree(each.new),
        f"  {apart}",
        "  (a form that has lost its digits may differ from a better one; then compare by hand)",
    ]
    raise BadOptimization(
        lines(context, f"{each.reason} gives another value on the inputs of this call")
    )


def _tree(variable: Variable) -> list[str]:
    text: str = variable.dprint(file="str", depth=4)
    return [f"    {line}" for line in text.rstrip().splitlines()[:20]]


def _run_rewritten(maker: DebugMaker, node: Apply, inputs: Sequence[Any]) -> Sequence[Any]:
    """Run a node of the rewritten graph."""
    # copies for the message, since an op may overwrite its inputs
    shown = all_copied(node.inputs, inputs) if node.op.destroy_map else inputs
    with np.errstate(all="ignore"):
        results = node.op.kernel(node)(*inputs)
    if maker.mode.check_isfinite:
        try:
            check_finite(node, shown, results)
        except InvalidValueError:
            _raise_for_inner_node(node, shown)
            raise
    return results


def _raise_for_inner_node(node: Apply, inputs: Sequence[Any]) -> None:
    """Raise `InvalidValueError` for the first node inside of ``node`` that has a result which is not finite.

    The notes of the error name the steps of the loops in which that happens.
    """

    def run(node: Apply, kernel: Kernel, arrays: Sequence[Any]) -> Sequence[Any]:
        shown = all_copied(node.inputs, arrays)
        results = kernel(*arrays)
        check_finite(node, shown, results)
        return results

    with np.errstate(all="ignore"), inner_nodes_run_by(run):
        node.op.kernel(node)(*all_copied(node.inputs, inputs))


def _check_lazily(maker: DebugMaker, given: Sequence[Any]) -> None:
    """Run the rewritten graph on demand, so that only branches that are taken are checked."""

    def run(node: Apply, inputs: Sequence[Any]) -> Sequence[Any]:
        return _run_rewritten(maker, node, all_copied(node.inputs, inputs))

    values = Values(Definitions(), dict(zip(maker.fgraph.inputs, given, strict=True)), run)
    for variable in maker.fgraph.outputs:
        values.compute(variable)


def _check_order(maker: DebugMaker, given: Sequence[Any]) -> None:
    """Run the rewritten graph in the linker's order. Raise an error if a value is overwritten before its last use."""
    fgraph = maker.fgraph
    arrays: dict[Variable, Any] = dict(
        zip(fgraph.inputs, all_copied(fgraph.inputs, given), strict=True)
    )
    copies: dict[Variable, Any] = {v: copied(v.type, value) for v, value in arrays.items()}
    for node in maker.mode.linker.schedule(fgraph):
        inputs = [v.data if isinstance(v, Constant) else arrays[v] for v in node.inputs]
        for variable, value in zip(node.inputs, inputs, strict=True):
            if not isinstance(variable, Constant) and not same(
                variable.type, value, copies[variable]
            ):
                cause = f"{describe(variable)} was overwritten before {node.op} read it"
                raise BadDestroyMap(lines(node_context(node, inputs), cause))
        results = _run_rewritten(maker, node, inputs)
        arrays.update(zip(node.outputs, results, strict=True))
        copies.update(zip(node.outputs, all_copied(node.outputs, results), strict=True))
    for i, variable in enumerate(fgraph.outputs):
        if variable in arrays and not same(variable.type, arrays[variable], copies[variable]):
            raise OutputGuardError(
                f"Output {i}, {describe(variable)}, was overwritten after it was computed"
            )
    for symbolic, variable in zip(maker.inputs, fgraph.inputs, strict=True):
        if not symbolic.mutable and not same(variable.type, arrays[variable], copies[variable]):
            raise BadDestroyMap(
                f"The input {describe(variable)} was overwritten, and it is not mutable"
            )


class _Compiled:
    """A graph that is compiled with every variable as an output, to compare each variable with the interpreter."""

    def __init__(self, fgraph: FunctionGraph, linker: Linker) -> None:
        self.fgraph = fgraph
        self.linker = linker
        self.order = fgraph.toposort()
        self.wanted = [v for node in self.order for v in node.outputs]
        memo: dict[Any, Any] = {}
        clone_get_equiv(fgraph.inputs, self.wanted, True, False, memo)
        graph = FunctionGraph(
            [memo[v] for v in fgraph.inputs], [memo[v] for v in self.wanted], clone=False
        )
        insert_deepcopy(graph, [False] * len(graph.inputs), [False] * len(graph.outputs))
        self.call = linker.accept(graph).make_function()

    @classmethod
    def of(cls, maker: DebugMaker) -> _Compiled | None:
        """Compile the maker's graph with every variable as an output.

        Returns None if the graph has in-place ops, or lazy ops, some of whose branches must not run.
        """
        mode = maker.mode
        linker = mode.linker.clone() if mode.linker.compiles else make_linker("native")
        fgraph = maker.rewritten.before.clone(check_integrity=False)
        query = mode.query
        if isinstance(query, RewriteDatabaseQuery):
            excluded = query.exclude | linker.incompatible_rewrites.include
            chosen = mode.with_parts(linker, replace(query, exclude=excluded))
            fgraph.attach_feature(ReplaceValidate())
            chosen.optimizer.rewrite(fgraph, RewriteRecord())
        if any(node.op.lazy or node.op.destroy_map for node in fgraph.apply_nodes):
            return None
        return cls(fgraph, linker) if fgraph.apply_nodes else None

    def check(self, given: Sequence[Any], checks: OpChecks, strides: int) -> None:
        """Compare all variables in topological order. Raises `BadThunkOutput` for the first variable that differs."""
        outputs = map(local, self.call(*all_copied(self.fgraph.inputs, given)))
        results = dict(zip(self.wanted, outputs, strict=True))
        values: dict[Variable, Any] = dict(zip(self.fgraph.inputs, given, strict=True))
        for node in self.order:
            arrays = [v.data if isinstance(v, Constant) else values[v] for v in node.inputs]
            values.update(zip(node.outputs, checks(node, arrays), strict=True))
            for variable in node.outputs:
                self._compare(node, arrays, variable, values[variable], results[variable], strides)

    def _compare(
        self,
        node: Apply,
        arrays: Sequence[Any],
        variable: Variable,
        value: Any,
        found: Any,
        strides: int,
    ) -> None:
        if not agree(variable.type, value, found):
            context = [
                *node_context(node, arrays),
                f"  Python: {value}",
                f"  {self.linker}: {found}",
            ]
            cause = (
                f"{node.op} differs between Python and {self.linker}: "
                f"{difference(variable.type, value, found)}"
            )
            step = step_that_differs(node, arrays, self.linker)
            if step is not None:
                cause += (
                    f"; the carried values differ after step {step}, and not after the step before"
                )
            raise BadThunkOutput(lines(context, cause))
        if strides and isinstance(value, np.ndarray) and value.strides != found.strides:
            cause = (
                f"{node.op} has strides {value.strides} in Python, {found.strides} in {self.linker}"
            )
            if strides > 1:
                raise BadThunkOutput(lines(node_context(node, arrays), cause))
            warnings.warn(cause, stacklevel=2)
