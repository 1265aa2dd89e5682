"""Calls of functions whose arguments or results are trees (`occelo_graph.ir.trees`).

`collect` makes a `NestedCall` for such a function. The compiled function itself takes a flat list of values, and gives a
flat list of results. So `calling` takes arguments apart before a call, and rebuilds the results after it. Functions
without trees have no `NestedCall`, and their calls do nothing of this.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Any

from occelo_graph.errors import explained
from occelo_graph.frozen_dataclasses import frozen_dataclass
from occelo_graph.ir.trees import Structure

if TYPE_CHECKING:
    from occelo_compile.calling import Function


@frozen_dataclass
class Argument:
    """An argument of calls: its structure, its keyword, and what errors call it and its leaves.

    Only an argument that is no tree can be ``optional``.
    """

    structure: Structure
    name: str | None
    optional: bool
    path: str
    paths: list[str]


@frozen_dataclass
class NestedCall:
    """How a call passes arguments to a flat function, and what it makes of the results.

    ``arguments`` is None if no argument is a tree, ``results`` if the results are none.
    """

    arguments: list[Argument] | None
    results: Structure | None
    paths: list[str] = field(init=False)
    """What errors call the arguments of the flat function."""

    def __post_init__(self) -> None:
        paths = [path for each in self.arguments or () for path in each.paths]
        object.__setattr__(self, "paths", paths)

    def call(
        self,
        function: Function,
        flat: Callable[..., Any],
        args: Sequence[Any],
        output_subset: Sequence[str | int] | None,
        kwargs: dict[str, Any],
    ) -> Any:
        """Call ``function`` by ``flat``, its call without trees."""
        if self.results is not None and output_subset is not None and function.output_keys is None:
            raise TypeError(f"{function} returns a tree, so output_subset cannot choose results")
        options: dict[str, Any] = {} if output_subset is None else {"output_subset": output_subset}
        if self.arguments is None:
            results = flat(*args, **options, **kwargs)
        else:
            if kwargs or len(args) != len(self.arguments):
                args = self._bound(function, self.arguments, args, kwargs)
            values: list[Any] = []
            for argument, value in zip(self.arguments, args, strict=False):
                values += self._leaves(function, argument, value)
            results = flat(*values, **options)
        if self.results is None or output_subset is not None:
            return results
        return self.results.unflatten(results if function.output_keys is None else results.values())

    def _leaves(self, function: Function, argument: Argument, value: Any) -> list[Any]:
        structure = argument.structure
        if structure.is_leaf:
            return [value]
        try:
            return structure.leaves_of(value, argument.path)
        except ValueError as error:
            raise explained(ValueError(f"Bad argument of {function}: {error}"), "calls") from None

    def _describe(self, argument: Argument) -> str:
        assert self.arguments is not None
        position = self.arguments.index(argument)
        return f"{position}" if argument.name is None else f"{position} ({argument.name})"

    def _bound(
        self,
        function: Function,
        arguments: Sequence[Argument],
        args: Sequence[Any],
        kwargs: dict[str, Any],
    ) -> list[Any]:
        """Return the arguments in order, up to the last one that is passed."""
        if len(args) > len(arguments):
            raise TypeError(f"{function} takes {len(arguments)} arguments, got {len(args)}")
        bound = dict(enumerate(args))
        for key, value in kwargs.items():
            positions = [i for i, each in enumerate(arguments) if each.name == key]
            if len(positions) != 1:
                names = ", ".join(sorted({each.name for each in arguments if each.name})) or "none"
                count = "several arguments" if positions else "no argument"
                raise TypeError(f"{function} has {count} named {key!r}; its names are {names}")
            if positions[0] in bound:
                shown = self._describe(arguments[positions[0]])
                raise TypeError(f"{function} got its argument {shown} twice")
            bound[positions[0]] = value
        missing = [each for i, each in enumerate(arguments) if i not in bound and not each.optional]
        if missing:
            listed = ", ".join(map(self._describe, missing))
            raise TypeError(f"{function} is missing {len(missing)} of its arguments: {listed}")
        last = max(bound, default=-1)
        return [bound[i] if i in bound else self._default(function, i) for i in range(last + 1)]

    def _default(self, function: Function, position: int) -> Any:
        assert self.arguments is not None
        before = sum(each.structure.count for each in self.arguments[:position])
        return function.default_of(before)
