"""Every command of the command line: its help, and a use of it.

The session `lowest` runs these with the lowest versions of the libraries that the command line is made of.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import occelo as oc
import occelo.tensor as ot
from occelo.command.app import app

USES: dict[str, tuple[str, str]] = {
    "": ("--version", oc.__version__),
    "backends": ("backends model:y", "native"),
    "cache": ("cache", "compiledir_"),
    "cache cleanup": ("cache cleanup", "deleted 0 files"),
    "cache clear": ("cache clear", "deleted"),
    "cache list": ("cache list --count 3", "function"),
    "cache purge": ("cache purge", "deleted"),
    "cache stats": ("cache stats", "entries"),
    "cache unlock": ("cache unlock", "is not locked"),
    "cache verify": ("cache verify", "whole, 0 not"),
    "completion": ("completion zsh", "_OCCELO_COMPLETE=zsh_complete"),
    "config": ("config floatX", "floatX=float64"),
    "demo": ("demo --epochs 1 --plot loss.png", "one step, us"),
    "dump": ("dump", "Inspect dumps"),
    "dump diff": ("dump diff f.zip f.zip", "alike"),
    "dump run": ("dump run f.zip", "first call"),
    "dump show": ("dump show f.zip", "exp"),
    "errors": ("errors axes", "An axis does not exist"),
    "explain": ("explain model.py:y --no-open --text", "the page is rewriting.html"),
    "modes": ("modes", "installed"),
    "pytensor": ("pytensor", "doctor"),
    # the package is not installed with the others
    "pytensor doctor": ("pytensor doctor model:y", "needs the extra occelo[pytensor]"),
    "version": ("version", oc.__version__),
}
"""For each command the arguments of a use, and a part of what it prints."""


def commands(found: Any = None, name: str = "") -> list[str]:
    """The names of all commands and groups of commands, as the command line has them."""
    found = app if found is None else found
    inner: dict[str, Any] = getattr(found, "commands", {})
    return [name, *(n for key, c in inner.items() for n in commands(c, f"{name} {key}".strip()))]


def run(arguments: str, status: tuple[int, ...] = (0,)) -> str:
    done = CliRunner().invoke(app, arguments.split(), catch_exceptions=False)
    assert done.exit_code in status, done.output
    return re.sub(r"\s+", " ", done.output)


@pytest.mark.parametrize(
    "arguments", [*(f"{name} --help" for name in commands()), "errors", "errors shape", "modes"]
)
def test_lines_fit_80_columns(arguments: str) -> None:
    done = CliRunner(env={"COLUMNS": "80"}).invoke(app, arguments.split(), catch_exceptions=False)
    assert done.output
    assert [line for line in done.output.splitlines() if len(line) > 80] == []


def test_every_command_has_a_use() -> None:
    assert set(commands()) == set(USES)


@pytest.mark.sampled(1)
@pytest.mark.parametrize("name", USES)
def test_every_command_helps_and_works(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if name == "demo":
        pytest.importorskip("sklearn", reason="the extra `demo` is not installed")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.delitem(sys.modules, "model", raising=False)
    monkeypatch.setenv("COLUMNS", "120")
    Path("model.py").write_text(
        "import occelo.tensor as ot\nx = ot.dvector('x')\ny = ot.log(1 + ot.exp(x))\n"
    )
    oc.function_dump(Path("f.zip"), [], ot.exp(oc.shared(1.0, "state")), format="safe")
    with oc.config.change_flags(base_compiledir=str(tmp_path / "compiled")):
        assert "Usage:" in run(f"{name} --help")
        arguments, part = USES[name]
        # a group of commands without a command shows its help: as an error in some versions of click
        assert part in run(
            arguments, (0, 2) if name in ("dump", "pytensor", "pytensor doctor") else (0,)
        )
    if name == "demo":
        assert Path("loss.png").stat().st_size


def test_the_command_line_is_a_module() -> None:
    done = subprocess.run(
        [sys.executable, "-P", "-m", "occelo", "--help"], capture_output=True, text=True, check=True
    )
    assert "Usage:" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "modules"),
    [
        ("--help", ["rich"]),
        ("config", ["rich"]),
        ("cache list", ["rich"]),
        ("backends", ["rich", "scipy"]),
        ("backends model.py:y", ["jax", "torch", "numba", "llvmlite"]),
        ("explain model.py:y --no-open", ["rich", "llvmlite"]),
        ("modes", ["rich", "jax", "torch"]),
    ],
)
def test_commands_import_no_more_than_they_need(
    arguments: str, modules: list[str], tmp_path: Path
) -> None:
    """Nothing imports the library of tables, and lists of modes and of ops in Python import no library of backends."""
    (tmp_path / "model.py").write_text(
        "import occelo.tensor as ot\nx = ot.dmatrix('x')\ny = ot.log(1 + ot.exp(x @ x)).sum(axis=0)\n"
    )
    code = f"""
import sys
from occelo.command.app import app
try:
    app({arguments.split()!r})
except SystemExit as done:
    sys.exit(done.code or (3 if sys.modules.keys() & {set(modules)!r} else 0))
"""
    done = subprocess.run(
        [sys.executable, "-P", "-c", code], capture_output=True, check=False, cwd=tmp_path
    )
    assert done.returncode == 0, done


def test_completion_of_shells_and_help_without_a_command() -> None:
    done = CliRunner().invoke(
        app,
        prog_name="occelo",
        env={"_OCCELO_COMPLETE": "bash_complete", "COMP_WORDS": "occelo ca", "COMP_CWORD": "1"},
    )
    assert done.output == "plain,cache\n"
    assert "Start with" in run("", (0, 2))


def test_the_lines_of_config_are_flags() -> None:
    done = CliRunner().invoke(app, ["config"], catch_exceptions=False)
    lines = done.output.splitlines()
    names = {line.partition("=")[0] for line in lines if not line.startswith(" ")}
    assert names == {option.name for option in oc.config.options()}
    assert max(len(line) for line in lines if line.startswith(" ")) <= 80


def test_the_list_of_the_cache_has_names_and_ages(tmp_path: Path) -> None:
    x = ot.dvector("x")
    with oc.config.change_flags(base_compiledir=str(tmp_path)):
        for name in ("posterior", None):
            oc.function([x], x * (3 if name else 4), name=name, mode="native")
        text = run("cache list")
    assert "posterior" in text
    assert "just now" in text
