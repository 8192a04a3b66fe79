//! A region of a tensor as loops: those that decide where there is data stand outside, and what they enclose is moved without
//! any further decision.
//!
//! An address is a linear form over axes and floors, and it has data where some linear forms lie in ranges. If the axes in
//! floors are fixed, the address is affine in all others. If of a condition all axes but one are fixed, it is a range of that
//! one. So the loops outside fix the axes that floors depend on, and of every condition all axes but one.

use std::ops::Range;

use shapetracker::expr::{Floor, Linear, Term};
use shapetracker_base::int::div_ceil_64;
use smallvec::SmallVec;

use crate::cover::Reading;
use crate::cover::region::{Extent, Region};
use crate::form::{Access, Condition};
use crate::kernels::{Checked, LINE, Small};
use crate::mover::{Axes, Axis, Inner, Mover};

/// Which side is the tracker's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Direction {
    /// From the tracker's buffer to a contiguous tensor.
    Read,
    /// From a contiguous tensor to the tracker's buffer.
    Write,
}

/// The loops for a region of a tensor. `run` runs them, and `cover` checks what they write.
#[derive(Clone, Debug)]
pub(crate) struct Nest {
    pub(crate) direction: Direction,
    /// Bytes per element.
    pub(crate) width: usize,
    /// Where the region begins in the contiguous tensor, in elements.
    pub(crate) start: i64,
    /// The loops outside, outermost first; the region's axes by number.
    pub(crate) outside: SmallVec<[(usize, Extent); 4]>,
    /// Whether the last of them leaps: it goes on by as many steps at a time as have the same floors and conditions. Its
    /// axis is among those of the mover, too.
    pub(crate) leaps: bool,
    pub(crate) floors: Vec<Floor>,
    /// The conditions, as they are decided at each turn of the loops outside.
    pub(crate) decided: Vec<Decided>,
    /// The conditions as the tracker has them, for those who read the plan.
    pub(crate) conditions: Vec<Condition>,
    /// The address where all that is moved along is at its first index.
    pub(crate) address: Linear,
    /// The lengths of the axes of which each turn moves a range. The last one is that of all data, an axis of one step or
    /// the one that leaps, if there are conditions that are left to it.
    pub(crate) spans: SmallVec<[usize; 4]>,
    /// Which of them is the axis that leaps.
    pub(crate) leap_span: usize,
    pub(crate) mover: Checked,
    /// The whole box precomputed, if it is small and has no loops outside.
    pub(crate) small: Option<Small>,
    /// The axis that leaps, if it is the only one that is moved along: leaps may be a few elements, for which setting up
    /// the mover would cost more than the move.
    pub(crate) single: Option<Axis>,
    /// Fills what the mover leaves out, if that does not.
    pub(crate) margins: Option<Checked>,
    /// An estimate of how many times something is moved.
    pub(crate) moves: f64,
    /// What is read first, if the loops read that and not the buffer.
    pub(crate) stage: Option<Box<Reading>>,
}

/// A condition without the one axis that is moved along, if there is one in it: of that the condition is a range.
#[derive(Clone, Debug)]
pub(crate) struct Decided {
    pub(crate) form: Linear,
    pub(crate) range: Range<i64>,
    /// The span of the axis, and the axis' factor.
    pub(crate) along: Option<(usize, i64)>,
}

impl Decided {
    /// What is left of the range where the form has a value. Where this is cut off at the ends of `i64` it is as far beyond
    /// all indices as before.
    #[inline]
    pub(crate) fn range_from(&self, value: i64) -> Range<i64> {
        self.range.start.saturating_sub(value)..self.range.end.saturating_sub(value)
    }
}

/// Bytes along one axis that can be counted with room to spare.
pub(crate) const MOST_BYTES: i128 = (i64::MAX / 4) as i128;

/// How many times its length an axis along which the tensor is contiguous counts when one is chosen to be moved along.
const CONTIGUOUS: i64 = 8;

