"""Elementary functions, such as exp and sin, written in the operations of loop programs.

`loops.elemwise.transcendental` and `loops.elemwise.complex` call these functions to lower scalar ops. They compute in
float64; the few functions of `float32_functions` compute in float32. The functions have no branches, except a cold
branch for huge angles, so every printer can vectorize them. Their polynomials are near-minimax fits that were computed
with mpmath; the coefficient of the highest power comes first. Where a docstring states an accuracy, tests check it.
"""
