//! Plans that are wrong on purpose: each is a panic, before anything is moved or where an address is checked, and never
//! memory without a value, an access outside of a slice, or two threads at one place.

use std::panic::{AssertUnwindSafe, catch_unwind};

use shapetracker::expr::Linear;
use shapetracker::{Chain, ShapeTracker};

use crate::cover::region::Region;
use crate::cover::{Planned, Reading, Writing};
use crate::form::Access;
use crate::kernels::{Checked, Tuning};
use crate::mover::{Axis, Inner, Loop, Mover, Shuffled};
use crate::nest::{Decided, Direction, Nest};
use crate::plan::nests;
use crate::walk::Walk;
use crate::{Error, Plan, Threads};

/// A tiled transpose; rows; masked rows; masked tiles; an axis that leaps; several regions.
const TRANSPOSE: &str = "(20, 30).permute(1, 0)";
const ROWS: &str = "(20, 30).shrink((0, 20), (3, 21))";
const MASKED_ROWS: &str = "(20, 30).pad((0, 0), (3, 5))";
const MASKED_TILES: &str = "(20, 30).permute(1, 0).pad((1, 2), (3, 5))";
const LEAPS: &str = "(37, 41).permute(1, 0).reshape(1517).step(7)";
const SEVERAL: &str = "(6, 10).permute(1, 0).reshape(4, 15).pad((1, 2), (0, 3)).reshape(18, 7)";

type Parts = Vec<(Region, Nest)>;

fn tracker(text: &str) -> ShapeTracker {
    text.parse::<Chain>().unwrap().tracker().unwrap()
}

/// The loops for elements of four bytes, whatever else would be cheaper.
fn loops(direction: Direction, tracker: &ShapeTracker, whole: Region) -> Parts {
    nests(direction, tracker, 4, whole, &mut { u64::MAX }).unwrap().expect("the work has no limit")
}

/// A plan for reading elements of four bytes, changed before it is checked.
fn reading(text: &str, change: impl FnOnce(&mut Parts)) -> Reading {
    let tracker = tracker(text);
    let plan = |whole| {
        let mut parts = loops(Direction::Read, &tracker, whole);
        change(&mut parts);
        Ok(Planned::Parts(parts))
    };
    Reading::new(tracker.shape(), 4, plan).unwrap()
}

/// What a panic says.
#[track_caller]
fn panic_of<T>(wrong: impl FnOnce() -> T) -> String {
    let outcome = catch_unwind(AssertUnwindSafe(wrong));
    let Err(panic) = outcome else { panic!("what is wrong was taken for right") };
    match panic.downcast_ref::<String>() {
        Some(text) => text.clone(),
        None => (*panic.downcast_ref::<&str>().expect("a panic says why")).to_owned(),
    }
}

#[track_caller]
fn refuses(text: &str, why: &str, change: impl FnOnce(&mut Parts)) {
    let panic = panic_of(|| reading(text, change));
    assert!(panic.contains(why), "{text}: {panic}");
}

#[test]
fn right_plans_are_taken() {
    for text in [TRANSPOSE, ROWS, MASKED_ROWS, MASKED_TILES, LEAPS, SEVERAL, "()", "(0, 3)", "(5, 1, 3).flip(0, 2)"] {
        reading(text, |_| ());
    }
    reading(LEAPS, |parts| assert!(parts.iter().any(|(_, nest)| nest.leaps), "an axis leaps"));
    reading(MASKED_TILES, |parts| assert!(parts[0].1.margins.is_some(), "tiles have margins"));
    reading(SEVERAL, |parts| assert!(parts.len() > 2, "there are several regions"));
}

#[test]
fn regions_left_out() {
    refuses(ROWS, "leaves out a part", |parts| parts.clear());
    refuses(SEVERAL, "leaves out a part", |parts| drop(parts.pop()));
    refuses(SEVERAL, "leaves out a part", |parts| drop(parts.remove(0)));
}

