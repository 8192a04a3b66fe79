//! Keeps a stack of views at the fewest, in a normal form that does not depend on how it came about.
//!
//! Invariant: a stack is in its normal form after every operation. No run of up to 8 neighbouring views in it is a single
//! view, as far as the work limit reaches; and of a view under another one nothing is kept but what positions need, so
//! that a reshape in between, or reading the views again, gives the same stack ([`settle`] says how). Whether fewer views
//! could do with other shapes in between is not decided; [`sink`] finds such shapes where the axes of one view can be
//! split so that it merges with the view below: without masks all of them.

use smallvec::SmallVec;

use crate::error::{Error, Fault};
use crate::merge::level::{IndexBox, Level};
use crate::merge::split::{Runs, split};
use crate::merge::stack::Stacked;
use crate::merge::work::Work;
use crate::merge::{self, Unmerged, merge_fitting, merge_within, run};
use crate::shape::{MAX_RANK, checked_numel, row_major, unravel};
use crate::view::check_inside;
use crate::{Dims, Ranges, View};

/// The most views that a tracker may have. Real programs have 5 at most; without a limit crafted ones could grow for ever.
///
/// ```
/// assert_eq!(shapetracker::MAX_VIEWS, 256);
/// ```
pub const MAX_VIEWS: usize = 256;

/// The views of a tracker, the first next to memory.
pub(crate) type Stack = SmallVec<[View; 1]>;

/// The most views that are tried as one. Stacks of real programs are shorter; crafted ones can be of any height.
const LONGEST_RUN: usize = 8;

/// Puts a view on top of a stack in its normal form into which it fits, and brings the result into its normal form.
///
/// `refusal` is why the view does not merge with the top one, where that was decided before. The answer is why the pair
/// of the two does not merge; of a stack that does not grow it means nothing: something merged.
///
/// # Errors
/// More than [`MAX_VIEWS`] views are left.
pub(crate) fn push(
    op: &'static str,
    views: &mut Stack,
    view: View,
    refusal: Option<Unmerged>,
) -> Result<Option<Unmerged>, Error> {
    let Some(top) = views.last() else {
        views.push(view);
        return Ok(None);
    };
    let refusal = match refusal {
        Some(why) => why,
        None => match merge_fitting(top, &view) {
            Ok(merged) => {
                views.pop();
                views.push(merged);
                merge_top(views, None);
                settle(views);
                return Ok(None);
            }
            Err(why) => why,
        },
    };
    let reshapes = view.is_identity() && view.numel() == top.numel();
    let known = (!cover(views, true)).then_some(refusal);
    let refusal = if reshapes {
        let refusal = show(views, view.shape(), known); // What is covered is the normal form already.
        if merge_raised(views) {
            merge_top(views, None);
            read_again(views);
        }
        refusal
    } else {
        views.push(view);
        let refusal = merge_top(views, known);
        settle(views);
        refusal
    };
    if views.len() > MAX_VIEWS {
        return Err(Error::new(op, Fault::TooManyViews { given: views.len() }));
    }
    Ok(refusal)
}

/// Merges runs of views that end with the top one, the longest first. The views below are a reduced stack.
///
/// `refusal` is why the top pair does not merge, where that was decided before: then it is not asked again. The answer
/// is why the pair that is left on top does not merge; nothing where a single view is left.
pub(crate) fn merge_top(views: &mut Stack, refusal: Option<Unmerged>) -> Option<Unmerged> {
    let mut refusal = refusal;
    loop {
        let top = views.len() - 1;
        let mut longer = top.saturating_sub(LONGEST_RUN - 1)..top.saturating_sub(1);
        let mut merged = longer.find_map(|from| Some((from, run(&views[from..]).ok()?)));
        if merged.is_none()
            && refusal.is_none()
            && let [.., earlier, later] = &views[..]
        {
            match merge_fitting(earlier, later) {
                Ok(view) => merged = Some((top - 1, view)),
                Err(why) => refusal = Some(why),
            }
        }
        let Some((from, view)) = merged else { return refusal };
        views.truncate(from);
        views.push(view);
        refusal = None; // It was about a pair that is no longer there.
    }
}

