"""Steps of random programs that only move elements, such as reshapes, transpositions and joins.

`generating` chooses from the list `FORMS`.
"""

from __future__ import annotations

import numpy as np

from occelo_testing.programs.drawing import Drawing, Made, Unfit
from occelo_testing.programs.elementwise import broadcasts


def reordered(d: Drawing) -> None:
    x = d.pick(lambda m: m.ndim > 0)
    style = d.choice(["T", "T", "transpose", "swapaxes", "moveaxis", "mT"])
    if style == "T":
        d.step("transpose", [x], "{0}.T", "{0}.T")
    elif style == "transpose":
        order = tuple(int(i) for i in d.random.permutation(x.ndim))
        d.step("transpose", [x], f"{{0}}.transpose({order})", f"{{0}}.transpose({order})")
    elif style == "mT" and x.ndim > 1:
        d.step("transpose", [x], "{0}.mT", "{0}.mT")
    else:
        d.step(
            "transpose",
            [x],
            f"np.{'moveaxis' if style == 'moveaxis' else 'swapaxes'}({{0}}, {d.axis(x)}, {d.axis(x)})",
        )


def expanded(d: Drawing) -> None:
    x = d.pick(lambda m: m.ndim < 4)
    axis = d.whole(-x.ndim - 1, x.ndim)
    d.step("expand_dims", [x], f"np.expand_dims({{0}}, {axis})")


def squeezed(d: Drawing) -> None:
    x = d.pick(lambda m: 1 in m.static)
    axis = d.choice([i for i, n in enumerate(x.static) if n == 1])
    d.step("squeeze", [x], f"np.squeeze({{0}}, axis={axis})")


def reshaped(d: Drawing) -> None:
    x = d.pick()
    rest = x.value.size
    lengths: list[int] = []
    for _ in range(d.whole(0, 2)):
        divisors = [n for n in range(1, rest + 1) if rest % n == 0] or [0]
        n = d.choice(divisors)
        lengths.append(n)
        rest = rest // n if n else 0
    lengths.append(rest)
    if d.chance(0.5) and x.value.size:
        lengths[d.whole(0, len(lengths) - 1)] = -1
    if x.value.size == 1 and d.chance(0.3):
        lengths = []
    args: list[Made] = [x]
    texts: list[str] = []
    for n in lengths:
        if d.chance(0.25) and len(args) < 4:
            args.append(d.input_of(np.int64(n)))
            texts.append(f"{{{len(args) - 1}}}")
        else:
            texts.append(str(n))
    text = f"{{0}}.reshape(({''.join(t + ', ' for t in texts)}))"
    d.step("reshape", args, text, text)


def flattened(d: Drawing) -> None:
    x = d.pick()
    text = d.choice(["{0}.ravel()", "{0}.flatten()"])
    d.step("ravel", [x], text, text)


def spread(d: Drawing) -> None:
    x = d.pick(lambda m: m.ndim < 4)
    lengths = [
        d.choice(d.lengths) if s == 1 else n for n, s in zip(x.value.shape, x.static, strict=True)
    ]
    lead = [d.choice(d.lengths) for _ in range(d.whole(0, 1))]
    target = tuple([*lead, *lengths])
    if d.chance(0.3) and x.ndim:
        like = d.pick(
            lambda m: (
                m.ndim >= x.ndim
                and broadcasts(m, x)
                and np.broadcast_shapes(m.value.shape, x.value.shape) == m.value.shape
            )
        )
        d.step(
            "broadcast_to",
            [x, like],
            "np.broadcast_to({0}, {1}.shape)",
            "ot.broadcast_to({0}, ot.shape_tuple({1}))",
        )
        return
    d.step("broadcast_to", [x], f"np.broadcast_to({{0}}, {target})")


def _alike(d: Drawing, x: Made, axis: int) -> Made:
    def fits(m: Made) -> bool:
        if m.ndim != x.ndim:
            return False
        return all(
            a == b
            for i, (a, b) in enumerate(zip(m.value.shape, x.value.shape, strict=True))
            if i != axis % x.ndim
        )

    return d.pick(fits)


def joined(d: Drawing) -> None:
    x = d.pick(lambda m: m.ndim > 0)
    axis = d.axis(x)
    parts = [x, *(_alike(d, x, axis) for _ in range(d.whole(0, 2)))]
    names = ", ".join(f"{{{i}}}" for i in range(len(parts)))
    d.step("concatenate", parts, f"np.concatenate([{names}], axis={axis})")


