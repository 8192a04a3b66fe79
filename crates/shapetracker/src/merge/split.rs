//! The greedy split: an axis of the later view, written as several on each of which the earlier view is affine.

use smallvec::{SmallVec, smallvec};

use super::level::{Axis, Digit, IndexBox, Level};
use super::overflow::{Address, uneven_steps};
use super::work::{OutOfWork, Work};

/// The sizes that an axis is split into, innermost first; each is at least 2, and their product is the size of the axis.
pub(crate) type Runs = SmallVec<[i64; 8]>;

/// Splits an axis of `size` indices that are `stride` positions apart, the first at position `origin`, at its longest
/// affine runs; `None` where no split of the axis has affine addresses.
///
/// All positions lie inside the earlier view. An axis of one run stays as it is, and an axis of one index has no run.
///
/// # Theorem
/// Let `g(x)` be the address at position `origin + stride * x` less that at `origin`, and nothing masked. Some split of
/// the axis has affine addresses exactly if this one has: with `r` the least `x` for which `g(x)` is not `x * g(1)`, take
/// an innermost axis of size `r`, and go on with `x -> g(r * x)`; `r` must divide the size.
///
/// *Proof.* A split with affine addresses is a list of sizes `s[1], s[2], ..`, innermost first and each at least 2, and of
/// address strides `d[1], d[2], ..`. Join neighbours as long as some `d[k + 1]` is `s[k] * d[k]`; the addresses stay as
/// they are. If a single axis is left, the whole axis is one run. Otherwise `g` is `x * d[1]` up to the end of the
/// innermost axis, and at `s[1]` it is `d[2]`, which is something else. So `s[1]` is `r`, and the other axes are a split
/// of `g(r * x)`.
///
/// **Corollary.** For a pair of views without masks let each axis of the later view be split in this way, from any one
/// corner. If any split of its axes makes the pair a single view, this one does: the addresses of a single view are a
/// sum of one function for each axis of the later view, and up to a constant each is the `g` of its axis. Whether they
/// are such a sum is what [`merge`](crate::merge()) decides for the split view.
///
/// # Masks
/// Over a masked view the same is done to the masked digits as to the address: a run also ends where a carry into or out
/// of a masked digit is unlike that of the first step. This is a proposal then and no theorem: addresses that are masked
/// do not matter, so that other splits may be a single view where this one is not.
///
/// # Cost
/// Each run has at least 2 indices, so that there are at most 62; one takes a few nanoseconds for each digit. Where
/// carries that fall together cancel, it takes at most 63 decisions whether the axis is affine up to some index, and
/// `work` is the limit of these.
// Proved: `split_at_run`, `split_loop_exact` in `proofs/Splits.v`.
pub(crate) fn split(
    level: &Level,
    origin: i64,
    stride: i64,
    size: i64,
    work: &mut Work,
) -> Result<Option<Runs>, OutOfWork> {
    let (mut runs, mut stride, mut left) = (Runs::new(), stride, size);
    let mut space = IndexBox { axes: SmallVec::new(), origin };
    while left > 1 {
        let run = affine_run(level, origin, stride, left, work)?;
        if left % run != 0 {
            return Ok(None);
        }
        runs.push(run);
        space.axes.push(Axis { axis: 0, stride, first: 0, size: run });
        left /= run;
        stride = stride.wrapping_mul(run); // It wraps only if nothing is left to use it.
    }
    // A single run is affine as it was found. Of several each is so where the indices of the others are 0, and only there.
    let affine = runs.len() < 2
        || if level.masked {
            boundaries(level).all(|(weight, _)| space.quotient(weight, |_, _| {}).is_some())
        } else {
            uneven_steps(level, &space, &mut Address::default(), work)?.is_none()
        };
    Ok(affine.then_some(runs))
}

/// The boundaries between digits that matter: the weight above each, and how far a carry moves the address. Next to a
/// masked digit all of them matter.
fn boundaries(level: &Level) -> impl Iterator<Item = (i64, i128)> {
    level.digits.windows(2).filter_map(|pair| {
        let jump = i128::from(pair[1].stride) - i128::from(pair[0].stride) * i128::from(pair[0].size);
        (jump != 0 || pair.iter().any(Digit::is_masked)).then_some((pair[1].weight, jump))
    })
}

