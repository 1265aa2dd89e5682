"""Ops without their lowerings, computed by their decompositions, and the switch for that."""

from __future__ import annotations

import importlib
import os
import pkgutil
from typing import Any

import numpy as np
import pytest

import occelo_graph as og
from occelo_graph import Op, TensorType, op
from occelo_graph import tensor as ot
from occelo_graph.config import config
from occelo_graph.errors import MethodNotDefined
from occelo_graph.ops.elemwise.op import Elemwise
from occelo_graph.ops.elemwise.scalar import ScalarFunction
from occelo_graph.ops.reduce import Softmax
from occelo_link import lowers_to_loops, make_linker, without_lowering
from occelo_link.capabilities import supports
from occelo_link.withheld_lowerings import withheld
from occelo_testing.examples import EXAMPLES, SCALAR_FUNCTIONS
from occelo_testing.loop_programs import agree_by_decompositions, decomposed_ops, has_compiler

FAMILIES = sorted({e.family for e in EXAMPLES})
STEPS = {} if os.environ.get("HYPOTHESIS_PROFILE") == "thorough" else {"random": 20, "linalg": 4}
"""Of families whose examples are large graphs, one in so many; of others all."""
THOROUGH = os.environ.get("HYPOTHESIS_PROFILE") == "thorough"


@pytest.fixture(autouse=True)
def own_directory(tmp_path_factory: pytest.TempPathFactory) -> Any:
    with config.change_flags(compiledir=str(tmp_path_factory.mktemp("compiled"))):
        yield


def call(linker: str, inputs: list[Any], outputs: list[Any], *arrays: Any) -> list[Any]:
    vm, containers, results = (
        make_linker(linker).accept(og.FunctionGraph(inputs, outputs)).make_thunk()
    )
    for container, array in zip(containers, arrays, strict=True):
        container.value = array
    vm()
    return [r.value for r in results]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("linker", ["py", "vm", "native"])
def test_every_example_by_what_its_ops_consist_of(linker: str) -> None:
    found = (agree_by_decompositions(linker, f, step=STEPS.get(f, 1)) for f in FAMILIES)
    assert sum(found) > (250 if STEPS else 300)


def test_no_op_with_a_decomposition_is_missing_in_the_examples() -> None:
    for module in pkgutil.walk_packages(og.__path__, "occelo_graph."):  # some are imported late
        importlib.import_module(module.name)
    found = set[Any]().union(*map(decomposed_ops, FAMILIES))

    def classes(base: type[Any]) -> set[type[Any]]:
        return {c for s in base.__subclasses__() for c in (s, *classes(s))}

    own = {c for c in classes(Op) if c.__module__.startswith("occelo_graph.")}
    own = {c for c in own if "testing" not in c.__module__ and c.decompose is not Op.decompose}
    bases = {b for c in own for b in c.__mro__[1:]}  # of which no node is
    assert own - bases - {Elemwise} <= found
    formulas = {n for n in SCALAR_FUNCTIONS if ScalarFunction(n).is_formula}
    assert len(formulas) > 20
    assert formulas <= {each.scalar_op.name for each in found if isinstance(each, Elemwise)}


@pytest.mark.measured(0)
@pytest.mark.skipif(not has_compiler(), reason="there is no C compiler on this machine")
@pytest.mark.parametrize("linker", ["c", "c|py"])
def test_c_runs_ops_by_what_they_consist_of(linker: str) -> None:
    # gcc takes 20 s for all of them as one program, and minutes for a program for each node
    families = FAMILIES if linker == "c" or THOROUGH else ["control", "reduce"]
    every = 1 if THOROUGH else 3 if linker == "c" else 1
    # values are compared, and with its first optimizations gcc takes half the time
    with config.change_flags(gcc__cxxflags="" if THOROUGH else "-O1"):
        found = sum(
            agree_by_decompositions(linker, f, THOROUGH, step=every * STEPS.get(f, 1))
            for f in families
        )
    assert found > (300 if THOROUGH else 20 if linker == "c" else 5)


