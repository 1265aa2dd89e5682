"""Example: a network with attention between the rows of an image learns to read digits.

Run it as ``python digits_attention.py [picture.png]``; it needs scikit-learn and matplotlib. The parameters are a tree of shared variables. The network is a
function of this tree, built from the functions in `occelo.nn`, and AdamW with a schedule updates it.
"""

import sys
from time import perf_counter

import numpy as np
from matplotlib.figure import Figure
from sklearn.datasets import load_digits

import occelo as oc
import occelo.tensor as ot
from occelo import nn

digits = load_digits()
images = np.asarray(digits.images / 16.0, "float32")  # 1,797 images of 8 x 8, from 0 to 1
labels = np.asarray(digits.target, "int64")
held_out = np.arange(len(images)) % 5 == 0
ROWS, WIDTH, HEADS, CLASSES, BATCH, EPOCHS = 8, 32, 4, 10, 64, 12

rng = np.random.default_rng(0)


def drawn(*shape):
    """Weights whose sums of products have the size of what they multiply."""
    scale = 1 / np.sqrt(shape[0])
    return oc.shared(rng.normal(scale=scale, size=shape).astype("float32"))


def zeros(length):
    return oc.shared(np.zeros(length, "float32"))


params = {
    "embed": {"w": drawn(8, WIDTH), "places": drawn(ROWS, WIDTH)},
    "attend": [drawn(WIDTH, WIDTH) for _ in "qkvo"],
    "dense": {"w": drawn(WIDTH, 2 * WIDTH), "b": zeros(2 * WIDTH), "v": drawn(2 * WIDTH, WIDTH)},
    "out": {"w": drawn(ROWS * WIDTH, CLASSES), "b": zeros(CLASSES)},
}


def logits_of(p, image, key=None):
    """The logits of the classes. With a key, the network trains, with dropout."""
    count = image.shape[0]
    x = image @ p["embed"]["w"] + p["embed"]["places"]
    y = nn.layer_norm(x)
    q, k, v = ((y @ w).reshape((count, ROWS, HEADS, WIDTH // HEADS)) for w in p["attend"][:3])
    seen = nn.dot_product_attention(q, k, v).reshape((count, ROWS, WIDTH))
    x = x + seen @ p["attend"][3]
    dense = p["dense"]
    x = x + nn.gelu(nn.layer_norm(x) @ dense["w"] + dense["b"]) @ dense["v"]
    if key is not None:
        x = nn.dropout(key, x, 0.1)
    return x.reshape((count, ROWS * WIDTH)) @ p["out"]["w"] + p["out"]["b"]


image, label = ot.ftensor3("image"), ot.lvector("label")
key = oc.shared(ot.random.key(1).data, "key")
following, used = ot.random.split(key, 2)
losses = nn.softmax_cross_entropy_with_integer_labels(logits_of(params, image, used), label)
steps = EPOCHS * (np.count_nonzero(~held_out) // BATCH)
rate = oc.updates.warmup_cosine_decay_schedule(0.0, 3e-3, 50, steps)
gradients = oc.updates.clip_by_global_norm(oc.grad(losses.mean(), params), 1.0)
rule = oc.updates.adamw(gradients, params, rate, weight_decay=0.05)
began = perf_counter()
step = oc.function([image, label], losses.mean(), updates=[*rule, (key, following)])
classify = oc.function([image], logits_of(params, image).argmax(axis=-1))
print(f"compiled in {perf_counter() - began:.2f} s")

train, test = np.flatnonzero(~held_out), np.flatnonzero(held_out)
began = perf_counter()
history = []
for _ in range(EPOCHS):
    order = rng.permutation(train)
    batches = order[: len(order) // BATCH * BATCH].reshape(-1, BATCH)
    history.append(np.mean([step(images[i], labels[i]) for i in batches]))
answers = classify(images[test])
right = (answers == labels[test]).mean()
print(
    f"{EPOCHS} epochs in {perf_counter() - began:.2f} s; loss {history[0]:.3f} to {history[-1]:.3f}"
)
print(f"{100 * right:.1f} % of {len(test)} images not used are read correctly")
assert history[-1] < 0.1 < history[0]
assert right > 0.95

figure = Figure(figsize=(8, 3), layout="constrained")
left, *rest = figure.subplots(1, 7, width_ratios=[3, *[1] * 6])
left.semilogy(np.arange(1, EPOCHS + 1), history, "o-")
left.set(xlabel="epoch", ylabel="loss")
for axes, i in zip(rest, np.flatnonzero(answers != labels[test])[:6], strict=False):
    axes.imshow(images[test[i]], cmap="binary")
    axes.set_title(f"{labels[test[i]]}, read\nas {answers[i]}")
for axes in rest:
    axes.axis("off")
figure.savefig(sys.argv[1] if len(sys.argv) > 1 else "digits_attention.png", dpi=100)
