"""Test support for every layer, and for backends of other packages: examples, laws, random graphs and programs.

`examples` is a table of example calls of every op. `checks` has the laws that every op must satisfy. `programs` draws
random programs, each written with NumPy and with Occelo. `keys` draws random index keys. `naive_formulas` lists
numerically delicate formulas, and `exact` computes their exact values. `rebuilding` has expressions that depend on
lengths. `examples` and `programs` need SciPy, `keys` needs hypothesis, and `exact` needs mpmath.

Only tests, conformance suites, `occelo_testing.random_programs` and commands that write tables import this package.
"""

__version__ = "0.1.0"
