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
        let forward = result.without_negative_strides();
        for result in [&*result].into_iter().chain(forward) {
            let held: Vec<Option<i64>> =
                result.copied().iter().flat_map(|view| (0..view.numel()).map(|position| at(view, position))).collect();
            assert_eq!(result.elements(), held.len() as i64);
            for position in 0..numel {
                let address = at(result.view(), position).and_then(|position| held[position as usize]);
                assert_eq!(address, at(&view, position), "{view} to {to:?}: {result:?}");
            }
        }
        let most = smallest_by_trial(&view, &to);
        assert!(result.elements() <= most || view.mask().is_some(), "{view} to {to:?}: {most} would do for {result:?}");
        smaller += usize::from(result.elements() < most);
        assert!(!result.obstacles().is_empty(), "{view} to {to:?}");
    }
    assert!(blocked > 4_000 && smaller > 50, "{blocked} blocked, {smaller} smaller than by whole axes");
}

/// Whether a buffer shorter than `len` has a view of a shape that reads the same, by trying all strides by which the axes
/// together reach no further than such a buffer, without regard to how many elements are distinct.
fn is_beaten_by_trial(reads: &[i64], shape: &[i64], len: i64, negative: bool) -> bool {
    struct Trial<'a> {
        sizes: Vec<i64>,
        indices: Vec<Vec<i64>>,
        reads: &'a [i64],
        strides: Vec<i64>,
        held: Vec<Option<i64>>,
        negative: bool,
    }
    impl Trial<'_> {
        fn works(&mut self, reach: i64) -> bool {
            let Some(&size) = self.sizes.get(self.strides.len()) else {
                self.held.fill(None);
                let middle = self.held.len() as i64 / 2;
                return self.indices.iter().zip(self.reads).all(|(index, &address)| {
                    let position: i64 = index.iter().zip(&self.strides).map(|(i, stride)| i * stride).sum();
                    *self.held[(middle + position) as usize].get_or_insert(address) == address
                });
            };
            let most = reach / (size - 1);
            let least = if self.negative { -most } else { 0 };
            (least..=most).any(|stride| {
                self.strides.push(stride);
                let found = self.works(reach - stride.abs() * (size - 1));
                self.strides.pop();
                found
            })
        }
    }
    let sizes: Vec<i64> = shape.iter().copied().filter(|&size| size > 1).collect();
    let indices = (0..reads.len() as i64).map(|position| unravel(position, &sizes).to_vec()).collect();
    let held = vec![None; 2 * len as usize + 1];
    Trial { sizes, indices, reads, strides: Vec::new(), held, negative }.works(len - 2)
}

/// A view without a mask and a shape of as many elements; windows that overlap and broadcast axes are frequent.
fn windows(rng: &mut Rng, numel: i64) -> (View, Dims) {
    let (shape, to) = (shape_of(rng, numel), shape_of(rng, numel));
    let mut strides = row_major(&shape);
    for _ in 0..rng.below(4) {
        if !shape.is_empty() {
            let (a, b) = (rng.below(shape.len() as u64) as usize, rng.below(shape.len() as u64) as usize);
            match rng.below(5) {
                0 => strides.swap(a, b),
                1 => strides[a] = 0,
                2 => strides[a] = strides[b],
                3 => strides[a] = rng.below(5) as i64,
                _ => strides[a] = rng.below(9) as i64 - 4,
            }
        }
    }
    (View::new(&shape, &strides, 100, None).unwrap(), to)
}

#[test]
fn found_by_an_audit_no_buffer_is_smaller() {
    let mut rng = Rng(11);
    let (mut blocked, mut fewer, mut several, mut forward) = (0, 0, 0, 0);
    while blocked < 10_000 {
        let numel = [4, 6, 8, 9, 12, 12, 16, 18, 20, 24, 24, 32, 36, 64][rng.below(14) as usize];
        let (view, to) = windows(&mut rng, numel);
        let Err(Misfit::Blocked(result)) = fit(&view, &to) else { continue };
        // Long buffers with many axes have too many strides.
        if numel > 24 && result.elements() > 16 {
            continue;
        }
        blocked += 1;
        let reads: Vec<i64> = (0..numel).map(|position| at(&view, position).unwrap()).collect();
        assert!(result.is_smallest(), "{view} to {to:?}");
        let beaten = is_beaten_by_trial(&reads, &to, result.elements(), true);
        assert!(!beaten, "{view} to {to:?}: {result:?}");
        fewer += usize::from(result.elements() < smallest_by_trial(&view, &to));
        several += usize::from(result.copied().len() > 1);
        if let Some(other) = result.without_negative_strides().filter(|other| other.view() != result.view()) {
            forward += 1;
            assert!(other.is_smallest() && other.elements() > result.elements(), "{view} to {to:?}");
            assert!(!is_beaten_by_trial(&reads, &to, other.elements(), false), "{view} to {to:?}: {other:?}");
        }
    }
    println!("{fewer} {several} {forward}");
    assert!(fewer > 1_000 && several > 50 && forward > 50, "{fewer} {several} {forward}");
}

