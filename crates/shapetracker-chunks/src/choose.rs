//! An output grid, where it is free.
//!
//! Along each axis of the output there are places at which it leaves one input chunk and comes to the next. Chunks that
//! end there are made of whole input chunks, where those are boxes of the output at all. They are the first choice, and are
//! joined or divided along one axis after the other until they have about the size that is asked for: each time along the axis
//! for which a few output chunks, taken from all over the array, touch the fewest input chunks. The inside of a window is not cut
//! while anything else can be: what follows mostly goes through windows one by one.

use std::collections::BTreeMap;

use shapetracker::{Dims, Ranges, ShapeTracker, scattered};

use crate::grid::Sizes;
use crate::{ChunkPlan, Error, Grid};

/// An output grid of chunks of at most so many elements, or about as many, with few touches: where whole input chunks become
/// boxes of the output, the chunks are made of those boxes. It may be uneven; Zarr takes that of [`choose_regular_output`].
///
/// The choice is a heuristic, and what is planned with it is exact. It takes some milliseconds.
///
/// ```
/// use shapetracker::ShapeTracker;
/// use shapetracker_chunks::{Grid, choose_output};
///
/// let layout = ShapeTracker::contiguous([8, 6])?.permute([1, 0])?;
/// let output = choose_output(&layout, &Grid::regular([8, 6], [2, 3])?, 6)?;
/// assert_eq!(output, Grid::regular([6, 8], [3, 2])?);
///
/// let uneven = Grid::new([vec![5, 1, 2], vec![6]])?;
/// assert_eq!(choose_output(&layout, &uneven, 30)?, Grid::new([vec![6], vec![5, 1, 2]])?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// A tracker that reads past the input.
pub fn choose_output(tracker: &ShapeTracker, input: &Grid, target_elements: i64) -> Result<Grid, Error> {
    choose(tracker, input, target_elements, target_elements, &[], false)
}

/// [`choose_output`] with chunks of one shape, but for shorter ones at the ends of axes.
///
/// ```
/// use shapetracker::ShapeTracker;
/// use shapetracker_chunks::{Grid, choose_regular_output};
///
/// let turned = ShapeTracker::contiguous([10])?.flip([0])?;
/// let output = choose_regular_output(&turned, &Grid::regular([10], [4])?, 4)?;
/// assert_eq!(output.regular_chunk().as_deref(), Some(&[4][..]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// A tracker that reads past the input.
pub fn choose_regular_output(tracker: &ShapeTracker, input: &Grid, target_elements: i64) -> Result<Grid, Error> {
    choose(tracker, input, target_elements, target_elements, &[], true)
}

/// [`choose_output`], or with `regular` [`choose_regular_output`], where some axes are cut already: for each axis the sizes of its
/// chunks, in order, or none where they are to be chosen. Chunks may have `most_elements` where windows that overlap would have to be
/// cut otherwise.
///
/// ```
/// use shapetracker::ShapeTracker;
/// use shapetracker_chunks::{Grid, choose_output_around};
///
/// let matrix = ShapeTracker::contiguous([8, 6])?;
/// let input = Grid::regular([8, 6], [2, 3])?;
/// let output = choose_output_around(&matrix, &input, 12, 12, &[None, Some(vec![6])], false)?;
/// assert_eq!(output, Grid::regular([8, 6], [2, 6])?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// A tracker that reads past the input; sizes that do not add up to that of their axis; too few or too many lists.
pub fn choose_output_around(
    tracker: &ShapeTracker,
    input: &Grid,
    target_elements: i64,
    most_elements: i64,
    given: &[Option<Vec<i64>>],
    regular: bool,
) -> Result<Grid, Error> {
    let whole = |(axis, sizes): (usize, &Option<Vec<i64>>)| {
        sizes
            .clone()
            .unwrap_or_else(|| tracker.shape().get(axis).copied().into_iter().filter(|size| *size > 0).collect())
    };
    // What is given tiles the tracker's tensor: a plan for it says so.
    ChunkPlan::new(tracker, input.clone(), Grid::new(given.iter().enumerate().map(whole))?)?;
    choose(tracker, input, target_elements, most_elements, given, regular)
}

/// The most chunks along an axis that are found one by one.
const MOST_LISTED: usize = 256;