/// Brings a stack of which no run is a single view, and whose views but the last are covered, into its normal form.
///
/// That is the form of its flattened map ([`cover`]), read in the shape of the last view ([`show`]). The flattened map is the
/// same before and after a reshape: so a reshape in between leaves no trace, as far as covering finds one form for all stacks
/// of one map. It does without masks where the stack comes down to a single view by splitting axes, and for maps of few
/// elements that do. For others it is the same form for stacks that differ in shapes, in how axes are split and joined, in
/// axes of size 1, in where masks stand; two stacks may differ still where one reads the positions of the other in
/// another order.
pub(crate) fn settle(views: &mut Stack) {
    read_again(views);
    if merge_raised(views) {
        merge_top(views, None);
        read_again(views);
    }
}

/// Covers the last view and reads it in its shape again, if that takes no more views.
fn read_again(views: &mut Stack) {
    let [.., _, top] = &views[..] else { return };
    let (top, before) = (top.clone(), views.clone());
    if cover(views, true) {
        show(views, top.shape(), None);
    } else {
        let covered = views.clone();
        views.pop();
        views.push(top);
        raise_top(views, covered);
    }
    if views.len() > before.len() {
        *views = before;
    }
}

/// Writes the last view as one that is read by positions only: of its shape only the order of the elements counts. The
/// views below are covered already; `reduced` says that none of them merges with it. Returns whether there is a map of
/// other addresses on top now.
///
/// Axes that advance as one are joined, and a view that says nothing but a shape is taken away. What has become one view
/// with those below is merged; where the axes of the last view can be split so that it merges, it does, and what is left
/// of it is the map from its positions to those. Of few elements each is looked at.
fn cover(views: &mut Stack, reduced: bool) -> bool {
    let (mut reduced, mut changed) = (reduced, false);
    for _ in 0..ROUNDS {
        let Some(top) = views.pop() else { break };
        let flat = joined(&top);
        if flat.is_identity() && views.last().is_some_and(|below| below.numel() == flat.numel()) {
            return true;
        }
        reduced &= flat == top;
        views.push(flat);
        let height = views.len();
        if !reduced {
            merge_top(views, None);
        }
        if views.len() == height && !lower_top(views) {
            break;
        }
        (reduced, changed) = (false, true);
    }
    changed
}

/// Whether there was something to be done to the last view of a stack to cover it, besides merging and joining axes.
fn lower_top(views: &mut Stack) -> bool {
    let [.., lower, upper] = &views[..] else { return false };
    let top = views.len() - 1;
    if let Some((from, view)) =
        (top.saturating_sub(LONGEST_RUN - 1)..top).find_map(|from| Some((from, few(&views[from..])?)))
    {
        views.truncate(from);
        views.push(view);
        return true;
    }
    if let Some(view) = trimmed(lower, upper) {
        views.pop();
        views.push(view);
        return true;
    }
    let found = cropped(lower, upper).or_else(|| {
        let [below, above] = sink(lower, upper)?;
        cropped(&below, &above).or(Some([below, above]))
    });
    match found {
        Some([below, above]) if below != *lower || above != *upper => {
            views.truncate(top - 1);
            views.push(below);
            cover(views, false);
            views.push(above);
            true
        }
        _ => false,
    }
}

/// Two masked views of which the lower one masks nothing but whole blocks of positions at its ends, without those blocks: the
/// upper one masks on the axes where it does what is masked below. All of it sinks if it can then.
///
/// Both could say where what is valid begins and ends, and how much each of them says would depend on the way there. An axis
/// that is not masked stays so: the views above may go on with it as long as it is.
fn cropped(lower: &View, upper: &View) -> Option<[View; 2]> {
    if upper.mask().is_none() || lower.mask().is_none() || lower.is_empty() {
        return None;
    }
    let lower = joined(lower);
    if (1..lower.rank()).any(|axis| lower.range(axis) != (0, lower.shape()[axis])) {
        return None;
    }
    let [whole, above] = raise(&lower, upper)?;
    let is_whole = |axis: usize| upper.range(axis) == (0, upper.shape()[axis]);
    if (0..upper.rank()).any(|axis| is_whole(axis) && above.range(axis) != upper.range(axis)) {
        return None;
    }
    let above = joined(&above);
    let sunk = sink(&whole, &above).filter(|[_, above]| above.mask().is_none());
    Some(sunk.unwrap_or([whole, above]))
}

