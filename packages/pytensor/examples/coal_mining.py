"""Example: one compiled model of PyMC that nutpie samples again and again, with more and more data.

Run it as ``python coal_mining.py [picture.png]``; it needs PyMC, nutpie and matplotlib. The question: when did disasters in
British coal mines become fewer (Jarrett 1979), and how early could one have known?
"""

import sys

import numpy as np
import nutpie
import pymc as pm
from matplotlib.figure import Figure

from occelo.pytensor import nutpie_model

YEARS = np.arange(1851, 1951)
DISASTERS = np.array([int(digit) for digit in (
    "454014340633402633545314415534252234213221111300101100310322"
    "0111010100021000110233112111124200140001"
)])  # fmt: skip

with pm.Model() as model:
    known = pm.Data("known", np.ones(len(YEARS)))
    rates = pm.Exponential("rates", 1.0, shape=2)
    change = pm.Uniform("change", 1851.0, 1951.0)
    width = pm.HalfNormal("width", 5.0)
    late = pm.math.sigmoid((YEARS - change) / width)
    rate = pm.Deterministic("rate", rates[0] + (rates[1] - rates[0]) * late)
    counted = pm.logp(pm.Poisson.dist(rate), DISASTERS)
    pm.Potential("counted", (known * counted).sum())

compiled = nutpie_model(model)  # the only compilation
until = [1880, 1890, 1900, 1910, 1950]
traces = {}
for year in until:
    # the years after it are not known yet
    data = compiled.with_data(known=(year >= YEARS).astype(float))
    trace = nutpie.sample(data, draws=1000, tune=1000, chains=4, seed=1, progress_bar=False)
    traces[year] = trace.posterior
    low, middle, high = np.quantile(trace.posterior["change"], [0.05, 0.5, 0.95])
    early, later = trace.posterior["rates"].mean(("chain", "draw")).values
    print(
        f"until {year}: {early:.1f} and {later:.1f} a year, change in {middle:.0f} ({low:.0f} to {high:.0f})"
    )

figure = Figure(figsize=(9, 3.2), layout="constrained")
left, right = figure.subplots(1, 2)
left.bar(YEARS, DISASTERS, color="0.8")
low, middle, high = np.quantile(traces[1950]["rate"], [0.05, 0.5, 0.95], axis=(0, 1))
left.fill_between(YEARS, low, high, alpha=0.3)
left.plot(YEARS, middle)
left.set(ylabel="disasters a year")
for k, year in enumerate(until):
    draws = traces[year]["change"].values.ravel()
    right.violinplot(draws, [k], showextrema=False, showmedians=True)
right.set(ylabel="the change", xlabel="known until")
right.set_xticks(range(len(until)), map(str, until))
figure.savefig(sys.argv[1] if len(sys.argv) > 1 else "coal_mining.png", dpi=100)
