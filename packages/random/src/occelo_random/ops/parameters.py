"""Converts and checks the parameters of draws by keys, and computes the shape of a draw.

The functions that draw by keys, in `draws`, `gamma`, `counts` and other modules, begin by calling these functions.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from occelo_graph.config import FLOAT_X
from occelo_graph.ir.nodes import Constant
from occelo_graph.ir.taken_constants import taken
from occelo_graph.narrowing import is_tuple
from occelo_graph.ops.cast import cast
from occelo_graph.ops.control.checks import CheckAndRaise
from occelo_graph.ops.elemwise.arithmetic import add, int_div, mul, sub
from occelo_graph.ops.length_inputs import lengths_of
from occelo_graph.ops.shape.broadcasting import broadcast_lengths
from occelo_graph.ops.shape.reading import lengths_by_variables
from occelo_graph.tensors.constant import as_tensor_variable, constant
from occelo_graph.tensors.type import TensorType, is_discrete, is_float
from occelo_random.ops.keys import as_key, bits, split

if TYPE_CHECKING:
    from occelo_graph.tensors.variable import TensorVariable


def draw_shape(key: Any, size: Any, parameters: Sequence[Any], core: int = 0) -> Any:
    """The shape of the draw of each key: ``size``, or the shape to which the parameters broadcast if ``size`` is None.

    There is one exception. If ``size`` is None and ``key`` is a batch of keys, the shape is (): each key makes a single
    draw, and the dimensions of the keys broadcast against those of the parameters.

    The last ``core`` dimensions of the parameters belong to a single draw, and are not part of the shape. ValueError if
    static lengths of the parameters do not broadcast to ``size``.
    """
    lengths = [_batch(lengths_by_variables(p), core) for p in parameters]
    if size is not None:
        sizes = lengths_of(size)
        static = (*as_key(key).type.shape, *(n if isinstance(n, int) else None for n in sizes))
        shapes = [_batch(p.type.shape, core) for p in parameters]
        for shape in shapes:
            fits = len(shape) <= len(static) and all(
                n == 1 or n is None or m is None or n == m
                for n, m in zip(reversed(shape), reversed(static), strict=False)
            )
            if not fits:
                raise ValueError(
                    f"The draw has the shape {_text(static)}, to which a parameter of shape {_text(shape)} does not broadcast"
                )
        return sizes
    if as_key(key).type.ndim:
        return ()
    return broadcast_lengths(lengths) if parameters else ()


def _batch(shape: Sequence[Any], core: int) -> tuple[Any, ...]:
    return tuple(shape[: len(shape) - core])


def _text(shape: Sequence[int | None]) -> str:
    inside = ", ".join("?" if n is None else str(n) for n in shape)
    return f"({inside},)" if len(shape) == 1 else f"({inside})"


def float_parameters(*parameters: Any, dtype: str | None) -> tuple[list[Any], str]:
    """Convert parameters to tensors of the dtype of the draw. Returns the tensors and this dtype.

    If ``dtype`` is None, it is the dtype of the parameters without Python numbers, or floatX if this is no float.
    TypeError for a dtype other than float32 and float64.
    """
    variables = [as_tensor_variable(p) for p in parameters]
    if dtype is None:
        strong = [
            v.type.dtype
            for p, v in zip(parameters, variables, strict=True)
            if not isinstance(p, bool | int | float)
        ]
        common = np.result_type(*strong).name if strong else ""
        dtype = common if strong and is_float(common) else FLOAT_X.get()
    name = TensorType(dtype, ()).dtype
    if name not in ("float32", "float64"):
        raise TypeError(f"Random numbers are drawn as float32 or float64, not {name}")
    return [_as_dtype(p, name) for p in variables], name


def _as_dtype(variable: Any, dtype: str) -> Any:
    if isinstance(variable, Constant) and variable.data.dtype != dtype:
        return constant(np.asarray(taken(variable), dtype))
    return cast(variable, dtype)


def integer_parameter(parameter: Any, name: str) -> TensorVariable:
    """Convert a parameter to int64. TypeError unless it has an integer dtype. ``name`` is its name in the message."""
    tensor = as_tensor_variable(parameter)
    if not is_discrete(tensor.dtype) or tensor.dtype == "bool":
        raise TypeError(f"{name} must be of an integer dtype, got {tensor.type}")
    return _as_dtype(tensor, "int64")


def _not_negative(x: Any) -> Any:
    return ~(x < 0)


def _positive(x: Any) -> Any:
    return x > 0


def _fraction(x: Any) -> Any:
    return (x >= 0) & (x <= 1)


NOT_NEGATIVE = (_not_negative, "{} < 0")
"""The condition that a parameter is not negative, and the message if it is. As in NumPy, NaN is allowed."""
POSITIVE = (_positive, "{} <= 0")
FRACTION = (_fraction, "{} < 0, {} > 1 or {} is NaN")


def checked(key: Any, **parameters: tuple[Any, Any]) -> TensorVariable:
    """The key, with checks of the parameters.

    Each parameter is a pair of its value and a condition of this module, such as `POSITIVE`.

    A check raises ValueError with the name of the parameter. If the parameter is a constant, it is checked at once.
    Checks are attached to the key, which is small. If a check were attached to a parameter, the whole parameter
    would have to be stored before the draw is computed.
    """
    keys = as_key(key)
    for name, (value, (condition, text)) in parameters.items():
        keys = require(keys, condition, value, message=text.replace("{}", name))
    return keys


def require(key: Any, condition: Any, *values: Any, message: str) -> TensorVariable:
    """The key, with a check that ``condition(*values)`` holds for all elements. If not, ValueError with ``message``.

    The condition is called with arrays if all values are constants, else with variables. So it may use only Python's
    operators.
    """
    keys = as_key(key)
    variables = [as_tensor_variable(v) for v in values]
    constants = [v.data for v in variables if isinstance(v, Constant)]
    if len(constants) == len(variables):
        with np.errstate(all="ignore"):  # parameters may be infinite
            valid = np.all(condition(*constants))
        if not valid:
            raise ValueError(message)
        return keys
    guarded: TensorVariable = CheckAndRaise(ValueError, message)(keys, condition(*variables))
    return guarded


class Begun(NamedTuple):
    """The result of `begin`: the key with its checks, the shape of the draw, its dtype, and the converted parameters."""

    key: TensorVariable
    shape: Any
    dtype: str
    values: list[Any]

    def uniform(self, half: bool = False) -> TensorVariable:
        """Standard uniform numbers of this key, shape and dtype; see `standard_uniform`."""
        return standard_uniform(self.key, self.shape, self.dtype, half)

    def split(self, num: int) -> list[TensorVariable]:
        """``num`` independent keys, for a distribution that computes a draw from several random numbers."""
        keys = split(self.key, num)
        return [keys[..., i] for i in range(num)]


def _has_condition(parameter: Any) -> bool:
    """Whether this is a pair with a condition. The user's own tuples have numbers and tensors."""
    if not is_tuple(parameter) or len(parameter) != 2 or not is_tuple(parameter[1]):
        return False
    return callable(parameter[1][0])


