"""`OcceloLinker`: a linker of PyTensor that compiles a whole graph with Occelo.

The storage cells of PyTensor's function become the storage of shared variables here. So the compiled function takes no
arguments: PyTensor calls machine code that reads its cells.
"""

from __future__ import annotations

from typing import Any

from pytensor.compile.rewriting import rewrite_ofg_inner_graph
from pytensor.graph.basic import Constant
from pytensor.link.basic import Container, LocalLinker
from pytensor.link.utils import map_storage
from pytensor.scan.op import Scan
from pytensor.scan.rewriting.inner_graph import rewrite_scan_inner_graph
from pytensor.tensor.optimize import rewrite_optimize_inner_graph

import occelo as oc
from occelo_pytensor.conversion import Settings, convert, converting
from occelo_pytensor.variables import bound, is_sparse_type, our_type


class OcceloLinker(LocalLinker):
    """Compiles a graph of PyTensor with the linker ``native``, or in another mode of Occelo.

    ``occelo_mode`` is a mode of `occelo.function` or its name; None for the default.
    """

    required_rewrites: tuple[str, ...] = ("minimum_compile", "occelo")
    incompatible_rewrites: tuple[str, ...] = (
        "cxx_only",
        "BlasOpt",
        "fusion",
        "inplace",
        "scan_save_mem",
        "scan_reduce_trace_prealloc",
    )

    def __init__(
        self, allow_gc: bool | None = None, scheduler: Any = None, occelo_mode: Any = None
    ) -> None:
        super().__init__(allow_gc=allow_gc, scheduler=scheduler)
        self.occelo_mode = occelo_mode
        self.fgraph: Any = None

    def accept(self, fgraph: Any, no_recycling: Any = None, profile: Any = None) -> OcceloLinker:
        """The linker for a graph: this one, or a copy if it has a graph already."""
        if self.fgraph is not None and self.fgraph is not fgraph:
            return type(self)(self.allow_gc, self._scheduler, self.occelo_mode).accept(
                fgraph, no_recycling, profile
            )
        self.fgraph = fgraph
        return self

    def clone(self, allow_gc: bool | None = None) -> OcceloLinker:
        return type(self)(
            self.allow_gc if allow_gc is None else allow_gc, self._scheduler, self.occelo_mode
        )

    def make_all(
        self, input_storage: Any = None, output_storage: Any = None, storage_map: Any = None
    ) -> tuple[Any, ...]:
        graph = self.fgraph
        inputs, outputs, storage = map_storage(
            graph, [], input_storage, output_storage, storage_map or _cells_of_outputs(graph)
        )
        vm: Any = _compiled(graph, inputs, self.occelo_mode)
        vm.storage_map = storage
        vm.allow_gc = bool(self.allow_gc)
        vm.jit_fn = vm
        return (
            vm,
            [Container(v, cell) for v, cell in zip(graph.inputs, inputs, strict=True)],
            [
                Container(v, cell, readonly=True)
                for v, cell in zip(graph.outputs, outputs, strict=True)
            ],
            [vm],
            list(graph.apply_nodes)[:1],
        )


def _cells_of_outputs(graph: Any) -> dict[Any, list[Any]]:
    return {
        v: [v.data if isinstance(v, Constant) else None]
        for v in graph.outputs
        if v.owner is not None or isinstance(v, Constant)
    }


def _compiled(graph: Any, cells: list[list[Any]], mode: Any) -> Any:
    """The function without arguments from the values in ``cells`` to a list of outputs."""
    memo = {v: bound(v, cell) for v, cell in zip(graph.inputs, cells, strict=True)}
    with converting(Settings(derivatives=False)):
        outputs = convert(list(graph.outputs), memo)
    compiled = oc.function([], outputs, mode=mode, name=graph.name)
    sparse = [
        (cell, our_type(v.type))
        for v, cell in zip(graph.inputs, cells, strict=True)
        if is_sparse_type(v.type)
    ]
    return Indexing32(compiled, sparse) if sparse else compiled


class Indexing32:
    """A compiled function that converts the indices of sparse matrices in its cells to int32: PyTensor takes them as they are."""

    def __init__(self, function: Any, cells: list[tuple[list[Any], Any]]) -> None:
        self.function = function
        self._cells = cells

    def __call__(self, *args: Any, **options: Any) -> Any:
        for cell, kind in self._cells:
            cell[0] = kind.filter(cell[0])
        return self.function(*args, **options)

    def __getattr__(self, name: str) -> Any:
        """What else a function has, such as ``dump`` and ``maker``, is that of the function inside."""
        if name == "function":  # of an object that is not filled yet, as pickles make
            raise AttributeError(name)
        return getattr(self.function, name)


class _Storing:
    """A compiled function that also stores its outputs in the cells of PyTensor's function, as the steps of a loop are read there."""

    def __init__(self, inner: Any, cells: list[list[Any]]) -> None:
        self._inner = inner
        self._cells = cells
        self.allow_gc, self.storage_map = inner.allow_gc, inner.storage_map

    def __call__(self) -> None:
        for cell, value in zip(self._cells, self._inner(), strict=True):
            cell[0] = value


def let_loops_be_compiled() -> None:
    """Let a `scan` of PyTensor whose own mode is "OCCELO" run in a function of another mode, which calls each step by itself."""
    loop: Any = Scan
    compile_step = loop.compile_fn

    def compile_fn(self: Any, mode: Any) -> Any:
        step = compile_step(self, mode)
        if isinstance(mode.linker, OcceloLinker):
            step.vm = _Storing(step.vm, [each.storage for each in step.output_storage])
        return step

    loop.compile_fn = compile_fn


def _as_it_is(linker: OcceloLinker, *_: Any, **__: Any) -> None:
    """Inner graphs are converted as they are: Occelo rewrites them."""


for _rewrite in (rewrite_scan_inner_graph, rewrite_ofg_inner_graph, rewrite_optimize_inner_graph):
    _dispatch: Any = _rewrite
    _dispatch.register(OcceloLinker)(_as_it_is)
