//! Chains that grow: operations drawn one after the other on whatever the tracker has become, and padded images that are
//! flattened. Both give stacks of many views that are no single one, of up to [`MOST`] elements.

use shapetracker::ShapeTracker;

/// The most elements of a tracker that is small enough to be walked through.
pub(crate) const MOST: i64 = 100_000;

/// A sequence of pseudo-random numbers (SplitMix64), the same for a seed on every machine.
pub(crate) struct Numbers(u64);

impl Numbers {
    pub(crate) fn of(seed: u64) -> Numbers {
        Numbers(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number in `0..n`.
    pub(crate) fn below(&mut self, n: i64) -> i64 {
        ((u128::from(self.next()) * n as u128) >> 64) as i64
    }
}

/// What padded images, volumes and sequences become when they are flattened, wholly or but for an axis.
pub(crate) fn padded_and_flattened() -> Vec<(String, ShapeTracker)> {
    let shapes: [&[i64]; 9] = [
        &[56, 56],
        &[7, 7],
        &[3, 224, 224],
        &[64, 28, 28],
        &[3, 32, 32],
        &[2, 8, 14, 14],
        &[16, 3, 112, 112],
        &[4, 10, 12, 14],
        &[128, 768],
    ];
    let mut found = Vec::new();
    for shape in shapes {
        for by in [1, 2, 3] {
            let numbers = |list: &[i64]| list.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
            let pads: Vec<(i64, i64)> =
                (0..shape.len()).map(|axis| if axis + 2 < shape.len() { (0, 0) } else { (by, by) }).collect();
            let padded = ShapeTracker::contiguous(shape).and_then(|st| st.pad(&pads)).expect("small sizes");
            let size = padded.shape().to_vec();
            let flat: i64 = size.iter().product();
            for to in
                [vec![flat], vec![size[0], flat / size[0]], vec![flat / size[size.len() - 1], size[size.len() - 1]]]
            {
                let name = format!("({}).pad({by}).reshape({})", numbers(shape), numbers(&to));
                found.push((name, padded.reshape(&to).expect("as many elements")));
            }
        }
    }
    found
}

/// Endless random chains, each of up to 40 operations on up to so many elements, with their text.
pub(crate) fn chains(seed: u64, most: i64) -> impl Iterator<Item = (String, ShapeTracker)> {
    let numbers = move |number: u64| Numbers::of(seed.wrapping_mul(0x1_0000_0001).wrapping_add(number << 20));
    (0u64..).map(move |number| chain(&mut numbers(number), most))
}

fn chain(numbers: &mut Numbers, limit: i64) -> (String, ShapeTracker) {
    let rank = 1 + numbers.below(4);
    let scale = if limit > MOST { 20 } else { 1 };
    let most = [6, 12, 40][numbers.below(3) as usize] * scale;
    let base: Vec<i64> = (0..rank).map(|_| 1 + numbers.below(most)).collect();
    let list = |list: &[i64]| list.iter().map(|n| format!("{n},")).collect::<String>();
    let mut text = format!("({})", list(&base));
    let mut st = ShapeTracker::contiguous(&base).expect("small sizes");
    for _ in 0..1 + numbers.below(40) {
        let shape = st.shape().to_vec();
        let rank = shape.len();
        let next = match numbers.below(12) {
            0..4 => {
                let to = factors(numbers, st.numel());
                text += &format!(".reshape(({}))", list(&to));
                st.reshape(to)
            }
            4..6 => {
                let mut order: Vec<i64> = (0..rank as i64).collect();
                for i in 0..rank {
                    order.swap(i, i + numbers.below((rank - i) as i64) as usize);
                }
                text += &format!(".permute(({}))", list(&order));
                st.permute(order)
            }
            6..8 => {
                let pads: Vec<(i64, i64)> = (0..rank)
                    .map(|_| if numbers.below(2) == 0 { (0, 0) } else { (numbers.below(3), numbers.below(3)) })
                    .collect();
                text += &format!(".pad({})", pads.iter().map(|(a, b)| format!("({a}, {b}),")).collect::<String>());
                st.pad(pads)
            }
            8 => {
                let ranges: Vec<(i64, i64)> = shape
                    .iter()
                    .map(|&size| {
                        let begin = numbers.below(1 + size / 4);
                        (begin, (size - numbers.below(1 + size / 4)).max(begin + 1).min(size))
                    })
                    .collect();
                text += &format!(".shrink({})", ranges.iter().map(|(a, b)| format!("({a}, {b}),")).collect::<String>());
                st.shrink(ranges)
            }
            9 => {
                let axes: Vec<i64> = (0..rank as i64).filter(|_| numbers.below(2) == 0).collect();
                text += &format!(".flip({})", list(&axes));
                st.flip(axes)
            }
            10 => {
                let steps: Vec<i64> = (0..rank).map(|_| [1, 1, 2, -1, 3][numbers.below(5) as usize]).collect();
                text += &format!(".step(({}))", list(&steps));
                st.step(steps)
            }
            _ => {
                let mut to = shape.clone();
                to.iter_mut().filter(|size| **size == 1).for_each(|size| *size = 1 + numbers.below(4));
                text += &format!(".expand(({}))", list(&to));
                st.expand(to)
            }
        };
        match next {
            Ok(next) if next.numel() <= limit => st = next,
            _ => break,
        }
    }
    (text, st)
}

/// Sizes with a given product, in any order.
fn factors(numbers: &mut Numbers, numel: i64) -> Vec<i64> {
    let mut to = vec![1; 1 + numbers.below(4) as usize];
    let (mut rest, mut factor) = (numel.max(1), 2);
    while rest > 1 {
        if factor * factor > rest {
            factor = rest;
        }
        if rest % factor == 0 {
            rest /= factor;
            let axis = numbers.below(to.len() as i64) as usize;
            to[axis] *= factor;
        } else {
            factor += 1;
        }
    }
    if numel == 0 {
        to[0] = 0;
    }
    to
}
