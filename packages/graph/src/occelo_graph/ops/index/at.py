"""``x.at[key]``: a part of a tensor with the methods that return a copy of the tensor with this part changed.

The names are those of JAX. ``x[key].set(y)`` and ``x[key].inc(y)`` are other names of two of them. The others need
``at``, since ``x[key].max(0)`` is the maximum over an axis.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal, TypedDict

import numpy as np

from occelo_graph.errors import explained
from occelo_graph.missing_names import MissingNameError
from occelo_graph.ops.arguments import of_family
from occelo_graph.ops.cast import cast
from occelo_graph.ops.create import ones_like
from occelo_graph.ops.elemwise.arithmetic import neg, true_div
from occelo_graph.ops.elemwise.transcendental import power
from occelo_graph.ops.index.subtensor import getitem, inc_subtensor, set_subtensor, written_value

if TYPE_CHECKING:
    from typing import Unpack

    from occelo_graph.tensors.constant import TensorLike
    from occelo_graph.tensors.variable import TensorVariable

Mode = Literal["clip", "drop", "fill", "promise_in_bounds"]


def _checked_mode(mode: Any, drops: bool) -> str | None:
    """The mode of a method; None if positions out of bounds are errors. ValueError for another word."""
    modes = (
        ("clip", "drop", "fill", "promise_in_bounds")
        if drops
        else ("clip", "fill", "promise_in_bounds")
    )
    if mode is not None and mode not in modes:
        raise explained(
            ValueError(f"mode of x.at[...] is None or one of {', '.join(modes)}, not {mode!r}"),
            "arguments",
        )
    return None if mode == "promise_in_bounds" else mode


def _within(x: TensorVariable, key: Any) -> Any:
    """`Within` of the family of arrays."""
    return of_family("x.at[key] with a mode")(x, key)


def _combined(part: TensorVariable, y: TensorLike, combine: str) -> TensorVariable:
    """See `combine_subtensor` of the family of arrays."""
    combined: TensorVariable = of_family("x.at[key] by a function of two numbers")(part, y, combine)
    return combined


class At:
    """``x.at``: its elements ``x.at[key]`` are parts of ``x`` to be changed."""

    def __init__(self, x: TensorVariable) -> None:
        self._x = x

    def __getitem__(self, key: Any) -> PartAt:
        return PartAt(self._x, key)

    def __repr__(self) -> str:
        return f"{self._x}.at"

    if not TYPE_CHECKING:  # so that type checkers report unknown names

        def __getattr__(self, name: str) -> Any:
            text = f"x.at has no attribute {name!r}"
            raise MissingNameError(
                f"{text}; use x.at[key].{name}" if hasattr(PartAt, name) else text, name, self
            )


class Options(TypedDict, total=False):
    """Keywords that all methods of ``x.at[key]`` that write have, as in JAX."""

    mode: Mode | None
    """What happens to positions out of bounds: None raises IndexError, "drop" (or "fill") leaves them out, "clip" takes
    the nearest ones. "promise_in_bounds" is the same as None."""
    indices_are_sorted: bool
    unique_indices: bool
    """Promises that change nothing."""


class PartAt:
    """``x.at[key]``. Its methods return copies of ``x`` with the part ``x[key]`` changed; ``y`` broadcasts to this part.

    If the index contains a position several times, all values are applied to the element there. Only of the values that
    `set` gets, the last one is kept. Where a position is out of bounds, IndexError, when the graph runs if it is not known
    before, unless the option ``mode`` (`Options`) says otherwise. TypeError if ``y`` cannot be converted to the dtype of
    ``x`` without loss.
    """

    def __init__(self, x: TensorVariable, key: Any) -> None:
        self._x = x
        self._key = key

    def __repr__(self) -> str:
        return f"{self._x}.at[{self._key}]"

    if not TYPE_CHECKING:  # so that type checkers report unknown names

        def __getattr__(self, name: str) -> Any:
            text = f"x.at[...] has no attribute {name!r}"
            hint = {"apply": "; use x[key].set(f(x[key]))", "inc": "; use add"}.get(name, "")
            raise MissingNameError(text + hint, name, self)

    def _writing(
        self, combine: Callable[[TensorVariable], TensorVariable], options: Options
    ) -> TensorVariable:
        """The tensor that ``combine`` makes of the part, which the mode keeps in bounds."""
        unknown = set(options) - set(Options.__annotations__)
        if unknown:
            raise TypeError(f"x.at[...] has no option {', '.join(sorted(unknown))}")
        mode = _checked_mode(options.get("mode"), drops=True)
        if mode is None:
            return combine(getitem(self._x, self._key))
        within = _within(self._x, self._key)
        if mode == "clip":
            return combine(getitem(self._x, tuple(within.clipped)))
        return within.cut(combine(getitem(within.extended(), tuple(within.dropping))))

    def get(
        self,
        *,
        mode: Mode | None = None,
        fill_value: Any = None,
        indices_are_sorted: bool = False,
        unique_indices: bool = False,
    ) -> TensorVariable:
        """``x[key]``. At positions out of bounds, the ``mode`` "fill" reads ``fill_value``, and "clip" the nearest element.

        The default of ``fill_value`` is JAX's: NaN, the least signed and the largest unsigned integer, or True.
        """
        checked = _checked_mode(
            "fill" if mode is None and fill_value is not None else mode, drops=False
        )
        if checked is None:
            return getitem(self._x, self._key)
        within = _within(self._x, self._key)
        if checked == "clip":
            return getitem(self._x, tuple(within.clipped))
        return within.filled(fill_value)

    def set(self, y: TensorLike, **options: Unpack[Options]) -> TensorVariable:
        """A copy of ``x`` with the part set to ``y``, as by ``x[key].set(y)``."""
        return self._writing(lambda part: set_subtensor(part, y), options)

    def add(self, y: TensorLike, **options: Unpack[Options]) -> TensorVariable:
        """A copy of ``x`` with ``y`` added to the part, as by ``x[key].inc(y)``."""
        return self._writing(lambda part: inc_subtensor(part, y), options)

    def subtract(self, y: TensorLike, **options: Unpack[Options]) -> TensorVariable:
        """A copy of ``x`` with ``y`` subtracted from the part."""

        def subtracted(part: TensorVariable) -> TensorVariable:
            value = written_value(y, part)
            # in the dtype of the sum, since the negative number may not fit into that of y
            value = cast(value, np.result_type(part.type.dtype, value.type.dtype).name)
            return inc_subtensor(part, neg(value))

        return self._writing(subtracted, options)

    def multiply(self, y: TensorLike, **options: Unpack[Options]) -> TensorVariable:
        """A copy of ``x`` with the part multiplied by ``y``.

        If factors at one position are 0, first derivatives are right, and second derivatives with respect to two of the
        factors are 0.
        """
        return self._writing(lambda part: _combined(part, y, "prod"), options)

    mul = multiply

    def divide(self, y: TensorLike, **options: Unpack[Options]) -> TensorVariable:
        """``x`` divided by ones that are multiplied by ``y`` at the part. For integers the result is float."""
        return true_div(self._x, self._ones().multiply(y, **options))

    def power(self, y: TensorLike, **options: Unpack[Options]) -> TensorVariable:
        """``x`` raised to the power of ones that are multiplied by ``y`` at the part."""
        return power(self._x, self._ones().multiply(y, **options))

    def max(self, y: TensorLike, **options: Unpack[Options]) -> TensorVariable:
        """A copy of ``x`` with the part replaced by the maxima of it and ``y``. Equal elements share the derivative."""
        return self._writing(lambda part: _combined(part, y, "max"), options)

    def min(self, y: TensorLike, **options: Unpack[Options]) -> TensorVariable:
        """A copy of ``x`` with the part replaced by the minima of it and ``y``. Equal elements share the derivative."""
        return self._writing(lambda part: _combined(part, y, "min"), options)

    def _ones(self) -> PartAt:
        return PartAt(ones_like(self._x), self._key)
