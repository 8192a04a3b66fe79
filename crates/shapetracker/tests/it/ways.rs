//! One map reached in several ways is one tracker: with steps of a chain joined, with its views read again, and with a
//! reshape there and back between any two operations.

use std::cell::Cell;

use shapetracker::{Chain, ShapeTracker};

use crate::oracle::Array;
use crate::pairs::same_addresses;
use crate::random::{Chain as Steps, Op, Tape, cases, check};
use shapetracker_testing::held;

/// The most elements of chains whose addresses are all evaluated, and of the others.
const SMALL: i64 = 600;
const LARGE: i64 = 1 << 18;

/// A chain with a pad and at least two reshapes, and shapes for detours.
#[derive(Debug)]
struct Case {
    steps: Steps,
    detours: Vec<Vec<i64>>,
}

/// What a random chain has at a place.
#[derive(Clone, Copy)]
enum Kind {
    Pad,
    Reshape,
    Any,
}

fn padded_and_reshaped(tape: &mut Tape) -> Case {
    let large = tape.chance(10);
    let (most, sizes): (i64, &[i64]) =
        if large { (LARGE, &[1, 1, 2, 3, 5, 8, 12, 16, 25, 32, 49, 64]) } else { (SMALL, &[1, 1, 2, 3, 4, 5, 6]) };
    let mut base: Vec<i64> = (0..tape.within(1, 4)).map(|_| tape.pick(sizes)).collect();
    while base.iter().product::<i64>() > most / 2 {
        base.pop();
    }
    let mut kinds = vec![Kind::Pad, Kind::Reshape, Kind::Reshape];
    kinds.extend((0..tape.within(0, 7)).map(|_| tape.pick(&[Kind::Reshape, Kind::Any, Kind::Any, Kind::Pad])));
    let order = tape.permutation(kinds.len());
    let mut st = ShapeTracker::contiguous(&base).expect("a small shape");
    let (mut ops, mut detours) = (Vec::new(), Vec::new());
    for place in order {
        let op = match kinds[place] {
            Kind::Pad => Op::Pad(
                st.shape()
                    .iter()
                    .map(|_| if tape.chance(50) { (tape.below(3), tape.below(3)) } else { (0, 0) })
                    .collect(),
            ),
            Kind::Reshape => Op::Reshape(tape.sizes_of(st.numel())),
            Kind::Any => tape.operation(st.shape()),
        };
        match op.on_tracker(&st) {
            Ok(next) if next.numel() <= most => {
                st = next;
                ops.push(op);
                detours.push(tape.sizes_of(st.numel()));
            }
            _ => {}
        }
    }
    Case { steps: Steps { base, ops }, detours }
}

/// The chain without reshapes that another reshape follows.
fn joined(ops: &[Op]) -> Vec<Op> {
    let mut joined: Vec<Op> = Vec::new();
    for op in ops {
        if let (Op::Reshape(_), Some(Op::Reshape(_) | Op::Squeeze(_) | Op::Unsqueeze(_))) = (op, joined.last()) {
            joined.pop();
        }
        joined.push(op.clone());
    }
    joined
}

fn run(base: &[i64], ops: &[Op]) -> Result<ShapeTracker, String> {
    let start = ShapeTracker::contiguous(base);
    let end = ops.iter().fold(start, |st, op| op.on_tracker(&st?));
    end.map_err(|error| error.to_string())
}

fn same(way: &str, st: &ShapeTracker, other: &ShapeTracker) -> Result<(), String> {
    if st == other { Ok(()) } else { Err(format!("{st}\nand {way}\n{other}")) }
}