def stacked(d: Drawing) -> None:
    x = d.pick(lambda m: m.ndim < 3)
    parts = [x, *(d.pick(lambda m: m.value.shape == x.value.shape) for _ in range(d.whole(0, 2)))]
    names = ", ".join(f"{{{i}}}" for i in range(len(parts)))
    d.step("stack", parts, f"np.stack([{names}], axis={d.whole(-x.ndim - 1, x.ndim)})")


def divided(d: Drawing) -> None:
    x = d.pick(lambda m: m.ndim > 0)
    axis = d.axis(x)
    n = x.value.shape[axis]
    cut = d.whole(0, n)
    second = d.whole(cut, n)
    part = d.whole(0, 2)
    sizes = [cut, second - cut, n - second]
    numpy = f"np.split({{0}}, [{cut}, {second}], axis={axis})[{part}]"
    if d.chance(0.4):
        sizes_ = d.input_of(np.array(sizes))
        d.step(
            "split",
            [x, sizes_],
            f"np.split({{0}}, np.cumsum({{1}})[:-1], axis={axis})[{part}]",
            f"ot.split({{0}}, {{1}}, 3, axis={axis})[{part}]",
        )
    else:
        d.step("split", [x], numpy, f"ot.split({{0}}, {sizes}, 3, axis={axis})[{part}]")


def repeated(d: Drawing) -> None:
    x = d.pick()
    style = d.choice(["repeat", "tile", "flip", "diff", "counts"])
    axis = d.axis(x) if x.ndim else None
    if style == "repeat":
        axis = d.choice([None, axis])
        d.step("repeat", [x], f"np.repeat({{0}}, {d.whole(0, 2)}, axis={axis})")
    elif style == "counts":
        n = x.value.size if axis is None else x.value.shape[axis]
        counts = d.input_of(d.random.integers(0, 3, n))
        d.step("repeat", [x, counts], f"np.repeat({{0}}, {{1}}, axis={axis})")
    elif style == "tile":
        reps = tuple(d.whole(0 if d.chance(0.2) else 1, 2) for _ in range(d.whole(1, 2)))
        d.step("tile", [x], f"np.tile({{0}}, {reps})")
    elif style == "flip" and x.ndim:
        d.step("flip", [x], f"np.flip({{0}}, axis={axis})")
    elif style == "diff" and x.ndim:
        d.step("diff", [x], f"np.diff({{0}}, axis={axis})", None, "result", True)
    else:
        raise Unfit


def diagonals(d: Drawing) -> None:
    x = d.pick(lambda m: m.ndim in (1, 2))
    k = d.whole(-1, 1)
    if x.ndim == 1:
        d.step("diag", [x], f"np.diag({{0}}, {k})")
        return
    style = d.choice(["tril", "triu", "diag", "trace", "diagonal"])
    if style == "trace":
        d.step("trace", [x], "np.trace({0})", None, "inside", True)
    else:
        d.step(style, [x], f"np.{style}({{0}}, {k})")


def likenesses(d: Drawing) -> None:
    x = d.pick()
    style = d.choice(["zeros_like", "ones_like", "full_like", "eye", "arange", "shape", "size"])
    if style == "full_like":
        d.step(style, [x], "np.full_like({0}, 3)")
    elif style == "eye" and x.ndim:
        n, k = d.choice([2, 3]), d.whole(-1, 1)
        d.step("eye", [x], f"np.eye({{0}}.shape[0], {n}, {k})")
    elif style == "arange" and x.ndim:
        d.step("arange", [x], "np.arange({0}.shape[0])")
    elif style == "shape" and x.ndim:
        d.step("shape", [x], "np.array({0}.shape)", "{0}.shape")
    elif style == "size":
        d.step("size", [x], "np.array({0}.size)", "{0}.size")
    elif style in ("zeros_like", "ones_like"):
        d.step(style, [x], f"np.{style}({{0}})")
    else:
        raise Unfit


FORMS = [
    (2.5, reordered),
    (1.5, expanded),
    (1.0, squeezed),
    (2.0, reshaped),
    (0.7, flattened),
    (1.5, spread),
    (1.5, joined),
    (1.0, stacked),
    (1.0, divided),
    (1.8, repeated),
    (0.8, diagonals),
    (0.8, likenesses),
]
