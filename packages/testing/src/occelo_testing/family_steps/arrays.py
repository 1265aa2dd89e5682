"""Steps of random programs: functions of `occelo_arrays`, with NumPy's functions of their names beside them."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from occelo_arrays import functions as arrays
from occelo_testing.programs.drawing import Drawing, Made, Unfit
from occelo_testing.programs.elementwise import broadcasts
from occelo_testing.programs.step_family import StepFamily, in_family


def accumulated(x: Any, name: str, axis: int) -> Any:
    """Running maxima or minima."""
    return getattr(np, name).accumulate(x, axis)


def _step(
    d: Drawing, name: str, args: list[Made], numpy: str, rounds: str = "no", integral: bool = False
) -> None:
    d.step(name, args, numpy, in_family(numpy, "arrays", arrays), rounds, integral)


def _is_number(m: Made) -> bool:
    return m.ndim > 0 and m.kind in "iuf" and m.value.dtype.name != "float16"


def _is_float(m: Made) -> bool:
    return m.ndim > 0 and m.value.dtype.name in ("float32", "float64")


def _like(d: Drawing, x: Made, dropped: int | None = None) -> Made:
    """A node of the dtype of ``x`` that fits its static shape but for one axis."""

    def rest(m: Made) -> list[tuple[int, int | None]]:
        pairs = list(zip(m.value.shape, m.static, strict=True))
        return pairs if dropped is None else pairs[:dropped] + pairs[dropped + 1 :]

    return d.pick(
        lambda m: m.ndim == x.ndim and m.value.dtype == x.value.dtype and rest(m) == rest(x)
    )


def joined(d: Drawing) -> None:
    x = d.pick(lambda m: m.ndim > 0)
    style = d.choice(["append", "append", "flat", "stacks", "block"])
    if style == "append":
        axis = d.whole(0, x.ndim - 1)
        y = _like(d, x, axis)
        _step(d, "append", [x, y], f"np.append({{0}}, {{1}}, axis={axis})")
    elif style == "flat":
        y = d.pick(lambda m: m.value.dtype == x.value.dtype)
        _step(d, "append", [x, y], "np.append({0}, {1})")
    elif style == "stacks":
        name = d.choice(["column_stack", "dstack", "vstack", "hstack"])
        _step(d, name, [x, _like(d, x)], f"np.{name}(({{0}}, {{1}}))")
    else:
        _step(d, "block", [x, _like(d, x)], "np.block([[{0}, {1}], [{1}, {0}]])")


def deleted_or_inserted(d: Drawing) -> None:
    x = d.pick(lambda m: m.ndim > 0)
    axis = d.whole(0, x.ndim - 1)
    n = x.value.shape[axis]
    if d.chance(0.5):
        if not n:
            raise Unfit
        i = d.whole(-n, n - 1)
        key = d.choice([str(i), f"[{i}]", f"[{i}, 0]", "slice(0, 2)", "slice(None, None, -2)"])
        _step(d, "delete", [x], f"np.delete({{0}}, {key}, axis={axis})")
        return
    if x.kind not in "iuf":
        raise Unfit
    i = d.whole(-n, n)
    key = d.choice([str(i), f"[{i}]", "0", "[0, 0]"])
    _step(d, "insert", [x], f"np.insert({{0}}, {key}, {d.choice(['0', '1'])}, axis={axis})")


def moved(d: Drawing) -> None:
    x = d.pick(lambda m: m.ndim > 0)
    style = d.choice(["roll", "rot90", "resize", "rollaxis", "flip", "diagflat", "vander", "trim"])
    if style == "roll":
        axis = d.choice([None, d.axis(x)])
        _step(d, style, [x], f"np.roll({{0}}, {d.whole(-4, 4)}, axis={axis})")
    elif style == "rot90" and x.ndim > 1:
        axes = tuple(d.random.permutation(x.ndim)[:2].tolist())
        _step(d, style, [x], f"np.rot90({{0}}, {d.whole(-3, 4)}, axes={axes})")
    elif style == "resize" and x.value.size:
        shape = tuple(d.whole(0, 4) for _ in range(d.whole(1, 3)))
        _step(d, style, [x], f"np.resize({{0}}, {shape})")
    elif style == "rollaxis":
        _step(d, style, [x], f"np.rollaxis({{0}}, {d.whole(0, x.ndim - 1)}, {d.whole(0, x.ndim)})")
    elif style == "flip":
        name = d.choice(["flipud", "fliplr"]) if x.ndim > 1 else "flipud"
        _step(d, name, [x], f"np.{name}({{0}})")
    elif style == "diagflat":
        _step(d, style, [x], f"np.diagflat({{0}}, {d.whole(-2, 2)})")
    elif style == "vander" and x.ndim == 1 and _is_number(x):
        count = d.choice(["", ", 3", ", 1"])
        up = d.choice(["", ", increasing=True"])
        _step(d, style, [x], f"np.vander({{0}}{count}{up})", "inside", True)
    elif style == "trim" and x.ndim == 1 and not d.profile.smooth:
        _step(d, "trim_zeros", [x], f"np.trim_zeros({{0}}, {d.choice(['f', 'b', 'fb'])!r})")
    else:
        raise Unfit


def chosen(d: Drawing) -> None:
    """Elements that truth values or positions choose."""
    x = d.pick(lambda m: m.ndim > 0)
    if d.chance(0.5):
        axis = d.axis(x)
        mask = d.input_of(d.random.random(x.value.shape[axis]) < 0.6)
        _step(d, "compress", [mask, x], f"np.compress({{0}}, {{1}}, axis={axis})")
        return
    y = d.pick(lambda m: m.value.shape == x.value.shape and m.value.dtype == x.value.dtype)
    chooser = d.input_of(d.random.integers(0, 2, x.value.shape))
    _step(d, "choose", [chooser, x, y], "np.choose({0}, [{1}, {2}])")


def sliding(d: Drawing) -> None:
    """Running results, differences and areas."""
    x = d.pick(_is_float if d.profile.smooth else _is_number)
    axis = d.axis(x)
    n = x.value.shape[axis]
    style = d.choice(["gradient", "ediff1d", "trapezoid", "cumulative", "running"])
    if style == "gradient" and _is_float(x):
        order = d.choice([1, 2])
        if n < order + 1:
            raise Unfit
        apart = d.choice(["", ", 0.5"])
        text = f"np.gradient({{0}}{apart}, axis={axis}, edge_order={order})"
        _step(d, style, [x], text, "inside")
    elif style == "ediff1d" and x.kind == "f":
        ends = d.choice(["", ", to_begin=1", ", to_end=[1, 2]"])
        _step(d, style, [x], f"np.ediff1d({{0}}{ends})", "result", True)
    elif style == "trapezoid" and _is_float(x):
        _step(d, style, [x], f"np.trapezoid({{0}}, dx=0.5, axis={axis})", "inside")
    elif style == "cumulative" and n is not None:
        name = d.choice(["cumulative_sum", "cumulative_prod"])
        first = d.choice(["", ", include_initial=True"])
        _step(d, name, [x], f"np.{name}({{0}}, axis={axis}{first})", "inside", True)
    elif style == "running" and not d.profile.smooth:
        name = d.choice(["maximum", "minimum"])
        symbolic = f"arrays.cum{name[:3]}({{0}}, {axis})"
        d.step(f"cum{name}", [x], f"accumulated({{0}}, {name!r}, {axis})", symbolic, "zeros")
    else:
        raise Unfit


def summed_products(d: Drawing) -> None:
    """`einsum` of one to three tensors, with random subscripts."""
    letters: dict[int, list[str]] = {}
    fresh = itertools.count()

    def subscripts(m: Made) -> str:
        text = ""
        for n, static in zip(m.value.shape, m.static, strict=True):
            candidates = [c for c in letters.get(n, []) if d.chance(0.6)]
            # lengths of 1 would broadcast in NumPy
            if candidates and (n != 1 or static == 1):
                text += d.choice(candidates)
                continue
            letter = chr(ord("a") + next(fresh))
            if n != 1:
                letters.setdefault(n, []).append(letter)
            text += letter
        return text

    kinds = "f" if d.profile.smooth else "iuf"

    def fits(m: Made) -> bool:
        narrow = m.kind not in kinds or m.value.dtype.name == "float16"
        return not narrow and bool(np.isfinite(m.value).all())

    args = [d.pick(fits) for _ in range(d.choice([1, 2, 2, 3]))]
    texts = [subscripts(m) for m in args]
    every = sorted(set("".join(texts)))
    chosen = [c for c in every if d.chance(0.5)]
    order: list[int] = d.random.permutation(len(chosen)).tolist()
    result = "->" + "".join(chosen[i] for i in order) if d.chance(0.8) else ""
    text = f"np.einsum({','.join(texts) + result!r}, {', '.join(f'{{{i}}}' for i in range(len(args)))})"
    _step(d, "einsum", args, text, "inside", True)


_PAIRS = ["hypot", "copysign", "fmax", "fmin", "logaddexp2", "heaviside", "nextafter", "fmod"]
_INTEGER_PAIRS = ["gcd", "lcm", "fmod", "fmax", "fmin"]
_SINGLES = ["cbrt", "sinc", "spacing", "signbit", "fix", "rint", "fabs", "positive"]


def elementwise(d: Drawing) -> None:
    smooth = d.profile.smooth
    x = d.pick(lambda m: m.value.dtype.name in ("float32", "float64"))
    if d.chance(0.5):
        name = "sinc" if smooth else d.choice(_SINGLES)
        _step(d, name, [x], f"np.{name}({{0}})", "inside" if name in ("cbrt", "sinc") else "no")
        return
    y = d.pick(lambda m: m.value.dtype.name in ("float32", "float64") and broadcasts(m, x))
    name = d.choice(["hypot", "logaddexp2"]) if smooth else d.choice(_PAIRS)
    exact = name not in ("hypot", "logaddexp2")
    _step(d, name, [x, y], f"np.{name}({{0}}, {{1}})", "no" if exact else "inside")


def of_integers(d: Drawing) -> None:
    x = d.pick(lambda m: m.kind in "iu")
    style = d.choice(["pair", "pair", "shift", "count", "ldexp"])
    if style == "pair":
        y = d.pick(lambda m: m.value.dtype == x.value.dtype and broadcasts(m, x))
        name = d.choice(_INTEGER_PAIRS)
        if name == "lcm" and bool((np.abs(x.value.astype("float64")) > 100).any()):
            raise Unfit
        _step(d, name, [x, y], f"np.{name}({{0}}, {{1}})")
    elif style == "shift":
        name = d.choice(["left_shift", "right_shift"])
        _step(d, name, [x], f"np.{name}({{0}}, {d.whole(0, 9)})")
    elif style == "count":
        _step(d, "bitwise_count", [x], "np.bitwise_count({0})")
    else:
        y = d.pick(lambda m: m.value.dtype == "float64" and broadcasts(m, x))
        if x.value.dtype.itemsize > 4:
            raise Unfit
        _step(d, "ldexp", [y, x], "np.ldexp({0}, {1})")


def measured(d: Drawing) -> None:
    x = d.pick(lambda m: _is_float(m) and bool(np.isfinite(m.value).all()))
    style = d.choice(["average", "corrcoef", "cov", "cross", "polyval", "polymul", "inner"])
    if style == "average":
        axis = d.axis(x)
        if not x.value.shape[axis]:
            raise Unfit
        w = d.pick(lambda m: m.value.shape == x.value.shape and m.static == x.static)
        if w.kind != "f" or bool((np.abs(w.value.sum(axis)) < 0.1).any()):
            raise Unfit
        _step(d, style, [x, w], f"np.average({{0}}, axis={axis}, weights={{1}})", "inside")
    elif style == "corrcoef" and x.ndim == 2 and x.value.shape[1] > 2 and x.static[0] is None:
        if x.value.shape[0] < 2 or bool((x.value.std(1) < 0.1).any()):
            raise Unfit
        _step(d, style, [x], "np.corrcoef({0})", "inside")
    elif (
        style == "cov"
        and x.ndim == 2
        and (x.value.shape[0] > 1 or x.static[0] == 1)
        and x.value.shape[1] > 1
        and x.value.dtype == "float64"
    ):
        _step(d, "cov", [x], "np.cov({0})", "inside")
    elif style == "cross" and x.value.shape[-1] == x.static[-1] == 3:
        y = d.pick(lambda m: m.ndim > 0 and m.static[-1] == 3 and broadcasts(m, x))
        if y.value.dtype != x.value.dtype:
            raise Unfit
        _step(d, style, [x, y], "np.cross({0}, {1})", "inside", True)
    elif style in ("polyval", "polymul") and x.ndim == 1 and x.value.size:
        y = d.pick(
            lambda m: (
                m.value.dtype == x.value.dtype
                and m.value.size > 0
                and (style == "polyval" or m.ndim == 1)
            )
        )
        # NumPy drops leading zeros of products
        if style == "polymul" and (x.value[0] == 0 or y.value[0] == 0):
            raise Unfit
        _step(d, style, [x, y], f"np.{style}({{0}}, {{1}})", "inside", True)
    elif style == "inner":
        y = d.pick(
            lambda m: (
                m.ndim > 0
                and m.value.dtype == x.value.dtype
                and m.value.shape[-1] == x.value.shape[-1]
                and (m.static[-1] == 1) == (x.static[-1] == 1)
                and bool(np.isfinite(m.value).all())
            )
        )
        _step(d, style, [x, y], "np.inner({0}, {1})", "inside", True)
    else:
        raise Unfit


_SMOOTH = [
    (3.0, joined),
    (3.0, deleted_or_inserted),
    (3.0, moved),
    (2.0, chosen),
    (4.0, sliding),
    (3.0, summed_products),
    (2.0, elementwise),
    (4.0, measured),
]
STEPS = StepFamily(
    "arrays",
    [*_SMOOTH, (2.0, elementwise), (2.0, of_integers)],
    _SMOOTH,
    {"arrays": arrays},
    (accumulated,),
    imports={"arrays": "from occelo_arrays import functions as arrays"},
)
