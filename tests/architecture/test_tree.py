"""Tests of the source tree: sizes of files, names, the matrix of op families, documentation."""

from __future__ import annotations

import ast
import functools
import importlib
import inspect
import pkgutil
import re
import subprocess
import sys
import tomllib
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import workspace
from workspace import CLIENTS, CORE, FAMILIES, ROOT

import occelo_graph as og
import occelo_graph.tensor as ot
from occelo_arrays import functions as arrays
from occelo_graph import provenance
from occelo_graph.ops.control.identities import SameType, Unchanged
from occelo_graph.ops.control.python_function import FromFunctionOp
from occelo_graph.ops.reductions import ByReduction
from occelo_graph.ops.typed_list import ListOp
from occelo_linalg import functions as linalg
from occelo_networks import functions as nn
from occelo_stats import functions as stats
from occelo_testing.examples import EXAMPLES

PACKAGES = workspace.MEMBERS
WITH_OPS = [n for n in FAMILIES if (workspace.BY_NAME[n].source / f"occelo_{n}" / "ops").is_dir()]
"""The families that define ops."""
SOURCES = sorted(
    p
    for folder in (ROOT / "src", *(ROOT / "packages" / n / "src" for n in PACKAGES))
    for p in folder.rglob("*.py")
)
INDEX = re.compile(r"https?://\S*(/simple|\.whl|\.tar\.gz|\.tgz)")
NOT_TABLES = set(
    "matrix_op parameters rejection draw_derivatives reuse declared scalar signatures key masks fitting axes series subscripts op dtypes subscripted modes scipy_options".split()
)
"""Modules of families that hold no functions of tensors."""
KINDS = "create elemwise reduce shape index join blas control cast typed_list".split()
"""The kinds of ops of the core: each has a file or folder of its name in every layer."""
NOT_FUNCTIONS_OF_TENSORS = {
    "NoneSliceConst",
    "TypedListType",
    "as_symbolic",
    "make_slice",
    "slicetype",
    "at_most_length",
    "never_negative",
    "shared",
    "vectorize",
    "vectorize_graph",
    "constant",
    "as_tensor",
    "as_tensor_variable",
    "slice_at_axis",
    "clipped_length",
    "length_of_slice",
    "get_vector_length",
    "is_flat",
    "broadcast_shape",
    "shape_tuple",
    "identity_of",
    "elementwise",
    "tensor",
    "FACTS",
    "register_fact",
    # of generators
    "DISTRIBUTIONS",
    "random_generator_type",
    "copied",
    "rng",
    "shared_rng",
    "normalize_size_param",
}


