//! Views, trackers, linear layouts and swizzles, by lists of values.

use shapetracker::{Chain, ShapeTracker, View};
use shapetracker_cute::{ComposedLayout, Layout, LinearLayout, NoComposition, NoLayout, NotLinear, Order, Swizzle};

use crate::layout;
use crate::oracle::Tree;
use crate::random::{binary_modes, cases, nested};
use shapetracker_testing::Rng;

/// The addresses of a tracker in an order of its elements; nothing where one is masked.
fn addresses(tracker: &ShapeTracker, order: Order) -> Option<Vec<i64>> {
    let shape = tracker.shape();
    let count: i64 = shape.iter().product();
    (0..count)
        .map(|x| {
            let (mut index, mut rest) = (vec![0; shape.len()], x);
            let axes: Vec<usize> = match order {
                Order::ColumnMajor => (0..shape.len()).collect(),
                Order::RowMajor => (0..shape.len()).rev().collect(),
            };
            for axis in axes {
                index[axis] = rest % shape[axis];
                rest /= shape[axis];
            }
            tracker.address(&index)
        })
        .collect()
}

#[test]
fn views_and_layouts_are_the_same_function_both_ways() {
    for mut rng in cases(30_000) {
        let shape: Vec<i64> = (0..rng.int(4)).map(|_| rng.int(6).max(i64::from(rng.int(20) > 0))).collect();
        let strides: Vec<i64> = shape.iter().map(|_| rng.int(30) - 10).collect();
        let view = View::new(&shape, &strides, rng.int(9), None).unwrap();
        for order in [Order::RowMajor, Order::ColumnMajor] {
            let (layout, offset) = Layout::from_view(&view, order).unwrap();
            let values: Vec<i64> = Tree::of(&layout).values().into_iter().map(|value| value + offset).collect();
            assert_eq!(addresses(&view.clone().into(), order), Some(values), "{view} {layout}");
            assert_eq!(layout.to_view(order, offset).unwrap(), view);
            assert_eq!(layout.rank(), shape.len());
        }
    }
    let why = Layout::from_view(&View::new([], [], 0, Some(&[])).unwrap(), Order::RowMajor).unwrap_err();
    assert_eq!(why.to_string(), "element () is masked, and a layout has an address for every coordinate");
}

#[test]
fn chains_that_begin_with_a_layout_mean_the_same() {
    for mut rng in cases(20_000) {
        let modes: Vec<(i64, i64)> = (0..1 + rng.int(4)).map(|_| (1 + rng.int(5), rng.int(40))).collect();
        let layout = layout(&nested(&mut rng, &modes));
        for text in [layout.to_string(), layout.static_text().to_string()] {
            let chain: Chain = text.parse().unwrap_or_else(|err| panic!("{err}"));
            let read = chain.tracker().unwrap();
            let tracker = layout.to_tracker(Order::ColumnMajor, 0).unwrap();
            assert_eq!((read.shape(), read.difference(&tracker)), (tracker.shape(), Ok(None)), "{text}");
        }
    }
}

/// A tensor after some random operations.
fn tracker(rng: &mut Rng) -> ShapeTracker {
    let shapes: [&[i64]; 6] = [&[12], &[4, 6], &[2, 3, 4], &[6, 4], &[24], &[2, 2, 6]];
    let mut tracker = ShapeTracker::contiguous(shapes[rng.int(6) as usize]).unwrap();
    for _ in 0..1 + rng.int(5) {
        let rank = tracker.rank() as i64;
        let next = match rng.int(8) {
            0 | 1 => tracker.permute((0..rank).rev().collect::<Vec<_>>()),
            2..5 => tracker.reshape(shapes[rng.int(6) as usize]),
            5 => tracker.flip([rng.int(rank)]),
            6 => tracker.step((0..rank).map(|_| 1 + rng.int(2)).collect::<Vec<_>>()),
            _ if rng.int(3) == 0 => tracker.pad((0..rank).map(|_| (0, rng.int(2))).collect::<Vec<_>>()),
            _ => tracker.shrink(tracker.shape().iter().map(|&n| (0, n - rng.int(2).min(n - 1))).collect::<Vec<_>>()),
        };
        tracker = next.unwrap_or(tracker);
    }
    tracker
}

