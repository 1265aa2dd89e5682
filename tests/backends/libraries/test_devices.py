"""Training divided over many devices and over two processes, against one device."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import occelo_compile as oc
from occelo_graph import tensor as ot

pytest.importorskip("jax", reason="jax is not installed")
JOB = Path(__file__).parent / "many_devices.py"


def start(*arguments: str) -> subprocess.Popen[str]:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    return subprocess.Popen(
        [sys.executable, str(JOB), *arguments],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def result(job: subprocess.Popen[str]) -> dict[str, Any]:
    out, error = job.communicate(timeout=300)
    assert job.returncode == 0, error[-3000:]
    found: dict[str, Any] = json.loads(out.splitlines()[-1])
    return found


def agrees_with_one_device(found: dict[str, Any]) -> None:
    assert found["devices"] == 8
    for divided, single in found["costs"]:
        assert abs(divided - single) < 1e-12
    assert found["costs"][-1][0] < found["costs"][0][0]
    assert found["difference"] < 1e-12


@pytest.mark.sampled(2)
@pytest.mark.parametrize("how", ["data", "model"])
def test_training_over_eight_devices_is_that_of_one(how: str) -> None:
    found = result(start(how))
    agrees_with_one_device(found)
    assert found["all_reduce"]
    # nothing as large as a parameter or the batch is ever put together
    assert found["largest_gather"] < min(found["full"].values())
    if how == "data":
        assert found["placements"] == ["P()"] * 4 or found["placements"] == ["PartitionSpec()"] * 4
    else:
        assert all("devices" in placement for placement in found["placements"][:3])
        assert found["bytes"] <= found["bytes_alone"] / 4


@pytest.mark.measured(0)
@pytest.mark.sampled(2)
@pytest.mark.parametrize("how", ["data", "model"])
def test_training_over_two_processes_is_that_of_one_device(how: str) -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{probe.getsockname()[1]}"
    jobs = [start(how, str(i), "2", address) for i in range(2)]
    for job in jobs:
        agrees_with_one_device(result(job))


def test_placements_need_a_mesh_and_settings_a_name() -> None:
    with pytest.raises(ValueError, match="there is none"):
        oc.Mode("jax", placements={"x": ("devices",)})
    from occelo_link.jax.linker import JAXLinker

    with pytest.raises(TypeError, match="go with its name"):
        oc.Mode(JAXLinker(), mesh=None)


def test_what_is_donated_is_only_what_an_earlier_call_made() -> None:
    w = oc.shared(np.ones(3), "w")
    x = ot.dvector("x")
    f = oc.function([x], None, updates={w: w + x}, mode="jax")
    f(np.ones(3))
    first = w.get_value(return_internal_type=True, borrow=True)
    other = oc.shared(np.zeros(3), "other")
    other.container.storage[0] = first
    g = oc.function([x], None, updates={other: other * x}, mode="jax")
    g(np.full(3, 5.0))
    # the array was made by another function, so it is still there
    np.testing.assert_array_equal(w.get_value(), [2.0, 2.0, 2.0])
    np.testing.assert_array_equal(other.get_value(), [10.0, 10.0, 10.0])
    kept = oc.shared(np.arange(3.0), "kept", borrow=True)
    mine = kept.get_value(borrow=True)
    h = oc.function([], None, updates={kept: kept * 2}, mode="jax")
    h()
    h()
    np.testing.assert_array_equal(mine, np.arange(3.0))
    np.testing.assert_array_equal(kept.get_value(), [0.0, 4.0, 8.0])
