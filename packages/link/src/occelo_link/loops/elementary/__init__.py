"""Elementary functions of float64, written in the operations of loop programs.

They are branch-free, so that every printer can vectorise them alike. Polynomials are near-minimax
fits made with mpmath, highest power first; what each function keeps to in units in the last place
is tested, not only stated.
"""
