"""`Function`, the class of compiled functions. A call checks arguments, runs the VM, stores updates and returns
results.

`FunctionMaker` in `maker` makes the instances of `Function`, and `function` returns them to the user.
"""

from __future__ import annotations

import copy
import os
import threading
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from time import perf_counter
from types import FunctionType
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Literal

import numpy as np

from occelo_compile.maker import FunctionMaker
from occelo_compile.memory import arrays_of, own_value
from occelo_compile.nested_calls import NestedCall
from occelo_compile.progress import reporting
from occelo_compile.symbolic_io import SymbolicInput, SymbolicOutput
from occelo_graph import Container, SharedVariable
from occelo_graph.errors import explained, explained_by, lines
from occelo_graph.ir.container import external_array_types, local
from occelo_graph.missing_names import MissingNameError
from occelo_graph.notebook import Shown
from occelo_link import VM
from occelo_link.entry_kinds import LIST, NOTHING, SINGLE
from occelo_link.update_locks import UpdateLocks

if TYPE_CHECKING:
    from pathlib import Path

    from typing_extensions import TypeVar

    from occelo_compile.profiles.loop_times import LoopTimes
    from occelo_link.standalone.c_function import CFunction

    R = TypeVar("R", default=Any)
else:
    from typing import TypeVar

    R = TypeVar("R")


class _Duplicate:
    def __init__(self) -> None:
        self.__doc__ = "The value in `Function.finder` for a name that belongs to several inputs."

    def __repr__(self) -> str:
        return "DUPLICATE"


DUPLICATE = _Duplicate()


class _Values:
    """The attribute ``f.value``: maps an input, given as a variable, a name or a position, to its value."""

    def __init__(self, function: Function) -> None:
        self._function = function

    def __getitem__(self, key: Any) -> Any:
        return local(self._function.find(key).value)

    def __setitem__(self, key: Any, value: Any) -> None:
        self._function.find(key).value = value

    def __contains__(self, key: Any) -> bool:
        return key in self._function.finder


class _Containers(_Values):
    """The attribute ``f.container``: maps an input, given as a variable, a name or a position, to its container."""

    def __getitem__(self, key: Any) -> Container:
        return self._function.find(key)


