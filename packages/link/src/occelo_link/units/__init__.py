"""Units, which are the machine code of loop programs: loading, calling and caching them.

The linkers ``native``, ``c``, ``c|py`` and ``numba`` use this package. It does not matter which compiler made the code.
"""
