//! What equations are made of.

use shapetracker_base::int::{div, div_floor, extended_gcd};
use smallvec::SmallVec;

/// A term of the equation: a weight, and how many values `0, 1, ..` its variable has.
pub(crate) type Term = (i128, i128);

/// One value per term.
pub(crate) type Values = SmallVec<[i128; 16]>;

/// The multiples `0, weight, .., weight * (size - 1)` that a term, or several coalesced ones, can contribute.
#[derive(Clone, Copy, Debug)]
pub(super) struct Range {
    pub(super) weight: i128,
    pub(super) size: i128,
}

impl Range {
    pub(super) fn reach(&self) -> i128 {
        self.weight * (self.size - 1)
    }
}

/// The numbers from `low` to `high` (both ends included) from a middle one outwards: the sums that the other terms can
/// reach are densest around their middle, so that solutions, where there are any, are soonest found there.
pub(super) fn outwards(low: i128, middle: i128, high: i128) -> impl Iterator<Item = i128> {
    (0..=(middle - low).max(high - middle))
        .flat_map(move |distance| [middle - distance, middle + distance].into_iter().skip(usize::from(distance == 0)))
        .filter(move |number| (low..=high).contains(number))
}

/// The values `y` with `weight * y = target` modulo `modulus`: the least that is not negative, and how far apart they
/// are. The target is a multiple of `gcd(weight, modulus)`, without which there are none.
pub(crate) fn residue(weight: i128, target: i128, modulus: i128) -> (i128, i128) {
    if modulus == 1 {
        return (0, 1);
    }
    let (g, inverse, _) = extended_gcd(weight.rem_euclid(modulus), modulus);
    let every = div(modulus, g);
    let first = (div_floor(target, g).rem_euclid(every) * inverse.rem_euclid(every)).rem_euclid(every);
    (first, every)
}
