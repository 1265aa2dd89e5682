"""The linkers ``c`` and ``c|py``: loop programs as C, compiled by the machine's compiler.

A mode with one of these names chooses it.
"""
