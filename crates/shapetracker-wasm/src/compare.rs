//! Two layouts side by side: are they the same, and what does each cost to read?

use std::ops::RangeInclusive;

use shapetracker::{Coverage, Unanswered};

use crate::fault::Fault;
use crate::json::{Value, object};
use crate::layout::Layout;
use crate::layout::{ravelled, unravelled};
use crate::request::Fields as _;

/// The widest element and the longest cache line.
const MOST_BYTES: i64 = 1 << 16;
/// How many elements are searched for a difference before one that is known.
const MOST_BEFORE: i64 = 1 << 19;
/// The most addresses that are sorted, where they are spread too widely for a bit each.
const MOST_SORTED: i64 = 1 << 22;

pub(crate) fn compare(request: &Value) -> Result<Value, Fault> {
    let side = |name: &'static str| Layout::of(request, name).map_err(|fault| fault.in_field(name));
    let (a, b) = (side("a")?, side("b")?);
    let bytes = |name| request.number(name).map(|bytes| bytes.clamp(1, MOST_BYTES));
    let (width, line) = (bytes("width")?, bytes("line")?);
    // What is the same is asked of the base: addresses of buffers that are copies have nothing to do with each other.
    let over_base = |name: &'static str| Layout::over_base(request, name).map_err(|fault| fault.in_field(name));
    let bases = (over_base("a")?, over_base("b")?);
    let (difference, note) = difference(&bases.0, &bases.1)?;
    let equal = match (&difference, &note) {
        (Some(_), _) => Some(false),
        (None, None) => Some(true),
        (None, Some(_)) => (a.shape() != b.shape()).then_some(false),
    };
    let difference = match difference {
        None => Value::Null,
        Some(index) => {
            object! { "index": &index[..], "a": bases.0.address(&index)?, "b": bases.1.address(&index)? }
        }
    };
    Ok(object! {
        "a": traffic(&a, width, line)?,
        "b": traffic(&b, width, line)?,
        "equal": equal,
        "difference": difference,
        "note": note,
    })
}

/// An index at which two layouts differ; with a sentence where the search was not complete.
fn difference(a: &Layout, b: &Layout) -> Result<(Option<shapetracker::Dims>, Option<String>), Fault> {
    if a.shape() != b.shape() {
        let shape = |layout: &Layout| layout.shape().iter().map(i64::to_string).collect::<Vec<_>>().join(", ");
        return Ok((None, Some(format!("the shapes ({}) and ({}) are not the same", shape(a), shape(b)))));
    }
    if let (Layout::Chain(a), Layout::Chain(b)) = (a, b) {
        return match a.difference(b) {
            Ok(None) => Ok((None, None)),
            Ok(Some(index)) => {
                // Some index at which they differ: the first one in row-major order is not after it.
                let some = ravelled(&index, a.shape());
                let mut before = (0..some.min(MOST_BEFORE)).map(|position| unravelled(position, a.shape()));
                let first = before.find(|index| a.address(index) != b.address(index));
                let unsure = first.is_none() && some > MOST_BEFORE;
                let note = || format!("there may be an earlier one, though not among the first {MOST_BEFORE} elements");
                Ok((Some(first.unwrap_or(index)), unsure.then(note)))
            }
            Err(Unanswered::Error(err)) => Err(err.into()),
            Err(err) => Ok((None, Some(err.to_string()))),
        };
    }
    if let Some(many) = a.too_many().or_else(|| b.too_many()) {
        return Ok((None, Some(format!("{many} are too many to compare one by one"))));
    }
    let mut addresses = Vec::with_capacity(a.numel() as usize);
    a.runs(&mut |run| {
        addresses.extend((0..run.count).map(|k| run.valid.then(|| run.first.wrapping_add(k.wrapping_mul(run.step)))));
    })?;
    let (mut position, mut found) = (0, None);
    b.runs(&mut |run| {
        for k in 0..run.count {
            let address = run.valid.then(|| run.first.wrapping_add(k.wrapping_mul(run.step)));
            if found.is_none() && addresses[position] != address {
                found = Some(position as i64);
            }
            position += 1;
        }
    })?;
    Ok((found.map(|position| unravelled(position, a.shape())), None))
}

/// What reading all elements touches: addresses, runs of them, cache lines. `None` is not known exactly.
#[derive(Default)]
struct Traffic {
    valid: Option<i64>,
    range: Option<(i64, i64)>,
    runs: Option<i64>,
    distinct: Option<i64>,
    lines: Option<i64>,
    note: Option<String>,
}

