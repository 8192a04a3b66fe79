//! What a plan writes, checked when it is made: reading writes every element of the tensor, and no two threads ever write
//! to the same place.
//!
//! The planner (`pieces`, `form`, `nest`, `mover`) decides where a tensor is cut and in which order its loops run, and it
//! relies on the library's merger and index expressions. Nothing here relies on any of them. A [`Region`] is a set of
//! elements that exists only as a part of a whole tensor, so regions are disjoint by construction; [`Reading`] compares the
//! loops of every nest with its region and counts the regions' elements; and [`Writing`] gives to several threads only
//! loops whose strides show that different indices lie at different places. A mistake of the planner is a panic when the
//! plan is made, or wrong data, but never memory without a value and never a data race.

pub(crate) mod region;

use std::mem::MaybeUninit;

use shapetracker::AddressRun;
use shapetracker::expr::Term;
use smallvec::SmallVec;

use crate::join::{continues, joined};
use crate::kernels::{Few, Output, Tuning};
use crate::memory;
use crate::mover::{Axis, Inner, Mover};
use crate::nest::{Decided, Direction, Nest, steps_within};
use crate::run::{Run, SMALL, STREAM, chunk_of};
use crate::walk::Walk;
use crate::{Error, Threads};
use region::{Extent, Region};

/// How all elements of a tensor are moved.
#[derive(Clone, Debug)]
pub(crate) enum Planned<Part> {
    /// By the loops for each of its regions.
    Parts(Vec<Part>),
    /// One after the other.
    Walk(Walk),
}

/// Loops that write every element of a tensor, and each of its places by one thread.
#[derive(Clone, Debug)]
pub(crate) struct Reading {
    loops: Planned<Nest>,
    /// The same precomputed, for a tensor of few elements.
    few: Option<Few>,
    numel: i64,
    width: usize,
    /// Bytes of the tensor, if a slice can have so many.
    bytes: Option<usize>,
}

impl Reading {
    /// The loops of a plan for a shape: `plan` takes the whole tensor, if that has elements, and returns regions of it with
    /// the loops that write them.
    ///
    /// # Panics
    /// If the regions are not all of the tensor, or loops do not write exactly their region.
    pub(crate) fn new(
        shape: &[i64],
        width: usize,
        plan: impl FnOnce(Region) -> Result<Planned<(Region, Nest)>, Error>,
    ) -> Result<Reading, Error> {
        let whole = Region::whole(shape);
        let numel = whole.as_ref().map_or(0, Region::numel);
        let bytes = usize::try_from(numel).ok().and_then(|numel| numel.checked_mul(width));
        let parts = match whole.map_or_else(|| Ok(Planned::Parts(Vec::new())), plan)? {
            Planned::Parts(parts) => parts,
            Planned::Walk(walk) => {
                assert!(walk.width == width && walk.direction == Direction::Read, "a walk for something else");
                return Ok(Reading { loops: Planned::Walk(walk), few: None, numel, width, bytes });
            }
        };
        // The regions are disjoint and lie in the tensor. As many elements as it has are therefore all of them.
        let planned: i64 = parts.iter().map(|(region, _)| region.numel()).sum();
        assert_eq!(planned, numel, "a plan leaves out a part of the tensor");
        for (region, nest) in &parts {
            assert!(nest.width == width && nest.direction == Direction::Read, "loops for something else");
            check_loops(nest);
            check_region(nest, region);
        }
        let nests: Vec<Nest> = parts.into_iter().map(|(_, nest)| nest).collect();
        let few = match (&nests[..], bytes) {
            ([nest], Some(bytes)) if bytes <= SMALL => nest.few(bytes),
            _ => None,
        };
        Ok(Reading { loops: Planned::Parts(nests), few, numel, width, bytes })
    }

    /// Lists the elements of a tensor of few elements, so that no loops are set up for them; `runs` are all its elements in
    /// row-major order.
    pub(crate) fn list(&mut self, runs: impl Iterator<Item = AddressRun>) {
        let (most, bytes) = Few::MOST;
        // Fewer still are moved one by one sooner than a block is turned over.
        let blocks = self.few.as_ref().is_some_and(|few| few.is_run() || self.numel > most / 2);
        if !blocks && (1..=most).contains(&self.numel) && self.bytes.is_some_and(|all| all <= bytes) {
            self.few = Few::listed(runs, self.numel, self.width).or(self.few.take());
        }
    }

    /// Bytes of the tensor, if a slice can have so many.
    #[inline]
    pub(crate) fn bytes(&self) -> Option<usize> {
        self.bytes
    }

    /// How many elements the tensor has.
    pub(crate) fn numel(&self) -> i64 {
        self.numel
    }

    pub(crate) fn loops(&self) -> &Planned<Nest> {
        &self.loops
    }

