"""Test support for every layer, and for backends of other packages: examples, laws, random graphs and programs.

`examples` is the table of example inputs for each op. `checks` has the laws that every op must satisfy. `strategies`
draws random well-typed graphs. `programs` draws random programs, each written with NumPy and with Occelo, and computes
how far their results may differ. `examples` and `programs` need SciPy, and `strategies` needs hypothesis. Other modules
draw random index keys, writes and sums of products, make loops, and list numerically delicate formulas with exact
values. Only tests, conformance suites, `occelo_compile.random_programs` and commands that write tables import this
package.
"""
