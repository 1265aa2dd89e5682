"""Example: Newton's method for a logistic regression whose rows are divided over eight devices.

Run it as ``python many_devices.py [picture.png]``; it needs scikit-learn (with its data of tumours), JAX and matplotlib. The devices
are made of one processor: the script shows how work is divided, and not how fast it then is.
"""

import os
import subprocess
import sys

DEVICES = 8
FLAG = f"--xla_force_host_platform_device_count={DEVICES}"


def main(picture):
    """What one process does, which has all devices."""
    import jax
    import numpy as np
    from matplotlib.figure import Figure
    from sklearn.datasets import load_breast_cancer

    import occelo as oc
    import occelo.tensor as ot

    def newton(x, y, mode):
        """A function that makes a step of Newton's method, and the weights that it moves."""
        w = oc.shared(np.zeros(31), "w")
        loss = ot.softplus(ot.where(y, -1.0, 1.0) * (x @ w[1:] + w[0])).sum() + 0.5 * (w**2).sum()
        move = ot.linalg.solve(oc.hessian(loss, w), oc.grad(loss, w), assume_a="pos")
        return oc.function([x, y], loss, updates={w: w - move}, mode=mode), w

    features, benign = load_breast_cancer(return_X_y=True)
    rows = len(features) // DEVICES * DEVICES  # every device gets as many
    features = ((features - features.mean(axis=0)) / features.std(axis=0))[:rows]
    benign = benign[:rows] == 1

    x, y = ot.dmatrix("x"), ot.vector("y", dtype="bool")
    mesh = jax.sharding.Mesh(np.array(jax.devices()), ("data",))
    divided, weights = newton(
        x, y, oc.Mode("jax", mesh=mesh, placements={"x": ("data", None), "y": ("data",)})
    )
    alone, expected = newton(x, y, None)
    losses = np.array([(divided(features, benign), alone(features, benign)) for _ in range(10)])
    np.testing.assert_allclose(losses[:, 0], losses[:, 1], rtol=1e-10)
    np.testing.assert_allclose(weights.get_value(), expected.get_value(), rtol=1e-7)
    assert losses[-2, 0] - losses[-1, 0] < 1e-8
    print(
        f"{rows} rows over {len(mesh.devices)} devices: loss {losses[0, 0]:.2f} to {losses[-1, 0]:.2f}"
    )
    print(f"one processor, native code: {losses[-1, 1]:.2f}")

    placed = jax.device_put(features, jax.sharding.NamedSharding(mesh, jax.P("data", None)))
    w = weights.get_value()
    figure = Figure(figsize=(9, 3.5), layout="constrained")
    left, right = figure.subplots(1, 2, width_ratios=[1, 2])
    left.semilogy(losses[:, 0], "o-", label="eight devices")
    left.semilogy(losses[:, 1], "k.", label="one processor")
    left.set(xlabel="step of Newton's method", ylabel="loss")
    left.legend()
    for shard in placed.addressable_shards:
        at = np.arange(rows)[shard.index[0]]
        right.plot(at, features[at] @ w[1:] + w[0], ".", label=f"device {shard.device.id}")
    right.set(xlabel="row", ylabel="score", title="the rows that each device has")
    figure.savefig(picture, dpi=100)


if FLAG in os.environ.get("XLA_FLAGS", ""):
    main(sys.argv[1] if len(sys.argv) > 1 else "many_devices.png")
else:
    # JAX reads this when it begins, so that the devices are those of a process of their own
    flags = f"{os.environ.get('XLA_FLAGS', '')} {FLAG}"
    subprocess.run(
        [sys.executable, *sys.argv],
        env={**os.environ, "XLA_FLAGS": flags, "JAX_PLATFORMS": "cpu"},
        check=True,
    )
