//! Boxes of elements on their way down through the views of a tracker, cut into parts on which every digit is affine.
//!
//! A view takes a position apart into digits of its shape, and makes an address of them. On a box of indices of the view above,
//! the position is affine: a base, and for each index a step. It is taken apart digit by digit, from the innermost on. A digit
//! is affine on the box, too, unless a sum of steps carries into the next one; then the box is cut where it does. What is left
//! goes on, so that on every part that arrives at the lowest view all digits are affine, and all elements are valid. The
//! affine forms whose values stay inside their digits' ranges, and whose weighted sum is the position, are the digits: a
//! position has only one way to be written with digits. So nothing here rests on which cuts are made, only how many there are.
//!
//! A step that goes through all values of a digit many times is not cut at each carry, but becomes two: one that goes through
//! them, and one that counts how often. A run of any length is then a few parts.
//!
//! There are two ways to go. *Indices* keep their axes: a part is a box of the tensor's indices, and what arrives are
//! strided views; a step may become two only where its axis can be split evenly. *Positions* forget which index they come from:
//! only the set counts, so that steps that continue each other are joined on the way.

use shapetracker::View;
use smallvec::SmallVec;

pub(crate) type List = SmallVec<[i64; 6]>;

/// An affine function of some numbers, each of which starts at 0.
#[derive(Clone, Debug)]
pub(crate) struct Form {
    pub(crate) base: i64,
    /// What each of them is multiplied by. Of a number that is always 0 it means nothing.
    pub(crate) steps: List,
}

impl Form {
    /// The least and the greatest value; both are attained.
    pub(crate) fn bounds(&self, counts: &[i64]) -> (i128, i128) {
        let (mut low, mut high) = (i128::from(self.base), i128::from(self.base));
        for (step, count) in self.steps.iter().zip(counts) {
            let reach = i128::from(*step) * i128::from(count - 1);
            low += reach.min(0);
            high += reach.max(0);
        }
        (low, high)
    }

    /// Which numbers it depends on.
    pub(crate) fn involved<'a>(&'a self, counts: &'a [i64]) -> impl Iterator<Item = usize> + 'a {
        (0..counts.len()).filter(|at| counts[*at] > 1 && self.steps[*at] != 0)
    }

    /// Of the numbers that it depends on, the one that changes it most.
    pub(crate) fn widest(&self, counts: &[i64]) -> Option<usize> {
        let reach = |at: &usize| i128::from(self.steps[*at]).abs() * i128::from(counts[*at] - 1);
        self.involved(counts).max_by_key(reach)
    }
}

/// A part of a box: for each number how many values it has, and forms over them.
#[derive(Clone, Debug)]
pub(crate) struct Part {
    pub(crate) counts: List,
    /// For indices: the axes of the box as they are split, outermost first, one for each number; and the index along it at which
    /// the number is 0.
    pub(crate) shape: List,
    pub(crate) lows: List,
    /// Where the elements of the axes begin among those of the box: a part may be a slice of it.
    pub(crate) start: i64,
    /// The digits that are known, innermost first, and last what is left to be taken apart.
    pub(crate) forms: SmallVec<[Form; 4]>,
    /// How many levels it has yet to go through, and of how many digits of the next one all values are valid.
    depth: usize,
    clipped: usize,
}

impl Part {
    /// Keeps the values of a number from `begin` to `end`.
    fn narrow(&mut self, at: usize, begin: i64, end: i64) {
        for form in &mut self.forms {
            form.base = form.base.wrapping_add(begin.wrapping_mul(form.steps[at]));
        }
        if let Some(low) = self.lows.get_mut(at) {
            *low += begin;
        }
        self.counts[at] = end - begin;
    }

    /// Keeps the first values of a number, and returns the part that has the others.
    pub(crate) fn split_off(&mut self, at: usize, first: i64) -> Part {
        let mut rest = self.clone();
        rest.narrow(at, first, self.counts[at]);
        self.counts[at] = first;
        rest
    }