    /// The ways to write that may make a difference: none for a tensor that is not large.
    pub(crate) fn tunings(&self) -> impl Iterator<Item = Tuning> {
        let large = self.bytes.is_some_and(|bytes| bytes > STREAM);
        Tuning::all(self.has_tiles()).filter(move |_| large)
    }

    /// Whether some of its tiles are transposed in registers.
    fn has_tiles(&self) -> bool {
        let Planned::Parts(nests) = &self.loops else { return false };
        nests.iter().any(|nest| {
            let staged = || nest.stage.as_ref().is_some_and(|stage| stage.has_tiles());
            matches!(&nest.mover.inner, Inner::Tiles(tiles) if tiles.turned) || staged()
        })
    }

    /// Reads a tensor; `fresh` says that nobody has written to its memory yet.
    ///
    /// # Panics
    /// If the tensor or the fill value has another length than planned, and if an address lies outside the source.
    #[allow(unsafe_code)]
    pub(crate) fn run<'a>(
        &self,
        source: &[u8],
        tensor: &'a mut [MaybeUninit<u8>],
        fill: &[u8],
        fresh: bool,
        tuning: Tuning,
        threads: &Threads,
    ) -> &'a mut [u8] {
        let bytes = tensor.len();
        assert!(Some(bytes) == self.bytes && fill.len() == self.width, "slices of other lengths than planned");
        match &self.few {
            // SAFETY: the output is borrowed for as long as this runs.
            Some(few) => unsafe { few.run(source, Output::new(tensor), fill) },
            None => self.move_all(&Run::new(source, tensor, Some(fill), fresh, tuning), bytes, threads),
        }
        // SAFETY: few elements are all written, in a box that is compared with its region (`check_region`) or one after another;
        // with a fill value a nest writes at each of its indices, with data or without; the nests' indices are those
        // of their regions, and the regions are all of the tensor (`Reading::new`). A walk writes so many elements, one after
        // the other, or panics.
        unsafe { &mut *(std::ptr::from_mut(tensor) as *mut [u8]) }
    }

    /// Reads a tensor over one that has values, which stay where there is no data.
    ///
    /// # Panics
    /// If the tensor has another length than planned, and if an address lies outside the source.
    #[allow(unsafe_code)]
    pub(crate) fn run_over(&self, source: &[u8], tensor: &mut [u8], tuning: Tuning, threads: &Threads) {
        let bytes = tensor.len();
        assert!(Some(bytes) == self.bytes, "a slice of another length than planned");
        // SAFETY: all that is written comes from `source`, and has values.
        let room = unsafe { memory::room_of_bytes(tensor) };
        self.move_all(&Run::new(source, room, None, false, tuning), bytes, threads);
    }

    /// Moves into an output of so many bytes, which are the tensor's.
    #[allow(unsafe_code)]
    fn move_all(&self, run: &Run, bytes: usize, threads: &Threads) {
        match &self.loops {
            Planned::Parts(nests) => {
                let mut rest = &nests[..];
                while let Some((first, others)) = rest.split_first() {
                    let staged = rest.iter().take_while(|nest| nest.stage.is_some()).count();
                    if staged == 0 {
                        // SAFETY: the indices of its loops are those of a region, in which each is another element
                        // (`check_region`), and the output is borrowed for as long as this runs.
                        unsafe { first.run(run, threads, bytes) };
                        rest = others;
                        continue;
                    }
                    let (now, later) = rest.split_at(staged);
                    let time = || now.iter().map(Nest::time).sum();
                    let chunks = if threads.are_worth(time) { threads.count().min(staged) } else { 1 };
                    threads.share(chunks, |chunk| self.move_staged(&now[chunk_of(staged, chunk, chunks)], run));
                    rest = later;
                }
            }
            // SAFETY: the output is borrowed for as long as this runs.
            Planned::Walk(walk) => unsafe { walk.run(run, bytes / self.width, threads) },
        }
    }

    /// Moves some parts of the output through a stage, on one thread.
    #[allow(unsafe_code)]
    fn move_staged(&self, nests: &[Nest], run: &Run) {
        // Nothing is masked under a stage.
        let (mut stage, fill, one) = (Vec::<u8>::new(), vec![0; self.width], Threads::one());
        for nest in nests {
            let Some(reading) = &nest.stage else { continue };
            let bytes = reading.numel as usize * self.width;
            stage.reserve_exact(bytes);
            let filled =
                reading.run(run.source(), &mut stage.spare_capacity_mut()[..bytes], &fill, false, run.tuning(), &one);
            // SAFETY: as for the nests without a stage; each has a region of its own.
            unsafe { nest.run(&run.from(filled), &one, bytes) };
        }
    }
}