/// How many output chunks are looked at to compare two grids, and the most steps from the first grid to the last.
const SAMPLES: usize = 6;
const MOST_STEPS: usize = 128;

fn choose(
    tracker: &ShapeTracker,
    input: &Grid,
    target: i64,
    most: i64,
    given: &[Option<Vec<i64>>],
    regular: bool,
) -> Result<Grid, Error> {
    let shape = tracker.shape();
    let plan = ChunkPlan::new(tracker, input.clone(), Grid::whole(shape)?)?;
    let target = i128::from(target.max(1));
    let given = |axis: usize| given.get(axis).and_then(Option::as_ref).map(|sizes| Sizes::Listed(sizes.clone()));
    let Some(element) = plan.some_element() else {
        // Nothing is read: any grid will do.
        let known: i128 = (0..shape.len()).filter_map(|axis| Some(largest(&given(axis)?, shape[axis]))).product();
        let mut rest = (target / known.max(1)).max(1);
        let sizes = (0..shape.len()).rev().map(|axis| {
            given(axis).unwrap_or_else(|| {
                let chunk = i128::from(shape[axis]).clamp(1, rest);
                rest /= chunk;
                Sizes::Even(chunk as i64)
            })
        });
        let mut sizes: Vec<Sizes> = sizes.collect();
        sizes.reverse();
        return Grid::of_sizes(shape, sizes);
    };
    let windows = windows(tracker, &element);
    let sizes: Vec<Sizes> = (0..shape.len())
        .map(|axis| match given(axis) {
            Some(sizes) => sizes,
            None if windows[axis] => Sizes::Even(shape[axis]),
            None => natural(&plan, &element, axis, regular),
        })
        .collect();
    let free: Vec<bool> = (0..shape.len()).map(|axis| given(axis).is_none()).collect();
    let score = |sizes: &[Sizes]| -> Option<usize> {
        let grid = Grid::of_sizes(shape, sizes.to_vec()).ok()?;
        let samples = scattered(grid.len() as i64).take(SAMPLES);
        samples.map(|number| plan.count_quickly(&grid.chunk(number as usize).ok()?)).sum()
    };
    // What a grid costs: how often input chunks are touched, of which only the order counts.
    let touches = |sizes: &[Sizes]| score(sizes).map_or(f64::INFINITY, |touches| touches as f64) * chunks(shape, sizes);
    let divide = |whole: &[bool], target: i128| divided_further(shape, &sizes, &free, whole, target, score);
    let mut divided = divide(&vec![false; shape.len()], target);
    if windows.contains(&true) {
        // Where input chunks are small, small chunks of windows that are whole touch too many of them to be worth while. Large ones
        // touch no more than windows in pieces.
        let limit = 4.0 * touches(&divided);
        let mut uncut = [target, i128::from(most).max(target)].into_iter().map(|target| divide(&windows, target));
        divided = uncut.find(|sizes| touches(sizes) <= limit).unwrap_or(divided);
    }
    let sizes = joined_further(shape, divided, &free, target, score);
    Grid::of_sizes(shape, sizes)
}

/// Chunks divided where they are far above the size that is asked for: a little more than it is no reason to leave the ends of
/// input chunks. Axes that are to be `whole` are divided when nothing else is left.
fn divided_further(
    shape: &[i64],
    sizes: &[Sizes],
    free: &[bool],
    whole: &[bool],
    target: i128,
    score: impl Fn(&[Sizes]) -> Option<usize>,
) -> Vec<Sizes> {
    let mut sizes = sizes.to_vec();
    for _ in 0..MOST_STEPS {
        if 4 * volume(shape, &sizes) <= 5 * target {
            break;
        }
        let changed = (0..shape.len()).filter(|axis| free[*axis]).filter_map(|axis| {
            let mut changed = sizes.clone();
            changed[axis] = divided(&sizes[axis])?;
            Some((axis, changed))
        });
        let scored =
            changed.map(|(axis, changed)| ((whole[axis], score(&changed).unwrap_or(usize::MAX), axis), changed));
        let Some((_, best)) = scored.min_by_key(|(order, _)| *order) else { break };
        sizes = best;
    }
    sizes
}

/// How many readers of an element are looked at.
const MOST_READERS: usize = 1 << 12;

