"""NumPy's random streams in machine code of our own, which draws what NumPy draws, bit by bit."""
