"""Units: machine code of loop programs, and how it is loaded, called and kept."""