/// Merges the last view with the one under it as that is when it has the mask of the view below it.
fn merge_raised(views: &mut Stack) -> bool {
    let [below @ .., lower, middle, upper] = &views[..] else { return false };
    let Some([lower, middle]) = raise(lower, middle) else { return false };
    let Ok(merged) = merge_within(&middle, upper, &mut Work::a_little()) else { return false };
    let mut raised: Stack = below.iter().cloned().collect();
    raised.push(lower);
    cover(&mut raised, false);
    raised.push(merged);
    *views = raised;
    true
}

/// How often [`cover`] goes on with what it has made, at most.
const ROUNDS: usize = 8;

/// Reads a covered stack in a shape. `refusal` is why its last view does not take the shape, where that was decided before; the
/// answer is why the pair that is left on top does not merge.
fn show(views: &mut Stack, shape: &[i64], refusal: Option<Unmerged>) -> Option<Unmerged> {
    let covered = views.clone();
    let taken = refusal.map_or_else(|| merge::reshape(&covered[covered.len() - 1], shape), Err);
    let refusal = match taken {
        Ok(view) => {
            views.pop();
            views.push(view);
            merge_top(views, None)
        }
        Err(why) => {
            views.push(View::row_major(shape));
            merge_top(views, Some(why))
        }
    };
    raise_top(views, covered);
    refusal
}

/// Has the last view mask what the one under it masks, where it can: a tensor that is padded after a reshape shows the mask
/// there. It is written so only where covering takes it back to what was covered, so that the form stays one.
fn raise_top(views: &mut Stack, covered: Stack) {
    let [below @ .., lower, upper] = &views[..] else { return };
    let Some([lower, upper]) = raise(lower, upper) else { return };
    let mut raised: Stack = below.iter().cloned().collect();
    raised.push(lower);
    let is_covered = !cover(&mut raised, false);
    raised.push(upper);
    let mut again = raised.clone();
    cover(&mut again, false);
    if is_covered && again == covered {
        *views = raised;
    }
}

/// The view in the shape of its digits: without axes of size 1, and those joined that advance as one.
pub(crate) fn joined(view: &View) -> View {
    if view.is_empty() {
        return view.clone();
    }
    let level = Level::of(view);
    let digits = level.digits.iter().rev();
    let (shape, strides) = digits.clone().map(|digit| (digit.size, digit.stride)).unzip();
    let ranges = level.masked.then(|| digits.map(|digit| (digit.begin, digit.end)).collect());
    // A view whose offset is past `i64` in this form stays as it is.
    View::canonical("join", shape, strides, level.offset, ranges).unwrap_or_else(|_| view.clone())
}

/// The most elements of which [`few`] looks at each.
const FEW: i64 = 1024;

/// The single view that a stack of few elements is, in the shape of its digits, if it is one in any shape with as many
/// elements.
///
/// A view is the same as [`joined`] in the order of its valid elements: the distance of the first two is the weight of the
/// innermost digit with more than one valid value, and the elements go on in equal steps to the end of its range; so many
/// elements on is the first step of the next digit, and so on. Every element is held against the digits so far, so that most
/// stacks are refused after a few.
fn few(views: &[View]) -> Option<View> {
    let [below @ .., top] = views else { return None };
    if views.iter().any(View::is_empty) {
        return None; // Merging takes care of these.
    }
    let sizes: Dims = (0..top.rank()).map(|axis| top.range(axis).1 - top.range(axis).0).collect();
    let count = sizes.iter().try_fold(1i64, |count, &size| count.checked_mul(size).filter(|&count| count <= FEW))?;
    let weights = row_major(top.shape());
    let elements = (0..count).filter_map(|number| {
        let mut index = unravel(number, &sizes);
        (0..top.rank()).for_each(|axis| index[axis] += top.range(axis).0);
        let address = below
            .iter()
            .rev()
            .try_fold(top.address(&index)?, |address, view| view.address(&unravel(address, view.shape())))?;
        Some((index.iter().zip(&weights).map(|(i, weight)| i * weight).sum::<i64>(), i128::from(address)))
    });
    digits_of(elements, top.numel())
}

