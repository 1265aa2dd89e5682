"""Steps of random programs: loops and scans with traces, checkpoints and nests; NumPy's side is a loop in Python."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from occelo_loops import functions as loops
from occelo_testing.programs.drawing import Drawing, Made
from occelo_testing.programs.step_family import StepFamily


def looped(
    step: Any,
    state: Any,
    xs: Any = None,
    length: Any = None,
    reverse: bool = False,
    until: Any = None,
) -> Any:
    count = len(xs) if length is None else length
    values: Any = []
    for t in range(count):
        at = count - 1 - t if reverse else t
        state, value = step(state) if xs is None else step(state, xs[at])
        values.append(value)
        if until is not None and until(state):
            break
    if not count:
        _, value = step(state) if xs is None else step(state, np.zeros(xs.shape[1:], xs.dtype))
        return state, np.zeros((0, *np.shape(value)), np.asarray(value).dtype)
    return state, np.stack(values[::-1] if reverse else values)


_OPTIONS = ("", "", "", ", checkpoint='sqrt'", ", checkpoint=1", ", checkpoint=2")
_BODIES = (
    "0.5 * v + np.sin(x)",
    "np.tanh(v * x)",
    "np.cos(x) - 0.1 * v * v",
    "v * 0.25 - x",
    "np.tanh(v) * x + 0.5",
    "np.tanh(x + w)",
    "np.sin(v * w) + x",
    "v * np.sin(w)",
)
_KINKED = ("np.maximum(v, x)", "np.where(x > 0.25, v * 0.5, x)", "np.abs(v - x)")
_OF_VECTORS = ("v[::-1] * 0.5 + x", "np.cumsum(v) * 0.25 + x[::-1]", "np.flip(x) * np.tanh(v)")
_ALONE = (
    "np.tanh(v)",
    "v - 0.1 * v * v",
    "np.sin(v) + 0.25",
    "v[...] * 0.5",
    "0.5 * v + np.cos(w)",
)


def _is_float(m: Made) -> bool:
    return m.kind == "f" and m.value.dtype.name != "float16"


def _alike(d: Drawing, x: Made, dropped: int) -> tuple[list[Made], str, str]:
    """Arguments and two expressions of the shape of ``x`` without its first axes: an initial state and a constant."""
    shape = x.value.shape[dropped:]
    axes = tuple(range(dropped)) if dropped else ()
    state = constant = f"np.sum({{0}}, axis={axes})"
    args = [x]

    def fits(m: Made) -> bool:
        return (
            m.value.dtype == x.value.dtype
            and m.value.shape == shape
            and m.static == x.static[dropped:]
        )

    if d.chance(0.7) and any(map(fits, d.made)):
        args.append(d.pick(fits))
        state = f"{{{len(args) - 1}}}"
    if d.chance(0.5) and any(map(fits, d.made)):
        args.append(d.pick(fits))
        constant = f"{{{len(args) - 1}}}"
    return args, state, constant


def _body(d: Drawing, ndim: int, state: str, x: str, constant: str) -> str:
    several: list[tuple[str, ...]] = [_BODIES, _BODIES]
    if ndim == 1:
        several.append(_OF_VECTORS)
    several.append(_BODIES if d.profile.smooth else _KINKED)
    text = d.choice(d.choice(several))
    # single letters stand for the values
    for letter, name in (("v", state), ("x", x), ("w", constant)):
        text = _renamed(text, letter, name)
    return text


def _renamed(text: str, letter: str, name: str) -> str:
    return re.sub(rf"(?<![\w.{{]){letter}(?!\w)", name, text)


def _step(d: Drawing, name: str, args: list[Made], numpy: str, options: str = "") -> None:
    symbolic = numpy.replace("np.", "ot.").replace("looped(", "loop(")
    # options of the outermost loop alone, before its closing bracket
    place = symbolic.rindex(")[")
    symbolic = symbolic[:place] + options + symbolic[place:]
    d.step(name, args, numpy, symbolic, "inside")


def looping(d: Drawing) -> None:
    x = d.pick(lambda m: _is_float(m) and m.ndim >= 1)
    args, state, constant = _alike(d, x, 1)
    body = _body(d, x.ndim - 1, "s", "e", constant)
    output = d.choice(["s", "s", "e * s", body])
    reverse = ", reverse=True" if d.chance(0.3) else ""
    elements = d.choice(["{0}", "{0}", "{0}[::-1]", "{0}[::2]", "{0}[1:]"])
    part = d.choice([0, 1])
    _step(
        d,
        "loop",
        args,
        f"looped(lambda s, e: ({body}, {output}), {state}, {elements}{reverse})[{part}]",
        d.choice(_OPTIONS),
    )


def both_parts(d: Drawing) -> None:
    """The final state and the trace have a reader each."""
    x = d.pick(lambda m: _is_float(m) and m.ndim >= 1)
    args, state, constant = _alike(d, x, 1)
    body = _body(d, x.ndim - 1, "s", "e", constant)
    text = f"looped(lambda s, e: ({body}, s), {state}, {{0}})"
    options = d.choice(_OPTIONS)
    for part in (0, 1):
        _step(d, "loop", args, f"{text}[{part}]", options)


def counted(d: Drawing) -> None:
    x = d.pick(_is_float)
    args, _, constant = _alike(d, x, 0)
    body = _renamed(_renamed(d.choice(_ALONE), "v", "s"), "w", constant)
    length = d.choice(["0", "1", "2", "4", "5", "16"])
    if d.chance(0.3):
        args.append(d.input_of(np.array(d.whole(0, 6))))
        length = f"{{{len(args) - 1}}}"
    part = d.choice([0, 1])
    text = f"looped(lambda s: ({body}, s), {{0}}, length={length})[{part}]"
    _step(d, "counted", args, text, d.choice(_OPTIONS))


def until(d: Drawing) -> None:
    x = d.pick(lambda m: _is_float(m) and m.ndim >= 1)
    args, state, constant = _alike(d, x, 1)
    body = _body(d, x.ndim - 1, "s", "e", constant)
    limit = "until=lambda s: np.sum(s) > 0.7071"
    text = f"looped(lambda s, e: ({body}, s), {state}, {{0}}, {limit})[{d.choice([0, 1])}]"
    _step(d, "until", args, text)


def swapped(d: Drawing) -> None:
    """Two states that change places."""
    x = d.pick(lambda m: _is_float(m) and m.ndim >= 1)
    args, state, constant = _alike(d, x, 1)
    body = _body(d, x.ndim - 1, "s[0]", "e", constant)
    other = d.choice([state, f"{state} * 0.5", constant])
    output = d.choice(["s[0]", "s[1] - s[0]", "e"])
    part = d.choice(["[0][0]", "[0][1]", "[1]"])
    text = f"looped(lambda s, e: ((s[1], {body}), {output}), ({state}, {other}), {{0}})"
    numpy = f"{text}{part}"
    symbolic = text.replace("np.", "ot.").replace("looped(", "loop(")
    d.step("swapped", args, numpy, symbolic[:-1] + d.choice(_OPTIONS) + ")" + part, "inside")


def nest(d: Drawing) -> None:
    """A loop in a loop; the inner one starts from the state of the outer one."""
    x = d.pick(lambda m: _is_float(m) and m.ndim >= 2)
    args, state, constant = _alike(d, x, 2)
    body = _body(d, x.ndim - 2, "u", "y", constant)
    options = d.choice(_OPTIONS)
    inner = f"looped(lambda u, y: ({body}, u), s, e{options})[0]"
    part = d.choice([0, 1])
    numpy = f"looped(lambda s, e: ({inner}, s), {state}, {{0}})[{part}]"
    symbolic = numpy.replace("np.", "ot.").replace("looped(", "loop(")
    numpy = numpy.replace(options, "") if options else numpy
    place = symbolic.rindex(")[")
    symbolic = symbolic[:place] + d.choice(_OPTIONS) + symbolic[place:]
    d.step("nest", args, numpy, symbolic, "inside")


def scanned(d: Drawing) -> None:
    x = d.pick(lambda m: _is_float(m) and m.ndim >= 1)
    args, state, constant = _alike(d, x, 1)
    body = _body(d, x.ndim - 1, "s", "e", constant)
    elements = "{0}[::-1]" if d.chance(0.3) else "{0}"
    numpy = f"looped(lambda s, e: ({body}, {body}), {state}, {elements})[1]"
    text = f"lambda e, s: {body}, sequences={{0}}, outputs_info={state}"
    if elements != "{0}":
        text += ", go_backwards=True"
    symbolic = f"scan({text.replace('np.', 'ot.')}, return_updates=False{d.choice(_OPTIONS)})"
    d.step("scan", args, numpy, symbolic, "inside")


def mapped(d: Drawing) -> None:
    """No state: a function of each element."""
    x = d.pick(lambda m: _is_float(m) and m.ndim >= 1)
    args, _, constant = _alike(d, x, 1)
    body = _body(d, x.ndim - 1, "e", "e", constant)
    numpy = f"looped(lambda s, e: (s, {body}), 0, {{0}})[1]"
    symbolic = (
        f"scan(lambda e: {body.replace('np.', 'ot.')}, sequences={{0}}, return_updates=False)"
    )
    d.step("map", args, numpy, symbolic, "inside")


_SMOOTH = [
    (4.0, looping),
    (2.0, both_parts),
    (3.0, counted),
    (2.0, swapped),
    (3.0, nest),
    (2.0, scanned),
    (1.0, mapped),
]
STEPS = StepFamily(
    "loops",
    [*_SMOOTH, (1.0, until)],
    _SMOOTH,
    {"loop": loops.loop, "scan": loops.scan},
    (looped,),
    imports={"loop": "from occelo import loop", "scan": "from occelo import scan"},
)
