"""The base class of the linkers ``jax`` and ``pytorch`` (`TracedLinker`), and their VM for whole graphs (`TracedVM`).

The linker's method `make_vm` chooses between four VMs:

- `TracedVM` runs a whole graph. It handles static inputs, failed checks, ops without a lowering, and the conversion of
  results.
- A VM of a family (`without_values`) runs a graph in which values decide shapes.
- `StagedVM` (`staged_vm`) runs a graph in two parts, each with a VM that `make_vm` chooses.
- `PythonVM` (`occelo_link.vm`) runs a graph with effects in Python, since a library may run a callback twice, or never.
  JAX itself runs some ops with effects (`TracedLinker.controls`).

`jax.linker` and `torch.linker` derive from `TracedLinker`. `capabilities`, `as_jax` and `as_torch` call
`load_lowerings`.
"""

from __future__ import annotations

import functools
import importlib
import pickle
from abc import ABC, abstractmethod
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from occelo_graph import Apply, Constant, FunctionGraph, Type, Variable
from occelo_graph.families import catch_up, follow
from occelo_graph.interpret import evaluate
from occelo_graph.ir.container import local
from occelo_graph.provenance import warn_user
from occelo_graph.tensors.nodes import tensors
from occelo_link.entry_kinds import NOTHING, SINGLE
from occelo_link.fast_calls import make_fast_call
from occelo_link.linker import VM, Linker, Linking, Scheduler
from occelo_link.traced.arrays import Arrays
from occelo_link.traced.registry import NeedsValue
from occelo_link.traced.staged_vm import StagedVM, loops_before
from occelo_link.traced.traced_values import (
    Parts,
    TracedValue,
    flat,
    grouped,
    in_parts,
    is_opaque,
    whole,
)
from occelo_link.traced.tracer import Tracer
from occelo_link.update_locks import UpdateLocks
from occelo_link.vm import PythonVM
from occelo_link.withheld_lowerings import applied, withheld
from occelo_rewrite import RewriteDatabaseQuery

if TYPE_CHECKING:
    from typing_extensions import TypeIs


_CACHE_SIZE = 64
_FAMILIES = ("elemwise", "reduce", "shape", "create", "join", "index", "blas", "control")


_MAKERS: list[Callable[[TracedLinker, Linking, Collection[int]], VM | None]] = []


def without_values(make: Callable[[TracedLinker, Linking, Collection[int]], VM | None]) -> None:
    """Register a function that makes a VM for a graph in which values decide shapes, without making these values static.

    A family may have such a VM for graphs with its ops. The function gets the linker, what is linked, and the positions
    of the inputs that the user made static. It returns None if it cannot run the graph.
    """
    _MAKERS.append(make)


@functools.cache
def load_lowerings() -> None:
    """Import the lowerings of the core's ops, and those of families when their ops are used."""
    for family in _FAMILIES:
        importlib.import_module(f"occelo_link.traced.translations.{family}")
    follow(lambda family: family.load("traced"))


def value_roots(variable: Variable) -> list[Variable]:
    """Return the roots on whose values a variable depends.

    Constants are left out, and so are roots of which only the shape matters.
    """
    roots: dict[Variable, None] = {}
    pending, seen = [variable], set[Variable]()
    while pending:
        each = pending.pop()
        if each in seen:
            continue
        seen.add(each)
        if each.owner is None:
            if not isinstance(each, Constant):
                roots[each] = None
        elif not each.owner.op.of_shapes:
            pending.extend(each.owner.inputs)
    return list(roots)


def value_dependent(fgraph: FunctionGraph) -> list[tuple[Apply, Variable]]:
    """Return pairs of a node and an input of the node, where the input's value decides shapes of the node's outputs.

    Only inputs that depend on values of the graph's inputs are listed.
    """
    inputs = set(fgraph.inputs)
    pairs: list[tuple[Apply, Variable]] = []
    for node in fgraph.toposort():
        shaping = [node.inputs[i] for i in node.op.static_inputs(node)]
        pairs += [(node, v) for v in shaping if not inputs.isdisjoint(value_roots(v))]
    return pairs


class Traced:
    """The compiled form of a graph for certain values of its static inputs.

    It can be called with all dynamic inputs that have the same `TracedLinker.signature`. For JAX these are inputs of
    any shapes; for PyTorch they are inputs of the same shapes.
    """

    def __init__(self, call: Callable[..., Any]) -> None:
        self.call = call
        """The compiled code: a function of the values of dynamic inputs. It returns the results, and a scalar that is
        true if all checks held. The scalar is None if there are no checks.
        """
        self.text: Callable[..., str] | None = None
        """A function that returns the compiled code for some values as text."""
        self.lowered: Any = None
        """The library's compiled object."""