/// A digit of [`digits_of`]: its weight, how far it moves the address, and how many valid values it has.
struct Found {
    weight: i64,
    stride: i128,
    count: usize,
}

/// The view in the shape of its digits that has these valid elements, positions and addresses in ascending order of
/// positions, and so many elements in all.
fn digits_of(mut elements: impl Iterator<Item = (i64, i128)>, numel: i64) -> Option<View> {
    let (first, start) = elements.next()?;
    // All but the last have as many values as are known; of the last one `count` is how many it has so far.
    let mut digits: SmallVec<[Found; 8]> = SmallVec::new();
    // How many elements a value of the last digit stands for, and how many have been seen.
    let (mut block, mut seen) = (1, 1);
    for (position, address) in elements {
        let (mut rest, mut at, mut expected) = (seen, first, start);
        for (k, digit) in digits.iter().enumerate() {
            let value = if k + 1 == digits.len() { rest } else { rest % digit.count };
            rest /= digit.count;
            (at, expected) = (at + digit.weight * value as i64, expected + digit.stride * value as i128);
        }
        if digits.is_empty() || (position, address) != (at, expected) {
            if seen % block != 0 {
                return None;
            }
            if let Some(last) = digits.last_mut() {
                last.count = seen / block;
                block = seen;
            }
            digits.push(Found { weight: position - first, stride: address - start, count: 1 });
        }
        seen += 1;
    }
    if let Some(last) = digits.last_mut() {
        if seen % block != 0 {
            return None;
        }
        last.count = seen / block;
    }
    let (mut shape, mut strides, mut ranges) = (Dims::new(), Dims::new(), Ranges::new());
    let (mut weight, mut offset, mut above) = (numel, start, digits.iter().rev());
    loop {
        let digit = above.next();
        let (inner, stride, count) = digit.map_or((1, 0, 1), |digit| (digit.weight, digit.stride, digit.count as i64));
        if weight % inner != 0 {
            return None;
        }
        let (size, begin) = (weight / inner, first % weight / inner);
        if begin + count > size {
            return None;
        }
        shape.push(size);
        strides.push(i64::try_from(stride).ok()?);
        ranges.push((begin, begin + count));
        offset -= stride * i128::from(begin);
        weight = inner;
        if digit.is_none() {
            break;
        }
    }
    View::canonical("join", shape, strides, offset, Some(ranges)).ok().map(|view| joined(&view))
}

/// The upper view with the one of its masks that says the same over a masked view below; `None` if it has that.
///
/// Where a single index of an axis reads something that is not masked below, the others may be masked, and the stride of
/// the axis may be anything: it is masked to that index, which joins it to the axis inside of it. A mask is left out
/// where all that it leaves out is masked below.
fn trimmed(lower: &View, upper: &View) -> Option<View> {
    lower.mask()?;
    let (views, mut work) = ([lower.clone(), upper.clone()], Work::a_little());
    let stack = Stacked::of(&views)?;
    let space = stack.whole();
    let valid = stack.valid_index(&space, &mut work).ok()??;
    let mut ranges: Ranges = (0..upper.rank()).map(|axis| upper.range(axis)).collect();
    for (l, (axis, &value)) in space.axes.iter().zip(&valid).enumerate() {
        let beside = [value - 1, value + 1].into_iter().filter(|i| (0..axis.size).contains(i)).any(|i| {
            let mut point = valid.clone();
            point[l] = i;
            stack.address(space.position(&point)).is_some()
        });
        if !beside && nothing_valid(&stack, &space, l, [(0, value), (value + 1, axis.size)], &mut work)? {
            ranges[l] = (axis.first + value, axis.first + value + 1);
        }
    }
    let (shape, strides, offset, _) = upper.parts();
    let view = View::canonical("join", shape.clone(), strides.clone(), offset.into(), Some(ranges)).ok()?;
    let masked = joined(&view);
    let view = unmasked(lower, &masked, &mut work).unwrap_or(masked);
    (view != *upper).then_some(view)
}

