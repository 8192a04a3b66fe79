//! What blocks of elements read, without going through them: how many are valid, the lowest, the highest and the sum of their
//! addresses.

use shapetracker_base::int::gcd;
use smallvec::SmallVec;

use crate::merge::Undecided;
use crate::merge::level::{Digit, Level};
use crate::{AddressLines, AddressRun, ShapeTracker, View};

/// Blocks of several views that hold at most so many elements together are walked where nothing shorter is found.
const MOST_ELEMENTS: i64 = 1 << 24;
/// How many digits of parts of blocks may be looked at before walking, or giving up.
const MOST_STEPS: u64 = 1 << 22;
/// After so many blocks it is seen whether that will do.
const TRIED: u64 = 1 << 10;

/// What some elements read.
///
/// ```
/// use shapetracker::{Joined, ShapeTracker};
///
/// let st = ShapeTracker::contiguous([2, 3])?.permute([1, 0])?.pad([(0, 0), (0, 1)])?;
/// let whole = st.summaries(0, &Joined::new([0, 1], [0, 9]), &Joined::new([], [0, 1]), &[0, 0]).unwrap()[0];
/// assert_eq!((whole.elements(), whole.valid(), whole.range()), (9, 6, Some((0, 5))));
/// assert_eq!(whole.mean(), Some(2.5));
/// # Ok::<(), shapetracker::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Summary {
    elements: i64,
    valid: i64,
    low: i64,
    high: i64,
    sum: i128,
}

impl Summary {
    /// Some elements, all of which are masked as far as is known yet.
    pub(crate) fn of(elements: i64) -> Summary {
        Summary { elements, valid: 0, low: i64::MAX, high: i64::MIN, sum: 0 }
    }

    /// Adds valid elements to those known.
    fn add(&mut self, valid: i64, low: i64, high: i64, sum: i128) {
        self.valid += valid;
        self.low = self.low.min(low);
        self.high = self.high.max(high);
        self.sum = self.sum.wrapping_add(sum);
    }

    /// How many elements there are, masked ones included.
    ///
    /// ```
    /// use shapetracker::{Joined, ShapeTracker};
    ///
    /// // Columns 3 and 4 of every row: of a row of five the last one is padding.
    /// let st = ShapeTracker::contiguous([2, 4])?.pad([(0, 0), (0, 1)])?;
    /// let rows = Joined::new([0], [0, 2]);
    /// let block = st.summaries(0, &rows, &Joined::new([1], [3, 5]), &[0, 0]).unwrap()[0];
    /// assert_eq!((block.elements(), block.valid()), (4, 2));
    /// assert_eq!((block.range(), block.sum(), block.mean()), (Some((3, 7)), 10, Some(5.0)));
    /// let masked = st.summaries(0, &rows, &Joined::new([1], [4, 5]), &[0, 0]).unwrap()[0];
    /// assert_eq!((masked.elements(), masked.valid(), masked.range(), masked.mean()), (2, 0, None, None));
    /// # Ok::<(), shapetracker::Error>(())
    /// ```
    pub fn elements(&self) -> i64 {
        self.elements
    }

    /// How many of them are not masked; [`Summary::elements`] has an example.
    pub fn valid(&self) -> i64 {
        self.valid
    }

    /// The lowest and the highest address that one of them reads; `None` where all are masked.
    /// [`Summary::elements`] has an example.
    pub fn range(&self) -> Option<(i64, i64)> {
        (self.valid > 0).then_some((self.low, self.high))
    }

    /// The sum of the addresses that they read; [`Summary::elements`] has an example.
    pub fn sum(&self) -> i128 {
        self.sum
    }

    /// The mean of the addresses that they read, but for the rounding of floating-point numbers; `None` where all are masked.
    /// [`Summary::elements`] has an example.
    pub fn mean(&self) -> Option<f64> {
        (self.valid > 0).then(|| self.sum as f64 / self.valid as f64)
    }
}

