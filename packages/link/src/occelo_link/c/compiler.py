"""The C compiler: finding it, compiling shared libraries, loading them.

The linkers ``c`` and ``c|py`` compile the output of `c.printer` with it.
"""

from __future__ import annotations

import ctypes
import functools
import importlib.metadata
import importlib.util
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from occelo_link.cache.objects import kept_code
from occelo_link.cache.store import Store
from occelo_link.options import COMPILER, COMPILER_FLAGS, COMPILER_VERBOSE

__all__ = ["FLAGS", "CompilerMissing", "compile_shared", "find_compiler", "shared_library"]

FLAGS = (
    "-O3",
    "-fPIC",
    "-shared",
    "-w",
    "-fwrapv",
    "-fno-math-errno",
    "-fno-trapping-math",
    "-ffp-contract=off",
    "-fno-strict-aliasing",
)


class CompilerMissing(RuntimeError):
    """There is no C compiler; the message says what to install."""


def find_compiler() -> list[str]:
    """The command of a C compiler, the first that exists: the option ``cxx``, the environment variable ``CC``, cc, gcc,
    clang, or the compiler of the package ``ziglang``.

    `CompilerMissing` if there is none.
    """
    chosen = COMPILER.get()
    if not chosen:
        raise CompilerMissing("The option cxx is empty, so that nothing is compiled as C")
    configured = os.environ.get("CC") if chosen == "auto" else chosen
    if configured:
        command = shlex.split(configured)
        if shutil.which(command[0]):
            return command
        origin = "CC" if chosen == "auto" else "The option cxx"
        raise CompilerMissing(f"{origin} names {command[0]!r}, which is not on the PATH")
    for name in ("cc", "gcc", "clang"):
        if shutil.which(name):
            return [name]
    if importlib.util.find_spec("ziglang") is not None:
        return [sys.executable, "-m", "ziglang", "cc"]
    raise CompilerMissing(
        "The linkers c and c|py need a C compiler and found none: install gcc or clang, set CC, or "
        "`pip install ziglang`. The linker native needs no compiler"
    )


@functools.cache
def _identity(command: tuple[str, ...]) -> str:
    # asking the compiler for its version would start a child process in every process
    program = os.path.realpath(shutil.which(command[0]) or command[0])
    found = os.stat(program)
    parts = [shlex.join(command), program, str(found.st_size), str(found.st_mtime_ns)]
    if "ziglang" in command:
        parts.append(importlib.metadata.version("ziglang"))
    return " ".join(parts)


@functools.cache
def _processor_flags(command: tuple[str, ...]) -> tuple[str, ...]:
    """``-march=native`` if the compiler knows it."""
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "probe.c"
        source.write_text("int probe;\n", encoding="utf-8")
        ran = subprocess.run(
            [*command, "-march=native", "-c", str(source), "-o", str(source.with_suffix(".o"))],
            capture_output=True,
            check=False,
        )
    return ("-march=native",) if ran.returncode == 0 else ()


def compile_shared(source: str) -> bytes:
    """Compile a C source to a shared library, and return the bytes of the library.

    `CompilerMissing` if there is no compiler. RuntimeError with the compiler's messages if it fails.
    """
    command = find_compiler()
    flags = [*FLAGS, *_processor_flags(tuple(command)), *shlex.split(COMPILER_FLAGS.get())]
    with tempfile.TemporaryDirectory() as folder:
        text, made = Path(folder) / "unit.c", Path(folder) / "unit.so"
        text.write_text(source, encoding="utf-8")
        whole = [*command, *flags, str(text), "-o", str(made), "-lm"]
        if COMPILER_VERBOSE.get():
            print(shlex.join(whole))
        ran = subprocess.run(
            whole,
            capture_output=True,
            text=True,
            check=False,
        )
        if ran.returncode:
            raise RuntimeError(f"{shlex.join(command)} failed:\n{ran.stderr[-2000:]}")
        return made.read_bytes()


def shared_library(source: str, store: Store | None) -> ctypes.CDLL:
    """The loaded library of a source. It is compiled only if the store does not have it.

    The store checks the bytes of a library when it reads them. If the file itself were loaded after that, it could have
    changed in between. So a temporary copy of the checked bytes is loaded, and deleted at once.
    """
    identity = [_identity(tuple(find_compiler())), *FLAGS, COMPILER_FLAGS.get(), source]
    code = kept_code(store, "libraries", "\n".join(identity), lambda: compile_shared(source))
    # some systems cannot delete a loaded library; the file is then left to the cleaning of temporary files
    with tempfile.TemporaryDirectory(prefix="occelo-", ignore_cleanup_errors=True) as folder:
        path = Path(folder) / "unit.so"
        path.write_bytes(code)
        return ctypes.CDLL(str(path))
