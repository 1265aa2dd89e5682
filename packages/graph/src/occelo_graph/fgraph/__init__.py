"""Function graphs: graphs that own their nodes, and the features that watch them change."""
