//! Is a pair of views one view, for all values of a region?
//!
//! The integer decision with polynomials for numbers: the earlier view splits a position into digits, and a floor at each
//! boundary between digits either is affine on the box of indices or carries unevenly. Every comparison is put to the
//! region, which proves it, refutes it or asks for cases.

mod patterns;
mod refute;
mod validity;

use smallvec::SmallVec;

use crate::answer::{Reason, Verdict};
use crate::literal::Literal;
use crate::poly::{Poly, TooLarge};
use crate::region::divide::Division;
use crate::region::{Ask, Region, Stop};
use crate::view::View;
use validity::Valid;

/// A digit of a position: `floor(x / weight) mod size`, by which the address moves with `stride`.
#[derive(Clone, Debug)]
pub(crate) struct Digit {
    pub(crate) weight: Poly,
    pub(crate) size: Poly,
    pub(crate) stride: Poly,
    /// The valid values, half-open; `None` where all are.
    pub(crate) range: Option<(Poly, Poly)>,
}

/// An axis of the box of indices: `count` of them from `first` on, of which each moves the position by `step`.
#[derive(Clone, Debug)]
pub(crate) struct Axis {
    pub(crate) axis: usize,
    pub(crate) first: Poly,
    pub(crate) count: Poly,
    pub(crate) step: Poly,
}

/// The later view: positions of a box of indices.
#[derive(Clone, Debug)]
pub(crate) struct Space {
    /// The position of the first index.
    pub(crate) origin: Poly,
    pub(crate) axes: Vec<Axis>,
}

/// A view with its names replaced by what the region knows of them.
fn reduced(region: &Region, view: &View) -> Result<View, TooLarge> {
    let list = |polys: &[Poly]| polys.iter().map(|poly| region.reduce(poly)).collect::<Result<Vec<_>, _>>();
    let ranges = |mask: &Vec<(Poly, Poly)>| {
        mask.iter().map(|(begin, end)| Ok((region.reduce(begin)?, region.reduce(end)?))).collect::<Result<Vec<_>, _>>()
    };
    Ok(View {
        shape: list(&view.shape)?,
        strides: list(&view.strides)?,
        offset: region.reduce(&view.offset)?,
        mask: view.mask.as_ref().map(ranges).transpose()?,
    })
}

/// Decides a pair on a region, or says by which cases it must be asked again.
pub(crate) fn decide(region: &Region, earlier: &View, later: &View) -> Ask<Verdict> {
    region.check_work()?;
    let verdict = decide_reduced(region, &reduced(region, earlier)?, &reduced(region, later)?)?;
    // The sizes as they were given, so that the view may serve elsewhere.
    Ok(match verdict {
        Verdict::View(view) => Verdict::View(View { shape: later.shape.clone(), ..view }),
        other => other,
    })
}

fn decide_reduced(region: &Region, earlier: &View, later: &View) -> Ask<Verdict> {
    let empty = || Ok(Verdict::View(nothing(later)));
    // Nothing to read: any view serves that has nothing valid. A mask without axes masks the one element that there is.
    if [earlier, later].iter().any(|view| view.mask.as_ref().is_some_and(Vec::is_empty)) {
        return empty();
    }
    for size in &later.shape {
        if !is_positive(region, size)? {
            return empty();
        }
    }
    for (begin, end) in later.mask.iter().flatten() {
        if !region.ask_ge(&end.sub(begin)?.plus_number(-1)?)? {
            return empty();
        }
    }
    for size in &earlier.shape {
        if !is_positive(region, size)? {
            return empty();
        }
    }
    for (begin, end) in earlier.mask.iter().flatten() {
        if !region.ask_ge(&end.sub(begin)?.plus_number(-1)?)? {
            return empty();
        }
    }
    if let (Some(a), Some(b)) = (earlier.at(&[]), later.at(&[])) {
        return integers(&a, &b);
    }
    let (digits, offset) = digits(region, earlier)?;
    let space = space(later)?;
    match decide_digits(region, earlier, later, &digits, offset, space.clone()) {
        // Evidence that needs no cases, before the question is put to cases or given up.
        Err(ref stop) if stop.is_worth_a_refutation() && refute::refuted(region, &digits, &space)? => {
            Ok(Verdict::NotOne)
        }
        other => other,
    }
}

