"""`node_rewriter`: a decorator that turns a function from a node to its replacement into a rule (`NodeRewriter`).

Users and the modules of `rules` make rules with this decorator, or with the decorator for patterns in `pattern_rule`.
The modules of `rules` list their rules in `RuleSet`s. `engine` tries the rules at the nodes that they track.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field
from types import UnionType
from typing import Any, Generic, Literal, TypeGuard, get_args, overload

from occelo_graph import Apply, Constant, FunctionGraph, Op, Variable
from occelo_graph.applicable import check_arguments, check_classes
from occelo_graph.errors import explained_by
from occelo_graph.extensions import is_external
from occelo_graph.fgraph.features import Feature
from occelo_graph.frozen_dataclasses import frozen_dataclass
from occelo_graph.ir.nodes import AnyApply, OpT
from occelo_graph.narrowing import is_list_or_tuple
from occelo_graph.ops.elemwise.scalar import ScalarOp
from occelo_graph.tensors.nodes import TensorApply

Replacements = Sequence[Variable | None] | dict[Any, Any] | None
"""The result of a rule: None or False if the rule does not apply.

Otherwise it is a list with a variable for each output of the node (None for an unused output), or a dict from old to
new variables. The dict may have a key "remove" with a list of nodes to remove.
"""


class Wildcard:
    """Base class of what stands for any value of a field in an `OpPattern`."""


@frozen_dataclass
class OpPattern(Generic[OpT]):
    """A pattern of ops: ops of the class ``op_type``, or of one of several in a tuple or a union, with the given ``parameters``.

    TypeError if ``op_type`` is no class of ops, ValueError for a parameter that it lacks.

    ``parameters`` are pairs of the name of a field, and the value of the field, a class of its value, or a pattern for an op
    as its value. They may also be
    given by name, as in ``OpPattern(CAReduce, scalar_op=add)``. An op of a subclass matches, too, unless the subclass
    overrides the NumPy code (`Op.computes_as`).
    """

    op_type: Any
    parameters: tuple[tuple[str, Any], ...] = ()

    def __init__(
        self,
        op_type: type[OpT] | tuple[type[OpT], ...] | UnionType,
        parameters: tuple[tuple[str, Any], ...] | Mapping[str, Any] = (),
        **more: Any,
    ) -> None:
        pairs = parameters.items() if isinstance(parameters, Mapping) else parameters
        object.__setattr__(self, "op_type", op_type)
        object.__setattr__(self, "parameters", (*pairs, *more.items()))
        self.__post_init__()

    def __post_init__(self) -> None:
        check_classes("A pattern", self.op_types)
        for cls in self.op_types:
            fields = vars(cls).get("__dataclass_fields__")
            for name, _ in self.parameters:
                if fields is not None and name not in fields and not hasattr(cls, name):
                    raise ValueError(f"{cls.__name__} has no field {name!r}")

    @property
    def op_types(self) -> tuple[type[OpT], ...]:
        """The classes of ops, one if ``op_type`` is a class."""
        if isinstance(self.op_type, UnionType):
            return get_args(self.op_type)
        return tuple(self.op_type) if is_list_or_tuple(self.op_type) else (self.op_type,)

    def matches(self, op: Op) -> bool:
        """Whether the pattern matches ``op``."""
        return any(cls is Op or cls in op.computes_as for cls in self.op_types) and all(
            self._fits(getattr(op, name), target) for name, target in self.parameters
        )

    match_op = matches

    @staticmethod
    def _fits(value: Any, target: Any) -> bool:
        if isinstance(target, OpPattern):
            return isinstance(value, Op) and target.matches(value)
        if isinstance(target, Wildcard):
            return True
        return bool(value == target) or (isinstance(target, type) and isinstance(value, target))


def is_op_pattern(value: object) -> TypeGuard[OpPattern[Any]]:
    """Whether ``value`` is an `OpPattern`."""
    return isinstance(value, OpPattern)


Tracked = type[OpT] | OpT | OpPattern[OpT]
"""What a rule tracks: a class of ops, an op, or a pattern of ops. The rule is tried at nodes with such an op."""

RuleFunction = Callable[[FunctionGraph, TensorApply[OpT]], Replacements | Variable | Literal[False]]


class NodeRewriter:
    """A rule: a function from a node to its replacement, with a name and the ops that it tracks.

    - ``tracks``: op classes, ops or `OpPattern`s; None tracks every node.
    - ``requirements``: functions that create features. The features are attached to a graph before the rule is tried.
    - ``tags``: queries choose rules by tags. The tags in `CHANGES` (`queries`) say how the rule may change results. A
      rule without any of these tags keeps every bit of the results.
    - ``only_new``: the rule is tried only at nodes that the rewriter has added or changed.
    - ``below``: a quick test of a node's inputs, as a set of classes of ops, scalar ops, numbers and `Constant`. If the
      set is not empty, the rule is tried only at nodes with at least one input that fits. An input fits if a node with
      such an op or scalar op computes it, if it is a constant that equals such a number, or, with `Constant` in the
      set, if it is a constant.

    The docstring of the function is the law that the rule applies. TypeError if the function is missing.
    """

    def __init__(
        self,
        function: Callable[[FunctionGraph, AnyApply], Replacements | Variable | Literal[False]],
        tracks: Sequence[Tracked[Op]] | None = None,
        name: str | None = None,
        inplace: bool = False,
        requirements: Sequence[Callable[[], Feature]] = (),
        tags: Sequence[str] = (),
        only_new: bool = False,
        below: Iterable[Any] = (),
    ) -> None:
        self.function = function
        self._tracks = None if tracks is None else tuple(tracks)
        self.name = name or str(getattr(function, "__name__", type(function).__name__))
        self.inplace = inplace
        self.requirements = tuple(requirements)
        self.tags = tuple(tags)
        self.only_new = only_new
        self.below = frozenset(below)
        self.__doc__ = function.__doc__

    def tracks(self) -> tuple[Tracked[Op], ...] | None:
        """The classes of ops, ops and patterns that the rule tracks; None for all ops."""
        return self._tracks

    def applies_to(self, op: Op) -> bool:
        """Whether the rule is tried at nodes of ``op``."""
        if self._tracks is None:
            return True
        for tracked in self._tracks:
            if isinstance(tracked, OpPattern):
                if tracked.matches(op):
                    return True
            elif isinstance(tracked, type):
                if isinstance(op, tracked):
                    return True
            elif op == tracked:
                return True
        return False

    @property
    def called(self) -> Callable[[FunctionGraph, Any], Any]:
        """What the engine calls: the function itself, unless a subclass overrides `transform`."""
        plain = type(self).transform is NodeRewriter.transform
        return self.function if plain else self.transform

    def transform(self, fgraph: FunctionGraph, node: Apply) -> Replacements:
        """The result of the rule at a node; None if the rule does not apply."""
        replacement = self.function(fgraph, node)
        if replacement is None or replacement is False:
            return None
        if isinstance(replacement, Variable):
            return [replacement]
        return replacement

    def add_requirements(self, fgraph: FunctionGraph) -> None:
        """Attach the features that the rule requires."""
        for make in self.requirements:
            fgraph.attach_feature(make())

    def __str__(self) -> str:
        return self.name

    __repr__ = __str__


def _check_tracked(tracks: Sequence[Any] | None, below: Iterable[Any]) -> None:
    """Raise TypeError if ``tracks`` or ``below`` has an element that no node could match, such as a variable."""
    for each in tracks or ():
        if not isinstance(each, Op | OpPattern):
            check_classes("A rule", [each], "the op, such as tensor.exp")
    if tracks is not None and not tracks:
        raise TypeError("A rule is for classes of ops or ops, and none is given; None is for all")
    for each in below:
        number = isinstance(each, bool | int | float | complex | ScalarOp) or each is Constant
        if not number:
            check_classes("A condition on what computes the inputs", [each], "their scalar_op")


@overload
def node_rewriter(
    tracks: Sequence[type[OpT]],
    inplace: bool = ...,
    requirements: Sequence[Callable[[], Feature]] = ...,
    name: str | None = ...,
    tags: Sequence[str] = ...,
    only_new: bool = ...,
    below: Iterable[Any] = ...,
) -> Callable[[RuleFunction[OpT]], NodeRewriter]: ...
@overload
def node_rewriter(
    tracks: Sequence[Tracked[OpT]] | None = None,
    inplace: bool = ...,
    requirements: Sequence[Callable[[], Feature]] = ...,
    name: str | None = ...,
    tags: Sequence[str] = ...,
    only_new: bool = ...,
    below: Iterable[Any] = ...,
) -> Callable[[RuleFunction[OpT]], NodeRewriter]: ...


@explained_by("rules")
def node_rewriter(
    tracks: Sequence[Tracked[OpT]] | None = None,
    inplace: bool = False,
    requirements: Sequence[Callable[[], Feature]] = (),
    name: str | None = None,
    tags: Sequence[str] = (),
    only_new: bool = False,
    below: Iterable[Any] = (),
) -> Callable[[RuleFunction[OpT]], NodeRewriter]:
    """Decorator that turns a function into a rule. The function gets a function graph and a node.

    - ``tracks``: the ops, or classes of ops, at whose nodes the function is called; None means all
    - ``inplace``, ``requirements``, ``name``, ``tags``, ``only_new``, ``below``: the arguments of `NodeRewriter`

    TypeError if ``tracks`` is no list, or has an entry that is no op and no class of ops.
    """
    if isinstance(tracks, str) or callable(tracks):
        raise TypeError(
            f"tracks is a list of ops or classes of ops, such as [tensor.exp], got {tracks!r}"
        )

    def decorate(function: RuleFunction[OpT]) -> NodeRewriter:
        if is_external(function):
            check_arguments("A rule", function, "the function graph", "the node")
            _check_tracked(tracks, below)
        return NodeRewriter(function, tracks, name, inplace, requirements, tags, only_new, below)

    return decorate


@frozen_dataclass
class RuleSet:
    """An immutable, ordered set of rules: ``|`` is the union, ``-`` the difference. TypeError for unknown arguments."""

    rules: tuple[NodeRewriter, ...] = ()
    name: str = field(default="", compare=False)

    def __or__(self, other: RuleSet) -> RuleSet:
        return RuleSet(tuple(dict.fromkeys((*self.rules, *other.rules))), self.name)

    def __sub__(self, other: RuleSet) -> RuleSet:
        return RuleSet(tuple(r for r in self.rules if r not in other.rules), self.name)

    def __iter__(self) -> Any:
        return iter(self.rules)

    def __len__(self) -> int:
        return len(self.rules)
