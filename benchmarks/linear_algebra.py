"""Workloads of linear algebra for the benchmarks: batches of matrices, Gaussian processes, filters, contractions.

`compiled` measures them, in the part `linear` of `run`, beside the same programs in the other libraries.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from workloads import Library, Workload

__all__ = ["LINEAR_MODELS", "LINEAR_WORKLOADS", "gaussian_process"]

SIZES = {
    4: (1, 500, 10_000),
    8: (1, 500, 10_000),
    32: (1, 500, 10_000),
    256: (1, 500),
    1000: (1,),
}
"""The numbers of matrices in a batch, by their number of rows: those that fit into memory for all libraries."""
OPERATIONS = {
    "cholesky": 1 / 3,
    "solve_triangular": 1.0,
    "det": 2 / 3,
    "solve": 2 / 3,
    "inv": 2.0,
    "eigh": 20.0,
}
"""Operations of each function for a matrix of n x n, about, over n cubed."""
MOST_OPERATIONS = 2e10
"""Operations of a case, which take a few seconds."""
GOAL = 0.95
"""How many times as fast as the best peer each case is to be at least."""
BATCH_GOAL = 2.5
"""The same for batches of matrices of at most 16 rows."""


def _random() -> np.random.Generator:
    # each workload has numbers of its own, so that every process makes the same ones
    return np.random.default_rng(2)


def _positive(rng: np.random.Generator, batch: int, n: int) -> Any:
    a = rng.standard_normal((batch, n, n))
    return a @ a.swapaxes(-1, -2) / n + np.eye(n)


def _goal(batch: int, n: int) -> float:
    return BATCH_GOAL if batch > 1 and n <= 16 else GOAL


def _named(name: str, batch: int, n: int) -> str:
    return f"{name}, {batch:,} of {n} x {n}" if batch > 1 else f"{name}, {n} x {n}"


def _of_matrix(name: str, batch: int, n: int) -> Workload:
    """A function of one matrix, or of a batch of positive definite ones."""
    whole = _positive(_random(), batch, n)
    given = whole if batch > 1 else whole[0]

    def listed(made: Any) -> list[Any]:
        # the signs of eigenvectors are arbitrary
        return [made[0], abs(made[1])] if name == "eigh" else [made]

    def build(lib: Library) -> Any:
        t = lib.tensor
        function = getattr(t.linalg, name)
        a = t.tensor("a", shape=given.shape, dtype="float64")
        if name == "eigh" and batch > 1 and t.__name__.startswith("pytensor"):
            # PyTensor's function takes one matrix
            from pytensor.graph.replace import vectorize_graph

            one = t.tensor("one", shape=(n, n), dtype="float64")
            return [a], vectorize_graph(listed(function(one)), {one: a}), []
        return [a], listed(function(a)), []

    return Workload(
        _named(name, batch, n),
        build,
        (given,),
        lambda a: listed(getattr(np.linalg, name)(a)),
        lambda jax: lambda a: listed(getattr(jax.numpy.linalg, name)(a)),
        torch=lambda torch: lambda a: listed(getattr(torch.linalg, name)(a)),
        torch_compiles=False,
        goal=_goal(batch, n),
    )


def _of_equations(name: str, batch: int, n: int) -> Workload:
    """A vector of right-hand sides for each matrix."""
    rng = _random()
    whole = _positive(rng, batch, n)
    if name == "solve_triangular":
        whole = np.linalg.cholesky(whole)
    a0, b0 = whole, rng.standard_normal((batch, n, 1))
    if batch == 1:
        a0, b0 = a0[0], b0[0]
    lower = {"lower": True} if name == "solve_triangular" else {}

    def build(lib: Library) -> Any:
        t = lib.tensor
        a = t.tensor("a", shape=a0.shape, dtype="float64")
        b = t.tensor("b", shape=b0.shape, dtype="float64")
        return [a, b], [getattr(t.linalg, name)(a, b, b_ndim=2, **lower)], []

    def by_hand(a: Any, b: Any) -> Any:
        if not lower:
            return [np.linalg.solve(a, b)]
        from scipy.linalg import solve_triangular

        return [solve_triangular(a, b, lower=True, check_finite=False)]

    def with_jax(jax: Any) -> Any:
        from jax.scipy.linalg import solve_triangular

        if lower:
            return lambda a, b: [solve_triangular(a, b, lower=True)]
        return lambda a, b: [jax.numpy.linalg.solve(a, b)]

    def with_torch(torch: Any) -> Any:
        if lower:
            return lambda a, b: [torch.linalg.solve_triangular(a, b, upper=False)]
        return lambda a, b: [torch.linalg.solve(a, b)]

    return Workload(
        _named(name, batch, n),
        build,
        (a0, b0),
        by_hand,
        with_jax,
        torch=with_torch,
        torch_compiles=False,
        goal=_goal(batch, n),
    )


def gaussian_process(n: int = 400) -> Workload:
    """The log density of a Gaussian process and its gradient with respect to the log scale, length scale and noise."""
    rng = _random()
    x0 = np.sort(rng.uniform(0, 10, n))
    y0 = np.sin(x0) + 0.1 * rng.standard_normal(n)
    constant = float(0.5 * n * np.log(2 * np.pi))

    def build(lib: Library) -> Any:
        t = lib.tensor
        x, y = t.dvector("x"), t.dvector("y")
        logs = [t.dscalar(c) for c in ("scale", "length", "noise")]
        scale, length, noise = (t.exp(v) for v in logs)
        distance = (x[:, None] - x[None, :]) / length
        kernel = scale * t.exp(-0.5 * distance**2) + noise * t.eye(x.shape[0])
        factor = t.linalg.cholesky(kernel)
        z = t.linalg.solve_triangular(factor, y, lower=True)
        total = -0.5 * (z**2).sum() - t.log(t.diagonal(factor)).sum() - constant
        return [x, y, *logs], [total, *lib.grad(total, logs)], []

    def by_hand(x: Any, y: Any, *logs: Any) -> Any:
        from scipy.linalg.lapack import dpotrf, dpotri, dpotrs

        scale, length, noise = np.exp(logs)
        squares = ((x[:, None] - x[None, :]) / length) ** 2
        smooth = scale * np.exp(-0.5 * squares)
        kernel = smooth + noise * np.eye(n)
        factor, _ = dpotrf(kernel, lower=1, clean=0)
        alpha, _ = dpotrs(factor, y, lower=1)
        total = -0.5 * y @ alpha - np.log(np.diagonal(factor)).sum() - constant
        inverse, _ = dpotri(factor, lower=1, overwrite_c=1)
        diagonal = np.diagonal(inverse).copy()
        inverse = np.tril(inverse, -1)
        smooth_alpha = smooth @ alpha
        # each element below the diagonal stands for two
        inverse *= smooth
        of_scale = 0.5 * (alpha @ smooth_alpha - 2 * inverse.sum() - scale * diagonal.sum())
        inverse *= squares
        of_length = 0.5 * (alpha @ ((smooth * squares) @ alpha) - 2 * inverse.sum())
        of_noise = 0.5 * noise * (alpha @ alpha - diagonal.sum())
        return [total, of_scale, of_length, of_noise]

    def log_density(m: Any, solve: Any, x: Any, y: Any, *logs: Any) -> Any:
        scale, length, noise = (m.exp(v) for v in logs)
        distance = (x[:, None] - x[None, :]) / length
        kernel = scale * m.exp(-0.5 * distance**2) + noise * m.eye(n, dtype=x.dtype)
        factor = m.linalg.cholesky(kernel)
        z = solve(factor, y)
        return -0.5 * (z**2).sum() - m.log(m.diagonal(factor)).sum() - constant

    def with_jax(jax: Any) -> Any:
        from jax.scipy.linalg import solve_triangular

        def density(x: Any, y: Any, *logs: Any) -> Any:
            solve: Any = lambda a, b: solve_triangular(a, b, lower=True)  # noqa: E731
            return log_density(jax.numpy, solve, x, y, *logs)

        both = jax.value_and_grad(density, argnums=(2, 3, 4))

        def run(*given: Any) -> Any:
            value, grads = both(*given)
            return [value, *grads]

        return run

    def with_torch(torch: Any) -> Any:
        def density(x: Any, y: Any, *logs: Any) -> Any:
            def solve(a: Any, b: Any) -> Any:
                return torch.linalg.solve_triangular(a, b[:, None], upper=False)[:, 0]

            return log_density(torch, solve, x, y, *logs)

        both = torch.func.grad_and_value(density, argnums=(2, 3, 4))

        def run(*given: Any) -> Any:
            grads, value = both(*given)
            return [value, *grads]

        return run

    logs = tuple(np.asarray(v) for v in (0.1, -0.2, -2.0))
    return Workload(
        f"Gaussian process, log density with gradient, n={n:,}",
        build,
        (x0, y0, *logs),
        by_hand,
        with_jax,
        torch=with_torch,
        goal=GOAL,
    )


def kalman(states: int = 8, seen: int = 4) -> Workload:
    """A step of a Kalman filter: the state's mean and covariance, and the log density of the observation."""
    rng = _random()
    arrays = (
        rng.standard_normal(seen),
        rng.standard_normal(states),
        _positive(rng, 1, states)[0],
        rng.standard_normal((states, states)) / states**0.5,
        _positive(rng, 1, states)[0],
        rng.standard_normal((seen, states)),
        _positive(rng, 1, seen)[0],
    )

    def step(linalg: Any, log: Any, diagonal: Any, solve: Any) -> Callable[..., Any]:
        def run(y: Any, mean: Any, cov: Any, move: Any, q: Any, observe: Any, r: Any) -> Any:
            mean, cov = move @ mean, move @ cov @ move.T + q
            seen_cov = observe @ cov @ observe.T + r
            factor = linalg.cholesky(seen_cov)
            half = solve(factor, observe @ cov)
            z = solve(factor, (y - observe @ mean)[:, None])[:, 0]
            density = -0.5 * (z * z).sum() - log(diagonal(factor)).sum()
            return [density, mean + half.T @ z, cov - half.T @ half]

        return run

    def build(lib: Library) -> Any:
        t = lib.tensor
        inputs = [t.tensor(f"a{i}", shape=a.shape, dtype="float64") for i, a in enumerate(arrays)]

        def solve(a: Any, b: Any) -> Any:
            return t.linalg.solve_triangular(a, b, lower=True, b_ndim=2)

        return inputs, step(t.linalg, t.log, t.diagonal, solve)(*inputs), []

    def by_hand(*given: Any) -> Any:
        from scipy.linalg import solve_triangular

        solve: Any = lambda a, b: solve_triangular(a, b, lower=True, check_finite=False)  # noqa: E731
        return step(np.linalg, np.log, np.diagonal, solve)(*given)

    def with_jax(jax: Any) -> Any:
        from jax.scipy.linalg import solve_triangular

        solve: Any = lambda a, b: solve_triangular(a, b, lower=True)  # noqa: E731
        return step(jax.numpy.linalg, jax.numpy.log, jax.numpy.diagonal, solve)

    def with_torch(torch: Any) -> Any:
        solve: Any = lambda a, b: torch.linalg.solve_triangular(a, b, upper=False)  # noqa: E731
        return step(torch.linalg, torch.log, torch.diagonal, solve)

    return Workload(
        f"Kalman filter step, {states} states, {seen} observed",
        build,
        arrays,
        by_hand,
        with_jax,
        torch=with_torch,
        goal=GOAL,
    )


