"""Lowering of elementwise ops, with a formula for each scalar op.

Fused nodes (`Composite`) are lowered here, too. `loops.build` imports this package to register the lowering.
"""
