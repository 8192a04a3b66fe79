//! How often addresses are read.

use shapetracker::View;

use crate::fault::Fault;
use crate::json::{Answer, Numbers, Value, object};
use crate::layout::Layout;
use crate::request::Fields as _;

/// The most addresses that are counted one by one.
const MOST_ADDRESSES: i64 = 1 << 24;
/// The most addresses that a list of bits is kept for.
pub(crate) const MOST_BITS: i64 = 1 << 28;
const MOST_BUCKETS: i64 = 1 << 16;
/// How many elements tell how the others may be spread.
const SAMPLE: i64 = 1 << 16;
/// How many steps all the buckets of an answer may take.
const MOST_WORK: usize = 1 << 22;

pub(crate) fn coverage(request: &Value) -> Result<Answer, Fault> {
    let layout = Layout::of(request, "source")?;
    let (begin, end) = (request.number("begin")?, request.number("end")?);
    let buckets = request.number("buckets")?.clamp(1, MOST_BUCKETS);
    let length = end.checked_sub(begin).filter(|length| *length >= 0);
    let length = length.ok_or_else(|| Fault::request("`begin` and `end` are a range of addresses"))?;
    let width = (length / buckets + i64::from(length % buckets != 0)).max(1);
    let count = length / width + i64::from(length % width != 0);
    let range = Buckets { begin, end, width, count };

    let found = if layout.too_many().is_none() {
        range.of_all(&layout)?
    } else {
        let exact = match &layout {
            Layout::Chain(tracker) => tracker.as_view().and_then(|view| range.of_view(view)),
            Layout::Free(_) => None,
        };
        exact.map_or_else(|| range.of_sample(&layout), Ok)?
    };
    let mut numbers = Numbers::default();
    let document = object! {
        "begin": begin,
        "width": width,
        "reads": numbers.floats(found.reads.into_iter()),
        "distinct": found.distinct.map(|distinct| numbers.floats(distinct.into_iter())),
        "exact": found.exact,
        "note": found.note,
    };
    Ok(Answer { document, numbers })
}

/// A range of addresses cut into pieces of one width, the last of which may be shorter.
struct Buckets {
    begin: i64,
    end: i64,
    width: i64,
    count: i64,
}

struct Found {
    reads: Vec<f64>,
    distinct: Option<Vec<f64>>,
    exact: bool,
    note: Option<String>,
}

impl Buckets {
    /// Goes through all elements.
    fn of_all(&self, layout: &Layout) -> Result<Found, Fault> {
        let mut reads = vec![0u32; self.count as usize];
        let alone = self.width == 1;
        let mut bits = (!alone && self.end - self.begin <= MOST_BITS).then(|| Bits::new(self.end - self.begin));
        layout.runs(&mut |run| {
            if !run.valid {
                return;
            }
            // The bucket and the place in it move on without a division an element.
            let (whole, part) = (run.step.div_euclid(self.width), run.step.rem_euclid(self.width));
            let mut address = run.first;
            let place = i128::from(run.first) - i128::from(self.begin);
            let mut bucket = place.div_euclid(self.width.into()) as i64;
            let mut inside = place.rem_euclid(self.width.into()) as i64;
            for _ in 0..run.count {
                if self.begin <= address && address < self.end {
                    reads[bucket as usize] += 1;
                    if let Some(bits) = &mut bits {
                        bits.set(address - self.begin);
                    }
                }
                address = address.wrapping_add(run.step);
                bucket = bucket.wrapping_add(whole);
                let left = self.width - inside;
                if part < left {
                    inside += part;
                } else {
                    inside = part - left;
                    bucket = bucket.wrapping_add(1);
                }
            }
        })?;
        let reads: Vec<f64> = reads.into_iter().map(f64::from).collect();
        let distinct = match bits {
            _ if alone => Some(reads.iter().map(|reads| reads.min(1.0)).collect()),
            Some(bits) => {
                let counted = (0..self.count).map(|bucket| {
                    let begin = bucket * self.width;
                    bits.count(begin, (begin + self.width).min(self.end - self.begin)) as f64
                });
                Some(counted.collect())
            }
            None => is_injective(layout).then(|| reads.clone()),
        };
        Ok(Found { reads, distinct, exact: true, note: None })
    }

