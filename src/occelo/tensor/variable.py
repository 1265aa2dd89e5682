"""Variables of tensors, at PyTensor's place."""

from typing import TYPE_CHECKING

from occelo.places import hints_about as _hints_about
from occelo.tensor import TensorConstant as TensorConstant
from occelo.tensor import TensorVariable as TensorVariable
from occelo_graph.tensors.type import TensorType as TensorType

if not TYPE_CHECKING:  # type checkers know what is here without it
    __getattr__ = _hints_about(__name__)
