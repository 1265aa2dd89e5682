"""The documented behaviour of modes, sentence by sentence."""

from __future__ import annotations

import importlib.util
import warnings
from typing import Any

import numpy as np
import pytest

import occelo_compile as oc
from occelo_compile.debugging.debug_mode import DebugMaker
from occelo_graph import tensor as ot
from occelo_graph.config import config
from occelo_link import Linker, VMLinker, available_linkers, register_linker, registry
from occelo_link.native.linker import NativeLinker
from occelo_rewrite import (
    GraphRewriter,
    RewriteDatabaseQuery,
    graph_rewriter,
    in2out,
    node_rewriter,
    optdb,
    register_optimizer,
    rewrite_graph,
)
from occelo_rewrite.fusion.composite import Composite


def ops(function: Any) -> set[str]:
    return {str(n.op) for n in function.maker.fgraph.apply_nodes}


def test_mode_controls_how_the_graph_becomes_a_callable() -> None:
    x = ot.dvector("x")
    fast = oc.function([x], ot.log(1 + x) * 2 + 1, mode=oc.Mode("vm", "fast_run"))
    plain = oc.function([x], ot.log(1 + x) * 2 + 1, mode=oc.Mode("vm", None))
    assert ops(fast) != ops(plain)
    np.testing.assert_allclose(fast([1.0]), plain([1.0]))


def test_fast_compile_applies_just_a_few_rewrites_and_only_python_implementations() -> None:
    x = ot.dvector("x")
    mode = oc.get_mode("FAST_COMPILE")
    assert isinstance(mode.linker, VMLinker)
    f = oc.function([x], ot.exp(x) * 2 + ot.sin(x), mode=mode)
    assert not any(
        isinstance(getattr(n.op, "scalar_op", None), Composite) for n in f.maker.fgraph.apply_nodes
    )
    query = mode.query
    assert isinstance(query, RewriteDatabaseQuery)
    assert "fast_compile" in query.include
    assert "fast_run" not in query.include


def test_fast_run_applies_all_rewrites_and_compiled_code_where_possible() -> None:
    mode = oc.get_mode("FAST_RUN")
    assert isinstance(mode.linker, NativeLinker)
    query = mode.query
    assert isinstance(query, RewriteDatabaseQuery)
    assert "fast_run" in query.include


@pytest.mark.parametrize(
    "name", ["FAST_COMPILE", "FAST_RUN", "DebugMode", "NanGuardMode", "MonitorMode"]
)
def test_modes_by_name_in_any_case(name: str) -> None:
    for spelled in (name, name.lower(), name.upper()):
        assert oc.get_mode(spelled).name == name
    x = ot.dscalar("x")
    assert oc.function([x], x + 1, mode=name.lower())(1.0) == 2.0


def test_debug_mode_by_its_old_name_is_deprecated() -> None:
    with pytest.warns(DeprecationWarning, match="now called DebugMode"):
        assert isinstance(oc.get_mode("DEBUG_MODE"), oc.DebugMode)


@pytest.mark.parametrize(
    ("old", "new"),
    [("FAST_RUN_NOGC", "FAST_RUN"), ("PROFILE_MODE", "FAST_RUN"), ("ProfileMode", "FAST_RUN")],
)
def test_other_old_names_warn_too(old: str, new: str) -> None:
    with pytest.warns(DeprecationWarning, match=f"now called {new}"):
        assert oc.get_mode(old).name == new


def test_the_default_is_the_configured_mode_and_the_argument_overrides_it() -> None:
    x = ot.dscalar("x")
    with config.change_flags(mode="FAST_COMPILE"):
        assert oc.get_default_mode().name == "FAST_COMPILE"
        assert oc.function([x], x + 1).maker.mode.name == "FAST_COMPILE"
        assert oc.function([x], x + 1, mode="FAST_RUN").maker.mode.name == "FAST_RUN"
    with config.change_flags(linker="py", optimizer="None"):
        mode = oc.function([x], x + 1).maker.mode
        assert str(mode.linker) == "py"
        assert mode.provided_optimizer == "None"


