"""Functions of real numbers at the ends of their domains: tables of what values and slopes should be there.

Each row has a name, the function, the same function in mpmath, and ends (`limits.End`). The name is that of the function and,
if it is not the last one, the parameter: "betainc in a, b=2". Where mpmath has no such function, or there are no limits, the
ends have values and slopes. `NO_LIMITS` says what has no row, and why.
"""
