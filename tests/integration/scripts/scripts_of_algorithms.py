"""Scripts of numerical algorithms: finance, mixtures, factorizations, epidemics, attention, alignments, wavelets."""

from __future__ import annotations

import importlib
import itertools
from typing import Any

import numpy as np

STATS: Any = importlib.import_module("scipy.stats")
SPECIAL: Any = importlib.import_module("scipy.special")

G = np.random.default_rng(11)
DATA = np.random.default_rng(0).normal(size=(40, 3))
NORMAL = G.normal(size=(2, 4, 6))
WEIGHTS = G.normal(size=(4, 6, 6)) / 3
ROWS = np.log(G.dirichlet(np.ones(4), size=5))


def _options(s: float, k: float, r: float, sig: float, t: float) -> list[float]:
    d1 = (np.log(s / k) + (r + sig**2 / 2) * t) / (sig * np.sqrt(t))
    d2 = d1 - sig * np.sqrt(t)
    cdf, pdf = STATS.norm.cdf, STATS.norm.pdf
    price = s * cdf(d1) - k * np.exp(-r * t) * cdf(d2)
    return [price, cdf(d1), pdf(d1) / (s * sig * np.sqrt(t)), s * pdf(d1) * np.sqrt(t)]


def _mixture(steps: int) -> list[Any]:
    x, w, mu, sd = DATA[:, 0], np.full(2, 0.5), np.array([-1.0, 1.0]), np.ones(2)
    total = 0.0
    for _ in range(steps):
        logs = np.log(w) + STATS.norm.logpdf(x[:, None], mu, sd) + 0.5 * np.log(2 * np.pi)
        norm = SPECIAL.logsumexp(logs, axis=1, keepdims=True)
        r, total = np.exp(logs - norm), norm.sum()
        n = r.sum(axis=0)
        mu = (r * x[:, None]).sum(0) / n
        sd, w = np.sqrt((r * (x[:, None] - mu) ** 2).sum(0) / n), n / n.sum()
    return [total, w, mu, sd]


def _factors(steps: int) -> list[Any]:
    v, rs = np.abs(DATA[:8]), np.random.RandomState(3)
    w, h = rs.rand(8, 2), rs.rand(2, 3)
    for _ in range(steps):
        h = h * (w.T @ v) / (w.T @ w @ h + 1e-9)
        w = w * (v @ h.T) / (w @ h @ h.T + 1e-9)
    return [w, h]


def _epidemic(beta: float, steps: int = 60) -> list[float]:
    s, i = 0.99, 0.01
    infected: list[float] = []
    for _ in range(steps):
        new = beta * s * i
        s, i = s - new, i + new - 0.1 * i
        infected.append(i)
    return [max(infected), float(np.argmax(infected)), s]


def _attended() -> Any:
    q, k, v = ((NORMAL @ w).reshape(2, 4, 2, 3).transpose(0, 2, 1, 3) for w in WEIGHTS[:3])
    scores = q @ k.transpose(0, 1, 3, 2) / np.sqrt(3)
    scores = np.where(np.triu(np.ones((4, 4)), 1) == 1, -np.inf, scores)
    out = (SPECIAL.softmax(scores, axis=-1) @ v).transpose(0, 2, 1, 3).reshape(2, 4, 6)
    return out @ WEIGHTS[3]


def _aligned(labels: list[int]) -> float:
    """The log probability of all paths that collapse to the labels, path by path."""
    total = 0.0
    for path in itertools.product(range(4), repeat=5):
        merged = [key for key, _ in itertools.groupby(path)]
        if [key for key in merged if key] == labels:
            total += float(np.exp(ROWS[np.arange(5), list(path)].sum()))
    return float(np.log(total))


def _haar(x: Any) -> Any:
    parts: list[Any] = []
    for _ in range(3):
        parts.append((x[::2] - x[1::2]) / np.sqrt(2))
        x = (x[::2] + x[1::2]) / np.sqrt(2)
    return np.concatenate([x, *parts[::-1]])