/// Whether a list of values along an axis is a layout, by the definition: some mode first, the rest likewise.
fn is_layout(values: &[i64]) -> bool {
    let len = values.len();
    len <= 1
        || (2..=len).filter(|size| len.is_multiple_of(*size)).any(|size| {
            let outer: Vec<i64> = values.iter().step_by(size).copied().collect();
            (0..len).all(|x| values[x] == outer[x / size] + (values[1] - values[0]) * (x % size) as i64)
                && is_layout(&outer)
        })
}

#[test]
fn trackers_are_layouts_exactly_where_the_definition_says_so() {
    let (mut nested, mut refused, mut masked) = (0, 0, 0);
    for mut rng in cases(30_000) {
        let st = tracker(&mut rng);
        for order in [Order::RowMajor, Order::ColumnMajor] {
            let all = addresses(&st, order);
            match Layout::from_tracker(&st, order) {
                Ok((layout, offset)) => {
                    let values: Vec<i64> = Tree::of(&layout).values().into_iter().map(|value| value + offset).collect();
                    assert_eq!(all, Some(values), "{st} {layout}");
                    assert_eq!(layout.rank(), st.rank());
                    nested += u32::from(st.views().len() > 1);
                    let back = layout.to_tracker(order, offset).unwrap();
                    assert_eq!(back.shape(), st.shape());
                    assert_eq!(back.difference(&st).unwrap(), None);
                }
                Err(NoLayout::Masked { index }) => {
                    masked += 1;
                    assert!(index.iter().zip(st.shape()).all(|(i, size)| (0..*size).contains(i)));
                    assert_eq!(st.address(&index), None, "{st}");
                }
                Err(why) => {
                    refused += 1;
                    if let NoLayout::Length { axis, unit, run, left, index, address, expected } = &why {
                        // The address is where it is said to be, and affine for so many elements before.
                        let at = |x: i64| {
                            let there = (0..st.rank()).map(|k| if k == *axis { unit * x } else { 0 });
                            st.address(&there.collect::<Vec<i64>>()).unwrap()
                        };
                        let affine = |x: i64| at(0) + x * (at(1) - at(0));
                        assert!(left % run != 0 && unit * left == st.shape()[*axis], "{st}: {why}");
                        assert_eq!(
                            (st.address(index), at(*run), i128::from(affine(*run))),
                            (Some(*address), *address, *expected)
                        );
                        assert!((0..*run).all(|x| at(x) == affine(x)) && at(*run) != affine(*run), "{st}: {why}");
                        assert!(why.to_string().contains(&format!("element {run} has {address}, not {expected}")));
                    }
                    let all = all.unwrap_or_else(|| panic!("{st}: {why}"));
                    // Each axis by itself, and the sum of all of them.
                    let mut weight = 1;
                    let mut sums = vec![0];
                    let mut each = true;
                    let axes: Vec<i64> = match order {
                        Order::ColumnMajor => st.shape().to_vec(),
                        Order::RowMajor => st.shape().iter().rev().copied().collect(),
                    };
                    for size in axes {
                        let along: Vec<i64> = (0..size).map(|i| all[(i * weight) as usize] - all[0]).collect();
                        each &= is_layout(&along);
                        sums = along.iter().flat_map(|a| sums.iter().map(move |b| a + b)).collect();
                        weight *= size;
                    }
                    assert!(!each || sums.iter().zip(&all).any(|(sum, at)| sum + all[0] != *at), "{st}: {why}");
                }
            }
        }
    }
    println!("{nested} nested, {refused} refused, {masked} masked");
    assert!([nested, refused, masked].iter().all(|&count| count > 0));
}

/// Modes of powers of two, mostly.
fn mostly_binary(rng: &mut Rng) -> Vec<(i64, i64)> {
    let mut modes = binary_modes(rng);
    if rng.int(8) == 0 {
        modes[0].0 = 3;
    }
    modes
}

