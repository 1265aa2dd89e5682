"""Steps of random programs: sorting, quantiles, sets, counts and reductions that ignore NaN."""

from __future__ import annotations

from typing import Any

import numpy as np

from occelo_sorting import functions as sorting
from occelo_testing.programs.drawing import Drawing, Made, Unfit
from occelo_testing.programs.step_family import StepFamily, in_family


def topk(x: Any, k: int, axis: int) -> Any:
    """The ``k`` largest elements in ascending order."""
    return np.sort(x, axis).take(range(x.shape[axis] - k, x.shape[axis]), axis)


def _step(
    d: Drawing, name: str, args: list[Made], numpy: str, rounds: str = "no", integral: bool = False
) -> None:
    d.step(name, args, numpy, in_family(numpy, "sorting", sorting), rounds, integral)


def _is_real(m: Made) -> bool:
    return m.ndim > 0 and m.kind in "iuf" and m.value.dtype.name != "float16"


def _is_float(m: Made) -> bool:
    return m.ndim > 0 and m.value.dtype.name in ("float32", "float64")


def _are_apart(m: Made) -> bool:
    """All elements differ, so that derivatives exist."""
    gaps: Any = np.diff(np.sort(m.value, axis=None))
    return bool((gaps > 1e-3).all())


def _pick(d: Drawing) -> Made:
    """Numbers, in smooth programs floats that differ."""
    smooth = d.profile.smooth
    return d.pick(lambda m: _is_float(m) and _are_apart(m) if smooth else _is_real(m))


def ordered(d: Drawing) -> None:
    x = _pick(d)
    axis = d.choice([None, d.axis(x)])
    _step(d, "sort", [x], f"np.sort({{0}}, axis={axis})", "zeros")


def selected(d: Drawing) -> None:
    """An element of a partition, or the largest elements."""
    x = _pick(d)
    axis = d.axis(x)
    n = x.value.shape[axis]
    if not n:
        raise Unfit
    k = d.whole(0, n - 1)
    if d.chance(0.5):
        text = f"np.take(np.partition({{0}}, {k}, axis={axis}), {k}, axis={axis})"
        _step(d, "partition", [x], text, "zeros")
    else:
        numpy = f"topk({{0}}, {k + 1}, {axis})"
        symbolic = f"sorting.sort(sorting.topk({{0}}, {k + 1}, {axis}), {axis})"
        d.step("topk", [x], numpy, symbolic, "zeros")


def places(d: Drawing) -> None:
    x = d.pick(_is_real)
    axis = d.choice([None, d.axis(x)])
    numpy = f"np.argsort({{0}}, axis={axis}, kind='stable')"
    _step(d, "argsort", [x], numpy)


def several_keys(d: Drawing) -> None:
    x = d.pick(_is_real)
    y = d.pick(lambda m: m.value.shape == x.value.shape and m.static == x.static and _is_real(m))
    _step(d, "lexsort", [x, y], "np.lexsort(({0}, {1}))")


def quantiles(d: Drawing) -> None:
    x = d.pick(lambda m: _is_float(m) and (not d.profile.smooth or _are_apart(m)))
    axis = d.axes(x)
    chosen = range(x.ndim) if axis is None else (axis,) if isinstance(axis, int) else axis
    if not all(x.value.shape[a] for a in chosen):
        raise Unfit
    keep = ", keepdims=True" if d.chance(0.3) else ""
    name = d.choice(["median", "nanmedian", "quantile", "quantile", "percentile", "nanquantile"])
    if "median" in name:
        _step(d, name, [x], f"np.{name}({{0}}, axis={axis}{keep})", "inside")
        return
    if np.isinf(x.value).any() or not x.value.size:
        raise Unfit  # NumPy subtracts neighbours, and drops the shape of q if there are no elements
    method = d.choice(
        ["linear", "lower", "higher", "midpoint", "hazen", "weibull", "median_unbiased"]
    )
    q = d.choice(["0.25", "0.3", "1.0", "0.0", "[0.3, 0.7]", "[0.5]", "[[0.1], [0.9]]"])
    if name == "percentile":
        q = q.replace("0.", "20.")
    text = f"np.{name}({{0}}, {q}, axis={axis}, method={method!r}{keep})"
    _step(d, name, [x], text, "inside")


def without_nan(d: Drawing) -> None:
    x = d.pick(_is_float if d.profile.smooth else _is_real)
    axis = d.axes(x)
    smooth = ["nansum", "nanmean", "nanprod", "nanvar"]
    name = d.choice(smooth if d.profile.smooth else [*smooth, "nanstd", "nanmax", "nanmin"])
    chosen = range(x.ndim) if axis is None else (axis,) if isinstance(axis, int) else axis
    if name not in ("nansum", "nanprod") and (
        not all(x.value.shape[a] for a in chosen) or (x.kind in "iu" and name in smooth)
    ):
        raise Unfit
    keep = ", keepdims=True" if d.chance(0.3) else ""
    rounds = "zeros" if name in ("nanmax", "nanmin") else "inside"
    text = f"np.{name}({{0}}, axis={axis}{keep})"
    _step(d, name, [x], text, rounds, name in ("nansum", "nanprod"))


