//! Sizes beyond brute force.
//!
//! Small pairs, decided by brute force, are made large by changes that keep the answer: each of them changes the
//! composed map in a way that can be written down, and with it the one view that it is, if it is one. Besides, families
//! of pairs whose answer is known for every size, and large random pairs where every witness is looked up and every
//! merged view is compared with the stack at the corners, around the places where digits overflow, and at random.

use shapetracker::{ErrorKind, ShapeTracker, Unmerged, View, Witness, merge};

use crate::oracle::{RawView, check_witness, evaluate, look_up};
use crate::random::{Tape, cases, check};

/// A pair and the one view that it is, if it is one.
#[derive(Clone, Debug)]
struct Scaled {
    pair: [RawView; 2],
    merged: Option<RawView>,
}

impl Scaled {
    fn new(pair: Vec<RawView>) -> Scaled {
        let merged = evaluate(&pair).single_view();
        Scaled { pair: pair.try_into().expect("two views"), merged }
    }

    /// The later view and the merged one, which have one shape and change alike.
    fn over(&mut self) -> impl Iterator<Item = &mut RawView> {
        let [_, later] = &mut self.pair;
        std::iter::once(later).chain(&mut self.merged)
    }

    /// Another unit of addresses, another origin.
    fn stretch(mut self, factor: i64, shift: i64) -> Option<Scaled> {
        for view in std::iter::once(&mut self.pair[0]).chain(&mut self.merged) {
            for stride in &mut view.strides {
                *stride = stride.checked_mul(factor)?;
            }
            view.offset = view.offset.checked_mul(factor)?.checked_add(shift)?;
        }
        Some(self)
    }

    /// A new innermost axis of the earlier view, and one of the later view that walks it alone: position `p` becomes
    /// `size * p + start + walk * k`, so that the old digits are the old ones and the new digit is `start + walk * k`.
    fn insert_inner(mut self, new: &NewAxis) -> Option<Scaled> {
        let [earlier, later] = &mut self.pair;
        push_axis(earlier, earlier.shape.len(), new.size, new.stride, new.range);
        for stride in &mut later.strides {
            *stride = stride.checked_mul(new.size)?;
        }
        later.offset = later.offset.checked_mul(new.size)?.checked_add(new.start)?;
        push_axis(later, later.shape.len(), new.len, new.walk, (0, new.len));
        self.merged = match self.merged {
            Some(merged) => Some(new.beside(merged, later.shape.len() - 1)?),
            None => new.nothing(later),
        };
        Some(self)
    }

    /// A new outermost axis of the earlier view, and one of the later view that walks it alone.
    fn insert_outer(mut self, new: &NewAxis) -> Option<Scaled> {
        let [earlier, later] = &mut self.pair;
        let numel = earlier.numel();
        push_axis(earlier, 0, new.size, new.stride, new.range);
        later.offset = later.offset.checked_add(numel.checked_mul(new.start)?)?;
        push_axis(later, 0, new.len, numel.checked_mul(new.walk)?, (0, new.len));
        self.merged = match self.merged {
            Some(merged) => Some(new.beside(merged, 0)?),
            None => new.nothing(later),
        };
        Some(self)
    }

    /// A new axis of the later view that repeats everything.
    fn repeat(mut self, axis: usize, size: i64, range: (i64, i64)) -> Option<Scaled> {
        if range.0 == range.1 {
            return None; // Nothing would be left to decide.
        }
        self.over().for_each(|view| push_axis(view, axis, size, 0, range));
        Some(self)
    }

    fn permute(mut self, axes: &[usize]) -> Option<Scaled> {
        for view in self.over() {
            view.shape = axes.iter().map(|&axis| view.shape[axis]).collect();
            view.strides = axes.iter().map(|&axis| view.strides[axis]).collect();
            view.mask = view.mask.as_ref().map(|mask| axes.iter().map(|&axis| mask[axis]).collect());
        }
        Some(self)
    }

    fn flip(mut self, axis: usize) -> Option<Scaled> {
        for view in self.over() {
            let last = view.shape[axis] - 1;
            view.offset = view.offset.checked_add(view.strides[axis].checked_mul(last)?)?;
            view.strides[axis] = -view.strides[axis];
            if let Some(mask) = &mut view.mask {
                mask[axis] = (last + 1 - mask[axis].1, last + 1 - mask[axis].0);
            }
        }
        Some(self)
    }

