"""Fixtures and options of all tests: samples of slow tests, a compile directory of their own, errors in rules."""

from __future__ import annotations

import gc
import importlib.util
import os
import signal
import sys
import zlib
from collections import Counter
from collections.abc import Generator, Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

import pytest
from hypothesis import settings

MANY = 8
OF_MANY = 30
"""Of functions with more than `MANY` tests in other folders, one in so many runs."""
OF_SLOW = 29
"""Of the tests with a slow compiler, one in so many runs."""
COMPILE_NOTHING = {"architecture": 1, "graph": 8, "rewrite": 8}
"""The folders of tests that compile nothing. Of functions with more than `MANY` tests, one in so many runs."""
COMPILED_AS_FOR_USERS = ("link", "export")
"""The folders of tests of machine code itself, which is always that of users."""
OF_QUICKLY_COMPILED = 4
"""Of the other tests, one in so many runs the code that users run."""
PROFILE = "HYPOTHESIS_PROFILE"
SLOW_COMPILERS = ("c", "c|py", "numba", "jax", "pytorch")
LIBRARIES = {"numba": "numba", "jax": "jax", "pytorch": "torch"}
"""The library of each linker that has one."""
UNMEASURED = pytest.StashKey[bool]()
STOPPED = pytest.StashKey[Any]()
"""What measures coverage in this process, while it is stopped for collecting."""
MEASURED_SECONDS = 0.5
"""So many seconds coverage sees of a measured test without a mark, by processor time. With it a test takes twice as long; later it mostly runs the same code again."""
FOR_OTHER_PROCESSES = "COVERAGE_PROCESS_CONFIG"
"""The variable by which coverage is measured in the processes that a test starts."""

# a busy machine takes a second now and then; files of tests may load profiles of their own
settings.register_profile("patient", deadline=None)
settings.load_profile("patient")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option ``--sample``, by which a run takes only some of the tests."""
    parser.addoption(
        "--sample",
        metavar="K/N",
        default="1/1",
        help="take the K-th of every N tests: a fixed sample; with 'not K/N', all others",
    )
    parser.addoption(
        "--measured",
        metavar="N",
        type=int,
        default=1,
        help="let coverage, if it runs, see the first test of each function and every N-th",
    )


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip a test whose arguments name a linker of a library that is not installed."""
    for value in (
        item.callspec.params.values()
        if isinstance(item, pytest.Function) and hasattr(item, "callspec")
        else ()
    ):
        library = LIBRARIES.get(value) if isinstance(value, str) else None
        if library is not None and importlib.util.find_spec(library) is None:
            pytest.skip(f"{library} is not installed")


def coverage_of_this_process() -> Any:
    """What measures coverage here; None if nothing does."""
    coverage = sys.modules.get("coverage")
    return coverage and coverage.Coverage.current()


@contextmanager
def measured_at_first(measuring: Any) -> Generator[None, None, None]:
    """Stop coverage after `MEASURED_SECONDS`, until the end."""
    stopped: list[bool] = []

    def stop(*_: object) -> None:
        measuring.stop()
        stopped.append(True)

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, MEASURED_SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
        if stopped:
            measuring.start()


def pytest_configure(config: pytest.Config) -> None:
    """Declare the marks of samples; measure nothing in the process that only hands out tests."""
    config.addinivalue_line(
        "markers",
        "sampled(n): run one in about 2 n of the function's tests, and all in thorough runs",
    )
    config.addinivalue_line(
        "markers",
        "measured(n): let coverage see all of one in n of the function's tests, instead of --measured; none with 0",
    )
    # compiling makes many objects and little garbage: to look for it after each 700 takes a tenth of all time
    gc.set_threshold(50_000, 20, 20)
    if config.getoption("numprocesses", None) and not hasattr(config, "workerinput"):
        measuring = coverage_of_this_process()
        if measuring is not None:
            measuring.stop()


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection(session: pytest.Session) -> Generator[None, object, object]:
    """Stop coverage while pytest makes tests of parameters, which takes twice as long with it."""
    # elsewhere than in workers, coverage looks at all modules when it is started again, and stumbles over PyTorch's
    worker = hasattr(session.config, "workerinput")
    measuring = session.config.stash[STOPPED] = coverage_of_this_process() if worker else None
    if measuring is None:
        return (yield)
    measuring.stop()
    try:
        return (yield)
    finally:
        measuring.start()


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_make_collect_report(
    collector: pytest.Collector,
) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """Let coverage see what a file of tests imports, also late: pytest looks at all its attributes."""
    measuring = collector.config.stash.get(STOPPED, None)
    if measuring is None:
        return (yield)
    measuring.start()
    try:
        return (yield)
    finally:
        measuring.stop()


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_pycollect_makeitem(
    collector: pytest.Collector, name: str
) -> Generator[None, object, object]:
    """Stop coverage while pytest makes the tests of a function."""
    measuring = collector.config.stash.get(STOPPED, None)
    if measuring is None or not name.startswith("test"):
        return (yield)
    measuring.stop()
    try:
        return (yield)
    finally:
        measuring.start()


