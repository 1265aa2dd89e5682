"""Runs loop programs that are compiled for another processor, under the emulator qemu-user.

LLVM compiles the programs for ``aarch64``, a cross compiler links them with a driver in C, and qemu runs that. Tests compare the
results with those of this machine: the same bits, if no function of the C library is called.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any, BinaryIO

import llvmlite.binding
import numpy as np

from occelo_link.loops.ir.program import Program
from occelo_link.native.llvm import print_llvm
from occelo_link.units import frame as slots

_llvm: Any = llvmlite.binding
TRIPLE, COMPILER, EMULATOR = "aarch64-linux-gnu", "aarch64-linux-gnu-gcc", "qemu-aarch64"

_DRIVER = r"""
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
typedef int64_t i64;
static FILE *in, *out;
static struct { i64 ndim, each, lengths[16]; void *data; } results[256];
static i64 word(void) { i64 v; if (fread(&v, 8, 1, in) != 1) exit(3); return v; }
static void *block(i64 bytes) {
    void *p = aligned_alloc(64, (bytes + 127) & -64);
    if (bytes && fread(p, bytes, 1, in) != 1) exit(3);
    return p;
}
static void *allocate(void *frame, i64 position, i64 *lengths) {
    i64 size = results[position].each;
    for (i64 i = 0; i < results[position].ndim; i++) size *= results[position].lengths[i] = lengths[i];
    return results[position].data = aligned_alloc(64, (size + 127) & -64);
}
static void *grow(void *frame, i64 bytes) { return aligned_alloc(64, (bytes + 127) & -64); }
static i64 poll(void *frame) { return 0; }
static void *take(void *frame, i64 position, i64 input, i64 bytes) { abort(); }
static void run(i64 (*unit)(i64 *, void **), void **table) {
    i64 *frame = calloc(1024, 8);
    void *services[] = {allocate, grow, poll, take};
    for (int i = 0; i < 4; i++) table[i] = services[i];
    i64 inputs = word(), count = word(), constants = word();
    for (i64 i = 0; i < inputs; i++) {
        i64 ndim = word(), bytes = word();
        frame[FIRST + 3 * i + 1] = (i64)block(8 * ndim);
        frame[FIRST + 3 * i + 2] = (i64)block(8 * ndim);
        frame[FIRST + 3 * i] = (i64)block(bytes);
    }
    for (i64 i = 0; i < count; i++) { results[i].ndim = word(); results[i].each = word(); }
    for (i64 i = 0; i < constants; i++) { i64 slot = word(), bytes = word(); table[slot] = block(bytes); }
    i64 status = unit(frame, table);
    fwrite(&status, 8, 1, out);
    for (i64 i = 0; i < count && !status; i++) {
        i64 size = results[i].each;
        fwrite(results[i].lengths, 8, results[i].ndim, out);
        for (i64 k = 0; k < results[i].ndim; k++) size *= results[i].lengths[k];
        fwrite(results[i].data, 1, size, out);
    }
}
"""


def missing() -> str | None:
    """What is missing for runs under the emulator, or None."""
    return next((tool for tool in (COMPILER, EMULATOR) if shutil.which(tool) is None), None)


def is_standalone(program: Program) -> bool:
    """Whether a program needs nothing but its services, constants and the library of mathematical functions."""
    return all(name.startswith(("constant", "libm:")) for name in program.table)


def compiled_for_arm(text: str, processor: str) -> bytes:
    """Compile a module of LLVM IR to object code for a 64-bit ARM processor. RuntimeError if the module is invalid."""
    _llvm.initialize_all_targets()
    _llvm.initialize_all_asmprinters()
    target = _llvm.Target.from_triple(TRIPLE)
    machine = target.create_target_machine(cpu=processor, opt=1, reloc="pic", codemodel="small")
    module = _llvm.parse_assembly(text)
    module.verify()
    module.triple, module.data_layout = TRIPLE, str(machine.target_data)
    code: bytes = machine.emit_object(module)
    return code


def run_emulated(
    programs: Sequence[tuple[Program, Sequence[Any]]], folder: Path, processor: str = "generic"
) -> list[list[Any] | int]:
    """Run programs with their arguments in one emulated process. Returns the results of each, or its status if that is not 0.

    The programs are standalone (`is_standalone`) and update no inputs.
    """
    calls: list[str] = []
    objects: list[Path] = []
    with (folder / "in").open("wb") as file:
        for k, (program, arrays) in enumerate(programs):
            text = print_llvm(program, features="").replace("@unit(", f"@unit{k}(", 1)
            objects.append(folder / f"unit{k}.o")
            objects[-1].write_bytes(compiled_for_arm(text, processor))
            calls.append(_call(k, program))
            _write_arguments(file, program, arrays)
    declared = "".join(f"i64 unit{k}(i64 *, void **);\n" for k in range(len(programs)))
    main = 'int main(int n, char **names) {\nin = fopen(names[1], "rb"); out = fopen(names[2], "wb");\n'
    source = f"{_DRIVER.replace('FIRST', str(slots.FIRST_INPUT))}{declared}{main}{''.join(calls)}fclose(out); }}\n"
    (folder / "driver.c").write_text(source)
    built = [COMPILER, "-static", "-w", "-o", "driver", "driver.c", *map(str, objects), "-lm"]
    subprocess.run(built, cwd=folder, check=True, capture_output=True, text=True)
    subprocess.run([EMULATOR, "./driver", "in", "out"], cwd=folder, check=True, capture_output=True)
    with (folder / "out").open("rb") as file:
        return [_read_results(file, program) for program, _ in programs]


def _call(number: int, program: Program) -> str:
    names = ["0"] * (slots.SERVICES + len(program.table))
    for name, slot in program.table.items():
        if name.startswith("libm:"):
            names[slots.SERVICES + slot] = name.removeprefix("libm:")
    return f"{{ void *table[] = {{{', '.join(names)}}}; run(unit{number}, table); }}\n"


def _write_arguments(file: BinaryIO, program: Program, arrays: Sequence[Any]) -> None:
    def words(*numbers: int) -> None:
        file.write(np.array(numbers, np.int64).tobytes())

    constants = [
        (name, slot) for name, slot in program.table.items() if name.startswith("constant")
    ]
    words(len(program.inputs), len(program.outputs), len(constants))
    for each in arrays:
        array = np.ascontiguousarray(each).reshape(np.shape(each))
        words(array.ndim, array.nbytes, *array.shape, *array.strides)
        file.write(array.tobytes())
    for buffer in program.outputs:
        words(buffer.ndim, np.dtype(buffer.holds).itemsize)
    for name, slot in constants:
        data = np.ascontiguousarray(program.constants[int(name.removeprefix("constant"))])
        words(slots.SERVICES + slot, data.nbytes)
        file.write(data.tobytes())


def _read_results(file: BinaryIO, program: Program) -> list[Any] | int:
    (status,) = np.frombuffer(file.read(8), np.int64).tolist()
    if status:
        return int(status)
    results: list[Any] = []
    for buffer in program.outputs:
        shape = np.frombuffer(file.read(8 * buffer.ndim), np.int64).tolist()
        dtype = np.dtype(buffer.holds)
        count = int(np.prod(shape, dtype=np.int64))
        results.append(np.frombuffer(file.read(count * dtype.itemsize), dtype).reshape(shape))
    return results
