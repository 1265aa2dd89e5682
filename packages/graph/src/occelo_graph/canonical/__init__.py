"""The canonical form of graphs, by which they are hashed, saved and loaded."""
