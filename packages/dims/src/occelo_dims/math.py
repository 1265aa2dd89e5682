"""Elementwise functions of tensors with named dimensions, and products over them, with the names of PyTensor and NumPy.

Elementwise functions match dimensions of the same name. The result has the dimensions of all arguments, in the order in
which they come first. A length of 1 does not broadcast: ValueError for two different static lengths of a dimension.
"""

from __future__ import annotations

import string
from collections.abc import Sequence
from types import EllipsisType
from typing import TYPE_CHECKING, Any
from typing import cast as typed

import occelo_arrays.functions as arrays
import occelo_special.functions as special
from occelo_dims.labelled import (
    Labelled,
    XTensorLike,
    as_xtensor,
    broadcasting,
    describe,
    labelled,
    names_of,
    static_lengths,
)
from occelo_graph import tensor as ot
from occelo_graph.errors import explained_by

if TYPE_CHECKING:
    from collections.abc import Callable

    from occelo_dims.variable import XTensorVariable

abs = broadcasting(ot.abs)
add = broadcasting(ot.add)
angle = broadcasting(ot.angle)
arccos = broadcasting(ot.arccos)
arccosh = broadcasting(ot.arccosh)
arcsin = broadcasting(ot.arcsin)
arcsinh = broadcasting(ot.arcsinh)
arctan = broadcasting(ot.arctan)
arctan2 = broadcasting(ot.arctan2)
arctanh = broadcasting(ot.arctanh)
betainc = broadcasting(special.betainc)
betaincinv = broadcasting(special.betaincinv)
bitwise_and = broadcasting(ot.bitwise_and)
bitwise_or = broadcasting(ot.bitwise_or)
bitwise_xor = broadcasting(ot.bitwise_xor)
cbrt = broadcasting(arrays.cbrt)
ceil = broadcasting(ot.ceil)
clip = broadcasting(ot.clip)
complex = broadcasting(ot.complex)
conjugate = broadcasting(ot.conjugate)
copysign = broadcasting(arrays.copysign)
cos = broadcasting(ot.cos)
cosh = broadcasting(ot.cosh)
deg2rad = broadcasting(ot.deg2rad)
divmod = typed("Callable[..., tuple[XTensorVariable, XTensorVariable]]", broadcasting(ot.divmod))
equal = broadcasting(ot.equal)
erf = broadcasting(ot.erf)
erfc = broadcasting(ot.erfc)
erfcinv = broadcasting(special.erfcinv)
erfcx = broadcasting(ot.erfcx)
erfinv = broadcasting(special.erfinv)
exp = broadcasting(ot.exp)
exp2 = broadcasting(ot.exp2)
expm1 = broadcasting(ot.expm1)
floor = broadcasting(ot.floor)
floor_divide = broadcasting(arrays.floor_divide)
fmax = broadcasting(arrays.fmax)
fmin = broadcasting(arrays.fmin)
gamma = broadcasting(special.gamma)
gammainc = broadcasting(special.gammainc)
gammaincc = broadcasting(special.gammaincc)
gammainccinv = broadcasting(special.gammainccinv)
gammaincinv = broadcasting(special.gammaincinv)
gammal = broadcasting(special.gammal)
gammaln = broadcasting(special.gammaln)
gammau = broadcasting(special.gammau)
greater = broadcasting(ot.greater)
greater_equal = broadcasting(ot.greater_equal)
hyp2f1 = broadcasting(special.hyp2f1)
hypot = broadcasting(arrays.hypot)
i0 = broadcasting(special.i0)
i1 = broadcasting(special.i1)
identity = broadcasting(ot.tensor_copy)
imag = broadcasting(ot.imag)
invert = broadcasting(ot.invert)
isfinite = broadcasting(ot.isfinite)
isinf = broadcasting(ot.isinf)
isnan = broadcasting(ot.isnan)
iv = broadcasting(special.iv)
ive = broadcasting(special.ive)
j0 = broadcasting(special.j0)
j1 = broadcasting(special.j1)
jv = broadcasting(special.jv)
kve = broadcasting(special.kve)
less = broadcasting(ot.less)
less_equal = broadcasting(ot.less_equal)
log = broadcasting(ot.log)
log10 = broadcasting(ot.log10)
log1mexp = broadcasting(ot.log1mexp)
log1p = broadcasting(ot.log1p)
log2 = broadcasting(ot.log2)
logaddexp = broadcasting(ot.logaddexp)
logical_and = broadcasting(arrays.logical_and)
logical_not = broadcasting(arrays.logical_not)
logical_or = broadcasting(arrays.logical_or)
logical_xor = broadcasting(arrays.logical_xor)
logit = broadcasting(special.logit)
maximum = broadcasting(ot.maximum)
minimum = broadcasting(ot.minimum)
mod = broadcasting(ot.mod)
multiply = broadcasting(arrays.multiply)
nan_to_num = broadcasting(arrays.nan_to_num)
ndtri_exp = broadcasting(special.ndtri_exp)
negative = broadcasting(arrays.negative)
not_equal = broadcasting(ot.not_equal)
owens_t = broadcasting(special.owens_t)
polygamma = broadcasting(special.polygamma)
pow = broadcasting(ot.pow)
power = broadcasting(ot.power)
psi = broadcasting(special.psi)
rad2deg = broadcasting(ot.rad2deg)
real = broadcasting(ot.real)
reciprocal = broadcasting(ot.reciprocal)
round = broadcasting(ot.round)
second = broadcasting(ot.second)
sigmoid = broadcasting(ot.sigmoid)
sign = broadcasting(ot.sign)
sin = broadcasting(ot.sin)
sinh = broadcasting(ot.sinh)
softplus = broadcasting(ot.softplus)
sqrt = broadcasting(ot.sqrt)
square = broadcasting(ot.square)
subtract = broadcasting(arrays.subtract)
tan = broadcasting(ot.tan)
tanh = broadcasting(ot.tanh)
tri_gamma = broadcasting(special.tri_gamma)
true_divide = broadcasting(arrays.true_divide)
trunc = broadcasting(ot.trunc)
where = broadcasting(ot.where)
xlog1py = broadcasting(special.xlog1py)
xlogy = broadcasting(special.xlogy)
and_ = bitwise_and
bitwise_invert = invert
bitwise_not = invert
conj = conjugate
eq = equal
expit = sigmoid
floor_div = floor_divide
ge = greater_equal
gt = greater
int_div = floor_divide
le = less_equal
lt = less
mul = multiply
neg = negative
neq = not_equal
or_ = bitwise_or
sqr = square
sub = subtract
switch = where
true_div = true_divide
xor = bitwise_xor


