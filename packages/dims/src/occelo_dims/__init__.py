"""Symbolic tensors with named dimensions: PyTensor's names, xarray's behaviour.

Functions match dimensions by name and build the graph of tensors without names at once, so gradients, rewriting and
backends know nothing of names.
"""

from occelo_dims import basic as basic
from occelo_dims import indexing as indexing
from occelo_dims import linalg as linalg
from occelo_dims import math as math
from occelo_dims import random as random
from occelo_dims import reduction as reduction
from occelo_dims import shape as shape
from occelo_dims import signal as signal
from occelo_dims import vectorization as vectorization
from occelo_dims.applying import apply_ufunc as apply_ufunc
from occelo_dims.data_arrays import data_array as data_array
from occelo_dims.derivatives import hessian as hessian
from occelo_dims.derivatives import jacobian as jacobian
from occelo_dims.loops import fori_loop as fori_loop
from occelo_dims.loops import ifelse as ifelse
from occelo_dims.loops import loop as loop
from occelo_dims.loops import scan as scan
from occelo_dims.loops import while_loop as while_loop
from occelo_dims.math import dot as dot
from occelo_dims.math import where as where
from occelo_dims.shape import broadcast as broadcast
from occelo_dims.shape import concat as concat
from occelo_dims.shape import full_like as full_like
from occelo_dims.shape import ones_like as ones_like
from occelo_dims.shape import zeros_like as zeros_like
from occelo_dims.type import XTensorConstant as XTensorConstant
from occelo_dims.type import XTensorSharedVariable as XTensorSharedVariable
from occelo_dims.type import XTensorType as XTensorType
from occelo_dims.type import XTensorVariable as XTensorVariable
from occelo_dims.type import as_xtensor as as_xtensor
from occelo_dims.type import xtensor as xtensor
from occelo_dims.type import xtensor_constant as xtensor_constant
from occelo_dims.type import xtensor_shared as xtensor_shared
from occelo_dims.vectorization import vectorize_graph as vectorize_graph
from occelo_dims.vectorization import vmap as vmap
from occelo_graph.errors import explain_errors as _explain_errors

_explain_errors(globals(), "dimensions")
__version__ = "0.1.0"