def test_files_are_small_and_named_for_what_they_hold() -> None:
    vague = {"utils", "util", "basic", "misc", "helpers", "common", "extra"}
    lines = {path: path.read_text().count("\n") for path in SOURCES}
    assert {path: n for path, n in lines.items() if n > 800} == {}
    named = [path for path in SOURCES if path.stem in vague]
    assert [path for path in named if "at PyTensor's place" not in path.read_text()] == []


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="this is no checkout of git")
def test_nothing_lies_about() -> None:
    listed = subprocess.run(
        ["git", "-c", "safe.directory=*", "ls-files"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    tracked = [Path(line) for line in listed.stdout.splitlines()]
    kinds = {".py", ".md", ".toml", ".typed"}
    pictures = {str(p.with_suffix(".png")) for p in tracked if p.parent == Path("docs/examples")}
    named = {".gitignore", ".ci/run", "tests/mistakes/mistakes.txt", "benchmarks/loops_in_c.c"}
    # names of other libraries, not text
    named |= {f"docs/names_of_{n}.txt" for n in ("numpy_and_jax", "pytensor")}
    named |= pictures | {
        ".pre-commit-config.yaml",
        "docs/errors/advice.txt",
        "docs/site/static/site.css",
        "docs/site/static/gallery.js",
        "docs/site/templates/page.html",
        "docs/site/templates/search.html",
    }
    named |= {f"packages/{p}/interface.txt" for p in PACKAGES}
    # a table that a command computes and prints
    named.add("src/occelo/command/backends.json")
    # worked examples, and messages about mistakes
    several = (Path("docs/site/examples"), Path("tests/mistakes/functions"))
    named |= {str(p) for p in tracked if p.suffix == ".txt" and p.is_relative_to(several[0])}
    named |= {str(p) for p in tracked if p.suffix == ".txt" and p.parent == several[1]}
    # programs that users write from the pages, which are no part of the tests' own source
    named |= {str(p) for p in tracked if p.parent == Path("tests/integration/walks")}
    # what cells of pages print that run in another environment (docs/site/stored.py)
    named |= {str(p) for p in tracked if p.match("docs/*.outputs.json")}
    # a saved function of the first format, which later versions read
    named.add("tests/export/first_format.occelo")
    # programs for a peer, and what calls them
    named |= {str(p) for p in tracked if p.is_relative_to("benchmarks/stan")}
    # sources in C, and LLVM IR that is made from them (tests/link/native/test_llvm_from_c.py)
    compiled = {
        p
        for p in tracked
        if p.suffix in (".c", ".h", ".ll") and re.match(r"packages/(link|random)/src/", str(p))
    }
    assert all(p.with_suffix(".c") in compiled for p in compiled if p.suffix == ".ll")
    rest = {str(p) for p in tracked if p.suffix not in kinds and p.name != "LICENSE"}
    assert rest == named | {str(p) for p in compiled}
    folders = {"src", "packages", "tests", "examples", "benchmarks", "docs", ".ci"}
    assert {p.parts[0] for p in tracked if len(p.parts) > 1} <= folders


@pytest.mark.parametrize("package", CORE)
def test_the_core_names_no_family(package: str) -> None:
    named = re.compile(rf"\b({'|'.join(workspace.modules(FAMILIES))})\b")
    for path in (ROOT / "packages" / package / "src").rglob("*.py"):
        text = path.read_text()
        if named.search(text):  # comments and docstrings may, which takes long to tell from code
            assert not named.search(ast.unparse(_without_docstrings(ast.parse(text)))), path


def _without_docstrings(tree: ast.Module) -> ast.Module:
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list):
            node.body = [s for s in body if not _is_text(s)] or [ast.Pass()]  # pyright: ignore
    return tree


def _is_text(statement: ast.stmt) -> bool:
    return (
        isinstance(statement, ast.Expr)
        and isinstance(statement.value, ast.Constant)
        and isinstance(statement.value.value, str)
    )


IMPORTS = re.compile(r"^\s*(?:from|import) (occelo[\w.]*)(?: import (.*))?", re.M)
"""The imports of a file, also those within functions and in the texts of scripts."""


@functools.cache
def _needed_for(module: str) -> frozenset[str]:
    """The packages that the import of a module needs: itself, or of support for tests what its modules import."""
    top, *rest = module.split(".")
    if top != "occelo_testing":
        return frozenset({top})
    path = workspace.BY_NAME["testing"].source.joinpath(top, *rest)
    path = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    # what is imported late is looked for first
    return (
        _imported_by(re.sub(r"^ .*", "", path.read_text(), flags=re.M))
        if path.exists()
        else frozenset()
    )


def _imported_by(text: str) -> frozenset[str]:
    imported = IMPORTS.findall(text)
    modules = {m for m, _ in imported} | {
        f"{m}.{name.split(' as ')[0].strip()}" for m, names in imported for name in names.split(",")
    }
    return frozenset[str]().union(*map(_needed_for, modules))


@pytest.mark.parametrize("package", workspace.PACKAGES)
def test_tests_of_a_package_need_it_and_what_lies_below_alone(package: str) -> None:
    """`nox -s units` runs them so: a family is tested with functions, and the core without any family.

    Families beside each other are tested in ``tests/families``.
    """
    below = workspace.needed(package) | workspace.BY_NAME[package].optional
    below |= workspace.needed("testing") | (
        workspace.needed("compile") if package in FAMILIES else set()
    )
    allowed = {*workspace.modules(below)}
    for path in (ROOT / "tests" / package).rglob("*.py"):
        assert _imported_by(path.read_text()) <= allowed, path


def test_the_page_on_the_architecture_is_read_in_a_sitting() -> None:
    assert (ROOT / "ARCHITECTURE.md").read_text().count("\n") <= 200


def test_no_folder_has_more_than_twenty_modules() -> None:
    modules = [*SOURCES, *(ROOT / "tests").rglob("*.py")]
    folders = Counter(path.parent for path in modules if path.stem != "__init__")
    assert {folder: n for folder, n in folders.items() if n > 20} == {}


MOST_LINES = {"graph": 28_000, "link": 33_000}
"""The largest numbers of lines of packages; of the others, and of the facade, `MOST_LINES_OF_OTHERS`."""
MOST_LINES_OF_OTHERS = 16_000


@pytest.mark.parametrize("package", ["", *PACKAGES, *CLIENTS])
def test_packages_are_small(package: str) -> None:
    source = (ROOT / "packages" / package if package else ROOT) / "src"
    lines = sum(path.read_text().count("\n") for path in source.rglob("*.py"))
    assert 0 < lines <= MOST_LINES.get(package, MOST_LINES_OF_OTHERS)


def _public_functions() -> list[tuple[str, Any]]:
    functions: list[tuple[str, Any]] = []
    for family in (
        *(f"graph.ops.{k}" for k in KINDS),
        # what makes loops takes functions, and tests/sparse calls what takes sparse matrices
        *(f"{family}.ops" for family in WITH_OPS if family not in ("loops", "sparse")),
    ):
        module = importlib.import_module(f"occelo_{family}")
        modules = [module]
        if hasattr(module, "__path__"):
            modules += [
                importlib.import_module(m.name)
                for m in pkgutil.walk_packages(module.__path__, module.__name__ + ".")
            ]
        for each in modules:
            if each.__name__.rpartition(".")[2] in NOT_TABLES:
                continue
            functions += [(name, getattr(each, name)) for name in getattr(each, "__all__", ())]
    return functions


def test_every_function_has_an_example() -> None:
    """An example may be under another name for the same function, or reach it through one."""
    covered = {e.name for e in EXAMPLES}
    sources = "".join(
        p.read_text() for p in (ROOT / "packages").glob("*/src/occelo_*/*examples/*.py")
    )
    aliases: dict[int, set[str]] = {}
    functions = _public_functions()
    for name, function in functions:
        aliases.setdefault(id(function), set()).add(name)
    missing = []
    for name, function in functions:
        if name in NOT_FUNCTIONS_OF_TENSORS or inspect.isclass(function):
            continue
        names = aliases[id(function)]
        if not names & covered and not any(
            re.search(
                rf"\b(ot|functions|fft|windows|vectors|{'|'.join(WITH_OPS)})\.{n}[(\[,]",
                sources,
            )
            for n in names
        ):
            missing.append(name)
    tested_elsewhere = {
        "as_op", "wrap_py",
        # wrappers of a function that has an example, tested in tests/graph and tests/random
        "alloc_diag", "atleast_1d", "atleast_2d", "atleast_Nd", "batched_tensordot", "broadcast_arrays",
        "concat_with_broadcast", "empty_like", "fill_diagonal_offset", "identity", "make_vector", "max_and_argmax",
        "scalar_from_tensor", "tensor_from_scalar", "shape_padaxis", "specify_broadcastable", "stacklists",
        "array", "array_equiv", "bernoulli", "broadcast_shapes", "fromfunction", "isscalar", "sort_complex",
        "standard_normal", "tril_indices_from", "triu_indices_from", "set_subtensor", "inc_subtensor", "getitem", "unbroadcast", "round_half_to_even", "raise_unless",
    }  # fmt: skip
    assert set(missing) <= tested_elsewhere


def test_every_op_knows_its_traits() -> None:
    def below(cls: type) -> list[type]:
        return [c for s in cls.__subclasses__() for c in (s, *below(s))]

    own = [
        c
        for c in below(og.Op)
        if re.match(r"occelo_\w+\.ops\.", c.__module__)
        and not c.__module__.startswith("occelo_loops")
        and c.__module__
        not in (f"occelo_graph.ops.{name}" for name in ("batching", "length_inputs", "linear"))
    ]
    assert len(own) > 20
    for cls in own:
        if cls.__name__.startswith("_") or cls in (
            SameType,
            Unchanged,
            ByReduction,
            FromFunctionOp,
            ListOp,
        ):
            # a base, and what wraps functions of which nothing but the value is known
            continue
        assert inspect.getdoc(cls), cls
        for method in ("infer", "evaluate", "pullback", "infer_shape", "batch"):
            assert getattr(cls, method) is not getattr(og.Op, method), f"{cls.__name__}.{method}"


@pytest.mark.parametrize("name", ["", *PACKAGES])
def test_each_package_has_what_it_ships(name: str) -> None:
    folder = ROOT / "packages" / name if name else ROOT
    for part in ("README.md", "CHANGELOG.md", "pyproject.toml", "LICENSE"):
        assert (folder / part).is_file(), part
    package = f"occelo_{name}" if name else "occelo"
    assert (folder / "src" / package / "py.typed").is_file()
    version = next(
        line
        for line in (folder / "pyproject.toml").read_text().splitlines()
        if line.startswith("version")
    )
    assert version.split('"')[1] == importlib.import_module(package).__version__
    assert f"## {version.split(chr(34))[1]}" in (folder / "CHANGELOG.md").read_text()


def test_lines_of_packages_are_not_the_users() -> None:
    """One registry, `is_own`, says whose code is ours; a package that it lacks would be shown in messages as the user's."""
    x = ot.dmatrix("x")
    for name in workspace.PACKAGES:
        module = importlib.import_module(f"occelo_{name}")
        assert provenance.is_own(module.__name__)
    made = [nn.gelu(x), stats.norm.logpdf(x), arrays.cov(x), linalg.inv(x)]
    assert [variable.source.filename for variable in made] == [__file__] * 4


def test_no_address_of_an_index_and_no_path_of_a_machine_is_committed() -> None:
    for path in ROOT.rglob("*"):
        if path.suffix not in (".py", ".md", ".toml", ".cfg", ".yml", "") or not path.is_file():
            continue
        inside = path.relative_to(ROOT).parts
        if any(p.startswith(".") and p not in (".ci", ".gitignore") for p in inside):
            continue
        if inside[0] == "dist" or "__pycache__" in inside:
            continue
        text = path.read_text(errors="ignore")
        assert not INDEX.search(text), path
        # a home that is not the root of everything, and this checkout
        for folder in (str(Path.home()), str(ROOT)):
            assert len(folder) < 3 or f"{folder}/" not in text, f"{path}: {folder}"


OTHER_NAMES = {"sklearn": "scikit-learn"}


def _project(package: str) -> dict[str, Any]:
    folder = ROOT / "packages" / package if package else ROOT
    made: dict[str, Any] = tomllib.loads((folder / "pyproject.toml").read_text())["project"]
    return made


def _needed(package: str) -> set[str]:
    """What comes with a package, by itself and through its siblings."""
    names = {re.split(r"[\[<>= ;]", d, maxsplit=1)[0] for d in _project(package)["dependencies"]}
    for name in [n for n in names if n.startswith("occelo-")]:
        names |= _needed(name.removeprefix("occelo-"))
    return names


class _WithoutChecking(ast.NodeTransformer):
    """Takes away what only type checkers read; they know ``typing_extensions`` without an installation."""

    def visit_If(self, node: ast.If) -> Any:
        self.generic_visit(node)
        if isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            left = [
                s
                for s in node.body
                if not (isinstance(s, ast.ImportFrom) and s.module == "typing_extensions")
            ]
            node.body = left or [ast.Pass()]
        return node


def _imported(package: str) -> set[str]:
    """Top-level modules that the sources of a package import, by a statement or by name."""
    names: set[str] = set()
    for path in ((ROOT / "packages" / package if package else ROOT) / "src").rglob("*.py"):
        text = path.read_text()
        names.update(re.findall(r"""(?:import_module|_from_capsule)\(f?["'](\w+)""", text))
        for node in ast.walk(_WithoutChecking().visit(ast.parse(text))):
            if isinstance(node, ast.Import):
                names.update(a.name.partition(".")[0] for a in node.names)
            elif isinstance(node, ast.ImportFrom) and node.module:
                names.add(node.module.partition(".")[0])
    return names - set(sys.stdlib_module_names)


@pytest.mark.parametrize("package", ["", *PACKAGES])
def test_what_is_imported_is_declared(package: str) -> None:
    extras = _project(package).get("optional-dependencies", {})
    optional = {re.split(r"[\[<>= ;]", d, maxsplit=1)[0] for each in extras.values() for d in each}
    own = {"occelo", f"occelo_{package}"}
    imported = {OTHER_NAMES.get(n, n.replace("_", "-")) for n in _imported(package) - own}
    assert imported <= _needed(package) | optional, imported - _needed(package) - optional
    # the graph package says what to install where SciPy is missing; compiled code takes LAPACK from it, and values of
    # sparse matrices are its matrices
    assert ("scipy" in _needed(package)) is (
        package in ("", "link", "compile", "networks", "optimize", "sparse", "testing")
    )