    /// Counts by the strides of the only view, whatever its size; nothing where that would take too long.
    fn of_view(&self, view: &View) -> Option<Found> {
        let sums = Sums::of(view)?;
        let mut work = MOST_WORK;
        let mut reads = Vec::with_capacity(self.count as usize);
        for bucket in 0..self.count {
            let begin = i128::from(self.begin) + i128::from(bucket) * i128::from(self.width);
            let end = (begin + i128::from(self.width)).min(self.end.into());
            reads.push(sums.within(0, begin - sums.base, end - sums.base, &mut work)?);
        }
        // Where no two sums are equal, every address is read as often as the axes that do not move it say.
        let distinct = sums.are_distinct().then(|| reads.iter().map(|reads| *reads as f64).collect());
        let reads = reads.into_iter().map(|reads| (reads * sums.times) as f64).collect();
        Some(Found { reads, distinct, exact: true, note: None })
    }

    /// Guesses from elements that are evenly spread.
    fn of_sample(&self, layout: &Layout) -> Result<Found, Fault> {
        let mut reads = vec![0.0; self.count as usize];
        let sample = layout.most_samples().clamp(1, SAMPLE).min(layout.numel());
        let each = layout.numel() as f64 / sample as f64;
        let position = |number: i64| {
            let position = (i128::from(layout.numel()) * i128::from(number) / i128::from(sample)) as i64;
            // An even step would meet the same column again and again.
            position.saturating_add(scattered(number) % (each as i64).max(1)).min(layout.numel() - 1)
        };
        let positions: Vec<i64> = (0..sample).map(position).collect();
        for address in layout.addresses(&positions)?.into_iter().flatten() {
            if self.begin <= address && address < self.end {
                let place = i128::from(address) - i128::from(self.begin);
                reads[(place / i128::from(self.width)) as usize] += each;
            }
        }
        let note = format!("estimated from {sample} of the {} elements", layout.numel());
        Ok(Found { reads, distinct: None, exact: false, note: Some(note) })
    }
}

