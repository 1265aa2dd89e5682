"""The scripts of the page on several machines, in processes of their own, and pickled functions in fresh processes."""

from __future__ import annotations

import json
import os
import pickle
import re
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

PAGE = Path(__file__).parents[2] / "docs" / "machines.md"
if not PAGE.exists():
    pytest.skip("the pages are not here", allow_module_level=True)
pytest.importorskip("occelo", reason="the facade is not installed")
SLOPES = [round(float(2 * np.tanh(k / 10) / np.cosh(k / 10) ** 2), 4) for k in range(8)]


def script(name: str, folder: Path) -> Path:
    """A script of the page, written to a folder."""
    found = re.search(
        rf"<!-- {re.escape(name)} -->\n```py\n(.*?)^```$", PAGE.read_text(), re.M | re.S
    )
    assert found is not None, name
    path = folder / name
    path.write_text(found[1])
    return path


def started(*command: str, **environment: str) -> subprocess.Popen[str]:
    known = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p), **environment}
    return subprocess.Popen(
        [sys.executable, *command],
        env=known,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def printed(job: subprocess.Popen[str]) -> str:
    out, error = job.communicate(timeout=240)
    assert job.returncode == 0, error[-3000:]
    return out.splitlines()[-1]


@pytest.mark.measured(0)
def test_two_processes_compute_one_call_together(tmp_path: Path) -> None:
    pytest.importorskip("jax", reason="jax is not installed")
    path = script("two_processes.py", tmp_path)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{probe.getsockname()[1]}"
    jobs = [
        started(str(path), address, str(k), JAX_PLATFORMS="cpu", XLA_FLAGS="") for k in range(2)
    ]
    found = [printed(job).split(" ", 4) for job in jobs]
    assert [row[:2] for row in found] == [["0", "2"], ["1", "2"]]
    # gradient descent written apart
    points = np.random.default_rng(0).normal(size=(8, 3))
    targets, w, losses = points @ [1.0, 2.0, 3.0], np.zeros(3), []
    for _ in range(50):
        rest = points @ w - targets
        losses.append(np.mean(rest**2))
        w = w - 0.1 * 2 * points.T @ rest / 8
    for row in found:
        np.testing.assert_allclose(
            [float(row[2]), float(row[3])], [losses[0], losses[-1]], rtol=1e-9
        )
        assert row[4] == str(w.round(2).tolist())


@pytest.mark.measured(0)
@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", ["dask_tasks.py", "pool.py"])
def test_workers_of_other_processes(name: str, tmp_path: Path) -> None:
    """Each starts three processes, so short runs have the first one, if dask is installed, and thorough runs both."""
    if name == "dask_tasks.py":
        pytest.importorskip("distributed", reason="dask.distributed is not installed")
    assert printed(started(str(script(name, tmp_path)))) == str(SLOPES)


LOADED = """
import pickle, sys
import numpy as np
from occelo_link.cache.store import counters
with open(sys.argv[1], "rb") as file:
    f = pickle.load(file)
print(f(np.array([0.5, 1.0])).tolist(), counters["code generation"])
"""


def test_a_pickled_function_takes_its_code_from_the_cache_or_compiles_it(tmp_path: Path) -> None:
    import occelo_compile as oc
    from occelo_graph import tensor as ot

    x, w = ot.dvector("x"), oc.shared(np.array([2.0, 3.0]), "w")
    f: Any = oc.function([x], ot.exp(x) * w, mode="native")
    path = tmp_path / "f.pickle"
    path.write_bytes(pickle.dumps(f))
    cache = f"compiledir={tmp_path / 'cache'}"
    expected = (np.exp([0.5, 1.0]) * [2.0, 3.0]).tolist()
    for generates in (True, False):  # the second process finds what the first one compiled
        values, generated = printed(started("-c", LOADED, str(path), OCCELO_FLAGS=cache)).rsplit(
            " ", 1
        )
        np.testing.assert_allclose(json.loads(values), expected, rtol=1e-15)
        assert (int(generated) > 0) == generates
