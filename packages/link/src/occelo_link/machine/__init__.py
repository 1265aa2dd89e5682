"""What this machine has: a processor, libraries, threads."""
