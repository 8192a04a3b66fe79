//! Random layouts, the same on every machine. The tests and the benchmark draw from the same.

#![allow(dead_code, reason = "every target takes what it needs")]

use std::env;

/// A small generator (splitmix64).
pub(crate) struct Rng(pub(crate) u64);

impl Rng {
    /// A number below `bound`.
    pub(crate) fn below(&mut self, bound: i64) -> i64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % bound.max(1) as u64) as i64
    }

    /// One of some values.
    pub(crate) fn pick(&mut self, from: &[i64]) -> i64 {
        from[self.below(from.len() as i64) as usize]
    }

    /// The text of a layout with these modes, with parentheses drawn.
    pub(crate) fn nested(&mut self, modes: &[(i64, i64)]) -> String {
        let [shape, stride] = self.texts(modes);
        format!("{shape}:{stride}")
    }

    fn texts(&mut self, modes: &[(i64, i64)]) -> [String; 2] {
        if let [(size, stride)] = modes
            && self.below(8) > 0
        {
            return [size.to_string(), stride.to_string()];
        }
        let (mut parts, mut rest) = (Vec::new(), modes);
        while !rest.is_empty() {
            let whole = rest.len() == modes.len() && modes.len() > 1;
            let len = if self.below(4) > 0 { 1 } else { 1 + self.below(rest.len() as i64 - i64::from(whole)) as usize };
            let (part, left) = rest.split_at(len);
            rest = left;
            parts.push(match part {
                [(size, stride)] => [size.to_string(), stride.to_string()],
                _ => self.texts(part),
            });
        }
        [0, 1].map(|k| format!("({})", parts.iter().map(|part| &part[k][..]).collect::<Vec<_>>().join(",")))
    }
}

/// The most coordinates of a layout that is drawn.
const MOST: i64 = 1 << 59;

/// A pair of layouts to compose: sizes up to `largest`, strides of the first that are also 0 and negative, strides of
/// the second near the products of sizes of the first, within what it takes or past it.
pub(crate) fn pair(rng: &mut Rng, largest: i64) -> [Vec<(i64, i64)>; 2] {
    let rank = 1 + rng.below(4) as usize;
    let (mut sizes, mut total) = (Vec::new(), 1);
    for _ in 0..rank {
        let size = if rng.below(12) == 0 { 1 } else { 1 + rng.below(largest.min(MOST / total)) };
        total *= size;
        sizes.push(size);
    }
    let mut a: Vec<(i64, i64)> = Vec::new();
    for &size in &sizes {
        let next = a.last().map(|&(size, stride): &(i64, i64)| size * stride);
        let stride = match (rng.below(8), next) {
            (0, _) => 0,
            (1, _) => -rng.below(30),
            (2..5, Some(next)) => next,
            (5, Some(next)) => next + rng.below(5) - 2,
            _ => rng.below(150),
        };
        // Addresses stay far below the largest number.
        a.push((size, if stride.abs() > MOST / size { 1 } else { stride }));
    }
    let reach = if rng.below(4) == 0 && total < MOST / 3 { 3 * total } else { total };
    let (mut b, mut room, mut count) = (Vec::new(), reach - 1, 1);
    for _ in 0..1 + rng.below(3) {
        let near: i64 = sizes[..rng.below(rank as i64 + 1) as usize].iter().product();
        let stride = match rng.below(9) {
            0 => near,
            1 => near * (1 + rng.below(3)),
            2..5 => (near / (1 + rng.below(6))).max(1),
            5 => near + rng.below(3),
            6 => rng.below(2),
            _ => 1 + rng.below(1 + room / 3),
        };
        let most = 1 + room.checked_div(stride).unwrap_or(largest).min(largest - 1).min(MOST / count - 1);
        let blocks = near.checked_div(stride).filter(|&block| (1..=most).contains(&block));
        let size = match blocks.filter(|_| rng.below(2) == 0) {
            Some(block) => block * (1 + rng.below(most / block)),
            None => 1 + rng.below(most),
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
        let size = [2, 3, 4, 8, 10, 12, 30, 64, 100, 1000, 1024, 1600][rng.below(12) as usize];
        (if rng.below(3) == 0 { size * (1 + rng.below(100_000)) } else { size }).min(largest)
    };
    let (mut a, mut total) = (Vec::new(), 1i64);
    for _ in 0..1 + rng.below(4) {
        let size = size(rng, (1 << 40) / total).max(1);
        let stride = match (rng.below(5), a.last()) {
            (0, _) => rng.below(1 << 20) - (1 << 18),
            (1..3, Some(&(size, stride))) => size * stride,
            _ => total,
        };
        total *= size;
        a.push((size, stride));
    }
    let (mut b, mut room, mut count) = (Vec::new(), total - 1, 1i64);
    for _ in 0..1 + rng.below(3) {
        let near: i64 = a[..rng.below(a.len() as i64 + 1) as usize].iter().map(|leaf| leaf.0).product();
        let stride = match rng.below(4) {
            0 => near,
            1 | 2 => (near / size(rng, 1 << 30)).max(1),
            _ => 1 + rng.below(1 + room / 3),
        };
        let most = (1 + room / stride).min(1_000_000_000).min((1 << 60) / count);
        let blocks = near / stride;
        let size = if rng.below(2) == 0 && (1..=most).contains(&blocks) {
            blocks * (1 + rng.below(most / blocks))
        } else {
            1 + rng.below(most)
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
    for _ in 0..rng.below(rank + 1) {
        let size = 1 + rng.below(largest);
        let stride = match rng.below(10) {
            0 => 0,
            1 => rng.below(12),
            2 => -rng.below(6),
            _ => span * (1 + rng.below(4) * rng.below(2)),
        };
        span = (span.max(stride * size)).max(1);
        modes.push((size, stride));
    }
    // Any order.
    for k in (1..modes.len()).rev() {
        modes.swap(k, rng.below(k as i64 + 1) as usize);
    }
    modes
}

/// Modes with sizes that are powers of two, and strides that mostly are.
pub(crate) fn binary_modes(rng: &mut Rng) -> Vec<(i64, i64)> {
    (0..1 + rng.below(3))
        .map(|_| {
            let stride = match rng.below(8) {
                0 => rng.below(40),
                1 => 3 << rng.below(6),
                _ => 1 << rng.below(7),
            };
            (1 << rng.below(4), stride)
        })
        .collect()
}

/// The cases of a test that are held to it: `SHAPETRACKER_CASES` says how many times as many there are, and
/// `SHAPETRACKER_PART=1/2` that only every second one counts, from the first on.
pub(crate) fn cases(count: u32) -> impl Iterator<Item = Rng> {
    let factor: f64 = env::var("SHAPETRACKER_CASES").ok().and_then(|text| text.parse().ok()).unwrap_or(1.0);
    let part = env::var("SHAPETRACKER_PART").ok();
    let part = part.and_then(|text| text.split_once('/').map(|(part, parts)| (part.to_owned(), parts.to_owned())));
    let (part, parts): (u32, u32) =
        part.map_or((1, 1), |(part, parts)| (part.parse().expect("a number"), parts.parse().expect("a number")));
    let count = (f64::from(count) * factor) as u32;
    (0..count).filter(move |k| k % parts == part - 1).map(|k| Rng(u64::from(k) << 32))
}
