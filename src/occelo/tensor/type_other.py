"""The types of None and of slices, and constants of them, at PyTensor's place."""

from typing import TYPE_CHECKING

from occelo.places import hints_about as _hints_about
from occelo_arrays.ops.parts.slice_values import MakeSlice as MakeSlice
from occelo_arrays.ops.parts.slice_values import NoneSliceConst as NoneSliceConst
from occelo_arrays.ops.parts.slice_values import SliceType as SliceType
from occelo_arrays.ops.parts.slice_values import as_symbolic as as_symbolic
from occelo_arrays.ops.parts.slice_values import make_slice as make_slice
from occelo_arrays.ops.parts.slice_values import slicetype as slicetype
from occelo_graph.ir.types import NoneTypeT as NoneTypeT
from occelo_graph.ir.types import none_type as none_type_t

NoneConst = none_type_t.make_constant(None)

if not TYPE_CHECKING:  # type checkers know what is here without it
    __getattr__ = _hints_about(__name__)
