"""Types and ops of users on every linker: inputs, results, messages about mistakes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from occelo_compile import function
from occelo_graph import tensor as ot
from occelo_graph.ir.nodes import Apply
from occelo_graph.ir.op import Op
from occelo_graph.ir.types import Type

pytestmark = pytest.mark.filterwarnings("ignore:.*runs in Python:UserWarning")


class IntervalType(Type):
    """Pairs of numbers; values are tuples, or lists, which can change."""

    __slots__ = ()

    def filter(self, data: Any, strict: bool = False, allow_downcast: bool | None = None) -> Any:
        if isinstance(data, tuple | list) and len(data) == 2:
            return data
        raise TypeError(f"Expected a pair, got {data!r}")


interval = IntervalType()


class Width(Op):
    __props__ = ()

    def make_node(self, *inputs: Any) -> Apply:
        return Apply(self, list(inputs), [ot.dscalar()])

    def perform(self, node: Apply, inputs: Sequence[Any], output_storage: list[list[Any]]) -> None:
        low, high = inputs[0]
        output_storage[0][0] = np.asarray(float(high - low))


class Between(Op):
    __props__ = ()

    def infer(self, low: Any, high: Any) -> Any:
        return interval

    def evaluate(self, low: Any, high: Any) -> Any:
        return float(low), float(high)


class Clipped(Op):
    """A vector limited to an interval."""

    __props__ = ()

    def infer(self, x: Any, limits: Any) -> Any:
        return x

    def evaluate(self, x: Any, limits: Any) -> Any:
        return np.clip(x, *limits)

    def infer_shape(self, node: Apply, input_shapes: Sequence[Any]) -> Sequence[Any]:
        return [input_shapes[0]]


def test_values_of_an_own_type_come_in(mode: str) -> None:
    i, x, v = interval("i"), ot.dscalar("x"), ot.dvector("v")
    f = function([i, x, v], [Width()(i) * x, Clipped()(v, i) + 1.0], mode=mode)
    for limits, factor in (((1.0, 3.0), 2.0), ((0.0, 3.0), 2.0), ((1.0, 3.0), 5.0)):
        width, clipped = f(limits, factor, [-5.0, 2.0, 7.0])
        assert width == (limits[1] - limits[0]) * factor
        np.testing.assert_array_equal(clipped, np.clip([-5.0, 2.0, 7.0], *limits) + 1)
    changing = [0.0, 1.0]
    assert f(changing, 2.0, [0.0])[0] == 2.0
    changing[1] = 4.0
    assert f(changing, 2.0, [0.0])[0] == 8.0


def test_values_of_an_own_type_come_out(mode: str) -> None:
    x, y = ot.dscalars("x", "y")
    made = Between()(x, y * 2.0)
    f = function([x, y], [made, x + y, Width()(made)], mode=mode)
    assert f(1.0, 3.0) == [(1.0, 6.0), 4.0, 5.0]
    assert f(0.0, 3.0) == [(0.0, 6.0), 3.0, 6.0]
    assert function([x, y], made, mode=mode)(1.0, 2.0) == (1.0, 4.0)
    i = interval("i")
    assert function([i], i, mode=mode)((1.0, 2.0)) == (1.0, 2.0)


class Giving(Op):
    """Whatever a test says."""

    def __init__(self, what: Any, outputs: int = 1) -> None:
        self.what = what
        self.outputs = outputs

    def infer(self, x: Any) -> Any:
        return (x,) * self.outputs

    def evaluate(self, x: Any) -> Any:
        return self.what(x)

    def __str__(self) -> str:
        return "Giving"


WRONG: list[tuple[Any, int, type[Exception], str]] = [
    (lambda x: (x, x), 1, ValueError, "Giving must give 1 result, and gave 2"),
    (lambda x: (), 1, ValueError, "Giving must give 1 result, and gave 0"),
    (lambda x: x, 2, ValueError, "Giving must give 2 results, one for each output"),
    (lambda x: (x,), 2, ValueError, "Giving must give 2 results, .* and gave 1"),
    (lambda x: (x, x, x), 2, ValueError, "Giving must give 2 results, .* and gave 3"),
    (lambda x: None, 1, TypeError, "got None"),
    (lambda x: x.sum(), 1, TypeError, "expected 1, got 0"),
    (lambda x: x[None], 1, TypeError, "expected 1, got 2"),
    (lambda x: x + 1j, 1, TypeError, "complex"),
    (lambda x: x.astype("float32"), 1, TypeError, "is float32"),
    (lambda x: (x, None), 2, TypeError, "got None"),
]


@pytest.mark.parametrize("linker", ["native", "vm"])
@pytest.mark.parametrize(("what", "outputs", "error", "message"), WRONG)
def test_wrong_results_of_an_own_op(
    what: Any, outputs: int, error: type[Exception], message: str, linker: str
) -> None:
    refused(what, outputs, error, message, linker)


@pytest.mark.parametrize(("what", "outputs", "error", "message"), [WRONG[i] for i in (0, 2, 5)])
def test_wrong_results_are_told_alike_everywhere(
    what: Any, outputs: int, error: type[Exception], message: str, mode: str
) -> None:
    refused(what, outputs, error, message, mode)


def refused(what: Any, outputs: int, error: type[Exception], message: str, mode: str) -> None:
    x = ot.dvector("x")
    made = Giving(what, outputs)(x)
    f = function([x], ot.exp(made[0] if outputs > 1 else made), mode=mode)
    with pytest.raises(error, match=message) as raised:
        f([1.0, 2.0])
    assert "Giving" in str(raised.value)
    assert __file__ in str(raised.value)


@pytest.mark.parametrize(
    "what", [lambda x: (2 * x,), lambda x: [2 * x], lambda x: (2 * x).tolist()]
)
def test_one_result_may_come_in_a_sequence(what: Any, mode: str) -> None:
    x = ot.dvector("x")
    f = function([x], Giving(what)(x) + 1.0, mode=mode)
    np.testing.assert_array_equal(f([1.0, 2.0]), [3.0, 5.0])
    g = function([x], Giving(lambda x: [x, 2 * x], 2)(x)[1], mode=mode)
    np.testing.assert_array_equal(g([1.0, 2.0]), [2.0, 4.0])
