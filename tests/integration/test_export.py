"""`Function.export`: the library builds without warnings, needs no Python, and gives the bits of the mode ``c``."""

from __future__ import annotations

import ctypes
import os
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.special import iv

import occelo_compile as oc
import occelo_linalg as ol
import occelo_random as random
import occelo_special.functions as special
from occelo.command.digits import make_step
from occelo.command.digits import network as demo_network
from occelo_graph import grad
from occelo_graph import tensor as ot
from occelo_graph.ops.control.python_function import as_op
from occelo_link.c.compiler import CompilerMissing, find_compiler
from occelo_link.machine.symbol_addresses import blas_library
from occelo_link.standalone.signature import Argument

STRICT = ["-Wall", "-Wextra", "-Werror"]


def compiler() -> list[str]:
    try:
        return find_compiler()
    except CompilerMissing as missing:
        pytest.skip(str(missing))


def cpp_compiler() -> list[str]:
    for name in ("c++", "g++", "clang++"):
        if shutil.which(name):
            return [name]
    if "ziglang" in compiler():
        return [*compiler()[:-1], "c++"]
    return pytest.skip("no C++ compiler: install g++ or clang++")


def run(*command: str | Path, **environment: str) -> str:
    """Run a command. Returns its output; fails with its messages."""
    done = subprocess.run(
        [str(part) for part in command],
        capture_output=True,
        text=True,
        env={**os.environ, **environment},
    )
    assert done.returncode == 0, done.stderr[-4000:]
    return done.stdout


def numpys_blas() -> list[str]:
    """The flags that link a library with the OpenBLAS of NumPy, which the mode ``c`` calls, too."""
    folder = Path(np.__file__).parents[1] / "numpy.libs"
    found = sorted(folder.glob("*openblas64*"))
    if blas_library().name != "numpy" or not found:
        pytest.skip("NumPy has no OpenBLAS that a C compiler can link")
    return ["-DBLAS(name)=scipy_##name##_64_", str(found[0]), f"-Wl,-rpath,{folder}"]


def built(f: Any, folder: Path, *flags: str, name: str = "model", **options: Any) -> Any:
    """Export a function, and load it as a shared library for ctypes."""
    f.export(folder, name, **options)
    library = folder / "library.so"
    source = folder / f"{name}.c"
    run(*compiler(), "-O1", "-fPIC", "-shared", *STRICT, source, *flags, "-lm", "-o", library)
    return ctypes.CDLL(str(library))


def arguments_of(f: Any) -> list[Argument]:
    return list(f.c_function().arguments)


def called(function: Any, arguments: list[Argument], *values: Any, room: int = 64) -> list[Any]:
    """Call an exported function. Returns its code, its outputs and its states."""
    given, sent, results = iter(values), list[Any](), list[Any]()
    for each in arguments:
        lengths = np.array([*[1] * (len(each.shape) - 1), room], dtype=np.int64)
        if each.role == "output":
            static = [0 if n is None else n for n in each.shape]
            array = np.zeros(room if each.has_lengths else static, each.dtype)
        else:
            array = np.array(next(given), each.dtype, order="C")
            lengths = np.array(array.shape, dtype=np.int64)
        if each.by_value:
            kind = np.ctypeslib.as_ctypes_type(array.dtype)
            sent.append(kind(array.item()))
            continue
        sent.append(array.ctypes.data_as(ctypes.c_void_p))
        if each.has_lengths:
            sent.append(lengths.ctypes.data_as(ctypes.c_void_p))
        if each.role != "input":
            results.append((each, array, lengths))
    function.restype = ctypes.c_int64
    code = function(*sent, None)
    made: list[Any] = []
    for each, array, lengths in results:
        shape = lengths.tolist() if each.has_lengths else each.shape
        count = int(np.prod(shape, dtype=int))
        flat = array.reshape(-1)
        made.append(flat[:count].reshape(shape) if count <= flat.size else flat)
    return [code, *made]


def same(a: Any, b: Any) -> bool:
    a, b = np.asarray(a), np.asarray(b)
    return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()


def gaussian_process() -> tuple[Any, list[Any]]:
    """The log density of a Gaussian process and its gradient, and a point."""
    rng = np.random.default_rng(3)
    x = oc.shared(np.sort(rng.uniform(size=12)), "x")
    y = oc.shared(rng.normal(size=12), "y")
    theta = ot.dvector("theta")
    distances = (x[:, None] - x[None, :]) ** 2
    noise = ot.exp(theta[2]) * ot.eye(12)
    covariance = ot.exp(theta[0]) * ot.exp(-distances * ot.exp(theta[1])) + noise
    factor = ol.cholesky(covariance)
    scaled = ol.solve_triangular(factor, y, lower=True)
    density = -0.5 * ot.sum(scaled**2) - ot.sum(ot.log(ot.diag(factor)))
    density.name = "density"
    gradient = grad(density, theta)
    gradient.name = "gradient"
    return oc.function([theta], [density, gradient], mode="c"), [np.array([0.1, 1.0, -2.0])]


