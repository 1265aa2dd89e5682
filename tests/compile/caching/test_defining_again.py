"""Definitions that are executed twice, as by a notebook cell that runs again."""

from __future__ import annotations

import io
import sys
import types
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import occelo_compile as oc
import occelo_graph as og
import occelo_graph.tensor as ot
import occelo_rewrite as rw
from occelo_link import lowers_scalar_to_loops, supports
from occelo_link.traced.registry import find_lowering

CELL = """
from occelo_graph import elementwise, promoted
ours = elementwise("{name}", 2, promoted, lambda x, y: {formula}, [lambda ct, x, y, out: ct, None])
"""
BACKENDS = ("py", "vm", "native")


def cell(code: str, module: str) -> Any:
    """What a cell of a notebook, or the code of a module, defines; each cell has a file of its own."""
    if module not in sys.modules:
        sys.modules[module] = types.ModuleType(module)
    scope: dict[str, Any] = {"__name__": module}
    exec(compile(code, f"<cell {len(code)}>" if module == "__main__" else module, "exec"), scope)
    return scope


def called(function: Any, backend: str) -> Any:
    x, y = ot.dvectors("x", "y")
    return oc.function([x, y], function(x, y), mode=oc.Mode(backend, "fast_run"))


@pytest.mark.parametrize("module", ["__main__", "users_package.functions"])
@pytest.mark.parametrize("backend", BACKENDS)
def test_a_cell_may_run_again(backend: str, module: str) -> None:
    name = f"again_{backend}_{module.partition('.')[0]}"
    a, b = np.array([1.0, -2.0]), np.array([0.5, 4.0])
    first = cell(CELL.format(name=name, formula="x + 2 * y"), module)["ours"]
    f = called(first, backend)
    np.testing.assert_array_equal(f(a, b), a + 2 * b)
    graph = first(ot.dvector(), 2.0)
    second = cell(CELL.format(name=name, formula="x - 3 * y"), module)["ours"]
    np.testing.assert_array_equal(called(second, backend)(a, b), a - 3 * b)
    # what was compiled before, and graphs that were made before, are what they were
    np.testing.assert_array_equal(f(a, b), a + 2 * b)
    np.testing.assert_array_equal(called(first, backend)(a, b), a + 2 * b)
    np.testing.assert_array_equal(og.evaluate(graph, {graph.owner.inputs[0]: a}), a + 4)
    assert first != second


def test_formulas_of_what_was_are_not_those_of_what_is() -> None:
    a, b = np.array([1.0, -2.0]), np.array([0.5, 4.0])
    first = cell(CELL.format(name="again_lowered", formula="x + 2 * y"), "__main__")["ours"]

    @lowers_scalar_to_loops("again_lowered")
    def lowering(builder: Any, dtype: str, args: Any) -> Any:
        x, y = (builder.cast(v, dtype) for v in args)
        return builder.op("add", x, builder.op("add", y, y))

    x, y = ot.dvectors("x", "y")
    assert not supports("native", first(x, y))
    second = cell(CELL.format(name="again_lowered", formula="x - 3 * y"), "__main__")["ours"]
    assert supports("native", second(x, y))
    np.testing.assert_array_equal(called(second, "native")(a, b), a - 3 * b)
    lowers_scalar_to_loops("again_lowered")(
        lambda b, dtype, args: b.op("sub", b.cast(args[0], dtype), b.cast(args[1], dtype))
    )
    assert not supports("native", second(x, y))


def test_reductions_may_be_defined_again() -> None:
    code = CELL + "total = register_reduction(ours, 0.0)\n"
    code = code.replace("promoted\n", "promoted, register_reduction\n", 1)
    a = np.array([1.0, -2.0, 0.5])
    first = cell(code.format(name="again_reduced", formula="x + y"), "__main__")["total"]
    x = ot.dvector("x")
    f = oc.function([x], [first(x), first.running(x)], mode=oc.Mode("vm", "fast_run"))
    second = cell(code.format(name="again_reduced", formula="x + y + x * y"), "__main__")["total"]
    g = oc.function([x], [second(x), second.running(x)], mode=oc.Mode("vm", "fast_run"))
    for function, expected in ((f, np.cumsum(a)), (g, np.cumprod(1 + a) - 1)):
        total, running = function(a)
        np.testing.assert_allclose(total, expected[-1])
        np.testing.assert_allclose(running, expected)
    again = "from occelo_graph import register_reduction\nregister_reduction('again_reduced', 0.0)"
    cell(again, "__main__")
    with pytest.raises(ValueError, match="There is a reduction 'again_reduced' already"):
        cell(again, "another_package")


