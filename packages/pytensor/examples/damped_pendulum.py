"""Example: a function of PyTensor in the mode "OCCELO", and the same graph as one of Occelo.

Run it as ``python damped_pendulum.py [picture.png]``; it needs PyTensor and matplotlib. The question: which length and which friction has
a pendulum, if its angle was measured 60 times? The equation of motion is a loop of PyTensor.
"""

import sys

import numpy as np
import pytensor
import pytensor.tensor as pt
from matplotlib.figure import Figure

import occelo as oc
from occelo.pytensor import from_pytensor

STEP, COUNT = 0.05, 300
rng = np.random.default_rng(4)


def angles(parameters):
    """The angle after each step, from 1.2 radians at rest, by the semi-implicit Euler method."""
    length, friction = pt.exp(parameters[0]), pt.exp(parameters[1])

    def step(angle, speed):
        speed = speed - STEP * (9.81 / length * pt.sin(angle) + friction * speed)
        return angle + STEP * speed, speed

    start = [pt.constant(np.array(1.2)), pt.constant(np.array(0.0))]
    (angle, _), _ = pytensor.scan(step, outputs_info=start, n_steps=COUNT)
    return angle


parameters = pt.dvector("parameters")
seen = np.arange(4, COUNT, 5)
motion = pytensor.function([parameters], angles(parameters), mode="OCCELO")
true = np.log([1.5, 0.2])
measured = motion(true)[seen] + rng.normal(scale=0.05, size=len(seen))

# PyTensor's own gradient and updates, compiled here
at = pytensor.shared(np.log([1.4, 0.5]), "at")
misfit = pt.sum((angles(at)[seen] - measured) ** 2) / (2 * 0.05**2)
slope = pytensor.grad(misfit, at)
speed = pytensor.shared(np.zeros(2), "speed")
moved = 0.9 * speed - 5e-6 * slope
descend = pytensor.function([], misfit, updates={speed: moved, at: at + moved}, mode="OCCELO")
history = [float(descend()) for _ in range(300)]
found = at.get_value()

# the same formula as a graph of Occelo: its second derivatives say how certain the parameters are
(ours,), energy = from_pytensor(
    pt.sum((angles(parameters)[seen] - measured) ** 2) / (2 * 0.05**2), [parameters]
)
curvature = oc.function([ours], oc.hessian(energy, ours))(found)
deviations = np.sqrt(np.diag(np.linalg.inv(curvature)))
for name, value, deviation, truth in zip(
    ["length", "friction"], found, deviations, true, strict=True
):
    low, high = np.exp([value - 2 * deviation, value + 2 * deviation])
    print(f"{name}: {np.exp(value):.3f} ({low:.3f} to {high:.3f}), and it was {np.exp(truth):.3f}")

figure = Figure(figsize=(9, 3.2), layout="constrained")
left, right = figure.subplots(1, 2, width_ratios=[2, 1])
time = STEP * np.arange(1, COUNT + 1)
left.plot(time, motion(np.log([1.4, 0.5])), color="0.7", label="at the start")
left.plot(time, motion(found), label="found")
left.plot(time[seen], measured, "k.", label="measured")
left.set(xlabel="seconds", ylabel="angle, radians")
left.legend(ncols=3, loc="upper right")
right.semilogy(history)
right.set(xlabel="step", ylabel="misfit")
figure.savefig(sys.argv[1] if len(sys.argv) > 1 else "damped_pendulum.png", dpi=100)
