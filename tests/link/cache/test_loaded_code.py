"""Object code that is loaded without LLVM, beside the same code loaded by LLVM; and what is kept of LLVM's answers."""

from __future__ import annotations

import ctypes
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from occelo_graph.config import config
from occelo_link.cache import host as hosts
from occelo_link.cache.host import Host, host
from occelo_link.machine.elf_image import PAGE, Image, image_of
from occelo_link.machine.loaded_code import LoadedCode, fits
from occelo_link.machine.processor import host_target
from occelo_link.machine.processor_identity import processor_identity
from occelo_link.native.llvm import print_llvm
from occelo_link.units import engine
from occelo_link.units.engine import Unit, compile_module, load_object
from occelo_testing.loop_programs import Compiled, map_program

needs_images = pytest.mark.skipif(not fits(), reason="images are for Linux on x86-64")

SWITCH = """
@count = internal global i64 0
declare double @fma(double, double, double)
declare i64 @labs(i64)

define i64 @choose(i64 %x) {
  %old = load i64, ptr @count
  %new = add i64 %old, 1
  store i64 %new, ptr @count
  switch i64 %x, label %other [
    i64 0, label %a  i64 1, label %b  i64 2, label %c  i64 3, label %d  i64 4, label %e
  ]
a: ret i64 17
b: ret i64 4
c: ret i64 %new
d: ret i64 -5
e: ret i64 1234567890123
other:
  %y = call i64 @labs(i64 %x)
  ret i64 %y
}
define double @scaled(double %x) {
  %y = call double @fma(double %x, double 0.1234, double 7.5)
  ret double %y
}
"""
POINTER = """
declare i64 @labs(i64)
@table = constant [2 x ptr] [ptr @labs, ptr @twice]

define i64 @twice(i64 %x) {
  %y = add i64 %x, %x
  ret i64 %y
}
define i64 @either(i64 %which, i64 %x) {
  %place = getelementptr [2 x ptr], ptr @table, i64 0, i64 %which
  %f = load ptr, ptr %place
  %y = call i64 %f(i64 %x)
  ret i64 %y
}
"""


