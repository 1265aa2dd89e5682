"""Random programs (`occelo_graph.testing.programs`) compiled in many ways, each compared with NumPy.

`laws` lists the ways, `judging` decides whether a difference is a fault, `running` tries many seeds, and
``python -m occelo_compile.random_programs`` does so from the command line.
"""
