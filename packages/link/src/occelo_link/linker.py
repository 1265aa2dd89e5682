"""The interface of linkers. A linker turns a rewritten graph into a VM, which reads input cells and writes output
cells.

All linkers derive from `Linker`. `occelo_compile.maker` and DebugMode call them.
"""

from __future__ import annotations

import abc
import copy
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from occelo_graph import Apply, Constant, Container, Op, SharedVariable, Variable
from occelo_graph.errors import explained
from occelo_graph.frozen_dataclasses import frozen_dataclass
from occelo_graph.ir.container import local
from occelo_link.update_locks import UpdateLocks
from occelo_rewrite import RewriteDatabaseQuery

if TYPE_CHECKING:
    from occelo_graph import FunctionGraph

Storage = list[Any]
"""A cell: a list of one element, which holds the value of a variable."""
StorageMap = dict[Variable, Storage]
Scheduler: TypeAlias = "Callable[[FunctionGraph], Sequence[Apply]]"


class Signature(Protocol):
    """The inputs and outputs of a graph. A VM from the cache has a signature instead of its graph."""

    inputs: list[Variable]
    outputs: list[Variable]


class VM(abc.ABC):
    """A virtual machine, made by a linker. A call computes the output cells from the input cells.

    VMs derive from this class, which declares what functions ask them for. TypeError if a subclass lacks an abstract method.
    """

    storage_map: StorageMap
    allow_gc: bool
    takes_library_arrays: bool = False
    """Whether input cells may hold arrays of another library, and output cells hold such arrays."""
    due: bool = False
    """Whether the next call must go through Python, not through `entry`."""
    parts: Sequence[Any] = ()
    """The compiled blocks, and what runs between them (`blocks.partition.Part`). Empty if the VM has no blocks."""

    @abc.abstractmethod
    def __call__(self, output_subset: Sequence[int] | None = None) -> None:
        """Compute all outputs, or those at some positions."""

    @abc.abstractmethod
    def clear_storage(self) -> None:
        """Clear the cells of all intermediate values."""

    @property
    def python_nodes(self) -> Sequence[Apply]:
        """The nodes beside compiled blocks that run in Python. Empty if the VM has no blocks."""
        return ()

    def fetch(self, result: Any) -> Any:
        """Return a result as the user gets it: an array of another library as a NumPy array."""
        return local(result)

    @property
    def entry_is_cheap(self) -> bool:
        """Whether `entry` compiles nothing, so that a function may ask for it after a single call."""
        return True

    def entry(
        self,
        arguments: Mapping[Variable, int],
        scalars: Collection[Variable],
        updates: Mapping[int, int],
        kind: int,
        slow: Callable[..., Any],
        update_locks: UpdateLocks,
    ) -> Callable[..., Any] | None:
        """Return a function that does whole calls faster than the VM (see `occelo_link.entry_kinds`), or None.

        ``arguments`` maps each input that is an argument to its position; all other inputs are read from their cells.
        ``scalars`` are the inputs that accept Python numbers. ``updates`` maps the position of an output to the position
        of the input that it updates. ``kind`` is the kind of return value. The entry calls ``slow`` with arguments that
        it cannot handle. A call with updates holds ``update_locks``.
        """
        return None

    def note(self, seconds: float) -> None:
        """Take notice that a call of the entry took some time. By default nothing happens."""
        return None

    def steps(self) -> Sequence[Any]:
        """Return the thunks in execution order. TypeError if the VM does not run node by node, as by default."""
        raise TypeError(f"{type(self).__name__} does not run node by node")


class WrappingVM(VM):
    """Base class of VMs that run another VM, and have its arrays."""

    def __init__(self, vm: VM) -> None:
        self.vm = vm
        self.storage_map = vm.storage_map
        self.allow_gc = vm.allow_gc
        self.takes_library_arrays = vm.takes_library_arrays
        self.parts = vm.parts

    @property
    def python_nodes(self) -> Sequence[Apply]:
        return self.vm.python_nodes

    def fetch(self, result: Any) -> Any:
        return self.vm.fetch(result)

    def clear_storage(self) -> None:
        self.vm.clear_storage()


@frozen_dataclass(eq=False, repr=False)
class Linking:
    """The argument of `Linker.make_vm`: the nodes in execution order, and the cells of all variables. TypeError if a field is missing.

    ``inputs`` and ``outputs`` are the cells of the graph's inputs and outputs; ``storage_map`` has a cell for each
    variable. A variable that is both an input and an output, or more than one output, has only one cell.
    """

    fgraph: FunctionGraph
    order: Sequence[Apply]
    storage_map: StorageMap
    inputs: Sequence[Storage]
    outputs: Sequence[Storage]


def _toposort(fgraph: FunctionGraph) -> Sequence[Apply]:
    return fgraph.toposort()