impl Nest {
    /// The loops for a region, read or written through an access. `None` when its numbers leave `i64`.
    pub(crate) fn new(direction: Direction, width: usize, region: &Region, access: &Access) -> Option<Nest> {
        let extents = region.extents();
        if !can_be_counted(extents, access, width) {
            return None;
        }
        let never =
            |Condition { form, range }: &Condition| form.terms().is_empty() && !range.contains(&form.constant());
        if let Some(condition) = access.conditions.iter().find(|condition| never(condition)) {
            return Nest::without_data(direction, width, region, condition);
        }
        let chosen = Outside::choose(extents, access);
        let leaping = chosen.outside.last().copied().filter(|_| chosen.leaps);
        let (decided, mut spanned) = decided(access, &chosen);
        let leap_span = spanned.len();
        spanned.extend(leaping);
        let mut spans: SmallVec<[usize; 4]> = spanned.iter().map(|axis| extents[*axis].count as usize).collect();

        let mut axes: Axes<Axis> = Axes::new();
        let mut address = access.address.clone();
        for (number, extent) in extents.iter().enumerate() {
            if chosen.contains(number) && leaping != Some(number) {
                continue;
            }
            let factor = address.coefficient(Term::Variable(number));
            let span = spanned.iter().position(|of| *of == number);
            axes.push(Axis { span, ..axis(direction, width, *extent, factor)? });
            address = address.without(Term::Variable(number));
        }
        if leaping.is_none() && decided.iter().any(|condition| condition.along.is_none()) {
            axes.push(Axis { span: Some(spans.len()), ..Axis::new(1, 0, 0) });
            spans.push(1);
        }

        let mover = Checked::new(Mover::new(width, &axes), width);
        let fills = direction == Direction::Read && !decided.is_empty() && !matches!(mover.inner, Inner::Rows(..));
        Some(Nest {
            direction,
            width,
            start: region.start(),
            outside: chosen.outside.iter().map(|axis| (*axis, extents[*axis])).collect(),
            leaps: chosen.leaps,
            floors: access.floors.clone(),
            decided,
            conditions: access.conditions.clone(),
            address,
            spans,
            leap_span,
            small: if chosen.outside.is_empty() { Small::new(&mover) } else { None },
            single: axes.first().copied().filter(|_| chosen.leaps && axes.len() == 1),
            margins: fills.then(|| Checked::new(Mover::margins(width, &axes), width)),
            mover,
            moves: chosen.moves,
            stage: None,
        })
    }

    /// The loops for a region that has no data because of a condition: nothing is moved, all is filled.
    fn without_data(direction: Direction, width: usize, region: &Region, condition: &Condition) -> Option<Nest> {
        let axes = region.extents().iter().map(|extent| axis(direction, width, *extent, 0));
        let all_data = Axis { span: Some(0), ..Axis::new(1, 0, 0) };
        let axes: Axes<Axis> = axes.chain([Some(all_data)]).collect::<Option<_>>()?;
        let Condition { form, range } = condition.clone();
        Some(Nest {
            direction,
            width,
            start: region.start(),
            outside: SmallVec::new(),
            leaps: false,
            floors: Vec::new(),
            decided: vec![Decided { form, range, along: None }],
            conditions: Vec::new(),
            address: Linear::default(),
            spans: SmallVec::from_elem(1, 1),
            leap_span: 1,
            mover: Checked::new(Mover::margins(width, &axes), width),
            small: None,
            single: None,
            margins: None,
            moves: 1.0,
            stage: None,
        })
    }

    /// Whether an address has a floor, and each element that is read is a part of a line and lies on another one than its
    /// neighbours.
    pub(crate) fn is_scattered(&self) -> bool {
        let far = |axis: &Axis| axis.from == 0 || axis.count == 1 || axis.from.unsigned_abs() >= LINE;
        let part_of_a_line = self.mover.unit < LINE;
        part_of_a_line
            && !self.floors.is_empty()
            && !matches!(self.mover.inner, Inner::Rows(..))
            && self.mover.axes().all(far)
    }

