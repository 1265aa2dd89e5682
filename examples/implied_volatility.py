"""Example: the Greeks of options, and the volatility that a price implies, by Newton's method in a loop.

Run it as ``python implied_volatility.py [picture.png]``; it needs matplotlib. The prices are those of Merton's model, in which the
price of the stock jumps (1976, doi:10.1016/0304-405X(76)90022-2): with Black and Scholes' formula they imply a smile.
"""

import sys

import numpy as np
from matplotlib.figure import Figure
from scipy.optimize import brentq
from scipy.stats import norm

import occelo as oc
import occelo.tensor as ot

RATE, SPOT = 0.02, 100.0


def black_scholes(spot, strike, years, volatility, rate=RATE):
    """The price of a call option."""
    spread = volatility * ot.sqrt(years)
    d = ot.log(spot / strike) / spread + rate * years / spread + 0.5 * spread
    return spot * ot.ndtr(d) - strike * ot.exp(-rate * years) * ot.ndtr(d - spread)


spot, strike, years, volatility = ot.dvectors("spot", "strike", "years", "volatility")
price = black_scholes(spot, strike, years, volatility)
# each price depends on the numbers of its own option alone, so that the gradient of the sum has all derivatives
delta, vega, theta = oc.grad(price.sum(), [spot, volatility, years])
gamma = oc.grad(delta.sum(), spot)
greeks = oc.function([spot, strike, years, volatility], [price, delta, gamma, vega, -theta])

strikes = np.linspace(60.0, 140.0, 81)
terms = np.array([1.0, 3.0, 12.0]) / 12.0
k, t = (v.ravel() for v in np.meshgrid(strikes, terms))
spots = np.full(k.shape, SPOT)
_, by_spot, _, by_volatility, _ = greeks(spots, k, t, np.full(k.shape, 0.2))
d = (np.log(SPOT / k) + (RATE + 0.02) * t) / (0.2 * np.sqrt(t))
np.testing.assert_allclose(by_spot, norm.cdf(d), rtol=1e-10, atol=1e-15)
np.testing.assert_allclose(by_volatility, SPOT * norm.pdf(d) * np.sqrt(t), rtol=1e-8, atol=1e-13)

# Merton's price: that of Black and Scholes for each number of jumps, by the probability of this number
JUMPS, MEAN, SIZE, QUIET = (
    0.5,
    -0.1,
    0.15,
    0.15,
)  # jumps in a year, mean and deviation of their logarithm, volatility
grown = np.exp(MEAN + 0.5 * SIZE**2)
n = np.arange(30.0)[:, None]
log_probability = ot.xlogy(n, JUMPS * grown * years) - JUMPS * grown * years - ot.gammaln(n + 1)
of_jumps = black_scholes(
    spot,
    strike,
    years,
    ot.sqrt(QUIET**2 + n * SIZE**2 / years),
    RATE - JUMPS * (grown - 1.0) + n * np.log(grown) / years,
)
merton = oc.function([spot, strike, years], (ot.exp(log_probability) * of_jumps).sum(axis=0))

# The volatility of all options at once. Newton's steps that would leave the interval are bisections.
asked = ot.dvector("asked")


def improve(low, high, guess):
    value = black_scholes(spot, strike, years, guess)
    slope = oc.grad(value.sum(), guess)
    low, high = ot.where(value < asked, guess, low), ot.where(value < asked, high, guess)
    newton = guess - (value - asked) / slope
    inside = (newton > low) & (newton < high)
    return low, high, ot.where(inside, newton, 0.5 * (low + high))


def is_open(low, high, guess):
    return (abs(black_scholes(spot, strike, years, guess) - asked) > 1e-12 * spot).any()


bounds = [ot.full_like(asked, v) for v in (1e-3, 4.0, 0.3)]
implied = oc.while_loop(lambda s: is_open(*s), lambda s: improve(*s), tuple(bounds), max_steps=60)[
    2
]
invert = oc.function([spot, strike, years, asked], implied)
smile = invert(spots, k, t, merton(spots, k, t))
back = greeks(spots, k, t, smile)[0]
print(f"{len(k)} options, prices met within {np.abs(back - merton(spots, k, t)).max():.1e}")
for i in (10, 120, 200):
    target = float(merton(spots, k, t)[i])
    root = brentq(
        lambda v, i=i, target=target: float(greeks(spots, k, t, np.full(k.shape, v))[0][i]) - target,
        1e-3, 4.0, xtol=1e-14,
    )  # fmt: skip
    np.testing.assert_allclose(smile[i], root, rtol=1e-5)

figure = Figure(figsize=(8, 3.5), layout="constrained")
left, right = figure.subplots(1, 2)
_, of_spot, curvature, _, decay = greeks(
    np.full(81, SPOT), strikes, np.full(81, 0.25), np.full(81, 0.2)
)
left.plot(strikes, of_spot, label="delta")
left.plot(strikes, 10 * curvature, label="10 gamma")
left.plot(strikes, decay / 10, label="theta / 10, by year")
left.set(xlabel="strike", title="Greeks of an option of three months")
for volatilities, term in zip(smile.reshape(len(terms), -1), terms, strict=True):
    right.plot(strikes, volatilities, label=f"{12 * term:g} months")
right.set(xlabel="strike", ylabel="implied volatility", title="the smile of jumps")
for axes in (left, right):
    axes.legend()
figure.savefig(sys.argv[1] if len(sys.argv) > 1 else "implied_volatility.png", dpi=100)