def storage_cells(
    variables: Sequence[Variable], given: Sequence[Storage] | None, storage_map: StorageMap
) -> list[Storage]:
    """Return a cell for each variable, and record the cells in ``storage_map``.

    The cells are those in ``given``. If ``given`` is None, the cells are those in ``storage_map``; a variable without a
    cell in ``storage_map`` gets a new one. Raises ValueError if the number of cells in ``given`` differs from the
    number of variables.
    """
    if given is not None and len(given) != len(variables):
        raise ValueError(f"{len(variables)} variables need as many cells, got {len(given)}")
    cells: list[Storage] = []
    for position, variable in enumerate(variables):
        if given is not None:
            storage_map[variable] = given[position]
        elif variable not in storage_map:
            storage_map[variable] = [variable.data if isinstance(variable, Constant) else None]
        cells.append(storage_map[variable])
    return cells


class Linker:
    """The base class of linkers. `accept` sets the graph, and `make_thunk` links it.

    A mode with this linker always adds ``required_rewrites`` to its query, and always excludes the tags that
    ``incompatible_rewrites`` includes. ``scheduler`` orders the nodes; the default is `FunctionGraph.toposort`. If
    ``allow_gc`` is true, values are dropped after their last use. TypeError for unknown options.
    """

    name: str = ""
    required_rewrites: RewriteDatabaseQuery = RewriteDatabaseQuery(include=["minimum_compile"])
    incompatible_rewrites: RewriteDatabaseQuery = RewriteDatabaseQuery()
    compiles: bool = False
    """Whether the linker compiles nodes. If not, they run in Python."""

    def __init__(self, *, allow_gc: bool | None = None, scheduler: Scheduler | None = None) -> None:
        self.allow_gc = True if allow_gc is None else allow_gc
        self.scheduler: Scheduler = _toposort if scheduler is None else scheduler
        self.fgraph: FunctionGraph | None = None
        self.no_recycling: list[Variable] = []
        self.profile: Any = None

    def clone(self, allow_gc: bool | None = None) -> Linker:
        """Return a linker with the same settings that has no graph."""
        clone = copy.copy(self)
        clone.fgraph = None
        clone.no_recycling = []
        if allow_gc is not None:
            clone.allow_gc = allow_gc
        return clone

    def accept(
        self,
        fgraph: FunctionGraph,
        no_recycling: Sequence[Variable] | None = None,
        profile: Any = None,
    ) -> Linker:
        """Return a linker whose graph is ``fgraph``: this linker, or a clone if this one already has another graph.

        The cells of the variables in ``no_recycling`` are cleared before each call, so that a later call never
        overwrites values that an earlier call returned.
        """
        if self.fgraph is not None and self.fgraph is not fgraph:
            return self.clone().accept(fgraph, no_recycling, profile)
        self.fgraph = fgraph
        self.no_recycling = list(no_recycling or ())
        self.profile = profile
        return self

    def make_vm(self, linking: Linking) -> VM:
        """Make a VM that runs the nodes of ``linking`` in its order, and reads and writes the cells of ``linking``."""
        raise NotImplementedError(f"{type(self).__name__} has no make_vm")

    def fingerprint(self) -> str | None:
        """Return the linker's part of the cache key of a function. None means that its functions cannot be cached."""
        return None

    def pack(self, vm: VM, given: Sequence[Op] = ()) -> bytes | None:
        """Return a VM of this linker as bytes, for the cache. None means that this VM cannot be cached.

        ``given`` are ops of the user's graph that other packages define. `unpack` gets equal ops in the same order, so
        the bytes may refer to them by position.
        """
        return None

    def unpack(
        self,
        packed: bytes | memoryview,
        graph: Signature,
        inputs: Sequence[Storage],
        outputs: Sequence[Storage],
        rewritten: Callable[[], FunctionGraph],
        given: Sequence[Op] = (),
    ) -> VM | None:
        """Make a VM from the bytes that `pack` returned. The VM uses the given cells.

        Returns None if the bytes are not from this kind of linker. ``rewritten`` makes the linked graph again, for
        messages. The inputs and outputs of that graph are in the order of ``graph``. ``given`` is as in `pack`.
        """
        return None

    def schedule(self, fgraph: FunctionGraph) -> list[Apply]:
        """Return the nodes of a graph in execution order."""
        return list(self.scheduler(fgraph))

    def make_thunk(
        self,
        input_storage: Sequence[Storage] | None = None,
        output_storage: Sequence[Storage] | None = None,
        storage_map: StorageMap | None = None,
    ) -> tuple[VM, list[Container], list[Container]]:
        """Link the accepted graph. Returns the VM, the containers of the inputs and the containers of the outputs.

        Missing cells are made. The container of a variable holds the cell of this variable. A value that is stored in
        an input container is filtered by the type of the variable. Raises ValueError if no graph was accepted.
        """
        fgraph = self.fgraph
        if fgraph is None:
            raise ValueError(f"{type(self).__name__} has accepted no graph")
        cells: StorageMap = {} if storage_map is None else storage_map
        inputs = storage_cells(fgraph.inputs, input_storage, cells)
        outputs = _output_cells(fgraph, output_storage, cells)
        order = self.schedule(fgraph)
        for node in order:
            storage_cells(node.inputs, None, cells)
            storage_cells(node.outputs, None, cells)
        vm = self.make_vm(Linking(fgraph, order, cells, inputs, outputs))
        return (
            vm,
            [Container(v, cell) for v, cell in zip(fgraph.inputs, inputs, strict=True)],
            [
                Container(v, cell, readonly=True)
                for v, cell in zip(fgraph.outputs, outputs, strict=True)
            ],
        )

    def make_function(self) -> Callable[..., Any]:
        """Link the accepted graph. Returns a plain function of its inputs that returns a list of its outputs."""
        vm, inputs, outputs = self.make_thunk()

        def call(*values: Any) -> list[Any]:
            for container, value in zip(inputs, values, strict=True):
                container.value = value
            vm()
            return [container.value for container in outputs]

        return call

    def __str__(self) -> str:
        return self.name or type(self).__name__

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name}>"