def pytest_collection_finish() -> None:
    """Leave what is there before the first test out of all searches for garbage: modules, and thousands of tests."""
    gc.collect()
    gc.freeze()


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Stop coverage for tests that are not to be measured, which takes microseconds; of others it sees the beginning."""
    measuring = coverage_of_this_process()
    if measuring is None:
        return (yield)
    if UNMEASURED not in item.stash:
        # what is marked runs the code of tables of examples
        whole = item.get_closest_marker("measured") is not None
        with nullcontext() if whole else measured_at_first(measuring):
            return (yield)
    others = os.environ.pop(FOR_OTHER_PROCESSES, None)
    measuring.stop()
    try:
        return (yield)
    finally:
        measuring.start()
        if others is not None:
            os.environ[FOR_OTHER_PROCESSES] = others


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Let a worker write down what was covered: ten seconds after the last test it is killed, which a slow machine needs."""
    measuring = coverage_of_this_process()
    if measuring is not None and hasattr(session.config, "workerinput"):
        measuring.stop()
        measuring.save()


def folder_of(item: pytest.Item) -> str:
    """The folder of ``tests`` in which the test lies, at whatever depth."""
    return item.nodeid.removeprefix("tests/").partition("/")[0]


def function_of(item: pytest.Item) -> str:
    """The address of the test without its parameters."""
    return item.nodeid.partition("[")[0]


def quickly_compiled(item: pytest.Item) -> bool:
    """Whether LLVM and XLA optimize less in a test, which takes less time and gives the same results.

    The tests of `COMPILED_AS_FOR_USERS`, one in `OF_QUICKLY_COMPILED` of the others, and all in thorough runs, run what
    users run.
    """
    if folder_of(item) in COMPILED_AS_FOR_USERS or os.environ.get(PROFILE) == "thorough":
        return False
    return zlib.crc32(item.nodeid.encode()) % OF_QUICKLY_COMPILED != 0


def leave_out_of_coverage(items: list[pytest.Item], step: int) -> None:
    """Mark all tests but the first of each function and every n-th: n is ``step``, or what the mark ``measured`` says.

    Functions start at different tests, as many have the same parameters. Tests of the tree read sources, and run little.
    """
    seen: Counter[str] = Counter()
    for item in items:
        function = function_of(item)
        position = seen[function]
        seen[function] += 1
        mark = item.get_closest_marker("measured")
        every = mark.args[0] if mark else step
        if folder_of(item) == "architecture":
            every = 0
        if not every or (position and (position + len(seen)) % every):
            item.stash[UNMEASURED] = True


def slow_compiler(item: pytest.Item) -> str:
    """The slow compiler that a parameter of a test names; empty if there is none. Slow is over 0.1 s per function."""
    given = getattr(item, "callspec", None)
    parameters = given.params.values() if given is not None else ()
    return next((p for p in parameters if isinstance(p, str) and p in SLOW_COMPILERS), "")


def few_with_slow_compilers(items: list[pytest.Item]) -> list[pytest.Item]:
    """The tests, of those with a slow compiler one in `OF_SLOW`, counted by file and compiler.

    Of a function of which this would leave nothing, one stays: of the first function its first, of the next its second.
    """
    taken: set[int] = set()
    seen: Counter[tuple[str, str]] = Counter()
    functions: dict[str, list[int]] = {}
    for position, item in enumerate(items):
        functions.setdefault(function_of(item), []).append(position)
        compiler = slow_compiler(item)
        seen[str(item.path), compiler] += 1
        if not compiler or seen[str(item.path), compiler] % OF_SLOW == 1:
            taken.add(position)
    without = [own for own in functions.values() if taken.isdisjoint(own)]
    taken.update(own[k % len(own)] for k, own in enumerate(without))
    return [item for position, item in enumerate(items) if position in taken]