class Function(Shown, Generic[R]):
    """A compiled function. TypeError for wrong arguments, in a call too.

    A call accepts the inputs in order or by name. It returns an array, a list or a dict, in the form in which the
    outputs were passed to `function`, which is the type R for type checkers. Scalars are returned as 0-d arrays. Several threads may call one function. If
    ``trust_input`` is True, arguments are not checked; then an argument of a wrong type may give wrong results.

    ``f[key]`` reads and sets the value of an input or of a shared variable. The key is the variable, its name or its
    position. Arguments are not kept after a call, so ``f[key]`` of an argument is None.

    ``indices`` are pairs of an input and its position. ``defaults`` has three entries for each input: whether a call
    must pass it, whether its default is restored after a call, and the default. A function made by ``copy.copy`` shares
    the `maker` of the original. A function made by the method `copy` has its own maker.
    """

    pickle_aliased_memory_strategy: ClassVar[str] = "warn"
    """What happens when values that share memory are pickled: "warn", "raise" or "ignore"."""

    if not TYPE_CHECKING:  # so that type checkers report unknown names

        def __getattr__(self, name: str) -> Any:
            text = f"{type(self).__name__!r} object has no attribute {name!r}"
            raise MissingNameError(text, name, self)

    def __init__(
        self,
        vm: VM,
        input_storage: Sequence[Container],
        output_storage: Sequence[Container],
        indices: Sequence[tuple[SymbolicInput, int]],
        outputs: Sequence[SymbolicOutput],
        defaults: Sequence[tuple[bool, bool, Any]],
        unpack_single: bool,
        return_none: bool,
        output_keys: Sequence[str] | None,
        maker: FunctionMaker,
        name: str | None = None,
    ) -> None:
        self.vm = vm
        self.input_storage = list(input_storage)
        self.output_storage = list(output_storage)
        self.indices = list(indices)
        self.outputs = list(outputs)
        self.defaults = list(defaults)
        self.unpack_single = unpack_single
        self.return_none = return_none
        self.output_keys = None if output_keys is None else list(output_keys)
        self.maker = maker
        self.name = name
        self.trust_input = False
        self.profile = maker.profile
        inputs = [each for each, _ in self.indices]
        self._n_outputs = len(self.outputs)
        self._updates = sorted(maker.call_graph.update_mapping.items())
        self._mutable = {i for i, each in enumerate(inputs) if each.mutable}
        self._explicit = [i for i, each in enumerate(inputs) if not each.implicit]
        self._required = [i for i in self._explicit if self.defaults[i][0]]
        updated = {i for _, i in self._updates}
        self._cleared = [i for i in self._required if i not in updated]
        self._names = self._index_names(inputs)
        self.finder = self._make_finder(inputs)
        self.value = _Values(self)
        self.container = _Containers(self)
        self._aliasing = self._aliasing_groups(inputs)
        self._calls = 0
        self._may_have_entry = type(self) is Function
        self._takes_library_arrays = vm.takes_library_arrays
        self.lock: Any = threading.RLock()
        self._update_locks = UpdateLocks(self.input_storage[i].storage for _, i in self._updates)
        self._refed = [
            (self.input_storage[i].storage, value, inputs[i].mutable)
            for i, (_, refeed, value) in enumerate(self.defaults)
            if refeed
        ]
        self._put_defaults()

    def _put_defaults(self) -> None:
        for cell, value, mutable in self._refed:
            cell[0] = copy.deepcopy(value) if mutable else value

    # finding inputs

    def _index_names(self, inputs: Sequence[SymbolicInput]) -> dict[str, list[int]]:
        names: dict[str, list[int]] = {}
        for i in range(len(inputs)):
            name = inputs[i].name
            if name is not None and not inputs[i].implicit:
                names.setdefault(name, []).append(i)
        return names

    def _make_finder(self, inputs: Sequence[SymbolicInput]) -> dict[Any, Any]:
        finder: dict[Any, Any] = {}
        for i, (each, container) in enumerate(zip(inputs, self.input_storage, strict=True)):
            finder[i] = container
            finder[each.variable] = container
            if each.name is not None:
                finder[each.name] = DUPLICATE if each.name in finder else container
        return finder

    def find(self, key: Any) -> Container:
        """Return the container of an input, given as a variable, a name or a position.

        Raises KeyError if there is no such input, and TypeError if several inputs have the name.
        """
        try:
            entry = self.finder[key]
        except (KeyError, TypeError):
            raise explained(KeyError(f"{self} has no input {key!r}"), "calls") from None
        if entry is DUPLICATE:
            raise TypeError(
                f"Several inputs of {self} are named {key!r}; use the variable or its position"
            )
        container: Container = entry
        return container

    def __getitem__(self, key: Any) -> Any:
        return self.value[key]

    def __setitem__(self, key: Any, value: Any) -> None:
        self.value[key] = value

    def __contains__(self, key: Any) -> bool:
        return key in self.value

    # without this, Python would iterate over a function by calling `__getitem__` with 0, 1, 2, ...
    __iter__ = None

    def get_shared(self) -> list[SharedVariable]:
        """Return the shared variables that the function uses."""
        return [e.variable for e, _ in self.indices if isinstance(e.variable, SharedVariable)]

    # calling

    def __call__(
        self, *args: Any, output_subset: Sequence[str | int] | None = None, **kwargs: Any
    ) -> R:
        if self._calls > 0 and self._may_have_entry:
            self._attach_entry()
            # with any keyword, the entry would leave the call to Python
            chosen = {} if output_subset is None else {"output_subset": output_subset}
            return self(*args, **chosen, **kwargs)
        nested = self.maker.nested
        if nested is not None:
            result: R = nested.call(self, self._flat_call, args, output_subset, kwargs)
            return result
        return self._flat_call(*args, output_subset=output_subset, **kwargs)

    def _flat_call(
        self, *args: Any, output_subset: Sequence[str | int] | None = None, **kwargs: Any
    ) -> Any:
        """Call without the entry, and without trees of arguments and results."""
        with self.lock, self._update_locks:
            return self._call(args, output_subset, kwargs)

    def _call(
        self,
        args: Sequence[Any],
        output_subset: Sequence[str | int] | None,
        kwargs: dict[str, Any],
    ) -> Any:
        profile = self.profile
        start = perf_counter() if self._calls == 0 or profile is not None else 0.0
        storage = self.input_storage
        if self.trust_input and not kwargs and len(args) == len(self._explicit):
            for i, value in zip(self._explicit, args, strict=True):
                storage[i].storage[0] = value
        else:
            self._fill(args, kwargs)
        subset = None if output_subset is None else self._subset(output_subset)
        if external_array_types and not self._takes_library_arrays:
            self._fetch()
        try:
            running = perf_counter() if profile is not None else 0.0
            if self._calls == 0:
                with reporting(self.name or "a function", lambda: "the first call"):
                    self._run(subset)
            else:
                self._run(subset)
            if profile is not None:
                profile.add_run(perf_counter() - running)
            results = [container.storage[0] for container in self.output_storage[: self._n_outputs]]
            if self._takes_library_arrays and not self._given_external_arrays(args, kwargs):
                results = [None if each is None else self.vm.fetch(each) for each in results]
            new_values = [(i, self.output_storage[o].storage[0]) for o, i in self._updates]
            for i, value in new_values:
                storage[i].storage[0] = value
        except Exception as error:
            from occelo_compile.debugging.error_replay import (
                replayed_error,  # imported only after a failure
            )

            replayed = replayed_error(self, subset, error)
            if replayed is not None:
                raise replayed from None
            raise error
        finally:
            self._restore()
        if self._calls == 0:
            self.maker.times.first_call = perf_counter() - start
            # a function that is called once needs no entry that would have to be compiled
            if self.vm.entry_is_cheap:
                self._attach_entry()
        if profile is not None:
            profile.add_call(perf_counter() - start)
        self._calls += 1
        return self._package(results, subset)

    def _attach_entry(self) -> None:
        """Let later calls enter machine code directly, if the VM has an entry.

        The entry is a builtin function. It becomes ``__call__`` of a new subclass, of which this function is the only
        instance. So no Python code runs before the entry. For keywords, conversions and errors the entry falls back to
        `Function.__call__`.
        """
        with self.lock:
            if self._may_have_entry:
                self._may_have_entry = False
                self._make_entry()

    def _make_entry(self) -> None:
        if self.output_keys is not None:
            return
        variables = self.maker.call_graph.inputs
        arguments = {variables[i]: number for number, i in enumerate(self._explicit)}
        scalars = [
            variables[i]
            for i in self._explicit
            if not self.indices[i][0].strict and self.indices[i][0].allow_downcast is None
        ]
        kind = NOTHING if self.return_none else SINGLE if self.unpack_single else LIST
        entry = self.vm.entry(
            arguments,
            scalars,
            dict(self._updates),
            kind,
            self._flat_call,
            self._update_locks,
        )
        if entry is not None:
            called: Any = entry if self.profile is None else self._profiled_entry(entry)
            if self.maker.nested is not None:
                called = self._nested_entry(self.maker.nested, called)
            elif called is entry and isinstance(entry, FunctionType):
                called = staticmethod(entry)  # without `self` as an argument
            direct: Any = type("Function", (Function,), {"__call__": called})
            self.__class__ = direct

    def _nested_entry(self, nested: NestedCall, entry: Callable[..., Any]) -> Callable[..., Any]:
        """Return a function that calls the entry with the leaves of arguments, and rebuilds the results."""
        flat = entry if self.profile is None else partial(entry, self)

        def call(
            function: Function,
            *args: Any,
            output_subset: Sequence[str | int] | None = None,
            **kwargs: Any,
        ) -> Any:
            return nested.call(function, flat, args, output_subset, kwargs)

        return call

    def _profiled_entry(self, entry: Callable[..., Any]) -> Callable[..., Any]:
        """Return a function that calls the entry and adds the time of the call to the profile.

        If the VM measures nodes in the next call, that call goes through Python instead.
        """
        profile, vm = self.profile, self.vm
        assert profile is not None

        def call(function: Function, *args: Any, **kwargs: Any) -> Any:
            if vm.due:
                return function._flat_call(*args, **kwargs)
            before = profile.calls
            start = perf_counter()
            result = entry(*args, **kwargs)
            if profile.calls == before:  # otherwise Python has counted the call
                seconds = perf_counter() - start
                profile.add_run(seconds)
                profile.add_call(seconds)
                vm.note(seconds)
            return result

        return call

    def _fetch(self) -> None:
        """Convert values of shared variables that are arrays of another library to NumPy arrays."""
        for container in self.input_storage:
            container.storage[0] = local(container.storage[0])

    def _given_external_arrays(self, args: Sequence[Any], kwargs: dict[str, Any]) -> bool:
        """Whether an argument is an array of another library. Then the results are arrays of that library, too."""
        return any(type(value) in external_array_types for value in (*args, *kwargs.values()))

    def _run(self, subset: list[int] | None) -> None:
        if subset is None:
            self.vm()
        else:
            self.vm(output_subset=[*subset, *(o for o, _ in self._updates)])

    @explained_by("calls")
    def _fill(self, args: Sequence[Any], kwargs: dict[str, Any]) -> None:
        by_position = self._match(args, kwargs)
        for i, value in by_position.items():
            container = self.input_storage[i]
            if type(value) in external_array_types:
                if self._takes_library_arrays and _fits(container, value):
                    container.storage[0] = value
                    continue
                value = local(value)
            try:
                filtered = container.type.accept(
                    value, strict=container.strict, allow_downcast=container.allow_downcast
                )
            except (TypeError, ValueError) as error:
                raise self._bad_input(i, error) from None
            container.storage[0] = (
                own_value(container.type, filtered) if i in self._mutable else filtered
            )
        self._separate(by_position)
        for i in self._required:
            if i not in by_position:
                raise TypeError(f"{self} is missing its argument {self._describe(i)}")

    def _match(self, args: Sequence[Any], kwargs: dict[str, Any]) -> dict[int, Any]:
        explicit = self._explicit
        if len(args) > len(explicit):
            raise TypeError(f"{self} takes {len(explicit)} arguments, got {len(args)}")
        by_position = dict(zip(explicit, args, strict=False))
        for key, value in kwargs.items():
            positions = self._names.get(key, [])
            if not positions:
                names = ", ".join(sorted(self._names)) or "none"
                unnamed = len(explicit) - sum(len(p) for p in self._names.values())
                others = f", and {unnamed} have no name" if unnamed else ""
                raise TypeError(
                    f"{self} has no argument named {key!r}; its named arguments are {names}{others}"
                )
            if len(positions) > 1:
                raise TypeError(
                    f"{self} has several arguments named {key!r}; give them by position"
                )
            if positions[0] in by_position:
                raise TypeError(f"{self} got its argument {self._describe(positions[0])} twice")
            by_position[positions[0]] = value
        missing = [i for i in self._required if i not in by_position]
        if missing:
            listed = ", ".join(self._describe(i) for i in missing)
            raise TypeError(f"{self} is missing {len(missing)} of its arguments: {listed}")
        return by_position

    def default_of(self, position: int) -> Any:
        """Return the value of an input in calls that do not pass it. ``position`` counts the flat arguments."""
        return self.input_storage[self._explicit[position]].storage[0]

    def _describe(self, i: int) -> str:
        position = self._explicit.index(i)
        nested = self.maker.nested
        if nested is not None and nested.arguments is not None:
            return nested.paths[position]
        each = self.indices[i][0]
        return f"{position} ({each.name or str(each.variable)})"

    def _bad_input(self, i: int, error: Exception) -> Exception:
        each = self.indices[i][0]
        source = each.variable.source
        where = f", made at {source}" if source is not None else ""
        context = [
            f"Bad argument {self._describe(i)} of {self}: expected {each.variable.type}{where}"
        ]
        return type(error)(lines(context, str(error)))

    @staticmethod
    def _aliasing_groups(inputs: Sequence[SymbolicInput]) -> list[int]:
        """Return the positions of borrowed arguments: a call may overwrite them, or return parts of their memory. So
        they must not overlap other arguments.
        """
        return [i for i, each in enumerate(inputs) if each.borrow and not each.implicit]

    def _separate(self, given: dict[int, Any]) -> None:
        """Copy each borrowed argument that overlaps another argument."""
        for i in self._aliasing:
            container = self.input_storage[i]
            mine = arrays_of(container)
            for j in given:
                if j != i and any(
                    np.may_share_memory(x, y)
                    for x in mine
                    for y in arrays_of(self.input_storage[j])
                ):
                    container.storage[0] = container.type.copy(container.storage[0])
                    break

    def _restore(self) -> None:
        """Drop references to arguments and results, and restore default values."""
        for i in self._cleared:
            self.input_storage[i].storage[0] = None
        self._put_defaults()
        computed = self.maker.call_graph.computed
        for is_computed, container in zip(computed, self.output_storage, strict=True):
            if is_computed:
                container.storage[0] = None

    def _subset(self, wanted: Sequence[str | int]) -> list[int]:
        positions: list[int] = []
        for key in wanted:
            if isinstance(key, str):
                if self.output_keys is None or key not in self.output_keys:
                    raise explained(KeyError(f"{self} has no output {key!r}"), "calls")
                positions.append(self.output_keys.index(key))
            else:
                positions.append(range(self._n_outputs)[key])
        return positions

    def _package(self, results: list[Any], subset: list[int] | None) -> Any:
        if self.return_none:
            return []
        if self.output_keys is not None:
            chosen = range(len(results)) if subset is None else subset
            return {self.output_keys[i]: results[i] for i in chosen}
        if self.unpack_single:
            return results[0]
        return results if subset is None else [results[i] for i in subset]

    # the rest

    def free(self) -> None:
        """Free intermediate values, which are kept if ``allow_gc`` is False."""
        self.vm.clear_storage()

    def dprint(self, **options: Any) -> Any:
        """Print the rewritten graph. ``options`` are those of `debugprint`."""
        return self.maker.fgraph.dprint(**options)

    def dump(self, directory: str | os.PathLike[str]) -> list[Path]:
        """Write the compiled graph and the code of its blocks to files in a directory.

        One file contains the graph. Each block of machine code has four files: its loop program, LLVM IR, assembly and
        C. Returns the paths of the files.
        """
        from pathlib import Path

        from occelo_link.dumping import dump_graph  # slow to import

        return dump_graph(self.maker.fgraph, Path(directory))

    def compile_report(self) -> str:
        """Return a text that says where the time of compiling went: the seconds of each step, the longest stages of
        rewriting with their rules, the sizes of the graph, and why the cache did not have the function.
        """
        from occelo_compile.compile_report import compile_report  # slow to import

        return compile_report(self)

    def time_loops(self, *args: Any, runs: int = 20) -> LoopTimes:
        """Measure how long each loop takes. The graph is compiled again by the linker `native`, whatever the mode is.

        ``args`` are the arguments of a call. Returns `LoopTimes`, a list that is printed as a table. Each row has the ops
        that are fused in a loop, the least and the median of its seconds over ``runs`` runs, and its operations and bytes; rows of a
        user's loop are followed by those of the loops inside. `LoopTimes.roofline` compares them with what the machine can do.
        Shared variables are not updated. Raises ValueError if ``runs`` is less than 1, and OSError on systems without
        ``clock_gettime``.
        """
        from occelo_compile.profiles.loop_times import LoopTimes  # rarely needed
        from occelo_link.timing import measure_loops

        if runs < 1:
            raise ValueError(f"runs must be at least 1, not {runs}")
        graph = self.maker.fgraph
        rest = iter(args)
        values = [
            container.type.accept(next(rest))
            if i in self._explicit
            else local(container.storage[0])
            for i, container in enumerate(self.input_storage)
        ]
        return LoopTimes(*measure_loops(graph, values, runs))

    def c_function(self, form: str = "arrays") -> CFunction:
        """Return the function as machine code for C, which runs without Python and without the GIL.

        The result has the address of the function, its declaration in C, its type for ctypes, and the meanings of the
        codes that it returns (`CFunction`). Several threads may call it at the same time. ``form`` says how C passes
        the arguments:

        - "arrays": each input and output is an argument: a number, or the address of an array, and the address of its
          lengths unless they are static. Shared variables with updates are arguments, too, which a call overwrites.
        - "log_density_gradient": ``(dim, x, gradient, value, data)``, for one vector as input, and a number and a vector
          as outputs, all of float64.
        - "vector": ``(dim, count, x, result, data)``, for one vector as input and one as output, both of float64.
        - "numbers": ``(count, x, data)``, for numbers of float64; the result is returned.

        The other shared variables keep the values that they have now. `CFunction.with_data` replaces them without
        compiling.

        Raises ValueError for an unknown form. Raises TypeError if the mode is neither ``native`` nor ``c``, if a node
        runs in Python, if a value is not an array, or if inputs and outputs do not fit the form.
        """
        from occelo_link.standalone.c_function import make_c_function  # slow to import

        return make_c_function(self, form)

    def export(
        self,
        folder: str | os.PathLike[str],
        name: str | None = None,
        *,
        blas: Literal["lp64", "ilp64"] = "lp64",
        example: Sequence[Any] | None = None,
    ) -> list[Path]:
        """Write the function to a folder as a C library, which needs libc, libm, BLAS and LAPACK only.

        The folder gets a C file, a file of constants, a header with the arguments and the codes, a file for CMake, and
        examples of a call in C, C++ and Julia. It is made if it is missing. The C function has the arguments of
        `c_function` in the form "arrays"; its results have the same bits as in the mode ``c``, if BLAS has. Returns the
        paths of the files.

        ``name`` is the name of the C function; by default the function's name. ``blas`` says which integers the
        library's BLAS takes: "lp64" is 32 bits, "ilp64" 64. ``example`` has the inputs of the call in the examples.

        Raises TypeError for what `c_function` refuses, and for functions that need SciPy.
        """
        from pathlib import Path

        from occelo_link.standalone.exporting import export_function  # slow to import

        return export_function(self, Path(folder), name, blas, example)

    def copy(
        self,
        share_memory: bool = False,
        swap: Mapping[SharedVariable, SharedVariable] | None = None,
        delete_updates: bool = False,
        name: str | None = None,
        profile: Any = None,
    ) -> Function:
        """Return a function of the same graph that has its own maker and its own graph.

        Values of inputs are copied. Shared variables stay shared; ``swap`` replaces some of them by others of the same
        types in the copy. If ``share_memory`` is true, the two functions use the same storage for intermediate values.
        They then also have a common lock, which a call holds while it uses this storage. If ``delete_updates`` is true,
        the copy has no updates. The default of ``name`` is the old name with " copy". ``profile`` is explained in
        `function`.

        Raises ValueError if a key of ``swap`` is not a shared variable of the function, and TypeError if types differ.
        """
        from occelo_compile.copying import copied  # slow to import

        return copied(self, share_memory, swap, delete_updates, name, profile)

    def __copy__(self) -> Function:
        from occelo_compile.copying import with_same_maker

        return with_same_maker(self)

    def __reduce__(self) -> Any:
        from occelo_compile.copying import pickled

        return pickled(self)

    def __str__(self) -> str:
        return f"Function {self.name!r}" if self.name else "Function"

    def __repr__(self) -> str:
        names = ", ".join(each.name or "?" for each, _ in self.indices if not each.implicit)
        return f"<{self}({names}) in mode {self.maker.mode}>"


def _fits(container: Container, value: Any) -> bool:
    """Whether an array of another library has the type of the container, so that it needs no conversion."""
    kind = container.type
    shape = kind.shape
    return (
        shape is not None
        and str(value.dtype).removeprefix("torch.") == kind.dtype
        and len(value.shape) == len(shape)
        and all(n is None or n == m for n, m in zip(shape, value.shape, strict=True))
    )
