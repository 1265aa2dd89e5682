"""NumPy's objects that are used by subscripts: ``r_`` and ``c_`` join, ``s_`` and ``index_exp`` keep an index."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from occelo_arrays.ops.grids import linspace
from occelo_graph import tensor as ot
from occelo_graph.errors import explained
from occelo_graph.narrowing import is_slice, is_tuple

if TYPE_CHECKING:
    from occelo_graph.tensors.variable import TensorVariable

__all__ = ["c_", "index_exp", "r_", "s_"]


class _Index:
    """An object that returns what is in its brackets."""

    def __init__(self, always_tuple: bool, doc: str) -> None:
        self._always_tuple = always_tuple
        self.__doc__ = doc

    def __getitem__(self, key: Any) -> Any:
        return (key,) if self._always_tuple and not is_tuple(key) else key


index_exp = _Index(True, "``index_exp[2:5]`` is an index as a tuple, to be used later: ``x[index_exp[2:5]]``.")  # fmt: skip
s_ = _Index(False, "``s_[2:5]`` is an index, to be used later: ``x[s_[2:5]]``. Only several entries make a tuple.")  # fmt: skip


class _Joining:
    """Joins what is in the brackets."""

    def __init__(self, axis: int, ndmin: int, start: int, doc: str) -> None:
        self._places = (axis, ndmin, start)
        self.__doc__ = doc

    def __getitem__(self, key: Any) -> TensorVariable:
        entries: list[Any] = list(key) if is_tuple(key) else [key]
        axis, ndmin, start = self._places
        if entries and isinstance(entries[0], str):
            axis, ndmin, start = _numbers(entries.pop(0), self._places)
        return ot.concatenate([_vector_or_more(each, ndmin, start) for each in entries], axis)


def _numbers(text: str, default: tuple[int, int, int]) -> tuple[int, ...]:
    try:
        numbers = [int(part) for part in text.split(",")]
    except ValueError:
        raise explained(
            TypeError(f"r_ and c_ take text of up to three numbers, got {text!r}"), "arguments"
        ) from None
    return (*numbers, *default[len(numbers) :])[:3]


def _vector_or_more(entry: Any, ndmin: int, start: int) -> TensorVariable:
    if is_slice(entry):
        begin, step = entry.start or 0, 1 if entry.step is None else entry.step
        spaced = isinstance(step, complex)
        x = (
            linspace(begin, entry.stop, int(abs(step)))
            if spaced
            else ot.arange(begin, entry.stop, step)
        )
    else:
        x = ot.as_tensor_variable(entry)
        if not x.type.ndim:
            return x.dimshuffle(["x"] * max(ndmin, 1))
    new = ndmin - x.type.ndim
    if new <= 0:
        return x
    first = start if start >= 0 else start + new + 1
    return x.dimshuffle([*["x"] * first, *range(x.type.ndim), *["x"] * (new - first)])


c_ = _Joining(
    -1, 2, 0, "``c_[x, y]``: `r_` along the last axis; vectors are the columns of a matrix."
)
r_ = _Joining(
    0,
    1,
    -1,
    """``r_[x, 0, 1:4]``: what is in the brackets, joined along an axis. A slice is an `arange`, or a `linspace` if its step is
imaginary.

A first entry of text such as "1,2,0" gives the axis, the least number of dimensions, and at which place of these the own
dimensions of a tensor begin if it has less; -1 puts them last. TypeError for text of another form: NumPy's "r" and "c" make
matrices.""",
)
