"""Example: a cart swings up its pole: the forces are found by a gradient through the equations of motion.

Run it as ``python cart_pole.py [picture.png]``; it needs matplotlib.
"""

import sys

import numpy as np
from matplotlib.figure import Figure
from scipy.integrate import solve_ivp

import occelo as oc
import occelo.tensor as ot

STEPS, H = 100, 0.02  # two seconds
CART, POLE, LENGTH, GRAVITY = 1.0, 0.3, 0.5, 9.81


def slopes(state, force, xp):
    """The derivatives of place, angle (0 hangs down), speed and angular speed; `xp` is `ot` or NumPy."""
    _, angle, speed, turning = state
    s, c = xp.sin(angle), xp.cos(angle)
    push = force + POLE * s * (LENGTH * turning**2 + GRAVITY * c)
    faster = push / (CART + POLE * s**2)
    return speed, turning, faster, -(c * faster + GRAVITY * s) / LENGTH


def runge_kutta(state, force):
    """One step of order 4, with a constant force."""

    def at(by, length):
        return tuple(v + length * d for v, d in zip(state, by, strict=True))

    a = slopes(state, force, ot)
    b = slopes(at(a, H / 2), force, ot)
    c = slopes(at(b, H / 2), force, ot)
    d = slopes(at(c, H), force, ot)
    ways = (p + 2 * q + 2 * r + t for p, q, r, t in zip(a, b, c, d, strict=True))
    return tuple(v + H / 6 * way for v, way in zip(state, ways, strict=True))


def move(state, force):
    state = runge_kutta(state, force)
    return state, ot.stack(state)


forces = ot.dvector("forces")
_, path = oc.loop(move, (0.0, 0.0, 0.0, 0.0), forces)
# at the end the pole stands, and cart and pole are at rest at the start; on the way, forces cost
miss = path[-1] - np.array([0.0, np.pi, 0.0, 0.0])
cost = 1e-3 * H * (forces**2).sum() + 10.0 * (miss**2).sum()
found = oc.minimize(
    cost, forces, np.sin(np.arange(STEPS) / 8), method="L-BFGS-B", options={"maxiter": 400}
)
states = oc.function([forces], path)(found.params)
print(f"cost {found.fun:.4f} after {found.nit} steps, {found.nfev} gradients")
print(
    f"misses the goal by {np.abs(states[-1] - [0, np.pi, 0, 0]).max():.4f}; at most {np.abs(found.params).max():.1f} N"
)
assert np.abs(states[-1] - [0, np.pi, 0, 0]).max() < 0.05

# SciPy's integrator, with the same forces, comes to the same states
state = np.zeros(4)
for force, expected in zip(found.params, states, strict=True):
    way = solve_ivp(lambda _, s, f=force: slopes(s, f, np), (0, H), state, rtol=1e-9, atol=1e-9)
    state = way.y[:, -1]
    np.testing.assert_allclose(state, expected, atol=1e-3)

figure = Figure(figsize=(9, 3.5), layout="constrained")
left, right = figure.subplots(1, 2, width_ratios=[3, 2])
for k in range(0, STEPS, 4):
    place, angle = states[k, :2]
    ends = [place, place + LENGTH * np.sin(angle)], [0, -LENGTH * np.cos(angle)]
    left.plot(*ends, color=f"{0.85 * (1 - k / STEPS):.2f}")
    left.plot(ends[0][1], ends[1][1], "o", color=f"{0.85 * (1 - k / STEPS):.2f}")
left.set(aspect="equal", xlabel="m", title="the pole, later is darker")
times = H * (np.arange(STEPS) + 1)
right.step(times, found.params, label="force, N")
right.plot(times, states[:, 1], label="angle")
right.set(xlabel="s")
right.legend()
figure.savefig(sys.argv[1] if len(sys.argv) > 1 else "cart_pole.png", dpi=100)
