//! Points at random, the same ones in every run: they make most questions about stacks cheap, and answer none.

use super::level::{IndexBox, Point};

/// A sequence of pseudo-random numbers: the high bits of a linear congruential generator (Knuth's MMIX).
pub(super) struct Sample(u64);

impl Sample {
    /// The sequence from its start.
    pub(super) fn new() -> Sample {
        Sample(1)
    }

    /// A number in `0..bound`.
    pub(super) fn below(&mut self, bound: i64) -> i64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as i64 % bound
    }

    /// A point of a box.
    pub(super) fn point(&mut self, space: &IndexBox) -> Point {
        space.axes.iter().map(|axis| self.below(axis.size)).collect()
    }
}