    /// Writes a number as two, so that the second one has so many values and the first counts how often they are gone through;
    /// and the axis of indices likewise, as [`Part::nests`] says that it can be.
    fn nest(&mut self, at: usize, period: i64) {
        if !self.divides(at, period, 0) {
            self.slice(at);
        }
        for form in &mut self.forms {
            form.steps.insert(at, form.steps[at].wrapping_mul(period));
        }
        self.counts.insert(at, self.counts[at] / period);
        self.counts[at + 1] = period;
        if !self.lows.is_empty() {
            self.shape.insert(at, self.shape[at] / period);
            self.shape[at + 1] = period;
            self.lows.insert(at, self.lows[at] / period);
            self.lows[at + 1] = 0;
        }
    }

    /// Whether an axis can be split into periods that begin so many elements after number `at` is 0: evenly, or after it was cut
    /// to the part's own range, which in the order of the elements is a slice if all axes around it have one value.
    fn nests(&self, at: usize, period: i64, first: i64) -> bool {
        self.divides(at, period, first) || self.counts[..at].iter().all(|count| *count == 1)
    }

    fn divides(&self, at: usize, period: i64, first: i64) -> bool {
        self.lows.is_empty() || (self.shape[at] % period == 0 && (self.lows[at] + first) % period == 0)
    }

    /// Leaves out the elements of the box before and after those of number `at`; all numbers before it have one value.
    fn slice(&mut self, at: usize) {
        let inside: i64 = self.shape[at + 1..].iter().product();
        let before = self.lows[..=at].iter().zip(&self.shape).fold(0, |sum, (low, size)| sum * size + low);
        self.start += before * inside;
        self.shape[..at].fill(1);
        self.lows[..=at].fill(0);
        self.shape[at] = self.counts[at];
    }

    /// Leaves out what comes before and after all elements of the part, as far as that is a slice of the box.
    pub(crate) fn sliced(mut self) -> Part {
        if let Some(at) = self.counts.iter().position(|count| *count > 1).or(self.counts.len().checked_sub(1)) {
            self.slice(at);
        }
        self
    }
}

/// A view as digits of a position.
#[derive(Clone, Debug)]
pub(crate) struct Level {
    /// Innermost first.
    pub(crate) digits: Vec<Digit>,
    offset: i64,
}

/// One digit of a position.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Digit {
    size: i64,
    /// The values that are valid.
    begin: i64,
    end: i64,
    /// What the address takes of it.
    stride: i64,
}

impl Level {
    /// A view that has valid elements. Neighbouring axes that the view walks through as one are one digit.
    pub(crate) fn of(view: &View) -> Level {
        let mut digits: Vec<Digit> = Vec::new();
        for axis in (0..view.rank()).rev().filter(|axis| view.shape()[*axis] > 1) {
            let (size, stride) = (view.shape()[axis], view.strides()[axis]);
            let (begin, end) = view.mask().map_or((0, size), |mask| mask[axis]);
            match digits.last_mut() {
                Some(inner)
                    if (inner.begin, inner.end) == (0, inner.size)
                        && inner.stride.checked_mul(inner.size) == Some(stride) =>
                {
                    (inner.begin, inner.end) = (begin * inner.size, end * inner.size);
                    inner.size *= size;
                }
                _ => digits.push(Digit { size, begin, end, stride }),
            }
        }
        Level { digits, offset: view.offset() }
    }

    /// Digits of these sizes, innermost first, all of which are valid, and of which nothing is made.
    pub(crate) fn plain(sizes: impl IntoIterator<Item = i64>) -> Level {
        let digit = |size| Digit { size, begin: 0, end: size, stride: 0 };
        Level { digits: sizes.into_iter().map(digit).collect(), offset: 0 }
    }

