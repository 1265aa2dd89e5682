"""Lowering of elementwise ops, with a formula for each scalar op."""