@pytest.fixture(params=["image", pytest.param("llvm")])
def loader(request: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The two ways of loading; the second one as on systems where images do not run."""
    if request.param == "llvm":
        monkeypatch.setattr(engine, "fits", lambda: False)
    elif not fits():
        pytest.skip("images are for Linux on x86-64")
    return LoadedCode if request.param == "image" else None


def _is(unit: Unit, kind: Any) -> bool:
    return isinstance(unit._engine, LoadedCode) == (kind is LoadedCode)


def test_branches_counters_constants_and_outside_functions(loader: Any) -> None:
    unit = load_object(compile_module(SWITCH), "choose")
    assert _is(unit, loader)
    choose = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64)(unit.address)
    found = [choose(k) for k in (0, 1, 2, 3, 4, -6, 2)]
    assert found == [17, 4, 3, -5, 1234567890123, 6, 7]
    double = ctypes.c_double
    scaled = ctypes.CFUNCTYPE(double, double)(unit.find("scaled"))
    assert scaled(3.0) == pytest.approx(3.0 * 0.1234 + 7.5, rel=1e-15)
    assert not unit.find("labs")
    other = load_object(compile_module(SWITCH), "choose")
    assert ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64)(other.address)(2) == 1
    with pytest.raises(ValueError, match="does not define missing"):
        load_object(compile_module(SWITCH), "missing")
    with pytest.raises(ValueError, match="not object code"):
        load_object(b"no code")


def test_vectors_with_large_aligned_constants(loader: Any) -> None:
    program = map_program(
        lambda b, x: b.op(
            "add", b.op("mul", x, b.const(0.1234, "float64")), b.const(2.5, "float64")
        )
    )
    compiled = Compiled(program)
    assert _is(compiled.unit, loader)
    x = np.linspace(-3, 3, 1001)
    np.testing.assert_allclose(compiled(x)[0], x * 0.1234 + 2.5, rtol=1e-15)


@needs_images
def test_code_that_needs_its_own_address_is_loaded_by_llvm() -> None:
    code = compile_module(POINTER)
    with pytest.raises(TypeError, match=r"values of their own|its own address"):
        image_of({"": code})
    unit = load_object(code, "either")
    assert _is(unit, None)
    either = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64, ctypes.c_int64)(unit.address)
    assert [either(0, -3), either(1, -3)] == [3, -6]
    with pytest.raises(TypeError, match="x86-64"):
        image_of({"": b"no code"})


@needs_images
def test_code_that_uses_an_unknown_function_is_left_to_llvm() -> None:
    code = compile_module(SWITCH.replace("@labs", "@no_function_of_this_name"))
    with pytest.raises(AttributeError, match="no_function_of_this_name"):
        LoadedCode(image_of({"": code}))


def _mapping(address: int) -> str:
    """The permissions of the pages at an address, "" if there are none."""
    for line in Path("/proc/self/maps").read_text().splitlines():
        start, end = (int(part, 16) for part in line.split()[0].split("-"))
        if start <= address < end:
            return line.split()[1]
    return ""


@needs_images
def test_memory_is_private_never_writable_code_and_is_freed() -> None:
    loaded = LoadedCode(Image(b"\xc3" + bytes(PAGE - 1), 24, {"f": 0, "data": PAGE}, {}))
    code, data = loaded.address("f"), loaded.address("data")
    ctypes.CFUNCTYPE(None)(code)()
    assert (_mapping(code), _mapping(data)) == ("r-xp", "rw-p")
    del loaded
    assert "x" not in _mapping(code)


@needs_images
def test_threads_load_at_the_same_time() -> None:
    codes = [compile_module(SWITCH.replace("17", str(k))) for k in range(4)]
    found: list[int] = []

    def run(number: int) -> None:
        for _ in range(25):
            unit = load_object(codes[number], "choose")
            found.append(ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64)(unit.address)(0))

    threads = [threading.Thread(target=run, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(found) == sorted([0, 1, 2, 3] * 25)


@needs_images
def test_what_the_processor_says_is_what_linux_says() -> None:
    found = processor_identity()
    assert found is not None
    assert found == processor_identity()
    text = Path("/proc/cpuinfo").read_text()
    rows = dict(line.split(":", 1) for line in text.split("\n\n")[0].splitlines() if ":" in line)
    facts = {name.strip(): value.strip() for name, value in rows.items()}
    vendor = b"".join(found["0.0"][k].to_bytes(4, "little") for k in (1, 3, 2))
    assert vendor.decode() == facts["vendor_id"]
    signature = found["1.0"][0]
    family = (signature >> 8 & 15) + (signature >> 20 & 255 if signature >> 8 & 15 == 15 else 0)
    assert str(family) == facts["cpu family"]
    flags = set(facts["flags"].split())
    bits = {"fma": ("1.0", 1, 12), "sse4_2": ("1.0", 1, 20), "avx2": ("7.0", 1, 5)}
    bits |= {"bmi2": ("7.0", 1, 8), "avx512f": ("7.0", 1, 16), "lahf_lm": ("80000001.0", 2, 0)}
    for name, (leaf, register, bit) in bits.items():
        assert bool(found[leaf][register] >> bit & 1) == (name in flags), name


@pytest.fixture
def asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """How often LLVM was asked for the host, with a folder of its own for the answers."""
    times: list[Host] = []
    plain = hosts._asked

    def ask() -> Host:
        times.append(plain())
        return times[-1]

    monkeypatch.setattr(hosts, "_asked", ask)
    with config.change_flags(base_compiledir=str(tmp_path / "base"), compiledir=""):
        yield times


def _anew() -> Host:
    """The host as a new process finds it."""
    return host.__wrapped__()


@needs_images
def test_llvm_is_asked_once_for_each_processor(
    asked: list[Host], monkeypatch: pytest.MonkeyPatch
) -> None:
    first = _anew()
    assert first[1:] == host_target()
    assert [_anew(), _anew()] == [first, first]
    assert len(asked) == 1
    identity = processor_identity() or {}
    features = identity["7.0"]
    changed = identity | {"7.0": (features[0], features[1] ^ 1 << 5, *features[2:])}
    monkeypatch.setattr(hosts, "processor_identity", lambda: changed)
    assert _anew() == first  # LLVM itself sees no change
    assert len(asked) == 2
    _anew()
    assert len(asked) == 2
    monkeypatch.setattr(hosts, "processor_identity", lambda: None)
    _anew()
    _anew()
    assert len(asked) == 4


@needs_images
def test_llvm_is_asked_after_another_installation_of_llvmlite(
    asked: list[Host], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    keys: list[str | None] = []
    for name in ("one", "two"):
        folder = tmp_path / name / "llvmlite"
        folder.mkdir(parents=True)
        (folder / "__init__.py").touch()
        with monkeypatch.context() as patch:
            patch.syspath_prepend(tmp_path / name)
            patch.delitem(sys.modules, "llvmlite")
            keys.append(hosts._key())
            for text in ("version = '0.50.0'", "version = '0.51.0rc1'"):
                (folder / "_version.py").write_text(text)
                keys.append(hosts._key())
    assert keys[0] is keys[3] is None
    assert len({*keys, hosts._key()}) == 6
    for number, key in enumerate(filter(None, keys), 1):
        monkeypatch.setattr(hosts, "_key", lambda key=key: key)
        assert [_anew(), _anew()] == [asked[0], asked[0]]
        assert len(asked) == number


def test_answers_are_not_kept_without_a_cache_or_a_home(
    asked: list[Host], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with config.change_flags(cache=False):
        _anew()
    assert not (tmp_path / "base").exists()
    monkeypatch.setenv("HOME", "")
    with config.change_flags(base_compiledir="~nobody_of_this_name/x"):
        _anew()
    assert len(asked) == 2
    with config.change_flags(compiledir=str(tmp_path / "chosen")):
        assert _anew() == asked[0]
    assert not (tmp_path / "base").exists()


@needs_images
def test_an_answer_that_others_could_have_written_is_not_read(
    asked: list[Host], tmp_path: Path
) -> None:
    _anew()
    (tmp_path / "base" / "processors").chmod(0o777)
    with pytest.warns(UserWarning, match="others can write"):
        _anew()
    assert len(asked) == 2
    (tmp_path / "base" / "processors").chmod(0o700)
    for file in (tmp_path / "base" / "processors" / "hosts").rglob("*"):
        if file.is_file():
            file.write_bytes(file.read_bytes()[:-3] + b"xyz")
    assert _anew() == asked[0]
    assert len(asked) == 3


@needs_images
def test_units_of_older_processors_call_the_c_library() -> None:
    if "+fma" not in host_target()[2]:
        pytest.skip("code with FMA needs a processor that has it to compare with")
    text = print_llvm(map_program(lambda b, x: b.op("fma", x, x, x)))
    assert image_of({"": compile_module(text, "x86-64", "")}).imports.keys() == {"fma"}
    assert not image_of({"": compile_module(text)}).imports