#[test]
fn loops_of_another_region() {
    refuses(SEVERAL, "elsewhere", |parts| {
        let last = parts.len() - 1;
        let (before, after) = parts.split_at_mut(last);
        std::mem::swap(&mut before[0].1, &mut after[0].1);
    });
    for text in [TRANSPOSE, ROWS, MASKED_ROWS, MASKED_TILES, LEAPS] {
        refuses(text, "elsewhere", |parts| parts[0].1.start += 1);
    }
}

/// An axis of a mover, changed; what is made of it is checked like any other.
fn with_axis(nest: &mut Nest, change: impl Fn(&mut Axis)) {
    let mut mover = (*nest.mover).clone();
    match &mut mover.inner {
        Inner::Rows(axis, _) | Inner::Strided(axis) => change(axis),
        Inner::Tiles(tiles) => change(&mut tiles.down[0]),
        Inner::Shuffled(shuffled) => change(&mut shuffled.along),
    }
    nest.mover = Checked::new(mover, nest.width);
}

#[test]
fn loops_that_miss_or_repeat_elements() {
    for text in ["(3000, 900).permute(1, 0)", ROWS, "(20, 30)"] {
        refuses(text, "other elements", |parts| with_axis(&mut parts[0].1, |axis| axis.count -= 1));
    }
    // The rows of a small tile follow each other; those of a large one need not.
    refuses(TRANSPOSE, "do not follow", |parts| with_axis(&mut parts[0].1, |axis| axis.to /= 2));
    refuses("(3000, 900).permute(1, 0)", "other elements", |parts| with_axis(&mut parts[0].1, |axis| axis.to /= 2));
    refuses("(3000, 900).permute(1, 0)", "other elements", |parts| with_axis(&mut parts[0].1, |axis| axis.to = 0));
    // A loop around the rest that is lost, or met twice.
    refuses("(3, 20, 30).permute(0, 2, 1)", "other elements", |parts| {
        let mut mover = (*parts[0].1.mover).clone();
        assert!(!mover.loops.is_empty());
        mover.loops.clear();
        parts[0].1.mover = Checked::new(mover, 4);
    });
    refuses(ROWS, "other elements", |parts| {
        let mut mover = (*parts[0].1.mover).clone();
        mover.loops.push(Loop::Over(Axis::new(2, 0, 0)));
        parts[0].1.mover = Checked::new(mover, 4);
    });
    refuses(LEAPS, "other elements", |parts| {
        let (_, nest) = parts.iter_mut().find(|(_, nest)| nest.leaps).unwrap();
        nest.outside.insert(0, nest.outside[0]);
    });
}

#[test]
fn ranges_that_contradict_their_axes() {
    refuses(MASKED_ROWS, "another length", |parts| parts[0].1.spans[0] -= 1);
    refuses(MASKED_TILES, "another length", |parts| parts[0].1.spans.clear());
    refuses(MASKED_TILES, "not filled", |parts| parts[0].1.margins = None);
    refuses(MASKED_TILES, "not filled", |parts| parts[0].1.margins = Some(parts[0].1.mover.clone()));
    refuses(LEAPS, "a leap has a range", |parts| {
        let (_, nest) = parts.iter_mut().find(|(_, nest)| nest.leaps).unwrap();
        nest.decided.push(Decided { form: Linear::default(), range: 0..1, along: Some((nest.leap_span, 1)) });
    });
    refuses(LEAPS, "one axis", |parts| parts.iter_mut().for_each(|(_, nest)| nest.leap_span += 1));
}

