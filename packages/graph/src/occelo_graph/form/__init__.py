"""The canonical form of graphs, by which they are hashed, saved and loaded; and source texts of code of other packages."""
