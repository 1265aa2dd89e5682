"""Profiles of nodes: the time, shapes and bytes of each node of a compiled graph.

`occelo_compile.maker` wraps the VM of a profiled function in a `ProfiledVM`, and `occelo_compile.profiling` reports the
results. Measuring each node takes much longer than a plain call, so only a sample of calls is measured.

A `PythonVM` is timed while it runs its nodes. Code that is compiled from several nodes cannot be timed node by node. So
in a measured call, all nodes also run one by one in Python, in a shadow VM. In both cases, the nodes of inner graphs,
such as the body of a loop, are timed, too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any

from occelo_graph import Apply, FunctionGraph, Variable
from occelo_graph.interpret import inner_nodes_timed, last_uses
from occelo_link.array_parts import bytes_of
from occelo_link.linker import VM, StorageMap, WrappingVM
from occelo_link.node_by_node import ShadowVM
from occelo_link.vm import Callback, NodeThunk, PythonVM

SHARE = 0.03
"""The share of the running time that measuring may take: 0.03 is 3 percent."""


@dataclass
class NodeCost:
    """The cost of a node.

    ``runs`` is the number of runs. ``seconds`` is the time of all runs, including the nodes of the node's inner graphs.
    ``inner`` has the costs of these inner nodes. ``shapes``, ``dtypes`` and ``bytes`` are those of the results of the
    last run.
    """

    number: int
    op: str
    name: str
    source: str
    inner: dict[Apply, NodeCost] = field(default_factory=lambda: dict[Apply, NodeCost]())
    runs: int = 0
    seconds: float = 0.0
    shapes: tuple[Any, ...] = ()
    dtypes: tuple[str, ...] = ()
    bytes: int = 0

    @property
    def mean(self) -> float:
        """The mean time of one run in seconds."""
        return self.seconds / self.runs if self.runs else 0.0

    @property
    def own_seconds(self) -> float:
        """The time of all runs in seconds, without the time of inner nodes."""
        return self.seconds - sum(cost.seconds for cost in self.inner.values())

    def add(self, node: Apply, seconds: float, made: Sequence[Any]) -> list[int]:
        """Add one run of the node. ``made`` are its results. Returns the number of bytes of each result."""
        self.runs += 1
        self.seconds += seconds
        self.shapes = tuple(getattr(value, "shape", None) for value in made)
        self.dtypes = tuple(str(getattr(value, "dtype", "")) for value in made)
        sizes = [bytes_of(v.type, value) for v, value in zip(node.outputs, made, strict=True)]
        self.bytes = sum(sizes)
        return sizes


class NodeProfile:
    """The costs of all nodes of a graph, and the peak memory of its intermediate values in bytes.

    ``samples`` is the number of measured calls. ``beside`` is true if the nodes were timed in a shadow VM in Python,
    not in compiled code.
    """

    def __init__(self) -> None:
        self.costs: dict[Apply, NodeCost] = {}
        self.samples = 0
        self.peak_bytes = 0
        self.beside = False

    def cost(self, node: Apply) -> NodeCost:
        """Return the cost of a node; a new entry is made if there is none."""
        return _entry(self.costs, node)


def _entry(costs: dict[Apply, NodeCost], node: Apply) -> NodeCost:
    cost = costs.get(node)
    if cost is None:
        names = [v.name for v in node.outputs if v.name]
        cost = costs[node] = NodeCost(
            len(costs), str(node.op), ", ".join(names), str(node.source or "")
        )
    return cost


def _merge(costs: dict[Apply, NodeCost], more: Mapping[Apply, NodeCost]) -> None:
    for node, other in more.items():
        cost = _entry(costs, node)
        cost.runs += other.runs
        cost.seconds += other.seconds
        cost.shapes, cost.dtypes, cost.bytes = other.shapes, other.dtypes, other.bytes
        _merge(cost.inner, other.inner)


class _Sample:
    """The measurement of one run. A Python VM calls this object after each node, and the call records the node's cost."""

    def __init__(
        self, profile: NodeProfile, frees: Mapping[Apply, list[Variable]], then: Callback | None
    ) -> None:
        self.profile = profile
        self.frees = frees
        self.then = then
        self.sizes: dict[Variable, int] = {}
        self.live = 0
        self.inner: dict[Apply, NodeCost] = {}
        self.last = perf_counter()

    def note(self, place: Sequence[Apply], seconds: float, results: Sequence[Any]) -> None:
        """Record a run of an inner node, while the VM runs a node that contains it.

        ``place`` lists the nodes around the inner node, from outside to inside, and then the inner node itself. The
        node that the VM runs is left out.
        """
        costs = self.inner
        for outer in place[:-1]:
            costs = _entry(costs, outer).inner
        _entry(costs, place[-1]).add(place[-1], seconds, results)

    def __call__(
        self, node: Apply, thunk: NodeThunk, storage_map: StorageMap, computed: dict[Variable, bool]
    ) -> None:
        now = perf_counter()
        cost = self.profile.cost(node)
        views = node.op.view_map
        sizes = cost.add(node, now - self.last, [storage_map[v][0] for v in node.outputs])
        _merge(cost.inner, self.inner)
        self.inner = {}
        for i, (variable, size) in enumerate(zip(node.outputs, sizes, strict=True)):
            # a result that is a view, or overwrites an input, needs no memory of its own
            if i not in views and i not in node.op.destroy_map:
                self.sizes[variable] = size
                self.live += size
        self.profile.peak_bytes = max(self.profile.peak_bytes, self.live)
        for variable in self.frees.get(node, ()):
            self.live -= self.sizes.pop(variable, 0)
        if self.then is not None:
            self.then(node, thunk, storage_map, computed)
        self.last = perf_counter()


