"""Tests with random programs (`occelo_graph.testing.programs`), which are compiled in many ways and compared with
NumPy.

`laws` lists the ways, `judging` decides whether a difference is a fault, and `running` tries many seeds. The tests and
the command ``python -m occelo_compile.random_programs`` call `running`.
"""
