"""The only door to checks: ``nox -l`` lists the sessions, ``nox -t ci`` runs those of CI.

Every test runs once in full, on the oldest Python with all libraries (``tests``). What other versions, wheels by
themselves and releases can change is seen by samples of the same tests: ``--sample 3/24`` is the third of every 24.
"""

from __future__ import annotations

import ast
import concurrent.futures
import functools
import itertools
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
import zipfile
from collections.abc import Callable, Iterator
from typing import Any

import nox
import uv

nox.needs_version = ">=2025.2"
nox.options.default_venv_backend = "uv"
nox.options.reuse_venv = "no"
nox.options.tags = ["ci"]

ROOT = pathlib.Path(__file__).parent
WHEELS = ROOT / "dist"
PYTHONS = ["3.11", "3.12", "3.13"]
sys.path.append(str(ROOT / "docs"))
from interfaces import broken_promises  # noqa: E402  (these lie in that folder)
from workspace import FAMILIES, MEMBERS, PACKAGES  # noqa: E402

SOURCES = ["src", *(f"packages/{p}/src" for p in MEMBERS)]
CLIENT = "tests/typing/client.py"
CHECKED = ["src", "packages", "tests", "examples", "benchmarks", "docs/site", "noxfile.py"]
# what answers first: a few files of every layer, and what the tree must keep
QUICK = [
    "architecture",
    "graph/ir/test_fgraph.py", "graph/gradient/test_gradient.py", "graph/ir/test_nodes.py", "graph/tensors/test_tensor_type.py",
    "rewrite/test_patterns.py", "rewrite/test_rewriting.py", "rewrite/test_stages.py",
    "link/numbers/test_every_dtype.py", "link/lowerings/test_linkers.py", "link/loops/test_loop_programs.py",
    "compile/functions/test_contract_function.py", "compile/functions/test_function.py", "compile/programs/test_order_of_operations.py",
    "integration/test_facade.py",
]  # fmt: skip
ONLY_FOR_TESTS = {"occelo_testing", "hypothesis", "pytest", "mpmath"}
TEST_TOOLS = [
    "cffi",
    "mpmath",
    "pytest>=8",
    "pytest-xdist>=3",
    "hypothesis>=6.100",
    "opt-einsum>=3.3",
    "scipy>=1.13",
]
FASTER = "gmpy2"
"""With it mpmath computes up to several times as fast, and the same."""
MEASURED = ROOT / ".nox" / "measured"
BYTECODE = ROOT / ".nox" / "bytecode"
"""Where all sessions keep bytecode, so that what pytest makes of a test file is made once for a version of Python."""
# with coverage a test takes twice as long, and more tests than these add little to what is covered
MEASURE = ["--measured", "9"]
# what takes one processor at most, and is run three at a time in CI, as each waits for its installation; what takes longest first
BESIDE = [
    "types", "bridge", "units", "lowest", "contributing", "releases", "backends",
    *(f"whole-{each}" for each in PYTHONS[1:]), "doctests",
]  # fmt: skip
KEPT = ("site", "stored", "accessible")
"""Sessions whose environments are used again."""
START = time.monotonic()
TOOK: dict[str, tuple[float, float]] = {}
"""Seconds of each session that passed, by the clock and of the processors."""

# pyenv's shims answer only for the versions that are switched on, so the newest X.Y.* of each goes
# on PATH itself; without pyenv nothing happens
if shutil.which("pyenv"):
    found = subprocess.run(["pyenv", "root"], capture_output=True, text=True, check=True)
    versions = pathlib.Path(found.stdout.strip()) / "versions"
    for python in PYTHONS:
        installed = [d for d in versions.glob(python + ".*") if d.name.split(".")[2].isdigit()]
        if installed:
            newest = max(installed, key=lambda d: int(d.name.split(".")[2]))
            os.environ["PATH"] += os.pathsep + str(newest / "bin")
# pip's local folder of wheels, if this machine has one, is uv's too: a CPU torch may lie there
LINKS = os.environ.get("UV_FIND_LINKS") or ",".join(os.environ.get("PIP_FIND_LINKS", "").split())
# uv comes with nox, and need not be on PATH
UV = uv.find_uv_bin()
os.environ["PATH"] += os.pathsep + str(pathlib.Path(UV).parent)
# an interpreter that is missing must not be fetched behind anyone's back
os.environ.setdefault("UV_PYTHON_DOWNLOADS", "never")