/// Some axes of a tensor joined into one, the last one running fastest, and cut into blocks: block `k` reaches from
/// `edges[k]` up to `edges[k + 1]`.
///
/// Without axes the joined axis has one entry, and without two edges there is no block. Edges outside the joined axis
/// count as its ends, and a block that ends before it begins is empty.
///
/// ```
/// use shapetracker::{Joined, ShapeTracker};
///
/// // Axes 0 and 2 of a tensor as rows: 8 of them, in blocks of 3, 3 and 2.
/// let rows = Joined::new([0, 2], [0, 3, 6, 8]);
/// assert_eq!(rows.blocks(), 3);
/// let st = ShapeTracker::contiguous([2, 3, 4])?;
/// let blocks = st.summaries(0, &rows, &Joined::new([1], [0, 3]), &[0, 0, 0]).unwrap();
/// assert_eq!(blocks.iter().map(|block| block.elements()).collect::<Vec<_>>(), [9, 9, 6]);
/// # Ok::<(), shapetracker::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Joined {
    axes: Vec<usize>,
    edges: Vec<i64>,
}

impl Joined {
    /// Axes and edges; see the example of [`Joined`].
    pub fn new(axes: impl Into<Vec<usize>>, edges: impl Into<Vec<i64>>) -> Joined {
        Joined { axes: axes.into(), edges: edges.into() }
    }

    /// How many blocks there are; see the example of [`Joined`].
    pub fn blocks(&self) -> usize {
        self.edges.len().saturating_sub(1)
    }

    /// The ends of a block of an axis of some size.
    fn block(&self, number: usize, size: i64) -> (i64, i64) {
        let begin = self.edges[number].clamp(0, size);
        (begin, self.edges[number + 1].clamp(begin, size))
    }
}

impl ShapeTracker {
    /// What the blocks of a rectangle of elements read, row by row: its rows and its columns are axes joined and cut, and
    /// `fixed` has an entry per axis, which counts where the axis is neither.
    ///
    /// Addresses are those of view number `lowest`, as for [`AddressLines::of`]. An axis that does not exist or that stands
    /// twice, and an index of another rank or outside the shape, count as no elements.
    ///
    /// ```
    /// use shapetracker::{Joined, ShapeTracker};
    ///
    /// // A transposed matrix of 10^12 elements, flattened: every block of a row's length is a column of the matrix.
    /// let st = ShapeTracker::contiguous([1_000_000, 1_000_000])?.permute([1, 0])?.reshape([1_000_000_000_000])?;
    /// let columns = Joined::new([0], [0, 1_000_000, 2_000_000]);
    /// let blocks = st.summaries(0, &Joined::new([], [0, 1]), &columns, &[0]).unwrap();
    /// assert_eq!(blocks[1].range(), Some((1, 999_999_000_001)));
    /// assert_eq!(blocks[1].mean(), Some(499_999_500_001.0));
    /// # Ok::<(), shapetracker::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Undecided`] for several views whose blocks hold more than 2^24 elements, where they fall apart into too many parts
    /// on which the address is affine.
    ///
    /// # Cost
    /// Of one view a few operations for each block, whatever its size, and for each edge as many as there are axes. Of
    /// several views as many for each part of a block on which the address is affine; with too many parts, a few for each
    /// element.
    pub fn summaries(
        &self,
        lowest: usize,
        rows: &Joined,
        columns: &Joined,
        fixed: &[i64],
    ) -> Result<Vec<Summary>, Undecided> {
        let views = self.views();
        let lowest = lowest.min(views.len() - 1);
        let nothing = vec![Summary::of(0); rows.blocks() * columns.blocks()];
        let Some(last) = self.views().last() else { return Ok(nothing) };
        let mut free = vec![false; last.rank()];
        let mut once = |axis: &usize| free.get_mut(*axis).is_some_and(|free| !std::mem::replace(free, true));
        if last.numel() == 0 || !rows.axes.iter().chain(&columns.axes).all(&mut once) || fixed.len() != last.rank() {
            return Ok(nothing);
        }
        let inside = |axis: usize| free[axis] || (0..last.shape()[axis]).contains(&fixed[axis]);
        if !(0..last.rank()).all(inside) {
            return Ok(nothing);
        }
        let sides = [Side::of(last, rows), Side::of(last, columns)];
        let masked = sides[0]
            .lines
            .iter()
            .flat_map(|row| sides[1].lines.iter().map(|column| Summary::of(row.elements * column.elements)));
        let masked = masked.collect::<Vec<_>>();
        let under = &views[lowest..views.len() - 1];
        let shown = |axis: usize| free[axis] || (last.range(axis).0..last.range(axis).1).contains(&fixed[axis]);
        if last.is_empty() || under.iter().any(View::is_empty) || !(0..last.rank()).all(shown) {
            return Ok(masked);
        }
        // The address where all axes of the sides are at the first valid index.
        let at = |axis: usize| if free[axis] { last.range(axis).0 } else { fixed[axis] };
        let origin = (0..last.rank()).map(|axis| i128::from(last.strides()[axis]) * i128::from(at(axis)));
        let origin = i128::from(last.offset()) + origin.sum::<i128>();
        if under.is_empty() {
            return Ok(of_one_view(masked, origin, &sides));
        }
        let elements = masked.iter().fold(0i64, |sum, block| sum.saturating_add(block.elements));
        let found = of_parts(masked.clone(), origin as i64, &sides, under);
        match found {
            Some(found) => Ok(found),
            None if elements <= MOST_ELEMENTS => Ok(self.walked(masked, lowest, [rows, columns], &sides, fixed)),
            None => Err(Undecided),
        }
    }

