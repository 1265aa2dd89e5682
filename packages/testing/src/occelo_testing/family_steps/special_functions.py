"""Steps of random programs: special functions; NumPy's side is `scipy.special`."""

from __future__ import annotations

import numpy as np

from occelo_special import functions
from occelo_testing.programs.drawing import Drawing
from occelo_testing.programs.elementwise import broadcasts
from occelo_testing.programs.step_family import StepFamily

_NAMES = ("gammaln", "psi", "logit", "i0", "erfinv", "log_ndtr")
_FURTHER = {
    "exp1": "1 + np.abs({0})",
    "ellipk": "np.tanh({0}) / 2",
    "ellipe": "np.tanh({0}) / 2",
    "spence": "1 + np.abs({0})",
    "dawsn": "{0}",
    "k0": "1 + np.abs({0})",
    "y1": "1 + np.abs({0})",
    "ndtri": "0.5 + np.tanh({0}) / 4",
    "exprel": "np.tanh({0})",
    "entr": "np.abs({0})",
    "cosm1": "{0}",
    "log_expit": "{0}",
    "rgamma": "1 + np.abs({0})",
}
_PAIRS = ("rel_entr", "kl_div", "beta", "betaln", "gammainc", "xlogy", "boxcox", "binom")


def special(d: Drawing) -> None:
    x = d.pick(lambda m: m.value.dtype.name in ("float32", "float64"))
    name = d.choice(_NAMES)
    # SciPy's i0 is NaN at infinity; it is inf from 1e4 on, and even
    argument = "np.minimum(np.abs({0}), 1e4)" if name == "i0" else "{0}"
    d.step(name, [x], f"special.{name}({argument})", f"special_functions.{name}({{0}})", "inside")


def further(d: Drawing) -> None:
    x = d.pick(lambda m: m.value.dtype.name == "float64" and bool((np.abs(m.value) < 50).all()))
    name = d.choice(list(_FURTHER))
    argument = _FURTHER[name]
    symbolic = f"special_functions.{name}({argument.replace('np.', 'ot.')})"
    d.step(name, [x], f"special.{name}({argument})", symbolic, "inside")


def of_two(d: Drawing) -> None:
    x, y = (
        d.pick(lambda m: m.value.dtype.name == "float64" and bool((np.abs(m.value) < 20).all()))
        for _ in range(2)
    )
    if not broadcasts(x, y):
        x = y
    name = d.choice(_PAIRS)
    arguments = "1 + np.abs({0}), 1 + np.abs({1})"
    symbolic = f"special_functions.{name}({arguments.replace('np.', 'ot.')})"
    d.step(name, [x, y], f"special.{name}({arguments})", symbolic, "cancels")


def smooth(d: Drawing) -> None:
    x = d.pick(lambda m: m.value.dtype.name == "float64")
    name = d.choice(("gammaln", "log_ndtr", "psi"))
    inner = "{0}" if name == "log_ndtr" else "1 + {0} * {0}"
    d.step(name, [x], f"special.{name}({inner})", f"special_functions.{name}({inner})", "inside")


STEPS = StepFamily(
    "special functions",
    [(4.0, special), (4.0, further), (3.0, of_two)],
    [(4.0, smooth)],
    {"special_functions": functions},
    imports={"special_functions": "import occelo_special as special_functions"},
)
