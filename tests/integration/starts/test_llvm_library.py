"""The modules of llvmlite that a new process imports for its first function."""

from __future__ import annotations

import os
import subprocess
import sys

import llvmlite
import pytest

FUNCTION = """
import sys, llvmlite
llvmlite.__version__ = {version!r}
import numpy as np, occelo as oc, occelo.tensor as ot
x = ot.dvector("x")
f = oc.function([x], ot.exp(x) * 2.0)
np.testing.assert_allclose(f(np.arange(3.0)), np.exp(np.arange(3.0)) * 2.0)
np.testing.assert_allclose(f(np.arange(4.0)), np.exp(np.arange(4.0)) * 2.0)
print("llvmlite.binding" in sys.modules, "llvmlite.ir" in sys.modules)
"""


@pytest.mark.parametrize("is_known", [True, False])
def test_the_binding_is_imported_for_unknown_versions_only(is_known: bool) -> None:
    code = FUNCTION.format(version=llvmlite.__version__ if is_known else "99.1.0")
    # with a cache, a later process would not need LLVM at all
    environment = os.environ | {"OCCELO_FLAGS": "cache=False"}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, env=environment
    )
    assert done.stdout.split() == (["False"] * 2 if is_known else ["True"] * 2), done.stderr
