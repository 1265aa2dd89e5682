"""Steps of random programs: linear algebra with well-conditioned matrices and partly static shapes."""

from __future__ import annotations

from typing import Any

import numpy as np

from occelo_linalg import functions as linalg
from occelo_testing.programs.drawing import Drawing, Made, Unfit
from occelo_testing.programs.step_family import StepFamily

_WORST = 50.0  # condition number of the matrices that are inverted
_GRAM = "{0} @ np.swapaxes({0}, -1, -2) / (1 + np.sum({0} * {0})) + np.eye({0}.shape[-2], dtype={0}.dtype)"
_OUTER = "np.tanh({0})[:, None] * np.cos({0})[None, :] / 4 + np.eye({0}.shape[0], dtype={0}.dtype)"
_SYMMETRIC = "({0} + np.swapaxes({0}, -1, -2)) / 2"


def _is_real(m: Made) -> bool:
    return m.value.dtype.name in ("float32", "float64") and bool(np.isfinite(m.value).all())


def _singular_values(value: Any) -> Any:
    return np.linalg.svd(value, compute_uv=False) if value.size else np.ones((1,))


def _has_full_rank(m: Made) -> bool:
    if m.ndim < 2 or m.value.dtype.name == "float16" or not np.isfinite(m.value).all():
        return False
    values = _singular_values(m.value)
    return bool((values > 1e-2).all() and (values.max(-1) < _WORST * values.min(-1)).all())


def _is_regular(m: Made) -> bool:
    if m.ndim < 2 or m.value.shape[-1] != m.value.shape[-2] or m.kind not in "fc":
        return False
    return _has_full_rank(m)


def _is_positive(m: Made) -> bool:
    if not (_is_real(m) and _is_regular(m)):
        return False
    values = np.linalg.eigvalsh((m.value + np.swapaxes(m.value, -1, -2)) / 2)
    return bool((values > 1e-2).all())


def gram(d: Drawing) -> None:
    x = d.pick(lambda m: _is_real(m) and m.ndim >= 2)
    d.step("gram", [x], _GRAM, None, "inside")


def stacked_gram(d: Drawing) -> None:
    """The number of rows is static, the number of columns need not be."""
    x = d.pick(lambda m: _is_real(m) and m.ndim == 1)
    y = d.pick(lambda m: _is_real(m) and m.value.shape == x.value.shape and m.static == x.static)
    rows = d.step("stack", [x, y], "np.stack([{0}, {1}])")
    d.step("gram", [rows], _GRAM, None, "inside")


def outer(d: Drawing) -> None:
    x = d.pick(lambda m: _is_real(m) and m.ndim == 1)
    d.step("outer", [x], _OUTER, None, "inside")


def inverse(d: Drawing) -> None:
    x = d.pick(_is_regular)
    name = d.choice(["inv", "inv", "pinv"])
    text = f"np.linalg.{name}({{0}})"
    d.step(name, [x], text, text.replace("np.", ""), "inside")


def power(d: Drawing) -> None:
    x = d.pick(_is_regular)
    text = f"np.linalg.matrix_power({{0}}, {d.whole(-2, 3)})"
    d.step("matrix_power", [x], text, text.replace("np.", ""), "inside")


def solution(d: Drawing) -> None:
    x = d.pick(_is_regular)
    b = d.pick(lambda m: m.ndim in (1, 2) and m.kind in "fc" and m.value.dtype.name != "float16")
    if b.value.shape[0] != x.value.shape[-1] or (x.ndim > 2 and b.ndim > 1):
        raise Unfit
    if x.static[-1] == 1 != b.static[0] or b.static[0] == 1 != x.static[-1]:
        raise Unfit
    text = "np.linalg.solve({0}, {1})"
    d.step("solve", [x, b], text, "linalg.solve({0}, {1})", "inside")


