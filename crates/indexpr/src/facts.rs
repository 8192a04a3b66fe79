//! An abstract domain for the values of expressions: an interval and a congruence class.
//!
//! The facts of a node are computed from those of its operands, once, when it is made. They are sound (every value
//! satisfies them) and not complete, because operands that share variables are treated as independent. The interval
//! proves that values fit into `i64` and that divisors are not 0; the congruence proves divisions exact, and sharpens
//! the interval of a remainder.

use shapetracker_base::int::{div_floor, gcd};

use crate::binary::Binary;
use crate::error::{Error, Reason};

/// Every value lies in `low..=high` and is congruent to `residue` modulo `modulus`; modulus 0 says that it is the
/// residue.
///
/// A constant has modulus 0, and nothing else has; the residue lies in `0..modulus` otherwise. With these conventions
/// the greatest common divisor is the join of moduli, and `gcd(0, m) = m` needs no special case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Facts {
    pub(crate) low: i64,
    pub(crate) high: i64,
    pub(crate) modulus: i64,
    pub(crate) residue: i64,
}

impl Facts {
    /// One value.
    pub(crate) fn constant(value: i64) -> Facts {
        Facts { low: value, high: value, modulus: 0, residue: value }
    }

    /// Any value between two, both included.
    pub(crate) fn between(low: i64, high: i64) -> Facts {
        if low == high { Facts::constant(low) } else { Facts { low, high, modulus: 1, residue: 0 } }
    }

    /// The facts of an operation's result, normalised; an error if the interval leaves `i64`.
    // No rule: the residue is replaced by one of its class.
    fn new(op: Binary, (low, high): (i128, i128), (modulus, residue): (i128, i128)) -> Result<Facts, Error> {
        let (Ok(low), Ok(high)) = (i64::try_from(low), i64::try_from(high)) else {
            return Err(Reason::ValueOverflow { low, high }.in_op(op.name()));
        };
        if low == high {
            return Ok(Facts::constant(low));
        }
        // A modulus past `i64` is dropped. Little is lost: of such a class an interval of `i64` holds at most two
        // values.
        let modulus = i64::try_from(modulus.abs()).unwrap_or(1).max(1);
        Ok(Facts { low, high, modulus, residue: residue.rem_euclid(modulus.into()) as i64 })
    }

    /// How many of the low bits are the same in all values; at most 62.
    fn known_bits(self) -> u32 {
        if self.is_constant() { 62 } else { self.modulus.trailing_zeros().min(62) }
    }

    /// Whether no bit is ever set in both of two numbers, because one of them ends below where the other begins: their
    /// exclusive or is their sum.
    // Proved: `xor_is_sum` in `proofs/Rounding.v`.
    pub(crate) fn shares_no_bits(self, other: Facts) -> bool {
        let below = |low: Facts, high: Facts| {
            let bits = 64 - low.high.leading_zeros();
            let is_multiple = high.residue.trailing_zeros() >= bits || high.residue == 0;
            low.low >= 0 && high.known_bits() >= bits && is_multiple
        };
        below(self, other) || below(other, self)
    }

    /// The four numbers in a type in which no sum or product of two of them overflows.
    fn wide(self) -> [i128; 4] {
        [self.low, self.high, self.modulus, self.residue].map(i128::from)
    }