/// A masked view without its mask, if what that leaves out is masked below.
fn unmasked(lower: &View, upper: &View, work: &mut Work) -> Option<View> {
    let mask = upper.mask()?;
    let (shape, strides, offset, _) = upper.parts();
    let whole = View::canonical("join", shape.clone(), strides.clone(), offset.into(), None).ok()?;
    check_inside("join", &whole, lower.numel()).ok()?;
    let views = [lower.clone(), whole];
    let stack = Stacked::of(&views)?;
    let space = stack.whole();
    for (l, (&(begin, end), &size)) in mask.iter().zip(shape.iter()).enumerate() {
        if !nothing_valid(&stack, &space, l, [(0, begin), (end, size)], work)? {
            return None;
        }
    }
    Some(joined(&views[1]))
}

/// Whether no index of these parts of an axis is valid, whatever the others are; `None` at the work limit.
fn nothing_valid(
    stack: &Stacked<'_>,
    space: &IndexBox,
    l: usize,
    parts: [(i64, i64); 2],
    work: &mut Work,
) -> Option<bool> {
    for (from, to) in parts.into_iter().filter(|(from, to)| from < to) {
        let mut part = space.clone();
        part.restrict(l, from, to);
        if stack.valid_index(&part, work).ok()?.is_some() {
            return Some(false);
        }
    }
    Some(true)
}

/// Two views that do what two covered ones do, found by splitting the axes of the upper one. The lower one is then what
/// the two did, and the upper one tells its positions.
///
/// Of the upper view only positions matter, so that it may have any shape in which those are written. Its axes are written
/// as [`Blocks`]; if that view merges downwards, what is left over it is the map to its positions: a mere shape, if nothing
/// was added to the axes.
///
/// Without masks the pair is found to be one view wherever some split of the axes merges downwards: [`split`] has the proof.
/// Most pairs have an axis that fits no split, which takes some nanoseconds to see. Over a masked view a split may have affine
/// addresses and yet valid indices that are no box; then whole blocks of its digits are tried, and before all else parts
/// as long as its digits, wherever they begin, since carries between masked elements do not matter.
pub(crate) fn sink(lower: &View, upper: &View) -> Option<[View; 2]> {
    if lower.is_empty() || upper.is_empty() {
        return None; // Merging takes care of these.
    }
    let (level, mut work) = (Level::of(lower), Work::a_little());
    if let Some(found) = periods(&level, upper).and_then(|parts| sunk(lower, parts, &mut work)) {
        return Some(found);
    }
    let split = in_blocks(&level, upper, false, &mut work)?;
    let whole = level.masked.then(|| in_blocks(&level, upper, true, &mut work)).flatten();
    let whole = whole.filter(|whole| *whole != split);
    sunk(lower, split, &mut work).or_else(|| sunk(lower, whole?, &mut work))
}

/// The two views, if the upper one merges downwards when it is split.
fn sunk(lower: &View, [split, embedding]: [View; 2], work: &mut Work) -> Option<[View; 2]> {
    check_inside("refine", &split, lower.numel()).ok()?;
    Some([merge_within(lower, &split, work).ok()?, embedding])
}