def mahalanobis(points: int = 10_000, d: int = 20) -> Workload:
    """Mahalanobis distances of points from a mean."""
    rng = _random()
    arrays = rng.standard_normal((points, d)), rng.standard_normal(d), _positive(rng, 1, d)[0]

    def build(lib: Library) -> Any:
        t = lib.tensor
        x, mean, cov = t.dmatrix("x"), t.dvector("mean"), t.dmatrix("cov")
        factor = t.linalg.cholesky(cov)
        z = t.linalg.solve_triangular(factor, (x - mean).T, lower=True, b_ndim=2)
        return [x, mean, cov], [t.sqrt((z**2).sum(axis=0))], []

    def by_hand(x: Any, mean: Any, cov: Any) -> Any:
        from scipy.linalg import solve_triangular

        factor = np.linalg.cholesky(cov)
        z = solve_triangular(factor, (x - mean).T, lower=True, check_finite=False)
        return [np.sqrt((z**2).sum(axis=0))]

    def with_jax(jax: Any) -> Any:
        from jax.scipy.linalg import solve_triangular

        def run(x: Any, mean: Any, cov: Any) -> Any:
            factor = jax.numpy.linalg.cholesky(cov)
            z = solve_triangular(factor, (x - mean).T, lower=True)
            return [jax.numpy.sqrt((z**2).sum(0))]

        return run

    def with_torch(torch: Any) -> Any:
        def run(x: Any, mean: Any, cov: Any) -> Any:
            factor = torch.linalg.cholesky(cov)
            z = torch.linalg.solve_triangular(factor, (x - mean).T, upper=False)
            return [torch.sqrt((z**2).sum(0))]

        return run

    name = f"Mahalanobis distances of {points:,} points in {d} dimensions"
    return Workload(name, build, arrays, by_hand, with_jax, torch=with_torch, goal=GOAL)


