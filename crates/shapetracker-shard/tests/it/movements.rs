//! Permutations, repeated axes, slices, reversals and margins of tensors over devices, index by index.

use std::collections::HashSet;

use shapetracker::Movement;
use shapetracker_shard::Outcome;

use crate::oracle::{Word, held, index, is_product, sentences};
use crate::{sharded, words_of};

/// The shape that an operation makes, and for each of its elements in row-major order the element of the old tensor that it
/// is; nothing in a margin.
fn sources(shape: &[i64], op: &Movement) -> (Vec<i64>, Vec<Option<i64>>) {
    let rank = shape.len();
    let axis = |axis: i64| usize::try_from(if axis < 0 { axis + rank as i64 } else { axis }).unwrap();
    let new: Vec<i64> = match op {
        Movement::Permute(order) => order.iter().map(|&at| shape[axis(at)]).collect(),
        Movement::Expand(sizes) => sizes.to_vec(),
        Movement::Squeeze(axes) => {
            let gone: Vec<usize> = axes.iter().map(|&at| axis(at)).collect();
            (0..rank).filter(|at| !gone.contains(at)).map(|at| shape[at]).collect()
        }
        Movement::Unsqueeze(at) => {
            let mut new = shape.to_vec();
            new.insert(*at as usize, 1);
            new
        }
        Movement::Shrink(ranges) => ranges.iter().map(|(begin, end)| end - begin).collect(),
        Movement::Flip(_) => shape.to_vec(),
        Movement::Pad(pads) => shape.iter().zip(pads).map(|(size, (before, after))| before + size + after).collect(),
        other => panic!("not here: {other:?}"),
    };
    let source = |position: i64| {
        let at = index(&new, position);
        let old: Vec<i64> = match op {
            Movement::Permute(order) => {
                let mut old = vec![0; rank];
                for (&from, &at) in order.iter().zip(&at) {
                    old[axis(from)] = at;
                }
                old
            }
            Movement::Expand(_) => at.iter().zip(shape).map(|(&at, &size)| if size == 1 { 0 } else { at }).collect(),
            Movement::Squeeze(axes) => {
                let gone: Vec<usize> = axes.iter().map(|&at| axis(at)).collect();
                let mut rest = at.iter();
                (0..rank).map(|axis| if gone.contains(&axis) { 0 } else { *rest.next().unwrap() }).collect()
            }
            Movement::Unsqueeze(gone) => {
                at.iter().enumerate().filter(|(axis, _)| *axis as i64 != *gone).map(|(_, &at)| at).collect()
            }
            Movement::Shrink(ranges) => at.iter().zip(ranges).map(|(at, (begin, _))| at + begin).collect(),
            Movement::Flip(axes) => {
                let turned: Vec<usize> = axes.iter().map(|&at| axis(at)).collect();
                let turn = |(axis, at): (usize, &i64)| if turned.contains(&axis) { shape[axis] - 1 - at } else { *at };
                at.iter().enumerate().map(turn).collect()
            }
            Movement::Pad(pads) => at.iter().zip(pads).map(|(at, (before, _))| at - before).collect(),
            other => panic!("not here: {other:?}"),
        };
        let inside = old.iter().zip(shape).all(|(at, size)| (0..*size).contains(at));
        inside.then(|| old.iter().zip(shape).fold(0, |position, (at, size)| position * size + at))
    };
    let numel = new.iter().product();
    let sources = (0..numel).map(source).collect();
    (new, sources)
}

/// What each device has of the new tensor: the elements whose source it holds, without the margins.
fn kept(sources: &[Option<i64>], contents: &[Vec<i64>]) -> Vec<Vec<i64>> {
    let has = |held: &Vec<i64>| {
        let held: HashSet<i64> = held.iter().copied().collect();
        let kept = (0i64..).zip(sources).filter(|(_, source)| source.is_some_and(|source| held.contains(&source)));
        kept.map(|(position, _)| position).collect()
    };
    contents.iter().map(has).collect()
}

/// What placements of the new tensor say, without the margins.
fn claimed(sources: &[Option<i64>], shape: &[i64], mesh: &[i64], words: &[Word]) -> Vec<Vec<i64>> {
    let mut claimed = held(shape, mesh, words);
    for held in &mut claimed {
        held.retain(|&position| sources[position as usize].is_some());
        held.sort_unstable();
    }
    claimed
}

