"""LLVM called through the library of llvmlite, compared with LLVM called through its binding."""

from __future__ import annotations

import ctypes
import importlib
import threading
from typing import Any

import llvmlite
import pytest

from occelo_link.machine import llvm_library, processor
from occelo_link.machine.llvm_binding import Binding
from occelo_link.machine.llvm_library import FUNCTIONS, Library, library_path

TWICE = """
define i64 @twice(i64 %x) {
  %y = add i64 %x, %x
  ret i64 %y
}
"""


def library() -> Library:
    path = library_path()
    assert path is not None, f"FUNCTIONS must be compared with llvmlite {llvmlite.__version__}"
    return Library(path)


def plain(kind: Any) -> Any:
    """A type as `FUNCTIONS` declares it: references to objects of LLVM are plain addresses."""
    is_reference = kind.__name__.startswith("LP_LLVM")
    return ctypes.c_void_p if is_reference else kind


def test_functions_are_declared_as_llvmlite_declares_them() -> None:
    assert library_path() is not None
    declared = importlib.import_module("llvmlite.binding.ffi").lib
    for name, (result, arguments) in FUNCTIONS.items():
        function = getattr(declared, f"LLVMPY_{name}")
        if result is not None:
            assert plain(function.restype) is result, name
        if function.argtypes:
            assert tuple(map(plain, function.argtypes)) == arguments, name


def test_both_know_the_same_machine() -> None:
    assert [sorted(part) for part in library().host()] == [
        sorted(part) for part in Binding().host()
    ]


def called(engine: Any) -> int:
    return ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64)(engine.address("twice"))(21)


def test_both_compile_the_same_code_and_load_it() -> None:
    target = processor.host_target()
    codes = [each.compile(TWICE, target, 1) for each in (library(), Binding())]
    assert codes[0] == codes[1]
    listings = [each.compile(TWICE, target, 1, assembly=True) for each in (library(), Binding())]
    assert listings[0] == listings[1]
    assert b"twice" in listings[0]
    for each in (library(), Binding()):
        for adjacent in (False, True):
            engine = each.load(codes[0], target[0], adjacent)
            assert called(engine) == 42
            assert not engine.address("thrice")


@pytest.mark.parametrize("each", [library, Binding])
def test_what_is_no_code_raises(each: Any) -> None:
    target = processor.host_target()
    with pytest.raises(RuntimeError, match="expected"):
        each().compile("define i64", target, 1)
    used_before = TWICE.replace("%x, %x", "%z, %x").replace("ret", "%z = add i64 %x, 1\n  ret")
    with pytest.raises(RuntimeError, match="dominate"):
        each().compile(used_before, target, 1)
    with pytest.raises(RuntimeError, match="nothing-at-all"):
        each().compile(TWICE, ("nothing-at-all", "", ""), 1)
    with pytest.raises(ValueError, match="not object code"):
        each().load(b"no code", target[0], False)


def test_threads_compile_and_load_at_the_same_time() -> None:
    target, each = processor.host_target(), library()
    found: list[int] = []

    def run(number: int) -> None:
        for k in range(10):
            text = TWICE.replace("%x, %x", f"%x, {number * 100 + k}")
            found.append(called(each.load(each.compile(text, target, 1), target[0], True)) - 21)

    threads = [threading.Thread(target=run, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(found) == sorted(number * 100 + k for number in range(4) for k in range(10))


def test_a_library_that_is_not_in_a_file_is_not_loaded_directly(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(llvm_library.llvmlite, "__path__", ["archive.zip/llvmlite"])
    assert library_path() is None
