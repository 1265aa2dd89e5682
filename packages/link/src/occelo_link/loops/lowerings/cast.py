"""Casts between dtypes, which are lowered like other elementwise ops.

`loops.lowerings.elemwise.op` registers `lower_elemwise` for casts, too. So no module imports this one: it only shows where casts
are lowered, since each family of ops has a module of its name in this package.
"""

from __future__ import annotations

from occelo_link.loops.lowerings.elemwise.op import lower_elemwise as lower_elemwise
