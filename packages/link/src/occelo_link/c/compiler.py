"""Finds a C compiler, compiles C sources to shared libraries and loads the libraries.

The linkers ``c`` and ``c|py`` use this module to compile the text that `c.source` prints.
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
    """No C compiler was found. The message says why, or what to install."""


def find_compiler() -> list[str]:
    """Return the command of the C compiler.

    The option ``cxx`` names the compiler. If the option is "auto", the environment variable ``CC`` names it. If ``CC``
    is not set, the compiler is the first that exists of cc, gcc, clang and the compiler of the package ``ziglang``.

    Raises `CompilerMissing` if there is no compiler.
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
    # size and time identify the compiler; to ask it for its version would start a child process
    program = os.path.realpath(shutil.which(command[0]) or command[0])
    status = os.stat(program)
    parts = [shlex.join(command), program, str(status.st_size), str(status.st_mtime_ns)]
    if "ziglang" in command:
        parts.append(importlib.metadata.version("ziglang"))
    return " ".join(parts)


@functools.cache
def _processor_flags(command: tuple[str, ...]) -> tuple[str, ...]:
    """Return ``-march=native`` if the compiler accepts this flag, and otherwise no flag."""
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

    Raises `CompilerMissing` if there is no compiler, and RuntimeError with the compiler's messages if compiling fails.
    """
    command = find_compiler()
    flags = [*FLAGS, *_processor_flags(tuple(command)), *shlex.split(COMPILER_FLAGS.get())]
    with tempfile.TemporaryDirectory() as folder:
        text, library = Path(folder) / "unit.c", Path(folder) / "unit.so"
        text.write_text(source, encoding="utf-8")
        whole = [*command, *flags, str(text), "-o", str(library), "-lm"]
        if COMPILER_VERBOSE.get():
            print(shlex.join(whole))
        ran = subprocess.run(whole, capture_output=True, text=True, check=False)
        if ran.returncode:
            raise RuntimeError(f"{shlex.join(command)} failed:\n{ran.stderr[-2000:]}")
        return library.read_bytes()


def shared_library(source: str, store: Store | None) -> ctypes.CDLL:
    """Load the shared library of a C source. The source is compiled only if the store has no library for it.

    The store checks the bytes of a library when it reads them. The library's file could change after this check. So a
    temporary copy of the checked bytes is loaded, and deleted at once.
    """
    identity = [_identity(tuple(find_compiler())), *FLAGS, COMPILER_FLAGS.get(), source]
    code = kept_code(store, "libraries", "\n".join(identity), lambda: compile_shared(source))
    # some systems cannot delete a loaded library; there the file stays until the system deletes temporary files
    with tempfile.TemporaryDirectory(prefix="occelo-", ignore_cleanup_errors=True) as folder:
        path = Path(folder) / "unit.so"
        path.write_bytes(code)
        return ctypes.CDLL(str(path))
