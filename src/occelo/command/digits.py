"""The data and the models of ``occelo demo``. Each model is written twice, as a graph and as a training step in NumPy.

`demo` trains the models.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

import occelo as oc
import occelo.tensor as ot

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Tensor = ot.TensorVariable
CLASSES = 10


@dataclass(frozen=True)
class Digits:
    """Images and their labels, for training and for testing. An image is a row of 64 numbers from 0 to 1."""

    train_images: Floats
    train_labels: Integers
    test_images: Floats
    test_labels: Integers


def load_digits(seed: int, shuffle_labels: bool = False) -> Digits:
    """Return the 1,797 digits, with a quarter of them held out for testing. The split depends only on ``seed``.

    Raises ModuleNotFoundError if scikit-learn is missing.
    """
    try:
        datasets: Any = importlib.import_module("sklearn.datasets")
    except ModuleNotFoundError:
        raise ModuleNotFoundError(
            "The demo needs scikit-learn for its images: install occelo with its extra `demo`"
        ) from None
    images, labels = datasets.load_digits(return_X_y=True)
    generator = np.random.default_rng(seed)
    order = generator.permutation(len(labels))
    images = np.asarray(images, dtype="float64")[order] / 16.0
    labels = np.asarray(labels, dtype="int64")[order]
    held_out = len(labels) // 4
    train_labels = labels[held_out:]
    if shuffle_labels:
        train_labels = generator.permutation(train_labels)
    return Digits(images[held_out:], train_labels, images[:held_out], labels[:held_out])


@dataclass(frozen=True)
class Model:
    """A classifier: its initial parameters, its graph, and a training step in NumPy.

    ``logits(images, parameters)`` builds the graph. ``numpy_step(images, labels, parameters, rate)`` changes the
    parameters in place and returns the loss before the change.
    """

    name: str
    start: Sequence[Floats]
    names: Sequence[str]
    rate: float
    logits: Callable[[Tensor, Sequence[Tensor]], Tensor]
    numpy_step: Callable[[Floats, Integers, Sequence[Floats], float], float]


def loss_graph(
    model: Model, images: Tensor, labels: Tensor, parameters: Sequence[Tensor]
) -> Tensor:
    """Return the mean negative log-likelihood of the labels, as a graph."""
    log_likelihood = ot.log_softmax(model.logits(images, parameters), axis=1)
    return -log_likelihood[ot.arange(labels.shape[0]), labels].mean()


def make_step(
    model: Model, mode: str | None
) -> tuple[oc.Function, oc.Function, list[ot.TensorSharedVariable]]:
    """Return the compiled training step, the compiled classifier, and the shared parameters."""
    images, labels = ot.dmatrix("images"), ot.lvector("labels")
    parameters = [oc.shared(p, name) for p, name in zip(model.start, model.names, strict=True)]
    loss = loss_graph(model, images, labels, parameters)
    loss.name = "loss"
    gradients = oc.grad(loss, parameters)
    updates = [(p, p - model.rate * g) for p, g in zip(parameters, gradients, strict=True)]
    step = oc.function(
        [images, labels], loss, updates=updates, mode=mode, name=f"{model.name} step"
    )
    classify = oc.function(
        [images],
        model.logits(images, parameters).argmax(axis=1),
        mode=mode,
        name=f"{model.name} classify",
    )
    return step, classify, parameters


def softmax_of(logits: Floats) -> Floats:
    """Return rows of probabilities, computed with NumPy."""
    powers = np.exp(logits - logits.max(axis=1, keepdims=True))
    result: Floats = powers / powers.sum(axis=1, keepdims=True)
    return result


def _loss_and_error(logits: Floats, labels: Integers) -> tuple[float, Floats]:
    """Return the loss, and its gradient with respect to the logits."""
    rows = np.arange(len(labels))
    error = softmax_of(logits)
    loss = -float(np.log(error[rows, labels]).mean())
    error[rows, labels] -= 1.0
    return loss, error / len(labels)


def softmax_regression(seed: int, features: int) -> Model:
    """Return a model with a single linear layer."""

    def logits(images: Tensor, parameters: Sequence[Tensor]) -> Tensor:
        weights, bias = parameters
        return images @ weights + bias

    def numpy_step(
        images: Floats, labels: Integers, parameters: Sequence[Floats], rate: float
    ) -> float:
        weights, bias = parameters
        loss, error = _loss_and_error(images @ weights + bias, labels)
        weights -= rate * (images.T @ error)
        bias -= rate * error.sum(axis=0)
        return loss

    generator = np.random.default_rng(seed)
    start = [generator.normal(scale=0.01, size=(features, CLASSES)), np.zeros(CLASSES)]
    return Model("softmax regression", start, ["W", "b"], 0.5, logits, numpy_step)


def network(seed: int, features: int, hidden: int) -> Model:
    """Return a model with a layer of hyperbolic tangents and a linear layer."""

    def logits(images: Tensor, parameters: Sequence[Tensor]) -> Tensor:
        w1, b1, w2, b2 = parameters
        return ot.tanh(images @ w1 + b1) @ w2 + b2

    def numpy_step(
        images: Floats, labels: Integers, parameters: Sequence[Floats], rate: float
    ) -> float:
        w1, b1, w2, b2 = parameters
        active: Floats = np.tanh(images @ w1 + b1)
        loss, error = _loss_and_error(active @ w2 + b2, labels)
        back: Floats = (error @ w2.T) * (1.0 - active * active)
        w2 -= rate * (active.T @ error)
        b2 -= rate * error.sum(axis=0)
        w1 -= rate * (images.T @ back)
        b1 -= rate * back.sum(axis=0)
        return loss

    generator = np.random.default_rng(seed)
    start = [
        generator.normal(scale=features**-0.5, size=(features, hidden)),
        np.zeros(hidden),
        generator.normal(scale=hidden**-0.5, size=(hidden, CLASSES)),
        np.zeros(CLASSES),
    ]
    return Model("two-layer network", start, ["W1", "b1", "W2", "b2"], 0.5, logits, numpy_step)
