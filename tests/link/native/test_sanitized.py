"""Memory errors: C with sanitizers over the op table, and BLAS operands beside protected pages.

The guarded code runs in its own process, with this file as a script, so that a crash fails only one test.
"""

from __future__ import annotations

import ctypes
import mmap
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from occelo_testing.loop_programs import has_compiler

THOROUGH = os.environ.get("HYPOTHESIS_PROFILE") == "thorough"
LINUX = pytest.mark.skipif(sys.platform != "linux", reason="pages are protected by Linux's calls")
TOGETHER = 12
"""Examples that are compiled as one program."""


def run_apart(*arguments: str, **environment: str) -> None:
    """Run this file as a script; what it prints is the reason of a failure."""
    ran = subprocess.run(
        [sys.executable, __file__, *arguments],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
        timeout=3000,
    )
    if ran.returncode or "done" not in ran.stdout:
        pytest.fail(f"It ended with {ran.returncode}:\n{ran.stdout[-1500:]}{ran.stderr[-4000:]}")


def _library(name: str) -> str:
    """A run-time library of gcc's sanitizers; empty without one."""
    try:
        ran = subprocess.run(
            ["gcc", f"-print-file-name={name}"], capture_output=True, text=True, check=False
        )
    except OSError:
        return ""
    path = ran.stdout.strip()
    return path if os.path.isabs(path) and Path(path).exists() else ""


def sanitizers(tmp_path: Path) -> dict[str, str]:
    """The environment in which C is compiled with sanitizers, whose library must be loaded first."""
    library = _library("libasan.so")
    if not library or not has_compiler():
        pytest.skip("gcc or its sanitizers are not installed")
    flags = "-O1 -g -fsanitize=address -fsanitize=undefined -fno-sanitize-recover=undefined"
    return {
        "LD_PRELOAD": library,
        # Python's own memory is never given back, and BLAS is not compiled with them
        "ASAN_OPTIONS": "detect_leaks=0:abort_on_error=1",
        "UBSAN_OPTIONS": "print_stacktrace=1",
        "CC": "gcc",
        "OCCELO_FLAGS": f"compiledir={tmp_path},gcc__cxxflags={flags}",
    }


@pytest.mark.measured(0)
@pytest.mark.parametrize("views", ["plain", "views"])
def test_c_has_no_fault_that_sanitizers_see(views: str, tmp_path: Path) -> None:
    step = 1 if THOROUGH else 300
    run_apart("sanitized", views, str(step), **sanitizers(tmp_path))


@pytest.mark.measured(0)
def test_the_sanitizers_see_a_fault(tmp_path: Path) -> None:
    environment = sanitizers(tmp_path)
    with pytest.raises(pytest.fail.Exception, match="heap-buffer-overflow"):
        run_apart("faulty", **environment)


@pytest.mark.measured(0)
@LINUX
def test_blas_touches_nothing_beside_its_operands(tmp_path: Path) -> None:
    run_apart("guarded", OCCELO_FLAGS=f"compiledir={tmp_path}")


@LINUX
def test_a_guard_page_is_guarded(tmp_path: Path) -> None:
    with pytest.raises(pytest.fail.Exception, match="ended with -"):
        run_apart("beyond", OCCELO_FLAGS=f"compiledir={tmp_path}")


# what runs apart


def chunks(step: int) -> Iterator[Sequence[Any]]:
    """Examples that are compiled together, a family at a time."""
    from occelo_testing.examples import EXAMPLES

    chosen = EXAMPLES[::step]
    for family in sorted({e.family for e in chosen}):
        own = [e for e in chosen if e.family == family]
        yield from (own[i : i + TOGETHER] for i in range(0, len(own), TOGETHER))


def sanitized(views: str, step: str) -> None:
    """The table, compiled as C, beside the interpreter."""
    from test_layouts import hidden, linked

    import occelo_graph as og
    from occelo_testing.checks import symbolic

    count = 0
    for examples in chunks(int(step)):
        given: list[Any] = []
        arrays: list[Any] = []
        outputs: list[Any] = []
        values: list[Any] = []
        for example in examples:
            inputs, output = symbolic(example, known_shapes=False)
            values.append(og.evaluate(output, dict(zip(inputs, example.arguments, strict=True))))
            if views == "views":
                parts = [hidden(v) for v in inputs]
                replaced = dict(zip(inputs, [p[2] for p in parts], strict=True))
                (output,) = og.graph_replace([output], replaced)
                given += [p[0] for p in parts]
                arrays += [p[1](a) for p, a in zip(parts, example.arguments, strict=True)]
            else:
                given += inputs
                arrays += example.arguments
            outputs.append(output)
        found = linked("c", given, outputs)(*arrays)
        for example, mine, value in zip(examples, found, values, strict=True):
            rtol = {"float32": 1e-5, "float16": 2e-3, "complex64": 1e-5}.get(mine.dtype.name, 1e-9)
            np.testing.assert_allclose(mine, value, rtol, rtol * 1e-2, err_msg=str(example))
            count += 1
    print(count, "done")


