"""The linkers ``c`` and ``c|py``, which print loop programs as C and call the machine's C compiler.

They are used by functions whose mode names one of them.
"""
