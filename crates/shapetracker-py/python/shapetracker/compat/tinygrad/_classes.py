"""What is written in Rust."""

from shapetracker._native import tinygrad

__all__ = ["ShapeTracker", "View", "written", "written_pair"]

View = tinygrad.View
ShapeTracker = tinygrad.ShapeTracker
written = tinygrad.written
written_pair = tinygrad.written_pair
