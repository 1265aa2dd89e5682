"""The tensor library: constructors and functions of symbolic tensors."""

from occelo_graph.tensor import *
from occelo_graph.tensor import (
    Elemwise,
    TensorConstant,
    TensorLike,
    TensorSharedVariable,
    TensorType,
    TensorVariable,
    as_tensor,
    as_tensor_variable,
    constant,
    shared,
    vectorize,
    vectorize_graph,
)
