"""Models of PyMC: seconds until the log density and its gradient are compiled, and microseconds of an evaluation.

``python benchmarks/models.py [MODEL ...]`` prints a table with a line for each model of ``tests/pytensor/models``. Each figure is
measured in processes of its own, which take turns: once with empty caches (cold), and once with what the first left (warm). Rounds
are repeated, and the least counts. Seconds are those of the processor, with those of compilers that are started, from a
model to the first value; imports of libraries are left out. It needs `occelo-pytensor` with PyMC and nutpie; JAX is left out where it is
not installed.

- ``function``: ``Model.logp_dlogp_function`` after ``occelo.pytensor.use()``
- ``mode``: the gradient of PyTensor, in the mode "OCCELO"
- ``pointer``: ``nutpie_model``, called as a C function from a loop in C
- ``pytensor``: PyTensor's default mode; ``jax``: its mode "JAX"
- ``numba``: nutpie's own backend, called as a C function
"""

from __future__ import annotations

import argparse
import ctypes
import functools
import importlib
import importlib.util
import json
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from statistics import geometric_mean
from time import process_time
from typing import Any

HERE = Path(__file__).parent
FOLDER = HERE.parent / "tests" / "pytensor"
WAYS = ["function", "mode", "pointer", "pytensor", "jax", "numba"]
NEEDS = {"jax": "jax", "numba": "nutpie", "pointer": "nutpie"}
LIBRARIES = {
    "function": ["occelo_pytensor"],
    "mode": ["occelo_pytensor"],
    "pointer": ["occelo_pytensor", "nutpie"],
    "pytensor": ["pytensor.link.numba.dispatch"],
    "jax": ["pytensor.link.jax.dispatch"],
    "numba": ["pytensor.link.numba.dispatch", "nutpie"],
}
"""What is imported before the clock starts."""
CHOSEN = [
    "eight_schools_centered", "logistic_regression", "zero_inflated_poisson", "gp_marginal", "moving_average",
    "censored_normal", "radon_like_noncentered", "ordered_logistic", "lkj_varying_slopes", "horseshoe", "garch",
    "stochastic_volatility", "normal_mixture", "hidden_markov", "gp_latent", "sir_by_scan",
]  # fmt: skip
Found = dict[str, float]

LOOP = r"""
#include <stdint.h>
typedef int64_t (*density)(uint64_t, const double *, double *, double *, const void *);
int64_t loop(density f, int64_t times, uint64_t count, const double *x, double *gradient, double *value, const void *data) {
    int64_t code = 0;
    for (int64_t i = 0; i < times; i++) code |= f(count, x, gradient, value, data);
    return code;
}
"""


def made(name: str) -> Any:
    """The model called ``name``: one of the tests' own, or a posterior with real data."""
    sys.path.insert(0, str(FOLDER))
    models = importlib.import_module("models")
    for each in ("regressions", "mixtures", "series", "fields", "lifetimes", "posteriors"):
        importlib.import_module(f"models.{each}")
    posteriors = importlib.import_module("models.posteriors")
    return posteriors.make(name) if name in posteriors.POSTERIORS else models.MODELS[name]()


def processor() -> float:
    """Seconds of this process and of the finished processes that it started."""
    return process_time() + sum(os.times()[2:4])