@pytest.mark.parametrize("start", ["-1e6", "-1e9", "lambda dtype: -1e7"])
def test_another_identity_is_another_function(start: str) -> None:
    """All are identities as far as anyone can see who tries some numbers, and the keys must tell them apart."""
    code = """
from occelo_graph import elementwise, promoted, register_reduction
from occelo_graph.tensor import switch
ours = elementwise("again_identity", 2, promoted, None, formula=lambda x, y: switch(x > y, x, y))
largest = register_reduction(ours, {start}, rounds=False)
"""
    x = ot.dvector("x")
    f = oc.function([x], cell(code.format(start=start), "__main__")["largest"](x))
    assert f([]) == float(start.rpartition(":")[2])
    assert f([2.0, 7.0, -3.0]) == 7.0


def test_another_place_is_refused() -> None:
    cell(CELL.format(name="again_elsewhere", formula="x"), "__main__")
    with pytest.raises(ValueError, match="'again_elsewhere' is registered already by __main__"):
        cell(CELL.format(name="again_elsewhere", formula="x"), "another_package")
    with pytest.raises(ValueError, match="'exp' is registered already"):
        cell(CELL.format(name="exp", formula="x"), "__main__")
    assert og.elementwise is ot.elementwise
    assert og.register_reduction is ot.register_reduction


def in_module(code: str, module: str) -> Any:
    """Run code again in a module, which keeps what it has."""
    if module not in sys.modules:
        sys.modules[module] = types.ModuleType(module)
    exec(compile(code, f"{module}.py", "exec"), vars(sys.modules[module]))
    return sys.modules[module]


RULE = """
import occelo_graph.tensor as ot
from occelo_rewrite import p, node_rewriter, rule, wild, {stage}
a = wild("a")
@{stage}{tag}
@{kind}
def {name}({takes}):
    return {result}
"""
STAGES = {
    "register_canonicalize": rw.canonicalize_db,
    "register_stabilize": rw.stabilize_db,
    "register_specialize": rw.specialize_db,
    "register_uncanonicalize": rw.uncanonicalize_db,
    "register_useless": rw.canonicalize_db,
    "register_infer_shape": rw.canonicalize_db,
}


@pytest.fixture
def rules() -> Iterator[None]:
    before = {db.name: set(db.names()) for db in STAGES.values()}
    yield
    for db in STAGES.values():
        for name in set(db.names()) - before[db.name]:
            db.remove(name)
    assert rw.optdb.is_standard


@pytest.mark.usefixtures("rules")
@pytest.mark.parametrize("module", ["__main__", "users_package.rules"])
@pytest.mark.parametrize("stage", STAGES)
@pytest.mark.parametrize("tag", ["", '("mine")'])
@pytest.mark.parametrize("kind", ["rule(p.cosh(p.tan(a)))", "node_rewriter([ot.cosh])"])
def test_a_rule_may_be_defined_again(module: str, stage: str, tag: str, kind: str) -> None:
    of_pattern = kind.startswith("rule")
    shared = {
        "stage": stage,
        "tag": tag,
        "kind": kind,
        "takes": "a" if of_pattern else "fgraph, node",
    }

    def code(result: str, name: str = "again_of_cosh") -> str:
        made = result if of_pattern else f"[{result.replace('(a)', '(node.inputs[0])')}]"
        return RULE.format(name=name, result=made, **shared)

    db = STAGES[stage]
    cell(code("ot.arctan(a)"), module)
    position, generation = db.position("again_of_cosh"), db.generation
    cell(code("ot.arcsinh(a)"), module)
    assert db.position("again_of_cosh") == position
    assert (
        db.generation > generation
    )  # so that what was compiled before is not taken for what is now
    x = ot.dvector("x")
    found = oc.function([x], ot.cosh(ot.tan(x)), mode=oc.Mode("vm", "fast_run"))
    values = np.array([0.5, -1.0])
    expected = np.arcsinh(values if of_pattern else np.tan(values))
    np.testing.assert_allclose(found(values), expected)
    with pytest.raises(
        ValueError, match=f"already has a rewrite named 'again_of_cosh', .* by {module}"
    ):
        cell(code("ot.arctan(a)"), "another_package")
    np.testing.assert_allclose(found(values), expected)


