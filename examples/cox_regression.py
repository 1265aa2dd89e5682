"""Example: Cox's regression of survival after heart transplants, compared with statsmodels.

Run it as ``python cox_regression.py [picture.png]``; it needs statsmodels (with its data) and matplotlib.
"""

import sys

import numpy as np
from matplotlib.figure import Figure
from statsmodels.datasets import heart
from statsmodels.duration.hazard_regression import PHReg

import occelo as oc
import occelo.tensor as ot

# survival in days, whether death was observed, and the age, of patients with a transplanted heart
table = heart.load_pandas().data
days, died, age = (table[name].to_numpy() for name in ("survival", "censors", "age"))
years = (age - 50.0) / 10.0
covariates = np.stack([years, years**2], axis=1)

time, event, x = ot.dvector("time"), ot.dvector("event"), ot.dmatrix("x")
beta = ot.dvector("beta")

# From the latest to the earliest time: those at risk at a time are then the ones before it, and with the same time.
order = ot.argsort(-time)
score = x[order] @ beta
at_risk = ot.cumlogsumexp(score)
last_of_equals = ot.searchsorted(-time[order], -time[order], side="right") - 1
at_risk = at_risk[last_of_equals]
likelihood = (event[order] * (score - at_risk)).sum()
gradient = oc.grad(likelihood, beta)
newton = oc.function([time, event, x, beta], [likelihood, gradient, oc.hessian(likelihood, beta)])

estimate = np.zeros(2)
for step in range(20):
    value, slope, curvature = newton(days, died, covariates, estimate)
    print(f"step {step}: log likelihood {value:.6f}")
    if np.abs(slope).max() < 1e-10:
        break
    estimate = estimate - np.linalg.solve(curvature, slope)
errors = np.sqrt(np.diag(np.linalg.inv(-curvature)))
peer = PHReg(days, covariates, died, ties="breslow").fit()
np.testing.assert_allclose(value, peer.llf, rtol=1e-8)
np.testing.assert_allclose(estimate, peer.params, rtol=1e-5)
np.testing.assert_allclose(errors, peer.bse, rtol=1e-5)
print(f"{len(days)} patients, {died.sum():.0f} deaths")
for name, at, error in zip(["age", "its square"], estimate, errors, strict=True):
    print(f"{name}: {at:.3f} ± {error:.3f}")

# Breslow's estimate of the hazard of somebody aged 50: each death adds the inverse of the sum over those at risk
hazard = ot.cumsum((event[order] * ot.exp(-at_risk))[::-1])
baseline = oc.function([time, event, x, beta], [time[order][::-1], hazard])
at, summed = baseline(days, died, covariates, estimate)
figure = Figure(figsize=(7, 4), layout="constrained")
axes = figure.subplots()
for of in (30, 40, 50, 60):
    decades = (of - 50.0) / 10.0
    ratio = np.exp(np.array([decades, decades**2]) @ estimate)
    axes.step(at, np.exp(-summed * ratio), where="post", label=f"aged {of}")
    print(f"aged {of}: {100 * np.exp(-summed[at <= 365][-1] * ratio):.0f} % live for a year")
axes.set(xlabel="days", ylabel="probability to live", ylim=(0, 1), title="After a heart transplant")
axes.legend()
figure.savefig(sys.argv[1] if len(sys.argv) > 1 else "cox_regression.png", dpi=100)
