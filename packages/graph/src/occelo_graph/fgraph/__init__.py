"""Function graphs, which rewriting changes and linkers compile; and features, which observe their changes."""
