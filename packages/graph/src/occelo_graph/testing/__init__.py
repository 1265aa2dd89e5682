"""Test support for every layer, and for backends of other packages: examples, laws, random graphs and programs.

`examples` is the table of example inputs for each op. `checks` has the laws that every op must satisfy. `strategies`
draws random well-typed graphs. `programs` draws random programs, each written with NumPy and with Occelo, and computes
how far results may differ. `examples` and `programs` need SciPy, and `strategies` needs hypothesis. The other modules
draw index keys, writes and sums of products, make loops, and list delicate formulas with exact values. Only tests,
conformance suites, `occelo_compile.random_programs` and commands that write tables import this package.
"""
