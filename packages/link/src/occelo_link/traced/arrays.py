"""What a library must offer for graphs to be lowered to it: a few operations on its arrays.

Shapes and keys are plain Python values: they are known while a library traces. Lengths in ``key`` are
integers, slices with integer parts, or arrays of the library (integers, never negative, in bounds).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from occelo_link.traced.scalars import Scalar, registered_scalar
from occelo_link.withheld import row_is_withheld

__all__ = ["Arrays", "Scalar"]


class Arrays(ABC):
    """The operations; ``scalars`` maps names of scalar functions to the library's."""

    name: str
    scalars: Mapping[str, Scalar]

    def scalar(self, name: str) -> Scalar | None:
        """A scalar function by its name, with what its inputs are converted to; None if there is none."""
        if row_is_withheld(name):
            return None
        own = registered_scalar(self.name, name)
        return self.scalars.get(name) if own is None else (own[0], partial(own[1], self))

    def apply(self, name: str, *operands: Any) -> Any:
        """A scalar function by its name, of arrays that broadcast, in their common dtype; Python's numbers have that, too.

        ValueError if the library has no such function.
        """
        found = self.scalar(name)
        if found is None:
            raise ValueError(f"The backend {self.name} has no scalar function {name!r}")
        arrays = [
            x
            if self.is_traced(x) or isinstance(x, bool | int | float | complex)
            else self.constant(x)
            for x in operands
        ]
        dtypes = [self.dtype(x) for x in arrays if self.is_traced(x)]
        if not dtypes:
            raise TypeError(f"{name} takes an array at least, got {operands}")
        common = self.working(np.result_type(*map(np.dtype, dtypes)).name)
        return found[1](
            *(
                self.cast(x, common) if self.is_traced(x) else self.constant(np.asarray(x, common))
                for x in arrays
            )
        )

    @abstractmethod
    def constant(self, value: Any) -> Any:
        """An array of the library with the values of a NumPy array."""

    @abstractmethod
    def is_traced(self, value: Any) -> bool:
        """Whether a value is an array of the library, whose elements may not be known."""

    @abstractmethod
    def dtype(self, x: Any) -> str:
        """The name of the dtype."""

    @abstractmethod
    def cast(self, x: Any, dtype: str) -> Any:
        """Conversion of all elements."""

    def working(self, dtype: str) -> str:
        """The dtype in which the library computes what is to be of a dtype; it has no less room."""
        return dtype

    @abstractmethod
    def copy(self, x: Any) -> Any:
        """An array of its own memory."""

    @abstractmethod
    def reshape(self, x: Any, shape: Sequence[int]) -> Any:
        """The elements, in C order, in another shape."""

    @abstractmethod
    def transpose(self, x: Any, axes: Sequence[int]) -> Any:
        """The dimensions in another order."""

    @abstractmethod
    def broadcast(self, x: Any, shape: Sequence[int]) -> Any:
        """NumPy's ``broadcast_to``."""

    @abstractmethod
    def concatenate(self, parts: Sequence[Any], axis: int) -> Any:
        """Arrays one after the other."""

    @abstractmethod
    def where(self, condition: Any, a: Any, b: Any) -> Any:
        """Elements of ``a`` where the condition holds, else of ``b``; all of one shape."""

    @abstractmethod
    def read(self, x: Any, key: Sequence[Any]) -> Any:
        """``x[key]`` by integers and slices alone."""

    @abstractmethod
    def pick(self, x: Any, axis: int, index: Any) -> Any:
        """What lies at a scalar position of an axis, which goes away."""

    @abstractmethod
    def gather(self, x: Any, key: Sequence[Any]) -> Any:
        """``x[key]`` with arrays of positions in the key, as NumPy does."""

    @abstractmethod
    def write(self, x: Any, key: Sequence[Any], y: Any, add: bool) -> Any:
        """A copy of ``x`` with ``y`` written, or added, at ``x[key]``; scalar positions may be traced."""

    @abstractmethod
    def reduce(self, name: str, x: Any, axes: Sequence[int]) -> Any:
        """A reduction over axes by the name of its row: add, mul, maximum, ...; None if the library has none of that kind."""

    @abstractmethod
    def argmax(self, x: Any) -> Any:
        """The position of the largest element along the last axis, as int64."""

    @abstractmethod
    def accumulate(self, name: str, x: Any, axis: int) -> Any:
        """Running results by the name of a reduction; None if the library has none of that kind."""

    @abstractmethod
    def recurrence(self, a: Any, b: Any) -> Any:
        """``s_k = a_k s_{k-1} + b_k`` along the first axis, from 0."""

    @abstractmethod
    def matmul(self, x: Any, y: Any) -> Any:
        """The product of stacks of matrices."""

    @abstractmethod
    def dot(self, x: Any, y: Any) -> Any:
        """NumPy's ``dot`` of vectors and matrices."""

    @abstractmethod
    def diagonal(self, x: Any, offset: int, axis1: int, axis2: int) -> Any:
        """NumPy's ``diagonal``."""

    @abstractmethod
    def branch(
        self,
        condition: Any,
        then: Callable[[], Sequence[Any]],
        other: Callable[[], Sequence[Any]],
    ) -> Sequence[Any]:
        """What one of two functions returns; the other is not run. TypeError if their shapes differ."""

    def repeat(
        self,
        count: Any,
        state: Sequence[Any],
        step: Callable[[Sequence[Any]], tuple[Sequence[Any], Any, Any]],
    ) -> tuple[Sequence[Any], Any]:
        """``count`` times what a function makes of arrays, and a scalar that says whether all checks held.

        The function also returns two scalars: whether to stop, and whether its checks held. TypeError if
        shapes change; NotImplementedError if the library has no loops.
        """
        raise NotImplementedError

    @abstractmethod
    def callback(
        self,
        function: Callable[..., Sequence[Any]],
        inputs: Sequence[Any],
        results: Sequence[tuple[str, tuple[int, ...]]],
    ) -> Sequence[Any]:
        """What a function of NumPy arrays returns when the graph runs; dtypes and shapes are known."""