/// Which axes are the insides of windows that overlap.
///
/// What a window has, its neighbours have at other places: the elements that read one address differ in the index of a window
/// together with the index inside of it, and step for step. Such a line of readers ends where the inside of the window does,
/// while there are windows before and after. So of two axes along which readers differ together the inner one is that whose
/// partner is at neither end; near the margins, where both are at an end, the shorter one. Elements are taken from all over the
/// tensor, beside one that is known to be valid.
fn windows(tracker: &ShapeTracker, element: &[i64]) -> Vec<bool> {
    let shape = tracker.shape();
    let mut found = vec![false; shape.len()];
    let spread = |part: i64| shape.iter().map(move |size| size / 2 + part * (size / 8)).collect::<Dims>();
    for index in [spread(0), spread(-1), spread(1), Dims::from(element)] {
        let Some(address) = tracker.address(&index) else { continue };
        // For each two axes in which a reader differs, and in no other, the lowest and the highest index along both.
        let mut lines: BTreeMap<(usize, usize), [(i64, i64); 2]> = BTreeMap::new();
        for reader in tracker.readers(address).take(MOST_READERS) {
            let Ok(reader) = reader else { break };
            let differing = (0..shape.len()).filter(|axis| reader[*axis] != index[*axis]);
            let [a, b] = differing.collect::<Vec<_>>()[..] else { continue };
            let ends = lines.entry((a, b)).or_insert([a, b].map(|axis| (index[axis], index[axis])));
            for (end, axis) in ends.iter_mut().zip([a, b]) {
                *end = (end.0.min(reader[axis]), end.1.max(reader[axis]));
            }
        }
        for ((a, b), ends) in lines {
            let inside = |axis: usize, (low, high): (i64, i64)| low > 0 && high < shape[axis] - 1;
            let inner = match (inside(a, ends[0]), inside(b, ends[1])) {
                (true, false) => Some(b),
                (false, true) => Some(a),
                (false, false) if shape[a] != shape[b] => Some(if shape[a] < shape[b] { a } else { b }),
                _ => None,
            };
            if let Some(axis) = inner {
                found[axis] = true;
            }
        }
    }
    found
}

/// The most grids that are looked at for each number of times that chunks were joined.
const BEAM: usize = 24;

/// Chunks that are too small, joined along one axis after the other.
///
/// The axis along which joining costs least at first may lead nowhere: to take a whole input chunk, whose elements lie in many
/// runs, chunks must grow along an axis that brings nothing until it has grown far. So the best grids of each size are all
/// followed. Of those seen, the one is taken that has the fewest touches in all, where chunks of n times the size that is
/// asked for must have touches fewer by the square root of n, and n is at most 4.
fn joined_further(
    shape: &[i64],
    sizes: Vec<Sizes>,
    free: &[bool],
    target: i128,
    score: impl Fn(&[Sizes]) -> Option<usize>,
) -> Vec<Sizes> {
    // What a grid costs: an estimate, of which only the order counts.
    let cost = |sizes: &[Sizes]| -> f64 {
        let touches = score(sizes).map_or(f64::INFINITY, |touches| touches as f64 / SAMPLES as f64);
        touches * chunks(shape, sizes) * (volume(shape, sizes) as f64 / target as f64).max(1.0).sqrt()
    };
    let mut best = (cost(&sizes), sizes.clone());
    // Each with how often its chunks were joined along each axis, which says what it is.
    let mut grids = vec![(best.0, vec![0u32; shape.len()], sizes)];
    for _ in 0..MOST_STEPS {
        let mut next: Vec<(f64, Vec<u32>, Vec<Sizes>)> = Vec::new();
        for (_, times, sizes) in &grids {
            // Inner axes first: of grids that cost the same, the one with longer rows is found first.
            for axis in (0..shape.len()).rev().filter(|axis| free[*axis]) {
                let mut times = times.clone();
                times[axis] += 1;
                if next.iter().any(|(_, other, _)| *other == times) {
                    continue;
                }
                let Some(longer) = joined(&sizes[axis], shape[axis]) else { continue };
                let mut sizes = sizes.clone();
                sizes[axis] = longer;
                if volume(shape, &sizes) <= 4 * target {
                    next.push((cost(&sizes), times, sizes));
                }
            }
        }
        next.sort_by(|(a, ..), (b, ..)| a.total_cmp(b));
        next.truncate(BEAM);
        // Up to the size that is asked for, larger chunks are better if they cost no more. Above it they must cost less by a
        // margin, for costs are estimates.
        if let Some((cost, _, sizes)) = next.first()
            && *cost <= best.0 * if volume(shape, sizes) <= target { 1.001 } else { 0.99 }
        {
            best = (*cost, sizes.clone());
        }
        if next.is_empty() {
            break;
        }
        grids = next;
    }
    best.1
}

