"""`CarriedValue`: finds the type of a value that a loop carries from step to step.

A carried value must have the same type before and after each step. `building` starts with the type of the initial
value. It calls the step function, adapts the types to the results (`CarriedValue.adapt`), and repeats this until no
type changes. `delays` and `states` use `CarriedValue`, too. `classic_arguments` uses only `is_number`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from occelo_graph.config import config
from occelo_graph.errors import describe
from occelo_graph.ir.nodes import Variable
from occelo_graph.ir.types import Type
from occelo_graph.narrowing import is_list_or_tuple
from occelo_graph.tensors.constant import as_tensor_variable
from occelo_graph.tensors.type import TensorType

_SMALLEST: dict[type, str] = {int: "int8", float: "float16", complex: "complex64"}
"""The dtypes of initial values that are Python numbers, for the first call of a step function.

They are so small that they do not change the dtypes of other operands.
"""


def is_number(value: object) -> bool:
    """Whether a value is a Python number, which has no dtype. Bools and NumPy's scalars do not count."""
    return type(value) in _SMALLEST


def _representative(value: Any) -> Any:
    """The number that decides about the dtype: a Python number itself, or of a list of numbers the one that needs the
    largest dtype. None for any other value.
    """
    if is_list_or_tuple(value) and value and all(map(is_number, value)):
        numbers: list[Any] = list(value)
        return max(numbers, key=_rank)
    return value if is_number(value) else None


def _rank(number: Any) -> tuple[bool, bool, float]:
    return isinstance(number, complex), isinstance(number, float), abs(number)


class CarriedValue:
    """A value that a loop carries, with its initial value and its type, ``kind``.

    If the initial value is a Python number, it gets the dtype that a step returns, provided that this dtype can hold
    the number. If the dtype that a step returns depends on the dtype of the number, the number gets int64, `floatX` or
    complex128. A list of Python numbers is a vector, whose dtype is found in the same way. ``label`` names the value in
    error messages.
    """

    def __init__(self, value: Any, label: str) -> None:
        self.label = label
        self._given = value
        self.number: Any = _representative(value)
        self.variable: Any = None
        self._settled = False
        if self.number is None:
            self.variable = value if isinstance(value, Variable) else as_tensor_variable(value)
            self.kind: Type = self.variable.type
        else:
            self.kind = TensorType(self._smallest(), np.shape(value))

    def _smallest(self) -> str:
        dtype = _SMALLEST[type(self.number)]
        if type(self.number) is int and np.min_scalar_type(self.number).kind in "iu":
            dtype = np.promote_types(dtype, np.min_scalar_type(self.number)).name
        return "int64" if dtype == "float64" and type(self.number) is int else dtype

    def _default(self) -> str:
        default = {int: "int64", float: config.floatX, complex: "complex128"}
        return default[type(self.number)]

    def inner(self) -> Variable:
        """A new variable for the value before a step, for the body of the loop."""
        return self.kind.make_variable(None if self.variable is None else self.variable.name)

    def initial(self) -> Variable:
        """The initial value as a variable."""
        if self.variable is not None:
            return self.variable
        assert isinstance(self.kind, TensorType)
        return as_tensor_variable(self._given, dtype=self.kind.dtype)

    def settle(self) -> bool:
        """Give a Python number its default dtype, if no step has determined its dtype.

        Returns whether the type changed. It changes at most once.
        """
        shape = np.shape(self._given)
        if self.number is None or self._settled or self.kind != TensorType(self._smallest(), shape):
            return False
        self._settled = True
        before, self.kind = self.kind, TensorType(self._default(), shape)
        return before != self.kind

    def adapt(self, after: Variable) -> bool:
        """Adapt the type to ``after``, the value that a step returned. Returns whether the type changed.

        A static length becomes dynamic if the length after a step is dynamic. TypeError if the dtype or the number of
        dimensions differs, or if two static lengths differ.
        """
        before, new = self.kind, after.type
        if isinstance(before, TensorType) and isinstance(new, TensorType):
            if self._may_become(new):
                self.kind = TensorType(new.dtype, before.shape)
                return True
            self._check(before, new, after)
            # a static length becomes dynamic if the length after a step is not known
            shape = [None if b is None else a for a, b in zip(before.shape, new.shape, strict=True)]
            self.kind = TensorType(before.dtype, shape)
        elif before != new:
            raise self._changed("type", after)
        return self.kind != before

    def _may_become(self, new: TensorType) -> bool:
        """Whether the initial value is a Python number that may get the dtype of ``new``, the type after a step."""
        if self.number is None or not isinstance(self.kind, TensorType):
            return False
        if new.ndim != self.kind.ndim:
            return False
        if new.dtype == self.kind.dtype:
            return False
        if self._settled and new.dtype == self._smallest():
            # the steps return this dtype, whatever dtype the number has
            return True
        if self.kind.dtype != self._smallest():
            return np.can_cast(self.kind.dtype, new.dtype)
        order = "b iu f c".split()
        kinds = [
            next(i for i, k in enumerate(order) if np.dtype(d).kind in k)
            for d in (self.kind.dtype, new.dtype)
        ]
        exact = type(self.number) is not int or new.numpy_dtype.kind not in "iu"
        if not exact:
            info = np.iinfo(new.numpy_dtype)
            exact = info.min <= self.number <= info.max
        return kinds[0] <= kinds[1] and exact

    def _described(self) -> str:
        return f"{self._given!r}" if self.variable is None else describe(self.variable)

    def _changed(self, what: str, after: Variable) -> TypeError:
        """The error for a step that returns ``after`` and so changes ``what``, such as the dtype."""
        return TypeError(
            f"{self.label} must keep its {what}. It starts as {self._described()}, and becomes {describe(after)}"
        )

    def _check(self, before: TensorType, new: TensorType, after: Variable) -> None:
        if before.dtype != new.dtype:
            mend = f"end the step with .astype({before.dtype!r})"
            if self.number is not None:
                mend = f"end the step with .astype({self._default()!r})"
            elif np.can_cast(before.dtype, new.dtype):
                mend = f"start with .astype({new.dtype!r})"
            raise self._changed(f"dtype: {mend}", after)
        if before.ndim != new.ndim:
            raise self._changed(
                f"number of dimensions, which is {before.ndim} and then {new.ndim}", after
            )
        for axis, (a, b) in enumerate(zip(before.shape, new.shape, strict=True)):
            if a is not None and b is not None and a != b:
                raise self._changed(f"length along axis {axis}, which is {a} and then {b}", after)
