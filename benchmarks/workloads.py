"""Workloads of the benchmarks: each for Occelo and PyTensor (one program for both), NumPy, JAX and PyTorch.

Occelo and PyTensor share names, so one builder serves both: it gets the tensor library and functions
for gradients, shared variables and constants. All other parts of the benchmarks take their programs or their `Library` from here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

__all__ = ["MODELS", "WORKLOADS", "Library", "Workload", "of_one_function"]


@dataclass
class Library:
    """The functions of Occelo or PyTensor that a builder uses."""

    tensor: Any
    grad: Any
    shared: Any
    function: Any


@dataclass
class Workload:
    """``build`` gives ``(inputs, outputs, updates)``, ``numpy`` and ``jax`` functions of arrays.

    ``jax`` gets ``jax`` and gives a function to compile, ``torch`` likewise; for steps with updates it takes
    and returns the state after the inputs. With ``renews`` each call goes on with the state that the last
    one returned, whose memory it may use. ``torch_compiles`` is False for single functions of PyTorch, to which
    `torch.compile` would only add overhead. ``goal`` is how many times as fast as the best peer Occelo is to be at least.
    ``by_hand`` gives calls of programs in other languages, ``c_goal`` how many times the time of C is allowed. ``real`` is the
    dtype of real numbers, ``rtol`` how far results may differ. ``pytensor`` is False where PyTensor has no such function.
    """

    name: str
    build: Callable[[Library], tuple[list[Any], list[Any], list[Any]]]
    arrays: tuple[Any, ...]
    numpy: Callable[..., Any] | None = None
    jax: Callable[[Any], Callable[..., Any]] | None = None
    state: tuple[Any, ...] = ()
    torch: Callable[[Any], Callable[..., Any]] | None = None
    renews: bool = False
    torch_compiles: bool = True
    goal: float = 0.9
    by_hand: Mapping[str, Callable[[], Callable[[], Any] | None]] = field(default_factory=dict)
    c_goal: float | None = None
    real: str = "float64"
    rtol: float = 1e-6
    pytensor: bool = True


def of_one_function(
    name: str,
    ours: Callable[..., Any],
    theirs: Callable[..., Any],
    *arrays: Any,
    torch: Callable[[Any], Callable[..., Any]] | None = None,
    static: bool = False,
    **options: Any,
) -> Workload:
    """A function of the tensor library (``ours``), and of `numpy` and `jax.numpy` (``theirs``).

    ``torch`` gets `torch`. With ``static``, the graph is built for the shapes of the arrays. The goal is 0.8.
    """

    def build(lib: Library) -> Any:
        inputs = [
            lib.tensor.tensor(dtype=a.dtype.name, shape=a.shape if static else (None,) * a.ndim)
            for a in arrays
        ]
        return inputs, [ours(lib.tensor, *inputs)], []

    return Workload(
        name,
        build,
        arrays,
        lambda *a: [theirs(np, *a)],
        lambda jax: lambda *a: [theirs(jax.numpy, *a)],
        torch=None if torch is None else lambda library: lambda *a: [torch(library)(*a)],
        torch_compiles=False,
        goal=0.8,
        **options,
    )


def _random() -> np.random.Generator:
    # each workload has numbers of its own, so that every process makes the same ones
    return np.random.default_rng(1)


def _kernel(m: Any, x: Any, y: Any) -> Any:
    return (m.exp(-x * x) * y + x / (1.0 + y * y)) * m.sqrt(x * x + 1.0) - 0.5 * y


def elementwise(n: int) -> Workload:
    """Ten operations on two vectors."""
    rng = _random()

    def build(lib: Library) -> Any:
        x, y = lib.tensor.dvector("x"), lib.tensor.dvector("y")
        return [x, y], [_kernel(lib.tensor, x, y)], []

    return Workload(
        f"elementwise, n={n:.0e}",
        build,
        (rng.standard_normal(n), rng.standard_normal(n)),
        lambda x, y: [_kernel(np, x, y)],
        lambda jax: lambda x, y: [_kernel(jax.numpy, x, y)],
        torch=lambda torch: lambda x, y: [_kernel(torch, x, y)],
    )


def reduction(axis: int | None) -> Workload:
    """The sum of squares over an axis."""
    rng = _random()

    def build(lib: Library) -> Any:
        x = lib.tensor.dmatrix("x")
        return [x], [(x * x).sum(axis=axis)], []

    return Workload(
        f"sum of squares, 1000 x 1000, axis {axis}",
        build,
        (rng.standard_normal((1000, 1000)),),
        lambda x: [(x * x).sum(axis=axis)],
        lambda jax: lambda x: [(x * x).sum(axis=axis)],
        torch=lambda torch: lambda x: [(x * x).sum(dim=axis)],
    )


def softmax(rows: int, columns: int) -> Workload:
    rng = _random()

    def build(lib: Library) -> Any:
        x = lib.tensor.dmatrix("x")
        soft = getattr(lib.tensor, "softmax", None) or lib.tensor.special.softmax
        return [x], [soft(x, axis=1)], []

    def by_hand(x: Any) -> Any:
        e = np.exp(x - x.max(axis=1, keepdims=True))
        return [e / e.sum(axis=1, keepdims=True)]

    return Workload(
        f"softmax, {rows} x {columns}",
        build,
        (rng.standard_normal((rows, columns)),),
        by_hand,
        lambda jax: lambda x: [jax.nn.softmax(x, axis=1)],
        torch=lambda torch: lambda x: [torch.softmax(x, 1)],
    )


def black_scholes(n: int) -> Workload:
    """Prices of calls and puts."""
    rng = _random()

    def prices(m: Any, erf: Any, s: Any, k: Any, t: Any) -> Any:
        r, v = 0.02, 0.3
        root = m.sqrt(t)
        d1 = (m.log(s / k) + (r + v * v / 2) * t) / (v * root)
        d2 = d1 - v * root

        def cdf(z: Any) -> Any:
            return 0.5 * (1.0 + erf(z / 1.4142135623730951))

        discounted = k * m.exp(-r * t)
        call = s * cdf(d1) - discounted * cdf(d2)
        return [call, call - s + discounted]

    def build(lib: Library) -> Any:
        s, k, t = (lib.tensor.dvector(c) for c in "skt")
        return [s, k, t], prices(lib.tensor, lib.tensor.erf, s, k, t), []

    def by_hand(s: Any, k: Any, t: Any) -> Any:
        from scipy.special import erf

        return prices(np, erf, s, k, t)

    return Workload(
        f"Black-Scholes, n={n:.0e}",
        build,
        (rng.uniform(50, 150, n), rng.uniform(50, 150, n), rng.uniform(0.1, 2, n)),
        by_hand,
        lambda jax: lambda s, k, t: prices(jax.numpy, jax.scipy.special.erf, s, k, t),
        torch=lambda torch: lambda s, k, t: prices(torch, torch.erf, s, k, t),
    )


def dense(n: int) -> Workload:
    """A layer: product, bias, tanh."""
    rng = _random()

    def build(lib: Library) -> Any:
        x, w, b = lib.tensor.dmatrix("x"), lib.tensor.dmatrix("w"), lib.tensor.dvector("b")
        return [x, w, b], [lib.tensor.tanh(lib.tensor.dot(x, w) + b)], []

    arrays = (rng.standard_normal((n, n)), rng.standard_normal((n, n)) / n, rng.standard_normal(n))
    return Workload(
        f"tanh(x @ w + b), n={n}",
        build,
        arrays,
        lambda x, w, b: [np.tanh(x @ w + b)],
        lambda jax: lambda x, w, b: [jax.numpy.tanh(x @ w + b)],
        torch=lambda torch: lambda x, w, b: [torch.tanh(x @ w + b)],
    )


def gather(n: int) -> Workload:
    """Elements by index, and their sum by group."""
    rng = _random()

    def build(lib: Library) -> Any:
        x, i = lib.tensor.dvector("x"), lib.tensor.lvector("i")
        taken = x[i] * 2.0
        zeros = lib.tensor.zeros_like(x)
        return [x, i], [taken, zeros[i].inc(taken)], []

    def by_hand(x: Any, i: Any) -> Any:
        taken = x[i] * 2.0
        return [taken, np.bincount(i, weights=taken, minlength=x.size)]

    return Workload(
        f"gather and scatter, n={n:.0e}",
        build,
        (rng.standard_normal(1000), rng.integers(0, 1000, n)),
        by_hand,
        lambda jax: lambda x, i: [x[i] * 2.0, jax.numpy.zeros_like(x).at[i].add(x[i] * 2.0)],
        torch=lambda torch: (
            lambda x, i: [x[i] * 2.0, torch.zeros_like(x).index_add(0, i, x[i] * 2.0)]
        ),
    )


def embedding(n: int = 200_000, d: int = 50, k: int = 256) -> Workload:
    """Some rows of a large table read and changed."""
    rng = _random()
    table = rng.standard_normal((n, d))

    def build(lib: Library) -> Any:
        rows, values = lib.tensor.lvector("rows"), lib.tensor.dmatrix("values")
        state = lib.shared(table.copy(), "table")
        taken = state[rows]
        return [rows, values], [taken.sum(axis=1)], [(state, state[rows].inc(-0.1 * values))]

    def by_hand(rows: Any, values: Any, state: Any) -> Any:
        total = state[rows].sum(axis=1)
        np.add.at(state, rows, -0.1 * values)
        return [total, state]

    def with_torch(torch: Any) -> Any:
        def step(rows: Any, values: Any, state: Any) -> Any:
            total = state[rows].sum(1)
            return [total, state.index_add_(0, rows, -0.1 * values)]

        return step

    return Workload(
        f"{k} rows of a table of {n:,} x {d}",
        build,
        (rng.integers(0, n, k), rng.standard_normal((k, d))),
        by_hand,
        lambda jax: (
            lambda rows, values, state: [state[rows].sum(1), state.at[rows].add(-0.1 * values)]
        ),
        (table,),
        with_torch,
        renews=True,
    )


def logistic(n: int = 400, k: int = 100) -> Workload:
    """A step of logistic regression by gradient descent."""
    rng = _random()
    x0, y0 = rng.standard_normal((n, k)), rng.integers(0, 2, n).astype(float)
    w0 = rng.standard_normal(k) * 0.1

    def build(lib: Library) -> Any:
        t = lib.tensor
        x, y = t.dmatrix("x"), t.dvector("y")
        w, b = lib.shared(w0.copy(), "w"), lib.shared(0.0, "b")
        p = 1 / (1 + t.exp(-t.dot(x, w) - b))
        entropy = -y * t.log(p) - (1 - y) * t.log(1 - p)
        cost = entropy.mean() + 0.01 * (w**2).sum()
        gw, gb = lib.grad(cost, [w, b])
        return [x, y], [p > 0.5, entropy], [(w, w - 0.1 * gw), (b, b - 0.1 * gb)]

    def with_jax(jax: Any) -> Any:
        jnp = jax.numpy

        def cost(state: Any, x: Any, y: Any) -> Any:
            w, b = state
            z = x @ w + b
            entropy = y * jnp.logaddexp(0, -z) + (1 - y) * jnp.logaddexp(0, z)
            return entropy.mean() + 0.01 * (w**2).sum(), (z > 0, entropy)

        def step(x: Any, y: Any, w: Any, b: Any) -> Any:
            (_, out), (gw, gb) = jax.value_and_grad(cost, has_aux=True)((w, b), x, y)
            return [*out, w - 0.1 * gw, b - 0.1 * gb]

        return step

    def with_torch(torch: Any) -> Any:
        def cost(state: Any, x: Any, y: Any) -> Any:
            w, b = state
            z = x @ w + b
            zero = torch.zeros_like(z)
            entropy = y * torch.logaddexp(zero, -z) + (1 - y) * torch.logaddexp(zero, z)
            return entropy.mean() + 0.01 * (w**2).sum(), (z > 0, entropy)

        both = torch.func.grad_and_value(cost, has_aux=True)

        def step(x: Any, y: Any, w: Any, b: Any) -> Any:
            (gw, gb), (_, out) = both((w, b), x, y)
            return [*out, w - 0.1 * gw, b - 0.1 * gb]

        return step

    def by_hand(x: Any, y: Any, w: Any, b: Any) -> Any:
        z = x @ w + b
        p = 1 / (1 + np.exp(-z))
        entropy = y * np.logaddexp(0, -z) + (1 - y) * np.logaddexp(0, z)
        d = (p - y) / n
        return [p > 0.5, entropy, w - 0.1 * (x.T @ d + 0.02 * w), b - 0.1 * d.sum()]

    return Workload(
        f"logistic regression step, {n} x {k}",
        build,
        (x0, y0),
        by_hand,
        with_jax,
        (w0, np.array(0.0)),
        with_torch,
    )


def mlp(n: int = 128, d: int = 64, h: int = 50, c: int = 10) -> Workload:
    """A step of a two-layer network."""
    rng = _random()
    x0, t0 = rng.standard_normal((n, d)), rng.integers(0, c, n)
    state = (
        rng.standard_normal((d, h)) * 0.1,
        np.zeros(h),
        rng.standard_normal((h, c)) * 0.1,
        np.zeros(c),
    )

    def build(lib: Library) -> Any:
        t = lib.tensor
        x, target = t.dmatrix("x"), t.lvector("target")
        weights = [lib.shared(s.copy(), name) for s, name in zip(state, "abcd", strict=True)]
        w1, b1, w2, b2 = weights
        soft = getattr(t, "log_softmax", None) or t.special.log_softmax
        scores = t.dot(t.tanh(t.dot(x, w1) + b1), w2) + b2
        cost = -soft(scores, axis=1)[t.arange(target.shape[0]), target].mean()
        grads = lib.grad(cost, weights)
        return [x, target], [cost], [(w, w - 0.1 * g) for w, g in zip(weights, grads, strict=True)]

    def with_jax(jax: Any) -> Any:
        jnp = jax.numpy

        def cost(weights: Any, x: Any, target: Any) -> Any:
            w1, b1, w2, b2 = weights
            scores = jnp.tanh(x @ w1 + b1) @ w2 + b2
            return -jax.nn.log_softmax(scores, axis=1)[jnp.arange(x.shape[0]), target].mean()

        def step(x: Any, target: Any, *weights: Any) -> Any:
            value, grads = jax.value_and_grad(cost)(weights, x, target)
            return [value, *[w - 0.1 * g for w, g in zip(weights, grads, strict=True)]]

        return step

    def with_torch(torch: Any) -> Any:
        def cost(weights: Any, x: Any, target: Any) -> Any:
            w1, b1, w2, b2 = weights
            scores = torch.tanh(x @ w1 + b1) @ w2 + b2
            rows = torch.arange(x.shape[0])
            return -torch.log_softmax(scores, 1)[rows, target].mean()

        both = torch.func.grad_and_value(cost)

        def step(x: Any, target: Any, *weights: Any) -> Any:
            grads, value = both(weights, x, target)
            return [value, *[w - 0.1 * g for w, g in zip(weights, grads, strict=True)]]

        return step

    def by_hand(x: Any, target: Any, w1: Any, b1: Any, w2: Any, b2: Any) -> Any:
        hidden = np.tanh(x @ w1 + b1)
        scores = hidden @ w2 + b2
        top = scores.max(axis=1, keepdims=True)
        e = np.exp(scores - top)
        total = e.sum(axis=1, keepdims=True)
        rows = np.arange(n)
        cost = -(scores - top - np.log(total))[rows, target].mean()
        d = e / total
        d[rows, target] -= 1
        d /= n
        back = (d @ w2.T) * (1 - hidden * hidden)
        return [
            cost,
            w1 - 0.1 * (x.T @ back),
            b1 - 0.1 * back.sum(axis=0),
            w2 - 0.1 * (hidden.T @ d),
            b2 - 0.1 * d.sum(axis=0),
        ]

    name = f"MLP step, {n} x {d} x {h} x {c}"
    return Workload(name, build, (x0, t0), by_hand, with_jax, state, with_torch)


def hierarchical(n: int = 919, g: int = 85) -> Workload:
    """Log density of a varying-slopes model, and its gradient."""
    rng = _random()
    data = rng.integers(0, g, n), rng.integers(0, 2, n).astype(float), rng.standard_normal(n)

    def log_density(m: Any, p: Any, data: Any = data) -> Any:
        group, floor, observed = data
        mu_a, ls_a, mu_b, ls_b, ls, za, zb = p

        def normal(v: Any, mean: Any, log_scale: Any, scale: Any) -> Any:
            z = (v - mean) / scale
            return -0.5 * z * z - log_scale - 0.9189385332046727

        a = mu_a + m.exp(ls_a) * za
        b = mu_b + m.exp(ls_b) * zb
        mean = a[group] + b[group] * floor
        total = normal(observed, mean, ls, m.exp(ls)).sum()
        total = total + normal(za, 0.0, 0.0, 1.0).sum() + normal(zb, 0.0, 0.0, 1.0).sum()
        total = total + normal(mu_a, 0.0, 2.302585, 10.0) + normal(mu_b, 0.0, 2.302585, 10.0)
        for q in (ls_a, ls_b, ls):
            total = total - m.log1p((m.exp(q) / 5.0) ** 2) + q
        return total

    def build(lib: Library) -> Any:
        scalars = [lib.tensor.dscalar(s) for s in ("mu_a", "ls_a", "mu_b", "ls_b", "ls")]
        inputs = [*scalars, lib.tensor.dvector("za"), lib.tensor.dvector("zb")]
        total = log_density(lib.tensor, inputs)
        return inputs, [total, *lib.grad(total, inputs)], []

    def with_jax(jax: Any) -> Any:
        both = jax.value_and_grad(lambda p: log_density(jax.numpy, p))

        def run(*p: Any) -> Any:
            value, grads = both(p)
            return [value, *grads]

        return run

    def with_torch(torch: Any) -> Any:
        tensors = [torch.from_numpy(a) for a in data]
        both = torch.func.grad_and_value(lambda p: log_density(torch, p, tensors))

        def run(*p: Any) -> Any:
            grads, value = both(p)
            return [value, *grads]

        return run

    arrays = (0.1, 0.2, -0.1, 0.1, 0.3, rng.standard_normal(g), rng.standard_normal(g))
    return Workload(
        f"hierarchical log density with gradient, n={n}",
        build,
        tuple(np.asarray(a) for a in arrays),
        None,
        with_jax,
        torch=with_torch,
    )


MODELS: dict[str, Callable[[], Workload]] = {
    "logistic": logistic,
    "mlp": mlp,
    "hierarchical": hierarchical,
}
WORKLOADS: list[Callable[[], Workload]] = [
    *[lambda n=n: elementwise(n) for n in (1000, 10_000, 100_000, 1_000_000, 10_000_000)],
    *[lambda a=a: reduction(a) for a in (None, 0, 1)],
    lambda: softmax(128, 10),
    lambda: softmax(1000, 1000),
    lambda: black_scholes(1_000_000),
    lambda: dense(64),
    lambda: dense(512),
    lambda: gather(100_000),
    embedding,
    logistic,
    mlp,
    hierarchical,
]
