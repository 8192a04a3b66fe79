//! What is said of accesses along loops, beside all of their addresses.

use std::collections::{HashMap, HashSet};

use indexpr::{Clash, InPlace, Levels, Nest, Overlap, Signedness, Width};
use shapetracker_testing::{Rng, held, numbers};

use crate::random::{self, Plain};
use crate::walked::{of_loop, values, walk, walk_through};

/// The addresses of an access of a nest, in the order of its loops; `None` where there is no element.
fn addresses(nest: &Nest, at: usize, parameters: &[i64]) -> Vec<(Vec<i64>, Option<i64>)> {
    let levels = nest.levels().unwrap();
    let mut found = Vec::new();
    walk(&levels, 0, &mut values(&levels, parameters), &mut |level, values| {
        let value = |expr| levels.graph().evaluate(expr, values).unwrap();
        let of = |name: &str| level.loops.iter().find(|known| known.name == name).unwrap().expr;
        let point = nest.loops().iter().map(|one| value(of(&one.name))).collect();
        let access = &level.accesses[at];
        found.push((point, (value(access.valid) == 1).then(|| value(access.index))));
    });
    found
}

/// A random nest that runs as its loops say: no guard shortens them.
fn nest(rng: &mut Rng) -> (Plain, Nest) {
    let (mut plain, _) = random::nest(rng);
    plain.accesses.iter_mut().for_each(|access| access.clipped = false);
    let nest = random::plainly(&plain);
    (plain, nest)
}

#[test]
fn strides_runs_and_vectors_are_those_of_the_addresses() {
    let (mut strides, mut missed, mut runs, mut wide, mut reused, mut asked) = (0, 0, 0, 0, 0, 0);
    for case in numbers(400) {
        let mut rng = Rng(0xfac7_0000 + case);
        let (plain, mut nest) = nest(&mut rng);
        let parameters = random::parameters(&mut rng, &plain).pop().unwrap();
        let others = vec![0; nest.graph().variables().len() - parameters.len()];
        let number = |nest: &Nest, expr| {
            let point: Vec<i64> = parameters.iter().copied().chain(others.iter().copied()).collect();
            nest.graph().evaluate(expr, &point).unwrap()
        };
        for at in 0..plain.accesses.len() {
            let name = format!("a{at}");
            let all = addresses(&nest, at, &parameters);
            let known: std::collections::HashMap<&Vec<i64>, Option<i64>> =
                all.iter().map(|(point, address)| (point, *address)).collect();
            for (place, one) in nest.loops().to_vec().iter().enumerate() {
                asked += 1;
                let next = |point: &Vec<i64>| {
                    let mut next = point.clone();
                    next[place] += 1;
                    next
                };
                let stride = nest.stride(&name, &one.name).unwrap().map(|stride| number(&nest, stride));
                for (point, address) in &all {
                    let Some((address, next)) = address.zip(known.get(&next(point)).copied().flatten()) else {
                        continue;
                    };
                    if let Some(stride) = stride {
                        assert_eq!(next - address, stride, "{plain:?} {name} {}", one.name);
                    }
                }
                strides += usize::from(stride.is_some());
                if stride.is_none() && plain.parameters.is_empty() {
                    let step = |(point, address): &(Vec<i64>, Option<i64>)| {
                        Some(known.get(&next(point)).copied().flatten()? - (*address)?)
                    };
                    missed += usize::from(all.iter().filter_map(step).collect::<HashSet<i64>>().len() == 1);
                }
                if nest.is_reused(&name, &one.name).unwrap() {
                    reused += 1;
                    let same = |point: &Vec<i64>| known.get(&next(point)).is_none_or(|next| *next == known[point]);
                    assert!(all.iter().all(|(point, _)| same(point)), "{plain:?} {name} {}", one.name);
                }
                let width = nest.vector_width(&name, &one.name, 8).unwrap();
                wide += usize::from(width > 1);
                for (point, address) in &all {
                    if point[place] % width != 0 {
                        continue;
                    }
                    for step in 1..width {
                        let mut other = point.clone();
                        other[place] += step;
                        assert_eq!(known[&other], address.map(|address| address + step), "{plain:?} {width}");
                    }
                    assert!(address.is_none_or(|address| address % width == 0), "{plain:?} {width}");
                }
            }
            // Without guards, elements in the order of the loops.
            let run = nest.contiguous(&name).unwrap();
            let run = number(&nest, run) as usize;
            runs += usize::from(run > 1);
            for group in all.chunks(run.max(1)) {
                for (step, (_, address)) in group.iter().enumerate() {
                    if let Some((first, address)) = group[0].1.zip(*address) {
                        assert_eq!(address, first + step as i64, "{plain:?} {name} {run}");
                    }
                }
            }
        }
    }
    // Under a guard a stride may be missed that the few elements have that are left.
    let held = held(400) as usize;
    let is_enough =
        strides > asked / 3 && missed * 20 < asked && runs > held / 10 && wide > held / 80 && reused > held / 5;
    assert!(held < 100 || is_enough, "{strides} of {asked}, {missed} {runs} {wide} {reused}");
}

