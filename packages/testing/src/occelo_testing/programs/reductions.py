"""Steps of random programs: reductions, cumulative results and products of matrices.

`generating` chooses from the lists `FORMS` and `SMOOTH_FORMS`.
"""

from __future__ import annotations

import numpy as np

from occelo_testing.programs.drawing import Drawing, Made, Unfit
from occelo_testing.programs.values import numbers


def _has(value_shape: tuple[int, ...], axes: int | tuple[int, ...] | None, ndim: int) -> bool:
    chosen = range(ndim) if axes is None else (axes,) if isinstance(axes, int) else axes
    return all(value_shape[a] for a in chosen)


def reduction(d: Drawing) -> None:
    # products of complex infinities depend on the algorithm, so they are avoided
    x = d.pick(lambda m: m.kind == "f" if d.profile.smooth else m.kind != "c" or _finite(m))
    axes = d.axes(x)
    keep = ", keepdims=True" if d.chance(0.4) else ""
    exact = d.choice(["max", "min", "all", "any"])
    rounding = d.choice(["sum", "sum", "mean", "prod", "var", "std"])
    name = rounding if d.profile.smooth or d.chance(0.7) else exact
    if name in ("max", "min", "mean", "var", "std") and not _has(x.value.shape, axes, x.ndim):
        raise Unfit
    if x.kind == "c" and name not in ("sum", "prod", "mean"):
        raise Unfit
    if name in ("max", "min") and x.kind == "b":
        raise Unfit
    if name in ("var", "std") and (x.kind != "f" or (d.profile.smooth and name == "std")):
        raise Unfit
    dtype = ""
    if name in ("sum", "prod") and not d.profile.smooth and d.chance(0.15):
        dtype = f", dtype={d.choice(['float64', 'float32', 'int64'])!r}"
        if x.kind == "c" or (x.kind == "f" and "int" in dtype):
            raise Unfit
    text = f"np.{name}({{0}}, axis={axes}{dtype}{keep})"
    d.step(name, [x], text, None, "zeros" if name == exact else "inside", name in ("sum", "prod"))


def method(d: Drawing) -> None:
    x = d.pick(lambda m: m.kind in "iuf" and m.ndim > 0)
    axis = d.choice([None, d.axis(x)])
    name = d.choice(["sum", "mean", "max", "min", "argmax", "argmin", "cumsum"])
    if not _has(x.value.shape, axis, x.ndim):
        raise Unfit
    rounds = "inside" if name in ("sum", "mean", "cumsum") else "zeros"
    text = f"{{0}}.{name}(axis={axis})"
    d.step(name, [x], text, text, rounds, name in ("sum", "cumsum"))


def cumulative(d: Drawing) -> None:
    x = d.pick(lambda m: m.ndim > 0 and (m.kind == "f" if d.profile.smooth else True))
    name = d.choice(["cumsum", "cumprod"])
    axis = d.choice([None, d.axis(x)])
    d.step(name, [x], f"np.{name}({{0}}, axis={axis})", None, "inside", True)


def position(d: Drawing) -> None:
    x = d.pick(lambda m: m.kind in "iufb" and m.ndim > 0)
    axis = d.choice([None, d.axis(x)])
    if not _has(x.value.shape, axis, x.ndim):
        raise Unfit
    keep = ", keepdims=True" if d.chance(0.3) else ""
    name = d.choice(["argmax", "argmin"])
    d.step(name, [x], f"np.{name}({{0}}, axis={axis}{keep})")


def normalized(d: Drawing) -> None:
    x = d.pick(lambda m: m.kind == "f" and m.ndim > 0 and bool(np.isfinite(m.value).all()))
    axis = d.choice([None, d.axis(x)])
    if not _has(x.value.shape, axis, x.ndim):
        raise Unfit
    name = d.choice(["softmax", "logsumexp", "log_softmax"])
    numpy = {
        "softmax": f"softmax({{0}}, {axis})",
        "logsumexp": f"logsumexp({{0}}, {axis})",
        "log_softmax": f"log_softmax({{0}}, {axis})",
    }[name]
    d.step(
        name,
        [x],
        numpy,
        f"ot.{name}({{0}}, axis={axis})",
        "inside" if name == "softmax" else "cancels",
    )


def _batches(a: Made, b: Made) -> bool:
    """Whether the batch axes of two operands of a matrix product broadcast. Only static lengths of 1 broadcast."""
    rows = zip(
        a.value.shape[-3::-1],
        b.value.shape[-3::-1],
        a.static[-3::-1],
        b.static[-3::-1],
        strict=False,
    )
    return (
        a.ndim < 3
        or b.ndim < 3
        or all(m == n or (m == 1 and s == 1) or (n == 1 and t == 1) for m, n, s, t in rows)
    )


def _finite(m: Made) -> bool:
    return m.kind not in "fc" or bool(np.isfinite(m.value).all())


