"""`In` and `Out`: inputs and outputs of a function with flags, such as ``borrow``, ``mutable`` and a default value.

Users pass them to `function`, and `collect` wraps plain variables in them. `maker`, `calling`, `copying` and `dumping`
read the flags.
"""

from __future__ import annotations

from typing import Any

from occelo_graph import Container, SharedVariable, Variable
from occelo_graph.errors import explained


def _variable(given: object, what: str) -> Variable:
    if not isinstance(given, Variable):
        raise explained(TypeError(f"{what} must be a variable, got {given!r}"), "inputs")
    return given


def _name(given: object) -> str | None:
    if given is not None and not isinstance(given, str):
        raise explained(
            TypeError(f"The name of an input must be a string, got {given!r}"), "inputs"
        )
    return given


class SymbolicInput:
    """A variable as an input of a function, with its flags. The flags mean the same as in `In`, which users call.

    TypeError if ``variable`` is none.
    """

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
        self.variable = _variable(variable, "An input")
        self.name = _name(variable.name if name is None and autoname else name)
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

    - ``name``: the keyword of the argument; by default the name of the variable.
    - ``value``: the value in calls that do not pass the argument. If there is an ``update``, it is the value only until
      the first update. If ``value`` is a `Container` or a shared variable, calls use the value that it holds then.
    - ``update``: an expression. Its value becomes the value of the input for the next call. If the variable is a shared
      variable, it is updated as by ``updates`` of `function`.
    - ``mutable``: whether the function may overwrite the argument. By default True if there is an ``update``.
    - ``strict``: refuse arguments that need conversion.
    - ``allow_downcast``: accept arguments whose conversion loses precision.
    - ``autoname``: if False, the name of the variable is not used as the keyword.
    - ``implicit``: calls cannot pass the argument. By default True if ``value`` is a `Container` or a shared variable.
      TypeError if there is no ``value``.
    - ``borrow``: whether outputs may alias the argument. By default the same as ``mutable``. ValueError if ``borrow``
      is False and ``mutable`` is True.
    - ``shared``: whether the input is a shared variable. Always True if ``value`` is a shared variable.
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
            raise explained(TypeError(f"An implicit input needs a value: {variable}"), "inputs")
        super().__init__(
            variable, name, update, mutable, strict, allow_downcast, autoname, implicit
        )
        if self.mutable and borrow is False:
            raise explained(ValueError(f"A mutable input is borrowed: {variable}"), "inputs")
        self.borrow = self.mutable if borrow is None else borrow
        self.value = value.container if isinstance(value, SharedVariable) else value
        self.shared = shared or isinstance(value, SharedVariable)


class SymbolicOutput:
    """An output of a function. If ``borrow`` is true, it may alias internal storage. TypeError if ``variable`` is none."""

    def __init__(self, variable: Variable, borrow: bool = False) -> None:
        self.variable = _variable(variable, "An output")
        self.borrow = borrow

    def __str__(self) -> str:
        return f"Out({self.variable},{self.borrow})"

    __repr__ = __str__


class Out(SymbolicOutput):
    """The short name of `SymbolicOutput`. TypeError if ``variable`` is none."""
