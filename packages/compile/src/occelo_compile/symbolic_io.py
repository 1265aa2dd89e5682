"""What a function says of its inputs and outputs: `In` and `Out`."""

from __future__ import annotations

from typing import Any

from occelo_graph import Container, SharedVariable, Variable

__all__ = ["In", "Out", "SymbolicInput", "SymbolicOutput"]


class SymbolicInput:
    """A variable that is an input, and how it is treated; see `In`."""

    def __init__(
        self,
        variable: Variable,
        name: str | None = None,
        update: Any = None,
        mutable: bool | None = None,
        strict: bool = False,
        allow_downcast: bool | None = None,
        autoname: bool = True,
        implicit: bool = False,
    ) -> None:
        if not isinstance(variable, Variable):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise TypeError(f"An input must be a variable, got {variable!r}")
        self.variable = variable
        self.name = variable.name if name is None and autoname else name
        if self.name is not None and not isinstance(self.name, str):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise TypeError(f"The name of an input must be a string, got {self.name!r}")
        if update is not None:
            update = variable.type.filter_variable(update)
        self.update: Variable | None = update
        self.mutable = mutable if mutable is not None else update is not None
        self.strict = strict
        self.allow_downcast = allow_downcast
        self.implicit = implicit
        self.borrow = self.mutable
        self.value: Any = None
        self.shared = False

    def __str__(self) -> str:
        arrow = f" -> {self.update}" if self.update is not None else ""
        return f"In({self.variable}{arrow})"

    __repr__ = __str__


class In(SymbolicInput):
    """An input of a function.

    ``name`` is the keyword (the variable's name by default); ``value`` a default, restored after
    each call unless there is an ``update``, or a `Container` or shared variable to read from;
    ``update`` an expression that becomes the value for the next call. A shared variable with an
    ``update`` is its own value, so it is updated as by ``updates`` of `function`. ``mutable`` allows the
    function to overwrite the argument (as an update implies), ``borrow`` allows outputs to alias it
    (as ``mutable`` implies; ValueError for mutable without borrow). ``strict`` refuses arguments
    that need conversion, ``allow_downcast`` permits loss of precision. ``implicit`` inputs cannot be
    given in a call (TypeError if there is no value).
    """

    def __init__(
        self,
        variable: Variable,
        name: str | None = None,
        value: Any = None,
        update: Any = None,
        mutable: bool | None = None,
        strict: bool = False,
        allow_downcast: bool | None = None,
        autoname: bool = True,
        implicit: bool | None = None,
        borrow: bool | None = None,
        shared: bool = False,
    ) -> None:
        if update is not None and value is None and isinstance(variable, SharedVariable):
            value = variable
        if implicit is None:
            implicit = isinstance(value, Container | SharedVariable)
        if implicit and value is None:
            raise TypeError(f"An implicit input needs a value: {variable}")
        super().__init__(
            variable, name, update, mutable, strict, allow_downcast, autoname, implicit
        )
        if self.mutable and borrow is False:
            raise ValueError(f"A mutable input is borrowed: {variable}")
        self.borrow = self.mutable if borrow is None else borrow
        self.value = value.container if isinstance(value, SharedVariable) else value
        self.shared = shared or isinstance(value, SharedVariable)


class SymbolicOutput:
    """An output of a function; with ``borrow`` it may alias internal storage."""

    def __init__(self, variable: Any, borrow: bool = False) -> None:
        if not isinstance(variable, Variable):
            raise TypeError(f"An output must be a variable, got {variable!r}")
        self.variable: Variable = variable
        self.borrow = borrow

    def __str__(self) -> str:
        return f"Out({self.variable},{self.borrow})"

    __repr__ = __str__


class Out(SymbolicOutput):
    """`SymbolicOutput`, by its short name."""
