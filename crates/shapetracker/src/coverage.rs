//! How often addresses are read: counts per range of addresses, by walking the elements or, for one view, in closed form.

use std::ops::Range;

use shapetracker_base::int::{div_ceil, div_floor};

use crate::merge::Undecided;
use crate::summary::{Descent, Part};
use crate::{AddressRun, ShapeTracker, View};

/// A tracker of at most so many elements is walked.
const MOST_ELEMENTS: i64 = 1 << 24;
/// The longest range of addresses for which each address has a bit that says whether it is read.
const MOST_BITS: u64 = 1 << 28;
/// The most buckets of a coverage.
const MOST_BUCKETS: usize = 1 << 24;
/// How many entries of axes the closed form may look at for all buckets together.
const MOST_STEPS: usize = 1 << 22;
/// How many digits of parts of a stack of views may be looked at, to find what its elements read.
const MOST_DIGITS: u64 = 1 << 17;
/// The same where one part is all that is looked for.
const MOST_DIGITS_OF_ONE: u64 = 1 << 10;

impl ShapeTracker {
    /// How many elements read the addresses of a half-open range, in buckets of equally many neighbouring addresses.
    ///
    /// The buckets have the least width of which `buckets` are enough, and the last one may be shorter. There is at
    /// least one address in each; more than 2^24 buckets, and 0, count as that many and as 1.
    ///
    /// ```
    /// use shapetracker::ShapeTracker;
    ///
    /// // Windows of three elements over six addresses.
    /// let windows = ShapeTracker::contiguous([6])?.as_strided([4, 3], [1, 1], 0)?;
    /// assert_eq!(windows.coverage(0..6, 6)?.reads(), [1, 2, 3, 3, 2, 1]);
    /// let halves = windows.coverage(0..6, 2)?;
    /// assert_eq!((halves.reads(), halves.distinct()), (&[6, 6][..], Some(vec![3, 3])));
    ///
    /// // Of one view, whatever its size: 2^40 elements that read 2^20 addresses 2^20 times each.
    /// let broadcast = ShapeTracker::contiguous([1 << 20, 1])?.expand([1 << 20, 1 << 20])?;
    /// assert_eq!(broadcast.coverage(0..1 << 20, 4)?.reads(), [1 << 38; 4]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`Undecided`] for more than 2^24 elements, which would have to be walked, whose addresses fall apart into too many
    /// parts on which they are sums of multiples of strides, or into parts whose strides overlap so much that counting
    /// reaches the work limit; unless all views only reorder, so that every address of a range is read once.
    ///
    /// # Cost
    /// Up to 2^24 elements a few operations for each; beyond, for each bucket and part a search over the axes, of which the
    /// entries that lie inside the bucket as a whole are counted and not visited. Memory: eight bytes per bucket, and a bit
    /// per address where there are at most 2^28.
    pub fn coverage(&self, addresses: Range<i64>, buckets: usize) -> Result<Coverage, Undecided> {
        let mut coverage = Coverage::over(addresses, buckets);
        if self.numel() <= MOST_ELEMENTS {
            for run in self.runs() {
                if let AddressRun::Valid { first, step, count } = run {
                    coverage.add(first, step, count);
                }
            }
        } else if let Some((low, high)) = self.reads_a_whole_range() {
            coverage.add_sums(&Sums::through(low, high), &mut { MOST_STEPS + MOST_BUCKETS })?;
        } else {
            // Each bucket is looked at once, and as often again as there are steps.
            let mut steps = MOST_STEPS + coverage.reads.len();
            for sums in self.sums(MOST_DIGITS, usize::MAX).ok_or(Undecided)? {
                coverage.add_sums(&sums, &mut steps)?;
            }
        }
        if coverage.distinct().is_none() {
            coverage.multiplicity = self.nested_multiplicity().or_else(|| self.multiplicity().ok().flatten());
        }
        Ok(coverage)
    }

    /// The ends of a range of which every address is read by one element, where that shows: where no view masks any, all
    /// have nested strides, and there are as many elements as addresses that the lowest view has.
    fn reads_a_whole_range(&self) -> Option<(i64, i64)> {
        let views = self.views();
        let (low, high) = views[0].address_range()?;
        let is_one_to_one = |view: &View| view.mask().is_none() && has_nested_strides(view);
        let range = i128::from(high) - i128::from(low) + 1;
        (range == i128::from(self.numel()) && views.iter().all(is_one_to_one)).then_some((low, high))
    }