/// The upper view with its axes in parts as long as the digits of a masked view below it, and the shape that it had.
fn periods(level: &Level, upper: &View) -> Option<[View; 2]> {
    if !level.masked || upper.mask().is_some() {
        return None;
    }
    let (mut shape, mut strides) = (Dims::new(), Dims::new());
    for (&size, &stride) in upper.shape().iter().zip(upper.strides()) {
        let mut inner = size;
        for digit in level.digits.iter().skip(1).rev() {
            let Some(part) = digit.weight.checked_div(stride.abs()) else { break };
            if digit.weight % stride.abs() == 0 && part > 1 && part < inner && inner % part == 0 {
                shape.push(inner / part);
                strides.push(stride * part);
                inner = part;
            }
        }
        shape.push(inner);
        strides.push(stride);
    }
    if shape.len() == upper.rank() || shape.len() > MAX_RANK {
        return None;
    }
    let split = View::canonical("refine", shape, strides, upper.offset().into(), None).ok()?;
    Some([split, View::row_major(upper.shape())])
}

/// Two views that do what two do, of which the lower one has no mask and the upper one has it, if that is one view.
fn raise(lower: &View, upper: &View) -> Option<[View; 2]> {
    let mask = lower.mask().filter(|_| !lower.is_empty())?;
    let sizes: Dims = mask.iter().map(|(begin, end)| end - begin).collect();
    let strides = row_major(&sizes);
    let (mut first, mut offset) = (i128::from(lower.offset()), 0);
    for (&(begin, _), (&stride, &below)) in mask.iter().zip(strides.iter().zip(lower.strides())) {
        first += i128::from(begin) * i128::from(below);
        offset -= i128::from(begin) * i128::from(stride);
    }
    let valid = View::canonical("raise", sizes, lower.strides().into(), first, None).ok()?;
    let positions = View::canonical("raise", lower.shape().into(), strides, offset, Some(mask.into())).ok()?;
    Some([joined(&valid), merge_within(&positions, upper, &mut Work::a_little()).ok()?])
}

/// The middle view with its axes in [`Blocks`], in `whole` ones where that is possible; and the view that tells for every
/// index which position of that shape it has. `None` if no axis is split, or if one of them fits no split and no masked
/// digit makes up for that.
fn in_blocks(level: &Level, middle: &View, whole: bool, work: &mut Work) -> Option<[View; 2]> {
    let corner = IndexBox::of(middle).origin;
    let (mut shape, mut strides, mut ranges) = (Dims::new(), Dims::new(), Ranges::new());
    let (mut extended, mut read) = (Dims::new(), Ranges::new());
    let (mut offset, mut starts) = (i128::from(middle.offset()), Dims::new());
    for (l, (&size, &stride)) in middle.shape().iter().zip(middle.strides()).enumerate() {
        let range = middle.range(l);
        let axis = match Blocks::extended(level, corner, stride, range) {
            Some(blocks) if whole => blocks,
            extended => match (split(level, corner, stride, range.1 - range.0, work).ok()?, extended) {
                (Some(runs), _) => Blocks::masked(runs, size, range),
                (None, Some(blocks)) => blocks,
                (None, None) if level.masked => Blocks::masked(Runs::from_slice(&[range.1 - range.0]), size, range),
                (None, None) => return None,
            },
        };
        let mut inner = axis.sizes.iter().try_fold(1i64, |size, &part| size.checked_mul(part))?;
        extended.push(inner);
        for (k, &part) in axis.sizes.iter().enumerate().rev() {
            inner /= part;
            shape.push(part);
            strides.push(stride * inner);
            ranges.push(if k + 1 == axis.sizes.len() { axis.range } else { (0, part) });
        }
        offset -= i128::from(stride) * i128::from(axis.start);
        starts.push(axis.start);
        read.push(axis.read);
    }
    if shape.len() == middle.rank() || shape.len() > MAX_RANK || checked_numel("refine", &extended).is_err() {
        return None;
    }
    let split = View::canonical("refine", shape, strides, offset, Some(ranges)).ok()?;
    let weights = row_major(&extended);
    let start = weights.iter().zip(&starts).map(|(&weight, &start)| i128::from(weight) * i128::from(start)).sum();
    let embedding = View::canonical("refine", Dims::from_slice(middle.shape()), weights, start, Some(read)).ok()?;
    Some([split, embedding])
}

