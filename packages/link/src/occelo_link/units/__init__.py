"""Units: machine code of loop programs; loading, calling and caching it.

The linkers ``native``, ``c``, ``c|py`` and ``numba`` share it, whichever compiler made the code.
"""
