"""Command that measures roots, minima and a differential equation beside SciPy, JAX, its libraries and PyTensor, and prints a table.

    python benchmarks/optimizing.py                # what is installed of JAX, Diffrax with Optimistix, and PyTensor
    python benchmarks/optimizing.py --count 100    # batches of 100 problems in place of 1,000
    python benchmarks/optimizing.py --rounds 20

Times are processor milliseconds of a call with derivatives, the minimum of the rounds. All libraries have float64, one
thread and the same starts and tolerances; results are compared before anything is measured,
and the numbers of another library that differ from SciPy's are counted below the table. SciPy solves one problem after another, with derivatives
by the implicit function theorem, or by the equations of the derivatives. PyTensor has no batches of its solvers, so it solves
one problem after another, too, and has no differential equations.
"""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Callable
from time import process_time
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false")

import click
import numpy as np
from scipy import integrate, optimize
from timing import interleaved, timed

import occelo as oc
import occelo.tensor as ot

Call = Callable[[], Any]
TIMES = np.linspace(0.0, 20.0, 21)
RATES = np.array([0.55, 0.028, 0.8, 0.024])
START = np.array([34.0, 5.9])
TOLERANCE = 1e-8


def ours(many: Any) -> dict[str, Call]:
    """The three problems in graphs. Each call returns values and derivatives."""
    x, a, batch = ot.dscalar("x"), ot.dscalar("a"), ot.dvector("batch")
    start, rates = ot.dvector("start", shape=(2,)), ot.dvector("rates", shape=(4,))
    root = oc.optimize.root_scalar(x**3 + a * x - 2.0, x).root
    least = oc.optimize.minimize(rosenbrock(start, a), start, tol=1e-6).x
    roots, minima = oc.vectorize_graph([root, least], {a: batch})
    curves = oc.optimize.odeint(prey, start, TIMES, args=(rates,), rtol=TOLERANCE, atol=TOLERANCE)
    f = oc.function([x, batch], [roots, oc.grad(roots.sum(), batch)])
    g = oc.function([start, batch], [minima, oc.grad(minima.sum(), batch)])
    h = oc.function([start, rates], [curves, oc.grad(ot.log(curves).sum(), rates)])
    return {
        "root": lambda: f(1.0, many),
        "minimize": lambda: g(np.zeros(2), many),
        "odeint": lambda: h(START, RATES),
    }


def rosenbrock(v: Any, a: Any) -> Any:
    """Rosenbrock's function of two numbers, whose minimum is at (a, a squared)."""
    return (a - v[0]) ** 2 + 5.0 * (v[1] - v[0] ** 2) ** 2


def prey(y: Any, t: Any, rates: Any) -> Any:
    """The derivatives of Lotka and Volterra."""
    births, hunted, deaths, fed = (rates[k] for k in range(4))
    return [births * y[0] - hunted * y[0] * y[1], fed * y[0] * y[1] - deaths * y[1]]


def of_scipy(many: Any) -> dict[str, Call]:
    """The same by SciPy."""

    def roots() -> Any:
        x = np.array([
            optimize.newton(
                lambda x, a: x**3 + a * x - 2.0, 1.0, fprime=lambda x, a: 3 * x**2 + a, args=(a,)
            )
            for a in many
        ])  # fmt: skip
        return x, -x / (3.0 * x**2 + many)

    def slope(v: Any, a: float) -> Any:
        away = v[1] - v[0] ** 2
        return np.array([-2.0 * (a - v[0]) - 20.0 * v[0] * away, 10.0 * away])

    def minima() -> Any:
        x = np.array([
            optimize.minimize(rosenbrock, np.zeros(2), (a,), "BFGS", jac=slope, tol=1e-6).x
            for a in many
        ])  # fmt: skip
        sums = []
        for v in x:
            cross = -20.0 * v[0]
            hessian = [[2.0 - 20.0 * v[1] + 60.0 * v[0] ** 2, cross], [cross, 10.0]]
            sums.append(np.linalg.solve(hessian, [2.0, 0.0]).sum())
        return x, np.array(sums)

    def together(z: Any, t: float) -> Any:
        y, moved = z[:2], z[2:].reshape(2, 4)
        b, h, d, f = RATES
        by_y = np.array([[b - h * y[1], -h * y[0]], [f * y[1], f * y[0] - d]])
        both = y[0] * y[1]
        by_rates = np.array([[y[0], -both, 0.0, 0.0], [0.0, 0.0, -y[1], both]])
        return np.concatenate([prey(y, t, RATES), (by_y @ moved + by_rates).ravel()])

    def curves() -> Any:
        begin = np.concatenate([START, np.zeros(8)])
        z = integrate.odeint(together, begin, TIMES, rtol=TOLERANCE, atol=TOLERANCE)
        y, moved = z[:, :2], z[:, 2:].reshape(-1, 2, 4)
        return y, (moved / y[:, :, None]).sum((0, 1))

    return {"root": roots, "minimize": minima, "odeint": curves}


