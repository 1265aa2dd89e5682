"""nutpie: four chains in four threads, by the density of `occelo-pytensor` and by nutpie's own backend (Numba).

``python benchmarks/nutpie_threads.py [MODEL ...]`` prints a table with a line for each model of ``tests/pytensor/models``. Each figure
is measured in a process of its own, once with empty caches (cold) and once with what the first left (warm); the two ways take turns.
Each line is kept in a file when it is complete, until the sources of the packages change, and ``--readme`` writes the table into
``benchmarks/README.md``.
Both sample with the same settings and other seeds. Posterior means are compared, in combined standard errors. It needs
`occelo-pytensor` with PyMC and nutpie.

Seconds by the clock and of the processor are those of compiling (from a model to what nutpie samples) and of sampling.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import runpy
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter
from typing import Any

MODELS: Any = runpy.run_path(str(Path(__file__).with_name("models.py")))
"""What the other command about models defines; its name is also that of the tests' package of models."""
LIBRARIES, all_models, processor = (MODELS[n] for n in ("LIBRARIES", "all_models", "processor"))
sources, keep, write_readme = (MODELS[n] for n in ("sources", "keep", "write_readme"))

KEPT = MODELS["KEPT"].with_name("nutpie_threads.json")
CHOSEN = [
    "eight_schools_centered", "logistic_regression", "gp_marginal", "stochastic_volatility",
    "radon_like_noncentered", "ordered_logistic", "lkj_varying_slopes", "horseshoe",
]  # fmt: skip
WAYS = {"occelo": "pointer", "numba": "numba"}
CHAINS = 4


def measure(name: str, way: str, draws: int) -> dict[str, Any]:
    """Compile and sample, once."""
    import numpy as np

    for library in ("pymc", "arviz", *LIBRARIES[WAYS[way]]):
        importlib.import_module(library)
    nutpie: Any = importlib.import_module("nutpie")
    model = all_models()[name]()
    begin, used = perf_counter(), processor()
    if way == "occelo":
        compiled: Any = importlib.import_module("occelo_pytensor").nutpie_model(model)
    else:
        compiled = nutpie.compile_pymc_model(model)
    ready, ready_used = perf_counter(), processor()
    trace = nutpie.sample(
        compiled,
        draws=draws,
        tune=draws,
        chains=CHAINS,
        cores=CHAINS,
        seed=[*WAYS].index(way) + 1,
        progress_bar=False,
    )
    done, done_used = perf_counter(), processor()
    posterior = trace.posterior
    moments: dict[str, list[float]] = {}
    for variable in sorted(map(str, posterior.data_vars)):
        values = np.asarray(posterior[variable].values, dtype=float)
        for at in np.ndindex(*values.shape[2:]):
            element = values[(slice(None), slice(None), *at)]
            moments[f"{variable}{list(at) if at else ''}"] = [
                float(element.mean()),
                error_of(element),
            ]
    return {
        "compile": [ready - begin, ready_used - used],
        "sample": [done - ready, done_used - ready_used],
        "moments": moments,
    }


def error_of(values: Any) -> float:
    """The standard error of the mean of ``values`` (chains, draws), by the effective number of draws."""
    arviz: Any = importlib.import_module("arviz")
    return float(arviz.mcse(values, method="mean"))


def distance(one: dict[str, list[float]], other: dict[str, list[float]]) -> tuple[float, str]:
    """The largest difference of two means in combined standard errors, and its element."""
    worst = (0.0, "")
    for name in one.keys() & other.keys():
        (a, error), (b, error_b) = one[name], other[name]
        together = (error**2 + error_b**2) ** 0.5
        worst = max(worst, (abs(a - b) / together if together else 0.0, name))
    return worst


def in_a_process(name: str, way: str, draws: int, caches: str) -> dict[str, Any]:
    """The figures of one measurement in a process of its own. RuntimeError if it fails."""
    variables = {
        "OCCELO_FLAGS": f"base_compiledir={caches}/occelo",
        "PYTENSOR_FLAGS": f"base_compiledir={caches}/pytensor",
        "NUMBA_CACHE_DIR": f"{caches}/numba",
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
    }
    arguments = ["--measure", name, way, "--draws", str(draws)]
    command = [sys.executable, "-W", "ignore", __file__, *arguments]
    done = subprocess.run(
        command, env={**os.environ, **variables}, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise RuntimeError(done.stderr.strip()[-300:])
    return json.loads(done.stdout.strip().splitlines()[-1])


def row(name: str, draws: int) -> str:
    """A line of the table."""
    found: dict[str, dict[str, Any]] = {}
    with tempfile.TemporaryDirectory() as caches:
        for state in ("cold", "warm"):
            for way in WAYS:
                found[f"{way} {state}"] = in_a_process(name, way, draws, f"{caches}/{way}")
    cells = [name]
    for way in WAYS:
        for state in ("cold", "warm"):
            each = found[f"{way} {state}"]
            clock, used = each["compile"]
            cells.append(f"{clock:.2f} ({used:.2f})")
        best = min((found[f"{way} {s}"]["sample"] for s in ("cold", "warm")), key=lambda s: s[1])
        cells.append(f"{best[0]:.2f} ({best[1]:.2f})")
    z, element = distance(found["occelo warm"]["moments"], found["numba warm"]["moments"])
    count = len(found["occelo warm"]["moments"])
    return f"| {' | '.join([*cells, f'{z:.1f} of {count}, {element}'])} |"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("models", nargs="*", default=CHOSEN)
    parser.add_argument(
        "--draws", type=int, default=1000, help="of each chain, after as many to tune"
    )
    parser.add_argument("--json", type=Path, default=KEPT, help="the file that keeps the lines")
    parser.add_argument("--fresh", action="store_true", help="forget what the file has")
    parser.add_argument("--readme", action="store_true", help="write benchmarks/README.md")
    parser.add_argument("--measure", nargs=2, metavar=("MODEL", "WAY"), help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.measure:
        print(json.dumps(measure(*chosen.measure, chosen.draws)))
        return
    # lines of other sources, or of other numbers of draws, are forgotten
    state = {"sources": sources(), "draws": chosen.draws}
    there = chosen.json.exists() and not chosen.fresh
    before: dict[str, Any] = json.loads(chosen.json.read_text()) if there else {}
    same = all(before.get(key) == value for key, value in state.items())
    rows: dict[str, str] = before["rows"] if same else {}
    parts = ["compile, cold", "compile, warm", "sample"]
    heads = [f"{way}: {part}" for way in WAYS for part in parts]
    lines = [f"| model | {' | '.join(heads)} | z |", "|---" * (len(heads) + 2) + "|"]
    print("Seconds by the clock (of the processor). z: largest difference of means, of how many\n")
    print(*lines, sep="\n", flush=True)
    for name in chosen.models:
        try:
            if name not in rows:
                rows[name] = row(name, chosen.draws)
                keep(chosen.json, {**state, "rows": rows})
            print(rows[name], flush=True)
        except RuntimeError as error:
            print(f"{name} failed: {error}", file=sys.stderr, flush=True)
    if chosen.readme:
        write_readme("nutpie's threads", [*lines, *rows.values()])


if __name__ == "__main__":
    main()