    /// The addresses that are read as parts, each of them sums of multiples of strides; `None` at the work limit or with too
    /// many parts.
    fn sums(&self, mut digits: u64, most: usize) -> Option<Vec<Sums>> {
        let (last, under) = self.views().split_last()?;
        if self.views().iter().any(View::is_empty) {
            return Some(Vec::new());
        }
        if under.is_empty() {
            return Some(Sums::of(last).into_iter().collect());
        }
        let mut parts = Vec::new();
        digits = digits.max(1);
        Descent::of(under, digits)?.all_of(last, &mut |part| {
            if parts.len() <= most {
                parts.push(Sums::of_part(part));
            }
        })?;
        (parts.len() <= most).then_some(parts)
    }

    /// How many elements read each address that is read at all, where that is one number for all of them; `None` where
    /// some address is read by more elements than another.
    ///
    /// It is 1 exactly for a tracker that [has no collision](ShapeTracker::collision). Where nothing is read it is 1 too.
    ///
    /// ```
    /// use shapetracker::ShapeTracker;
    ///
    /// let st = ShapeTracker::contiguous([3, 1])?;
    /// assert_eq!(st.multiplicity()?, Some(1));
    /// assert_eq!(st.expand([3, 1000])?.multiplicity()?, Some(1000));
    /// assert_eq!(ShapeTracker::contiguous([6])?.as_strided([4, 3], [1, 1], 0)?.multiplicity()?, None);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`Undecided`] at the work limit, and for several views of which two elements read one address.
    pub fn multiplicity(&self) -> Result<Option<i64>, Undecided> {
        if let Some(times) = self.nested_multiplicity() {
            return Ok(Some(times));
        }
        let Some(view) = self.as_view() else {
            return if self.collision()?.is_none() { Ok(Some(1)) } else { Err(Undecided) };
        };
        if view.is_empty() {
            return Ok(Some(1));
        }
        // Along an axis of stride 0 every address is read as often as the axis has entries. The rest of the view reads
        // its lowest address once, since every other entry of every axis moves the address up from there: either it
        // reads all addresses once, or they are not read equally often.
        let (mut times, mut moving) = (1, view.clone());
        for axis in (0..view.rank()).filter(|&axis| view.strides()[axis] == 0) {
            let (begin, end) = view.range(axis);
            times *= end - begin;
            let mut only = moving.shape().iter().map(|&size| (0, size)).collect::<Vec<_>>();
            only[axis] = (begin, begin + 1);
            moving = moving.shrink(only).map_err(|_| Undecided)?;
        }
        Ok(ShapeTracker::from(moving).collision()?.is_none().then_some(times))
    }

    /// [`ShapeTracker::multiplicity`] where it shows without solving an equation: where the strides of every view nest, each
    /// reaching past all that the smaller ones reach together, or those of the addresses of all elements, where these are
    /// sums of multiples of strides. `None` elsewhere, whatever the multiplicity is.
    ///
    /// ```
    /// use shapetracker::ShapeTracker;
    ///
    /// let st = ShapeTracker::contiguous([3, 1])?.expand([3, 1000])?;
    /// assert_eq!(st.nested_multiplicity(), Some(1000));
    /// // Strides 3 and 2 over sizes 2 and 3 interleave without meeting.
    /// let st = ShapeTracker::contiguous([8])?.as_strided([2, 3], [3, 2], 0)?;
    /// assert_eq!((st.nested_multiplicity(), st.multiplicity()?), (None, Some(1)));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn nested_multiplicity(&self) -> Option<i64> {
        if self.views().iter().all(has_nested_strides) {
            return Some(1);
        }
        match &self.sums(MOST_DIGITS_OF_ONE, 1)?[..] {
            [] => Some(1),
            // An axis of stride 0 reads every address as often as it has entries.
            [sums] => i64::try_from(sums.times).ok().filter(|_| sums.nest()),
            _ => None,
        }
    }
}