def wheel(package: str, folder: pathlib.Path = WHEELS) -> str:
    """The built wheel of a package ("" is the meta-package)."""
    name = f"occelo_{package}" if package else "occelo"
    (path,) = folder.glob(f"{name}-*.whl")
    return str(path)


def build(folder: pathlib.Path, *arguments: str, project: pathlib.Path = ROOT) -> None:
    """Build wheels into a folder."""
    command = [UV, "build", "--wheel", "-q", "--out-dir", str(folder), *arguments, str(project)]
    subprocess.run(command, check=True)


def need_wheels() -> None:
    """Build the wheels, unless newer than all sources they were built already."""
    newest = max(
        p.stat().st_mtime
        for source in [
            *SOURCES,
            "pyproject.toml",
            *(f"packages/{p}/pyproject.toml" for p in MEMBERS),
        ]
        for p in ([ROOT / source] if (ROOT / source).is_file() else (ROOT / source).rglob("*"))
        if p.is_file() and "__pycache__" not in p.parts
    )
    built = [p.stat().st_mtime for p in WHEELS.glob("*.whl")]
    if len(built) != len(MEMBERS) + 1 or min(built) < newest:
        shutil.rmtree(WHEELS, ignore_errors=True)
        # each mostly waits for its own environment
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            names = ["occelo", *(f"occelo-{p}" for p in MEMBERS)]
            list(pool.map(lambda name: build(WHEELS, "--package", name), names))


def install(session: nox.Session, *what: str, folder: pathlib.Path = WHEELS) -> None:
    """Install with the built wheels beside the index (by the environment: an option would replace it)."""
    links = ",".join(filter(None, [LINKS, str(folder)]))
    # a wheel of this folder may have been built anew under the same name and version
    what_is_new = "reinstall" if session.name in KEPT else "refresh"
    fresh = [f"--{what_is_new}-package=occelo-{p}" for p in MEMBERS]
    session.install(*fresh, *what, env={"UV_FIND_LINKS": links})


def timed(function: Callable[..., None]) -> Callable[..., None]:
    """Say at the end of a session how long it took."""

    @functools.wraps(function)
    def run(session: nox.Session, *arguments: Any, **options: Any) -> None:
        clock, processors = time.monotonic(), sum(os.times()[2:4])
        function(session, *arguments, **options)
        took = time.monotonic() - clock, sum(os.times()[2:4]) - processors
        TOOK[session.name] = took
        session.log(f"{session.name} took {took[0]:.0f} s, and {took[1]:.0f} s of processors")

    return run


def run_tests(
    session: nox.Session,
    *what: str,
    measure: bool = False,
    workers: int = 2,
    one_thread: bool = True,
    environment: pathlib.Path | None = None,
) -> None:
    """Run tests outside the checkout, so that only what is installed can be imported.

    ``what`` are folders and files of ``tests``, and options of pytest after them. With ``measure`` the coverage of some
    tests, in all processes, is kept for the session `coverage`. With 0 ``workers`` all run in one process, as samples do:
    they take less time than workers to start. The environment is the session's, unless another is given.
    """
    environment = environment or pathlib.Path(session.virtualenv.location)
    options = list(itertools.dropwhile(lambda each: not each.startswith("-"), what))
    folders = [str(ROOT / "tests" / each) for each in what[: len(what) - len(options)]]
    with tempfile.TemporaryDirectory() as elsewhere:
        session.chdir(elsewhere)
        session.run(
            python_of(environment), "-P", *(coverage_of(session) if measure else ()),
            "-m", "pytest", "-q", "-n", str(workers), "--dist", "load", "--durations", "15", "-p", "no:cacheprovider",
            "-c", str(ROOT / "pyproject.toml"), "--rootdir", str(ROOT), *folders, *options,
            *(MEASURE if measure else ()), *session.posargs,
            env=variables(one_thread=one_thread), external=True,
        )  # fmt: skip
        session.chdir(ROOT)


