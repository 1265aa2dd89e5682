"""`processor_identity`: what the processor says of itself, without LLVM.

LLVM finds the name and the features of the processor with the instructions CPUID and XGETBV. The same answers are read here,
so that what LLVM made of them once (`cache.host`) is used only for the same answers. They change if a virtual machine moves to
another processor, for instance.
"""

from __future__ import annotations

import ctypes

from occelo_link.machine.elf_image import PAGE, Image
from occelo_link.machine.loaded_code import LoadedCode, fits

_CPUID = bytes.fromhex(
    "53"  # push rbx, which belongs to the caller
    "89f8 89f1 4989d0"  # eax = leaf (edi), ecx = part (esi), r8 = results (rdx)
    "0fa2"  # cpuid
    "418900 41895804 41894808 4189500c"  # store eax, ebx, ecx, edx
    "5b c3"  # pop rbx, ret
)
"""``void cpuid(uint32_t leaf, uint32_t part, uint32_t results[4])`` in the calling convention of System V."""
_XGETBV = bytes.fromhex("31c9 0f01d0 c3")
"""``uint32_t xgetbv()``: the low half of the register that says which registers the system saves."""
_EXTENDED = 0x8000_0000
_ALL = (0, 1, 2, 3)
_LEAVES = {
    (1, 0): (0, 2, 3),  # ebx has the number of the core
    (7, 0): _ALL,
    (7, 1): _ALL,
    (7, 2): _ALL,
    (0xD, 1): (0,),  # ebx has a size that the system changes
    (0x14, 0): _ALL,
    (0x19, 0): _ALL,
    (0x1E, 1): _ALL,
    (0x24, 0): _ALL,
    (0x29, 0): _ALL,
    (_EXTENDED + 1, 0): _ALL,
    (_EXTENDED + 7, 0): _ALL,
    (_EXTENDED + 8, 0): (1,),  # the rest are sizes of addresses and numbers of cores
}
"""The leaves and parts of CPUID that describe a processor, and the registers that are the same on all of its cores."""
_SAVES = 1 << 27
"""In ecx of leaf 1: the system has allowed XGETBV."""


def processor_identity() -> dict[str, tuple[int, ...]] | None:
    """Return what the processor says of itself: the numbers of each leaf and part of CPUID, and of XGETBV.

    They are equal only if the processor, and what the system allows of it, are the same. Returns None on other systems than
    Linux on x86-64, and if the system refuses to run code.
    """
    if not fits():
        return None
    code = _CPUID + _XGETBV
    padded = code + bytes(-len(code) % PAGE)
    try:
        loaded = LoadedCode(Image(padded, 0, {"cpuid": 0, "xgetbv": len(_CPUID)}, {}))
    except OSError:
        return None
    number = ctypes.c_uint32
    results = (number * 4)()
    run = ctypes.CFUNCTYPE(None, number, number, ctypes.c_void_p)(loaded.address("cpuid"))

    def ask(leaf: int, part: int, registers: tuple[int, ...]) -> tuple[int, ...]:
        run(leaf, part, results)
        return tuple([results[k] for k in registers])

    answers = {f"{base:x}.0": ask(base, 0, _ALL) for base in (0, _EXTENDED)}
    for (leaf, part), registers in _LEAVES.items():
        if leaf <= answers[f"{leaf & _EXTENDED:x}.0"][0]:  # the last leaf of its range
            answers[f"{leaf:x}.{part}"] = ask(leaf, part, registers)
    if answers["1.0"][1] & _SAVES:
        answers["saved"] = (ctypes.CFUNCTYPE(number)(loaded.address("xgetbv"))(),)
    return answers