def product(d: Drawing) -> None:
    kinds = "f" if d.profile.smooth else "iufc"
    # infinities are avoided, since libraries skip products with 0
    a = d.pick(lambda m: m.ndim in (1, 2, 3) and m.kind in kinds and _finite(m))
    style = d.choice(["dot", "matmul", "@", "outer", "tensordot"])

    def fits(m: Made) -> bool:
        shape = m.value.shape
        return (
            _finite(m)
            and m.kind in kinds
            and len(shape) in (1, 2, 3)
            and (style == "outer" or shape[max(len(shape) - 2, 0)] == a.value.shape[-1])
        )

    b = d.pick(fits)
    if style == "outer":
        d.step("outer", [a, b], "np.outer({0}, {1})", None, "inside", True)
    elif style in ("@", "matmul") and not _batches(a, b):
        raise Unfit
    elif style == "@":
        d.step("matmul", [a, b], "{0} @ {1}", "{0} @ {1}", "inside", True)
    elif style == "tensordot":
        d.step(
            "tensordot",
            [a, b],
            "np.tensordot({0}, {1}, axes=1)"
            if b.ndim < 3
            else "np.tensordot({0}, {1}, axes=[[-1], [-2]])",
            None,
            "inside",
            True,
        )
    else:
        d.step(style, [a, b], f"np.{style}({{0}}, {{1}})", None, "inside", True)


def accumulation(d: Drawing) -> None:
    """An expression such as ``alpha x y + beta z`` of matrices and vectors, which BLAS's updates may compute."""
    kind = d.choice(["matrix", "matrix", "column", "row", "outer"])
    rows, inner, columns = (d.choice([0, 1, 2, 3, 5, 17, 33]) for _ in range(3))
    dtype = d.choice(d.profile.dtypes)

    def tensor(*shape: int, ones: bool = False) -> Made:
        style = 4 if ones else d.whole(0, 5)
        if style == 2:
            shape = (*shape[:-1], shape[-1] + 2)
        if style == 0:
            shape = shape[::-1]
        value = numbers(d.random, dtype, shape, False)
        if d.profile.special and value.size and d.chance(0.15):
            value.reshape(-1)[d.whole(0, value.size - 1)] = d.choice([np.inf, -np.inf, np.nan, 0])
        x = d.input_of(value, ones) if ones else d.new_input(dtype, shape, value)
        if style > 3:
            return x
        text = ["{0}.T", "{0}[::-1]", "{0}[..., 1:-1]", "np.tanh({0})"][style]
        return d.step("operand", [x], text, rounds="inside" if style == 3 else "no")

    def scaled(x: Made) -> Made:
        """A term times a constant, times a scalar input, or as it is."""
        factors = ["2", "-0.5", "1", "-1", "0", "inf", "-inf", "nan", "1e-30", "1e30"]
        factor = d.choice(factors if d.profile.special else factors[:4])
        style = d.whole(0, 3)
        if style == 0:
            text = f"{{0}} * np.{dtype}('{factor}')"
            return d.step("scale", [x], text, text, "result")
        if style == 1:
            text = d.choice(["{0} * {1}", "{1} * {0}"])
            return d.step("scale", [x, d.input_of(np.asarray(factor, dtype))], text, text, "result")
        return x

    def term() -> Made:
        if kind == "outer":
            pair = [tensor(rows), tensor(columns)]
        else:
            left = (inner,) if kind == "row" else (rows, inner)
            pair = [tensor(*left), tensor(*((inner,) if kind == "column" else (inner, columns)))]
        name = "outer" if kind == "outer" else "dot"
        return scaled(d.step(name, pair, f"np.{name}({{0}}, {{1}})", None, "inside", True))

    shape = {"column": (rows,), "row": (columns,)}.get(kind, (rows, columns))
    if d.chance(0.15):
        other = tensor(*d.choice([shape[1:], (*shape[:-1], 1), (1,) * len(shape)]), ones=True)
    else:
        other = tensor(*shape) if d.chance(0.8) else term()
    text = d.choice(["{0} + {1}", "{1} + {0}", "{0} - {1}", "{1} - {0}"])
    total = d.step("accumulate", [scaled(other), term()], text, text, "result", True)
    if d.chance(0.2):
        total = scaled(total)
    if d.chance(0.2):
        d.step("tanh", [total], "np.tanh({0})", None, "inside")


def measure(d: Drawing) -> None:
    x = d.pick(lambda m: m.kind in "f" and m.ndim > 0 and m.value.size > 0 and _finite(m))
    axis = d.axis(x)
    d.step("ptp", [x], f"np.ptp({{0}}, axis={axis})", None, "inside")


FORMS = [
    (4.0, reduction),
    (1.0, method),
    (1.5, cumulative),
    (1.0, position),
    (0.8, normalized),
    (2.5, product),
    (0.6, measure),
]
SMOOTH_FORMS = [(4.0, reduction), (1.0, cumulative), (1.2, normalized), (3.0, product)]
