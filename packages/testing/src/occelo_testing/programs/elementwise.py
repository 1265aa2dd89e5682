"""Elementwise steps of random programs; `generating` chooses from the lists `FORMS` and `SMOOTH_FORMS`."""

from __future__ import annotations

import numpy as np

from occelo_testing.programs.drawing import Drawing, Made, Unfit

# functions with the same name in NumPy and Occelo, each with the kinds of dtypes that it accepts
_EXACT_UNARY = {
    "negative": "iufc",
    "abs": "iufb",
    "floor": "f",
    "ceil": "f",
    "trunc": "f",
    "round": "f",
    "isnan": "f",
    "isinf": "f",
    "isfinite": "f",
    "sign": "iuf",
    "conj": "iufc",
    "real": "fc",
    "imag": "fc",
}
_ROUNDING_UNARY = {
    "exp": "fiucb",
    "exp2": "f",
    "expm1": "fi",
    "log": "fi",
    "log2": "f",
    "log10": "f",
    "log1p": "f",
    "sqrt": "fic",
    "sin": "ficb",
    "cos": "fic",
    "tan": "f",
    "sinh": "f",
    "cosh": "fc",
    "tanh": "fci",
    "arcsin": "f",
    "arccos": "f",
    "arctan": "f",
    "arcsinh": "f",
    "arccosh": "f",
    "arctanh": "f",
    "square": "iufc",
    "reciprocal": "fc",
    "deg2rad": "f",
    "rad2deg": "f",
    "angle": "c",
    "abs": "c",
}
_SPECIAL = ("erf", "erfc", "expit", "erfcx")
_SYMBOLIC = {"negative": "neg", "square": "sqr"}
_BINARY = ("+", "-", "*")
_SMOOTH_UNARY = (
    "exp",
    "sin",
    "cos",
    "tanh",
    "square",
    "arctan",
    "expm1",
    "log1p",
    "sqrt",
    "log",
    "reciprocal",
    "arcsinh",
    "sinh",
    "cosh",
)


def broadcasts(a: Made, b: Made) -> bool:
    """Whether two nodes broadcast in NumPy and in Occelo. In Occelo only static lengths of 1 broadcast."""
    pairs = zip(
        reversed(a.value.shape),
        reversed(b.value.shape),
        reversed(a.static),
        reversed(b.static),
        strict=False,
    )
    return all(m == n or (m == 1 and s == 1) or (n == 1 and t == 1) for m, n, s, t in pairs)


def unary(d: Drawing) -> None:
    if d.chance(0.45):
        x = d.pick()
        name = d.choice([n for n, kinds in _EXACT_UNARY.items() if x.kind in kinds])
        if name in ("real", "imag") or name == "round":
            d.step(name, [x], f"np.{name}({{0}})")
        else:
            d.step(name, [x], f"np.{name}({{0}})", f"ot.{_SYMBOLIC.get(name, name)}({{0}})")
        return
    x = d.pick()
    name = d.choice([n for n, kinds in _ROUNDING_UNARY.items() if x.kind in kinds])
    integral = name in ("square",)
    d.step(
        name, [x], f"np.{name}({{0}})", f"ot.{_SYMBOLIC.get(name, name)}({{0}})", "inside", integral
    )


def special(d: Drawing) -> None:
    x = d.pick(lambda m: m.value.dtype.name in ("float32", "float64"))
    name = d.choice(_SPECIAL)
    d.step(name, [x], f"special.{name}({{0}})", f"ot.{name}({{0}})", "inside")


def composed(d: Drawing) -> None:
    x = d.pick(lambda m: m.kind == "f")
    if d.chance(0.5):
        d.step("sigmoid", [x], "sigmoid({0})", "ot.sigmoid({0})", "inside")
    else:
        d.step("softplus", [x], "np.logaddexp(0, {0})", "ot.softplus({0})", "inside")


def _pair(d: Drawing) -> tuple[Made, Made]:
    x = d.pick()
    return (
        (x, d.pick(lambda m: broadcasts(m, x)))
        if d.chance(0.5)
        else (d.pick(lambda m: broadcasts(m, x)), x)
    )


def _literal(d: Drawing, x: Made) -> str:
    if x.kind in "iu":
        return d.choice(
            [
                "0",
                "1",
                "2",
                "3",
                "np.int8(2)",
                "np.float32(0.5)",
                "1.5",
                "np.array([[2]])",
                "np.array([1])",
            ]
        )
    if x.kind == "b":
        return d.choice(["np.True_", "2", "0.5", "np.array(True)"])
    return d.choice(
        [
            "0",
            "1",
            "2",
            "-1",
            "0.5",
            "3.0",
            "0.1",
            "np.float32(0.5)",
            "np.int64(2)",
            "np.array([[2.0]])",
            "np.array([0.5])",
            "np.array(-1.5)",
            "np.array(2, 'int8')",
            "1e-3",
        ]
    )


