"""The conformance suites over every backend that is installed."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any, ClassVar

import pytest

from occelo_graph.config import config
from occelo_link import PerformLinker, make_linker
from occelo_link.c.compiler import CompilerMissing, find_compiler
from occelo_link.capabilities import BACKENDS, is_installed
from occelo_testing.conforming_functions import FunctionSuite
from occelo_testing.conforming_ops import GAPS, OpSuite
from occelo_testing.examples import EXAMPLES

THOROUGH = os.environ.get("HYPOTHESIS_PROFILE") == "thorough"
# compiling takes long; the first three have the whole table in tests of their own
STEPS = {"py": 24, "vm": 24, "native": 24, "c": 40, "c|py": 40, "numba": 96}


def one_of_each_op() -> list[int]:
    """The positions of one example of each op: of one its first, of the next its second, and so on; of laws, of one in sixteen."""
    positions: dict[tuple[str, str], list[int]] = {}
    for position, example in enumerate(EXAMPLES):
        positions.setdefault((example.family, example.name), []).append(position)
    chosen = [own[k % len(own)] for k, own in enumerate(positions.values())]
    # distributions are large graphs of ops that the other families test
    laws = [p for p in chosen if EXAMPLES[p].family == "random"]
    return [p for p in chosen if p not in laws or laws.index(p) % 16 == 0]


def some_of_each_family(step: int) -> list[int]:
    """The positions of every ``step``-th example, and of the first of each family that has none of them."""
    chosen = range(0, len(EXAMPLES), step)
    seen = {EXAMPLES[p].family for p in chosen}
    first: dict[str, int] = {}
    for position, example in enumerate(EXAMPLES):
        first.setdefault(example.family, position)
    return sorted([*chosen, *(p for family, p in first.items() if family not in seen)])


class Sample(OpSuite):
    """The table, or the part of it that its backend has in CI."""

    def pytest_generate_tests(self, metafunc: pytest.Metafunc) -> None:
        if THOROUGH:
            super().pytest_generate_tests(metafunc)
        elif "position" in metafunc.fixturenames:
            step = STEPS.get(self.backend)
            # backends without a step have lowerings of their own; of most ops those of JAX and PyTorch are the same
            every = one_of_each_op()[self.backend == "pytorch" :: 2]
            chosen = some_of_each_family(step) if step else every
            metafunc.parametrize("position", chosen, ids=[str(EXAMPLES[i]) for i in chosen])


@pytest.fixture(autouse=True, scope="class")
def graphs_of_pytorch_run_as_they_are(request: pytest.FixtureRequest) -> Iterator[None]:
    config.pytorch__compile = getattr(request.cls, "by_inductor", False)
    yield
    del config.pytorch__compile


def _missing(backend: str) -> str:
    """Why a backend cannot be tested here; empty if it can."""
    if not is_installed(backend):
        return f"the library of {backend} is not installed"
    if backend in ("c", "c|py"):
        try:
            find_compiler()
        except CompilerMissing as reason:
            return str(reason)
    return ""


def _suites() -> dict[str, type]:
    made: dict[str, type] = {}
    for backend in BACKENDS:
        why = _missing(backend)
        for suite in (OpSuite, FunctionSuite):
            options = {"backend": backend, "step": 1}
            name = f"Test{suite.__name__}_{backend.replace('|', '_')}"
            base = Sample if suite is OpSuite else suite
            cls = type(name, (base,), options)
            # they are samples already
            pytest.mark.sampled(1)(cls)
            if base is Sample and backend == "jax":
                # of lowerings to PyTorch most are the same
                pytest.mark.measured(2)(cls)
            made[name] = pytest.mark.skipif(bool(why), reason=why or "none")(cls)
    return made


globals().update(_suites())


@pytest.mark.skipif(bool(_missing("pytorch")), reason="the library of pytorch is not installed")
@pytest.mark.filterwarnings(
    "ignore::DeprecationWarning",  # PyTorch's own
    "ignore::FutureWarning",
    "ignore:Torchinductor does not support code generation for complex:UserWarning",
)
class TestOpSuiteCompiledByPyTorch(OpSuite):
    """The table again, compiled, which takes about a second for each example."""

    backend = "pytorch"
    by_inductor: ClassVar[bool] = True
    step = 1 if THOROUGH else 900


def test_the_sample_has_every_op() -> None:
    chosen = [EXAMPLES[i] for i in one_of_each_op() if EXAMPLES[i].family != "random"]
    every = {(e.family, e.name) for e in EXAMPLES if e.family != "random"}
    assert sorted((e.family, e.name) for e in chosen) == sorted(every)


@pytest.mark.parametrize("step", set(STEPS.values()))
def test_the_sample_has_every_family(step: int) -> None:
    chosen = some_of_each_family(step)
    assert {EXAMPLES[p].family for p in chosen} == {e.family for e in EXAMPLES}
    assert len(set(chosen)) == len(chosen) < len(EXAMPLES) / step + 12


def test_every_gap_is_of_a_backend_and_says_why() -> None:
    assert {gap.backend for gap in GAPS} <= set(BACKENDS)
    assert all(gap.reason for gap in GAPS)


def test_backends_of_other_packages_are_found_by_entry_point(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Point:
        name = "elsewhere"

        @staticmethod
        def load() -> Any:
            return PerformLinker

    monkeypatch.setattr(
        "importlib.metadata.entry_points",
        lambda group: [Point] if group == "occelo.backends" else [],
    )
    assert isinstance(make_linker("elsewhere"), PerformLinker)
