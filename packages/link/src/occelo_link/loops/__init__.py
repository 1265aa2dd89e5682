"""Loop programs, and the lowerings that translate ops to loop programs.

A loop program is the intermediate representation between a graph and machine code. The linkers ``native``, ``c`` and
``numba`` lower each block of a graph to a loop program, and print this program. The linker ``c|py`` does so for each
node.
"""
