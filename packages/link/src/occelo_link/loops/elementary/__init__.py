"""Elementary functions of float64, and a few of float32 (`float32_functions`), written in the operations of loop programs.

`loops.elemwise.transcendental` and `loops.elemwise.complex` call them to lower scalar ops. They have no branches,
except a cold one for huge angles, so every printer can vectorize them. Polynomials are near-minimax fits computed with
mpmath, highest power first. Tests check the accuracy that each docstring states.
"""