#[test]
fn found_by_an_audit_the_smallest_copy_may_interleave() {
    let smallest =
        |shape: &[i64], strides: &[i64], to: &[i64]| match fit(&View::new(shape, strides, 0, None).unwrap(), to) {
            Err(Misfit::Blocked(blocked)) if blocked.is_smallest() => {
                let copied: Vec<String> = blocked.copied().iter().map(View::to_string).collect();
                (blocked.elements(), copied.join(" "), blocked.view().strides().to_vec())
            }
            other => panic!("{other:?}"),
        };
    // a a b b, and rows of twelve that begin four elements apart.
    assert_eq!(smallest(&[2, 6], &[5, 0], &[3, 2, 2]), (4, "(2, 2):(5, 0)".into(), vec![1, 1, 0]));
    assert_eq!(smallest(&[2, 3, 4], &[1, 1, 1], &[2, 12]), (16, "(4, 4):(1, 1)".into(), vec![4, 1]));
    // Two periods that have no factor in common: 4 times the one index and 3 times the other.
    let (len, _, strides) = smallest(&[2, 3, 2, 4], &[0, 4, 0, 1], &[6, 8]);
    assert_eq!((len, strides), (42, vec![4, 3]));
}

#[test]
fn usual_arrays_of_any_size_have_their_proof_at_once() {
    let started = std::time::Instant::now();
    let n = 1 << 13;
    for (shape, strides, to) in [
        // Transposed, sliced, flipped, expanded, and an image whose channels come last.
        (vec![n, n, n], vec![1, n * n, n], vec![n * n, n]),
        (vec![n, n / 3, n], vec![n * n, n * 3, 1], vec![n, n / 3 * n]),
        (vec![n, n, n], vec![n * n, -n, 1], vec![n * n, n]),
        (vec![n, n, n], vec![0, 1, n], vec![n, n * n]),
        (vec![n, n, n], vec![0, 1, n], vec![n * n, n]),
        (vec![32, 64, n, n], vec![64 * n * n, 1, 64 * n, 64], vec![32, 64, n * n, 1]),
        (vec![32, 64, n, n], vec![64 * n * n, 1, 64 * n, 64], vec![32, 64 * n * n]),
    ] {
        let result = fit(&View::new(&shape, &strides, 1 << 50, None).unwrap(), &to);
        let proven = match result {
            Ok(_) => true,
            Err(Misfit::Blocked(blocked)) => blocked.is_smallest(),
            Err(_) => false,
        };
        assert!(proven, "{shape:?} {strides:?} {to:?}");
    }
    assert!(started.elapsed() < std::time::Duration::from_secs(1));
}

#[test]
fn windows_of_rows_that_are_cut_share_the_rows() {
    for n in [50, 1 << 30] {
        let view = View::new([n, 3, 90], [100, 100, 1], 0, None).unwrap();
        let Err(Misfit::Blocked(blocked)) = fit(&view, [n, 270]) else { panic!() };
        assert_eq!(blocked.copied(), [View::new([n + 2, 90], [100, 1], 0, None).unwrap()]);
        assert_eq!(*blocked.view(), View::new([n, 270], [90, 1], 0, None).unwrap());
        assert!(blocked.is_smallest());
    }
}

#[test]
fn what_is_not_known_to_be_the_smallest_copy_says_so() {
    let view = View::new([10_000, 7, 9], [1, 3, 2], 0, None).unwrap();
    let Err(Misfit::Blocked(blocked)) = fit(&view, [9, 70_000]) else { panic!() };
    assert_eq!((blocked.elements(), blocked.is_smallest()), (630_000, false));
    // Nor is it where masked elements are copied.
    let view = View::new([4, 6], [1, 4], 0, Some(&[(1, 4), (0, 5)])).unwrap();
    let Err(Misfit::Blocked(blocked)) = fit(&view, [24]) else { panic!() };
    assert_eq!((blocked.elements(), blocked.is_smallest()), (24, false));
}

#[test]
fn only_one_copy_of_what_is_broadcast_is_needed() {
    let view = View::new([4, 3], [0, 1], 0, None).unwrap();
    let Err(Misfit::Blocked(blocked)) = fit(&view, [2, 6]) else { panic!() };
    assert_eq!(blocked.copied(), [View::new([2, 3], [0, 1], 0, None).unwrap()]);
    assert_eq!(*blocked.view(), View::new([2, 6], [0, 1], 0, None).unwrap());
}

#[test]
fn windows_that_stay_as_they_are_share_their_elements() {
    // Five windows of three elements, beside a matrix that has to be transposed.
    let view = View::new([5, 3, 2, 3], [6, 6, 1, 2], 0, None).unwrap();
    let Err(Misfit::Blocked(blocked)) = fit(&view, [5, 3, 6]) else { panic!() };
    assert_eq!(blocked.copied(), [View::new([7, 2, 3], [6, 1, 2], 0, None).unwrap()]);
    assert_eq!(*blocked.view(), View::new([5, 3, 6], [6, 6, 1], 0, None).unwrap());
}

#[test]
fn masked_margins_are_not_copied() {
    let view = View::new([2, 3, 6], [1, 2, 6], 0, Some(&[(0, 2), (0, 3), (1, 5)])).unwrap();
    let Err(Misfit::Blocked(blocked)) = fit(&view, [6, 6]) else { panic!() };
    assert_eq!(blocked.elements(), 24);
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