/// How many elements read the addresses of a range, in buckets; by [`ShapeTracker::coverage`], or collected one by one.
///
/// ```
/// use shapetracker::Coverage;
///
/// let mut coverage = Coverage::over(0..10, 5);
/// coverage.add(9, -3, 4); // 9, 6, 3, 0
/// coverage.add(0, 1, 2); // 0, 1
/// assert_eq!((coverage.width(), coverage.reads()), (2, &[3, 1, 0, 1, 1][..]));
/// assert_eq!(coverage.distinct(), Some(vec![2, 1, 0, 1, 1]));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Coverage {
    begin: i64,
    end: i64,
    width: u64,
    reads: Vec<i64>,
    /// Whether each address of the range is read, a bit each; nothing before the first read.
    bits: Vec<u64>,
    /// Whether the bits are kept: not for buckets of one address, which need none, nor for a range that is too long, nor
    /// where reads were counted without their addresses.
    keeps_bits: bool,
    /// How often every address that is read is read, where that is known otherwise.
    multiplicity: Option<i64>,
}

impl Coverage {
    /// Nothing is read yet of a half-open range of addresses, cut as [`ShapeTracker::coverage`] says. A range that ends
    /// before it begins is empty.
    ///
    /// ```
    /// assert_eq!(shapetracker::Coverage::over(-3..4, 3).reads(), [0, 0, 0]);
    /// ```
    pub fn over(addresses: Range<i64>, buckets: usize) -> Coverage {
        let (begin, end) = (addresses.start, addresses.end.max(addresses.start));
        // The length of a range of 64-bit integers fits without a sign.
        let length = end.wrapping_sub(begin) as u64;
        let width = length.div_ceil(buckets.clamp(1, MOST_BUCKETS) as u64).max(1);
        let reads = vec![0; length.div_ceil(width) as usize];
        let keeps_bits = width > 1 && length <= MOST_BITS;
        Coverage { begin, end, width, reads, bits: Vec::new(), keeps_bits, multiplicity: None }
    }

    /// Counts reads of `count` addresses: `first`, `first + step` and so on. Those outside the range are left out.
    ///
    /// ```
    /// let mut coverage = shapetracker::Coverage::over(2..5, 3);
    /// coverage.add(0, 1, 4);
    /// assert_eq!(coverage.reads(), [1, 1, 0]);
    /// ```
    ///
    /// # Cost
    /// A few operations for each of the addresses, inside the range or not.
    pub fn add(&mut self, first: i64, step: i64, count: i64) {
        self.multiplicity = None;
        if self.keeps_bits && self.bits.is_empty() {
            self.bits = vec![0; (self.length() / 64 + 1) as usize];
        }
        // The bucket and the place inside it move on by a quotient and a remainder, without a division per address.
        let width = i128::from(self.width);
        let place = i128::from(first) - i128::from(self.begin);
        let (mut bucket, mut inside) = (place.div_euclid(width) as i64, place.rem_euclid(width) as u64);
        let (whole, part) = (i128::from(step).div_euclid(width) as i64, i128::from(step).rem_euclid(width) as u64);
        let mut address = first;
        for _ in 0..count {
            if self.begin <= address && address < self.end {
                self.reads[bucket as usize] += 1;
                if self.keeps_bits {
                    let place = address.wrapping_sub(self.begin) as u64;
                    self.bits[(place / 64) as usize] |= 1 << (place % 64);
                }
            }
            // The difference of two addresses may be past `i64`: the sum is right all the same.
            address = address.wrapping_add(step);
            bucket = bucket.wrapping_add(whole);
            let left = self.width - inside;
            if part < left {
                inside += part;
            } else {
                inside = part - left;
                bucket = bucket.wrapping_add(1);
            }
        }
    }

    /// Counts reads of addresses without walking them.
    fn add_sums(&mut self, sums: &Sums, steps: &mut usize) -> Result<(), Undecided> {
        self.keeps_bits = false;
        // Only the buckets from that of the lowest address to that of the highest one have any.
        let (begin, width) = (i128::from(self.begin), i128::from(self.width));
        let bucket = |address: i128| div_floor(address - begin, width).clamp(0, self.reads.len() as i128) as usize;
        let (first, last) = (bucket(sums.lowest), bucket(sums.lowest + sums.reach[0]));
        for (number, reads) in self.reads.iter_mut().enumerate().take(last + 1).skip(first) {
            *steps = steps.checked_sub(1).ok_or(Undecided)?;
            let begin = begin + width * number as i128;
            let end = (begin + width).min(self.end.into());
            let found = sums.within(0, begin - sums.lowest, end - sums.lowest, steps).ok_or(Undecided)?;
            // At most the elements of the view.
            *reads += (found * sums.times) as i64;
        }
        Ok(())
    }

