"""The base of linkers that compile blocks of nodes, and run other nodes as Python thunks."""