    /// Summaries by going through all elements.
    fn walked(
        &self,
        mut blocks: Vec<Summary>,
        lowest: usize,
        [rows, columns]: [&Joined; 2],
        sides: &[Side; 2],
        fixed: &[i64],
    ) -> Vec<Summary> {
        let lines = AddressLines::of(self, lowest);
        let mut index = fixed.to_vec();
        let shape = self.shape();
        // The line goes along the last axis of the columns; without columns it is one element long, along any axis.
        let along = columns.axes.last().copied();
        let width = columns.blocks();
        let ends: Vec<(i64, i64)> = (0..width).map(|column| columns.block(column, sides[1].size)).collect();
        for row in 0..rows.blocks() {
            let (begin, end) = rows.block(row, sides[0].size);
            let blocks = &mut blocks[row * width..][..width];
            for number in begin..end {
                place(&mut index, &rows.axes, shape, number);
                // Blocks that follow each other are one line, as far as the last axis goes.
                let mut column = 0;
                while column < width {
                    let first = column;
                    while column + 1 < width && ends[column].1 == ends[column + 1].0 {
                        column += 1;
                    }
                    let (mut at, end) = (ends[first].0, ends[column].1);
                    column += 1;
                    let mut into = first;
                    while at < end {
                        place(&mut index, &columns.axes, shape, at);
                        let left = along.map_or(1, |axis| shape[axis] - index[axis]);
                        for run in lines.follow(&index, along.unwrap_or(0) as i64, 1, left.min(end - at)) {
                            let (mut done, count) = (0, run.count());
                            while done < count {
                                while ends[into].1 <= at {
                                    into += 1;
                                }
                                let here = (count - done).min(ends[into].1 - at);
                                if let AddressRun::Valid { first, step, .. } = run {
                                    let first = first.wrapping_add(step.wrapping_mul(done));
                                    let last = first.wrapping_add(step.wrapping_mul(here - 1));
                                    let sum = (i128::from(first) + i128::from(last)) * i128::from(here) / 2;
                                    blocks[into].add(here, first.min(last), first.max(last), sum);
                                }
                                done += here;
                                at += here;
                            }
                        }
                    }
                }
            }
        }
        blocks
    }
}

/// Writes the entries of a joined axis into an index.
fn place(index: &mut [i64], axes: &[usize], shape: &[i64], number: i64) {
    let mut rest = number;
    for &axis in axes.iter().rev() {
        index[axis] = rest % shape[axis];
        rest /= shape[axis];
    }
}

