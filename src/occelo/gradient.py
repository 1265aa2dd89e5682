"""Gradients, jacobians, forward derivatives and barriers, at PyTensor's place."""

from typing import TYPE_CHECKING

from occelo.places import hints_about as _hints_about
from occelo_graph import DisconnectedInputError as DisconnectedInputError
from occelo_graph import GradientError as GradientError
from occelo_graph import Lop as Lop
from occelo_graph import NullTypeGradError as NullTypeGradError
from occelo_graph import Rop as Rop
from occelo_graph import disconnected_grad as disconnected_grad
from occelo_graph import grad as grad
from occelo_graph import grad_clip as grad_clip
from occelo_graph import grad_scale as grad_scale
from occelo_graph import hessian as hessian
from occelo_graph import hessian_vector_product as hessian_vector_product
from occelo_graph import jacobian as jacobian
from occelo_graph import numeric_grad as numeric_grad
from occelo_graph import pullback as pullback
from occelo_graph import pushforward as pushforward
from occelo_graph import subgraph_grad as subgraph_grad
from occelo_graph import undefined_grad as undefined_grad
from occelo_graph import verify_grad as verify_grad
from occelo_graph import zero_grad as zero_grad
from occelo_graph.gradient.barriers import DisconnectedGrad as DisconnectedGrad
from occelo_graph.gradient.barriers import GradClip as GradClip
from occelo_graph.gradient.barriers import GradScale as GradScale
from occelo_graph.gradient.barriers import UndefinedGrad as UndefinedGrad
from occelo_graph.gradient.barriers import ZeroGrad as ZeroGrad
from occelo_graph.gradient.barriers import grad_not_implemented as grad_not_implemented
from occelo_graph.gradient.barriers import grad_undefined as grad_undefined
from occelo_graph.gradient.forward import (
    pushforward_through_pullback as pushforward_through_pullback,
)
from occelo_graph.ir.types import DisconnectedType as DisconnectedType

disconnected_type = DisconnectedType()
disconnected_grad_ = DisconnectedGrad()
undefined_grad_ = UndefinedGrad()
zero_grad_ = ZeroGrad()

if not TYPE_CHECKING:  # type checkers know what is here without it
    __getattr__ = _hints_about(__name__)
