"""`DebugMode`: it finds nine planted faults and raises no false alarm."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, ClassVar

import numpy as np
import pytest

import occelo_compile as oc
import occelo_graph as og
from occelo_compile.debugging.debug_mode import DebugMode
from occelo_compile.debugging.errors import (
    BadDestroyMap,
    BadOptimization,
    BadThunkOutput,
    BadViewMap,
    DebugModeError,
    InvalidValueError,
    OutputGuardError,
    StochasticOrder,
)
from occelo_graph import tensor as ot
from occelo_graph.config import config
from occelo_graph.examples.example import Example
from occelo_graph.ops.elemwise.op import Elemwise
from occelo_graph.tensors.type import TensorType
from occelo_rewrite import canonicalize_db, graph_rewriter, node_rewriter, optdb
from occelo_rewrite.inplace import elemwise_variants
from occelo_testing.examples import EXAMPLES
from occelo_testing.loop_programs import lower_as_doubling

LINKERS = ["native", "vm", "py"]
STEP = 1 if os.environ.get("HYPOTHESIS_PROFILE") == "thorough" else 12


@pytest.fixture(params=LINKERS)
def linker(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


class Doubling(og.Op):
    """2 x, and whatever a test makes it do wrong."""

    __props__: ClassVar[tuple[str, ...]] = ()

    def infer(self, x: Any) -> Any:
        return x

    def evaluate(self, x: Any) -> Any:
        return 2.0 * x


def compiled(op: og.Op, linker: str, **options: Any) -> Any:
    x = ot.dmatrix("x")
    # the sum keeps the op's result from being an output, which would be copied
    return oc.function([x], op(x) + 1.0, mode=DebugMode(linker=linker, **options))


VALUE = np.array([[1.0, 2.0], [3.0, 4.0]])


@contextmanager
def registered(db: Any, name: str, rewriter: Any, **options: Any) -> Iterator[None]:
    """Have a rewriter in the pipeline for a while."""
    db.register(name, rewriter, "fast_run", **options)
    try:
        yield
    finally:
        db.remove(name)


def test_what_is_right_passes(linker: str) -> None:
    np.testing.assert_array_equal(compiled(Doubling(), linker)(VALUE), 2 * VALUE + 1)


# nine planted faults


def test_a_wrong_rewrite_is_found_and_named(linker: str) -> None:
    @node_rewriter([Elemwise])
    def wrong_rule(fgraph: Any, node: Any) -> Any:
        if str(node.op) == "sin":
            return [ot.cos(node.inputs[0])]
        return None

    x = ot.dvector("x")
    with registered(canonicalize_db, "wrong_rule", wrong_rule):
        f = oc.function([x], ot.exp(ot.sin(x)), mode=DebugMode(linker=linker))
        with pytest.raises(BadOptimization) as caught:
            f([1.0, 2.0])
    text = str(caught.value)
    assert text.endswith("wrong_rule gives another value on the inputs of this call")
    assert "sin" in text
    assert "absolute difference: largest 1.33" in text
    assert __file__ in text


def test_a_rewrite_to_what_cannot_be_computed_is_found(linker: str) -> None:
    @node_rewriter([Elemwise])
    def reaching_too_far(fgraph: Any, node: Any) -> Any:
        if str(node.op) == "sin":
            return [ot.cos(node.inputs[0]) * ot.specify_shape(node.inputs[0], (7,))[0]]
        return None

    x = ot.dvector("x")
    with registered(canonicalize_db, "reaching_too_far", reaching_too_far):
        f = oc.function([x], ot.exp(ot.sin(x)), mode=DebugMode(linker=linker))
        with pytest.raises(BadOptimization, match="reaching_too_far gives another value") as caught:
            f([1.0, 2.0])
    assert "ValueError: The shape is (2,), but (7,) was specified" in str(caught.value)


def test_an_undeclared_view_is_found(linker: str) -> None:
    class View(Doubling):
        def evaluate(self, x: Any) -> Any:
            return x[:]

    with pytest.raises(BadViewMap, match="output 0 of View shares memory with input 0"):
        compiled(View(), linker)(VALUE)


def test_an_undeclared_change_of_an_input_is_found(linker: str) -> None:
    class Destroyer(Doubling):
        def evaluate(self, x: Any) -> Any:
            result = 2.0 * x
            x[...] = 0.0
            return result

    mine = VALUE.copy()
    with pytest.raises(BadDestroyMap, match="Destroyer changed its input 0"):
        compiled(Destroyer(), linker)(mine)
    np.testing.assert_array_equal(mine, VALUE)


def test_a_wrong_dtype_is_found(linker: str) -> None:
    class Single(Doubling):
        def evaluate(self, x: Any) -> Any:
            return np.float32(2.0) * x.astype("float32")

    with pytest.raises(InvalidValueError, match=r"is float32 \(2, 2\), and its type is float64"):
        compiled(Single(), linker)(VALUE)


def test_other_strides_are_found(linker: str) -> None:
    class Turned(Doubling):
        def evaluate(self, x: Any) -> Any:
            return np.asfortranarray(2.0 * x)

    lower_as_doubling(Turned)
    assert compiled(Turned(), linker)(VALUE)[0, 0] == 3.0
    with pytest.warns(UserWarning, match=r"strides \(8, 16\) in Python, \(16, 8\)"):
        compiled(Turned(), linker, require_matching_strides=1)(VALUE)
    with pytest.raises(BadThunkOutput, match=r"strides \(8, 16\) in Python, \(16, 8\)"):
        compiled(Turned(), linker, require_matching_strides=2)(VALUE)


def test_rewriting_that_depends_on_more_than_the_graph_is_found(linker: str) -> None:
    count = iter(range(1000))

    @node_rewriter([Elemwise])
    def moody(fgraph: Any, node: Any) -> Any:
        if str(node.op) == "sin" and next(count) % 3 == 2:
            return [ot.cos(node.inputs[0] - np.pi / 2)]
        return None

    x = ot.dvector("x")
    with (
        registered(canonicalize_db, "moody", moody),
        pytest.raises(StochasticOrder, match="depends on more than the graph"),
    ):
        oc.function([x], ot.sin(x), mode=DebugMode(linker=linker))


def test_a_value_that_is_not_finite_is_found(linker: str) -> None:
    x = ot.dvector("x")
    f = oc.function([x], ot.log(x).sum(), mode=DebugMode(linker=linker))
    assert f([1.0, 1.0]) == 0.0
    with pytest.raises(InvalidValueError, match=r"log.out .* is not finite") as caught:
        f([1.0, -1.0])
    assert __file__ in str(caught.value)
    loose = oc.function([x], ot.log(x).sum(), mode=DebugMode(linker=linker, check_isfinite=False))
    assert np.isnan(loose([-1.0]))
    # what is not finite from the start is the user's
    assert np.isinf(f([np.inf]))


def test_an_output_that_is_overwritten_is_found() -> None:
    @graph_rewriter
    def careless(fgraph: Any) -> None:
        for node in list(fgraph.apply_nodes):
            if str(node.op) == "sin":
                made = dict(elemwise_variants(node))[0](*node.inputs)
                fgraph.replace(node.outputs[0], made, reason="careless")

    x = ot.dvector("x")
    y = ot.exp(x)
    with registered(optdb, "careless", careless, position=200):
        mode = DebugMode(linker="vm").excluding("fusion", "inplace")
        f = oc.function([x], [y, ot.sin(y)], mode=mode)
        with pytest.raises((OutputGuardError, BadDestroyMap), match="overwritten"):
            f([1.0, 2.0])


def test_compiled_code_that_disagrees_is_found(linker: str) -> None:
    class Tripled(Doubling):
        def evaluate(self, x: Any) -> Any:
            return 3.0 * x

    lower_as_doubling(Tripled)
    with pytest.raises(BadThunkOutput, match="Tripled differs between Python and native") as caught:
        compiled(Tripled(), linker)(VALUE)
    assert "relative difference: largest 0.333" in str(caught.value)


# more of the same kinds


def test_layouts_of_inputs_and_cells_are_tried() -> None:
    class NeedsOrder(Doubling):
        def evaluate(self, x: Any) -> Any:
            return 2.0 * x if x.flags.c_contiguous else 3.0 * x

    assert compiled(NeedsOrder(), "py")(VALUE)[0, 0] == 3.0
    with pytest.raises(BadThunkOutput, match="is different with f_contiguous inputs"):
        compiled(NeedsOrder(), "py", check_preallocated_output="f_contiguous")(VALUE)

    class Adds(og.Op):
        """Adds to whatever lies in the cell."""

        __props__: ClassVar[tuple[str, ...]] = ()

        def make_node(self, x: Any) -> Any:
            return og.Apply(self, [x], [x.type()])

        def perform(self, node: Any, inputs: Sequence[Any], output_storage: Any) -> None:
            old = output_storage[0][0]
            output_storage[0][0] = 2.0 * inputs[0] + (0.0 if old is None else old)

    assert compiled(Adds(), "py")(VALUE)[0, 0] == 3.0
    with pytest.raises(BadThunkOutput, match="is different with previous output cells"):
        compiled(Adds(), "py", check_preallocated_output="initial:previous")(VALUE)
    with pytest.raises(ValueError, match="There is no layout 'odd'"):
        DebugMode(check_preallocated_output="odd")


def test_in_place_ops_that_make_new_arrays_are_told() -> None:
    class Forgetful(Doubling):
        destroy_map = {0: [0]}

    x = ot.dmatrix("x")
    f = oc.function(
        [oc.In(x, mutable=True)], Forgetful()(x), mode=DebugMode(linker="py"), accept_inplace=True
    )
    with pytest.warns(UserWarning, match="says that it overwrites its input 0"):
        f(VALUE.copy())


def test_two_outputs_that_share_memory_are_found() -> None:
    class Twice(og.Op):
        __props__: ClassVar[tuple[str, ...]] = ()

        def infer(self, x: Any) -> Any:
            return x, x

        def evaluate(self, x: Any) -> Any:
            result = 2.0 * x
            return result, result

    x = ot.dmatrix("x")
    a, b = Twice()(x)
    f = oc.function([x], a + b, mode=DebugMode(linker="py"))
    with pytest.raises(BadViewMap, match="outputs 0 and 1 of Twice share memory"):
        f(VALUE)


def test_an_in_place_op_at_the_wrong_time_is_found() -> None:
    @graph_rewriter
    def careless(fgraph: Any) -> None:
        for node in list(fgraph.apply_nodes):
            if str(node.op) == "sin":
                made = dict(elemwise_variants(node))[0](*node.inputs)
                fgraph.replace(node.outputs[0], made, reason="careless")

    x = ot.dvector("x")
    with registered(optdb, "careless", careless, position=200):
        mode = DebugMode(linker="vm").excluding("fusion", "inplace")
        f = oc.function([x], ot.sin(x), mode=mode)
        with pytest.raises(BadDestroyMap, match="overwritten, and it is not mutable"):
            f([1.0, 2.0])


def test_errors_of_the_users_pass_through(linker: str) -> None:
    x, y = ot.dvectors("x", "y")
    f = oc.function([x, y], ot.exp(x) * y, mode=DebugMode(linker=linker))
    with pytest.raises(ValueError, match="dimension mismatch"):
        f([1.0, 2.0], [1.0, 2.0, 3.0])
    assert f([0.0], [2.0]) == [2.0]


def test_lazy_branches_are_not_computed(linker: str) -> None:
    from occelo_graph.ops.control import Assert, ifelse

    c, x = ot.bscalar("c"), ot.dscalar("x")
    bad = Assert("never")(x, ot.eq(x, 100.0))
    f = oc.function([c, x], ifelse(c, x * 2.0, bad), mode=DebugMode(linker=linker))
    assert f(1, 3.0) == 6.0
    with pytest.raises(AssertionError, match="never"):
        f(0, 3.0)


def test_updates_are_done_once_and_not_after_a_fault(linker: str) -> None:
    total = oc.shared(1.0, "total")
    x = ot.dscalar("x")
    f = oc.function([x], ot.log(x), updates={total: total * 2}, mode=DebugMode(linker=linker))
    f(1.0)
    assert total.get_value() == 2.0
    with pytest.raises(InvalidValueError):
        f(-1.0)
    assert total.get_value() == 2.0


def test_the_options_and_the_name() -> None:
    with config.change_flags(
        DebugMode__patience=1, DebugMode__check_c=False, DebugMode__check_finite=False
    ):
        mode = oc.get_mode("debugmode")
        assert isinstance(mode, DebugMode)
        assert (mode.stability_patience, mode.check_c_code, mode.check_isfinite) == (
            1,
            False,
            False,
        )
    with pytest.warns(DeprecationWarning, match="now called DebugMode"):
        assert isinstance(oc.get_mode("DEBUG_MODE"), DebugMode)
    assert issubclass(BadOptimization, DebugModeError)
    assert issubclass(DebugModeError, og.OcceloError)
    x = ot.dscalar("x")
    assert oc.function([x], x + 1, mode="DebugMode").maker.mode.name == "DebugMode"


def _symbolic(example: Example) -> list[Any]:
    kinds = [
        TensorType(a.dtype.name, [1 if n == 1 else None for n in a.shape])
        for a in example.arguments
    ]
    return [kind.make_variable() for kind in kinds]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("example", EXAMPLES[::STEP], ids=str)
def test_no_example_is_a_false_alarm(example: Example, linker: str) -> None:
    arguments = _symbolic(example)
    output = example.function(*arguments)
    outputs = output if isinstance(output, list | tuple) else [output]
    mode = DebugMode(linker=linker, stability_patience=2, check_preallocated_output="ALL")
    f = oc.function(arguments, outputs, mode=mode, on_unused_input="ignore")
    expected = og.evaluate(list(outputs), dict(zip(arguments, example.arguments, strict=True)))
    finite = all(np.isfinite(np.asarray(v, dtype=complex)).all() for v in expected)
    try:
        found = f(*example.arguments)
    except InvalidValueError as error:
        # that a logarithm of 0 is infinite is no false alarm
        if finite or "is not finite" not in str(error):
            raise
        return
    for a, b in zip(found, expected, strict=True):
        narrow = b.dtype.itemsize < 8 or b.dtype == np.complex64
        np.testing.assert_allclose(a, b, rtol=1e-4 if narrow else 1e-9, atol=1e-12)
