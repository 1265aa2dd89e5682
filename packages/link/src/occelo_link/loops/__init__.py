"""Loop programs, the intermediate representation between graphs and machine code, and the lowerings of ops to it."""
