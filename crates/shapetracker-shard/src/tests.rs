//! Small cases against a brute force from the definitions, which shares no code with the rest of the crate.

use std::collections::BTreeSet;

use shapetracker::Movement;

use crate::{Check, Mesh, Outcome, Placement, Sharded};

type Set = BTreeSet<usize>;

fn chunks(list: &[usize], count: usize) -> Vec<Vec<usize>> {
    let width = list.len().div_ceil(count);
    (0..count).map(|i| list[(i * width).min(list.len())..((i + 1) * width).min(list.len())].to_vec()).collect()
}

fn numel(shape: &[i64]) -> usize {
    shape.iter().product::<i64>() as usize
}

fn devices(mesh: &[i64]) -> Vec<Vec<i64>> {
    mesh.iter().fold(vec![vec![]], |all, &size| {
        all.iter().flat_map(|one| (0..size).map(move |c| [&one[..], &[c]].concat())).collect()
    })
}

/// What each device holds.
fn sets(shape: &[i64], mesh: &[i64], placements: &[Placement]) -> Vec<Set> {
    let of = |device: &Vec<i64>| -> Set {
        let mut lists: Vec<Vec<usize>> = shape.iter().map(|&size| (0..size as usize).collect()).collect();
        for ((placement, &size), &c) in placements.iter().zip(mesh).zip(device) {
            let (axis, pieces) = match *placement {
                Placement::Shard(axis) => (axis, 1),
                Placement::StridedShard { axis, pieces } => (axis, pieces as usize),
                _ => continue,
            };
            let part = |piece: &Vec<usize>| chunks(piece, size as usize)[c as usize].clone();
            lists[axis] = chunks(&lists[axis], pieces).iter().flat_map(part).collect();
        }
        lists.iter().zip(shape).fold([0].into(), |set: Set, (list, &size)| {
            set.iter().flat_map(|p| list.iter().map(move |i| p * size as usize + i)).collect()
        })
    };
    devices(mesh).iter().map(of).collect()
}

fn factorings(n: i64, rank: usize) -> Vec<Vec<i64>> {
    if rank == 1 {
        return vec![vec![n]];
    }
    let first = (1..=n).filter(|d| n % d == 0);
    first.flat_map(|d| factorings(n / d, rank - 1).into_iter().map(move |rest| [vec![d], rest].concat())).collect()
}

fn words(shape: &[i64]) -> Vec<Placement> {
    let mut words = vec![Placement::Replicate];
    for (axis, &n) in shape.iter().enumerate() {
        words.extend((1..=n.max(1)).map(|pieces| Placement::of_pieces(axis, pieces)));
    }
    words
}

fn all_words(shape: &[i64], rank: usize) -> Vec<Vec<Placement>> {
    (0..rank).fold(vec![vec![]], |all, _| {
        all.iter().flat_map(|one| words(shape).into_iter().map(move |word| [&one[..], &[word]].concat())).collect()
    })
}

/// Whether a set of positions has an index set along each axis.
fn is_product(set: &Set, shape: &[i64]) -> bool {
    let mut weight = numel(shape);
    let mut product = 1;
    for &size in shape {
        weight /= size.max(1) as usize;
        product *= set.iter().map(|p| p / weight % size as usize).collect::<Set>().len();
    }
    product == set.len()
}

fn tensor(shape: &[i64], mesh: &[i64], placements: &[Placement]) -> Sharded {
    Sharded::new(shape, Mesh::of_sizes(mesh).unwrap(), placements.iter().copied()).unwrap()
}

fn held(tensor: &Sharded) -> Vec<Set> {
    let of = |device: &Vec<i64>| (0..).map_while(|local| tensor.holds(device, local)).map(|p| p as usize).collect();
    devices(tensor.mesh().sizes()).iter().map(of).collect()
}