    /// How many elements it writes.
    pub(crate) fn numel(&self) -> i64 {
        let stepwise = self.outside.len() - usize::from(self.leaps);
        let outside: i64 = self.outside[..stepwise].iter().map(|(_, extent)| extent.count).product();
        let inside: i64 = self.mover.axes().map(|axis| axis.count as i64).product();
        outside * inside * (self.mover.unit / self.width) as i64
    }

    /// An estimate of what running it on one thread takes, in nanoseconds, where both sides are in caches.
    pub(crate) fn time(&self) -> f64 {
        // Bytes in a nanosecond.
        let speed = match &self.mover.inner {
            Inner::Rows(..) => 30.0,
            Inner::Shuffled(_) => 12.0,
            Inner::Tiles(_) if self.mover.unit >= 4 => 12.0,
            Inner::Tiles(_) | Inner::Strided(_) => 5.0,
        };
        self.cost() + self.numel() as f64 * self.width as f64 / speed
    }

    /// An estimate of what running it takes, in nanoseconds, but for the elements themselves: for each move so much to set it
    /// up, to divide for every floor and to sum up every form.
    pub(crate) fn cost(&self) -> f64 {
        let floors = self.floors.iter().map(|floor| 2 + floor.numerator.terms().len());
        let decided = self.decided.iter().map(|condition| 1 + condition.form.terms().len());
        let terms = self.address.terms().len() + floors.chain(decided).sum::<usize>();
        let set_up = if self.single.is_some() { 20.0 } else { 150.0 };
        let movers = 1.0 + f64::from(u8::from(self.margins.is_some()));
        self.moves * (movers * set_up + 5.0 * terms as f64)
    }
}

/// Whether the bytes along each axis can be counted, on both sides. What a mask or a floor takes away again may leave `i64`
/// before it does, which is no harm: such sums wrap, and wrap back.
fn can_be_counted(extents: &[Extent], access: &Access, width: usize) -> bool {
    extents.iter().enumerate().all(|(axis, extent)| {
        let factor = access.address.coefficient(Term::Variable(axis));
        let steps = [factor, extent.stride].map(|step| i128::from(step).abs() * i128::from(extent.count));
        steps.iter().all(|step| step.checked_mul(width as i128).is_some_and(|bytes| bytes <= MOST_BYTES))
    })
}

/// An axis of the mover, of so many elements per step in the tracker's buffer.
fn axis(direction: Direction, width: usize, extent: Extent, factor: i64) -> Option<Axis> {
    let bytes = |elements: i64| isize::try_from(elements.checked_mul(i64::try_from(width).ok()?)?).ok();
    let (tracker, tensor) = (bytes(factor)?, bytes(extent.stride)?);
    let (from, to) = if direction == Direction::Read { (tracker, tensor) } else { (tensor, tracker) };
    Some(Axis::new(usize::try_from(extent.count).ok()?, from, to))
}

/// The conditions as they are decided under a choice of loops outside, and the axes of which they are ranges.
fn decided(access: &Access, chosen: &Outside) -> (Vec<Decided>, SmallVec<[usize; 4]>) {
    let mut spanned: SmallVec<[usize; 4]> = SmallVec::new();
    let decided = access.conditions.iter().map(|Condition { form, range }| {
        let mut form = form.clone();
        let inside = form.variables().find(|axis| !chosen.contains(*axis));
        let along = inside.map(|axis| {
            let span = spanned.iter().position(|of| *of == axis).unwrap_or_else(|| {
                spanned.push(axis);
                spanned.len() - 1
            });
            let factor = form.coefficient(Term::Variable(axis));
            form = std::mem::take(&mut form).without(Term::Variable(axis));
            (span, factor)
        });
        Decided { form, range: range.clone(), along }
    });
    (decided.collect(), spanned)
}