def python_of(environment: pathlib.Path) -> str:
    """The interpreter of an environment."""
    return str(environment.resolve() / "bin" / "python")


def variables(*, one_thread: bool = True) -> dict[str, str]:
    """What the processes of tests are told: where bytecode lies, and with ``one_thread`` that libraries take one each.

    Hundreds of processes import the same, and none writes bytecode to the checkout.
    Threads of BLAS wait by spinning: where each processor has a test to run, linear algebra took two to eight times as long.
    """
    threads = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"} if one_thread else {}
    return {"PYTHONPYCACHEPREFIX": str(BYTECODE), "PYTHONDONTWRITEBYTECODE": "", **threads}


def coverage_of(session: nox.Session) -> list[str]:
    """Options of ``python`` after which the coverage of a module is measured; each process writes a file."""
    settings = f"--rcfile={ROOT / 'pyproject.toml'}"
    return ["-m", "coverage", "run", settings, f"--data-file={MEASURED / session.name}"]


def forget_coverage(session: nox.Session) -> None:
    """Leave nothing of an earlier run of this session to what is reported."""
    MEASURED.mkdir(parents=True, exist_ok=True)
    for old in MEASURED.glob(f"{session.name}.*"):
        old.unlink()


@nox.session(venv_backend="none", tags=["ci"])
@timed
def wheels(session: nox.Session) -> None:
    """Build all wheels, and look into those of users."""
    shutil.rmtree(WHEELS, ignore_errors=True)
    need_wheels()
    for package in ("", *PACKAGES):
        for fault in faults_of_wheel(package):
            session.error(f"The wheel of occelo-{package} {fault}")


def faults_of_wheel(package: str) -> Iterator[str]:
    """What is wrong with a wheel for users: files of others, or what only tests need.

    Laws, generators of programs and conformance suites are `occelo-testing`, whose name occurs in comments alone.
    """
    module = f"occelo_{package}" if package else "occelo"
    with zipfile.ZipFile(wheel(package)) as archive:
        for name in archive.namelist():
            top, _, inside = name.partition("/")
            if top != module and not top.endswith(".dist-info"):
                yield f"has {name}"
            if re.search(r"(^|/)(tests?|conftest|conforming|laws)\b", inside):
                yield f"has {inside}, which looks like a test"
            if not name.endswith(".py"):
                continue
            for node in ast.walk(ast.parse(archive.read(name))):
                named = node.names if isinstance(node, ast.Import) else []
                imports = [each.name for each in named]
                imports += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
                if {each.partition(".")[0] for each in imports} & ONLY_FOR_TESTS:
                    yield f"has {name}, which imports {', '.join(imports)}"
        (metadata,) = (n for n in archive.namelist() if n.endswith(".dist-info/METADATA"))
        for line in archive.read(metadata).decode().splitlines():
            required = re.match(r"Requires-Dist: ([\w-]+)(?!.*; extra)", line)
            if required and required[1].replace("-", "_") in ONLY_FOR_TESTS:
                yield f"requires {required[1]}"


@nox.session(python="3.11", tags=["ci"])
@timed
def quick(session: nox.Session) -> None:
    """Format, rules, layers, and the tests that tell most: an answer in under two minutes."""
    need_wheels()
    install_everything(session, "ruff", "import-linter")
    session.run("ruff", "format", "--check", *CHECKED)
    session.run("ruff", "check", *CHECKED)
    # nothing imports upward, at any level of nesting
    session.run("lint-imports", "--no-cache", env={"PYTHONPATH": os.pathsep.join(SOURCES)})
    run_tests(session, *QUICK, measure=True)


@nox.session(python="3.11")
@timed
def types(session: nox.Session) -> None:
    """Pyright strict on all sources; it and mypy strict on a user's module, which sees what the packages declare.

    All as the oldest Python and its NumPy see it.
    """
    session.install(
        "pyright", "mypy", "numpy>=2.0", "scipy>=1.13", "hypothesis", "rich", "click", "llvmlite",
        "filelock", "pytest>=8",
    )  # fmt: skip
    paths = os.pathsep.join(SOURCES)
    # each runs on one core
    with concurrent.futures.ThreadPoolExecutor() as pool:
        client = pool.submit(session.run, "mypy", CLIENT, env={"MYPYPATH": paths}, silent=True)
        session.run("pyright", env={"PYTHONPATH": paths})
        session.log(f"mypy: {str(client.result()).strip()}")