/// Decides a view in both ways.
fn judge(before: &Sharded, shape: &[i64], known: &[(Vec<Placement>, Vec<Set>)]) {
    let mesh = before.mesh().sizes();
    let parts = sets(before.shape(), mesh, before.placements());
    let answer = before.reshape(shape).unwrap();
    let is_known = known.iter().any(|(_, sets)| *sets == parts);
    let text = format!("{before} as {shape:?}: {answer}");
    match &answer {
        Outcome::Free { after } => assert_eq!(sets(shape, mesh, after.placements()), parts, "{text}"),
        Outcome::Unsayable { parts: of } => {
            assert!(!is_known && parts.iter().all(|set| is_product(set, shape)), "{text}");
            for (device, set) in devices(mesh).iter().zip(&parts) {
                let local = of.local_shape(device).unwrap();
                assert_eq!(numel(&local), set.len(), "{text}");
                if let Some(view) = of.view() {
                    let mut at = view.clone();
                    let rank = mesh.len();
                    let ranges: Vec<(i64, i64)> = device
                        .iter()
                        .map(|&c| (c, c + 1))
                        .chain(view.shape()[rank..].iter().map(|&n| (0, n)))
                        .collect();
                    at = at.shrink(ranges).unwrap();
                    let read: Vec<usize> = at.addresses().map(|address| address.unwrap() as usize).collect();
                    assert_eq!(read, set.iter().copied().collect::<Vec<_>>(), "{text}");
                    assert_eq!(view.shape()[rank..], local, "{text}");
                }
            }
        }
        Outcome::Moves { why } => {
            assert!(!is_known && parts.iter().any(|set| !is_product(set, shape)), "{text}");
            let set = &parts[devices(mesh).iter().position(|device| *device == why.device).unwrap()];
            let [a, b] = why.global.map(Option::unwrap);
            let missing = why.missing.unwrap();
            assert!(set.contains(&(a as usize)) && set.contains(&(b as usize)) && !set.contains(&(missing as usize)));
            assert_eq!(why.local.map(|local| before.holds(&why.device, local)), [Some(a), Some(b)], "{text}");
            let mut weight = numel(shape) as i64;
            for &size in shape {
                weight /= size;
                let [a, b, c] = [a, b, missing].map(|p| p / weight % size);
                assert!(c == a || c == b, "{text}");
            }
        }
        Outcome::Undecided { .. } => panic!("{text}"),
    }
}

fn judge_views(sizes: impl Iterator<Item = i64>, mesh: &[i64], words: impl Fn(&[i64]) -> Vec<Vec<Placement>>) {
    for n in sizes {
        let shapes: Vec<Vec<i64>> = (1..=3).flat_map(|rank| factorings(n, rank)).collect();
        let known: Vec<Vec<(Vec<Placement>, Vec<Set>)>> = shapes
            .iter()
            .map(|shape| {
                let mut known: Vec<(Vec<Placement>, Vec<Set>)> = Vec::new();
                for placements in all_words(shape, mesh.len()) {
                    let parts = sets(shape, mesh, &placements);
                    known.push((placements, parts));
                }
                known.sort_by(|a, b| a.1.cmp(&b.1));
                known.dedup_by(|a, b| a.1 == b.1);
                known
            })
            .collect();
        for old in &shapes {
            for placements in words(old) {
                let before = tensor(old, mesh, &placements);
                assert_eq!(held(&before), sets(old, mesh, &placements));
                for (shape, known) in shapes.iter().zip(&known) {
                    judge(&before, shape, known);
                }
            }
        }
    }
}

#[test]
fn views_on_one_mesh_axis() {
    for m in [1, 2, 3, 4] {
        judge_views(1..=16, &[m], |shape| all_words(shape, 1));
    }
}

#[test]
fn views_on_two_mesh_axes() {
    for mesh in [[2, 2], [2, 3], [3, 2]] {
        judge_views([4, 6, 7, 8].into_iter(), &mesh, |shape| all_words(shape, 2));
    }
}

#[test]
fn claims_are_proved_or_refuted() {
    let mesh = [2, 2];
    for shapes in [[vec![8], vec![2, 4]], [vec![6], vec![3, 2]], [vec![5], vec![5]]] {
        for before in all_words(&shapes[0], 2) {
            for after in all_words(&shapes[1], 2) {
                let parts = [sets(&shapes[0], &mesh, &before), sets(&shapes[1], &mesh, &after)];
                let [old, new] = [tensor(&shapes[0], &mesh, &before), tensor(&shapes[1], &mesh, &after)];
                match old.check(&new).unwrap() {
                    Check::Proved => assert_eq!(parts[0], parts[1]),
                    Check::Refuted(why) => {
                        assert_ne!(parts[0], parts[1]);
                        let at = devices(&mesh).iter().position(|device| *device == why.device).unwrap();
                        let held = [0, 1].map(|i| parts[i][at].iter().nth(why.local[i] as usize).map(|&p| p as i64));
                        assert_eq!(held, why.global, "{old} as {new}: {why}");
                        assert_ne!(why.global[0], why.global[1]);
                    }
                    Check::Undecided(why) => panic!("{why}"),
                }
                let moved = old.moved(&new).unwrap();
                let needed: Vec<usize> =
                    parts[0].iter().zip(&parts[1]).map(|(have, need)| need.difference(have).count()).collect();
                assert_eq!(moved.elements, needed.iter().sum::<usize>() as i128);
                assert_eq!(Some(moved.most), needed.iter().max().map(|&most| most as i128));
            }
        }
    }
}

