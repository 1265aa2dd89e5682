"""Loop programs, which are the intermediate representation between graphs and machine code, and the lowerings of ops to
loop programs.

The linkers ``native``, ``c`` and ``numba`` lower each block here and print its program. The linker ``c|py`` does so for
each node.
"""