/// A boundary between digits, and the steps along an axis that carry over it unlike the first step does.
struct Unlike {
    weight: i128,
    /// The remainder of the position at the start of the axis, counted towards the side on which it leaves its range, and how
    /// far a step moves it.
    remainder: i128,
    step: i128,
    /// How far the address moves otherwise than on the first step.
    jump: i128,
    /// The end of the next one of these steps.
    next: i128,
    /// How many of them there are up to that one.
    count: i128,
}

impl Unlike {
    /// The steps of a boundary, if some step is unlike the first one, on an axis of any length.
    ///
    /// The remainder of the position, moved by the stride less the carry of the first step, leaves its range with each of
    /// them once: with one carry more, or one less.
    // Proved: `unlike_counts` in `proofs/Runs.v`.
    fn of((weight, jump): (i64, i128), origin: i64, stride: i64) -> Option<Unlike> {
        let (remainder, step) = (origin % weight, stride.rem_euclid(weight));
        let (remainder, step, jump) = if step >= weight - remainder {
            (weight - 1 - remainder, weight - step, -jump)
        } else if step > 0 {
            (remainder, step, jump)
        } else {
            return None;
        };
        let next = (weight - 1 - remainder) / step + 1;
        let [weight, remainder, step, next] = [weight, remainder, step, next].map(i128::from);
        Some(Unlike { weight, remainder, step, jump, next, count: 1 })
    }

    fn advance(&mut self) {
        self.count += 1;
        self.next = (self.count * self.weight - 1 - self.remainder) / self.step + 1;
    }
}

/// How many times carries that cancel are followed before the question is asked for all of them at once.
const FOLLOWED: usize = 64;

