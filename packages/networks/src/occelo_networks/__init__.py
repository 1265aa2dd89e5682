"""Functions of neural networks (`functions`), rules that update parameters (`updates`), and `minimize`."""

__version__ = "0.1.0"