    /// The address, by the digits' forms. What is valid has an address that fits, so that sums that leave `i64` come back.
    pub(crate) fn address(&self, part: &Part) -> Form {
        let mut address = Form { base: self.offset, steps: SmallVec::from_elem(0, part.counts.len()) };
        for (digit, form) in self.digits.iter().zip(&part.forms) {
            address.base = address.base.wrapping_add(digit.stride.wrapping_mul(form.base));
            for (sum, step) in address.steps.iter_mut().zip(&form.steps) {
                *sum = sum.wrapping_add(digit.stride.wrapping_mul(*step));
            }
        }
        address
    }
}

/// What is kept of the elements on their way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Keep {
    Indices,
    Positions,
}

/// Why a descent ends before it is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stopped;

/// One way down.
pub(crate) struct Descent<'a> {
    /// The views under the one whose indices the box has, the lowest first.
    pub(crate) levels: &'a [Level],
    pub(crate) keep: Keep,
    /// How much may still be done: each digit of each part is one.
    pub(crate) work: &'a mut u64,
    /// Whether some element is masked.
    pub(crate) masked: bool,
    /// Whether to stop there.
    pub(crate) until_masked: bool,
}

impl Descent<'_> {
    /// The box of a view's indices on its way down to level number `lowest`. `arrived` gets each part with the digits of that
    /// level; with no levels it gets the box itself, whose last form is the address.
    ///
    /// # Errors
    /// Too little work; a masked element, if that is what is looked for; what `arrived` says.
    pub(crate) fn start(
        &mut self,
        view: &View,
        region: &[(i64, i64)],
        arrived: &mut dyn FnMut(&mut Self, Part) -> Result<(), Stopped>,
    ) -> Result<(), Stopped> {
        if region.iter().any(|(begin, end)| begin == end) {
            return Ok(());
        }
        if view.is_empty() {
            return self.meet_masked();
        }
        let (mut shape, mut lows, mut counts) = (List::new(), List::new(), List::new());
        let mut address = Form { base: view.offset(), steps: view.strides().into() };
        for (axis, &(begin, end)) in region.iter().enumerate() {
            let (first, past) =
                view.mask().map_or((begin, end), |mask| (begin.max(mask[axis].0), end.min(mask[axis].1)));
            if first > begin || past < end {
                self.meet_masked()?;
            }
            if first >= past {
                return Ok(());
            }
            address.base = address.base.wrapping_add(first.wrapping_mul(address.steps[axis]));
            shape.push(end - begin);
            lows.push(first - begin);
            counts.push(past - first);
        }
        let (forms, depth) = (SmallVec::from_iter([address]), self.levels.len());
        self.go(Part { counts, shape, lows, start: 0, forms, depth, clipped: 0 }, arrived)
    }

    fn meet_masked(&mut self) -> Result<(), Stopped> {
        self.masked = true;
        if self.until_masked { Err(Stopped) } else { Ok(()) }
    }

    pub(crate) fn spend(&mut self) -> Result<(), Stopped> {
        *self.work = self.work.checked_sub(1).ok_or(Stopped)?;
        Ok(())
    }

    /// Takes a part down, whose only form is a position among the elements of the next level.
    ///
    /// The parts that are cut off wait in one list, because a stack may have hundreds of views.
    fn go(
        &mut self,
        part: Part,
        arrived: &mut dyn FnMut(&mut Self, Part) -> Result<(), Stopped>,
    ) -> Result<(), Stopped> {
        let levels = self.levels;
        let mut waiting = vec![self.entering(part)];
        'parts: while let Some(mut part) = waiting.pop() {
            let Some(level) = part.depth.checked_sub(1).map(|number| &levels[number]) else {
                arrived(self, part)?;
                continue;
            };
            while part.clipped < level.digits.len() {
                self.spend()?;
                let at = part.clipped;
                if at + 1 < level.digits.len() && part.forms.len() == at + 1 {
                    if misses(level, at, &part) {
                        self.meet_masked()?;
                        continue 'parts;
                    }
                    if !Self::divide(&mut part, level.digits[at].size, &mut waiting) {
                        continue;
                    }
                }
                let Digit { begin, end, .. } = level.digits[at];
                if !self.clip(&mut part, at, (begin, end), &mut waiting)? {
                    continue 'parts;
                }
                part.clipped += 1;
            }
            if part.depth == 1 {
                arrived(self, part)?;
            } else {
                part.forms = SmallVec::from_iter([level.address(&part)]);
                (part.depth, part.clipped) = (part.depth - 1, 0);
                waiting.push(self.entering(part));
            }
        }
        Ok(())
    }

    /// A part before the next level.
    fn entering(&self, mut part: Part) -> Part {
        if self.keep == Keep::Indices {
            return part;
        }
        part.lows.clear();
        part.shape.clear();
        joined(part)
    }

    /// Takes a digit of a size from the last form, if it is affine: the form becomes the digit, and what is left the last
    /// one. Otherwise a part is cut off, or a number becomes two, and the answer is no.
    fn divide(part: &mut Part, size: i64, waiting: &mut Vec<Part>) -> bool {
        let Some(form) = part.forms.last() else { return false };
        let (base, mut steps) = (form.base.rem_euclid(size), List::from_elem(0, part.counts.len()));
        for at in 0..part.counts.len() {
            let (count, up) = (part.counts[at], part.forms[part.forms.len() - 1].steps[at].rem_euclid(size));
            if count == 1 || up == 0 {
                continue;
            }
            // A step moves the digit up, or down by the rest. Of more than one step only one of both can stay inside.
            let down = size - up;
            let (above, below) = ((size - 1 - base) / up + 1, base / down + 1);
            if count <= above || count <= below {
                steps[at] = if count <= above { up } else { -down };
                continue;
            }
            // From a carry on, the digit goes through the same values again and again.
            let period = size / gcd(up, size);
            let (carried, first) = if period.checked_mul(up) == Some(size) {
                (base < up, above)
            } else if period.checked_mul(down) == Some(size) {
                (base >= size - down, below)
            } else {
                (true, 0)
            };
            if count <= period || !part.nests(at, period, if carried { 0 } else { first }) {
                waiting.push(part.split_off(at, above.max(below)));
            } else if !carried {
                waiting.push(part.split_off(at, first));
            } else if count % period == 0 {
                part.nest(at, period);
            } else {
                waiting.push(part.split_off(at, count - count % period));
            }
            return false;
        }
        let (counts, form) = (&part.counts, &part.forms[part.forms.len() - 1]);
        let digit = Form { base, steps };
        let (low, high) = digit.bounds(counts);
        let limit = i128::from(size);
        if low < 0 || high >= limit {
            // One by one the numbers stay inside, and together they carry. Of the steps in the direction that does, some one
            // may be cut where the others cannot carry with it; otherwise the widest is halved.
            let cut = (0..counts.len()).find_map(|at| {
                let step = i128::from(digit.steps[at]);
                let reach = step * i128::from(counts[at] - 1);
                let first = match step {
                    1.. if high >= limit && high - reach < limit => (limit - 1 - (high - reach)) / step + 1,
                    ..=-1 if low < 0 && low - reach >= 0 => (low - reach) / -step + 1,
                    _ => return None,
                };
                Some((at, first as i64))
            });
            let halved = || digit.widest(counts).map(|at| (at, counts[at] / 2));
            let cut = cut.or_else(halved);
            if let Some((at, first)) = cut {
                waiting.push(part.split_off(at, first));
            }
            return false;
        }
        let rest = Form {
            base: form.base.div_euclid(size),
            steps: form.steps.iter().zip(&digit.steps).map(|(step, digit)| (step - digit) / size).collect(),
        };
        part.forms.pop();
        part.forms.extend([digit, rest]);
        true
    }

    /// Cuts off what lies outside the valid values of a digit. No, if nothing is left.
    fn clip(
        &mut self,
        part: &mut Part,
        digit: usize,
        (begin, end): (i64, i64),
        waiting: &mut Vec<Part>,
    ) -> Result<bool, Stopped> {
        loop {
            let form = &part.forms[digit];
            let (low, high) = form.bounds(&part.counts);
            if low >= begin.into() && high < end.into() {
                return Ok(true);
            }
            // Both bounds are attained.
            self.meet_masked()?;
            if high < begin.into() || low >= end.into() {
                return Ok(false);
            }
            let involved: List = form.involved(&part.counts).map(|at| at as i64).collect();
            match involved[..] {
                [at] => {
                    let at = at as usize;
                    let (base, step) = (i128::from(form.base), i128::from(form.steps[at]));
                    let (begin, end) = (i128::from(begin) - base, i128::from(end) - base);
                    // The first step at which a multiple of the step is not below a bound, or, downwards, no longer above it.
                    let steps = |bound: i128| match step {
                        1.. => -(-bound).div_euclid(step),
                        _ => (-bound).div_euclid(-step) + 1,
                    };
                    let (first, past) = if step > 0 { (begin, end) } else { (end, begin) };
                    let (first, past) = (steps(first), steps(past));
                    let count = i128::from(part.counts[at]);
                    let (first, past) = (first.clamp(0, count), past.clamp(0, count));
                    if first >= past {
                        return Ok(false);
                    }
                    part.narrow(at, first as i64, past as i64);
                    return Ok(true);
                }
                _ => {
                    self.spend()?;
                    let Some(at) = form.widest(&part.counts) else { return Ok(false) };
                    let half = part.counts[at] / 2;
                    waiting.push(part.split_off(at, half));
                }
            }
        }
    }
}