    fn pad(mut self, axis: usize, before: i64, after: i64) -> Option<Scaled> {
        for view in self.over() {
            let (begin, end) = view.range(axis);
            view.mask.get_or_insert_with(|| view.shape.iter().map(|&size| (0, size)).collect())[axis] =
                (begin + before, end + before);
            view.shape[axis] = view.shape[axis].checked_add(before)?.checked_add(after)?;
            view.offset = view.offset.checked_sub(view.strides[axis].checked_mul(before)?)?;
        }
        Some(self)
    }

    /// An axis of the earlier view as two: the same map.
    fn split_earlier(mut self, axis: usize, inner: i64) -> Option<Scaled> {
        split(&mut self.pair[0], axis, inner)?;
        Some(self)
    }

    /// An axis of the later view as two: one view stays one view.
    fn split_later(mut self, axis: usize, inner: i64) -> Option<Scaled> {
        self.merged.as_ref()?;
        self.over().try_for_each(|view| split(view, axis, inner))?;
        Some(self)
    }

    /// More elements behind all those that the later view reads.
    fn grow(mut self, size: i64) -> Option<Scaled> {
        let earlier = &mut self.pair[0];
        *earlier.shape.first_mut()? += size;
        let old = earlier.shape[0] - size;
        (old > 0).then_some(self)
    }

    /// Whether every number fits `i64` with some room.
    fn fits(&self) -> bool {
        let fits = |number: i128| number.abs() < 1 << 62;
        self.pair.iter().chain(&self.merged).all(|view| {
            let (low, high) = if view.is_empty() { (0, 0) } else { view.reach() };
            fits(view.shape.iter().map(|&size| i128::from(size)).product())
                && fits(low + i128::from(view.offset))
                && fits(high + i128::from(view.offset))
                && fits(view.offset.into())
        })
    }
}

/// A new axis of the earlier view, valid on a range, and how a new axis of the later view walks it.
struct NewAxis {
    size: i64,
    stride: i64,
    range: (i64, i64),
    start: i64,
    walk: i64,
    len: i64,
}

impl NewAxis {
    /// The entries of the later view's axis that land in the valid range.
    fn valid(&self) -> (i64, i64) {
        let first_at_least =
            |bound: i64| ((bound - self.start + self.walk - 1).div_euclid(self.walk)).clamp(0, self.len);
        let (begin, end) = (first_at_least(self.range.0), first_at_least(self.range.1));
        (begin, end.max(begin))
    }

    /// The merged view with the new axis at a place.
    fn beside(&self, mut merged: RawView, axis: usize) -> Option<RawView> {
        merged.offset = merged.offset.checked_add(self.stride.checked_mul(self.start)?)?;
        push_axis(&mut merged, axis, self.len, self.stride.checked_mul(self.walk)?, self.valid());
        Some(merged)
    }

    /// What was no view is one if the new axis leaves nothing valid.
    fn nothing(&self, later: &RawView) -> Option<RawView> {
        let (begin, end) = self.valid();
        let mask = vec![(0, 0); later.shape.len()];
        (begin == end).then(|| RawView { mask: Some(mask), ..later.clone() }.canonical())
    }
}

fn push_axis(view: &mut RawView, axis: usize, size: i64, stride: i64, range: (i64, i64)) {
    // A masked scalar stays masked when it gets its first axis.
    let range = if view.shape.is_empty() && view.is_empty() { (0, 0) } else { range };
    if view.mask.is_some() || range != (0, size) {
        let full = || view.shape.iter().map(|&size| (0, size)).collect();
        view.mask.get_or_insert_with(full).insert(axis, range);
    }
    view.shape.insert(axis, size);
    view.strides.insert(axis, stride);
}

fn split(view: &mut RawView, axis: usize, inner: i64) -> Option<()> {
    let size = view.shape[axis];
    if size % inner != 0 || view.range(axis) != (0, size) {
        return None;
    }
    view.shape[axis] = size / inner;
    view.shape.insert(axis + 1, inner);
    let stride = view.strides[axis];
    view.strides[axis] = stride.checked_mul(inner)?;
    view.strides.insert(axis + 1, stride);
    if let Some(mask) = &mut view.mask {
        mask[axis] = (0, size / inner);
        mask.insert(axis + 1, (0, inner));
    }
    Some(())
}

