"""Copies and compares values of any type, array by array.

A value may consist of several arrays (`Type.parts`). Here, a value that does not consist of arrays is called an opaque
Python object.

The modules of DebugMode (`debug_mode`, `op_checks`, `trait_checks`, `loop_steps`) use these functions. `monitor` and
`nan_guard` only use `is_array`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeGuard

import numpy as np

from occelo_graph import Type

if TYPE_CHECKING:
    import numpy.typing as npt

_MOST_WORK: Any = 10_000


def is_array(value: object) -> TypeGuard[npt.NDArray[Any]]:
    """Whether a value is a NumPy array."""
    return isinstance(value, np.ndarray)


def short(value: Any) -> str:
    """Return a value as text of at most 63 characters on one line."""
    text = " ".join(str(value).split())
    return text if len(text) <= 60 else text[:50] + " ... " + text[-8:]


def _bare(kind: Type) -> bool:
    """Whether each value of this type is a single array or an opaque Python object. False if it has several arrays."""
    return kind.is_array or kind.parts() is None


def _arrays(kind: Type, value: Any) -> list[Any]:
    """Return the arrays that a value consists of.

    The list is empty for an opaque Python object, and for a value that does not belong to the type.
    """
    if _bare(kind):
        return [value] if isinstance(value, np.ndarray) else []
    return list(kind.to_parts(value)) if kind.is_valid_value(value) else []


def mapped(kind: Type, value: Any, function: Callable[[Any], Any]) -> Any:
    """Apply a function to each array of a value. An opaque Python object is returned unchanged."""
    arrays = _arrays(kind, value)
    if _bare(kind):
        return function(arrays[0]) if arrays else value
    return kind.from_parts([function(each) for each in arrays]) if arrays else value


def copied(kind: Type, value: Any) -> Any:
    """Return a value with copies of its arrays. An opaque Python object is returned unchanged."""
    return mapped(kind, value, lambda array: np.array(array, order="K"))


def _equal(a: Any, b: Any) -> bool:
    kind = a.dtype.kind in "fc"
    return a.shape == b.shape and bool(np.array_equal(a, b, equal_nan=kind))


def same(kind: Type, a: Any, b: Any) -> bool:
    """Whether two values are exactly equal. NaN counts as equal to NaN."""
    one, other = _arrays(kind, a), _arrays(kind, b)
    if one and other:
        return all(_equal(x, y) for x, y in zip(one, other, strict=True))
    return a is b or bool(a == b)


def agree(kind: Type, expected: Any, found: Any, stable: bool = False) -> bool:
    """Whether two values differ only by rounding errors.

    If ``stable`` is true, ``found`` may be finite where ``expected`` is not, as after rewriting for stability.
    """
    if kind.parts() is None or not (_arrays(kind, expected) and _arrays(kind, found)):
        return same(kind, expected, found)
    return bool(
        kind.values_eq_approx(expected, found, allow_remove_inf=stable, allow_remove_nan=stable)
    )


def difference(kind: Type, expected: Any, found: Any) -> str:
    """Describe how far two values differ: the largest and the mean difference, absolute and relative.

    If the values have several parts, each part that differs is described.
    """
    one, other = _arrays(kind, expected), _arrays(kind, found)
    if not (one and other):
        return f"{short(expected)} became {short(found)}"
    if _bare(kind):
        return _apart(one[0], other[0])
    return "; ".join(
        f"part {k}: {_apart(x, y)}"
        for k, (x, y) in enumerate(zip(one, other, strict=True))
        if x.dtype != y.dtype or not _equal(x, y)
    )


def _apart(expected: Any, found: Any) -> str:
    if expected.shape != found.shape or expected.dtype != found.dtype:
        return f"{expected.dtype} {expected.shape} became {found.dtype} {found.shape}"
    with np.errstate(all="ignore"):
        apart: Any = np.abs(np.asarray(found) * 1.0 - expected)
        relative: Any = apart / np.maximum(np.abs(expected), 1e-300)
        figures = [
            f"{name} difference: largest {np.nanmax(each):.3g}, mean {np.nanmean(each):.3g}, "
            f"median {np.nanmedian(each):.3g}, deviation {np.nanstd(each):.3g}"
            for name, each in (("absolute", apart), ("relative", relative))
        ]
    return "; ".join(figures)


def has_data(kind: Type, value: Any) -> bool:
    """Whether a value has an array that is not empty."""
    return any(array.size for array in _arrays(kind, value))


def shares_memory(
    kind: Type, value: Any, others: Sequence[Any], kinds: Sequence[Type]
) -> list[int]:
    """Return the positions of those ``others`` that share elements with a value.

    A position is also returned if it would take too long to find out.
    """
    mine = _arrays(kind, value)
    # the parts of some values are copies, such as the state of a generator; the types of such values compare the values
    own = not kind.is_array and type(kind).may_share_memory is not Type.may_share_memory
    return [
        i
        for i, (of, other) in enumerate(zip(kinds, others, strict=True))
        if any(_overlap(x, y) for x in mine for y in _arrays(of, other))
        or (own and kind == of and kind.may_share_memory(value, other))
    ]


def _overlap(a: Any, b: Any) -> bool:
    try:
        return np.shares_memory(a, b, max_work=_MOST_WORK)
    except np.exceptions.TooHardError:
        return True


def finite(kind: Type, value: Any) -> bool:
    """Whether all elements of a value are finite. True for an opaque Python object."""
    return all(
        array.dtype.kind not in "fc" or bool(np.isfinite(array).all())
        for array in _arrays(kind, value)
    )
