//! The boundary test: is the floor of an affine sum affine?
//!
//! Let `x = origin + sum a_l i_l` over a box `0 <= i_l <= reach_l`, and let `d` be a positive divisor. Choose for every
//! axis the step `c_l` of the quotient such that the first step fits: `c_l = floor((r + a_l) / d)`, where `r` is
//! `origin mod d`. Then `floor(x / d)` is affine on the box exactly if the remainders
//! `r + sum (a_l - d c_l) i_l` never leave `0..d`; and since they are affine too, their smallest and largest values on
//! the box tell. If they do leave it, no other steps would do either: the first step along every axis fixes them.
//!
//! This decides when a reshape needs no new view (the quotient is a digit of a position) and when an index expression
//! needs no division. Both ask here.

/// The steps of `floor(x / divisor)` along every axis of a box, if it is affine there; exact.
///
/// `remainder` is that of `x / divisor` at the first corner, in `0..divisor`. Every axis is a step of `x` and a reach,
/// which is one less than the number of points along it; axes of reach 0 do not move and get no step. `carry` is told
/// the place of each axis along which the quotient moves, and by how much; when the answer is false, what it was told
/// means nothing.
///
/// ```
/// use indexpr::boundary::is_affine;
///
/// // (4 * i + j) // 4 with j in 0..4 is i; with j in 0..5 it is not affine.
/// let mut steps = [0, 0];
/// assert!(is_affine(0, 4, [(4, 9), (1, 3)], |axis, by| steps[axis] = by));
/// assert_eq!(steps, [1, 0]);
/// assert!(!is_affine(0, 4, [(4, 9), (1, 4)], |_, _| {}));
/// ```
// Proved: `quotient_test_exact` in `proofs/Quotient.v`.
// Proved: `step_from_remainder`, `walk_is_exact` in `proofs/Simplify.v`.
#[inline]
pub fn is_affine(
    remainder: i64,
    divisor: i64,
    axes: impl IntoIterator<Item = (i64, i64)>,
    mut carry: impl FnMut(usize, i64),
) -> bool {
    debug_assert!(0 <= remainder && remainder < divisor);
    let (mut low, mut high) = (remainder, remainder);
    for (axis, (step, reach)) in axes.into_iter().enumerate().filter(|(_, (_, reach))| *reach > 0) {
        // Most steps stay inside of one block, and division is slow.
        let moved = match remainder.checked_add(step) {
            Some(next) if 0 <= next && next < divisor => step,
            next => {
                let carries = match next {
                    Some(next) => next.div_euclid(divisor),
                    // The sum is past `i64`, but its parts are not: one block more if the remainders carry.
                    None => step.div_euclid(divisor) + i64::from(step.rem_euclid(divisor) >= divisor - remainder),
                };
                carry(axis, carries);
                // It lies in `-divisor..divisor`, so that it may be computed modulo 2^64.
                step.wrapping_sub(carries.wrapping_mul(divisor))
            }
        };
        // What is past `i64` is past the divisor all the same.
        let moved = moved.saturating_mul(reach);
        low = low.saturating_add(moved.min(0));
        high = high.saturating_add(moved.max(0));
        if low < 0 || high >= divisor {
            return false;
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether the floors over a box are an affine function with these steps, by the definition.
    fn by_definition(origin: i128, divisor: i128, axes: &[(i64, i64)]) -> Option<Vec<i128>> {
        let floor = |point: &[i64]| {
            let x: i128 = axes.iter().zip(point).map(|((step, _), i)| i128::from(*step) * i128::from(*i)).sum();
            (origin + x).div_euclid(divisor)
        };
        let corner = vec![0; axes.len()];
        let steps: Vec<i128> = (0..axes.len())
            .map(|axis| {
                let mut next = corner.clone();
                next[axis] = 1;
                if axes[axis].1 > 0 { floor(&next) - floor(&corner) } else { 0 }
            })
            .collect();
        let mut point = corner.clone();
        loop {
            let affine: i128 = steps.iter().zip(&point).map(|(step, i)| step * i128::from(*i)).sum();
            if floor(&point) != floor(&corner) + affine {
                return None;
            }
            let Some(axis) = (0..axes.len()).find(|&axis| point[axis] < axes[axis].1) else { return Some(steps) };
            point[axis] += 1;
            point[..axis].fill(0);
        }
    }

    #[test]
    fn small_boxes_are_judged_by_the_definition() {
        let mut rng = crate::tests::Rng(11);
        let (mut yes, mut no) = (0, 0);
        for case in 0..20_000 {
            let far = if case % 4 == 0 { i64::MAX / 2 } else { 0 };
            let divisor = far + 1 + rng.below(12) as i64;
            let origin = far + rng.below(30) as i64;
            let axes: Vec<(i64, i64)> = (0..rng.below(4))
                .map(|_| (rng.below(25) as i64 - 12 + if rng.below(3) == 0 { far } else { 0 }, rng.below(4) as i64))
                .collect();
            let expected = by_definition(origin.into(), divisor.into(), &axes);
            let mut steps = vec![0i128; axes.len()];
            let found = is_affine(origin % divisor, divisor, axes.iter().copied(), |axis, by| steps[axis] = by.into());
            assert_eq!(found, expected.is_some(), "{origin} {divisor} {axes:?}");
            if let Some(expected) = expected {
                assert_eq!(steps, expected, "{origin} {divisor} {axes:?}");
                yes += 1;
            } else {
                no += 1;
            }
        }
        assert!(yes > 3000 && no > 3000, "{yes} {no}");
    }
}