#[test]
fn accesses_that_meet_have_a_common_address() {
    let (mut never, mut somewhere, mut undecided) = (0, 0, 0);
    for case in numbers(400) {
        let mut rng = Rng(0xfac7_1000 + case);
        let (plain, nest) = nest(&mut rng);
        let mut sets = Vec::new();
        for at in 0..plain.accesses.len() {
            let mut set = HashSet::new();
            for parameters in all_parameters(&plain) {
                let found = addresses(&nest, at, &parameters).into_iter().filter_map(|(_, address)| address);
                set.extend(found.map(|address| (parameters.clone(), address)));
            }
            sets.push(set);
        }
        for a in 0..sets.len() {
            for b in 0..sets.len() {
                let meet = !sets[a].is_disjoint(&sets[b]);
                match nest.overlaps(&format!("a{a}"), &format!("a{b}")).unwrap() {
                    Overlap::Undecided => undecided += 1,
                    Overlap::Never => {
                        never += 1;
                        assert!(!meet, "{plain:?} {a} {b}");
                    }
                    Overlap::Somewhere => {
                        somewhere += 1;
                        assert!(meet, "{plain:?} {a} {b}");
                    }
                }
            }
        }
    }
    let held = held(400) as usize;
    let is_enough = never > held / 15 && somewhere > held / 2 && undecided * 20 < never + somewhere;
    assert!(held < 100 || is_enough, "{never} {somewhere} {undecided}");
}

/// What is done to the one buffer: where in the nest, at which address, and whether it is written there.
#[derive(Debug, PartialEq)]
struct Touch {
    loops: Vec<i64>,
    address: i64,
    is_write: bool,
}

/// What the body does to the elements of `a0`, the output, and of `a1`, the input, one after the other: the innermost lines
/// read, and the output is written by the lines after the innermost reduced loops, or by the innermost lines where it depends on
/// one of these.
fn touches(nest: &Nest, plain: &Plain, levels: &Levels, parameters: &[i64]) -> Vec<Touch> {
    let all = nest.loops();
    let mut around = all.len() - all.iter().rev().take_while(|one| one.is_reduced).count();
    if all[around..].iter().any(|one| !nest.is_reused("a0", &one.name).unwrap()) {
        around = all.len();
    }
    let mut touches = Vec::new();
    walk_through(levels, 0, &mut values(levels, parameters), &mut |level, is_after, values| {
        let depth = level.header.as_ref().map_or(0, |header| header.place + 1);
        let reads = level.is_innermost && !is_after;
        let writes = if around == all.len() { reads } else { depth == around && is_after };
        if !reads && !writes {
            return;
        }
        let of = |name: &str| of_loop(levels, level, name, values);
        let mut point: Vec<i64> = plain.names[..plain.sizes.len()].iter().map(|name| of(name)).collect();
        point.extend(parameters);
        for (is_write, access) in [(false, &plain.accesses[1]), (true, &plain.accesses[0])] {
            if (if is_write { writes } else { reads }) && access.holds(&point) {
                let known = if is_write { around } else { all.len() };
                let loops = all[..known].iter().map(|one| of(&one.name)).collect();
                touches.push(Touch { loops, address: access.index.value(&point), is_write });
            }
        }
    });
    touches
}

