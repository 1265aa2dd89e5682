"""Defaults of traits: right for every op that does not declare them, or an error that names op and trait."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import occelo_graph as og
import occelo_graph.tensor as ot
from occelo_graph.ir.traits import FIRST, Traits, trait
from occelo_graph.ops.elemwise import scalar
from occelo_graph.ops.elemwise.declared import check_options, check_traits
from occelo_graph.ops.elemwise.op import elementwise
from occelo_graph.ops.elemwise.scalar import ScalarFunction, ScalarOp, inexact, promoted
from occelo_graph.ops.elemwise.signatures import ScalarTraits
from occelo_graph.ops.reduction_checks import check_reduction
from occelo_graph.ops.reductions import Reduction, reduction_of, reductions

DEFAULTS: dict[type, dict[str, tuple[Any, str]]] = {
    Traits: {
        "pure": (True, "an op computes its outputs from its inputs: that is what an op is; one with effects says so"),
        "commutative": (False, "the order of the inputs is kept"),
        "elementwise": (False, "no rule about elements applies"),
        "arithmetic": (False, "no rule about sums and products applies"),
        "lazy": (False, "all inputs are computed, whether they are needed or not"),
        "outputs_are_results": (False, "derivatives are those of the pullback"),
        "loops": (False, "there is no inner graph to look into"),
        "no_derivative": ("", "integers that decide outputs have derivative 0, as other integers"),
        "identity_at_runtime": (False, "compiled graphs keep it"),
        "observes": (False, "an op without effects need not be kept or ordered"),
        "view_map": ({}, "results that share memory with an input nevertheless are copied when they are computed"),
        "destroy_map": ({}, "an op that overwrites an input changes what others read, so it must say so; DebugMode finds it"),
        "default_output": (None, "a call returns all outputs"),
        "plain_nodes": (True, "the types follow from infer; a class with a make_node of its own has False"),
        "types_follow_values": (False, "types depend on types alone"),
        "moves": (None, "the op may compute anything"),
        "by_parts": (None, "complex numbers go to the NumPy code"),
        "gufunc_signature": (None, "lengths of results are found from the results"),
        "of_shapes": (False, "elements may matter"),
        "reads_once": (False, "inputs are stored, however often they are read"),
    },
    ScalarOp: {
        "commutative": (False, "the order of the inputs is kept"),
        "nout": (1, "evaluate returns one array"),
        "holomorphic": (None, "derivatives for complex numbers raise, see `refused`"),
        "complex_pullback": (None, "derivatives for complex numbers raise, unless it is holomorphic"),
        "linear": (None, "no rule about linear functions applies"),
        "arithmetic": (False, "no rule about sums and products applies"),
        "compares": (False, "a Python integer that does not fit the dtype raises OverflowError"),
        "sign": (None, "results may have any sign"),
        "keeps_sign": ((), "results may have any sign"),
        "monotone": (None, "no rule about order applies"),
        "moves": (None, "results are new elements"),
        "infix": (None, "it is printed as a function"),
        "python_only": (None, "a reason is given for functions that have no loops, and changes nothing"),
        "is_formula": (False, "there is no formula to use"),
        "external_code": (True, "results that are undeclared views are copied"),
        "written_as": (None, "it is printed by its name"),
    },
    Reduction: {
        "identity": (None, "`start` raises, and a reduction of no elements is an error"),
        "pullback": (None, "`derivative` raises"),
        "pushforward": (None, "`derivative` raises"),
        "running_pullback": (None, "`derivative` raises"),
        "running_pushforward": (None, "`derivative` raises"),
        "accumulates": (False, "the dtype stays, as that of the function"),
        "rounds": (True, "rules keep the order of floats"),
        "idempotent": (False, "repeated elements are not left out"),
        "linear": (False, "sums are not taken out"),
        "repeated": (None, "`of_many` raises, unless it is idempotent"),
        "needs_elements": (False, "no elements are an error only where there is no identity"),
        "names": ({}, "no library has it, so it is computed by the function"),
        "may_be_empty": (False, "there is no identity"),
    },
    og.Op: {
        "itypes": (None, "infer says what the op takes"),
        "otypes": (None, "infer says what the op gives"),
        "knows_integers": (False, "no length is known from it"),
        "has_decompose": (False, "backends have its lowering or call it"),
        "has_connection_pattern": (False, "all its outputs depend on all its inputs"),
        "has_differentiable_form": (False, "its own derivative is taken"),
        "has_infer_shape": (False, "its shape is that of what it computes"),
        "has_pushforward": (False, "tangents go through its pullback, or raise"),
        "external_derivative": (True, "shapes of derivatives are checked when they are computed"),
        "external_code": (True, "results that are undeclared views are copied"),
    },
}  # fmt: skip
"""What is read from a class or instance that declares nothing, and why it is right."""

COMPUTED: dict[type, dict[str, str]] = {
    Traits: {
        "static_inputs": "none: linkers with static shapes find an output's shape from the shapes, or ask for a value and raise",
        "linear_in": "moves, unless the op matters to gradients only",
        "may_fail": "True: nothing that may fail runs needlessly",
        "views": "another name of view_map",
        "destroys": "another name of destroy_map",
        "numbers": "by_parts or moves",
        "of_dtype": "the op itself: it names no dtype",
    },
    ScalarOp: {
        "composed": "None: is_formula is False",
        "computed_in": "None: the inputs are not converted, or this is not known",
        "written": "a call of its name",
    },
    Reduction: {
        "function": "required",
        "title": "required",
        "name": "that of the function",
        "called": "from names",
        "is_exact": "from rounds and the dtype",
        "over": "by the function",
        "running": "by the function",
    },
    og.Op: {
        "computes_as": "the class and the bases whose NumPy code it does not override",
        "props": "None: the op is equal only to itself",
        "as_variable": "the default converter",
        "infer_types": "infer, kept",
        "types_for": "infer, unless types_follow_values",
        "specialized": "the op itself",
        "known_integers": "None: nothing is known",
        "rule_keys": "its classes",
        "make_node": "from infer",
        "converted": "TypeError: calls have no options",
        "regions": "none: lazy is False",
        "operands": "all inputs",
        "chosen": "all regions",
        "perform": "from evaluate or decompose",
        "kernel": "from evaluate or decompose",
        "pull": "pullback",
        "L_op": "pullback",
        "differentiable_form": "none: its own derivative is taken",
        "connection_pattern": "all outputs depend on all inputs: pullback is asked, and says or raises",
        "shapes": "infer_shape, checked",
        "batch": "one element of the batch after the other",
        "do_constant_folding": "pure",
        "prop_names": "the fields, or __props__",
        "named_extensions": "none: it looks nothing up by name",
        "written": "None: printed as a call of its name",
    },
}
"""What follows from others, or asks for nothing."""


class Undeclared(og.Op):
    """An op that declares its type alone."""

    def infer(self, x: Any) -> Any:
        return x


class Silent(og.Op):
    """An op that declares nothing."""


class SilentScalar(ScalarOp):
    """A scalar op that declares nothing."""


def _row() -> Reduction:
    row = ScalarFunction("of_trait_defaults", 2, promoted, lambda x, y: x)
    scalar._table.pop(row.name)
    return Reduction(row, "Silent")


x = ot.dvector("x")


def _on(ask: Callable[[Any, Any], Any]) -> Callable[[], Any]:
    op = Undeclared()
    return lambda: ask(op, op.make_node(x))


REFUSED: dict[type, dict[str, tuple[Callable[[], Any], str]]] = {
    Traits: {},
    og.Op: {
        "infer": (lambda: Silent()(x), "Silent .*infer"),
        "chosen_of": (_on(lambda op, node: op.chosen_of(node, [])), "Undeclared .*chosen_of"),
        "loop": (_on(lambda op, node: op.loop(node)), "Undeclared .*loop"),
        "evaluate": (_on(lambda op, node: og.evaluate(node.outputs[0], {x: [1.0]})), "Undeclared .*evaluate"),
        "decompose": (_on(lambda op, node: op.decompose(x)), "Undeclared .*decompose"),
        "pullback": (_on(lambda op, node: og.grad(node.outputs[0].sum(), x)), "Undeclared .*pullback"),
        "grad": (_on(lambda op, node: op.grad([x], [x])), "Undeclared .*grad"),
        "pushforward": (_on(lambda op, node: op.pushforward([x], [x], [x])), "Undeclared .*pushforward"),
        "R_op": (_on(lambda op, node: op.R_op([x], [x])), "Undeclared .*R_op"),
        "infer_shape": (_on(lambda op, node: op.infer_shape(node, [(1,)])), "Undeclared .*infer_shape"),
        "inplace_on_inputs": (_on(lambda op, node: op.inplace_on_inputs([0])), "Undeclared .*inplace_on_inputs"),
    },
    ScalarOp: {
        "nin": (lambda: SilentScalar().nin, "SilentScalar .*nin"),
        "name": (lambda: SilentScalar().name, "SilentScalar.*name"),
        "output_dtypes": (lambda: SilentScalar().output_dtypes(["bool"]), "SilentScalar .*output_dtypes"),
        "evaluate": (lambda: SilentScalar().evaluate(1), "SilentScalar .*evaluate"),
        "derivatives": (lambda: SilentScalar().derivatives(1), "SilentScalar .*derivatives"),
    },
    Reduction: {
        "start": (lambda: _row().start("float64"), "of_trait_defaults .*identity"),
        "partial": (lambda: _row().partial(0), "of_trait_defaults .*partials"),
        "derivative": (lambda: _row().derivative("running_pullback"), "of_trait_defaults .*running_pullback"),
        "of_many": (lambda: _row().of_many(x, 3), "of_trait_defaults .*repeated"),
    },
}  # fmt: skip
"""What has no default that is right for every op."""

SILENT: dict[type, Callable[[], Any]] = {
    Traits: Undeclared,
    og.Op: Undeclared,
    ScalarOp: SilentScalar,
    Reduction: _row,
}
PAIRS = [(kind, name) for kind in SILENT for name in DEFAULTS[kind]]
REFUSALS = [(kind, name) for kind in SILENT for name in REFUSED[kind]]


def _traits(kind: type) -> set[str]:
    names = {*vars(kind), *inspect.get_annotations(kind)}
    if kind is Reduction:
        names |= set(kind.__dataclass_fields__)
    return {n for n in names if not n.startswith("_")}


@pytest.mark.parametrize("kind", SILENT, ids=lambda k: k.__name__)
def test_every_trait_says_what_its_default_means(kind: type) -> None:
    listed = [*DEFAULTS[kind], *COMPUTED[kind], *REFUSED[kind]]
    assert len(set(listed)) == len(listed)
    assert set(listed) == _traits(kind), "a trait is new: is its default right for every op?"


@pytest.mark.parametrize(("kind", "name"), PAIRS, ids=lambda v: getattr(v, "__name__", v))
def test_defaults_are_those_that_are_listed(kind: type, name: str) -> None:
    expected, why = DEFAULTS[kind][name]
    found = getattr(SILENT[kind](), name)
    assert found == expected
    assert type(found) is type(expected)
    assert why


@pytest.mark.parametrize(("kind", "name"), REFUSALS, ids=lambda v: getattr(v, "__name__", v))
def test_what_has_no_default_raises_and_names_the_op_and_the_trait(kind: type, name: str) -> None:
    ask, message = REFUSED[kind][name]
    with pytest.raises((NotImplementedError, AttributeError), match=message):
        ask()


def test_a_trait_that_is_new_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Traits, "new_trait", True, raising=False)
    with pytest.raises(AssertionError, match="new_trait"):
        test_every_trait_says_what_its_default_means(Traits)


def _declare(name: str, nin: int, function: Any, rule: Any = inexact, **options: Any) -> Any:
    return elementwise(name, nin, rule, function, **options)


LIES: list[tuple[str, Any, Any, int, Any]] = [
    ("monotone", "increasing", lambda x: -x, 1, inexact),
    ("monotone", "decreasing", lambda x: x * x, 1, inexact),
    ("sign", "nonnegative", lambda x: x - 5, 1, inexact),
    ("sign", "unsigned", lambda x: np.abs(x) * -0.0, 1, inexact),
    ("keeps_sign", ("nonnegative",), lambda x: x - 5, 1, inexact),
    ("linear", "all", lambda x: x * x, 1, inexact),
    ("linear", "first", lambda x: x + 1, 1, inexact),
    ("commutative", True, lambda x, y: x - y, 2, inexact),
    ("moves", FIRST, lambda x: x + 1, 1, inexact),
    ("holomorphic", True, lambda x: np.conj(x) * 1.0, 1, promoted),
]
MEANINGLESS: list[tuple[str, Any]] = [
    ("monotone", "up"),
    ("monotone", True),
    ("sign", "positive"),
    ("keeps_sign", "nonnegative"),
    ("keeps_sign", ("positive",)),
    ("linear", True),
    ("holomorphic", "yes"),
    ("moves", 0),
    ("commutative", "no"),
    ("infix", "+"),
    ("partials", [None, None]),
    ("complex_pullback", [None, None]),
    ("partials", None),
    ("partials", np.exp),
    ("partials", ["exp"]),
    ("complex_pullback", np.exp),
]


@pytest.mark.parametrize(("trait", "value", "function", "nin", "rule"), LIES)
def test_traits_that_the_code_contradicts_are_refused(
    trait: str, value: Any, function: Any, nin: int, rule: Any
) -> None:
    with pytest.raises(ValueError, match=f"lie declares {trait}=.* its NumPy code contradicts"):
        _declare("lie", nin, function, rule, **{trait: value})
    _declare("lie", nin, function, rule)  # the name is free


@pytest.mark.parametrize(("option", "value"), MEANINGLESS)
def test_options_that_mean_nothing_are_refused(option: str, value: Any) -> None:
    with pytest.raises((TypeError, ValueError), match="odd"):
        _declare("odd", 1, np.exp, **{option: value})


def test_code_that_overwrites_its_argument_is_refused() -> None:
    def careless(x: Any, y: Any) -> Any:
        y += x
        return y

    with pytest.raises(ValueError, match="The NumPy code of careless overwrites its argument 1"):
        _declare("careless", 2, careless)


NO_REDUCTIONS: list[tuple[str, Any, dict[str, Any]]] = [
    ("associative", lambda x, y: x + 2 * y, {}),
    ("commutative", lambda x, y: x + 0 * y, {}),
    ("identity 1", lambda x, y: x + y, {"identity": 1}),
    ("identity -1", np.bitwise_or, {"identity": -1}),
    ("idempotent", lambda x, y: x * y, {"idempotent": True}),
    ("linear", lambda x, y: x * y, {"linear": True}),
]


@pytest.mark.parametrize(("what", "code", "options"), NO_REDUCTIONS)
def test_reductions_that_the_code_contradicts_are_refused(
    what: str, code: Any, options: dict[str, Any]
) -> None:
    function = _declare("reduces_not", 2, code, promoted)
    with pytest.raises(ValueError, match=f"reduction reduces_not declares .*{what}.* contradicts"):
        ot.register_reduction(function, **options)
    with pytest.raises(og.errors.MethodNotDefined, match="no reduction 'reduces_not'"):
        reduction_of("reduces_not")


def test_our_own_reductions_hold_on_the_same_numbers() -> None:
    for reduction in reductions().values():
        check_reduction(reduction)


NO_TRAITS: list[tuple[str, Any]] = [
    ("moves", 0),
    ("moves", [0]),
    ("by_parts", True),
    ("view_map", {0: 0}),
    ("view_map", [0]),
    ("destroy_map", {0: ["x"]}),
    ("destroy_map", {True: [0]}),
    ("commutative", "yes"),
    ("of_shapes", None),
    ("gufunc_signature", ("n",)),
    ("linear_in", (FIRST,)),
    ("infer_shape", [(3,)]),
]


@pytest.mark.parametrize(("name", "value"), NO_TRAITS)
def test_traits_of_a_class_that_mean_nothing_are_refused(name: str, value: Any) -> None:
    with pytest.raises(TypeError, match=f"{name} of Odd must be .*, got"):
        type("Odd", (og.Op,), {name: value, "__module__": __name__})


def test_an_op_that_observes_has_effects() -> None:
    with pytest.raises(TypeError, match="pure of Odd must be False, since it observes"):
        type("Odd", (og.Op,), {"observes": True, "__module__": __name__})
    type("Fine", (og.Op,), {"observes": True, "pure": False, "__module__": __name__})


def test_traits_of_a_class_may_be_properties() -> None:
    class Fine(og.Op):
        moves = trait(lambda self: FIRST)
        view_map = {0: (0,)}
        linear_in = staticmethod(lambda node: (FIRST,))

    assert Fine().moves == FIRST


def test_the_traits_of_our_own_functions_hold_on_the_same_numbers() -> None:
    for name, scalar_op in ScalarFunction.table().items():
        if scalar_op.place is None:
            options = {each: getattr(scalar_op, each) for each in ScalarTraits.__annotations__}
            check_options(name, scalar_op.nin, scalar_op.partials, options)
            check_traits(name, scalar_op.nin, scalar_op.rule, scalar_op.function, options)