/// The axes that move along a side, and how its blocks fall apart.
struct Side {
    /// How many entries the joined axis has.
    size: i64,
    lines: Vec<Line>,
}

/// A block of a side: boxes of indices of its axes.
struct Line {
    elements: i64,
    boxes: SmallVec<[Steps; 1]>,
}

/// The valid indices of a box: how far the first one moves the address from where all axes of the side are at their first
/// valid index, and then stride and size of each axis.
struct Steps {
    first: i128,
    axes: SmallVec<[(i64, i64); 4]>,
}

impl Side {
    fn of(view: &View, joined: &Joined) -> Side {
        let shape = view.shape();
        let size = joined.axes.iter().map(|axis| shape[*axis]).product();
        let line = |number| {
            let (begin, end) = joined.block(number, size);
            let (mut line, mut at) = (Line { elements: end - begin, boxes: SmallVec::new() }, begin);
            while at < end {
                at += line.boxed(view, &joined.axes, at, end);
            }
            line
        };
        Side { size, lines: (0..joined.blocks()).map(line).collect() }
    }
}

impl Line {
    /// Takes up the longest box of entries of the joined axes that begins at one of them and ends before another; returns
    /// how many entries it has.
    fn boxed(&mut self, view: &View, axes: &[usize], at: i64, end: i64) -> i64 {
        let mut found = Steps { first: 0, axes: SmallVec::new() };
        // The innermost axes of which the box has all entries, one of which it has some, and the others of which it has one.
        let (mut inside, mut rest, mut whole, mut valid) = (1, at, true, true);
        let mut length = 1;
        for &axis in axes.iter().rev() {
            let (size, (low, high)) = (view.shape()[axis], view.range(axis));
            let value = rest % size;
            rest /= size;
            let mut entries = (value, value + 1);
            if whole {
                // Every entry of this axis is as long as all that is inside.
                let count = ((end - at) / inside).min(size - value);
                entries.1 = value + count.max(1);
                whole = count == size;
                // A box that has some entries of this axis has all that is inside of it.
                length = inside * count.max(1);
                inside *= size;
            }
            let (begin, end) = (entries.0.max(low), entries.1.min(high));
            valid &= begin < end;
            let stride = view.strides()[axis];
            found.first += i128::from(stride) * i128::from(begin - low);
            if end - begin > 1 {
                found.axes.push((stride, end - begin));
            }
        }
        if valid {
            self.boxes.push(found);
        }
        length
    }
}

impl Steps {
    /// How many indices there are, the least and the greatest move, and the sum of all.
    fn total(&self) -> (i64, i128, i128, i128) {
        let count = self.axes.iter().map(|(_, size)| size).product::<i64>();
        let (mut low, mut high, mut sum) = (self.first, self.first, self.first.wrapping_mul(count.into()));
        for &(stride, size) in &self.axes {
            let reach = i128::from(stride) * i128::from(size - 1);
            low += reach.min(0);
            high += reach.max(0);
            // One of two numbers that follow each other is even.
            let half = i128::from(count / size) * (i128::from(size) * i128::from(size - 1) / 2);
            sum = sum.wrapping_add(i128::from(stride).wrapping_mul(half));
        }
        (count, low, high, sum)
    }
}

/// The blocks of one view: what a row moves the address by and what a column moves it by do not depend on each other.
fn of_one_view(mut blocks: Vec<Summary>, origin: i128, sides: &[Side; 2]) -> Vec<Summary> {
    let totals = |line: &Line| {
        let mut total = (0, i128::MAX, i128::MIN, 0i128);
        for (count, low, high, sum) in line.boxes.iter().map(Steps::total) {
            total = (total.0 + count, total.1.min(low), total.2.max(high), total.3.wrapping_add(sum));
        }
        total
    };
    let [rows, columns] = [0, 1].map(|side| sides[side].lines.iter().map(totals).collect::<Vec<_>>());
    for (number, block) in blocks.iter_mut().enumerate() {
        let (down, low_down, high_down, sum_down) = rows[number / columns.len()];
        let (along, low_along, high_along, sum_along) = columns[number % columns.len()];
        if down == 0 || along == 0 {
            continue;
        }
        // The sum is that of addresses, of which there are fewer than 2^63: it is in range whatever its parts are.
        let sum = sum_down.wrapping_mul(along.into()).wrapping_add(sum_along.wrapping_mul(down.into()));
        let sum = sum.wrapping_add(origin.wrapping_mul(i128::from(down) * i128::from(along)));
        let (low, high) = (origin + low_down + low_along, origin + high_down + high_along);
        block.add(down * along, low as i64, high as i64, sum);
    }
    blocks
}