/// Loops that write through a tracker, each place by one thread.
#[derive(Clone, Debug)]
pub(crate) struct Writing {
    /// The loops, and whether several threads may share them.
    loops: Planned<(Nest, bool)>,
    numel: usize,
}

impl Writing {
    /// The loops of a plan for a shape, as for [`Reading::new`]; regions that have no data need no loops.
    ///
    /// # Panics
    /// If loops contradict themselves.
    pub(crate) fn new(
        shape: &[i64],
        plan: impl FnOnce(Region) -> Result<Planned<(Region, Nest)>, Error>,
    ) -> Result<Writing, Error> {
        let whole = Region::whole(shape);
        let numel = whole.as_ref().map_or(0, Region::numel) as usize;
        let parts = match whole.map_or_else(|| Ok(Planned::Parts(Vec::new())), plan)? {
            Planned::Parts(parts) => parts,
            Planned::Walk(walk) => {
                assert!(walk.direction == Direction::Write, "a walk for something else");
                return Ok(Writing { loops: Planned::Walk(walk), numel });
            }
        };
        let with_sharing = |(_, nest): (Region, Nest)| {
            assert!(nest.direction == Direction::Write, "loops for something else");
            check_loops(&nest);
            let shared = is_separate(&nest);
            (nest, shared)
        };
        Ok(Writing { loops: Planned::Parts(parts.into_iter().map(with_sharing).collect()), numel })
    }

    /// Whether several threads may share all loops.
    #[cfg(test)]
    pub(crate) fn is_shared(&self) -> bool {
        match &self.loops {
            Planned::Parts(nests) => nests.iter().all(|(_, shared)| *shared),
            Planned::Walk(_) => false,
        }
    }

    /// Writes a tensor into a buffer.
    ///
    /// # Panics
    /// If an address lies outside a slice.
    #[allow(unsafe_code)]
    pub(crate) fn run(&self, tensor: &[u8], buffer: &mut [u8], threads: &Threads) {
        // SAFETY: all that is written comes from `tensor`, and has values.
        let room = unsafe { memory::room_of_bytes(buffer) };
        let run = Run::new(tensor, room, None, false, Tuning::default());
        match &self.loops {
            Planned::Parts(nests) => {
                for (nest, shared) in nests {
                    let threads = if *shared { threads } else { &Threads::one() };
                    // SAFETY: the nest is separate, or there is one thread.
                    unsafe { nest.run(&run, threads, tensor.len()) };
                }
            }
            // SAFETY: the buffer is borrowed for as long as this runs.
            Planned::Walk(walk) => unsafe { walk.run(&run, self.numel, threads) },
        }
    }
}

/// A loop of the written side: how often, and how far each step goes, in bytes.
type Written = (i64, i64);

/// The stepwise loops outside of a nest; the one that leaps is an axis of the mover.
fn stepwise(nest: &Nest) -> &[(usize, Extent)] {
    &nest.outside[..nest.outside.len() - usize::from(nest.leaps)]
}

/// The axes of a mover where they are written, as they are before any are flipped, and the elements of its unit.
fn written(mover: &Mover, width: usize) -> SmallVec<[Written; 8]> {
    let unit = ((mover.unit / width) as i64, width as i64);
    let axis = |axis: &Axis| (axis.count as i64, if axis.flipped { -axis.to } else { axis.to } as i64);
    mover.axes().map(axis).chain([unit]).collect()
}

/// Loops over the same places in one form: without those of one step, the widest first, neighbours joined.
fn normal(loops: impl IntoIterator<Item = Written>) -> SmallVec<[Written; 8]> {
    let mut loops: SmallVec<[Written; 8]> = loops.into_iter().filter(|(count, _)| *count != 1).collect();
    loops.sort_unstable_by_key(|(_, stride)| std::cmp::Reverse(stride.unsigned_abs()));
    joined(loops, |(outer, stride), (count, step)| {
        continues(stride, count, step).then(|| (outer.checked_mul(count).expect("loops end"), step))
    })
}

/// Panics if loops do not go over their spans, so that leaps or ranges would leave something out or meet it twice.
fn check_loops(nest: &Nest) {
    for mover in nest.margins.iter().chain([&nest.mover]) {
        for axis in mover.axes() {
            let whole = axis.span.is_none_or(|span| nest.spans.get(span) == Some(&axis.count));
            assert!(whole, "a span has another length than its axis");
        }
        // Leaps hand one part of an axis after another to whatever has their span: that must be one axis, the leaping one.
        let mut leaping = mover.axes().filter(|axis| axis.span == Some(nest.leap_span));
        if let (true, Some((_, extent))) = (nest.leaps, nest.outside.last()) {
            let one = leaping.next().is_some_and(|axis| axis.count as i64 == extent.count);
            assert!(one && leaping.next().is_none(), "leaps do not go along one axis");
        }
    }
    // A leap is moved or filled as a whole.
    let ranges = nest.decided.iter().filter_map(|condition| condition.along);
    let on_leaps = ranges.filter(|(span, _)| nest.leaps && *span == nest.leap_span).count();
    assert_eq!(on_leaps, 0, "a leap has a range");
    if let Some(axis) = &nest.single {
        let single = normal([(axis.count as i64, axis.to as i64), (1, nest.width as i64)]);
        let same =
            single == normal(written(&nest.mover, nest.width)) && axis.span == Some(nest.leap_span) && nest.leaps;
        let whole = |stride: isize| stride.unsigned_abs().is_multiple_of(nest.width);
        assert!(same && whole(axis.from) && whole(axis.to), "two ways to move along an axis differ");
    }
}

