"""Models of PyMC: seconds until the log density and its gradient are compiled, and microseconds of an evaluation.

``python benchmarks/models.py [MODEL ...]`` prints a table with a line for each model of ``tests/pytensor/models``: sixteen chosen ones, or
``--all``; ``nox -s models`` does it in an environment with all peers. Each figure is measured in processes of its own, which take turns: once
with empty caches (cold), and once with what the first left (warm). Rounds are repeated, and the least counts; peers are measured cold in the
first round only. Seconds are those of the processor, with those of compilers that are started, from a model to the first value; imports of libraries
are left out. Memory is the most that compiling and calling with empty caches add to what the process holds before, or the most that
a compiler takes which is started. It needs `occelo-pytensor` with PyMC and nutpie; JAX and Stan (from `httpstan`) are left out where they are not
installed.

Each line is kept in a file (`KEPT`) when it is complete. A run that was stopped goes on there; what was measured with other sources
of the packages is measured anew (``--fresh`` does so with everything, ``--kept`` only prints what the file has). ``--readme`` writes the table and the ratios into
``benchmarks/README.md``, for all models into a part of their own. ``--ways`` chooses some: ``--all --ways function pointer pytensor jax`` is the
table of all models.

``python benchmarks/models.py --overhead`` prints for ``function`` what of the seconds is ours, for all models, in processes that are forked after
the imports: once with empty caches, and the least of three with what the first left.

- ``function``: ``Model.logp_dlogp_function`` after ``occelo.pytensor.use()``
- ``mode``: the gradient of PyTensor, in the mode "OCCELO"
- ``pointer``: ``nutpie_model``, called as a C function from a loop in C
- ``pytensor``: PyTensor's default mode; ``jax``: its mode "JAX"
- ``numba``: nutpie's own backend, called as a C function
- ``stan``: programs of six models, called as C functions; its seconds are those of its compilers
"""

from __future__ import annotations

import argparse
import ctypes
import functools
import gc
import hashlib
import importlib
import importlib.util
import itertools
import json
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import geometric_mean, median
from time import process_time
from typing import Any

import models_in_stan
from forking import Forking, remove_files, serve

HERE = Path(__file__).parent
KEPT = HERE.parent / ".nox" / "models.json"
README = HERE / "README.md"
OURS = ("function", "mode", "pointer")
"""The ways that change with the packages. The others are compiled in the first round only."""
FOLDER = HERE.parent / "tests" / "pytensor"
WAYS = ["function", "mode", "pointer", "pytensor", "jax", "numba", "stan"]
NEEDS = {"jax": "jax", "numba": "nutpie", "pointer": "nutpie", "stan": "httpstan"}
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
Runs = dict[str, Found]
Result = tuple[float, Any]

LOOP = r"""
#include <stdint.h>
typedef int64_t (*density)(uint64_t, const double *, double *, double *, const void *);
int64_t loop(density f, int64_t times, uint64_t count, const double *x, double *gradient, double *value, const void *data) {
    int64_t code = 0;
    for (int64_t i = 0; i < times; i++) code |= f(count, x, gradient, value, data);
    return code;
}
"""


def all_models() -> dict[str, Callable[[], Any]]:
    """The tests' own models by name, and the posteriors with real data where their folder is given."""
    sys.path.insert(0, str(FOLDER))
    models = importlib.import_module("models")
    for each in ("regressions", "mixtures", "series", "fields", "lifetimes", "posteriors"):
        importlib.import_module(f"models.{each}")
    posteriors = importlib.import_module("models.posteriors")
    real = posteriors.POSTERIORS if posteriors.FOLDER is not None else ()
    return models.MODELS | {name: functools.partial(posteriors.make, name) for name in real}


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


def looped(address: int, data: int, point: Any, held: Any) -> Callable[[int], Result]:
    """Calls a C function so many times, and returns the value and the gradient of the last call."""
    import numpy as np

    loop = the_loop()
    value, gradient = np.zeros(()), np.zeros_like(point)
    places = [a.ctypes.data for a in (point, gradient, value)]

    def run(times: int) -> Result:
        if loop(address, times, len(point), *places, data) or not held:
            raise ArithmeticError("the density failed")
        return float(value), gradient

    return run


def compiled(model: Any, way: str, point: Any) -> Callable[[int], Result]:
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

    def run(times: int) -> Result:
        for _ in range(times):
            found = inner(point)
        return float(found[0]), found[1]

    return run


