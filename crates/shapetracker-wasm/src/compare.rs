//! Two layouts side by side: are they the same, and what does each cost to read?

use std::ops::RangeInclusive;

use shapetracker::{Unanswered, View};

use crate::coverage::{Bits, MOST_BITS, is_injective};
use crate::fault::Fault;
use crate::json::{Value, object};
use crate::layout::Layout;
use crate::trace::{ravel, unravel};

/// The widest element and the longest cache line.
const MOST_BYTES: i64 = 1 << 16;
/// Up to so many elements are looked at one by one for the first difference.
const MOST_BEFORE: i64 = 1 << 19;
/// Up to so many addresses are sorted where they are spread widely.
const MOST_SORTED: i64 = 1 << 22;

pub(crate) fn compare(request: &Value) -> Result<Value, Fault> {
    let side = |name: &'static str| Layout::of(request, name).map_err(|fault| fault.in_field(name));
    let (a, b) = (side("a")?, side("b")?);
    let bytes = |name| request.number(name).map(|bytes| bytes.clamp(1, MOST_BYTES));
    let (width, line) = (bytes("width")?, bytes("line")?);
    let (difference, note) = difference(&a, &b)?;
    let equal = match (&difference, &note) {
        (Some(_), _) => Some(false),
        (None, None) => Some(true),
        (None, Some(_)) => (a.shape() != b.shape()).then_some(false),
    };
    let difference = match difference {
        None => Value::Null,
        Some(index) => object! { "index": &index[..], "a": a.address(&index)?, "b": b.address(&index)? },
    };
    Ok(object! {
        "a": traffic(&a, width, line)?,
        "b": traffic(&b, width, line)?,
        "equal": equal,
        "difference": difference,
        "note": note,
    })
}

/// An index at which two layouts differ, or a sentence where none could be looked for to the end.
fn difference(a: &Layout, b: &Layout) -> Result<(Option<shapetracker::Dims>, Option<String>), Fault> {
    if a.shape() != b.shape() {
        let shape = |layout: &Layout| layout.shape().iter().map(i64::to_string).collect::<Vec<_>>().join(", ");
        return Ok((None, Some(format!("the shapes ({}) and ({}) are not the same", shape(a), shape(b)))));
    }
    if let (Layout::Chain(a), Layout::Chain(b)) = (a, b) {
        return match a.difference(b) {
            Ok(None) => Ok((None, None)),
            Ok(Some(index)) => {
                // Wherever they differ, the first difference is not after that.
                let some = ravel(&index, a.shape());
                let mut before = (0..some.min(MOST_BEFORE)).map(|position| unravel(position, a.shape()));
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
    Ok((found.map(|position| unravel(position, a.shape())), None))
}

/// What reading all elements touches.
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
    /// Goes through all elements.
    fn of_all(layout: &Layout, width: i64, line: i64) -> Result<Traffic, Fault> {
        // A bit for each address that may be read, where there are not too many.
        let bounds = layout.bounds().unwrap_or((0, 0));
        let span = bounds.1.checked_sub(bounds.0).filter(|span| *span < MOST_BITS);
        let mut read = span.map(|span| Bits::new(span + 1));
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
                let mut address = run.first;
                for _ in 0..run.count {
                    read.set(address - bounds.0);
                    address = address.wrapping_add(run.step);
                }
            }
        })?;
        let mut traffic = Traffic { valid: Some(valid), range, runs: Some(runs), ..Traffic::default() };
        if let Some(read) = read {
            // Where the lowest address begins in its line.
            let begin = (i128::from(bounds.0) * i128::from(width)).rem_euclid(line.into()) as i64;
            let (mut distinct, mut lines, mut last) = (0, 0, -1);
            for address in read.all() {
                distinct += 1;
                let first = begin + address * width;
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

    /// What is known without going through all elements.
    fn of_many(layout: &Layout, many: &str, width: i64, line: i64) -> Traffic {
        let note = Some(format!("{many} are too many to go through"));
        let Layout::Chain(tracker) = layout else { return Traffic { note, ..Traffic::default() } };
        let (valid, runs) = tracker.as_view().map_or((None, None), |view| (valid(view), consecutive_runs(view)));
        let range = tracker.address_range().ok().flatten();
        let distinct = valid.filter(|_| is_injective(layout));
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

impl Bits {
    /// All numbers of the set, in order.
    fn all(&self) -> impl Iterator<Item = i64> + '_ {
        self.words().enumerate().flat_map(|(word, mut bits)| {
            std::iter::from_fn(move || {
                let next = (bits != 0).then(|| word as i64 * 64 + i64::from(bits.trailing_zeros()))?;
                bits &= bits - 1;
                Some(next)
            })
        })
    }
}

/// How many indices of a view are valid.
fn valid(view: &View) -> Option<i64> {
    match view.mask() {
        None => Some(view.numel()),
        Some([]) => Some(0),
        Some(mask) => mask.iter().try_fold(1i64, |product, (begin, end)| product.checked_mul(end - begin)),
    }
}

/// How many runs of consecutive addresses the valid elements of a view read in row-major order.
pub(crate) fn consecutive_runs(view: &View) -> Option<i64> {
    if valid(view)? == 0 {
        return Some(0);
    }
    let size = |axis: usize| view.mask().map_or(view.shape()[axis], |mask| mask[axis].1 - mask[axis].0);
    // The innermost axis comes first: how far the address moves when an axis turns by one, and those after it turn back.
    let (mut back, mut inner, mut breaks) = (0i128, 1i128, 0i128);
    let total = i128::from(valid(view)?);
    for axis in (0..view.rank()).rev() {
        let (size, stride) = (i128::from(size(axis)), i128::from(view.strides()[axis]));
        if stride - back != 1 {
            // It turns by one in every block of the axes around it as often as it has neighbours.
            breaks += total / (inner * size) * (size - 1);
        }
        back += stride * (size - 1);
        inner *= size;
    }
    i64::try_from(breaks + 1).ok()
}