#[test]
fn movers_that_contradict_themselves() {
    type Change = fn(&mut Mover);
    let movers: [(&str, Change); 6] = [
        ("no whole number", |mover| mover.unit += 1),
        ("no whole number", |mover| mover.loops.push(Loop::Over(Axis::new(2, 6, 4)))),
        ("walked twice", |mover| mover.loops.extend([Loop::Across, Loop::Across])),
        ("cut off", |mover| {
            if let Inner::Tiles(tiles) = &mut mover.inner {
                tiles.steps.1 = 1
            }
        }),
        ("other elements", |mover| {
            if let Inner::Tiles(tiles) = &mut mover.inner {
                tiles.columns += 1
            }
        }),
        ("not contiguous", |mover| {
            if let Inner::Tiles(tiles) = &mut mover.inner {
                tiles.across[0].to *= 2
            }
        }),
    ];
    let good = reading(TRANSPOSE, |_| ());
    let Planned::Parts(nests) = good.loops() else { panic!("a transpose has loops") };
    let good = &nests[0];
    for (why, change) in movers {
        let mut mover = (*good.mover).clone();
        change(&mut mover);
        let panic = panic_of(|| Checked::new(mover, 4));
        assert!(panic.contains(why), "{why}: {panic}");
    }
    let rows = Mover { inner: Inner::Rows(Axis::new(8, 8, 4), 8), ..(*good.mover).clone() };
    assert!(panic_of(|| Checked::new(rows, 4)).contains("not contiguous"));
}

#[test]
fn runs_that_contradict_themselves() {
    type Change = fn(&mut Shuffled);
    let wrong: [(&str, Change); 7] = [
        ("a block is not contiguous", |run| run.block[0].to += 4),
        ("a run is not contiguous", |run| run.along.to += 4),
        ("a register does not hold", |run| run.steps += 1),
        ("a register does not hold", |run| run.columns += 1),
        ("a register does not hold", |run| run.along.from = 16),
        ("a run is cut off", |run| run.columns = run.steps),
        ("a run is cut off", |run| run.steps = 0),
    ];
    let good = reading("(20, 2).flip(1)", |_| ());
    let Planned::Parts(nests) = good.loops() else { panic!("pixels have loops") };
    for (why, change) in wrong {
        let mut mover = (*nests[0].mover).clone();
        let Inner::Shuffled(run) = &mut mover.inner else { panic!("pixels are put in order in registers: {mover:?}") };
        change(run);
        let panic = panic_of(|| Checked::new(mover, 4));
        assert!(panic.contains(why), "{why}: {panic}");
    }
    for text in ["(20, 2).flip(1)", "(40).flip(0)"] {
        refuses(text, "other elements", |parts| with_axis(&mut parts[0].1, |axis| axis.count -= 1));
    }
}

#[test]
fn regions_cut_wrong() {
    let cut = |ends: &[i64]| {
        let ends = ends.to_vec();
        panic_of(|| {
            let cut = |whole: Region| -> Result<Planned<(Region, Nest)>, Error> {
                whole.cut(0, ends);
                unreachable!("a wrong cut is refused")
            };
            Reading::new(&[10, 3], 4, cut).map(|_| ())
        })
    };
    assert!(cut(&[4, 9]).contains("not all of it"));
    assert!(cut(&[4, 11]).contains("outside"));
    assert!(cut(&[4, 4, 10]).contains("empty"));
    assert!(cut(&[6, 4, 10]).contains("empty"));
    let split = panic_of(|| Reading::new(&[10], 4, |whole| Err(drop_all(whole.split(0, 3)))).map(|_| ()));
    assert!(split.contains("no whole number of turns"), "{split}");
}

fn drop_all(region: Region) -> Error {
    drop(region);
    Error::Width { width: 0, most: 0 }
}