fn decide_digits(
    region: &Region,
    earlier: &View,
    later: &View,
    digits: &[Digit],
    offset: Poly,
    mut space: Space,
) -> Ask<Verdict> {
    let empty = || Ok(Verdict::View(nothing(later)));
    let masked = digits.iter().any(|digit| digit.range.is_some());
    if masked {
        match validity::valid_box(region, digits, space)? {
            Valid::Empty => return empty(),
            Valid::Hole => return Ok(Verdict::NotOne),
            Valid::Box(valid) => space = valid,
        }
    }
    let is_reshape = !masked && is_row_major(region, earlier, later)?;
    let address = if is_reshape { reshaped(region, digits, &space)? } else { address(region, digits, &space)? };
    let Some((strides, first)) = address else { return Ok(Verdict::NotOne) };
    let mut offset = offset.add(&first)?;
    let mut view_strides = vec![Poly::zero(); later.shape.len()];
    for (axis, stride) in space.axes.iter().zip(strides) {
        offset = offset.sub(&stride.mul(&axis.first)?)?;
        view_strides[axis.axis] = stride;
    }
    let mask = (masked || later.mask.is_some()).then(|| {
        space
            .axes
            .iter()
            .map(|axis| Ok((axis.first.clone(), axis.first.add(&axis.count)?)))
            .collect::<Result<_, TooLarge>>()
    });
    let mask: Option<Vec<(Poly, Poly)>> = mask.transpose()?;
    let mask =
        mask.filter(|mask| mask.iter().zip(&later.shape).any(|(range, size)| !range.0.is_zero() || range.1 != *size));
    Ok(Verdict::View(View { shape: later.shape.clone(), strides: view_strides, offset, mask }))
}

/// Whether a size is at least 1, asked factor by factor.
fn is_positive(region: &Region, size: &Poly) -> Ask<bool> {
    let more = size.plus_number(-1)?;
    if let Some(known) = region.known_ge(&more) {
        return Ok(known);
    }
    let factors = region.factors(size);
    let product = factors.iter().try_fold(Poly::one(), |product, factor| product.mul(factor))?;
    let is_multiple = size.div_exact(&product)?.and_then(|times| times.number()).is_some_and(|times| times > 0);
    if is_multiple && factors.len() > 1 && factors.iter().all(|factor| region.known_ge(factor) == Some(true)) {
        for factor in factors {
            if !region.ask_ge(&factor.plus_number(-1)?)? {
                return Ok(false);
            }
        }
        return Ok(true);
    }
    region.ask_ge(&more)
}

/// A view in which nothing is valid.
fn nothing(later: &View) -> View {
    let mask = later.shape.iter().map(|_| (Poly::zero(), Poly::zero())).collect();
    let strides = vec![Poly::zero(); later.shape.len()];
    View { shape: later.shape.clone(), strides, offset: Poly::zero(), mask: Some(mask) }
}

/// Numbers alone: the integer decision.
fn integers(earlier: &shapetracker::View, later: &shapetracker::View) -> Ask<Verdict> {
    match shapetracker::merge(earlier, later) {
        Ok(view) => Ok(Verdict::View(View::from(&view))),
        Err(shapetracker::Unmerged::Witness(_)) => Ok(Verdict::NotOne),
        Err(shapetracker::Unmerged::Undecided) => Err(Stop::Undecided(Reason::WorkLimit)),
        Err(_) => Err(Stop::Undecided(Reason::TooLarge)),
    }
}

