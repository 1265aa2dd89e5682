"""Units, which are the machine code of loop programs: loading, calling and caching them.

The linkers ``native``, ``c``, ``c|py`` and ``numba`` use this package, although different compilers make their code.
"""