/// An access that is wrong in any way is wrong data or a panic where it leaves the buffer; all of the tensor is written.
#[test]
fn wrong_addresses() {
    let read = |text: &str, change: fn(&mut Access)| {
        let tracker = tracker(text);
        let plan = |whole: Region| {
            let mut access = Access::of(&tracker, &mut { u64::MAX }).unwrap();
            change(&mut access);
            let nest = Nest::new(Direction::Read, 4, &whole, &access).unwrap();
            Ok(Planned::Parts(vec![(whole, nest)]))
        };
        let reading = Reading::new(tracker.shape(), 4, plan).unwrap();
        let len = tracker.numel() as usize * 4;
        let source = vec![1; Plan::new(&tracker, 4).unwrap().buffer_len() * 4];
        for threads in [Threads::one(), Threads::new(3).unwrap().eager()] {
            let mut tensor = vec![std::mem::MaybeUninit::uninit(); len];
            let read = reading.run(&source, &mut tensor, &[2; 4], true, Tuning::default(), &threads);
            assert!(read.iter().all(|byte| [1, 2].contains(byte)));
        }
    };
    for text in [TRANSPOSE, MASKED_ROWS, MASKED_TILES, LEAPS] {
        read(text, |_| ());
        for change in [
            |access: &mut Access| shift(&mut access.address, 7),
            |access: &mut Access| shift(&mut access.address, -7),
            |access: &mut Access| set(&mut access.address, i64::MAX / 4),
            |access: &mut Access| {
                let scaled = access.address.terms().iter().map(|(term, factor)| (*term, factor * -3));
                access.address = Linear::new(access.address.constant(), scaled).unwrap();
            },
        ] {
            assert!(panic_of(|| read(text, change)).contains("outside its buffer"), "{text}");
        }
        for change in [
            |access: &mut Access| access.address = Linear::default(),
            |access: &mut Access| set(&mut access.address, i64::MIN),
            |access: &mut Access| access.floors.iter_mut().for_each(|floor| shift(&mut floor.numerator, -1000)),
            |access: &mut Access| access.floors.iter_mut().for_each(|floor| floor.divisor *= 1000),
            |access: &mut Access| {
                let ranges = access.conditions.iter_mut().map(|condition| &mut condition.range);
                ranges.for_each(|range| *range = range.end..range.start);
            },
        ] {
            // These may leave the buffer or not.
            let _ = catch_unwind(AssertUnwindSafe(|| read(text, change)));
        }
    }
}

/// What is listed of a walk is wrong data, or a panic where it ends too early or leaves the buffer: every element is written, by
/// one thread, or there is no tensor.
#[test]
fn walks_over_other_elements() {
    let read = |shape: &[i64], walked: &str, threads: &Threads| {
        let plan = |_| Ok(Planned::Walk(Walk { direction: Direction::Read, width: 3, tracker: tracker(walked) }));
        let reading = Reading::new(shape, 3, plan).unwrap();
        let mut tensor = vec![std::mem::MaybeUninit::uninit(); shape.iter().product::<i64>() as usize * 3];
        reading.run(&[1; 1800], &mut tensor, &[2; 3], true, Tuning::default(), threads).to_vec()
    };
    for threads in [Threads::one(), Threads::new(3).unwrap().eager()] {
        for walked in
            [TRANSPOSE, MASKED_TILES, SEVERAL, "(30).pad((7, 1200))", "(700).shrink((0, 600))", "(1).expand(1000)"]
        {
            let tensor = read(&[12, 9], walked, &threads);
            assert!(tensor.iter().all(|byte| [1, 2].contains(byte)), "{walked}");
        }
    }
    let refused = |walked: &str| panic_of(|| read(&[40, 30], walked, &Threads::one()));
    for walked in [TRANSPOSE, "()", "(0, 3)", "(30).pad((7, 1100))"] {
        assert!(refused(walked).contains("leaves out a part"), "{walked}");
    }
    for walked in ["(40, 31)", "(2000).flip(0)", "(700).flip(0).pad((0, 500)).flip(0)"] {
        assert!(refused(walked).contains("outside its buffer"), "{walked}");
    }
}

#[test]
fn walks_for_something_else() {
    let walk = |direction, width| Planned::Walk(Walk { direction, width, tracker: tracker(TRANSPOSE) });
    for (direction, width) in [(Direction::Write, 4), (Direction::Read, 8)] {
        let panic = panic_of(|| Reading::new(&[30, 20], 4, |_| Ok(walk(direction, width))).map(|_| ()));
        assert!(panic.contains("for something else"), "{panic}");
    }
    let panic = panic_of(|| Writing::new(&[30, 20], |_| Ok(walk(Direction::Read, 4))).map(|_| ()));
    assert!(panic.contains("for something else"), "{panic}");
}

