"""A stand-in for `tinygrad.shape` of tinygrad 0.10.3 and 0.11.0.

    >>> from shapetracker.compat.tinygrad.shapetracker import ShapeTracker
    >>> st = ShapeTracker.from_shape((3, 2)).permute((1, 0)).reshape((3, 2))
    >>> index, valid = st.to_indexed_uops()
    >>> valid.render()
    'True'

Names, arguments, attributes and results are those of `tinygrad.shape.view` and `tinygrad.shape.shapetracker`. Where
those have no answer or a wrong one, this has the exact one: COMPAT.md, beside the sources, lists every difference.
`exact` of a view or tracker is the same in this package's own classes, which say why something is not a view.
"""

from ._fallbacks import fallbacks
from ._install import install, installed, uninstall
from .shapetracker import ShapeTracker
from .uop import UOp
from .view import View

__all__ = ["ShapeTracker", "UOp", "View", "fallbacks", "install", "installed", "uninstall"]
