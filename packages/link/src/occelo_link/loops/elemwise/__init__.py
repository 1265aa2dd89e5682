"""Lowering of elementwise ops, with a formula for each scalar op.

`loops.build` imports it; fused nodes (`Composite`) are lowered here too.
"""
