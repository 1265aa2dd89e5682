"""PyTensor's own tests of its backends, run as a client of the mode "OCCELO" would: a table of what passes, and why the rest does not.

    python tests/pytensor/their_tests.py [FOLDER ...] [--only PART] [--failures]

A folder is a checkout of PyTensor; its sdist unpacked, which has few tests; or the sdist of Aesara, from which PyTensor comes: a copy with PyTensor's
names is run. Without folders, those of the variable OCCELO_PYTENSOR_SOURCES are taken. Nothing of theirs is kept here.

Public tests of a backend are the files of `PUBLIC`. They name a backend, "NUMBA" or "JAX", its linker, or none, which is the default
mode. Each file is run twice: with PyTensor's interpreter in the place of all of these, and with the mode "OCCELO". The tests that
count are those that pass in the interpreter: the others look at the code or the warnings of one backend, or need what is not installed.
`their_failures.toml` says why some fail here. A failure that it does not name ends the run with an error, as do less than 85 % that pass.
"""

from __future__ import annotations

import argparse
import ast
import functools
import importlib.util
import json
import os
import pkgutil
import re
import subprocess
import sys
import tempfile
import tomllib
import warnings
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

HERE = Path(__file__)
SOURCES, MODE, RESULTS = "OCCELO_PYTENSOR_SOURCES", "OCCELO_THEIR_MODE", "OCCELO_THEIR_RESULTS"
PUBLIC = (
    "link/numba/**/test_*.py", "link/jax/**/test_*.py",
    "scan/test_basic.py", "compile/test_builders.py", "compile/test_shared.py", "compile/function/test_*.py",
    "tensor/test_*.py", "tensor/random/test_basic.py", "test_*.py",
)  # fmt: skip
PRIVATE = {
    "test_config.py", "test_printing.py", "test_pytensor_cache.py", "test_updates.py", "test_type.py", "test_type_other.py", "test_utils.py",
    "test_performance.py", "test_cython_support.py", "test_vectorize_codegen.py", "test_linker.py", "test_typed_list.py",
    "test_blas_c.py", "test_blas.py", "test_blas_scipy.py", "test_mpi.py", "test_gc.py", "test_io.py", "test_merge.py", "test_inplace.py",
}  # fmt: skip
"""Names of files among them that compile nothing, or look at the code or the graphs of one backend alone."""
RENAMED = {
    "aesara": "pytensor", "Aesara": "PyTensor", r"\.randint,": ".integers,", r'compute_test_value="\w+",? *': "",
    r"config\.unittests__rseed(?! =)": "666", r"CS[CR]MatrixType\(numba\.types\.float64\)": "None",
    r"compile\.debugmode": "compile.debug.debugmode", r"nlinalg\.Inv\b": "nlinalg.MatrixInverse",
    r"\b(ati|inplace)\.(\w+)_inplace": r"at.\2", r'(?<!as_)tensor\(("float|"int|config)': r"tensor(dtype=\1",
}  # fmt: skip
"""What is written differently in Aesara's tests, as patterns."""
LEAST = 0.85
NOT_NAMED = "not named in their_failures.toml"


def main() -> int:
    warnings.simplefilter("ignore")  # of imports from where names were
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folders", nargs="*", type=Path)
    parser.add_argument("--only", default="", help="only files with this in their names")
    parser.add_argument("--failures", action="store_true", help="print each failure")
    options = parser.parse_args()
    named = os.environ.get(SOURCES, "").split(os.pathsep)
    folders = options.folders or [Path(each) for each in named if each]
    if not folders:
        print(f"skipped: {SOURCES} names no folder with tests of PyTensor")
        return 0
    reasons = tomllib.loads(HERE.with_name("their_failures.toml").read_text())
    passed, failed, why = Counter[str](), Counter[str](), Counter[str]()
    for folder in folders:
        for name, error in compared(folder, folders, options.only).items():
            (failed if error else passed)[f"{folder.name}: {name.partition('::')[0]}"] += 1
            if error:
                reason = reason_of(name, reasons)
                why[reason] += 1
                if options.failures or reason == NOT_NAMED:
                    print(f"{name}: {error}")
    print(f"{'file':70} tests passed failed")
    for file in sorted(passed | failed):
        print(f"{file:70} {passed[file] + failed[file]:5} {passed[file]:6} {failed[file]:6}")
    tests = passed.total() + failed.total()
    share = passed.total() / max(tests, 1)
    print(f"Of {tests} tests, {passed.total()} pass ({share:.1%}). Why the others fail:")
    for reason, number in why.most_common():
        print(f"{number:5}  {reason}")
    return int(NOT_NAMED in why or share < LEAST)