/// What is read, and what the output holds at the end: where both are one buffer, or where they are two with the same elements.
/// Each element that is written is made of all that was read before.
fn results(touches: &[Touch], is_one_buffer: bool) -> (Vec<u64>, HashMap<i64, u64>) {
    let mixed =
        |a: u64, b: u64| (a ^ b.wrapping_mul(0x9e37_79b9_7f4a_7c15)).wrapping_mul(0xbf58_476d_1ce4_e5b9) ^ (a >> 29);
    let (mut read, mut output, mut sum) = (Vec::new(), HashMap::new(), 1);
    for touch in touches {
        if touch.is_write {
            output.insert(touch.address, mixed(sum, 3));
        } else {
            let before = mixed(touch.address as u64, 7);
            let value = if is_one_buffer { *output.get(&touch.address).unwrap_or(&before) } else { before };
            sum = mixed(sum, value);
            read.push(value);
        }
    }
    (read, output)
}

#[test]
fn what_is_written_over_its_input_gives_the_same_result() {
    let (mut yes, mut no, mut undecided, mut after) = (0, 0, 0, 0);
    for case in numbers(3_000) {
        let mut rng = Rng(0xfac7_2000 + case);
        let (plain, nest) = random::in_place(&mut rng);
        let levels = nest.levels().unwrap();
        let is_same = |parameters: &[i64]| {
            let touches = touches(&nest, &plain, &levels, parameters);
            results(&touches, true) == results(&touches, false)
        };
        match nest.in_place("a0", "a1").unwrap() {
            InPlace::Undecided => undecided += 1,
            InPlace::Yes => {
                yes += 1;
                let parameters = all_parameters(&plain);
                assert!(parameters.iter().all(|parameters| is_same(parameters)), "{case} {plain:?}");
            }
            InPlace::No(Clash { parameters, written, read, address, .. }) => {
                no += 1;
                after += usize::from(written.len() < read.len());
                let within = |(value, most): (&i64, &i64)| (1..=*most).contains(value);
                assert!(parameters.iter().zip(&plain.parameters).all(within), "{case} {plain:?}");
                assert!(!is_same(&parameters), "{case} {plain:?}");
                let touches = touches(&nest, &plain, &levels, &parameters);
                let at = |loops: Vec<i64>, is_write| {
                    touches.iter().position(|touch| *touch == Touch { loops: loops.clone(), address, is_write })
                };
                let (write, read) = (at(written, true), at(read, false));
                assert!(write.is_some() && write < read, "{case} {write:?} {read:?} {plain:?}");
            }
        }
    }
    println!("{yes} may be written in place, {no} may not ({after} after reduced loops), {undecided} are undecided");
    let held = held(3_000) as usize;
    // Of few draws most of one rare sort may be among them.
    let is_enough = yes > held / 3 && no > held / 6 && after > held / 100 && undecided < held / 100 + 3;
    assert!(held < 100 || is_enough, "{yes} {no} {after} {undecided}");
}

/// Row-major tensors of named sizes, element by element, and a row at a time.
#[test]
fn tensors_of_named_sizes_are_written_in_place() {
    let mut graph = indexpr::Graph::new();
    for name in ["B", "T", "D"] {
        graph.variable(name, 1..4097).unwrap();
    }
    let mut nest = Nest::new(graph);
    for (name, size) in [("b", "B"), ("t", "T")] {
        let size = nest.parse(size).unwrap();
        nest.each(name, size).unwrap();
    }
    let size = nest.parse("D").unwrap();
    let mut by_rows = nest.clone();
    nest.each("d", size).unwrap();
    by_rows.reduce("d", size).unwrap();
    for nest in [&mut nest, &mut by_rows] {
        for (name, text) in [
            ("x", "(b * T + t) * D + d"),
            ("first", "(b * T + t) * D"),
            ("next", "(b * T + t) * D + d + 1"),
            ("before", "(b * T + t) * D + d - 1"),
            ("turned", "(t * B + b) * D + d"),
        ] {
            let index = nest.parse(text).unwrap();
            nest.access(name, index, None).unwrap();
        }
    }
    let is_no = |nest: &Nest, output: &str, input: &str| match nest.in_place(output, input).unwrap() {
        InPlace::Yes => false,
        InPlace::No(clash) => {
            let [t, d] = [clash.parameters[1], clash.parameters[2]];
            let read = clash.read[0] * t * d + clash.read[1] * d + clash.read[2];
            assert!(input != "x" || read == clash.address, "{clash:?}");
            true
        }
        InPlace::Undecided => panic!("{output} over {input} is undecided"),
    };
    assert!(!is_no(&nest, "x", "x") && !is_no(&nest, "x", "next") && !is_no(&nest, "before", "x"));
    assert!(is_no(&nest, "next", "x") && is_no(&nest, "x", "before"));
    assert!(is_no(&nest, "turned", "x") && is_no(&nest, "x", "turned"));
    assert!(!is_no(&by_rows, "first", "x") && is_no(&by_rows, "first", "before"));
}