def begin(key: Any, size: Any, dtype: str | None, *, core: int = 0, **parameters: Any) -> Begun:
    """Convert and check the parameters of a draw. This is the first step of most functions that draw.

    Each parameter is a value, or a pair of a value and a condition of this module, such as `POSITIVE`. The last
    ``core`` dimensions of the parameters belong to a single draw.
    """
    pairs = {name: each for name, each in parameters.items() if _has_condition(each)}
    unchecked = [each[0] if name in pairs else each for name, each in parameters.items()]
    values, draw_dtype = float_parameters(*unchecked, dtype=dtype)
    conditions = {
        name: (value, pairs[name][1])
        for name, value in zip(parameters, values, strict=True)
        if name in pairs
    }
    shape = draw_shape(key, size, values, core)
    return Begun(checked(key, **conditions), shape, draw_dtype, values)


def standard_uniform(
    key: Any, shape: Any, dtype: str, half: bool = False, rest: bool = False
) -> TensorVariable:
    """Uniform numbers in [0, 1), which are multiples of 2**-53 (float64) or 2**-24 (float32).

    If ``half`` is True, they are odd multiples, so they are never 0 or 1. If ``rest`` is True, the results are 1 minus
    such numbers, which is exact. At most one of the two may be True.
    """
    digits = np.finfo(dtype).nmant + 1
    whole = int_div(bits(key, shape), np.uint64(1 << (64 - digits)))
    if rest:
        whole = sub(np.uint64(1 << digits), whole)
    # an odd multiple needs one more digit, so one digit is dropped first
    if half:
        steps = add(mul(cast(int_div(whole, np.uint64(2)), dtype), 2.0), 1.0)
        return mul(steps, np.array(2.0**-digits, dtype))
    return mul(cast(whole, dtype), np.array(2.0**-digits, dtype))
