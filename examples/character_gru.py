"""Example: gated recurrent units that learn to write a text, character by character.

Run it as ``python character_gru.py [picture.png]``; it needs matplotlib. The text is "The Zen of Python" by Tim Peters, in the
public domain, which Python prints where `this` is imported. Training and writing are one loop each.
"""

import contextlib
import importlib
import io
import sys
from time import perf_counter

import numpy as np
from matplotlib.figure import Figure

import occelo as oc
import occelo.tensor as ot

with contextlib.redirect_stdout(io.StringIO()) as printed:
    importlib.reload(importlib.import_module("this"))
# the text once, even if this was imported before
text = printed.getvalue()[-857:]
assert text.startswith("The Zen of Python, by Tim Peters")
assert text.endswith("more of those!\n")
letters = sorted(set(text))
numbers = np.array([letters.index(c) for c in text])

WIDTH, ROWS, STEPS = 64, 16, 200
# rows of consecutive characters, each with the character that follows
length = (len(numbers) - 1) // ROWS
given = numbers[: ROWS * length].reshape(ROWS, length).T
wanted = numbers[1 : ROWS * length + 1].reshape(ROWS, length).T

rng = np.random.default_rng(0)


def weights(name, *shape):
    return oc.shared(rng.normal(size=shape) / np.sqrt(shape[0]), name)


embedding = weights("embedding", len(letters), WIDTH)
inward, across = weights("inward", WIDTH, 3 * WIDTH), weights("across", WIDTH, 3 * WIDTH)
bias = oc.shared(np.zeros(3 * WIDTH), "bias")
outward = weights("outward", WIDTH, len(letters))
parameters = [embedding, inward, across, bias, outward]


def unit(h, characters):
    """The state after some characters, for each row, from the one before them."""
    x = embedding[characters] @ inward + bias
    a = h @ across
    update = ot.sigmoid(x[:, :WIDTH] + a[:, :WIDTH])
    reset = ot.sigmoid(x[:, WIDTH : 2 * WIDTH] + a[:, WIDTH : 2 * WIDTH])
    new = ot.tanh(x[:, 2 * WIDTH :] + reset * a[:, 2 * WIDTH :])
    return update * h + (1.0 - update) * new


# training: the mean of the negative log probabilities of the characters that follow, and a step of Adam
characters, following = ot.lmatrix("characters"), ot.lmatrix("following")
start = ot.zeros((characters.shape[1], WIDTH))
_, states = oc.loop(lambda h, c: (unit(h, c),) * 2, start, characters)
scores = ot.log_softmax(states @ outward, axis=-1)
chosen = ot.take_along_axis(scores, following[:, :, None], axis=2)
loss = -chosen.mean()

count = oc.shared(0.0, "count")
updates = {count: count + 1.0}
for weight, slope in zip(parameters, oc.grad(loss, parameters), strict=True):
    zeros = np.zeros_like(weight.get_value())
    mean, square = oc.shared(zeros), oc.shared(zeros)
    updates[mean] = 0.9 * mean + 0.1 * slope
    updates[square] = 0.99 * square + 0.01 * slope**2
    unbiased = updates[mean] / (1.0 - 0.9 ** (count + 1.0))
    size = ot.sqrt(updates[square] / (1.0 - 0.99 ** (count + 1.0))) + 1e-8
    updates[weight] = weight - 0.005 * unbiased / size
train = oc.function([characters, following], loss, updates=updates)


def loss_by_hand():
    """The same loss with NumPy, for the present weights."""
    table, u, w, b, v = (p.get_value() for p in parameters)
    h, total = np.zeros((ROWS, WIDTH)), 0.0
    for now, after in zip(given, wanted, strict=True):
        x, a = np.split(table[now] @ u + b, 3, axis=1), np.split(h @ w, 3, axis=1)
        update, reset = (1.0 / (1.0 + np.exp(-x[k] - a[k])) for k in range(2))
        h = update * h + (1.0 - update) * np.tanh(x[2] + reset * a[2])
        exponentials = np.exp(h @ v)
        odds = exponentials[range(ROWS), after] / exponentials.sum(axis=1)
        total -= np.log(odds).sum()
    return total / given.size


expected = loss_by_hand()
began = perf_counter()
losses = np.array([train(given, wanted) for _ in range(STEPS)])
took = perf_counter() - began
print(f"loss {losses[0]:.3f} at the start, {losses[-1]:.3f} after {STEPS} steps in {took:.1f} s")
np.testing.assert_allclose(losses[0], expected, rtol=1e-10)
assert losses[0] > 0.9 * np.log(len(letters))
assert losses[-1] < 0.3

# writing: after some characters, always the most probable one comes next
prompt, more = ot.lvector("prompt"), ot.lscalar("more")
state, _ = oc.loop(lambda h, c: (unit(h, c[None]), None), ot.zeros((1, WIDTH)), prompt[:-1])


def write(carried):
    h, character = carried
    h = unit(h, character[None])
    character = (h @ outward)[0].argmax()
    return (h, character), character


_, written = oc.loop(write, (state, prompt[-1]), length=more)
continued = oc.function([prompt, more], written)


def completed(words, number):
    found = continued([letters.index(c) for c in words], number)
    return words + "".join(letters[k] for k in found)


for words in ("Beautiful is", "Simple is", "Errors should"):
    print(completed(words, 40).split("\n")[0])
assert completed("Beautiful is", 13) == "Beautiful is better than "

figure = Figure(figsize=(7, 4), layout="constrained")
axes = figure.subplots()
axes.semilogy(losses, label="training")
axes.axhline(
    np.log(len(letters)), color="k", linestyle=":", label="all characters equally probable"
)
axes.set(xlabel="step", ylabel="loss, nats a character", title="A character-level GRU")
axes.legend()
figure.savefig(sys.argv[1] if len(sys.argv) > 1 else "character_gru.png", dpi=100)
