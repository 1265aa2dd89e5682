"""Example: a variational auto-encoder that learns to draw digits.

Run it as ``python digits_autoencoder.py [picture.png]``; it needs scikit-learn and matplotlib. A training epoch is one
compiled loop over minibatches; keys give the order of the images and the noise of the codes.
"""

import sys
from time import perf_counter

import numpy as np
from matplotlib.figure import Figure
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression

import occelo as oc
import occelo.tensor as ot

digits = load_digits()
images = np.asarray(digits.data / 16.0, "float32")  # 1,797 images of 8 x 8, from 0 to 1
held_out = np.arange(len(images)) % 6 == 0
train, test = images[~held_out], images[held_out]
PIXELS, HIDDEN, CODE, BATCH, EPOCHS = 64, 256, 8, 64, 300
BATCHES = len(train) // BATCH

rng = np.random.default_rng(0)
sizes = [(PIXELS, HIDDEN), (HIDDEN, 2 * CODE), (CODE, HIDDEN), (HIDDEN, PIXELS)]
parameters = []
for rows, columns in sizes:
    weights = rng.normal(scale=np.sqrt(1.0 / rows), size=(rows, columns))
    parameters += [np.asarray(weights, "float32"), np.zeros(columns, "float32")]


def decode(code, weights):
    """The logits of the pixels."""
    w, b, v, c = weights[4:]
    return ot.dot(ot.tanh(ot.dot(code, w) + b), v) + c


def bound(image, key, weights):
    """The evidence lower bound of each image (Kingma and Welling 2014), from one draw of its code."""
    w, b, v, c = weights[:4]
    moments = ot.dot(ot.tanh(ot.dot(image, w) + b), v) + c
    mean, log_scale = moments[:, :CODE], moments[:, CODE:]
    code = mean + ot.exp(log_scale) * ot.random.normal(key, size=mean.shape, dtype="float32")
    logits = decode(code, weights)
    # grey values are taken for probabilities of black
    likelihood = (image * logits - ot.softplus(logits)).sum(axis=1)
    divergence = 0.5 * (mean**2 + ot.exp(2.0 * log_scale) - 2.0 * log_scale - 1.0).sum(axis=1)
    return likelihood - divergence


def learn(state, step):
    """A step of Adam on a minibatch."""
    weights, first, second, number = state
    batch, key = step
    value = bound(batch, key, weights).mean()
    slopes = oc.grad(value, list(weights))
    number = number + 1.0
    first = tuple(0.9 * m + 0.1 * g for m, g in zip(first, slopes, strict=True))
    second = tuple(0.999 * s + 0.001 * g * g for s, g in zip(second, slopes, strict=True))
    scale = 0.002 * ot.sqrt(1.0 - 0.999**number) / (1.0 - 0.9**number)
    moved = tuple(
        w + scale * m / (ot.sqrt(s) + 1e-7) for w, m, s in zip(weights, first, second, strict=True)
    )
    return (moved, first, second, number), value


weights = [oc.shared(p, f"weights{i}") for i, p in enumerate(parameters)]
first = [oc.shared(np.zeros_like(p), f"first{i}") for i, p in enumerate(parameters)]
second = [oc.shared(np.zeros_like(p), f"second{i}") for i, p in enumerate(parameters)]
number = oc.shared(np.float32(0), "number")
key = oc.shared(ot.random.key(11).data, "key")
following, for_order, for_noise = ot.random.split(key, 3)
order = ot.random.permutation(for_order, len(train))[: BATCHES * BATCH]
batches = ot.constant(train)[order].reshape((BATCHES, BATCH, PIXELS))
begin = (tuple(weights), tuple(first), tuple(second), number)
(w, m, s, n), values = oc.loop(learn, begin, (batches, ot.random.split(for_noise, BATCHES)))
updates = dict(
    zip([*weights, *first, *second, number, key], [*w, *m, *s, n, following], strict=True)
)
began = perf_counter()
epoch = oc.function([], values.mean(), updates=updates)
compiled = perf_counter() - began
image, seed = ot.fmatrix("image"), ot.scalar("seed", dtype="uint64")
evaluate = oc.function([image, seed], bound(image, seed, weights).mean())
codes = ot.random.normal(seed, size=(40, CODE), dtype="float32")
sample = oc.function([seed], ot.sigmoid(decode(codes, weights)))

began = perf_counter()
rises, seen = [], []
for _ in range(EPOCHS):
    rises.append(float(epoch()))
    seen.append(float(evaluate(test, ot.random.key(1).data)))
took = perf_counter() - began
print(f"compiled in {compiled:.2f} s; {EPOCHS} epochs of {BATCHES} minibatches in {took:.2f} s")
print(f"bound {rises[0]:.2f} at first, {rises[-1]:.2f} at last; {seen[-1]:.2f} on images not used")
assert rises[-1] > rises[0] + 10
assert seen[-1] > seen[0] + 5

# somebody who learned from the true images only should take most samples for some digit, and find all ten
drawn = np.concatenate([sample(ot.random.key(k).data) for k in range(25)])
judge = LogisticRegression(max_iter=2000).fit(train, digits.target[~held_out])
chance = judge.predict_proba(drawn)
kinds = np.bincount(chance.argmax(axis=1), minlength=10)
print(f"a classifier is sure of {100 * (chance.max(axis=1) > 0.8).mean():.0f} % of 1,000 samples")
print(f"how often it sees each digit: {kinds.tolist()}")
assert (chance.max(axis=1) > 0.8).mean() > 0.4
assert kinds.min() > 20

figure = Figure(figsize=(9, 4), layout="constrained")
left, right = figure.subplots(1, 2)
left.plot(rises, label="images used")
left.plot(seen, label="images not used")
left.set(xlabel="epoch", ylabel="evidence lower bound of an image")
left.legend()
framed = np.pad(sample(ot.random.key(5).data).reshape(5, 8, 8, 8), [(0, 0), (0, 0), (2, 2), (2, 2)])
right.imshow(framed.swapaxes(1, 2).reshape(60, 96), cmap="gray_r")
right.set(title="samples", xticks=[], yticks=[])
path = sys.argv[1] if len(sys.argv) > 1 else "digits_autoencoder.png"
figure.savefig(path, dpi=120)
print(f"wrote {path}")
