//! Which indices of the later view are valid in the earlier one, and are they a box?
//!
//! A masked digit of weight `P` and size `s` is valid where `y = x - W floor(x / W)`, with `W = P s`, lies in a band: its range
//! times `P`. Where the floor is affine on the box, so is `y`, and the band is cut along one axis or is no box.

use crate::answer::Reason;
use crate::decide::{Digit, Divided, Space};
use crate::poly::{Poly, TooLarge};
use crate::region::{Ask, Region, Stop};

/// The valid indices.
pub(crate) enum Valid {
    Empty,
    /// They are no box.
    Hole,
    Box(Space),
}

/// What one masked digit makes of a box.
enum Band {
    /// All of it is valid.
    Full,
    Empty,
    /// A smaller box, with the place of the axis that was cut.
    Cut(Space),
    /// No box, by what it does along these axes.
    Hole(Vec<usize>),
}

/// The valid indices of a box, if they are one.
pub(crate) fn valid_box(region: &Region, digits: &[Digit], mut space: Space) -> Ask<Valid> {
    let masked: Vec<usize> = (0..digits.len()).filter(|&place| digits[place].range.is_some()).collect();
    'again: for _ in 0..12 {
        let mut holes: Vec<Vec<usize>> = Vec::new();
        let mut blocked: Option<Stop> = None;
        // Outer digits first: what they leave may hold inner ones together.
        for &place in masked.iter().rev() {
            let outermost = place + 1 == digits.len();
            match band(region, &digits[place], outermost, &space) {
                Ok(Band::Full) => {}
                Ok(Band::Empty) => return Ok(Valid::Empty),
                Ok(Band::Cut(smaller)) => {
                    space = smaller;
                    continue 'again;
                }
                Ok(Band::Hole(axes)) => holes.push(axes),
                Err(stop) => {
                    blocked.get_or_insert(stop);
                }
            }
        }
        if let Some(stop) = blocked {
            return Err(stop);
        }
        return match &holes[..] {
            [] => Ok(Valid::Box(space)),
            [_] => Ok(Valid::Hole),
            // Bands on different axes have their holes independently of each other.
            _ if holes.iter().enumerate().all(|(place, axes)| {
                holes[..place].iter().all(|other| other.iter().all(|axis| !axes.contains(axis)))
            }) =>
            {
                Ok(Valid::Hole)
            }
            _ => Err(Stop::Undecided(Reason::Mask)),
        };
    }
    Err(Stop::Undecided(Reason::Mask))
}

/// What one masked digit makes of a box.
fn band(region: &Region, digit: &Digit, outermost: bool, space: &Space) -> Ask<Band> {
    let Some((begin, end)) = &digit.range else { return Ok(Band::Full) };
    let whole = digit.weight.mul(&digit.size)?;
    // The remainder by the digit's upper boundary, and how it moves along each axis: up, down or not at all.
    let mut origin = space.origin.clone();
    let mut moves: Vec<(usize, Poly, bool)> = Vec::new();
    if outermost {
        for (place, axis) in space.axes.iter().enumerate() {
            if axis.count.is_one() || axis.step.is_zero() {
                continue;
            }
            let up = match region.known_ge(&axis.step) {
                Some(up) => up,
                None if region.known_ge(&axis.step.neg()?) == Some(true) => false,
                None => region.ask_ge(&axis.step)?,
            };
            moves.push((place, axis.step.clone(), up));
        }
    } else {
        let divided = Divided::of(region, space, &whole)?;
        for slack in divided.slack(&whole)? {
            if !region.ask_ge(&slack)? {
                // The band wraps: a box only if all of the digit is valid, or by coincidence.
                let all = region.ask_eq(begin)? && region.ask_eq(&digit.size.sub(end)?)?;
                return if all { Ok(Band::Full) } else { Err(Stop::Undecided(Reason::Mask)) };
            }
        }
        for (place, ((_, by), uneven)) in divided.axes.iter().zip(&divided.uneven).enumerate() {
            if *uneven != 0 {
                moves.push((place, by.clone(), *uneven > 0));
            }
        }
        origin = divided.origin.remainder;
    }
    let (low, high) = (begin.mul(&digit.weight)?, end.mul(&digit.weight)?);
    let (mut least, mut reach) = (origin, Poly::zero());
    for (place, by, up) in &mut moves {
        let further = by.mul(&space.axes[*place].count.plus_number(-1)?)?;
        if *up {
            reach = reach.add(&further)?;
        } else {
            least = least.add(&further)?;
            reach = reach.sub(&further)?;
            *by = by.neg()?;
        }
    }
    // Every remainder lies in `0..whole`, so that an end of the digit cuts nothing.
    let from_start = begin.is_zero() || region.ask_ge(&least.sub(&low)?)?;
    let most = least.add(&reach)?;
    let to_end = *end == digit.size || region.ask_ge(&high.sub(&most)?.plus_number(-1)?)?;
    if from_start && to_end {
        return Ok(Band::Full);
    }
    if !from_start && !region.ask_ge(&most.sub(&low)?)? {
        return Ok(Band::Empty);
    }
    if !to_end && !region.ask_ge(&high.sub(&least)?.plus_number(-1)?)? {
        return Ok(Band::Empty);
    }
    // Cut along the axis with the largest steps: the last one that is larger than another at the points of the region.
    moves.retain(|(place, _, _)| !space.axes[*place].count.is_one());
    let size_at = |by: &Poly| region.samples().first().and_then(|point| by.eval(point)).unwrap_or(0);
    let mut order: Vec<usize> = (0..moves.len()).collect();
    order.sort_by_key(|&place| std::cmp::Reverse(size_at(&moves[place].1)));
    let mut stop: Option<Stop> = None;
    for &chosen in order.iter().take(3) {
        let (place, by, up) = &moves[chosen];
        // An axis along which nothing moves here has no rows to tell apart.
        match region.ask_ge(&by.plus_number(-1)?) {
            Ok(true) => {}
            Ok(false) => continue,
            Err(why) => {
                stop.get_or_insert(why);
                continue;
            }
        }
        let rows = Rows { region, least: &least, reach: &reach, by, count: &space.axes[*place].count };
        match rows.cut((!from_start).then_some(&low), (!to_end).then_some(&high)) {
            Ok(Cut::Range(begin, end)) => return Ok(range(space, *place, *up, begin, end)?),
            Ok(Cut::Hole) => return Ok(Band::Hole(moves.iter().map(|moved| moved.0).collect())),
            Ok(Cut::Empty) => return Ok(Band::Empty),
            Err(why) => {
                stop.get_or_insert(why);
            }
        }
    }
    Err(stop.unwrap_or(Stop::Undecided(Reason::Mask)))
}

