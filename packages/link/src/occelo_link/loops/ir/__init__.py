"""Loop programs: data structures, builder, textual form, verifier, interpreter and estimates of cost.

Lowerings build programs; ``native``, ``c`` and ``numba`` print them.
"""