/// Operations along axes: what devices hold of the old elements must be what the new placements give them of those.
#[test]
fn operations_along_axes() {
    let mesh = [2, 2];
    let (mut free, mut other) = (0, 0);
    for shape in [vec![6], vec![7], vec![3, 4], vec![1, 5], vec![2, 1, 3]] {
        let n = shape.len();
        let mut ops: Vec<Movement> = Vec::new();
        for axis in 0..n {
            for (a, b) in [(0, 1), (1, 0), (0, 3), (2, 1)] {
                ops.push(Movement::Pad((0..n).map(|i| if i == axis { (a, b) } else { (0, 0) }).collect()));
                if shape[axis] > a + b {
                    ops.push(Movement::Shrink(
                        (0..n).map(|i| if i == axis { (a, shape[i] - b) } else { (0, shape[i]) }).collect(),
                    ));
                }
            }
            ops.push(Movement::Flip([axis as i64].into()));
            ops.push(Movement::Step((0..n).map(|i| if i == axis { 2 } else { 1 }).collect()));
            ops.push(Movement::Step((0..n).map(|i| if i == axis { -2 } else { -1 }).collect()));
            ops.push(Movement::Transpose(axis as i64, 0));
        }
        ops.push(Movement::Expand(shape.iter().map(|&size| if size == 1 { 3 } else { size }).collect()));
        ops.push(Movement::BroadcastTo([&[2], &shape[..]].concat().into()));
        for op in ops {
            let map = shapetracker::ShapeTracker::contiguous(&shape).unwrap().apply(&op).unwrap();
            let from: Vec<Option<usize>> = map.addresses().map(|address| address.map(|p| p as usize)).collect();
            let known: Vec<Vec<Set>> =
                all_words(map.shape(), 2).iter().map(|words| sets(map.shape(), &mesh, words)).collect();
            let valid: Set = (0..from.len()).filter(|&p| from[p].is_some()).collect();
            for placements in all_words(&shape, 2) {
                let before = tensor(&shape, &mesh, &placements);
                let wanted: Vec<Set> = sets(&shape, &mesh, &placements)
                    .iter()
                    .map(|set| {
                        valid.iter().copied().filter(|&p| from[p].is_some_and(|old| set.contains(&old))).collect()
                    })
                    .collect();
                let says =
                    |sets: &Vec<Set>| sets.iter().zip(&wanted).all(|(set, wanted)| set.intersection(&valid).eq(wanted));
                match before.apply(&op).unwrap() {
                    Outcome::Free { after } => {
                        free += 1;
                        assert_eq!(after.shape(), map.shape());
                        assert!(says(&sets(map.shape(), &mesh, after.placements())), "{before} {op}: {after}");
                    }
                    Outcome::Unsayable { parts } => {
                        other += 1;
                        assert!(!known.iter().any(says), "{before} {op}");
                        for (device, wanted) in devices(&mesh).iter().zip(&wanted) {
                            assert_eq!(numel(&parts.local_shape(device).unwrap()), wanted.len(), "{before} {op}");
                        }
                    }
                    answer => panic!("{before} {op}: {answer}"),
                }
            }
        }
    }
    assert!(free > 1000 && other > 1000, "{free} {other}");
}