/// The digits of a view, innermost first, and the address of position 0.
fn digits(region: &Region, view: &View) -> Ask<(Vec<Digit>, Poly)> {
    let mut offset = view.offset.clone();
    let mut digits: Vec<Digit> = Vec::new();
    let mut weight = Poly::one();
    let mut inner: Option<Digit> = None;
    for (axis, (size, stride)) in view.shape.iter().zip(&view.strides).enumerate().rev() {
        if size.is_one() {
            continue;
        }
        let range = view.mask.as_ref().map(|mask| mask[axis].clone());
        let range = range.filter(|(begin, end)| !begin.is_zero() || end != size);
        let single = match &range {
            Some((begin, end)) => end.sub(begin)?.is_one(),
            None => false,
        };
        match &mut inner {
            // The axis goes on where the one inside it ends.
            Some(inner) if inner.range.is_none() && *stride == inner.size.mul(&inner.stride)? => {
                if let Some((begin, end)) = range {
                    inner.range = Some((begin.mul(&inner.size)?, end.mul(&inner.size)?));
                }
                inner.size = inner.size.mul(size)?;
            }
            // With one valid value the axis only says in which copy of what is inside it the valid range lies.
            Some(inner) if single => {
                let (begin, _) = range.unwrap_or_default();
                let shift = begin.mul(&inner.size)?;
                offset = offset.add(&begin.mul(stride)?)?.sub(&inner.stride.mul(&shift)?)?;
                let (low, high) = inner.range.take().unwrap_or((Poly::zero(), inner.size.clone()));
                inner.range = Some((low.add(&shift)?, high.add(&shift)?));
                inner.size = inner.size.mul(size)?;
            }
            _ => {
                if let Some(done) = inner.take() {
                    weight = weight.mul(&done.size)?;
                    digits.push(done);
                }
                inner = Some(Digit { weight: weight.clone(), size: size.clone(), stride: stride.clone(), range });
            }
        }
    }
    digits.extend(inner);
    region.shared.spend(digits.len());
    Ok((digits, offset))
}

fn space(later: &View) -> Ask<Space> {
    let mut origin = later.offset.clone();
    let mut axes = Vec::with_capacity(later.shape.len());
    for (axis, (size, stride)) in later.shape.iter().zip(&later.strides).enumerate() {
        let (first, count) = match &later.mask {
            None => (Poly::zero(), size.clone()),
            Some(mask) => (mask[axis].0.clone(), mask[axis].1.sub(&mask[axis].0)?),
        };
        origin = origin.add(&first.mul(stride)?)?;
        axes.push(Axis { axis, first, count, step: stride.clone() });
    }
    Ok(Space { origin, axes })
}

/// Whether the later view reads all of the earlier one in row-major order.
fn is_row_major(region: &Region, earlier: &View, later: &View) -> Result<bool, TooLarge> {
    if !later.offset.is_zero() || later.mask.is_some() {
        return Ok(false);
    }
    let mut weight = Poly::one();
    for (size, stride) in later.shape.iter().zip(&later.strides).rev() {
        if *stride != weight && !size.is_one() {
            return Ok(false);
        }
        weight = weight.mul(size)?;
    }
    let all = earlier.shape.iter().try_fold(Poly::one(), |product, size| product.mul(size))?;
    // Of unrelated sizes the products may be equal by a condition.
    Ok(weight == all || region.known_eq(&region.reduce(&weight.sub(&all)?)?) == Some(true))
}

/// A boundary between two digits: positions carry over multiples of its weight, and the address then jumps.
struct Boundary {
    /// The digit above it.
    digit: usize,
    weight: Poly,
    jump: Poly,
}

/// The boundaries at which the address jumps, innermost first.
fn boundaries(digits: &[Digit]) -> Result<Vec<Boundary>, TooLarge> {
    let mut boundaries = Vec::new();
    for (place, pair) in digits.windows(2).enumerate() {
        let jump = pair[1].stride.sub(&pair[0].size.mul(&pair[0].stride)?)?;
        if !jump.is_zero() {
            boundaries.push(Boundary { digit: place + 1, weight: pair[1].weight.clone(), jump });
        }
    }
    Ok(boundaries)
}

/// The strides of the axes of a space and the address of its first index; `None` where the address is not affine.
type Address = Option<(Vec<Poly>, Poly)>;