/// A number of any magnitude up to `most`.
fn magnitude(tape: &mut Tape, most: i64) -> i64 {
    let digits = tape.below(10) as u32;
    tape.within(1, 10i64.pow(digits).min(most))
}

fn size(tape: &mut Tape) -> i64 {
    let most = 1_000_000_000;
    let any = magnitude(tape, most);
    tape.pick(&[2, 3, 10, 1000, 1024, 999_983, most, any, any])
}

fn new_axis(tape: &mut Tape) -> NewAxis {
    let size = size(tape);
    let sign = tape.pick(&[1, -1]);
    let stride = sign * tape.pick(&[0, 1, 1, 1000]) * magnitude(tape, 10_000);
    let range = if tape.chance(30) { tape.range(size) } else { (0, size) };
    let start = tape.pick(&[0, 0, 1]) * tape.below(size);
    let walk = if tape.chance(50) { 1 } else { magnitude(tape, size) };
    let most = (size - 1 - start) / walk + 1;
    let len = if tape.chance(50) { most } else { tape.within(1, most) };
    NewAxis { size, stride, range, start, walk, len }
}

fn scaled(tape: &mut Tape) -> Scaled {
    let mut scaled = Scaled::new(tape.pair());
    for _ in 0..tape.within(1, 6) {
        let rank = scaled.pair[1].shape.len();
        let axis = |tape: &mut Tape, rank: usize| tape.below(rank as i64) as usize;
        let change = scaled.clone();
        let changed = match tape.below(12) {
            0 => {
                let (factor, sign) = (magnitude(tape, 1_000_000_000), tape.pick(&[1, 1, -1]));
                change.stretch(sign * factor, tape.signed(1_000_000_000))
            }
            1..4 if change.pair[0].numel() > 0 => change.insert_inner(&new_axis(tape)),
            4..6 if change.pair[0].numel() > 0 => change.insert_outer(&new_axis(tape)),
            6 => {
                let size = size(tape);
                let axis = axis(tape, rank + 1);
                let range = if tape.chance(20) { tape.range(size) } else { (0, size) };
                change.repeat(axis, size, range)
            }
            7 => change.permute(&tape.permutation(rank)),
            8 if rank > 0 => change.flip(axis(tape, rank)),
            9 if rank > 0 => {
                let axis = axis(tape, rank);
                change.pad(axis, size(tape), size(tape))
            }
            10 if rank > 0 => {
                let axis = axis(tape, rank);
                change.split_later(axis, tape.pick(&[2, 3, 5, 10, 1000]))
            }
            11 if !change.pair[0].shape.is_empty() => match tape.chance(50) {
                true => change.grow(size(tape)),
                false => {
                    let axis = axis(tape, change.pair[0].shape.len());
                    change.split_earlier(axis, tape.pick(&[2, 3, 5, 10, 1000]))
                }
            },
            _ => None,
        };
        if let Some(changed) = changed.filter(Scaled::fits) {
            scaled = changed;
        }
    }
    scaled
}

#[test]
fn large_pairs_that_are_small_ones_in_disguise_are_decided_alike() {
    let sizes = std::cell::Cell::new((0u32, 0u32, 0u32));
    check(cases::SCALED, scaled, |Scaled { pair, merged }| {
        let outcome = merge(&pair[0].view(), &pair[1].view());
        let (merges, not, large) = sizes.get();
        let is_large = pair.iter().any(|view| view.shape.iter().any(|&size| size > 1_000_000));
        sizes.set((
            merges + u32::from(merged.is_some()),
            not + u32::from(merged.is_none()),
            large + u32::from(is_large),
        ));
        match (outcome, merged) {
            (Ok(view), Some(merged)) if merged.canonical() == view => Ok(()),
            (Err(Unmerged::Witness(witness)), None) => {
                check_witness(&witness, &pair[1].shape, |index| look_up(pair, index))
                    .map_err(|why| format!("{witness:?} is no witness: {why}"))
            }
            (outcome, merged) => Err(format!("{outcome:?} should be {:?}", merged.as_ref().map(RawView::canonical))),
        }
    });
    let (merges, not, large) = sizes.get();
    println!("{merges} scaled pairs merge, {not} do not; {large} have a size above a million");
    assert!(merges > not / 4 && not > merges / 10 && large > (merges + not) / 3);
}