def cast(x: XTensorLike, dtype: Any) -> XTensorVariable:
    """The elements of ``x`` in another dtype. TypeError for complex numbers that would become real."""
    own = as_xtensor(x)
    return labelled(ot.cast(own.values, dtype), own.dims)


def softmax(x: XTensorLike, dim: Any = None) -> XTensorVariable:
    """exp(x) divided by its sum over ``dim``: a name, names, or all. The largest exponent is subtracted first."""
    own = as_xtensor(x)
    return labelled(ot.softmax(own.values, axis=_axes(own, dim, "softmax")), own.dims)


def logsumexp(x: XTensorLike, dim: Any = None) -> XTensorVariable:
    """The logarithm of the sum of exp(x) over ``dim``: a name, names, or all. Large numbers do not overflow."""
    own = as_xtensor(x)
    names = names_of(own, dim, "logsumexp")
    rest = [d for d in own.dims if d not in names]
    return labelled(ot.logsumexp(own.values, axis=_axes(own, dim, "logsumexp")), rest)


def _axes(x: Labelled, dim: Any, what: str) -> tuple[int, ...]:
    return tuple(x.dims.index(name) for name in names_of(x, dim, what))


@explained_by("dimensions")
def dot(
    x: XTensorLike, y: XTensorLike, dim: str | Sequence[str] | EllipsisType | None = None
) -> XTensorVariable:
    """The product of two tensors ``x`` and ``y``, summed over ``dim``: by default the dimensions that both have, with ``...`` all.

    Other dimensions stay, those of ``x`` first; one that both have is matched. ValueError for a dimension that neither
    has, or two static lengths of one.
    """
    first, second = as_xtensor(x), as_xtensor(y)
    lengths = static_lengths((first, second))
    names = set(first.dims) & set(second.dims)
    if dim is not None:
        names = set(lengths) if dim is ... else {dim} if isinstance(dim, str) else set(dim)
    for name in names:
        if name not in lengths:
            raise ValueError(
                f"dot: neither {describe(first)} nor {describe(second)} has a dimension {name!r}"
            )
    rest = [d for d in lengths if d not in names]
    letter = dict(zip(lengths, string.ascii_letters, strict=False))
    left, right, out = (
        "".join(letter[d] for d in each) for each in (first.dims, second.dims, rest)
    )
    return labelled(arrays.einsum(f"{left},{right}->{out}", first.values, second.values), rest)
