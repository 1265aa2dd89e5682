"""Draws by keys: uniform, normal and exponential numbers, integers and truth values, as functions of random bits.

`occelo_graph.random` exports them. Each consists of elementwise functions of `keys.bits`, so it has derivatives with
respect to its parameters, and on every backend it is one loop with whatever reads it. One key gives one draw: use keys
from `keys.split` for several.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from occelo_graph.config import FLOAT_X
from occelo_graph.ops.cast import cast
from occelo_graph.ops.elemwise.arithmetic import (
    abs,
    add,
    int_div,
    le,
    lt,
    maximum,
    minimum,
    mod,
    mul,
    sqrt,
    sub,
    switch,
    true_div,
)
from occelo_graph.ops.elemwise.transcendental import log, log1p
from occelo_graph.ops.length_inputs import lengths_of
from occelo_graph.ops.random.keys import as_key, bits
from occelo_graph.ops.shape.broadcasting import broadcast_lengths
from occelo_graph.ops.shape.reading import lengths_by_variables
from occelo_graph.tensors.constant import as_tensor_variable
from occelo_graph.tensors.type import TensorType, is_discrete, is_float

if TYPE_CHECKING:
    from occelo_graph.tensors.variable import TensorVariable

__all__ = ["bernoulli", "exponential", "integers", "normal", "uniform"]


def _shape(key: Any, size: Any, parameters: Sequence[Any]) -> Any:
    """The shape of the draw of each key: ``size``, or that of the parameters broadcast; () for a batch of keys."""
    if size is not None:
        return lengths_of(size)
    if as_key(key).type.ndim:
        return ()
    return broadcast_lengths([lengths_by_variables(p) for p in parameters]) if parameters else ()


def _parameters(*given: Any, dtype: str | None) -> tuple[list[Any], str]:
    """Parameters as tensors, and the float dtype of the draw: that of the parameters, or floatX if they are integers."""
    variables = [as_tensor_variable(p) for p in given]
    if dtype is None:
        found = np.result_type(*(p.type.dtype for p in variables)).name
        weak = all(isinstance(p, bool | int | float) for p in given)
        dtype = found if is_float(found) and not weak else FLOAT_X.get()
    name = TensorType(dtype, ()).dtype
    if name not in ("float32", "float64"):
        raise TypeError(f"Random numbers are drawn as float32 or float64, not {name}")
    return [cast(p, name) for p in variables], name


def _standard_uniform(key: Any, shape: Any, dtype: str, half: bool = False) -> TensorVariable:
    """Multiples of 2**-53 (float64) or 2**-24 (float32) in [0, 1); with ``half``, half a step more, so never 0 or 1."""
    digits = np.finfo(dtype).nmant + 1
    whole = int_div(bits(key, shape), np.uint64(1 << (64 - digits)))
    # half a step more needs a digit more, so it has one less to begin with
    if half:
        steps = add(mul(cast(int_div(whole, np.uint64(2)), dtype), 2.0), 1.0)
        return mul(steps, np.array(2.0**-digits, dtype))
    return mul(cast(whole, dtype), np.array(2.0**-digits, dtype))


def uniform(
    key: Any, low: Any = 0.0, high: Any = 1.0, size: Any = None, dtype: str | None = None
) -> TensorVariable:
    """Numbers from the interval [low, high), with equal probability.

    ``size`` is the shape of the draw: an integer, a sequence of integers or scalars, or a vector of known length; None for the
    shape of the parameters, broadcast. The dtype is that of the parameters; floatX if they are Python numbers or integers.
    For a batch of keys the draw of each key has the shape ``size``, behind the dimensions of the keys. TypeError
    for another dtype than float32 and float64. Rounding may give ``high`` itself where the interval is far from 0.
    """
    (low, high), name = _parameters(low, high, dtype=dtype)
    u = _standard_uniform(key, _shape(key, size, [low, high]), name)
    return add(low, mul(sub(high, low), u))


def exponential(
    key: Any, scale: Any = 1.0, size: Any = None, dtype: str | None = None
) -> TensorVariable:
    """Numbers of the exponential law with mean ``scale``, by inversion; the other parameters are those of `uniform`."""
    (scale,), name = _parameters(scale, dtype=dtype)
    u = _standard_uniform(key, _shape(key, size, [scale]), name)
    return mul(scale, -log1p(-u))


_CENTRE = (
    (2509.0809287301226727, 33430.575583588128105, 67265.770927008700853, 45921.953931549871457,
     13731.693765509461125, 1971.5909503065514427, 133.14166789178437745, 3.387132872796366608),
    (5226.495278852854561, 28729.085735721942674, 39307.89580009271061, 21213.794301586595867,
     5394.1960214247511077, 687.1870074920579083, 42.313330701600911252, 1.0),
)  # fmt: skip
_TAIL = (
    (7.7454501427834140764e-4, 0.0227238449892691845833, 0.24178072517745061177, 1.27045825245236838258,
     3.64784832476320460504, 5.7694972214606914055, 4.6303378461565452959, 1.42343711074968357734),
    (1.05075007164441684324e-9, 5.475938084995344946e-4, 0.0151986665636164571966, 0.14810397642748007459,
     0.68976733498510000455, 1.6763848301838038494, 2.05319162663775882187, 1.0),
)  # fmt: skip
_FAR = (
    (2.01033439929228813265e-7, 2.71155556874348757815e-5, 0.0012426609473880784386, 0.026532189526576123093,
     0.29656057182850489123, 1.7848265399172913358, 5.4637849111641143699, 6.6579046435011037772),
    (2.04426310338993978564e-15, 1.4215117583164458887e-7, 1.8463183175100546818e-5, 7.868691311456132591e-4,
     0.0148753612908506148525, 0.13692988092273580531, 0.59983220655588793769, 1.0),
)  # fmt: skip


def _rational(coefficients: Sequence[Sequence[float]], x: Any) -> Any:
    """A quotient of two polynomials, given from the highest power down, by Horner's scheme."""
    values: list[Any] = []
    for polynomial in coefficients:
        value: Any = polynomial[0]
        for coefficient in polynomial[1:]:
            value = add(mul(value, x), coefficient)
        values.append(value)
    return true_div(*values)