def searched(d: Drawing) -> None:
    x = d.pick(lambda m: m.ndim == 1 and _is_real(m))
    y = d.pick(_is_real)
    side = d.choice(["left", "right"])
    if d.chance(0.7):
        _step(d, "searchsorted", [x, y], f"np.searchsorted(np.sort({{0}}), {{1}}, side={side!r})")
    else:
        order = "np.sort({0})" if d.chance(0.7) else "np.sort({0})[::-1]"
        right = d.choice([True, False])
        _step(
            d, "digitize", [y, x], f"np.digitize({{0}}, {order.replace('0', '1')}, right={right})"
        )


def _is_exact(m: Made) -> bool:
    """Small multiples of 1/2: which elements are equal does not depend on rounding."""
    return bool(np.isin(m.value, np.arange(-50, 51) / 2).all())


def sets(d: Drawing) -> None:
    name = d.choice(["unique", "unique", "union1d", "intersect1d", "setdiff1d", "setxor1d", "isin"])
    x = d.pick(lambda m: _is_real(m) and _is_exact(m))
    if name == "unique":
        part = d.choice(["", "index", "inverse", "counts"])
        option = f", return_{part}=True)[1]" if part else ")"
        _step(d, "unique", [x], f"np.unique({{0}}{option}", "no" if part else "zeros")
        return
    y = d.pick(lambda m: m.value.dtype == x.value.dtype and _is_exact(m))
    rounds = "no" if name == "isin" else "zeros"
    _step(d, name, [x, y], f"np.{name}({{0}}, {{1}})", rounds)


def counts(d: Drawing) -> None:
    style = d.choice(["bincount", "bincount", "weights", "histogram", "nonzero", "where"])
    if style == "nonzero":
        x = d.pick()
        _step(d, "count_nonzero", [x], f"np.count_nonzero({{0}}, axis={d.axes(x)})")
    elif style == "where":
        _step(d, "argwhere", [d.pick(lambda m: m.ndim > 0)], "np.argwhere({0})")
    elif style == "histogram":
        x = d.pick(lambda m: _is_float(m) and bool(np.isfinite(m.value).all()))
        edges = d.choice(["[-2.0, 0.0, 0.5, 3.0]", "[0.0, 1.0]"])
        text = f"np.histogram({{0}}, {edges})[0]"
        _step(d, "histogram", [x], text)
    else:
        x = d.pick(
            lambda m: (
                m.ndim == 1
                and m.kind in "iu"
                and m.value.dtype.name != "uint64"
                and bool(((m.value >= 0) & (m.value < 50)).all())
            )
        )
        least = d.choice(["", ", minlength=4", ", minlength=0"])
        if style == "bincount":
            _step(d, "bincount", [x], f"np.bincount({{0}}{least})")
            return
        w = d.pick(
            lambda m: m.value.shape == x.value.shape and m.static == x.static and _is_float(m)
        )
        text = f"np.bincount({{0}}, {{1}}{least})"
        _step(d, "bincount", [x, w], text, "inside")


def interpolated(d: Drawing) -> None:
    def fits(m: Made) -> bool:
        return (
            m.ndim == 1
            and m.value.dtype == "float64"
            and m.value.size > 0
            and bool(np.isfinite(m.value).all())
        )

    x = d.pick(lambda m: m.value.dtype == "float64" and bool(np.isfinite(m.value).all()))
    xp = d.pick(lambda m: fits(m) and _are_apart(m))
    fp = d.pick(lambda m: fits(m) and m.value.shape == xp.value.shape and m.static == xp.static)
    ends = d.choice(["", ", left=-1.0", ", right=0.5, left=0.25"])
    _step(d, "interp", [x, xp, fp], f"np.interp({{0}}, np.sort({{1}}), {{2}}{ends})", "inside")


_SMOOTH = [
    (4.0, ordered),
    (3.0, selected),
    (3.0, quantiles),
    (2.0, without_nan),
    (1.0, interpolated),
]
STEPS = StepFamily(
    "sorting",
    [*_SMOOTH, (3.0, places), (1.0, several_keys), (2.0, searched), (3.0, sets), (3.0, counts)],
    _SMOOTH,
    {"sorting": sorting},
    (topk,),
    imports={"sorting": "from occelo_sorting import functions as sorting"},
)
