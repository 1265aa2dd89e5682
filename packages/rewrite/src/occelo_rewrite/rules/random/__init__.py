"""Rules for draws with generators; `pipeline` puts them into their stages when random numbers are imported."""
