"""Tables that map classes of ops to their lowerings.

`loops.registry` keeps the lowerings to loops in such a table, and `traced.registry` keeps the lowerings to arrays of
JAX and PyTorch. `Registers` is the type of the decorators that add lowerings to a table.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Generic, Protocol, TypeVar, overload

from occelo_graph import Apply, Op
from occelo_graph.applicable import check_arguments, check_classes
from occelo_graph.extensions import defined_before, is_external, register_extension
from occelo_graph.families import catch_up
from occelo_graph.ir.nodes import AnyApply
from occelo_graph.narrowing import is_list_or_tuple
from occelo_graph.tensors.nodes import TensorApply

_ContextT = TypeVar("_ContextT")
_ValueT = TypeVar("_ValueT")
_OpT = TypeVar("_OpT", bound=Op)
_FunctionT = TypeVar("_FunctionT", bound=Callable[..., Sequence[Any]])

_Lowering = Callable[[_ContextT, Apply, list[_ValueT]], Sequence[_ValueT]]
_LoweringOf = Callable[[_ContextT, TensorApply[_OpT], list[_ValueT]], Sequence[_ValueT]]
_LoweringOfParts = Callable[[_ContextT, Apply[_OpT], list[_ValueT]], Sequence[_ValueT]]


class Registers(Protocol[_ContextT, _ValueT, _OpT]):
    """The type of a decorator that registers a lowering. It returns the lowering unchanged, so decorators can be
    stacked.
    """

    @overload
    def __call__(
        self, function: _Lowering[_ContextT, _ValueT], /
    ) -> _Lowering[_ContextT, _ValueT]: ...
    @overload
    def __call__(
        self, function: _LoweringOfParts[_ContextT, _OpT, _ValueT], /
    ) -> _LoweringOfParts[_ContextT, _OpT, _ValueT]: ...
    @overload
    def __call__(
        self, function: _LoweringOf[_ContextT, _OpT, _ValueT], /
    ) -> _LoweringOf[_ContextT, _OpT, _ValueT]: ...


class RegistersParts(Protocol[_ContextT, _ValueT, _OpT]):
    """`Registers` for nodes whose variables may have other types than tensors."""

    @overload
    def __call__(
        self, function: _Lowering[_ContextT, _ValueT], /
    ) -> _Lowering[_ContextT, _ValueT]: ...
    @overload
    def __call__(
        self, function: _LoweringOfParts[_ContextT, _OpT, _ValueT], /
    ) -> _LoweringOfParts[_ContextT, _OpT, _ValueT]: ...


# `AnyApply`, since no static type can say that the node's op is of the class in the key
_Entry = tuple[
    Callable[[_ContextT, AnyApply, list[_ValueT]], Sequence[_ValueT]],
    Callable[[AnyApply], bool] | None,
]


def wrong_results(node: Apply, results: Any, told: Callable[[Any], str]) -> TypeError:
    """The exception for a lowering whose results do not fit the outputs of the node. ``told`` describes one result."""
    where = f", made at {node.source}," if node.source is not None else ""
    types = ", ".join(str(v.type) for v in node.outputs)
    shown = ", ".join(map(told, results)) if is_list_or_tuple(results) else type(results).__name__
    return TypeError(
        f"The lowering of {node.op}{where} must return a list with a value for each output ({types}), "
        f"and gave {shown or 'an empty list'}"
    )


class LateLowerings:
    """Imports the lowerings of a family of ops when a lowering of that family is first looked up.

    So a process imports only the lowerings of families that occur in its graphs.
    """

    def __init__(self) -> None:
        self._loads: dict[str, Callable[[], object]] = {}
        self.seen: set[str] = set()
        """The modules and families whose lowerings are imported."""

    def follow(self, family: str, load: Callable[[], object]) -> None:
        """Register ``load``, which imports the lowerings of ``family``.

        ``load`` is called before the lowering of an op of this family is first looked up. ``family`` is the name of the
        module, or of the package of modules, that defines the ops. Two threads may call ``load``, so a second call must
        do nothing.
        """
        self._loads[family] = load

    def import_family(self, family: str) -> None:
        """Import the lowerings of a family, unless they have been imported."""
        if family not in self.seen:
            self._loads[family]()
            # recorded last, so that no other thread looks up lowerings before they are registered
            self.seen.add(family)

    def import_for(self, op_class: type[Op]) -> None:
        """Import the lowerings of the family that a class of ops belongs to."""
        module = op_class.__module__
        for family in self._loads:
            if module == family or module.startswith(f"{family}."):
                self.import_family(family)
        self.seen.add(module)


class LoweringTable(Generic[_ContextT, _ValueT]):
    """Maps classes of ops to lowerings. Each lowering may have a condition on nodes; None means that it applies to all
    nodes.

    ``kind`` is the name of the table in messages. Cache keys contain this name with each lowering that another package
    registered. ``of_elements`` is the name of the decorator that registers lowerings of elementwise functions, for
    messages. ``late`` imports lowerings before they are looked up.
    """

    def __init__(self, kind: str, of_elements: str, late: LateLowerings | None = None) -> None:
        self.kind = kind
        self.of_elements = of_elements
        self._late = late
        self._entries: dict[type[Op], _Entry[_ContextT, _ValueT]] = {}

    def register(
        self, classes: Sequence[type[Op]], when: Callable[[AnyApply], bool] | None = None
    ) -> Callable[[_FunctionT], _FunctionT]:
        """Return a decorator that registers a lowering for classes of ops.

        A lowering from another package replaces Occelo's lowering.
        """
        entries = self._entries
        what = f"A {self.kind}"

        def register(function: _FunctionT) -> _FunctionT:
            if is_external(function):
                check_classes(what, classes, self.of_elements)
                check_arguments(what, function, "a context", "the node", "the inputs")
                if when is not None:
                    check_arguments(f"The condition of a {self.kind}", when, "the node")
            for cls in classes:
                # a lowering from another package is kept, even if Occelo's families are imported later
                if cls in entries and is_external(entries[cls][0]) and not is_external(function):
                    continue
                entries[cls] = function, when
                if is_external(function):
                    # cache keys have the lowering under the name of its class, so earlier classes of that name are
                    # removed
                    for earlier in defined_before(cls, entries):
                        del entries[earlier]
                register_extension(self.kind, cls, function, when)
            return function

        return register

    def find(self, op: Op) -> _Entry[_ContextT, _ValueT] | None:
        """Return the lowering of an op and the condition of this lowering. Returns None if the op has no lowering.

        If the op's class has no lowering, the lowering of the first base class with equal results is returned.
        """
        catch_up()
        late, entries = self._late, self._entries
        for cls in op.computes_as:
            if late is not None and cls.__module__ not in late.seen:
                late.import_for(cls)
            entry = entries.get(cls)
            if entry is not None:
                return entry
        return None
