//! Composition: the layout that does what two layouts do, one after the other.

use shapetracker::{AffineRun, Dims, Unsplit, View, affine_runs};

use crate::error::Fault;
use crate::profile::Profile;
use crate::{Error, IntTuple, Layout};

/// Why there is no layout that does what two layouts do, one after the other.
///
/// Of `A` and `B` it must have the shape of `B`, in which a number may become a tuple with the same product. Each no
/// has evidence that a few values of `A(B(..))` show; leaves are those of `B`, counted from the left.
///
/// ```
/// use shapetracker_cute::{Layout, NoComposition};
///
/// let a: Layout = "(6,2):(1,7)".parse()?;
/// let why = a.compose(&"(3,2):(2,3)".parse()?).unwrap_err();
/// assert_eq!(why, NoComposition::Interact { coordinate: (2, 1).into(), value: 8, sum: 7 });
/// assert_eq!(
///     why.to_string(),
///     "at coordinate (2,1) the value is 8, but the values at (2,0) and (0,1) add up to 7; in a layout the two would be equal",
/// );
/// # Ok::<(), shapetracker_cute::ParseError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NoComposition {
    /// `B` has a value that is no number that `A` takes: a negative one, or one past the last of a strict `A`.
    #[error("at coordinate {coordinate} of the second layout the value is {value}, {}", outside(*.value, *.size))]
    Outside {
        /// A number that `B` takes.
        coordinate: i64,
        /// Its value.
        value: i64,
        /// How many coordinates `A` has.
        size: i64,
    },
    /// At the multiples of `unit` of a leaf the values are affine for `run` numbers and not for one more, so that a
    /// mode must have size `run`; but it does not divide the `left` numbers that there are.
    #[error("along leaf {leaf}, {}", length([*.unit, *.run, *.left], ["values", "number"], [i128::from(*.value), *.expected]))]
    Length {
        /// The leaf of `B`.
        leaf: usize,
        /// The product of the modes that are found on the leaf before.
        unit: i64,
        /// The size that the next mode must have.
        run: i64,
        /// How many multiples of `unit` the leaf has.
        left: i64,
        /// The coordinate at which the values are affine no longer: `run` times `unit` on the leaf, and 0 elsewhere.
        coordinate: IntTuple,
        /// The value there.
        value: i64,
        /// What it would be if the values were affine as before.
        expected: i128,
    },
    /// Along one leaf the modes must have the sizes `runs`, from the innermost on, because the values are affine so far
    /// and no further; but at `number` the value is not the sum that they make.
    #[error(
        "along leaf {leaf} the only possible modes have sizes {runs:?}; they would give {sum} at {number}, but the value there is \
         {value}"
    )]
    Mode {
        /// The leaf of `B`.
        leaf: usize,
        /// The sizes that the modes must have.
        runs: Dims,
        /// A number of the leaf.
        number: i64,
        /// The value there.
        value: i64,
        /// What the modes would make of it.
        sum: i64,
    },
    /// Each leaf by itself has modes, but the value at a coordinate is not the sum of those at its entries.
    #[error(
        "at coordinate {coordinate} the value is {value}, but the values at {} add up to {sum}; in a layout the two would be equal",
        projections(.coordinate)
    )]
    Interact {
        /// A coordinate of `B`.
        coordinate: IntTuple,
        /// The value there.
        value: i64,
        /// The sum of the values at its entries, the others 0.
        sum: i128,
    },
    /// The decision was given up at its work limit, which takes input made for it.
    #[error("whether the composition is a layout was not decided within the work limit")]
    Undecided,
    /// A number is past `i64`, or the result has too many leaves.
    #[error(transparent)]
    Error(#[from] Error),
}

/// Why a layout of so many coordinates does not take a number.
fn outside(value: i64, size: i64) -> String {
    match (value, size) {
        (..0, _) => "which is negative".into(),
        (_, 0) => "but the first layout has no coordinate".into(),
        (_, 1) => "but the first layout has only 1 coordinate".into(),
        _ => format!("but the first layout has only {size} coordinates"),
    }
}

/// What is said of a mode whose size does not divide what there is, of the values of numbers along a leaf or the
/// addresses of elements along an axis.
pub(crate) fn length([unit, run, left]: [i64; 3], [values, number]: [&str; 2], [value, expected]: [i128; 2]) -> String {
    format!(
        "in steps of {unit}, the {values} rise evenly for {run} {number}s: {number} {run} has {value}, not {expected}. A mode must \
         end there, but {run} does not divide {left}"
    )
}