#[test]
fn layouts_are_linear_exactly_where_values_of_all_pairs_say_so() {
    let (mut linear, mut carries) = (0, 0);
    for mut rng in cases(60_000) {
        let drawn = mostly_binary(&mut rng);
        let text = nested(&mut rng, &drawn);
        let (a, values) = (layout(&text), Tree::parse(&text).values());
        let names: Vec<String> = (0..a.rank()).map(|k| format!("in{k}")).collect();
        let names: Vec<&str> = names.iter().map(|name| &name[..]).collect();
        let is_binary = Tree::parse(&text).leaves().iter().all(|leaf| leaf.0.count_ones() == 1);
        let sums = |x: usize, y: usize| values[x ^ y] == values[x] ^ values[y];
        let is_linear = is_binary && (0..values.len()).all(|x| (0..values.len()).all(|y| sums(x, y)));
        match a.to_linear(&names, "offset") {
            Ok(map) => {
                linear += 1;
                assert!(is_linear, "{text}");
                for x in 0..a.size() {
                    // One number for each item of the layout.
                    let (mut rest, mut inputs) = (x, Vec::new());
                    for item in a.items() {
                        inputs.push(rest % item.size());
                        rest /= item.size();
                    }
                    assert_eq!(map.at(&inputs), Some(vec![values[x as usize]]), "{text}");
                }
                assert_eq!(map.to_string().parse::<LinearLayout>().as_ref(), Ok(&map));
                let back = map.to_layout(Order::RowMajor).unwrap();
                assert_eq!(back.swizzle(), Swizzle::IDENTITY);
                assert_eq!(back.layout().difference(&a), None, "{text}");
            }
            Err(NotLinear::Size { leaf, size }) => assert!(!is_binary && a.leaves().nth(leaf).unwrap().0 == size),
            Err(NotLinear::Carry { coordinates: [x, y], value, xor }) => {
                carries += 1;
                assert!(!is_linear && x & y == 0, "{text}");
                assert_eq!((values[(x + y) as usize], values[x as usize] ^ values[y as usize]), (value, xor), "{text}");
                assert_ne!(value, xor, "{text}");
            }
            Err(err) => panic!("{text}: {err}"),
        }
    }
    assert!(linear > 0 && carries > 0, "{linear} {carries}");
    assert!(matches!(layout("2:-1").to_linear(&["x"], "y"), Err(NotLinear::Negative { coordinate: 1, value: -1 })));
}

#[test]
fn swizzled_layouts_are_linear_exactly_where_values_of_all_pairs_say_so() {
    let (mut linear, mut not) = (0, 0);
    for mut rng in cases(20_000) {
        let Ok(swizzle) = Swizzle::new(1 + rng.int(2) as u32, rng.int(4) as u32, rng.int(7) as i32 - 3) else {
            continue;
        };
        let drawn = mostly_binary(&mut rng);
        let text = nested(&mut rng, &drawn);
        let offset = if rng.int(4) == 0 { rng.int(9) } else { 0 };
        let composed = ComposedLayout::new(swizzle, offset, layout(&text)).unwrap();
        let tree = Tree::parse(&text);
        let values: Vec<i64> = tree.values().into_iter().map(|value| swizzle.apply(value + offset)).collect();
        let is_binary = tree.leaves().iter().all(|leaf| leaf.0.count_ones() == 1);
        let sums = |x: usize, y: usize| values[x ^ y] == values[x] ^ values[y];
        let is_linear = is_binary && (0..values.len()).all(|x| (0..values.len()).all(|y| sums(x, y)));
        let names: Vec<String> = (0..composed.layout().rank()).map(|k| format!("in{k}")).collect();
        let names: Vec<&str> = names.iter().map(|name| &name[..]).collect();
        match composed.to_linear(&names, "offset") {
            Ok(map) => {
                linear += 1;
                assert!(is_linear, "{composed}");
                let back = map.to_layout(Order::RowMajor).unwrap();
                assert!((0..).map_while(|x| back.at(x)).eq(values), "{composed}");
            }
            Err(err) => {
                not += 1;
                assert!(!is_linear, "{composed}: {err}");
                if let NotLinear::Offset { value } = err {
                    assert!(value == values[0] && value != 0, "{composed}");
                }
            }
        }
    }
    assert!(linear > 100 && not > 100, "{linear} {not}");
}

