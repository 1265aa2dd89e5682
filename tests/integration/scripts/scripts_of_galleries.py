"""Scripts of galleries, blogs and tutorials of deep learning: networks in classes, samplers, filters, graph tools."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np

SPECIAL: Any = importlib.import_module("scipy.special")
STATS: Any = importlib.import_module("scipy.stats")
LINALG: Any = importlib.import_module("scipy.linalg")

A = np.array([[4.0, 1.0, 0.5], [1.0, 3.0, 0.2], [0.5, 0.2, 2.0]])
V = np.array([1.0, -2.0, 3.0])
XS = np.random.default_rng(3).normal(size=(12, 4))
CLASSES = (XS[:, 0] > 0).astype("int32") + (XS[:, 1] > 0.5)
W0 = np.random.default_rng(4).normal(size=(4, 3)) * 0.1
BITS = (XS > 0).astype("float64")


def _softmax(z: Any) -> Any:
    return SPECIAL.softmax(z, axis=-1)


def _logistic_sgd(steps: int) -> tuple[Any, float]:
    w, b = np.zeros((4, 3)), np.zeros(3)
    onehot = np.eye(3)[CLASSES]
    for _ in range(steps):
        d = (_softmax(XS @ w + b) - onehot) / len(XS)
        w, b = w - 0.13 * XS.T @ d, b - 0.13 * d.sum(axis=0)
    p = _softmax(XS @ w + b)
    return w, sum(p.argmax(axis=1) != CLASSES) / len(CLASSES)


def _mlp(steps: int) -> float:
    rng = np.random.default_rng(1234)
    w1 = rng.uniform(-0.5, 0.5, (4, 5))
    w2, b1, b2 = np.zeros((5, 3)), np.zeros(5), np.zeros(3)
    onehot, cost = np.eye(3)[CLASSES], 0.0
    for _ in range(steps):
        h = np.tanh(XS @ w1 + b1)
        p = _softmax(h @ w2 + b2)
        cost = -np.log(p[np.arange(len(p)), CLASSES]).mean()
        cost += 0.001 * (abs(w1).sum() + abs(w2).sum()) + 0.01 * ((w1**2).sum() + (w2**2).sum())
        d = (p - onehot) / len(p)
        dh = d @ w2.T * (1 - h**2)
        g2 = h.T @ d + 0.001 * np.sign(w2) + 0.02 * w2
        g1 = XS.T @ dh + 0.001 * np.sign(w1) + 0.02 * w1
        w1, w2 = w1 - 0.1 * g1, w2 - 0.1 * g2
        b1, b2 = b1 - 0.1 * dh.sum(axis=0), b2 - 0.1 * d.sum(axis=0)
    return float(cost)


def _autoencoder() -> float:
    y = SPECIAL.expit(BITS @ W0)
    z = SPECIAL.expit(y @ W0.T)
    return float(-(BITS * np.log(z) + (1 - BITS) * np.log(1 - z)).sum(axis=1).mean())


def _free_energy(v: Any) -> Any:
    return -np.log1p(np.exp(v @ W0)).sum(axis=1)


def _lstm(x: Any) -> Any:
    rng = np.random.default_rng(2)
    w, u = rng.normal(size=(4, 8)), rng.normal(size=(2, 8))
    h, c = np.zeros(2), np.zeros(2)
    for row in x:
        z = row @ w + h @ u
        i, f, o = (SPECIAL.expit(z[2 * k : 2 * k + 2]) for k in range(3))
        c = f * c + i * np.tanh(z[6:])
        h = o * np.tanh(c)
    return h


def _gru(x: Any) -> Any:
    h = np.zeros(3)
    for row in x:
        z = SPECIAL.expit(row @ W0 + h)
        h = (1 - z) * h + z * np.tanh(row @ W0)
    return h


def _kalman(ys: Any) -> Any:
    m, p = 0.0, 1.0
    out: list[Any] = []
    for y in ys:
        p = p + 0.1
        k = p / (p + 0.5)
        m, p = m + k * (y - m), (1 - k) * p
        out.append(m)
    return np.array(out)


def _page_rank() -> Any:
    links = np.array([[0.0, 0.5, 1.0], [0.5, 0.0, 0.0], [0.5, 0.5, 0.0]])
    r = np.ones(3) / 3
    for _ in range(30):
        r = 0.05 + 0.85 * links @ r
    return r


def _mandelbrot() -> Any:
    c = np.linspace(-2, 1, 5) + 0.5j
    z, n = np.zeros(5, complex), np.zeros(5)
    for _ in range(10):
        z = np.where(abs(z) < 4, z * z + c, z)
        n += abs(z) < 2
    return n


SCRIPTS: dict[str, tuple[str, Any]] = {
    "logistic_sgd": (
        """
        class LogisticRegression:
            def __init__(self, input, n_in, n_out):
                self.W = pytensor.shared(value=np.zeros((n_in, n_out), dtype=pytensor.config.floatX), name="W", borrow=True)
                self.b = pytensor.shared(value=np.zeros((n_out,), dtype=pytensor.config.floatX), name="b", borrow=True)
                self.p_y_given_x = pt.special.softmax(pt.dot(input, self.W) + self.b, axis=-1)
                self.y_pred = pt.argmax(self.p_y_given_x, axis=1)
                self.params = [self.W, self.b]
            def negative_log_likelihood(self, y):
                return -pt.mean(pt.log(self.p_y_given_x)[pt.arange(y.shape[0]), y])
            def errors(self, y):
                if y.ndim != self.y_pred.ndim:
                    raise TypeError("y should have the same shape as self.y_pred", ("y", y.type, "y_pred", self.y_pred.type))
                if y.dtype.startswith("int"):
                    return pt.mean(pt.neq(self.y_pred, y))
                raise NotImplementedError()
        train_x = pytensor.shared(np.asarray(XS, dtype=pytensor.config.floatX), borrow=True)
        train_y = pt.cast(pytensor.shared(np.asarray(CLASSES, dtype=pytensor.config.floatX), borrow=True), "int32")
        index = pt.lscalar()
        x, y = pt.matrix("x"), pt.ivector("y")
        classifier = LogisticRegression(input=x, n_in=4, n_out=3)
        cost = classifier.negative_log_likelihood(y)
        g_W = pt.grad(cost=cost, wrt=classifier.W)
        g_b = pt.grad(cost=cost, wrt=classifier.b)
        updates = [(classifier.W, classifier.W - 0.13 * g_W), (classifier.b, classifier.b - 0.13 * g_b)]
        batch = 12
        train_model = pytensor.function(inputs=[index], outputs=cost, updates=updates, givens={
            x: train_x[index * batch : (index + 1) * batch], y: train_y[index * batch : (index + 1) * batch]})
        test_model = pytensor.function(inputs=[index], outputs=classifier.errors(y), givens={
            x: train_x[index * batch : (index + 1) * batch], y: train_y[index * batch : (index + 1) * batch]})
        for epoch in range(9):
            train_model(0)
        result = [classifier.W.get_value(borrow=True), test_model(0)]
        """,
        list(_logistic_sgd(9)),
    ),
    "mlp": (
        """
        class HiddenLayer:
            def __init__(self, rng, input, n_in, n_out, activation=pt.tanh):
                self.W = pytensor.shared(np.asarray(rng.uniform(-0.5, 0.5, (n_in, n_out))), name="W", borrow=True)
                self.b = pytensor.shared(np.zeros((n_out,)), name="b", borrow=True)
                lin_output = pt.dot(input, self.W) + self.b
                self.output = lin_output if activation is None else activation(lin_output)
                self.params = [self.W, self.b]
        x, y = pt.dmatrix("x"), pt.ivector("y")
        hidden = HiddenLayer(np.random.default_rng(1234), x, 4, 5)
        W2, b2 = pytensor.shared(np.zeros((5, 3))), pytensor.shared(np.zeros(3))
        p = pt.special.softmax(pt.dot(hidden.output, W2) + b2, axis=1)
        L1 = abs(hidden.W).sum() + abs(W2).sum()
        L2_sqr = (hidden.W ** 2).sum() + (W2 ** 2).sum()
        cost = -pt.mean(pt.log(p)[pt.arange(y.shape[0]), y]) + 0.001 * L1 + 0.01 * L2_sqr
        params = hidden.params + [W2, b2]
        gparams = [pt.grad(cost, param) for param in params]
        updates = [(param, param - 0.1 * gparam) for param, gparam in zip(params, gparams)]
        train = pytensor.function([x, y], cost, updates=updates)
        for _ in range(6):
            result = train(XS, CLASSES)
        """,
        _mlp(6),
    ),
    "a denoising autoencoder": (
        """
        from pytensor.tensor.random.utils import RandomStream
        class dA:
            def __init__(self, theano_rng, input, W):
                self.W, self.theano_rng, self.x = W, theano_rng, input
                self.W_prime = self.W.T
            def get_corrupted_input(self, input, corruption_level):
                return self.theano_rng.binomial(size=input.shape, n=1, p=1 - corruption_level) * input
            def get_cost_updates(self, corruption_level, learning_rate):
                tilde_x = self.get_corrupted_input(self.x, corruption_level)
                y = pt.sigmoid(pt.dot(tilde_x, self.W))
                z = pt.sigmoid(pt.dot(y, self.W_prime))
                L = -pt.sum(self.x * pt.log(z) + (1 - self.x) * pt.log(1 - z), axis=1)
                cost = pt.mean(L)
                return cost, [(self.W, self.W - learning_rate * pt.grad(cost, self.W))]
        x = pt.dmatrix("x")
        da = dA(RandomStream(123), x, pytensor.shared(W0.copy(), name="W"))
        cost, updates = da.get_cost_updates(corruption_level=0.0, learning_rate=0.1)
        train_da = pytensor.function([x], cost, updates=updates)
        result = train_da(BITS)
        assert train_da(BITS) < result
        """,
        _autoencoder(),
    ),
    "the free energy of a Boltzmann machine": (
        """
        W, v = pytensor.shared(W0), pt.dmatrix("v")
        def free_energy(v_sample):
            wx_b = pt.dot(v_sample, W)
            hidden_term = pt.sum(pt.log(1 + pt.exp(wx_b)), axis=1)
            return -hidden_term
        chain_end = pt.dmatrix("end")
        cost = pt.mean(free_energy(v)) - pt.mean(free_energy(chain_end))
        gW = pt.grad(cost, W, consider_constant=[chain_end])
        result = pytensor.function([v, chain_end], [free_energy(v), gW])(BITS, 1 - BITS)
        """,
        [
            _free_energy(BITS),
            -(BITS.T @ SPECIAL.expit(BITS @ W0) - (1 - BITS).T @ SPECIAL.expit((1 - BITS) @ W0))
            / 12,
        ],
    ),
    "Gibbs steps by scan": (
        """
        from pytensor.tensor.random.utils import RandomStream
        rng = RandomStream(7)
        W = pytensor.shared(W0 * 0)
        start = pt.dmatrix("start")
        def gibbs_vhv(v):
            h = rng.binomial(1, pt.sigmoid(v @ W), size=(v.shape[0], 3))
            return rng.binomial(1, pt.sigmoid(h @ W.T), size=v.shape).astype("float64")
        samples, updates = pytensor.scan(gibbs_vhv, outputs_info=[start], n_steps=20)
        f = pytensor.function([start], samples, updates=updates)
        first, second = f(BITS), f(BITS)
        assert first.shape == (20, 12, 4) and set(np.unique(first)) == {0.0, 1.0} and (first != second).any()
        result = abs(first.mean() - 0.5) < 0.1
        """,
        True,
    ),
    "a long short-term memory": (
        """
        rng = np.random.default_rng(2)
        params = {"W": pytensor.shared(rng.normal(size=(4, 8)), "W"), "U": pytensor.shared(rng.normal(size=(2, 8)), "U")}
        def _slice(_x, n, dim):
            if _x.ndim == 3:
                return _x[:, :, n * dim:(n + 1) * dim]
            return _x[n * dim:(n + 1) * dim]
        def _step(x_, h_, c_):
            preact = pt.dot(h_, params["U"]) + x_
            i, f, o = (pt.sigmoid(_slice(preact, k, 2)) for k in range(3))
            c = f * c_ + i * pt.tanh(_slice(preact, 3, 2))
            return o * pt.tanh(c), c
        x = pt.dmatrix("x")
        state_below = pt.dot(x, params["W"])
        rval, updates = pytensor.scan(
            _step, sequences=[state_below],
            outputs_info=[pt.alloc(np.asarray(0.0), 2), pt.alloc(np.asarray(0.0), 2)], name="lstm_layers", n_steps=x.shape[0])
        f = pytensor.function([x], rval[0][-1], updates=updates)
        g = pytensor.function([x], pt.grad(rval[0][-1].sum(), list(params.values())))
        assert [v.shape for v in g(XS)] == [(4, 8), (2, 8)]
        result = f(XS)
        """,
        _lstm(XS),
    ),
    "a gated recurrent unit": (
        """
        x = pt.dmatrix("x")
        def step(row, h, W):
            z = pt.sigmoid(row @ W + h)
            return (1 - z) * h + z * pt.tanh(row @ W)
        hs = pytensor.scan(step, sequences=x, outputs_info=pt.zeros(3), non_sequences=[pt.constant(W0)], strict=True,
            return_updates=False)
        result = pytensor.function([x], hs[-1])(XS)
        """,
        _gru(XS),
    ),
    "an Adam written by hand": (
        """
        def adam(loss, params, lr=0.1, b1=0.9, b2=0.999, e=1e-8):
            updates = []
            grads = pt.grad(loss, params)
            i = pytensor.shared(np.float64(0.0))
            i_t = i + 1.0
            fix1, fix2 = 1.0 - b1 ** i_t, 1.0 - b2 ** i_t
            lr_t = lr * (pt.sqrt(fix2) / fix1)
            for p, g in zip(params, grads):
                m = pytensor.shared(p.get_value() * 0.0)
                v = pytensor.shared(p.get_value() * 0.0)
                m_t = (1 - b1) * g + b1 * m
                v_t = (1 - b2) * pt.sqr(g) + b2 * v
                updates += [(m, m_t), (v, v_t), (p, p - lr_t * m_t / (pt.sqrt(v_t) + e))]
            updates.append((i, i_t))
            return updates
        w = pytensor.shared(V.copy())
        loss = pt.sum((w - 1.0) ** 2)
        train = pytensor.function([], loss, updates=adam(loss, [w]))
        result = [train() for _ in range(200)][-1] < 1e-3
        """,
        True,
    ),
    "dropout by a mask": (
        """
        srng = pt.random.RandomStream(seed=3)
        x = pt.dmatrix("x")
        use_noise = pytensor.shared(np.float64(0.0))
        proj = pt.switch(use_noise, x * srng.binomial(n=1, p=0.5, size=x.shape).astype(x.dtype), x * 0.5)
        f = pytensor.function([x], proj)
        quiet = f(XS)
        use_noise.set_value(1.0)
        assert set(np.unique(f(np.ones((20, 20))))) == {0.0, 1.0}
        result = quiet
        """,
        XS * 0.5,
    ),
    "batch normalization by hand": (
        """
        x, gamma, beta = pt.dmatrix("x"), pt.dvector("gamma"), pt.dvector("beta")
        mean, var = x.mean(axis=0, keepdims=True), x.var(axis=0, keepdims=True)
        y = (x - mean) / pt.sqrt(var + 1e-5) * gamma[None, :] + beta.dimshuffle("x", 0)
        result = pytensor.function([x, gamma, beta], y)(XS, np.ones(4) * 2, np.arange(4.0))
        """,
        (XS - XS.mean(axis=0)) / np.sqrt(XS.var(axis=0) + 1e-5) * 2 + np.arange(4.0),
    ),
    "embeddings with a gradient for some rows": (
        """
        E = pytensor.shared(np.arange(12.0).reshape(6, 2), name="E")
        idx = pt.lvector("idx")
        part = E[idx]
        cost = (part ** 2).sum()
        g = pytensor.grad(cost, part)
        train = pytensor.function([idx], cost, updates=[(E, pt.inc_subtensor(part, -0.5 * g))])
        train([1, 3])
        result = E.get_value()
        """,
        np.arange(12.0).reshape(6, 2) * [[1], [0], [1], [0], [1], [1]],
    ),
    "gradients that are clipped by their norm": (
        """
        w = pytensor.shared(V * 10)
        grads = pytensor.grad((w ** 2).sum(), [w])
        norm = pt.sqrt(pt.sum([pt.sum(g ** 2) for g in grads]))
        clipped = [pt.switch(pt.ge(norm, 1.0), g / norm, g) for g in grads]
        result = pytensor.function([], clipped[0])()
        """,
        V / np.sqrt(14),
    ),
    "a Kalman filter by scan": (
        """
        ys = pt.dvector("ys")
        def step(y, m, P):
            P = P + 0.1
            K = P / (P + 0.5)
            return m + K * (y - m), (1 - K) * P
        (ms, Ps), _ = pytensor.scan(step, sequences=[ys], outputs_info=[pt.as_tensor(0.0), pt.as_tensor(1.0)])
        result = pytensor.function([ys], ms)(V)
        """,
        _kalman(V),
    ),
    "page rank": (
        """
        links = pt.dmatrix("links")
        start = pt.ones(3) / 3
        r = pytensor.scan(lambda r, M: 0.05 + 0.85 * pt.dot(M, r), outputs_info=start, non_sequences=links, n_steps=30,
            return_updates=False)
        result = pytensor.function([links], r[-1])([[0.0, 0.5, 1.0], [0.5, 0.0, 0.0], [0.5, 0.5, 0.0]])
        """,
        _page_rank(),
    ),
    "a Mandelbrot set": (
        """
        c = pt.zvector("c")
        def step(z, n, c):
            z = pt.switch(abs(z) < 4, z * z + c, z)
            return z, n + (abs(z) < 2)
        (zs, ns), _ = pytensor.scan(step, outputs_info=[pt.zeros_like(c), pt.zeros(c.shape)], non_sequences=c, n_steps=10)
        result = pytensor.function([c], ns[-1])(np.linspace(-2, 1, 5) + 0.5j)
        """,
        _mandelbrot(),
    ),
    "Metropolis's sampler": (
        """
        rng = pytensor.shared(np.random.default_rng(5))
        def step(x, rng):
            rng, e = pt.random.normal(0, 1, rng=rng, return_next_rng=True)
            rng, u = pt.random.uniform(0, 1, rng=rng, return_next_rng=True)
            proposal = x + e
            accept = pt.log(u) < 0.5 * (x**2 - proposal**2)
            return pt.where(accept, proposal, x), rng
        xs, final = pytensor.scan(step, outputs_info=[pt.zeros(()), rng], n_steps=4000, return_updates=False)
        draws = pytensor.function([], xs, updates={rng: final})()
        result = [abs(draws.mean()) < 0.2, abs(draws.std() - 1) < 0.15]
        """,
        [True, True],
    ),
    "a product of a vector and a Jacobian": (
        """
        W, v, x = pt.dmatrix("W"), pt.dvector("v"), pt.dvector("x")
        y = pt.dot(x, W)
        VJ = pytensor.gradient.Lop(y, W, v)
        f = pytensor.function([v, x], VJ)
        result = f([2, 2], [0, 1])
        """,
        [[0.0, 0.0], [2.0, 2.0]],
    ),
    "batches by Blockwise and vectorize": (
        """
        from pytensor.graph.replace import vectorize_graph
        from pytensor.tensor.blockwise import Blockwise
        x = pt.dmatrix("x")
        y = pt.linalg.inv(x) @ pt.ones(3)
        xs = pt.tensor3("xs", dtype="float64")
        ys = vectorize_graph(y, replace={x: xs})
        assert any(isinstance(n.op, Blockwise) for n in pytensor.graph.fg.FunctionGraph([xs], [ys]).apply_nodes)
        result = pytensor.function([xs], ys)(np.stack([A, 2 * A]))
        """,
        np.linalg.inv(np.stack([A, 2 * A])) @ np.ones(3),
    ),
    "an op by as_op with a shape": (
        """
        from pytensor.compile.ops import as_op
        def infer_shape_numpy_dot(fgraph, node, input_shapes):
            ashp, bshp = input_shapes
            return [ashp[:-1] + bshp[-1:]]
        @as_op(itypes=[pt.dmatrix, pt.dmatrix], otypes=[pt.dmatrix], infer_shape=infer_shape_numpy_dot)
        def numpy_dot(a, b):
            return np.dot(a, b)
        x = pt.dmatrix("x")
        y = numpy_dot(x, x)
        result = pytensor.function([x], [y, y.shape])(A)
        """,
        [A @ A, (3, 3)],
    ),
    "an op with a check of its gradient": (
        """
        from pytensor.gradient import verify_grad
        class AXPBOp(pytensor.graph.op.Op):
            __props__ = ("a", "b")
            def __init__(self, a, b):
                self.a, self.b = a, b
                super().__init__()
            def make_node(self, x):
                x = pt.as_tensor_variable(x)
                return pytensor.graph.basic.Apply(self, [x], [x.type()])
            def perform(self, node, inputs, output_storage):
                output_storage[0][0] = self.a * inputs[0] + self.b
            def infer_shape(self, fgraph, node, i0_shapes):
                return i0_shapes
            def grad(self, inputs, output_grads):
                return [self.a * output_grads[0]]
        op = AXPBOp(4, 1)
        assert op == AXPBOp(4, 1) and op != AXPBOp(5, 1) and hash(op) == hash(AXPBOp(4, 1))
        verify_grad(op, [V], rng=np.random.default_rng(0))
        x = pt.dvector("x")
        result = pytensor.function([x], pytensor.grad(op(x).sum(), x))(V)
        """,
        [4.0, 4.0, 4.0],
    ),
    "rewrites with a query": (
        """
        from pytensor.compile.mode import Mode, optdb
        from pytensor.graph.rewriting.db import RewriteDatabaseQuery
        x, y = pt.dscalars("x", "y")
        z = (x * y) / y
        mode = Mode(linker="py", optimizer=RewriteDatabaseQuery(include=["canonicalize"]))
        f = pytensor.function([x, y], z, mode=mode, on_unused_input="ignore")
        assert len(f.maker.fgraph.toposort()) <= 1
        result = f(3.0, 0.0)
        """,
        3.0,
    ),
    "a graph rewriter in a class": (
        """
        from pytensor.graph.features import ReplaceValidate
        from pytensor.graph.fg import FunctionGraph
        from pytensor.graph.rewriting.basic import GraphRewriter
        class Simplify(GraphRewriter):
            def add_requirements(self, fgraph):
                fgraph.attach_feature(ReplaceValidate())
            def apply(self, fgraph):
                for node in fgraph.toposort():
                    if node.op == pt.true_div:
                        x, y = node.inputs
                        if x.owner and x.owner.op == pt.mul:
                            a, b = x.owner.inputs
                            if y == a:
                                fgraph.replace_validate(node.outputs[0], b)
                            elif y == b:
                                fgraph.replace_validate(node.outputs[0], a)
        x, y, z = pt.dscalars("x", "y", "z")
        a = pt.add(z, pt.mul(pt.true_div(pt.mul(y, x), y), pt.true_div(z, x)))
        e = FunctionGraph([x, y, z], [a])
        Simplify().rewrite(e)
        result = len(e.toposort())
        """,
        3,
    ),
    "what a debug mode finds": (
        """
        from pytensor.compile.debug.debugmode import BadThunkOutput, DebugMode
        x = pt.dvector("x")
        f = pytensor.function([x], 10 * x, mode="DebugMode")
        g = pytensor.function([x], pt.exp(x).sum(), mode=DebugMode(check_preallocated_output=None))
        result = [f([5.0]), f([7.0]), g([0.0, 0.0])]
        """,
        [[50.0], [70.0], 2.0],
    ),
    "errors with hints": (
        """
        x, y = pt.dvector("x"), pt.dvector("y")
        f = pytensor.function([x, y], x + y, mode=pytensor.compile.mode.Mode(optimizer="fast_compile").excluding("fusion"))
        try:
            f(np.ones(2), np.ones(3))
        except ValueError as error:
            result = "mismatch" in str(error) or "shape" in str(error)
        """,
        True,
    ),
    "a print of the graph": (
        """
        x = pt.dvector("x")
        y = pt.exp(x).sum()
        f = pytensor.function([x], y)
        text = pytensor.printing.debugprint(f, file="str", print_type=True)
        assert "x" in text and pytensor.pprint(pt.exp(x)) == "exp(x)"
        result = f.maker.fgraph.inputs[0].name == "x"
        """,
        True,
    ),
    "shared variables of two functions": (
        """
        state = pytensor.shared(0)
        inc, dec = pt.iscalar("inc"), pt.iscalar("dec")
        up = pytensor.function([inc], state, updates=[(state, state + inc)])
        down = pytensor.function([dec], state, updates=[(state, state - dec)])
        up(1), up(300), down(2), state.set_value(state.get_value() - 9)
        new = pytensor.shared(0)
        other = up.copy(swap={state: new})
        other(100)
        without = up.copy(delete_updates=True)
        without(100)
        result = [state.get_value(), new.get_value()]
        """,
        [290, 100],
    ),
    "streams with seeds": (
        """
        from pytensor.tensor.random.utils import RandomStream
        srng = RandomStream(seed=234)
        rv_u = srng.uniform(0, 1, size=(2, 2))
        rv_n = srng.normal(0, 1, size=(2, 2))
        f = pytensor.function([], rv_u)
        g = pytensor.function([], rv_n, no_default_updates=True)
        assert (f() != f()).all() and (g() == g()).all()
        rng = rv_u.owner.inputs[0]
        before = rng.get_value(borrow=False)
        one = f()
        rng.set_value(before, borrow=True)
        result = f() - one
        """,
        np.zeros((2, 2)),
    ),
    "losses of many kinds": (
        """
        y, p = pt.dmatrix("y"), pt.dmatrix("p")
        huber = pt.where(abs(y - p) < 1, 0.5 * (y - p) ** 2, abs(y - p) - 0.5).mean()
        hinge = pt.maximum(0, 1 - y * p).mean()
        kl = (y * (pt.log(pt.clip(y, 1e-7, 1)) - pt.log(pt.clip(p, 1e-7, 1)))).sum(axis=-1).mean()
        cosine = ((y * p).sum(1) / (y.norm(2, axis=1) * p.norm(2, axis=1))).mean()
        result = pytensor.function([y, p], [huber, hinge, kl, cosine])(np.abs(XS), np.abs(XS) + 0.5)
        """,
        [
            0.125,
            np.maximum(0, 1 - np.abs(XS) * (np.abs(XS) + 0.5)).mean(),
            (
                np.abs(XS)
                * (
                    np.log(np.clip(np.abs(XS), 1e-7, 1))
                    - np.log(np.clip(np.abs(XS) + 0.5, 1e-7, 1))
                )
            )
            .sum(-1)
            .mean(),
            np.mean(
                (np.abs(XS) * (np.abs(XS) + 0.5)).sum(1)
                / np.linalg.norm(XS, axis=1)
                / np.linalg.norm(np.abs(XS) + 0.5, axis=1)
            ),
        ],
    ),
    "k-means by scan": (
        """
        points, centers = pt.dmatrix("points"), pt.dmatrix("centers")
        def step(c):
            d = ((points[:, None, :] - c[None, :, :]) ** 2).sum(-1)
            label = pt.eq(pt.argmin(d, axis=1)[:, None], pt.arange(c.shape[0])[None, :]).astype("float64")
            return (label.T @ points) / pt.maximum(label.sum(0)[:, None], 1)
        cs = pytensor.scan(step, outputs_info=centers, n_steps=5, return_updates=False)
        result = pytensor.function([points, centers], cs[-1])([[0.0], [1.0], [10.0], [11.0]], [[0.0], [5.0]])
        """,
        [[0.5], [10.5]],
    ),
    "principal components": (
        """
        x = pt.dmatrix("x")
        centered = x - x.mean(axis=0)
        U, s, Vt = pt.linalg.svd(centered, full_matrices=False)
        w, q = pt.linalg.eigh(centered.T @ centered)
        result = pytensor.function([x], [s**2, w[::-1]])(XS)
        """,
        [np.linalg.svd(XS - XS.mean(0), compute_uv=False) ** 2] * 2,
    ),
    "the log density of a normal vector": (
        """
        from pytensor.tensor.slinalg import cholesky, solve_triangular
        x, cov = pt.dvector("x"), pt.dmatrix("cov")
        chol = cholesky(cov)
        z = solve_triangular(chol, x, lower=True)
        logp = -0.5 * (z**2).sum() - pt.log(pt.diag(chol)).sum() - 0.5 * x.shape[0] * np.log(2 * np.pi)
        result = pytensor.function([x, cov], logp)(V, A)
        """,
        STATS.multivariate_normal(np.zeros(3), A).logpdf(V),
    ),
    "an ordinary differential equation by Runge and Kutta": (
        """
        t0, y0 = pt.dscalar("t0"), pt.dvector("y0")
        f = lambda t, y: pt.stack([y[1], -y[0]])
        def step(t, y, h):
            k1 = f(t, y); k2 = f(t + h / 2, y + h * k1 / 2)
            k3 = f(t + h / 2, y + h * k2 / 2); k4 = f(t + h, y + h * k3)
            return t + h, y + h * (k1 + 2 * k2 + 2 * k3 + k4) / 6
        (ts, ys), _ = pytensor.scan(step, outputs_info=[t0, y0], non_sequences=[pt.constant(0.01)], n_steps=100)
        end = pytensor.function([t0, y0], ys[-1])(0.0, [1.0, 0.0])
        result = np.round(end, 6)
        """,
        np.round([np.cos(1.0), -np.sin(1.0)], 6),
    ),
    "a helper of a library for models": (
        """
        from pytensor.graph.traversal import ancestors, graph_inputs, walk
        from pytensor.tensor.random.op import RandomVariable
        from pytensor.tensor.random.basic import normal
        from pytensor.graph.basic import Constant
        from pytensor.compile.sharedvalue import SharedVariable
        mu = pt.dscalar("mu")
        x = normal(mu, 1.0, name="x")
        y = normal(x, 2.0, size=(3,), name="y")
        rvs = [v for v in ancestors([y]) if v.owner and isinstance(v.owner.op, RandomVariable)]
        free = [v for v in graph_inputs([y]) if not isinstance(v, (Constant, SharedVariable))]
        assert free == [mu] and {v.name for v in rvs} == {"x", "y"}
        assert y.owner.op.dist_params(y.owner)[0].owner is not None
        result = [len(rvs), y.owner.op.ndim_supp, x.owner.op.name == "normal"]
        """,
        [2, 0, True],
    ),
    "values that replace draws": (
        """
        from pytensor.graph.replace import graph_replace
        mu = pt.dscalar("mu")
        x = pt.random.normal(mu, 1.0)
        y = pt.exp(x) + x
        value = x.type("value")
        z = graph_replace([y], {x: value})[0]
        result = pytensor.function([value], z)(0.5)
        """,
        np.exp(0.5) + 0.5,
    ),
    "a stick breaking transform": (
        """
        y = pt.dvector("y")
        y1 = pt.concatenate([y, -pt.sum(y, -1, keepdims=True)], axis=-1)
        e = pt.exp(y1 - pt.max(y1, -1, keepdims=True))
        x = e / pt.sum(e, -1, keepdims=True)
        N = y.shape[-1] + 1
        sy = pt.sum(y, -1, keepdims=True)
        r = pt.concatenate([y + sy, pt.zeros_like(sy)], axis=-1)
        sr = pt.logsumexp(r, -1, keepdims=True)
        logdet = pt.log(N) + (N * sy) - (N * sr)
        result = pytensor.function([y], [x, x.sum(), pt.sum(logdet, -1)])(V)
        """,
        [
            SPECIAL.softmax(np.append(V, -V.sum())),
            1.0,
            np.log(4) + 4 * V.sum() - 4 * SPECIAL.logsumexp(np.append(V + V.sum(), 0.0)),
        ],
    ),
    "the kernel of a Gaussian process": (
        """
        X, ls = pt.dmatrix("X"), pt.dscalar("ls")
        Xs = pt.sum(pt.square(X / ls), 1)
        sqd = -2.0 * pt.dot(X / ls, pt.transpose(X / ls)) + (pt.reshape(Xs, (-1, 1)) + pt.reshape(Xs, (1, -1)))
        K = pt.exp(-0.5 * pt.clip(sqd, 0.0, np.inf))
        stable = K + 1e-6 * pt.identity_like(K)
        result = pytensor.function([X, ls], [K, pt.linalg.cholesky(stable)])(XS[:5], 1.5)
        """,
        (lambda K: [K, np.linalg.cholesky(K + 1e-6 * np.eye(5))])(
            np.exp(-0.5 * ((XS[:5, None] - XS[None, :5]) ** 2).sum(-1) / 2.25)
        ),
    ),
    "a state space model": (
        """
        T, Z = pt.dmatrix("T"), pt.dmatrix("Z")
        states = pytensor.scan(lambda a, T: T @ a, outputs_info=[pt.ones(3)], non_sequences=[T], n_steps=4, return_updates=False)
        P = pt.linalg.solve_discrete_lyapunov(0.1 * T, pt.eye(3))
        result = pytensor.function([T, Z], [states @ Z.T, P])(A, np.eye(3))
        """,
        [
            np.array([np.linalg.matrix_power(A, k + 1) @ np.ones(3) for k in range(4)]),
            LINALG.solve_discrete_lyapunov(0.1 * A, np.eye(3)),
        ],
    ),
    "minimizing by SciPy": (
        """
        import scipy.optimize
        x = pt.dvector("x")
        cost = (100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2).sum()
        f = pytensor.function([x], [cost, pytensor.grad(cost, x)])
        h = pytensor.function([x], pytensor.gradient.hessian(cost, x))
        found = scipy.optimize.minimize(lambda v: tuple(f(v)), np.zeros(3), jac=True, hess=h, method="trust-exact")
        result = np.round(found.x, 4)
        """,
        np.ones(3),
    ),
    "modes by their modules": (
        """
        from pytensor.compile.mode import FAST_COMPILE, FAST_RUN, predefined_modes
        x = pt.dvector("x")
        y = pt.sigmoid(x).sum()
        values = [pytensor.function([x], y, mode=m)(V) for m in (FAST_COMPILE, FAST_RUN, "FAST_RUN", predefined_modes["FAST_COMPILE"])]
        with pytensor.config.change_flags(mode="FAST_COMPILE"):
            values.append(pytensor.function([x], y)(V))
        result = values
        """,
        [SPECIAL.expit(V).sum()] * 5,
    ),
    "pickled functions": (
        """
        import pickle
        x = pt.dvector("x")
        s = pytensor.shared(np.ones(3), name="s")
        f = pytensor.function([x], (x * s).sum(), updates={s: s + 1})
        f(V)
        again = pickle.loads(pickle.dumps(f))
        result = [again(V), f(V)]
        """,
        [2 * V.sum()] * 2,
    ),
    "convolution and pooling of images": (
        """
        from pytensor.tensor.signal import convolve2d
        x, k = pt.dmatrix("x"), pt.dmatrix("k")
        full = convolve2d(x, k, mode="valid")
        pooled = full[: 2, : 2].reshape((1, 2, 1, 2)).max(axis=(1, 3))
        result = pytensor.function([x, k], [full, pooled])(A, np.ones((2, 2)))
        """,
        [
            A[:2, :2] + A[1:, :2] + A[:2, 1:] + A[1:, 1:],
            [[(A[:2, :2] + A[1:, :2] + A[:2, 1:] + A[1:, 1:]).max()]],
        ],
    ),
    "indices by advanced assignment": (
        """
        x, i, v = pt.dmatrix("x"), pt.lvector("i"), pt.dvector("v")
        y = pt.set_subtensor(x[i, i], v)
        z = pt.inc_subtensor(x[:, i], 1.0)
        w = x[x > 0.6]
        t = pt.take_along_axis(x, pt.argsort(x, axis=1), axis=1)
        result = pytensor.function([x, i, v], [y, z, w, t])(A, [0, 2], [7.0, 8.0])
        """,
        [
            A + np.diag([3.0, 0.0, 6.0]),
            A + [1.0, 0.0, 1.0],
            A[A > 0.6],
            np.sort(A, axis=1),
        ],
    ),
}