@nox.session(python="3.11", tags=["ci"])
@timed
def tests(session: nox.Session) -> None:
    """All tests, with all libraries, on the oldest Python; after `quick`, what it left, in its environment."""
    need_wheels()
    if "quick" in TOOK:
        environment = ROOT / ".nox" / "quick"
        done = [f"--ignore={ROOT / 'tests' / each}" for each in QUICK]
        forget_coverage(session)
    else:
        environment, done = pathlib.Path(session.virtualenv.location), []
        install_everything(session)
    # tests of seconds first: at the end, one worker waits for the other's last
    everything = [
        "backends",
        *PACKAGES,
        "families",
        "integration",
        "mistakes",
        "architecture",
        "docs",
    ]
    run_tests(session, *everything, *done, measure=True, environment=environment)


@nox.session(venv_backend="none")
@timed
def doctests(session: nox.Session) -> None:
    """The examples in docstrings, in the environment that `quick` or else `tests` left; measures coverage."""
    forget_coverage(session)
    left = [ROOT / ".nox" / name for name in ("quick", "tests")]
    environment = next((each for each in left if (each / "bin" / "pytest").exists()), None)
    if environment is None:
        session.error("first `nox -s quick` or `nox -s tests`, whose environment is used")
    modules = ["occelo", *(f"occelo_{p}" for p in MEMBERS)]
    session.run(
        python_of(environment), "-P", *coverage_of(session), "-m", "pytest", "-q", "-p", "no:cacheprovider",
        "-c", str(ROOT / "pyproject.toml"), "--doctest-modules", "--pyargs", *modules, "--ignore-glob=*/__main__.py",
        env=variables(), external=True,
    )  # fmt: skip


def by_itself(session: nox.Session, package: str) -> None:
    """Run a sample of the tests of one package with nothing but its wheel and what it declares.

    A package of the core is tested without any family. A family is tested with `occelo-compile`, and without the
    families that it does not need.
    """
    install(session, wheel(package))
    session.run(
        "python", "-P", str(ROOT / "tests" / "run_readme.py"),
        str(ROOT / "packages" / package / "README.md"),
        env=variables(),
    )  # fmt: skip
    more = [wheel("compile")] if package in FAMILIES else []
    # which the tests of named dimensions compare with
    more += ["xarray>=2025.1"] if package == "dims" else []
    install(session, wheel("testing"), *more, *TEST_TOOLS)
    run_tests(session, package, "--sample", "1/40", workers=0)


@nox.session(python="3.13")
@nox.parametrize("package", PACKAGES)
@timed
def unit(session: nox.Session, package: str) -> None:
    """A sample of the tests of one package on the newest Python, with nothing but its wheel and what it declares."""
    need_wheels()
    by_itself(session, package)


@nox.session(python="3.13")
@timed
def units(session: nox.Session) -> None:
    """`unit` for every package: for each, the environment is emptied. As it lies where it lay, its bytecode is not made anew.

    ``nox -s units -- --sample 1/1`` runs all tests that CI would take from, not a sample of them.
    """
    need_wheels()
    failed: list[str] = []
    for package in PACKAGES:
        empty = ["venv", "-q", "--clear", "--python", str(session.python)]
        session.run(UV, *empty, session.virtualenv.location, external=True)
        try:
            by_itself(session, package)
        except nox.command.CommandFailed:
            failed.append(package)
            os.chdir(ROOT)  # tests run in a folder that is gone then
    if failed:
        session.error(f"These failed: {', '.join(failed)}")


@nox.session(python=PYTHONS[1:])
@timed
def whole(session: nox.Session) -> None:
    """All wheels together on later Pythons: the facade, the command line, the demo, examples."""
    need_wheels()
    install(session, wheel("") + "[demo]", wheel("testing"), *TEST_TOOLS)
    run_tests(
        session, "integration", "--sample", f"{PYTHONS.index(str(session.python))}/2", workers=0
    )


