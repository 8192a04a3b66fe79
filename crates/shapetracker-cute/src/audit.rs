//! Is a layout that some other tool printed the composition that it should be?

use std::fmt;

use shapetracker::{ShapeTracker, Unanswered, View};

use crate::error::Fault;
use crate::swizzle::MOST_VALUES;
use crate::{ComposedLayout, Error, Layout, NoComposition};

/// The first number at which a layout is not what two layouts do, one after the other.
///
/// ```
/// use shapetracker_cute::{Layout, Mismatch, audit};
///
/// let [a, b, claimed] = ["(4,6,8):(2,3,5)", "6:3", "(2,3):(6,3)"].map(|text| text.parse::<Layout>().unwrap());
/// let mismatch = audit(&a, &b, &claimed).unwrap().unwrap();
/// assert_eq!(mismatch, Mismatch { coordinate: 2, expected: Some(7), found: Some(3) });
/// assert_eq!(mismatch.to_string(), "at coordinate 2 the composition is 7, but the claimed layout is 3");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Mismatch {
    /// The number.
    pub coordinate: i64,
    /// The value of the composition there; nothing where it has ended.
    pub expected: Option<i64>,
    /// The value of the claimed layout there; nothing where it has ended.
    pub found: Option<i64>,
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let said = |value: Option<i64>| value.map_or("has ended".to_owned(), |value| format!("is {value}"));
        let Mismatch { coordinate, expected, found } = *self;
        write!(
            f,
            "at coordinate {coordinate} the composition {}, but the claimed layout {}",
            said(expected),
            said(found)
        )
    }
}

/// How many numbers are looked at before anything is proved.
const LOOKED_AT: i64 = 64;

/// The first number, in colexicographic order, at which a layout `r` is not `a(b(..))`; nothing where it is the same
/// function.
///
/// This is another question than whether the composition is a layout ([`Layout::compose`]): it is about the one that
/// some other tool has printed. Only its values count, not its parentheses; the last mode of `a` goes on for ever.
///
/// ```
/// use shapetracker_cute::{Layout, audit};
///
/// let [a, b, claimed] = ["(6,2):(8,2)", "(4,3):(3,1)", "((2,2),3):((24,2),8)"].map(|text| text.parse::<Layout>().unwrap());
/// assert_eq!(audit(&a, &b, &claimed).unwrap(), None);
/// ```
///
/// # Errors
/// [`NoComposition::Outside`] where `b` has a value that `a` does not take; [`NoComposition::Undecided`] and
/// [`NoComposition::Error`] at a limit. That the composition is no layout is no error here.
///
/// # Cost
/// That of a composition. Where it is no layout, and differs from the claimed one at none of the first numbers, up to
/// 64 questions about equality of trackers.
pub fn audit(a: &Layout, b: &Layout, r: &Layout) -> Result<Option<Mismatch>, NoComposition> {
    let expected = |x: i64| b.at(x).and_then(|x| a.at_extended(x));
    let mismatch = |coordinate: i64| Mismatch { coordinate, expected: expected(coordinate), found: r.at(coordinate) };
    match a.compose(b) {
        Ok(composed) => return Ok(composed.difference(r).map(mismatch)),
        Err(NoComposition::Length { .. } | NoComposition::Mode { .. } | NoComposition::Interact { .. }) => {}
        Err(err) => return Err(err),
    }
    let common = b.size().min(r.size());
    if let Some(x) = (0..common.min(LOOKED_AT)).find(|&x| expected(x) != r.at(x)) {
        return Ok(Some(mismatch(x)));
    }
    // Both as lists of values; the first place at which they differ is closed in on by asking about their beginnings.
    let flat = |views: Vec<View>, size: i64| ShapeTracker::from_views(views)?.reshape([size]);
    let ours = flat(vec![a.positions(b, false)?, b.reversed()?], b.size())?;
    let theirs = flat(vec![r.reversed()?], r.size())?;
    let difference = |end: i64| -> Result<Option<i64>, NoComposition> {
        let [ours, theirs] = [&ours, &theirs].map(|tracker| tracker.shrink([(0, end)]));
        match ours?.difference(&theirs?) {
            Ok(index) => Ok(index.map(|index| index[0])),
            Err(Unanswered::Error(err)) => Err(err.into()),
            Err(_) => Err(NoComposition::Undecided),
        }
    };
    let Some(mut found) = difference(common)? else {
        return Ok((b.size() != r.size()).then(|| mismatch(common)));
    };
    let mut same = common.min(LOOKED_AT);
    while same < found {
        let middle = same + (found - same) / 2;
        match difference(middle + 1)? {
            Some(earlier) => found = earlier,
            None => same = middle + 1,
        }
    }
    Ok(Some(mismatch(found)))
}

