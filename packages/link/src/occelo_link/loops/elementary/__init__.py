"""Elementary functions, such as exp and sin, written in the operations of loop programs.

`transcendental`, `complex_functions`, `complex_inverses` and `quantiles` of `loops.lowerings.elemwise` call these functions to
lower scalar ops. The functions compute in float64, and some in float32, too. Apart from a cold branch for
huge angles, the functions have no branches, so every printer can vectorize them. Their polynomials are near-minimax
fits that were computed with mpmath; the coefficient of the highest power comes first. Where a docstring states an
accuracy, tests check it.
"""
