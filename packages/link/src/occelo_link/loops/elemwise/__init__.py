"""Lowering elementwise ops: one function of scalars for each row of the table."""