    /// The first address of the range.
    ///
    /// ```
    /// assert_eq!(shapetracker::Coverage::over(-3..4, 3).begin(), -3);
    /// ```
    pub fn begin(&self) -> i64 {
        self.begin
    }

    /// How many addresses there are in a bucket; the last one may have fewer.
    ///
    /// ```
    /// assert_eq!(shapetracker::Coverage::over(-3..4, 3).width(), 3);
    /// ```
    pub fn width(&self) -> u64 {
        self.width
    }

    /// For each bucket how many elements read one of its addresses.
    ///
    /// ```
    /// let st = shapetracker::ShapeTracker::contiguous([6])?.flip([0])?.step([2])?;
    /// assert_eq!(st.coverage(0..6, 3)?.reads(), [1, 1, 1]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn reads(&self) -> &[i64] {
        &self.reads
    }

    /// For each bucket how many of its addresses are read at all; `None` where that is not known: of a range of more than
    /// 2^28 addresses, or of a view too large to be walked, unless all addresses that are read are read equally often.
    ///
    /// ```
    /// let st = shapetracker::ShapeTracker::contiguous([4, 1])?.expand([4, 9])?;
    /// assert_eq!(st.coverage(0..6, 2)?.distinct(), Some(vec![3, 1]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn distinct(&self) -> Option<Vec<i64>> {
        if let Some(times) = self.multiplicity {
            return Some(self.reads.iter().map(|reads| reads / times).collect());
        }
        if self.width == 1 {
            return Some(self.reads.iter().map(|&reads| reads.min(1)).collect());
        }
        if !self.keeps_bits {
            return self.reads.iter().all(|&reads| reads == 0).then(|| self.reads.clone());
        }
        let bucket = |number: usize| {
            let begin = number as u64 * self.width;
            self.count(begin, begin.saturating_add(self.width).min(self.length()))
        };
        Some((0..self.reads.len()).map(bucket).collect())
    }

    /// The addresses of the range that are read, in order, each once; `None` where [`Coverage::distinct`] does not keep
    /// them apart: of a range of more than 2^28 addresses, or of a view too large to be walked.
    ///
    /// ```
    /// let st = shapetracker::ShapeTracker::contiguous([8])?.flip([0])?.step([3])?;
    /// let coverage = st.coverage(0..8, 1)?;
    /// assert_eq!(coverage.addresses().unwrap().collect::<Vec<_>>(), [1, 4, 7]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn addresses(&self) -> Option<impl Iterator<Item = i64> + '_> {
        if !self.keeps_bits && self.width != 1 {
            return None;
        }
        let single = if self.width == 1 { &self.reads[..] } else { &[] };
        let single = single.iter().enumerate().filter(|(_, reads)| **reads > 0).map(|(place, _)| place as u64);
        let marked = self.bits.iter().enumerate().flat_map(|(word, &bits)| {
            let mut bits = bits;
            std::iter::from_fn(move || {
                let bit = (bits != 0).then(|| u64::from(bits.trailing_zeros()))?;
                bits &= bits - 1;
                Some(word as u64 * 64 + bit)
            })
        });
        Some(single.chain(marked).map(|place| self.begin.wrapping_add(place as i64)))
    }

    fn length(&self) -> u64 {
        self.end.wrapping_sub(self.begin) as u64
    }

    /// How many bits there are between two places.
    fn count(&self, begin: u64, end: u64) -> i64 {
        // Without any read there are no bits yet.
        if begin >= end || self.bits.is_empty() {
            return 0;
        }
        let (first, last) = (begin / 64, (end - 1) / 64);
        let ones = |word: u64| {
            let mut bits = self.bits[word as usize];
            if word == first {
                bits &= u64::MAX << (begin % 64);
            }
            if word == last {
                bits &= u64::MAX >> (63 - (end - 1) % 64);
            }
            i64::from(bits.count_ones())
        };
        (first..=last).map(ones).sum()
    }
}

/// Addresses as sums of multiples of strides: of each axis `0`, `stride`, .., `stride * (size - 1)`,
/// counted from the lowest address, so that all strides are positive.
struct Sums {
    lowest: i128,
    /// Stride and size, the longest stride first; axes of stride 0 are left out.
    axes: Vec<(i128, i128)>,
    /// The largest sum of the axes from each on.
    reach: Vec<i128>,
    /// How many sums there are of the axes from each on, equal ones counted again.
    count: Vec<i128>,
    /// How many elements there are for each sum: the product of the sizes of the axes of stride 0.
    times: i128,
}