/// The change that each way of scaling makes is the one that is claimed, on sizes that can be walked.
#[test]
fn scaling_keeps_the_answer_as_claimed() {
    check(
        cases::SCALED / 10,
        |tape| {
            let small = |tape: &mut Tape| tape.within(1, 4);
            let mut scaled = Scaled::new(tape.pair());
            for _ in 0..tape.within(1, 4) {
                let rank = scaled.pair[1].shape.len() as i64;
                let size = small(tape);
                let range = if tape.chance(50) { tape.range(size) } else { (0, size) };
                let start = tape.below(size);
                let walk = small(tape);
                let len = tape.within(1, (size - 1 - start) / walk + 1);
                let new = NewAxis { size, stride: tape.signed(9), range, start, walk, len };
                let change = scaled.clone();
                let changed = match tape.below(9) {
                    0 => change.stretch(tape.pick(&[1, 2, -3]), tape.signed(9)),
                    1 if change.pair[0].numel() > 0 => change.insert_inner(&new),
                    2 if change.pair[0].numel() > 0 => change.insert_outer(&new),
                    3 => change.repeat(tape.within(0, rank) as usize, size, range),
                    4 => change.permute(&tape.permutation(rank as usize)),
                    5 if rank > 0 => change.flip(tape.below(rank) as usize),
                    6 if rank > 0 => change.pad(tape.below(rank) as usize, size, start),
                    7 if rank > 0 => change.split_later(tape.below(rank) as usize, tape.pick(&[2, 3])),
                    8 if !change.pair[0].shape.is_empty() => match tape.chance(50) {
                        true => change.grow(size),
                        false => change.split_earlier(0, tape.pick(&[2, 3])),
                    },
                    _ => None,
                };
                if let Some(changed) = changed.filter(|changed| changed.pair[1].numel() < 3000) {
                    scaled = changed;
                }
            }
            scaled
        },
        |Scaled { pair, merged }| {
            let (found, claimed) = (evaluate(pair).single_view(), merged.as_ref().map(RawView::canonical));
            if found == claimed { Ok(()) } else { Err(format!("claimed {claimed:?}, and is {found:?}")) }
        },
    );
}

/// A pair of any sizes up to 10^9, inside each other.
fn large_pair(tape: &mut Tape) -> Vec<RawView> {
    let mut earlier = RawView::new(&[], &[], 0, None);
    let mut numel = 1i64;
    for _ in 0..tape.within(1, 4) {
        let size = size(tape).min(1_000_000_000_000_000_000 / numel);
        numel *= size;
        earlier.shape.push(size);
    }
    let style = tape.below(3);
    let (mut stride, defect) = (tape.signed(20), magnitude(tape, 1000));
    for &size in earlier.shape.iter().rev() {
        earlier.strides.insert(0, if style == 0 { tape.signed(20) } else { stride });
        stride = stride.saturating_mul(size).clamp(-1 << 56, 1 << 56);
        if style == 2 {
            stride += tape.pick(&[0, 1, -1]) * defect;
        }
    }
    while earlier.reach().1 - earlier.reach().0 > 1 << 60 {
        earlier.strides.iter_mut().for_each(|stride| *stride /= 2);
    }
    if tape.chance(40) {
        let sizes = earlier.shape.clone();
        earlier.mask =
            Some(sizes.iter().map(|&size| if tape.chance(50) { near_full(tape, size) } else { (0, size) }).collect());
    }
    let products: Vec<i64> = (0..=earlier.shape.len()).map(|axis| earlier.shape[axis..].iter().product()).collect();
    let mut later = RawView::new(&[], &[], 0, None);
    let (mut room, mut elements) = (numel - 1, 1i64);
    for _ in 0..tape.within(1, 4) {
        let near = tape.pick(&products);
        let stride = match tape.below(6) {
            0 => near,
            1 => (near / tape.within(1, 12)).max(1),
            2 => near.saturating_mul(tape.within(1, 3)),
            3 => (near + tape.signed(2)).abs().max(1),
            4 => magnitude(tape, 1000),
            _ => tape.within(1, 1 + room / 2),
        };
        let most = (room / stride + 1).min(1_000_000_000).min((1 << 60) / elements);
        let size = match tape.below(3) {
            0 => most,
            1 => tape.within(1, most),
            _ => magnitude(tape, most),
        };
        room -= (size - 1) * stride;
        elements *= size;
        later.shape.push(size);
        later.strides.push(if tape.chance(20) { -stride } else { stride });
    }
    if tape.chance(20) {
        let sizes = later.shape.clone();
        later.mask =
            Some(sizes.iter().map(|&size| if tape.chance(50) { near_full(tape, size) } else { (0, size) }).collect());
    }
    let (low, high) = if later.is_empty() { (0, 0) } else { later.reach() };
    let room = numel - 1 - (high - low) as i64;
    later.offset = tape.pick(&[0, room / 2, room, tape_below(room)]) - low as i64;
    vec![earlier, later]
}