/// An axis of the middle view as blocks, and blocks of blocks.
struct Blocks {
    /// The sizes, innermost first. Their product is the size of the axis with what was added to it on both sides.
    sizes: Runs,
    /// The valid range of the outermost. The others are valid as a whole.
    range: (i64, i64),
    /// Which index on the axis was index 0.
    start: i64,
    /// The old indices that the upper view may read.
    read: (i64, i64),
}

impl Blocks {
    /// An axis whose valid range has these runs. What is masked on both sides of it becomes whole blocks, masked like it.
    fn masked(mut sizes: Runs, size: i64, (begin, end): (i64, i64)) -> Blocks {
        let outermost = sizes.pop().unwrap_or(1);
        let block = (end - begin) / outermost;
        let [before, after] = [begin, size - end].map(|masked| masked / block + i64::from(masked % block > 0));
        sizes.push(before + outermost + after);
        Blocks { sizes, range: (before, before + outermost), start: before * block - begin, read: (0, size) }
    }

    /// An axis that crosses blocks of the digits of which it has whole steps, extended to whole blocks. The upper view
    /// leaves out what was added, and what was masked as well.
    fn extended(level: &Level, corner: i64, stride: i64, (begin, end): (i64, i64)) -> Option<Blocks> {
        let (step, valid) = (stride.abs(), end - begin);
        let (mut sizes, mut inner, mut start) = (Runs::new(), 1, 0);
        for digit in level.digits.iter().skip(1) {
            // How many steps are a block, and how many of them the axis begins after its start; where it leaves this one.
            let rest = corner % digit.weight;
            let before = if stride < 0 { digit.weight - 1 - rest } else { rest }.checked_div(step)?;
            let block = digit.weight / step;
            if digit.weight % step == 0 && block > 1 && before + valid > block {
                sizes.push(block / inner);
                (start, inner) = (before, block);
            }
        }
        let count = (start + valid - 1) / inner + 1;
        sizes.push(count);
        (inner > 1).then_some(Blocks { sizes, range: (0, count), start: start - begin, read: (begin, end) })
    }
}

#[cfg(test)]
mod tests {
    use crate::merge::decisions::counted;
    use crate::{Chain, Dims, ErrorKind, Movement, ShapeTracker, Unmerged, Verdict, View, merge};

    fn view(shape: &[i64], strides: &[i64], offset: i64, mask: Option<&[(i64, i64)]>) -> View {
        View::new(shape, strides, offset, mask).unwrap()
    }

    #[test]
    fn found_by_fuzzing_three_views_with_one_valid_element_are_one() {
        for (strides, offset, single, mask) in [
            ([-33, -33, -33, -33, -2, -1], 178, -12031, [(0, 1), (0, 1), (0, 1), (0, 1), (1, 2), (7, 8)]),
            ([-33, -33, -33, -33, -35, -1], 174, -12031, [(0, 1), (0, 1), (0, 1), (0, 1), (0, 1), (5, 6)]),
        ] {
            let st = ShapeTracker::from_views([
                view(&[8, 8, 8], &[-1, -1, -1], -12022, Some(&[(2, 5), (3, 6), (3, 6)])),
                view(&[3, 8, 2, 2, 2, 2], &[10, 20, -33, -33, -33, 103], 99, None),
                view(&[2, 2, 2, 2, 2, 8], &strides, offset, None),
            ]);
            assert_eq!(st.unwrap().as_view(), Some(&view(&[2, 2, 2, 2, 2, 8], &[0; 6], single, Some(&mask))));
        }
    }