/// Panics unless the indices of loops are the elements of a region, and all of them are written, with data or without.
fn check_region(nest: &Nest, region: &Region) {
    assert_eq!(nest.start, region.start(), "loops begin elsewhere than their region");
    let bytes = |elements: i64| elements.checked_mul(nest.width as i64).expect("bytes can be counted");
    let extents = |extents: &[Extent]| -> SmallVec<[Written; 8]> {
        extents.iter().map(|extent| (extent.count, bytes(extent.stride))).collect()
    };
    let outside: SmallVec<[Extent; 4]> = stepwise(nest).iter().map(|(_, extent)| *extent).collect();
    let expected = normal(extents(region.extents()));
    for mover in nest.margins.iter().chain([&nest.mover]) {
        let loops = normal(extents(&outside).into_iter().chain(written(mover, nest.width)));
        assert_eq!(loops, expected, "loops write other elements than those of their region");
    }
    // Rows fill what has no data. Other movers leave it out, and need margins over the same ranges, unless all has data.
    let fills = |mover: &Mover| matches!(mover.inner, Inner::Rows(..));
    let ranges = |mover: &Mover| {
        let axes = mover.axes().filter_map(|axis| Some((axis.span?, axis.count, axis.to.unsigned_abs())));
        let mut ranges: SmallVec<[_; 8]> = axes.collect();
        ranges.sort_unstable();
        ranges
    };
    let filled = match &nest.margins {
        Some(margins) => fills(margins) && margins.moves_nothing() && ranges(margins) == ranges(&nest.mover),
        None => fills(&nest.mover) || nest.decided.is_empty(),
    };
    assert!(filled, "what has no data is not filled");
}

/// Whether different indices of loops write to different places, as their strides show: each is at least as wide as all
/// that the narrower ones reach.
///
/// That an address is written once is what [`shapetracker::ShapeTracker::collision`] says; threads do not rely on it. Where
/// strides interleave, or an address has floors, the answer is no though the addresses may differ, and one thread writes.
fn is_separate(nest: &Nest) -> bool {
    let width = nest.width as i64;
    // Of an axis that is moved along, no turn writes more than the conditions allow that depend on nothing else.
    let most = |axis: &Axis| {
        let steps = nest.decided.iter().filter_map(|condition: &Decided| {
            let (_, factor) = condition.along.filter(|(span, _)| axis.span == Some(*span))?;
            let is_constant = condition.form.terms().is_empty();
            is_constant.then(|| steps_within(condition.range_from(condition.form.constant()), factor))
        });
        let (begin, end) =
            steps.fold((0, axis.count as i64), |(begin, end), (first, last)| (begin.max(first), end.min(last)));
        end.saturating_sub(begin).max(1)
    };
    let unit = ((nest.mover.unit / nest.width) as i64, width);
    let axes = nest.mover.axes().map(|axis| (most(axis), axis.to as i64));
    let mut loops: SmallVec<[Written; 8]> = axes.chain([unit]).collect();
    let of_loops =
        |atom: &Term| matches!(atom, Term::Variable(axis) if stepwise(nest).iter().any(|(of, _)| of == axis));
    let in_order = nest.address.terms().windows(2).all(|pair| pair[0].0 < pair[1].0);
    if !in_order || !nest.address.terms().iter().all(|(atom, _)| of_loops(atom)) {
        return false;
    }
    for (axis, extent) in stepwise(nest) {
        let Some(stride) = nest.address.coefficient(Term::Variable(*axis)).checked_mul(width) else { return false };
        loops.push((extent.count, stride));
    }
    loops.sort_unstable_by_key(|(_, stride)| stride.unsigned_abs());
    let mut reach = i128::from(width);
    for (count, stride) in loops.into_iter().filter(|(count, _)| *count != 1) {
        let stride = i128::from(stride).abs();
        if stride < reach {
            return false;
        }
        reach += stride * i128::from(count - 1);
    }
    // Positions are computed modulo 2^64: what differs by less cannot meet.
    reach <= i128::from(i64::MAX)
}