@nox.session(python="3.12")
@timed
def bridge(session: nox.Session) -> None:
    """The package for PyTensor, with PyTensor, PyMC and nutpie from the index: its types, and a sample of its tests.

    It is installed without the pins, since PyTensor allows other versions. Where the index has no PyTensor, nothing is
    tested. ``nox -s bridge -- --sample 1/1`` runs all tests.
    """
    need_wheels()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        build(folder, project=ROOT / "packages" / "pytensor")
        given = [wheel("pytensor", folder) + "[nutpie]", wheel(""), wheel("testing")]
        available = subprocess.run(
            [UV, "pip", "install", "--no-config", "--dry-run", "--python", session.virtualenv.location, "pytensor>=3.3"],
            capture_output=True,
            check=False,
        )  # fmt: skip
        if available.returncode:
            session.skip("the index has no PyTensor")
        tools = [*TEST_TOOLS, FASTER, "pyright", "matplotlib"]
        install(session, "--no-config", *given, *map(wheel, PACKAGES), *tools)
    python = python_of(pathlib.Path(session.virtualenv.location))
    session.run("pyright", "-p", str(ROOT / "packages" / "pytensor"), "--pythonpath", python)
    sample = () if "--sample" in session.posargs else ("--sample", "1/4")
    run_tests(session, "pytensor", *sample, workers=0)


def torch_at_hand() -> list[str]:
    """PyTorch, if its wheel for processors and Python 3.11 lies in a local folder."""
    found = [w for p in LINKS.split(",") if p for w in pathlib.Path(p).glob("torch-*cp311*.whl")]
    # its very version, so that nothing larger comes from elsewhere
    return [f"torch=={found[0].name.split('-')[1]}"] if found else []


def install_libraries(session: nox.Session) -> None:
    """JAX with what ``jax.export`` needs, Numba, ONNX, Dask, xarray, miniKanren, and PyTorch where its wheel is at hand."""
    here = torch_at_hand() if session.python == "3.11" else []
    install(
        session,
        "jax>=0.6",
        "flatbuffers>=24",
        "numba>=0.61",
        "onnx>=1.17",
        "onnxruntime>=1.20",
        "distributed>=2025.1",
        "xarray>=2025.1",
        "miniKanren>=1.0.3",
        *here,
    )


def install_everything(session: nox.Session, *tools: str) -> None:
    """All wheels and all that any test needs, to measure coverage with."""
    forget_coverage(session)
    needed = [*TEST_TOOLS, "coverage>=7.10.3", FASTER, *tools]
    install(session, wheel("") + "[examples]", wheel("testing"), *needed)
    install_libraries(session)


@nox.session(python="3.13")
@timed
def backends(session: nox.Session) -> None:
    """A sample of the tests of JAX and Numba on the newest Python, which has other versions of them."""
    need_wheels()
    install(session, wheel(""), wheel("testing"), *TEST_TOOLS)
    install_libraries(session)
    run_tests(session, "backends", "compile", "-k", "numba or jax", "--sample", "2/16", workers=0)


@nox.session(python="3.11")
@timed
def lowest(session: nox.Session) -> None:
    """The lowest versions that are allowed, of the siblings and of NumPy, without the pins; then every command so."""
    need_wheels()
    install(session, "--no-config", "--resolution", "lowest", *map(wheel, PACKAGES))
    install(
        session,
        "--no-config",
        wheel("testing"),
        "mpmath",
        "pytest>=8",
        "pytest-xdist>=3",
        "hypothesis>=6.100",
        "opt-einsum>=3.3",
        "scipy==1.13.1",
    )
    session.run("python", "-P", "-c", "import numpy; assert numpy.__version__ == '2.0.0'")
    run_tests(session, *PACKAGES, "--sample", "3/24", workers=0)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    required = [*project["dependencies"], *project["optional-dependencies"]["demo"]]
    named = [each for each in required if not each.startswith("occelo-")]
    # old versions of what the command line names, beside old ones of what these need, and beside the newest
    for resolution, what in (
        ("lowest", [wheel("")]),
        ("lowest-direct", [wheel("") + "[demo]", *named]),
    ):
        install(session, "--no-config", "--upgrade", "--resolution", resolution, *what)
        run_tests(
            session,
            "integration/commands/test_commands.py",
            "-W",
            "ignore::DeprecationWarning",
            workers=0,
        )


