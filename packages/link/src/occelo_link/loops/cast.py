"""Lowering of casts between dtypes, which is the lowering of elementwise ops."""

from __future__ import annotations

from occelo_link.loops.elemwise.op import lower_elemwise

__all__ = ["lower_elemwise"]