def of_jax(many: Any) -> dict[str, Call]:
    """The same by JAX, whose library has no `root_scalar`: it is a loop of Newton's steps, with its derivative."""
    import jax
    import jax.numpy as jnp
    from jax.experimental.ode import odeint
    from jax.scipy.optimize import minimize

    jax.config.update("jax_enable_x64", True)

    def root(a: Any) -> Any:
        def step(state: Any) -> Any:
            x, _ = state
            move = (x**3 + a * x - 2.0) / (3.0 * x**2 + a)
            return x - move, jnp.abs(move)

        x, _ = jax.lax.while_loop(lambda s: s[1] > 1.48e-8, step, (1.0, jnp.inf))
        return x, -x / (3.0 * x**2 + a)

    def least(a: Any) -> Any:
        x = minimize(rosenbrock, jnp.zeros(2), (a,), method="BFGS", tol=1e-6).x
        hessian = jax.hessian(rosenbrock)(x, a)
        mixed = jax.jacobian(jax.grad(rosenbrock), 1)(x, a)
        return x, -jnp.linalg.solve(hessian, mixed).sum()

    def curves(rates: Any) -> Any:
        y = odeint(
            lambda y, t, r: jnp.stack(prey(y, t, r)), START, TIMES, rates, rtol=TOLERANCE, atol=TOLERANCE
        )  # fmt: skip
        return jnp.log(y).sum(), y

    roots, minima = jax.jit(jax.vmap(root)), jax.jit(jax.vmap(least))
    slopes = jax.jit(jax.value_and_grad(curves, has_aux=True))

    def solved() -> Any:
        (_, y), slope = slopes(RATES)
        return y, slope

    calls: dict[str, Call] = {
        "root": lambda: roots(many),
        "minimize": lambda: minima(many),
        "odeint": solved,
    }
    return {k: lambda f=f: jax.block_until_ready(f()) for k, f in calls.items()}


def of_diffrax(many: Any) -> dict[str, Call]:
    """The same by Optimistix and Diffrax, which are written in JAX."""
    import diffrax
    import jax
    import jax.numpy as jnp
    import optimistix

    jax.config.update("jax_enable_x64", True)
    newton = optimistix.Newton(rtol=0.0, atol=1.48e-8)
    bfgs = optimistix.BFGS(rtol=1e-6, atol=1e-6)

    def root(a: Any) -> Any:
        def cubic(x: Any, a: Any) -> Any:
            return x**3 + a * x - 2.0

        x = optimistix.root_find(cubic, newton, jnp.array(1.0), a, throw=False).value
        return x, x

    def least(a: Any) -> Any:
        x = optimistix.minimise(
            rosenbrock, bfgs, jnp.zeros(2), a, max_steps=1000, throw=False
        ).value
        return x.sum(), x

    def curves(rates: Any) -> Any:
        y = diffrax.diffeqsolve(
            diffrax.ODETerm(lambda t, y, r: jnp.stack(prey(y, t, r))),
            diffrax.Dopri5(),
            TIMES[0],
            TIMES[-1],
            None,
            jnp.array(START),
            rates,
            saveat=diffrax.SaveAt(ts=TIMES),
            stepsize_controller=diffrax.PIDController(rtol=TOLERANCE, atol=TOLERANCE),
        ).ys
        return jnp.log(y).sum(), y

    def both(function: Callable[..., Any]) -> Callable[..., Any]:
        slope = jax.value_and_grad(function, has_aux=True)

        def values_first(argument: Any) -> Any:
            (_, values), slopes = slope(argument)
            return values, slopes

        return values_first

    roots, minima = jax.jit(jax.vmap(both(root))), jax.jit(jax.vmap(both(least)))
    curved = jax.jit(both(curves))
    calls: dict[str, Call] = {
        "root": lambda: roots(many),
        "minimize": lambda: minima(many),
        "odeint": lambda: curved(RATES),
    }
    return {k: lambda f=f: jax.block_until_ready(f()) for k, f in calls.items()}


