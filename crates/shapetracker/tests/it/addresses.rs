//! Who reads an address, and how often addresses are read, against a walk over the oracle's cells.

use std::cell::Cell;
use std::collections::BTreeMap;

use shapetracker::fit::explain;
use shapetracker::{ArrayLibrary, Chain, ShapeTracker, View};

use crate::bad_input::hostile_view;
use crate::oracle::{RawView, evaluate};
use crate::random::{Tape, cases, check};
use shapetracker_testing::held;

fn stack(tape: &mut Tape) -> Vec<RawView> {
    let stack = tape.stack();
    let small = stack.iter().all(|view| view.numel() <= 200);
    if small { stack } else { vec![RawView::contiguous(&[2])] }
}

fn tracker(stack: &[RawView]) -> ShapeTracker {
    let st = ShapeTracker::from_views(stack.iter().map(RawView::view));
    st.unwrap_or_else(|error| panic!("{stack:?} is a tracker, but: {error}"))
}

/// The indices that read each address, in row-major order.
fn readers(stack: &[RawView]) -> BTreeMap<i64, Vec<Vec<i64>>> {
    let mut readers: BTreeMap<i64, Vec<Vec<i64>>> = BTreeMap::new();
    evaluate(stack).for_each_index(|index, address| {
        if let Some(address) = address {
            readers.entry(address).or_default().push(index.to_vec());
        }
    });
    readers
}

#[test]
pub(crate) fn the_readers_of_an_address_are_the_elements_that_read_it() {
    let several = Cell::new(0);
    check(cases::QUERIES, stack, |stack| {
        let (st, expected) = (tracker(stack), readers(stack));
        several.set(several.get() + u32::from(st.views().len() > 1));
        let (low, high) = expected.keys().next().zip(expected.keys().next_back()).map_or((0, 0), |(a, b)| (*a, *b));
        for address in (low - 2..=high + 2).take(300) {
            let found: Result<Vec<Vec<i64>>, _> = st.readers(address).map(|i| i.map(|i| i.to_vec())).collect();
            let mut found = found.map_err(|error| error.to_string())?;
            found.sort();
            let expected = expected.get(&address).cloned().unwrap_or_default();
            if found != expected {
                return Err(format!("{address} is read by {found:?}, and should be by {expected:?}"));
            }
        }
        Ok(())
    });
    assert!(several.get() > held(cases::QUERIES) / 10);
}

#[test]
fn coverage_counts_reads_and_addresses_of_every_bucket() {
    check(
        cases::QUERIES,
        |tape| {
            let stack = stack(tape);
            let range = (tape.within(-30, 60), tape.within(0, 200));
            (stack, range.0..range.0 + range.1, tape.within(1, 90) as usize)
        },
        |(stack, range, buckets)| {
            let (st, readers) = (tracker(stack), readers(stack));
            let coverage = st.coverage(range.clone(), *buckets).map_err(|error| error.to_string())?;
            let width = i64::try_from(coverage.width()).expect("the range is short");
            let narrower = (range.end - range.start + width - 2) / (width - 1).max(1);
            if coverage.begin() != range.start || (width > 1 && narrower <= *buckets as i64) {
                return Err(format!("the buckets are {width} wide, from {}", coverage.begin()));
            }
            let count = (range.end - range.start + width - 1) / width;
            let (mut reads, mut distinct) = (vec![0; count as usize], vec![0; count as usize]);
            for (address, indices) in readers.iter().filter(|(address, _)| range.contains(*address)) {
                let bucket = ((address - range.start) / width) as usize;
                reads[bucket] += indices.len() as i64;
                distinct[bucket] += 1;
            }
            let read: Vec<i64> = readers.keys().copied().filter(|address| range.contains(address)).collect();
            let listed: Option<Vec<i64>> = coverage.addresses().map(Iterator::collect);
            match (coverage.reads() == reads, coverage.distinct() == Some(distinct), listed == Some(read)) {
                (true, true, true) => Ok(()),
                wrong => Err(format!("reads, distinct, addresses: {wrong:?} in {coverage:?}")),
            }
        },
    );
}