#[test]
pub(crate) fn padded_and_reshaped_chains_end_the_same_whatever_the_way() {
    let (several, shorter, detoured) = (Cell::new(0), Cell::new(0), Cell::new(0));
    let count = |cell: &Cell<u32>, so: bool| cell.set(cell.get() + u32::from(so));
    check(cases::WAYS, padded_and_reshaped, |Case { steps: Steps { base, ops }, detours }| {
        let st = run(base, ops)?;
        let fewer = joined(ops);
        count(&several, st.views().len() > 1);
        count(&shorter, st.views().len() > 1 && fewer.len() < ops.len());
        same("with its reshapes joined", &st, &run(base, &fewer)?)?;
        let again = ShapeTracker::from_views(st.views().iter().cloned()).map_err(|error| error.to_string())?;
        same("read again", &st, &again)?;
        let text = format!("{st:?}");
        let read: Chain = text.parse().map_err(|error| format!("{text}: {error}"))?;
        same("read from its text", &st, &read.tracker().map_err(|error| error.to_string())?)?;
        if st.numel() <= SMALL
            && ops.iter().all(|op| !matches!(op, Op::AsStrided(..)))
            && base.iter().product::<i64>() <= SMALL
        {
            let array = ops.iter().fold(Array::contiguous(base), |array, op| op.on_array(&array));
            same_addresses(&st, &array)?;
        }
        let mut there_and_back = ShapeTracker::contiguous(base).map_err(|error| error.to_string())?;
        for (op, detour) in ops.iter().zip(detours) {
            let next = op.on_tracker(&there_and_back).map_err(|error| error.to_string())?;
            let back = next.reshape(detour).and_then(|st| st.reshape(next.shape()));
            there_and_back = back.map_err(|error| error.to_string())?;
        }
        count(&detoured, st != there_and_back);
        Ok(())
    });
    let (several, shorter, detoured) = (several.get(), shorter.get(), detoured.get());
    println!("{several} chains are several views, {shorter} of them can be joined, {detoured} are others by detours");
    assert!(several > held(cases::WAYS) / 4 && shorter > held(cases::WAYS) / 10, "both are common");
    assert!(detoured <= 1 + held(cases::WAYS) / 5_000, "a reshape there and back changes next to nothing");
}

/// Chains in pairs that are the same map.
#[track_caller]
fn assert_same(views: usize, chains: &[&str]) {
    let tracker = |chain: &str| chain.parse::<Chain>().unwrap().tracker().unwrap();
    let first = tracker(chains[0]);
    assert_eq!(first.views().len(), views, "{first}");
    for chain in chains {
        let st = tracker(chain);
        assert_eq!(st, first, "{chain}: {st}, not {first}");
        assert_eq!(ShapeTracker::from_views(st.views().iter().cloned()).unwrap(), st, "{chain}");
        assert_eq!(tracker(&format!("{st:?}")), st, "{chain}");
    }
}

#[test]
fn found_by_an_audit_a_reshape_in_between_costs_no_view() {
    assert_same(
        2,
        &[
            "(2, 3, 2).permute(0, 2, 1).reshape(2, 6).pad((0, 0), (0, 2)).reshape(2, 2, 4)",
            "(2, 3, 2).permute(0, 2, 1).reshape(2, 6).pad((0, 0), (0, 2)).reshape(16).reshape(2, 2, 4)",
        ],
    );
    assert_same(
        2,
        &[
            "(5, 5, 5).permute(0, 2, 1).reshape(5, 25).pad((0, 0), (0, 1)).reshape(5, 2, 13)",
            "(5, 5, 5).permute(0, 2, 1).reshape(5, 25).pad((0, 0), (0, 1)).reshape(13, 2, 5).reshape(5, 2, 13)",
        ],
    );
}

#[test]
fn found_by_an_audit_axes_of_size_one_leave_no_trace() {
    assert_same(
        2,
        &[
            "(1, 2, 2).permute(0, 2, 1).reshape(1, 4).pad((0, 0), (0, 2)).reshape(1, 2, 3)",
            "(1, 2, 2).permute(0, 2, 1).reshape(1, 4).pad((0, 0), (0, 2)).reshape(1, 1, 6).reshape(1, 2, 3)",
            "(2, 2).permute(1, 0).reshape(4).pad((0, 2)).reshape(1, 2, 3)",
        ],
    );
}

#[test]
fn a_view_between_two_may_be_split_padded_cut_and_turned() {
    // The mask lies on rows of five that the last reshape does not have; and it is one view under the shape that it has.
    assert_same(
        2,
        &[
            "(6, 4).pad((0, 0), (2, 0)).reshape(36).shrink((1, 19)).reshape(2, 9)",
            "(6, 4).pad((0, 0), (2, 0)).reshape(36).shrink((1, 19)).reshape(3, 6).reshape(2, 9)",
        ],
    );
    // Backwards, before or after the reshape.
    assert_same(
        2,
        &[
            "(2, 6, 6).reshape(12, 6).permute(1, 0).flip(0, 1).reshape(72)",
            "(2, 6, 6).reshape(12, 6).permute(1, 0).reshape(72).flip(0)",
        ],
    );
    // What is never read.
    assert_same(
        2,
        &["(2, 3).permute(1, 0).reshape(6).pad((0, 5)).shrink((0, 7))", "(2, 3).permute(1, 0).reshape(6).pad((0, 1))"],
    );
    // Three views, one of which goes with the shape in which two of them are one.
    assert_same(
        2,
        &[
            "(4,).pad((1, 1)).reshape(3, 2).pad((1, 1), (0, 0)).reshape(10).reshape(2, 5).flip(1)",
            "(4,).pad((1, 1)).reshape(3, 2).pad((1, 1), (0, 0)).reshape(2, 5).flip(1)",
        ],
    );
}

