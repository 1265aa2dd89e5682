"""Parts of tensors: combined with values at positions, in segments, in windows, and chosen by subscripts."""