@nox.session(python="3.11")
@timed
def releases(session: nox.Session) -> None:
    """A patch release of the graph package works with the other wheels; a breaking one is refused."""
    need_wheels()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for version in ("0.1.1", "0.2.0"):
            copy = folder / version
            shutil.copytree(
                ROOT / "packages" / "graph", copy, ignore=shutil.ignore_patterns("__pycache__")
            )
            project = copy / "pyproject.toml"
            text = re.sub(
                r'^version = ".*"$', f'version = "{version}"', project.read_text(), flags=re.M
            )
            project.write_text(text)
            build(folder / f"dist-{version}", project=copy)
        others = [wheel(p) for p in PACKAGES[1:]]
        install(
            session, wheel("graph", folder / "dist-0.1.1"), *others, wheel("testing"), *TEST_TOOLS
        )
        session.run(
            "python", "-P", "-c",
            "import importlib.metadata as m; assert m.version('occelo-graph') == '0.1.1'",
        )  # fmt: skip
        run_tests(session, *PACKAGES[1:], "--sample", "4/48", workers=0)
        breaking = wheel("graph", folder / "dist-0.2.0")
        refused = subprocess.run(
            [
                UV,
                "pip",
                "install",
                "--dry-run",
                "--python",
                session.virtualenv.location,
                breaking,
                *others,
            ],
            capture_output=True,
            text=True,
            check=False,
        )
        if refused.returncode == 0:
            session.error("A breaking release of occelo-graph was accepted by the other packages")
        session.log("A breaking release is refused: " + refused.stderr.strip().splitlines()[-1])


