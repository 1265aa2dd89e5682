"""Finding a C compiler and compiling with it."""

from __future__ import annotations

import functools
import hashlib
import importlib.util
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from occelo_link.cache.store import counters
from occelo_link.options import COMPILER, COMPILER_FLAGS, COMPILER_VERBOSE

__all__ = ["FLAGS", "CompilerMissing", "compile_shared", "compiler_identity", "find_compiler"]

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
    """There is no C compiler; the text says what to install."""


def find_compiler() -> list[str]:
    """The command of a C compiler: the option ``cxx``, ``CC``, cc, gcc, clang, or ``ziglang``'s."""
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
    ran = subprocess.run([*command, "--version"], capture_output=True, text=True, check=False)
    return f"{shlex.join(command)}: {ran.stdout.splitlines()[0] if ran.stdout else '?'}"


def compiler_identity() -> str:
    """The compiler's command and version."""
    return _identity(tuple(find_compiler()))


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


def compile_shared(source: str, folder: Path) -> Path:
    """A shared library for the source, in ``folder``; compiled only if it is not there yet.

    `CompilerMissing` without a compiler; RuntimeError with its messages if it fails.
    """
    command = find_compiler()
    flags = [*FLAGS, *_processor_flags(tuple(command)), *shlex.split(COMPILER_FLAGS.get())]
    identity = "\n".join([compiler_identity(), *flags, source])
    name = hashlib.blake2b(identity.encode(), digest_size=16).hexdigest()
    target = folder / f"{name}.so"
    if target.exists():
        return target
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder) as work:
        text, made = Path(work) / "unit.c", Path(work) / "unit.so"
        text.write_text(source, encoding="utf-8")
        whole = [*command, *flags, str(text), "-o", str(made), "-lm"]
        if COMPILER_VERBOSE.get():
            print(shlex.join(whole))
        counters["code generation"] += 1
        ran = subprocess.run(
            whole,
            capture_output=True,
            text=True,
            check=False,
        )
        if ran.returncode:
            raise RuntimeError(f"{shlex.join(command)} failed:\n{ran.stderr[-2000:]}")
        # readers see the whole library or none
        made.replace(target)
    return target