def arithmetic(d: Drawing) -> None:
    sign = d.choice(_BINARY)
    if d.chance(0.35):
        x = d.pick()
        literal = _literal(d, x)
        text = f"{{0}} {sign} {literal}" if d.chance(0.6) else f"{literal} {sign} {{0}}"
        d.step("arithmetic", [x], text, text, "result", True)
        return
    _of_pair(d, sign)


def _of_pair(d: Drawing, sign: str) -> None:
    a, b = _pair(d)
    if sign == "-" and a.kind == b.kind == "b":
        raise Unfit
    text = f"{{0}} {sign} {{1}}"
    d.step("arithmetic", [a, b], text, text, "result", True)


def plain_arithmetic(d: Drawing) -> None:
    """A sum, difference or product of two nodes, or a multiple of a node plus a constant."""
    if d.chance(0.6):
        _of_pair(d, d.choice(_BINARY))
        return
    text = f"{{0}} * {d.choice(['0.5', '-1.0', '2.0'])} + {d.choice(['0.0', '1.0'])}"
    d.step("arithmetic", [d.pick()], text, text, "result", True)


def division(d: Drawing) -> None:
    sign = d.choice(["/", "/", "//", "%"])
    if d.chance(0.4):
        x = d.pick(lambda m: m.kind in ("iuf" if sign != "/" else "biufc"))
        literal = _literal(d, x)
        text = f"{{0}} {sign} {literal}" if d.chance(0.6) else f"{literal} {sign} {{0}}"
        d.step("division", [x], text, text, "result")
        return
    a, b = _pair(d)
    if sign != "/" and (a.kind in "cb" or b.kind in "cb"):
        raise Unfit
    text = f"{{0}} {sign} {{1}}"
    d.step("division", [a, b], text, text, "result")


def powers(d: Drawing) -> None:
    # complex powers of infinities and zeros depend on the algorithm, so they are avoided
    x = d.pick(
        lambda m: (
            m.kind in "iuf"
            or (m.kind == "c" and bool((np.isfinite(m.value) & (m.value != 0)).all()))
        )
    )
    if d.chance(0.7):
        exponent = d.choice(
            ["2", "3", "0", "1", "0.5", "-1", "-2", "2.0", "1.5", "-0.5", "np.float32(2)", "4"]
        )
        # for integers and the exponent np.float32(2), NumPy 2.0 computes ``**`` in float64, unlike
        # np.power
        d.step("power", [x], f"np.power({{0}}, {exponent})", f"{{0}} ** {exponent}", "inside")
        return
    y = d.pick(lambda m: broadcasts(m, x) and m.kind in "iuf")
    d.step("power", [x, y], "np.power({0}, {1})", "{0} ** {1}", "inside")


def two_arguments(d: Drawing) -> None:
    name = d.choice(["maximum", "minimum", "maximum", "minimum", "arctan2", "logaddexp"])
    a, b = _pair(d)
    kinds = "biuf" if name.endswith("mum") else "f"
    if a.kind not in kinds or b.kind not in kinds:
        raise Unfit
    d.step(
        name,
        [a, b],
        f"np.{name}({{0}}, {{1}})",
        f"ot.{name}({{0}}, {{1}})",
        "zeros" if kinds != "f" else "inside",
    )


def comparison(d: Drawing) -> None:
    sign = d.choice(["<", "<=", ">", ">=", "==", "!="])
    names = {"==": "eq", "!=": "neq"}
    if d.chance(0.4):
        x = d.pick(lambda m: m.kind != "c" or sign in names)
        other = _literal(d, x)
        args, second = [x], other
    else:
        a, b = _pair(d)
        args, second = [a, b], "{1}"
        if sign not in names and "c" in (a.kind, b.kind):
            raise Unfit
    text = f"{{0}} {sign} {second}"
    d.step(
        "comparison", args, text, f"ot.{names[sign]}({{0}}, {second})" if sign in names else text
    )


def logic(d: Drawing) -> None:
    a, b = _pair(d)
    if a.kind not in "biu" or b.kind not in "biu":
        raise Unfit
    sign = d.choice(["&", "|", "^"])
    d.step("logic", [a, b], f"{{0}} {sign} {{1}}", f"{{0}} {sign} {{1}}")


def inversion(d: Drawing) -> None:
    x = d.pick(lambda m: m.kind in "biu")
    d.step("invert", [x], "~{0}", "~{0}")


def selection(d: Drawing) -> None:
    condition = d.pick(lambda m: m.kind == "b")
    a = d.pick(lambda m: broadcasts(m, condition))
    if d.chance(0.3):
        literal = _literal(d, a)
        d.step(
            "switch",
            [condition, a],
            f"np.where({{0}}, {{1}}, {literal})",
            f"ot.switch({{0}}, {{1}}, {literal})",
        )
        return
    b = d.pick(lambda m: broadcasts(m, condition) and broadcasts(m, a))
    d.step("switch", [condition, a, b], "np.where({0}, {1}, {2})", "ot.switch({0}, {1}, {2})")


