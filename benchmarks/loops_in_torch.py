"""The programs with loops of the benchmarks, written by hand for PyTorch.

`loops` compiles each function by ``torch.jit.script``, and calls it with the arrays of its case.
"""

from __future__ import annotations

import torch

__all__ = [
    "ar1",
    "ar3",
    "gru",
    "hmm",
    "kalman_filter",
    "leapfrog",
    "logistic_map",
    "lstm",
    "minibatches",
    "nested_sums",
    "rnn",
    "seir",
]


def ar1(phi, start, noise):
    y = start
    out = []
    for e in noise.unbind(0):
        y = phi * y + e
        out.append(y)
    return torch.stack(out)


def ar3(p1, p2, p3, start, noise):
    y1, y2, y3 = start, start, start
    out = []
    for e in noise.unbind(0):
        y = p1 * y1 + p2 * y2 + p3 * y3 + e
        out.append(y)
        y3 = y2
        y2 = y1
        y1 = y
    return torch.stack(out)


def logistic_map(rate, start, more):
    x = start
    out = []
    for e in more.unbind(0):
        x = rate * x * (1.0 - x) + e
        out.append(x)
    return torch.stack(out)


def _slope(rates, s):
    new = rates[0] * s[0] * s[2]
    ill, well = rates[1] * s[1], rates[2] * s[2]
    return torch.stack([-new, new - ill, ill - well])


def seir(rates, start, counts):
    s = start
    dt = rates[3]
    out = []
    for count in counts.unbind(0):
        k1 = _slope(rates, s)
        k2 = _slope(rates, s + dt * 0.5 * k1)
        k3 = _slope(rates, s + dt * 0.5 * k2)
        k4 = _slope(rates, s + dt * k3)
        s = s + dt / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)
        out.append(s[2] - count)
    return torch.stack(out)


def hmm(move, first, zero, seen):
    alpha, likelihood = first, zero
    for element in seen.unbind(0):
        after = (alpha @ move) * element
        total = after.sum()
        alpha = after / total
        likelihood = likelihood + torch.log(total)
    return likelihood


def kalman_filter(mean, cov, zero, move, q_root, look, r_root, ys):
    total = zero
    q, r = q_root @ q_root.t(), r_root @ r_root.t()
    for y in ys.unbind(0):
        mean = move @ mean
        cov = move @ cov @ move.t() + q
        factor = torch.linalg.cholesky(look @ cov @ look.t() + r)
        half = torch.linalg.solve_triangular(factor, look @ cov, upper=False)
        e = (y - look @ mean).unsqueeze(1)
        z = torch.linalg.solve_triangular(factor, e, upper=False).squeeze(1)
        total = total - 0.5 * (z * z).sum() - torch.log(torch.diagonal(factor)).sum()
        mean = mean + half.t() @ z
        cov = cov - half.t() @ half
    return total


def rnn(xs, u, w, bias, start):
    h = start
    for x in (xs @ u + bias).unbind(0):
        h = torch.tanh(x + h @ w)
    return h


def gru(xs, u, w, bias, start):
    h = start
    for x in (xs @ u + bias).unbind(0):
        x0, x1, x2 = x.chunk(3, 1)
        b0, b1, b2 = (h @ w).chunk(3, 1)
        update = torch.sigmoid(x0 + b0)
        new = torch.tanh(x2 + torch.sigmoid(x1 + b1) * b2)
        h = update * h + (1.0 - update) * new
    return h


def lstm(xs, u, w, bias, start, cell):
    h, c = start, cell
    for x in (xs @ u + bias).unbind(0):
        a0, a1, a2, a3 = (x + h @ w).chunk(4, 1)
        c = torch.sigmoid(a0) * c + torch.sigmoid(a1) * torch.tanh(a3)
        h = torch.sigmoid(a2) * torch.tanh(c)
    return h


def leapfrog(q, p, couple, h, kicks):
    for kick in kicks.unbind(0):
        p = p - 0.5 * h * (couple @ q + q * q * q)
        q = q + h * p
        p = p - 0.5 * h * (couple @ q + q * q * q) + kick
    return q, p


def minibatches(w, v, rate, x, y, order):
    for k in order.unbind(0):
        rows, labels = x[k], y[k]
        p = torch.sigmoid(rows @ w)
        slope = rows.t() @ (p - labels) / rows.size(0) + 0.01 * w
        v = 0.9 * v - rate * slope
        w = w + v
    return w


def nested_sums(start, zero, a, x):
    state = start
    out = []
    for each in a.unbind(0):
        total = zero
        for element in x.unbind(0):
            z = each * element + state
            total = total + z / (1.0 + z * z)
        out.append(total)
        state = total / x.size(0)
    return torch.stack(out)