/// The coordinates that have one of the entries of a coordinate, and 0 elsewhere: `(2,0) and (0,1)`.
fn projections(coordinate: &IntTuple) -> String {
    let of = |leaf: usize| coordinate.projection(leaf).to_string();
    let all: Vec<String> = (0..coordinate.leaves.len()).filter(|&leaf| coordinate.leaves[leaf] != 0).map(of).collect();
    match &all[..] {
        [before @ .., last] if !before.is_empty() => format!("{} and {last}", before.join(", ")),
        all => all.join(""),
    }
}

impl IntTuple {
    /// The tuple with one of its entries, and 0 in place of the others.
    fn projection(&self, leaf: usize) -> IntTuple {
        let mut leaves = Dims::from_elem(0, self.leaves.len());
        leaves[leaf] = self.leaves[leaf];
        IntTuple { leaves, profile: self.profile.clone() }
    }
}

impl NoComposition {
    /// [`NoComposition::Length`] for the values of a leaf of a layout: `value` has those at its multiples of `unit`.
    pub(crate) fn length(
        profile: &Profile,
        leaf: usize,
        [unit, run, left]: [i64; 3],
        value: impl Fn(i64) -> Option<i64>,
    ) -> NoComposition {
        let Some((step, end)) = value(1).zip(value(run)) else {
            return Error::new("compose", Fault::Overflow { what: "a value" }).into();
        };
        let mut leaves = Dims::from_elem(0, profile.leaves());
        leaves[leaf] = unit * run;
        let coordinate = IntTuple { leaves, profile: profile.clone() };
        let expected = i128::from(step) * i128::from(run);
        NoComposition::Length { leaf, unit, run, left, coordinate, value: end, expected }
    }
}

impl From<shapetracker::Error> for NoComposition {
    fn from(err: shapetracker::Error) -> Self {
        NoComposition::Error(err.into())
    }
}

impl Layout {
    /// The layout with the shape of `other`, up to numbers that become tuples, and the values `self(other(..))`; or the
    /// reason why there is none. The last mode of `self` goes on for ever, as it does in CuTe.
    ///
    /// The answer is complete: a layout is found wherever there is one, with the fewest modes in each leaf, and nothing
    /// is ever answered that has other values. CuTe's own rule asks for sizes and strides that divide each other, which
    /// is neither necessary nor, for several modes, sufficient.
    ///
    /// ```
    /// use shapetracker_cute::Layout;
    ///
    /// let a: Layout = "(6,2):(8,2)".parse()?;
    /// let b: Layout = "(4,3):(3,1)".parse()?;
    /// assert_eq!(a.compose(&b).unwrap().to_string(), "((2,2),3):((24,2),8)");
    ///
    /// // Nothing divides here, and two carries cancel.
    /// let a: Layout = "(4,9,10):(13,11,140)".parse()?;
    /// assert_eq!(a.compose(&"6:9".parse()?).unwrap().to_string(), "6:35");
    /// # Ok::<(), shapetracker_cute::ParseError>(())
    /// ```
    ///
    /// # Errors
    /// [`NoComposition`], with evidence.
    ///
    /// # Cost
    /// Less than a microsecond for most pairs; it does not depend on the sizes.
    ///
    /// # Source
    /// Each leaf of `other` is split at its longest affine runs, which is a layout if any split is
    /// ([`affine_runs`]); then it is the question whether two strided views are one.
    pub fn compose(&self, other: &Layout) -> Result<Layout, NoComposition> {
        self.composed(other, false)
    }

    /// [`Layout::compose`] where `self` ends with its last coordinate: a value of `other` past it is refused.
    ///
    /// ```
    /// use shapetracker_cute::{Layout, NoComposition};
    ///
    /// let a: Layout = "(4,1):(1,7)".parse()?;
    /// let b: Layout = "8:1".parse()?;
    /// assert_eq!(a.compose(&b).unwrap().to_string(), "(4,2):(1,7)");
    /// assert_eq!(a.compose_strict(&b).unwrap_err(), NoComposition::Outside { coordinate: 7, value: 7, size: 4 });
    /// # Ok::<(), shapetracker_cute::ParseError>(())
    /// ```
    ///
    /// # Errors
    /// [`NoComposition`], with evidence.
    pub fn compose_strict(&self, other: &Layout) -> Result<Layout, NoComposition> {
        self.composed(other, true)
    }

