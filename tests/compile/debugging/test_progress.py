"""Progress of long compilations, and `Function.compile_report`."""

from __future__ import annotations

import io
import sys
import threading
import time
from collections.abc import Callable

import pytest

import occelo_compile as oc
from occelo_compile import progress
from occelo_graph import tensor as ot


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def until(stream: io.StringIO, part: str) -> None:
    """Wait until the stream has the text, for at most ten seconds."""
    end = time.monotonic() + 10
    while part not in stream.getvalue() and time.monotonic() < end:
        time.sleep(0.01)
    assert part in stream.getvalue()


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> Callable[[io.StringIO], io.StringIO]:
    monkeypatch.setattr(progress, "PATIENCE", 0.01)
    monkeypatch.delitem(sys.modules, "ipykernel", raising=False)

    def use(stream: io.StringIO) -> io.StringIO:
        monkeypatch.setattr(sys, "stderr", stream)
        return stream

    return use


def test_a_terminal_shows_one_line_that_changes(impatient) -> None:
    stream = impatient(Terminal())
    steps = ["first"]
    with progress.reporting("f", lambda: steps[-1]):
        until(stream, "\rcompiling f: first (")
        steps.append("second")
        until(stream, "\rcompiling f: second (")
    assert stream.getvalue().count("\n") == 1
    assert "\rcompiled f; its compile_report()" in stream.getvalue()
    assert "occelo progress" not in {t.name for t in threading.enumerate()}


def test_a_file_gets_nothing_unless_it_is_asked_for(impatient) -> None:
    stream = impatient(io.StringIO())
    with progress.reporting("f", lambda: "step"):
        time.sleep(0.05)
    assert not stream.getvalue()
    with oc.config.change_flags(compile__progress="always"), progress.reporting("f", lambda: "a"):
        until(stream, "compiling f: a (0 s)\n")
    assert "\r" not in stream.getvalue()


@pytest.mark.parametrize("option", ["never", "auto"])
def test_short_compilations_and_never_are_silent(
    impatient, monkeypatch: pytest.MonkeyPatch, option: str
) -> None:
    stream = impatient(Terminal())
    if option == "auto":
        monkeypatch.setattr(progress, "PATIENCE", 60.0)
    with (
        oc.config.change_flags(compile__progress=option),
        progress.reporting("f", lambda: "step"),
    ):
        time.sleep(0.05)
    assert not stream.getvalue()


def test_only_the_outermost_compilation_is_reported(impatient) -> None:
    stream = impatient(Terminal())
    with progress.reporting("outer", lambda: "a"):
        with progress.reporting("inner", lambda: "b"):
            until(stream, "compiling outer: a")
        assert "compiled" not in stream.getvalue()
    assert "inner" not in stream.getvalue()


def test_a_closed_stream_and_errors_do_no_harm(impatient) -> None:
    stream = impatient(Terminal())
    with pytest.raises(ZeroDivisionError), progress.reporting("f", lambda: "step"):  # noqa: PT012
        until(stream, "compiling f")
        stream.close()
        raise ZeroDivisionError
    with progress.reporting("f", lambda: "step"):  # the lock is free again
        assert progress._reported.locked()
    assert not progress._reported.locked()


def test_the_report_names_steps_stages_rules_and_the_cache(tmp_path) -> None:
    x = ot.dvector("x")

    def compiled() -> oc.Function:
        return oc.function([x], ot.log(1 + ot.exp(x)) + x * x, name="my function", mode="native")

    with oc.config.change_flags(compiledir=str(tmp_path)):
        first = compiled()
        text = first.compile_report()
        assert text.startswith("Function 'my function' in mode ")
        assert "the first call" not in text
        first([1.0])
        text = first.compile_report()
        assert "the first call" in text
        assert "stabilize: " in text
        before, after = (
            len(g.apply_nodes) for g in (first.maker.rewritten.before, first.maker.fgraph)
        )
        assert f"{before} nodes became {after}, by " in text
        assert text.endswith("The cache has no other function")
        text = compiled().compile_report()
        assert text.endswith("The function was found in the cache")
        assert "nodes became" not in text
