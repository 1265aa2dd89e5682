"""The canonical form of graphs: encoding, digest, saving and loading."""
