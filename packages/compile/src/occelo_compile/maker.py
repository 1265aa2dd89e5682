"""Steps 2 to 4: rewrite, link, wrap."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any

from occelo_compile.collect import Collected
from occelo_compile.memory import insert_deepcopy
from occelo_compile.mode import Mode, get_mode, set_function_maker
from occelo_compile.symbolic_io import SymbolicInput, SymbolicOutput
from occelo_graph import (
    Container,
    DestroyHandler,
    FunctionGraph,
    PreserveVariableAttributes,
    ReplaceValidate,
    Supervisor,
    Variable,
)
from occelo_graph.ir.clone import clone_get_equiv
from occelo_link import VM
from occelo_rewrite import RewriteRecord

__all__ = ["FunctionMaker", "Linked", "Rewritten", "Times"]


@dataclass
class Times:
    """Seconds that each step of compiling took; ``first_call`` is set by the first call."""

    collect: float = 0.0
    rewrite: float = 0.0
    link: float = 0.0
    wrap: float = 0.0
    first_call: float | None = None


@dataclass
class Rewritten:
    """The result of step 2: the graph before and after rewriting, and the record of it.

    The outputs of the graph are the user's, then one for each update.
    """

    before: FunctionGraph
    fgraph: FunctionGraph
    record: RewriteRecord


@dataclass
class Linked:
    """The result of step 3."""

    vm: VM
    inputs: list[Container]
    outputs: list[Container]


def _protected(inputs: Sequence[SymbolicInput]) -> list[int]:
    return [i for i, each in enumerate(inputs) if not each.mutable]


@dataclass
class FunctionMaker:
    """Makes functions from what was collected, in a mode.

    `create_fgraph`, `prepare_fgraph` and `create` are steps 2, 2b and 3 with 4; ``fgraph`` is the
    rewritten graph. An existing ``fgraph`` may be passed: its first outputs are the user's, and
    outputs for updates that it lacks are added.
    """

    inputs: list[SymbolicInput]
    outputs: list[SymbolicOutput]
    mode: Mode
    accept_inplace: bool = False
    output_keys: list[str] | None = None
    unpack_single: bool = True
    return_none: bool = False
    name: str | None = None
    fgraph: FunctionGraph | None = None
    profile: Any = None
    times: Times = field(default_factory=Times)
    rewritten: Rewritten | None = None

    @classmethod
    def from_collected(
        cls,
        collected: Collected,
        mode: Mode | str | None = None,
        accept_inplace: bool = False,
        **options: Any,
    ) -> FunctionMaker:
        """The maker of what `collect` found, through the mode's ``function_maker``."""
        chosen = get_mode(mode)
        made: FunctionMaker = chosen.function_maker(
            collected.inputs,
            collected.outputs,
            chosen,
            accept_inplace,
            collected.output_keys,
            collected.unpack_single,
            collected.return_none,
            collected.name,
            **options,
        )
        return made

    def create_fgraph(self) -> FunctionGraph:
        """The graph to rewrite: outputs for updates added, features of protection attached."""
        updated = [
            (i, each.update) for i, each in enumerate(self.inputs) if each.update is not None
        ]
        count = len(self.outputs)
        mapping = {count + k: i for k, (i, _) in enumerate(updated)}
        if self.fgraph is None:
            variables = [each.variable for each in self.inputs]
            outputs = [each.variable for each in self.outputs] + [update for _, update in updated]
            memo: dict[Any, Any] = {v: _fresh_root(v) for v in variables}
            clone_get_equiv(variables, outputs, True, False, memo)
            fgraph = FunctionGraph(
                [memo[v] for v in variables],
                [memo[v] for v in outputs],
                clone=False,
                update_mapping=mapping,
            )
        else:
            fgraph = self.fgraph
            if not fgraph.update_mapping and mapping:
                for _, update in updated:
                    assert update is not None
                    fgraph.add_output(update, reason="update")
                fgraph.update_mapping = mapping
        self._check_inplace(fgraph)
        protected = _protected(self.inputs)
        fgraph.attach_feature(ReplaceValidate())
        fgraph.attach_feature(Supervisor(lambda g: [g.inputs[i] for i in protected]))
        fgraph.attach_feature(PreserveVariableAttributes())
        if self.accept_inplace:
            fgraph.attach_feature(DestroyHandler())
            fgraph.validate()
        return fgraph

    def _check_inplace(self, fgraph: FunctionGraph) -> None:
        if self.accept_inplace:
            return
        for node in fgraph.apply_nodes:
            if node.op.destroy_map:
                source = f", made at {node.source}" if node.source is not None else ""
                raise TypeError(
                    f"The graph has the in-place op {node.op}{source}; pass accept_inplace=True to allow it"
                )

    def prepare_fgraph(self, fgraph: FunctionGraph) -> Rewritten:
        """Rewrite, then insert the copies that the memory contract needs."""
        before = fgraph.clone(check_integrity=False, attach_feature=False)
        record = RewriteRecord()
        self.mode.optimizer.rewrite(fgraph, record)
        insert_deepcopy(
            fgraph,
            [each.borrow and not each.shared for each in self.inputs],
            [each.borrow for each in self.outputs] + [False] * len(fgraph.update_mapping),
        )
        return Rewritten(before, fgraph, record)

    def rewrite(self) -> Rewritten:
        """Step 2."""
        start = perf_counter()
        self.rewritten = self.prepare_fgraph(self.create_fgraph())
        self.fgraph = self.rewritten.fgraph
        self.times.rewrite = perf_counter() - start
        return self.rewritten

    def link(self) -> Linked:
        """Step 3: cells for the inputs (the shared ones' own), and the mode's linker over them."""
        start = perf_counter()
        if self.rewritten is None:
            self.rewrite()
        assert self.fgraph is not None
        cells: list[list[Any]] = [
            each.value.storage if isinstance(each.value, Container) else [None]
            for each in self.inputs
        ]
        no_recycling = [
            v
            for i, v in enumerate(self.fgraph.outputs)
            if i >= len(self.outputs) or not self.outputs[i].borrow
        ]
        linker = self.mode.linker.clone().accept(self.fgraph, no_recycling, self.profile)
        vm, containers, outputs = linker.make_thunk(input_storage=cells)
        inputs: list[Container] = []
        for each, cell, made in zip(self.inputs, cells, containers, strict=True):
            own = Container(
                made.type,
                cell,
                strict=each.strict,
                allow_downcast=each.allow_downcast,
                name=each.name,
            )
            inputs.append(each.value if isinstance(each.value, Container) else own)
        self.times.link = perf_counter() - start
        return Linked(vm, inputs, outputs)

    def create(self) -> Any:
        """Steps 3 and 4."""
        linked = self.link()
        start = perf_counter()
        made = _classes["Function"](self, linked)
        self.times.wrap = perf_counter() - start
        return made


_classes: dict[str, Any] = {}


def set_function_class(cls: Any) -> None:
    """Tell makers the class of the module above."""
    _classes["Function"] = cls


def _fresh_root(variable: Variable) -> Variable:
    """A root of the same type and name for the compiled graph."""
    made: Variable = variable.type.make_variable(variable.name)
    made.set_mark(variable.mark)
    made.tag.__dict__.update(vars(variable.tag))
    return made


set_function_maker(FunctionMaker)
