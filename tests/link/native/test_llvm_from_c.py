"""The LLVM IR that is checked in belongs to the C files next to it."""

from __future__ import annotations

import importlib.util
import re
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import pytest

from occelo_link.machine.elf_image import image_of
from occelo_link.machine.loaded_code import fits
from occelo_link.units.engine import compile_module

COMMAND = Path(__file__).parents[3] / "packages" / "link" / "llvm_from_c.py"


def _command() -> Any:
    spec = importlib.util.spec_from_file_location("llvm_from_c", COMMAND)
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules["llvm_from_c"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


COMMANDS = _command()


def _version_of_compiler() -> str | None:
    try:
        return version("ziglang")
    except PackageNotFoundError:
        return None


@pytest.mark.parametrize("source", COMMANDS.SOURCES, ids=lambda source: source.path)
def test_the_text_is_made_from_the_sources(source: Any) -> None:
    text = source.llvm.read_text()
    assert text.startswith(source.first_line()), "run: python packages/link/llvm_from_c.py"
    compiler = re.search(r"^; with ziglang (.*)$", text, re.MULTILINE)
    assert compiler is not None
    if compiler[1] == _version_of_compiler():
        assert COMMANDS.llvm_ir(source) == text


@pytest.mark.parametrize("source", COMMANDS.SOURCES, ids=lambda source: source.path)
def test_the_text_belongs_to_no_machine(source: Any) -> None:
    text = source.llvm.read_text()
    assert (
        re.search(r"^(target|attributes|!)|x86|#\d|captures|lifetime", text, re.MULTILINE) is None
    )
    # nothing but functions of its own, and instructions of LLVM
    declared = re.findall(r"^declare .*@([\w.]+)\(", text, re.MULTILINE)
    assert all(name.startswith("llvm.") for name in declared)


@pytest.mark.skipif(not fits(), reason="code is loaded by LLVM here")
@pytest.mark.parametrize("level", [0, 1])
@pytest.mark.parametrize("source", COMMANDS.SOURCES, ids=lambda source: source.path)
def test_the_code_is_loaded_without_llvm(source: Any, level: int) -> None:
    code = compile_module(source.llvm.read_text(), level=level)
    assert image_of({"": code}).symbols


def test_another_slot_or_text_has_another_digest() -> None:
    entry, *_ = COMMANDS.SOURCES
    other = type(entry)(
        entry.path, ("units.entry_context", "units.frame"), entry.structs, entry.flags
    )
    assert other.first_line() != entry.first_line()
    assert "_Static_assert(offsetof(context, arena) == 8 * 8" in entry.text()
