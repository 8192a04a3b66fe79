//! What planning costs.
fn main() {}
