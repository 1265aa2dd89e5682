"""Steps of random programs: special functions; NumPy's side is `scipy.special`."""

from __future__ import annotations

from occelo_special import functions
from occelo_testing.programs.drawing import Drawing
from occelo_testing.programs.step_family import StepFamily

__all__ = ["STEPS"]

_NAMES = ("gammaln", "psi", "logit", "i0", "erfinv", "log_ndtr")


def special(d: Drawing) -> None:
    x = d.pick(lambda m: m.value.dtype.name in ("float32", "float64"))
    name = d.choice(_NAMES)
    # SciPy's i0 is NaN at infinity; it is inf from 1e4 on, and even
    given = "np.minimum(np.abs({0}), 1e4)" if name == "i0" else "{0}"
    d.step(name, [x], f"special.{name}({given})", f"special_functions.{name}({{0}})", "inside")


def smooth(d: Drawing) -> None:
    x = d.pick(lambda m: m.value.dtype.name == "float64")
    name = d.choice(("gammaln", "log_ndtr", "psi"))
    given = "{0}" if name == "log_ndtr" else "1 + {0} * {0}"
    d.step(name, [x], f"special.{name}({given})", f"special_functions.{name}({given})", "inside")


STEPS = StepFamily(
    "special functions",
    [(4.0, special)],
    [(4.0, smooth)],
    {"special_functions": functions},
    imports={"special_functions": "import occelo_special as special_functions"},
)