def network() -> tuple[Any, list[Any]]:
    """The training step of the network that ``occelo demo`` trains, and a batch."""
    rng = np.random.default_rng(5)
    step, _, _ = make_step(demo_network(0, 64, 8), "c")
    return step, [rng.uniform(size=(6, 64)), rng.integers(0, 10, size=6)]


def values_in(text: str) -> dict[str, list[float]]:
    """The values that an example has printed, by the names of the arguments."""
    rows = [line.split() for line in text.splitlines()]
    return {name: [float(each) for each in row] for name, *row in rows}


@pytest.mark.sampled(2)
@pytest.mark.parametrize("make", [gaussian_process, network])
def test_examples_in_c_and_cpp_under_the_address_sanitizer(
    make: Callable[[], tuple[Any, list[Any]]], tmp_path: Path
) -> None:
    f, given = make()
    f.export(tmp_path, "model", blas="ilp64", example=given)
    results: Any = f(*given)
    expected: list[Any] = [results] if make is network else results
    updated = [e.variable for e, _ in f.indices if e.update is not None]
    expected += [v.get_value() for v in updated]
    flags = [*numpys_blas(), "-lm"]
    sanitizer = ["-fsanitize=address,undefined", "-fno-sanitize-recover=undefined", "-g"]
    probe = tmp_path / "probe.c"
    probe.write_text("int main(void) { return 0; }\n")
    made = [*compiler(), *sanitizer, str(probe), "-o", str(tmp_path / "probe")]
    if subprocess.run(made, capture_output=True, check=False).returncode:
        sanitizer = []  # the compiler has no sanitizers
    source, program = tmp_path / "model.c", tmp_path / "program"
    run(
        *compiler(),
        "-O0",
        *STRICT,
        *sanitizer,
        source,
        tmp_path / "example.c",
        *flags,
        "-o",
        program,
    )
    found = values_in(run(program))
    for mine, value in zip(found.values(), expected, strict=True):
        assert same(np.array(mine).reshape(np.shape(value)), value)
    run(*compiler(), "-O1", *STRICT, "-c", source, flags[0], "-o", tmp_path / "model.o")
    example = tmp_path / "example.cpp"
    run(*cpp_compiler(), *STRICT, example, tmp_path / "model.o", *flags[1:], "-o", program)
    assert values_in(run(program)) == found


_JULIA_OF_C = {
    "float": "Float32", "double": "Float64", "bool": "Bool", "char": "Cchar",
    **{f"{u}int{n}_t": f"{'UInt' if u else 'Int'}{n}" for u in ("", "u") for n in (8, 16, 32, 64)},
}  # fmt: skip


def julia_types(header: str, name: str) -> tuple[str, list[str]]:
    """The types of Julia for the result and the arguments of a function that a C header declares."""
    found = re.search(
        rf"^(?P<result>[^\n;]*\W){name}\((?P<arguments>[^)]*)\);", header, re.MULTILINE
    )
    assert found is not None, name
    arguments = [each.rsplit(maxsplit=1) for each in found["arguments"].split(",")]
    return julia_type(found["result"]), [
        julia_type(kind + "*" * each.count("*")) for kind, each in arguments
    ]


def julia_type(declared: str) -> str:
    kind = declared.replace("const", "").replace("*", "").strip()
    if "*" not in declared:
        return _JULIA_OF_C[kind]
    return "Cstring" if kind == "char" else f"Ptr{{{_JULIA_OF_C.get(kind, 'Cvoid')}}}"