    #[test]
    fn found_by_composing_a_stack_that_became_shorter_is_merged_again() {
        let masked = ShapeTracker::contiguous([4, 6, 3]).unwrap().reshape([3, 2, 1, 6, 2]).unwrap();
        let masked = masked.step([1, -2, 1, 1, 1]).unwrap().expand([3, 4, 1, 6, 2]).unwrap();
        let masked = masked.shrink([(1, 3), (1, 4), (0, 1), (0, 6), (0, 2)]).unwrap().permute([1, 2, 4, 3, 0]).unwrap();
        let masked = masked.pad([(0, 0), (0, 0), (0, 0), (1, 0), (2, 1)]).unwrap().flip([1, 4]).unwrap();
        let masked = masked.reshape([210, 1, 1, 1, 1]).unwrap().flip([0, 1, 2]).unwrap();
        let over = ShapeTracker::contiguous([210]).unwrap().flip([0]).unwrap().reshape([3, 2, 7, 5]).unwrap();
        assert_eq!(masked.compose(&over).unwrap().views().len(), 1);
    }

    #[test]
    fn a_view_that_is_appended_costs_one_decision_for_tracker_stack_and_verdict() {
        let transposed = ShapeTracker::contiguous([3, 2]).unwrap().permute([1, 0]).unwrap();
        // What is no reshape is decided once more, in blocks of the view below.
        for (op, over, once) in [
            (Movement::Reshape(Dims::from_slice(&[6])), View::contiguous([6]).unwrap(), 1),
            (Movement::AsStrided(Dims::from_slice(&[5]), Dims::from_slice(&[1]), 1), view(&[5], &[1], 1, None), 2),
        ] {
            let (applied, decisions) = counted(|| transposed.apply(&op).unwrap());
            assert_eq!(
                (applied.views(), decisions),
                (&[transposed.views()[0].clone(), over.clone()][..], once),
                "{op}"
            );
            let (performed, decisions) = counted(|| transposed.perform(&op).unwrap());
            let why = merge(&transposed.views()[0], &over).unwrap_err();
            assert!(matches!(why, Unmerged::Witness(_)), "{op}");
            assert_eq!((performed, decisions), ((applied, Verdict::NewView(why)), once), "{op}");
        }
        let chain: Chain = "(3, 2).permute(1, 0).reshape(3, 2)".parse().unwrap();
        let (reason, decisions) = counted(|| chain.progress(None).reason());
        assert!(matches!((reason, decisions), (Some(Unmerged::Witness(_)), 1)));
        // On a taller stack, too: runs of three are no pairs, and the pair under the new one is as it was.
        let tall: Chain = "(6, 35).permute(1, 0).reshape(10, 21).permute(1, 0)".parse().unwrap();
        let tall = tall.tracker().unwrap();
        let (taller, decisions) = counted(|| tall.reshape([6, 35]).unwrap());
        assert_eq!((tall.views().len(), taller.views().len(), decisions), (2, 3, 1));
    }

    #[test]
    fn found_by_a_growing_chain_the_height_of_a_stack_is_limited() {
        let mut st = ShapeTracker::contiguous([6, 35]).unwrap();
        let error = loop {
            let turned = st.permute([1, 0]).unwrap();
            let (rows, columns) = (st.shape()[0], st.shape()[1]);
            let shape = if (rows, columns) == (6, 35) { [10, 21] } else { [6, 35] };
            match turned.reshape(shape) {
                Ok(grown) => st = grown,
                Err(err) => break err,
            }
        };
        assert_eq!(error.kind(), ErrorKind::TooManyViews);
        assert_eq!(st.views().len(), crate::MAX_VIEWS);
    }

    #[test]
    fn a_middle_view_is_split_where_the_view_below_has_its_boundaries() {
        // The perfect shuffle of 8 elements, three times over, is no shuffle at all; of 16 it takes four times.
        let shuffled = |n: i64, times: usize| {
            (0..times).fold(ShapeTracker::contiguous([n]).unwrap(), |st, _| {
                st.reshape([2, n / 2]).unwrap().permute([1, 0]).unwrap().reshape([n]).unwrap()
            })
        };
        let heights = |n: i64| (0..6).map(|times| shuffled(n, times).views().len()).collect::<Vec<_>>();
        assert_eq!(heights(8), [1, 2, 2, 1, 2, 2]);
        assert_eq!(heights(16), [1, 2, 2, 2, 1, 2]);
    }
}