    /// The facts of an operation on operands with these facts.
    pub(crate) fn of_binary(op: Binary, a: Facts, b: Facts) -> Result<Facts, Error> {
        let ([al, ah, am, ar], [bl, bh, bm, br]) = (a.wide(), b.wide());
        match op {
            // Proved: `class_of_sum` in `proofs/Rounding.v`.
            Binary::Add => Facts::new(op, (al + bl, ah + bh), (gcd(am, bm), ar + br)),
            Binary::Sub => Facts::new(op, (al - bh, ah - bl), (gcd(am, bm), ar - br)),
            // Proved: `product_corners`, `class_of_product` in `proofs/Rounding.v`.
            Binary::Mul => {
                let ends = [al * bl, al * bh, ah * bl, ah * bh];
                // (am x + ar) (bm y + br) = am bm xy + am br x + ar bm y + ar br: the modulus divides all but the last.
                let modulus = gcd(gcd(am * bm, am * br), ar * bm);
                Facts::new(op, extremes(ends), (modulus, ar * br))
            }
            // Proved: `quotient_corners`, `class_of_quotient` in `proofs/Rounding.v`.
            Binary::Div => {
                b.not_zero(op)?;
                // For divisors of one sign the quotient is monotone in each operand, so its extremes are at corners.
                let ends = [bl, bh].into_iter().flat_map(|d| [div_floor(al, d), div_floor(ah, d)]);
                // floor((am x + ar) / b) is am / b * x + floor(ar / b) if b divides am.
                let divides = bl == bh && am % bl == 0;
                Facts::new(op, extremes(ends), if divides { (am / bl, div_floor(ar, bl)) } else { (1, 0) })
            }
            // Proved: `remainder_is_shifted`, `remainder_interval`, `class_of_remainder` in `proofs/Rounding.v`.
            Binary::Mod => {
                b.not_zero(op)?;
                // The remainder is 0, but machines compute it by a division whose quotient, -i64::MIN, leaves `i64`: in
                // C it is undefined, and x86 traps.
                if a.low == i64::MIN && (b.low..=b.high).contains(&-1) {
                    return Err(Reason::ValueOverflow { low: -ah, high: -al }.in_op(op.name()));
                }
                // All dividends have one quotient: the remainder is the dividend shifted, and does not wrap.
                if bl == bh && div_floor(al, bl) == div_floor(ah, bl) {
                    let shift = bl * div_floor(al, bl);
                    return Facts::new(op, (al - shift, ah - shift), (am, ar - shift));
                }
                let (low, high) = (if bl < 0 { bl + 1 } else { 0 }, if bh > 0 { bh - 1 } else { 0 });
                if bl != bh {
                    return Facts::new(op, (low, high), (1, 0));
                }
                // The remainder is congruent to the dividend modulo the divisor, and so modulo any common divisor of it
                // and the dividend's modulus. The interval shrinks to the first and the last value of that class.
                let modulus = gcd(am, bl);
                let first = low + (ar - low).rem_euclid(modulus);
                let last = high - (high - ar).rem_euclid(modulus);
                Facts::new(op, (first, last), (modulus, ar))
            }
            Binary::Min => Facts::new(op, (al.min(bl), ah.min(bh)), either(a, b)),
            Binary::Max => Facts::new(op, (al.max(bl), ah.max(bh)), either(a, b)),
            // Proved: `xor_range`, `xor_class` in `proofs/Rounding.v`.
            Binary::Xor => {
                if a.is_constant() && b.is_constant() {
                    return Ok(Facts::constant(a.low ^ b.low));
                }
                // As many low bits are known of the result as of both operands.
                let known = a.known_bits().min(b.known_bits());
                let (modulus, residue) = (1i128 << known, ar ^ br);
                // No end has more bits than this, nor has any value.
                let bits = [al, ah, bl, bh].map(|end| 128 - (if end < 0 { !end } else { end }).leading_zeros());
                let above = 1i128 << bits.into_iter().max().unwrap_or(0);
                let interval = match (al >= 0, ah < 0, bl >= 0, bh < 0) {
                    // Of natural numbers it is at least their difference, and at most their sum.
                    (true, _, true, _) => ((al - bh).max(bl - ah).max(0), (above - 1).min(ah + bh)),
                    (_, true, _, true) => (0, above - 1),
                    (true, _, _, true) | (_, true, true, _) => (-above, -1),
                    _ => (-above, above - 1),
                };
                Facts::new(op, interval, (modulus, residue))
            }
            Binary::Lt => Ok(Facts::condition(ah < bl, al >= bh)),
            Binary::Le => Ok(Facts::condition(ah <= bl, al > bh)),
            Binary::Gt => Ok(Facts::condition(al > bh, ah <= bl)),
            Binary::Ge => Ok(Facts::condition(al >= bh, ah < bl)),
            Binary::Eq => Ok(Facts::condition(a.is_constant() && a == b, a.differs(b))),
            Binary::Ne => Ok(Facts::condition(a.differs(b), a.is_constant() && a == b)),
            Binary::And => Ok(Facts::condition(al + bl == 2, ah == 0 || bh == 0)),
            Binary::Or => Ok(Facts::condition(al == 1 || bl == 1, ah + bh == 0)),
        }
    }

    /// The facts of a range test.
    pub(crate) fn of_within(a: Facts, begin: i64, end: i64) -> Facts {
        Facts::condition(begin <= a.low && a.high < end, begin >= end || a.high < begin || a.low >= end)
    }

    /// The facts of a choice between two operands: the join of both, unless the condition is constant.
    // Proved: `class_of_either` in `proofs/Rounding.v`.
    pub(crate) fn of_select(condition: Facts, a: Facts, b: Facts) -> Facts {
        if condition.is_constant() {
            return if condition.low == 1 { a } else { b };
        }
        let (modulus, residue) = either(a, b);
        let (low, high) = (a.low.min(b.low), a.high.max(b.high));
        if low == high {
            return Facts::constant(low);
        }
        // As in `Facts::new`.
        let modulus = i64::try_from(modulus).unwrap_or(1);
        Facts { low, high, modulus, residue: residue.rem_euclid(modulus.into()) as i64 }
    }

    /// The facts of a condition that is known to hold always, or never, or neither.
    fn condition(always: bool, never: bool) -> Facts {
        Facts::between(always.into(), (!never).into())
    }

    /// Whether there is but one value.
    pub(crate) fn is_constant(self) -> bool {
        self.low == self.high
    }

    /// Whether the facts show that two expressions never have the same value: intervals that do not meet, or residues
    /// that differ modulo what divides both moduli.
    // Proved: `classes_differ` in `proofs/Rounding.v`.
    fn differs(self, other: Facts) -> bool {
        let [.., am, ar] = self.wide();
        let [.., bm, br] = other.wide();
        self.high < other.low || other.high < self.low || {
            let modulus = gcd(am, bm);
            modulus > 1 && (ar - br) % modulus != 0
        }
    }

    /// Refuses a divisor that is or can be 0.
    fn not_zero(self, op: Binary) -> Result<(), Error> {
        let (op, Facts { low, high, .. }) = (op.name(), self);
        match (low, high) {
            (0, 0) => Err(Reason::DivisorZero.in_op(op)),
            (..=0, 0..) => Err(Reason::DivisorRange { low, high }.in_op(op)),
            _ => Ok(()),
        }
    }
}

/// The join of two congruences: the finest class that holds the values of both. Its modulus is 0 only if both are the
/// same constant.
// Proved: `class_of_either` in `proofs/Rounding.v`.
fn either(a: Facts, b: Facts) -> (i128, i128) {
    let ([.., am, ar], [.., bm, br]) = (a.wide(), b.wide());
    (gcd(gcd(am, bm), ar - br), ar)
}

/// The least and the greatest of some numbers.
fn extremes(ends: impl IntoIterator<Item = i128>) -> (i128, i128) {
    ends.into_iter().fold((i128::MAX, i128::MIN), |(low, high), end| (low.min(end), high.max(end)))
}
