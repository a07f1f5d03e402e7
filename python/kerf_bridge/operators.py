"""The whole operator table."""

from . import ops_linear, ops_loss, ops_pointwise, ops_reduce  # noqa: F401
from .ops_recurrent import Unrolled  # noqa: F401
from .ops_shape import assigned  # noqa: F401
from .table import (COMPOSED, FACTORIES, HANDLERS, PLACES, RANDOM, SAME, Described, cast_text, converted_dtype,  # noqa: F401
                    number_text)
