"""Random programs (`occelo_graph.testing.programs`) compiled in many ways, each compared with NumPy.

`laws` says in which ways, `judging` whether a difference is a fault, `running` goes over many seeds, and
``python -m occelo_compile.random_programs`` does so from the command line.
"""
