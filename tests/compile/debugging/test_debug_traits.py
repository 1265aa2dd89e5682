"""DebugMode finds each trait that an op declares and does not have, and no op of ours that lacks one."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
import pytest

import occelo_compile as oc
import occelo_graph as og
from occelo_compile.debugging.debug_mode import DebugMode
from occelo_compile.debugging.errors import BadDestroyMap, BadTrait, DebugModeError
from occelo_compile.debugging.trait_checks import check_traits
from occelo_graph import tensor as ot
from occelo_graph.ir.traits import EVERY, FIRST
from occelo_graph.ir.traversal import toposort
from occelo_graph.ops.elemwise import scalar
from occelo_graph.ops.elemwise.op import Elemwise
from occelo_graph.ops.elemwise.scalar import ScalarFunction, inexact, promoted
from occelo_graph.tensors.type import TensorType
from occelo_testing.examples import EXAMPLES

STEP = 1 if os.environ.get("HYPOTHESIS_PROFILE") == "thorough" else 4
VALUE = np.array([3.0, -1.0, 2.0])


class Plain(og.Op):
    """An op on vectors that computes something; each subclass declares something else of it."""

    __props__: ClassVar[tuple[str, ...]] = ()

    def infer(self, *types: Any) -> Any:
        return types[0]


class Squares(Plain):
    def evaluate(self, *arrays: Any) -> Any:
        return arrays[0] ** 2


class Sorts(Plain):
    def evaluate(self, x: Any) -> Any:
        return np.sort(x)


class Ends(Plain):
    def infer(self, x: Any) -> Any:
        return TensorType(x.dtype, (None,))

    def evaluate(self, x: Any) -> Any:
        return x[1:].copy()


class LiesMoves(Squares):
    moves = FIRST


class LiesPlaces(Sorts):
    moves = FIRST


class LiesLinear(Squares):
    def linear_in(self, node: Any) -> Sequence[slice]:
        return (FIRST,)


class LiesAffine(Plain):
    def evaluate(self, x: Any) -> Any:
        return x + 1

    def linear_in(self, node: Any) -> Sequence[slice]:
        return (FIRST,)


class LiesEven(Plain):
    def evaluate(self, x: Any) -> Any:
        return abs(x)

    def linear_in(self, node: Any) -> Sequence[slice]:
        return (FIRST,)


class LiesJointly(Plain):
    def evaluate(self, x: Any, y: Any) -> Any:
        return x * y

    def linear_in(self, node: Any) -> Sequence[slice]:
        return (EVERY,)


class LiesByParts(Squares):
    by_parts = FIRST


class LiesOfShapes(Squares):
    of_shapes = True


class LiesLengths(Ends):
    def infer_shape(self, node: Any, input_shapes: Any) -> Any:
        return [input_shapes[0]]


class LiesVariableLengths(Ends):
    def infer_shape(self, node: Any, input_shapes: Any) -> Any:
        return [(node.inputs[0].shape[0] + 1,)]


class LiesSignature(Ends):
    gufunc_signature = "(n)->(n)"


class LiesInputs(Ends):
    gufunc_signature = "(n),(n)->(n)"


class LiesCommutative(Plain):
    commutative = True

    def evaluate(self, x: Any, y: Any) -> Any:
        return x - y


class LiesPure(Plain):
    calls: ClassVar[list[int]] = []

    def evaluate(self, x: Any) -> Any:
        self.calls.append(0)
        return x + len(self.calls)


class LiesIdentity(Squares):
    identity_at_runtime = True


class LiesObserves(Squares):
    observes = True
    pure = False
    view_map = {0: [0]}


class LiesTypes(Squares):
    types_follow_values = True

    def specialized(self, inputs: Any) -> Any:
        return Sorts(), inputs


class LiesPlainNodes(Squares):
    plain_nodes = True

    def make_node(self, *inputs: Any) -> Any:
        return og.Apply(self, list(inputs), [inputs[0].type()])

    def infer(self, *types: Any) -> Any:
        return TensorType("float32", (None,))


class LiesDecompose(Squares):
    def decompose(self, *inputs: Any) -> Any:
        return [inputs[0] * 3.0]


LIES = [
    (LiesMoves, "moves", "output 0 has the element 9.0, which these inputs do not have"),
    (LiesPlaces, "moves", r"for the negatives of its elements output 0 is \[-3. -2. 1.\]"),
    (LiesLinear, "linear_in", r"for inputs 0 times -2 output 0 is \[36."),
    (LiesAffine, "linear_in", r"for inputs 0 times -2 output 0 is \[-5."),
    (LiesEven, "linear_in", r"for inputs 0 times -2 output 0 is \[6. 2. 4.\], not \[-6. -2. -4.\]"),
    (LiesJointly, "linear_in", "for inputs 0, 1 times -2 output 0 is"),
    (LiesOfShapes, "of_shapes", r"for zeros of the same shapes output 0 is \[0. 0. 0.\]"),
    (LiesLengths, "infer_shape", r"for inputs of shape \(3,\) it gives \(3,\) .* has shape \(2,\)"),
    (LiesVariableLengths, "infer_shape", r"it gives \(4,\) for output 0, which has shape \(2,\)"),
    (LiesSignature, "gufunc_signature", r"output 0 has shape \(2,\)"),
    (LiesInputs, "gufunc_signature", "there are 1 inputs"),
    (LiesCommutative, "commutative", "with the inputs in reverse output 0 is"),
    (LiesPure, "pure", "on the same inputs again output 0 is"),
    (LiesIdentity, "identity_at_runtime", r"output 0 is \[9. 1. 4.\], and input 0 \[ 3. -1. 2.\]"),
    (LiesObserves, "observes", r"output 0 is \[9. 1. 4.\], and input 0"),
    (LiesTypes, "types_follow_values", "Sorts, to which it specializes, differs: output 0 is"),
    (LiesPlainNodes, "plain_nodes", "output 0 is of type .*float64.* and infer gives .*float32"),
    (LiesDecompose, "decompose", r"by it output 0 is \[ 9. -3. 6.\], not \[9. 1. 4.\]"),
]


def _run(op: og.Op, count: int = 1, value: Any = VALUE) -> Any:
    xs = [TensorType(value.dtype.name, (None,)).make_variable() for _ in range(count)]
    out = op(*xs) * 2.0
    return oc.function(xs, out, mode=DebugMode(linker="py", stability_patience=1))(
        *[value + k for k in range(count)]
    )


@pytest.mark.parametrize(("cls", "trait", "what"), LIES)
def test_an_op_without_the_trait_that_it_declares_is_found(cls: Any, trait: str, what: str) -> None:
    count = 2 if cls in (LiesJointly, LiesCommutative) else 1
    with pytest.raises(
        BadTrait, match=f"(?s){cls.__name__} declares {trait}, and .*{what}"
    ) as caught:
        _run(cls(), count)
    assert issubclass(BadTrait, DebugModeError)
    assert __file__ in str(caught.value)


def test_complex_numbers_that_are_not_computed_by_parts_are_found() -> None:
    _run(LiesByParts())  # real numbers are as they should be
    with pytest.raises(BadTrait, match=r"LiesByParts declares by_parts, .* for the real parts"):
        _run(LiesByParts(), value=VALUE * (1 + 2j))


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex128"])
def test_rounding_where_terms_cancel_is_no_lie(dtype: str) -> None:
    x, y = ot.vector(dtype=dtype), ot.vector(dtype=dtype)
    given = (1e3 * np.random.default_rng(5).normal(size=50)).astype(dtype)
    near = np.nextafter(given.real, 0).astype(dtype)
    for difference in (x - y, (x - y) @ y, ot.stack([x, -y]).sum(axis=0)):
        oc.function([x, y], difference, mode="DebugMode")(given, near)


def _function(code: Any, nin: int = 1, rule: Any = inexact, **options: Any) -> Elemwise:
    """A function that is not checked when it is defined."""
    made = ScalarFunction("lie_of_debug_mode", nin, rule, code, (), **options)
    scalar._table.pop(made.name)
    return Elemwise(made)


FUNCTIONS: list[tuple[str, Any, Any, str]] = [
    ("sign", "nonnegative", lambda x: x - 5.0, "sign='nonnegative', and the result has -2.0"),
    ("keeps_sign", ("nonnegative",), lambda x: x - 5.0, "nonnegative.*, and the result has -2.0"),
    ("monotone", "increasing", lambda x: x * x - 4.0 * x, r"results are .* for \[1. 2. 3.\]"),
    ("linear", "all", lambda x: x * x, "linear_in"),
    ("moves", FIRST, lambda x: x + 1.0, "moves, and output 0 has the element 4.0"),
]


@pytest.mark.parametrize(("trait", "value", "code", "what"), FUNCTIONS)
def test_a_function_without_the_trait_that_it_declares_is_found(
    trait: str, value: Any, code: Any, what: str
) -> None:
    op = _function(code, **{trait: value})
    with pytest.raises(BadTrait, match=f"lie_of_debug_mode declares .*{what}"):
        _run(op, value=abs(VALUE))


def test_a_function_that_is_not_holomorphic_is_found() -> None:
    op = _function(lambda z: z * abs(z), rule=promoted, holomorphic=True)
    with pytest.raises(BadTrait, match="holomorphic, and is not at"):
        _run(op, value=VALUE * (1 + 2j))


def _doubled_in_place(x: Any) -> Any:
    x *= 2.0
    return x.copy()


class Overwrites(Plain):
    def evaluate(self, x: Any) -> Any:
        return _doubled_in_place(x)


class OverwritesCell(Plain):
    def perform(self, node: Any, inputs: Any, output_storage: Any) -> None:
        output_storage[0][0] = _doubled_in_place(inputs[0])


@pytest.mark.parametrize(
    "op", [Overwrites(), OverwritesCell(), _function(_doubled_in_place)], ids=str
)
def test_code_that_overwrites_its_argument_is_found(op: og.Op) -> None:
    with pytest.raises(BadDestroyMap, match=f"{op} changed its input 0"):
        _run(op)
    np.testing.assert_array_equal(VALUE, [3.0, -1.0, 2.0])


@pytest.mark.parametrize("special", [np.nan, np.inf, -0.0])
def test_special_numbers_without_dimensions_are_no_lie(special: float) -> None:
    x, c = ot.dvector("x"), ot.tensor(dtype="complex128", shape=(None,))
    outputs = [x[0], x.sum(), ot.ones(()) * x[1], c[0], c.sum(), c[0].real]
    f = oc.function([x, c], outputs, mode=DebugMode(linker="py", stability_patience=1))
    given = np.array([special, 1.0])
    found = f(given, given * (1 + 1j))
    np.testing.assert_array_equal(found[0], special)
    np.testing.assert_array_equal(found[2], 1.0)


def test_our_own_ops_have_their_traits() -> None:
    """On the values of the examples, node by node."""
    count = 0
    for example in EXAMPLES[::STEP]:
        arguments = [
            TensorType(a.dtype.name, [1 if n == 1 else None for n in a.shape]).make_variable()
            for a in example.arguments
        ]
        output = example.function(*arguments)
        values: dict[Any, Any] = dict(zip(arguments, example.arguments, strict=True))
        with np.errstate(all="ignore"):
            for node in toposort(output if isinstance(output, list | tuple) else [output]):
                given = [v.data if isinstance(v, og.Constant) else values[v] for v in node.inputs]
                copies = [a.copy("K") if isinstance(a, np.ndarray) else a for a in given]
                results = node.op.kernel(node)(*copies)
                assert check_traits(node, given, results) is None
                values.update(zip(node.outputs, results, strict=True))
                count += 1
    assert count > len(EXAMPLES[::STEP])