/// The blocks of several views, as parts on which the address is affine; `None` at the work limit.
fn of_parts(mut blocks: Vec<Summary>, origin: i64, sides: &[Side; 2], under: &[View]) -> Option<Vec<Summary>> {
    let mut descent = Descent::of(under, MOST_STEPS)?;
    let all = blocks.len() as u64;
    let mut blocks_left = blocks.iter_mut().zip(1u64..);
    for row in &sides[0].lines {
        for column in &sides[1].lines {
            let (block, number) = blocks_left.next()?;
            // Where the blocks so far say that the work will not do, what is left of it is not spent.
            if number % TRIED == 0 && (MOST_STEPS - descent.work) * all > MOST_STEPS * number {
                return None;
            }
            for down in &row.boxes {
                for along in &column.boxes {
                    // Positions among the elements of the view under this one are never negative.
                    let first = origin.wrapping_add((down.first + along.first) as i64);
                    let axes = down.axes.iter().chain(&along.axes).copied();
                    descent.go(first, axes, &mut |part| part.add_to(block))?;
                }
            }
        }
    }
    Some(blocks)
}

/// Boxes on their way down through views: each is cut into parts on which all digits of its positions are affine.
///
/// A box is a base and steps, of which only the multiset of positions matters. Its positions are taken apart digit by digit,
/// innermost first. A step is split into what it moves the digit by and what it carries on; that is the digit on the whole
/// part, unless the sum of all moves leaves the digit's range. Then the part is cut where it does, or, where a step goes
/// through all values of the digit several times, the step becomes two. Cuts change how many parts there are and not what they
/// are: whatever is cut, each part that arrives has its digits inside their ranges, and a position is digits in one way only.
pub(crate) struct Descent {
    /// The lowest first.
    levels: Vec<Level>,
    waiting: Vec<Part>,
    /// How many digits of parts may still be looked at.
    work: u64,
}

/// A part of a box, on its way through a level.
#[derive(Clone, Debug)]
pub(crate) struct Part {
    /// What is left of the position, and what is known of the address.
    rest: i64,
    pub(crate) address: i64,
    /// How many elements there are for each combination of steps.
    pub(crate) times: i64,
    pub(crate) axes: SmallVec<[Axis; 6]>,
    /// How many levels there are to go through, and which digit of the topmost comes next.
    depth: usize,
    digit: usize,
}

/// Equal steps of a part.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Axis {
    /// How many values there are; one more than there are steps.
    pub(crate) count: i64,
    rest: i64,
    pub(crate) address: i64,
}

/// What a digit does on a part: its value at the first element, by how much each step of an axis moves it, and how far all of
/// them together move it down and up.
///
/// A step of the position moves the digit by no more than itself, so that what all of them do together is less than the
/// number of elements of the level, whose size the digit's is at most: neither leaves `i64`, though their sum may.
struct Values {
    first: i64,
    steps: SmallVec<[i64; 6]>,
    down: i64,
    up: i64,
}

impl Values {
    /// The axis that moves the digit furthest.
    fn widest(&self, part: &Part) -> usize {
        let reach = |at: &usize| self.steps[*at].abs() * (part.axes[*at].count - 1);
        (0..self.steps.len()).max_by_key(reach).unwrap_or(0)
    }
}

impl Descent {
    /// Through some views that have something valid, the lowest first; `None` where differences of addresses leave 64 bits.
    pub(crate) fn of(views: &[View], work: u64) -> Option<Descent> {
        if let Some((low, high)) = views.first().and_then(View::address_range) {
            high.checked_sub(low)?;
        }
        Some(Descent { levels: views.iter().map(Level::of).collect(), waiting: Vec::new(), work })
    }

