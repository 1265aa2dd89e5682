"""Scripts of models: samplers by hand, log densities, ops and types of one's own, rewriting, printing, loops over time."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

RNG = np.random.default_rng(7)
X = RNG.normal(size=(12, 4))
Y = np.array([0, 1, 2, 1, 0, 2, 2, 1, 0, 0, 1, 2])


def sigmoid(x: Any) -> Any:
    return 1 / (1 + np.exp(-x))


def _hamiltonian() -> list[Any]:
    q, p, eps = np.array([1.0, -0.5]), np.array([0.3, 0.8]), 0.1
    scale = np.array([1.0, 4.0])

    def energy(q: Any, p: Any) -> Any:
        return 0.5 * (scale * q**2).sum() + 0.5 * (p**2).sum()

    before = energy(q, p)
    for _ in range(10):
        p = p - 0.5 * eps * scale * q
        q = q + eps * p
        p = p - 0.5 * eps * scale * q
    return [q, np.exp(before - energy(q, p))]


def _metropolis(noise: Any, uniform: Any) -> Any:
    x, chain = 0.0, []
    for e, u in zip(noise, uniform, strict=True):
        proposal = x + e
        if np.log(u) < -0.5 * proposal**2 + 0.5 * x**2:
            x = proposal
        chain.append(x)
    return np.array(chain)


NOISE = RNG.normal(size=30) * 1.5
UNIFORM = RNG.uniform(size=30)


def _viterbi() -> list[int]:
    start, move, see = (
        np.log([0.6, 0.4]),
        np.log([[0.7, 0.3], [0.4, 0.6]]),
        np.log([[0.5, 0.4, 0.1], [0.1, 0.3, 0.6]]),
    )
    best: Any = None
    observed = [0, 1, 2, 2, 0]
    for path in np.ndindex(2, 2, 2, 2, 2):
        score = start[path[0]] + sum(see[s, o] for s, o in zip(path, observed, strict=True))
        score += sum(move[a, b] for a, b in itertools.pairwise(path))
        if best is None or score > best[0]:
            best = score, list(path)
    return best[1]


def _life(steps: int) -> Any:
    board = np.zeros((6, 6), dtype="int64")
    board[0, 1] = board[1, 2] = board[2, 0] = board[2, 1] = board[2, 2] = 1
    for _ in range(steps):
        around = sum(
            np.roll(board, (i, j), (0, 1)) for i in (-1, 0, 1) for j in (-1, 0, 1) if i or j
        )
        board = ((around == 3) | ((board == 1) & (around == 2))).astype("int64")
    return board


def _welford() -> list[Any]:
    return [X.mean(0), np.cov(X.T)]


def _mandelbrot() -> Any:
    c = np.array([0.0 + 0.0j, -1.0 + 0.1j, 0.5 + 0.5j, 1.0 + 1.0j])
    z, count = np.zeros(4, complex), np.zeros(4, int)
    for _ in range(12):
        z = np.where(abs(z) <= 2, z**2 + c, z)
        count += abs(z) <= 2
    return count


def _grouped() -> list[Any]:
    design = X - X.mean(0)
    intercept = np.array([0.0, 0.5, -0.5])
    group = np.array([0, 1, 2] * 4)
    e = X[:, 0] * 2 - design @ np.ones(4) - (intercept - intercept.mean())[group]
    by_group = np.array([e[group == k].sum() for k in range(3)]) / 4
    return [
        -0.5 * (e**2).sum() / 4 - 12 * np.log(2.0),
        design.T @ e / 4,
        (by_group - by_group.mean())[1:],
    ]


def _laplace() -> float:
    x, y, b = X[:, :2], (Y > 0) * 1.0, np.zeros(2)
    for _ in range(20):
        p = sigmoid(x @ b)
        precision = x.T @ (x * (p * (1 - p))[:, None]) + np.eye(2)
        b = b + np.linalg.solve(precision, x.T @ (y - p) - b)
    logp = (y * (x @ b) - np.logaddexp(0, x @ b)).sum() - 0.5 * b @ b
    return float(logp + np.log(2 * np.pi) - 0.5 * np.log(np.linalg.det(precision)))


def _gibbs(steps: int) -> Any:
    rng = np.random.default_rng(12)
    y, tau, rows = X[:, 0], 1.0, []
    for _ in range(steps):
        mu = rng.normal(y.sum() * tau / (12 * tau + 1), 1 / np.sqrt(12 * tau + 1))
        tau = rng.gamma(7.0, 1 / (1.0 + 0.5 * ((y - mu) ** 2).sum()))
        rows.append([mu, tau])
    return np.array(rows)


SCRIPTS: dict[str, tuple[str, Any]] = {
    "Hamiltonian Monte Carlo as the tutorial has it": (
        """
        scale = pt.constant(np.array([1.0, 4.0]))
        energy_fn = lambda pos: 0.5 * (scale * pos ** 2).sum()
        def kinetic_energy(vel):
            return 0.5 * (vel ** 2).sum(axis=-1)
        def hamiltonian(pos, vel):
            return energy_fn(pos) + kinetic_energy(vel)
        def simulate_dynamics(initial_pos, initial_vel, stepsize, n_steps):
            def leapfrog(pos, vel, step):
                dE_dpos = pt.grad(energy_fn(pos), pos)
                new_vel = vel - step * dE_dpos
                new_pos = pos + step * new_vel
                return [new_pos, new_vel], {}
            dE_dpos = pt.grad(energy_fn(initial_pos), initial_pos)
            vel_half_step = initial_vel - 0.5 * stepsize * dE_dpos
            pos_full_step = initial_pos + stepsize * vel_half_step
            (all_pos, all_vel), scan_updates = pytensor.scan(leapfrog,
                outputs_info=[dict(initial=pos_full_step), dict(initial=vel_half_step)],
                non_sequences=[stepsize], n_steps=n_steps - 1)
            final_pos, final_vel = all_pos[-1], all_vel[-1]
            assert not scan_updates
            final_vel = final_vel - 0.5 * stepsize * pt.grad(energy_fn(final_pos), final_pos)
            return final_pos, final_vel
        pos, vel, step = pt.dvector("pos"), pt.dvector("vel"), pt.dscalar("step")
        new_pos, new_vel = simulate_dynamics(pos, vel, step, 10)
        accept = pt.exp(hamiltonian(pos, vel) - hamiltonian(new_pos, new_vel))
        result = pytensor.function([pos, vel, step], [new_pos, accept])(np.array([1.0, -0.5]), np.array([0.3, 0.8]), 0.1)
        """,
        _hamiltonian(),
    ),
    "a Metropolis sampler with draws from outside": (
        """
        noise, uniform = pt.dvectors("noise", "uniform")
        logp = lambda x: -0.5 * x ** 2
        def step(e, u, x):
            proposal = x + e
            accept = pt.lt(pt.log(u), logp(proposal) - logp(x))
            return pt.switch(accept, proposal, x)
        chain, _ = pytensor.scan(step, sequences=[noise, uniform], outputs_info=pt.as_tensor_variable(np.asarray(0.0)))
        result = pytensor.function([noise, uniform], chain)(NOISE, UNIFORM)
        """,
        _metropolis(NOISE, UNIFORM),
    ),
    "sequences of several lengths in one vector": (
        """
        from pytensor.ifelse import ifelse
        values, lengths = pt.dvector("values"), pt.lvector("lengths")
        def over(length, start, values):
            part = values[start : start + length]
            total = ifelse(pt.gt(length, 0), part.sum(), pt.constant(-1.0, dtype="float64"))
            largest, _ = pytensor.scan(lambda x, m: pt.maximum(m, x), sequences=[part], outputs_info=[pt.constant(-np.inf, dtype="float64")])
            return total, pt.switch(length > 0, pt.concatenate([pt.zeros(1), largest])[-1], 0.0), start + length
        (sums, maxima, ends), _ = pytensor.scan(over, sequences=[lengths],
            outputs_info=[None, None, pt.constant(np.int64(0))], non_sequences=[values])
        f = pytensor.function([values, lengths], [sums, maxima, ends])
        result = f(np.array([1.0, 5.0, 2.0, -3.0, 4.0, 0.5]), np.array([3, 0, 1, 2]))
        """,
        [[8.0, -1.0, -3.0, 4.5], [5.0, 0.0, -3.0, 4.0], [3.0, 3.0, 4.0, 6.0]],
    ),
    "a solver as an op, whose gradient is another op": (
        """
        from pytensor.graph.basic import Apply
        from pytensor.graph.op import Op
        class Decay(Op):
            itypes = [pt.dvector, pt.dscalar]
            otypes = [pt.dvector]
            __props__ = ()
            def __init__(self):
                self._vjp = DecayGradient()
            def perform(self, node, inputs, outputs):
                times, rate = inputs
                outputs[0][0] = np.exp(-rate * times)
            def infer_shape(self, fgraph, node, shapes):
                return [shapes[0]]
            def grad(self, inputs, g):
                times, rate = inputs
                return [pytensor.gradient.grad_not_implemented(self, 0, times, "times"), self._vjp(times, rate, g[0])]
        class DecayGradient(Op):
            __props__ = ()
            def make_node(self, times, rate, g):
                times, rate, g = (pt.as_tensor_variable(v) for v in (times, rate, g))
                return Apply(self, [times, rate, g], [pt.dscalar()])
            def perform(self, node, inputs, outputs):
                times, rate, g = inputs
                outputs[0][0] = np.asarray((-times * np.exp(-rate * times) * g).sum())
        times, rate = pt.dvector("times"), pt.dscalar("rate")
        solution = Decay()(times, rate)
        f = pytensor.function([times, rate], [solution, pt.grad(solution.sum(), rate), solution.shape[0]])
        result = f(np.array([0.0, 1.0, 2.0]), 0.5)
        """,
        [np.exp([0.0, -0.5, -1.0]), -(np.exp(-0.5) + 2 * np.exp(-1.0)), 3],
    ),
    "log densities dispatched on random variables": (
        """
        from functools import singledispatch
        from pytensor.graph.traversal import ancestors
        from pytensor.graph.replace import clone_replace
        from pytensor.tensor.random.op import RandomVariable
        from pytensor.tensor.random.basic import NormalRV, GammaRV
        @singledispatch
        def _logprob(op, value, *params):
            raise NotImplementedError(op)
        @_logprob.register(NormalRV)
        def _(op, value, rng, size, mu, sigma):
            return -0.5 * ((value - mu) / sigma) ** 2 - pt.log(sigma) - 0.5 * np.log(2 * np.pi)
        @_logprob.register(GammaRV)
        def _(op, value, rng, size, alpha, scale):
            return (alpha - 1) * pt.log(value) - value / scale - pt.gammaln(alpha) - alpha * pt.log(scale)
        srng = pt.random.RandomStream(1)
        sigma = srng.gamma(2.0, 1.5, name="sigma")
        y = srng.normal(0.0, sigma, size=(3,), name="y")
        rvs = [v for v in ancestors([y]) if v.owner and isinstance(v.owner.op, RandomVariable)]
        assert {v.name for v in rvs} == {"sigma", "y"}
        values = {v: v.type(name=f"{v.name}_value") for v in rvs}
        terms = [_logprob(v.owner.op, values[v], *v.owner.inputs).sum() for v in (sigma, y)]
        (joint,) = clone_replace([sum(terms)], {v: values[v] for v in rvs})
        f = pytensor.function([values[sigma], values[y]], [joint, pt.grad(joint, values[sigma])])
        result = f(2.0, np.array([0.5, -1.0, 1.5]))
        """,
        [
            np.log(2.0)
            - 3.0
            + 2 * np.log(1.5)
            - 3.5 / 8
            - 3 * np.log(2.0)
            - 1.5 * np.log(2 * np.pi),
            0.5 - 1.5 + 3.5 / 8 - 3 / 2.0,
        ],
    ),
    "a mean and a covariance by Welford's steps": (
        """
        x = pt.dmatrix("x")
        def update(row, mean, m2, n):
            n = n + 1
            delta = row - mean
            mean = mean + delta / n
            return mean, m2 + pt.outer(delta, row - mean), n
        (means, m2s, counts), _ = pytensor.scan(update, sequences=x,
            outputs_info=[pt.zeros_like(x[0]), pt.zeros((x.shape[1], x.shape[1])), pt.constant(0, dtype="int64")])
        result = pytensor.function([x], [means[-1], m2s[-1] / (counts[-1] - 1)])(X)
        """,
        _welford(),
    ),
    "the likeliest path of hidden states": (
        """
        start = pt.log(pt.constant([0.6, 0.4]))
        move = pt.log(pt.constant([[0.7, 0.3], [0.4, 0.6]]))
        see = pt.log(pt.constant([[0.5, 0.4, 0.1], [0.1, 0.3, 0.6]]))
        seen = pt.ivector("seen")
        def forward(o, score):
            through = score[:, None] + move
            return through.max(axis=0) + see[:, o], through.argmax(axis=0)
        (scores, back), _ = pytensor.scan(forward, sequences=[seen[1:]], outputs_info=[start + see[:, seen[0]], None])
        last = scores[-1].argmax()
        before, _ = pytensor.scan(lambda b, s: b[s], sequences=[back], outputs_info=[last], go_backwards=True)
        path = pt.concatenate([before[::-1], [last]])
        result = pytensor.function([seen], path)(np.array([0, 1, 2, 2, 0], dtype="int32"))
        """,
        _viterbi(),
    ),
    "a game of life": (
        """
        from functools import reduce
        board = pt.lmatrix("board")
        def generation(b):
            around = reduce(pt.add, [pt.roll(pt.roll(b, i, axis=0), j, axis=1) for i in (-1, 0, 1) for j in (-1, 0, 1) if i or j])
            return pt.or_(pt.eq(around, 3), pt.and_(pt.eq(b, 1), pt.eq(around, 2))).astype("int64")
        boards, _ = pytensor.scan(generation, outputs_info=[board], n_steps=7)
        first = np.zeros((6, 6), dtype="int64")
        first[[0, 1, 2, 2, 2], [1, 2, 0, 1, 2]] = 1
        result = pytensor.function([board], boards[-1])(first)
        """,
        _life(7),
    ),
    "points of the Mandelbrot set": (
        """
        c = pt.zvector("c")
        def step(z, count, c):
            z = pt.switch(abs(z) <= 2, z ** 2 + c, z)
            return z, count + pt.cast(abs(z) <= 2, "int64")
        (z, counts), _ = pytensor.scan(step, outputs_info=[pt.zeros_like(c), pt.zeros(c.shape, dtype="int64")], non_sequences=c, n_steps=12)
        result = pytensor.function([c], counts[-1])(np.array([0.0 + 0.0j, -1.0 + 0.1j, 0.5 + 0.5j, 1.0 + 1.0j]))
        """,
        _mandelbrot(),
    ),
    "a hierarchical model with groups and centred predictors": (
        """
        group = pytensor.shared(np.array([0, 1, 2] * 4), name="group")
        common, sigma, offsets = pt.dvector("common"), pt.dscalar("sigma"), pt.dvector("offsets")
        design = X - X.mean(axis=0)
        intercept = pt.concatenate([[0.0], offsets])
        intercept = intercept - intercept.mean()
        mu = pt.dot(pt.as_tensor(design), common) + intercept[group]
        y = pt.constant(X[:, 0] * 2)
        logp = pt.sum(-0.5 * pt.sqr((y - mu) / sigma) - pt.log(sigma))
        dlogp = pytensor.gradient.jacobian(pt.stack([logp]), [common, offsets], vectorize=False)
        f = pytensor.function([common, sigma, offsets], [logp, *dlogp])
        value, slope, slope_of_offsets = f(np.ones(4), 2.0, np.array([0.5, -0.5]))
        result = [value, slope[0], slope_of_offsets[0]]
        """,
        _grouped(),
    ),
    "the highest point by Newton's steps, and its curvature": (
        """
        data = pt.constant(X[:, :2])
        labels = pt.constant((Y > 0) * 1.0)
        beta = pt.dvector("beta")
        def logp(b):
            eta = pt.dot(data, b)
            return (labels * eta - pt.softplus(eta)).sum() - 0.5 * (b ** 2).sum()
        def newton(b):
            return b - pt.linalg.solve(pytensor.gradient.hessian(logp(b), b), pytensor.grad(logp(b), b), assume_a="sym")
        path, updates = pytensor.scan(newton, outputs_info=[beta], n_steps=6)
        mode = path[-1]
        precision = -pytensor.gradient.hessian(logp(beta), beta)
        laplace = logp(beta) + pt.log(2 * np.pi) - 0.5 * pt.linalg.slogdet(precision)[1]
        f, g = pytensor.function([beta], mode), pytensor.function([beta], [pytensor.grad(logp(beta), beta), laplace])
        slope, evidence = g(f(np.zeros(2)))
        result = [slope, evidence]
        """,
        [np.zeros(2), _laplace()],
    ),
    "a feature that counts what rewriting does": (
        """
        from pytensor.graph.features import Feature
        from pytensor.graph.fg import FunctionGraph
        from pytensor.graph.rewriting.basic import node_rewriter, out2in
        class Counter(Feature):
            def on_attach(self, fgraph):
                self.imported, self.changed = 0, []
            def on_import(self, fgraph, node, reason):
                self.imported += 1
            def on_change_input(self, fgraph, node, i, r, new_r, reason=None):
                self.changed.append(reason)
        @node_rewriter([pt.exp])
        def exp_of_log(fgraph, node):
            (x,) = node.inputs
            if x.owner and x.owner.op == pt.log:
                return [x.owner.inputs[0]]
            return None
        x = pt.dvector("x")
        fg = FunctionGraph([x], [pt.exp(pt.log(x)) * 2.0], clone=False)
        counter = Counter()
        fg.attach_feature(counter)
        before = len(fg.apply_nodes)
        out2in(exp_of_log, name="exp_of_log").rewrite(fg)
        result = [before - len(fg.apply_nodes), len(counter.changed), pytensor.function(fg.inputs, fg.outputs[0])([1.0, 2.0])]
        """,
        [2, 1, [2.0, 4.0]],
    ),
    "a database of rewrites of one's own": (
        """
        from pytensor.graph.rewriting.basic import PatternNodeRewriter
        from pytensor.graph.rewriting.db import EquilibriumDB, RewriteDatabaseQuery
        from pytensor.graph.rewriting.utils import rewrite_graph
        from pytensor.graph.fg import FunctionGraph
        from pytensor.graph.traversal import applys_between
        db = EquilibriumDB()
        db.register("double_negation", PatternNodeRewriter((pt.neg, (pt.neg, "x")), "x"), "basic", "logprob")
        db.register("sum_of_squares", PatternNodeRewriter((pt.mul, "x", "x"), (pt.sqr, "x")), "expensive")
        x = pt.dvector("x")
        y = -(-(x * x))
        def names(query):
            fg = FunctionGraph([x], [y], clone=True)
            db.query(query).rewrite(fg)
            return sorted(str(n.op).lower() for n in fg.apply_nodes), pytensor.function(fg.inputs, fg.outputs[0])
        few, f = names(RewriteDatabaseQuery(include=["basic"]))
        more, g = names(RewriteDatabaseQuery(include=["basic", "expensive"]))
        none, h = names(RewriteDatabaseQuery(include=["basic"], exclude=["logprob"]))
        assert any("sqr" in n for n in more) and not any("neg" in n for n in few)
        result = [len(few), len(more), len(none), f([3.0]), g([3.0]), h([3.0])]
        """,
        [1, 1, 3, [9.0], [9.0], [9.0]],
    ),
    "a type of one's own": (
        """
        from pytensor.graph.basic import Apply
        from pytensor.graph.op import Op
        from pytensor.graph.type import Type
        class IntervalType(Type):
            __props__ = ()
            def filter(self, value, strict=False, allow_downcast=None):
                if strict and not isinstance(value, tuple):
                    raise TypeError("Expected a tuple!")
                low, high = value
                if low > high:
                    raise ValueError("the bounds are in the wrong order")
                return (float(low), float(high))
            def __eq__(self, other):
                return type(self) is type(other)
            def __hash__(self):
                return hash(type(self))
        interval = IntervalType()
        class AddIntervals(Op):
            __props__ = ()
            def make_node(self, a, b):
                return Apply(self, [a, b], [interval()])
            def perform(self, node, inputs, outputs):
                (a, b), (c, d) = inputs
                outputs[0][0] = (a + c, b + d)
        class Width(Op):
            __props__ = ()
            def make_node(self, a):
                return Apply(self, [a], [pt.dscalar()])
            def perform(self, node, inputs, outputs):
                outputs[0][0] = np.asarray(inputs[0][1] - inputs[0][0])
        a, b = interval("a"), interval("b")
        total = AddIntervals()(a, b)
        f = pytensor.function([a, b], [total, Width()(total) * 2])
        both, twice = f((0.0, 1.0), (2, 5))
        try:
            f((1.0, 0.0), (2, 5))
        except (TypeError, ValueError) as e:
            assert "wrong order" in str(e)
        else:
            raise AssertionError
        result = [list(both), twice]
        """,
        [[2.0, 6.0], 8.0],
    ),
    "what a graph and its function print": (
        """
        import io
        x = pt.dvector("x")
        y = pt.sqrt(x + 1.0).sum()
        y.name = "total"
        text = pytensor.dprint(y, file="str")
        assert "sqrt" in text.lower() and "total" in text and "x" in text
        stream = io.StringIO()
        pytensor.printing.debugprint(pytensor.function([x], y), file=stream, print_type=True)
        assert stream.getvalue()
        line = pytensor.printing.pp(x * 2.0 + 1.0)
        assert "x" in line and "*" in line
        seen = []
        shown = pytensor.printing.Print("shown", attrs=("shape",), global_fn=lambda op, value: seen.append(value.shape))(x)
        result = [pytensor.function([x], shown.sum())([1.0, 2.0]), len(seen), seen[0][0]]
        """,
        [3.0, 1, 2],
    ),
    "a sampler of Gibbs in a shared table": (
        """
        rng = pytensor.shared(np.random.default_rng(12))
        mu, tau = pytensor.shared(0.0, name="mu"), pytensor.shared(1.0, name="tau")
        y = pt.constant(X[:, 0])
        n = y.shape[0]
        rng1, new_mu = pt.random.normal(y.sum() * tau / (n * tau + 1), 1 / pt.sqrt(n * tau + 1), rng=rng, return_next_rng=True)
        rng2, new_tau = pt.random.gamma(1.0 + n / 2.0, rate=1.0 + 0.5 * ((y - new_mu) ** 2).sum(), rng=rng1, return_next_rng=True)
        draw = pytensor.function([], [new_mu, new_tau], updates={rng: rng2, mu: new_mu, tau: new_tau})
        result = np.array([draw() for _ in range(5)])
        """,
        _gibbs(5),
    ),
}
