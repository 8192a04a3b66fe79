//! Division that rounds down, in languages whose division rounds towards zero: how C's `/` and `%` are made to floor.
//!
//! The two differ only where the quotient is negative and not whole. The usual correction looks at the remainder and
//! subtracts one, which is a second division and a choice. But the ranges of both operands are known, so that in nearly
//! all code no correction is needed: either the quotient is never negative, or the divisor always divides, or a multiple
//! of a constant divisor, added to the dividend, makes it so.

use crate::graph::{Expr, Graph, Node};

/// What makes a division that rounds towards zero round down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rounding {
    /// Nothing: it rounds down as it is.
    AsIs,
    /// With the dividend raised by `shift`, which is `times` the divisor, its sign changed before if the divisor is
    /// negative, and divided by the size of the divisor, the quotient is larger by `times` and never negative. The
    /// remainder has only the sign of the divisor to get back.
    Raised {
        /// By how much the quotient is too large.
        times: i64,
        /// What is added to the dividend.
        shift: i64,
    },
    /// A look at the remainder: where it has not the sign of the divisor, the quotient is one too large.
    Corrected,
}

impl Rounding {
    /// For a dividend and a divisor in intervals, the latter without 0. `exact` says that the divisor always divides, and
    /// `largest` is the largest number that the code can compute with.
    // Proved: `rounds_alike`, `raised` in `proofs/Rounding.v`.
    pub(crate) fn of((low, high): (i64, i64), (least, most): (i64, i64), exact: bool, largest: i64) -> Rounding {
        let is_never_negative = (low >= 0 && least > 0) || (high <= 0 && most < 0);
        if is_never_negative || exact {
            return Rounding::AsIs;
        }
        let size = i128::from(least).abs();
        if least == most && size <= largest.into() {
            // The dividend as it is once the divisor is positive, and the least multiple that makes it so.
            let [low, high] = [low, high].map(i128::from);
            let (low, high) = if least > 0 { (low, high) } else { (-high, -low) };
            let times = (size - 1 - low) / size;
            let shift = times * size;
            // Both the sum and what is added must be numbers of the code.
            if let (Ok(times), Ok(shift)) = (i64::try_from(times), i64::try_from(shift))
                && shift <= largest
                && high + i128::from(shift) <= largest.into()
            {
                return Rounding::Raised { times, shift };
            }
        }
        Rounding::Corrected
    }
}

/// A product and a shift that divide every number in `0..=high` by a divisor of at least 2: `floor(x / divisor)` is
/// `x * factor >> shift`. `None` where a product could be past `largest`.
///
/// Compilers divide by constants in the same way, for all numbers of the type: a product of twice the width, and
/// corrections for some divisors. For the numbers of a known interval a product of one width often suffices.
///
/// With `factor = ceil(2^shift / divisor)` the excess `e = factor * divisor - 2^shift` is not negative, and
/// `x * factor / 2^shift = x / divisor + x * e / (divisor * 2^shift)`. The fraction of `x / divisor` is at most
/// `1 - 1 / divisor`, so that the floor stays what it was if `x * e < 2^shift` for the largest `x`. The least such shift
/// has the least product.
// Proved: `reciprocal`, `reciprocal_factor` in `proofs/Rounding.v`.
pub(crate) fn reciprocal(high: i64, divisor: i64, largest: i64) -> Option<(i64, i64)> {
    // All in i64: 2^shift * d is never formed, and the inequalities are divided by what would overflow.
    (1..62)
        .map(|shift| (shift, 1_i64 << shift))
        .find_map(|(shift, power)| {
            let rest = power % divisor;
            let (factor, excess) = if rest == 0 { (power / divisor, 0) } else { (power / divisor + 1, divisor - rest) };
            (excess == 0 || high <= (power - 1) / excess).then_some((factor, shift))
        })
        .filter(|(factor, _)| *factor <= largest / high.max(1))
}

/// Whether a divisor is a constant that always divides a number, as far as the number's residue class tells.
// Proved: `class_divided` in `proofs/Rounding.v`.
pub(crate) fn divides(graph: &Graph, a: Expr, b: Expr) -> bool {
    let (modulus, residue) = graph.congruence(a);
    let multiple = |value: i64, of: i64| value.wrapping_rem(of) == 0;
    matches!(graph.node(b), Node::Int(b) if multiple(modulus, b) && multiple(residue, b))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn raised_dividends_floor_and_stay_inside_the_type() {
        const LARGEST: i64 = 127;
        let mut raised = 0;
        for divisor in (-9..=9).filter(|divisor| *divisor != 0) {
            for low in -128..=127i64 {
                for high in [low, low + 1, low + 7, low + 40, 127].into_iter().filter(|high| (low..=127).contains(high))
                {
                    let Rounding::Raised { times, shift } =
                        Rounding::of((low, high), (divisor, divisor), false, LARGEST)
                    else {
                        continue;
                    };
                    raised += 1;
                    assert!((0..=LARGEST).contains(&shift) && shift == times * divisor.abs());
                    for value in low..=high {
                        let dividend = shift + divisor.signum() * value;
                        assert!((0..=LARGEST).contains(&dividend), "{value} + {shift}");
                        let floor = (value as f64 / divisor as f64).floor() as i64;
                        assert_eq!(dividend / divisor.abs() - times, floor, "{value} // {divisor}");
                        let modulo = value - divisor * floor;
                        assert_eq!(divisor.signum() * (dividend % divisor.abs()), modulo, "{value} % {divisor}");
                    }
                }
            }
        }
        assert!(raised > 5000, "{raised}");
    }

    #[test]
    fn products_and_shifts_divide_every_number_of_their_interval() {
        let mut found = 0;
        for divisor in 2..=70 {
            for high in (0..1000).chain([4095, 4096, 9999]) {
                let Some((factor, shift)) = reciprocal(high, divisor, i32::MAX.into()) else { continue };
                found += 1;
                for value in 0..=high {
                    assert!(value * factor <= i32::MAX.into());
                    assert_eq!((value * factor) >> shift, value / divisor, "{value} / {divisor} of at most {high}");
                }
            }
        }
        assert!(found > 60_000, "{found}");
        // Interval ends where a factor that is one too large or a shift that is too small would show.
        for divisor in [3, 5, 7, 9, 10, 11, 59, 177, 641, 1_000_003] {
            for high in (0..40).flat_map(|power| [(1 << power) - 1, 1 << power, divisor * (1 << power) - 1]) {
                let Some((factor, shift)) = reciprocal(high, divisor, i64::MAX) else { continue };
                for value in [high, high / divisor * divisor, high / divisor * divisor - 1].map(|value| value.max(0)) {
                    assert_eq!((value * factor) >> shift, value / divisor, "{value} / {divisor} of at most {high}");
                }
            }
        }
        assert_eq!(reciprocal(11, 6, i32::MAX.into()), Some((11, 6)));
        assert_eq!(reciprocal(i32::MAX.into(), 7, i32::MAX.into()), None);
    }

    #[test]
    fn found_by_reading_a_shift_past_the_type_is_no_shift() {
        // The sum fits i64, and what would be added to get it does not.
        let (low, high) = (i64::MIN, -5);
        assert_eq!(Rounding::of((low, high), (3, 3), false, i64::MAX), Rounding::Corrected);
    }
}