def test_the_example_in_julia_calls_what_the_header_declares(tmp_path: Path) -> None:
    """Julia is not needed: types of calls are those of the header, and values have the types of calls."""
    dtypes = "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64 complex64 complex128"
    inputs = [
        ot.tensor(f"{dtype}_{len(shape)}", dtype=dtype, shape=shape)
        for dtype in dtypes.split()
        for shape in ((), (2,), (None, 2))
    ]
    state = oc.shared(np.zeros(2, "float32"), "state")
    f = oc.function(inputs, [v[...] for v in inputs], updates={state: state + 1}, mode="c")
    odd = [np.nan, -np.inf]
    given = [np.full([2] * v.type.ndim, 1, v.type.dtype) for v in inputs]
    given = [
        np.array(odd) if v.name == "float64_1" else x for v, x in zip(inputs, given, strict=True)
    ]
    f.export(tmp_path, "model", example=given)
    header, example = (tmp_path / name for name in ("model.h", "example.jl"))
    text = example.read_text()
    calls = re.findall(r"ccall\(\((\w+)\), (\w+), \(([^)]*)\), ([^)]*)\)", text)
    declared = julia_types(header.read_text(), "model")
    assert len(calls) == 2, "the first call, and the one after an array has grown"
    for pointer, result, kinds, values in calls:
        assert (pointer, result, kinds.split(", ")) == ("model_pointer", *declared)
        for value, kind in zip(values.split(", ")[:-1], kinds.split(", ")[:-1], strict=True):
            made = re.search(rf"^{value} = (?:zeros\()?(\w+)(.)", text, re.MULTILINE)
            assert made is not None, value
            assert made[1] == kind.removeprefix("Ptr{").removesuffix("}")
            assert (made[2] == "(") != kind.startswith("Ptr"), "a number or an array"
        assert values.split(", ")[-1] == "C_NULL"
    assert "ccall(Libdl.dlsym(library, :model_message), Cstring, (Int64,), code)" in text
    assert julia_types(header.read_text(), "model_message") == ("Cstring", ["Int64"])
    assert "float64_1 = Float64[NaN, -Inf]" in text


def test_dtypes_shapes_and_constants(tmp_path: Path) -> None:
    """All dtypes in one library: numbers, empty arrays, partly static lengths, constants with the bits of NaN."""
    dtypes = (
        "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64 "
        "complex64 complex128"
    ).split()
    rng = np.random.default_rng(1)
    odd = np.array([np.nan, -np.inf, -0.0, 5e-324])
    odd.view("uint64")[0] |= np.uint64(1 << 63 | 5)
    inputs: list[Any] = []
    outputs: list[Any] = [ot.constant(odd)[:, None] * 1, oc.shared(odd, "odd")[::-1]]
    for dtype in dtypes:
        s, v, m = (ot.tensor(f"{dtype}_{n}", dtype=dtype, shape=(None,) * n) for n in range(3))
        t = ot.tensor(f"{dtype}_3", dtype=dtype, shape=(2, None, 3))
        inputs += [s, v, m, t]
        outputs += [v * s, m.T, ot.sum(t, axis=1), oc.shared(np.ones(2, dtype), dtype) * v[:2]]
    f = oc.function(inputs, outputs, mode="native")
    arguments, library = arguments_of(f), built(f, tmp_path)
    for n in (2, 5):
        values = [
            np.asarray(rng.normal(size=shape) * 9).astype(d)
            for d in dtypes
            for shape in ((), (n,), (0, n), (2, n, 3))
        ]
        code, *results = called(library.model, arguments, *values)
        assert code == 0
        for mine, expected in zip(results, f(*values), strict=True):
            assert same(mine, expected)


def test_states_errors_and_new_data(tmp_path: Path) -> None:
    total, scale = oc.shared(np.zeros(2), "total"), oc.shared(np.array([2.0]), "scale")
    x = ot.dvector("x")
    f = oc.function([x], [x * scale[0]], updates={total: total + x}, mode="native", name="add up!")
    arguments, library = arguments_of(f), built(f, tmp_path)
    code, result, new = called(library.model, arguments, [1.0, 2.0], [10.0, 20.0])
    assert (code, result.tolist(), new.tolist()) == (0, [2, 4], [11, 22])
    code, _, new = called(library.model, arguments, [1.0, 2.0, 3.0], [10.0, 20.0])
    assert (code > 0, new.tolist()) == (True, [10, 20])
    assert "add" in f.c_function().errors[code]
    assert called(library.model, arguments, [1.0, 2.0], [1.0, 2.0], room=1)[0] == -4
    library.model_message.restype = ctypes.c_char_p
    header = (tmp_path / "model.h").read_text()
    for number, meaning in f.c_function().errors.items():
        assert library.model_message(ctypes.c_int64(number)).decode() == meaning
        assert f"{number:4d}  " in header

    class Data(ctypes.Structure):
        _fields_ = (("scale", ctypes.c_void_p), ("lengths", ctypes.c_int64 * 1))

    other = np.array([-1.0])
    data = Data(other.ctypes.data, (ctypes.c_int64 * 1)(1))
    point, out, state = np.array([3.0, 4.0]), np.zeros(2), np.zeros(2)
    lengths = [np.array([2]) for _ in range(3)]
    sent = [point, lengths[0], out, lengths[1], state, lengths[2]]
    passed = [each.ctypes.data_as(ctypes.c_void_p) for each in sent]
    assert library.model(*passed, ctypes.byref(data)) == 0
    assert out.tolist() == [-3, -4]


