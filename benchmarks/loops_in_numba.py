"""The programs with loops of the benchmarks, written by hand for Numba.

`loops` finds each function by the name of its case, and calls it with the arrays of the case.
"""

from __future__ import annotations

import numba
import numpy as np

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


@numba.njit
def ar1(phi, start, noise):
    out = np.empty_like(noise)
    y, p = start[()], phi[()]
    for t in range(noise.size):
        y = p * y + noise[t]
        out[t] = y
    return [out]


@numba.njit
def ar3(p1, p2, p3, start, noise):
    out = np.empty_like(noise)
    a, b, c = p1[()], p2[()], p3[()]
    y1 = y2 = y3 = start[()]
    for t in range(noise.size):
        y = a * y1 + b * y2 + c * y3 + noise[t]
        out[t] = y
        y1, y2, y3 = y, y1, y2
    return [out]


@numba.njit
def logistic_map(rate, start, more):
    out = np.empty_like(more)
    r, x = rate[()], start[()]
    for t in range(more.size):
        x = r * x * (np.float32(1) - x) + more[t]
        out[t] = x
    return [out]


@numba.njit
def _slope(rates, s, d):
    new, ill, well = rates[0] * s[0] * s[2], rates[1] * s[1], rates[2] * s[2]
    d[0] = -new
    d[1] = new - ill
    d[2] = ill - well


@numba.njit
def seir(rates, start, counts):
    out = np.empty_like(counts)
    s, moved = start.copy(), start.copy()
    k = np.empty((4, 3), start.dtype)
    k1, k2, k3, k4 = k[0], k[1], k[2], k[3]
    dt = rates[3]
    half, sixth, two = dt / np.float32(2), dt / np.float32(6), np.float32(2)
    for t in range(counts.size):
        _slope(rates, s, k1)
        for i in range(3):
            moved[i] = s[i] + half * k1[i]
        _slope(rates, moved, k2)
        for i in range(3):
            moved[i] = s[i] + half * k2[i]
        _slope(rates, moved, k3)
        for i in range(3):
            moved[i] = s[i] + dt * k3[i]
        _slope(rates, moved, k4)
        for i in range(3):
            s[i] += sixth * (k1[i] + two * k2[i] + two * k3[i] + k4[i])
        out[t] = s[2] - counts[t]
    return [out]


@numba.njit
def hmm(move, first, zero, seen):
    n = first.size
    alpha, after, likelihood = first.copy(), np.empty_like(first), zero[()]
    for t in range(seen.shape[0]):
        after[:] = 0
        for i in range(n):
            for j in range(n):
                after[j] += alpha[i] * move[i, j]
        total = zero[()]
        for j in range(n):
            after[j] *= seen[t, j]
            total += after[j]
        for j in range(n):
            alpha[j] = after[j] / total
        likelihood += np.log(total)
    return [np.array(likelihood)]


@numba.njit
def kalman_filter(mean, cov, zero, move, q_root, look, r_root, ys):
    m, c, total = mean.copy(), cov.copy(), zero[()]
    q, r, two = q_root @ q_root.T, r_root @ r_root.T, np.float32(2)
    for t in range(ys.shape[0]):
        a = move @ m
        p = move @ c @ move.T + q
        lp = look @ p
        v = lp @ look.T + r
        e = ys[t] - look @ a
        l00 = np.sqrt(v[0, 0])
        l10 = v[1, 0] / l00
        l11 = np.sqrt(v[1, 1] - l10 * l10)
        z0 = e[0] / l00
        z1 = (e[1] - l10 * z0) / l11
        for j in range(m.size):
            lp[0, j] /= l00
            lp[1, j] = (lp[1, j] - l10 * lp[0, j]) / l11
        total -= (z0 * z0 + z1 * z1) / two + np.log(l00) + np.log(l11)
        for i in range(m.size):
            m[i] = a[i] + lp[0, i] * z0 + lp[1, i] * z1
            for j in range(m.size):
                c[i, j] = p[i, j] - lp[0, i] * lp[0, j] - lp[1, i] * lp[1, j]
    return [np.array(total)]


