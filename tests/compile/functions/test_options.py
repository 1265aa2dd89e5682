"""The options of compiling and their effects."""

from __future__ import annotations

import threading
import warnings
from typing import Any

import numpy as np
import pytest

import occelo_compile as oc
from occelo_compile.function_cache import function_key
from occelo_graph import tensor as ot
from occelo_graph.config import ConfigError, config
from occelo_link import VMLinker, options
from occelo_link.c.compiler import CompilerMissing, find_compiler


def test_every_option_is_documented_and_its_default_is_taken() -> None:
    for option in config.options():
        assert option.doc, option.name
        assert option.parse.__doc__, option.name
        assert option.check(option.default, "a test") == option.default


def test_verbosity_of_errors() -> None:
    x = ot.dvector("x")
    f = oc.function([x], ot.exp(x)[3], mode="vm")
    texts: dict[str, str] = {}
    for level in ("low", "medium", "high"):
        with config.change_flags(exception_verbosity=level), pytest.raises(IndexError) as caught:
            f([0.0, 1.0])
        texts[level] = str(caught.value)
    assert "strides" not in texts["low"]
    assert "strides (8,), values [1.0, 2.718281828459045]" in texts["medium"]
    assert "The graph of the node:" in texts["high"]
    assert "└─ x" in texts["high"]
    lasts = {text.splitlines()[-1] for text in texts.values()}
    assert lasts == {"index 3 is out of bounds for axis 0 with size 2"}


def test_rewriting_can_tell_what_it_does(capsys: pytest.CaptureFixture[str]) -> None:
    x = ot.dvector("x")
    with config.change_flags(optimizer_verbose=True, cache=False):
        oc.function([x], ot.log(1 + x), mode="vm")
        told = capsys.readouterr().out
        rule = next(
            line.split(": ")[2].split(" ")[0] for line in told.splitlines() if "log1p" in line
        )
        with config.change_flags(optimizer_verbose_ignore=f"other:{rule}"):
            oc.function([x], ot.log(1 + x), mode="vm")
    assert rule not in capsys.readouterr().out


def test_laziness_of_the_vm_by_option() -> None:
    assert VMLinker().lazy is None
    with config.change_flags(vm__lazy=True):
        assert VMLinker().lazy is True
        assert VMLinker(lazy=False).lazy is False
        x = ot.dvector("x")
        assert oc.function([x], ot.exp(x).sum(), mode="vm")([0.0]) == 1.0


def test_the_c_compiler_by_option() -> None:
    with config.change_flags(cxx=""), pytest.raises(CompilerMissing, match="cxx is empty"):
        find_compiler()
    with (
        config.change_flags(cxx="no-such-compiler"),
        pytest.raises(CompilerMissing, match="option cxx"),
    ):
        find_compiler()


def test_flags_of_blas_are_accepted_with_one_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(options, "_warned", [])
    with pytest.warns(UserWarning, match="blas__ldflags has no effect"):
        config.blas__ldflags = "-lopenblas"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        config.blas__ldflags = "-lmkl"
    del config.blas__ldflags


def test_flags_are_local_to_a_context_and_a_thread() -> None:
    seen: list[Any] = []
    inside, done = threading.Event(), threading.Event()

    def other() -> None:
        inside.wait(5)
        seen.append(config.floatX)
        done.set()

    thread = threading.Thread(target=other)
    thread.start()
    with config.change_flags(floatX="float32"):
        inside.set()
        done.wait(5)
        assert ot.vector().dtype == "float32"
    thread.join()
    assert seen == ["float64"]

    @config.change_flags(floatX="float32")
    def decorated() -> str:
        return str(ot.vector().dtype)

    assert decorated() == "float32"
    assert config.floatX == "float64"


def test_what_has_no_effect_on_results_is_no_part_of_the_key() -> None:
    x = ot.dvector("x")

    def made() -> Any:
        return oc.function([x], (x * 1.015625).sum(), mode="native")

    made()(np.ones(2))
    with config.change_flags(exception_verbosity="high", profiling__n_ops=3, compile__timeout=5):
        assert made().maker.from_cache
    with config.change_flags(allow_gc=False):
        assert not made().maker.from_cache


