"""Time of each stage up to the first result, in new processes, with an empty and with a filled cache; a part of `run`."""

from __future__ import annotations

import importlib
import importlib.util
import tempfile
from pathlib import Path
from time import perf_counter
from typing import Any

from compiled import library, process
from workloads import MODELS, Workload

__all__ = ["BUDGETS", "MODELS", "STAGES", "library", "stage_times", "stages"]

STAGES = (
    "build + gradient",
    "key",
    "rewriting",
    "lowering",
    "code generation",
    "load, BLAS, imports",
    "first call",
)
BUDGETS = {
    "logistic, cold": (0.015, 0.002, 0.025, 0.015, 0.035, 0.040, 0.001),
    "hierarchical, warm": (0.020, 0.004, 0.0, 0.0, 0.0, 0.024, 0.002),
}
"""Seconds that the stages may take on the machine that the goals were set on."""
_MEASURED = {
    "key": ["occelo_compile.function_cache:function_key"],
    "lowering": ["occelo_link.loops.build:lower_graph"],
    "code generation": [
        "occelo_link.native.llvm:print_llvm",
        "occelo_link.units.plain_units:compile_module",
        "occelo_link.units.entry_loading:compile_module",
    ],
}
_WARM = ("key",)
"""What a function from the cache needs; the modules of the rest are not even imported."""
# in which stage garbage collections fall depends on what was imported before
_CODE = """
import gc, sys, json
sys.path.insert(0, {here!r})
import stages
lib = stages.library("occelo")
gc.disable()
print(json.dumps(stages.stage_times(lib, stages.MODELS[{model!r}](), {cold})))
"""


def stage_times(lib: Any, work: Workload, cold: bool) -> dict[str, float]:
    """Seconds of each stage in this process; the remaining time is loading and imports."""
    start = perf_counter()
    spent: dict[str, float] = dict.fromkeys(STAGES, 0.0)
    # before anything else is loaded, as it is for a user: to load LLVM empties the caches of the processor
    inputs, outputs, updates = work.build(lib)
    spent["build + gradient"] = perf_counter() - start
    if cold:
        # code generation needs LLVM, which is not charged with loading it; what it says of the processor is kept on disk,
        # and here no process has asked before
        importlib.import_module("occelo_link.machine.processor").llvm()
        if importlib.util.find_spec("occelo_link.cache.host") is not None:
            importlib.import_module("occelo_link.cache.host").host()
    for stage, places in _MEASURED.items():
        if cold or stage in _WARM:
            for place in places:
                _time(place, stage, spent)
    function = lib.function(inputs, outputs, updates=updates)
    spent["rewriting"] = function.maker.times.rewrite
    before, known = perf_counter(), sum(spent.values())
    function(*work.arrays)
    done = perf_counter()
    spent["first call"] = done - before - (sum(spent.values()) - known)
    spent["load, BLAS, imports"] = done - start - sum(spent.values())
    return spent


def _time(place: str, stage: str, spent: dict[str, float]) -> None:
    """Add the time of all calls of a function to a stage."""
    module, _, name = place.partition(":")
    owner = importlib.import_module(module)
    plain = getattr(owner, name)

    def run(*args: Any, **options: Any) -> Any:
        start = perf_counter()
        result = plain(*args, **options)
        spent[stage] += perf_counter() - start
        return result

    setattr(owner, name, run)


def stages(rounds: int) -> dict[str, dict[str, float]]:
    """The stages of each model, in the round with the smallest total."""
    here = str(Path(__file__).parent)
    table: dict[str, dict[str, float]] = {}
    for model in MODELS:
        for _ in range(rounds):
            with tempfile.TemporaryDirectory() as folder:
                for state in ("cold", "warm"):
                    code = _CODE.format(here=here, model=model, cold=state == "cold")
                    found: dict[str, float] = process(code, folder)
                    best = table.get(f"{model}, {state}")
                    if best is None or sum(found.values()) < sum(best.values()):
                        table[f"{model}, {state}"] = found
    return table
