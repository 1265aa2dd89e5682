"""Random programs, each written with NumPy and with Occelo, to test compiled graphs against NumPy.

The results of the compiled graph must be those that NumPy computes in the user's order. No code here depends on how an
op is implemented: a step is two expressions as source text, and the reference result comes from running the one for
NumPy.

`program` defines programs, and `generating` draws a program from a seed. `rounding` runs a program with NumPy and
computes a tolerance for each element of the results. `listing` prints a program for a user, and `shrinking` reduces a
program that fails.

`occelo_compile.random_programs` compiles them.
"""
