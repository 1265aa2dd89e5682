"""The law that a program whose last step fails raises the same error on every backend.

It is one of the `LAWS` in `laws`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from occelo_compile.function import function
from occelo_compile.mode import Mode
from occelo_testing.programs.program import Input, Step
from occelo_testing.random_programs.case import Case, Unsuited, Violation

BACKENDS = ("py", "vm", "native")
Random = np.random.Generator
Array = npt.NDArray[Any]
Mistake = tuple[str, str, Any, type[Exception]]
"""A step that fails: its NumPy expression, its Occelo expression, the value of its second input, and the expected
error.
"""


def mistake_law(case: Case, random: Random) -> None:
    """A mistake in the last step raises the same class of error, with the same last line, on all backends."""
    program = case.program
    variables = program.variables()
    values = program.run()
    fitting = [i for i, v in enumerate(values) if v.ndim and v.size]
    if not fitting:
        raise Unsuited
    position = fitting[int(random.integers(len(fitting)))]
    numpy, symbolic, value, error = _MISTAKES[int(random.integers(len(_MISTAKES)))](
        values[position], random
    )
    value = np.asarray(value)
    other = Input(value.dtype.name, (None,) * value.ndim, value)
    step = Step("mistake", (position, len(program.nodes)), numpy, symbolic)
    inputs = [*case.inputs, other.variable("wrong")]
    try:
        outputs = [step.on_variables([variables[position], inputs[-1]])]
    except error:
        return  # building the graph has already found the mistake
    except Exception as other_error:
        raise Violation("build", f"{type(other_error).__name__}: {other_error}") from other_error
    roots = [variables[i] for i in program.inputs]
    errors = {
        name: _error(name, [*roots, inputs[-1]], outputs, [*program.values(), value])
        for name in BACKENDS
    }
    first = errors[BACKENDS[0]]
    what = f"{step.symbolic} of {variables[position].type} and {value!r}"
    if not first.startswith(f"{error.__name__}: "):
        raise Violation(
            "mistake", f"{what}: {BACKENDS[0]} says {first!r}, a {error.__name__} is due"
        )
    for name, text in errors.items():
        if text != first:
            raise Violation("mistake", f"{what}: {BACKENDS[0]} says {first!r}, {name} {text!r}")


def _error(name: str, inputs: list[Any], outputs: list[Any], values: list[Any]) -> str:
    """Return the class of the error that a call raises, and the last line of its message."""
    f = function(inputs, outputs, mode=Mode(name, "strict"), on_unused_input="ignore")
    with np.errstate(all="ignore"):
        try:
            results = f(*values)
        except Exception as error:
            return f"{type(error).__name__}: {str(error).strip().splitlines()[-1]}"
    return f"nothing, and gives {results}"


def _index(x: Array, random: Random) -> Mistake:
    n = len(x)
    return "{0}[{1}]", "{0}[{1}]", int(random.choice([n, n + 3, -n - 1])), IndexError


def _indices(x: Array, random: Random) -> Mistake:
    n = len(x)
    return "{0}[{1}]", "{0}[{1}]", [0, int(random.choice([n, n + 3, -n - 1]))], IndexError


def _take(x: Array, random: Random) -> Mistake:
    return "np.take({0}, {1}, axis=-1)", "ot.take({0}, {1}, axis=-1)", [0, x.shape[-1]], IndexError


def _other_shape(x: Array, length: int) -> Array:
    shape = list(x.shape)
    shape[-1] = length
    return np.ones(shape, x.dtype)


def _sum(x: Array, random: Random) -> Mistake:
    n = x.shape[-1]
    if n == 1:
        raise Unsuited
    # a length of 1 is wrong, too, since only static lengths of 1 broadcast
    length = int(random.choice([n + 1, 1]))
    return "{0} + {1}", "{0} + {1}", _other_shape(x, length), ValueError


def _written(x: Array, random: Random) -> Mistake:
    return (
        "set_at({0}, ..., {1})",
        "{0}[...].set({1})",
        _other_shape(x, x.shape[-1] + 1),
        ValueError,
    )


def _joined(x: Array, random: Random) -> Mistake:
    if x.ndim < 2:
        raise Unsuited
    text = "concatenate([{0}, {1}], axis=0)"
    return f"np.{text}", f"ot.{text}", _other_shape(x, x.shape[-1] + 1), ValueError


def _product(x: Array, random: Random) -> Mistake:
    if x.dtype == bool:
        raise Unsuited
    return "np.dot({0}, {1})", "ot.dot({0}, {1})", np.ones(x.shape[-1] + 1, x.dtype), ValueError


def _lengths(x: Array, random: Random) -> Mistake:
    return "{0}.reshape(({1},))", "{0}.reshape(({1},))", x.size + 1, ValueError


_MISTAKES: list[Callable[[Array, Random], Mistake]] = [
    _index, _indices, _take, _sum, _sum, _written, _joined, _product, _lengths,
]  # fmt: skip
