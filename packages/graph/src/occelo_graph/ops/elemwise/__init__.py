"""Elementwise functions: scalar ops such as `exp`, and the op `Elemwise`, which applies a scalar op to each element.

`scalar` has the classes and the table of scalar ops. Fusion (`occelo_rewrite.fusion`) combines several scalar ops into one. Users
call the functions from `occelo.tensor`.
"""