/// A reshape of all of a view without a mask: one view unless a boundary at which the address jumps lies strictly inside
/// an axis (`reshape_iff_boundaries` and `reshape_no` in `proofs/RowMajor.v`). No division is needed, so that the sizes before and after need have nothing in common.
fn reshaped(region: &Region, digits: &[Digit], space: &Space) -> Ask<Address> {
    let boundaries = boundaries(digits)?;
    // At or below an axis, or at or above it: what that takes to be at least 0.
    let below = |boundary: &Boundary, axis: &Axis| axis.step.sub(&boundary.weight);
    let above = |boundary: &Boundary, axis: &Axis| boundary.weight.sub(&axis.step.mul(&axis.count)?);
    // For each boundary: whether it is known to lie inside an axis, and the axes inside which it may lie.
    let mut open: Vec<(usize, &Axis)> = Vec::new();
    let mut inside = vec![false; boundaries.len()];
    for (place, boundary) in boundaries.iter().enumerate() {
        for axis in space.axes.iter().filter(|axis| !axis.count.is_one()) {
            let outside = [region.known_ge(&below(boundary, axis)?), region.known_ge(&above(boundary, axis)?)];
            match outside {
                [Some(true), _] | [_, Some(true)] => {}
                [Some(false), Some(false)] => inside[place] = true,
                _ => open.push((place, axis)),
            }
        }
    }
    // The innermost one of those that lie inside settles it, if the digit above is known to have more than one value.
    let settles = |place: usize| -> Ask<bool> {
        let boundary = &boundaries[place];
        let alone = inside.iter().filter(|inside| **inside).count() == 1 && !open.iter().any(|open| open.0 != place);
        Ok(region.known_eq(&boundary.jump) == Some(false)
            && (alone || region.known_ge(&digits[boundary.digit].size.plus_number(-2)?) == Some(true)))
    };
    for place in (0..boundaries.len()).filter(|&place| inside[place]) {
        let inner_open = open.iter().any(|open| open.0 < place);
        let inner_inside =
            (0..place).any(|inner| inside[inner] && region.known_eq(&boundaries[inner].jump) != Some(true));
        if !inner_open && !inner_inside && settles(place)? {
            return Ok(None);
        }
    }
    for (place, boundary) in boundaries.iter().enumerate() {
        let mut is_inside = inside[place];
        for (_, axis) in open.iter().filter(|open| open.0 == place) {
            is_inside =
                is_inside || !(region.ask_ge(&below(boundary, axis)?)? || region.ask_ge(&above(boundary, axis)?)?);
        }
        if is_inside && !region.ask_eq(&boundary.jump)? {
            // The innermost such boundary: those outside of it are at least twice as far, if the digit has two values.
            if region.ask_ge(&digits[boundary.digit].size.plus_number(-2)?)? {
                return Ok(None);
            }
            // The digit has one value: the region knows now, and the digit is left out when the question is asked again.
            return Err(Stop::Undecided(Reason::Cancelling));
        }
    }
    // One view: along an axis the address moves by the innermost stride, and by the jumps of the boundaries at or below it.
    let innermost = digits.first().map_or(Poly::zero(), |digit| digit.stride.clone());
    let mut strides: Vec<Poly> =
        space.axes.iter().map(|axis| innermost.mul(&axis.step)).collect::<Result<_, TooLarge>>()?;
    for boundary in &boundaries {
        if region.known_eq(&boundary.jump) == Some(true) {
            continue;
        }
        // The innermost axis that is not below the boundary begins at it: its step is the weight, and the steps of the
        // axes outside of it are multiples.
        let mut times: Option<Poly> = None;
        for (axis, stride) in space.axes.iter().zip(&mut strides).rev().filter(|(axis, _)| !axis.count.is_one()) {
            if times.is_none() && region.known_ge(&above(boundary, axis)?) != Some(true) {
                times = Some(Poly::one());
            }
            if let Some(times) = &mut times {
                *stride = stride.add(&boundary.jump.mul(times)?)?;
                *times = times.mul(&axis.count)?;
            }
        }
    }
    Ok(Some((strides, Poly::zero())))
}

