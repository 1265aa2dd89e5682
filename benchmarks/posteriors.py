"""Value and gradient of real posteriors: Occelo beside JAX and, for eight of them, Stan's C++ (the package httpstan).

    OCCELO_POSTERIORDB=FOLDER python benchmarks/posteriors.py [--stan FOLDER]

The densities are those of `posterior_densities`, one program for Occelo and JAX, and ``stan/posteriors``. Each is measured in two ways:
by a call from Python with a vector of NumPy's, and inside a loop of compiled code: a C loop that calls Occelo's function (`c_function`)
or Stan's, `lax.fori_loop` for JAX. All are single threads that take turns; times are processor time, the least of the rounds.
Results are compared before they are timed. What Stan's compiler makes is kept in the folder, for the next run; each program takes it a minute or more.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from time import process_time
from typing import Any

os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"
os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"

import click
import models_in_stan
import numpy as np
from posterior_densities import POSTERIORS, Posterior, folder, of_occelo, with_jax
from timing import Timed, interleaved, timed

STAN = models_in_stan.PROGRAMS / "posteriors"
COLUMNS = ["occelo", "jax", "occelo in a loop", "jax in a loop", "stan in a loop"]


def _function(posterior: Posterior, data: Any, point: Any) -> Any:
    import occelo as oc
    import occelo.tensor as ot

    x = ot.tensor("x", dtype="float64", shape=point.shape)
    value = posterior.program(of_occelo(), x, data)
    return oc.function([x], [value, oc.grad(value, x)])


def _c_loop(address: int, data: int, point: Any, code: Any) -> tuple[Timed, Any]:
    """A C loop that calls a density, and the results of one call; ``code`` keeps the density loaded."""
    from models import the_loop

    value, gradient = np.zeros(()), np.zeros_like(point)
    places = [point, gradient, value]

    def run(count: int) -> float:
        start = process_time()
        addresses = [a.ctypes.data for a in places]
        if the_loop()(address, count, len(point), *addresses, data) or code is None:
            raise ArithmeticError("the density failed")
        return process_time() - start

    run(1)
    return run, (float(value), gradient.copy())


def _jax_loop(both: Callable[[Any], Any], point: Any) -> Timed:
    import jax

    def step(_: Any, carried: Any) -> Any:
        # the next point depends on the gradient, so that no evaluation can be left out
        x, value = carried
        value, gradient = both(x)
        return x + 1e-18 * gradient, value

    loop = jax.jit(lambda x, count: jax.lax.fori_loop(0, count, step, (x, 0.0)))

    def run(count: int) -> float:
        start = process_time()
        jax.block_until_ready(loop(point, count))
        return process_time() - start

    return run


def _agree(results: dict[str, Any], posterior: str) -> None:
    """Gradients of all, and values of Occelo and JAX: Stan leaves out other constants."""
    value, gradient = results["occelo"]
    for name, (other, slope) in results.items():
        scale = np.abs(gradient).max()
        np.testing.assert_allclose(
            slope, gradient, rtol=1e-7, atol=1e-9 * scale, err_msg=f"{posterior}: {name}"
        )
        if not name.startswith("stan"):
            np.testing.assert_allclose(other, value, rtol=1e-9, err_msg=f"{posterior}: {name}")


def measured(posterior: Posterior, rounds: int, stan: Path) -> dict[str, float]:
    """Seconds of an evaluation by column."""
    data = posterior.data()
    point = posterior.point(data)
    ours = _function(posterior, data, point)
    results: dict[str, Any] = {"occelo": ours(point)}
    calls = {"occelo": timed(lambda: ours(point), process_time)}
    compiled = ours.c_function("log_density_gradient")
    calls["occelo in a loop"], results["occelo in a loop"] = _c_loop(
        compiled.address, compiled.data, point, compiled
    )
    try:
        import jax
    except ImportError:
        pass
    else:
        both = with_jax(posterior, data)
        call = jax.jit(both)
        results["jax"] = [np.asarray(r) for r in call(point)]
        calls["jax"] = timed(lambda: jax.block_until_ready(call(point)), process_time)
        calls["jax in a loop"] = _jax_loop(both, point)
    source = STAN / f"{posterior.name}.stan"
    if source.exists() and models_in_stan.installed():
        address, model = models_in_stan.compiled(source, data, stan)
        calls["stan in a loop"], results["stan in a loop"] = _c_loop(address, model, point, source)
    _agree(results, posterior.name)
    return interleaved(calls, rounds)


def _mean(ratios: list[float]) -> str:
    return (
        f"{np.exp(np.mean(np.log(ratios))):.2f} (least {min(ratios):.2f}, of {len(ratios)})"
        if ratios
        else "not measured"
    )


@click.command()
@click.option("--rounds", default=5, help="Rounds of each measurement.")
@click.option("--only", default="", help="Measure posteriors whose names contain this.")
@click.option(
    "--stan", type=click.Path(path_type=Path), help="The folder of Stan's compiled programs."
)
def main(rounds: int, only: str, stan: Path | None) -> None:
    """Measure value and gradient of real posteriors, and write a table in Markdown."""
    try:
        folder()
    except LookupError as error:
        raise click.ClickException(str(error)) from error
    rows: dict[str, dict[str, float]] = {}
    with tempfile.TemporaryDirectory() as temporary:
        libraries = stan or Path(temporary)
        libraries.mkdir(parents=True, exist_ok=True)
        print(f"| us | parameters | {' | '.join(COLUMNS)} |\n|{'---|' * (len(COLUMNS) + 2)}")
        for name, posterior in POSTERIORS.items():
            if only in name:
                times = rows[name] = measured(posterior, rounds, libraries)
                figures = [f"{times[c] * 1e6:.3g}" if c in times else "" for c in COLUMNS]
                size = posterior.size(posterior.data())
                print(f"| {name} | {size} | {' | '.join(figures)} |", flush=True)
    for peer, base in (("jax", "occelo"), ("jax in a loop",) * 2, ("stan in a loop",) * 2):
        own = "occelo" if base == "occelo" else "occelo in a loop"
        print(f"{peer} / {own}: {_mean([r[peer] / r[own] for r in rows.values() if peer in r])}")


if __name__ == "__main__":
    main()
