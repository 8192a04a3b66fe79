//! The command `shapetracker`.
fn main() {}