/// The longest affine run from the start of an axis of at least 2 indices.
// Proved: `followed_run`, `narrowed_run` in `proofs/Runs.v`.
pub(super) fn affine_run(
    level: &Level,
    origin: i64,
    stride: i64,
    size: i64,
    work: &mut Work,
) -> Result<i64, OutOfWork> {
    // The run goes on at least until some carry is unlike that of the first step.
    let all = boundaries(level).filter_map(|boundary| Unlike::of(boundary, origin, stride));
    let mut unlike: SmallVec<[Unlike; 4]> = all.filter(|unlike| unlike.next < i128::from(size)).collect();
    let mut run = size;
    for _ in 0..FOLLOWED {
        let Some(next) = unlike.iter().map(|unlike| unlike.next).min().filter(|&next| next < i128::from(size)) else {
            return Ok(size);
        };
        run = next as i64;
        let mut moved = 0;
        for unlike in unlike.iter_mut().filter(|unlike| unlike.next == next) {
            moved += unlike.jump;
            unlike.advance();
        }
        if moved != 0 || level.masked {
            return Ok(run);
        }
    }
    // The carries that are unlike cancel, and may go on to do so.
    let (mut affine, mut longest) = (run + 1, size);
    let mut asked = size;
    while affine < longest {
        let axis = Axis { axis: 0, stride, first: 0, size: asked };
        let space = IndexBox { axes: smallvec![axis], origin };
        match uneven_steps(level, &space, &mut Address::default(), work)? {
            None => affine = asked,
            // Two steps that differ: the first one of the axis, and one that the run does not get past.
            Some(uneven) => longest = uneven.at[1][0] + 1,
        }
        asked = affine + (longest - affine + 1) / 2;
    }
    Ok(affine)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::View;
    use crate::merge::merge_fitting;
    use crate::tests::Rng;

    /// Every list of sizes of at least 2 with a product, in every order.
    fn factorizations(size: usize) -> Vec<Vec<usize>> {
        if size == 1 {
            return vec![Vec::new()];
        }
        let divisors = (2..=size).filter(|divisor| size.is_multiple_of(*divisor));
        let with = |divisor: usize| {
            let rest = factorizations(size / divisor).into_iter();
            rest.map(move |rest| [&[divisor], &rest[..]].concat())
        };
        divisors.flat_map(with).collect()
    }

    /// Whether addresses in row-major order are affine under a shape.
    fn are_affine(addresses: &[i64], shape: &[usize]) -> bool {
        let mut weight = addresses.len();
        shape.iter().all(|&size| {
            weight /= size;
            let steps = (0..addresses.len()).filter(|i| i / weight % size < size - 1);
            size == 1 || { steps }.all(|i| addresses[i + weight] - addresses[i] == addresses[weight] - addresses[0])
        })
    }

    /// The addresses that a pair of views without masks reads, by the definition.
    fn addresses(lower: (&[i64], &[i64]), later: (&[i64], &[i64]), origin: i64) -> Vec<i64> {
        let count: i64 = later.0.iter().product();
        let digits = |mut position: i64, shape: &[i64], strides: &[i64]| {
            let mut sum = 0;
            for (size, stride) in shape.iter().zip(strides).rev() {
                sum += position % size * stride;
                position /= size;
            }
            sum
        };
        (0..count).map(|i| digits(origin + digits(i, later.0, later.1), lower.0, lower.1)).collect()
    }

    /// Sizes, strides and the offset of a view of positions below `len`, with strides near the lower sizes' products.
    fn later(rng: &mut Rng, lower: &[i64], len: i64) -> (Vec<i64>, Vec<i64>, i64) {
        let (rank, mut room) = ([1, 1, 2, 3][rng.below(4) as usize], len - 1);
        let (mut sizes, mut strides, mut origin) = (Vec::new(), Vec::new(), 0);
        for _ in 0..rank {
            let near: i64 = lower[rng.below(lower.len() as u64 + 1) as usize..].iter().product();
            let stride = match rng.below(8) {
                0 => near,
                1 => near * (1 + rng.below(3) as i64),
                2..5 => (near / (1 + rng.below(9) as i64)).max(1),
                5 => near + rng.below(3) as i64,
                6 => rng.below(2) as i64,
                _ => 1 + rng.below(1 + room as u64 / 3) as i64,
            };
            let most = room.checked_div(stride).map_or(4, |steps| 1 + steps.min([23, 15, 11][rank as usize - 1]));
            // Whole blocks of a lower axis in half of the cases.
            let blocks = near.checked_div(stride).filter(|&block| (1..=most).contains(&block));
            let size = match blocks.filter(|_| rng.below(2) == 0) {
                Some(block) => block * (1 + rng.below((most / block) as u64) as i64),
                None => 1 + rng.below(most as u64) as i64,
            };
            room -= stride * (size - 1);
            if rng.below(3) == 0 {
                origin += stride * (size - 1);
                strides.push(-stride);
            } else {
                strides.push(stride);
            }
            sizes.push(size);
        }
        let start = if rng.below(2) == 0 { 0 } else { rng.below(1 + room as u64) as i64 };
        (sizes, strides, origin + start)
    }

    #[test]
    fn the_greedy_split_merges_exactly_if_some_split_does() {
        let mut rng = Rng(16);
        let (mut split_to_merge, mut merged, mut refused, mut interact) = (0, 0, 0, 0);
        for _ in 0..60_000 {
            let shape: Vec<i64> = (0..2 + rng.below(3)).map(|_| 2 + rng.below(9) as i64).collect();
            let mut strides: Vec<i64> = shape.iter().map(|_| rng.below(30) as i64 - 9).collect();
            for axis in (0..shape.len() - 1).rev().filter(|_| rng.below(3) == 0) {
                strides[axis] = strides[axis + 1] * shape[axis + 1];
            }
            let (sizes, steps, origin) = later(&mut rng, &shape, shape.iter().product());
            let case = format!("{shape:?}:{strides:?} {sizes:?}:{steps:?} offset {origin}");
            let lower = View::new(&shape, &strides, 0, None).unwrap();
            let level = Level::of(&lower);

            // Axis by axis: some list of sizes fits exactly if the greedy one does, which is among the shortest.
            let mut each = Vec::new();
            for (&size, &step) in sizes.iter().zip(&steps) {
                let along = addresses((&shape, &strides), (&[size], &[step]), origin);
                let fitting = factorizations(size as usize).into_iter().filter(|sizes| are_affine(&along, sizes));
                let runs = split(&level, origin, step, size, &mut Work::new()).unwrap();
                let mut reversed: Option<Vec<i64>> = runs.map(|runs| runs.into_iter().rev().collect());
                assert_eq!(reversed.as_ref().map(Vec::len), fitting.map(|sizes| sizes.len()).min(), "{case}");
                if let Some(runs) = &reversed {
                    let runs: Vec<usize> = runs.iter().map(|&run| run as usize).collect();
                    assert!(runs.iter().product::<usize>() == size as usize && are_affine(&along, &runs), "{case}");
                }
                each.push(reversed.take());
            }

            // All of them together.
            let table = addresses((&shape, &strides), (&sizes, &steps), origin);
            let mut lists = vec![Vec::new()];
            for &size in &sizes {
                let more = factorizations(size as usize);
                lists = lists.iter().flat_map(|list| more.iter().map(move |more| [&list[..], more].concat())).collect();
            }
            let some = lists.iter().any(|list| are_affine(&table, list));
            let greedy = each.into_iter().collect::<Option<Vec<_>>>().map(|each| {
                let strides = each.iter().zip(&steps).flat_map(|(runs, &step)| {
                    let inner = |k: usize| step * runs[k + 1..].iter().product::<i64>();
                    (0..runs.len()).map(inner).collect::<Vec<_>>()
                });
                View::new(each.concat(), strides.collect::<Vec<_>>(), origin, None).unwrap()
            });
            let greedy = greedy.map(|later| merge_fitting(&lower, &later).is_ok());
            assert_eq!(greedy == Some(true), some, "{case}");
            let whole: Vec<usize> = sizes.iter().map(|&size| size as usize).collect();
            let count = match (some, are_affine(&table, &whole)) {
                (true, true) => &mut merged,
                (true, false) => &mut split_to_merge,
                (false, _) if greedy.is_some() => &mut interact,
                (false, _) => &mut refused,
            };
            *count += 1;
        }
        println!("{merged} merge, {split_to_merge} when split, {refused} fit no split, {interact} only axis by axis");
        assert!([split_to_merge, merged, refused].iter().all(|&count| count > 2_000) && interact > 100);
    }

    #[test]
    fn runs_of_known_axes() {
        let runs = |shape: &[i64], strides: &[i64], size: i64, stride: i64, origin: i64| {
            let lower = View::new(shape, strides, 0, None).unwrap();
            let runs = split(&Level::of(&lower), origin, stride, size, &mut Work::a_little()).unwrap();
            runs.map(|runs| runs.to_vec())
        };
        // Digits that fit, and a boundary that is no whole number of steps away: 10 = 1 * 9 + 1.
        assert_eq!(runs(&[10, 8, 6, 4], &[7, 5, 3, 2], 6, 12, 0), Some(vec![2, 3]));
        assert_eq!(runs(&[8, 9, 4], &[37, -4, 12], 4, 10, 0), Some(vec![2, 2]));
        // Backwards.
        assert_eq!(runs(&[10, 8, 6, 4], &[7, 5, 3, 2], 6, -12, 60), Some(vec![2, 3]));
        // The run is 3, which is all of one axis, and does not divide the other.
        assert_eq!(runs(&[8, 2, 4], &[97, 12, 3], 3, 3, 0), Some(vec![3]));
        assert_eq!(runs(&[8, 2, 4], &[97, 12, 3], 4, 3, 0), None);
        // The run is 2 and divides the axis, but the addresses 0, 6, 7, 8, 9, 15 are no sum over two axes.
        assert_eq!(runs(&[8, 6, 4], &[5, 3, 2], 6, 3, 0), None);
        // Carries that cancel always, and every second time.
        assert_eq!(runs(&[10, 9, 4], &[140, 11, 13], 6, 9, 0), Some(vec![6]));
        assert_eq!(runs(&[9, 3, 5], &[2, 1, 0], 6, 9, 0), Some(vec![3, 2]));
        // They cancel for four million million steps, up to one more boundary.
        let far = 1_000_000_000_000;
        assert_eq!(runs(&[7, far, 9, 4], &[5, 140, 11, 13], 28 * far, 9, 0), Some(vec![4 * far, 7]));
        assert_eq!(runs(&[1 << 30, 1 << 30], &[1, 1 << 30], 1 << 40, 1 << 10, 0), Some(vec![1 << 20, 1 << 20]));
        assert_eq!(runs(&[1 << 30, 1 << 30], &[1, 1 << 30], 1, 0, 77), Some(vec![]));
    }
}
