//! How often addresses are read: the library's counts, and an estimate where it has none.

use shapetracker::Coverage;

use crate::fault::Fault;
use crate::json::{Answer, Numbers, Value, object};
use crate::layout::Layout;
use crate::request::Fields as _;

/// The longest range of addresses that has a count for each.
const MOST_ADDRESSES: i64 = 1 << 24;
const MOST_BUCKETS: i64 = 1 << 16;
/// How many elements an estimate is made from.
const SAMPLE: i64 = 1 << 16;

pub(crate) fn coverage(request: &Value) -> Result<Answer, Fault> {
    let layout = Layout::of(request, "source")?;
    let (begin, end) = (request.number("begin")?, request.number("end")?);
    let buckets = request.number("buckets")?.clamp(1, MOST_BUCKETS) as usize;
    if end.checked_sub(begin).is_none_or(|length| length < 0) {
        return Err(Fault::request("`begin` and `end` are a range of addresses"));
    }
    let mut counted = Coverage::over(begin..end, buckets);
    let exact = match &layout {
        Layout::Chain(tracker) => tracker.coverage(begin..end, buckets).map(|coverage| counted = coverage).is_ok(),
        Layout::Free(_) => layout.too_many().is_none() && collect(&layout, &mut counted).map(|()| true)?,
    };
    let mut reads: Vec<f64> = counted.reads().iter().map(|&count| count as f64).collect();
    let (mut distinct, mut note) = (None, None);
    if exact {
        distinct = counted.distinct().map(|distinct| distinct.into_iter().map(|count| count as f64).collect());
    } else {
        let sample = layout.most_samples().clamp(1, SAMPLE).min(layout.numel());
        let addresses = layout.addresses(&spread(sample, layout.numel()))?;
        addresses.into_iter().flatten().for_each(|address| counted.add(address, 0, 1));
        // Every element of the sample stands for so many.
        let each = layout.numel() as f64 / sample as f64;
        reads = counted.reads().iter().map(|&count| count as f64 * each).collect();
        let mut sentence = format!("estimated from {sample} of the {} elements", layout.numel());
        // How often addresses are read may be known all the same. Then no bucket has more reads than that allows.
        if let Layout::Chain(tracker) = &layout
            && let Ok(Some(times)) = tracker.multiplicity()
        {
            let end =
                |bucket: usize| (bucket as u64 + 1).saturating_mul(counted.width()).min(end.wrapping_sub(begin) as u64);
            for (bucket, reads) in reads.iter_mut().enumerate() {
                let length = end(bucket) - bucket as u64 * counted.width();
                *reads = reads.min(length as f64 * times as f64);
            }
            distinct = Some(reads.iter().map(|reads| reads / times as f64).collect());
            let how = if times == 1 { "once".into() } else { format!("{times} times") };
            sentence += &format!("; every address that is read is read {how}");
        }
        note = Some(sentence);
    }
    let mut numbers = Numbers::default();
    let mut floats = |counts: Vec<f64>| numbers.floats(counts.into_iter());
    let document = object! {
        "begin": begin,
        "width": counted.width() as i64,
        "reads": floats(reads),
        "distinct": distinct.map(&mut floats),
        "exact": exact,
        "note": note,
    };
    Ok(Answer { document, numbers })
}

/// Counts what all elements read.
fn collect(layout: &Layout, coverage: &mut Coverage) -> Result<(), Fault> {
    layout.runs(&mut |run| {
        if run.valid {
            coverage.add(run.first, run.step, run.count);
        }
    })
}

/// So many positions of a tensor, evenly spread but for a scatter: an even step would meet the same column again and
/// again.
fn spread(sample: i64, numel: i64) -> Vec<i64> {
    let each = (numel / sample).max(1);
    let position = |number: i64| {
        let position = (i128::from(numel) * i128::from(number) / i128::from(sample)) as i64;
        position.saturating_add(scattered(number) % each).min(numel - 1)
    };
    (0..sample).map(position).collect()
}

/// A hash of a number, the same every time, so that an answer depends on its request alone.
pub(crate) fn scattered(number: i64) -> i64 {
    let mixed = (number as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    ((mixed ^ (mixed >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 1) as i64
}

/// How many elements read each address.
pub(crate) enum Counts {
    /// Every address that is read is read so often.
    Same(i64),
    /// A count for each address, or none where no address is read.
    Each(Coverage),
}

impl Counts {
    /// How many elements read an address that some element reads.
    pub(crate) fn of(&self, address: i64) -> i64 {
        match self {
            Counts::Same(times) => *times,
            Counts::Each(counts) => counts.reads().get((address - counts.begin()) as usize).copied().unwrap_or(0),
        }
    }
}

/// How many elements read each address, or a sentence why that is not known.
pub(crate) fn counts(layout: &Layout) -> Result<Result<Counts, String>, Fault> {
    if let Layout::Chain(tracker) = layout
        && let Some(times) = tracker.nested_multiplicity().or_else(|| {
            // Few elements are counted sooner.
            if layout.too_many().is_some() { tracker.multiplicity().ok().flatten() } else { None }
        })
    {
        return Ok(Ok(Counts::Same(times)));
    }
    if let Some(many) = layout.too_many() {
        return Ok(Err(format!("{many} are too many to count how often each address is read")));
    }
    let (low, high) = layout.range_read()?.unwrap_or((0, 0));
    let Some(end) = high.checked_add(1).filter(|_| high.checked_sub(low).is_some_and(|span| span < MOST_ADDRESSES))
    else {
        return Ok(Err("the addresses are spread too widely to count how often each is read".into()));
    };
    // As many buckets as there are addresses: one for each.
    let mut counts = Coverage::over(low..end, MOST_ADDRESSES as usize);
    collect(layout, &mut counts)?;
    Ok(Ok(Counts::Each(counts)))
}
