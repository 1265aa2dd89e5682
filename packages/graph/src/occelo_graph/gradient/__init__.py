"""Derivatives of graphs: reverse and forward mode, Jacobians, barriers, finite differences, and the door for stable forms.

Users find most of these functions in `occelo`. Authors of ops find the others in `occelo_graph`.
"""