fn traffic(layout: &Layout, width: i64, line: i64) -> Result<Value, Fault> {
    let found = match layout.too_many() {
        None => Traffic::of_all(layout, width, line)?,
        Some(many) => Traffic::of_many(layout, &many, width, line),
    };
    let buffer_len = match (found.valid, found.range) {
        (Some(0), _) => Some(0),
        (_, Some((0.., high))) => high.checked_add(1),
        _ => None,
    };
    Ok(object! {
        "shape": layout.shape(),
        "numel": layout.numel(),
        "valid": found.valid,
        "address_range": found.range,
        "buffer_len": buffer_len,
        "runs": found.runs,
        "distinct": found.distinct,
        "bytes": found.distinct.and_then(|distinct| distinct.checked_mul(width)),
        "lines": found.lines,
        "note": found.note,
    })
}

/// The cache lines that an element lies on.
fn lines_of(address: i64, width: i64, line: i64) -> RangeInclusive<i128> {
    let first = i128::from(address) * i128::from(width);
    let last = first + i128::from(width) - 1;
    first.div_euclid(line.into())..=last.div_euclid(line.into())
}

impl Traffic {
    /// By a walk over all elements.
    fn of_all(layout: &Layout, width: i64, line: i64) -> Result<Traffic, Fault> {
        // The set of addresses that are read, where the range is short enough for a bit each.
        let (lowest, highest) = layout.bounds().unwrap_or((0, 0));
        let read = highest.checked_add(1).map(|end| Coverage::over(lowest..end, 1));
        let mut read = read.filter(|read| read.addresses().is_some());
        let (mut valid, mut range, mut runs, mut last) = (0, None::<(i64, i64)>, 0, None);
        layout.runs(&mut |run| {
            if !run.valid {
                return;
            }
            valid += run.count;
            let end = run.first.wrapping_add(run.step.wrapping_mul(run.count - 1));
            let (low, high) = range.unwrap_or((run.first, run.first));
            range = Some((low.min(run.first).min(end), high.max(run.first).max(end)));
            runs += i64::from(last != run.first.checked_sub(1) || last.is_none());
            runs += if run.step == 1 { 0 } else { run.count - 1 };
            last = Some(end);
            if let Some(read) = &mut read {
                read.add(run.first, run.step, run.count);
            }
        })?;
        let mut traffic = Traffic { valid: Some(valid), range, runs: Some(runs), ..Traffic::default() };
        if let Some(addresses) = read.as_ref().and_then(Coverage::addresses) {
            // Where the lowest address begins in its line.
            let begin = (i128::from(lowest) * i128::from(width)).rem_euclid(line.into()) as i64;
            let (mut distinct, mut lines, mut last) = (0, 0, -1);
            for address in addresses {
                distinct += 1;
                let first = begin + (address - lowest) * width;
                let (first, end) = (first / line, (first + width - 1) / line);
                // The first of its lines may be that of the address before.
                lines += end - first.max(last + 1) + 1;
                last = end;
            }
            traffic.distinct = Some(distinct);
            traffic.lines = Some(lines);
        } else if valid <= MOST_SORTED {
            let mut addresses = Vec::with_capacity(valid as usize);
            layout.runs(&mut |run| {
                let run_of = (0..run.count).map(|k| run.first.wrapping_add(k.wrapping_mul(run.step)));
                addresses.extend(run_of.filter(|_| run.valid));
            })?;
            addresses.sort_unstable();
            addresses.dedup();
            let (mut lines, mut last) = (0, i128::MIN);
            for address in &addresses {
                let (first, end) = lines_of(*address, width, line).into_inner();
                lines += (end - first.max(last.saturating_add(1)) + 1) as i64;
                last = end;
            }
            traffic.distinct = Some(addresses.len() as i64);
            traffic.lines = Some(lines);
        } else {
            traffic.note = Some("the addresses are spread too widely to count them and their cache lines".into());
        }
        Ok(traffic)
    }

    /// What is known without a walk.
    fn of_many(layout: &Layout, many: &str, width: i64, line: i64) -> Traffic {
        let note = Some(format!("{many} are too many to go through"));
        let Layout::Chain(tracker) = layout else { return Traffic { note, ..Traffic::default() } };
        let (valid, runs) = tracker.as_view().map(|view| (view.valid_count(), view.run_count())).unzip();
        let range = tracker.address_range().ok().flatten();
        // Where every address is read equally often, their number tells how many there are.
        let times = valid.and_then(|_| tracker.nested_multiplicity());
        let distinct = valid.zip(times).map(|(valid, times)| valid / times);
        // Where every address of the range is read, so is every line of it.
        let dense = |(low, high): (i64, i64)| {
            distinct.is_some() && distinct == high.checked_sub(low).and_then(|span| span.checked_add(1))
        };
        let lines = range
            .filter(|range| dense(*range))
            .map(|(low, high)| lines_of(high, width, line).end() - lines_of(low, width, line).start() + 1)
            .and_then(|lines| i64::try_from(lines).ok());
        let note = note.filter(|_| lines.is_none() || runs.is_none());
        Traffic { valid, range, runs, distinct, lines, note }
    }
}
