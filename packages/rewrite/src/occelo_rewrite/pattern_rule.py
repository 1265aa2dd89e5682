"""Rules whose decorator holds their pattern."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

from occelo_graph import Apply, Constant, FunctionGraph, Op, Variable
from occelo_graph.fgraph.features import Feature
from occelo_graph.ops.elemwise.op import Elemwise
from occelo_graph.tensors.type import TensorType, is_complex, is_float
from occelo_rewrite.node_rule import NodeRewriter
from occelo_rewrite.pattern import REST, Call, Number, Wild, match
from occelo_rewrite.shaping import shaped_like

__all__ = ["PatternRule", "rule"]

_KINDS: dict[str, Callable[[str], bool]] = {
    "float": is_float,
    "inexact": lambda dtype: is_float(dtype) or is_complex(dtype),
    "any": lambda dtype: True,
}


def _argument_names(function: Callable[..., Any]) -> tuple[str, ...]:
    code = getattr(function, "__code__", None)
    if code is None:
        return tuple(inspect.signature(function).parameters)
    names: tuple[str, ...] = (
        code.co_varnames
    )  # inspecting the signature of each rule would take long
    return names[: code.co_argcount]


def _needed_below(patterns: Sequence[Call]) -> set[Any]:
    """What must compute one of a node's inputs for a pattern to match; empty if that may be anything."""
    needed: set[Any] = set()
    for pattern in patterns:
        calls = [a.op for a in pattern.args if isinstance(a, Call)]
        if calls:
            op = calls[0]
            if isinstance(op, Elemwise):
                needed.add(op.scalar_op)
            else:
                cls = op if isinstance(op, type) else getattr(op, "op_type", type(op))  # pyright: ignore[reportUnknownArgumentType]
                needed.update((cls, *_subclasses(cls)))
        elif any(isinstance(a, Number) for a in pattern.args):
            needed.add(Constant)
        else:
            return set()
    return needed


def _subclasses(cls: type) -> list[type]:
    below: list[type] = cls.__subclasses__()
    return [each for sub in below for each in (sub, *_subclasses(sub))]


class PatternRule(NodeRewriter):
    """A rule that is tried where one of its patterns matches.

    The function gets what the pattern binds, by name (``node`` is the whole), and gives the variable
    to stand there, or None; for a node of several outputs a list. Dtype and shape of each result are made
    those of what it replaces.

    ``on`` says for which dtypes the law holds: "float", "inexact" or "any"; ``same_dtype`` that
    wildcards must have the dtype of the result.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        patterns: Sequence[Call],
        on: str = "float",
        same_dtype: bool = True,
        tags: Sequence[str] = (),
        name: str | None = None,
        requirements: Sequence[Callable[[], Feature]] = (),
    ) -> None:
        super().__init__(
            self._apply,
            [a.op for a in patterns],
            name or function.__name__,
            tags=tags,
            requirements=requirements,
            below=_needed_below(patterns),
        )
        self.law = function
        self.patterns = tuple(patterns)
        self.on = on
        self._fits = _KINDS[on]
        self.same_dtype = same_dtype
        self._wanted = _argument_names(function)
        self.__doc__ = function.__doc__

    def _apply(self, fgraph: FunctionGraph, node: Apply) -> Any:
        output: Any = node.outputs[0]
        kind: Any = output.type
        if not isinstance(kind, TensorType) or not self._fits(kind.dtype):
            return None
        for pattern in self.patterns:
            if not pattern.may_match(node):
                continue
            for bound in match(pattern, node):
                if self.same_dtype and not _one_dtype(bound, kind.dtype):
                    continue
                result = self._result(fgraph, node, bound)
                if result is not None:
                    return result
        return None

    def _result(self, fgraph: FunctionGraph, node: Apply, bound: dict[str, Any]) -> Any:
        rest = bound.pop(REST, None)
        if "node" in self._wanted:
            bound["node"] = node
        if "fgraph" in self._wanted:
            bound["fgraph"] = fgraph
        made = self.law(**{name: bound[name] for name in self._wanted})
        if made is None or made is False:
            return None
        if isinstance(made, list | tuple):
            results: Any = made  # pyright: ignore[reportUnknownVariableType]
            return [
                None if new is None else shaped_like(new, old)
                for new, old in zip(results, node.outputs, strict=True)
            ]
        if rest:
            operator: Op = node.op
            made = operator(*rest, made)
        return [shaped_like(made, node.outputs[0])]


def _one_dtype(bound: dict[str, Any], dtype: str) -> bool:
    for name, value in bound.items():
        if (
            name != REST
            and isinstance(value, Variable)
            and getattr(value.type, "dtype", dtype) != dtype
        ):
            return False
    return True


def rule(
    *patterns: Call,
    on: str = "float",
    same_dtype: bool = True,
    tags: Sequence[str] = (),
    name: str | None = None,
    requirements: Sequence[Callable[[], Feature]] = (),
) -> Callable[[Callable[..., Any]], PatternRule]:
    """Make a function a rule that is tried where one of the patterns matches; see `PatternRule`."""
    for pattern in patterns:
        if not isinstance(pattern, Call):  # pyright: ignore[reportUnnecessaryIsInstance]
            kind = "a wildcard" if isinstance(pattern, Wild) else repr(pattern)  # pyright: ignore[reportUnnecessaryIsInstance]
            raise TypeError(f"The root of a pattern is an op applied to something, not {kind}")

    def decorate(function: Callable[..., Any]) -> PatternRule:
        return PatternRule(function, patterns, on, same_dtype, tags, name, requirements)

    return decorate
