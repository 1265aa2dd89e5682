"""The command ``occelo demo``, which trains two classifiers of digits and reports compile times, step times and
accuracy.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

import occelo as oc
from occelo.command.digits import (
    Digits,
    Floats,
    Integers,
    Model,
    load_digits,
    make_step,
    network,
    softmax_regression,
)

_TIMING_ROUNDS = 5
_INTRODUCTION = """\
Two classifiers of handwritten digits (1,797 images of 8 by 8 pixels), each
built as a graph: a softmax regression and a network with one hidden layer.
Occelo derives the gradients, rewrites the graphs and compiles a training step
of each to machine code. The table below shows how well they do, how long each
step of compiling took, and how long a training step takes beside the same step
written by hand in NumPy. --graphs prints the graphs before and after, --plot
writes a picture of the losses.
"""


@dataclass(frozen=True)
class DemoSettings:
    """The options of the command."""

    mode: str | None = None
    seed: int = 0
    epochs: int = 40
    batch: int = 64
    hidden: int = 64
    shuffle_labels: bool = False
    plot: Path | None = None
    graphs: bool = False


@dataclass
class DemoResult:
    """The result of training one model. All times are in seconds.

    ``times`` has the times of compiling the step. ``step_time`` and ``numpy_time`` are the shortest times of one step,
    compiled and in NumPy. ``largest_difference`` is the largest absolute difference between the parameters after
    compiled steps and those after as many steps in NumPy.
    """

    model: str
    accuracy: float
    losses: list[float] = field(default_factory=lambda: list[float]())
    times: Any = None
    step_time: float = 0.0
    numpy_time: float = 0.0
    largest_difference: float = 0.0


def _batches(
    digits: Digits, size: int, generator: np.random.Generator
) -> Iterator[tuple[Floats, Integers]]:
    order = generator.permutation(len(digits.train_labels))
    # images that would make a smaller last batch are left out, since few images would make a step of full size
    size = min(size, len(order))
    for start in range(0, len(order) - size + 1, size):
        chosen = order[start : start + size]
        yield digits.train_images[chosen], digits.train_labels[chosen]


def _compare_with_numpy(
    model: Model, settings: DemoSettings, digits: Digits, result: DemoResult
) -> None:
    """Time the compiled step and the NumPy step alternately, from equal parameters. Compare the final parameters, too."""
    step, _, shared = make_step(model, settings.mode)
    by_hand = [np.array(p) for p in model.start]
    batches = list(_batches(digits, settings.batch, np.random.default_rng(settings.seed)))
    step(*batches[0])
    model.numpy_step(*batches[0], by_hand, model.rate)
    best = [float("inf"), float("inf")]
    for _ in range(_TIMING_ROUNDS):
        for images, labels in batches:
            start = perf_counter()
            step(images, labels)
            middle = perf_counter()
            model.numpy_step(images, labels, by_hand, model.rate)
            end = perf_counter()
            best = [min(best[0], middle - start), min(best[1], end - middle)]
    result.step_time, result.numpy_time = best
    result.largest_difference = max(
        float(np.abs(s.get_value() - p).max()) for s, p in zip(shared, by_hand, strict=True)
    )


def _train(model: Model, settings: DemoSettings, digits: Digits, console: Console) -> DemoResult:
    step, classify, _ = make_step(model, settings.mode)
    generator = np.random.default_rng(settings.seed + 1)
    result = DemoResult(model.name, 0.0)
    columns = (
        TextColumn(f"{model.name:>18}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("loss {task.fields[loss]:.4f}"),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=console) as progress:
        task = progress.add_task("train", total=settings.epochs, loss=float("nan"))
        for _ in range(settings.epochs):
            losses = [float(step(*b)) for b in _batches(digits, settings.batch, generator)]
            result.losses.append(float(np.mean(losses)))
            progress.update(task, advance=1, loss=result.losses[-1])
    predicted: Integers = classify(digits.test_images)
    result.accuracy = float((predicted == digits.test_labels).mean())
    result.times = step.maker.times
    if settings.graphs:
        _print_graphs(step, console)
    return result


def _print_graphs(step: Any, console: Console) -> None:
    before, after = step.maker.rewritten.before, step.maker.fgraph
    console.rule(f"{step.name}: {len(before.apply_nodes)} nodes as built")
    console.print(oc.dprint(before, file="str"), markup=False, highlight=False, soft_wrap=True)
    console.rule(f"{step.name}: {len(after.apply_nodes)} nodes as compiled")
    console.print(oc.dprint(after, file="str"), markup=False, highlight=False, soft_wrap=True)


def _report(
    results: list[DemoResult], settings: DemoSettings, digits: Digits, console: Console
) -> None:
    mode = oc.get_mode(settings.mode)
    labels = ", labels shuffled" if settings.shuffle_labels else ""
    table = Table(
        title=f"seed {settings.seed}, mode {mode.name or mode}, {len(digits.train_labels)} images to "
        f"train on, {len(digits.test_labels)} held out{labels}"
    )
    table.add_column("")
    for result in results:
        table.add_column(result.model, justify="right")

    def row(name: str, texts: list[str]) -> None:
        table.add_row(name, *texts)

    row("accuracy on held-out images", [f"{r.accuracy:.4f}" for r in results])
    row("last training loss", [f"{r.losses[-1]:.4f}" for r in results])
    for step in ("collect", "rewrite", "link", "first_call"):
        row(
            f"{step.replace('_', ' ')}, ms",
            [f"{getattr(r.times, step) * 1e3:.2f}" for r in results],
        )
    row("one step, us", [f"{r.step_time * 1e6:.1f}" for r in results])
    row("the same step in NumPy, us", [f"{r.numpy_time * 1e6:.1f}" for r in results])
    row("largest difference to NumPy", [f"{r.largest_difference:.1e}" for r in results])
    console.print(table)


def _plot(results: list[DemoResult], path: Path) -> None:
    try:
        matplotlib: Any = importlib.import_module("matplotlib.figure")
    except ModuleNotFoundError:
        raise ModuleNotFoundError(
            "The plot needs matplotlib: install occelo with its extra `demo`"
        ) from None
    figure = matplotlib.Figure(figsize=(6, 4), layout="constrained")
    axes = figure.subplots()
    for result in results:
        axes.plot(range(1, len(result.losses) + 1), result.losses, label=result.model)
    axes.set(
        xlabel="epoch", ylabel="mean training loss", yscale="log", title="Training on the digits"
    )
    axes.grid(alpha=0.3)
    axes.legend()
    figure.savefig(path)


def run_demo(settings: DemoSettings, console: Console) -> list[DemoResult]:
    """Train both models, print the report, and return the results."""
    oc.get_mode(settings.mode)  # raises an error for a wrong name before any work is done
    console.print(_INTRODUCTION, highlight=False)
    digits = load_digits(settings.seed, settings.shuffle_labels)
    features = digits.train_images.shape[1]
    models = [
        softmax_regression(settings.seed, features),
        network(settings.seed, features, settings.hidden),
    ]
    results: list[DemoResult] = []
    for model in models:
        result = _train(model, settings, digits, console)
        _compare_with_numpy(model, settings, digits, result)
        results.append(result)
    _report(results, settings, digits, console)
    if settings.plot is not None:
        _plot(results, settings.plot)
        console.print(f"The loss curves are in {settings.plot}")
    return results