def determinant(d: Drawing) -> None:
    x = d.pick(_is_regular)
    name = d.choice(["slogdet({0})[1]", "slogdet({0})[0]", "det({0})"])
    if d.profile.smooth and "[0]" in name:
        raise Unfit
    d.step(name[:7].strip("("), [x], f"np.linalg.{name}", f"linalg.{name}", "inside")


def factor(d: Drawing) -> None:
    x = d.pick(_is_positive)
    symmetric = _SYMMETRIC
    numpy = f"np.linalg.cholesky({symmetric})"
    symbolic = numpy.replace("np.linalg", "linalg").replace("np.", "ot.")
    if d.chance(0.3):
        numpy = f"np.swapaxes({numpy}, -1, -2)"
        symbolic = f"linalg.cholesky({symmetric.replace('np.', 'ot.')}, lower=False)"
    d.step("cholesky", [x], numpy, symbolic, "inside")


def _are_apart(values: Any) -> bool:
    return bool((np.abs(np.diff(np.sort(values))) > 1e-2).all())


def eigenvalues(d: Drawing) -> None:
    x = d.pick(lambda m: _is_real(m) and m.ndim >= 2 and m.value.shape[-1] == m.value.shape[-2])
    if d.profile.smooth and not _are_apart(
        np.linalg.eigvalsh((x.value + np.swapaxes(x.value, -1, -2)) / 2)
    ):
        raise Unfit
    numpy = f"np.linalg.eigvalsh({_SYMMETRIC})"
    symbolic = numpy.replace("np.linalg", "linalg").replace("np.", "ot.")
    if d.chance(0.4):
        symbolic = symbolic.replace("eigvalsh", "eigh") + "[0]"
    d.step("eigvalsh", [x], numpy, symbolic, "cancels")


def singular_values(d: Drawing) -> None:
    x = d.pick(lambda m: _is_real(m) and m.ndim >= 2)
    if d.profile.smooth and not (_has_full_rank(x) and _are_apart(_singular_values(x.value))):
        raise Unfit
    numpy = "np.linalg.svd({0}, compute_uv=False)"
    symbolic = d.choice(["linalg.svdvals({0})", "linalg.svd({0}, compute_uv=False)"])
    d.step("svdvals", [x], numpy, symbolic, "cancels")


def norms(d: Drawing) -> None:
    x = d.pick(lambda m: _is_real(m) and m.ndim > 0 and m.value.size > 0)
    order = d.choice(["1", "2", "np.inf", "None"]) if not d.profile.smooth else "2"
    axis = d.axis(x) if x.ndim > 2 or d.profile.smooth or d.chance(0.5) else None
    text = f"np.linalg.norm({{0}}, ord={order}, axis={axis})"
    d.step("norm", [x], text, text.replace("np.linalg", "linalg"), "inside")


def orthogonal(d: Drawing) -> None:
    x = d.pick(
        lambda m: _is_real(m) and _has_full_rank(m) and m.value.shape[-2] >= m.value.shape[-1]
    )
    if d.chance(0.5):
        text = "np.abs(np.linalg.qr({0})[1])"
        if d.profile.smooth:
            raise Unfit
    else:
        text = "np.square(np.linalg.qr({0})[0])"
    symbolic = text.replace("np.linalg", "linalg").replace("np.square", "ot.sqr")
    d.step("qr", [x], text, symbolic.replace("np.", "ot."), "cancels")


_FORMS = [
    (6.0, gram),
    (3.0, stacked_gram),
    (5.0, outer),
    (4.0, inverse),
    (1.5, power),
    (5.0, solution),
    (3.0, determinant),
    (4.0, factor),
    (3.0, eigenvalues),
    (3.0, singular_values),
    (1.0, norms),
    (3.0, orthogonal),
]
STEPS = StepFamily(
    "linear_algebra",
    _FORMS,
    _FORMS,
    {"linalg": linalg},
    imports={"linalg": "from occelo.tensor import linalg"},
)
