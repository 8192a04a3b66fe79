//! A stack of small views is what the definition says: one view exactly when one can do it, the same addresses in any
//! case; and two views merge, or there is a witness that holds.
//!
//! The judge walks all indices and shares nothing with the library but the accessors of a view.
#![no_main]

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;
use shapetracker::{ShapeTracker, UnitStep, Unmerged, View, Witness, merge};

/// The most elements of a view: the judge walks them all.
const MOST: i64 = 512;

#[derive(Arbitrary, Debug)]
struct Axis {
    size: u8,
    stride: i8,
    begin: u8,
    len: u8,
}

#[derive(Arbitrary, Debug)]
struct Raw {
    axes: Vec<Axis>,
    offset: i16,
    masked: bool,
}

#[derive(Arbitrary, Debug)]
struct Input {
    /// Whether the strides of a view are multiples of the innermost size of the view under it.
    stretch: bool,
    first: Raw,
    others: Vec<Raw>,
}

impl Raw {
    /// The view of these numbers, cut down to a small one.
    fn view(&self, stretch: i64, offset: impl Fn(i64, i64) -> i64) -> Option<View> {
        let axes = &self.axes[..self.axes.len().min(6)];
        let shape: Vec<i64> = axes.iter().map(|axis| i64::from(axis.size % 13)).collect();
        if shape.iter().product::<i64>() > MOST {
            return None;
        }
        let strides: Vec<i64> = axes.iter().map(|axis| i64::from(axis.stride) * stretch).collect();
        let range = |(axis, &size): (&Axis, &i64)| {
            let begin = i64::from(axis.begin) % (size + 1);
            (begin, begin + i64::from(axis.len) % (size - begin + 1))
        };
        let mask: Vec<(i64, i64)> = axes.iter().zip(&shape).map(range).collect();
        let mask = self.masked.then_some(&mask[..]);
        let at_zero = View::new(&shape, &strides, 0, mask).unwrap();
        let (low, high) = at_zero.address_range().unwrap_or((0, 0));
        Some(View::new(&shape, &strides, offset(low, high), mask).unwrap())
    }
}

/// Every index of a shape, in row-major order.
fn indices(shape: &[i64]) -> Vec<Vec<i64>> {
    shape.iter().fold(vec![vec![]], |prefixes, &size| {
        let longer = |prefix: &Vec<i64>, i| prefix.iter().copied().chain([i]).collect();
        prefixes.iter().flat_map(|prefix| (0..size).map(move |i| longer(prefix, i))).collect()
    })
}

/// What a view reads at an index, by the definition.
fn read(view: &View, index: &[i64]) -> Option<i64> {
    let mut address = view.offset();
    for (axis, &i) in index.iter().enumerate() {
        if view.mask().is_some_and(|mask| i < mask[axis].0 || i >= mask[axis].1) {
            return None;
        }
        address += i * view.strides()[axis];
    }
    (view.mask() != Some(&[])).then_some(address)
}

/// What a stack reads at an index, or `Err` when a view reads outside the one under it.
fn read_stack(views: &[View], index: &[i64]) -> Result<Option<i64>, ()> {
    let Some((last, under)) = views.split_last() else { return Ok(None) };
    let Some(mut position) = read(last, index) else { return Ok(None) };
    let Some(next) = under.last() else { return Ok(Some(position)) };
    if position < 0 || position >= next.shape().iter().product() {
        return Err(());
    }
    let mut inner: Vec<i64> = next.shape().to_vec();
    for digit in inner.iter_mut().rev() {
        (position, *digit) = (position / *digit, position % *digit);
    }
    read_stack(under, &inner)
}

/// The only candidate for a single view with these reads: the box around what is valid, strides from its first corner.
fn candidate(shape: &[i64], all: &[Vec<i64>], reads: &[Option<i64>]) -> View {
    let valid: Vec<&Vec<i64>> = all.iter().zip(reads).filter(|(_, read)| read.is_some()).map(|(i, _)| i).collect();
    let ends = |axis: usize| {
        let on_axis = || valid.iter().map(|index| index[axis]);
        (on_axis().min().unwrap_or(0), on_axis().max().map_or(0, |last| last + 1))
    };
    let mask: Vec<(i64, i64)> = (0..shape.len()).map(ends).collect();
    let first: Vec<i64> = mask.iter().map(|range| range.0).collect();
    let at = |index: &[i64]| all.iter().position(|other| other == index).and_then(|place| reads[place]);
    let Some(origin) = at(&first) else {
        // Nothing is valid, or the first corner is not: then no box fits, and the comparison with the reads will tell.
        return View::new(shape, vec![0; shape.len()], 0, Some(&vec![(0, 0); shape.len()])).unwrap();
    };
    let mut offset = origin;
    let mut strides = vec![0; shape.len()];
    for axis in 0..shape.len() {
        let mut next = first.clone();
        next[axis] += 1;
        if next[axis] < mask[axis].1
            && let Some(address) = at(&next)
        {
            strides[axis] = address - origin;
            offset -= strides[axis] * first[axis];
        }
    }
    View::new(shape, strides, offset, (!mask.is_empty()).then_some(&mask[..])).unwrap()
}

