"""Shapes, at PyTensor's place. In every order of imports `occelo.tensor.shape` is the function."""

from occelo.places import stands_at as _stands_at
from occelo.tensor import Reshape as Reshape
from occelo.tensor import Shape as Shape
from occelo.tensor import Shape_i as Shape_i
from occelo.tensor import SpecifyShape as SpecifyShape
from occelo.tensor import reshape as reshape
from occelo.tensor import shape as shape
from occelo.tensor import shape_i as shape_i
from occelo.tensor import shape_padaxis as shape_padaxis
from occelo.tensor import shape_padleft as shape_padleft
from occelo.tensor import shape_padright as shape_padright
from occelo.tensor import shape_tuple as shape_tuple
from occelo.tensor import specify_broadcastable as specify_broadcastable
from occelo.tensor import specify_shape as specify_shape

_stands_at(__name__, shape)
