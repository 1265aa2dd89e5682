"""Models of PyMC: seconds until the log density and its gradient are compiled, and microseconds of an evaluation.

``python benchmarks/models.py [MODEL ...]`` prints a table with a line for each model of ``tests/pytensor/models`` and way to
compile it. Each line is measured in processes of its own: once with empty caches (cold), and once with what the first left
(warm). Seconds are those of the processor, without imports. It needs `occelo-pytensor` with PyMC and nutpie; JAX is left out where it is not installed.

- ``occelo``: ``Model.logp_dlogp_function`` after ``occelo.pytensor.use()``
- ``mode OCCELO``: the gradient of PyTensor, in the mode "OCCELO"
- ``nutpie``: ``nutpie_model``, called as a C function
- ``pytensor``: PyTensor's default mode; ``jax``: its mode "JAX"
"""

from __future__ import annotations

import argparse
import ctypes
import importlib.util
import json
import os
import resource
import subprocess
import sys
import tempfile
import timeit
from pathlib import Path
from time import process_time
from typing import Any

FOLDER = Path(__file__).parents[1] / "tests" / "pytensor"
WAYS = ["occelo", "mode OCCELO", "nutpie", "pytensor", "jax"]


def made(name: str) -> Any:
    """The model called ``name``: one of the tests' own, or a posterior with real data."""
    sys.path.insert(0, str(FOLDER))
    models = importlib.import_module("models")
    for each in ("regressions", "mixtures", "series", "fields", "lifetimes", "posteriors"):
        importlib.import_module(f"models.{each}")
    posteriors = importlib.import_module("models.posteriors")
    return posteriors.make(name) if name in posteriors.POSTERIORS else models.MODELS[name]()


def compiled(model: Any, way: str) -> Any:
    """The function to be timed, without arguments, after everything that compiling takes."""
    import numpy as np

    bridge: Any = importlib.import_module("occelo_pytensor")
    start = model.initial_point()
    point = np.concatenate([np.ravel(start[v.name]) for v in model.continuous_value_vars])
    if way == "nutpie":
        density = bridge.nutpie_model(model).density
        value, gradient = np.zeros(()), np.zeros_like(point)
        kind = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_uint64, *[ctypes.c_void_p] * 4)
        call = kind(density.address)
        places = [ctypes.c_void_p(a.ctypes.data) for a in (point, gradient, value)]
        data = ctypes.c_void_p(density.data)
        count = ctypes.c_uint64(len(point))
        held = density, point, gradient, value  # the code is unloaded with its object
        return lambda: call(count, *places, data) if held else None
    mode = {"mode OCCELO": "OCCELO", "pytensor": None, "jax": "JAX"}.get(way)
    if way == "occelo":
        bridge.use()
    function = model.logp_dlogp_function(ravel_inputs=True, mode=mode)
    function.set_extra_values({})
    inner = function._pytensor_function
    inner.trust_input = True
    return lambda: inner(point)


def measure(name: str, way: str) -> None:
    """Compile and call; print the figures as JSON."""
    # imports are not measured, as far as a first small model makes them
    importlib.import_module("occelo_pytensor")
    compiled(made("eight_schools_centered"), way)()
    start = process_time()
    model = made(name)
    built = process_time() - start
    start = process_time()
    function = compiled(model, way)
    function()
    seconds = process_time() - start
    function()
    number = max(1, timeit.Timer(function, timer=process_time).autorange()[0])
    best = min(timeit.repeat(function, number=number, repeat=5, timer=process_time)) / number
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    found = {"built": built, "compiled": seconds, "evaluation": best * 1e6, "memory": memory}
    print(json.dumps(found))


def in_a_process(name: str, way: str, caches: str) -> dict[str, float] | str:
    """The figures of one measurement in a process of its own, or the end of its error."""
    flags = f"base_compiledir={caches}/pytensor"
    variables = {
        "OCCELO_FLAGS": f"base_compiledir={caches}/occelo",
        "PYTENSOR_FLAGS": flags,
        "NUMBA_CACHE_DIR": f"{caches}/numba",
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
        "PYTHONDONTWRITEBYTECODE": "",
    }
    done = subprocess.run(
        [sys.executable, "-W", "ignore", __file__, "--measure", name, way],
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        check=False,
    )
    lines = done.stdout.strip().splitlines()
    return json.loads(lines[-1]) if done.returncode == 0 else done.stderr.strip()[-200:]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("models", nargs="*", default=["eight_schools_centered", "gp_marginal"])
    parser.add_argument("--ways", default=",".join(WAYS))
    parser.add_argument("--measure", nargs=2, metavar=("MODEL", "WAY"))
    chosen = parser.parse_args()
    if chosen.measure:
        measure(*chosen.measure)
        return
    print("| model | by | cold (s) | warm (s) | evaluation (us) | memory (MB) |")
    print("|---|---|---|---|---|---|")
    for name in chosen.models:
        for way in chosen.ways.split(","):
            if way == "jax" and importlib.util.find_spec("jax") is None:
                continue
            with tempfile.TemporaryDirectory() as caches:
                cold, warm = (in_a_process(name, way, caches) for _ in range(2))
            if isinstance(cold, str) or isinstance(warm, str):
                print(f"| {name} | {way} | failed: {cold if isinstance(cold, str) else warm} |")
                continue
            figures = f"{cold['compiled']:.2f} | {warm['compiled']:.2f} | {warm['evaluation']:.1f}"
            print(f"| {name} | {way} | {figures} | {warm['memory']:.0f} |", flush=True)


if __name__ == "__main__":
    main()
