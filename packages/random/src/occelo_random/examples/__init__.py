"""Tables of examples."""
