"""Solutions of linear and matrix equations."""
