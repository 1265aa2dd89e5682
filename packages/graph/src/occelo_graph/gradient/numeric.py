"""`verify_grad` and `numeric_grad`: compare gradients with finite differences.

The tests of Occelo call these functions. Users can test their own ops with them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from occelo_graph import upward
from occelo_graph.errors import GradientError, explained_by, lines
from occelo_graph.gradient.reverse import grad
from occelo_graph.ir.nodes import Variable
from occelo_graph.ir.op import Op
from occelo_graph.ir.traversal import toposort
from occelo_graph.tensors.constant import as_tensor_variable
from occelo_graph.tensors.type import TensorType, is_discrete

_STEP = {"float16": 1e-1, "float32": 3e-3, "float64": 1e-6}
_MOST_SHOWN = 12
_TOLERANCE = {"float16": 1e-1, "float32": 1e-2, "float64": 1e-4}


@explained_by("gradients")
def numeric_grad(f: Callable[..., Any], pt: Sequence[Any], eps: float | None = None) -> list[Any]:
    """The derivatives of a scalar function at the arguments ``pt``, by central differences: an array for each argument.

    ``f`` is a function of arrays that returns a number. ``eps`` is the step; its default depends on the dtype. For an
    element with an absolute value above 1, the step is ``eps`` times this absolute value. TypeError if ``f`` returns an
    array with dimensions.
    """
    points = [np.array(p) for p in pt]
    results: list[Any] = []
    for i, point in enumerate(points):
        step = _STEP.get(point.dtype.name, 1e-6) if eps is None else eps
        result = np.zeros(point.shape, dtype="float64")
        for at in np.ndindex(*point.shape):
            width = step * max(1.0, float(abs(point[at])))
            values: list[float] = []
            for sign in (1, -1):
                moved = point.copy()
                moved[at] = point[at] + sign * width
                value = f(*points[:i], moved, *points[i + 1 :])
                if np.ndim(value):
                    raise TypeError(
                        f"f of numeric_grad returns a number, and returned the shape {np.shape(value)}"
                    )
                values.append(float(value))
            result[at] = (values[0] - values[1]) / (2 * width)
        results.append(result)
    return results


@explained_by("gradients")
def verify_grad(
    fun: Callable[..., Any],
    pt: Sequence[Any],
    n_tests: int = 2,
    rng: Any = None,
    eps: float | None = None,
    out_type: str | None = None,
    abs_tol: float | None = None,
    rel_tol: float | None = None,
    mode: Any = None,
    cast_to_output_type: bool = False,
    no_debug_ref: bool = True,
) -> None:
    """Compare the gradient of ``fun`` at the arrays ``pt`` with central differences.

    ``fun`` is a function of symbolic tensors that returns a tensor. The cost is a weighted sum of the elements of this
    tensor, with random weights. The comparison is made ``n_tests`` times, with new weights each time.

    - ``rng``: a NumPy Generator for the weights; by default one with a fixed seed.
    - ``eps``: the step of `numeric_grad`.
    - ``out_type``: a dtype to which the result of ``fun`` is cast, if ``cast_to_output_type`` is true.
    - ``abs_tol``, ``rel_tol``: the absolute and the relative tolerance. By default they depend on the dtype.
    - ``mode``: the mode in which the gradient is compiled.
    - ``no_debug_ref``: accepted for compatibility; it has no effect.

    `GradientError` if an element differs by more than both tolerances. The message names the ops of ``fun`` and the
    worst element. TypeError for arrays of integers or truth values.
    """
    del no_debug_ref
    generator = np.random.default_rng(20) if rng is None else rng
    points = [np.array(p) for p in pt]
    for point in points:
        if is_discrete(point.dtype.name):
            raise TypeError(f"verify_grad takes floating-point arrays, got {point.dtype}")
    inputs = [
        TensorType(p.dtype, p.shape).make_variable(f"input {i}") for i, p in enumerate(points)
    ]
    output = as_tensor_variable(fun(*inputs))
    if out_type is not None and cast_to_output_type:
        output = output.astype(out_type)
    evaluator = upward.evaluator
    options = {"on_unused_input": "ignore"}  # a derivative may be constant
    if mode is not None:
        options["mode"] = mode
    shape = np.shape(evaluator(output, dict(zip(inputs, points, strict=True)), **options))
    for _ in range(n_tests):
        weights = (generator.random(shape) + 0.5).astype(output.dtype)
        cost = (output * weights).sum()
        analytic = [
            np.asarray(evaluator(g, dict(zip(inputs, points, strict=True)), **options))
            for g in grad(cost, inputs, disconnected_inputs="ignore")
        ]

        def value(*arrays: Any, _cost: Any = cost) -> Any:
            return evaluator(_cost, dict(zip(inputs, arrays, strict=True)), **options)

        numeric = numeric_grad(value, points, eps)
        try:
            _compare(analytic, numeric, points, abs_tol, rel_tol)
        except GradientError as error:
            raise GradientError(lines(_context(fun, inputs, output), str(error))) from None


def _context(fun: Any, inputs: Sequence[Variable], output: Variable) -> list[str]:
    """Lines of a message: the name of ``fun``, and the ops that it applies."""
    ops: dict[str, None] = {}
    for node in toposort([output], blockers=frozenset(inputs)):
        ops.setdefault(str(node.op))
    shown = list(ops)
    listed = ", ".join(shown[:_MOST_SHOWN]) + (", ..." if len(shown) > _MOST_SHOWN else "")
    name = str(fun) if isinstance(fun, Op) else getattr(fun, "__name__", type(fun).__name__)
    return [f"Verifying the gradient of {name}, which applies {listed or 'no op'}:"]


def _compare(
    analytic: Sequence[Any],
    numeric: Sequence[Any],
    points: Sequence[Any],
    abs_tol: float | None,
    rel_tol: float | None,
) -> None:
    loosest = max((_TOLERANCE.get(p.dtype.name, 1e-4) for p in points), default=1e-4)
    atol = loosest if abs_tol is None else abs_tol
    rtol = loosest if rel_tol is None else rel_tol
    for i, (actual, expected) in enumerate(zip(analytic, numeric, strict=True)):
        if actual.shape != expected.shape:
            raise GradientError(
                f"The gradient with respect to input {i} has shape {actual.shape}, not {expected.shape}"
            )
        difference = np.abs(actual - expected)
        bad = ~(difference <= np.maximum(atol, rtol * np.maximum(np.abs(actual), np.abs(expected))))
        if np.any(bad):
            at = np.unravel_index(
                int(np.argmax(np.where(bad, np.nan_to_num(difference, nan=np.inf), -1))), bad.shape
            )
            where = tuple(int(k) for k in at)
            raise GradientError(
                f"The gradient with respect to input {i} at {where} is {actual[at]}, "
                f"but finite differences give {expected[at]}"
            )
