"""Special functions on JAX and PyTorch: those of the libraries, and expansions where these lack one or lose digits."""
