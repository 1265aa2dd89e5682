"""Random programs, each written twice: with NumPy as its users write it, and with Occelo.

What NumPy computes, in the user's order, is what the compiled graph must give. Nothing here looks at how an
op is implemented: a step is two lines of source text, and the oracle runs one of them.

`program` is what a program is, `generating` draws one from a seed, `rounding` runs it with NumPy and says how
much each element of a result may differ, `listing` prints it for a user, `shrinking` makes a failing one small.
"""
