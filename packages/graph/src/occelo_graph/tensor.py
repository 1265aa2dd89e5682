"""The namespace of tensors: it collects all functions that make tensors or compute with them, such as ``exp``.

The other packages import this module. Users reach the same names in `occelo.tensor`.
"""

from typing import TYPE_CHECKING

from occelo_graph.errors import explain_errors as _explain_errors
from occelo_graph.errors import explain_methods as _explain_methods
from occelo_graph.ir.shared import shared as shared
from occelo_graph.missing_names import missing_name_hints as _missing_name_hints
from occelo_graph.ops.blas.products import *
from occelo_graph.ops.blas.updates import *
from occelo_graph.ops.cast import *
from occelo_graph.ops.control import *
from occelo_graph.ops.create import *
from occelo_graph.ops.elemwise.arithmetic import *
from occelo_graph.ops.elemwise.complex import *
from occelo_graph.ops.elemwise.error_functions import *
from occelo_graph.ops.elemwise.op import Elemwise as Elemwise
from occelo_graph.ops.elemwise.op import elementwise as elementwise
from occelo_graph.ops.elemwise.transcendental import *
from occelo_graph.ops.index.search import *
from occelo_graph.ops.index.subtensor import *
from occelo_graph.ops.join import *
from occelo_graph.ops.reduce import *
from occelo_graph.ops.reduction_table import *
from occelo_graph.ops.shape import *
from occelo_graph.ops.statistics import *
from occelo_graph.tensors.constant import TensorLike as TensorLike
from occelo_graph.tensors.constant import as_tensor as as_tensor
from occelo_graph.tensors.constant import as_tensor_variable as as_tensor_variable
from occelo_graph.tensors.constant import constant as constant
from occelo_graph.tensors.constant_values import *
from occelo_graph.tensors.constructors import *
from occelo_graph.tensors.type import TensorType as TensorType
from occelo_graph.tensors.variable import TensorConstant as TensorConstant
from occelo_graph.tensors.variable import TensorSharedVariable as TensorSharedVariable
from occelo_graph.tensors.variable import TensorVariable as TensorVariable
from occelo_graph.vectorize import vectorize as vectorize
from occelo_graph.vectorize import vectorize_graph as vectorize_graph

_explain_errors(globals(), "arguments")
_explain_methods(TensorVariable, "truth", "__bool__", "__contains__")
_explain_methods(TensorVariable, "values", "__array__", "__len__", "__iter__", "__setitem__")
_explain_methods(TensorVariable, "values", "__float__", "__int__", "__index__", "__complex__")
_METHODS = "all any argmax argmin clip cumprod cumsum dot flatten max mean min prod ravel reshape round std sum take trace var"
_explain_methods(TensorVariable, "arguments", *_METHODS.split())
if not TYPE_CHECKING:  # so that type checkers report unknown names
    __getattr__ = _missing_name_hints("occelo_graph.tensor")