@functools.cache
def the_loop() -> Any:
    """The function ``loop`` of `LOOP`."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "loop.c").write_text(LOOP)
        command = ["gcc", "-O2", "-shared", "-fPIC", f"{folder}/loop.c", "-o", f"{folder}/loop.so"]
        subprocess.run(command, check=True)
        loop = ctypes.CDLL(f"{folder}/loop.so").loop
    kinds = [ctypes.c_void_p, ctypes.c_int64, ctypes.c_uint64, *[ctypes.c_void_p] * 4]
    loop.argtypes, loop.restype = kinds, ctypes.c_int64
    return loop


def looped(address: int, data: int, point: Any, held: Any) -> Callable[[int], float]:
    """Calls a C function so many times, and returns the value of the last call."""
    import numpy as np

    loop = the_loop()
    value, gradient = np.zeros(()), np.zeros_like(point)
    places = [a.ctypes.data for a in (point, gradient, value)]

    def run(times: int) -> float:
        if loop(address, times, len(point), *places, data) or not held:
            raise ArithmeticError("the density failed")
        return float(value)

    return run


def compiled(model: Any, way: str, point: Any) -> Callable[[int], float]:
    """The function to be timed, by how often it runs, after everything that compiling takes."""
    if way == "pointer":
        pointed: Any = importlib.import_module("occelo_pytensor").nutpie_model(model)
        return looped(pointed.density.address, pointed.density.data, point, pointed)
    if way == "numba":
        numba: Any = importlib.import_module("nutpie").compile_pymc_model(model)
        data = numba.user_data.ctypes.data
        return looped(numba.compiled_logp_func.address, data, point, numba)
    if way == "function":
        importlib.import_module("occelo_pytensor").use()
    mode = {"mode": "OCCELO", "jax": "JAX"}.get(way)
    density = model.logp_dlogp_function(ravel_inputs=True, mode=mode)
    density.set_extra_values({})
    inner = density._pytensor_function
    inner.trust_input = True

    def run(times: int) -> float:
        for _ in range(times):
            found = inner(point)
        return float(found[0])

    return run


class Theirs:
    """Seconds that PyMC takes to build the graph of the log density, while a function is compiled."""

    def __init__(self, model: Any) -> None:
        self.seconds = 0.0
        for name in ("logp", "initial_point"):
            self._time(model, name)

    def _time(self, model: Any, name: str) -> None:
        inner = getattr(model, name)

        def timed(*arguments: Any, **options: Any) -> Any:
            start = processor()
            try:
                return inner(*arguments, **options)
            finally:
                self.seconds += processor() - start

        setattr(model, name, timed)


def evaluation(function: Callable[[int], float]) -> float:
    """The least seconds of a call, of five runs of a tenth of a second or more."""
    number, took = 1, 0.0
    while took < 0.1:
        number *= 2
        start = process_time()
        function(number)
        took = process_time() - start
    least = took
    for _ in range(4):
        start = process_time()
        function(number)
        least = min(least, process_time() - start)
    return least / number


def measure(name: str, way: str) -> Found:
    """Compile and call."""
    import numpy as np

    for library in ("pymc", *LIBRARIES[way]):
        importlib.import_module(library)
    if way in ("pointer", "numba"):
        the_loop()
    model = made(name)
    start = model.initial_point()
    point = np.concatenate([np.ravel(start[v.name]) for v in model.continuous_value_vars])
    point = point + np.random.default_rng(0).normal(scale=0.1, size=point.shape)
    begin, theirs = processor(), Theirs(model)
    function = compiled(model, way, point)
    value = function(1)
    found = {"value": value, "seconds": processor() - begin}
    found["ours"] = found["seconds"] - theirs.seconds
    found["evaluation"] = evaluation(function) * 1e6
    found["memory"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return found


def in_a_process(name: str, way: str, caches: str) -> Found:
    """The figures of one measurement in a process of its own."""
    variables = {
        "OCCELO_FLAGS": f"base_compiledir={caches}/occelo",
        "PYTENSOR_FLAGS": f"base_compiledir={caches}/pytensor",
        "NUMBA_CACHE_DIR": f"{caches}/numba",
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
        "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1",
    }
    command = [sys.executable, "-W", "ignore", __file__, "--measure", name, way]
    done = subprocess.run(
        command, env={**os.environ, **variables}, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise RuntimeError(done.stderr.strip()[-300:])
    return json.loads(done.stdout.strip().splitlines()[-1])


def least(one: Found | None, other: Found) -> Found:
    """The smaller figures of two measurements of the same. RuntimeError if their values differ."""
    if one is None:
        return other
    return {key: min(one[key], other[key]) for key in other}


def measured(
    name: str, ways: list[str], rounds: int, found: dict[str, dict[str, Found]]
) -> dict[str, dict[str, Found]]:
    """For each way, the least figures cold and warm, also of those in ``found``.

    A way that fails is left out, and said on the error stream.
    """
    failed: set[str] = set()
    for _ in range(rounds):
        for way in ways:
            if way in failed:
                continue
            with tempfile.TemporaryDirectory() as caches:
                try:
                    runs = {state: in_a_process(name, way, caches) for state in ("cold", "warm")}
                except RuntimeError as error:
                    failed.add(way)
                    print(f"{name} by {way} failed: {error}", file=sys.stderr, flush=True)
                    continue
            before = found.get(way, {})
            found[way] = {state: least(before.get(state), run) for state, run in runs.items()}
    values = {way: runs["warm"]["value"] for way, runs in found.items()}
    middle = sorted(values.values())[len(values) // 2]
    for way, value in values.items():
        if abs(value - middle) > 1e-8 * max(1, abs(middle)):
            print(
                f"{name} by {way} has the value {value}, not {middle}", file=sys.stderr, flush=True
            )
    return found


def row(name: str, found: dict[str, dict[str, Found]], ways: list[str]) -> str:
    """A line of the table."""
    cells = [name]
    for way in ways:
        if way not in found:
            cells.append("-")
            continue
        cold, warm = found[way]["cold"], found[way]["warm"]
        figures = f"{cold['seconds']:.2f} / {warm['seconds']:.2f} / {warm['evaluation']:.2f}"
        cells.append(f"{figures} / {warm['memory']:.0f}")
    return f"| {' | '.join(cells)} |"


def summary(every: dict[str, dict[str, dict[str, Found]]]) -> list[str]:
    """Ratios to PyTensor's default mode, and what of the seconds is ours."""

    def ratios(way: str, state: str, figure: str, base: str = "pytensor") -> str:
        both = {n: f for n, f in every.items() if way in f and base in f}
        values = {n: f[base][state][figure] / f[way][state][figure] for n, f in both.items()}
        if not values:
            return "not measured"
        worst = min(values, key=lambda name: values[name])
        return f"{geometric_mean(values.values()):.2f} (least {values[worst]:.2f}, {worst})"

    lines: list[str] = []
    for way in ("function", "mode", "pointer"):
        lines.append(f"{way}: PyTensor's default over it, cold: {ratios(way, 'cold', 'seconds')}")
        lines.append(f"{way}: the same, warm: {ratios(way, 'warm', 'seconds')}")
        lines.append(f"{way}: the same, an evaluation: {ratios(way, 'warm', 'evaluation')}")
    for base in ("numba", "jax"):
        ratio = ratios("pointer", "warm", "evaluation", base)
        lines.append(f"pointer: an evaluation by {base} over it: {ratio}")
    for state in ("cold", "warm"):
        ours = {n: f["function"][state]["ours"] for n, f in every.items() if "function" in f}
        if ours:
            middle = sorted(ours.values())[len(ours) // 2]
            worst = max(ours, key=lambda name: ours[name])
            lines.append(
                f"function: seconds without PyMC's building of the graph, {state}: median {middle:.2f}, "
                f"most {ours[worst]:.2f} ({worst})"
            )
    return lines


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("models", nargs="*", default=CHOSEN)
    parser.add_argument("--ways", nargs="+", choices=WAYS, default=WAYS)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument(
        "--json", type=Path, help="a file that keeps all figures, also of earlier runs"
    )
    parser.add_argument("--measure", nargs=2, metavar=("MODEL", "WAY"), help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.measure:
        print(json.dumps(measure(*chosen.measure)))
        return
    ways = [w for w in chosen.ways if importlib.util.find_spec(NEEDS.get(w, "pymc")) is not None]
    print("Each cell: cold (s) / warm (s) / evaluation (us) / memory (MB)\n")
    print(f"| model | {' | '.join(ways)} |")
    print("|---" * (len(ways) + 1) + "|", flush=True)
    kept = chosen.json is not None and chosen.json.exists()
    every: dict[str, Any] = json.loads(chosen.json.read_text()) if kept else {}
    for name in chosen.models:
        every[name] = measured(name, ways, chosen.rounds, every.get(name, {}))
        print(row(name, every[name], ways), flush=True)
        if chosen.json:
            chosen.json.write_text(json.dumps(every, indent=1))
    print("", *summary(every), sep="\n")


if __name__ == "__main__":
    main()
