//! The answers against trials, and examples of what is copied.

use super::{Misfit, Obstacle, fit};
use crate::shape::{row_major, unravel};
use crate::tests::Rng;
use crate::{Dims, Ranges, View};

/// The address that the element at a row-major position reads.
fn at(view: &View, position: i64) -> Option<i64> {
    view.address(&unravel(position, view.shape()))
}

/// The smallest row-major buffer that serves, when each new axis either has stride 0 or is copied.
fn smallest_by_trial(view: &View, to: &[i64]) -> i64 {
    (0..1u32 << to.len())
        .filter(|choice| {
            (0..view.numel()).all(|position| {
                let mut index = unravel(position, to);
                for (axis, i) in index.iter_mut().enumerate() {
                    *i = if choice & (1 << axis) == 0 { *i } else { 0 };
                }
                let held: i64 = index.iter().zip(row_major(to)).map(|(i, stride)| i * stride).sum();
                at(view, position) == at(view, held)
            })
        })
        .map(|choice| (0..to.len()).filter(|axis| choice & (1 << axis) == 0).map(|axis| to[axis]).product())
        .min()
        .unwrap()
}

/// A shape with the given number of elements.
fn shape_of(rng: &mut Rng, mut numel: i64) -> Dims {
    let mut shape = Dims::new();
    while numel > 1 || rng.below(4) == 0 {
        let size = 1 + rng.below(numel as u64) as i64;
        if numel % size == 0 {
            shape.push(size);
            numel /= size;
        }
    }
    shape
}

#[test]
fn the_copy_is_right_and_none_that_copies_whole_axes_is_smaller() {
    let mut rng = Rng(2);
    let (mut blocked, mut smaller) = (0, 0);
    for _ in 0..20_000 {
        let numel = [4, 6, 8, 12, 16, 18, 24, 30, 36, 48, 60][rng.below(11) as usize];
        let (shape, to) = (shape_of(&mut rng, numel), shape_of(&mut rng, numel));
        let mut strides = row_major(&shape);
        for _ in 0..rng.below(3) {
            if !shape.is_empty() {
                let (a, b) = (rng.below(shape.len() as u64) as usize, rng.below(shape.len() as u64) as usize);
                match rng.below(4) {
                    0 => strides.swap(a, b),
                    1 => strides[a] = 0,
                    2 => strides[a] = strides[b],
                    _ => strides[a] = rng.below(9) as i64 - 4,
                }
            }
        }
        let mask: Option<Ranges> = (rng.below(3) == 0).then(|| {
            let range = |&size: &i64| {
                let begin = rng.below(size as u64) as i64;
                if rng.below(2) == 0 { (0, size) } else { (begin, size.min(begin + 1 + rng.below(3) as i64)) }
            };
            shape.iter().map(range).collect()
        });
        let view = View::new(&shape, &strides, 100, mask.as_deref()).unwrap();
        let result = fit(&view, &to);
        let Err(Misfit::Blocked(result)) = result else {
            let fitting = result.unwrap();
            assert!((0..numel).all(|position| at(&fitting, position) == at(&view, position)), "{view} to {to:?}");
            continue;
        };
        blocked += 1;
        let (copied, fitting) = (result.copied(), result.view());
        for position in 0..numel {
            let address = at(fitting, position).and_then(|held| at(copied, held));
            assert_eq!(address, at(&view, position), "{view} to {to:?}: {copied} seen as {fitting}");
        }
        let most = smallest_by_trial(&view, &to);
        assert!(
            copied.numel() <= most || view.mask().is_some(),
            "{view} to {to:?}: {copied} seen as {fitting}, {most} would do"
        );
        smaller += usize::from(copied.numel() < most);
        assert!(!result.obstacles().is_empty(), "{view} to {to:?}");
    }
    assert!(blocked > 4_000 && smaller > 50, "{blocked} blocked, {smaller} smaller than by whole axes");
}

#[test]
fn only_one_copy_of_what_is_broadcast_is_needed() {
    let view = View::new([4, 3], [0, 1], 0, None).unwrap();
    let Err(Misfit::Blocked(blocked)) = fit(&view, [2, 6]) else { panic!() };
    assert_eq!(*blocked.copied(), View::new([2, 3], [0, 1], 0, None).unwrap());
    assert_eq!(*blocked.view(), View::new([2, 6], [0, 1], 0, None).unwrap());
}

#[test]
fn windows_that_stay_as_they_are_share_their_elements() {
    // Five windows of three elements, beside a matrix that has to be transposed.
    let view = View::new([5, 3, 2, 3], [6, 6, 1, 2], 0, None).unwrap();
    let Err(Misfit::Blocked(blocked)) = fit(&view, [5, 3, 6]) else { panic!() };
    assert_eq!(*blocked.copied(), View::new([7, 2, 3], [6, 1, 2], 0, None).unwrap());
    assert_eq!(*blocked.view(), View::new([5, 3, 6], [6, 6, 1], 0, None).unwrap());
}

#[test]
fn masked_margins_are_not_copied() {
    let view = View::new([2, 3, 6], [1, 2, 6], 0, Some(&[(0, 2), (0, 3), (1, 5)])).unwrap();
    let Err(Misfit::Blocked(blocked)) = fit(&view, [6, 6]) else { panic!() };
    assert_eq!(blocked.copied().numel(), 24);
    assert_eq!(*blocked.view(), View::new([6, 6], [4, 1], -1, Some(&[(0, 6), (1, 5)])).unwrap());
}

#[test]
fn every_boundary_that_is_crossed_is_named() {
    let view = View::contiguous([2, 3, 4]).unwrap().permute([2, 1, 0]).unwrap();
    let Err(Misfit::Blocked(blocked)) = fit(&view, [-1]) else { panic!() };
    let sentences: Vec<String> = blocked.obstacles().iter().map(Obstacle::to_string).collect();
    assert_eq!(
        sentences,
        [
            "new axis 0 (size 24) would run over old axes 0 and 1 (sizes 4, 3); \
             that needs stride[0] = size[1] * stride[1] = 12, but stride[0] is 1",
            "new axis 0 (size 24) would run over old axes 1 and 2 (sizes 3, 2); \
             that needs stride[1] = size[2] * stride[2] = 24, but stride[1] is 4",
        ]
    );
}