/// How a position is divided at a boundary.
pub(crate) struct Divided {
    /// The quotient and the remainder of the position of the first index.
    pub(crate) origin: Division,
    /// For each axis of the space: by how much the quotient moves, and by how much the remainder.
    pub(crate) axes: SmallVec<[(Poly, Poly); 4]>,
    /// For each axis: the carry of a step less that of the first one, where they differ: 1, -1, or 0 where they never do.
    pub(crate) uneven: SmallVec<[i8; 4]>,
    /// The least and the greatest value of the remainder, if the quotient is affine.
    pub(crate) least: Poly,
    pub(crate) greatest: Poly,
}

impl Divided {
    /// Divides the positions of a space by a positive weight, axis by axis.
    ///
    /// Along an axis of one index nothing moves, so that of each axis it may be assumed that it has two.
    pub(crate) fn of(region: &Region, space: &Space, weight: &Poly) -> Ask<Divided> {
        let origin = region.divide(&space.origin, weight)?;
        let mut divided = Divided {
            least: origin.remainder.clone(),
            greatest: origin.remainder.clone(),
            origin,
            axes: SmallVec::new(),
            uneven: SmallVec::new(),
        };
        for axis in &space.axes {
            if axis.count.is_one() || axis.step.is_zero() {
                divided.axes.push((Poly::zero(), Poly::zero()));
                divided.uneven.push(0);
                continue;
            }
            let further = axis.count.plus_number(-1)?;
            let (quotient, moves, uneven) = match divided.moves(region, axis, weight) {
                Ok(moves) => moves,
                Err(stop) => {
                    // Once more where the axis has two indices.
                    let two = Literal::at_least(axis.count.plus_number(-2)?);
                    match region.assume(&two)? {
                        Some(longer) => match divided.moves(&longer, axis, weight) {
                            Ok(moves) => moves,
                            Err(_) => return Err(stop),
                        },
                        None => (Poly::zero(), Poly::zero(), 0),
                    }
                }
            };
            if uneven > 0 {
                divided.greatest = divided.greatest.add(&moves.mul(&further)?)?;
            } else if uneven < 0 {
                divided.least = divided.least.add(&moves.mul(&further)?)?;
            }
            divided.axes.push((quotient, moves));
            divided.uneven.push(uneven);
        }
        Ok(divided)
    }

    /// By how much the quotient and the remainder move along an axis, and in which direction the remainder moves.
    fn moves(&self, region: &Region, axis: &Axis, weight: &Poly) -> Ask<(Poly, Poly, i8)> {
        let Division { quotient, remainder } = region.divide(&region.reduce(&axis.step)?, weight)?;
        if remainder.is_zero() {
            return Ok((quotient, remainder, 0));
        }
        // Does the first step carry? Then the remainder moves down.
        let carries = !self.origin.remainder.is_zero() && {
            let stays = weight.plus_number(-1)?.sub(&self.origin.remainder)?.sub(&remainder)?;
            !region.ask_ge(&region.reduce(&stays)?)?
        };
        Ok(match carries {
            false => (quotient, remainder, 1),
            true => (quotient.plus_number(1)?, remainder.sub(weight)?, -1),
        })
    }

    /// What must be at least 0 for the quotient to be affine.
    pub(crate) fn slack(&self, weight: &Poly) -> Result<[Poly; 2], TooLarge> {
        Ok([weight.plus_number(-1)?.sub(&self.greatest)?, self.least.clone()])
    }
}

