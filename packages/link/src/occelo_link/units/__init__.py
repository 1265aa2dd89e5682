"""Units, which are machine code of loop programs: loading, calling and caching them.

The linkers ``native``, ``c``, ``c|py`` and ``numba`` use them, whichever compiler made the code.
"""
