//! Which elements read an address.

use shapetracker::{Dims, View};

use crate::fault::Fault;
use crate::json::{Value, object};
use crate::layout::Layout;
use crate::request::Fields as _;
use crate::trace::{ravel, unravel};

const MOST_READERS: i64 = 1 << 16;
/// How many steps the search may take.
const MOST_WORK: usize = 1 << 21;

pub(crate) fn readers(request: &Value) -> Result<Value, Fault> {
    let layout = Layout::of(request, "source")?;
    let address = request.number("address")?;
    let limit = request.number("limit")?.clamp(0, MOST_READERS) as usize;
    let (mut positions, stopped) = match &layout {
        Layout::Chain(tracker) => {
            let levels: Vec<Level> = tracker.views().iter().map(Level::of).collect();
            let mut search = Search { found: Vec::new(), limit, work: MOST_WORK };
            let stopped = search.readers(&levels, address.into()).err();
            (search.found, stopped)
        }
        Layout::Free(_) if layout.too_many().is_some() => (Vec::new(), layout.too_many().map(Stop::Size)),
        Layout::Free(_) => {
            let (mut found, mut position, mut stopped) = (Vec::new(), 0, None);
            layout.runs(&mut |run| {
                if run.valid && run.first == address {
                    if found.len() < limit {
                        found.push(position);
                    } else {
                        stopped = Some(Stop::Limit);
                    }
                }
                position += run.count;
            })?;
            (found, stopped)
        }
    };
    positions.sort_unstable();
    let note = stopped.as_ref().map(|stop| match stop {
        Stop::Limit => format!("there are more than these {limit} elements"),
        Stop::Work => "the search took too long and was ended: there may be more elements".to_owned(),
        Stop::Size(many) => format!("{many} are too many to look at"),
    });
    Ok(object! {
        "indices": positions.iter().map(|position| Value::from(&unravel(*position, layout.shape())[..])).collect::<Value>(),
        "complete": stopped.is_none(),
        "note": note,
    })
}

/// Why a search has ended before its time.
enum Stop {
    Limit,
    Work,
    Size(String),
}

struct Search {
    /// Their row-major positions.
    found: Vec<i64>,
    limit: usize,
    work: usize,
}

/// A view with its axes in the order of their strides, the longest first.
struct Level<'a> {
    view: &'a View,
    /// The axis, its stride, and the range of its valid indices.
    axes: Vec<(usize, i128, i128, i128)>,
    /// The smallest and the largest sum of the axes from each on.
    reach: Vec<(i128, i128)>,
    /// What every sum of the axes from each on is a multiple of, counted from the smallest.
    divisor: Vec<i128>,
    nothing: bool,
}

impl<'a> Level<'a> {
    fn of(view: &'a View) -> Level<'a> {
        let mask = |axis: usize, size: i64| view.mask().map_or((0, size), |mask| *mask.get(axis).unwrap_or(&(0, 0)));
        let mut axes: Vec<(usize, i128, i128, i128)> = Vec::new();
        for (axis, (&size, &stride)) in view.shape().iter().zip(view.strides()).enumerate() {
            let ((begin, end), stride) = (mask(axis, size), i128::from(stride));
            let place = axes.partition_point(|(_, other, ..)| other.abs() >= stride.abs());
            axes.insert(place, (axis, stride, begin.into(), end.into()));
        }
        let nothing = axes.iter().any(|(.., begin, end)| begin >= end) || view.mask().is_some_and(<[_]>::is_empty);
        let (mut reach, mut divisor) = (vec![(0, 0); axes.len() + 1], vec![0; axes.len() + 1]);
        for (at, (_, stride, begin, end)) in axes.iter().enumerate().rev() {
            let (a, b) = (stride * begin, stride * (end - 1));
            reach[at] = (reach[at + 1].0 + a.min(b), reach[at + 1].1 + a.max(b));
            divisor[at] = if end - begin > 1 { gcd(divisor[at + 1], *stride) } else { divisor[at + 1] };
        }
        Level { view, axes, reach, divisor, nothing }
    }
}

fn gcd(mut a: i128, mut b: i128) -> i128 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a.abs()
}

impl Search {
    /// Finds the elements of a stack that read an address; the first level is next to memory.
    fn readers(&mut self, levels: &[Level], address: i128) -> Result<(), Stop> {
        let Some(level) = levels.first() else { return Ok(()) };
        if level.nothing {
            return Ok(());
        }
        let mut index = Dims::from_elem(0, level.axes.len());
        self.axis(levels, 0, address - i128::from(level.view.offset()), &mut index)
    }

    /// Tries all entries of an axis that leave a rest which the later axes can add up to.
    fn axis(&mut self, levels: &[Level], at: usize, rest: i128, index: &mut Dims) -> Result<(), Stop> {
        self.work = self.work.checked_sub(1).ok_or(Stop::Work)?;
        let level = &levels[0];
        let (low, high) = level.reach[at];
        if rest < low || rest > high || (level.divisor[at] != 0 && (rest - low) % level.divisor[at] != 0) {
            return Ok(());
        }
        let Some(&(axis, stride, begin, end)) = level.axes.get(at) else {
            if levels.len() > 1 {
                return self.readers(&levels[1..], ravel(index, level.view.shape()).into());
            }
            if self.found.len() == self.limit {
                return Err(Stop::Limit);
            }
            self.found.push(ravel(index, level.view.shape()));
            return Ok(());
        };
        let (low, high) = level.reach[at + 1];
        let ceil = |a: i128, b: i128| a.div_euclid(b) + i128::from(a.rem_euclid(b) != 0);
        // Which multiples of the stride leave something between the two.
        let (first, last) = match stride {
            0 => (begin, end - 1),
            1.. => (ceil(rest - high, stride), (rest - low).div_euclid(stride)),
            _ => (ceil(low - rest, -stride), (high - rest).div_euclid(-stride)),
        };
        for i in first.max(begin)..=last.min(end - 1) {
            index[axis] = i as i64;
            self.axis(levels, at + 1, rest - i * stride, index)?;
        }
        Ok(())
    }
}