def test_a_singular_matrix_is_a_code(tmp_path: Path) -> None:
    a = ot.dmatrix("a")
    f = oc.function([a], ol.inv(a), mode="c")
    arguments = arguments_of(f)
    library = built(f, tmp_path, *numpys_blas(), blas="ilp64")
    good = np.array([[2.0, 1.0], [0.0, 4.0]])
    code, result = called(library.model, arguments, good)
    assert code == 0 or result.size == 0
    code, result = called(library.model, arguments, np.zeros((2, 2)))
    assert code > 0
    assert "made at" in f.c_function().errors[code]


def test_modified_bessel_functions_need_no_scipy(tmp_path: Path) -> None:
    x = ot.dvector("x")
    f = oc.function([x], [special.i0(x), special.i1(x)], mode="c")
    library = built(f, tmp_path)
    points = np.array([-30.0, -0.5, 0.0, 9.9, 10.1, 700.0, np.inf])
    code, *results = called(library.model, arguments_of(f), points)
    assert code == 0
    for order, result in enumerate(results):
        np.testing.assert_allclose(result[:-1], iv(order, points[:-1]), rtol=1e-14)
        assert result[-1] == np.inf


@pytest.mark.filterwarnings("ignore:Functions are not kept in the cache")
def test_what_cannot_be_exported(tmp_path: Path) -> None:
    x, generator = ot.dvector("x"), random.shared_rng(seed=3, name="generator")
    for mode, graph, message in [
        ("py", x + 1, "modes native and c"),
        ("native", generator.normal(size=(2,))[1], "draw_normal .*for normal_rv.*made at"),
        ("native", generator.binomial(9, 0.5)[1], "needs Python"),
        ("native", as_op([ot.dvector], [ot.dvector])(np.sort)(x), "The op .*sort.* of .*made at"),
        ("native", special.k0e(x), "special:.*k0e of SciPy for .*made at"),
    ]:
        with pytest.raises(TypeError, match=message):
            oc.function([x], graph, mode=mode, on_unused_input="ignore").export(tmp_path / "no")
    assert not (tmp_path / "no").exists()
    wrong: Any = "64"
    with pytest.raises(ValueError, match="ilp64"):
        oc.function([x], x + 1).export(tmp_path / "no", blas=wrong)
    with pytest.raises(TypeError, match="1 values, got 2"):
        oc.function([x], x + 1).export(tmp_path / "no", example=[1, 2])


def test_cmake_builds_the_library_and_the_examples(tmp_path: Path) -> None:
    if shutil.which("cmake") is None:
        pytest.skip("no cmake")
    x = ot.dvector("x")
    f = oc.function([x], [ot.exp(x), x.sum()], mode="c", name="f")
    f.export(tmp_path, example=[[0.0, 1.0]])
    run("cmake", "-S", tmp_path, "-B", tmp_path / "build", CC=" ".join(compiler()))
    run("cmake", "--build", tmp_path / "build", "--target", "example_c", "example_cpp")
    expected = {"output_0": np.exp([0.0, 1.0]).tolist(), "output_1": [1.0]}
    for example in ("example_c", "example_cpp"):
        assert values_in(run(tmp_path / "build" / example)) == expected


def test_names_of_users_and_of_the_code(tmp_path: Path) -> None:
    """Arguments, functions and shared variables may have any names, also those that the code itself uses."""
    words = "frame code count int run table x x_lengths UNUSED é 2x linux exp data end free"
    shared = [oc.shared(np.ones(1), word) for word in ("grow", "data", "double")]
    inputs = [ot.dvector(word) for word in words.split()]
    one = shared[0][0] * shared[2][0]
    outputs = {word: ot.exp(v) + one for word, v in zip(words.split(), inputs, strict=True)}
    updates = {shared[1]: shared[1] + 1}
    for k, name in enumerate(("run", "exp", "x", "while", "two words", "9", None)):
        f = oc.function(inputs, outputs, updates=updates, mode="native", name=name)
        header, constants, source, *_ = f.export(tmp_path / str(k))
        objects = [tmp_path / f"{part}.o" for part in ("library", "example")]
        for text, made in zip((source, tmp_path / str(k) / "example.c"), objects, strict=True):
            run(*compiler(), "-O0", *STRICT, "-c", text, "-o", made)
        program = tmp_path / "program"
        run(*compiler(), *objects, "-lm", "-o", program)
        printed = values_in(run(program))
        assert len(printed) == len(inputs) + 1
        assert list(printed.values()) == [[np.exp(1) + 1] * 3] * len(inputs) + [[2]]
        assert header.stem == source.stem == constants.stem.removesuffix("_constants")