impl Sums {
    /// Whether every stride is longer than all that the shorter ones add up to.
    fn nest(&self) -> bool {
        self.axes.iter().zip(&self.reach[1..]).all(|((stride, _), rest)| stride > rest)
    }

    /// `None` where no element is valid.
    fn of(view: &View) -> Option<Sums> {
        if view.is_empty() {
            return None;
        }
        let mut sums = Sums::at(view.offset().into());
        for (axis, &stride) in view.strides().iter().enumerate() {
            let (begin, end) = view.range(axis);
            sums.lowest += i128::from(stride) * i128::from(begin);
            sums.add(stride, end - begin);
        }
        Some(sums.counted())
    }

    /// Of a part of a stack.
    fn of_part(part: &Part) -> Sums {
        let mut sums = Sums::at(part.address.into());
        part.axes.iter().for_each(|axis| sums.add(axis.address, axis.count));
        sums.times *= i128::from(part.times);
        sums.counted()
    }

    /// All addresses from one to another one.
    fn through(low: i64, high: i64) -> Sums {
        let mut sums = Sums::at(low.into());
        sums.axes.push((1, i128::from(high) - i128::from(low) + 1));
        sums.counted()
    }

    /// One address.
    fn at(lowest: i128) -> Sums {
        Sums { lowest, axes: Vec::new(), reach: Vec::new(), count: Vec::new(), times: 1 }
    }

    /// An axis of so many entries; with one its stride is of no consequence.
    fn add(&mut self, stride: i64, size: i64) {
        if size == 1 {
            return;
        }
        let (size, stride) = (i128::from(size), i128::from(stride));
        self.lowest += stride.min(0) * (size - 1);
        match stride.abs() {
            0 => self.times *= size,
            stride => self.axes.insert(self.axes.partition_point(|axis| *axis > (stride, size)), (stride, size)),
        }
    }

    /// With reach and count of its axes, which are all there.
    fn counted(mut self) -> Sums {
        (self.reach, self.count) = (vec![0; self.axes.len() + 1], vec![1; self.axes.len() + 1]);
        for (at, (stride, size)) in self.axes.iter().enumerate().rev() {
            self.reach[at] = self.reach[at + 1] + stride * (size - 1);
            self.count[at] = self.count[at + 1] * size;
        }
        self
    }

    /// How many sums of the axes from one on lie in a half-open range; `None` at the work limit.
    fn within(&self, at: usize, low: i128, high: i128, steps: &mut usize) -> Option<i128> {
        if high <= 0 || low > self.reach[at] || low >= high {
            return Some(0);
        }
        if low <= 0 && self.reach[at] < high {
            return Some(self.count[at]);
        }
        let Some(&(stride, size)) = self.axes.get(at) else { return Some(0) };
        let rest = self.reach[at + 1];
        // The entries of which some sums lie in the range, and among them those of which all do: only what is left at
        // both ends has to be looked at further.
        let some = div_ceil(low - rest, stride).max(0)..(div_floor(high - 1, stride) + 1).min(size);
        let all = div_ceil(low, stride).max(some.start)..(div_floor(high - 1 - rest, stride) + 1).min(some.end);
        let all = if all.is_empty() { some.start..some.start } else { all };
        let mut found = (all.end - all.start) * self.count[at + 1];
        for entry in (some.start..all.start).chain(all.end..some.end) {
            *steps = steps.checked_sub(1)?;
            found += self.within(at + 1, low - entry * stride, high - entry * stride, steps)?;
        }
        Some(found)
    }
}