/// Some number in `0..=most` that is not round.
fn tape_below(most: i64) -> i64 {
    (i128::from(most) * 618_033_988 / 1_000_000_000) as i64
}

/// A range that leaves out a little, or a lot.
fn near_full(tape: &mut Tape, size: i64) -> (i64, i64) {
    if tape.chance(30) {
        return tape.range(size);
    }
    let begin = tape.below(3).min(size - 1);
    (begin, (size - tape.below(3)).max(begin + 1))
}

#[test]
fn large_random_pairs_have_true_witnesses_and_merged_views_that_agree_wherever_they_are_looked_at() {
    let (counts, refused) = (std::cell::Cell::new((0u32, 0u32)), std::cell::Cell::new(0u32));
    check(
        cases::LARGE,
        |tape| {
            let pair = large_pair(tape);
            let draws = [tape.below(1 << 40), tape.below(1 << 40)];
            (pair, draws)
        },
        |(pair, draws)| {
            let (merges, not) = counts.get();
            match merge(&pair[0].view(), &pair[1].view()) {
                Ok(view) => {
                    counts.set((merges + 1, not));
                    look_around(pair, &view, draws)
                }
                Err(Unmerged::Witness(witness)) => {
                    counts.set((merges, not + 1));
                    check_witness(&witness, &pair[1].shape, |index| look_up(pair, index))
                        .map_err(|why| format!("{witness:?} is no witness: {why}"))
                }
                // A merged view may need an offset past i64 although all of its valid addresses fit.
                Err(Unmerged::Error(error)) if error.kind() == ErrorKind::Overflow && pair[1].mask.is_some() => {
                    refused.set(refused.get() + 1);
                    Ok(())
                }
                Err(other) => Err(format!("{other:?}")),
            }
        },
    );
    let (merges, not) = counts.get();
    println!("{merges} large pairs merge, {not} do not, {} have an offset past i64", refused.get());
    assert!(refused.get() < merges / 500 + 1);
    assert!(merges > not / 10 && not > merges / 10);
}

