"""Scripts of networks as tutorials train them: layers, optimisers, noise, running means, saved parameters."""

from __future__ import annotations

from typing import Any

import numpy as np

RNG = np.random.default_rng(7)
X = RNG.normal(size=(12, 4))
Y = np.array([0, 1, 2, 1, 0, 2, 2, 1, 0, 0, 1, 2])
W1 = RNG.normal(size=(4, 5)) * 0.3
W2 = RNG.normal(size=(5, 3)) * 0.3
IMAGE = RNG.normal(size=(8, 8))
KERNELS = RNG.normal(size=(2, 3, 3))
SEQUENCE = RNG.normal(size=(6, 3))
GATES = RNG.normal(size=(3 + 2, 8)) * 0.4


def sigmoid(x: Any) -> Any:
    return 1 / (1 + np.exp(-x))


def softmax(x: Any) -> Any:
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def free_energy(v: Any, w: Any, bv: Any, bh: Any) -> Any:
    return -(v @ bv) - np.logaddexp(0, v @ w + bh).sum(1)


def _machine() -> list[Any]:
    v = (X > 0) * 1.0
    w, bv, bh = W1.copy(), np.zeros(4), np.zeros(5)
    costs: list[Any] = []
    for _ in range(3):
        h = sigmoid(v @ w + bh)
        fantasy = sigmoid(h @ w.T + bv)
        costs.append((free_energy(v, w, bv, bh) - free_energy(fantasy, w, bv, bh)).mean())
        h2 = sigmoid(fantasy @ w + bh)
        n = len(v)
        w = w + 0.1 * (v.T @ h - fantasy.T @ h2) / n
        bv = bv + 0.1 * (v - fantasy).mean(0)
        bh = bh + 0.1 * (h - h2).mean(0)
    return [costs, w]


def _lstm(mask: Any) -> Any:
    h, c = np.zeros(2), np.zeros(2)
    for x, m in zip(SEQUENCE, mask, strict=True):
        i, f, o, g = np.split(np.concatenate([x, h]) @ GATES, 4)
        new = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
        c = m * new + (1 - m) * c
        h = m * sigmoid(o) * np.tanh(c) + (1 - m) * h
    return h


def _pooled() -> Any:
    maps = np.zeros((2, 6, 6))
    for k, kernel in enumerate(KERNELS):
        for i in range(6):
            for j in range(6):
                maps[k, i, j] = (IMAGE[i : i + 3, j : j + 3] * kernel[::-1, ::-1]).sum()
    return np.tanh(maps).reshape(2, 3, 2, 3, 2).max((2, 4))


def _network(steps: int) -> Any:
    w1, w2 = W1.copy(), W2.copy()
    costs: list[Any] = []
    for k in range(steps):
        x, y = X[4 * (k % 3) : 4 * (k % 3) + 4], Y[4 * (k % 3) : 4 * (k % 3) + 4]
        h = np.tanh(x @ w1)
        p = softmax(h @ w2)
        costs.append(-np.log(p[np.arange(4), y]).mean() + 0.01 * (w1**2).sum())
        d = (p - np.eye(3)[y]) / 4
        g2, g1 = h.T @ d, x.T @ ((d @ w2.T) * (1 - h**2)) + 0.02 * w1
        w1, w2 = w1 - 0.5 * g1, w2 - 0.5 * g2
    return costs


def _autoencoder() -> list[float]:
    x = (X > 0) * 1.0
    mask = (np.arange(48).reshape(12, 4) % 5 > 0) * 1.0
    w = W1.copy()
    costs: list[float] = []
    for _ in range(4):
        noisy = x * mask
        h = sigmoid(noisy @ w)
        z = sigmoid(h @ w.T)
        costs.append(float(-(x * np.log(z) + (1 - x) * np.log(1 - z)).sum(1).mean()))
        dz = (z - x) / len(x)
        dh = (dz @ w) * h * (1 - h)
        w = w - 0.2 * (dz.T @ h + noisy.T @ dh)
    return costs


def _rmsprop(steps: int) -> Any:
    w, acc = np.zeros(4), np.zeros(4)
    t = X @ np.array([1.0, -2.0, 0.5, 0.0])
    for _ in range(steps):
        g = 2 * X.T @ (X @ w - t) / len(t)
        norm = np.sqrt((g**2).sum())
        g = g * (min(norm, 1.0) / (1e-7 + norm))
        acc = 0.9 * acc + 0.1 * g**2
        w = w - 0.1 * g / np.sqrt(acc + 1e-6)
    return w