def faulty() -> None:
    """A lowering that does not check an index."""
    from test_layouts import linked

    from occelo_graph import tensor as ot
    from occelo_link.loops.lowerings.index import key

    key._position = lambda context, value, length: value  # type: ignore[assignment]
    x, i = ot.dvector("x"), ot.lscalar("i")
    linked("c", [x, i], [x[i] * 2])(np.arange(300.0), np.array(300))
    print("done")


class Guarded:
    """Memory between two pages that nobody may touch."""

    def __init__(self, nbytes: int) -> None:
        page = mmap.PAGESIZE
        self.room = -(-max(nbytes, 1) // page) * page
        self.memory = mmap.mmap(-1, self.room + 2 * page)
        start = ctypes.addressof(ctypes.c_char.from_buffer(self.memory))
        protect = ctypes.CDLL(None, use_errno=True).mprotect
        protect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
        for edge in (start, start + page + self.room):
            if protect(edge, page, 0):
                raise OSError(ctypes.get_errno(), "mprotect")

    def array(self, values: Any, at_end: bool) -> Any:
        """A copy of an array that begins, or ends, where the memory does."""
        start = mmap.PAGESIZE + (self.room - values.nbytes if at_end else 0)
        flat = np.frombuffer(self.memory, values.dtype, values.size, start)
        made = flat.reshape(values.shape)
        made[...] = values
        return made


def guard(values: Any, at_end: bool) -> Any:
    return Guarded(values.nbytes).array(values, at_end) if values.ndim else values


def guarded() -> None:
    """Products of all layouts, of operands that lie flush against pages that nobody may touch."""
    from test_layouts import BATCHES, VIEWS, linked, product, products, reference

    from occelo_graph import tensor as ot

    generator = np.random.default_rng(11)
    count = 0
    kept: list[Any] = []
    every = list(VIEWS) if THOROUGH else list(VIEWS)[::4]
    for dtype, few in (("float64", every), ("float32", every[::4])):
        tolerance = 1e-13 if dtype == "float64" else 1e-4
        for view in few:
            shapes: list[Any] = [(None, None), (None, None), (None,), ()]
            dtypes = [dtype] * 3 + ["int64"]
            inputs = [ot.tensor(dtype=d, shape=s) for d, s in zip(dtypes, shapes, strict=True)]
            others = [VIEWS[view], *list(VIEWS.values())[::3]]
            call = linked("native", inputs, products(VIEWS[view], others, inputs, product))
            for side in (1, 4, 37):
                for at_end in (True, False):
                    a, b = generator.normal(size=(2, side, side)).astype(dtype)
                    v = generator.normal(size=side).astype(dtype)
                    given = [guard(x, at_end) for x in (a, b, v)]
                    kept += given
                    step = np.array(-1)
                    expected = products(VIEWS[view], others, [a, b, v, step], reference)
                    for found, value in zip(call(*given, step), expected, strict=True):
                        np.testing.assert_allclose(found, value, rtol=tolerance, atol=tolerance)
                        count += 1
    for name, batch in BATCHES.items():
        x, y, n = ot.dtensor3("x"), ot.dtensor3("y"), ot.lscalar("n")
        outputs = [product(batch(x, n), y[0]), product(y[0][::-1], batch(x, n))]
        call = linked("native", [x, y, n], outputs)
        for at_end in (True, False):
            a, b = generator.normal(size=(2, 4, 4, 4))
            given = [guard(x, at_end) for x in (a, b)]
            kept += given
            left = batch(a, -2)
            expected = [reference(left, b[0]), reference(b[0][::-1], left)]
            for found, value in zip(call(*given, np.array(-2)), expected, strict=True):
                np.testing.assert_allclose(found, value, rtol=1e-13, atol=1e-13, err_msg=name)
                count += 1
    print(count, "done")


def beyond() -> None:
    """What a guard page is for."""
    array = guard(np.arange(4.0), True)
    ctypes.c_double.from_address(array.ctypes.data + array.nbytes).value += 1
    print("done")


if __name__ == "__main__":
    globals()[sys.argv[1]](*sys.argv[2:])
