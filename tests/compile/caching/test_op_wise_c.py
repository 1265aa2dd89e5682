"""``c|py``: the nodes that it compiles, with and without a filled cache."""

from __future__ import annotations

import subprocess
import sys

import pytest

from occelo_testing.loop_programs import has_compiler

pytestmark = pytest.mark.skipif(not has_compiler(), reason="there is no C compiler on this machine")

FIRST = """
import numpy as np
import occelo_compile as oc
from occelo_graph import tensor as ot
from occelo_graph.config import config
import occelo_link.c.linker as linker

config.cache = False
counts = []
load = linker._load
linker._load = lambda programs: (counts.append(len(programs)), load(programs))[1]
x = ot.dvector("x")
np.testing.assert_allclose(oc.function([x], ot.exp(x) + 1.0, mode="c|py")(np.zeros(2)), [2.0, 2.0])
assert sum(counts) == 1, counts
h = ot.TensorType("int32", (None,)).make_variable("h")
f = oc.function([h], ot.sin(h.astype("float32").astype("float16") * 3), mode="c|py")
v = np.arange(4, dtype="int32")
np.testing.assert_array_equal(f(v), np.sin(v.astype("float16") * np.float16(3)))
"""


def test_functions_are_compiled_in_a_process_that_compiled_nothing_yet() -> None:
    """And fused functions that round to 16 bits on the way are left to NumPy."""
    done = subprocess.run(
        [sys.executable, "-c", FIRST], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
