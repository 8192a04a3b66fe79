"""What is written in Rust: the classes, and the expressions and their text."""

from shapetracker._native import tinygrad

__all__ = ["ShapeTracker", "View", "over_ranges", "written"]

View = tinygrad.View
ShapeTracker = tinygrad.ShapeTracker
over_ranges = tinygrad.over_ranges
written = tinygrad.written