impl ComposedLayout {
    /// [`audit`] under a swizzle: the first number at which a claimed layout is not this one at the values of `b`.
    ///
    /// ```
    /// use shapetracker_cute::{ComposedLayout, Layout, Mismatch};
    ///
    /// let tile: ComposedLayout = "Sw<3,0,3> o 0 o (8,8):(8,1)".parse()?;
    /// let rows: Layout = "(8,4):(1,8)".parse()?;
    /// assert_eq!(tile.audit(&rows, &"Sw<3,0,3> o 0 o (8,4):(8,1)".parse()?).unwrap(), None);
    /// let at = tile.audit(&rows, &"(8,4):(8,1)".parse()?).unwrap();
    /// assert_eq!(at, Some(Mismatch { coordinate: 1, expected: Some(9), found: Some(8) }));
    /// # Ok::<(), shapetracker_cute::ParseError>(())
    /// ```
    ///
    /// # Errors
    /// As [`audit`]; [`NoComposition::Undecided`] also where the claimed layout is under another swizzle or offset, and
    /// the two are equal at the first 65,536 numbers, and have more.
    ///
    /// # Cost
    /// That of [`audit`] under the same swizzle and offset; under others, that of as many values.
    ///
    /// # Source
    /// A swizzle is a permutation: under the same one two layouts differ where they do without it.
    pub fn audit(&self, b: &Layout, claimed: &ComposedLayout) -> Result<Option<Mismatch>, NoComposition> {
        if (self.swizzle, self.offset) == (claimed.swizzle, claimed.offset) {
            let Some(mismatch) = audit(&self.layout, b, &claimed.layout)? else { return Ok(None) };
            let moved = |value: Option<i64>| value.map(|value| self.moved(value)).transpose();
            let (expected, found) = (moved(mismatch.expected)?, moved(mismatch.found)?);
            return Ok(Some(Mismatch { expected, found, ..mismatch }));
        }
        match self.layout.compose(b) {
            Ok(_) | Err(NoComposition::Length { .. } | NoComposition::Mode { .. } | NoComposition::Interact { .. }) => {
            }
            Err(err) => return Err(err),
        }
        let size = b.size().max(claimed.layout.size());
        for coordinate in 0..size.min(MOST_VALUES) {
            let value = b.at(coordinate).and_then(|x| self.layout.at_extended(x));
            let expected = value.map(|value| self.moved(value)).transpose()?;
            let found = claimed.at(coordinate);
            if expected != found {
                return Ok(Some(Mismatch { coordinate, expected, found }));
            }
        }
        if size > MOST_VALUES { Err(NoComposition::Undecided) } else { Ok(None) }
    }

    /// Where a value of the layout, which may be past its end, is moved.
    fn moved(&self, value: i64) -> Result<i64, Error> {
        let address = value.checked_add(self.offset);
        let past = || Error::new("audit", Fault::Overflow { what: "an address" });
        Ok(self.swizzle.apply(address.ok_or_else(past)?))
    }
}