def test_float64_is_found_by_those_who_want_none(monkeypatch: pytest.MonkeyPatch) -> None:
    x = ot.fvector("x")
    y = ot.dscalar("y")
    narrow, wide = ot.exp(x) * 2, ot.exp(x) * y
    with config.change_flags(warn_float64="raise"):
        oc.function([x], narrow)
        with pytest.raises(TypeError, match="float64 enters the graph with") as caught:
            oc.function([x, y], wide)
    assert __file__ in str(caught.value)
    stops: list[int] = []
    monkeypatch.setattr("pdb.set_trace", lambda: stops.append(1))
    for action in ("warn", "pdb"):
        with (
            config.change_flags(warn_float64=action),
            pytest.warns(UserWarning, match="float64 enters"),
        ):
            oc.function([x], x.astype("float64"))
    assert stops == [1]
    oc.function([x], x.astype("float64"))


def test_the_option_mode_takes_modes_and_names() -> None:
    x = ot.dvector("x")
    y = ot.exp(x).sum()
    mode = oc.Mode("vm", "fast_compile")
    for given in (mode, oc.NanGuardMode(), "FAST_COMPILE", oc.get_mode("vm")):
        with config.change_flags(mode=given):
            chosen = oc.get_default_mode()
            f = oc.function([x], y)
            assert y.eval({x: [0.0, 0.0]}) == 2.0
            assert repr(given) in str(config)
        assert f.maker.mode.linker.fingerprint() == chosen.linker.fingerprint()
        assert type(f.maker.mode) is type(chosen)
        assert f([0.0]) == 1.0
        assert given is chosen or isinstance(given, str)
    assert config.mode == "Mode"
    config.mode = mode
    try:
        found: list[Any] = []
        with config.change_flags(mode="DebugMode"):
            thread = threading.Thread(target=lambda: found.append(oc.function([x], y).maker.mode))
            thread.start()
            thread.join()
            assert type(oc.function([x], y).maker.mode) is oc.DebugMode
        assert found == [mode]
        assert oc.get_default_mode() is mode
    finally:
        del config.mode
    for wrong in (3, None, oc.Mode):
        with pytest.raises(ConfigError, match="The option mode cannot be"):
            config.change_flags(mode=wrong)
        with pytest.raises(ConfigError, match="The option mode cannot be"):
            config.mode = wrong


def test_a_mode_of_no_name_raises_where_it_is_used_first() -> None:
    """Not when it is set, since a mode may be registered after the option names it."""
    x = ot.dscalar("x")
    made = x + 1
    uses: list[Any] = [
        lambda: oc.function([x], made),
        lambda: made.eval({x: 1.0}),
        oc.get_default_mode,
    ]
    config.mode = "NAMED_BEFORE"
    try:
        for use in uses:
            with pytest.raises(
                ValueError, match=r"'NAMED_BEFORE' \(from config.mode, assignment\); .*FAST_RUN"
            ):
                use()
        assert oc.function([x], made, mode="native")(1.0) == 2.0
        with config.change_flags(mode="NAMED_NEVER"):
            for use in uses:
                with pytest.raises(
                    ValueError, match=r"'NAMED_NEVER' \(from config.mode, context\); .*FAST_RUN"
                ):
                    use()
        oc.register_mode("NAMED_BEFORE", oc.Mode("py"))
        assert oc.function([x], made)(1.0) == 2.0
    finally:
        del config.mode


def test_a_mode_has_one_key_in_the_cache_wherever_it_is_given() -> None:
    x = ot.dvector("x")
    mode = oc.Mode("native").excluding("fusion")
    direct = oc.function([x], ot.exp(x).sum(), mode=mode)
    with config.change_flags(mode=mode):
        by_option = oc.function([x], ot.exp(x).sum())
    assert function_key(by_option.maker) == function_key(direct.maker)