def test_every_linker_is_a_mode_too() -> None:
    libraries = {"numba": "numba", "jax": "jax", "pytorch": "torch"}
    for name in available_linkers():
        if name in libraries and importlib.util.find_spec(libraries[name]) is None:
            with pytest.raises(
                ModuleNotFoundError, match=f"pip install 'occelo-link.{libraries[name]}"
            ):
                oc.get_mode(name.upper())
            continue
        mode = oc.get_mode(name.upper())
        assert isinstance(mode.linker, Linker)
        assert type(mode.linker) is type(oc.Mode(name).linker)
    for name in ("cvm", "vm_nogc", "cvm_nogc", "c|py_nogc"):
        assert name in available_linkers()
        assert oc.get_mode(name).linker.allow_gc is (not name.endswith("_nogc"))


def test_optimizer_and_linker_are_the_two_attributes() -> None:
    mode = oc.Mode("vm", "fast_compile")
    assert isinstance(mode.optimizer, GraphRewriter)
    assert isinstance(mode.linker, Linker)
    linker = VMLinker(allow_gc=False)
    assert oc.Mode(linker).linker is linker


@node_rewriter(None)
def sine_to_cosine(fgraph: Any, node: Any) -> Any:
    return [ot.cos(node.inputs[0])] if str(node.op) == "sin" else None


def test_including_excluding_and_requiring_return_new_modes() -> None:
    x = ot.dvector("x")
    optdb.register("sine_to_cosine", in2out(sine_to_cosine), "mine", "other", position=0.5)
    try:
        mode = oc.Mode("vm", "fast_run")
        chosen = mode.including("mine")
        assert chosen is not mode
        assert oc.function([x], ot.sin(x), mode=mode)([0.0]) == [0.0]
        assert oc.function([x], ot.sin(x), mode=chosen)([0.0]) == [1.0]
        assert oc.function([x], ot.sin(x), mode=chosen.excluding("other"))([0.0]) == [0.0]
        strict = oc.Mode("vm", "fast_run").including("mine").requiring("other")
        g = oc.function([x], ot.sin(x) + 0 * x, mode=strict)
        assert g([0.0]) == [1.0]
        assert "mul" in "".join(ops(g))  # nothing else has the tag
    finally:
        optdb.remove("sine_to_cosine")


def test_rewriters_of_the_users_can_be_registered_in_a_mode() -> None:
    x = ot.dvector("x")
    mode = oc.Mode("vm", "fast_run").register((in2out(sine_to_cosine), 0.5))
    assert oc.function([x], ot.sin(x), mode=mode)([0.0]) == [1.0]
    own = oc.Mode("vm", in2out(sine_to_cosine))
    assert oc.function([x], ot.sin(x), mode=own)([0.0]) == [1.0]
    with pytest.raises(TypeError, match="no query to change"):
        own.including("fusion")


def test_including_and_excluding_of_the_configuration_apply_to_every_mode_named_by_string() -> None:
    x = ot.dvector("x")
    optdb.register("sine_to_cosine", in2out(sine_to_cosine), "mine", position=0.5)
    try:
        for name in ("FAST_RUN", "FAST_COMPILE", "vm", "py", "Mode"):
            assert oc.function([x], ot.sin(x), mode=name)([0.0]) == [0.0]
            with config.change_flags(optimizer_including="mine"):
                assert oc.function([x], ot.sin(x), mode=name)([0.0]) == [1.0]
                with config.change_flags(optimizer_excluding="mine:other"):
                    assert oc.function([x], ot.sin(x), mode=name)([0.0]) == [0.0]
    finally:
        optdb.remove("sine_to_cosine")
    with config.change_flags(optimizer_requiring="nothing_has_this"):
        f = oc.function([x], ot.exp(x) * 1.0 + 0.0 * x, mode="vm")
        assert len(f.maker.fgraph.apply_nodes) >= 4


def test_clone_with_another_linker_or_optimizer() -> None:
    mode = oc.Mode("vm", "fast_run")
    copy = mode.clone({"allow_gc": False})
    assert copy.linker.allow_gc is False
    assert mode.linker.allow_gc is True
    assert oc.Mode("vm", "fast_run").clone(optimizer="fast_compile").query != mode.query


