"""Derivatives of graphs: reverse and forward mode, Jacobians, barriers, finite differences; most are in `occelo_graph`."""
