"""Lowering of casts between dtypes: they are lowered like elementwise ops.

`loops.build` imports it like every family; it registers nothing itself.
"""

from __future__ import annotations

from occelo_link.loops.elemwise.op import lower_elemwise

__all__ = ["lower_elemwise"]
