"""Everything that makes or computes with tensors, in one namespace (`occelo.tensor`)."""

from __future__ import annotations

from occelo_graph.ir.shared import shared
from occelo_graph.ops.blas import *  # noqa: F403
from occelo_graph.ops.cast import *  # noqa: F403
from occelo_graph.ops.control import *  # noqa: F403
from occelo_graph.ops.create import *  # noqa: F403
from occelo_graph.ops.elemwise.arithmetic import *  # noqa: F403
from occelo_graph.ops.elemwise.complex import *  # noqa: F403
from occelo_graph.ops.elemwise.op import Elemwise
from occelo_graph.ops.elemwise.special import *  # noqa: F403
from occelo_graph.ops.elemwise.transcendental import *  # noqa: F403
from occelo_graph.ops.index.search import *  # noqa: F403
from occelo_graph.ops.index.subtensor import *  # noqa: F403
from occelo_graph.ops.join import *  # noqa: F403
from occelo_graph.ops.reduce import *  # noqa: F403
from occelo_graph.ops.shape import *  # noqa: F403
from occelo_graph.tensors.constant import TensorLike, as_tensor, as_tensor_variable, constant
from occelo_graph.tensors.constructors import *  # noqa: F403
from occelo_graph.tensors.type import TensorType
from occelo_graph.tensors.variable import TensorConstant, TensorSharedVariable, TensorVariable
from occelo_graph.vectorize import vectorize, vectorize_graph
