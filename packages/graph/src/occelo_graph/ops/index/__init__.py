"""Indexing: keys, basic and advanced reads and writes, masks, diagonals, sliding windows."""