class Theirs:
    """Seconds that PyMC takes to build the graph of the log density, while a function is compiled."""

    def __init__(self, model: Any | None) -> None:
        self.seconds = 0.0
        for name in ("logp", "initial_point") if model is not None else ():
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


def evaluation(function: Callable[[int], Result]) -> float:
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


def point_of(model: Any) -> Any:
    """A point near the initial one."""
    import numpy as np

    start = model.initial_point(random_seed=0)
    point = np.concatenate([np.ravel(start[v.name]) for v in model.continuous_value_vars])
    return point + np.random.default_rng(0).normal(scale=0.1, size=point.shape)


def resident() -> tuple[float, float]:
    """MB of its own that this process holds, and about the most that it held: without the files that are mapped."""
    fields = dict(line.split(":") for line in Path("/proc/self/status").read_text().splitlines())
    names = ("RssAnon", "RssFile", "VmHWM")
    own, files, most = (float(fields[name].split()[0]) / 1024 for name in names)
    return own, max(own, most - files)


def measure(name: str, way: str, folder: str, times: bool = True) -> Found:
    """Compile and call PyMC's model near its initial point, or Stan's program there, with its library in ``folder``.

    Without ``times``, evaluations are not timed.
    """
    import numpy as np

    model: Any = all_models()[name]()
    x = point_of(model)
    if way == "stan":
        model = None
    gc.collect()  # of what the imports left, which would otherwise happen at any moment
    before, _ = resident()
    begin, theirs = processor(), Theirs(model)
    if model is None:
        function = looped(*models_in_stan.density(name, Path(folder)), x, held=way)
    else:
        function = compiled(model, way, x)
    value, slope = function(1)
    found = {"value": value, "slope": float(np.sum(slope)), "seconds": processor() - begin}
    found["ours"] = found["seconds"] - theirs.seconds
    found["memory"] = resident()[1] - before
    if model is None:
        found["memory"] = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    if times:
        found["evaluation"] = evaluation(function) * 1e6
    return found


def imports(way: str) -> None:
    """What is done once for all models."""
    for library in ("pymc", *LIBRARIES[way]) if way != "stan" else ():
        importlib.import_module(library)
    if way in ("pointer", "numba", "stan"):
        the_loop()


def forking(way: str, caches: Path) -> Forking:
    """A process with the imports of a way and caches of its own, whose children `measure`."""
    caches.mkdir()
    variables = {
        "OCCELO_FLAGS": f"base_compiledir={caches}/occelo",
        "PYTENSOR_FLAGS": f"base_compiledir={caches}/pytensor",
        "NUMBA_CACHE_DIR": f"{caches}/numba",
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
        "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1",
        "PYTHONDONTWRITEBYTECODE": "",  # installed packages have their bytecode
    }
    command = [sys.executable, "-W", "ignore", __file__, "--serve", way]
    return Forking(command, {**os.environ, **variables})


class Processes:
    """A process for each way that is asked for, until the end of a ``with`` block."""

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory()
        self._processes: dict[str, Forking] = {}

    def __enter__(self) -> Processes:
        return self

    def __exit__(self, *_: object) -> None:
        for process in self._processes.values():
            process.stop()
        self._folder.cleanup()

    def measure(self, name: str, way: str, state: str, limit: float, times: bool = True) -> Found:
        """What `measure` says, with empty caches if ``state`` is "cold"."""
        caches = Path(self._folder.name, way)
        if way not in self._processes:
            self._processes[way] = forking(way, caches)
        if state == "cold":
            remove_files(caches)
        return self._processes[way](name, way, str(caches), times, limit=limit)


def overheads(names: list[str], limit: float) -> list[str]:
    """Milliseconds that are ours, of each model and in all, with empty caches and after that."""
    rows: dict[str, tuple[float, float]] = {}
    with Processes() as processes:
        for name in names:
            cold, *warm = (
                processes.measure(name, "function", state, limit, times=False)["ours"] * 1e3
                for state in ("cold", "warm", "warm", "warm")
            )
            rows[name] = (cold, min(warm))
            print(f"{name}: {cold:.0f} / {min(warm):.0f}", flush=True)
    lines: list[str] = []
    for k, (state, goal) in enumerate((("cold", 500), ("warm", 60))):
        values = {name: row[k] for name, row in rows.items()}
        most = sorted(values, key=lambda name: -values[name])[:5]
        over = sum(v > goal for v in values.values())
        lines.append(
            f"- {len(values)} models, {state}: median {median(values.values()):.0f} ms; above the goal of {goal}: {over}; "
            f"most: {', '.join(f'`{name}` {values[name]:.0f}' for name in most)}"
        )
    return lines


