"""Derivatives: reverse and forward mode, Jacobians, barriers, finite differences."""