class ProfiledVM(WrappingVM):
    """A VM that measures a sample of its runs. ``due`` is true if the next run will be measured.

    If the wrapped VM is not a `PythonVM`, its nodes are measured in a shadow VM.
    """

    def __init__(
        self, vm: VM, fgraph: FunctionGraph, order: Sequence[Apply], profile: NodeProfile
    ) -> None:
        super().__init__(vm)
        self.profile = profile
        self.fgraph = fgraph
        self.order = list(order)
        self.due = True
        self.total = 0.0
        self.spent = 0.0
        self._frees = dict(zip(self.order, last_uses(self.order, fgraph.outputs), strict=True))
        self._shadow: ShadowVM | None = None
        profile.beside = not isinstance(vm, PythonVM)
        self.entry = vm.entry

    def note(self, seconds: float) -> None:
        """Record the time of a run that was not measured in detail."""
        self.total += seconds
        if not self.due and self.spent <= SHARE * self.total:
            self.due = True

    def steps(self) -> Sequence[NodeThunk]:
        """Return the thunks of the wrapped VM. Raises TypeError if the wrapped VM does not run node by node."""
        return self.vm.steps()

    def __call__(self, output_subset: Sequence[int] | None = None) -> None:
        start = perf_counter()
        if not self.due or output_subset is not None:
            self.vm(output_subset)
            self.note(perf_counter() - start)
            return
        if isinstance(self.vm, PythonVM):
            _measure(self.vm, self.profile, self._frees)
            taken = perf_counter() - start
            # how much of this time is due to measuring is unknown: assume half
            self.spent += taken / 2
            self.total += taken / 2
        else:
            _measure(self._nodes(), self.profile, self._frees)
            self.spent += perf_counter() - start
            start = perf_counter()
            self.vm()
            self.total += perf_counter() - start
        self.profile.samples += 1
        self.due = False

    def _nodes(self) -> PythonVM:
        if self._shadow is None:
            self._shadow = ShadowVM(self.fgraph, self.order)
        return self._shadow.load([self.storage_map[v] for v in self.fgraph.inputs])


def _measure(vm: PythonVM, profile: NodeProfile, frees: Mapping[Apply, list[Variable]]) -> None:
    before = vm.callback
    sample = vm.callback = _Sample(profile, frees, before)
    try:
        with inner_nodes_timed(sample.note):
            vm()
    finally:
        vm.callback = before
