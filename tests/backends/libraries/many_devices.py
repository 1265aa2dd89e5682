"""The script that `test_devices` runs: it trains a network divided over several devices and compares with one device.

    python many_devices.py data|model [process_of process_count address]

Prints what it found as JSON.
"""

from __future__ import annotations

import json
import os
import re
import sys
from typing import Any

COUNT = 8
HOW = sys.argv[1]
PLACE = sys.argv[2:]
PROCESSES = int(PLACE[1]) if PLACE else 1
os.environ["JAX_PLATFORMS"] = "cpu"
os.environ["XLA_FLAGS"] = f"--xla_force_host_platform_device_count={COUNT // PROCESSES}"

import jax  # noqa: E402

if PLACE:
    jax.distributed.initialize(PLACE[2], PROCESSES, int(PLACE[0]))

import numpy as np  # noqa: E402
from jax.sharding import AxisType, Mesh  # noqa: E402

import occelo_compile as oc  # noqa: E402
from occelo_graph import grad  # noqa: E402
from occelo_graph import tensor as ot  # noqa: E402

ROWS, PIXELS, HIDDEN, CLASSES = 64, 64, 512 if HOW == "model" else 64, 16
PLACEMENTS: dict[str, dict[str, Any]] = {
    "data": {"x": ("devices", None), "t": ("devices",)},
    "model": {
        "w1": (None, "devices"),
        "b1": ("devices",),
        "w2": ("devices", None),
    },
}


def training_step(mode: Any) -> tuple[Any, list[Any]]:
    """The step of the demo's network, and its weights."""
    rng = np.random.default_rng(0)
    x, t = ot.dmatrix("x"), ot.lvector("t")
    w1 = oc.shared(rng.normal(size=(PIXELS, HIDDEN)) / 8, "w1")
    b1 = oc.shared(np.zeros(HIDDEN), "b1")
    w2 = oc.shared(rng.normal(size=(HIDDEN, CLASSES)) / 8, "w2")
    b2 = oc.shared(np.zeros(CLASSES), "b2")
    scores = ot.log_softmax(ot.dot(ot.tanh(ot.dot(x, w1) + b1), w2) + b2, axis=1)
    onehot = ot.eq(t[:, None], ot.arange(CLASSES)[None, :])
    cost = -ot.where(onehot, scores, 0.0).sum(axis=1).mean()
    weights = [w1, b1, w2, b2]
    updates = [(w, w - 0.5 * g) for w, g in zip(weights, grad(cost, weights), strict=True)]
    return oc.function([x, t], cost, updates=updates, mode=mode), weights


def largest_gather(text: str) -> int:
    """The most elements that an all-gather of a compiled program makes."""
    sizes = [0]
    for line in text.splitlines():
        found = re.search(r"= \w+\[([\d,]*)\]\S* all-gather", line)
        if found:
            sizes.append(int(np.prod([int(n) for n in found.group(1).split(",") if n])))
    return max(sizes)


def bytes_per_device(traced: Any, given: Any) -> int:
    """What XLA says a device needs: arguments, results and working memory, less what is shared."""
    with jax.enable_x64(True):
        memory = traced.lowered.lower(*given).compile().memory_analysis()
    return int(
        memory.argument_size_in_bytes
        + memory.output_size_in_bytes
        + memory.temp_size_in_bytes
        - memory.alias_size_in_bytes
    )


def main() -> None:
    rng = np.random.default_rng(1)
    x = rng.normal(size=(ROWS, PIXELS))
    t = rng.integers(0, CLASSES, size=ROWS)
    mesh = Mesh(np.array(jax.devices()), ("devices",), axis_types=(AxisType.Auto,))
    mode = oc.Mode("jax", mesh=mesh, placements=PLACEMENTS[HOW])
    divided, weights = training_step(mode)
    single, expected = training_step(oc.Mode("jax"))
    costs = [(float(divided(x, t)), float(single(x, t))) for _ in range(5)]
    difference = max(
        float(np.abs(a.get_value() - b.get_value()).max())
        for a, b in zip(weights, expected, strict=True)
    )
    found: dict[str, Any] = {
        "costs": costs,
        "difference": difference,
        "devices": len(jax.devices()),
    }
    kept = [str(w.container.storage[0].sharding.spec) for w in weights]
    found["placements"] = kept
    if not PLACE:
        values = [x, t, *(w.container.storage[0] for w in weights)]
        traced, given = divided.vm.compiled_for(*values)
        text = traced.text(*given)
        found["all_reduce"] = "all-reduce" in text
        found["largest_gather"] = largest_gather(text)
        found["full"] = {"batch": ROWS * PIXELS, "w1": PIXELS * HIDDEN, "w2": HIDDEN * CLASSES}
        found["bytes"] = bytes_per_device(traced, given)
        alone = [x, t, *(w.container.storage[0] for w in expected)]
        found["bytes_alone"] = bytes_per_device(*single.vm.compiled_for(*alone))
    print(json.dumps(found))


main()
