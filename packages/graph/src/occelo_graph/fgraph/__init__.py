"""Function graphs, which rewriters change and linkers compile, and features, which observe their changes."""
