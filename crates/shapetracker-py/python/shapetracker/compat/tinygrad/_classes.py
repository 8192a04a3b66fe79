"""The classes that are written in Rust."""

from shapetracker._native import tinygrad

__all__ = ["ShapeTracker", "View"]

View = tinygrad.View
ShapeTracker = tinygrad.ShapeTracker
