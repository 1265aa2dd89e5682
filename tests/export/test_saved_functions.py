"""Saved functions: the bits of the compiled function, in processes that have no compiler."""

from __future__ import annotations

import gc
import io
import json
import os
import re
import subprocess
import sys
import threading
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import occelo_compile as oc
from occelo_export import SavedFunction, SavedFunctionError, load_function, save_function
from occelo_export.saved import file_format
from occelo_graph import grad
from occelo_graph import tensor as ot
from occelo_graph.errors import SavedGraphError
from occelo_graph.ops.control import ifelse
from occelo_graph.ops.control.python_function import wrap_py
from occelo_link.machine.processor import host_target
from occelo_link.standalone import context
from occelo_link.units import frame
from occelo_testing.examples import EXAMPLES

if sys.platform != "linux" or not host_target()[0].startswith("x86_64"):
    pytest.skip("saved functions are for Linux on x86-64", allow_module_level=True)
FIRST = Path(__file__).with_name("first_format.occelo")
DTYPES = (
    "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64 complex64 complex128"
).split()


def reloaded(function: Any, folder: Path, **options: Any) -> SavedFunction:
    save_function(function, folder / "f.occelo", **options)
    return load_function(folder / "f.occelo")


def same(found: Any, expected: Any) -> None:
    found, expected = np.asarray(found), np.asarray(expected)
    assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
    assert found.tobytes() == np.ascontiguousarray(expected).tobytes()


@pytest.mark.sampled(3)
@pytest.mark.parametrize("dtype", DTYPES)
def test_every_dtype_in_several_shapes(dtype: str, tmp_path: Path) -> None:
    s, v, m = (ot.tensor(f"a{n}", dtype=dtype, shape=(None,) * n) for n in range(3))
    t = ot.tensor("t", dtype=dtype, shape=(2, None, 3))
    f = oc.function([s, v, m, t], [v * s, m.T, ot.sum(t, axis=1), s, v[:0], v[::-1]], mode="native")
    g = reloaded(f, tmp_path)
    rng = np.random.default_rng(3)
    for n in (0, 4, 1, 7):
        shapes = [(), (n,), (n, 3), (2, n, 3)]
        values = [(3 * rng.random(shape) > 1).astype(dtype) * 2 for shape in shapes]
        values = [np.asarray(v, dtype) for v in values]
        turned = [*values[:2], np.asfortranarray(values[2]), values[3]]
        for given in (values, turned):
            for found, expected in zip(g(*given), f(*given), strict=True):
                same(found, expected)


@pytest.mark.sampled(120)
@pytest.mark.parametrize("position", range(len(EXAMPLES)), ids=lambda k: str(EXAMPLES[k]))
def test_examples_have_the_bits_of_the_compiled_function(position: int, tmp_path: Path) -> None:
    example = EXAMPLES[position]
    # only a length that is known to be 1 is broadcast
    shapes = [tuple(1 if n == 1 else None for n in a.shape) for a in example.arguments]
    arguments = [
        ot.tensor(f"x{k}", dtype=a.dtype.name, shape=shape)
        for k, (a, shape) in enumerate(zip(example.arguments, shapes, strict=True))
    ]
    f = oc.function(
        arguments, example.function(*arguments), mode="native", on_unused_input="ignore"
    )
    try:
        f.c_function()
    except TypeError as refusal:
        with pytest.raises(TypeError, match=re.escape(str(refusal))):
            reloaded(f, tmp_path)
        return
    found, expected = reloaded(f, tmp_path)(*example.arguments), f(*example.arguments)
    for mine, theirs in zip(_listed(found), _listed(expected), strict=True):
        same(mine, theirs)


def _listed(results: Any) -> list[Any]:
    return results if isinstance(results, list) else [results]


FRESH = """
import json, sys
class Refusing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("llvmlite", "numba", "pickle_of_occelo") or name in (
            "occelo_link", "occelo_rewrite", "occelo_compile", "occelo"):
            raise ImportError(f"this process has no {name}")
sys.meta_path.insert(0, Refusing())
import numpy as np
from occelo_export import load_function
f = load_function(sys.argv[1])
with np.load(sys.argv[2]) as given:
    arguments = [given[k] for k in sorted(given.files)]
results = f(*arguments)
np.savez(sys.argv[3], *(results if isinstance(results, list) else [results]))
loaded = {name.partition(".")[0] for name in sys.modules}
print(json.dumps(sorted(n for n in loaded if n.startswith(("occelo", "scipy", "llvmlite")))))
"""


