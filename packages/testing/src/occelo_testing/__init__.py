"""Test support for every layer, and for backends of other packages: examples, laws, random graphs and programs.

`examples` is a table of example calls of every op. `checks` has the laws that every op must satisfy. `strategies` draws
random well-typed graphs. `programs` draws random programs, each written with NumPy and with Occelo. `keys` draws random
index keys, `writing` draws programs that write parts of tensors, and `accumulating` draws sums of products.
`naive_formulas` lists numerically delicate formulas, and `exact` computes their exact values. `rebuilding` has
expressions that depend on lengths. `examples` and `programs` need SciPy, `strategies` and `keys` need hypothesis, and
`exact` needs mpmath.

Only tests, conformance suites, `occelo_testing.random_programs` and commands that write tables import this package.
"""

__version__ = "0.1.0"