#[test]
fn linear_maps_are_layouts_under_a_swizzle_exactly_where_one_fits() {
    let (mut plain, mut swizzled, mut none) = (0, 0, 0);
    for mut rng in cases(20_000) {
        let bits = 2 + rng.int(4) as usize;
        let columns: Vec<i64> = (0..bits).map(|k| if rng.int(3) > 0 { 1 << k } else { rng.int(1 << bits) }).collect();
        let split = rng.int(bits as i64 + 1) as usize;
        let bases = |columns: &[i64]| columns.iter().map(|&column| vec![column]).collect::<Vec<_>>();
        let inputs = [("lane", bases(&columns[..split])), ("warp", bases(&columns[split..]))];
        let map = LinearLayout::new(inputs, [("offset", 1 << bits)]).unwrap();
        let value = |x: usize| (0..bits).filter(|bit| x >> bit & 1 == 1).fold(0, |sum, bit| sum ^ columns[bit]);
        let disjoint =
            |columns: &[i64]| columns.iter().sum::<i64>() == columns.iter().fold(0, |all, column| all | column);
        match map.to_layout(Order::RowMajor) {
            Ok(composed) => {
                let values: Vec<i64> = (0..1 << bits).map(value).collect();
                let applied: Vec<i64> = (0..1 << bits).map(|x| composed.at(x).unwrap()).collect();
                assert_eq!(applied, values, "{map}");
                assert_eq!(composed.layout().rank(), 2);
                *if composed.swizzle() == Swizzle::IDENTITY { &mut plain } else { &mut swizzled } += 1;
            }
            Err(_) => {
                none += 1;
                assert!(!disjoint(&columns));
                for (b, m, s) in
                    (1..=bits as u32).flat_map(|b| (0..8).flat_map(move |m| (-8..=8).map(move |s| (b, m, s))))
                {
                    if let Ok(swizzle) = Swizzle::new(b, m, s) {
                        let columns: Vec<i64> = columns.iter().map(|&column| swizzle.apply(column)).collect();
                        assert!(!disjoint(&columns), "{map} {swizzle}");
                    }
                }
            }
        }
    }
    println!("{plain} plain, {swizzled} swizzled, {none} neither");
    assert!([plain, swizzled, none].iter().all(|&count| count > 0));
}

#[test]
fn outputs_are_shared_out_and_joined_again() {
    for mut rng in cases(5_000) {
        let column = |rng: &mut Rng| vec![rng.int(4), rng.int(2), rng.int(8)];
        let bases: Vec<Vec<i64>> = (0..rng.int(6)).map(|_| column(&mut rng)).collect();
        let map = LinearLayout::new([("lane", bases)], [("x", 4), ("y", 2), ("z", 8)]).unwrap();
        for (order, weights) in [(Order::RowMajor, [16, 8, 1]), (Order::ColumnMajor, [1, 4, 8])] {
            let flat = map.reshape_outputs([("offset", 64)], order).unwrap();
            for x in 0..1 << map.inputs()[0].1.len() {
                let apart = map.at(&[x]).unwrap();
                let number = apart.iter().zip(weights).map(|(entry, weight)| entry * weight).sum();
                assert_eq!(flat.at(&[x]), Some(vec![number]));
            }
            assert_eq!(flat.reshape_outputs([("x", 4), ("y", 2), ("z", 8)], order), Ok(map.clone()));
        }
        assert_eq!(map.to_string().parse::<LinearLayout>().as_ref(), Ok(&map));
    }
}

#[test]
fn swizzles_are_those_of_cute() {
    for (b, m, s) in (0..4u32).flat_map(|b| (0..4u32).flat_map(move |m| (-5..=5i32).map(move |s| (b, m, s)))) {
        let Ok(swizzle) = Swizzle::new(b, m, s) else {
            assert!(b > s.unsigned_abs());
            continue;
        };
        // As its header defines it: bits yyy and zzz, and yyy shifted onto zzz.
        let bit_mask = (1i64 << b) - 1;
        let yyy = bit_mask << (m + s.max(0) as u32);
        let zzz = bit_mask << (m as i32 - s.min(0)) as u32;
        for x in 0..1 << 12 {
            let shifted = if s >= 0 { (x & yyy) >> s } else { (x & yyy) << -s };
            assert_eq!(swizzle.apply(x), x ^ shifted);
            assert_eq!(shifted & !zzz, 0);
            assert_eq!(swizzle.apply(swizzle.apply(x)), x);
        }
    }
    assert!(Swizzle::new(40, 10, 40).is_err() && Swizzle::new(u32::MAX, u32::MAX, i32::MIN).is_err());
}