/// How many chunks there are.
fn chunks(shape: &[i64], sizes: &[Sizes]) -> f64 {
    sizes.iter().zip(shape).map(|(sizes, length)| count(sizes, *length) as f64).product()
}

/// How many chunks there are along an axis.
fn count(sizes: &Sizes, length: i64) -> usize {
    match sizes {
        Sizes::Even(size) => (length / size + i64::from(length % size > 0)) as usize,
        Sizes::Listed(list) => list.len(),
    }
}

/// The elements of the largest chunk.
fn volume(shape: &[i64], sizes: &[Sizes]) -> i128 {
    // Each is at most the length of its axis, whose product is an `i64`.
    sizes.iter().zip(shape).map(|(sizes, length)| largest(sizes, *length)).product()
}

/// The size of the largest chunk along an axis.
fn largest(sizes: &Sizes, length: i64) -> i128 {
    match sizes {
        Sizes::Even(size) => (*size).min(length).into(),
        Sizes::Listed(list) => list.iter().copied().max().unwrap_or(1).into(),
    }
}

/// Chunks of twice the size: each two neighbours are one.
fn joined(sizes: &Sizes, length: i64) -> Option<Sizes> {
    match sizes {
        Sizes::Even(size) if *size < length => Some(Sizes::Even(size.saturating_mul(2).min(length))),
        Sizes::Listed(list) if list.len() > 1 => {
            Some(Sizes::Listed(list.chunks(2).map(|two| two.iter().sum()).collect()))
        }
        _ => None,
    }
}

/// Smaller chunks: each one is divided, evenly where that is possible.
fn divided(sizes: &Sizes) -> Option<Sizes> {
    let parts = |size: i64| [2, 3, 5, 7].into_iter().find(|parts| size % parts == 0).unwrap_or(2);
    match sizes {
        Sizes::Even(1) => None,
        Sizes::Even(size) => Some(Sizes::Even((size + parts(*size) - 1) / parts(*size))),
        Sizes::Listed(list) if list.iter().all(|size| *size == 1) || list.len() > 1 << 20 => None,
        Sizes::Listed(list) => {
            let halves = list.iter().flat_map(|size| [size / 2, size - size / 2]);
            Some(Sizes::Listed(halves.filter(|size| *size > 0).collect()))
        }
    }
}

/// The sizes along an axis between places at which an input chunk ends, on the line through an element: each as long as no second
/// chunk is touched.
fn natural(plan: &ChunkPlan, element: &Dims, axis: usize, regular: bool) -> Sizes {
    let length = plan.tracker().shape()[axis];
    let one = |begin: i64, end: i64| {
        let mut line: Ranges = element.iter().map(|at| (*at, at + 1)).collect();
        line[axis] = (begin, end);
        plan.count_quickly(&line).is_some_and(|count| count <= 1)
    };
    let mut list: Vec<i64> = Vec::new();
    let mut begin = 0;
    while begin < length && list.len() < MOST_LISTED {
        // The end is past `known`, and not past `limit`: first by doubling, then by halving.
        let (mut known, mut reach) = (begin + 1, 1i64);
        let mut limit = loop {
            let end = begin.saturating_add(reach.saturating_mul(2)).min(length);
            if !one(begin, end) {
                break end;
            }
            known = end;
            if end == length {
                break end;
            }
            reach = reach.saturating_mul(2);
        };
        while known + 1 < limit {
            let middle = known + (limit - known) / 2;
            if one(begin, middle) { known = middle } else { limit = middle }
        }
        list.push(known - begin);
        begin = known;
    }
    let largest = list.iter().copied().max().unwrap_or(1);
    let alike =
        list.split_last().is_none_or(|(last, others)| others.iter().all(|size| *size == largest) && *last <= largest);
    if alike || regular || begin < length { Sizes::Even(largest) } else { Sizes::Listed(list) }
}