def _adapted(w: Any, x: Any, y: Any) -> float:
    costs: list[float] = []
    for xt, yt in zip(x, y, strict=True):
        fast = w - 0.1 * 2 * xt.T @ (xt @ w - yt) / len(yt)
        costs.append(float(np.mean((xt @ fast - yt) ** 2)))
    return float(np.mean(costs))


COUNTS = np.array([[1, 0, 3], [0, 0, 0], [2, 2, 2]])
TASKS, AIMS = G.normal(size=(2, 5, 3)), G.normal(size=(2, 5))
WAVE = np.linspace(-1, 2, 16) ** 3

SCRIPTS: dict[str, tuple[str, Any]] = {
    "the price of an option and its derivatives": (
        """
        s, k, r, sig, t = pt.dscalars("s", "k", "r", "sigma", "t")
        d1 = (pt.log(s / k) + (r + sig**2 / 2) * t) / (sig * pt.sqrt(t))
        d2 = d1 - sig * pt.sqrt(t)
        def cdf(z):
            return 0.5 * (1 + pt.erf(z / np.sqrt(2.0)))
        price = s * cdf(d1) - k * pt.exp(-r * t) * cdf(d2)
        delta, vega = pytensor.grad(price, [s, sig])
        f = pytensor.function([s, k, r, sig, t], [price, delta, pytensor.grad(delta, s), vega])
        result = f(100.0, 95.0, 0.02, 0.3, 0.5)
        """,
        _options(100.0, 95.0, 0.02, 0.3, 0.5),
    ),
    "expectation and maximization of a mixture": (
        """
        X = pytensor.shared(DATA[:, 0].copy(), name="X")
        w = pytensor.shared(np.array([0.5, 0.5]), name="w")
        mu = pytensor.shared(np.array([-1.0, 1.0]), name="mu")
        sd = pytensor.shared(np.array([1.0, 1.0]), name="sd")
        logp = pt.log(w) - pt.log(sd) - 0.5 * ((X[:, None] - mu) / sd) ** 2
        norm = pt.logsumexp(logp, axis=1, keepdims=True)
        r = pt.exp(logp - norm)
        n = r.sum(axis=0)
        new_mu = (r * X[:, None]).sum(0) / n
        new_sd = pt.sqrt((r * (X[:, None] - new_mu) ** 2).sum(0) / n)
        step = pytensor.function([], norm.sum(), updates=[(w, n / n.sum()), (mu, new_mu), (sd, new_sd)])
        for _ in range(10):
            total = step()
        result = [total, w.get_value(), mu.get_value(), sd.get_value()]
        """,
        _mixture(10),
    ),
    "factors without negative elements": (
        """
        rs = np.random.RandomState(3)
        v = pt.constant(np.abs(DATA[:8]))
        W, H = pytensor.shared(rs.rand(8, 2), "W"), pytensor.shared(rs.rand(2, 3), "H")
        train_H = pytensor.function([], [], updates={H: H * (W.T @ v) / (W.T @ W @ H + 1e-9)})
        train_W = pytensor.function([], [], updates={W: W * (v @ H.T) / (W @ H @ H.T + 1e-9)})
        for _ in range(15):
            train_H()
            train_W()
        result = [W.get_value(), H.get_value()]
        """,
        _factors(15),
    ),
    "a curve by Levenberg and Marquardt": (
        """
        t, y, p = pt.dvectors("t", "y", "p")
        lam = pt.dscalar("lam")
        resid = y - p[0] * pt.exp(-p[1] * t)
        J = pytensor.gradient.jacobian(resid, p)
        normal = J.T.dot(J)
        step = pt.linalg.solve(normal + lam * pt.diag(pt.diag(normal)), -J.T.dot(resid))
        f = pytensor.function([p, t, y, lam], [step, (resid**2).sum()])
        tv = np.linspace(0, 2, 9)
        yv = 2.5 * np.exp(-1.3 * tv)
        pv, lv = np.array([1.0, 1.0]), 1e-2
        for _ in range(20):
            d, c = f(pv, tv, yv, lv)
            if f(pv + d, tv, yv, lv)[1] < c:
                pv, lv = pv + d, lv / 3
            else:
                lv *= 3
        result = pv
        """,
        np.array([2.5, 1.3]),
    ),
    "an epidemic with two states": (
        """
        beta, gam = pt.dscalars("beta", "gamma")
        def one(s, i, b, g):
            new = b * s * i
            return s - new, i + new - g * i
        (ss, ii), updates = pytensor.scan(
            fn=one, outputs_info=[pt.constant(0.99), pt.constant(0.01)], non_sequences=[beta, gam], n_steps=60)
        peak = ii.max()
        f = pytensor.function([beta, gam], [peak, pt.argmax(ii), ss[-1], pytensor.grad(peak, beta)], updates=updates)
        result = [float(v) for v in f(0.5, 0.1)]
        h = 1e-5
        slope = (float(f(0.5 + h, 0.1)[0]) - float(f(0.5 - h, 0.1)[0])) / (2 * h)
        assert abs(result.pop() - slope) < 1e-6
        """,
        _epidemic(0.5),
    ),
    "causal attention with two heads": (
        """
        x = pt.tensor3("x", dtype="float64")
        Wq, Wk, Wv, Wo = (pytensor.shared(w, name=n) for w, n in zip(WEIGHTS, "qkvo"))
        b, t = x.shape[0], x.shape[1]
        def split(z):
            return z.reshape((b, t, 2, 3)).dimshuffle(0, 2, 1, 3)
        q, k, v = split(pt.dot(x, Wq)), split(pt.dot(x, Wk)), split(pt.dot(x, Wv))
        scores = pt.matmul(q, k.transpose(0, 1, 3, 2)) / np.sqrt(3)
        mask = pt.triu(pt.ones((t, t)), k=1)
        weights = pt.special.softmax(pt.switch(pt.eq(mask, 1), -1e9, scores), axis=-1)
        out = pt.dot(pt.matmul(weights, v).dimshuffle(0, 2, 1, 3).reshape((b, t, 6)), Wo)
        result = pytensor.function([x], out)(NORMAL)
        """,
        _attended(),
    ),
    "alignments of labels by a scan over rows": (
        """
        lab, logp = pt.lvector("lab"), pt.dmatrix("logp")
        ext = pt.set_subtensor(pt.zeros((2 * lab.shape[0] + 1,), dtype="int64")[1::2], lab)
        skip = pt.concatenate([pt.zeros(2, dtype="bool"), pt.neq(ext[2:], ext[:-2])]) & pt.neq(ext, 0)
        init = pt.set_subtensor(pt.full((ext.shape[0],), -1e30)[:2], logp[0, ext[:2]])
        def step(row, a, e, s):
            one = pt.concatenate([pt.constant([-1e30]), a[:-1]])
            two = pt.switch(s, pt.concatenate([pt.constant([-1e30, -1e30]), a[:-2]]), -1e30)
            return pt.logaddexp(pt.logaddexp(a, one), two) + row[e]
        alpha, _ = pytensor.scan(step, sequences=logp[1:], outputs_info=init, non_sequences=[ext, skip])
        ll = pt.logaddexp(alpha[-1, -1], alpha[-1, -2])
        f = pytensor.function([lab, logp], [ll, pytensor.grad(ll, logp).sum(axis=1)])
        result = f([1, 2, 2], ROWS)
        """,
        [_aligned([1, 2, 2]), np.ones(5)],  # each row has one label of each path
    ),
    "wavelets over three levels": (
        """
        x = pt.dvector("x")
        parts, cur = [], x
        for _ in range(3):
            even, odd = cur[::2], cur[1::2]
            parts.append((even - odd) / np.sqrt(2))
            cur = (even + odd) / np.sqrt(2)
        coef = pt.concatenate([cur, *parts[::-1]])
        shrunk = pt.sgn(coef) * pt.maximum(pt.abs(coef) - 0.3, 0)
        energy = pt.sum(pt.sqr(coef))
        f = pytensor.function([x], [coef, shrunk, pytensor.grad(energy, x)])
        result = f(WAVE)
        """,
        [
            _haar(WAVE),
            np.sign(_haar(WAVE)) * np.maximum(abs(_haar(WAVE)) - 0.3, 0),
            2 * WAVE,
        ],
    ),
    "a step of learning inside of learning": (
        """
        from pytensor.graph.replace import graph_replace, vectorize_graph
        w, xt, yt = pt.dvector("w"), pt.dmatrix("xt"), pt.dvector("yt")
        inner = pt.mean((pt.dot(xt, w) - yt) ** 2)
        outer = graph_replace([inner], {w: w - 0.1 * pytensor.grad(inner, w)})[0]
        XT, YT = pt.dtensor3("XT"), pt.dmatrix("YT")
        meta = vectorize_graph(outer, {xt: XT, yt: YT}).mean()
        f = pytensor.function([w, XT, YT], [meta, pytensor.grad(meta, w)])
        value, slope = f(V, TASKS, AIMS)
        h = 1e-5 * np.eye(3)
        again = [(float(f(V + e, TASKS, AIMS)[0]) - float(f(V - e, TASKS, AIMS)[0])) / 2e-5 for e in h]
        np.testing.assert_allclose(slope, again, rtol=1e-6)
        result = float(value)
        """,
        _adapted(np.array([1.0, -2.0, 3.0]), TASKS, AIMS),
    ),
    "counts of several kinds with a mask": (
        """
        counts, alpha = pt.lmatrix("counts"), pt.dvector("alpha")
        n = counts.sum(axis=-1)
        ll = pt.gammaln(alpha.sum()) - pt.gammaln(n + alpha.sum())
        ll = ll + pt.sum(pt.gammaln(counts + alpha) - pt.gammaln(alpha), axis=-1)
        masked = pt.switch(pt.all(pt.eq(counts, 0), axis=-1), -1.0, ll)
        f = pytensor.function([counts, alpha], [ll, masked])
        result = f(COUNTS, [0.5, 1.0, 2.0])
        """,
        [
            np.array(
                [
                    SPECIAL.gammaln(3.5)
                    - SPECIAL.gammaln(row.sum() + 3.5)
                    + sum(SPECIAL.gammaln(row + [0.5, 1, 2]) - SPECIAL.gammaln([0.5, 1, 2]))
                    - (flag and not row.any())
                    for row in COUNTS
                ]
            )
            for flag in (False, True)
        ],
    ),
    "sparse products and their gradients": (
        """
        import scipy.sparse as sp
        from pytensor import sparse
        m, w = sparse.csr_matrix("m", dtype="float64"), pt.dmatrix("w")
        prod = sparse.structured_dot(m, w)
        data, indices, indptr, shape = sparse.csm_properties(m)
        f = pytensor.function([m, w], [prod, pytensor.grad((prod**2).sum(), w), sparse.sp_sum(m, axis=0), data])
        result = f(sp.csr_matrix(np.array([[0, 2.0, 0], [1.0, 0, 3.0]])), np.arange(6.0).reshape(3, 2))
        """,
        [
            np.array([[4.0, 6], [12, 16]]),
            2 * np.array([[0, 2.0, 0], [1.0, 0, 3.0]]).T @ np.array([[4.0, 6], [12, 16]]),
            np.array([1.0, 2, 3]),
            np.array([2.0, 1, 3]),
        ],
    ),
    "order statistics and counts": (
        """
        x, k = pt.dvector("x"), pt.lvector("k")
        srt, order = pt.sort(x), pt.argsort(x)
        median = pt.switch(pt.eq(x.size % 2, 1), srt[x.size // 2], (srt[x.size // 2 - 1] + srt[x.size // 2]) / 2)
        uniq, inverse = pt.unique(k, return_inverse=True)
        cost = (srt * pt.arange(x.size)).sum()
        f = pytensor.function([x, k], [
            median, pt.argsort(order), pt.bincount(k, minlength=6), pt.searchsorted(srt, x[:2], side="right"),
            uniq, inverse, pytensor.grad(cost, x)])
        result = f(V, np.array([1, 4, 4, 0, 1, 1]))
        """,
        [
            1.0, np.array([1, 0, 2]), np.array([1, 3, 0, 0, 2, 0]), np.array([2, 1]),
            np.array([0, 1, 4]), np.array([1, 2, 2, 0, 1, 1]), np.array([1.0, 0, 2]),
        ],
    ),
}  # fmt: skip