def run_beside(name: str, *arguments: str) -> tuple[int, str]:
    """Run a session of this file in a process of its own: its status and all that it said."""
    done = subprocess.run(
        [sys.executable, "-m", "nox", "-f", __file__, "-s", name, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout


@nox.session(venv_backend="none", tags=["ci"])
@timed
def beside(session: nox.Session) -> None:
    """Types, and the samples of tests on other Pythons, versions and wheels: three at a time, since each waits for installations.

    What each says is printed when it ends; all run, and one that fails fails this session.
    """
    need_wheels()
    arguments = ["--", *session.posargs] if session.posargs else []
    failed: list[str] = []
    with concurrent.futures.ThreadPoolExecutor(3) as pool:
        running = {pool.submit(run_beside, name, *arguments): name for name in BESIDE}
        for each in concurrent.futures.as_completed(running):
            status, said = each.result()
            session.log(f"{running[each]}:\n{said}")
            if status:
                failed.append(running[each])
            for took in re.finditer(r"(\S+) took (\d+) s, and (\d+) s of processors", said):
                TOOK[f"  {took[1]}"] = float(took[2]), float(took[3])
    if failed:
        session.error(f"These failed: {', '.join(failed)}")


@nox.session(tags=["ci"])
@timed
def coverage(session: nox.Session) -> None:
    """The coverage of sources, by branches, in all sessions that measured it; and what each session took."""
    session.install("coverage>=7.10.3")
    settings = [f"--rcfile={ROOT / 'pyproject.toml'}", f"--data-file={MEASURED / 'all'}"]
    session.run("coverage", "combine", "--keep", "-q", *settings, *map(str, MEASURED.glob("*.*")))
    # one report, since each takes seconds: 2 is the status where less is covered than must be
    report = ["coverage", "report", "--sort=-miss", *settings]
    table = session.run(*report, silent=True, success_codes=[0, 2])
    lines = str(table).strip().splitlines()
    session.log("\n".join(["The largest gaps:", *lines[:27], *lines[-3:]]))
    for name, (clock, processors) in TOOK.items():
        session.log(f"{name:24} {clock:5.0f} s {processors:6.0f} s of processors")
    session.log(f"{'all, with environments':24} {time.monotonic() - START:5.0f} s")
    if "Coverage failure" in str(table):
        session.error(lines[-1])


@nox.session(python="3.11", reuse_venv=True)
@timed
def site(session: nox.Session) -> None:
    """The documentation in ``.nox/site-of-pages/html``: every cell of every page is run, and a warning or a failing cell is an error.

    Cells that did not change are not run again, unless ``nox -s site -- --fresh`` begins anew. Only what is installed
    comes from the network; pages are built and read without it.
    """
    need_wheels()
    groups = tomllib.loads((ROOT / "pyproject.toml").read_text())["dependency-groups"]
    install(session, wheel("") + "[examples]", wheel("testing"), *TEST_TOOLS, *groups["site"])
    install_libraries(session)
    folder = ROOT / ".nox" / "site-of-pages"
    if "--fresh" in session.posargs:
        shutil.rmtree(folder, ignore_errors=True)
    session.run("python", "-P", str(ROOT / "docs" / "site" / "build.py"), str(folder))


@nox.session(python="3.12", reuse_venv=True)
@timed
def stored(session: nox.Session) -> None:
    """Run the cells of the pages about PyTensor, PyMC and nutpie, and store their outputs beside the pages, for `site`.

    The environment is that of `bridge`. ``tests/docs`` fails for a page whose cells changed since.
    """
    need_wheels()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        build(folder, project=ROOT / "packages" / "pytensor")
        needed = [wheel("pytensor", folder) + "[nutpie]", wheel(""), *map(wheel, PACKAGES)]
        install(session, "--no-config", *needed)
    session.run("python", "-P", str(ROOT / "docs" / "site" / "stored.py"))


@nox.session(python="3.11", reuse_venv=True)
@timed
def accessible(session: nox.Session) -> None:
    """The pages that `site` built, checked with axe-core in Chromium at the widths of a desktop and a phone; the keys of a viewer.

    Findings that are serious fail. A Chromium of the machine is used; nothing is fetched but the package with axe-core.
    """
    need_wheels()
    install(session, wheel(""))
    session.run("python", "-P", str(ROOT / "docs" / "site" / "viewer_keys.py"))
    # its other dependencies would bring a browser
    session.install("--no-deps", "axe-playwright-python>=0.1.8")
    pages = ROOT / ".nox" / "site-of-pages" / "html"
    session.run(
        "python", "-P", str(ROOT / "docs" / "site" / "accessible.py"), str(pages), *session.posargs
    )


@nox.session(python="3.11", tags=["thorough"])
@timed
def thorough(session: nox.Session) -> None:
    """Every random case at full size, every test of which CI takes a sample, and libraries with all their threads."""
    need_wheels()
    install_everything(session, "ziglang")
    session.env["HYPOTHESIS_PROFILE"] = "thorough"
    everything = [
        *PACKAGES,
        "families",
        "integration",
        "mistakes",
        "architecture",
        "docs",
        "backends",
    ]
    run_tests(session, *everything, one_thread=False)


@nox.session(python="3.12", tags=["thorough"])
def models(session: nox.Session) -> None:
    """Models of PyMC beside PyTensor, JAX, nutpie and Stan: a table that a run which was stopped goes on with; hours.

    ``nox -s models -- --readme`` also writes it into ``benchmarks/README.md``, ``-- --all`` takes all models.
    """
    need_wheels()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        build(folder, project=ROOT / "packages" / "pytensor")
        given = [wheel("pytensor", folder) + "[nutpie]", wheel(""), *map(wheel, PACKAGES)]
        # without the pins, which are newer than what PyTensor allows; with bytecode, as pip leaves it
        install(session, "--no-config", "--compile-bytecode", *given, "jax>=0.6", "httpstan>=4.13")
    session.run("python", str(ROOT / "benchmarks" / "models.py"), *session.posargs)
    options = [each for each in session.posargs if each in ("--readme", "--fresh")]
    session.run("python", str(ROOT / "benchmarks" / "nutpie_threads.py"), *options)


@nox.session(python="3.12", tags=["thorough"])
@timed
def their_tests(session: nox.Session) -> None:
    """PyTensor's own tests of its backends in the mode "OCCELO": a table, and an error for failures that have no reason in the list.

    The variable OCCELO_PYTENSOR_SOURCES names the folders with its tests, as PATH does; without it nothing is run.
    """
    if not os.environ.get("OCCELO_PYTENSOR_SOURCES"):
        session.skip("OCCELO_PYTENSOR_SOURCES names no folder with tests of PyTensor")
    need_wheels()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        build(folder, project=ROOT / "packages" / "pytensor")
        needed = [wheel("pytensor", folder) + "[pymc]", wheel(""), *map(wheel, PACKAGES)]
        install(session, "--no-config", *needed, "jax>=0.6", "pytest>=8")
    session.run("python", str(ROOT / "tests" / "pytensor" / "their_tests.py"), *session.posargs)


@nox.session(venv_backend="none")
@timed
def contributing(session: nox.Session) -> None:
    """The commands of CONTRIBUTING.md, in a copy of the last commit."""
    if not (ROOT / ".git").exists():
        session.skip("this is no checkout of git")
    text = (ROOT / "CONTRIBUTING.md").read_text()
    commands = re.findall(r"^```sh\n(.*?)^```$", text, re.M | re.S)
    with tempfile.TemporaryDirectory() as name:
        copy = pathlib.Path(name) / "copy.tar"
        # whoever the checkout belongs to
        archive = ["git", "-c", "safe.directory=*", "archive", "-o", str(copy), "HEAD"]
        session.run(*archive, external=True)
        shutil.unpack_archive(copy, name)
        session.chdir(name)
        for command in commands:
            session.run("bash", "-euc", command, external=True)
        session.chdir(ROOT)


@nox.session(python="3.11")
def release(session: nox.Session) -> None:
    """All of a release but the upload: wheels, versions, changelogs, interfaces; it prints tags and commands.

    A version has a dated heading in its changelog and a tag that does not exist yet. If its interface is not that of the last
    tag it is another version, and, if a line was lost or changed, one that the ranges of the other packages exclude.
    """
    shutil.rmtree(WHEELS, ignore_errors=True)
    need_wheels()
    commands: list[str] = []
    for package in ("", *MEMBERS):
        folder = ROOT / "packages" / package if package else ROOT
        version = re.findall(r'^version = "(.*)"$', (folder / "pyproject.toml").read_text(), re.M)[
            0
        ]
        name = f"occelo-{package}" if package else "occelo"
        heading = re.search(
            rf"^## {re.escape(version)} (.*)$", (folder / "CHANGELOG.md").read_text(), re.M
        )
        if heading is None or "unreleased" in heading[1]:
            session.warn(
                f"{name} {version}: its changelog has no dated heading, so it is not released"
            )
            continue
        tags = git("tag", "--list", f"{name}-*", "--sort=-creatordate").split()
        tag = f"{name}-{version}"
        if package and tags:
            last = tag if tag in tags else tags[0]
            path = f"packages/{package}/interface.txt"
            earlier = last.removeprefix(f"{name}-")
            broken = broken_promises(
                git("show", f"{last}:{path}"), (ROOT / path).read_text(), earlier, version
            )
            if broken:
                session.error(
                    f"The interface of {name} {version} is not that of {earlier}: {broken[:5]}"
                )
        if tag in tags:
            session.log(f"{tag} is released already")
            continue
        commands += [f"git tag {tag}", f"{UV} publish {wheel(package)}"]
    session.log("To release:\n" + "\n".join(commands or ["nothing"]))


def git(*arguments: str) -> str:
    """What a command of git prints."""
    return subprocess.run(
        ["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout


@nox.session(python="3.11")
def bench(session: nox.Session) -> None:
    """Figures beside NumPy, PyTensor, JAX and PyTorch, in one run; needs half an hour."""
    need_wheels()
    # without the pins, which are newer than what PyTensor allows
    peers = ["pytensor>=3.0", "jax>=0.6", "scipy>=1.13", "matplotlib>=3.9", *torch_at_hand()]
    install(session, "--no-config", "--compile-bytecode", wheel(""), *peers)
    session.run(
        "python", str(ROOT / "benchmarks" / "run.py"), *session.posargs,
        env={
            "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1",
            # a rewriter that reaches its limit is an error
            "OCCELO_FLAGS": "optdb__on_limit=raise",
        },
    )  # fmt: skip