/// The strides and the address of the first index, by the quotients at all boundaries.
fn address(region: &Region, digits: &[Digit], space: &Space) -> Ask<Address> {
    let boundaries = boundaries(digits)?;
    let innermost = digits.first().map_or(Poly::zero(), |digit| digit.stride.clone());
    let mut strides: Vec<Poly> =
        space.axes.iter().map(|axis| innermost.mul(&axis.step)).collect::<Result<_, TooLarge>>()?;
    let mut first = innermost.mul(&space.origin)?;
    if let Some(answer) = patterns::enumerated(region, &boundary_numbers(&boundaries), space, &strides, &first)? {
        return Ok(answer);
    }
    let mut failing: Vec<(&Boundary, Divided)> = Vec::new();
    let mut blocked: Option<Stop> = None;
    for boundary in &boundaries {
        let divided = match Divided::of(region, space, &boundary.weight) {
            Ok(divided) => divided,
            Err(stop) => {
                // A boundary at which the address does not jump needs no quotient.
                if region.known_eq(&boundary.jump) == Some(true) {
                    continue;
                }
                blocked.get_or_insert(stop);
                continue;
            }
        };
        let [above, below] = divided.slack(&boundary.weight)?;
        let known = [region.known_ge(&above), region.known_ge(&below)];
        let affine = match known {
            [Some(true), Some(true)] => true,
            [Some(false), _] | [_, Some(false)] => false,
            _ if region.known_eq(&boundary.jump) == Some(true) => continue,
            _ => match region.ask_ge(&above).and_then(|above| Ok(above && region.ask_ge(&below)?)) {
                Ok(affine) => affine,
                Err(stop) => {
                    blocked.get_or_insert(stop);
                    continue;
                }
            },
        };
        if affine {
            for (stride, (quotient, _)) in strides.iter_mut().zip(&divided.axes) {
                *stride = stride.add(&boundary.jump.mul(quotient)?)?;
            }
            first = first.add(&boundary.jump.mul(&divided.origin.quotient)?)?;
            continue;
        }
        match region.ask_eq(&boundary.jump) {
            Ok(true) => {}
            Ok(false) => failing.push((boundary, divided)),
            Err(stop) => {
                blocked.get_or_insert(stop);
            }
        }
    }
    if let Some(stop) = blocked {
        return Err(stop);
    }
    match &failing[..] {
        [] => Ok(Some((strides, first))),
        [_] => Ok(None),
        _ => cancelling(region, &failing, digits, space),
    }
}

/// The boundaries as numbers and jumps.
fn boundary_numbers(boundaries: &[Boundary]) -> Option<Vec<(i64, Poly)>> {
    let number = |boundary: &Boundary| i64::try_from(boundary.weight.number()?).ok();
    boundaries.iter().map(|boundary| Some((number(boundary)?, boundary.jump.clone()))).collect()
}

/// Several boundaries fail: not one view, unless some of their jumps cancel.
///
/// Along an axis the carries of any step less those of the first step are 0 or the axis' `uneven` at each boundary, and
/// some step has one that is not 0. Where no sum of jumps vanishes, the address then moves unevenly.
fn cancelling(region: &Region, failing: &[(&Boundary, Divided)], digits: &[Digit], space: &Space) -> Ask<Address> {
    if failing.len() > 5 {
        return Err(Stop::Undecided(Reason::Cancelling));
    }
    let mut open: Vec<Poly> = Vec::new();
    let mut vanishing = false;
    for axis in 0..space.axes.len() {
        let mut jumps: Vec<Poly> = Vec::new();
        for (boundary, divided) in failing {
            match divided.uneven[axis] {
                0 => {}
                sign => jumps.push(boundary.jump.scale(sign.into())?),
            }
        }
        for subset in 1_u32..1 << jumps.len() {
            if subset.count_ones() < 2 {
                continue;
            }
            let chosen = jumps.iter().enumerate().filter(|(place, _)| subset >> place & 1 == 1);
            let sum = chosen.map(|(_, jump)| jump).try_fold(Poly::zero(), |sum, jump| sum.add(jump))?;
            match region.known_eq(&sum) {
                Some(false) => {}
                Some(true) => vanishing = true,
                None => open.push(sum),
            }
        }
    }
    if !vanishing && open.is_empty() {
        return Ok(None);
    }
    // Digits of one value are left out where that is known, and then there are fewer boundaries.
    for (boundary, _) in failing {
        for digit in [boundary.digit, boundary.digit - 1] {
            if digit > 0 || !vanishing {
                let more = digits[digit].size.plus_number(-2)?;
                if region.known_ge(&more).is_none() {
                    return Err(Stop::Fork(Literal::at_least(region.same_sign(&more))));
                }
            }
        }
    }
    for sum in &open {
        if region.ask_eq(sum)? {
            vanishing = true;
        }
    }
    if !vanishing {
        return Ok(None);
    }
    Err(region.few_values().unwrap_or(Stop::Undecided(Reason::Cancelling)))
}
