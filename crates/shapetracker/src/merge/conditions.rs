//! What must the earlier strides satisfy for a pair to merge?

use std::fmt;

use shapetracker_base::int::gcd;
use shapetracker_base::list::sort_short_by_key;
use smallvec::SmallVec;

use super::Unanswered;
use super::carries::{Steps, Visitor};
use super::level::{IndexBox, Point};
use super::work::Work;
use crate::error::{Error, Fault};
use crate::shape::checked_numel;
use crate::view::check_inside;
use crate::{Dims, View};

/// The linear equations that the strides of an earlier view must satisfy for a later view to merge with it.
///
/// `Display` writes them with `s1` for the stride of the first axis, as the source does.
///
/// ```
/// use shapetracker::{View, conditions};
///
/// let needed = conditions([2, 3], &View::contiguous([3, 2])?).unwrap();
/// assert_eq!(needed.to_string(), "s1 = 3*s2");
/// # Ok::<(), shapetracker::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Conditions {
    rank: usize,
    equations: Vec<Dims>,
}

impl Conditions {
    /// The equations, one coefficient for each stride: the sum of coefficient times stride is 0.
    ///
    /// ```
    /// use shapetracker::{View, conditions};
    ///
    /// let needed = conditions([2, 3], &View::contiguous([6])?).unwrap();
    /// assert_eq!(needed.equations()[0][..], [1, -3]);
    /// # Ok::<(), shapetracker::Error>(())
    /// ```
    pub fn equations(&self) -> &[Dims] {
        &self.equations
    }

    /// Whether strides satisfy all equations; false when their number is not the number of axes.
    ///
    /// ```
    /// use shapetracker::{View, conditions};
    ///
    /// let needed = conditions([4, 5], &View::contiguous([20])?).unwrap();
    /// assert!(needed.hold_for(&[5, 1]) && needed.hold_for(&[10, 2]));
    /// assert!(!needed.hold_for(&[1, 4]));
    /// # Ok::<(), shapetracker::Error>(())
    /// ```
    pub fn hold_for(&self, strides: &[i64]) -> bool {
        let sum = |coefficients: &Dims| {
            coefficients.iter().zip(strides).map(|(&c, &s)| i128::from(c) * i128::from(s)).sum::<i128>()
        };
        strides.len() == self.rank && self.equations.iter().all(|equation| sum(equation) == 0)
    }
}

/// The exact conditions on the strides of an earlier view of a shape for a later view to merge with it.
///
/// The earlier view has nothing masked. Its strides satisfy all of the equations exactly if
/// [`merge`](crate::merge()) gives a single view for the pair.
///
/// ```
/// use shapetracker::{View, conditions};
///
/// // Tables 1 and 2 of uit de Bos, Merging tensor views.
/// let table_1 = conditions([10, 3, 3], &View::new([4], [4], 0, None)?).unwrap();
/// assert_eq!(table_1.to_string(), "s1 = 2*s2 + 3*s3");
/// let table_2 = conditions([10, 3, 3], &View::new([6], [4], 0, None)?).unwrap();
/// assert_eq!(table_2.to_string(), "s1 = 3*s2, s2 = 3*s3");
/// # Ok::<(), shapetracker::Error>(())
/// ```
///
/// # Errors
/// [`Unanswered::Error`] when the later view reads outside the shape; [`Unanswered::Undecided`] at the work limit.
///
/// # Cost
/// Some microseconds for each pattern of carries that occurs; independent of the sizes.
///
/// # Source
/// uit de Bos, section 4. Each step of an index carries over some of the boundaries between the axes; a carry from
/// axis `j + 1` into axis `j` moves the address by `s[j] - size[j + 1] * s[j + 1]`, and steps along one axis must all
/// move it alike.
pub fn conditions(shape: impl AsRef<[i64]>, later: &View) -> Result<Conditions, Unanswered> {
    let shape = shape.as_ref();
    check_inside("conditions", later, checked_numel("conditions", shape)?)?;
    if later.is_empty() || shape.contains(&0) {
        return Ok(Conditions { rank: shape.len(), equations: Vec::new() });
    }
    // The axes that have a digit, innermost first, and the boundary above each of them but the last.
    let axes: SmallVec<[usize; 8]> = (0..shape.len()).rev().filter(|&axis| shape[axis] > 1).collect();
    let mut weights: SmallVec<[i64; 8]> = SmallVec::new();
    let mut weight = 1;
    for &axis in axes.iter().take(axes.len().saturating_sub(1)) {
        weight *= shape[axis];
        weights.push(weight);
    }
    // Everything is written in terms of the jumps over the boundaries: what a carry adds to the address.
    let mut unlike = UnlikeFirst { first: Vec::new(), rows: Rows { width: weights.len(), rows: Vec::new() } };
    let space = IndexBox::of(later);
    let mut work = Work::new();
    for (l, axis) in space.axes.iter().enumerate().filter(|(_, axis)| axis.size > 1) {
        let mut starts = space.clone();
        starts.restrict(l, 0, axis.size - 1);
        let (from, to) = (space.origin, space.origin + axis.stride);
        let first = weights.iter().map(|weight| i128::from(to / weight - from / weight - axis.stride / weight));
        unlike.first = first.collect();
        Steps { starts, stride: axis.stride, weights: &weights }.visit(&mut unlike, &mut work)?;
    }
    let equations = unlike.rows.rows.iter().map(|row| {
        // The jump over boundary j is the stride above it less the size below it times the stride below it.
        let mut coefficients: Vec<i128> = vec![0; shape.len()];
        for (j, &c) in row.iter().enumerate() {
            coefficients[axes[j + 1]] += c;
            coefficients[axes[j]] -= c * i128::from(shape[axes[j]]);
        }
        let narrow = coefficients.into_iter().map(|c| i64::try_from(c).ok()).collect::<Option<Dims>>();
        narrow.ok_or_else(|| Error::new("conditions", Fault::Overflow { what: "a coefficient" }))
    });
    let mut equations = equations.collect::<Result<Vec<Dims>, Error>>()?;
    sort_short_by_key(&mut equations, |row| row.iter().position(|&c| c != 0));
    Ok(Conditions { rank: shape.len(), equations })
}