@pytest.mark.usefixtures("rules")
@pytest.mark.parametrize("module", ["__main__", "users_package.rules"])
def test_a_rule_that_is_defined_again_in_another_stage_leaves_the_first(module: str) -> None:
    def code(stage: str, result: str) -> str:
        return RULE.format(
            name="again_elsewhere_of_cosh",
            result=result,
            stage=stage,
            tag="",
            kind="rule(p.cosh(p.tan(a)))",
            takes="a",
        )

    x = ot.dvector("x")
    held = (rw.canonicalize_db, rw.stabilize_db, rw.specialize_db)
    cell(code("register_canonicalize", "ot.arctan(a)"), module)
    for stage in ("register_specialize", "register_stabilize", "register_canonicalize"):
        cell(code(stage, "ot.arcsinh(a)"), module)
        assert [db for db in held if "again_elsewhere_of_cosh" in db] == [STAGES[stage]]
        found = oc.function([x], ot.cosh(ot.tan(x)), mode=oc.Mode("vm", "fast_run"))
        np.testing.assert_allclose(found([0.5]), np.arcsinh([0.5]))
    cell(
        code("register_specialize", "ot.arctan(a)"), "another_package"
    )  # which has a rule of its own
    assert "again_elsewhere_of_cosh" in rw.canonicalize_db


@pytest.mark.usefixtures("rules")
def test_a_rule_of_two_stages_may_be_defined_again() -> None:
    both = """
from occelo_rewrite import node_rewriter, register_canonicalize, register_specialize
import occelo_graph.tensor as ot
@register_canonicalize
@register_specialize
@node_rewriter([ot.cosh])
def again_twice(fgraph, node):
    return None
@register_canonicalize
@node_rewriter([ot.cosh])
def again_after(fgraph, node):
    return None
"""
    for _ in range(2):
        cell(both, "__main__")
        stages = rw.canonicalize_db, rw.specialize_db
        assert all("again_twice" in db for db in stages)
        assert rw.canonicalize_db["again_twice"] is rw.specialize_db["again_twice"]
        assert rw.canonicalize_db.position("again_twice") < rw.canonicalize_db.position(
            "again_after"
        )


@pytest.mark.usefixtures("rules")
def test_rules_of_one_name_that_are_different_are_refused() -> None:
    made = """
from occelo_rewrite import node_rewriter, register_canonicalize
def first(fgraph, node): ...
def second(fgraph, node): ...
register_canonicalize(node_rewriter(name="again_named")({}))
"""
    cell(made.format("first"), "__main__")
    cell(made.format("first"), "__main__")
    with pytest.raises(ValueError, match="already has a rewrite named 'again_named'"):
        cell(made.format("second"), "__main__")
    standard = rw.canonicalize_db.names()[0]
    with pytest.raises(ValueError, match=f"already has a rewrite named '{standard}'"):
        rw.canonicalize_db.register(standard, rw.node_rewriter(name=standard)(lambda f, n: False))


def test_stages_that_are_registered_again_have_the_kind_that_they_have_now() -> None:
    db = rw.EquilibriumDB("again")
    rewriter = rw.in2out(rw.node_rewriter(name="nothing")(lambda f, n: False))
    db.register("last", rewriter, "t", final_rewriter=True)
    assert len(db.query("+t").final_rewriters) == 1
    db.register("last", rewriter, "t")
    assert not db.query("+t").final_rewriters


OP = """
import numpy as np
from occelo_graph import Op, op
from occelo_link import lowers_to_loops, traces
@op
class Scaled(Op):
    def infer(self, x):
        return x
    def evaluate(self, x):
        return x * {factor}
"""
LOWERED = """
@lowers_to_loops(Scaled)
def scaled_in_loops(context, node, inputs):
    (x,) = inputs
    def element(builder, index):
        return builder.op("mul", builder.const({factor}.0, x.dtype), x.at(builder, index))
    return [context.virtual(x.dtype, x.shape, element, [x])]
@traces(Scaled)
def scaled_arrays(tracer, node, inputs):
    return [tracer.arrays.apply("mul", {factor}.0, inputs[0])]
"""


