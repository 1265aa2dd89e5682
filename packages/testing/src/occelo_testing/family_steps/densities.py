"""Steps of random programs: densities and distribution functions; NumPy's side is `scipy.stats`."""

from __future__ import annotations

import numpy as np
import scipy.stats as scipy_stats

from occelo_stats import functions as stats
from occelo_testing.programs.drawing import Drawing, Made
from occelo_testing.programs.elementwise import broadcasts
from occelo_testing.programs.step_family import StepFamily

# expressions for values inside the support, in which {0} is a number; and for parameters, with {1} and {2}
_CONTINUOUS = {
    "norm": ("{0}", "{1}, np.abs({2}) + 0.5"),
    "gamma": ("np.abs({0}) + 0.1", "np.abs({1}) + 0.5, scale=np.abs({2}) + 0.5"),
    "beta": ("0.1 + 0.8 / (1 + np.exp(-{0}))", "np.abs({1}) + 0.5, np.abs({2}) + 0.5"),
    "expon": ("np.abs({0})", "{1}, np.abs({2}) + 0.5"),
    "cauchy": ("{0}", "{1}, np.abs({2}) + 0.5"),
    "logistic": ("{0}", "{1}, np.abs({2}) + 0.5"),
    "laplace": ("{0}", "{1}, np.abs({2}) + 0.5"),
    "t": ("{0}", "np.abs({1}) + 1.5, scale=np.abs({2}) + 0.5"),
}
_DISCRETE = {
    "poisson": ("np.floor(np.abs({0}))", "np.abs({1}) + np.abs({2}) + 0.5"),
    "binom": ("np.floor(np.abs({0}))", "np.floor(np.abs({1})) + 5, 1 / (1.5 + np.abs({2}))"),
    "geom": ("np.floor(np.abs({0})) + 1", "1 / (1.5 + np.abs({1}) + np.abs({2}))"),
}


def _arguments(d: Drawing) -> list[Made]:
    def fits(m: Made) -> bool:
        return m.value.dtype == np.float64 and bool((np.abs(m.value) < 30).all())

    x = d.pick(fits)
    y = d.pick(lambda m: fits(m) and broadcasts(m, x))
    return [x, y, d.pick(lambda m: fits(m) and broadcasts(m, x) and broadcasts(m, y))]


def _call(d: Drawing, name: str, method: str, value: str, parameters: str) -> None:
    args = _arguments(d)
    text = f"{name}.{method}({value}, {parameters})"
    d.step(
        f"{name}.{method}",
        args,
        f"scipy_stats.{text}",
        f"stats.{text}".replace("np.", "ot."),
        "cancels",
    )


def continuous(d: Drawing) -> None:
    name = d.choice(list(_CONTINUOUS))
    inside, parameters = _CONTINUOUS[name]
    methods = ["logpdf", "logpdf", "pdf", "cdf", "sf", "logcdf"]
    if d.profile.smooth:
        # SciPy's distribution functions are too inexact for differences in some parameters
        methods = ["logpdf", "pdf"] if name in ("gamma", "beta", "t") else ["logpdf", "cdf"]
    value = inside if d.profile.smooth or d.chance(0.7) else "{0}"
    _call(d, name, d.choice(methods), value, parameters)


def discrete(d: Drawing) -> None:
    name = d.choice(list(_DISCRETE))
    inside, parameters = _DISCRETE[name]
    _call(d, name, d.choice(["logpmf", "logpmf", "pmf", "cdf"]), inside, parameters)


def counts(d: Drawing) -> None:
    """Counts as integers, and the density of Poisson's law."""
    k = d.pick(lambda m: m.kind in "iu" and bool((np.abs(m.value.astype(float)) < 1000).all()))
    rate = d.pick(
        lambda m: (
            m.value.dtype == np.float64 and broadcasts(m, k) and bool((np.abs(m.value) < 30).all())
        )
    )
    method = d.choice(["logpmf", "pmf", "cdf"])
    text = f"poisson.{method}({{0}}, np.abs({{1}}) + 0.5)"
    d.step(
        f"poisson.{method}",
        [k, rate],
        f"scipy_stats.{text}",
        f"stats.{text}".replace("np.", "ot."),
        "cancels",
    )


STEPS = StepFamily(
    "densities",
    [(4.0, continuous), (2.0, discrete), (2.0, counts)],
    [(4.0, continuous)],
    {"stats": stats},
    modules={"scipy_stats": scipy_stats},
    imports={
        "stats": "from occelo.tensor import stats",
        "scipy_stats": "import scipy.stats as scipy_stats",
    },
)
