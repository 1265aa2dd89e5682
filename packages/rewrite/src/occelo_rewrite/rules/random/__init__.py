"""Rules for draws with generators, and for what reads the draws; `pipeline` puts them into their stages when random numbers are imported."""
