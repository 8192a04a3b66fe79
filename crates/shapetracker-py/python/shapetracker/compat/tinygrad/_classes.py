"""What is written in Rust: the classes, and the expressions and their text."""

from shapetracker._native import tinygrad

__all__ = ["ShapeTracker", "View", "index_nodes", "over_ranges", "pair_nodes", "written"]

View = tinygrad.View
ShapeTracker = tinygrad.ShapeTracker
index_nodes = tinygrad.index_nodes
pair_nodes = tinygrad.pair_nodes
over_ranges = tinygrad.over_ranges
written = tinygrad.written
