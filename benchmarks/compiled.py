"""Measurements of compiled functions: run time, call overhead, time to the first result, memory; parts of `run`.

Libraries are measured alternately; results are compared before anything is timed.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from arrays import ARRAY_WORKLOADS
from linear_algebra import LINEAR_MODELS, LINEAR_WORKLOADS
from loops import LOOP_MODELS, LOOP_WORKLOADS, by_hand_in
from other_process import OtherProcess
from posterior_densities import POSTERIOR_WORKLOADS
from segments import ATTENTION_WORKLOADS, SEGMENT_WORKLOADS
from signals import SIGNAL_WORKLOADS
from sorting import SORTING_WORKLOADS
from timing import Clock, Timed, interleaved, timed
from workloads import MODELS, WORKLOADS, Library, Workload

__all__ = [
    "call_overhead",
    "compile_memory",
    "first_results",
    "libraries",
    "library",
    "make",
    "process",
    "process_memory",
    "run_times",
    "scaling",
]

Call = Callable[..., Any]
ALL_MODELS = MODELS | LINEAR_MODELS | LOOP_MODELS
LISTS = {
    "runtime": WORKLOADS,
    "linear": LINEAR_WORKLOADS,
    "loops": LOOP_WORKLOADS,
    "sorting": SORTING_WORKLOADS,
    "signal": SIGNAL_WORKLOADS,
    "arrays": ARRAY_WORKLOADS,
    "posteriors": POSTERIOR_WORKLOADS,
    "segments": SEGMENT_WORKLOADS,
    "attention": ATTENTION_WORKLOADS,
}
"""The workloads of the parts of `run` that have any."""
PEERS = {
    "numpy": "numpy",
    "pytensor": "pytensor",
    "pytensor-c": "pytensor",
    "jax": "jax",
    "torch": "torch",
}
"""The compared libraries, and the modules that they are in."""
BY_HAND = {"c": "ctypes", "numba": "numba"}
"""The languages of programs by hand, and the modules that they need."""


def optimized() -> None:
    """Let Occelo compile what it runs after some calls. By default it optimizes a function only then."""
    importlib.import_module("occelo").config.native__llvm_level = 1


def _occelo() -> Library:
    occelo: Any = importlib.import_module("occelo")
    tensor = importlib.import_module("occelo.tensor")
    return Library(tensor, occelo.grad, occelo.shared, occelo.function)


def _pytensor() -> Library:
    pytensor: Any = importlib.import_module("pytensor")
    tensor = importlib.import_module("pytensor.tensor")
    importlib.import_module("pytensor.tensor.special")
    importlib.import_module("pytensor.tensor.linalg")
    return Library(tensor, pytensor.grad, pytensor.shared, pytensor.function)


def library(name: str) -> Library:
    """The library of a name: Occelo or PyTensor, whose functions have the same names."""
    return {"occelo": _occelo, "pytensor": _pytensor}[name]()


def libraries() -> list[str]:
    """The compared libraries that are installed."""
    return ["occelo", *(n for n, module in PEERS.items() if importlib.util.find_spec(module))]


def _languages() -> list[str]:
    """The languages of programs by hand that can be compiled here."""
    able = [n for n, module in BY_HAND.items() if importlib.util.find_spec(module)]
    return [n for n in able if n != "c" or shutil.which("cc")]


def _symbolic(lib: Library, work: Workload, **options: Any) -> Call:
    inputs, outputs, updates = work.build(lib)
    function = lib.function(inputs, outputs, updates=updates, **options)
    arrays = work.arrays
    return lambda: function(*arrays)


def make(library: str, work: Workload) -> Call | None:
    """A call of a workload in a library; None if the workload has no program for the library."""
    if library == "occelo":
        return _symbolic(_occelo(), work)
    if library in BY_HAND:
        return by_hand_in(library, work)
    if library.startswith("pytensor"):
        if not work.pytensor:
            return None
        lib = _pytensor()
        mode = {"pytensor": "NUMBA", "pytensor-c": "CVM"}[library]
        with importlib.import_module("pytensor").config.change_flags(floatX=work.real):
            return _symbolic(lib, work, mode=mode)
    if library == "numpy":
        return None if work.numpy is None else _repeated(work, work.numpy, np.array)
    if library == "torch":
        return _torch(work)
    if work.jax is None:
        return None
    jax: Any = importlib.import_module("jax")
    importlib.import_module("jax.scipy.special")
    jax.config.update("jax_enable_x64", True)
    count = len(work.arrays)
    donated = range(count, count + len(work.state)) if work.renews else ()
    compiled = jax.jit(work.jax(jax), donate_argnums=tuple(donated))
    # arrays are the library's own, and the call waits for its results
    return _repeated(work, lambda *given: jax.block_until_ready(compiled(*given)), jax.numpy.array)


def _repeated(work: Workload, function: Call, place: Callable[[Any], Any]) -> Call:
    """Repeated calls of a function of arrays and the state, with arrays of the library itself."""
    arrays, state = ([place(a) for a in given] for given in (work.arrays, work.state))
    if not work.renews:
        return lambda: function(*arrays, *state)

    def call() -> Any:
        results = function(*arrays, *state)
        state[:] = results[len(results) - len(state) :]
        return results

    return call


def _torch(work: Workload) -> Call | None:
    if work.torch is None:
        return None
    torch: Any = importlib.import_module("torch")
    torch.set_num_threads(1)
    compiled = work.torch(torch)
    if work.torch_compiles:
        compiled = torch.compile(compiled, dynamic=False)

    def run(*given: Any) -> Any:
        with torch.no_grad():
            return compiled(*given)

    return _repeated(work, run, lambda a: torch.from_numpy(np.array(a)))


def _check(work: Workload, results: dict[str, Any]) -> list[str]:
    """Compare results; returns the libraries whose results are wrong, where a program by hand confirms the others.

    AssertionError where nothing says which one is wrong.
    """
    names = list(results)
    wrong: dict[str, AssertionError] = {}
    for name in names[1:]:
        try:
            for a, b in zip(results[names[0]], results[name], strict=False):
                np.testing.assert_allclose(
                    np.asarray(a),
                    np.asarray(b),
                    rtol=work.rtol,
                    atol=work.rtol / 100,
                    err_msg=f"{work.name}: {name}",
                )
        except AssertionError as error:
            wrong[name] = error
    confirmed = any(name in results and name not in wrong for name in work.by_hand)
    if wrong and not (confirmed and wrong.keys().isdisjoint(work.by_hand)):
        raise next(iter(wrong.values()))
    return list(wrong)


def run_times(
    rounds: int,
    which: str = "runtime",
    chosen: str = "",
    clock: Clock = perf_counter,
    other: OtherProcess | None = None,
) -> tuple[dict[str, dict[str, float]], dict[str, float]]:
    """Seconds per call, the minimum of all rounds, by workload and library; and the goal of each workload.

    Measures those whose names contain ``chosen``. ``which`` is the list of workloads. Libraries that are not installed here are measured in the ``other`` process.
    """
    optimized()
    table: dict[str, dict[str, float]] = {}
    goals: dict[str, float] = {}
    here = [*libraries(), *_languages()]
    there = [] if other is None else [n for n in other.libraries() if n not in here]
    for number, factory in enumerate(LISTS[which]):
        work = factory()
        if chosen not in work.name:
            continue
        calls: dict[str, Timed] = {}
        results: dict[str, Any] = {}
        for library in here:
            call = make(library, work)
            if call is not None:
                calls[library] = timed(call, clock)
                results[library] = call()
        for library in there:
            assert other is not None
            made = other.make(library, which, number)
            if made is not None:
                calls[library], results[library] = made
        for library in _check(work, results):
            print(f"{work.name}: the result of {library} is wrong, so it is left out")
            del calls[library]
        del results
        table[work.name] = interleaved(calls, rounds)
        goals[work.name] = work.goal
        if other is not None:
            other.forget()
    return table, goals


def call_overhead(rounds: int) -> dict[str, dict[str, float]]:
    """Seconds per call of functions that compute almost nothing."""
    optimized()
    ten = [np.arange(10.0) + i for i in range(3)]
    one = np.array(1.5)

    def scalar(lib: Library) -> Any:
        x = lib.tensor.dscalar("x")
        return [x], [x + 1], []

    def vectors(lib: Library) -> Any:
        x, y, z = (lib.tensor.dvector(c) for c in "xyz")
        return [x, y, z], [x + y * z, x - z], []

    def counter(lib: Library) -> Any:
        n = lib.shared(np.array(0.0), "n")
        return [], [], [(n, n + 1)]

    held = {"n": np.array(0.0)}

    def count() -> None:
        held["n"] = held["n"] + 1

    cases = [
        Workload(
            "scalar x + 1",
            scalar,
            (one,),
            lambda x: [x + 1],
            lambda jax: lambda x: [x + 1],
            torch=lambda torch: lambda x: [x + 1],
        ),
        Workload(
            "three vectors of 10 to two",
            vectors,
            tuple(ten),
            lambda x, y, z: [x + y * z, x - z],
            lambda jax: lambda x, y, z: [x + y * z, x - z],
            torch=lambda torch: lambda x, y, z: [x + y * z, x - z],
        ),
        Workload(
            "shared counter",
            counter,
            (),
            lambda *_: count(),
            lambda jax: lambda n: [n + 1],
            (one,),
            lambda torch: lambda n: [n + 1],
        ),
    ]
    table: dict[str, dict[str, float]] = {}
    for work in cases:
        calls = {n: c for n in libraries() if (c := make(n, work)) is not None}
        for call in calls.values():
            call()
        best = interleaved({n: timed(c) for n, c in calls.items()}, rounds)
        # what the measuring lambda costs itself
        empty = interleaved({"": timed(lambda: None)}, rounds)[""]
        table[work.name] = {n: t - empty for n, t in best.items()}
    return table


_FIRST = """
import os, sys, json
sys.path.insert(0, {here!r})
import compiled, numpy
from time import {clock} as clock
library, model = {library!r}, {model!r}
work = compiled.ALL_MODELS[model]()
if library == "occelo":
    compiled._occelo()
