"""Run-time checks: the ops `CheckAndRaise` and `Assert`, which raise an exception if a condition is false.

Users call `assert_op`. Functions of other families check lengths and indices with `CheckAndRaise`. If a rule removes a
node that could fail, it puts a `CheckAndRaise` in its place, so that the error is still raised.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from occelo_graph.canonical.encoding import Arrays, register_coder
from occelo_graph.canonical.names import class_name, loaded, named
from occelo_graph.errors import SavedGraphError
from occelo_graph.extensions import is_external
from occelo_graph.ir.nodes import Apply
from occelo_graph.ir.terms import Term, called
from occelo_graph.ops.control.identities import SameType
from occelo_graph.tensors.constant import as_tensor_variable
from occelo_graph.tensors.type import TensorType

_LIBRARIES = ("builtins", "numpy.linalg")
"""The modules of Python's and NumPy's exceptions, whose constructors only keep the message."""


class CheckAndRaise(SameType):
    """Returns its first input if all other inputs, the conditions, are true. Else it raises ``exc_type(msg)``."""

    __props__: ClassVar[tuple[str, ...]] = ("msg", "exc_type")
    view_map = {0: [0]}

    def __init__(self, exc_type: type[Exception], msg: str = "") -> None:
        if not _is_exception(exc_type):
            raise ValueError("exc_type must be an exception class")
        self.exc_type = exc_type
        self.msg = msg

    def infer(self, x: Any, *conditions: TensorType) -> Any:
        for t in conditions:
            if t.ndim:
                raise TypeError(f"Conditions must be scalars, got {t}")
        return x

    def make_node(self, *inputs: Any) -> Apply:
        conditions = [c.all() if (c := as_tensor_variable(x)).type.ndim else c for x in inputs[1:]]
        return super().make_node(inputs[0], *conditions)

    def evaluate(self, *arrays: Any) -> Any:
        if not all(bool(np.all(c)) for c in arrays[1:]):
            raise self.exc_type(self.msg)
        return arrays[0]

    def connection_pattern(self, node: Apply) -> list[list[bool]]:
        return [[True], *[[False]] * (len(node.inputs) - 1)]


class Assert(CheckAndRaise):
    """A `CheckAndRaise` that raises AssertionError with the text ``msg``."""

    __props__: ClassVar[tuple[str, ...]] = ("msg",)

    def __init__(self, msg: str = "Assert failed") -> None:
        super().__init__(AssertionError, msg)

    def written(self, node: Apply, operands: Sequence[Term]) -> Term | None:
        return called("assert_op", *(term.text for term in operands), msg=self.msg)


def assert_op(value: Any, *conditions: Any, msg: str = "Assert failed") -> Any:
    """``value``, with a run-time check of ``conditions``. It raises ``AssertionError(msg)`` if an element is false."""
    for each in conditions:
        if isinstance(each, str):
            raise TypeError(f"A condition must be a tensor, got {each!r}; write msg={each!r}")
    return Assert(msg)(value, *conditions)


def raise_unless(value: Any, *conditions: Any, error: type[Exception], message: str) -> Any:
    """``value``, with a run-time check of ``conditions`` that raises ``error(message)`` if an element is false."""
    return CheckAndRaise(error, message)(value, *conditions)


def _is_exception(value: object) -> bool:
    return isinstance(value, type) and issubclass(value, Exception)


def _encode_exception(cls: type, arrays: Arrays) -> Any:
    if not issubclass(cls, Exception) or loaded(class_name(cls)) is not cls:
        raise TypeError(f"{cls} has no canonical form: it is no exception of a module")
    return class_name(cls)


def _decode_exception(name: Any, arrays: Arrays) -> Any:
    module, _, path = str(name).partition(":")
    cls: Any = getattr(sys.modules.get(module), "__dict__", {}).get(path)
    trusted = _is_exception(cls) and (module in _LIBRARIES or not is_external(cls))
    if not (trusted and class_name(cls) == name):
        cls = named(name, "exception")
    if not _is_exception(cls):
        raise SavedGraphError(f"{name} is no exception")
    return cls


register_coder(type, _encode_exception, _decode_exception)
