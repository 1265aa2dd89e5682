"""Saved functions: `writing` makes a file of a compiled function, `reading` runs it with NumPy, and `format` is what both know."""