def einsum(text: str, *shapes: tuple[int, ...]) -> Workload:
    """A contraction of several operands."""
    rng = _random()
    arrays = tuple(rng.standard_normal(s) for s in shapes)

    def build(lib: Library) -> Any:
        t = lib.tensor
        inputs = [t.tensor(f"a{i}", shape=s, dtype="float64") for i, s in enumerate(shapes)]
        return inputs, [t.einsum(text, *inputs)], []

    return Workload(
        f"einsum {text}, " + ", ".join("x".join(map(str, s)) for s in shapes),
        build,
        arrays,
        lambda *given: [np.einsum(text, *given, optimize=True)],
        lambda jax: lambda *given: [jax.numpy.einsum(text, *given)],
        torch=lambda torch: lambda *given: [torch.einsum(text, *given)],
        goal=GOAL,
    )


LINEAR_MODELS: dict[str, Callable[[], Workload]] = {"gaussian_process": gaussian_process}
LINEAR_WORKLOADS: list[Callable[[], Workload]] = [
    *[
        lambda f=f, name=name, batch=batch, n=n: f(name, batch, n)
        for f, names in (
            (_of_matrix, ("cholesky", "inv", "det", "eigh")),
            (_of_equations, ("solve", "solve_triangular")),
        )
        for name in names
        for n, batches in SIZES.items()
        for batch in batches
        if OPERATIONS[name] * batch * n**3 <= MOST_OPERATIONS
    ],
    *[lambda n=n: gaussian_process(n) for n in (100, 400, 2000)],
    kalman,
    mahalanobis,
    lambda: einsum("ij,jk,kl->il", (100, 200), (200, 50), (50, 100)),
    lambda: einsum("bij,bjk,bk->bi", (100, 20, 30), (100, 30, 20), (100, 20)),
    lambda: einsum("ijk,jl,km->ilm", (30, 30, 30), (30, 30), (30, 30)),
]
