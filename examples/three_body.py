"""Example: a periodic orbit of three bodies, found by Newton's method through a loop.

Run it as ``python three_body.py [picture.png]``; it needs matplotlib. The forces are the gradient of the potential energy,
and the Jacobian of the final positions by the initial velocities goes through all steps.
"""

import sys

import numpy as np
from matplotlib.figure import Figure

import occelo as oc
import occelo.tensor as ot

# The eight of Chenciner and Montgomery (2000): three equal bodies on a line at the start, the middle one at the origin. Their
# velocities, and the period, are to be found from a guess with two digits. Equal masses, and the constant of gravity 1.
STEPS = 1500
outer = np.array([0.97000436, -0.24308753])
positions = np.stack([outer, -outer, np.zeros(2)])
pairs = np.array([[0, 1], [0, 2], [1, 2]])


def potential(q):
    return -(1.0 / ot.linalg.norm(q[pairs[:, 0]] - q[pairs[:, 1]], axis=1)).sum()


def energy_of(q, p):
    return 0.5 * (p**2).sum() + potential(q)


def force(q):
    return -oc.grad(potential(q), q)


def leapfrog(state, h):
    """A symplectic step: the energy does not drift."""
    q, p = state
    p = p + 0.5 * h * force(q)
    q = q + h * p
    return q, p + 0.5 * h * force(q)


def euler(state, h):
    q, p = state
    return q + h * p, p + h * force(q)


def follow(step, p, length, steps):
    def keep(state):
        state = step(state, length / steps)
        return state, (state[0], energy_of(*state))

    return oc.loop(keep, (ot.constant(positions), p), length=steps)


# three unknowns: the velocity of the middle body, and the period; the outer bodies have minus half of that velocity
unknown = ot.dvector("unknown")
velocity, period = unknown[:2], unknown[2]
momenta = ot.stack([-0.5 * velocity, -0.5 * velocity, velocity])
(q, p), _ = follow(leapfrog, momenta, period, STEPS)
# after a period the bodies are where they were, with the velocities that they had
gap = ot.concatenate([(q - positions).ravel(), (p - momenta).ravel()])
shoot = oc.function([unknown], [gap, oc.jacobian(gap, unknown)])

at = np.array([-0.93, -0.86, 6.3])
for steps in range(12):
    miss, jacobian = shoot(at)
    print(f"step {steps}: misses by {np.abs(miss).max():.1e}")
    if np.abs(miss).max() < 1e-9:
        break
    at = at - np.linalg.lstsq(jacobian, miss)[0]
print(f"velocity ({at[0]:.6f}, {at[1]:.6f}), period {at[2]:.6f}")
# with the numbers that are known of it
np.testing.assert_allclose(at, [-0.93240737, -0.86473146, 6.32591398], rtol=1e-4)

draw = []
for step in (leapfrog, euler):
    _, (path, energy) = follow(step, momenta, 5.0 * period, 5 * STEPS)
    draw.append(oc.function([unknown], [path, energy]))
(path, energy), (_, of_euler) = draw[0](at), draw[1](at)
drift = [np.abs(e - energy[0]).max() for e in (energy, of_euler)]
print(f"in five periods the energy changes by {drift[0]:.1e}; with Euler's steps by {drift[1]:.1e}")
assert drift[0] < 1e-4 < drift[1]

figure = Figure(figsize=(9, 3.5), layout="constrained")
left, right = figure.subplots(1, 2, width_ratios=[3, 2])
left.plot(*path[:STEPS, 0].T, color="0.7")
for body, colour in enumerate(["C0", "C1", "C2"]):
    left.plot(*path[: STEPS // 6, body].T, color=colour, linewidth=3)
    left.plot(*path[STEPS // 6 - 1, body], "o", color=colour, markersize=9)
left.set(aspect="equal", title="the orbit; coloured: a sixth of the period")
right.semilogy(np.abs(energy - energy[0]) + 1e-16, label="leapfrog")
right.semilogy(np.abs(of_euler - energy[0]) + 1e-16, label="Euler")
right.set(xlabel="step", ylabel="change of the energy", ylim=(1e-9, 10))
right.legend()
figure.savefig(sys.argv[1] if len(sys.argv) > 1 else "three_body.png", dpi=100)
