"""`FunctionMaker`, which rewrites a graph, links it, and wraps the VM in a `Function`.

`function` calls the method ``function_maker`` of the mode, which makes a `FunctionMaker`. The method of `DebugMode`
makes a `DebugMaker`, a subclass. `copying` makes another maker for each `Function.copy`.
"""

from __future__ import annotations

from collections.abc import Sequence
from time import perf_counter
from typing import TYPE_CHECKING, Any

from occelo_compile.collect import Collected
from occelo_compile.garbage_collection import fewer_collections
from occelo_compile.memory import insert_deepcopy
from occelo_compile.mode import Mode, get_mode
from occelo_compile.nested_calls import NestedCall
from occelo_compile.options import TIME_THUNKS
from occelo_compile.progress import reporting
from occelo_compile.symbolic_io import In, Out, SymbolicInput, SymbolicOutput
from occelo_graph import Container, Op, Variable
from occelo_graph.frozen_dataclasses import mutable_dataclass
from occelo_link import VM
from occelo_link.cache.store import counters
from occelo_link.linker import StorageMap

if TYPE_CHECKING:
    from occelo_compile.calling import Function
    from occelo_compile.profiling import ProfileStats
    from occelo_graph import FunctionGraph
    from occelo_rewrite import RewriteRecord


@mutable_dataclass
class Times:
    """The seconds that each step of compiling took. ``first_call`` is set by the first call."""

    collect: float = 0.0
    rewrite: float = 0.0
    link: float = 0.0
    wrap: float = 0.0
    first_call: float | None = None


@mutable_dataclass
class Rewritten:
    """The result of `FunctionMaker.rewrite`: the graph before and after rewriting, and the record of the rewriting.

    The outputs of both graphs are the user's outputs, and then an output for each update. TypeError if a field is missing.
    """

    before: FunctionGraph
    fgraph: FunctionGraph
    record: RewriteRecord


@mutable_dataclass
class Linked:
    """The result of `FunctionMaker.link`: the VM, and the containers of its inputs and outputs. TypeError if a field is missing."""

    vm: VM
    inputs: list[Container]
    outputs: list[Container]


class CallGraph:
    """The inputs, outputs and updates of the linked graph. A function from the cache has a `CallGraph`, but no
    rewritten graph.

    ``update_mapping`` maps the position of each update among the outputs to the position of the updated input.
    ``computed`` says for each output whether calls compute it; the other outputs are inputs or constants.
    """

    def __init__(
        self,
        inputs: list[Variable],
        outputs: list[Variable],
        update_mapping: dict[int, int],
        computed: list[bool],
    ) -> None:
        self.inputs = inputs
        self.outputs = outputs
        self.update_mapping = update_mapping
        self.computed = computed