    /// Takes the valid indices of a view down, which has some and lies on these, and hands out the parts that arrive. `None` at
    /// the work limit.
    pub(crate) fn all_of(&mut self, view: &View, arrived: &mut dyn FnMut(&Part)) -> Option<()> {
        let mut first = view.offset();
        let axes: SmallVec<[(i64, i64); 8]> = (view.strides().iter().enumerate())
            .map(|(axis, &stride)| {
                let (begin, end) = view.range(axis);
                first = first.wrapping_add(stride.wrapping_mul(begin));
                (stride, end - begin)
            })
            .collect();
        self.go(first, axes.into_iter(), arrived)
    }

    /// Takes the positions of a box down, and hands out the parts that arrive. `None` at the work limit.
    pub(crate) fn go(
        &mut self,
        first: i64,
        axes: impl Iterator<Item = (i64, i64)>,
        arrived: &mut dyn FnMut(&Part),
    ) -> Option<()> {
        let axes = axes.map(|(step, count)| Axis { count, rest: 0, address: step }).collect();
        let part = Part { rest: 0, address: first, times: 1, axes, depth: self.levels.len(), digit: 0 };
        self.waiting.clear();
        self.enter(part, arrived);
        while let Some(part) = self.waiting.pop() {
            self.through(part, arrived)?;
        }
        Some(())
    }

    /// A part whose addresses are positions of the next level; at the lowest it arrives.
    fn enter(&mut self, mut part: Part, arrived: &mut dyn FnMut(&Part)) {
        let Some(level) = part.depth.checked_sub(1).map(|number| &self.levels[number]) else {
            return arrived(&part);
        };
        part.rest = part.address;
        part.address = level.offset as i64;
        part.digit = 0;
        for axis in &mut part.axes {
            axis.rest = std::mem::take(&mut axis.address);
        }
        part.join();
        self.waiting.push(part);
    }

    /// Takes a part through its level; what is cut off waits. `None` at the work limit.
    fn through(&mut self, mut part: Part, arrived: &mut dyn FnMut(&Part)) -> Option<()> {
        loop {
            self.work = self.work.checked_sub(1)?;
            let level = &self.levels[part.depth - 1];
            let Some(&digit) = level.digits.get(part.digit) else {
                part.depth -= 1;
                self.enter(part, arrived);
                return Some(());
            };
            let size = if part.digit + 1 < level.digits.len() { digit.size } else { 0 };
            let values = part.values(size);
            if size > 0 && (values.down > values.first || values.up >= size - values.first) {
                part.carry(size, &values, &mut self.waiting);
                continue;
            }
            let (low, high) = (values.first - values.down, values.first + values.up);
            if high < digit.begin || low >= digit.end {
                return Some(());
            } else if digit.begin <= low && high < digit.end {
                part.take(&digit, size, &values);
            } else if !part.clip(&digit, &values, &mut self.waiting) {
                return Some(());
            }
        }
    }
}

/// How far a step moves a digit: up or down, whichever is less; any step that is all there is left moves it as it is.
fn moved(step: i64, size: i64) -> i64 {
    if size == 0 {
        return step;
    }
    let up = step.rem_euclid(size);
    if up > size - up { up - size } else { up }
}

impl Part {
    fn values(&self, size: i64) -> Values {
        let first = if size == 0 { self.rest } else { self.rest.rem_euclid(size) };
        let mut values = Values { first, steps: SmallVec::new(), down: 0, up: 0 };
        for axis in &self.axes {
            // What is left of an axis of one value is of no consequence.
            let step = if axis.count > 1 { moved(axis.rest, size) } else { 0 };
            let reach = step * (axis.count - 1);
            *if reach < 0 { &mut values.down } else { &mut values.up } += reach.abs();
            values.steps.push(step);
        }
        values
    }