def least(one: Found | None, other: Found) -> Found:
    """The smaller figures of two measurements of the same."""
    if one is None:
        return other
    return {key: min(one[key], other[key]) for key in other}


def measured(
    processes: Processes, name: str, ways: list[str], rounds: int, limit: float
) -> Iterator[tuple[str, Runs | str]]:
    """Each way with its least figures, cold and warm, or the error with which it fails, as soon as all its rounds are over."""
    found: dict[str, Runs] = {way: {} for way in ways}
    left = [w for w in ways if w != "stan" or name in models_in_stan.MODELS]
    for turn, way in itertools.product(range(rounds), list(left)):
        if way not in left:
            continue
        figures = found[way]
        try:
            for state in ("cold", "warm") if way in OURS or turn == 0 else ("warm",):
                run = processes.measure(name, way, state, limit, times=state == "warm")
                figures[state] = least(figures.get(state), run)
        except RuntimeError as error:
            left.remove(way)
            yield way, str(error)
        else:
            if turn == rounds - 1:
                yield way, figures


def disagreements(name: str, found: dict[str, Runs]) -> list[str]:
    """The ways whose value or gradient is not that of most ways."""
    lines: list[str] = []
    # Stan leaves constants out of its values
    for figure, omitted in (("value", "stan"), ("slope", "")):
        values = {w: runs["warm"][figure] for w, runs in found.items() if w != omitted}
        middle = median(values.values() or [0.0])
        for way, value in values.items():
            if abs(value - middle) > 1e-8 * max(1, abs(middle)):
                lines.append(f"{name} by {way} has the {figure} {value}, not {middle}")
    return lines


def sources() -> str:
    """A digest of the packages' sources, with which the figures of our ways are measured."""
    digest = hashlib.sha256()
    packages = [HERE.parent / "src", *sorted((HERE.parent / "packages").glob("*/src"))]
    for path in sorted(
        p for folder in packages for p in folder.rglob("*.*") if p.suffix in (".py", ".ll")
    ):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def row(name: str, found: dict[str, Runs], ways: list[str]) -> str:
    """A line of the table."""
    cells = [name]
    for way in ways:
        if way not in found:
            cells.append("-")
            continue
        cold, warm = found[way]["cold"], found[way]["warm"]
        figures = f"{cold['seconds']:.2f} / {warm['seconds']:.2f} / {warm['evaluation']:.2f}"
        cells.append(f"{figures} / {cold['memory']:.0f}")
    return f"| {' | '.join(cells)} |"


def named(values: dict[str, float]) -> str:
    """Models with a figure each, or "none"."""
    return ", ".join(f"`{name}` {value:.2f}" for name, value in values.items()) or "none"


def summary(every: dict[str, dict[str, Runs]]) -> list[str]:
    """Ratios to other ways, and what of the seconds is ours, as a list of Markdown."""

    def ratios(way: str, base: str, what: str, figure: Callable[[Runs], float]) -> list[str]:
        both = {n: f for n, f in every.items() if way in f and base in f}
        values = {n: figure(f[base]) / figure(f[way]) for n, f in both.items()}
        if not values:
            return []
        ordered = dict(sorted(values.items(), key=lambda item: item[1]))
        below = named({name: value for name, value in ordered.items() if value < 1})
        mean, worst = geometric_mean(values.values()), named(dict([*ordered.items()][:3]))
        return [f"- {what}: {mean:.2f} ({len(values)} models; least {worst}; below 1: {below})"]

    lines: list[str] = []
    for way in OURS:
        for state, goal in (("cold", "; goal 12"), ("warm", "")):
            what = f"PyTensor's seconds over those of `{way}`, {state}{goal}"
            lines += ratios(way, "pytensor", what, lambda runs, s=state: runs[s]["seconds"])
    for way, goal in zip(OURS, (1.8, 1.8, 2.5), strict=True):
        for base in ("pytensor", "jax", "numba", "stan"):
            goals = f"; goal {goal}, none below 1" if base == "pytensor" else ""
            what = f"An evaluation by `{base}` over one by `{way}`{goals}"
            lines += ratios(way, base, what, lambda runs: runs["warm"]["evaluation"])
    for state, goal in (("cold", 0.5), ("warm", 0.06)):
        ours = {n: f["function"][state]["ours"] for n, f in every.items() if "function" in f}
        if ours:
            ordered = sorted(ours.items(), key=lambda item: -item[1])
            over = named({name: value for name, value in ordered if value > goal})
            lines.append(
                f"- Seconds of `function` without PyMC's building of the graph, {state}: median "
                f"{median(ours.values()):.3f}, most {max(ours.values()):.3f}; above the goal of {goal}: {over}"
            )
    return lines