class TracedVM(VM):
    """A VM that runs a graph which a library has compiled. The output cells hold arrays of the library."""

    takes_library_arrays = True

    def __init__(self, linker: TracedLinker, linking: Linking, static: Iterable[int]) -> None:
        fgraph = linking.fgraph
        self.linker = linker
        self.fgraph = fgraph
        self.storage_map = linking.storage_map
        self.allow_gc = linker.allow_gc
        self.inputs = list(linking.inputs)
        self.outputs = list(linking.outputs)
        self.static = set(static)
        self._kinds = [v.type for v in fgraph.inputs]
        self._only_arrays = all(v.type.is_array for v in (*fgraph.inputs, *fgraph.outputs))
        self._compiled: OrderedDict[Any, Traced] = OrderedDict()
        self._warned: set[object] = set()
        self._varying: set[Apply] = set()
        self._accepted = {np.ndarray, linker.array_type}
        self.falls_back = False
        self._withheld = withheld()

    def clear_storage(self) -> None:
        """Do nothing, since there are no intermediate values."""

    def fetch(self, result: TracedValue) -> TracedValue:
        """Return a result for the user: an array of the library as a NumPy array, and any other value as it is."""
        tensor = isinstance(result, self.linker.array_type)
        return self.linker.fetch(result) if tensor else result

    def entry(
        self,
        arguments: Mapping[Variable, int],
        scalars: Collection[Variable],
        updates: Mapping[int, int],
        kind: int,
        slow: Callable[..., Any],
        update_locks: UpdateLocks,
    ) -> Callable[..., Any] | None:
        """Return an entry: a Python function that does whole calls (see `occelo_link.entry_kinds`).

        Returns None if an input or output is not an array, if an input is static, or if the function returns nothing.
        Calls with updates hold ``update_locks``.
        """
        if kind == NOTHING or self.static or not self._only_arrays:
            return None
        sources = [
            arguments.get(v, cell) for v, cell in zip(self.fgraph.inputs, self.inputs, strict=True)
        ]
        positions = tuple(range(len(self.outputs)))
        returned = [i for i in positions if i not in updates]
        cache: dict[Any, Traced] = {}
        signature, fetch = self.linker.signature, self.linker.fetch

        def compute(arrays: Sequence[TracedValue]) -> Sequence[TracedValue] | None:
            if self.static:
                return None  # an input has become static after the entry was made
            values = self._in_parts([arrays[s] if isinstance(s, int) else s[0] for s in sources])
            key = signature(values), len(self._varying)
            traced = cache.get(key)
            try:
                if traced is None:
                    traced = cache[key] = self._traced(values, positions)
                results: Sequence[TracedValue] = traced.call(*values)
                held = results[-1]
                return None if held is not None and not bool(held) else results
            except BaseException as error:
                self._raise_interrupt()
                if not isinstance(error, Exception):
                    raise
                return None  # the slow path will raise the error

        def run(*arrays: TracedValue) -> TracedValue:
            results = compute(arrays)
            return None if results is None else [fetch(results[i]) for i in returned]

        def update(*arrays: TracedValue) -> TracedValue:
            with update_locks:
                results = compute(arrays)
                if results is None:
                    return None
                fetched = [fetch(results[i]) for i in returned]
                for output, i in updates.items():
                    self.inputs[i][0] = results[output]
            return fetched

        ordered = tensors(sorted(arguments, key=arguments.__getitem__))
        expected = [(v.type.dtype, v.type.shape) for v in ordered]
        return make_fast_call(expected, update if updates else run, kind == SINGLE, slow)

    def _in_parts(self, values: list[TracedValue]) -> list[TracedValue]:
        """Return the values in the form that tracers use (`in_parts`). Arrays of other libraries are converted to NumPy
        arrays.
        """
        return [
            v if type(v) in self._accepted else in_parts(kind, local(v))
            for kind, v in zip(self._kinds, values, strict=True)
        ]

    def __call__(self, output_subset: Sequence[int] | None = None) -> None:
        values = self._in_parts([cell[0] for cell in self.inputs])
        positions = tuple(range(len(self.outputs)) if output_subset is None else output_subset)
        try:
            results = self._run(values, positions)
        except NeedsValue:
            raise
        except Exception as error:
            results = self._replay(values, positions, error)
        for i, result in zip(positions, results, strict=True):
            self.outputs[i][0] = result

    def _copied_inputs(self, values: Sequence[TracedValue]) -> dict[Variable, TracedValue]:
        """Return copies of the values of all inputs, as NumPy arrays."""
        return {v: _copied(v.type, x) for v, x in zip(self.fgraph.inputs, values, strict=True)}

    def _run(self, values: list[TracedValue], wanted: tuple[int, ...]) -> Sequence[TracedValue]:
        """Return the results of a call. Opaque results are computed in Python."""
        outputs = self.fgraph.outputs
        compiled = tuple(i for i in wanted if not is_opaque(outputs[i].type))
        if len(compiled) == len(wanted):
            return self._run_compiled(values, wanted)
        results: dict[int, TracedValue] = {}
        if compiled:
            results.update(zip(compiled, self._run_compiled(values, compiled), strict=True))
        others = [i for i in wanted if i not in results]
        computed = evaluate([outputs[i] for i in others], self._copied_inputs(values))
        results.update(zip(others, computed, strict=True))
        return [results[i] for i in wanted]

    def _run_compiled(
        self, values: list[TracedValue], wanted: tuple[int, ...]
    ) -> Sequence[TracedValue]:
        while True:
            varying = len(self._varying)
            try:
                traced = self._traced(values, wanted)
                *results, held = traced.call(*self._dynamic(values))
                fails = held is not None and not bool(held)
            except NeedsValue as need:
                self._make_static(need)
                continue
            except BaseException as error:
                self._raise_interrupt()
                if len(self._varying) == varying or not isinstance(error, Exception):
                    raise
                continue
            if len(self._varying) == varying:
                break
        if fails:
            raise ValueError("A check of the graph failed")
        if self._only_arrays:
            return results
        kinds = [self.fgraph.outputs[i].type for i in wanted]
        return [
            whole(kind, Parts(map(self.linker.fetch, v)) if isinstance(v, Parts) else v)
            for kind, v in zip(kinds, grouped(kinds, results), strict=True)
        ]

    def _raise_interrupt(self) -> None:
        """Raise an interrupt of a callback again, if there was one. The library may have raised an error of its own
        instead.
        """
        interrupts = self.linker.arrays.interrupts
        if interrupts:
            interrupt = interrupts.pop()
            interrupts.clear()
            raise interrupt

    def _dynamic(self, values: Sequence[TracedValue]) -> list[TracedValue]:
        """Return the arrays of inputs that are not static."""
        return flat(v for i, v in enumerate(values) if i not in self.static)

    def sources(self) -> list[int]:
        """Return, for each array argument of the compiled code, the position of the input that it belongs to."""
        dynamic = [i for i in range(len(self._kinds)) if i not in self.static]
        return [i for i in dynamic for _ in self._kinds[i].parts() or ()]

    def targets(self, wanted: Sequence[int]) -> list[int]:
        """Return, for each array result of the compiled code, the position of the output that it belongs to."""
        return [i for i in wanted for _ in self.fgraph.outputs[i].type.parts() or ()]

    def _traced(self, values: list[TracedValue], wanted: tuple[int, ...]) -> Traced:
        fixed = {i: _as_numpy(self._kinds[i], values[i]) for i in sorted(self.static)}
        contents = tuple(_contents(value) for value in fixed.values())
        dynamic = self._dynamic(values)
        if None in contents:
            return self.linker.compile_traced(self, fixed, dynamic, wanted)
        key = (
            wanted,
            tuple(sorted(self.static)),
            len(self._varying),
            contents,
            self.linker.signature(dynamic),
        )
        traced = self._compiled.get(key)
        if traced is None:
            traced = self._compiled[key] = self.linker.compile_traced(self, fixed, dynamic, wanted)
            if len(self._compiled) > _CACHE_SIZE:
                self._compiled.popitem(last=False)
        else:
            self._compiled.move_to_end(key)
        return traced

    def compiled_for(self, *values: TracedValue) -> tuple[Traced, list[TracedValue]]:
        """Return the compiled form for given values of all inputs, and its array arguments."""
        parts = self._in_parts(list(values))
        traced = self._traced(parts, tuple(range(len(self.outputs))))
        return traced, self._dynamic(parts)

    def trace(
        self, fixed: dict[int, TracedValue], dynamic: Sequence[TracedValue], wanted: Sequence[int]
    ) -> list[TracedValue]:
        """Run the graph on traced arrays.

        Returns the arrays of the results, and a truth value that says whether all checks held, or None if there are no
        checks.
        """
        rest = iter(grouped((k for i, k in enumerate(self._kinds) if i not in fixed), dynamic))
        inputs = {
            v: fixed[i] if i in fixed else next(rest) for i, v in enumerate(self.fgraph.inputs)
        }
        arrays = self.linker.arrays
        varying = len(self._varying)
        tracer = Tracer(arrays, inputs, on_fallback=self.on_fallback, varying=self._varying)
        with applied(self._withheld):
            results = flat(tracer.all_values([self.fgraph.outputs[i] for i in wanted]))
        if len(self._varying) > varying:  # PyTorch runs callbacks while it traces
            raise RuntimeError("The carried values of a loop change in shape")
        return [*(arrays.copy(tracer.array(x)) for x in results), tracer.all_checks()]

    def on_fallback(self, node: Apply) -> None:
        """Warn once for each op that runs in Python. Raises NotImplementedError if the linker's ``strict`` is true."""
        message = (
            f"{self.linker.name} has no {node.op}: it runs in Python, called from the compiled code"
        )
        if self.linker.strict:
            raise NotImplementedError(message)
        self.falls_back = True
        if node.op not in self._warned:
            self._warned.add(node.op)
            warn_user(message)

    def _make_static(self, need: NeedsValue) -> None:
        positions = {v: i for i, v in enumerate(self.fgraph.inputs)}
        roots = [v for v in value_roots(need.variable) if v in positions]
        new = [v for v in roots if positions[v] not in self.static]
        if not new:
            raise NotImplementedError(str(need)) from None
        if self.linker.strict:
            names = ", ".join(map(str, new))
            raise NotImplementedError(f"{need}: {names} must be static") from None
        self.static.update(positions[v] for v in new)

    def _replay(
        self, values: list[TracedValue], wanted: Sequence[int], error: Exception
    ) -> Sequence[TracedValue]:
        """Run the interpreter on the inputs of a call that failed. The interpreter raises the error with its full
        message.

        If the interpreter raises no error, ``error`` is raised. But if the graph has a branch and the library computes
        both sides, the error may come from the side that is not taken. Then the interpreter's results are returned,
        with a warning.
        """
        if isinstance(error, NotImplementedError):
            raise error
        inputs = self._copied_inputs(values)
        results = evaluate([self.fgraph.outputs[i] for i in wanted], inputs)
        branches = any(node.op.lazy for node in self.fgraph.apply_nodes)
        if not (branches and self.linker.computes_both_branches):
            raise error
        warn_user(
            f"{self.linker.name} computes both sides of a branch, and one that is not taken failed "
            f"({type(error).__name__}): this call ran in Python"
        )
        return [
            self.linker.arrays.constant(np.asarray(value))
            if self.fgraph.outputs[i].type.is_array
            else value
            for i, value in zip(wanted, results, strict=True)
        ]


