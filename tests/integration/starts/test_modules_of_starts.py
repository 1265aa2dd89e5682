"""The modules that a new process imports: for `import occelo`, and for a function that the cache has."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from occelo_link.machine.loaded_code import fits

START = """
import json, sys
import numpy
numpys = set(sys.modules)
import occelo as oc, occelo.tensor as ot
imported = set(sys.modules) - numpys
x, w = ot.dmatrix("x"), oc.shared(numpy.ones(3), "w")
cost = ot.softplus(x @ w).sum() + ot.gammaln(w * w).sum()
f = oc.function([x], cost, updates={w: w - 0.1 * oc.grad(cost, w)})
for _ in range(2):
    f(numpy.ones((4, 3)))
assert numpy.isfinite(w.get_value()).all()
later = set(sys.modules) - numpys - imported
try:
    files = open("/proc/self/maps").read()
except OSError:
    files = ""
print(json.dumps([f.maker.from_cache, sorted(imported), sorted(later), "llvm" in files.lower()]))
"""
HEAVY = {"llvmlite", "scipy", "numba", "jax", "torch", "pathlib", "typing_extensions"}
"""Modules that take milliseconds to import, and that a start does without."""
MOST = 129
"""The number of modules of Occelo that `import occelo` may load. They are most of its time."""

LOADING = {"occelo_compile.function_cache"} | {
    f"occelo_link{package and '.'}{package}.{name}".removesuffix(".")
    for package, names in {
        "": ["array_parts", "withheld_lowerings"],
        "blocks": ["", "linker", "partition", "vm"],
        "cache": ["fingerprint", "host", "objects", "packing"],
        "machine": ["", "elf_image", "loaded_code", "processor", "processor_identity", "symbol_addresses", "threads"],
        "native": ["", "linker"],
        "units": [
            "", "callbacks", "compiled_unit", "engine", "entry", "entry_context", "entry_loading", "frame", "interface",
            "object_layout", "plain_units", "python_entry", "row_products", "unit",
        ],
    }.items()
    for name in names
}  # fmt: skip
"""The modules that load a function from the cache: the rows of the products are what the model calls."""


@pytest.fixture(scope="module")
def starts(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[bool, set[str], set[str], bool]]:
    """Of two processes: whether the function came from the cache, what `import occelo` imported, what came later, and whether
    LLVM's library was loaded.
    """
    place = tmp_path_factory.mktemp("starts")
    results: list[tuple[bool, set[str], set[str], bool]] = []
    for _ in range(2):
        done = subprocess.run(
            [sys.executable, "-P", "-c", START],
            capture_output=True,
            text=True,
            check=False,
            cwd=Path(place),
            env=os.environ | {"OCCELO_FLAGS": f"base_compiledir={place}"},
        )
        assert done.returncode == 0, done.stderr
        is_kept, imported, later, has_llvm = json.loads(done.stdout)
        results.append((is_kept, set(imported), set(later), has_llvm))
    return results


def _own(modules: set[str]) -> set[str]:
    return {name for name in modules if name.startswith("occelo")}


Starts = list[tuple[bool, set[str], set[str], bool]]


def test_importing_loads_a_bounded_number_of_modules(starts: Starts) -> None:
    for _, imported, _, _ in starts:
        assert len(_own(imported)) <= MOST
        assert not imported & HEAVY
        assert not [name for name in imported if ".lowerings" in name or ".rules" in name]


@pytest.mark.skipif(not fits(), reason="elsewhere LLVM loads the code")
def test_a_function_from_the_cache_needs_no_rule_lowering_or_compiler(starts: Starts) -> None:
    (cold_kept, _, cold, cold_llvm), (kept, _, later, has_llvm) = starts
    assert (cold_kept, kept) == (False, True)
    # the process that compiles shows that these are the names of what compiling needs
    assert cold_llvm
    assert "llvmlite" in cold
    assert [name for name in cold if ".lowerings" in name]
    assert [name for name in cold if ".rules" in name]
    assert len(_own(cold)) > 100
    assert not has_llvm
    assert not later & HEAVY
    # derivatives belong to building
    building = ("occelo_graph.", "occelo_forms.", "occelo_special", "occelo.")
    loaded = {name for name in _own(later) if not name.startswith(building)}
    with_processors = {"occelo_link.units.thread_pool"}  # where there are several
    assert loaded - with_processors == LOADING


COLLECTING = """
import gc
import numpy
if {disabled}:
    gc.disable()
if {frozen}:
    gc.freeze()
before, frozen = gc.get_threshold(), gc.get_freeze_count()
import occelo
assert gc.isenabled() is not {disabled}
assert gc.get_threshold() == before
assert frozen or not {frozen}  # Python 3.12 freezes some objects itself
assert gc.get_freeze_count() == frozen
"""


@pytest.mark.parametrize("disabled", [False, True])
@pytest.mark.parametrize("frozen", [False, True])
def test_after_the_import_garbage_is_collected_as_before(disabled: bool, frozen: bool) -> None:
    program = COLLECTING.format(disabled=disabled, frozen=frozen)
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert not done.returncode, done.stderr