/// Takes one row for each pattern of carries that some step has: where it differs from the first step of its axis. The
/// jumps must add up to 0 over that difference, or the two steps would move the address differently.
struct UnlikeFirst {
    /// The carries of the first step, 1 or -1 for each boundary over which it carries.
    first: Vec<i128>,
    rows: Rows,
}

impl Visitor for UnlikeFirst {
    /// Once there is a row for every jump all jumps are 0, and nothing new can come of any pattern.
    fn wants(&self, _: &[i64]) -> bool {
        self.rows.rows.len() < self.rows.width
    }

    fn meet(&mut self, carries: &[i64], _: Point) -> bool {
        self.rows.add(carries.iter().zip(&self.first).map(|(&carry, first)| i128::from(carry) - first).collect());
        false
    }
}

/// Independent rows over the jumps, in reduced row echelon form from the outermost boundary inwards.
struct Rows {
    width: usize,
    rows: Vec<Vec<i128>>,
}

impl Rows {
    fn lead(row: &[i128]) -> Option<usize> {
        row.iter().rposition(|&c| c != 0)
    }

    /// Adds a row if it is independent of those that are there.
    fn add(&mut self, mut row: Vec<i128>) {
        for known in &self.rows {
            Self::eliminate(&mut row, known);
        }
        if Self::lead(&row).is_none() {
            return;
        }
        for known in &mut self.rows {
            Self::eliminate(known, &row);
        }
        self.rows.push(row);
    }

    /// Clears the leading entry of `by` from a row, and divides the row by what its entries have in common.
    fn eliminate(row: &mut [i128], by: &[i128]) {
        let Some(lead) = Self::lead(by) else { return };
        let (a, b) = (row[lead], by[lead]);
        if a != 0 {
            for (x, y) in row.iter_mut().zip(by) {
                *x = *x * b - *y * a;
            }
        }
        let common = row.iter().fold(0, |g, &x| gcd(x.abs(), g));
        let sign = Self::lead(row).map_or(1, |lead| row[lead].signum());
        if common != 0 {
            row.iter_mut().for_each(|x| *x = *x / common * sign);
        }
    }
}

/// `s1 = 2*s2 + 3*s3, s2 = s4`; or `any strides`.
impl fmt::Display for Conditions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.equations.is_empty() {
            return f.write_str("any strides");
        }
        for (k, equation) in self.equations.iter().enumerate() {
            if k > 0 {
                f.write_str(", ")?;
            }
            let times = |c: i64, axis: usize| match c {
                1 => format!("s{}", axis + 1),
                -1 => format!("-s{}", axis + 1),
                _ => format!("{c}*s{}", axis + 1),
            };
            let mut terms = equation.iter().enumerate().filter(|(_, c)| **c != 0);
            let Some((axis, &lead)) = terms.next() else { continue };
            write!(f, "{} = ", times(lead.abs(), axis))?;
            let mut first = true;
            for (axis, &c) in terms {
                let c = c.wrapping_mul(-lead.signum());
                match (first, c < 0) {
                    (true, _) => write!(f, "{}", times(c, axis))?,
                    (false, false) => write!(f, " + {}", times(c, axis))?,
                    (false, true) => write!(f, " - {}", times(c.wrapping_neg(), axis))?,
                }
                first = false;
            }
            if first {
                f.write_str("0")?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::merge::merge;
    use crate::tests::Rng;

    #[test]
    fn strides_satisfy_the_conditions_exactly_if_the_pair_merges() {
        let mut rng = Rng(11);
        let mut counts = [0; 2];
        for _ in 0..3_000 {
            let shape: Vec<i64> = (0..1 + rng.below(3)).map(|_| 1 + rng.below(5) as i64).collect();
            let numel: i64 = shape.iter().product();
            let sizes: Vec<i64> = (0..1 + rng.below(2)).map(|_| 1 + rng.below(6) as i64).collect();
            let strides: Vec<i64> = sizes.iter().map(|_| rng.below(2 + numel as u64 / 2) as i64 - 1).collect();
            let later = View::new(&sizes, &strides, 0, None).unwrap();
            let (low, high) = later.address_range().unwrap();
            if high - low >= numel {
                continue;
            }
            let later = View::new(&sizes, &strides, -low, None).unwrap();
            let needed = conditions(&shape, &later).unwrap();
            for _ in 0..20 {
                let mut strides: Vec<i64> = shape.iter().map(|_| rng.below(12) as i64 - 3).collect();
                for axis in (0..shape.len() - 1).rev() {
                    if rng.below(2) == 0 {
                        strides[axis] = strides[axis + 1] * shape[axis + 1];
                    }
                }
                let earlier = View::new(&shape, &strides, 0, None).unwrap();
                let merges = merge(&earlier, &later).is_ok();
                assert_eq!(needed.hold_for(&strides), merges, "{earlier} {later}: {needed}");
                counts[usize::from(merges)] += 1;
            }
        }
        assert!(counts.iter().all(|&count| count > 3_000), "{counts:?}");
    }
}