/// A number that looks like chance, the same every time.
fn scattered(number: i64) -> i64 {
    let mixed = (number as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    ((mixed ^ (mixed >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 1) as i64
}

/// A set of small natural numbers.
pub(crate) struct Bits(Vec<u64>);

impl Bits {
    pub(crate) fn new(length: i64) -> Bits {
        Bits(vec![0; length as usize / 64 + 1])
    }

    pub(crate) fn set(&mut self, at: i64) {
        self.0[at as usize / 64] |= 1 << (at % 64);
    }

    /// The bits, 64 at a time.
    pub(crate) fn words(&self) -> impl Iterator<Item = u64> + '_ {
        self.0.iter().copied()
    }

    /// How many there are in a half-open range.
    pub(crate) fn count(&self, begin: i64, end: i64) -> i64 {
        let below = |end: i64, word: usize| match end - word as i64 * 64 {
            bits @ 0..64 => (1u64 << bits) - 1,
            _ => u64::MAX,
        };
        if begin >= end {
            return 0;
        }
        let words = begin as usize / 64..=(end - 1) as usize / 64;
        let ones = |word: usize| {
            let mut bits = self.0[word] & below(end, word);
            if word == begin as usize / 64 {
                bits &= !below(begin, word);
            }
            i64::from(bits.count_ones())
        };
        words.map(ones).sum()
    }
}

/// The addresses of a view as sums of multiples of distinct strides: an axis of `size` multiples each, the largest
/// stride first, counted from the lowest address.
pub(crate) struct Sums {
    base: i128,
    /// Stride and size.
    axes: Vec<(i128, i128)>,
    /// The largest sum of the axes from each on.
    reach: Vec<i128>,
    /// How many sums there are of the axes from each on.
    count: Vec<i128>,
    /// How many elements read each.
    times: i128,
}

impl Sums {
    /// Nothing where no element is valid.
    pub(crate) fn of(view: &View) -> Option<Sums> {
        let (mut base, mut times, mut axes) = (i128::from(view.offset()), 1, Vec::new());
        for (axis, (&size, &stride)) in view.shape().iter().zip(view.strides()).enumerate() {
            let (begin, end) = view.mask().map_or((0, size), |mask| *mask.get(axis).unwrap_or(&(0, 0)));
            if begin >= end {
                return None;
            }
            let (size, stride) = (i128::from(end - begin), i128::from(stride));
            base += stride * i128::from(if stride < 0 { end - 1 } else { begin });
            match stride.abs() {
                0 => times *= size,
                stride => axes.insert(axes.partition_point(|axis| *axis > (stride, size)), (stride, size)),
            }
        }
        if view.mask().is_some_and(<[_]>::is_empty) {
            return None;
        }
        let (mut reach, mut count) = (vec![0; axes.len() + 1], vec![1; axes.len() + 1]);
        for (at, (stride, size)) in axes.iter().enumerate().rev() {
            reach[at] = reach[at + 1] + stride * (size - 1);
            count[at] = count[at + 1] * size;
        }
        Some(Sums { base, axes, reach, count, times })
    }

    /// How many elements read an address of a half-open range; nothing where counting them would take too long.
    #[cfg(test)]
    pub(crate) fn reads(&self, low: i128, high: i128) -> Option<i128> {
        Some(self.within(0, low - self.base, high - self.base, &mut { MOST_WORK })? * self.times)
    }

    /// How many sums of the axes from one on lie in a half-open range; nothing where that would take too long.
    fn within(&self, at: usize, low: i128, high: i128, work: &mut usize) -> Option<i128> {
        if high <= 0 || low > self.reach[at] || low >= high {
            return Some(0);
        }
        if low <= 0 && self.reach[at] < high {
            return Some(self.count[at]);
        }
        let Some(&(stride, size)) = self.axes.get(at) else { return Some(0) };
        let rest = self.reach[at + 1];
        let ceil = |a: i128| a.div_euclid(stride) + i128::from(a.rem_euclid(stride) != 0);
        // Which multiples reach into the range, and which of them lie in it with all that the later axes add.
        let some = ceil(low - rest).max(0)..((high - 1).div_euclid(stride) + 1).min(size);
        let all = ceil(low).max(some.start)..((high - 1 - rest).div_euclid(stride) + 1).min(some.end);
        let all = if all.is_empty() { some.start..some.start } else { all };
        let mut found = (all.end - all.start) * self.count[at + 1];
        for multiple in (some.start..all.start).chain(all.end..some.end) {
            *work = work.checked_sub(1)?;
            found += self.within(at + 1, low - multiple * stride, high - multiple * stride, work)?;
        }
        Some(found)
    }

    /// Whether it is plain that no two of the sums are equal: every stride is longer than all that the later axes add.
    fn are_distinct(&self) -> bool {
        self.axes.iter().zip(&self.reach[1..]).all(|((stride, _), rest)| stride > rest)
    }
}

/// Whether it is plain that no two elements read the same address: in no view of them all do two.
pub(crate) fn is_injective(layout: &Layout) -> bool {
    let plainly = |view| Sums::of(view).is_some_and(|sums| sums.times == 1 && sums.are_distinct());
    matches!(layout, Layout::Chain(tracker) if tracker.views().iter().all(plainly))
}

/// How many elements read each address.
pub(crate) enum Counts {
    /// Every address that is read is read so often.
    Same(i64),
    /// How often the addresses from the first one on are read.
    Each(i64, Vec<u32>),
}

impl Counts {
    /// How many elements read an address that some element reads.
    pub(crate) fn of(&self, address: i64) -> i64 {
        match self {
            Counts::Same(times) => *times,
            Counts::Each(first, counts) => counts.get((address - first) as usize).map_or(0, |count| i64::from(*count)),
        }
    }
}

/// How many elements read each address, or a sentence why that is not known.
pub(crate) fn counts(layout: &Layout) -> Result<Result<Counts, String>, Fault> {
    if let Some(times) = same_everywhere(layout) {
        return Ok(Ok(Counts::Same(times)));
    }
    if let Some(many) = layout.too_many() {
        return Ok(Err(format!("{many} are too many to count how often each address is read")));
    }
    let mut range: Option<(i64, i64)> = None;
    layout.runs(&mut |run| {
        if run.valid {
            let last = run.first.wrapping_add(run.step.wrapping_mul(run.count - 1));
            let (low, high) = range.unwrap_or((run.first, run.first));
            range = Some((low.min(run.first).min(last), high.max(run.first).max(last)));
        }
    })?;
    let Some((low, high)) = range else { return Ok(Ok(Counts::Same(0))) };
    let Some(span) = high.checked_sub(low).filter(|span| *span < MOST_ADDRESSES) else {
        return Ok(Err("the addresses are spread too widely to count how often each is read".into()));
    };
    let mut counts = vec![0; span as usize + 1];
    layout.runs(&mut |run| {
        if run.valid {
            let mut address = run.first;
            for _ in 0..run.count {
                counts[(address - low) as usize] += 1;
                address = address.wrapping_add(run.step);
            }
        }
    })?;
    Ok(Ok(Counts::Each(low, counts)))
}

/// How many elements read each address, where that is the same for all and plain to see.
fn same_everywhere(layout: &Layout) -> Option<i64> {
    let Layout::Chain(tracker) = layout else { return None };
    match tracker.as_view() {
        Some(view) => Sums::of(view).filter(Sums::are_distinct).and_then(|sums| i64::try_from(sums.times).ok()),
        None => is_injective(layout).then_some(1),
    }
}