def branch(d: Drawing) -> None:
    condition = d.pick(lambda m: m.kind == "b" and m.ndim == 0)
    a = d.pick()
    b = d.pick(lambda m: m.ndim == a.ndim and m.value.dtype == a.value.dtype)
    d.step("ifelse", [condition, a, b], "({1} if {0} else {2})", "ot.ifelse({0}, {1}, {2})")


def closeness(d: Drawing) -> None:
    x = d.pick(lambda m: m.kind == "f")
    y = d.pick(lambda m: m.kind == "f" and broadcasts(m, x))
    d.step("isclose", [x, y], "np.isclose({0}, {1})")


def clipping(d: Drawing) -> None:
    x = d.pick(lambda m: m.kind in "iuf")
    if d.chance(0.6):
        low, high = (
            ("0", "3") if x.kind == "u" else d.choice([("-1", "1"), ("0", "3"), ("-2", "2")])
        )
        d.step("clip", [x], f"np.clip({{0}}, {low}, {high})", None, "zeros")
        return
    low_, high_ = (d.pick(lambda m: broadcasts(m, x) and m.kind in "iuf") for _ in range(2))
    if not broadcasts(low_, high_):
        raise Unfit
    d.step("clip", [x, low_, high_], "np.clip({0}, {1}, {2})", None, "zeros")


def conversion(d: Drawing) -> None:
    x = d.pick()
    dtype = d.choice(d.profile.dtypes)
    if x.kind == "c" and np.dtype(dtype).kind != "c":
        raise Unfit
    if x.kind == "f" and np.dtype(dtype).kind in "iu":
        # the result for a number outside of the range of the dtype depends on the processor
        if not np.isfinite(x.value).all():
            raise Unfit
        info = np.iinfo(dtype)
        wide = x.value.astype("float64")
        if wide.size and (wide.min() < info.min or wide.max() > info.max / 2):
            raise Unfit
    rounds = "result" if np.dtype(dtype).kind in "fc" else "no"
    text = f"{{0}}.astype({dtype!r})"
    d.step("cast", [x], text, text, rounds, True)


def constant(d: Drawing) -> None:
    dtype = d.choice(d.profile.dtypes)
    shape = tuple(d.choice(d.lengths) for _ in range(d.whole(0, 2)))
    style = d.whole(0, 2)
    if style == 0:
        d.step("zeros", [], f"np.zeros({shape}, {dtype!r})")
    elif style == 1:
        d.step("ones", [], f"np.ones({shape}, {dtype!r})")
    else:
        values = d.random.integers(0, 5, shape).tolist()
        text = f"np.array({values}, {dtype!r}).reshape({shape})"
        d.step("constant", [], text, f"ot.constant({text})")


def smooth_unary(d: Drawing) -> None:
    x = d.pick(lambda m: m.kind == "f")
    name = d.choice(_SMOOTH_UNARY)
    if name in ("log", "log1p", "sqrt", "reciprocal") and (x.value < 0.3).any():
        d.step("above", [x], "{0} * {0} + 0.5", "{0} * {0} + 0.5", "result")
        return
    if x.value.size and np.abs(x.value).max() > 20:
        name = d.choice(["sin", "arctan", "tanh"])
    d.step(name, [x], f"np.{name}({{0}})", f"ot.{_SYMBOLIC.get(name, name)}({{0}})", "inside")


def kinked(d: Drawing) -> None:
    x = d.pick(lambda m: m.kind == "f")
    y = d.pick(lambda m: m.kind == "f" and broadcasts(m, x))
    name, numpy, symbolic = d.choice(
        [
            ("maximum", "np.maximum({0}, {1})", "ot.maximum({0}, {1})"),
            ("minimum", "np.minimum({0}, {1})", "ot.minimum({0}, {1})"),
            ("abs", "np.abs({0})", "ot.abs({0})"),
            ("switch", "np.where({0} > 0, {0}, {1})", "ot.switch({0} > 0, {0}, {1})"),
            ("clip", "np.clip({0}, -1, 1)", "ot.clip({0}, -1, 1)"),
        ]
    )
    d.step(name, [x, y], numpy, symbolic)


FORMS = [
    (5.0, unary),
    (0.7, special),
    (1.0, composed),
    (7.0, arithmetic),
    (3.0, division),
    (1.5, powers),
    (2.0, two_arguments),
    (2.5, comparison),
    (1.0, logic),
    (0.5, inversion),
    (2.0, selection),
    (0.5, branch),
    (0.4, closeness),
    (1.0, clipping),
    (2.0, conversion),
    (1.5, constant),
]
SMOOTH_FORMS = [
    (5.0, smooth_unary),
    (1.0, composed),
    (7.0, arithmetic),
    (1.5, kinked),
    (1.0, constant),
]