/// The steps at which their multiple by a factor lies in a range; begin and end.
#[inline]
pub(crate) fn steps_within(range: Range<i64>, factor: i64) -> (i64, i64) {
    let Range { start, end } = range;
    if factor > 0 {
        return (div_ceil_64(start, factor), div_ceil_64(end, factor));
    }
    let turned = |number: i64| 1i64.saturating_sub(number);
    (div_ceil_64(turned(end), factor.saturating_abs()), div_ceil_64(turned(start), factor.saturating_abs()))
}

/// The axes that are looped over outside of what is moved.
#[derive(Debug, Default)]
pub(crate) struct Outside {
    /// The region's axes by number, outermost first; one that leaps last.
    outside: SmallVec<[usize; 4]>,
    leaps: bool,
    /// An estimate of how many times something is moved.
    moves: f64,
}

impl Outside {
    /// Whether an axis is looped over outside, be it in leaps.
    pub(crate) fn contains(&self, axis: usize) -> bool {
        self.outside.contains(&axis)
    }

    /// The choice with the fewest turns so that every floor is decided outside, and every condition but for one axis. Of the
    /// axes in floors each is tried as the one that leaps.
    pub(crate) fn choose(extents: &[Extent], access: &Access) -> Outside {
        let mut divided: Vec<usize> = access.floors.iter().flat_map(|floor| floor.numerator.variables()).collect();
        divided.sort_unstable();
        divided.dedup();
        let candidates = divided.iter().map(|axis| Some(*axis));
        let each = candidates.map(|leaping| Outside::with(extents, access, &divided, leaping));
        let each = each.chain(divided.is_empty().then(|| Outside::with(extents, access, &divided, None)));
        let stride = |chosen: &Outside| chosen.outside.last().map_or(0, |axis| extents[*axis].stride.abs());
        let least = each.min_by(|one, other| one.moves.total_cmp(&other.moves).then(stride(one).cmp(&stride(other))));
        least.unwrap_or_default()
    }

    /// The choice with one axis that leaps. Something is moved as often as the other loops turn, times the leaps of this one,
    /// which end whenever a floor changes.
    fn with(extents: &[Extent], access: &Access, divided: &[usize], leaping: Option<usize>) -> Outside {
        let count = |axis: usize| extents[axis].count as f64;
        let mut outside: SmallVec<[usize; 4]> = divided.iter().copied().filter(|axis| Some(*axis) != leaping).collect();
        // A condition that changes with what leaps, or with floors, is decided outside altogether.
        for condition in &access.conditions {
            let form = &condition.form;
            if !form.is_affine() || leaping.is_some_and(|axis| form.coefficient(Term::Variable(axis)) != 0) {
                outside.extend(form.variables().filter(|axis| Some(*axis) != leaping));
            }
        }
        // The others keep one axis inside: the longest, and rather one along which the tensor is contiguous.
        let mut by_count: Vec<usize> = (0..extents.len()).collect();
        by_count.sort_by_key(|axis| {
            let Extent { count, stride } = extents[*axis];
            if stride.abs() == 1 { count.saturating_mul(CONTIGUOUS) } else { count }
        });
        for axis in by_count {
            let several = |form: &Linear| form.variables().filter(|axis| !outside.contains(axis)).count() > 1;
            let mut forms = access.conditions.iter().map(|condition| &condition.form);
            if !outside.contains(&axis)
                && forms.any(|form| form.coefficient(Term::Variable(axis)) != 0 && several(form))
            {
                outside.push(axis);
            }
        }
        outside.sort_unstable();
        outside.dedup();
        let mut moves: f64 = outside.iter().map(|axis| count(*axis)).product();
        if let Some(axis) = leaping {
            let breaks = |factor: i64, divisor: f64| factor.unsigned_abs() as f64 * count(axis) / divisor;
            let floors = access
                .floors
                .iter()
                .map(|floor| breaks(floor.numerator.coefficient(Term::Variable(axis)), floor.divisor as f64));
            moves *= 1.0 + floors.sum::<f64>().min(count(axis));
            outside.push(axis);
        }
        Outside { outside, leaps: leaping.is_some(), moves }
    }
}