@op
class Twice(Op):
    """2 x, which its lowering takes for 3 x, and its NumPy code for 5 x."""

    def infer(self, x: TensorType) -> TensorType:
        return x

    def evaluate(self, x: Any) -> Any:
        return 5 * x

    def decompose(self, x: Any) -> Any:
        return [x + x]


@lowers_to_loops(Twice)
def thrice(context: Any, node: Any, inputs: Any) -> Any:
    def element(builder: Any, index: Any) -> Any:
        return builder.op("mul", inputs[0].at(builder, index), builder.const(3.0, "float64"))

    return [context.virtual("float64", inputs[0].shape, element, inputs)]


@pytest.mark.parametrize("linker", ["py", "vm", "native", "c|py"])
def test_without_its_lowering_an_op_runs_by_what_it_consists_of(linker: str) -> None:
    if linker == "c|py" and not has_compiler():
        pytest.skip("there is no C compiler on this machine")
    x, data = ot.dvector("x"), np.arange(3.0)
    own = 5 if linker in ("py", "vm") else 3
    assert call(linker, [x], [Twice()(x)], data)[0].tolist() == (own * data).tolist()
    with without_lowering(Twice):
        assert call(linker, [x], [Twice()(x)], data)[0].tolist() == (2 * data).tolist()
        with without_lowering(Softmax, ot.sigmoid):  # beside what is turned off already
            assert call(linker, [x], [Twice()(x)], data)[0].tolist() == (2 * data).tolist()
    assert call(linker, [x], [Twice()(x)], data)[0].tolist() == (own * data).tolist()


def test_a_scalar_function_runs_by_its_formula_or_in_python() -> None:
    x = ot.dvector("x")
    with without_lowering(ot.sigmoid, ot.exp.scalar_op):
        assert str(withheld()) == "exp, sigmoid"
        assert [lack.op for lack in supports("native", [ot.tanh(x), ot.exp(x)])] == ["exp"]
        # of which the exponential is a part
        assert [lack.op for lack in supports("native", ot.sigmoid(x))] == ["sigmoid"]
        found = call("native", [x], [ot.sigmoid(x)], np.array([0.0, -800.0, 800.0]))
        assert found[0].tolist() == [0.5, 0.0, 1.0]
    assert not supports("native", ot.sigmoid(x))


@pytest.mark.parametrize("wrong", [3, "Softmax", int, np.exp])
def test_lowerings_are_of_classes_of_ops_and_of_elementwise_functions(wrong: Any) -> None:
    with pytest.raises(TypeError, match="Lowerings are of classes of ops"), without_lowering(wrong):
        pass
    assert not withheld()


@op
class OnlyAName(Op):
    """Has a type, and nothing that says what it computes."""

    def infer(self, x: TensorType) -> TensorType:
        return x


class NotForVectors(OnlyAName):
    """Says of vectors that it is no expression of other ops."""

    def decompose(self, x: Any) -> Any:
        return None if x.ndim == 1 else [x + 1]


@pytest.mark.parametrize("cls", [OnlyAName, NotForVectors])
@pytest.mark.parametrize("linker", ["py", "vm", "native"])
def test_an_op_that_nothing_computes_raises_and_names_itself(cls: Any, linker: str) -> None:
    x = ot.dvector("x")
    assert linker in ("py", "vm") or [k.op for k in supports(linker, cls()(x))] == [cls.__name__]
    with pytest.raises(
        MethodNotDefined, match=rf"{cls.__name__} has neither evaluate nor decompose"
    ):
        call(linker, [x], [cls()(x)], np.arange(3.0))


def test_an_op_may_consist_of_others_for_some_types_only() -> None:
    x = ot.dmatrix("x")
    for linker in ("vm", "native"):
        assert call(linker, [x], [NotForVectors()(x)], np.zeros((1, 2)))[0].tolist() == [[1.0, 1.0]]
