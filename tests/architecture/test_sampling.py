"""The samples of tests that CI takes (`tests/conftest.py`): which tests run, and that all samples together are all tests."""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

CONFTEST = Path(__file__).parents[1] / "conftest.py"


def _conftest() -> ModuleType:
    spec = importlib.util.spec_from_file_location("conftest_under_test", CONFTEST)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _item(
    path: str, name: str, sampled: int = 0, measured: int | None = None, **parameters: Any
) -> Any:
    callspec = {"callspec": SimpleNamespace(params=parameters)} if parameters else {}
    own = {"path": Path(path), "name": name, "nodeid": f"{path}::{name}", "stash": {}}
    marks = {"sampled": sampled or None, "measured": measured}
    found = {mark: SimpleNamespace(args=(n,)) for mark, n in marks.items() if n is not None}
    asked = {"get_closest_marker": lambda self, name: found.get(name)}
    return type("Item", (), {**own, **callspec, **asked})()


def _selected(items: list[Any], sample: str) -> tuple[list[str], list[str]]:
    """The names of the selected and of the deselected tests, each in order."""
    deselected: list[str] = []
    config = SimpleNamespace(
        getoption=lambda option: {"--sample": sample, "--measured": 1}[option],
        hook=SimpleNamespace(
            pytest_deselected=lambda items: deselected.extend(item.name for item in items)
        ),
    )
    left = list(items)
    _conftest().pytest_collection_modifyitems(config, left)
    return [item.name for item in left], deselected


@pytest.fixture
def in_ci(monkeypatch: pytest.MonkeyPatch) -> None:
    """The environment of CI."""
    monkeypatch.delenv("HYPOTHESIS_PROFILE", raising=False)


@pytest.mark.usefixtures("in_ci")
@pytest.mark.parametrize(("count", "step"), [(1, 1), (2, 3), (7, 3), (24, 12), (25, 12)])
def test_samples_are_disjoint_and_together_all_tests(count: int, step: int) -> None:
    items = [_item("test_a.py", f"test_{i}") for i in range(count)]
    names = [item.name for item in items]
    samples = [_selected(items, f"{k}/{step}")[0] for k in range(1, step + 1)]
    assert sorted(name for sample in samples for name in sample) == sorted(names)
    for k, sample in enumerate(samples):
        assert sample == names[k::step]
        assert _selected(items, f"not {k + 1}/{step}")[0] == [n for n in names if n not in sample]


@pytest.mark.usefixtures("in_ci")
def test_every_test_is_selected_or_reported_as_deselected() -> None:
    step = _conftest().OF_SLOW
    items = [_item("test_a.py", f"test[{i}]", mode="c") for i in range(2 * step + 1)]
    kept, deselected = _selected(items, "1/2")
    assert kept == ["test[0]", f"test[{2 * step}]"]
    assert sorted(kept + deselected) == sorted(item.name for item in items)


@pytest.mark.usefixtures("in_ci")
def test_of_a_sampled_function_the_first_test_runs_and_one_in_an_odd_number() -> None:
    items = [
        _item("test_a.py", f"test_{name}[{i}]", sampled=step)
        for i in range(8)
        for name, step in (("f", 3), ("g", 0), ("h", 1))
    ]
    kept, deselected = _selected(items, "1/1")
    assert [name for name in kept if "f" in name] == ["test_f[0]", "test_f[7]"]
    for whole in "gh":
        assert [n for n in kept if whole in n] == [f"test_{whole}[{i}]" for i in range(8)]
    assert len(deselected) == 6


@pytest.mark.usefixtures("in_ci")
def test_one_in_some_of_the_tests_with_each_slow_compiler_runs_in_each_file() -> None:
    step = _conftest().OF_SLOW
    items = [
        _item(path, f"test_{i}[{path}-{mode}]", mode=mode)
        for path in ("test_a.py", "test_b.py")
        for i in range(step + 1)
        for mode in ("native", "vm", "c", "c|py", "numba", "jax")
    ]
    kept, _ = _selected(items, "1/1")
    for path in ("test_a.py", "test_b.py"):
        for mode in ("native", "vm"):
            assert [n for n in kept if f"[{path}-{mode}]" in n] == [
                f"test_{i}[{path}-{mode}]" for i in range(step + 1)
            ]
        for mode in ("c", "c|py", "numba", "jax"):
            assert [n for n in kept if f"[{path}-{mode}]" in n] == [
                f"test_{i}[{path}-{mode}]" for i in (0, step)
            ]


@pytest.mark.usefixtures("in_ci")
def test_each_function_runs_with_one_of_its_slow_compilers_at_least() -> None:
    modes = ("numba", "jax", "c")
    names = ("a", "b", "d", "e")
    items = [_item("test_a.py", f"test_{n}[{mode}]", mode=mode) for n in names for mode in modes]
    kept, _ = _selected(items, "1/1")
    first = [f"test_a[{mode}]" for mode in modes]
    assert kept == [*first, "test_b[numba]", "test_d[jax]", "test_e[c]"]


