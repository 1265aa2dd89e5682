"""Fills `facade` when the package is imported: each field gets a class or function of a higher module.

It also makes the compiler the evaluator of `occelo_graph.facade`, so that `Variable.eval` compiles.
"""

from __future__ import annotations

from occelo_compile.calling import Function
from occelo_compile.facade import facade
from occelo_compile.function import evaluate
from occelo_compile.function_cache import keep, load
from occelo_compile.maker import FunctionMaker
from occelo_graph.facade import facade as graph_facade

facade.maker = FunctionMaker
facade.function = Function
facade.load = load
facade.keep = keep
graph_facade.evaluator = evaluate
