"""Functions as StableHLO: the bytes are run by JAX alone, in a process that has no Occelo, and compared with NumPy."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import occelo_compile as oc
from occelo_graph import grad
from occelo_graph import tensor as ot
from occelo_graph.ops.control.python_function import wrap_py

jax: Any = pytest.importorskip("jax", reason="jax is not installed")
from occelo_export import to_jax_export, to_stablehlo  # noqa: E402

FRESH = """
import sys
import jax, numpy as np
from jax import export
jax.config.update("jax_enable_x64", True)
with np.load(sys.argv[2]) as given:
    arguments = [given[name] for name in sorted(given.files)]
with open(sys.argv[1], "rb") as file:
    results = export.deserialize(bytearray(file.read())).call(*arguments)
np.savez(sys.argv[3], *jax.tree.leaves(results))
assert not any(name.startswith("occelo") for name in sys.modules)
"""


def run_alone(exported: Any, arguments: list[Any], folder: Path) -> list[Any]:
    """The results of a process that imports JAX and NumPy only."""
    (folder / "function").write_bytes(exported.serialize())
    np.savez(folder / "given.npz", *arguments)
    paths = [str(folder / name) for name in ("function", "given.npz", "results.npz")]
    done = subprocess.run(
        [sys.executable, "-I", "-c", FRESH, *paths], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr[-2000:]
    with np.load(paths[2]) as results:
        return [results[f"arr_{k}"] for k in range(len(results.files))]


def test_value_and_gradient_run_without_occelo(tmp_path: Path) -> None:
    m, x, k = ot.dmatrix("m"), ot.fvector("x"), ot.lscalar("k")
    w = oc.shared(np.array([0.5, -2.0, 3.0]), "w")
    cost = ot.sum(ot.tanh(ot.dot(m, x * w)) ** 2) * k
    f = oc.function([m, x, k], [cost, grad(cost, m), m[::-1, 1:], ot.cumsum(x)], mode="py")
    rng = np.random.default_rng(0)
    values = [rng.normal(size=(4, 3)), rng.normal(size=3).astype("float32"), np.int64(3)]
    found = run_alone(to_jax_export(f, *values), values, tmp_path)
    inner = values[0] @ (values[1] * [0.5, -2.0, 3.0])
    np.testing.assert_allclose(found[0], 3 * np.sum(np.tanh(inner) ** 2))
    outer = 6 * np.tanh(inner) * (1 - np.tanh(inner) ** 2)
    np.testing.assert_allclose(found[1], outer[:, None] * (values[1] * [0.5, -2.0, 3.0]))
    np.testing.assert_array_equal(found[2], values[0][::-1, 1:])
    assert found[3].dtype == "float32"
    np.testing.assert_allclose(found[3], np.cumsum(values[1]), rtol=1e-6)


def test_bytecode_is_the_module_of_the_text() -> None:
    from jax.interpreters import mlir
    from jaxlib.mlir import ir
    from jaxlib.mlir.dialects import stablehlo

    x = ot.tensor("x", dtype="float64", shape=(2, None))
    module = to_stablehlo(oc.function([x], ot.exp(x).sum(axis=0)), np.ones((2, 5)))
    assert module.arguments == (("float64", (2, 5)),)
    assert module.results == (("float64", (5,)),)
    assert module.names == ("x",)
    with mlir.make_ir_context() as context:
        read = stablehlo.deserialize_portable_artifact(context, module.bytecode)
        names = {op.operation.name for op in ir.Module.parse(str(read)).body}
    assert names == {"func.func"}
    for op in ("stablehlo.exponential", "stablehlo.reduce"):
        assert op in module.text
        assert op in str(read)


@pytest.mark.parametrize("length", [0, 1, 4])
def test_lengths_are_those_of_the_example(length: int) -> None:
    x = ot.dvector("x")
    exported = to_jax_export(oc.function([x], [ot.sum(x), x[:1] * 2]), [0.0] * length)
    value = np.arange(length) + 1.0
    with jax.enable_x64(True):
        total, first = exported.call(value)
    assert (float(total), first.tolist()) == (value.sum(), (value[:1] * 2).tolist())


def test_static_types_need_no_example() -> None:
    x = ot.tensor("x", dtype="float32", shape=(2, 3))
    assert to_stablehlo(oc.function([x], x.T)).results == (("float32", (3, 2)),)


def test_what_is_refused_is_named() -> None:
    x = ot.dvector("x")
    w = oc.shared(np.zeros(3), "w")

    @wrap_py(ot.dvector, ot.dvector)
    def secret(value: Any) -> Any:
        return np.sort(value)

    with pytest.raises(TypeError, match="updates w"):
        to_stablehlo(oc.function([x], x, updates={w: w + 1}), np.zeros(3))
    with pytest.raises(TypeError, match="secret"):
        to_stablehlo(oc.function([x], secret(x)), np.zeros(3))
    with pytest.raises(TypeError, match="takes 1 arguments, and 0 examples"):
        to_stablehlo(oc.function([x], x))
    with pytest.raises(TypeError, match="Wrong number of dimensions"):
        to_stablehlo(oc.function([x], x), np.zeros((2, 3)))
