"""The cache of compiled code on disk.

Linkers keep object code in it, and `occelo_compile.function_cache` keeps whole functions.
"""
