"""Units: machine code of loop programs; loading, calling and caching it."""
