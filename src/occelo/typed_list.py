"""Lists of tensors of one type, or of such lists, at PyTensor's place: `TypedListType` and the functions that make, read and change lists.

>>> import occelo.tensor as ot
>>> from occelo import typed_list
>>> x = ot.dvector("x")
>>> typed_list.make_list([x, 2 * x]).append(x[:1]).length().eval({x: [1.0, 2.0]})
array(3)
"""

from typing import TYPE_CHECKING

from occelo.places import hints_about as _hints_about
from occelo_graph.ops.typed_list import Append as Append
from occelo_graph.ops.typed_list import Count as Count
from occelo_graph.ops.typed_list import Extend as Extend
from occelo_graph.ops.typed_list import GetItem as GetItem
from occelo_graph.ops.typed_list import Index as Index
from occelo_graph.ops.typed_list import Insert as Insert
from occelo_graph.ops.typed_list import Length as Length
from occelo_graph.ops.typed_list import MakeList as MakeList
from occelo_graph.ops.typed_list import Remove as Remove
from occelo_graph.ops.typed_list import Reverse as Reverse
from occelo_graph.ops.typed_list import SetItem as SetItem
from occelo_graph.ops.typed_list import TypedListConstant as TypedListConstant
from occelo_graph.ops.typed_list import TypedListType as TypedListType
from occelo_graph.ops.typed_list import TypedListVariable as TypedListVariable
from occelo_graph.ops.typed_list import append as append
from occelo_graph.ops.typed_list import count as count
from occelo_graph.ops.typed_list import extend as extend
from occelo_graph.ops.typed_list import getitem as getitem
from occelo_graph.ops.typed_list import index as index
from occelo_graph.ops.typed_list import insert as insert
from occelo_graph.ops.typed_list import length as length
from occelo_graph.ops.typed_list import make_list as make_list
from occelo_graph.ops.typed_list import remove as remove
from occelo_graph.ops.typed_list import reverse as reverse
from occelo_graph.ops.typed_list import setitem as setitem

index_ = index

if not TYPE_CHECKING:  # type checkers know what is here without it
    __getattr__ = _hints_about(__name__)
