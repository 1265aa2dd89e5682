"""Loop programs, the intermediate representation between graphs and machine code, and the lowerings of ops to it.

The linkers ``native``, ``c`` and ``numba`` lower each block here and print the program, and ``c|py`` each node.
"""