def kept(path: Path, fresh: bool, of_all_sources: bool = False) -> dict[str, Any]:
    """The lines of earlier runs; figures of our ways only if they were measured with these sources, unless those of all are asked for."""
    found = json.loads(path.read_text()) if path.exists() and not fresh else {}
    found = {"models": {}, "failures": {}} | found
    if found.get("sources") != sources() and not of_all_sources:
        for ways in (*found["models"].values(), *found["failures"].values()):
            for way in OURS:
                ways.pop(way, None)
        found["sources"] = sources()
    return found


def keep(path: Path, everything: dict[str, Any]) -> None:
    """Replace the file at once, so that a run that is stopped leaves a whole one."""
    path.parent.mkdir(exist_ok=True, parents=True)
    new = path.with_suffix(".new")
    new.write_text(json.dumps(everything, indent=1))
    new.replace(path)


def table(every: dict[str, dict[str, Runs]], ways: list[str]) -> list[str]:
    """The lines of the table."""
    head = [f"| model | {' | '.join(ways)} |", "|---" * (len(ways) + 1) + "|"]
    return head + [row(name, found, ways) for name, found in every.items()]


def write_readme(part: str, lines: list[str]) -> None:
    """Replace what lies between the marks of a part. ValueError if they are not there."""
    start, end = f"<!-- {part} -->", f"<!-- end of {part} -->"
    before, _, rest = README.read_text().partition(start)
    _, found, after = rest.partition(end)
    if not found:
        raise ValueError(f"{README} has no part {part!r}")
    README.write_text("\n".join([f"{before}{start}\n", *lines, f"\n{end}{after}"]))


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("models", nargs="*", default=CHOSEN)
    parser.add_argument("--all", action="store_true", help="all models, and posteriors at hand")
    parser.add_argument("--overhead", action="store_true", help="only what is ours, of all models")
    parser.add_argument("--ways", nargs="+", choices=WAYS, default=WAYS)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument(
        "--limit", type=float, default=900.0, help="seconds by the clock of a process"
    )
    parser.add_argument("--json", type=Path, default=KEPT, help="the file that keeps the lines")
    parser.add_argument("--fresh", action="store_true", help="forget what the file has")
    parser.add_argument("--kept", action="store_true", help="only print the lines of the file")
    parser.add_argument("--readme", action="store_true", help="write benchmarks/README.md")
    parser.add_argument("--serve", choices=WAYS, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.serve:
        imports(chosen.serve)
        serve(measure)
        return
    if chosen.overhead:
        names = chosen.models if chosen.models != CHOSEN else sorted(all_models())
        lines = overheads(names, chosen.limit)
        print("", *lines, sep="\n")
        if chosen.readme:
            write_readme("what is ours", lines)
        return
    there = [w for w in WAYS if importlib.util.find_spec(NEEDS.get(w, "pymc")) is not None]
    everything = kept(chosen.json, chosen.fresh, chosen.kept)
    every: dict[str, dict[str, Runs]] = everything["models"]
    names = sorted(all_models()) if chosen.all else chosen.models
    with Processes() as processes:
        for name in () if chosen.kept else names:
            found, failed = (everything[k].setdefault(name, {}) for k in ("models", "failures"))
            left = [w for w in chosen.ways if w in there and w not in found | failed]
            for way, result in measured(processes, name, left, chosen.rounds, chosen.limit):
                (failed if isinstance(result, str) else found)[way] = result
                keep(chosen.json, everything)
            print(row(name, found, there), *disagreements(name, found), sep="\n", flush=True)
            for way, error in failed.items():
                print(f"{name} by {way} failed: {error}", flush=True)
    order = sorted(every, key=lambda n: (n not in CHOSEN and not chosen.all, n))
    ordered = {n: every[n] for n in order if every[n] and n in names}
    shown = [way for way in WAYS if any(way in found for found in ordered.values())]
    lines = [*table(ordered, shown), "", *summary(ordered)]
    print("\nEach cell: cold (s) / warm (s) / evaluation (us) / memory (MB)\n", *lines, sep="\n")
    if chosen.readme:
        write_readme("all models" if chosen.all else "models", lines)


if __name__ == "__main__":
    main()