/// Compares a merged view with its pair at many indices.
fn look_around(pair: &[RawView], view: &View, draws: &[i64; 2]) -> Result<(), String> {
    let (earlier, later) = (&pair[0], &pair[1]);
    let (rank, raw) = (later.shape.len(), RawView::from(view));
    let mut state = draws[0] as u64 ^ 0x9e37_79b9_7f4a_7c15;
    let mut random = |n: i64| {
        // A linear congruential generator is enough to scatter indices.
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((u128::from(state) * n as u128) >> 64) as i64
    };
    let compare = |index: &[i64]| {
        let (expected, found) = (look_up(pair, index), look_up(std::slice::from_ref(&raw), index));
        if expected == found { Ok(()) } else { Err(format!("{view:?} reads {found:?} at {index:?}, not {expected:?}")) }
    };
    let products: Vec<i64> = (1..earlier.shape.len()).map(|axis| earlier.shape[axis..].iter().product()).collect();
    for round in 0..1000 {
        let mut index: Vec<i64> = later.shape.iter().map(|&size| random(size)).collect();
        if round < 100 {
            // A corner of the shape, or next to one.
            for (i, &size) in index.iter_mut().zip(&later.shape) {
                *i = [0, size - 1, 1.min(size - 1), (size - 2).max(0)][random(4) as usize];
            }
        } else if round % 2 == 0 && !products.is_empty() && rank > 0 {
            // Where a walk along one axis crosses a boundary of the earlier view.
            let (axis, product) = (random(rank as i64) as usize, products[random(products.len() as i64) as usize]);
            let (stride, size) = (later.strides[axis], later.shape[axis]);
            let at = |index: &[i64]| {
                index.iter().zip(&later.strides).fold(later.offset, |sum, (i, stride)| sum + i * stride)
            };
            if stride != 0 {
                index[axis] = 0;
                let from = at(&index);
                let to = from + stride * (size - 1);
                let multiple = (from.min(to) + random((from - to).abs() + 1)).div_euclid(product) * product;
                index[axis] = ((multiple - from) / stride + random(3) - 1).clamp(0, size - 1);
            }
        }
        compare(&index)?;
    }
    // The ends of the merged view's own valid range.
    if !view.is_empty() {
        for axis in 0..rank {
            let mut index: Vec<i64> = (0..rank).map(|axis| raw.range(axis).0).collect();
            for end in [raw.range(axis).0 - 1, raw.range(axis).0, raw.range(axis).1 - 1, raw.range(axis).1] {
                index[axis] = end;
                if (0..later.shape[axis]).contains(&end) {
                    compare(&index)?;
                }
            }
        }
    }
    Ok(())
}

#[test]
fn overflows_that_cancel_at_every_size() {
    for outer in [10, 1000, 1_000_000_000, 100_000_000_000_000_000] {
        let earlier = View::new([outer, 9, 4], [140, 11, 13], 0, None);
        let Ok(earlier) = earlier else { continue }; // Its last address is past i64.
        let merged = merge(&earlier, &View::new([6], [9], 0, None).unwrap());
        assert_eq!(merged.unwrap(), View::new([6], [35], 0, None).unwrap());
    }
}

#[test]
fn a_triangle_is_no_box_at_any_size() {
    for n in [2, 3, 10, 1000, 1_000_000, 1_000_000_000, 2_000_000_000] {
        let pair = [
            RawView::new(&[n, 2 * n - 1], &[0, 0], 0, Some(&[(0, n), (n - 1, 2 * n - 1)])),
            RawView::new(&[n, n], &[2 * n, 1], 0, None),
        ];
        let Err(Unmerged::Witness(witness @ Witness::NotABox { .. })) = merge(&pair[0].view(), &pair[1].view()) else {
            panic!("a triangle of {n} is no box");
        };
        assert_eq!(check_witness(&witness, &[n, n], |index| look_up(&pair, index)), Ok(()));
    }
}

#[test]
fn a_transposed_square_flattens_at_no_size_and_a_straight_one_at_every_size() {
    for n in [2, 10, 1000, 1_000_000, 1_000_000_000] {
        let st = ShapeTracker::contiguous([n, n]).unwrap();
        assert_eq!(st.reshape([n * n]).unwrap().views(), [View::contiguous([n * n]).unwrap()]);
        let transposed = st.permute([1, 0]).unwrap().reshape([n * n]).unwrap();
        assert_eq!(transposed.views().len(), 2);
        let back = transposed.reshape([n, n]).unwrap().permute([1, 0]).unwrap();
        assert_eq!(back, st);
    }
}

#[test]
fn masked_rows_unfold_at_every_size() {
    for n in [2, 10, 1000, 1_000_000, 1_000_000_000] {
        let rows = View::new([n, n], [n, 1], 0, Some(&[(1, n - 1), (0, n)])).unwrap();
        let flat = View::new([n * n], [1], 0, Some(&[(n, n * n - n)])).unwrap();
        assert_eq!(rows.reshape([n * n]).unwrap(), flat);
        let columns = View::new([n, n], [n, 1], 0, Some(&[(0, n), (1, n)])).unwrap();
        assert!(matches!(columns.reshape([n * n]), Err(Unmerged::Witness(Witness::NotABox { .. }))));
    }
}