#[test]
fn found_by_a_million_chains_two_views_do_not_both_say_where_what_is_valid_ends() {
    // The pads of both reshapes are whole blocks of the rows below.
    assert_same(
        2,
        &[
            "(3, 4, 3).permute(1, 0, 2).reshape(1, 3, 1, 4, 3).pad((2, 0), (1, 2), (0, 0), (0, 0), (0, 0)).reshape(6, 1, 2, 18, 1).pad((2, 2), (0, 0), (0, 0), (0, 0), (0, 0)).reshape(2, 30, 3, 2).reshape(360)",
            "(3, 4, 3).permute(1, 0, 2).reshape(1, 3, 1, 4, 3).pad((2, 0), (1, 2), (0, 0), (0, 0), (0, 0)).reshape(6, 1, 2, 18, 1).pad((2, 2), (0, 0), (0, 0), (0, 0), (0, 0)).reshape(360)",
        ],
    );
    assert_same(
        2,
        &[
            "(2, 4, 3).permute(1, 0, 2).reshape(1, 3, 8, 1, 1).pad((1, 0), (1, 2), (0, 0), (0, 0), (0, 0)).reshape(6, 16, 1).pad((2, 1), (0, 0), (0, 0)).reshape(144)",
            "(2, 4, 3).permute(1, 0, 2).reshape(1, 3, 8, 1, 1).pad((1, 0), (1, 2), (0, 0), (0, 0), (0, 0)).reshape(6, 16, 1).pad((2, 1), (0, 0), (0, 0)).reshape(9, 4, 4).reshape(144)",
        ],
    );
    // One end cuts a block in two, so that the upper view must be masked.
    assert_same(
        2,
        &[
            "(4, 1, 2, 1).expand(4, 1, -1, 2).pad((0, 0), (1, 0), (2, 0), (0, 0)).as_strided((13), (1), 2).pad((1, 1)).reshape(1, 3, 5).reshape(15)",
            "(4, 1, 2, 1).expand(4, 1, -1, 2).pad((0, 0), (1, 0), (2, 0), (0, 0)).as_strided((13), (1), 2).pad((1, 1)).reshape(15)",
        ],
    );
    // Under a third view.
    assert_same(
        3,
        &[
            "(4, 6, 6).pad((0, 0), (2, 2), (0, 0)).permute(1, 0, 2).reshape(12, 20).pad((1, 1), (0, 0)).shrink((9, 13), (0, 20)).pad((1, 1), (0, 0)).reshape(2, 60).reshape(10, 2, 6)",
            "(4, 6, 6).pad((0, 0), (2, 2), (0, 0)).permute(1, 0, 2).reshape(12, 20).pad((1, 1), (0, 0)).shrink((9, 13), (0, 20)).pad((1, 1), (0, 0)).reshape(10, 2, 6)",
        ],
    );
}

#[test]
fn found_by_random_chains_a_view_that_is_not_masked_stays_so_for_those_above() {
    // Masked to what is valid below, the second last view of each would not be one view with the next.
    let views = |chain: &str| chain.parse::<Chain>().unwrap().tracker().unwrap().views().len();
    let chain = "(4, 3, 1).pad((2, 1), (0, 1), (0, 0)).as_strided((9), (2), 4).reshape(3, 1, 3).reshape(1, 9, 1).pad((0, 0), (0, 0), (0, 1)).pad((0, 0), (0, 0), (0, 1)).reshape(3, 9).reshape(1, 3, 3, 3).pad((1, 0), (0, 0), (2, 2), (0, 0)).unsqueeze(-1)";
    assert_eq!(views(chain), 2);
    let chain = "(12, 2, 49).pad((0, 0), (2, 2), (0, 0)).shrink((0, 12), (2, 3), (9, 17)).reshape(4, 24).shrink((0, 2), (12, 18)).pad((1, 1), (0, 1)).reshape(1, 1, 2, 1, 14).pad((0, 0), (0, 1), (0, 0), (1, 2), (0, 0)).reshape(8, 28).reshape(224)";
    assert_eq!(views(chain), 3);
}