def sample_of_many(items: list[pytest.Item]) -> list[pytest.Item]:
    """The tests, of functions with more than `MANY` the first and a fixed sample of the others.

    Of tests that compile nothing, which take milliseconds, more are kept; those that are sampled otherwise all are.
    """
    numbers = Counter(map(function_of, items))
    seen: set[str] = set()
    kept: list[pytest.Item] = []
    for item in items:
        function = function_of(item)
        otherwise = slow_compiler(item) or item.get_closest_marker("sampled")
        step = COMPILE_NOTHING.get(folder_of(item), OF_MANY)
        few = numbers[function] <= MANY or function not in seen
        # by a checksum, so that of parameters that alternate each occurs
        if few or otherwise or zlib.crc32(item.nodeid.encode()) % step == 0:
            kept.append(item)
        seen.add(function)
    return kept


def sampled(items: list[pytest.Item]) -> list[pytest.Item]:
    """The tests, of functions that are marked ``sampled(n)`` the first and, after it, one in about two times n.

    The step is odd, so that of parameters that alternate each occurs. With ``sampled(1)`` all are kept.
    """
    kept: list[pytest.Item] = []
    seen: Counter[str] = Counter()
    for item in items:
        mark = item.get_closest_marker("sampled")
        function = function_of(item)
        step = 1 if mark is None else mark.args[0]
        if step == 1 or seen[function] % (2 * step + 1) == 0:
            kept.append(item)
        seen[function] += 1
    return kept


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Select a fixed sample of the tests. All files are imported, so errors of imports are still found."""
    if os.environ.get(PROFILE) != "thorough" and len(items) > 1:
        kept = sampled(few_with_slow_compilers(sample_of_many(items)))
        config.hook.pytest_deselected(items=list(set(items) - set(kept)))
        items[:] = kept
    sample: str = config.getoption("--sample")
    first, step = map(int, sample.removeprefix("not ").split("/"))
    chosen = [(i % step == first - 1) != sample.startswith("not ") for i in range(len(items))]
    left_out = [item for item, taken in zip(items, chosen, strict=True) if not taken]
    config.hook.pytest_deselected(items=left_out)
    items[:] = [item for item, taken in zip(items, chosen, strict=True) if taken]
    leave_out_of_coverage(items, config.getoption("--measured"))


@pytest.fixture(scope="session", autouse=True)
def own_compile_directory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Keep compiled code of tests out of the user's directory."""
    if importlib.util.find_spec("occelo_link") is None:
        yield
        return
    import occelo_link  # noqa: F401 declares the option
    from occelo_graph.config import config

    config.base_compiledir = str(tmp_path_factory.mktemp("occelo"))
    yield
    del config.base_compiledir


SETTINGS = {False: "[optdb]\non_limit = raise\n"}
"""The text of the file of options for processes that a test starts, as many set OCCELO_FLAGS; by `quickly_compiled`."""
SETTINGS[True] = f"{SETTINGS[False]}[native]\nllvm_level = 0\n"


@pytest.fixture(scope="session", autouse=True)
def rewrites_that_fail_are_errors() -> Iterator[None]:
    """Let an error in a rule fail the test, instead of a warning; so, too, rules that undo each other."""
    if importlib.util.find_spec("occelo_rewrite") is None:
        yield
        return
    import occelo_rewrite  # noqa: F401 declares the options
    from occelo_graph.config import config

    config.on_opt_error, config.optdb__on_limit = "raise", "raise"
    yield
    del config.on_opt_error, config.optdb__on_limit


@pytest.fixture(scope="session")
def files_of_options(tmp_path_factory: pytest.TempPathFactory) -> dict[bool, str]:
    """The paths of files with `SETTINGS`."""
    folder = tmp_path_factory.mktemp("settings")
    for quickly, text in SETTINGS.items():
        (folder / str(quickly)).write_text(text)
    return {quickly: str(folder / str(quickly)) for quickly in SETTINGS}


@pytest.fixture(autouse=True)
def time_of_compilers(
    request: pytest.FixtureRequest, files_of_options: dict[bool, str]
) -> Iterator[None]:
    """Let LLVM, XLA and PyTorch optimize less in a test that is `quickly_compiled`, and in processes that it starts."""
    item: Any = request.node
    quickly = quickly_compiled(item)
    os.environ["OCCELORC"] = files_of_options[quickly]
    os.environ["JAX_DISABLE_MOST_OPTIMIZATIONS"] = str(int(quickly))
    jax: Any = sys.modules.get("jax")
    if jax and jax.config.read("jax_disable_most_optimizations") != quickly:
        jax.config.update("jax_disable_most_optimizations", quickly)
    if "occelo_link" not in sys.modules:
        yield
        return
    from occelo_graph.config import config

    # the other tests of Inductor are in that folder
    as_it_is = quickly and folder_of(item) != "backends"
    with config.change_flags({"pytorch__compile": False} if as_it_is else {}):
        config.native__llvm_level = 0 if quickly else 1
        yield