def _copied(kind: Type, value: TracedValue) -> TracedValue:
    """Return a copy of a value whose parts are NumPy arrays. An opaque object is returned as it is."""
    if is_opaque(kind):
        return value
    return np.array(value) if kind.is_array else whole(kind, Parts(map(np.array, value)))


def _as_numpy(kind: Type, value: TracedValue) -> TracedValue:
    """Return a value with NumPy arrays as its parts. An opaque object is returned as it is."""
    if is_opaque(kind):
        return value
    return np.asarray(value) if kind.is_array else Parts(map(np.asarray, value))


def _is_numpy(value: object) -> TypeIs[npt.NDArray[Any]]:
    return isinstance(value, np.ndarray)


def _contents(value: object) -> tuple[object, ...] | None:
    """Return a hashable key of the content of a static value, or None if no key can be computed."""
    if _is_numpy(value) and value.dtype != object:
        return value.tobytes(), value.shape, value.dtype.str
    try:
        # the content itself, since the hash of a mutable object is usually its identity
        return type(value), pickle.dumps(value)
    except Exception:
        return None


class TracedLinker(Linker, ABC):
    """The base class of ``jax`` and ``pytorch``, the linkers that run a graph on a library's symbolic arrays.

    ``static`` lists inputs (variables, names or positions) whose values are fixed in each compilation. Other inputs
    become static in these cases:

    - Their values decide shapes. There is a warning when the graph is linked. Two kinds of graphs need no static
      inputs: graphs that a family can run without (`without_values`), and graphs in which results of loops decide the shapes
      (`staged_vm`). If `divides` is False, neither is tried.
    - Tracing the graph in a call needs their values (`NeedsValue`).
    - Their values are opaque.

    If ``strict`` is true, NotImplementedError is raised in place of the warning about shapes. The error is also raised
    if tracing finds that an input must be static, and if an op would run in Python.
    """

    required_rewrites = RewriteDatabaseQuery(include=["minimum_compile"])
    incompatible_rewrites = RewriteDatabaseQuery(
        include=["cxx_only", "py_only", "BlasOpt", "accumulate_products", "fusion", "inplace"]
    )

    def __init__(
        self,
        *,
        allow_gc: bool | None = None,
        scheduler: Scheduler | None = None,
        static: Sequence[int | str | Variable] = (),
        strict: bool = False,
    ) -> None:
        super().__init__(allow_gc=allow_gc, scheduler=scheduler)
        self.static = tuple(static)
        self.strict = strict

    compiles = True
    array_type: type
    """The type of the library's arrays."""
    computes_both_branches: bool = False
    """Whether the library also computes the side of a branch that is not taken."""

    @property
    def divides(self) -> bool:
        """Whether `StagedVM`, and VMs of families, may run graphs. `StagedVM` divides a graph, and the others may change it."""
        return True

    @cached_property
    def arrays(self) -> Arrays:
        """The operations on the library's arrays."""
        return self.make_arrays()

    @abstractmethod
    def make_arrays(self) -> Arrays:
        """Make the operations on the library's arrays. This may import the library."""

    @abstractmethod
    def signature(self, values: Sequence[TracedValue]) -> Any:
        """Return a hashable key of dynamic values. The graph is compiled again for each new key."""

    @abstractmethod
    def fetch(self, result: TracedValue) -> TracedValue:
        """Return a result of a call as a NumPy array, which may share memory with the library's array."""

    @abstractmethod
    def compile_traced(
        self,
        vm: TracedVM,
        fixed: dict[int, TracedValue],
        values: Sequence[TracedValue],
        wanted: Sequence[int],
    ) -> Traced:
        """Compile the graph for the fixed values of static inputs.

        The dynamic inputs are arrays with the same dtypes as ``values``, and, depending on the library, with the same
        shapes.
        """

    def controls(self, node: Apply) -> bool:
        """Whether compiled code may call a node with effects, because it runs the node once, and only if it is needed."""
        return False

    def make_vm(self, linking: Linking) -> VM:
        fgraph = linking.fgraph
        for node in linking.order:
            if not node.op.pure and not self.controls(node):
                return self._in_python(linking, node)
        load_lowerings()
        static = {self._position(fgraph, name) for name in self.static}
        positions = {v: i for i, v in enumerate(fgraph.inputs)}
        depending = value_dependent(fgraph)
        if depending and self.divides:
            catch_up()  # for what a family registers by `without_values`
            for make in _MAKERS:
                vm = make(self, linking, static)
                if vm is not None:
                    return vm
        loops = loops_before(fgraph, [v for _, v in depending]) if self.divides else []
        if loops:
            return StagedVM(self, linking, loops)
        roots = {positions[r] for _, v in depending for r in value_roots(v) if r in positions}
        if depending and not roots <= static:
            self._report(fgraph, depending, roots - static)
        return self.make_traced(linking, static | roots)

    def _in_python(self, linking: Linking, node: Apply) -> PythonVM:
        """The VM that runs a whole graph in Python, because a node has effects."""
        message = (
            f"{self.name} does not say when and how often {node.op} runs, which has effects: "
            "the whole function runs in Python"
        )
        if self.strict:
            raise NotImplementedError(message)
        warn_user(message)
        return PythonVM(linking, self.no_recycling, self.allow_gc)

    def make_traced(self, linking: Linking, static: Iterable[int]) -> TracedVM:
        """Return the VM that compiles a whole graph. The inputs at the positions ``static`` are static."""
        # opaque values are static, since libraries have no such values
        opaque = {i for i, v in enumerate(linking.fgraph.inputs) if is_opaque(v.type)}
        return TracedVM(self, linking, {*static, *opaque})

    @staticmethod
    def _position(fgraph: FunctionGraph, name: int | str | Variable) -> int:
        if isinstance(name, int):
            return name
        names = [v.name for v in fgraph.inputs]
        label = name.name if isinstance(name, Variable) else name
        if label not in names:
            raise ValueError(f"The graph has no input {name}; static inputs are told by name")
        return names.index(label)

    def _report(
        self, fgraph: FunctionGraph, depending: Sequence[tuple[Apply, Variable]], roots: set[int]
    ) -> None:
        lines = [f"Shapes in the graph depend on values, which {self.name} must know to compile:"]
        for node, variable in depending:
            where = f", made at {node.source}" if node.source is not None else ""
            lines.append(f"  {node.op} needs {variable}{where}")
        names = ", ".join(str(fgraph.inputs[i]) for i in sorted(roots))
        cause = f"{names} will be static: each new value is compiled anew"
        if self.strict:
            raise NotImplementedError("\n".join([*lines, f"{names} must be static"]))
        warn_user("\n".join([*lines, cause]))
