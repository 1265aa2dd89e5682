"""What a function spends: the costs of its nodes, the times of its loops, and pictures of both."""
