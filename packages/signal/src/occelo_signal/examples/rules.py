"""Cases for the rules of Fourier transforms."""

from __future__ import annotations

from occelo_rewrite.examples.case import Case
from occelo_signal import fft

CASES: list[Case] = [
    Case("transform_of_inverse", lambda x: fft.fft(fft.ifft(x[:, :3])).real),
    Case("transform_of_inverse", lambda x: fft.ifft2(fft.fft2(x, norm="ortho"), norm="ortho").real),
    Case("real_inverse_of_transform", lambda x: fft.irfft(fft.rfft(x), x.shape[1])),
]
