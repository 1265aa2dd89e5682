"""Example: a model of PyMC, sampled by PyMC in the mode "OCCELO", and by nutpie with other data.

Run it as ``python eight_schools.py [picture.png]``; it needs PyMC, nutpie and matplotlib. The question: how much did coaching
help in eight schools (Rubin 1981), and what would be said if every school had been measured twice as exactly?
"""

import sys

import numpy as np
import nutpie
import pymc as pm
from matplotlib.figure import Figure

import occelo.pytensor

effect = np.array([28.0, 8, -3, 7, -1, 1, 18, 12])
errors = np.array([15.0, 10, 16, 11, 9, 11, 10, 18])
schools = list("ABCDEFGH")

with pm.Model(coords={"school": schools}) as model:
    error = pm.Data("error", errors, dims="school")
    mean = pm.Normal("mean", 0.0, 5.0)
    spread = pm.HalfCauchy("spread", 5.0)
    raw = pm.Normal("raw", 0.0, 1.0, dims="school")
    helped = pm.Deterministic("helped", mean + spread * raw, dims="school")
    pm.Normal("measured", helped, error, observed=effect, dims="school")

# PyMC's own sampler; every function that it compiles is compiled here
with occelo.pytensor.use(), model:
    by_pymc = pm.sample(draws=1000, chains=2, cores=1, progressbar=False, random_seed=1)

# nutpie calls machine code on its own threads; other data need no compiling
compiled = occelo.pytensor.nutpie_model(model)
options = {"draws": 1000, "chains": 4, "seed": 1, "progress_bar": False}
by_nutpie = nutpie.sample(compiled, **options)
twice = nutpie.sample(compiled.with_data(error=errors / 2), **options)

figure = Figure(figsize=(9, 3.6), layout="constrained")
axes = figure.subplots()
traces = {"PyMC": by_pymc, "nutpie": by_nutpie, "nutpie, errors halved": twice}
for k, (name, trace) in enumerate(traces.items()):
    draws = trace.posterior["helped"].values.reshape(-1, len(schools))
    low, middle, high = np.quantile(draws, [0.1, 0.5, 0.9], axis=0)
    places = np.arange(len(schools)) + 0.2 * (k - 1)
    axes.errorbar(places, middle, [middle - low, high - middle], fmt="o", label=name)
    print(f"{name}: " + ", ".join(f"{s} {m:.1f}" for s, m in zip(schools, middle, strict=True)))
axes.plot(np.arange(len(schools)), effect, "kx", label="measured")
axes.set(ylabel="points gained, 10 to 90 %")
axes.set_xticks(np.arange(len(schools)), schools)
axes.legend(loc="upper center", ncols=2)
figure.savefig(sys.argv[1] if len(sys.argv) > 1 else "eight_schools.png", dpi=100)
