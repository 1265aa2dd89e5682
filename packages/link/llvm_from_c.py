"""Makes LLVM IR from C files: the code of entries, services, products and draws of random numbers, which is the same for all functions.

``python packages/link/llvm_from_c.py`` writes an ``.ll`` file next to each ``.c`` file below. It needs the compiler of the
package ``ziglang``. The files are checked in, so that nobody else needs one; a test compares the digest in their first lines
with the sources. They belong to no processor and no system, since they have no target and no attributes of functions but
``nounwind``: LLVM compiles them for the machine on which they run.
"""

from __future__ import annotations

import hashlib
import importlib
import importlib.metadata
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

PACKAGES = Path(__file__).parents[1]
FOLDER = PACKAGES / "link" / "src" / "occelo_link"
FLAGS = (
    *("-target", "x86_64-linux-gnu", "-std=c11", "-O2", "-S", "-emit-llvm", "-g0"),
    # no calls that the text does not have, and no code that is only fast for large arrays
    *("-ffreestanding", "-fno-builtin", "-fno-stack-protector", "-fno-sanitize=all"),
    *("-fno-vectorize", "-fno-slp-vectorize", "-fno-unroll-loops", "-fomit-frame-pointer"),
    *("-fno-strict-aliasing", "-fwrapv", "-fno-asynchronous-unwind-tables"),
    *("-Xclang", "-disable-lifetime-markers", "-Wall", "-Wextra", "-Werror", "-Wno-unused-parameter"),
    *("-Wno-unused-function", "-Wno-unused-command-line-argument"),
)  # fmt: skip


@dataclass(frozen=True)
class Source:
    """A C file, by its path without suffix, in ``folder``.

    ``modules`` are modules whose integers in capitals are constants of the file. ``structs`` has the first parts of such names,
    each with a struct: the constant ``CTX_ARENA`` is the slot of 8 bytes of the field ``arena`` of the struct of ``CTX_``.
    ``flags`` are further flags of the compiler.
    """

    path: str
    modules: tuple[str, ...] = ()
    structs: tuple[tuple[str, str], ...] = ()
    flags: tuple[str, ...] = ()
    folder: Path = FOLDER

    @property
    def llvm(self) -> Path:
        """The file with the LLVM IR."""
        return self.folder / f"{self.path}.ll"

    def constants(self) -> dict[str, int]:
        """The constants of the modules."""
        made: dict[str, int] = {}
        for name in self.modules:
            members = vars(importlib.import_module(f"occelo_link.{name}"))
            made.update(
                (k, v)
                for k, v in members.items()
                if k[0].isalpha() and k.isupper() and not isinstance(v, str)
            )
        return made

    def text(self) -> str:
        """The whole C text: the constants, the file with the files that it includes, and checks of structs."""
        constants = self.constants()
        lines = [f"#define {name} ({value})" for name, value in constants.items()]
        lines.append(_with_includes(self.folder / f"{self.path}.c"))
        for start, struct in self.structs:
            for name, slot in constants.items():
                if name.startswith(start):
                    field = name.removeprefix(start).lower()
                    same = f"offsetof({struct}, {field}) == 8 * {slot}"
                    lines.append(f'_Static_assert({same}, "{name}");')
        return "\n".join(lines) + "\n"

    def first_line(self) -> str:
        """The first line of the file with the LLVM IR."""
        digest = hashlib.blake2b(
            repr((FLAGS, self.flags, self.text())).encode(), digest_size=16
        ).hexdigest()
        return f"; Made by llvm_from_c.py from sources with the digest {digest}"


SOURCES = [
    Source(
        "units/entry",
        ("units.entry_context", "units.frame", "units.object_layout", "entry_kinds"),
        (("CTX_", "context"), ("IN_", "input_record"), ("OUT_", "output_record")),
        ("-fexceptions",),  # Python may end a thread in what the entry calls
    ),
    Source("units/thread_pool", ("units.frame",), (), ("-fexceptions",)),
    Source("units/row_products_float32"),
    Source("units/row_products_float64"),
    Source("units/products", ("units.frame",)),
    Source(
        "standalone/services",
        ("standalone.context", "units.frame"),
        (("CTX_", "context"), ("CALL_", "call_record"), ("OUT_", "output_record")),
    ),
    Source("numba/services", ("units.frame",)),
    Source("numba/memory_functions"),
    Source("native/llvm/loops", ("units.frame",)),
    Source("streams/draws", folder=PACKAGES / "random" / "src" / "occelo_random"),
]


def _with_includes(path: Path) -> str:
    """The text of a C file with the texts of the files of ours that it includes."""
    include = re.compile(r'^#include "(.+)"$', re.MULTILINE)
    return include.sub(lambda m: _with_includes(path.parent / m[1]), path.read_text())


def plain(text: str) -> str:
    """The LLVM IR that clang wrote, without what belongs to a target or to one version of LLVM."""
    groups = dict(re.findall(r"^attributes (#\d+) = \{ (.*) \}$", text, re.MULTILINE))
    lines = list[str]()
    for line in text.splitlines():
        if re.match(r"target |source_filename|attributes |!|;|.*@llvm\.lifetime", line):
            continue
        if line.startswith("define") and (group := re.search(r" (#\d+) \{", line)):
            kept = " nounwind" if re.search(r"\bnounwind\b", groups[group[1]]) else ""
            line = line.replace(group[0], f"{kept} {{")
        if not line.startswith("@"):
            line = re.sub(
                r"\b(captures|range|initializes|dereferenceable\w*)\(\(?[^()]*\)?\) ", "", line
            )
            line = re.sub(
                r"\b(noundef|nonnull|readonly|writeonly|readnone|noalias|nofree|nocapture|returned) ",
                "",
                line,
            )
        if "@llvm.masked." in line:
            line = _with_old_masks(line)
        line = line.replace(" captures(none)", "")
        line = re.sub(r" (local_)?unnamed_addr| #\d+|, ![\w.]+ !\d+| +; preds = .*", "", line)
        if line or (lines and lines[-1]):
            lines.append(line)
    return "\n".join(lines) + "\n"


def _with_old_masks(line: str) -> str:
    """Masked loads and stores whose alignment is an argument, as LLVM had them before version 22. Later versions read both forms."""
    line = re.sub(r"ptr captures\(none\), (<\d+ x i1>)", r"ptr, i32 immarg, \1", line)
    return re.sub(r"ptr align (\d+) (%\w+), (<\d+ x i1>)", r"ptr \2, i32 \1, \3", line)


def llvm_ir(source: Source) -> str:
    """The text of the file with the LLVM IR. Raises CalledProcessError if the C text is wrong."""
    compiler = [sys.executable, "-m", "ziglang", "cc"]
    with tempfile.TemporaryDirectory() as folder:
        text, made = Path(folder) / "source.c", Path(folder) / "made.ll"
        text.write_text(source.text())
        subprocess.run([*compiler, *FLAGS, *source.flags, str(text), "-o", str(made)], check=True)
        compiler = f"; with ziglang {importlib.metadata.version('ziglang')}"
        return f"{source.first_line()}\n{compiler}\n\n{plain(made.read_text())}"


if __name__ == "__main__":
    for each in SOURCES:
        each.llvm.write_text(llvm_ir(each))
