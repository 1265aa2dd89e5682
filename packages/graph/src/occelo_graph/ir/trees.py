"""Trees: nested dicts, lists, tuples, named tuples and dataclasses, whose leaves are variables or values.

`occelo.function`, `grad`, `jacobian` and others take trees where they take lists of variables, and give results in
the same form. They call `flatten` at once, work on the list of leaves, and rebuild the tree at the end
(`Structure.unflatten`).

The leaves of a dict come in the order of its sorted keys, so dicts that are equal have the same leaves in the same order.
None is a tree without leaves. Fields of dataclasses with ``field(metadata={"static": True})`` are no leaves.
"""

from __future__ import annotations

import dataclasses
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar, cast, overload

from occelo_graph.errors import explained, explained_by
from occelo_graph.ir.nodes import Variable
from occelo_graph.narrowing import is_list_or_tuple, is_mapping

T = TypeVar("T")
Steps = Sequence[str]


class _MismatchError(Exception):
    """A tree has not the structure that is asked for. ``steps`` lead from its top to the place."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.steps: list[str] = []


class _Kind:
    """How the trees of one class are taken apart and rebuilt.

    ``data`` is everything about a tree but its parts, such as the keys of a dict. Trees of equal data have equally many
    parts. This class is that of None, which has none.
    """

    def __init__(self, cls: type[Any]) -> None:
        self.cls = cls

    def data(self, tree: Any) -> Any:
        return None

    def parts(self, tree: Any, data: Any) -> Iterable[Any]:
        """The parts of a tree, `_MismatchError` if its data are others."""
        if tree is not None:
            raise _MismatchError(f"is {_shown(tree)}, not None")
        return ()

    def build(self, data: Any, parts: Sequence[Any]) -> Any:
        return None

    def steps(self, data: Any) -> Steps:
        """How each part is reached, as Python code."""
        return ()


class _Dict(_Kind):
    def data(self, tree: Any) -> Any:
        keys = list(tree)
        if self.cls is OrderedDict:
            return tuple(keys)
        try:
            return tuple(sorted(keys))
        except TypeError:
            raise _MismatchError(f"has keys that cannot be sorted: {keys}") from None

    def parts(self, tree: Any, data: Any) -> Iterable[Any]:
        if not is_mapping(tree):
            raise _MismatchError(f"is {_shown(tree)}, not a dict")
        if len(tree) == len(data):
            try:
                return [tree[key] for key in data]
            except KeyError:
                pass
        missing = [key for key in data if key not in tree]
        more = [key for key in tree if key not in data]
        said = [f"lacks {missing}"] if missing else []
        raise _MismatchError(" and ".join([*said, *([f"has {more} too many"] if more else [])]))

    def build(self, data: Any, parts: Sequence[Any]) -> Any:
        pairs = zip(data, parts, strict=True)
        return dict(pairs) if self.cls is defaultdict else self.cls(pairs)

    def steps(self, data: Any) -> Steps:
        return [f"[{key!r}]" for key in data]


class _Sequence(_Kind):
    def data(self, tree: Any) -> Any:
        return len(tree)

    def parts(self, tree: Any, data: Any) -> Iterable[Any]:
        if not is_list_or_tuple(tree) or len(tree) != data:
            raise _MismatchError(f"is {_shown(tree)}, not a {self.cls.__name__} of {data}")
        return tree

    def build(self, data: Any, parts: Sequence[Any]) -> Any:
        return self.cls(parts)

    def steps(self, data: Any) -> Steps:
        return [f"[{i}]" for i in range(data)]


class _NamedTuple(_Kind):
    def parts(self, tree: Any, data: Any) -> Iterable[Any]:
        if not isinstance(tree, self.cls):
            raise _MismatchError(f"is {_shown(tree)}, not {_article(self.cls.__name__)}")
        return tree

    def build(self, data: Any, parts: Sequence[Any]) -> Any:
        return self.cls(*parts)

    def steps(self, data: Any) -> Steps:
        fields: tuple[str, ...] = self.cls._fields
        return [f".{name}" for name in fields]


class _Dataclass(_Kind):
    def __init__(self, cls: type[Any]) -> None:
        super().__init__(cls)
        fields = [f for f in dataclasses.fields(cls) if f.init]
        self.names = [f.name for f in fields if not f.metadata.get("static")]
        self.static = [f.name for f in fields if f.metadata.get("static")]

    def data(self, tree: Any) -> Any:
        return tuple(getattr(tree, name) for name in self.static)

    def parts(self, tree: Any, data: Any) -> Iterable[Any]:
        if type(tree) is not self.cls:
            raise _MismatchError(f"is {_shown(tree)}, not {_article(self.cls.__name__)}")
        for name, expected in zip(self.static, data, strict=True):
            value = getattr(tree, name)
            if value is not expected and value != expected:
                raise _MismatchError(f"has {name} = {value!r}, not {expected!r}")
        return [getattr(tree, name) for name in self.names]

    def build(self, data: Any, parts: Sequence[Any]) -> Any:
        return self.cls(
            **dict(zip(self.names, parts, strict=True)), **dict(zip(self.static, data, strict=True))
        )

    def steps(self, data: Any) -> Steps:
        return [f".{name}" for name in self.names]


class _Registered(_Kind):
    def __init__(
        self,
        cls: type[Any],
        take_apart: Callable[[Any], tuple[Iterable[Any], Any]],
        rebuild: Callable[[Any, Sequence[Any]], Any],
        read: Callable[[Any, Any], Iterable[Any]] | None,
    ) -> None:
        super().__init__(cls)
        self._take_apart = take_apart
        self._rebuild = rebuild
        self._read = read

    def data(self, tree: Any) -> Any:
        parts, rest = self._take_apart(tree)
        return len(list(parts)), rest

    def parts(self, tree: Any, data: Any) -> Iterable[Any]:
        if self._read is not None:
            try:
                return list(self._read(tree, data[1]))
            except (TypeError, ValueError) as error:
                raise _MismatchError(str(error)) from None
        if type(tree) is not self.cls:
            raise _MismatchError(f"is {_shown(tree)}, not {_article(self.cls.__name__)}")
        parts, rest = self._take_apart(tree)
        listed = list(parts)
        if (len(listed), rest) != data:
            raise _MismatchError(
                f"has {len(listed)} parts and {rest!r}, not {data[0]} and {data[1]!r}"
            )
        return listed

    def build(self, data: Any, parts: Sequence[Any]) -> Any:
        return self._rebuild(data[1], parts)

    def steps(self, data: Any) -> Steps:
        return [f"<part {i}>" if self._read is None else "" for i in range(data[0])]


_kinds: dict[type[Any], _Kind | None] = {
    type(None): _Kind(type(None)),
    **{cls: _Dict(cls) for cls in (dict, OrderedDict, defaultdict)},
    **{cls: _Sequence(cls) for cls in (list, tuple)},
}
"""The kind of each class, None for classes of leaves. Classes are added when they are first seen."""


@explained_by("trees")
def register(
    cls: type[T],
    take_apart: Callable[[T], tuple[Iterable[Any], Any]],
    rebuild: Callable[[Any, Sequence[Any]], T],
    read: Callable[[Any, Any], Iterable[Any]] | None = None,
) -> None:
    """Let objects of a class be trees. Subclasses are not meant.

    ``take_apart`` returns the parts of an object of ``cls`` and a rest, which may be anything that can be compared. ``rebuild`` makes
    an object from a rest and a list of parts. ``read`` returns the parts of a value that stands for an object with a rest, such as an
    argument of a call, and raises TypeError or ValueError for others; by default only objects of the class with an equal rest do.
    ValueError if the class is already one of trees.
    """
    if not isinstance(cast("object", cls), type):
        raise TypeError(f"Trees are objects of a class, got {cls!r}")
    if _kind_of(cls) is not None:
        raise ValueError(f"Objects of {cls.__name__} are trees already")
    _kinds[cls] = _Registered(cls, take_apart, rebuild, read)


def _kind_of(cls: type[Any]) -> _Kind | None:
    try:
        return _kinds[cls]
    except KeyError:
        kind: _Kind | None = None
        if tuple in cls.__mro__ and hasattr(cls, "_fields"):
            kind = _NamedTuple(cls)
        elif dataclasses.is_dataclass(cast("object", cls)) and Variable not in cls.__mro__:
            kind = _Dataclass(cls)
        _kinds[cls] = kind
        return kind


def is_tree(value: object) -> bool:
    """Whether a value is a tree of its own, and not a leaf."""
    return _kind_of(type(value)) is not None


def is_nested(value: Any) -> bool:
    """Whether a value is a tree, but no list or tuple of leaves. Functions that take lists treat those themselves."""
    if is_list_or_tuple(value) and type(value) in (list, tuple):
        return any(is_tree(each) for each in value)
    return is_tree(value)


class Structure:
    """What a tree is without its leaves. Structures can be compared.

    ``count`` is the number of leaves. TypeError for unknown arguments.
    """

    __slots__ = ("_children", "_cls", "_data", "_kind", "count")

    def __init__(
        self, cls: type[Any] | None = None, data: Any = None, children: Sequence[Structure] = ()
    ) -> None:
        self._cls = cls
        self._kind = None if cls is None else _kind_of(cls)
        self._data = data
        self._children = tuple(children)
        self.count: int = 1 if cls is None else sum(child.count for child in children)

    @property
    def is_leaf(self) -> bool:
        """Whether it is the structure of a single leaf."""
        return self._kind is None

    def unflatten(self, leaves: Iterable[Any]) -> Any:
        """The tree of this structure with other leaves. ValueError if their number is not `count`."""
        listed = list(leaves)
        if len(listed) != self.count:
            raise ValueError(f"The structure has {self.count} leaves, got {len(listed)}")
        return self._build(iter(listed))

    def _build(self, leaves: Any) -> Any:
        if self._kind is None:
            return next(leaves)
        return self._kind.build(self._data, [child._build(leaves) for child in self._children])

    def leaves_of(self, tree: Any, name: str = "tree") -> list[Any]:
        """The leaves of another tree of this structure. Where this structure has a leaf, that tree may have anything.

        A list may stand for a tuple, a tuple for a list, and any mapping for a dict. ``name`` is what errors call the
        tree: ValueError if it has another structure.
        """
        leaves: list[Any] = []
        try:
            self._collect(tree, leaves)
        except _MismatchError as error:
            raise explained(ValueError(f"{name}{''.join(error.steps)} {error}"), "trees") from None
        return leaves

    def _collect(self, tree: Any, leaves: list[Any]) -> None:
        kind = self._kind
        if kind is None:
            leaves.append(tree)
            return
        parts = kind.parts(tree, self._data)
        for position, (child, part) in enumerate(zip(self._children, parts, strict=True)):
            if child._kind is None:
                leaves.append(part)
                continue
            try:
                child._collect(part, leaves)
            except _MismatchError as error:
                error.steps.insert(0, kind.steps(self._data)[position])
                raise

    def spread(self, prefix: Any, is_leaf: Callable[[Any], bool], name: str = "tree") -> list[Any]:
        """A value for each leaf, from a tree ``prefix`` whose leaves stand for whole parts of this structure.

        ``is_leaf`` says what is a leaf of the prefix. ValueError if the prefix does not fit.
        """
        try:
            return self._spread(prefix, is_leaf)
        except _MismatchError as error:
            raise explained(ValueError(f"{name}{''.join(error.steps)} {error}"), "trees") from None

    def _spread(self, prefix: Any, is_leaf: Callable[[Any], bool]) -> list[Any]:
        kind = self._kind
        if is_leaf(prefix):
            return [prefix] * self.count
        if kind is None:
            raise _MismatchError(f"is {_shown(prefix)}, and stands for one leaf")
        spread: list[Any] = []
        parts = kind.parts(prefix, self._data)
        for position, (child, part) in enumerate(zip(self._children, parts, strict=True)):
            try:
                spread += child._spread(part, is_leaf)
            except _MismatchError as error:
                error.steps.insert(0, kind.steps(self._data)[position])
                raise
        return spread

    def paths(self, name: str = "tree") -> list[str]:
        """How each leaf is reached from the tree, as Python code, such as ``params['w'][0]``."""
        if self._kind is None:
            return [name]
        steps = self._kind.steps(self._data)
        pairs = zip(self._children, steps, strict=True)
        return [path for child, step in pairs for path in child.paths(name + step)]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Structure):
            return NotImplemented
        return (self._cls, self._data, self._children) == (other._cls, other._data, other._children)

    def __hash__(self) -> int:
        return hash((self._cls, self._children))

    def __reduce__(self) -> Any:
        return Structure, (self._cls, self._data, self._children)

    def __repr__(self) -> str:
        return f"Structure({self.unflatten([_Star()] * self.count)!r})"


class _Star:
    """What stands for a leaf in a printed structure."""

    def __repr__(self) -> str:
        return "*"


LEAF = Structure()
"""The structure of a single leaf."""


def flatten(tree: Any, name: str = "tree") -> tuple[list[Any], Structure]:
    """The leaves of a tree, and its structure. A value of another class is a leaf.

    ``name`` is what errors call the tree: TypeError for a dict whose keys cannot be sorted.
    """
    leaves: list[Any] = []
    try:
        return leaves, _flatten(tree, leaves)
    except _MismatchError as error:
        raise explained(TypeError(f"{name}{''.join(error.steps)} {error}"), "trees") from None


def _flatten(tree: object, leaves: list[Any]) -> Structure:
    kind = _kind_of(type(tree))
    if kind is None:
        leaves.append(tree)
        return LEAF
    data = kind.data(tree)
    children: list[Structure] = []
    for part in kind.parts(tree, data):
        try:
            children.append(_flatten(part, leaves))
        except _MismatchError as error:
            error.steps.insert(0, kind.steps(data)[len(children)])
            raise
    return Structure(kind.cls, data, children)


@explained_by("trees")
def leaves(tree: Any) -> list[Any]:
    """The leaves of ``tree``."""
    return flatten(tree)[0]


@overload
def map(function: Callable[[Any], Any], tree: Any, /) -> Any: ...
@overload
def map(function: Callable[..., Any], tree: Any, /, *more: Any) -> Any: ...
@explained_by("trees")
def map(
    function: Callable[..., Any], tree: Any, /, *more: Any
) -> Any:  # named as Python's function
    """The tree of the results of ``function`` at each leaf of ``tree``, and at the same leaves of further trees, ``more``.

    ValueError if a further tree has another structure.
    """
    if not callable(function):
        text = f"map takes a function, and then trees, got {function!r}"
        raise explained(TypeError(text), "trees")
    first, structure = flatten(tree)
    others = [structure.leaves_of(each) for each in more]
    return structure.unflatten([function(*row) for row in zip(first, *others, strict=True)])


def _shown(value: Any) -> str:
    if is_list_or_tuple(value):
        return f"a {type(value).__name__} of {len(value)}"
    return "None" if value is None else _article(type(value).__name__)


def _article(name: str) -> str:
    return f"{'an' if name[0] in 'aeiouAEIOU' else 'a'} {name}"
