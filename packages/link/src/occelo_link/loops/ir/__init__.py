"""Loop programs: data structures, builder, textual form, verifier, interpreter and estimates of cost.

Lowerings build programs; the linkers ``native``, ``c``, ``c|py`` and ``numba`` print them.
"""