@pytest.mark.usefixtures("in_ci")
@pytest.mark.parametrize(
    ("folder", "least", "most"),
    [("architecture", 100, 100), ("graph", 9, 20), ("rewrite", 9, 20), ("link", 2, 10)],
)
def test_of_many_tests_a_part_runs(folder: str, least: int, most: int) -> None:
    items = [_item(f"tests/{folder}/test_a.py", f"test[{i}]") for i in range(100)]
    kept, deselected = _selected(items, "1/1")
    assert kept[0] == "test[0]"
    assert least <= len(kept) <= most
    assert len(kept) + len(deselected) == 100


@pytest.mark.parametrize(
    ("parameters", "expected"),
    [
        ({}, ""),
        ({"mode": "native"}, ""),
        ({"dtype": "int8", "linker": "numba"}, "numba"),
        ({"modes": ["c"]}, ""),
        ({"mode": 3}, ""),
        ({"mode": "c|py"}, "c|py"),
    ],
)
def test_the_slow_compiler_is_a_parameter_by_its_exact_name(
    parameters: dict[str, Any], expected: str
) -> None:
    assert _conftest().slow_compiler(_item("test_a.py", "test", **parameters)) == expected


def test_thorough_runs_take_all_tests(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HYPOTHESIS_PROFILE", "thorough")
    items = [_item("test_a.py", f"test[{i}]", mode="numba") for i in range(7)]
    assert _selected(items, "1/1") == ([item.name for item in items], [])


@pytest.mark.usefixtures("in_ci")
def test_a_test_that_is_chosen_alone_runs() -> None:
    assert _selected([_item("test_a.py", "test", mode="numba")], "1/1") == (["test"], [])


def test_coverage_sees_the_first_test_of_each_function_and_every_few_more() -> None:
    conftest = _conftest()
    items = [
        _item("test_a.py", name)
        for name in ("test_x", *(f"test_y[{i}]" for i in range(7)), "test_z[0]", "test_z[1]")
    ]
    conftest.leave_out_of_coverage(items, 3)
    measured = [item.name for item in items if conftest.UNMEASURED not in item.stash]
    assert measured == ["test_x", "test_y[0]", "test_y[1]", "test_y[4]", "test_z[0]"]


def test_coverage_sees_as_many_tests_of_a_function_as_its_mark_says_and_none_of_the_tree() -> None:
    conftest = _conftest()
    items = [
        _item(path, f"test_{name}[{i}]", measured=measured)
        for name, measured, path in (
            ("all", 1, "tests/graph/test_a.py"),
            ("none", 0, "tests/graph/test_a.py"),
            ("some", 2, "tests/graph/test_a.py"),
            ("tree", None, "tests/architecture/test_a.py"),
        )
        for i in range(4)
    ]
    conftest.leave_out_of_coverage(items, 10)
    measured = [item.name for item in items if conftest.UNMEASURED not in item.stash]
    assert measured == [
        *(f"test_all[{i}]" for i in range(4)),
        "test_some[0]",
        "test_some[1]",
        "test_some[3]",
    ]


def test_coverage_is_stopped_while_a_test_that_is_not_measured_runs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    conftest = _conftest()
    happened: list[str] = []
    measuring = SimpleNamespace(
        stop=lambda: happened.append("stop"), start=lambda: happened.append("start")
    )
    monkeypatch.setattr(conftest, "coverage_of_this_process", lambda: measuring)
    monkeypatch.setenv(conftest.FOR_OTHER_PROCESSES, "settings")
    items = [_item("test_a.py", f"test_y[{i}]") for i in range(2)]
    conftest.leave_out_of_coverage(items, 3)
    for item in items:
        running = conftest.pytest_runtest_protocol(item)
        next(running)
        happened.append(os.environ.get(conftest.FOR_OTHER_PROCESSES, "nothing"))
        with pytest.raises(StopIteration, match="done"):
            running.send("done")
    assert happened == ["settings", "stop", "nothing", "start"]
    assert os.environ[conftest.FOR_OTHER_PROCESSES] == "settings"


@pytest.mark.parametrize("workerinput", [{"workerinput": {}}, {}])
def test_a_worker_saves_what_was_covered_when_its_tests_end(
    workerinput: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    conftest = _conftest()
    happened: list[str] = []
    measuring = SimpleNamespace(
        stop=lambda: happened.append("stop"), save=lambda: happened.append("save")
    )
    monkeypatch.setattr(conftest, "coverage_of_this_process", lambda: measuring)
    conftest.pytest_sessionfinish(SimpleNamespace(config=SimpleNamespace(**workerinput)))
    assert happened == (["stop", "save"] if workerinput else [])