def of_pytensor(many: Any) -> dict[str, Call]:
    """Roots and minima by PyTensor, one after another."""
    import pytensor
    import pytensor.tensor as pt
    from pytensor.tensor import optimize as po

    x, a, start = pt.dscalar("x"), pt.dscalar("a"), pt.dvector("start")
    root, _ = po.root_scalar(x**3 + a * x - 2.0, x, method="newton")
    least, _ = po.minimize(
        rosenbrock(start, a), start, method="BFGS", optimizer_kwargs={"tol": 1e-6}
    )
    f = pytensor.function([x, a], [root, pytensor.grad(root, a)])
    g = pytensor.function([start, a], [least, pytensor.grad(least.sum(), a)])

    def solved(function: Any, begin: Any) -> Any:
        pairs = [function(begin, value) for value in many]
        return np.array([v for v, _ in pairs]), np.array([s for _, s in pairs])

    return {"root": lambda: solved(f, 1.0), "minimize": lambda: solved(g, np.zeros(2))}


def _installed(*names: str) -> bool:
    return all(importlib.util.find_spec(name) is not None for name in names)


@click.command()
@click.option("--count", default=1_000, help="Problems of a batch.")
@click.option("--rounds", default=10, help="Rounds, of which the fastest counts.")
def main(count: int, rounds: int) -> None:
    """Print a table of processor milliseconds."""
    many = np.linspace(0.5, 1.5, count)
    libraries = {"Occelo": ours(many), "SciPy": of_scipy(many)}
    if _installed("jax"):
        libraries["JAX"] = of_jax(many)
    if _installed("diffrax", "optimistix"):
        libraries["Diffrax, Optimistix"] = of_diffrax(many)
    if _installed("pytensor"):
        libraries["PyTensor"] = of_pytensor(many)
    titles = {
        "root": f"root_scalar, {count} at once",
        "minimize": f"minimize, {count} at once",
        "odeint": "odeint, Lotka-Volterra",
    }
    print("| with derivatives, ms |", " | ".join(libraries), "| best other / Occelo |")
    print("|---|" + "---:|" * (len(libraries) + 1))
    notes: list[str] = []
    ratios: list[float] = []
    for name, title in titles.items():
        having = {k: calls[name] for k, calls in libraries.items() if name in calls}
        wanted = having["SciPy"]()
        for library, call in having.items():
            far = _far(call(), wanted)
            if library == "Occelo" and far:
                raise click.ClickException(f"{name}: {far} numbers differ from SciPy's")
            notes += [f"{library}, {name}: {far} numbers differ from SciPy's"] if far else []
        best = interleaved({k: timed(call, process_time) for k, call in having.items()}, rounds)
        shown = [f"{1e3 * best[k]:.3g}" if k in best else "" for k in libraries]
        ratios.append(min(s for k, s in best.items() if k != "Occelo") / best["Occelo"])
        print(f"| {title} |", " | ".join(shown), f"| {ratios[-1]:.2f} |")
    mean = float(np.exp(np.mean(np.log(ratios))))
    notes.append(f"geometric mean of the best other library / Occelo: {mean:.2f}")
    print("", *notes, sep="\n")


def _far(values: Any, wanted: Any) -> int:
    """How many of the numbers are not those wanted, up to 0.001."""
    return sum(
        int((~np.isclose(v, w, rtol=1e-3, atol=1e-3)).sum())
        for v, w in zip(values, wanted, strict=True)
    )


if __name__ == "__main__":
    main()
