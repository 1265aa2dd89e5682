"""Sets the fields of `facade` to classes and functions of higher modules, when `occelo_graph` is imported.

The module also lists the scalar functions of this package, in `OWN_SCALAR_FUNCTIONS`. `occelo_compile.function_cache`
puts the code of all other scalar functions into the keys of the cache.
"""

from __future__ import annotations

import importlib
import sys
from typing import Any

from occelo_graph.blockwise import batch_by_loop
from occelo_graph.facade import facade
from occelo_graph.fgraph.graph import unfreeze
from occelo_graph.gradient.decomposed import pull_decomposition
from occelo_graph.interpret import interpret, variable_eval
from occelo_graph.ir.decomposing import decomposed_kernel
from occelo_graph.ir.nodes import Constant, Variable
from occelo_graph.ir.shared import SharedVariable, shared_constructor
from occelo_graph.ops.elemwise.scalar import ScalarFunction
from occelo_graph.ops.join import stack
from occelo_graph.ops.shape.asserting import specify_shape
from occelo_graph.printing.debugprint import debugprint
from occelo_graph.printing.infix import pprint
from occelo_graph.tensors.constant import as_tensor_variable

facade.variable = Variable
facade.constant = Constant
facade.convert = as_tensor_variable
facade.eval = variable_eval
facade.evaluator = interpret
facade.dprint = debugprint
facade.formula = pprint
facade.specify_shape = specify_shape
facade.stack = stack
facade.batch_by_loop = batch_by_loop
facade.decomposed_kernel = decomposed_kernel
facade.pull_decomposition = pull_decomposition
facade.unfreeze = unfreeze

OWN_SCALAR_FUNCTIONS = frozenset(ScalarFunction.table())
"""The names of the scalar functions of this package. Other packages register theirs later."""


def _is_generator(value: object) -> bool:
    # NumPy imports ``numpy.random`` at its first use; before that, no generator exists
    numpy_random: Any = sys.modules.get("numpy.random")
    return numpy_random is not None and isinstance(value, numpy_random.Generator)


def _shared_generator(value: Any, name: str | None, borrow: bool, **_: Any) -> SharedVariable:
    generators: Any = importlib.import_module("occelo_graph.ops.random.generators")
    made: SharedVariable = generators.shared_rng(value, name=name, borrow=borrow)
    return made


# `shared` calls this for a NumPy generator; the family of random numbers is imported only then
shared_constructor(_is_generator, _shared_generator)