elif library.startswith("pytensor"):
    compiled._pytensor()
elif library == "torch":
    import torch
else:
    import jax
    jax.config.update("jax_enable_x64", True)
start = clock()
call = compiled.make(library, work)
call()
done = clock()
began = float(os.environ["STARTED"]) if clock.__name__ == "perf_counter" else 0.0
print(json.dumps([done - start, done - began]))
"""


def peak_memory() -> float:
    """The peak memory of this process, in bytes."""
    status = Path("/proc/self/status")
    if status.exists():
        # what getrusage says includes the process that started this one
        line = next(t for t in status.read_text().splitlines() if t.startswith("VmHWM"))
        return float(line.split()[1]) * 1024
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return float(peak) * (1 if sys.platform == "darwin" else 1024)


def forget_peak() -> bool:
    """Reset the peak memory of this process to what it uses now; False where the operating system cannot."""
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        return False
    return True


def process(code: str, folder: str, limit: float | None = None) -> Any:
    """The JSON that Python code prints in a new process, with all caches in a folder.

    `subprocess.TimeoutExpired` if it takes more than ``limit`` seconds.
    """
    environment = {
        **os.environ,
        "OCCELO_FLAGS": f"compiledir={folder}/occelo,optdb__on_limit=raise",
        "PYTENSOR_FLAGS": f"base_compiledir={folder}/pytensor",
        "JAX_COMPILATION_CACHE_DIR": f"{folder}/jax",
        "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
        "TORCHINDUCTOR_CACHE_DIR": f"{folder}/torch",
        "STARTED": repr(perf_counter()),  # all processes have the same clock
    }
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env=environment,
        check=False,
        timeout=limit,
    )
    if done.returncode:
        raise RuntimeError(done.stderr[-2000:])
    return json.loads(done.stdout.splitlines()[-1])


def first_results(
    rounds: int,
    models: Sequence[str] = tuple(MODELS),
    peers: Sequence[str] = tuple(PEERS),
    clock: str = "perf_counter",
) -> dict[str, dict[str, dict[str, float]]]:
    """Seconds from the start of building to the first result, in new processes.

    ``cold`` with empty caches, ``warm`` with what the cold one left; and the same from the start of the process, which imports
    Python's modules, NumPy, the library and this program. Of the libraries, only ``peers`` are compared. ``clock`` is the
    name of a function of `time`.
    """
    here = str(Path(__file__).parent)
    table: dict[str, dict[str, dict[str, float]]] = {}
    for model in models:
        table[model] = {}
        for library in libraries():
            if library == "numpy" or library not in ("occelo", *peers):
                continue
            code = _FIRST.format(here=here, library=library, model=model, clock=clock)
            runs: dict[str, list[list[float]]] = {"cold": [], "warm": []}
            for _ in range(1 if library.startswith("pytensor") else rounds):
                with tempfile.TemporaryDirectory() as folder:
                    for state in ("cold", "warm", "warm"):
                        runs[state].append(process(code, folder))
            table[model][library] = {
                f"{state}{since}": min(run[k] for run in measured)
                for k, since in enumerate(("", ", with imports"))
                for state, measured in runs.items()
            }
    return table


_CHAIN = """
import sys, json
sys.path.insert(0, {here!r})
import compiled
from time import perf_counter
lib = compiled._occelo()
x = lib.tensor.dvector("x")
y = x
for k in range({nodes} // 2):
    y = lib.tensor.sin(y) * (1.5 + k)
start = perf_counter()
f = lib.function([x], y)
seconds = perf_counter() - start
print(json.dumps([seconds, compiled.peak_memory()]))
"""
_INPUTS = """
import sys, json
sys.path.insert(0, {here!r})
import compiled
from time import perf_counter
lib = compiled._occelo()
xs = [lib.tensor.dscalar() for _ in range({nodes})]
total = xs[0]
for x in xs[1:]:
    total = total + x
start = perf_counter()
f = lib.function(xs, total)
seconds = perf_counter() - start
assert f(*[1.0] * len(xs)) == len(xs)
print(json.dumps([seconds, compiled.peak_memory()]))
"""


def scaling(sizes: list[int]) -> dict[int, tuple[float, float]]:
    """Seconds and bytes of compiling chains of different lengths, without a cache."""
    here = str(Path(__file__).parent)
    result: dict[int, tuple[float, float]] = {}
    for nodes in sizes:
        with tempfile.TemporaryDirectory() as folder:
            result[nodes] = tuple(process(_CHAIN.format(here=here, nodes=nodes), folder))
    return result


_GAUSSIAN_PROCESS = """
import sys, json
sys.path.insert(0, {here!r})
import compiled, linear_algebra
small, large = linear_algebra.gaussian_process(10), linear_algebra.gaussian_process({n})
lib = compiled._occelo()
inputs, outputs, _ = large.build(lib)
f = lib.function(inputs, outputs)
# the first call leaves what is kept for later ones, such as the memory into which BLAS packs blocks of matrices
f(*(large if compiled.forget_peak() else small).arrays)
compiled.forget_peak()
before = compiled.peak_memory()
f(*large.arrays)
print(json.dumps(compiled.peak_memory() - before))
"""


def process_memory(n: int) -> float:
    """The memory that a call of a Gaussian process of ``n`` points needs, in matrices of n x n."""
    here = str(Path(__file__).parent)
    with tempfile.TemporaryDirectory() as folder:
        used: float = process(_GAUSSIAN_PROCESS.format(here=here, n=n), folder)
    return used / (8 * n * n)


def compile_memory(count: int) -> tuple[float, float]:
    """Seconds and bytes of compiling a function of many inputs."""
    here = str(Path(__file__).parent)
    with tempfile.TemporaryDirectory() as folder:
        seconds, memory = process(_INPUTS.format(here=here, nodes=count), folder)
    return seconds, memory
