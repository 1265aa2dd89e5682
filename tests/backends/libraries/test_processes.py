"""Compiled functions in threads, in forked and in spawned processes."""

from __future__ import annotations

import functools
import os
import pickle
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import occelo_compile as oc
from occelo_graph import tensor as ot
from occelo_graph.config import config
from occelo_link.c.compiler import CompilerMissing, find_compiler
from occelo_link.capabilities import is_installed
from occelo_link.units.thread_pool import thread_pool

CPU = ["py", "vm", "native", "c", "c|py", "numba"]


def usable() -> list[str]:
    """The backends for processors that can be used here."""
    try:
        find_compiler()
        compilers = True
    except CompilerMissing:
        compilers = False
    return [b for b in CPU if is_installed(b) and (compilers or b not in ("c", "c|py"))]


def made(backend: str) -> Any:
    """A function of some nodes, with a constant of its own."""
    x = ot.dvector("x")
    return oc.function([x], [(ot.exp(x) * 1.7).sum(), ot.tanh(x)[::-1]], mode=backend)


def right(function: Any, value: Any) -> bool:
    total, turned = function(value)
    return bool(
        np.isclose(total, (np.exp(value) * 1.7).sum()) and np.allclose(turned, np.tanh(value)[::-1])
    )


@pytest.mark.parametrize("backend", CPU)
def test_eight_threads(backend: str) -> None:
    if backend not in usable():
        pytest.skip(f"{backend} cannot be used here: its library or compiler is not installed")
    function = made(backend)
    wrong: list[Any] = []

    def work(seed: int) -> None:
        for i in range(100):
            value = np.full(seed + 1, i / 100)
            if not right(function, value):
                wrong.append(value)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


MAKER = """
import pickle, sys
import numpy as np
import occelo_compile as oc
from occelo_graph import tensor as ot

def made(backend):
    x = ot.dvector("x")
    return oc.function([x], [(ot.exp(x) * 1.7).sum(), ot.tanh(x)[::-1]], mode=backend)

functions = [made(b) for b in sys.argv[2:]]
for function in functions:
    function(np.ones(2))
with open(sys.argv[1], "wb") as stream:
    pickle.dump(functions, stream)
"""
WORKER = """
import pickle, sys
import numpy as np
from occelo_link.cache.store import counters

with open(sys.argv[1], "rb") as stream:
    functions = pickle.load(stream)
for n, function in enumerate(functions):
    value = np.linspace(0.0, 1.0, n + 2)
    total, turned = function(value)
    assert np.isclose(total, (np.exp(value) * 1.7).sum()), n
    assert np.allclose(turned, np.tanh(value)[::-1]), n
print(counters["code generation"], counters["rewriting"])
"""