/// Asks for one operation under all placements, and says how many were asked and were free.
fn compare(shape: &[i64], mesh: &[i64], strided: bool, op: &Movement) -> [u64; 2] {
    let (new, sources) = sources(shape, op);
    let mut counts = [0, 0];
    let said: HashSet<Vec<Vec<i64>>> =
        (sentences(&new, mesh, true).iter()).map(|words| claimed(&sources, &new, mesh, words)).collect();
    for words in sentences(shape, mesh, strided) {
        let tensor = sharded(shape, mesh, &words);
        let kept = kept(&sources, &held(shape, mesh, &words));
        let outcome = tensor.apply(op).unwrap();
        counts[0] += 1;
        if said.contains(&kept) {
            counts[1] += 1;
            let Outcome::Free { after } = outcome else { panic!("{tensor} {op:?}: free, not {outcome:?}") };
            assert_eq!(after.shape(), new, "{tensor} {op:?}: {after}");
            assert_eq!(claimed(&sources, &new, mesh, &words_of(&after)), kept, "{tensor} {op:?}: {after}");
        } else {
            assert!(kept.iter().all(|kept| !matches!(op, Movement::Shrink(_)) || is_product(&new, kept)));
            assert!(matches!(outcome, Outcome::Unsayable { .. }), "{tensor} {op:?}: no words for it, not {outcome:?}");
        }
    }
    counts
}

/// The same for several operations and meshes.
fn compare_all(shape: &[i64], ops: &[Movement]) -> [u64; 2] {
    let mut sum = [0, 0];
    for mesh in [&[2][..], &[3], &[4], &[2, 2], &[2, 3]] {
        for op in ops {
            let strided = mesh.len() == 1 || shape.iter().product::<i64>() <= 12;
            let counts = compare(shape, mesh, strided, op);
            sum = [sum[0] + counts[0], sum[1] + counts[1]];
        }
    }
    println!("{shape:?}: {} of {} are free", sum[1], sum[0]);
    sum
}

/// Every choice of one thing for each axis.
fn choices<T: Clone>(each: &[Vec<T>]) -> Vec<Vec<T>> {
    each.iter().fold(vec![vec![]], |all, next| {
        all.iter().flat_map(|begun| next.iter().map(|one| [begun, std::slice::from_ref(one)].concat())).collect()
    })
}

#[test]
fn permutations_rename_the_axes() {
    let orders = |rank: i64| -> Vec<Movement> {
        choices(&vec![(0..rank).collect::<Vec<i64>>(); rank as usize])
            .into_iter()
            .filter(|order| (0..rank).all(|axis| order.contains(&axis)))
            .map(|order| Movement::Permute(order.into()))
            .collect()
    };
    compare_all(&[3, 8], &orders(2));
    compare_all(&[2, 3, 5], &orders(3));
    compare_all(&[4, 1, 2], &orders(3));
}

#[test]
fn axes_of_size_one_come_and_go() {
    for shape in [&[1, 6][..], &[6, 1], &[4, 1, 3]] {
        let one = shape.iter().position(|&size| size == 1).unwrap();
        let mut ops = vec![Movement::Squeeze([one as i64].as_slice().into())];
        ops.extend((0..=shape.len()).map(|axis| Movement::Unsqueeze(axis as i64)));
        ops.extend([1, 2, 5].map(|size| {
            let mut sizes = shape.to_vec();
            sizes[one] = size;
            Movement::Expand(sizes.as_slice().into())
        }));
        compare_all(shape, &ops);
    }
}

#[test]
fn reversals() {
    for shape in [&[12][..], &[9], &[4, 6], &[2, 3, 5]] {
        let rank = shape.len() as i64;
        let subsets = choices(&vec![vec![false, true]; shape.len()]);
        let ops = subsets.iter().map(|turned| {
            let axes: Vec<i64> = (0..rank).filter(|&axis| turned[axis as usize]).collect();
            Movement::Flip(axes.as_slice().into())
        });
        compare_all(shape, &ops.collect::<Vec<_>>());
    }
}

#[test]
fn slices() {
    let ranges = |size: i64| -> Vec<(i64, i64)> {
        (0..size).flat_map(|begin| (begin..=size).map(move |end| (begin, end))).collect()
    };
    for shape in [&[8][..], &[12], &[3, 4]] {
        let each: Vec<_> = shape.iter().map(|&size| ranges(size)).collect();
        let ops = choices(&each).into_iter().map(|ranges| Movement::Shrink(ranges.as_slice().into()));
        compare_all(shape, &ops.collect::<Vec<_>>());
    }
}

#[test]
fn margins() {
    let pads: Vec<(i64, i64)> = vec![(0, 0), (0, 1), (1, 0), (2, 2), (0, 4), (4, 0), (0, 7)];
    for shape in [&[8][..], &[5], &[2, 4]] {
        let ops =
            choices(&vec![pads.clone(); shape.len()]).into_iter().map(|pads| Movement::Pad(pads.as_slice().into()));
        compare_all(shape, &ops.collect::<Vec<_>>());
    }
}
