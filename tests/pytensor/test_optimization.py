"""Minima and roots of PyTensor: values and gradients beside PyTensor's own, by both doors, and there and back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytensor
import pytensor.tensor as pt
import pytest
from pytensor.compile.mode import Mode
from pytensor.tensor.optimize import (
    MinimizeOp,
    RootOp,
    RootScalarOp,
    minimize,
    minimize_scalar,
    root,
    root_scalar,
)

import occelo as oc
import occelo_pytensor as bridge

pytestmark = [
    pytest.mark.filterwarnings("ignore:PyTensor could not link to a BLAS"),
    pytest.mark.filterwarnings("ignore:Method .* does not use"),  # SciPy's, of PyTensor's calls
]
THEIRS = Mode("py", "fast_compile")
VALUES = (1.7, np.array([0.5, -1.0, 2.0]), 0.3, np.array([0.1, 0.2, 0.3]))

Build = Callable[[Any, Any, Any, Any], Any]


def _valley(a: Any, b: Any, v: Any) -> Any:
    return ((v - a * b) ** 4 + (v - b) ** 2).sum()


def _curve(a: Any, b: Any, x: Any) -> Any:
    return x + a * pt.tanh(x) - b[0]


LOOPS: dict[str, Build] = {
    "BFGS": lambda a, b, x, v: minimize(_valley(a, b, v), v, optimizer_kwargs={"tol": 1e-9}),
    "two variables": lambda a, b, x, v: minimize((x - a) ** 2 + ((v - b * x) ** 2).sum(), [x, v], optimizer_kwargs={"tol": 1e-9}),
    "a scalar": lambda a, b, x, v: minimize((x - a) ** 2 + x**4, x, jac=False),
    "brent": lambda a, b, x, v: minimize_scalar((x - a) ** 2 + pt.exp(x * b[0]), x),
    "the minimum that SciPy's start leads to": lambda a, b, x, v: minimize_scalar(pt.cos(3 * a * (x - 10)) + 0.01 * x**2, x),
    "bounded": lambda a, b, x, v: minimize_scalar((x - a) ** 2 + pt.exp(x), x, "bounded", bounds=(-3.0, a + 1)),
    "golden": lambda a, b, x, v: minimize_scalar((x - a) ** 2, x, "golden", bracket=[a - 9, a - 2, a + 9]),
    "lm": lambda a, b, x, v: root(v + a * pt.tanh(v) - b, v, "lm"),
    "secant": lambda a, b, x, v: root_scalar(_curve(a, b, x), x),
    "newton": lambda a, b, x, v: root_scalar(_curve(a, b, x), x, "newton", jac=True),
    "halley": lambda a, b, x, v: root_scalar(_curve(a, b, x), x, "halley", jac=True, hess=True),
    "brentq": lambda a, b, x, v: root_scalar(_curve(a, b, x), x, "brentq", bracket=(-10.0, a + 10)),
}  # fmt: skip
"""Problems whose methods are loops here: nothing of them runs in Python."""
SCIPY: dict[str, Build] = {
    "L-BFGS-B": lambda a, b, x, v: minimize(_valley(a, b, v), v, "L-BFGS-B", optimizer_kwargs={"bounds": [(None, 9.0)] * 2 + [(-5, 5.0)], "tol": 1e-10}),
    "an option of SciPy's BFGS": lambda a, b, x, v: minimize(_valley(a, b, v), v, optimizer_kwargs={"options": {"gtol": 1e-9, "disp": False}}),
    "Nelder-Mead": lambda a, b, x, v: minimize(_valley(a, b, v), v, "Nelder-Mead", optimizer_kwargs={"options": {"xatol": 1e-10, "fatol": 1e-12, "maxiter": 5000}}),
    "trust-exact": lambda a, b, x, v: minimize(_valley(a, b, v), v, "trust-exact", hess=True),
    "hybr": lambda a, b, x, v: root(v + a * pt.tanh(v) - b, v),
    "krylov": lambda a, b, x, v: root(v + a * pt.tanh(v) - b, v, "krylov", jac=False, optimizer_kwargs={"tol": 1e-12}),
    "toms748": lambda a, b, x, v: root_scalar(_curve(a, b, x), x, "toms748", bracket=(-10.0, 10), optimizer_kwargs={"xtol": 1e-10}),
}  # fmt: skip
"""Problems whose methods are SciPy's here, too."""


def _problem(build: Build) -> tuple[list[Any], list[Any], Any]:
    """The inputs, the solutions with whether they were found, and a cost."""
    inputs = [pt.dscalar("a"), pt.dvector("b"), pt.dscalar("x"), pt.dvector("v")]
    solution, success = build(*inputs)
    solutions = list(solution) if isinstance(solution, list | tuple) else [solution]
    return inputs, [*solutions, success], sum((s**2).sum() for s in solutions)


