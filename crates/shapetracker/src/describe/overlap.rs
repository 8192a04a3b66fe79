//! Whether two layouts of one buffer share an address.

use std::fmt;

use shapetracker_base::int::gcd;
use shapetracker_base::text::tuple;

use crate::merge::stack::Stacked;
use crate::merge::work::Work;
use crate::{Dims, ShapeTracker, Undecided, View};

/// Whether two layouts of one buffer share an address, by [`ShapeTracker::overlap`].
///
/// ```
/// use shapetracker::ShapeTracker;
///
/// let x = ShapeTracker::contiguous([6, 8])?;
/// let (left, right) = (x.shrink([(0, 6), (0, 5)])?, x.shrink([(0, 6), (4, 8)])?);
/// let found = left.overlap(&right)?;
/// assert_eq!(found.to_string(), "element (0, 4) of the first and element (0, 0) of the second lie at address 4");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Overlap {
    /// They share no address.
    Apart(Apart),
    /// They share this one.
    Shared {
        /// An index of each.
        indices: [Dims; 2],
        /// The address that both read.
        address: i64,
    },
}

/// Why two layouts share no address.
///
/// ```
/// use shapetracker::ShapeTracker;
/// use shapetracker::describe::{Apart, Overlap};
///
/// let x = ShapeTracker::contiguous([8])?;
/// let (even, odd) = (x.step([2])?, x.shrink([(1, 8)])?.step([2])?);
/// assert_eq!(even.overlap(&odd)?, Overlap::Apart(Apart::Residues { modulus: 2, residues: [0, 1] }));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Apart {
    /// One of them reads nothing.
    Nothing,
    /// One ends before the other begins.
    Ranges {
        /// The lowest and the highest address of each.
        ranges: [(i64, i64); 2],
    },
    /// Their addresses leave different remainders.
    Residues {
        /// What is divided by.
        modulus: i64,
        /// The remainder of every address of each.
        residues: [i64; 2],
    },
    /// The equation that both have one address has no solution: all of it was searched.
    Searched,
}

impl fmt::Display for Overlap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Overlap::Apart(why) => write!(f, "they share no address: {why}"),
            Overlap::Shared { indices: [a, b], address } => {
                let (a, b) = (tuple(a), tuple(b));
                write!(f, "element {a} of the first and element {b} of the second lie at address {address}")
            }
        }
    }
}

impl fmt::Display for Apart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Apart::Nothing => f.write_str("one of them reads nothing"),
            Apart::Ranges { ranges: [(a, b), (c, d)] } => {
                write!(f, "the first reads addresses {a} to {b}, the second {c} to {d}")
            }
            Apart::Residues { modulus, residues: [a, b] } => write!(
                f,
                "divided by {modulus}, every address of the first leaves {a}, and every one of the second {b}"
            ),
            Apart::Searched => f.write_str("the equation that an address of both solves has no solution"),
        }
    }
}

impl ShapeTracker {
    /// Whether an element of this tracker and an element of another one read the same address, of one buffer: which, or why
    /// none do.
    ///
    /// ```
    /// use shapetracker::ShapeTracker;
    /// use shapetracker::describe::Overlap;
    ///
    /// // A matrix and its transpose, but for the diagonal of 2^40 elements: rows 0 to 3 against columns 4 to 7.
    /// let x = ShapeTracker::contiguous([1 << 20, 1 << 20])?;
    /// let (rows, columns) = (x.shrink([(0, 4), (0, 4)])?, x.shrink([(0, 1 << 20), (4, 8)])?);
    /// assert!(matches!(rows.overlap(&columns)?, Overlap::Apart(_)));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`Undecided`] at the work limit, for layouts of more than 2^22 elements.
    ///
    /// # Cost
    /// That of one bounded linear equation. What that leaves open is found by going through the elements, of which there may be
    /// 2^22 in each.
    pub fn overlap(&self, other: &ShapeTracker) -> Result<Overlap, Undecided> {
        let (Some(a), Some(b)) = (self.address_range()?, other.address_range()?) else {
            return Ok(Overlap::Apart(Apart::Nothing));
        };
        if a.1 < b.0 || b.1 < a.0 {
            return Ok(Overlap::Apart(Apart::Ranges { ranges: [a, b] }));
        }
        if let Some(apart) = residues(&self.views()[0], &other.views()[0]) {
            return Ok(Overlap::Apart(apart));
        }
        let (Some(first), Some(second)) = (Stacked::of(self.views()), Stacked::of(other.views())) else {
            return Ok(Overlap::Apart(Apart::Nothing));
        };
        let found = match first.meeting(&second, &mut Work::new()) {
            Ok(found) => found,
            Err(_) => self.walked_meeting(other).ok_or(Undecided)?,
        };
        let shared = |indices: [Dims; 2]| {
            // Both indices are valid.
            let address = self.address(&indices[0]).unwrap_or_default();
            Overlap::Shared { indices, address }
        };
        Ok(found.map_or(Overlap::Apart(Apart::Searched), shared))
    }

    /// [`Stacked::meeting`] by going through the elements; `None` where they are too many.
    fn walked_meeting(&self, other: &ShapeTracker) -> Option<Option<[Dims; 2]>> {
        const MOST: i64 = 1 << 22;
        if self.numel().max(other.numel()) > MOST {
            return None;
        }
        let read: std::collections::HashSet<i64> = other.addresses().flatten().collect();
        let Some(address) = self.addresses().flatten().find(|address| read.contains(address)) else {
            return Some(None);
        };
        let first = |st: &ShapeTracker| {
            let position = st.addresses().position(|found| found == Some(address))?;
            Some(crate::shape::unravel(position as i64, st.shape()))
        };
        Some(Some([first(self)?, first(other)?]))
    }
}

/// The remainders of all addresses of two views, where they are never the same.
fn residues(a: &View, b: &View) -> Option<Apart> {
    // Every valid index moves the address from the first one by multiples of the strides along which there are several.
    let of = |view: &View, sum: i128| {
        let moving = (0..view.rank()).filter(|&axis| view.range(axis).1 - view.range(axis).0 > 1);
        moving.fold(sum, |sum, axis| gcd(sum, view.strides()[axis].into()))
    };
    let first = |view: &View| {
        let at = |axis: usize| i128::from(view.range(axis).0) * i128::from(view.strides()[axis]);
        i128::from(view.offset()) + (0..view.rank()).map(at).sum::<i128>()
    };
    let modulus = i64::try_from(of(b, of(a, 0))).ok().filter(|&modulus| modulus > 1)?;
    let residues = [a, b].map(|view| first(view).rem_euclid(modulus.into()) as i64);
    (residues[0] != residues[1]).then_some(Apart::Residues { modulus, residues })
}