def test_an_op_and_its_lowerings_may_be_defined_again() -> None:
    x, a = ot.dvector("x"), np.array([1.0, -2.0])
    module = in_module((OP + LOWERED).format(factor=2), "users_package.ops")
    first = module.Scaled()(x)
    f = oc.function([x], first, mode=oc.Mode("native"))
    in_module((OP + LOWERED).format(factor=3), "users_package.ops")
    second = module.Scaled()(x)
    assert not supports("native", second)
    assert find_lowering(second.owner) is not None
    # a graph of the earlier class keeps its NumPy code, and does not take the loops of another text of that name
    assert [str(lack.op) for lack in supports("native", first)] == ["Scaled"]
    assert find_lowering(first.owner) is None
    np.testing.assert_array_equal(oc.function([x], first, mode=oc.Mode("native"))(a), 2 * a)
    np.testing.assert_array_equal(oc.function([x], second, mode=oc.Mode("native"))(a), 3 * a)
    np.testing.assert_array_equal(f(a), 2 * a)
    in_module(LOWERED.format(factor=5), "users_package.ops")  # the loops alone, which are wrong now
    np.testing.assert_array_equal(oc.function([x], second, mode=oc.Mode("native"))(a), 5 * a)


def test_classes_of_one_name_that_live_at_the_same_time_keep_their_loops() -> None:
    made = [cell((OP + LOWERED).format(factor=k), "another_package")["Scaled"] for k in (2, 3)]
    x, a = ot.dvector("x"), np.array([1.0, -2.0])
    for factor, kind in zip((2, 3), made, strict=True):
        assert not supports("native", kind()(x))
        f = oc.function([x], kind()(x), mode=oc.Mode("native"))
        np.testing.assert_array_equal(f(a), factor * a)


NAMES = {
    "mode": "import occelo_compile as oc; oc.register_mode('{name}', oc.Mode('vm', {value!r}))",
    "optimizer": "import occelo_rewrite as rw; rw.register_optimizer('{name}', rw.RewriteDatabaseQuery([{value!r}]))",
    "linker": "import occelo_link as ol; ol.register_linker('{name}', lambda: ol.VMLinker(allow_gc={value!r} == 'fast_run'))",
}


@pytest.mark.parametrize("module", ["__main__", "users_package.names"])
@pytest.mark.parametrize("what", NAMES)
def test_names_of_modes_may_be_given_again(what: str, module: str) -> None:
    name = f"again_{what}_{module.partition('.')[0]}"
    for value in ("fast_run", "fast_compile"):
        cell(NAMES[what].format(name=name, value=value), module)
    if what == "mode":
        assert oc.get_mode(name).provided_optimizer == "fast_compile"
    elif what == "optimizer":
        assert rw.optimizer_query(name).include == {"fast_compile"}
    else:
        assert not oc.get_mode(name).linker.allow_gc
    with pytest.raises(ValueError, match="already"):
        cell(NAMES[what].format(name=name, value="fast_run"), "another_package")


CODER = """
from occelo_graph import Op, op, register_coder
class Unit:
    def __init__(self, name):
        self.name = name
    def __eq__(self, other):
        return type(other) is type(self) and other.name == self.name
    def __hash__(self):
        return hash(self.name)
register_coder(Unit, lambda unit, arrays: [{version}, unit.name], lambda plain, arrays: Unit(plain[1]))
@op
class InUnits(Op):
    unit: Unit
    def infer(self, x):
        return x
    def evaluate(self, x):
        return x * {version}
"""


def test_coders_may_be_registered_again() -> None:
    x = ot.dvector("x")
    digests: list[Any] = []
    for version in (1, 2):
        module = in_module(CODER.format(version=version), "users_package.coders")
        y = module.InUnits(module.Unit("m"))(x)
        stream = io.BytesIO()
        og.save(stream, y, [x])
        stream.seek(0)
        (loaded,) = og.load(stream).outputs
        assert loaded.owner is not None
        assert loaded.owner.op == y.owner.op
        digests.append(og.digest(y, [x]))
    assert digests[0] != digests[1]


def test_converters_may_be_set_again() -> None:
    code = """
from occelo_graph import set_default_converter
from occelo_graph.tensor import as_tensor_variable
def convert(value):
    return as_tensor_variable({factor} * float(value))
set_default_converter(convert)
"""
    try:
        for factor in (2, 3):
            cell(code.format(factor=factor), "__main__")
            made = in_module(OP.format(factor=1), "users_package.converted").Scaled()("7")
            assert og.evaluate(made) == 7 * factor
    finally:
        og.set_default_converter(ot.as_tensor_variable)
