"""What an op says of itself, which rules and linkers ask instead of what class it is of.

A trait that an op does not declare has the one meaning that is right for every op: nothing is known, so nothing
relies on it, and linkers call the op's own NumPy code. Each trait's text says what that is. Where no such meaning
exists, asking raises, as `ScalarOp.holomorphic` does.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, TypeVar, cast

from occelo_graph.ir.nodes import AnyApply

__all__ = ["EVERY", "FIRST", "Traits", "trait"]

_ValueT = TypeVar("_ValueT")

EVERY = slice(None)
"""All inputs."""
FIRST = slice(0, 1)
"""The first input."""


def trait(method: Callable[[Any], _ValueT]) -> _ValueT:
    """Make a method without arguments a trait that depends on the op's parameters.

    It is a property, which for type checkers may stand where another class has a value.
    """
    return cast("_ValueT", property(method))


class Traits:
    """The traits of ops, with what they are where an op declares nothing."""

    pure: bool = True
    """Equal inputs give equal outputs and nothing else happens."""
    commutative: bool = False
    """The order of the inputs does not matter."""
    elementwise: ClassVar[bool] = False
    arithmetic: bool = False
    """Part of sums and products, which rules look at as wholes; other nodes they look at each for itself."""
    lazy: ClassVar[bool] = False
    """The op has regions, and may leave inputs alone that are results of them; see `IfElse`."""
    loops: ClassVar[bool] = False
    """The op runs an inner graph again and again, as `loop` says."""
    identity_at_runtime: ClassVar[bool] = False
    """Only gradients see the op; compiled graphs drop it."""
    observes: ClassVar[bool] = False
    """Outputs are views of inputs; the op is there for what it does with their values on the way."""
    view_map: Mapping[int, Sequence[int]] = {}
    """Output index to the input indices that it may alias."""
    destroy_map: Mapping[int, Sequence[int]] = {}
    """Output index to the input indices that computing it overwrites."""
    default_output: ClassVar[int | None] = None
    plain_nodes: ClassVar[bool] = True
    """A node is what `infer` says of the types of its inputs, so it may be made again where those have become more specific.

    A class with a ``make_node`` of its own does more, unless it says this itself.
    """
    types_follow_values: ClassVar[bool] = False
    """Values that are known of inputs, such as lengths, say more of the outputs' types; see `settled`."""

    moves: slice | None = None
    """The inputs, as a slice, that the outputs' elements come from, unchanged, with zeros at most beside them.

    So what holds of all elements of those inputs, and of zero, holds of the outputs'. None: the elements are new ones.
    """
    by_parts: slice | None = None
    """The inputs, as a slice, that may be complex, if the op does the same to their real and their imaginary parts.

    The others are positions, lengths or conditions. An op that only moves elements does. None: it may do anything to
    complex numbers, so compiled code has no formula for it over them unless one is registered.
    """
    of_shapes: ClassVar[bool] = False
    """The outputs depend on the inputs' shapes alone, not on their elements."""
    reads_once: ClassVar[bool] = False
    """Each element of an input counts once at most, in order, so a formula for the inputs need not be stored.

    False: elements may be read again, and are stored. Elementwise ops need not say it.
    """

    def static_inputs(self, node: AnyApply) -> Sequence[int]:
        """Positions of the inputs whose values decide the outputs' shapes; none, unless the op says so.

        Linkers for which shapes are static compile anew for each of their values. A lowering that comes upon another value
        that it must know says so when it runs.
        """
        return ()

    @property
    def views(self) -> Mapping[int, Sequence[int]]:
        """`view_map`, by the name of the trait."""
        return self.view_map

    @property
    def destroys(self) -> Mapping[int, Sequence[int]]:
        """`destroy_map`, by the name of the trait."""
        return self.destroy_map

    def numbers(self) -> slice | None:
        """`by_parts`, which follows from `moves` where it is not declared."""
        return self.moves if self.by_parts is None else self.by_parts


OF_VALUES = ("moves", "by_parts", "of_shapes", "reads_once", "arithmetic", "static_inputs")
"""Traits of what an op computes, which a class that computes something else does not have from its base."""
_COMPUTING = ("evaluate", "kernel", "perform")


def forget_plain_nodes(cls: type[Traits]) -> None:
    """Take `Traits.plain_nodes` from a class that makes nodes in another way, and does not declare it."""
    if "make_node" in cls.__dict__ and "plain_nodes" not in cls.__dict__:
        cls.plain_nodes = False


def forget_other_values(cls: type, base: type) -> None:
    """Take from a subclass of ``base`` (`Op`) the traits of ops that it has other NumPy code than.

    A base without any is there to say what its subclasses are, so it is believed.
    """
    for trait in OF_VALUES:
        source = next(c for c in cls.__mro__ if trait in c.__dict__)
        if source in (cls, Traits) or all(
            getattr(source, m, None) in (None, getattr(base, m)) for m in ("evaluate", "perform")
        ):
            continue
        if any(getattr(cls, m) is not getattr(source, m) for m in _COMPUTING):
            setattr(cls, trait, Traits.__dict__[trait])