def compared(folder: Path, folders: list[Path], part: str) -> dict[str, str]:
    """The errors in the mode "OCCELO" of the tests that pass in PyTensor's interpreter, empty where a test passes here, too.

    Helpers of the tests that ``folder`` lacks, as sdists do, are those of the other ``folders``.
    """
    with tempfile.TemporaryDirectory() as copy:
        root = Path(copy)
        for each in [*(f for f in folders if f != folder), folder]:
            copy_renamed(each, root)
        files = public_files(folder, part)
        theirs, ours = (run(root, files, mode) for mode in ("interpreter", "OCCELO"))
    lost = "failed", "the run ended before it"
    ends = {n: ours.get(n, lost) for n, (outcome, _) in theirs.items() if outcome == "passed"}
    return {
        n: "" if outcome == "passed" else error or outcome for n, (outcome, error) in ends.items()
    }


def public_files(folder: Path, part: str) -> list[str]:
    """The files of `PUBLIC` in a folder, whose names have ``part`` in them."""
    files = dict.fromkeys(f for each in PUBLIC for f in sorted((folder / "tests").glob(each)))
    return [str(f.relative_to(folder)) for f in files if f.name not in PRIVATE and part in str(f)]


def run(root: Path, files: list[str], mode: str) -> dict[str, tuple[str, str]]:
    """How each test of the files ended in a mode, and the last line of its error."""
    with tempfile.TemporaryDirectory() as folder:
        results = Path(folder) / "results"
        results.touch()
        environment = os.environ | {
            MODE: mode,
            RESULTS: str(results),
            "PYTHONPATH": str(HERE.parent),
        }
        command = [sys.executable, "-m", "pytest", "-q", "-p", HERE.stem, "-p", "no:cacheprovider", "-c", os.devnull, "--rootdir", str(root),
                   "-W", "ignore", "--continue-on-collection-errors", *files]  # fmt: skip
        done = subprocess.run(
            command, cwd=root, env=environment, capture_output=True, text=True, check=False
        )
        for line in done.stdout.splitlines():
            if line.startswith("ERROR "):  # a file that does not import
                print(f"in the {mode}: {line}")
        if done.returncode not in (0, 1):
            print(f"in the {mode}: pytest ended with {done.returncode}: {done.stderr[-500:]}")
        lines = [json.loads(line) for line in results.read_text().splitlines()]
    return {name: (outcome, error) for name, outcome, error in lines}


def reason_of(name: str, reasons: dict[str, list[str]]) -> str:
    """The reason that names a test, by its whole name or by that without parameters."""
    names = {name, name.partition("[")[0]}
    return next((reason for reason, tests in reasons.items() if names & set(tests)), NOT_NAMED)


def copy_renamed(folder: Path, root: Path) -> None:
    """Copy tests with the names of PyTensor, each imported from where the installed PyTensor has it."""
    names = RENAMED if (folder / "aesara").exists() else {}
    for path in sorted((folder / "tests").rglob("*.py")):
        text = path.read_text()
        for old, new in names.items():
            text = re.sub(old, new, text)
        lines = text.splitlines()
        nodes = [n for n in ast.walk(ast.parse(text)) if isinstance(n, ast.Import | ast.ImportFrom)]
        for node in sorted(nodes, key=lambda n: -n.lineno):
            imports = _imports(node)
            if imports is not None:
                indented = [" " * node.col_offset + each for each in imports]
                lines[node.lineno - 1 : node.end_lineno] = indented
        target = root / path.relative_to(folder)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text("\n".join(lines) + "\n")


def _imports(node: ast.Import | ast.ImportFrom) -> list[str] | None:
    """The imports of the same names from PyTensor as it is; None if they need no change."""
    if isinstance(node, ast.Import):
        if all(a.name in _modules() or not a.name.startswith("pytensor") for a in node.names):
            return None
        return [f"{a.asname} = None" for a in node.names]
    if not (node.module or "").startswith("pytensor"):
        return None
    if node.names[0].name == "*":
        return None
    lines: list[str] = []
    for each in node.names:
        home, name = _home(node.module or "", each.name), each.asname or each.name
        if home is not None:
            lines.append(f"from {home} import {each.name} as {name}")
        else:  # a name that PyTensor has no longer
            stands_for = "lambda v: v.tag.test_value" if name == "get_test_value" else "None"
            lines.append(f"{name} = {stands_for}")
    return lines


