"""Variables, nodes, ops of both protocols, containers and shared variables."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

import occelo_graph as og
from occelo_graph import provenance
from occelo_graph import tensor as ot
from occelo_graph.config import config
from occelo_graph.errors import MethodNotDefined
from occelo_graph.ir.op import frozen_value
from occelo_graph.tensors.type import TensorType


def test_a_name_must_be_a_string() -> None:
    with pytest.raises(TypeError, match="must be a string"):
        ot.dscalar(3)
    x = ot.dscalar("x")
    with pytest.raises(TypeError, match="must be a string"):
        x.name = 3  # type: ignore[assignment]


def test_variables_compare_by_identity_and_ops_and_types_by_value() -> None:
    x, y = ot.dscalar("x"), ot.dscalar("x")
    assert x != y
    assert x.type is y.type
    assert ot.Reshape((2, 3)) == ot.Reshape((2, 3))
    assert ot.Reshape((2, 3)) != ot.Reshape((3, 2))
    assert hash(ot.Reshape((2, 3))) == hash(ot.Reshape((2, 3)))


@pytest.mark.parametrize(
    ("a", "b"), [(1, True), (1, 1.0), (0.0, -0.0), ((1,), [1]), (None, 0), (slice(1), slice(True))]
)
def test_parameters_that_python_calls_equal_are_told_apart(a: Any, b: Any) -> None:
    assert frozen_value(a) != frozen_value(b)


def test_apply_refuses_an_output_that_has_an_owner() -> None:
    x = ot.dscalar("x")
    y = ot.exp(x)
    with pytest.raises(ValueError, match="already is an output"):
        og.Apply(ot.exp, [x], [y])


def test_clone_with_new_inputs_rebuilds_only_for_other_types() -> None:
    x = ot.dvector("x")
    node = ot.exp(x).owner
    assert node is not None
    assert node.clone_with_new_inputs([ot.dvector()]).outputs[0].type is x.type
    narrower = node.clone_with_new_inputs([ot.tensor(dtype="float64", shape=(3,))])
    assert narrower.outputs[0].type.shape == (3,)
    with pytest.raises(TypeError, match="Cannot convert"):
        node.clone_with_new_inputs([ot.fvector()])
    assert (
        node.clone_with_new_inputs([ot.fvector()], strict=False).outputs[0].type.dtype == "float32"
    )


def test_nominal_variables_are_interned() -> None:
    type_ = ot.TensorType("float64", ())
    assert og.NominalVariable(0, type_) is og.NominalVariable(0, type_)
    assert og.NominalVariable(0, type_) is not og.NominalVariable(1, type_)
    assert pickle.loads(pickle.dumps(og.NominalVariable(0, type_))) is og.NominalVariable(0, type_)


def test_constants_are_equal_by_bits() -> None:
    assert ot.constant(np.nan).equals(ot.constant(np.nan))
    assert not ot.constant(0.0).equals(ot.constant(-0.0))
    assert not ot.constant(1).equals(ot.constant(1.0))
    assert not ot.constant([1.0, 2.0]).data.flags.writeable


def test_every_variable_knows_its_source_line() -> None:
    x = ot.dvector("x")
    y = x * 2
    z = og.grad(y.sum(), x)
    for variable in (x, y, z):
        assert variable.source is not None
        assert variable.source.filename == __file__
    assert y.source is not None
    assert y.source.text == "y = x * 2"
    assert y.source.lineno == x.source.lineno + 1  # type: ignore[union-attr]


class Doubled(og.Op):
    """An op of the older protocol."""

    __props__ = ("factor",)

    def __init__(self, factor: int = 2) -> None:
        self.factor = factor

    def make_node(self, *inputs: Any) -> og.Apply:
        x = ot.as_tensor_variable(inputs[0])
        return og.Apply(self, [x], [x.type()])

    def perform(self, node: Any, inputs: Any, output_storage: Any) -> None:
        output_storage[0][0] = inputs[0] * self.factor

    def grad(self, inputs: Any, cotangents: Any) -> Any:
        return [cotangents[0] * self.factor]

    def R_op(self, inputs: Any, tangents: Any) -> Any:
        return [tangents[0] * self.factor]

    def infer_shape(self, fgraph: Any, node: Any, shapes: Any) -> Any:  # type: ignore[override]
        return shapes


def test_an_op_of_the_older_protocol_is_honoured() -> None:
    x = ot.dvector("x")
    y = Doubled(3)(x)
    assert Doubled(3) == Doubled(3) != Doubled(2)
    assert str(Doubled(3)) == "Doubled{factor=3}"
    np.testing.assert_array_equal(og.evaluate(y, {x: [1.0, 2.0]}), [3.0, 6.0])
    og.verify_grad(Doubled(3), [np.ones(3)])
    tangent = og.pushforward(y, x, ot.constant([1.0, 0.0]))
    np.testing.assert_array_equal(og.evaluate(tangent, {x: [1.0, 2.0]}), [3.0, 0.0])
    assert y.owner is not None
    assert y.owner.op.shapes(y.owner, [(5,)]) == [(5,)]


class WithTypes(og.Op):
    __props__ = ()
    itypes = [ot.dvector().type, ot.lscalar().type]
    otypes = [ot.dvector().type]

    def perform(self, node: Any, inputs: Any, output_storage: Any) -> None:
        output_storage[0][0] = inputs[0] + inputs[1]

    def L_op(self, inputs: Any, outputs: Any, cotangents: Any) -> Any:
        return [cotangents[0], og.grad_undefined(self, 1, inputs[1], "it is a count")]


def test_itypes_and_otypes_declare_an_op() -> None:
    x, n = ot.dvector("x"), ot.lscalar("n")
    np.testing.assert_array_equal(og.evaluate(WithTypes()(x, n), {x: [1.0], n: 2}), [3.0])
    with pytest.raises(ValueError, match="takes 2 inputs, got 1"):
        WithTypes()(x)
    with pytest.raises(TypeError, match="input 0: expected float64"):
        WithTypes()(ot.fvector(), n)


def test_an_op_with_neither_protocol_says_what_it_lacks() -> None:
    class Empty(og.Op):
        __props__ = ()

    with pytest.raises(MethodNotDefined, match="neither infer nor make_node"):
        Empty()(ot.dscalar())
    with pytest.raises(TypeError, match="__props__ of Bad must be a tuple of strings"):

        class Bad(og.Op):
            __props__ = "x"  # type: ignore[assignment]

    with pytest.warns(UserWarning, match="c_code, which are ignored"):

        class Native(og.Op):
            def c_code(self) -> str:
                return ""


def test_op_without_props_is_equal_only_to_itself() -> None:
    class Own(og.Op):
        pass

    a, b = Own(), Own()
    assert a != b
    assert a == a


def test_containers_filter_what_is_put_in() -> None:
    box = og.Container(ot.dscalar("x"), [None])
    box.value = 3
    assert box.value.dtype == "float64"
    with pytest.raises(TypeError, match="loses precision"):
        og.Container(ot.lscalar("n"), [None]).value = 1.5
    with pytest.raises(TypeError, match="read-only"):
        og.Container(ot.dscalar("x"), [None], readonly=True).value = 1.0
    with pytest.raises(TypeError, match="Expected an array of dtype float64"):
        og.Container(ot.dscalar("x"), [None], strict=True).value = 1
    with pytest.raises(TypeError, match="one element"):
        og.Container(ot.dscalar("x"), [])


def test_shared_variables_copy_unless_borrowed() -> None:
    start = np.zeros(3)
    own, lent = og.shared(start), og.shared(start, borrow=True)
    start[0] = 7
    assert own.get_value()[0] == 0
    assert lent.get_value()[0] == 7
    own.get_value()[1] = 5
    assert own.get_value()[1] == 0
    own.get_value(borrow=True)[1] = 5
    assert own.get_value()[1] == 5
    assert own.type.shape == (None,)
    assert og.shared(start, shape=(3,)).type.shape == (3,)
    with pytest.raises(TypeError, match="Wrong number of dimensions"):
        own.set_value(np.zeros((2, 2)))
    assert own.get_value()[1] == 5
    with pytest.raises(TypeError, match="symbolic"):
        og.shared(own)


@pytest.mark.parametrize(
    ("value", "dtype"),
    [
        (1, "int64"),
        (1.5, "float64"),
        (True, "bool"),
        (np.float32(2), "float32"),
        (2j, "complex128"),
    ],
)
def test_shared_numbers_have_the_dtypes_of_constants(value: Any, dtype: str) -> None:
    assert og.shared(value).type.dtype == dtype


@pytest.mark.parametrize(
    "value",
    [
        [1.0, 2.0],
        (1, 2, 3),
        [[1, 2], (3, 4)],
        [[[True], [False]]],
        [True, False],
        [1, 2.5],
        [1, 2j],
        [np.float32(1), np.float32(2)],
        [np.arange(3), np.arange(3)],
        [],
        [[], []],
        np.arange(3, dtype="int8"),
        np.float32(2),
        True,
        2,
        2.5,
    ],
    ids=repr,
)
def test_shared_makes_tensors_of_what_numpy_makes_arrays_of(value: Any) -> None:
    made = og.shared(value, "w")
    expected = np.array(value)
    assert made.type == TensorType(expected.dtype, (None,) * expected.ndim)
    np.testing.assert_array_equal(made.get_value(), expected)
    np.testing.assert_array_equal(og.evaluate(made + made), expected + expected)
    made.set_value(made.get_value())
    with config.change_flags(floatX="float32"):
        assert og.shared(value).dtype == ot.constant(value).dtype


def test_shared_lists_that_are_no_arrays() -> None:
    for ragged in ([[1.0], [1.0, 2.0]], [np.zeros(2), np.zeros(3)]):
        with pytest.raises(ValueError, match="inhomogeneous"):
            og.shared(ragged)
    for held in ([ot.dscalar("a"), 1.0], (ot.dvector("a"),)):
        with pytest.raises(TypeError, match=r"needs a value, and .*a.* is symbolic"):
            og.shared(held)
    for kept in ("text", ["a", "b"], [1, "a"], [None], [{}], [object]):
        made = og.shared(kept, "w")
        assert made.get_value() == kept
        with pytest.raises(TypeError, match="Expected a tensor, got w of type Generic"):
            ot.exp(made)


def test_shared_holds_any_object_and_clones_share_the_container() -> None:
    anything = og.shared({"a": [1]})
    anything.get_value()["a"].append(2)
    assert anything.get_value() == {"a": [1]}
    x = og.shared(1.0, "x")
    x.clone().set_value(2.0)
    assert x.get_value() == 2.0
    with og.collect_new_shareds() as made:
        y = og.shared(3.0)
    assert made == [y]


def test_default_update_must_fit() -> None:
    x = og.shared(1.0, "x")
    x.default_update = x + 1
    assert x.default_update is not None
    with pytest.raises(TypeError, match="Cannot convert"):
        x.default_update = ot.fvector()


def test_a_file_becomes_internal_after_it_was_the_users(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(provenance, "_internal_roots", [*provenance._internal_roots])
    namespace: dict[str, Any] = {"ot": ot}
    file = tmp_path / "own" / "helper.py"
    exec(compile("def make(): return ot.dvector()", str(file), "exec"), namespace)
    for _ in range(2):
        source = namespace["make"]().source
        assert source is not None
        assert source.filename == str(file)
    provenance.register_internal(str(tmp_path / "own"))
    for _ in range(2):
        source = namespace["make"]().source
        assert source is not None
        assert source.filename == __file__
