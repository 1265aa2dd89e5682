"""Random programs, each written with NumPy and with Occelo, to test compiled graphs against NumPy.

Each step of a program is two expressions as source text, one for NumPy and one for Occelo. NumPy runs the steps in
order to compute the expected results. So no code here depends on how Occelo implements an op.

`program` defines programs, and `generating` draws a program from a seed. `rounding` runs a program with NumPy and
computes a tolerance for each element of the results. `listing` prints a program for a user, and `shrinking` reduces a
failing program. `trying` runs a test on the graphs of many programs. `occelo_testing.random_programs` compiles the programs and compares the results.
"""