    /// Takes the digit from the position, which is affine on the part.
    fn take(&mut self, digit: &Digit, size: i64, values: &Values) {
        self.address = self.address.wrapping_add(digit.stride.wrapping_mul(values.first));
        self.rest = if size == 0 { 0 } else { (self.rest - values.first) / size };
        for (axis, step) in self.axes.iter_mut().zip(&values.steps).filter(|(axis, _)| axis.count > 1) {
            axis.address = axis.address.wrapping_add(digit.stride.wrapping_mul(*step));
            if axis.rest != 0 {
                axis.rest = if size == 0 { 0 } else { (axis.rest - step) / size };
            }
        }
        self.digit += 1;
    }

    /// Keeps some values of an axis.
    fn narrow(&mut self, at: usize, begin: i64, end: i64) {
        let axis = &mut self.axes[at];
        self.rest = self.rest.wrapping_add(axis.rest.wrapping_mul(begin));
        self.address = self.address.wrapping_add(axis.address.wrapping_mul(begin));
        axis.count = end - begin;
    }

    /// Cuts off the values of an axis from one on.
    fn cut(&mut self, at: usize, from: i64, waiting: &mut Vec<Part>) {
        let mut other = self.clone();
        other.narrow(at, from, self.axes[at].count);
        self.axes[at].count = from;
        waiting.push(other);
    }

    /// Goes through an axis the other way round.
    fn reflect(&mut self, at: usize) {
        let axis = &mut self.axes[at];
        self.rest = self.rest.wrapping_add(axis.rest.wrapping_mul(axis.count - 1));
        self.address = self.address.wrapping_add(axis.address.wrapping_mul(axis.count - 1));
        axis.rest = axis.rest.wrapping_neg();
        axis.address = axis.address.wrapping_neg();
    }

    /// Where the moves leave the range of the digit: makes a smaller part.
    fn carry(&mut self, size: i64, values: &Values, waiting: &mut Vec<Part>) {
        let at = values.widest(self);
        let Axis { count, rest, .. } = self.axes[at];
        let step = values.steps[at];
        // From here all is as if the step went up: how far the digit is from its end, and how much of that all others take.
        let (left, all) = if step > 0 { (size - 1 - values.first, values.up) } else { (values.first, values.down) };
        let others = all - step.abs() * (count - 1);
        let step = step.abs();
        // How many values there are before the digit of this axis alone carries.
        let alone = left / step + 1;
        let period = (i128::from(size) / gcd(rest.into(), size.into())) as i64;
        if count > period {
            if size - 1 - left >= step && alone < count {
                return self.cut(at, alone, waiting);
            }
            if count % period > 0 {
                self.cut(at, count - count % period, waiting);
            }
            // All values of the digit that the step reaches, and how often it goes through them.
            let axis = &mut self.axes[at];
            let times = axis.count / period;
            axis.count = period;
            if times > 1 {
                let (rest, address) = (rest.wrapping_mul(period), axis.address.wrapping_mul(period));
                self.axes.push(Axis { count: times, rest, address });
            }
            return;
        }
        // How many values there are before it carries together with all others.
        let cut = if others <= left { (left - others) / step + 1 } else { alone };
        self.cut(at, if cut < count { cut } else { count / 2 }, waiting);
    }

    /// Where some values of the digit may be masked and some not: leaves out or cuts off some. Returns whether any are left.
    fn clip(&mut self, digit: &Digit, values: &Values, waiting: &mut Vec<Part>) -> bool {
        let at = values.widest(self);
        let step = values.steps[at];
        if step < 0 {
            self.reflect(at);
            return true;
        }
        let count = self.axes[at].count;
        // The digit where the others are least and where they are greatest.
        let (low, high) = (values.first - values.down, values.first + values.up - step * (count - 1));
        let before =
            |bound: i64, value: i64| if bound <= value { 0 } else { ((bound - value - 1) / step + 1).min(count) };
        let some = (before(digit.begin, high), before(digit.end, low));
        let all = (before(digit.begin, low), before(digit.end, high));
        if some.0 >= some.1 {
            // The digit steps over all values that are valid.
            return false;
        }
        if some != (0, count) {
            self.narrow(at, some.0, some.1);
        } else if all.0 >= all.1 {
            self.cut(at, 1, waiting);
        } else if all.1 < count {
            self.cut(at, all.1, waiting);
        } else {
            self.cut(at, all.0, waiting);
        }
        true
    }

