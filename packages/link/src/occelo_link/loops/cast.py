"""Casts between dtypes, which are lowered like other elementwise ops.

`loops.build` imports this module as one of the families of ops. The module registers no lowering: `loops.elemwise.op`
has already registered `lower_elemwise` for casts.
"""

from __future__ import annotations

from occelo_link.loops.elemwise.op import lower_elemwise

__all__ = ["lower_elemwise"]