def test_a_process_without_a_compiler_runs_it(tmp_path: Path) -> None:
    x, m = ot.dvector("x"), ot.dmatrix("m")
    w = oc.shared(np.array([0.5, 1.5, -2.0]), "w")
    cost = ot.sum(ot.tanh(m @ (x * w)) ** 2) + ot.logsumexp(x)
    f = oc.function([m, x], [cost, grad(cost, x), ot.cumsum(x)[::-1]], mode="native")
    save_function(f, tmp_path / "f.occelo")
    values = [np.arange(12.0).reshape(4, 3) / 7, np.array([0.1, -0.2, 0.3])]
    np.savez(tmp_path / "given.npz", *values)
    paths = [str(tmp_path / name) for name in ("f.occelo", "given.npz", "results.npz")]
    # no compiler on the path, and no folder in which a cache could be
    environment = {
        "PATH": "",
        "HOME": "/nonexistent",
        "PYTHONPATH": os.pathsep.join(p for p in sys.path if p),
    }
    done = subprocess.run(
        [sys.executable, "-c", FRESH, *paths],
        capture_output=True,
        text=True,
        timeout=60,
        env=environment,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert json.loads(done.stdout) == ["occelo_export", "occelo_graph"]
    with np.load(paths[2]) as results:
        for k, expected in enumerate(f(*values)):
            same(results[f"arr_{k}"], expected)


def test_states_are_updated_and_kept_after_failures(tmp_path: Path) -> None:
    x = ot.dvector("x")
    n, rows = oc.shared(np.zeros(3), "n"), oc.shared(np.ones((2, 2)), "rows")
    f = oc.function([x], n.sum(), updates={n: n + x, rows: rows[:1]}, name="count", mode="native")
    g = reloaded(f, tmp_path)
    assert float(g(np.ones(3))) == 0.0
    assert float(g(np.ones(3))) == 3.0
    assert g.state_values["n"].tolist() == [2.0, 2.0, 2.0]
    assert g.state_values["rows"].tolist() == [[1.0, 1.0]]
    with pytest.raises(SavedFunctionError, match="'count': a check of add") as failed:
        g(np.ones(2))
    assert failed.value.code > 0
    assert g.state_values["n"].tolist() == [2.0, 2.0, 2.0]
    g.state_values["n"][:] = 7
    assert float(g(np.zeros(3))) == 21.0
    # the shared variables themselves are of the other process
    assert n.get_value().tolist() == [0.0, 0.0, 0.0]
    # a state has the memory of its first value
    grows = oc.function([], [], updates={n: ot.concatenate([n, n])}, mode="native")
    with pytest.raises(SavedFunctionError, match="too small"):
        reloaded(grows, tmp_path)()


def test_values_are_those_of_the_moment_of_saving(tmp_path: Path) -> None:
    x, w = ot.dvector("x"), oc.shared(np.array([1.0, 2.0]), "w")
    f = oc.function([x], x * w, mode="native")
    g = reloaded(f, tmp_path)
    w.set_value(np.zeros(2))
    assert g([1.0, 1.0]).tolist() == [1.0, 2.0]
    g.values["w"][:] = 5.0
    assert g([1.0, 1.0]).tolist() == [5.0, 5.0]


def test_calls_are_as_those_of_the_function(tmp_path: Path) -> None:
    x, k = ot.dvector("x"), ot.lscalar("k")
    f = oc.function([x, oc.In(k, value=np.int64(2))], {"y": x * k, "k": k}, mode="native", name="f")
    g = reloaded(f, tmp_path)
    assert g([1.0])["y"].tolist() == [2.0]
    assert g(x=[1], k=3)["y"].tolist() == [3.0]
    assert repr(g) == "<SavedFunction f(x: float64 (?), k: int64 ())>"
    for wrong, message in (
        (((),), None),
        (((), 1, 2), "takes 2 arguments, got 3"),
        (([[1.0]],), "cannot have a value of shape"),
        (([1.0], 1.5), "k has dtype int64, and the value float64"),
        ((np.array([1j]),), "x has dtype float64"),
    ):
        if message is None:
            assert g(*wrong)["y"].tolist() == []
            continue
        with pytest.raises((TypeError, ValueError), match=message):
            g(*wrong)
    with pytest.raises(TypeError, match="missing its argument x: float64"):
        g()
    with pytest.raises(TypeError, match="no argument named 'z'"):
        g([1.0], z=1)
    with pytest.raises(TypeError, match="argument 'x' twice"):
        g([1.0], x=[1.0])
    assert (
        reloaded(oc.function([x], None, mode="native", on_unused_input="ignore"), tmp_path)([1.0])
        == []
    )
    assert reloaded(oc.function([x], [x], mode="native"), tmp_path)([1.0])[0].tolist() == [1.0]


def test_lengths_from_values_loops_and_branches(tmp_path: Path) -> None:
    loops: Any = pytest.importorskip("occelo_loops", reason="the family of loops is not installed")
    x, n = ot.dvector("x"), ot.lscalar("n")
    (steps, total) = (
        ot.nonzero(x)[0],
        loops.fori_loop(0, n, lambda i, c: c * 2 + i, ot.constant(1.0)),
    )
    f = oc.function([x, n], [steps, total, ot.arange(n), ifelse(n > 2, x, x[:1])], mode="native")
    g = reloaded(f, tmp_path)
    for value, count in (([0.0, 1.0, 2.0], 3), ([], 0), ([1.0] * 50, 9), ([0.0], 1)):
        for found, expected in zip(g(value, count), f(value, count), strict=True):
            same(found, expected)


def test_blas_and_lapack_of_the_other_process(tmp_path: Path) -> None:
    ol: Any = pytest.importorskip("occelo_linalg", reason="linear algebra is not installed")
    m, b = ot.dmatrix("m"), ot.dvector("b")
    f = oc.function([m, b], [ol.solve(m, b), m @ m, ol.cholesky(m @ m.T)], mode="native")
    g = reloaded(f, tmp_path)
    rng = np.random.default_rng(0)
    for n in (1, 4, 30):
        values = [rng.normal(size=(n, n)) + 3 * np.eye(n), rng.normal(size=n)]
        for found, expected in zip(g(*values), f(*values), strict=True):
            same(found, expected)


def test_threads(tmp_path: Path) -> None:
    x = ot.dvector("x")
    f = oc.function([x], [ot.exp(x).sum(), x[x > 0.5]], mode="native")
    g = reloaded(f, tmp_path)
    wrong: list[Any] = []

    def work(seed: int) -> None:
        for n in range(60):
            value = np.random.default_rng([seed, n]).random(n * 7)
            total, large = g(value)
            if not (
                np.isclose(total, np.exp(value).sum()) and np.array_equal(large, value[value > 0.5])
            ):
                wrong.append(value)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert wrong == []


def test_functions_of_c_are_saved_as_well(tmp_path: Path) -> None:
    x = ot.dvector("x")
    try:
        f = oc.function([x], ot.log1p(x), mode="c")
        f([1.0])
    except Exception as error:  # CompilerMissing
        if type(error).__name__ != "CompilerMissing":
            raise
        pytest.skip("there is no C compiler")
    np.testing.assert_allclose(reloaded(f, tmp_path)([1.0, 2.0]), np.log1p([1.0, 2.0]), rtol=1e-15)


@pytest.mark.parametrize("processor", ["x86-64", "x86-64-v2", "host"])
def test_processors(processor: str, tmp_path: Path) -> None:
    x = ot.fmatrix("x")
    f = oc.function([x], [ot.sin(x), ot.sum(x, axis=0), x.max()], mode="native")
    g = reloaded(f, tmp_path, processor=processor)
    value = np.random.default_rng(1).normal(size=(33, 17)).astype("float32")
    for found, expected in zip(g(value), f(value), strict=True):
        same(found, expected)


def test_what_is_refused_is_named(tmp_path: Path) -> None:
    x = ot.dvector("x")
    file = tmp_path / "f.occelo"

    @wrap_py(ot.dvector, ot.dvector)
    def secret(value: Any) -> Any:
        return np.sort(value)

    with pytest.raises(TypeError, match=r"op .*secret.* of .*made at .*test_saved_functions\.py"):
        save_function(oc.function([x], secret(x), mode="native"), file)
    with pytest.raises(TypeError, match="native and c"):
        save_function(oc.function([x], x + 1, mode="py"), file)
    with pytest.raises(TypeError, match="nested trees"):
        save_function(oc.function([{"a": [x]}], {"b": [x + 1]}, mode="native"), file)
    with pytest.raises(ValueError, match="processor is one of"):
        save_function(oc.function([x], x + 1, mode="native"), file, processor="i386")
    with pytest.raises(TypeError, match="save_function takes a compiled function"):
        save_function(x + 1, file)
    assert list(tmp_path.iterdir()) == []


# the format


def rewritten(source: Path, target: Path, code: bytes | None = None, **changes: Any) -> Path:
    """A file with another header."""
    with zipfile.ZipFile(source) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    header = json.loads(members["function.json"]) | changes
    members["function.json"] = json.dumps(
        {k: v for k, v in header.items() if v is not None}
    ).encode()
    if code is not None:
        members["code"] = code
    with zipfile.ZipFile(target, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return target


def test_a_file_of_the_first_format_is_still_read() -> None:
    """`first_format.occelo` was written by the first version, for any x86-64; see `write_first_format`."""
    g = load_function(FIRST)
    value = np.linspace(-2.0, 2.0, 9)
    found = g(value, 3)
    np.testing.assert_allclose(found["y"], np.exp(value) * 3 + np.arange(9.0), rtol=1e-15)
    assert found["n"].tolist() == [0]
    assert g([0.0] * 9, 1)["n"].tolist() == [9]
    assert g.state_values["seen"].tolist() == [18]
    with pytest.raises(SavedFunctionError, match="a check of add"):
        g([1.0], 2)


def write_first_format() -> None:
    """Write the file anew. Only for a new system: a file that the first version wrote is what the test is about."""
    x, k, seen = ot.dvector("x"), ot.lscalar("k"), oc.shared(np.zeros(1, "int64"), "seen")
    outputs = {"y": ot.exp(x) * k + oc.shared(np.arange(9.0), "w"), "n": seen}
    f = oc.function([x, k], outputs, updates={seen: seen + x.shape[0]}, name="first", mode="native")
    save_function(f, FIRST, processor="x86-64")


def test_versions(tmp_path: Path) -> None:
    target = tmp_path / "f.occelo"
    value = np.zeros(9)
    # a later version whose files this one understands: it knows keys that this one does not
    later = rewritten(FIRST, target, version=file_format.VERSION + 5, another={"key": 1})
    assert load_function(later)(value, 1)["n"].tolist() == [0]
    for changes, message in (
        (
            {"readers": file_format.VERSION + 1},
            r"needs a reader of format version 2.*is of version 1",
        ),
        ({"version": file_format.OLDEST - 1}, r"format version 0.*reads from 1 on"),
        ({"format": "occelo-graph"}, r"none of a saved function"),
        ({"version": None}, r"none of a saved function"),
        ({"table": None}, r"no 'table'"),
        ({"digest": "0"}, r"its code is damaged"),
        ({"system": "linux riscv64"}, r"cannot run here: its code is for linux riscv64"),
        ({"functions": {}}, r"cannot run here: KeyError: 'services'"),
        ({"table": ["constant99"]}, r"cannot run here: IndexError"),
        ({"table": ["libm:absent"]}, r"cannot run here: AttributeError"),
        ({"imports": {"absent": 0}}, r"cannot run here: AttributeError"),
        ({"features": ["amx-tile-of-the-future"]}, r"lacks amx-tile-of-the-future"),
    ):
        with pytest.raises(SavedGraphError, match=message):
            load_function(rewritten(FIRST, target, **changes))
    with pytest.raises(SavedGraphError, match="its code is damaged"):
        load_function(rewritten(FIRST, target, code=b"\xcc" * 4096))
    target.write_bytes(FIRST.read_bytes()[:-100])
    with pytest.raises(SavedGraphError, match="does not hold a saved function"):
        load_function(target)
    with pytest.raises(OSError, match="No such file"):
        load_function(tmp_path / "absent")


def test_nothing_is_unpickled(tmp_path: Path) -> None:
    """An array of objects, which NumPy could only unpickle, is refused."""
    with zipfile.ZipFile(FIRST) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    stream = io.BytesIO()
    np.lib.format.write_array(stream, np.array([{}], object), allow_pickle=True)
    members["arrays/0.npy"] = stream.getvalue()
    with zipfile.ZipFile(tmp_path / "f", "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    with pytest.raises(SavedGraphError, match="elements of dtype object"):
        load_function(tmp_path / "f")


def test_the_layout_that_the_format_fixes_is_that_of_the_link_package() -> None:
    """A change there needs a new version of the format (`file_format.READERS`), and readers for both."""
    for name in (
        "CTX_UNIT",
        "CTX_TABLE",
        "CTX_MALLOC",
        "CTX_FREE",
        "CTX_WORK",
        "CTX_DATA",
        "NO_ROOM",
    ):
        assert getattr(file_format, name) == getattr(context, name)
    places = (frame.ALLOC_OUTPUT, frame.GROW, frame.POLL, frame.TAKE)
    assert (*places, frame.SERVICES) == (0, 1, 2, 3, len(file_format.SERVICES))
    assert file_format.SERVICES == ("alloc_output", "grow", "poll", "take")


def test_memory_is_freed_with_the_function(tmp_path: Path) -> None:
    save_function(oc.function([], ot.zeros(3), mode="native"), tmp_path / "f")

    def mappings() -> int:
        return Path("/proc/self/maps").read_text().count("\n")

    load_function(tmp_path / "f")()
    gc.collect()
    before = mappings()
    for _ in range(50):
        load_function(tmp_path / "f")()
    gc.collect()
    assert mappings() < before + 10