/// Sizes at which nothing can be walked over: answers are checked by their evidence, and even shards are never undecided.
#[test]
fn large_tensors() {
    let mut state = 1_u64;
    let mut below = move |bound: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % bound
    };
    let mut counts = [0; 4];
    for case in 0..6000 {
        // The factors of the elements, drawn into axes twice.
        let factors: Vec<i64> = (0..2 + below(12)).map(|_| [2, 2, 2, 3, 4, 5, 6, 7, 10, 16, 97][below(11)]).collect();
        let mut shape = || -> Vec<i64> {
            let mut shape = vec![1; 1 + below(5)];
            let mut factors = factors.clone();
            while !factors.is_empty() {
                let axis = below(shape.len());
                shape[axis] *= factors.swap_remove(below(factors.len()));
            }
            shape
        };
        let (old, new) = (shape(), shape());
        let mesh: Vec<i64> = (0..1 + below(3)).map(|_| [1, 2, 3, 4, 8, 10, 100][below(7)]).collect();
        let placements: Vec<Placement> = mesh
            .iter()
            .map(|_| match below(5) {
                0 => Placement::Replicate,
                1 => Placement::of_pieces(below(old.len()), [1, 2, 3, 4, 16][below(5)]),
                _ => Placement::Shard(below(old.len())),
            })
            .collect();
        let before = tensor(&old, &mesh, &placements);
        let answer = before.reshape(&new).unwrap();
        let text = format!("{case}: {before} as {new:?}: {answer}");
        match answer {
            Outcome::Free { after } => {
                counts[0] += 1;
                assert_eq!(before.check(&after).unwrap(), Check::Proved, "{text}");
                for device in [
                    vec![0; mesh.len()],
                    mesh.iter().map(|size| size - 1).collect(),
                    mesh.iter().map(|size| size / 2).collect(),
                ] {
                    for local in [0, 1, 5, 1000, before.held(&device) - 1, before.held(&device)] {
                        assert_eq!(before.holds(&device, local), after.holds(&device, local), "{text}");
                    }
                }
            }
            Outcome::Unsayable { .. } => counts[1] += 1,
            Outcome::Moves { why } => {
                counts[2] += 1;
                for (local, position) in why.local.into_iter().zip(why.global) {
                    assert_eq!(before.holds(&why.device, local), position, "{text}");
                }
                assert_eq!(before.local(&why.device, why.missing.unwrap()), None, "{text}");
                let mut weight = 1;
                for &size in new.iter().rev() {
                    let index = |position: i64| position / weight % size;
                    assert!(
                        why.global.iter().any(|held| index(held.unwrap()) == index(why.missing.unwrap())),
                        "{text}"
                    );
                    weight *= size;
                }
            }
            Outcome::Undecided { .. } => {
                counts[3] += 1;
                assert!(crate::digits::digits(&before).is_none(), "{text}");
            }
        }
    }
    assert!(counts[..3].iter().all(|&count| count > 300) && counts[3] < 10, "{counts:?}");
}

#[test]
fn sizes_at_the_end_of_the_numbers() {
    const MAX: i64 = i64::MAX;
    let shapes: [&[i64]; 9] = [
        &[],
        &[0],
        &[0, MAX, MAX],
        &[MAX, MAX, 0],
        &[1 << 62, 0, 4],
        &[MAX],
        &[1, MAX, 1],
        &[7, MAX / 7],
        &[3, 1 << 31, 1 << 29],
    ];
    let mut asked = 0;
    for shape in shapes {
        for mesh in [vec![1], vec![3], vec![MAX], vec![2, 1, 1 << 40]] {
            let mut words = vec![Placement::Replicate, Placement::Partial];
            for axis in 0..shape.len() {
                words.extend([1, 2, MAX].map(|pieces| Placement::of_pieces(axis, pieces)));
            }
            for i in 0..words.len() {
                let placements: Vec<Placement> = (0..mesh.len()).map(|k| words[(i + 3 * k) % words.len()]).collect();
                let before = tensor(shape, &mesh, &placements);
                let last: Vec<i64> = mesh.iter().map(|size| size - 1).collect();
                for device in [&vec![0; mesh.len()], &last] {
                    before.local_shape(device).unwrap();
                    let first = before.holds(device, 0);
                    assert_eq!(first.and_then(|position| before.local(device, position)), first.map(|_| 0));
                    assert_eq!(before.holds(device, MAX), None);
                }
                before.holders(0);
                before.spec();
                for other in shapes {
                    if let Ok(answer) = before.reshape(other) {
                        asked += 1;
                        let _ = answer.to_string();
                        if let Some(after) = answer.free() {
                            assert_eq!(before.check(&after).unwrap(), Check::Proved, "{before} {after}");
                        }
                    }
                }
                for axis in 0..shape.len() as i64 {
                    before.flip([axis]).unwrap().to_string();
                    let ends: Vec<(i64, i64)> = shape.iter().map(|&size| (size / 3, size)).collect();
                    before.shrink(&ends).unwrap().to_string();
                    let sizes: Vec<i64> = shape.iter().map(|_| 3).collect();
                    before.apply(&Movement::Step(sizes.into())).unwrap().to_string();
                    if let Ok(answer) = before.pad(vec![(1, 1); shape.len()]) {
                        let _ = answer.to_string();
                    }
                }
            }
        }
    }
    assert!(asked > 100, "{asked}");
}