@functools.cache
def _homes() -> dict[str, list[str]]:
    """The modules of PyTensor by the names that they have."""
    import pytensor

    homes: dict[str, list[str]] = {}
    for module in pkgutil.walk_packages(pytensor.__path__, "pytensor."):
        if module.name.startswith(
            (
                "pytensor.misc",
                "pytensor.ipython",
                "pytensor.bin",
                "pytensor.link.mlx",
                "pytensor.link.pytorch",
            )
        ):
            continue
        with warnings.catch_warnings(action="ignore"):
            try:
                names = vars(importlib.import_module(module.name))
            except ImportError:
                continue
        for name in names:
            homes.setdefault(name, []).append(module.name)
    return homes


def _modules() -> set[str]:
    return {each for modules in _homes().values() for each in modules} | {"pytensor"}


def _home(module: str, name: str) -> str | None:
    """The module that has a name now."""
    homes = _homes().get(name, [])
    if (
        f"{module}.{name}" in _modules()
        or module in homes
        or hasattr(sys.modules.get(module), name)
    ):
        return module
    return min(homes, key=len, default=None)


# What follows is the plugin by which pytest runs their files


def pytest_configure() -> None:
    """Put the mode of this run in the place of PyTensor's backends and of its default mode."""
    import pytensor
    from pytensor.compile import mode as modes
    from pytensor.link.basic import PerformLinker
    from pytensor.link.jax.linker import JAXLinker
    from pytensor.link.numba.linker import NumbaLinker
    from pytensor.link.pytorch.linker import PytorchLinker

    import occelo_pytensor

    assert occelo_pytensor.from_pytensor  # the import registers the mode
    ours = modes.predefined_modes["OCCELO"]
    least = modes.RewriteDatabaseQuery(["minimum_compile"])
    wanted = ours if os.environ[MODE] == "OCCELO" else modes.Mode(PerformLinker(), least)
    backends = ("numba", "jax", "pytorch", "auto", None)
    initialise: Any = modes.Mode.__init__

    def of_any_backend(
        self: Any, linker: Any = None, optimizer: Any = "default", db: Any = None
    ) -> None:
        if isinstance(linker, NumbaLinker | JAXLinker | PytorchLinker) or (
            (linker is None or isinstance(linker, str)) and linker in backends
        ):
            linker, optimizer = wanted.linker, wanted.provided_optimizer
        initialise(self, linker, optimizer, db)

    modes.Mode.__init__ = of_any_backend  # type: ignore[method-assign]
    modes.predefined_modes.update(dict.fromkeys(("NUMBA", "NUMBA_VM", "JAX", "PYTORCH"), wanted))
    modes.register_mode("WANTED", wanted)
    option: Any = type(pytensor.config).mode
    option._apply = lambda value: value
    pytensor.config.mode = "WANTED"
    if importlib.util.find_spec("jax"):  # what comes from a backend is an array of NumPy here
        jax: Any = importlib.import_module("jax")
        jax.Array = (jax.Array, np.ndarray)


def pytest_itemcollected(item: Any) -> None:
    """Let no test run the code of Numba's backend in Python."""
    helpers = sys.modules.get("tests.link.numba.test_basic")
    if hasattr(helpers, "eval_python_only"):
        helpers.eval_python_only = lambda *_, **__: None


@pytest.fixture
def benchmark() -> Any:
    """The function that is to be timed runs once."""
    return lambda function, *args, **options: function(*args, **options)


def pytest_runtest_logreport(report: Any) -> None:
    """Write how a test ended, as a line of JSON."""
    if report.when != "call" and report.passed:
        return
    error = str(report.longrepr).strip().splitlines()[-1] if report.failed else ""
    with open(os.environ[RESULTS], "a") as file:
        name = re.sub(r" at 0x[0-9a-f]+", "", report.nodeid)
        print(json.dumps([name, report.outcome, error]), file=file)


if __name__ == "__main__":
    raise SystemExit(main())
