"""Example: how long the sea of the El Niño remembers, by the month in which a forecast starts, with named dimensions.

Run it as ``python spring_barrier.py [picture.png]``; it needs matplotlib and statsmodels.
"""

import sys

import numpy as np
from matplotlib.figure import Figure
from statsmodels.datasets import elnino

import occelo as oc
from occelo.xtensor import as_xtensor, xtensor

# Monthly temperatures of the sea surface off Peru and Ecuador, 1950 to 2010.
table = elnino.load_pandas().data.to_numpy()[:, 1:]
YEARS, LAGS = len(table), 12

temperature = xtensor("temperature", dims=("year", "month"))
anomaly = temperature - temperature.mean("year")

# all months in one row, and of each start the month that is `lag` later: the last year only is reached, and starts nothing
months = anomaly.stack(time=("year", "month"))
start = as_xtensor(12 * np.arange(YEARS - 1), "year") + as_xtensor(np.arange(12), "month")
lag = as_xtensor(np.arange(LAGS + 1), "lag")
later = months.isel(time=start + lag)
now = later.isel(lag=0)
assert later.dims == ("year", "month", "lag")


def centred(x):
    return x - x.mean("year")


correlation = (centred(now) * centred(later)).mean("year") / (now.std("year") * later.std("year"))
remembered = oc.function([temperature], correlation)(table)

# the same by NumPy, one pair of months after the other
row = (table - table.mean(axis=0)).ravel()
for month in range(12):
    for k in range(LAGS + 1):
        first = row[month : 12 * (YEARS - 1) : 12]
        second = row[month + k :: 12][: YEARS - 1]
        np.testing.assert_allclose(remembered[month, k], np.corrcoef(first, second)[0, 1])

# A forecast for the next month: this month's anomaly times a slope of the month. The gradient has the dimension of the slopes.
slope = xtensor("slope", dims="month")
cost = ((later.isel(lag=1) - slope * now) ** 2).mean("year").sum()
assert oc.grad(cost, slope).dims == ("month",)
fitted = oc.minimize(
    cost.values, slope.values, np.zeros(12), given={temperature.values: table}
).params
best = (now * later.isel(lag=1)).sum("year") / (now**2).sum("year")
np.testing.assert_allclose(fitted, best.eval({temperature: table}), atol=1e-4)

NAMES = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
half = remembered[:, 6]
print("correlation with half a year later:", dict(zip(NAMES, half.round(2).tolist(), strict=True)))
print(f"slopes: {fitted.min():.2f} in {NAMES[fitted.argmin()]} to {fitted.max():.2f}")
assert half[5] > 0.6 > 0.25 > half[11]  # from June to December, and from December to June

figure = Figure(figsize=(9, 3.4), layout="constrained")
left, right = figure.subplots(1, 2, width_ratios=[2, 1])
drawn = left.imshow(remembered, origin="lower", aspect="auto", vmin=-0.2, vmax=1.0, cmap="viridis")
left.set(xlabel="months later", ylabel="from", yticks=range(12), yticklabels=NAMES)
left.set_title("Correlation of the sea's temperature with later months")
figure.colorbar(drawn, ax=left)
right.bar(range(12), fitted)
right.set(xticks=range(0, 12, 2), xticklabels=NAMES[::2], title="Slope of the next month")
figure.savefig(sys.argv[1] if len(sys.argv) > 1 else "el-nino.png", dpi=100)