#[test]
fn every_address_is_read_equally_often_or_some_are_not() {
    let [same, unlike, undecided] = [0u32; 3].map(Cell::new);
    let count = |cell: &Cell<u32>| cell.set(cell.get() + 1);
    check(cases::QUERIES, stack, |stack| {
        let (st, readers) = (tracker(stack), readers(stack));
        let mut times: Vec<usize> = readers.values().map(Vec::len).collect();
        times.sort_unstable();
        times.dedup();
        match st.multiplicity() {
            Ok(Some(found)) => {
                count(&same);
                if times.iter().all(|&times| times as i64 == found) {
                    Ok(())
                } else {
                    Err(format!("{found}: {times:?}"))
                }
            }
            Ok(None) => {
                count(&unlike);
                if times.len() > 1 { Ok(()) } else { Err(format!("all are read {times:?} times")) }
            }
            // A stack that is not injective is not looked at further.
            Err(_) => {
                count(&undecided);
                let injective = times.iter().all(|&times| times == 1);
                if st.views().len() > 1 && !injective { Ok(()) } else { Err("that can be told".into()) }
            }
        }
    });
    let [same, unlike, undecided] = [same, unlike, undecided].map(|cell| cell.get());
    println!("{same} are read equally often, {unlike} are not, {undecided} are undecided");
    assert!(same > held(cases::QUERIES) / 4 && unlike > held(cases::QUERIES) / 100);
}

#[test]
fn valid_elements_and_runs_of_one_view_are_counted() {
    check(cases::QUERIES, Tape::earlier_view, |raw| {
        if raw.numel() > 1000 {
            return Ok(());
        }
        let (view, array) = (raw.view(), raw.array());
        let read: Vec<i64> = array.cells.iter().copied().flatten().collect();
        let breaks = read.windows(2).filter(|pair| pair[1] != pair[0] + 1).count();
        let runs = breaks + usize::from(!read.is_empty());
        match (view.valid_count(), view.run_count()) {
            found if found == (read.len() as i64, runs as i64) => Ok(()),
            found => Err(format!("{found:?}, and should be {} and {runs}", read.len())),
        }
    });
}

#[test]
fn addresses_of_large_views_are_counted_and_their_readers_found() {
    let broadcast = ShapeTracker::from(View::new([1 << 20, 1 << 20], [0, -1], (1 << 20) - 1, None).unwrap());
    let coverage = broadcast.coverage((1 << 20) - 6..(1 << 20) + 4, 10).unwrap();
    assert_eq!(coverage.reads()[..6], [1 << 20; 6]);
    assert_eq!(coverage.reads()[6..], [0; 4]);
    assert_eq!(coverage.distinct().unwrap(), [1, 1, 1, 1, 1, 1, 0, 0, 0, 0]);
    assert_eq!(
        broadcast.readers(5).take(1000).filter(|index| index.as_ref().unwrap()[1] == (1 << 20) - 6).count(),
        1000
    );

    // Row 123456, column 789012 of a matrix is element 789012123456 of its transpose.
    let st = ShapeTracker::contiguous([1_000_000, 1_000_000]).unwrap().permute([1, 0]).unwrap();
    let st = st.reshape([500_000, 2_000_000]).unwrap();
    let found: Vec<_> = st.readers(123_456_789_012).collect::<Result<_, _>>().unwrap();
    assert_eq!(found.len(), 1);
    assert_eq!(found[0][..], [394_506, 123_456]);

    // Memory that spans all of `i64`.
    let wide = ShapeTracker::from(View::new([3, 3], [i64::MAX - 1, 1], -i64::MAX, None).unwrap());
    let last = wide.readers(i64::MAX).next().unwrap_or_else(|| panic!("{wide:?}"));
    assert_eq!(last.unwrap()[..], [2, 2]);
    let coverage = wide.coverage(i64::MIN..i64::MAX, 2).unwrap();
    assert_eq!(coverage.reads(), [4, 4]);
}