def _normal_quantile(u: Any) -> Any:
    """The number below which a standard normal number lies with probability ``u``, in (0, 1).

    Rational approximations of three ranges (Wichura 1988, algorithm AS 241, PPND16; relative error near 1e-16).
    """
    centred = sub(u, 0.5)
    near = le(abs(centred), 0.425)
    central = mul(
        centred, _rational(_CENTRE, sub(0.180625, mul(switch(near, centred, 0.0), centred)))
    )
    root = sqrt(-log(minimum(u, sub(1.0, u))))
    far = switch(le(root, 5.0), _rational(_TAIL, sub(root, 1.6)), _rational(_FAR, sub(root, 5.0)))
    return switch(near, central, switch(lt(centred, 0.0), -far, far))


def normal(
    key: Any, loc: Any = 0.0, scale: Any = 1.0, size: Any = None, dtype: str | None = None
) -> TensorVariable:
    """Numbers of the normal law with mean ``loc`` and standard deviation ``scale``, by inversion.

    The other parameters are those of `uniform`. Of 64 bits, 52 decide a float64, so no number is beyond 8.2 deviations;
    of a float32, 23, and 5.4 deviations.
    """
    (loc, scale), name = _parameters(loc, scale, dtype=dtype)
    u = _standard_uniform(key, _shape(key, size, [loc, scale]), name, half=True)
    return add(loc, mul(scale, _normal_quantile(u)))


def bernoulli(key: Any, p: Any = 0.5, size: Any = None) -> TensorVariable:
    """Truth values that are true with probability ``p``; ``size`` as for `uniform`. No number below 0 or above 1 is refused."""
    (p,), name = _parameters(p, dtype=None)
    return lt(_standard_uniform(key, _shape(key, size, [p]), name), p)


def integers(
    key: Any, low: Any, high: Any = None, size: Any = None, dtype: str = "int64"
) -> TensorVariable:
    """Integers from ``low`` (0 if only one bound is given) to ``high``, which is excluded; ``size`` as for `uniform`.

    The remainder of 64 bits: for n integers, the probability of each is 1/n within n / 2**64 of it. Bounds and ``dtype`` are
    of integer dtypes (TypeError); where ``high`` is not above ``low``, the result is ``low``.
    """
    if high is None:
        low, high = 0, low
    low, high = (as_tensor_variable(each) for each in (low, high))
    for each in (low.dtype, high.dtype, dtype):
        if not is_discrete(each) or each == "bool":
            raise TypeError(f"Random integers have integer bounds and dtypes, got {each}")
    shape = _shape(key, size, [low, high])
    count = cast(maximum(sub(cast(high, "int64"), cast(low, "int64")), 1), "uint64")
    return cast(add(cast(low, "int64"), cast(mod(bits(key, shape), count), "int64")), dtype)
