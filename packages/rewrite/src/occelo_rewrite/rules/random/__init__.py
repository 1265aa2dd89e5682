"""Rules for draws with generators and for ops that read draws.

`pipeline` puts them into their stages when random numbers are imported.
"""
