"""Loop programs: data structures, builder, textual form, verifier, interpreter and cost estimates.

Lowerings build loop programs, and the linkers ``native``, ``c``, ``c|py`` and ``numba`` print them as code.
"""