    /// Joins steps that continue each other, all of which go up. Only the multiset of positions matters.
    fn join(&mut self) {
        for at in 0..self.axes.len() {
            if self.axes[at].rest < 0 {
                self.reflect(at);
            }
        }
        // The shortest steps first; those of no length and those of one value are left out. There are few of them.
        let mut axes = SmallVec::<[Axis; 6]>::new();
        for axis in std::mem::take(&mut self.axes) {
            if axis.rest == 0 {
                self.times *= axis.count;
            } else if axis.count > 1 {
                let place = axes.iter().take_while(|other| other.rest < axis.rest).count();
                axes.insert(place, axis);
            }
        }
        for axis in axes {
            match self.axes.last_mut() {
                Some(inner) if inner.rest.checked_mul(inner.count) == Some(axis.rest) => inner.count *= axis.count,
                _ => self.axes.push(axis),
            }
        }
    }

    /// Adds what the part reads. Differences of addresses are in range, so that the lowest and the highest are what sums that
    /// may leave it come back to.
    fn add_to(&self, block: &mut Summary) {
        let count = self.axes.iter().fold(self.times, |count, axis| count * axis.count);
        let (mut low, mut high) = (self.address, self.address);
        let mut sum = i128::from(self.address) * i128::from(count);
        for axis in self.axes.iter().filter(|axis| axis.count > 1) {
            let reach = axis.address.wrapping_mul(axis.count - 1);
            *if reach < 0 { &mut low } else { &mut high } += reach;
            // Half of the way on the mean: one of a number and the one before it is even.
            sum += i128::from(reach) * i128::from(count) / 2;
        }
        block.add(count, low, high, sum);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Chain;
    use crate::tests::Rng;

    /// What is walked where there are too many parts is what the parts are: the oracle's tests see only the parts.
    #[test]
    fn a_walk_finds_what_the_parts_are() {
        let chains = [
            "(4, 6).pad((1, 2), (0, 3)).permute(1, 0).reshape(3, 21).flip(1)",
            "(5, 4).permute(1, 0).reshape(20).pad((3, 4)).reshape(9, 3).permute(1, 0).reshape(27).step(-2)",
            "(2, 3, 4).permute(2, 0, 1).reshape(4, 6).expand(4, 6).flip(0).reshape(2, 3, 4)",
            "(6, 35).permute(1, 0).reshape(14, 15)",
        ];
        let mut rng = Rng(3);
        for text in chains {
            let st = text.parse::<Chain>().unwrap().tracker().unwrap();
            assert!(st.views().len() > 1, "{text}");
            for _ in 0..200 {
                let rank = st.rank();
                let across = rng.below(rank as u64 + 1) as usize;
                let fixed: Vec<i64> = st.shape().iter().map(|&size| rng.below(size as u64) as i64).collect();
                let mut joined = Vec::new();
                for axes in
                    [(0..across).collect::<Vec<_>>(), (across..rank).rev().skip(rng.below(2) as usize).collect()]
                {
                    let size: i64 = axes.iter().map(|axis| st.shape()[*axis]).product();
                    let mut edges: Vec<i64> = (0..4).map(|_| rng.below(size as u64 + 1) as i64).collect();
                    edges.sort_unstable();
                    joined.push(Joined::new(axes, edges));
                }
                let found = st.summaries(0, &joined[0], &joined[1], &fixed).unwrap();
                let sides = [0, 1].map(|side| Side::of(&st.views()[st.views().len() - 1], &joined[side]));
                let masked = found.iter().map(|block| Summary::of(block.elements)).collect();
                let walked = st.walked(masked, 0, [&joined[0], &joined[1]], &sides, &fixed);
                assert_eq!(found, walked, "{text} {joined:?} {fixed:?}");
            }
        }
    }
}
