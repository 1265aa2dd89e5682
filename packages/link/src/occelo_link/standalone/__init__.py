"""Functions without Python: compiled functions that C code calls, in this process or in a library of their own.

`occelo_compile` reaches `make_c_function` (`c_function`), for `Function.c_function`.
"""
