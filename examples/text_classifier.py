"""Example: a text classifier on a sparse matrix of words: from which part of SciPy is this docstring?

Run it as ``python text_classifier.py [picture.png]``; it needs matplotlib.
"""

import importlib
import re
import sys

import numpy as np
from matplotlib.figure import Figure
from scipy import sparse as sp

import occelo as oc
import occelo.tensor as ot
from occelo import sparse

# The texts: first paragraphs of SciPy's docstrings, so that no example gives the part away.
PARTS = ["fft", "linalg", "ndimage", "optimize", "signal", "special", "stats"]
texts, labels = [], []
for label, part in enumerate(PARTS):
    module = importlib.import_module(f"scipy.{part}")
    for name in sorted(set(module.__all__)):
        text = (
            (getattr(module, name).__doc__ or "")
            .split("\n\nExamples")[0]
            .split("\n\nReferences")[0]
        )
        words = [w for w in re.findall("[a-z]{3,}", text.lower()) if w not in (*PARTS, "scipy")]
        if len(words) >= 20 and words not in texts:
            texts.append(words)
            labels.append(label)
labels = np.array(labels)

# A matrix of words: one row a text, the logarithms of counts times the rarity of the word, rows of length 1.
among = {}
for words in texts:
    for word in set(words):
        among[word] = among.get(word, 0) + 1
column = {word: i for i, word in enumerate(sorted(w for w, n in among.items() if n >= 3))}
rows, columns = zip(
    *[(i, column[w]) for i, words in enumerate(texts) for w in words if w in column], strict=True
)
counts = sp.csr_matrix((np.ones(len(rows)), (rows, columns)), (len(texts), len(column)))
counts.data = 1 + np.log(counts.data)
rarity = np.log(len(texts) / np.array([among[word] for word in column]))
weighted = sp.csr_matrix(counts.multiply(rarity))
features = sp.csr_matrix(
    sp.diags(1 / np.sqrt(weighted.multiply(weighted).sum(axis=1)).A1) @ weighted
)
print(
    f"{len(texts)} texts, {len(column)} words, {features.nnz / np.prod(features.shape):.1%} of the matrix is stored"
)

rng = np.random.default_rng(0)
shuffled = rng.permutation(len(texts))
train, test = np.split(shuffled, [len(texts) * 3 // 4])

# Softmax regression. The gradient by the weights is the product of the transposed matrix with a dense one.
X, y = sparse.csr_matrix("X"), ot.lvector("y")
weights, offsets = ot.dmatrix("weights"), ot.dvector("offsets")
scores = sparse.dot(X, weights) + offsets
likelihood = ot.log_softmax(scores, axis=1)[ot.arange(y.shape[0]), y].mean()
cost = -likelihood + 1e-4 * (weights**2).sum()
fit = oc.minimize(
    cost,
    [weights, offsets],
    [np.zeros((len(column), len(PARTS))), np.zeros(len(PARTS))],
    given={X: features[train], y: labels[train]},
    method="L-BFGS-B",
    options={"maxiter": 200},
)
classify = oc.function([X, weights, offsets], scores.argmax(axis=1))
guess = classify(features[test], *fit.params)
accuracy = (guess == labels[test]).mean()
most = np.bincount(labels[test]).max() / len(test)
print(
    f"{fit.nit} steps; {accuracy:.1%} of {len(test)} texts are right, the commonest part would give {most:.1%}"
)
assert accuracy > 0.9

vocabulary = list(column)
for part, of_part in zip(PARTS, fit.params[0].T, strict=True):
    print(f"{part:>9}: {', '.join(vocabulary[i] for i in np.argsort(-of_part)[:6])}")

confusion = np.zeros((len(PARTS), len(PARTS)), int)
np.add.at(confusion, (labels[test], guess), 1)
figure = Figure(figsize=(5.4, 4.4), layout="constrained")
axes = figure.subplots()
axes.imshow(np.log1p(confusion), cmap="Greens")
for i, j in np.argwhere(confusion):
    axes.text(
        j,
        i,
        confusion[i, j],
        ha="center",
        va="center",
        color="white" if confusion[i, j] > 30 else "black",
    )
axes.set_xticks(range(len(PARTS)), PARTS, rotation=40)
axes.set_yticks(range(len(PARTS)), PARTS)
axes.set(xlabel="guess", ylabel="part of SciPy")
figure.savefig(sys.argv[1] if len(sys.argv) > 1 else "text_classifier.png", dpi=100)
