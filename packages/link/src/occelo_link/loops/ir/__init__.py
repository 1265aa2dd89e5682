"""Loop programs: data structures, builder, textual form, verifier, interpreter and estimates of cost.

Lowerings build loop programs, and the linkers ``native``, ``c``, ``c|py`` and ``numba`` print them.
"""