def _nesterov(steps: int) -> Any:
    x, v = np.array([3.0, -2.0]), np.zeros(2)
    for _ in range(steps):
        v_new = 0.9 * v - 0.05 * np.array([2.0, 0.5]) * x
        x = x + 0.9 * v_new - 0.05 * np.array([2.0, 0.5]) * x
        v = v_new
    return x


def _embedded() -> Any:
    table = np.arange(10.0).reshape(5, 2) / 10
    for center, other, label in [(0, 1, 1.0), (0, 3, 0.0), (2, 1, 1.0)]:
        c, o = table[center].copy(), table[other].copy()
        e = sigmoid(c @ o) - label
        table[center] -= 0.5 * e * o
        table[other] -= 0.5 * e * c
    return table


def _neighbours() -> Any:
    p = np.array([[0.0, 0.2, 0.1], [0.2, 0.0, 0.2], [0.1, 0.2, 0.0]])
    y = np.array([[0.1, 0.2], [0.3, -0.1], [-0.2, 0.4]])
    d = ((y[:, None] - y[None]) ** 2).sum(-1)
    q = (1 / (1 + d)) * (1 - np.eye(3))
    z = q / q.sum()
    grad = 4 * (((p - z) * q)[:, :, None] * (y[:, None] - y[None])).sum(1)
    return grad


def _running() -> list[Any]:
    mean, batches = np.zeros(4), []
    for rows in (X[:6], X[6:]):
        m, s = rows.mean(0), rows.std(0)
        batches.append((rows - m) / np.sqrt(s**2 + 1e-4))
        mean = 0.9 * mean + 0.1 * m
    return [batches[-1], mean]