class FunctionMaker:
    """Makes functions in a mode, from the inputs and outputs that `collect` returns.

    ``inputs`` are variables, pairs of a variable and its update, or `SymbolicInput` objects. ``outputs`` are variables
    or `SymbolicOutput` objects. `create` calls `rewrite`, `link` and `wrap` in this order; `rewrite` calls
    `create_fgraph` and `prepare_fgraph`.

    The property ``fgraph`` is the rewritten graph. The argument ``fgraph`` is a graph to rewrite in place, instead of a
    copy of the graph from ``inputs`` to ``outputs``. Its first outputs must be the user's outputs; outputs for updates
    are added if they are missing.

    If the cache has an equal function, `create` neither rewrites nor compiles. Then ``fgraph`` and ``rewritten`` are
    computed at their first use. TypeError if an input or an output is no variable.
    """

    def __init__(
        self,
        inputs: Sequence[Any],
        outputs: Sequence[Any],
        mode: Mode,
        accept_inplace: bool = False,
        output_keys: list[str] | None = None,
        unpack_single: bool = True,
        return_none: bool = False,
        name: str | None = None,
        fgraph: FunctionGraph | None = None,
        profile: ProfileStats | None = None,
    ) -> None:
        self.inputs = [_symbolic_input(each) for each in inputs]
        self.outputs = [_symbolic_output(each) for each in outputs]
        self.mode = mode
        self.accept_inplace = accept_inplace
        self.output_keys = output_keys
        self.unpack_single = unpack_single
        self.return_none = return_none
        self.name = name
        self.profile = profile
        self.nested: NestedCall | None = None
        self.times = Times()
        self.from_cache = False
        self.cache_key: dict[str, str] | None = None
        self.cache_ops: Sequence[Op] = ()
        """The ops of the graph, if some are of other packages: entries of the cache refer to them by position."""
        self._given = fgraph
        self._rewritten: Rewritten | None = None
        self._record: RewriteRecord | None = None
        self._call_graph: CallGraph | None = None

    @property
    def given_fgraph(self) -> FunctionGraph | None:
        """The graph that was passed as an argument, or None if the graph is made from inputs and outputs."""
        return self._given

    @property
    def rewritten(self) -> Rewritten:
        """The result of `rewrite`, which is called at the first use."""
        if self._rewritten is None:
            self.rewrite()
        assert self._rewritten is not None
        return self._rewritten

    @property
    def fgraph(self) -> FunctionGraph:
        """The rewritten graph."""
        return self.rewritten.fgraph

    @property
    def call_graph(self) -> CallGraph:
        """The inputs, outputs and updates of the linked graph."""
        if self._call_graph is None:
            graph = self.fgraph
            self._call_graph = CallGraph(
                graph.inputs,
                graph.outputs,
                graph.update_mapping,
                [v.owner is not None for v in graph.outputs],
            )
        return self._call_graph

    def set_call_graph(self, graph: CallGraph) -> None:
        """Set `call_graph`. This is needed for a function from the cache, since it has no rewritten graph."""
        self._call_graph = graph

    @classmethod
    def from_collected(
        cls,
        collected: Collected,
        mode: Mode | str | None = None,
        accept_inplace: bool = False,
        **options: Any,
    ) -> FunctionMaker:
        """Return a maker for the result of `collect`. The mode's ``function_maker`` makes it."""
        chosen = get_mode(mode)
        maker: FunctionMaker = chosen.function_maker(
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
        maker.nested = collected.nested
        return maker

    def with_own_graph(
        self,
        inputs: Sequence[SymbolicInput],
        outputs: Sequence[SymbolicOutput],
        fgraph: FunctionGraph | None,
        name: str | None,
        profile: ProfileStats | None = None,
    ) -> FunctionMaker:
        """Return a maker with the same mode and flags, for a copy of a function.

        ``fgraph`` is the rewritten graph of the copy. If it is None, the copy's graph will be rewritten.
        """
        maker = type(self)(
            list(inputs),
            list(outputs),
            self.mode,
            self.accept_inplace,
            self.output_keys,
            self.unpack_single,
            self.return_none,
            name,
            None if self._given is None else self._given.clone(),
            profile,
        )
        maker.nested = self.nested
        if fgraph is not None:
            maker._rewritten = Rewritten(self.rewritten.before, fgraph, self.rewritten.record)
        return maker

    @property
    def is_rewritten(self) -> bool:
        """Whether the graph has been rewritten."""
        return self._rewritten is not None

    def __getstate__(self) -> dict[str, Any]:
        return {
            "inputs": self.inputs,
            "outputs": self.outputs,
            "mode": self.mode,
            "accept_inplace": self.accept_inplace,
            "output_keys": self.output_keys,
            "unpack_single": self.unpack_single,
            "return_none": self.return_none,
            "name": self.name,
            "fgraph": self._given,
            "profile": self.profile,
            "nested": self.nested,
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        nested = state.pop("nested")
        self.__init__(**state)
        self.nested = nested

    def opened_outputs(self) -> list[Variable]:
        """The user's outputs. A graph that was deferred is built."""
        from occelo_compile.deferred_graphs import opened  # not for functions from the cache

        return opened([each.variable for each in self.outputs])

    def create_fgraph(self) -> FunctionGraph:
        """Return the graph to rewrite. It has outputs for updates, and features that protect inputs."""
        from occelo_compile.graphs_to_rewrite import (
            graph_to_rewrite,
        )  # not for functions from the cache

        return graph_to_rewrite(self)

    def prepare_fgraph(self, fgraph: FunctionGraph) -> Rewritten:
        """Rewrite the graph, and insert the copies that the memory contract needs."""
        from occelo_rewrite import RewriteRecord  # not for functions from the cache

        before = fgraph.clone(check_integrity=False, attach_feature=False)
        self._record = record = RewriteRecord.configured()
        record.profiling = record.profiling or self.profile is not None
        self.mode.optimizer.rewrite(fgraph, record)
        insert_deepcopy(
            fgraph,
            [each.borrow and not each.shared for each in self.inputs],
            [each.borrow for each in self.outputs] + [False] * len(fgraph.update_mapping),
            [each.implicit for each in self.inputs],
        )
        return Rewritten(before, fgraph, record)

    def users_graph(self) -> FunctionGraph:
        """Return the graph before rewriting."""
        if self._rewritten is not None or self._given is not None:
            return self.rewritten.before
        return self.create_fgraph()

    def rewrite(self) -> Rewritten:
        """Make the graph and rewrite it."""
        start = perf_counter()
        counters["rewriting"] += 1
        self._rewritten = self.prepare_fgraph(self.create_fgraph())
        self.times.rewrite = perf_counter() - start
        return self._rewritten

    def link(self, storage_map: StorageMap | None = None) -> Linked:
        """Link the graph with the mode's linker. Each input without a container gets a new cell (`input_cells`).

        If ``storage_map`` has a cell for an intermediate variable, that cell is used.
        """
        fgraph = self.fgraph
        start = perf_counter()
        cells = self.input_cells()
        no_recycling = [
            v
            for i, v in enumerate(fgraph.outputs)
            if i >= len(self.outputs) or not self.outputs[i].borrow
        ]
        linker = self.mode.linker.clone().accept(fgraph, no_recycling, self.profile)
        vm, _, outputs = linker.make_thunk(input_storage=cells, storage_map=storage_map)
        if self.profile is not None and TIME_THUNKS.get():
            from occelo_compile.profiles.node_profiling import ProfiledVM  # slow to import

            vm = ProfiledVM(vm, fgraph, linker.schedule(fgraph), self.profile.nodes)
        inputs = self.input_containers(cells)
        self.times.link = perf_counter() - start
        return Linked(vm, inputs, outputs)

    def input_cells(self) -> list[list[Any]]:
        """Return a cell for each input: the cell of its container if the input has one, as shared variables do, and
        otherwise a new cell.
        """
        return [
            each.value.storage if isinstance(each.value, Container) else [None]
            for each in self.inputs
        ]

    def input_containers(self, cells: Sequence[list[Any]]) -> list[Container]:
        """Return a container for each input, over its cell. The flags of the input decide which values the container
        accepts.
        """
        return [
            each.value
            if isinstance(each.value, Container)
            else Container(
                each.variable.type,
                cell,
                strict=each.strict,
                allow_downcast=each.allow_downcast,
                name=each.name,
            )
            for each, cell in zip(self.inputs, cells, strict=True)
        ]

    def create(self, storage_map: StorageMap | None = None) -> Function:
        """Make a function: rewrite, link and wrap. If the cache has the function, only wrap it.

        ``storage_map`` is explained in `link`.
        """
        from occelo_compile.function_cache import keep, load  # which imports this module

        start = perf_counter()
        with fewer_collections(), reporting(self.name or "a function", self._step):
            linked = None if self.is_rewritten else load(self)
            if linked is None:
                linked = self.link(storage_map)
                keep(self, linked)
            else:
                self.times.link = perf_counter() - start
        start = perf_counter()
        function = self.wrap(linked)
        self.times.wrap = perf_counter() - start
        if self.profile is not None:
            record = self._rewritten.record if self._rewritten is not None else None
            self.profile.add_compilation(self.times, record)
        return function

    def _step(self) -> str:
        """What `create` does now, in words. Another thread calls this."""
        if self._rewritten is not None:
            return f"code of {len(self._rewritten.fgraph.apply_nodes)} nodes"
        if self._record is None:
            return "reading the graph"
        replaced = len(self._record.applications)
        return f"rewriting, {self._record.stage.removeprefix('optdb/')}, {replaced} replacements"

    def wrap(self, linked: Linked) -> Function:
        """Return the `Function` around a VM and its containers."""
        from occelo_compile.calling import Function  # which imports this module

        return Function(
            linked.vm,
            linked.inputs,
            linked.outputs,
            [(each, i) for i, each in enumerate(self.inputs)],
            self.outputs,
            [_default(*pair) for pair in zip(self.inputs, linked.inputs, strict=True)],
            self.unpack_single,
            self.return_none,
            self.output_keys,
            self,
            self.name,
        )


def _symbolic_input(given: Any) -> SymbolicInput:
    if isinstance(given, SymbolicInput):
        return given
    pair: Sequence[Any] = given
    if isinstance(given, tuple | list):
        variable, update = pair
        return In(variable, update=update)
    return In(given)


def _symbolic_output(given: Any) -> SymbolicOutput:
    return given if isinstance(given, SymbolicOutput) else Out(given)


def _default(given: SymbolicInput, container: Container) -> tuple[bool, bool, Any]:
    """Return a tuple: whether a call must pass the input, whether its default is restored after a call, and the
    default.
    """
    if given.value is None:
        return True, False, None
    if isinstance(given.value, Container):
        return False, False, given.value
    container.value = given.value
    default = container.storage[0]
    # an updated input keeps its new value, so its default is not restored
    return False, given.update is None, default
