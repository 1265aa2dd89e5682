"""Steps of random programs: writes at repeated positions, segments and padding; NumPy's side is ``ufunc.at`` or a loop."""

from __future__ import annotations

from typing import Any

import numpy as np

from occelo_arrays import functions as arrays
from occelo_testing.programs.drawing import Drawing, Made, Unfit
from occelo_testing.programs.step_family import StepFamily, in_family


def changed_at(x: Any, key: Any, name: str, y: Any) -> Any:
    """A copy of ``x`` with one element after another combined with its value."""
    ufunc = getattr(np, {"max": "maximum", "min": "minimum"}.get(name, name))
    x = np.array(x, order="C")
    places: Any = np.reshape(np.arange(int(x.size)), x.shape)
    at: Any = places[key]
    flat = x.reshape(-1)
    for i, v in zip(
        at.ravel(), np.broadcast_to(np.asarray(y, x.dtype), at.shape).ravel(), strict=True
    ):
        flat[i] = ufunc(flat[i], v)
    return x


def segments(data: Any, ids: Any, count: int, name: str) -> Any:
    """One row for each segment: the sum, product, maximum or minimum of its rows."""
    empty: Any = {"sum": 0, "prod": 1}.get(name)
    if empty is None:
        low = data.dtype.kind == "f"
        ends = (-np.inf, np.inf) if low else (np.iinfo(data.dtype).min, np.iinfo(data.dtype).max)
        empty = ends[0 if name == "max" else 1]
    result = np.full((count, *data.shape[1:]), empty, data.dtype)
    ufunc = {"sum": np.add, "prod": np.multiply, "max": np.maximum, "min": np.minimum}[name]
    for row, i in zip(data, ids, strict=True):
        result[i] = ufunc(result[i], row)
    return result


def _is_number(m: Made) -> bool:
    return m.ndim > 0 and m.kind in "iuf" and m.value.dtype.name != "float16"


def _positions(d: Drawing, n: int, ndim: int = 1) -> tuple[Made | None, str]:
    """Index arrays with repeated positions, as an input or as a list; lengths of 1 may be dynamic."""
    if not n:
        raise Unfit
    shape = tuple(d.choice([0, 1, 2, 3, 5]) for _ in range(ndim))
    values = d.random.integers(-n, n, shape)
    if d.chance(0.3) and values.size:
        return None, str(values.tolist())
    narrow = ["int64", "int32", "uint8"] if (values >= 0).all() else ["int64", "int8"]
    return d.input_of(values.astype(d.choice(narrow))), ""


def written(d: Drawing) -> None:
    """``x.at[key]`` with an index array, sometimes two, that broadcast when the function runs."""
    smooth = d.profile.smooth
    x = d.pick(lambda m: _is_number(m) and (m.kind == "f" or not smooth))
    args = [x]

    def entry(axis: int) -> str:
        index, text = _positions(d, x.value.shape[axis], d.choice([1, 1, 2]))
        if index is None:
            return text
        args.append(index)
        return f"{{{len(args) - 1}}}"

    axis = d.whole(0, x.ndim - 1)
    entries = [d.choice([":", ":", "::-1", ":2", "1:"]) for _ in range(axis)]
    entries.append(entry(axis))
    if axis + 1 < x.ndim and d.chance(0.4):
        entries.append(entry(axis + 1))
    key = ", ".join(entries)
    try:
        part = np.asarray(
            eval(
                f"a0[{key.format(*[f'a{i}' for i in range(len(args))])}]",
                {f"a{i}": m.value for i, m in enumerate(args)},
            )
        )
    except (IndexError, ValueError) as error:
        raise Unfit from error
    shape = tuple(1 if d.chance(0.3) else n for n in part.shape[d.whole(0, part.ndim) :])
    if d.chance(0.2):
        value = d.choice(["0", "1", "2"])
    else:
        args.append(d.new_input(x.value.dtype.name, shape))
        value = f"{{{len(args) - 1}}}"
    name = d.choice(["add", "subtract", "multiply", "max", "min"])
    if smooth and name in ("max", "min"):
        raise Unfit
    if name == "subtract" and x.kind == "u":
        raise Unfit
    rounds = "zeros" if name in ("max", "min") else "inside"
    d.step(
        name,
        args,
        f"changed_at({{0}}, np.s_[{key}], {name!r}, {value})",
        f"{{0}}.at[{key}].{name}({value})",
        rounds,
        True,
    )


def by_segments(d: Drawing) -> None:
    smooth = d.profile.smooth
    x = d.pick(lambda m: _is_number(m) and (m.kind == "f" or not smooth))
    count = d.whole(1, 4)
    ids = d.input_of(d.random.integers(0, count, x.value.shape[0]))
    if (x.static[0] == 1) != (ids.static[0] == 1):
        raise Unfit
    name = d.choice(["sum", "prod"] if smooth else ["sum", "prod", "max", "min"])
    d.step(
        f"segment_{name}",
        [x, ids],
        f"segments({{0}}, {{1}}, {count}, {name!r})",
        f"arrays.segment_{name}({{0}}, {{1}}, {count})",
        "zeros" if name in ("max", "min") else "inside",
        True,
    )


def padded(d: Drawing) -> None:
    x = d.pick(lambda m: _is_number(m) and (m.kind == "f" or not d.profile.smooth))
    modes = ["constant", "edge", "linear_ramp", "mean", "reflect", "symmetric", "wrap"]
    mode = d.choice(modes if d.profile.smooth else [*modes, "maximum", "minimum", "median"])
    if not x.value.size or (x.kind in "iu" and mode in ("linear_ramp", "mean", "median")):
        raise Unfit  # integers are rounded, which perturbed runs do not measure
    widths = [(d.whole(0, 3), d.whole(0, 3)) for _ in range(x.ndim)]
    options = ""
    if mode == "constant" and d.chance(0.5):
        options = ", constant_values=2"
    if (
        mode in ("reflect", "symmetric")
        and d.chance(0.3)
        and x.kind == "f"
        and not np.isinf(x.value).any()
    ):
        options = ", reflect_type='odd'"
    if mode in ("mean", "maximum", "minimum", "median") and d.chance(0.5):
        options = f", stat_length={d.whole(1, 3)}"
    args, text = [x], str(widths)
    if d.chance(0.3):
        args.append(d.input_of(np.int64(widths[0][0])))
        text = f"[({{1}}, {widths[0][1]}), " + ", ".join(map(str, widths[1:])) + "]"
    exact = mode in ("constant", "edge", "wrap", "maximum", "minimum") or (
        mode in ("reflect", "symmetric") and "odd" not in options
    )
    rounds = "zeros" if exact else "inside"
    text = f"np.pad({{0}}, {text}, {mode!r}{options})"
    d.step("pad", args, text, in_family(text, "arrays", arrays), rounds)


_FORMS = [(5.0, written), (3.0, by_segments), (3.0, padded)]
STEPS = StepFamily(
    "scatters",
    _FORMS,
    _FORMS,
    {"arrays": arrays},
    (changed_at, segments),
    imports={"arrays": "from occelo_arrays import functions as arrays"},
)