@numba.njit
def _given(xs, u, bias):
    steps, batch, width = xs.shape
    return xs.reshape((steps * batch, width)) @ u + bias


@numba.njit
def rnn(xs, u, w, bias, start):
    given, h, n = _given(xs, u, bias), start, start.shape[0]
    for t in range(xs.shape[0]):
        h = np.tanh(given[t * n : (t + 1) * n] + h @ w)
    return [h]


@numba.njit
def _sigmoid(x):
    one = np.float32(1)
    return one / (one + np.exp(-x))


@numba.njit
def gru(xs, u, w, bias, start):
    given, h, n, k = _given(xs, u, bias), start.copy(), start.shape[0], start.shape[1]
    for t in range(xs.shape[0]):
        x, before = given[t * n : (t + 1) * n], h @ w
        for i in range(n):
            for j in range(k):
                update = _sigmoid(x[i, j] + before[i, j])
                reset = _sigmoid(x[i, k + j] + before[i, k + j])
                new = np.tanh(x[i, 2 * k + j] + reset * before[i, 2 * k + j])
                h[i, j] = update * h[i, j] + (np.float32(1) - update) * new
    return [h]


@numba.njit
def lstm(xs, u, w, bias, start, cell):
    given, h, c = _given(xs, u, bias), start.copy(), cell.copy()
    n, k = start.shape
    for t in range(xs.shape[0]):
        x, before = given[t * n : (t + 1) * n], h @ w
        for i in range(n):
            for j in range(k):
                keep = _sigmoid(x[i, j] + before[i, j])
                enter = _sigmoid(x[i, k + j] + before[i, k + j])
                leave = _sigmoid(x[i, 2 * k + j] + before[i, 2 * k + j])
                c[i, j] = keep * c[i, j] + enter * np.tanh(x[i, 3 * k + j] + before[i, 3 * k + j])
                h[i, j] = leave * np.tanh(c[i, j])
    return [h]


@numba.njit
def _force(couple, q, f):
    for i in range(q.size):
        f[i] = -q[i] * q[i] * q[i]
        for j in range(q.size):
            f[i] -= couple[i, j] * q[j]


@numba.njit
def leapfrog(start, speed, couple, step, kicks):
    q, p, f, h = start.copy(), speed.copy(), np.empty_like(start), step[()]
    half = h / np.float32(2)
    for t in range(kicks.size):
        _force(couple, q, f)
        for i in range(q.size):
            p[i] += half * f[i]
            q[i] += h * p[i]
        _force(couple, q, f)
        for i in range(q.size):
            p[i] += half * f[i] + kicks[t]
    return [q, p]


@numba.njit
def minibatches(start, speed, rate, x, y, order):
    w, v, slope = start.copy(), speed.copy(), np.empty_like(start)
    n, batch = w.size, x.shape[1]
    keep, small = w.dtype.type(0.9), w.dtype.type(0.01)
    for t in range(order.size):
        rows, labels = x[order[t]], y[order[t]]
        slope[:] = 0
        for i in range(batch):
            z = w[0] * np.float32(0)
            for j in range(n):
                z += rows[i, j] * w[j]
            z = _sigmoid(z) - labels[i]
            for j in range(n):
                slope[j] += rows[i, j] * z
        for j in range(n):
            v[j] = keep * v[j] - rate[()] * (slope[j] / np.float32(batch) + small * w[j])
            w[j] += v[j]
    return [w]


@numba.njit
def nested_sums(start, zero, a, x):
    out, state = np.empty_like(a), start[()]
    for t in range(a.size):
        total = zero[()]
        for j in range(x.size):
            z = a[t] * x[j] + state
            total += z / (np.float32(1) + z * z)
        out[t] = total
        state = total / np.float32(x.size)
    return [out]