/// The box with an axis cut to a range of its indices as they count upwards.
fn range(space: &Space, place: usize, up: bool, begin: Poly, end: Poly) -> Result<Band, TooLarge> {
    let mut smaller = space.clone();
    let axis = &mut smaller.axes[place];
    let first = if up { begin.clone() } else { axis.count.sub(&end)? };
    axis.count = end.sub(&begin)?;
    axis.first = axis.first.add(&first)?;
    smaller.origin = smaller.origin.add(&first.mul(&smaller.axes[place].step)?)?;
    Ok(Band::Cut(smaller))
}

enum Cut {
    Range(Poly, Poly),
    Hole,
    Empty,
}

/// A box as rows along one axis: the values of row `k` are `least + by k` and up to `inner` more.
struct Rows<'a> {
    region: &'a Region,
    least: &'a Poly,
    reach: &'a Poly,
    by: &'a Poly,
    count: &'a Poly,
}

impl Rows<'_> {
    /// Which rows are valid: below `high` and from `low` on, where these cut anything.
    fn cut(&self, low: Option<&Poly>, high: Option<&Poly>) -> Ask<Cut> {
        let region = self.region;
        let inner = self.reach.sub(&self.by.mul(&self.count.plus_number(-1)?)?)?;
        // Rows that have something valid, and rows that are valid.
        let (mut some, mut all) = ((Poly::zero(), self.count.clone()), (Poly::zero(), self.count.clone()));
        if let Some(low) = low {
            let above = low.sub(self.least)?;
            some.0 = self.clamped(&above.sub(&inner)?)?;
            all.0 = self.clamped(&above)?;
        }
        if let Some(high) = high {
            let below = high.sub(self.least)?;
            some.1 = self.clamped(&below)?;
            all.1 = self.clamped(&below.sub(&inner)?)?;
        }
        let rows = some.1.sub(&some.0)?;
        if !region.ask_ge(&rows.plus_number(-1)?)? {
            return Ok(Cut::Empty);
        }
        let one = region.known_eq(&self.count.plus_number(-1)?) == Some(true);
        let same = |a: &Poly, b: &Poly| a.sub(b).map(|rest| region.known_eq(&rest));
        if same(&some.0, &all.0)? == Some(true) && same(&some.1, &all.1)? == Some(true) {
            return Ok(Cut::Range(some.0, some.1));
        }
        // One row has something valid: the box is that row, and is looked at again.
        if region.known_eq(&rows.plus_number(-1)?) == Some(true) && !one {
            return Ok(Cut::Range(some.0, some.1));
        }
        // A row that is valid beside one that is valid in part: every index of a box has all others beside it.
        let full = all.1.sub(&all.0)?.plus_number(-1)?;
        if region.ask_ge(&full)? {
            for (a, b) in [(&some.0, &all.0), (&some.1, &all.1)] {
                if !region.ask_eq(&a.sub(b)?)? {
                    return Ok(Cut::Hole);
                }
            }
            return Ok(Cut::Range(some.0, some.1));
        }
        if region.ask_eq(&rows.plus_number(-1)?)? && !one {
            return Ok(Cut::Range(some.0, some.1));
        }
        Err(Stop::Undecided(Reason::Mask))
    }

    /// A distance in rows, rounded up, as far as there are rows.
    fn clamped(&self, distance: &Poly) -> Ask<Poly> {
        let region = self.region;
        // Rounded up: minus the quotient of minus the distance, rounded down.
        if !region.ask_ge(&distance.plus_number(-1)?)? {
            return Ok(Poly::zero());
        }
        let all = self.by.mul(&self.count.plus_number(-1)?)?;
        if region.ask_ge(&distance.sub(&all)?.plus_number(-1)?)? {
            return Ok(self.count.clone());
        }
        Ok(region.divide(&distance.neg()?, self.by)?.quotient.neg()?)
    }
}