def test_names_can_be_registered_for_modes_linkers_and_optimizers() -> None:
    oc.register_mode("my_mode", oc.Mode("vm", "fast_compile"))
    assert str(oc.get_mode("MY_MODE").linker) == "vm"
    register_linker("my_linker", lambda: VMLinker(allow_gc=False))
    assert oc.get_mode("my_linker").linker.allow_gc is False
    register_optimizer("my_optimizer", RewriteDatabaseQuery(["fast_compile"]))
    assert oc.Mode("vm", "my_optimizer").provided_optimizer == "my_optimizer"
    for register, name in (
        (lambda n: oc.register_mode(n, oc.Mode()), "FAST_RUN"),
        (lambda n: oc.register_mode(n, oc.Mode()), "vm"),
        (lambda n: register_linker(n, VMLinker), "vm"),
        (lambda n: register_optimizer(n, RewriteDatabaseQuery()), "fast_run"),
    ):
        with pytest.raises(ValueError, match="already"):
            register(name)


def test_function_maker_may_be_overridden_and_debug_mode_does() -> None:
    made: list[Any] = []

    class Own(oc.Mode):
        def function_maker(self, *args: Any, **options: Any) -> Any:
            made.append(args)
            return super().function_maker(*args, **options)

    x = ot.dscalar("x")
    assert oc.function([x], x + 1, mode=Own("vm"))(1.0) == 2.0
    assert len(made) == 1
    assert isinstance(oc.function([x], x + 1, mode="DebugMode").maker, DebugMaker)


def test_what_no_mode_is() -> None:
    with pytest.raises(ValueError, match=r"There is no mode .FAST_WALK.; there are .*FAST_RUN"):
        oc.get_mode("FAST_WALK")
    with pytest.raises(TypeError, match="A mode is a Mode or the name of one, got 3"):
        oc.get_mode(3)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="There is no optimizer 'fast_walk'"):
        oc.Mode("vm", "fast_walk")
    with pytest.raises(ValueError, match="There is no linker 'walk'"):
        oc.Mode("walk")


def test_linkers_that_see_the_whole_graph_exclude_what_they_do_themselves() -> None:
    for name in ("native", "c"):
        query = oc.get_mode(name).query
        assert isinstance(query, RewriteDatabaseQuery)
        assert {"fusion", "inplace", "BlasOpt"} <= query.exclude


def test_a_rewriter_of_whole_graphs_is_an_optimizer() -> None:
    @graph_rewriter
    def nothing(fgraph: Any) -> None:
        pass

    x = ot.dscalar("x")
    f = oc.function([x], ot.log(1 + x), mode=oc.Mode("vm", nothing))
    assert "log" in ops(f)


def test_the_linker_of_an_entry_point_is_a_mode(monkeypatch: pytest.MonkeyPatch) -> None:
    class Point:
        name = "from_an_entry_point"

        @staticmethod
        def load() -> Any:
            return VMLinker

    monkeypatch.setattr(registry, "_linkers", dict(registry._linkers))
    monkeypatch.setattr(
        "importlib.metadata.entry_points",
        lambda group: [Point] if group == "occelo.backends" else [],
    )
    x = ot.dscalar("x")
    f = oc.function([x], x + 1.0, mode="From_An_Entry_Point")
    assert f(1.0) == 2.0
    assert isinstance(f.maker.mode.linker, VMLinker)


@pytest.mark.parametrize("choose", ["including", "excluding", "requiring"])
def test_a_misspelt_tag_is_a_warning(choose: str) -> None:
    change = getattr(oc.Mode("py", "fast_run"), choose)
    with pytest.warns(UserWarning, match="tag 'canonicalise', .* did you mean 'canonicalize'") as w:
        change("canonicalise")
    assert w[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        change("canonicalize", "a word of another library")
        rewrite_graph(ot.exp(ot.dvector("x")), include=("canonicalize", "fusion"))
    with pytest.warns(UserWarning, match="did you mean 'fusion'"):
        rewrite_graph(ot.exp(ot.dvector("x")), exclude=("fusoin",))
