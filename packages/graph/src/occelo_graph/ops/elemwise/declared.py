"""Checks of the options, traits and results of elementwise functions that users define with `elementwise`.

When a function is defined, `elementwise` calls `check_options`, `check_arguments_kept` and `check_traits`. The last two
run the NumPy code on a few sample numbers. `with_shape_checked` checks results when the function runs. DebugMode calls
`contradicted` to check traits for the values in a call.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeVar, get_args

import numpy as np

from occelo_graph.errors import WrongResultError
from occelo_graph.narrowing import is_list_or_tuple, is_tuple
from occelo_graph.ops.elemwise.scalar import DtypeRule, Monotone, ScalarOp, Sign
from occelo_graph.ops.elemwise.signatures import ScalarTraits

_Code = Callable[..., Any]
_Entry = TypeVar("_Entry")
_TRUTH = (False, True)


def _by_option(**entries: _Entry) -> Mapping[str, _Entry]:
    return entries


_ALLOWED = _by_option(
    commutative=_TRUTH,
    arithmetic=_TRUTH,
    compares=_TRUTH,
    holomorphic=(None, *_TRUTH),
    linear=(None, "all", "each", "first"),
    sign=(None, *get_args(Sign)),
    monotone=(None, *get_args(Monotone)),
)


def check_definition(name: Any, rule: Any, options: Mapping[str, Any]) -> None:
    """Raise TypeError if the name is no text, the rule no function, or an option unknown."""
    if not isinstance(name, str):
        raise TypeError(f"The name of an elementwise function must be text, got {name!r}")
    if not callable(rule):
        raise TypeError(f"rule of {name} must be a function of a list of dtypes, got {rule!r}")
    unknown = [option for option in options if option not in ScalarTraits.__annotations__]
    if unknown:
        allowed = ", ".join(ScalarTraits.__annotations__)
        raise TypeError(f"elementwise has no option {unknown[0]}; there are {allowed}")


def check_options(
    name: str, nin: int | None, partials: Sequence[Any], options: Mapping[str, Any]
) -> None:
    """Raise TypeError or ValueError if an option of `elementwise` has a value that is not allowed."""
    for option, allowed in _ALLOWED.items():
        value = options.get(option)
        if option in options and not any(value is a or value == a for a in allowed):
            raise ValueError(f"{option} of {name} must be one of {allowed}, got {value!r}")
    signs: Any = options.get("keeps_sign", ())
    if not is_tuple(signs) or not set(signs) <= set(get_args(Sign)):
        raise ValueError(f"keeps_sign of {name} must be a tuple of {get_args(Sign)}, got {signs!r}")
    moved: object = options.get("moves")
    if not (moved is None or isinstance(moved, slice)):
        raise TypeError(f"moves of {name} must be a slice of inputs, got {moved!r}")
    infix: Any = options.get("infix")
    if infix is not None and [type(each) for each in infix] != [str, int]:
        raise TypeError(f"infix of {name} must be an operator and its precedence, got {infix!r}")
    pulled: Sequence[Any] = options.get("complex_pullback") or ()
    for entries, what in ((partials, "derivatives"), (pulled, "complex_pullback")):
        each = [entries] if not is_list_or_tuple(entries) else [e for e in entries if e is not None]
        if wrong := [e for e in each if not callable(e) or not is_list_or_tuple(entries)]:
            raise TypeError(
                f"{what} of {name} must be a list with a function for each input, None where it is 0, "
                f"or an empty list, got {wrong[0]!r}"
            )
        count = len(entries)
        if nin is not None and count not in (0, nin):
            raise ValueError(
                f"{name} takes {nin} inputs, so {what} has as many entries, not {count}"
            )


def check_arguments_kept(name: str, nin: int | None, code: _Code) -> None:
    """Call the NumPy code with a few sample numbers. ValueError if it overwrites its arguments."""
    samples = [_FINITE.copy() for _ in range(nin or 2)]
    try:
        with np.errstate(all="ignore"):
            code(*samples)
    except Exception:
        pass  # the code may have overwritten an argument before it failed
    for i, array in enumerate(samples):
        if not np.array_equal(array, _FINITE):
            raise ValueError(f"The NumPy code of {name} overwrites its argument {i}")


_REALS = np.array([-np.inf, -37.0, -2.5, -1.0, -0.5, -0.0, 0.0, 0.25, 0.5, 1.0, 2.5, 37.0, np.inf])
_FINITE = np.array([-2.5, -1.0, -0.25, 0.5, 0.75, 3.0])
_OTHERS = np.array([0.5, -3.0, 1.25, 2.0, -0.75, 0.25])


def check_traits(
    name: str, nin: int | None, rule: DtypeRule, code: _Code, options: Mapping[str, Any]
) -> None:
    """Raise ValueError if the NumPy code contradicts a declared trait for a few sample numbers.

    If the code raises an exception for these numbers, the trait is not checked.
    """
    for trait, (of, holds) in _TESTS.items():
        declared: Any = options.get(trait)
        if not declared or nin != of:
            continue
        try:
            if holds is _is_holomorphic and rule(["complex128"]) != "complex128":
                continue
            with np.errstate(all="ignore"):
                right = holds(declared, code)
        except Exception:
            continue
        if not right:
            raise ValueError(
                f"{name} declares {trait}={declared!r}, which its NumPy code contradicts"
            )


def _is_monotone(declared: Any, code: _Code) -> bool:
    return _in_order(declared, np.asarray(code(_REALS.copy())))


def _in_order(declared: Any, values: Any) -> bool:
    rest = values[~np.isnan(values)]
    before, after = (rest[:-1], rest[1:]) if declared == "increasing" else (rest[1:], rest[:-1])
    return bool(((before <= after) | np.isclose(before, after, rtol=1e-6)).all())


def _has(sign: Sign, array: Any) -> bool:
    low = np.signbit(array) if sign == "unsigned" else array < 0
    return not bool((low & ~np.isnan(array)).any())


def _has_sign(declared: Any, code: _Code) -> bool:
    return _has(declared, np.asarray(code(_REALS.copy())))


def _keeps_sign(declared: Any, code: _Code) -> bool:
    return all(_has(sign, np.asarray(code(_REALS[6:].copy()))) for sign in declared)


def _is_linear(declared: Any, code: _Code) -> bool:
    whole = np.asarray(code(_FINITE + _OTHERS))
    return np.allclose(whole, code(_FINITE.copy()) + code(_OTHERS.copy()), rtol=1e-3, atol=1e-6)


def _commutes(declared: Any, code: _Code) -> bool:
    a, b = code(_FINITE.copy(), _OTHERS.copy()), code(_OTHERS.copy(), _FINITE.copy())
    return np.allclose(a, b, rtol=1e-3, equal_nan=True)


def _moves(declared: Any, code: _Code) -> bool:
    return np.array_equal(code(_FINITE.copy()), _FINITE)


def _is_holomorphic(declared: Any, code: _Code) -> bool:
    return _cauchy_riemann(code, 0.5 + 0.25j * _FINITE, 1e-4)


def _cauchy_riemann(code: _Code, z: Any, h: float) -> bool:
    along = np.asarray(code(z + h)) - code(z - h)
    across = np.asarray(code(z + h * 1j)) - code(z - h * 1j)
    finite = np.isfinite(along) & np.isfinite(across)
    return np.allclose(across[finite], 1j * along[finite], rtol=1e-2, atol=1e-2 * h)


_Test = tuple[int, Callable[[Any, _Code], bool]]
_TESTS: Mapping[str, _Test] = _by_option(
    monotone=(1, _is_monotone),
    sign=(1, _has_sign),
    keeps_sign=(1, _keeps_sign),
    linear=(1, _is_linear),
    commutative=(2, _commutes),
    moves=(1, _moves),
    holomorphic=(1, _is_holomorphic),
)
"""Maps a trait to a number of inputs and a test. The test only applies to functions with this number of inputs."""


def contradicted(
    scalar_op: ScalarOp, inputs: Sequence[Any], outputs: Sequence[Any]
) -> Iterator[str]:
    """Find the declared traits of a scalar op that the values of one call contradict.

    Yields a message for each of these traits. The message has the trait and the values.
    """
    arrays = [np.asarray(a) for a in inputs]
    result = np.asarray(outputs[0])
    if any(a.dtype.kind == "c" for a in (*arrays, result)):
        if scalar_op.holomorphic and len(arrays) == 1 and result.dtype.kind == "c":
            yield from _not_holomorphic(scalar_op, arrays[0])
        return
    if scalar_op.sign is not None and not _has(scalar_op.sign, result):
        yield f"sign={scalar_op.sign!r}, and the result has {_first_signed(result)}"
    for sign in scalar_op.keeps_sign:
        if all(_has(sign, a) for a in arrays) and not _has(sign, result):
            yield f"keeps_sign={sign!r}, and the result has {_first_signed(result)}"
    if scalar_op.monotone is not None and len(arrays) == 1 and arrays[0].dtype.kind == "f":
        order = np.argsort(arrays[0], axis=None)
        if not _in_order(scalar_op.monotone, np.ravel(result)[order]):
            yield f"monotone={scalar_op.monotone!r}, and the results are {np.ravel(result)[order]} for {np.ravel(arrays[0])[order]}"


def _first_signed(array: Any) -> Any:
    return array[np.signbit(array)].flat[0]


def _not_holomorphic(scalar_op: ScalarOp, z: Any) -> Iterator[str]:
    # contradicted only if the equations fail for all step lengths; near a pole or a branch cut they fail for some
    points = z[np.isfinite(z)].astype("complex128")
    with np.errstate(all="ignore"):
        if not any(_cauchy_riemann(scalar_op.evaluate, points, h) for h in (1e-3, 1e-4, 1e-5)):
            yield f"holomorphic, and is not at {np.ravel(z)}"


def with_shape_checked(name: str, code: _Code) -> _Code:
    """Wrap the NumPy code in a check of its result.

    WrongResultError if the result does not have the common shape to which the arguments broadcast.
    """

    def checked(*arrays: Any) -> Any:
        result = code(*arrays)
        shape = np.shape(result)
        common = np.broadcast_shapes(*map(np.shape, arrays))
        if shape != common:
            raise WrongResultError(
                f"{name} must give an array of the shape of its arguments, {common}, and gave {shape}"
            )
        return result

    return checked