/// What the guards leave out is neither read nor written.
#[test]
fn guards_decide_what_is_written_in_place() {
    let mut nest = Nest::new(indexpr::Graph::new());
    nest.each("i", 16).unwrap();
    let [i, before, low, high] = ["i", "i - 8", "i < 8", "i >= 12"].map(|text| nest.parse(text).unwrap());
    nest.access("x", i, None).unwrap();
    nest.access("low", i, Some(low)).unwrap();
    nest.access("before", before, Some(high)).unwrap();
    let found = |nest: &Nest, output: &str| match nest.in_place(output, "before").unwrap() {
        InPlace::No(clash) => Some((clash.written, clash.read)),
        answer => {
            assert_eq!(answer, InPlace::Yes);
            None
        }
    };
    let clash = found(&nest, "low").unwrap();
    assert_eq!(clash.0[0] + 8, clash.1[0]);
    // A clip to other elements leaves no one that reads what was written.
    nest.guard("upper", high).unwrap();
    nest.clip(&["upper"], indexpr::Clip::All).unwrap();
    assert_eq!(found(&nest, "x"), None);
    assert_eq!(
        nest.in_place("upper", "x").unwrap_err().to_string(),
        "in_place: `upper` is a guard, which has no address"
    );
}

/// All values of the parameters.
fn all_parameters(plain: &Plain) -> Vec<Vec<i64>> {
    plain.parameters.iter().fold(vec![vec![]], |all, most| {
        all.iter().flat_map(|one| (1..=*most).map(|value| [&one[..], &[value]].concat())).collect()
    })
}

#[test]
fn a_width_that_does_not_suffice_is_refused() {
    let mut graph = indexpr::Graph::new();
    let n = graph.variable("n", 1..1 << 40).unwrap();
    let mut nest = Nest::new(graph);
    nest.each("i", n).unwrap();
    nest.each("j", 4).unwrap();
    nest.set_signedness(Signedness::Unsigned);
    let index = nest.parse("i * 4 + j").unwrap();
    nest.access("a", index, None).unwrap();
    assert_eq!(nest.width().unwrap(), Width::Bits64);
    let refused = nest.set_width(Width::Bits32).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "width: 32 bits do not hold the size of `i`, which ranges from 1 to 1099511627775; give `n` a smaller end"
    );
    assert_eq!(refused.kind(), indexpr::ErrorKind::Width);
    // It stays as it was.
    assert_eq!(nest.width().unwrap(), Width::Bits64);
    // A name without an end is refused where it is first multiplied.
    let mut graph = indexpr::Graph::new();
    let n = graph.variable("n", 1..i64::MAX).unwrap();
    let mut nest = Nest::new(graph);
    nest.each("i", n).unwrap();
    assert!(nest.parse("i * 4").unwrap_err().to_string().contains("past the range of 64-bit integers"));
}

#[test]
fn what_does_not_fit_is_refused() {
    let mut nest = Nest::new(indexpr::Graph::new());
    let i = nest.each("i", 4).unwrap();
    let other = indexpr::Graph::new().int(3);
    let refused = |result: Result<(), indexpr::Error>| result.unwrap_err().to_string();
    assert_eq!(
        refused(nest.access("a", other, None)),
        "access: the expression is not of this graph, but of another one"
    );
    assert_eq!(refused(nest.access("i", i, None)), "access: something of the nest is called `i` already");
    assert_eq!(refused(nest.access("a", i, Some(i))), "access: a condition is needed here, not a number");
    let stray = nest.graph_mut().variable("q", 0..3).unwrap();
    assert_eq!(refused(nest.access("a", stray, None)), "access: `q` is neither a loop of the nest nor a parameter");
    assert_eq!(refused(nest.split("k", &[2.into()])), "split: there is no loop `k`; there are `i`");
    assert_eq!(refused(nest.clip(&["a"], indexpr::Clip::All)), "clip: there is no access `a`; there are none");
    assert_eq!(
        nest.each("j", i).unwrap_err().to_string(),
        "loop: how often a loop runs depends on `i`, which is a loop itself, and not on parameters alone"
    );
}
