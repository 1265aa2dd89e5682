"""Sets the fields of `facade` to classes and functions of higher modules, when `occelo_graph` is imported.

Functions that build no graphs, and those that most graphs do not need, are imported at their first call.

The module also lists the scalar functions of this package, for tests, in `OWN_SCALAR_FUNCTIONS`.
"""

from __future__ import annotations

from occelo_graph.facade import facade
from occelo_graph.ir.nodes import Constant, Variable
from occelo_graph.lazy_names import at_first_call
from occelo_graph.ops.control.checks import raise_unless
from occelo_graph.ops.elemwise.scalar import ScalarFunction
from occelo_graph.ops.join import stack
from occelo_graph.ops.shape.asserting import specify_shape
from occelo_graph.tensors.constant import as_tensor_variable

facade.variable = Variable
facade.constant = Constant
facade.convert = as_tensor_variable
facade.eval = at_first_call("occelo_graph.interpret", "variable_eval")
facade.evaluator = at_first_call("occelo_graph.interpret", "interpret")
facade.dprint = at_first_call("occelo_graph.printing.debugprint", "debugprint")
facade.formula = at_first_call("occelo_graph.printing.formulas", "pprint")
facade.raise_unless = raise_unless
facade.specify_shape = specify_shape
facade.stack = stack
facade.batch_by_loop = at_first_call("occelo_graph.blockwise", "batch_by_loop")
facade.repeated = at_first_call("occelo_graph.blockwise", "repeated")
facade.decomposed_kernel = at_first_call("occelo_graph.ir.decomposing", "decomposed_kernel")
facade.pull_decomposition = at_first_call("occelo_graph.gradient.decomposed", "pull_decomposition")
facade.reduced = at_first_call("occelo_graph.ir.pickling", "reduced")
facade.unfreeze = at_first_call("occelo_graph.fgraph.graph", "unfreeze")

OWN_SCALAR_FUNCTIONS = frozenset(ScalarFunction.table())
"""The names of the scalar functions of this package. Other packages register theirs later."""
