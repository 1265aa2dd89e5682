"""Indexing: keys, basic and advanced reads and writes, masks, diagonals, sliding windows.

Users write ``x[...]``, and call functions such as `take` and `set_subtensor` in `occelo.tensor`.
"""
