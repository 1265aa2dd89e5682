"""The ops that the documentation adds from another package: right on every backend, and cached across processes."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from occelo_link.c.compiler import CompilerMissing, find_compiler

PAGE = Path(__file__).parents[2] / "docs" / "adding-an-op.md"
LIBRARIES = {"numba": "numba", "jax": "jax", "pytorch": "torch"}
BACKENDS = ("py", "vm", "native", "c", "c|py", "numba", "jax", "pytorch")
KEPT = ("native", "numba")
"""Backends whose functions are kept in the cache whole; ``c`` keeps object code."""
OPS = ("isru", "sum_of_magnitudes", "any_of", "flip_blocks")

CHECKS = '''
import json, sys, traceback
import numpy as np
import occelo as oc
import occelo.tensor as ot
from the_page import any_of, flip_blocks, isru, sum_of_magnitudes

oc.config.pytorch__compile = False


def flipped(x, size=2):
    return x.reshape(*x.shape[:-1], x.shape[-1] // size, size)[..., ::-1].reshape(x.shape)


# op, NumPy over the last axis, its pullback, lengths, what a rule simplifies, what is gone then
OPS = {
    "isru": (
        isru,
        lambda x: x / np.sqrt(1 + x * x),
        lambda x, ct: ct / (1 + x * x) ** 1.5,
        (0, 1, 5),
        lambda x: isru(-x) + isru(x),
        "isru",
    ),
    "sum_of_magnitudes": (
        sum_of_magnitudes,
        lambda x: abs(x).sum(-1),
        lambda x, ct: np.sign(x) * ct,
        (0, 1, 5),
        lambda x: sum_of_magnitudes(-x),
        "neg",
    ),
    # which has no law
    "any_of": (
        lambda x: any_of(x, axis=-1),
        lambda x: 1 - np.prod(1 - x, -1),
        lambda x, ct: np.array([np.prod(1 - np.delete(x, i)) for i in range(len(x))], x.dtype) * ct,
        (0, 1, 5),
        None,
        "",
    ),
    "flip_blocks": (
        lambda x: flip_blocks(x, 2),
        flipped,
        lambda x, ct: flipped(ct),
        (0, 2, 6),
        lambda x: flip_blocks(flip_blocks(x, 2), 2),
        "FlipBlocks",
    ),
}


def check(name, backend):
    """Whether each function came from the cache."""
    function, reference, pulled, lengths, simplified, gone = OPS[name]
    rng = np.random.default_rng(3)
    kept = []

    def compiled(inputs, outputs):
        made = oc.function(inputs, outputs, mode=oc.Mode(backend, "fast_run"))
        kept.append(made.maker.from_cache)
        return made

    for dtype in ("float32", "float64"):
        close = {"rtol": 2e-5 if dtype == "float32" else 1e-12}
        x, m = (ot.tensor(dtype=dtype, shape=(None,) * n) for n in (1, 2))
        y = function(x)
        w = y.type()
        assert y.dtype == dtype
        gradient, batch = oc.grad((y * w).sum(), x), oc.vectorize(function, f"(n)->({'n' * y.ndim})")(m)
        assert not oc.supports(backend, [y, gradient, batch])
        f = compiled([x, w], [y, gradient])
        g = compiled([m], batch)
        for length in lengths:
            shapes = (length, (length,) * y.ndim, (3, length))
            value, ct, matrix = (np.asarray(rng.normal(size=s), dtype) for s in shapes)
            found = f(value, ct)
            assert [a.dtype for a in found] == [dtype] * 2
            np.testing.assert_allclose(found[0], reference(value), **close)
            np.testing.assert_allclose(found[1], pulled(value, ct), **close)
            np.testing.assert_allclose(g(matrix), reference(matrix), **close)
    if simplified is not None:
        h = compiled([x], simplified(x))
        assert gone not in oc.debugprint(h, file="str")
    if name == "flip_blocks":
        try:
            f(np.ones(3), np.ones(3))
        except ValueError as error:
            assert "3 elements are not blocks of 2" in str(error)
        else:
            raise AssertionError("blocks of 2 of 3 elements")
    return kept


results = {}
for name in OPS:
    try:
        results[name] = check(name, sys.argv[1])
    except Exception:
        results[name] = traceback.format_exc()
print(json.dumps(results))
'''


def usable() -> list[str]:
    """The backends that can be used here."""
    try:
        find_compiler()
        compilers = True
    except CompilerMissing:
        compilers = False
    return [
        b
        for b in BACKENDS
        if importlib.util.find_spec(LIBRARIES.get(b, "json")) is not None
        and (compilers or b not in ("c", "c|py"))
    ]


def in_a_process(folder: Path, backend: str) -> dict[str, Any]:
    """Whether each function of each op came from the cache, or what went wrong."""
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(folder), *sys.path]),
        "OCCELO_FLAGS": f"compiledir={folder / 'compiled'}",
    }
    done = subprocess.run(
        [sys.executable, "-W", "error::UserWarning:occelo_compile", "-c", CHECKS, backend],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "not kept in the cache" not in done.stderr
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


# one test with each backend, since its process takes seconds to start and serves all ops
@pytest.mark.sampled(3)
@pytest.mark.parametrize("backend", BACKENDS)
def test_ops_from_outside_are_right(tmp_path: Path, backend: str) -> None:
    if backend not in usable():
        pytest.skip(f"{backend} cannot be used here: its library or compiler is not installed")
    blocks = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text(), flags=re.M | re.S)
    (tmp_path / "the_page.py").write_text("\n".join(blocks))
    for from_cache in [False, True] if backend in KEPT else [False]:
        results = in_a_process(tmp_path, backend)
        assert set(results) == set(OPS)
        wrong = {name: found for name, found in results.items() if isinstance(found, str)}
        assert not wrong, "\n".join(f"{name}: {error}" for name, error in wrong.items())
        for name, found in results.items():
            assert found, name
            assert set(found) == {from_cache}, (
                f"{name} was compiled {'again' if from_cache else 'before'}"
            )
