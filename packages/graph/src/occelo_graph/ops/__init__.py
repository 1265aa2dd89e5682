"""The tensor ops, one family a file (or a folder), in an order in which none needs a later one."""
