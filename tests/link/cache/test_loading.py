"""Loading of object code in processes whose address space is almost full."""

from __future__ import annotations

import subprocess
import sys

import pytest

from occelo_link.machine.processor import host_target
from occelo_link.native.llvm import print_llvm
from occelo_link.units.engine import compile_module, load_object, stands_alone
from occelo_testing.loop_programs import map_program

SCATTERED = """
import ctypes, mmap
import numpy as np
from occelo_testing.loop_programs import Compiled, map_program

program = map_program(lambda b, x: b.op("add", b.op("mul", x, x), b.const(0.1234, "float64")))
Compiled(program)(np.arange(3.0))
libc = ctypes.CDLL(None)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, *[ctypes.c_size_t] * 5]
libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
page, reserved = mmap.PAGESIZE, 0x4022  # private, anonymous, without memory behind it


def reserve(size):
    return libc.mmap(None, size, 0, reserved, 2**64 - 1, 0)


whole = reserve(64 << 30)
assert whole != 2**64 - 1
# what is free above the reserved addresses, then single pages far from each other within them
for _ in range(100_000):
    if reserve(page) < whole:
        break
for k in range(1, 20):
    libc.munmap(whole + k * (3 << 30), page)
for k in range(3):
    scaled = map_program(
        lambda b, x: b.op("mul", b.op("add", x, b.const(0.5 + k, "float64")), b.const(1.25, "float64"))
    )
    print(Compiled(scaled)(np.arange(3.0))[0].tolist())
"""


@pytest.mark.skipif(sys.platform != "linux", reason="it reserves addresses as Linux gives them")
def test_code_and_its_constants_lie_side_by_side() -> None:
    done = subprocess.run(
        [sys.executable, "-c", SCATTERED], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-1000:]
    expected = [[(x + 0.5 + k) * 1.25 for x in range(3)] for k in range(3)]
    assert done.stdout.splitlines() == [str(row) for row in expected]


def test_whether_code_refers_to_symbols_of_others() -> None:
    """The memory manager that keeps sections together cannot load code that does."""
    triple, _, features = host_target()
    if sys.platform != "linux" or not triple.startswith("x86_64") or "+fma" not in features:
        pytest.skip(
            "it needs Linux on an x86-64 processor with FMA, and an older one to compile for"
        )
    text = print_llvm(map_program(lambda b, x: b.op("fma", x, x, x)))
    assert stands_alone(compile_module(text))
    older = compile_module(text, "x86-64", "")
    assert not stands_alone(older)
    assert not stands_alone(b"something else")
    assert load_object(older).address
