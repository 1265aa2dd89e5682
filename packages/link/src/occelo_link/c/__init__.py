"""The linkers ``c`` and ``c|py``: loop programs as C, compiled by the machine's compiler."""