def _same(found: Any, wanted: Any, tolerance: float = 2e-6) -> None:
    for ours, theirs in zip(found, wanted, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=tolerance, atol=tolerance)


@pytest.mark.sampled(10)
@pytest.mark.parametrize("name", [*LOOPS, *SCIPY])
def test_solutions_and_gradients_are_those_of_pytensor(name: str) -> None:
    inputs, outputs, cost = _problem((LOOPS | SCIPY)[name])
    slopes = pytensor.grad(cost, inputs[:2], disconnected_inputs="ignore")
    compile_ = {"on_unused_input": "ignore"}
    wanted = pytensor.function(inputs, [*outputs, *slopes], mode=THEIRS, **compile_)(*VALUES)
    f = pytensor.function(inputs, [*outputs, *slopes], mode="OCCELO", **compile_)
    _same(f(*VALUES), wanted)
    in_python = {type(node.op).__name__ for node in f.vm.vm.python_nodes}
    assert in_python == (set() if name in LOOPS else {"ScipySolver"})

    ours, (*converted, our_cost) = bridge.from_pytensor([*outputs, cost], inputs)
    our_slopes = oc.grad(our_cost, ours[:2], disconnected_inputs="ignore")
    g = oc.function(ours, [*converted, *our_slopes], on_unused_input="ignore")
    _same(g(*VALUES), wanted)

    back, (*there, success) = bridge.to_pytensor(converted, ours)
    cost = sum((s**2).sum() for s in there)
    slopes = pytensor.grad(cost, back[:2], disconnected_inputs="ignore")
    _same(
        pytensor.function(back, [*there, success, *slopes], mode=THEIRS, **compile_)(*VALUES),
        g(*VALUES),
        1e-7,
    )


def test_methods_of_scipy_come_back_as_they_were() -> None:
    for name, kind in (("hybr", RootOp), ("trust-exact", MinimizeOp), ("toms748", RootScalarOp)):
        inputs, (solution, success), _ = _problem(SCIPY[name])
        ours, converted = bridge.from_pytensor([solution, success], inputs)
        _, (back, _) = bridge.to_pytensor(converted, ours)
        assert isinstance(back.owner.op, kind)
        theirs = back.owner.op
        assert (theirs.method, theirs.jac) == (solution.owner.op.method, solution.owner.op.jac)
        assert theirs.optimizer_kwargs == solution.owner.op.optimizer_kwargs


def test_what_has_no_equal_is_called_with_a_reason() -> None:
    a, x, ends = pt.dscalar("a"), pt.dscalar("x"), pt.dvector("ends")
    for build, reason in (
        (lambda: minimize((x - a) ** 2, x, "SLSQP", optimizer_kwargs={"constraints": {"type": "ineq", "fun": lambda v: 0.5 - v[0]}}), "with constraints"),
        (lambda: root_scalar(x**3 - a, x, "toms748", bracket=ends), "bracket is ends"),
    ):  # fmt: skip
        solution, success = build()
        slope = pytensor.grad(solution, a)
        with pytest.warns(UserWarning, match=reason):
            f = pytensor.function([a, x, ends], [solution, success, slope], mode="OCCELO", on_unused_input="ignore")  # fmt: skip
        g = pytensor.function([a, x, ends], [solution, success, slope], mode=THEIRS, on_unused_input="ignore")  # fmt: skip
        _same(f(1.5, 0.1, [-4.0, 4.0]), g(1.5, 0.1, [-4.0, 4.0]), 1e-12)


def test_a_start_and_numbers_of_single_precision() -> None:
    a = pt.fscalar("a")
    v = pt.fvector("v")
    solution, success = minimize(((v - a) ** 2).sum() + (v**4).sum(), v)
    values = np.float32(1.7), np.array([0.1, 0.2], np.float32)
    wanted = pytensor.function([a, v], [solution, success], mode=THEIRS)(*values)
    found = pytensor.function([a, v], [solution, success], mode="OCCELO")(*values)
    assert found[0].dtype == np.float32
    np.testing.assert_allclose(found[0], wanted[0], rtol=1e-3)


def test_a_batch_of_problems_is_a_batch_of_loops() -> None:
    a, x = pt.dvector("a"), pt.dscalar("x")
    scalar = pt.dscalar("scalar")
    solution, _ = root_scalar(x**3 - scalar, x, "newton", jac=True)
    batch = pytensor.graph.replace.vectorize_graph(solution, {scalar: a})
    f = pytensor.function([a, x], batch, mode="OCCELO")
    np.testing.assert_allclose(f([1.0, 8.0, 27.0], 1.5), [1.0, 2.0, 3.0], rtol=1e-9)