SCRIPTS: dict[str, tuple[str, Any]] = {
    "a Boltzmann machine by contrastive divergence": (
        """
        class RBM:
            def __init__(self, input, W):
                self.W = pytensor.shared(value=W, name="W", borrow=True)
                self.hbias = pytensor.shared(value=np.zeros(W.shape[1]), name="hbias", borrow=True)
                self.vbias = pytensor.shared(value=np.zeros(W.shape[0]), name="vbias", borrow=True)
                self.input = input
                self.params = [self.W, self.hbias, self.vbias]
            def free_energy(self, v_sample):
                wx_b = pt.dot(v_sample, self.W) + self.hbias
                vbias_term = pt.dot(v_sample, self.vbias)
                hidden_term = pt.sum(pt.log(1 + pt.exp(wx_b)), axis=1)
                return -hidden_term - vbias_term
            def gibbs_vhv(self, v):
                h = pt.sigmoid(pt.dot(v, self.W) + self.hbias)
                return pt.sigmoid(pt.dot(h, self.W.T) + self.vbias)
            def get_cost_updates(self, lr):
                chain_end = self.gibbs_vhv(self.input)
                cost = pt.mean(self.free_energy(self.input)) - pt.mean(self.free_energy(chain_end))
                gparams = pt.grad(cost, self.params, consider_constant=[chain_end])
                updates = {}
                for gparam, param in zip(gparams, self.params):
                    updates[param] = param - gparam * pt.cast(lr, dtype=pytensor.config.floatX)
                return cost, updates
        x = pt.matrix("x")
        rbm = RBM(x, W1)
        cost, updates = rbm.get_cost_updates(lr=0.1)
        index = pt.lscalar()
        data = pytensor.shared(np.asarray(X > 0, dtype=pytensor.config.floatX), borrow=True)
        train = pytensor.function([index], cost, updates=updates, givens={x: data[index * 12 : (index + 1) * 12]}, name="train_rbm")
        result = [[train(0) for epoch in range(3)], rbm.W.get_value(borrow=True)]
        """,
        _machine(),
    ),
    "a long short-term memory with masks": (
        """
        def _slice(_x, n, dim):
            if _x.ndim == 3:
                return _x[:, :, n * dim:(n + 1) * dim]
            return _x[n * dim:(n + 1) * dim]
        U = pytensor.shared(GATES, name="U")
        x, mask = pt.matrix("x"), pt.vector("mask")
        def _step(m_, x_, h_, c_):
            preact = pt.dot(pt.concatenate([x_, h_]), U)
            i, f, o = (pt.sigmoid(_slice(preact, k, 2)) for k in range(3))
            c = pt.tanh(_slice(preact, 3, 2))
            c = f * c_ + i * c
            c = m_ * c + (1.0 - m_) * c_
            h = o * pt.tanh(c)
            h = m_ * h + (1.0 - m_) * h_
            return h, c
        (h, c), updates = pytensor.scan(_step, sequences=[mask, x],
            outputs_info=[pt.alloc(np.asarray(0.0), 2), pt.zeros((2,))], name="lstm_layers", n_steps=x.shape[0])
        f = pytensor.function([x, mask], h[-1], updates=updates, name="f_pred")
        result = f(SEQUENCE, np.array([1.0, 1, 1, 0, 1, 0]))
        """,
        _lstm([1.0, 1, 1, 0, 1, 0]),
    ),
    "a convolution and a pooling layer": (
        """
        from pytensor.tensor.signal import convolve2d
        image, kernels = pt.dmatrix("image"), pt.dtensor3("kernels")
        maps = pt.stack([convolve2d(image, kernels[k], mode="valid") for k in range(2)])
        pooled = pt.tanh(maps).reshape((2, 3, 2, 3, 2)).max(axis=(2, 4))
        f = pytensor.function([image, kernels], [pooled, pytensor.grad(pooled.sum(), kernels).shape])
        out, shape = f(IMAGE, KERNELS)
        assert tuple(shape) == (2, 3, 3)
        result = out
        """,
        _pooled(),
    ),
    "layers as classes and minibatches": (
        """
        class HiddenLayer:
            def __init__(self, input, W, activation=pt.tanh):
                self.W = pytensor.shared(W, name="W", borrow=True)
                lin_output = pt.dot(input, self.W)
                self.output = lin_output if activation is None else activation(lin_output)
                self.params = [self.W]
        class LogisticRegression:
            def __init__(self, input, W):
                self.W = pytensor.shared(value=W, name="W", borrow=True)
                self.p_y_given_x = pt.special.softmax(pt.dot(input, self.W), axis=-1)
                self.y_pred = pt.argmax(self.p_y_given_x, axis=1)
                self.params = [self.W]
            def negative_log_likelihood(self, y):
                return -pt.mean(pt.log(self.p_y_given_x)[pt.arange(y.shape[0]), y])
            def errors(self, y):
                if y.ndim != self.y_pred.ndim:
                    raise TypeError("y should have the same shape as self.y_pred", ("y", y.type, "y_pred", self.y_pred.type))
                if y.dtype.startswith("int"):
                    return pt.mean(pt.neq(self.y_pred, y))
                raise NotImplementedError
        def shared_dataset(data_x, data_y, borrow=True):
            shared_x = pytensor.shared(np.asarray(data_x, dtype=pytensor.config.floatX), borrow=borrow)
            shared_y = pytensor.shared(np.asarray(data_y, dtype=pytensor.config.floatX), borrow=borrow)
            return shared_x, pt.cast(shared_y, "int32")
        train_x, train_y = shared_dataset(X, Y)
        index, x, y = pt.lscalar(), pt.matrix("x"), pt.ivector("y")
        hidden = HiddenLayer(x, W1)
        top = LogisticRegression(hidden.output, W2)
        cost = top.negative_log_likelihood(y) + 0.01 * (hidden.W ** 2).sum()
        params = hidden.params + top.params
        gparams = [pt.grad(cost, param) for param in params]
        updates = [(param, param - 0.5 * gparam) for param, gparam in zip(params, gparams)]
        batch = slice(index * 4, (index + 1) * 4)
        train_model = pytensor.function(inputs=[index], outputs=cost, updates=updates, givens={x: train_x[batch], y: train_y[batch]})
        test_model = pytensor.function([], top.errors(y), givens={x: train_x, y: train_y})
        result = [train_model(k % 3) for k in range(7)]
        assert 0 <= test_model() <= 1
        """,
        _network(7),
    ),
    "a denoising autoencoder with tied weights": (
        """
        from collections import OrderedDict
        x, mask = pt.matrix("x"), pt.matrix("mask")
        W = pytensor.shared(W1, name="W")
        tilde_x = x * mask
        hidden = pt.sigmoid(pt.dot(tilde_x, W))
        z = pt.sigmoid(pt.dot(hidden, W.T))
        L = -pt.sum(x * pt.log(z) + (1 - x) * pt.log(1 - z), axis=1)
        cost = pt.mean(L)
        updates = OrderedDict()
        for p, g in zip([W], pytensor.grad(cost, [W])):
            updates[p] = p - 0.2 * g
        train_da = pytensor.function([x, mask], cost, updates=updates)
        data = (X > 0) * 1.0
        keep = (np.arange(48).reshape(12, 4) % 5 > 0) * 1.0
        result = [train_da(data, keep) for _ in range(4)]
        """,
        _autoencoder(),
    ),
    "RMSprop with a constraint of the norm": (
        """
        from collections import OrderedDict
        def get_or_compute_grads(loss_or_grads, params):
            if any(not isinstance(p, pytensor.compile.SharedVariable) for p in params):
                raise ValueError("params must contain shared variables only")
            return pytensor.grad(loss_or_grads, params)
        def total_norm_constraint(tensor_vars, max_norm, epsilon=1e-7):
            norm = pt.sqrt(sum(pt.sum(tensor ** 2) for tensor in tensor_vars))
            target_norm = pt.clip(norm, 0, max_norm)
            multiplier = target_norm / (epsilon + norm)
            return [step * multiplier for step in tensor_vars]
        def rmsprop(loss, params, learning_rate=1.0, rho=0.9, epsilon=1e-6):
            grads = total_norm_constraint(get_or_compute_grads(loss, params), 1.0)
            updates = OrderedDict()
            one = pt.constant(1)
            for param, grad in zip(params, grads):
                value = param.get_value(borrow=True)
                accu = pytensor.shared(np.zeros(value.shape, dtype=value.dtype), shape=param.type.shape)
                accu_new = rho * accu + (one - rho) * grad ** 2
                updates[accu] = accu_new
                updates[param] = param - (learning_rate * grad / pt.sqrt(accu_new + epsilon))
            return updates
        w = pytensor.shared(np.zeros(4), name="w")
        x, t = pt.matrix("x"), pt.vector("t")
        loss = pt.sqr(pt.dot(x, w) - t).mean()
        train = pytensor.function([x, t], loss, updates=rmsprop(loss, [w], learning_rate=0.1))
        for _ in range(6):
            train(X, X @ np.array([1.0, -2.0, 0.5, 0.0]))
        result = w.get_value()
        """,
        _rmsprop(6),
    ),
    "Nesterov's momentum": (
        """
        x = pytensor.shared(np.array([3.0, -2.0]))
        cost = 0.5 * (pt.constant([2.0, 0.5]) * x ** 2).sum()
        velocity = pytensor.shared(np.zeros_like(x.get_value(borrow=True)))
        update = x - 0.05 * pt.grad(cost, x)
        v = 0.9 * velocity + update - x
        step = pytensor.function([], cost, updates={velocity: v, x: 0.9 * v + update})
        for _ in range(5):
            step()
        result = x.get_value()
        """,
        _nesterov(5),
    ),
    "embeddings of which a step changes few rows": (
        """
        table = pytensor.shared(np.arange(10.0).reshape(5, 2) / 10, name="table")
        pair, label = pt.lvector("pair"), pt.dscalar("label")
        rows = table[pair]
        p = pt.sigmoid(pt.dot(rows[0], rows[1]))
        cost = -(label * pt.log(p) + (1 - label) * pt.log(1 - p))
        step = pytensor.function([pair, label], cost, updates=[(table, pt.inc_subtensor(rows, -0.5 * pt.grad(cost, rows)))])
        for center, other, target in [(0, 1, 1.0), (0, 3, 0.0), (2, 1, 1.0)]:
            step([center, other], target)
        result = table.get_value()
        """,
        _embedded(),
    ),
    "a gradient of neighbours in the plane": (
        """
        P, Y = pt.dmatrix("P"), pt.dmatrix("Y")
        sq = (Y ** 2).sum(axis=1)
        distances = sq.reshape((-1, 1)) + sq.reshape((1, -1)) - 2 * pt.dot(Y, Y.T)
        q = 1 / (1 + distances)
        q = pt.fill_diagonal(q, 0)
        Q = pt.maximum(q / q.sum(), 1e-12)
        cost = pt.sum(pt.where(pt.gt(P, 0), P * pt.log(pt.maximum(P, 1e-12) / Q), 0.0))
        grad = pt.grad(cost, Y)
        f = pytensor.function([P, Y], grad)
        result = f(np.array([[0.0, 0.2, 0.1], [0.2, 0.0, 0.2], [0.1, 0.2, 0.0]]), np.array([[0.1, 0.2], [0.3, -0.1], [-0.2, 0.4]]))
        """,
        _neighbours(),
    ),
    "a normalization that keeps running means": (
        """
        x = pt.matrix("x")
        running_mean = pytensor.shared(np.zeros(4), name="running_mean")
        mean, inv_std = x.mean(axis=0), 1.0 / pt.sqrt(x.var(axis=0) + 1e-4)
        running_mean.default_update = 0.9 * running_mean + 0.1 * mean
        normalized = (x - mean) * inv_std
        train = pytensor.function([x], normalized + 0 * running_mean)
        train(X[:6])
        out = train(X[6:])
        fixed = pytensor.function([], running_mean * 1.0, no_default_updates=True)
        result = [out, fixed()]
        """,
        _running(),
    ),
    "a variational autoencoder": (
        """
        def dense(x, n_in, n_out, name, seed):
            W = pytensor.shared(np.random.default_rng(seed).normal(size=(n_in, n_out)) * 0.5, name=f"W_{name}")
            b = pytensor.shared(np.zeros(n_out), name=f"b_{name}")
            return pt.dot(x, W) + b, [W, b]
        x = pt.dmatrix("x")
        srng = pt.random.utils.RandomStream(seed=3)
        mu, p1 = dense(x, 4, 2, "mu", 1)
        log_sigma, p2 = dense(x, 4, 2, "log_sigma", 2)
        eps = srng.normal(size=(x.shape[0], 2))
        z = mu + pt.exp(log_sigma) * eps
        out, p3 = dense(z, 2, 4, "out", 3)
        kl = -0.5 * (1 + 2 * log_sigma - mu ** 2 - pt.exp(2 * log_sigma)).sum(axis=1)
        cost = (0.5 * ((out - x) ** 2).sum(axis=1) + kl).mean()
        params = p1 + p2 + p3
        grads = pytensor.grad(cost, params)
        train = pytensor.function([x], cost, updates=[(p, p - 0.05 * g) for p, g in zip(params, grads)])
        costs = [train(X) for _ in range(60)]
        assert np.mean(costs[-10:]) < np.mean(costs[:10])
        f = pytensor.function([x], [kl, eps], no_default_updates=True)
        one, two = f(X), f(X)
        m, l = pytensor.function([x], [mu, log_sigma])(X)
        result = [one[0] + 0.5 * (1 + 2 * l - m ** 2 - np.exp(2 * l)).sum(axis=1), one[1] - two[1]]
        """,
        [np.zeros(12), np.zeros((12, 2))],
    ),
    "dropout while training, and none later": (
        """
        from pytensor.graph.replace import graph_replace
        x, is_train = pt.dmatrix("x"), pt.bscalar("is_train")
        rng = pytensor.shared(np.random.default_rng(0), name="rng")
        next_rng, mask = pt.random.bernoulli(0.8, size=x.shape, rng=rng, return_next_rng=True)
        rng.default_update = next_rng
        layer = pt.switch(pt.neq(is_train, 0), x * mask / 0.8, x)
        f = pytensor.function([x, is_train], layer)
        first, second, off = f(X, 1), f(X, 1), f(X, 0)
        assert not np.array_equal(first == 0, second == 0)
        kept = graph_replace([layer], {mask: pt.ones_like(mask)}, strict=False)[0]
        result = [off, np.where(first == 0, X, first * 0.8), pytensor.function([x, is_train], kept)(X, 1) * 0.8]
        """,
        [X, X, X],
    ),
    "parameters that are saved and loaded": (
        """
        import pickle
        W, b = pytensor.shared(W1, name="W"), pytensor.shared(np.zeros(5), name="b")
        x = pt.matrix("x")
        f = pytensor.function([x], pt.tanh(pt.dot(x, W) + b))
        before = f(X)
        text = pickle.dumps([p.get_value(borrow=True) for p in (W, b)])
        W.set_value(np.zeros_like(W1))
        assert not f(X).any()
        for p, value in zip((W, b), pickle.loads(text)):
            p.set_value(value, borrow=True)
        result = [before, f(X) - before]
        """,
        [np.tanh(X @ W1), np.zeros((12, 5))],
    ),
    "training that stops by itself": (
        """
        from pytensor.scan.utils import until
        w0, rate = pt.dvector("w0"), pt.dscalar("rate")
        x, t = pt.constant(X), pt.constant(X @ np.array([1.0, -2.0, 0.5, 0.0]))
        def step(w, rate):
            g = pytensor.grad(((pt.dot(x, w) - t) ** 2).mean(), w)
            new = w - rate * g
            return new, until((g ** 2).sum() < 1e-28)
        ws, _ = pytensor.scan(step, outputs_info=[w0], non_sequences=[rate], n_steps=5000)
        w, n = pytensor.function([w0, rate], [ws[-1], ws.shape[0]])(np.zeros(4), 0.1)
        assert 10 < n < 5000
        result = w
        """,
        [1.0, -2.0, 0.5, 0.0],
    ),
}
