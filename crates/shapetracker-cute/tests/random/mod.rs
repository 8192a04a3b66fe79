//! Random layouts, the same on every machine. The tests and the benchmark draw from the same.

#![allow(dead_code, reason = "every target takes what it needs")]

use shapetracker_testing::{Rng, numbers};

/// The text of a layout with these modes, with parentheses drawn.
pub(crate) fn nested(rng: &mut Rng, modes: &[(i64, i64)]) -> String {
    let [shape, stride] = texts(rng, modes);
    format!("{shape}:{stride}")
}

fn texts(rng: &mut Rng, modes: &[(i64, i64)]) -> [String; 2] {
    if let [(size, stride)] = modes
        && rng.int(8) > 0
    {
        return [size.to_string(), stride.to_string()];
    }
    let (mut parts, mut rest) = (Vec::new(), modes);
    while !rest.is_empty() {
        let whole = rest.len() == modes.len() && modes.len() > 1;
        let len = if rng.int(4) > 0 { 1 } else { 1 + rng.int(rest.len() as i64 - i64::from(whole)) as usize };
        let (part, left) = rest.split_at(len);
        rest = left;
        parts.push(match part {
            [(size, stride)] => [size.to_string(), stride.to_string()],
            _ => texts(rng, part),
        });
    }
    [0, 1].map(|k| format!("({})", parts.iter().map(|part| &part[k][..]).collect::<Vec<_>>().join(",")))
}

/// The most coordinates of a layout that is drawn.
const MOST: i64 = 1 << 59;

/// A pair of layouts to compose: sizes up to `largest`, strides of the first that are also 0 and negative, strides of
/// the second near the products of sizes of the first, within what it takes or past it.
pub(crate) fn pair(rng: &mut Rng, largest: i64) -> [Vec<(i64, i64)>; 2] {
    let rank = 1 + rng.int(4) as usize;
    let (mut sizes, mut total) = (Vec::new(), 1);
    for _ in 0..rank {
        let size = if rng.int(12) == 0 { 1 } else { 1 + rng.int(largest.min(MOST / total)) };
        total *= size;
        sizes.push(size);
    }
    let mut a: Vec<(i64, i64)> = Vec::new();
    for &size in &sizes {
        let next = a.last().map(|&(size, stride): &(i64, i64)| size * stride);
        let stride = match (rng.int(8), next) {
            (0, _) => 0,
            (1, _) => -rng.int(30),
            (2..5, Some(next)) => next,
            (5, Some(next)) => next + rng.int(5) - 2,
            _ => rng.int(150),
        };
        // Addresses stay far below the largest number.
        a.push((size, if stride.abs() > MOST / size { 1 } else { stride }));
    }
    let reach = if rng.int(4) == 0 && total < MOST / 3 { 3 * total } else { total };
    let (mut b, mut room, mut count) = (Vec::new(), reach - 1, 1);
    for _ in 0..1 + rng.int(3) {
        let near: i64 = sizes[..rng.int(rank as i64 + 1) as usize].iter().product();
        let stride = match rng.int(9) {
            0 => near,
            1 => near * (1 + rng.int(3)),
            2..5 => (near / (1 + rng.int(6))).max(1),
            5 => near + rng.int(3),
            6 => rng.int(2),
            _ => 1 + rng.int(1 + room / 3),
        };
        let most = 1 + room.checked_div(stride).unwrap_or(largest).min(largest - 1).min(MOST / count - 1);
        let blocks = near.checked_div(stride).filter(|&block| (1..=most).contains(&block));
        let size = match blocks.filter(|_| rng.int(2) == 0) {
            Some(block) => block * (1 + rng.int(most / block)),
            None => 1 + rng.int(most),
        };
        room = (room - stride * (size - 1)).max(0);
        count *= size;
        b.push((size, stride));
    }
    [a, b]
}

/// A pair of layouts with round sizes up to a thousand million, as programs have them, and some that are not.
pub(crate) fn large_pair(rng: &mut Rng) -> [Vec<(i64, i64)>; 2] {
    let size = |rng: &mut Rng, largest: i64| {
        let size = [2, 3, 4, 8, 10, 12, 30, 64, 100, 1000, 1024, 1600][rng.int(12) as usize];
        (if rng.int(3) == 0 { size * (1 + rng.int(100_000)) } else { size }).min(largest)
    };
    let (mut a, mut total) = (Vec::new(), 1i64);
    for _ in 0..1 + rng.int(4) {
        let size = size(rng, (1 << 40) / total).max(1);
        let stride = match (rng.int(5), a.last()) {
            (0, _) => rng.int(1 << 20) - (1 << 18),
            (1..3, Some(&(size, stride))) => size * stride,
            _ => total,
        };
        total *= size;
        a.push((size, stride));
    }
    let (mut b, mut room, mut count) = (Vec::new(), total - 1, 1i64);
    for _ in 0..1 + rng.int(3) {
        let near: i64 = a[..rng.int(a.len() as i64 + 1) as usize].iter().map(|leaf| leaf.0).product();
        let stride = match rng.int(4) {
            0 => near,
            1 | 2 => (near / size(rng, 1 << 30)).max(1),
            _ => 1 + rng.int(1 + room / 3),
        };
        let most = (1 + room / stride).min(1_000_000_000).min((1 << 60) / count);
        let blocks = near / stride;
        let size = if rng.int(2) == 0 && (1..=most).contains(&blocks) {
            blocks * (1 + rng.int(most / blocks))
        } else {
            1 + rng.int(most)
        };
        room = (room - stride * (size - 1)).max(0);
        count *= size;
        b.push((size, stride));
    }
    [a, b]
}

/// Modes with strides that are often products of the sizes before them, and sometimes 0, negative or anything.
pub(crate) fn modes(rng: &mut Rng, rank: i64, largest: i64) -> Vec<(i64, i64)> {
    let mut modes: Vec<(i64, i64)> = Vec::new();
    let mut span = 1;
    for _ in 0..rng.int(rank + 1) {
        let size = 1 + rng.int(largest);
        let stride = match rng.int(10) {
            0 => 0,
            1 => rng.int(12),
            2 => -rng.int(6),
            _ => span * (1 + rng.int(4) * rng.int(2)),
        };
        span = (span.max(stride * size)).max(1);
        modes.push((size, stride));
    }
    // Any order.
    for k in (1..modes.len()).rev() {
        modes.swap(k, rng.int(k as i64 + 1) as usize);
    }
    modes
}

/// Modes with sizes that are powers of two, and strides that mostly are.
pub(crate) fn binary_modes(rng: &mut Rng) -> Vec<(i64, i64)> {
    (0..1 + rng.int(3))
        .map(|_| {
            let stride = match rng.int(8) {
                0 => rng.int(40),
                1 => 3 << rng.int(6),
                _ => 1 << rng.int(7),
            };
            (1 << rng.int(4), stride)
        })
        .collect()
}

/// The cases of a test that are held to it in this run.
pub(crate) fn cases(count: u32) -> impl Iterator<Item = Rng> {
    numbers(count).map(|number| Rng(number << 32))
}