def _output_cells(
    fgraph: FunctionGraph, storage: Sequence[Storage] | None, cells: StorageMap
) -> list[Storage]:
    """Return a cell for each output.

    A variable has only one cell, even if it is several outputs or also an input.
    """
    if storage is None:
        return storage_cells(fgraph.outputs, None, cells)
    if len(storage) != len(fgraph.outputs):
        raise ValueError(f"{len(fgraph.outputs)} outputs need as many cells, got {len(storage)}")
    result: list[Storage] = []
    for variable, cell in zip(fgraph.outputs, storage, strict=True):
        fixed = variable.owner is None or isinstance(variable, SharedVariable)
        if variable not in cells and not fixed:
            cells[variable] = cell
        result.append(storage_cells([variable], None, cells)[0])
    return result


class _WrapVM(VM):
    def __init__(
        self, vms: Sequence[Any], wrapper: Callable[..., Any], fgraph: FunctionGraph
    ) -> None:
        self.vms = list(vms)
        self.wrapper = wrapper
        self.fgraph = fgraph
        self.storage_map: StorageMap = self.vms[0].storage_map
        self.allow_gc = False

    def __call__(self, output_subset: Sequence[int] | None = None) -> None:
        for vm in self.vms[1:]:
            for mine, its in zip(self.vms[0].inputs, vm.inputs, strict=True):
                its[0] = copy.deepcopy(mine[0])
        steps = [vm.steps() for vm in self.vms]
        for i, thunks in enumerate(zip(*steps, strict=True)):
            self.wrapper(self.fgraph, i, thunks[0].node, *thunks)

    def clear_storage(self) -> None:
        for vm in self.vms:
            vm.clear_storage()


class WrapLinker(Linker):
    """Runs a graph with several linkers at the same time, node by node.

    All linkers must run nodes one by one in Python, as ``py`` and ``vm`` do. For each node, `WrapLinker` calls
    ``wrapper(fgraph, i, node, *thunks)``, which must call the thunks. There is one thunk for each linker. The thunk
    computes the node in the cells of its linker. The attributes ``inputs`` and ``outputs`` of a thunk are lists of
    cells. ValueError if there is no linker.
    """

    name = "wrap"

    def __init__(self, linkers: Sequence[Linker], wrapper: Callable[..., Any]) -> None:
        super().__init__(allow_gc=False)
        if not linkers:
            raise ValueError("WrapLinker needs at least one linker")
        self.linkers = [linker.clone(allow_gc=False) for linker in linkers]
        self.wrapper = wrapper

    def clone(self, allow_gc: bool | None = None) -> WrapLinker:
        return WrapLinker(self.linkers, self.wrapper)

    def make_thunk(
        self,
        input_storage: Sequence[Storage] | None = None,
        output_storage: Sequence[Storage] | None = None,
        storage_map: StorageMap | None = None,
    ) -> tuple[VM, list[Container], list[Container]]:
        if self.fgraph is None:
            raise ValueError("WrapLinker has accepted no graph")
        vms: list[Any] = []
        for i, linker in enumerate(self.linkers):
            accepted = linker.accept(self.fgraph, self.no_recycling)
            first = i == 0
            vms.append(
                accepted.make_thunk(
                    input_storage if first else None,
                    output_storage if first else None,
                    storage_map if first else None,
                )
            )
        for vm, _, _ in vms:
            vm.steps()  # TypeError if it does not run node by node
        return _WrapVM([vm for vm, _, _ in vms], self.wrapper, self.fgraph), vms[0][1], vms[0][2]


def check_compiled(function: Any, name: str) -> None:
    """Raise TypeError unless ``function`` is a compiled function, an argument of the function ``name``."""
    if not hasattr(function, "maker") or not hasattr(function, "vm"):
        raise explained(TypeError(f"{name} takes a compiled function, got {function!r}"), "graphs")
