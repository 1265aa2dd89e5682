"""Declares that the ops of lists of tensors have no lowering, so that they run in Python, between or inside of units.

`loops.build` imports this module when the ops of lists are imported. The declaration has a reason, which tests and
`docs/backends.md` show.
"""

from __future__ import annotations

from occelo_graph.ops.typed_list import ListOp
from occelo_link.loops.python_only import leave_to_python

leave_to_python(ListOp, "a list is kept by Python, since its elements may differ in shape")
