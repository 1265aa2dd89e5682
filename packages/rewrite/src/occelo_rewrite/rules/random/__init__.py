"""Rules for random draws with generators, and for ops that read the drawn numbers.

`pipeline` registers them when random numbers are imported.
"""