def test_new_processes_load_pickled_functions(tmp_path: Path) -> None:
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(p for p in sys.path if p),
        # the settings of the tests, which are part of the keys
        "OCCELO_FLAGS": f"base_compiledir={config.base_compiledir},on_opt_error=raise",
    }
    # in a process of its own, since what other tests have registered in this one is part of the keys
    functions = tmp_path / "functions"
    command = [sys.executable, "-c", MAKER, str(functions), *usable()]
    subprocess.run(command, env=environment, check=True, capture_output=True, timeout=300)
    workers = [
        subprocess.Popen(
            [sys.executable, "-c", WORKER, str(functions)],
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for _ in range(2)
    ]
    for worker in workers:
        out, error = worker.communicate(timeout=300)
        assert worker.returncode == 0, error[-2000:]
        # nothing was compiled; functions of these two are found before they are rewritten, too
        rewritten = [b for b in usable() if b not in ("native", "numba")]
        assert out.split() == ["0", str(len(rewritten))]


LARGE = """
import pickle, sys
import numpy as np
from occelo_link.units.thread_pool import thread_pool

with open(sys.argv[1], "rb") as stream:
    function = pickle.load(stream)
value = np.linspace(0.0, 1.0, 2_000_000)
assert np.allclose(function(value)[1], np.tanh(value)[::-1])
print(thread_pool().loops > 0)
"""


@pytest.mark.parametrize("threads", ["1", "2"])
def test_children_of_process_pools_have_as_many_threads_as_their_pool_says(
    threads: str, tmp_path: Path
) -> None:
    """Pools such as joblib's set OMP_NUM_THREADS to the processors of each child."""
    functions = tmp_path / "functions"
    functions.write_bytes(pickle.dumps(made("native")))
    environment = {
        **os.environ,
        "OMP_NUM_THREADS": threads,
        "PYTHONPATH": os.pathsep.join(p for p in sys.path if p),
    }
    command = [sys.executable, "-c", LARGE, str(functions)]
    divided = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
    assert divided.stdout.split() == [str(threads == "2")]


def test_callbacks_of_jax_call_functions_that_run_in_threads() -> None:
    """JAX calls back in a thread of its own, here while other threads call the function, too."""
    jax = pytest.importorskip("jax", reason="JAX is not installed")
    x = ot.fvector("x")
    value = np.linspace(0.0, 1.0, 1_000_000, dtype="float32")
    for count in (1, 2):
        with config.change_flags(native__threads=count, cache=False):
            f = oc.function([x], ot.sin(ot.exp(x) * 3.0), mode="native")
        expected, pool = f(value).tobytes(), thread_pool()

        # a large argument would be copied by a thread that JAX may need for another callback
        def called(number: Any, f: Any = f) -> Any:
            return f(value + np.float32(number))

        shape = jax.ShapeDtypeStruct(value.shape, "float32")
        g = jax.jit(functools.partial(jax.pure_callback, called, shape))
        before = pool.loops
        assert np.asarray(g(0)).tobytes() == expected
        assert (pool.loops > before) == (count == 2)
        with ThreadPoolExecutor(3) as executor:
            others = [executor.submit(f, value) for _ in range(12)]
            assert all(np.asarray(g(0)).tobytes() == expected for _ in range(4))
            assert all(other.result().tobytes() == expected for other in others)


FORKS = """
import os, sys
import numpy as np
import occelo_compile as oc
from occelo_graph import tensor as ot

def made(backend):
    x = ot.dvector("x")
    return oc.function([x], [(ot.exp(x) * 1.7).sum(), ot.tanh(x)[::-1]], mode=backend)

def right(function, value):
    total, turned = function(value)
    return np.isclose(total, (np.exp(value) * 1.7).sum()) and np.allclose(turned, np.tanh(value)[::-1])

functions = [made(b) for b in sys.argv[1:]]
assert all(right(f, np.ones(2)) for f in functions)
children = []
for number in range(2):
    child = os.fork()
    if child == 0:
        status = 1
        try:
            status = 0 if all(right(f, np.linspace(0.0, 1.0, number + 2)) for f in functions) else 2
        finally:
            os._exit(status)
    children.append(child)
found = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
assert found == [0, 0], found
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no fork")
def test_forked_processes_call_what_they_inherit() -> None:
    # in a process of its own: one that runs tests has threads and pipes that a child must not have
    command = [sys.executable, "-c", FORKS, *usable()]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    done = subprocess.run(command, env=environment, capture_output=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr.decode()


@pytest.mark.parametrize("dtype", ["uint8", "int32"])
def test_products_of_small_integers_keep_their_dtype_in_pytorch(dtype: str) -> None:
    """Its compiler adds them as int64 where one factor of a stack is a vector."""
    pytest.importorskip("torch", reason="PyTorch is not installed")
    x, y = (ot.tensor(dtype=dtype, shape=(None, None, None)) for _ in range(2))
    a = np.arange(8, dtype=dtype).reshape(2, 1, 4)
    b = np.arange(16, dtype=dtype).reshape(2, 4, 2)
    product = oc.function([x, y], ot.matmul(x, y), mode="pytorch")(a, b)
    assert product.dtype == dtype
    assert np.array_equal(product, a @ b)
