"""Random programs, each written with NumPy and with Occelo, to test compiled graphs against NumPy.

The compiled graph must give what NumPy computes in the user's order. No code here depends on how an op is implemented: a
step is two lines of source text, and the oracle runs one of them.

`program` defines programs, `generating` draws one from a seed, `rounding` runs it with NumPy and computes a tolerance for
each element of the results, `listing` prints it for a user, `shrinking` reduces one that fails.

`occelo_compile.random_programs` compiles them.
"""