/// Whether every stride of a view is longer than all that the shorter ones add up to, as in any view that reorders,
/// cuts or pads a row-major one: then no two elements read the same address. The converse does not hold.
pub(crate) fn has_nested_strides(view: &View) -> bool {
    let Some(sums) = Sums::of(view) else { return true };
    sums.times == 1 && sums.nest()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::Rng;

    #[test]
    fn the_closed_form_counts_what_a_walk_counts() {
        let mut rng = Rng(11);
        for _ in 0..2_000 {
            let rank = rng.below(5) as usize;
            let shape: Vec<i64> = (0..rank).map(|_| 1 + rng.below(4) as i64).collect();
            let strides: Vec<i64> = (0..rank).map(|_| rng.below(25) as i64 - 8).collect();
            let mask: Option<Vec<(i64, i64)>> = (rng.below(3) == 0).then(|| {
                let range = |&size: &i64| (rng.below(size as u64) as i64, size);
                shape.iter().map(range).collect()
            });
            let view = View::new(&shape, &strides, rng.below(40) as i64 - 20, mask.as_deref()).unwrap();
            let (begin, length) = (rng.below(120) as i64 - 60, rng.below(100) as i64);
            let range = begin..begin + length;
            let mut closed = Coverage::over(range.clone(), 1 + rng.below(30) as usize);
            let mut walked = closed.clone();
            if let Some(sums) = Sums::of(&view) {
                closed.add_sums(&sums, &mut { MOST_STEPS }).unwrap();
            }
            ShapeTracker::from(view.clone()).addresses().flatten().for_each(|address| walked.add(address, 0, 1));
            assert_eq!(closed.reads(), walked.reads(), "{view} {range:?}");
        }
    }

    /// A tensor of some operations, many of which are several views.
    fn stacked(rng: &mut Rng) -> ShapeTracker {
        let mut st = ShapeTracker::contiguous([4, 6, 1]).unwrap();
        for _ in 0..7 {
            let rank = st.rank();
            let axis = rng.below(rank as u64) as usize;
            let next = match rng.below(6) {
                0 => st.permute((0..rank as i64).rev().collect::<Vec<_>>()),
                1 => st.pad((0..rank).map(|at| if at == axis { (1, 2) } else { (0, 0) }).collect::<Vec<_>>()),
                2 => st.step((0..rank).map(|at| if at == axis { [2, -1, -3][at % 3] } else { 1 }).collect::<Vec<_>>()),
                3 => st.expand(st.shape().iter().map(|&size| if size == 1 { 3 } else { size }).collect::<Vec<_>>()),
                _ => {
                    let divisors: Vec<i64> = (1..=st.numel()).filter(|size| st.numel() % size == 0).collect();
                    let size = divisors[rng.below(divisors.len() as u64) as usize];
                    st.reshape([st.numel() / size, size])
                }
            };
            st = next.unwrap();
        }
        st
    }

    #[test]
    fn the_closed_form_of_several_views_counts_what_a_walk_counts() {
        let (mut rng, mut several, mut times) = (Rng(5), 0, 0);
        for _ in 0..5_000 {
            let st = stacked(&mut rng);
            several += usize::from(st.views().len() > 1);
            let range = -1..rng.below(40) as i64;
            let mut closed = Coverage::over(range.clone(), 1 + rng.below(30) as usize);
            let mut walked = closed.clone();
            for sums in st.sums(MOST_DIGITS, usize::MAX).unwrap() {
                closed.add_sums(&sums, &mut { MOST_STEPS }).unwrap();
            }
            st.addresses().flatten().for_each(|address| walked.add(address, 0, 1));
            assert_eq!(closed.reads(), walked.reads(), "{st:?} {range:?}");
            let counts = st.addresses().flatten().fold([0; 24], |mut counts, address| {
                counts[address as usize] += 1;
                counts
            });
            let read: Vec<i64> = counts.into_iter().filter(|count| *count > 0).collect();
            if let Some(known) = st.nested_multiplicity() {
                assert!(read.iter().all(|count| *count == known), "{st:?} {counts:?} {known}");
                times += usize::from(st.views().len() > 1 && known > 1);
            }
            if let Some((low, high)) = st.reads_a_whole_range() {
                assert!(counts[low as usize..=high as usize].iter().all(|count| *count == 1), "{st:?} {counts:?}");
                assert_eq!(read.len() as i64, high - low + 1, "{st:?} {counts:?}");
            }
        }
        assert!(several > 1_000 && times > 50, "{several} stacks, {times} of which read each address several times");
    }

    #[test]
    fn every_range_of_addresses_can_be_counted() {
        let whole = Coverage::over(i64::MIN..i64::MAX, 1);
        assert_eq!((whole.width(), whole.reads()), (u64::MAX, &[0][..]));
        let mut ends = Coverage::over(i64::MIN..i64::MAX, 2);
        ends.add(i64::MAX - 1, -i64::MAX, 3);
        assert_eq!(ends.reads(), [2, 1]);
        assert_eq!(Coverage::over(i64::MIN..i64::MAX, usize::MAX).reads().len(), MOST_BUCKETS);
        #[allow(clippy::reversed_empty_ranges)]
        let reversed = Coverage::over(3..-3, 4);
        assert_eq!((reversed.width(), reversed.reads().len()), (1, 0));
    }
}
