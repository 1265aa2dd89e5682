"""`Visitor`: the base class of visitors of loop programs, with one method for each kind of statement.

Printers, the interpreter, the verifier and the analyses of programs are visitors. A subclass must have a method for
each kind of statement, so no visitor overlooks a new kind.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Generic, TypeVar, get_args

from occelo_link.loops.ir.program import (
    Alloc,
    Check,
    For,
    If,
    Invoke,
    Statement,
    Store,
    Swap,
    Value,
    While,
)

Result = TypeVar("Result")

_METHODS: dict[type, str] = {
    Value: "value",
    Store: "store",
    For: "loop",
    While: "while_loop",
    If: "branch",
    Check: "check",
    Alloc: "alloc",
    Swap: "swap",
    Invoke: "invoke",
}


class Visitor(ABC, Generic[Result]):
    """Base class of visitors: a method for each kind of statement, which returns a ``Result``.

    The definition of a subclass raises TypeError if it has no method for one of the kinds (`Statement`).
    """

    methods: ClassVar[Mapping[type, Callable[[Any, Any], Any]]] = {}
    """The method for each kind of statement. Loops over many statements use it directly."""

    def __init_subclass__(cls, **options: object) -> None:
        super().__init_subclass__(**options)
        methods: dict[type, Callable[[Any, Any], Any]] = {}
        for kind in get_args(Statement):
            method = getattr(cls, _METHODS.get(kind, ""), None)
            if method is None or getattr(method, "__isabstractmethod__", False):
                raise TypeError(
                    f"{cls.__qualname__} has no method for the statement {kind.__name__}"
                )
            methods[kind] = method
        cls.methods = methods

    def statement(self, statement: Statement) -> Result:
        """Call the method for the kind of this statement."""
        result: Result = self.methods[type(statement)](self, statement)
        return result

    @abstractmethod
    def value(self, value: Value, /) -> Result: ...

    @abstractmethod
    def store(self, statement: Store, /) -> Result: ...

    @abstractmethod
    def loop(self, loop: For, /) -> Result: ...

    @abstractmethod
    def while_loop(self, loop: While, /) -> Result: ...

    @abstractmethod
    def branch(self, statement: If, /) -> Result: ...

    @abstractmethod
    def check(self, statement: Check, /) -> Result: ...

    @abstractmethod
    def alloc(self, statement: Alloc, /) -> Result: ...

    @abstractmethod
    def swap(self, statement: Swap, /) -> Result: ...

    @abstractmethod
    def invoke(self, statement: Invoke, /) -> Result: ...
