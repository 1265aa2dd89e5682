"""Loop programs, the representation between graphs and machine code, and the lowerings of ops to them."""