/// Nobody asked whether indices share an address: one thread writes, inside the buffer or not at all.
#[test]
fn walks_that_write() {
    for text in [TRANSPOSE, LEAPS, MASKED_ROWS, "(1, 400).expand(400, 400)"] {
        let tracker = tracker(text);
        let len = Plan::new(&tracker, 4).unwrap().buffer_len() * 4;
        let plan = |_| Ok(Planned::Walk(Walk { direction: Direction::Write, width: 4, tracker: tracker.clone() }));
        let walk = Writing::new(tracker.shape(), plan).unwrap();
        assert!(!walk.is_shared());
        let (loops, ..) = writing(text);
        let source: Vec<u8> = (0..tracker.numel() as usize * 4).map(|byte| (byte / 4 * 7 + byte) as u8).collect();
        let (mut walked, mut looped) = (vec![0; len], vec![0; len]);
        walk.run(&source, &mut walked, &Threads::new(3).unwrap().eager());
        loops.run(&source, &mut looped, &Threads::one());
        assert!(walked == looped, "{text}");
        let short = panic_of(|| walk.run(&source, &mut walked[..len - 4], &Threads::one()));
        assert!(short.contains("outside its buffer"), "{text}: {short}");
    }
}

/// A sum that wraps to a place inside the buffer, but inside an element.
#[test]
fn addresses_inside_an_element() {
    let plan = |whole: Region| {
        let mut access = Access::of(&tracker("(4, 6).step(1, 2)"), &mut { u64::MAX }).unwrap();
        set(&mut access.address, 0x5555_5555_5555_5556); // Thrice that is 2 more than 2^64.
        let nest = Nest::new(Direction::Read, 3, &whole, &access).unwrap();
        Ok(Planned::Parts(vec![(whole, nest)]))
    };
    let reading = Reading::new(&[4, 3], 3, plan).unwrap();
    let mut tensor = vec![std::mem::MaybeUninit::uninit(); 36];
    let panic =
        panic_of(|| reading.run(&[1; 300], &mut tensor, &[2; 3], true, Tuning::default(), &Threads::one()).len());
    assert!(panic.contains("inside an element"), "{panic}");
}

/// The loops for writing through a tracker of which nobody asked whether indices share an address.
fn writing(text: &str) -> (Writing, usize, usize) {
    let tracker = tracker(text);
    let plan = |whole| Ok(Planned::Parts(loops(Direction::Write, &tracker, whole)));
    let writing = Writing::new(tracker.shape(), plan).unwrap();
    (writing, tracker.numel() as usize * 4, Plan::new(&tracker, 4).unwrap().buffer_len() * 4)
}

#[test]
fn threads_share_only_what_is_separate() {
    for (text, shared) in [
        (TRANSPOSE, true),
        (ROWS, true),
        (MASKED_TILES, true),
        ("(8, 9, 10).flip(0, 2).permute(2, 0, 1)", true),
        ("(20, 30).step(3, -2)", true),
        ("(1, 400).expand(400, 400)", false),
        ("(400, 1).expand(400, 400)", false),
        ("(1000).as_strided((300, 300), (2, 1), 0)", false),
        // Strides that interleave without meeting, and addresses that take a division: too hard to see from strides.
        ("(8).as_strided((2, 3), (3, 2), 0)", false),
        (LEAPS, false),
    ] {
        let (writing, tensor, buffer) = writing(text);
        assert_eq!(writing.is_shared(), shared, "{text}");
        // Whoever writes last wins, as with one thread.
        let source: Vec<u8> = (0..tensor).map(|byte| (byte / 4 * 7 + byte) as u8).collect();
        let (mut one, mut several) = (vec![0; buffer], vec![0; buffer]);
        writing.run(&source, &mut one, &Threads::one());
        writing.run(&source, &mut several, &Threads::new(3).unwrap().eager());
        assert!(one == several, "{text}");
    }
}

fn set(form: &mut Linear, constant: i64) {
    *form = std::mem::take(form).with_constant(constant);
}

fn shift(form: &mut Linear, by: i64) {
    set(form, form.constant() + by);
}
