"""Tests with random programs (`occelo_testing.programs`), which are compiled in many ways and compared with
NumPy.

`laws` lists the ways, `judging` decides whether a difference is a fault, and `running` tries many seeds. The tests and
the command ``python -m occelo_testing.random_programs`` call `running`.
"""
