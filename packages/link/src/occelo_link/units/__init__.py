"""Units: machine code of loop programs; loading, calling and caching it.

``native``, ``c`` and ``numba`` share it, whoever compiled the code.
"""
