"""The laws for random programs: correct programs satisfy them, and each law finds its kind of fault."""

from __future__ import annotations

import numpy as np
import pytest

from occelo_testing.programs.program import Input, Program, Step
from occelo_testing.random_programs.judging import Fault, judged, smallest
from occelo_testing.random_programs.laws import LAWS

OTHERS = [
    law for law in LAWS if law not in ("value", "c", "c|py", "numba", "jax", "pytorch", "native")
]


def product() -> Program:
    """x0 * x1 of a matrix and a row, and the sum of that."""
    nodes = (
        Input("float64", (2, 3), np.arange(6.0).reshape(2, 3)),
        Input("float64", (3,), np.array([1.0, -2.0, 0.5])),
        Step("product", (0, 1), "{0} * {1}", "{0} * {1}", "result", True),
        Step("sum", (2,), "np.sum({0})", "ot.sum({0})", "inside", True),
    )
    return Program(nodes, (2, 3), 7)


@pytest.mark.parametrize("law", ["value", *OTHERS])
def test_a_right_program_keeps_the_law(law: str) -> None:
    assert judged(product(), law, "vm") in ("kept", "unsuited")


@pytest.mark.parametrize(
    "law", [law for law in OTHERS if law not in ("only shapes", "state", "mistake")]
)
def test_a_wrong_rule_breaks_the_law(law: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the symbolic text computes differs from NumPy's text by one step."""
    wrong = product()
    step = Step("product", (0, 1), "{0} * {1}", "{0} * {1} * 1.001", "result", True)
    wrong = Program((*wrong.nodes[:2], step, wrong.nodes[3]), wrong.outputs, 7)
    fault = judged(wrong, law, "vm")
    assert isinstance(fault, Fault)
    assert fault.kind == "value"
    small = smallest(fault)
    assert len(small.program.nodes) <= 3
    assert "oc.function([" in small.text()


def test_wrong_shapes_and_dtypes_are_found() -> None:
    x = Input("float64", (2, 3), np.ones((2, 3)))
    for text in ("{0}.sum(axis=1)", "{0}.astype('float32').sum(axis=0)"):
        program = Program((x, Step("sum", (0,), "{0}.sum(axis=0)", text)), (1,), 0)
        fault = judged(program, "value", "vm")
        assert isinstance(fault, Fault)
        assert fault.kind == "type"
