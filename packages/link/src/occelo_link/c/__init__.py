"""The linkers ``c`` and ``c|py``, which print loop programs as C and compile them by the C compiler of the machine.

A mode with one of these names chooses it.
"""