fuzz_target!(|input: Input| {
    let Some(first) = input.first.view(1, |_, _| i64::from(input.first.offset)) else { return };
    let mut views = vec![first];
    for raw in input.others.iter().take(3) {
        let under = &views[views.len() - 1];
        let numel: i64 = under.shape().iter().product();
        let innermost = under.shape().last().copied().unwrap_or(1).max(1);
        // Most random views do not fit; an offset that makes them fit if any does finds more.
        let fitting = |low: i64, high: i64| {
            let room = numel - 1 - (high - low);
            let offset = i64::from(raw.offset);
            if room >= 0 { offset.rem_euclid(room + 1) - low } else { offset }
        };
        let Some(view) = raw.view(if input.stretch { innermost } else { 1 }, fitting) else { return };
        views.push(view);
    }
    let shape = views[views.len() - 1].shape();
    let shown: Vec<String> = views.iter().rev().map(View::to_string).collect();
    let shown = shown.join(" over ");

    // A view that reads outside the one under it is refused, wherever it is.
    let fits = |pair: &[View]| indices(pair[1].shape()).iter().all(|index| read_stack(pair, index).is_ok());
    let stack = ShapeTracker::from_views(views.iter().cloned());
    if !views.windows(2).all(fits) {
        assert!(stack.is_err(), "{shown}");
        if let [earlier, later] = &views[..] {
            assert!(matches!(merge(earlier, later), Err(Unmerged::Error(_))), "{shown}");
        }
        return;
    }
    let all = indices(shape);
    let reads: Vec<Option<i64>> = all.iter().map(|index| read_stack(&views, index).unwrap()).collect();
    let candidate = candidate(shape, &all, &reads);
    let mergeable = all.iter().zip(&reads).all(|(index, expected)| read(&candidate, index) == *expected);

    let stack = stack.unwrap();
    assert!(stack.addresses().eq(reads.iter().copied()), "{shown}: {stack}");
    assert!(stack.views().len() <= views.len(), "{shown}: {stack}");
    // A tracker asks `single_view` with little patience, so that a stack of three may be taller than it need be.
    assert!(stack.as_view().is_none_or(|view| *view == candidate), "{shown}: {stack}, not {candidate}");

    let at = |index: &[i64]| all.iter().position(|other| other == index).and_then(|place| reads[place]);
    let result = match &views[..] {
        [earlier, later] => merge(earlier, later),
        _ => stack.single_view(),
    };
    match result {
        Ok(view) => assert!(mergeable && view == candidate, "{shown}: {view}, not {candidate}"),
        Err(Unmerged::Witness(witness)) => {
            assert!(!mergeable, "{shown}: {candidate}, but {witness}");
            match &witness {
                Witness::UnevenStep { axis, steps } => {
                    let moved = steps.each_ref().map(|UnitStep { index, from, to, .. }| {
                        let mut next = index.to_vec();
                        next[*axis] += 1;
                        assert_eq!((at(index), at(&next)), (Some(*from), Some(*to)), "{shown}: {witness}");
                        to - from
                    });
                    assert_ne!(moved[0], moved[1], "{shown}: {witness}");
                }
                Witness::NotABox { valid: [a, b], invalid } => {
                    assert!(at(a).is_some() && at(b).is_some() && at(invalid).is_none(), "{shown}: {witness}");
                    let between = |axis: usize| {
                        let (low, high) = (a[axis].min(b[axis]), a[axis].max(b[axis]));
                        (low..=high).contains(&invalid[axis])
                    };
                    assert!(invalid.len() == shape.len() && (0..shape.len()).all(between), "{shown}: {witness}");
                }
                other => panic!("{shown}: no check knows {other:?}"),
            }
        }
        other => panic!("{shown}: {other:?}"),
    }
});
