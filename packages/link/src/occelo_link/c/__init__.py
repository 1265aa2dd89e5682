"""The linkers ``c`` and ``c|py``, which print loop programs as C and call the machine's C compiler.

A function is compiled by one of these linkers if its mode names the linker.
"""
