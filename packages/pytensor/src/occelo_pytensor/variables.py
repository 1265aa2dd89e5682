"""Occelo's variables for the roots of PyTensor graphs: inputs, constants and shared variables."""

from __future__ import annotations

from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from pytensor.compile.sharedvalue import SharedVariable
from pytensor.compile.sharedvalue import shared as pytensor_shared
from pytensor.scalar.basic import ScalarType
from pytensor.tensor.random.type import RandomType
from pytensor.tensor.random.type import random_generator_type as their_generator_type
from pytensor.tensor.type import TensorType
from pytensor.tensor.type_other import NoneTypeT, SliceType, none_type_t
from pytensor.xtensor.random.type import XRandomGeneratorType
from pytensor.xtensor.type import XTensorType

import occelo as oc
import occelo.tensor as ot
from occelo_arrays.ops.parts.slice_values import slicetype
from occelo_graph import Constant, Container
from occelo_graph import SharedVariable as OurShared
from occelo_graph.ir.types import none_type
from occelo_graph.tensors.variable import TensorSharedVariable
from occelo_pytensor import library
from occelo_random.ops.generator_type import random_generator_type
from occelo_random.ops.generators import RandomGeneratorSharedVariable

_shared: WeakKeyDictionary[Any, Any] = WeakKeyDictionary()
_kept: WeakKeyDictionary[Any, Any] = WeakKeyDictionary()
"""PyTensor's shared variables for those of Occelo, which keep them."""


def is_sparse_type(kind: Any) -> bool:
    """Whether a type is one of sparse matrices, of PyTensor or of Occelo: only these have a format."""
    return hasattr(kind, "format")


def our_type(theirs: Any) -> Any:
    """Occelo's type for one of PyTensor's. TypeError if there is none."""
    if is_sparse_type(theirs):
        if theirs.format not in ("csr", "csc"):
            raise TypeError(
                f"Occelo has sparse matrices in CSR and CSC, and no type for PyTensor's {theirs}"
            )
        return oc.sparse.SparseTensorType(theirs.format, theirs.dtype, theirs.shape)
    if isinstance(theirs, TensorType | XTensorType):  # named dimensions are plain ones here
        return ot.TensorType(theirs.dtype, theirs.shape)
    if isinstance(theirs, ScalarType):
        return ot.TensorType(theirs.dtype, ())
    if isinstance(theirs, RandomType | XRandomGeneratorType):
        return random_generator_type
    if isinstance(theirs, SliceType):
        return slicetype
    raise TypeError(f"Occelo has no type for PyTensor's {theirs}")


def their_type(ours: Any) -> Any:
    """PyTensor's type for one of Occelo's. TypeError if there is none."""
    if isinstance(ours, ot.TensorType):
        return TensorType(ours.dtype, ours.shape)
    if is_sparse_type(ours):
        return library.theirs.sparse.SparseTensorType(ours.format, ours.dtype, ours.shape)
    if ours == random_generator_type:
        return their_generator_type
    if ours == none_type:
        return none_type_t
    if ours == slicetype:
        return SliceType()
    raise TypeError(f"PyTensor has no type for Occelo's {ours}")


def input_like(variable: Any) -> Any:
    """A new variable with the type and the name of PyTensor's ``variable``."""
    fresh = our_type(variable.type).make_variable()
    fresh.name = variable.name
    return fresh


def constant(variable: Any) -> Any:
    """A constant of Occelo for a constant of PyTensor: None, a slice, or a tensor."""
    if isinstance(variable.type, NoneTypeT) or variable.data is None:
        return None
    if isinstance(variable.type, SliceType):
        return variable.data
    if isinstance(variable.type, RandomType):
        from occelo_random.ops.generators import RandomGeneratorConstant

        return RandomGeneratorConstant(random_generator_type, variable.data)
    if is_sparse_type(variable.type):
        return oc.sparse.constant(variable.data, variable.name)
    return ot.constant(np.asarray(variable.data), name=variable.name)


def static(x: Any) -> Any:
    """A Python integer for a constant integer scalar of Occelo. Anything else is returned as it is.

    Keys and lengths that are Python integers become fields of ops, and make static shapes.
    """
    if isinstance(x, Constant) and x.type.ndim == 0 and np.asarray(x.data).dtype.kind in "iu":
        return int(np.asarray(x.data))
    return x


def as_dtype(x: Any, dtype: str) -> Any:
    """``x``, cast to ``dtype`` unless it has that dtype.

    A constant becomes another constant: stable forms such as that of 1 - sigmoid(x) are found for numbers.
    """
    if x.dtype == dtype:
        return x
    if isinstance(x, Constant) and isinstance(x.data, np.ndarray):
        with np.errstate(all="ignore"):
            return ot.constant(x.data.astype(dtype))
    return ot.cast(x, dtype)


def is_shared(variable: Any) -> bool:
    """Whether PyTensor's ``variable`` is a shared variable."""
    return isinstance(variable, SharedVariable)


def converted_shared(variable: Any) -> OurShared:
    """The shared variable that has the storage of PyTensor's shared ``variable``. It is made once."""
    ours = _shared.get(variable)
    if ours is None:
        ours = _shared[variable] = bound(variable, variable.container.storage)
    return ours


def bound(variable: Any, cell: list[Any]) -> Any:
    """A shared variable with the type and the name of PyTensor's ``variable``, whose value lies in ``cell``."""
    kind = our_type(variable.type)
    maker: Any = TensorSharedVariable
    if isinstance(variable.type, RandomType):
        maker = RandomGeneratorSharedVariable
    elif is_sparse_type(variable.type):
        maker = oc.sparse.SparseTensorSharedVariable
    return maker(
        kind, None, container=Container(kind, cell, name=variable.name), name=variable.name
    )


def their_shared(variable: Any) -> Any:
    """PyTensor's shared variable that has the storage of Occelo's shared ``variable``. It is made once."""
    for theirs, ours in _shared.items():
        if ours is variable:
            return theirs
    kind = their_type(variable.type)
    dense = isinstance(kind, TensorType) and not is_sparse_type(kind)
    options: dict[str, Any] = {"shape": kind.shape} if dense else {}
    shared = pytensor_shared(variable.get_value(borrow=True), variable.name, borrow=True, **options)
    shared.container.storage = variable.container.storage
    _shared[shared] = variable
    _kept[variable] = shared
    return shared
