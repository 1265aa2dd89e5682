"""The linker ``pytorch``: whole graphs as FX graphs, compiled by ``torch.compile`` or run as they are."""
