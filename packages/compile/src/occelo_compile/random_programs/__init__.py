"""Random programs (`occelo_graph.testing.programs`) compiled in many ways, each compared with NumPy.

`laws` lists the ways, `judging` decides whether a difference is a fault, and `running` tries many seeds, for the tests and
for the command line, ``python -m occelo_compile.random_programs``.
"""