#[test]
fn swizzled_layouts_are_plain_exactly_where_the_definition_says_so() {
    let (mut plain, mut refused) = (0, 0);
    for mut rng in cases(40_000) {
        let swizzle = loop {
            if let Ok(swizzle) = Swizzle::new(1 + rng.int(2) as u32, rng.int(4) as u32, rng.int(7) as i32 - 3) {
                break swizzle;
            }
        };
        let mut drawn = mostly_binary(&mut rng);
        if rng.int(2) == 0 {
            drawn[0].0 = 1 + rng.int(7);
        }
        let text = nested(&mut rng, &drawn);
        let offset = if rng.int(3) == 0 { rng.int(20) } else { 0 };
        let composed = ComposedLayout::new(swizzle, offset, layout(&text)).unwrap();
        let tree = Tree::parse(&text);
        let values: Vec<i64> = tree.values().into_iter().map(|value| swizzle.apply(value + offset)).collect();
        // By leaves and their sums.
        let (mut sums, mut weight, mut each) = (vec![values[0]], 1, true);
        for (size, _) in tree.leaves() {
            let along: Vec<i64> = (0..size as usize).map(|i| values[i * weight] - values[0]).collect();
            each &= is_layout(&along);
            sums = along.iter().flat_map(|a| sums.iter().map(move |b| a + b)).collect();
            weight *= size as usize;
        }
        let is_plain = each && sums == values;
        match composed.plain() {
            Ok((found, offset)) => {
                plain += 1;
                assert!(is_plain, "{composed}");
                let tree = Tree::of(&found);
                assert!(tree.refines(&Tree::parse(&text)), "{composed} = {found}");
                assert!(tree.values().into_iter().map(|value| value + offset).eq(values), "{composed} = {found}");
            }
            Err(NoComposition::Length { leaf, unit, run, left, coordinate, value: end, expected }) => {
                refused += 1;
                let there = (0..tree.leaves().len()).map(|k| if k == leaf { unit * run } else { 0 });
                assert!(coordinate.leaves().iter().copied().eq(there), "{composed}");
                assert!(!is_plain && left % run != 0, "{composed}");
                let weight: i64 = tree.leaves()[..leaf].iter().map(|leaf| leaf.0).product();
                let value = |i: i64| values[(i * unit * weight) as usize] - values[0];
                assert!((0..run).all(|i| value(i) == i * value(1)) && value(run) != run * value(1), "{composed}");
                assert_eq!((end, expected), (value(run), i128::from(run * value(1))), "{composed}");
            }
            Err(NoComposition::Mode { leaf, number, value, sum, .. }) => {
                refused += 1;
                let weight: i64 = tree.leaves()[..leaf].iter().map(|leaf| leaf.0).product();
                assert!(!is_plain && value != sum, "{composed}");
                assert_eq!(values[(number * weight) as usize] - values[0], value, "{composed}");
            }
            Err(NoComposition::Interact { coordinate, value, .. }) => {
                refused += 1;
                let (mut weight, mut x) = (1, 0);
                for (entry, (size, _)) in coordinate.leaves().iter().zip(tree.leaves()) {
                    x += entry * weight;
                    weight *= size;
                }
                assert!(!is_plain && values[x as usize] - values[0] == value, "{composed}");
            }
            Err(why) => panic!("{composed}: {why}"),
        }
    }
    println!("{plain} plain, {refused} refused");
    assert!(plain > 0 && refused > 0);
}

#[test]
fn large_swizzled_layouts_are_decided_where_they_are_linear() {
    let tile = layout("((8,1048576),(64,1024)):((64,512),(1,536870912))");
    let swizzle: Swizzle = "Sw<3,3,3>".parse().unwrap();
    assert!(matches!(swizzle.compose(&tile).unwrap().plain(), Err(NoComposition::Interact { .. })));
    let odd = layout("(100000,3):(3,1000000)");
    assert_eq!(swizzle.compose(&odd).unwrap().plain(), Err(NoComposition::Undecided));
    assert!(swizzle.compose(&layout("4:-1")).unwrap_err().to_string().contains("coordinate 3 has address -3"));
}