/// Stacks of views of 10^12 elements: what is read is known from how they are made.
#[test]
fn coverage_of_large_stacks_is_exact() {
    const SIDE: i64 = 1_000_000;
    let columns = ShapeTracker::contiguous([SIDE, SIDE]).unwrap().permute([1, 0]).unwrap();
    let columns = columns.reshape([SIDE * SIDE]).unwrap();
    assert_eq!(columns.views().len(), 2);
    // A permutation: every address of every bucket, whatever their number, is read once.
    for (begin, end, buckets) in [(0, SIDE * SIDE, 4096), (0, SIDE * SIDE, 65_536), (123_456_789, 987_654_321_000, 777)]
    {
        let coverage = columns.coverage(begin..end, buckets).unwrap();
        let width = coverage.width() as i64;
        for (bucket, &reads) in (0..).zip(coverage.reads()) {
            assert_eq!(reads, width.min(end - begin - bucket * width), "{bucket} of {begin}..{end}");
        }
        assert_eq!(coverage.distinct().unwrap(), coverage.reads());
    }
    // So is one whose addresses fall apart into very many parts, since each of its views is one.
    let twice = ShapeTracker::contiguous([100_003, 100_019]).unwrap().permute([1, 0]).unwrap();
    let twice =
        twice.reshape([100_003, 100_019]).unwrap().permute([1, 0]).unwrap().reshape([100_003 * 100_019]).unwrap();
    assert_eq!(twice.views().len(), 3);
    let coverage = twice.coverage(0..twice.numel() + 1000, 1000).unwrap();
    let (last, others) = coverage.reads().split_last().unwrap();
    assert!(others.iter().all(|&reads| reads == coverage.width() as i64));
    assert_eq!(last + others.iter().sum::<i64>(), twice.numel());

    // Three columns and the first five elements of a fourth: each row of memory has three, the first five rows four.
    let some = columns.shrink([(0, 3 * SIDE + 5)]).unwrap();
    let coverage = some.coverage(0..10 * SIDE, 10).unwrap();
    assert_eq!((coverage.width(), coverage.reads()), (SIDE as u64, &[4, 4, 4, 4, 4, 3, 3, 3, 3, 3][..]));
    assert_eq!(coverage.distinct().unwrap(), coverage.reads());
    assert_eq!(some.coverage(0..4, 4).unwrap().reads(), [1; 4]);

    // Every element of a transposed matrix seven times, as one long list.
    let often = ShapeTracker::contiguous([10_000, 10_000, 1]).unwrap().permute([1, 0, 2]).unwrap();
    let often = often.expand([10_000, 10_000, 7]).unwrap().reshape([700_000_000]).unwrap();
    assert!(often.views().len() > 1);
    assert_eq!(often.nested_multiplicity(), Some(7));
    let coverage = often.coverage(0..100_000_000, 100).unwrap();
    assert_eq!((coverage.reads(), coverage.distinct().unwrap()), (&[7_000_000; 100][..], vec![1_000_000; 100]));
}

#[test]
fn a_search_that_would_take_too_long_ends_undecided() {
    // Which of 40 numbers add up to a given one: a sum that none makes up, though range and divisor allow it.
    let strides: Vec<i64> = (0..40).map(|k| 1_000_000_007 + 3 * k * k * k).collect();
    let st = ShapeTracker::from(View::new([2; 40], &strides, 0, None).unwrap());
    let middle: i64 = strides.iter().sum::<i64>() / 2 + 1;
    assert!(st.readers(middle).any(|reader| reader.is_err()));
    assert_eq!(st.readers(middle).filter(Result::is_err).count(), 1);
    assert!(st.coverage(0..middle, 1).is_err());
}

#[test]
fn numbers_at_the_ends_of_their_range_are_answered_right_or_not_at_all() {
    let [found, counted] = [0u32; 2].map(Cell::new);
    const CASES: u32 = 2_000;
    check(CASES, hostile_view, |raw| {
        let Ok(view) = View::new(&raw.shape, &raw.strides, raw.offset, raw.mask.as_deref()) else { return Ok(()) };
        let chain: Chain = format!("{view:?}").parse().map_err(|error| format!("{error}"))?;
        for &library in ArrayLibrary::ALL {
            // No array reads before its beginning.
            if chain.calls(library, None).is_ok() != view.address_range().is_none_or(|(low, _)| low >= 0) {
                return Err(format!("{library}: {:?}", chain.calls(library, None)));
            }
        }
        let st = ShapeTracker::from(view.clone());
        let shown = explain(&st, [-1]).map(|answer| answer.report(Some(ArrayLibrary::NumPy)).to_string());
        if shown.is_ok_and(|text| text.is_empty()) || view.run_count() > view.valid_count() {
            return Err("the report is empty, or there are more runs than elements".into());
        }
        let Some((low, high)) = view.address_range() else { return Ok(()) };
        for (address, is_read) in [(low, true), (high, true), (low / 2 + high / 2, false)] {
            let readers: Vec<_> = st.readers(address).take(3).collect();
            if is_read && readers.is_empty() {
                return Err(format!("{address} is an end of the range, and nobody reads it"));
            }
            for index in readers.into_iter().flatten() {
                found.set(found.get() + 1);
                if st.address(&index) != Some(address) {
                    return Err(format!("{index:?} does not read {address}"));
                }
            }
        }
        // A walk over millions of elements takes too long here.
        if !(1000..=1 << 24).contains(&view.numel())
            && let Ok(coverage) = st.coverage(low..high, 3)
        {
            counted.set(counted.get() + 1);
            let last = st.readers(high).take(1000).filter(Result::is_ok).count() as i64;
            let reads: i64 = coverage.reads().iter().sum();
            if reads + last > view.valid_count() {
                return Err(format!("{reads} and {last} reads of {} elements", view.valid_count()));
            }
        }
        Ok(())
    });
    println!("{} readers found, {} ranges counted", found.get(), counted.get());
    assert!(found.get() > held(CASES) / 5 && counted.get() > held(CASES) / 10);
}
