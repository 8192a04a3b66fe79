//! Measuring: every copy directly after a memcpy of as many bytes, in turns, on the same memory.

use std::hint::black_box;
use std::time::{Duration, Instant};

/// A way to write the tensor into a contiguous buffer.
pub(crate) struct Contestant<'a, T> {
    pub(crate) name: &'static str,
    pub(crate) copy: Write<'a, T>,
}

/// Writes every element of a buffer.
pub(crate) type Write<'a, T> = Box<dyn FnMut(&mut [T]) + 'a>;

/// A contestant's time and that of the memcpy before it, in nanoseconds a copy.
#[derive(Clone, Copy)]
pub(crate) struct Pair {
    pub(crate) memcpy: f64,
    pub(crate) copy: f64,
}

/// Each contestant is measured at least so often, however slow it is.
const FEWEST: usize = 5;

/// A measurement takes at least so long: shorter copies are repeated.
const SHORTEST: Duration = Duration::from_micros(20);

/// Measures the contestants in turns until each has spent its part of the time.
///
/// A memcpy goes before each, so that what else the machine does just then slows both. Before that the output is written past
/// the caches (`evict`): otherwise a last-level cache that holds it all would make a difference by who wrote to it last.
pub(crate) fn contest<T: Copy>(
    contestants: &mut [Contestant<T>],
    mut evict: impl FnMut(&mut [T]),
    source: &[T],
    out: &mut [T],
    time: Duration,
) -> Vec<Vec<Pair>> {
    let mut memcpy = |out: &mut [T]| out.copy_from_slice(black_box(source));
    let memcpy_calls = calls(&mut memcpy, out);
    let calls: Vec<usize> = contestants.iter_mut().map(|contestant| calls(&mut contestant.copy, out)).collect();
    let each = time / contestants.len().max(1) as u32;
    let mut spent = vec![Duration::ZERO; contestants.len()];
    let mut pairs: Vec<Vec<Pair>> = contestants.iter().map(|_| Vec::new()).collect();
    loop {
        let mut all_done = true;
        for (i, contestant) in contestants.iter_mut().enumerate() {
            if pairs[i].len() < FEWEST || spent[i] < each {
                evict(out);
                let before = timed(&mut memcpy, out, memcpy_calls);
                let own = timed(&mut contestant.copy, out, calls[i]);
                spent[i] += before + own;
                pairs[i].push(Pair { memcpy: nanoseconds(before, memcpy_calls), copy: nanoseconds(own, calls[i]) });
                all_done = false;
            }
        }
        if all_done {
            return pairs;
        }
    }
}

fn nanoseconds(time: Duration, calls: usize) -> f64 {
    time.as_nanos() as f64 / calls as f64
}

fn timed<T>(copy: &mut impl FnMut(&mut [T]), out: &mut [T], calls: usize) -> Duration {
    let begin = Instant::now();
    for _ in 0..calls {
        copy(black_box(out));
        black_box(&mut *out);
    }
    begin.elapsed()
}

/// How often to repeat a copy for a measurement that is long enough.
fn calls<T>(copy: &mut impl FnMut(&mut [T]), out: &mut [T]) -> usize {
    let mut calls = 1;
    while timed(copy, out, calls) < SHORTEST {
        calls *= 2;
    }
    calls
}

/// The lower quartile, the median and the upper quartile of some figures, of which there is at least one.
pub(crate) fn quartiles(figures: impl Iterator<Item = f64>) -> [f64; 3] {
    let mut figures: Vec<f64> = figures.collect();
    figures.sort_by(f64::total_cmp);
    [1, 2, 3].map(|quarters| figures[figures.len() * quarters / 4])
}
