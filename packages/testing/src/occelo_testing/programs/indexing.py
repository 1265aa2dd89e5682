"""Steps of random programs that read and write parts of tensors.

`generating` chooses from the lists `FORMS` and `SMOOTH_FORMS`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from occelo_testing.programs.drawing import Drawing, Made, Unfit


class _Key:
    """A random index key as source text, and the nodes that the text refers to."""

    def __init__(self, d: Drawing, x: Made, first: int) -> None:
        self.d = d
        self.args: list[Made] = []
        self.first = first
        entries: list[str] = []
        self.arrays = 0
        self.masked = self.wide = False
        self.length: int = (
            d.choice([1, 2, 3, 0]) if d.chance(0.3) else 2
        )  # the length of index arrays
        advanced = d.chance(0.4)
        axis = 0
        count = d.whole(0 if x.ndim == 0 else 1, x.ndim)
        while axis < count:
            if d.chance(0.1):
                entries.append("None")
            entry, used = self.entry(x, axis, advanced)
            entries.append(entry)
            axis += used
        if d.chance(0.1) or not entries:
            # After masks nothing is inserted between entries: the masks might no longer fit their
            # axes. NumPy accepts this for tensors without elements.
            inside = not self.masked and d.chance(0.3)
            where = d.whole(0, len(entries)) if inside else len(entries)
            entries.insert(where, d.choice(["...", "None"]))
        self.text = ", ".join(entries)

    def new(self, value: Any) -> str:
        """The text that refers to an input with this value.

        The input is new, or sometimes an earlier input with an equal value.
        """
        value = np.asarray(value)
        for m in self.args:
            if (
                m.value.dtype == value.dtype
                and np.array_equal(m.value, value)
                and self.d.chance(0.5)
            ):
                return f"{{{self.first + self.args.index(m)}}}"
        self.args.append(self.d.input_of(value, ones=True))
        return f"{{{self.first + len(self.args) - 1}}}"

    def entry(self, x: Made, axis: int, advanced: bool) -> tuple[str, int]:
        d = self.d
        n = x.value.shape[axis]
        if advanced and d.chance(0.6):
            return self.array(x, axis)
        if d.chance(0.3) and n:
            i = d.whole(-n, n - 1)
            return (self.new(np.int64(i)) if d.chance(0.4) else str(i)), 1
        return self.slice(n), 1

    def slice(self, n: int) -> str:
        d = self.d

        def bound() -> str:
            if d.chance(0.35):
                return ""
            value = d.whole(-n - 2, n + 2)
            return self.new(np.int64(value)) if d.chance(0.25) else str(value)

        step = d.choice(["", "", "", "-1", "-1", "2", "-2", "3", "var"])
        if step == "var":
            step = self.new(np.int64(d.choice([1, -1, 2, -2])))
        return f"{bound()}:{bound()}" + (f":{step}" if step else "")

    def array(self, x: Made, axis: int) -> tuple[str, int]:
        self.arrays += 1
        if self.d.chance(0.3):
            span = 2 if axis + 1 < x.ndim and self.arrays == 1 and self.d.chance(0.3) else 1
            return self.mask(x.value.shape[axis : axis + span]), span
        n = x.value.shape[axis]
        if not n:
            raise Unfit
        return self.positions(n), 1

    def mask(self, shape: tuple[int, ...]) -> str:
        d = self.d
        self.masked = True
        mask: Any = d.random.random(shape) < 0.6
        if self.arrays > 1:  # the mask selects as many positions as the other index arrays have
            if self.length > shape[0] or self.wide:
                raise Unfit
            mask = np.zeros(shape, bool)
            mask[: self.length] = True
        masks = [m for m in d.made if m.kind == "b" and m.value.shape == shape]
        if masks and self.arrays == 1 and d.chance(0.3):
            earlier = d.choice(masks)
            self.length = int(earlier.value.sum())
            self.args.append(earlier)
            return f"{{{self.first + len(self.args) - 1}}}"
        if self.arrays == 1:
            self.length = int(mask.sum())
        if d.chance(0.4):
            return f"np.array({mask.tolist()}).reshape({shape})"
        return self.new(mask)

    def positions(self, n: int) -> str:
        d = self.d
        # the number of elements that a mask selects is a dynamic length, which does not broadcast
        shape = (self.length,) if self.masked or d.chance(0.8) else (self.length, 1)
        self.wide = self.wide or len(shape) > 1
        values: Any = d.random.integers(-n, n, shape)
        if d.chance(0.3):
            if values.size:
                return str(values.tolist())
            return f"np.array({values.tolist()}, 'int64').reshape({shape})"
        return self.new(values.astype(d.choice(["int64", "int64", "int8", "int32"])))


def reading(d: Drawing) -> None:
    x = d.pick(lambda m: m.ndim > 0 or d.chance(0.1))
    key = _Key(d, x, 1)
    d.step("index", [x, *key.args], f"{{0}}[{key.text}]", f"{{0}}[{key.text}]")


def simple_reading(d: Drawing) -> None:
    x = d.pick(lambda m: m.ndim > 0)
    n = x.value.shape[0]
    text = d.choice(
        [
            "{0}[::-1]",
            "{0}[::2]",
            "{0}[1:]",
            "{0}[:-1]",
            "{0}[0]",
            "{0}[-1]",
            "{0}[None]",
            "{0}[..., ::-1]",
            "{0}[..., 0]",
            "{0}[:1]",
        ]
    )
    if not n and "0]" in text:
        raise Unfit
    d.step("index", [x], text, text)


def writing(d: Drawing) -> None:
    x = d.pick(lambda m: m.ndim > 0 and (m.kind == "f" if d.profile.smooth else True))
    key = _Key(d, x, 1)
    verb = d.choice(["set", "inc"])
    if verb == "inc" and x.kind == "b":
        raise Unfit
    args = [x, *key.args]
    values = [a.value for a in args]
    part = _value_of(f"a0[{key.text.format(*[f'a{i}' for i in range(len(args))])}]", values)
    if verb == "set" and key.arrays:
        _refuse_repeated(key.text, values)

    def fits(m: Made) -> bool:
        if np.result_type(m.value.dtype, x.value.dtype) != x.value.dtype or m.ndim > part.ndim:
            return False
        # other steps broadcast only static lengths of 1
        tail = part.shape[part.ndim - m.ndim :]
        ones = m.value.shape if d.profile.stretch else m.static
        return all(a == b or s == 1 for a, b, s in zip(m.value.shape, tail, ones, strict=True))

    if d.chance(0.3):
        literal = d.choice(["0", "1", "2"]) if x.kind != "b" else "np.True_"
        value = literal
    else:
        if d.chance(0.4):
            shape = tuple(1 if d.chance(0.2) else n for n in part.shape[d.whole(0, part.ndim) :])
            operand = d.new_input(x.value.dtype.name, shape)
            if not fits(operand):
                raise Unfit
        else:
            operand = d.pick(fits)
        value = f"{{{len(args)}}}"
        args.append(operand)
    numpy = f"{verb}_at({{0}}, np.s_[{key.text}], {value})"
    d.step(
        verb,
        args,
        numpy,
        f"{{0}}[{key.text}].{verb}({value})",
        "no" if verb == "set" else "inside",
        True,
    )


def _value_of(text: str, values: list[Any]) -> Any:
    try:
        return np.asarray(eval(text, {"np": np, **{f"a{i}": v for i, v in enumerate(values)}}))
    except Exception as error:
        raise Unfit from error


def _refuse_repeated(key: str, values: list[Any]) -> None:
    """Raise `Unfit` if the key selects a position twice: NumPy does not define which of the two values is kept."""
    x = values[0]
    text = f"n[{key.format(*[f'a{i}' for i in range(len(values))])}]"
    places: Any = np.reshape(np.arange(int(x.size)), x.shape)
    where = np.asarray(
        eval(
            text,
            {
                "np": np,
                "n": places,
                **{f"a{i}": v for i, v in enumerate(values)},
            },
        )
    )
    if np.unique(where).size != where.size:
        raise Unfit


def adding_an_element(d: Drawing) -> None:
    x, y = d.pick(), d.pick(lambda m: m.value.size > 0)
    text = f"{{0}} + {{1}}[{tuple(d.whole(0, n - 1) for n in y.value.shape)}]"
    d.step("add_element", [x, y], text, text, "result", True)


def writing_in_a_branch(d: Drawing) -> None:
    x, y = (d.pick(lambda m: m.value.size > 0 and m.kind == "f") for _ in range(2))
    first, zero = (f"[{(0,) * m.ndim}]" for m in (y, x))
    d.step(
        "write_in_branch",
        [x, y],
        f"(set_at({{0}}, np.s_{zero}, {{1}}{first}) if {{1}}{first} > 0 else {{0}} * 2.0)",
        f"ot.ifelse({{1}}{first} > 0, {{0}}{zero}.set({{1}}{first}), {{0}} * 2.0)",
        integral=True,
    )


def taking(d: Drawing) -> None:
    x = d.pick(lambda m: m.ndim > 0 and m.value.size > 0)
    axis = d.choice([None, d.axis(x)])
    n = x.value.size if axis is None else x.value.shape[axis]
    shape = tuple(d.choice([0, 1, 2, 3]) for _ in range(d.whole(0, 2)))
    indices = d.input_of(d.random.integers(-n, n, shape))
    d.step("take", [x, indices], f"np.take({{0}}, {{1}}, axis={axis})")


def searching(d: Drawing) -> None:
    style = d.choice(["nonzero", "flatnonzero", "along"])
    x = d.pick(lambda m: m.ndim > 0)
    axis = d.axis(x)
    if style == "nonzero":
        part = d.whole(0, x.ndim - 1)
        d.step("nonzero", [x], f"np.nonzero({{0}})[{part}]", f"{{0}}.nonzero()[{part}]")
    elif style == "flatnonzero":
        d.step("flatnonzero", [x], "np.flatnonzero({0})")
    else:
        n = x.value.shape[axis]
        if not n:
            raise Unfit
        shape = list(x.value.shape)
        shape[axis] = d.whole(0, 3)
        indices = d.input_of(d.random.integers(0, n, shape))
        d.step("take_along_axis", [x, indices], f"np.take_along_axis({{0}}, {{1}}, axis={axis})")


FORMS = [(3.0, reading), (2.0, simple_reading), (3.0, writing), (0.6, taking), (0.8, searching)]
SMOOTH_FORMS = FORMS
