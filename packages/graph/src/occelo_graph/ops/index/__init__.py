"""Indexing: keys, reads and writes of parts of tensors, masks, diagonals and sliding windows.

Users write ``x[...]``, and call functions such as `take` and `set_subtensor` from `occelo.tensor`.
"""