/// Whether no value of the outermost digit can be valid, by what is left of a position before digit number `at` is taken.
fn misses(level: &Level, at: usize, part: &Part) -> bool {
    let (Some(form), Some((outer, others))) = (part.forms.last(), level.digits.split_last()) else { return false };
    if (outer.begin, outer.end) == (0, outer.size) {
        return false;
    }
    let under: i128 = others[at..].iter().map(|digit| i128::from(digit.size)).product();
    let (low, high) = form.bounds(&part.counts);
    low.div_euclid(under) >= outer.end.into() || high.div_euclid(under) < outer.begin.into()
}

/// The same positions, which are the values of the only form, with all steps positive and ascending, and those as one that
/// continue each other.
fn joined(mut part: Part) -> Part {
    let Some(form) = part.forms.pop() else { return part };
    let (base, steps) = progressions(&form, &part.counts);
    let form = Form { base, steps: steps.iter().map(|(step, _)| *step).collect() };
    part.counts = steps.iter().map(|(_, count)| *count).collect();
    part.forms.push(form);
    part
}

/// The values of a form as a set: the least one, and steps with their counts from the smallest step on.
///
/// Steps of `b` join steps of `a`, of which there are `n`, if `b = k a` with `k <= n`: the runs that begin at the multiples
/// of `b` follow each other without a gap, or overlap.
pub(crate) fn progressions(form: &Form, counts: &[i64]) -> (i64, SmallVec<[(i64, i64); 6]>) {
    let mut base = form.base;
    let mut steps: SmallVec<[(i64, i64); 6]> = SmallVec::new();
    for at in form.involved(counts) {
        let (step, count) = (form.steps[at], counts[at]);
        if step < 0 {
            base = base.wrapping_add(step.wrapping_mul(count - 1));
        }
        steps.push((step.wrapping_abs(), count));
    }
    steps.sort_unstable();
    let mut kept: SmallVec<[(i64, i64); 6]> = SmallVec::new();
    for (step, count) in steps {
        match kept.iter_mut().find(|(finer, times)| step % *finer == 0 && step / *finer <= *times) {
            Some((finer, times)) => *times += (step / *finer) * (count - 1),
            None => kept.push((step, count)),
        }
    }
    (base, kept)
}

/// The greatest common divisor of two numbers that are not negative.
fn gcd(a: i64, b: i64) -> i64 {
    if b == 0 { a } else { gcd(b, a % b) }
}
