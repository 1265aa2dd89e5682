"""``python -m occelo_testing.random_programs``: what it checks, prints, writes and returns."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from occelo_graph.config import config
from occelo_testing.programs.program import Input, Program, Step
from occelo_testing.random_programs import __main__ as command
from occelo_testing.random_programs import running


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., int]]:
    """Runs the command with some arguments, and checks that options and warnings are as before."""

    def run(*arguments: str) -> int:
        monkeypatch.setattr("sys.argv", ["random_programs", *arguments])
        return command.main()

    before = config.on_opt_error, config.cache, list(warnings.filters)
    yield run
    assert (config.on_opt_error, config.cache, warnings.filters) == before


def test_right_programs_are_counted_and_reported(
    run: Callable[..., int], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    written = tmp_path / "report.json"
    status = run("--seed", "3", "--count", "4", "--mode", "vm", "--report", str(written))
    assert status == 0
    report = json.loads(written.read_text())
    assert report["programs"] == 4
    assert report["seeds"] == [3, 6]
    assert report["faults"] == []
    assert sum(report["outcomes"]["value"].values()) == 4
    said = capsys.readouterr().out
    assert said.startswith(f"4 programs, {sum(report['steps'].values())} steps")
    assert "  value: " in said


def test_each_program_has_as_many_laws_as_asked_for(
    run: Callable[..., int], tmp_path: Path
) -> None:
    written = tmp_path / "report.json"
    laws = ("value", "only shapes", "state")
    asked = ("--laws", ",".join(laws), "--each", "2", "--report", str(written))
    assert run("--count", "6", "--mode", "vm", *asked) == 0
    outcomes = json.loads(written.read_text())["outcomes"]
    assert set(outcomes) == set(laws)
    assert sum(sum(counts.values()) for counts in outcomes.values()) == 12


def test_a_wrong_program_is_printed_and_fails(
    run: Callable[..., int],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    wrong = Program(
        (
            Input("float64", (3,), np.array([1.0, -2.0, 0.5])),
            Step("double", (0,), "{0} * 2", "{0} * 2.002", "result", True),
        ),
        (1,),
        0,
    )
    monkeypatch.setattr(running, "random_program", lambda *_: wrong)
    written = tmp_path / "report.json"
    assert run("--count", "2", "--mode", "vm", "--report", str(written)) == 1
    faults: list[dict[str, Any]] = json.loads(written.read_text())["faults"]
    assert [fault["seeds"] for fault in faults] == [[0, 1]]
    assert "oc.function([" in faults[0]["program"]
    said = capsys.readouterr().out
    assert "oc.function([" in said
    assert f"2 {faults[0]['signature']} (seeds 0, 1)" in said


def test_a_law_that_there_is_not_is_refused(
    run: Callable[..., int], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        run("--laws", "value,nonsense")
    assert ended.value.code == 2
    assert "there is no law 'nonsense'" in capsys.readouterr().err
