"""Why Fourier transforms have no lowering to loops."""

from occelo_link.loops.python_only import leave_to_python
from occelo_signal.ops.cosines import RealTransform
from occelo_signal.ops.transforms import FFT, InverseRealFFT, RealFFT

for _op_class in (FFT, RealFFT, InverseRealFFT, RealTransform):
    leave_to_python(_op_class, "pocketfft transforms all rows with one call")
