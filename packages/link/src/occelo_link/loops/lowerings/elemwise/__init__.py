"""Lowering of elementwise ops to a formula for each element, with one lowering for each scalar op.

Fused nodes (`Composite`) are lowered here, too. `loops.build` imports this package to register the lowering.
"""