    // Proved: `compose_layouts_exact`, `compose_layouts_coarsest` in `proofs/Cute.v`.
    fn composed(&self, other: &Layout, strict: bool) -> Result<Layout, NoComposition> {
        if other.is_empty() {
            return Ok(Layout { strides: Dims::from_elem(0, other.sizes.len()), ..other.clone() });
        }
        let earlier = self.positions(other, strict)?;
        let later = View::new(&other.sizes, &other.strides, 0, None)?;
        match affine_runs(&earlier, &later) {
            Ok(found) => {
                let parts = (0..other.sizes.len()).map(|leaf| found.runs.iter().filter(|run| run.axis == leaf).count());
                let profile = other.profile.with_leaves_split(parts);
                let (sizes, strides) = found.runs.iter().map(|run| (run.size, run.stride)).unzip();
                Ok(Layout::checked(Dims::from_vec(sizes), Dims::from_vec(strides), profile)?)
            }
            Err(Unsplit::Length { axis: leaf, unit, run, left }) => {
                let step = other.strides[leaf].saturating_mul(unit);
                let value = |x: i64| step.checked_mul(x).and_then(|x| self.at_extended(x));
                Err(NoComposition::length(&other.profile, leaf, [unit, run, left], value))
            }
            Err(Unsplit::Sum { runs, index, address, .. }) => Err(self.uneven(other, &runs, &index, address)),
            Err(Unsplit::Error(err)) => Err(err.into()),
            Err(_) => Err(NoComposition::Undecided),
        }
    }

    /// The layout as a view of the numbers that the values of another are, which has coordinates: axes outermost first,
    /// and no longer than they reach.
    // Proved: `inside_iff`, `extended_agrees`, `reached_agrees` in `proofs/Cute.v`.
    pub(crate) fn positions(&self, other: &Layout, strict: bool) -> Result<View, NoComposition> {
        let (mut weight, size) = (1, self.size());
        for (size_of_leaf, stride) in other.leaves() {
            if size_of_leaf > 1 && stride < 0 {
                return Err(NoComposition::Outside { coordinate: weight, value: stride, size });
            }
            weight *= size_of_leaf;
        }
        let last = other.range().map_or(0, |(_, high)| high);
        // The last mode goes on for ever, whatever its size; if another one has no coordinate, or there is no mode, it
        // makes nothing of it.
        let is_past = match self.sizes.split_last() {
            Some((_, before)) => before.contains(&0),
            None => last > 0,
        };
        if is_past || (strict && last >= size) {
            return Err(NoComposition::Outside { coordinate: other.size() - 1, value: last, size });
        }
        let (mut sizes, mut strides, mut weight) = (Dims::new(), Dims::new(), 1i64);
        for (leaf, (size, stride)) in self.leaves().enumerate() {
            // What lies past the last number that is asked for is left out; what would end before it is the last mode.
            let reached = last / weight;
            let goes_on = leaf + 1 < self.sizes.len() && reached >= size;
            let past = || Error::new("compose", Fault::Overflow { what: "the number of values that are reached" });
            let size = if goes_on { size } else { reached.checked_add(1).ok_or_else(past)? };
            sizes.insert(0, size);
            strides.insert(0, stride);
            if !goes_on {
                break;
            }
            weight *= size;
        }
        Ok(View::new(sizes, strides, 0, None)?)
    }

    /// What a coordinate of another layout shows, at which the value is not the sum that the runs of its leaves make.
    fn uneven(&self, other: &Layout, runs: &[AffineRun], index: &[i64], value: i64) -> NoComposition {
        let mut sum = 0;
        for (leaf, (&entry, &stride)) in index.iter().zip(&other.strides).enumerate() {
            let Some(alone) = stride.checked_mul(entry).and_then(|number| self.at_extended(number)) else {
                return Error::new("compose", Fault::Overflow { what: "a value" }).into();
            };
            let mut rest = entry;
            let runs = runs.iter().filter(|run| run.axis == leaf);
            let parts = runs.clone().map(|run| {
                let digit = rest % run.size;
                rest /= run.size;
                i128::from(digit) * i128::from(run.stride)
            });
            let parts = parts.sum::<i128>();
            if parts != i128::from(alone) {
                let Ok(sum) = i64::try_from(parts) else {
                    return Error::new("compose", Fault::Overflow { what: "a value" }).into();
                };
                let runs = runs.map(|run| run.size).collect();
                return NoComposition::Mode { leaf, runs, number: entry, value: alone, sum };
            }
            sum += parts;
        }
        let coordinate = IntTuple { leaves: index.into(), profile: other.profile.clone() };
        NoComposition::Interact { coordinate, value, sum }
    }
}
