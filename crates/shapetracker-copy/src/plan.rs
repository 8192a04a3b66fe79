//! From a tracker to loops, and running them.

use std::fmt::{self, Write};
use std::mem::MaybeUninit;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use bytemuck::{AnyBitPattern, NoUninit};
use shapetracker::{ShapeTracker, Undecided, View};

use crate::cover::region::Region;
use crate::cover::{Planned, Reading, Writing};
use crate::form::Access;
use crate::kernels::Tuning;
use crate::nest::{Direction, Nest};
use crate::pieces::pieces;
use crate::stage::staged;
use crate::walk::{self, Walk};
use crate::{Error, Threads, memory};

/// How to move the data of a tracker: made once from the layout alone, run on any buffers.
///
/// Displayed, it shows its loops, from the outside in: strides are in elements, `read` on the side of the buffer (for
/// reading) and `write` on that of the tensor.
///
/// ```
/// use shapetracker::ShapeTracker;
/// use shapetracker_copy::Plan;
///
/// let st = ShapeTracker::contiguous([8, 64, 56])?.permute([0, 2, 1])?;
/// let loops = "\
/// 8 times: read +3584, write +3584
///   a tile of 64 columns and 56 rows, read by columns, written by rows
/// ";
/// assert_eq!(Plan::new(&st, 4)?.to_string(), loops);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Plan {
    tracker: ShapeTracker,
    width: usize,
    effort: Effort,
    tuning: Tuning,
    /// A buffer of so many bytes has all that the view next to memory reads.
    enough: usize,
    /// The lowest and the highest address that has an element. Asked for when it is needed first.
    addresses: OnceLock<Result<Option<(i64, i64)>, Undecided>>,
    reading: Reading,
    /// Made when it is needed first.
    writing: OnceLock<Result<Writing, Error>>,
}

impl Plan {
    /// A plan for elements of a width in bytes.
    ///
    /// One view takes about a microsecond. For several the work is limited in proportion to what walking over the
    /// elements one by one would take, and to some milliseconds in all; it is counted and not timed, so that the plan is
    /// the same on every machine. Within that work the indices are cut into at most 64 boxes that can be moved as loops.
    /// Where it is too little for any loops, and where no loops are cheaper, the plan is to walk: to move each run of
    /// equally spaced addresses ([`ShapeTracker::runs`]) by itself.
    ///
    /// ```
    /// use shapetracker::ShapeTracker;
    /// use shapetracker_copy::Plan;
    ///
    /// let plan = Plan::new(&ShapeTracker::contiguous([4, 6])?.step([1, 2])?, 8)?;
    /// assert_eq!((plan.shape(), plan.width(), plan.buffer_len()), (&[4, 3][..], 8, 23));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// A width of 0, or of more than a slice can hold; a tracker that reaches below the start of its buffer; one view with
    /// more bytes along an axis than can be counted. [`Error::Undecided`] where the view next to memory has addresses
    /// below the start, and for more than 2^26 elements it cannot be decided ([`ShapeTracker::address_range`]) whether
    /// the views on top of it reach them.
    pub fn new(tracker: &ShapeTracker, width: usize) -> Result<Plan, Error> {
        Plan::with_effort(tracker, width, Effort::OfOneRun)
    }

    /// A plan of loops wherever they can be found, however long that takes: for one that is run many times.
    ///
    /// For a stack of many views it may take seconds. Loops move tensors of few elements, too, which [`Plan::new`] lists once:
    /// that is faster.
    ///
    /// ```
    /// use shapetracker::ShapeTracker;
    /// use shapetracker_copy::Plan;
    ///
    /// let st = ShapeTracker::contiguous([5, 3])?.permute([1, 0])?.reshape([15])?.step([2])?;
    /// let walk = "8 elements walked through 2 views, a run of equally spaced addresses at a time\n";
    /// assert_eq!(Plan::new(&st, 4)?.to_string(), walk);
    /// assert!(Plan::with_loops(&st, 4)?.to_string().starts_with("for i0 in 0..8"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As for [`Plan::new`].
    pub fn with_loops(tracker: &ShapeTracker, width: usize) -> Result<Plan, Error> {
        Plan::with_effort(tracker, width, Effort::OfManyRuns)
    }

    /// The same plan, run in whichever of a few ways takes the least time on this machine, for one that is run many times on
    /// tensors of more than 8 MiB: it reads the buffer into the tensor some forty times, with these threads.
    ///
    /// What is fastest depends on the processor, on the pages in which the two lie, on where they begin, and on whether a cache
    /// holds them: how many columns of a transpose are moved at a time, whether lines are stored from registers or through a
    /// stage, and whether they are stored past the caches. A plan that is not tuned tries two of these ways on the first pieces of
    /// each large copy. The tuned plan is a value, to be kept for as long as it is good. What it writes does not depend on which
    /// way was found. Smaller tensors are written in one way only: then the plan is returned at once, and the tensor is left as
    /// it was.
    ///
    /// ```
    /// use shapetracker::ShapeTracker;
    /// use shapetracker_copy::{Plan, Threads};
    ///
    /// let plan = Plan::new(&ShapeTracker::contiguous([3, 2])?.permute([1, 0])?, 4)?;
    /// let (buffer, mut tensor, one) = ([1, 2, 3, 4, 5, 6], [0; 6], Threads::one());
    /// let tuned = plan.tuned(&buffer, &mut tensor, 0, &one)?;
    /// tuned.read_into(&buffer, &mut tensor, 0, &one)?;
    /// assert_eq!(tensor, [1, 3, 5, 2, 4, 6]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As for [`Plan::read_into`].
    pub fn tuned<T: NoUninit + AnyBitPattern>(
        &self,
        buffer: &[T],
        tensor: &mut [T],
        fill: T,
        threads: &Threads,
    ) -> Result<Plan, Error> {
        self.check_type::<T>()?;
        let (buffer, tensor) = (bytemuck::cast_slice(buffer), bytemuck::cast_slice_mut(tensor));
        self.tuned_bytes(buffer, tensor, bytemuck::bytes_of(&fill), threads)
    }

    /// [`Plan::tuned`] on bytes, for elements whose type is known only when the program runs. Nothing need be aligned.
    ///
    /// It takes as long as some forty copies at most, and no time where the tensor has 8 MiB or less.
    ///
    /// ```
    /// use shapetracker::ShapeTracker;
    /// use shapetracker_copy::{Plan, Threads};
    ///
    /// // Pixels of three bytes.
    /// let plan = Plan::new(&ShapeTracker::contiguous([2])?.flip([0])?, 3)?;
    /// let (mut tensor, one) = ([0; 6], Threads::one());
    /// let tuned = plan.tuned_bytes(b"abcdef", &mut tensor, b"...", &one)?;
    /// tuned.read_bytes(b"abcdef", &mut tensor, b"...", &one)?;
    /// assert_eq!(&tensor, b"defabc");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As for [`Plan::read_bytes`].
    pub fn tuned_bytes(&self, buffer: &[u8], tensor: &mut [u8], fill: &[u8], threads: &Threads) -> Result<Plan, Error> {
        self.check(buffer.len(), tensor.len())?;
        self.check_fill(fill)?;
        let way = |tuning| (Duration::MAX, Plan { tuning, ..self.clone() });
        let mut ways: Vec<(Duration, Plan)> = self.reading.tunings().map(way).collect();
        // Taking turns, what slows one of them for a while slows all. Each runs twice in a row, and the second time counts: then the
        // caches hold what this way leaves in them, and not what the one before it did.
        for _ in 0..TURNS {
            for (least, plan) in &mut ways {
                plan.read_bytes(buffer, tensor, fill, threads)?;
                let start = Instant::now();
                plan.read_bytes(buffer, tensor, fill, threads)?;
                *least = start.elapsed().min(*least);
            }
        }
        let best = ways.into_iter().min_by_key(|(least, _)| *least);
        Ok(best.map_or_else(|| self.clone(), |(_, plan)| plan))
    }

    fn with_effort(tracker: &ShapeTracker, width: usize, effort: Effort) -> Result<Plan, Error> {
        let most = isize::MAX as usize;
        if width == 0 || width > most {
            return Err(Error::Width { width, most });
        }
        let plan = |whole| planned(Direction::Read, tracker, width, effort, whole);
        let mut reading = Reading::new(tracker.shape(), width, plan)?;
        if effort == Effort::OfOneRun {
            reading.list(tracker.runs());
        }
        let (addresses, writing) = (OnceLock::new(), OnceLock::new());
        let (tracker, tuning) = (tracker.clone(), Tuning::default());
        let mut plan = Plan { tracker, width, effort, tuning, enough: 0, addresses, reading, writing };
        let end = |(_, last): (i64, i64)| usize::try_from(last).ok()?.checked_add(1)?.checked_mul(width);
        plan.enough = plan.reach().map_or(0, |reach| end(reach).unwrap_or(usize::MAX));
        if plan.reach().is_some_and(|(first, _)| first < 0)
            && let Some((first, _)) = plan.addresses()?
            && first < 0
        {
            return Err(Error::BeforeBuffer { first });
        }
        Ok(plan)
    }

    /// The shape of the tensor that is read or written through the tracker.
    pub fn shape(&self) -> &[i64] {
        self.tracker.shape()
    }

    /// Bytes per element.
    pub fn width(&self) -> usize {
        self.width
    }

    /// How many elements the tracker's buffer must have at least.
    ///
    /// Of more than 2^26 elements of which it cannot be decided ([`ShapeTracker::address_range`]), as many as the view next
    /// to memory reads.
    pub fn buffer_len(&self) -> usize {
        let addresses = self.addresses().unwrap_or_else(|_| self.reach());
        addresses.map_or(0, |(_, last)| usize::try_from(last).map_or(usize::MAX, |last| last + 1))
    }

    /// The lowest and the highest address that the view next to memory reads: no other view reaches further.
    fn reach(&self) -> Option<(i64, i64)> {
        self.tracker.views().first().and_then(View::address_range)
    }

    fn addresses(&self) -> Result<Option<(i64, i64)>, Undecided> {
        *self.addresses.get_or_init(|| addresses(&self.tracker))
    }

    /// Reads the tracker's tensor from a buffer: contiguous, row-major, with `fill` where the tracker is masked.
    ///
    /// ```
    /// use shapetracker::ShapeTracker;
    /// use shapetracker_copy::{Plan, Threads};
    ///
    /// let st = ShapeTracker::contiguous([2, 2])?.permute([1, 0])?.pad([(0, 0), (0, 1)])?;
    /// let tensor = Plan::new(&st, 2)?.read(&[1u16, 2, 3, 4], 0, &Threads::one())?;
    /// assert_eq!(tensor, [1, 3, 0, 2, 4, 0]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// A type of another size than the plan's elements; a buffer that is shorter than the tracker reaches; a tensor for
    /// which there is no memory.
    pub fn read<T: NoUninit>(&self, buffer: &[T], fill: T, threads: &Threads) -> Result<Vec<T>, Error> {
        self.check_type::<T>()?;
        let numel = self.tracker.numel();
        let too_much = Error::Memory { numel, width: self.width };
        let Ok(len) = usize::try_from(numel) else { return Err(too_much) };
        memory::vec_of(len, too_much, |room| {
            self.read_uninit(bytemuck::cast_slice(buffer), room, bytemuck::bytes_of(&fill), threads)
        })
    }

    /// [`Plan::read`] into a tensor that is there.
    ///
    /// ```
    /// use shapetracker::ShapeTracker;
    /// use shapetracker_copy::{Plan, Threads};
    ///
    /// let flipped = ShapeTracker::contiguous([3])?.flip([0])?;
    /// let mut tensor = [0u8; 3];
    /// Plan::new(&flipped, 1)?.read_into(b"abc", &mut tensor, 0, &Threads::one())?;
    /// assert_eq!(&tensor, b"cba");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As for [`Plan::read`]; a tensor of another length than the tracker has elements.
    pub fn read_into<T: NoUninit + AnyBitPattern>(
        &self,
        buffer: &[T],
        tensor: &mut [T],
        fill: T,
        threads: &Threads,
    ) -> Result<(), Error> {
        self.check_type::<T>()?;
        let (buffer, tensor) = (bytemuck::cast_slice(buffer), bytemuck::cast_slice_mut(tensor));
        self.read_bytes(buffer, tensor, bytemuck::bytes_of(&fill), threads)
    }

    /// [`Plan::read_into`] on bytes, for elements whose type is known only when the program runs: buffer, tensor, and
    /// one element to fill with. Nothing need be aligned.
    ///
    /// ```
    /// use shapetracker::ShapeTracker;
    /// use shapetracker_copy::{Plan, Threads};
    ///
    /// // Pixels of three bytes.
    /// let padded = ShapeTracker::contiguous([2])?.pad([(1, 0)])?;
    /// let mut tensor = [0; 9];
    /// Plan::new(&padded, 3)?.read_bytes(b"abcdef", &mut tensor, b"...", &Threads::one())?;
    /// assert_eq!(&tensor, b"...abcdef");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// A buffer or a tensor whose length does not fit, or is no whole number of elements; a fill value of another width.
    pub fn read_bytes(&self, buffer: &[u8], tensor: &mut [u8], fill: &[u8], threads: &Threads) -> Result<(), Error> {
        // SAFETY: reading writes only bytes with values, those of `buffer` and of `fill`.
        #[allow(unsafe_code)]
        let room = unsafe { memory::room_of_bytes(tensor) };
        self.run(buffer, room, fill, threads, false)?;
        Ok(())
    }

    /// [`Plan::read_bytes`] into memory without values, best fresh from the system; returns it with its values. Each byte
    /// is written once. For 4 MiB and more the system is asked for huge pages.
    ///
    /// ```
    /// use shapetracker::ShapeTracker;
    /// use shapetracker_copy::{Plan, Threads};
    ///
    /// let plan = Plan::new(&ShapeTracker::contiguous([2, 3])?.permute([1, 0])?, 1)?;
    /// let mut memory = Vec::with_capacity(6);
    /// let tensor = plan.read_uninit(b"abcdef", &mut memory.spare_capacity_mut()[..6], b".", &Threads::one())?;
    /// assert_eq!(tensor, b"adbecf");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As for [`Plan::read_bytes`].
    pub fn read_uninit<'a>(
        &self,
        buffer: &[u8],
        tensor: &'a mut [MaybeUninit<u8>],
        fill: &[u8],
        threads: &Threads,
    ) -> Result<&'a mut [u8], Error> {
        memory::ask_for_huge_pages(tensor);
        self.run(buffer, tensor, fill, threads, true)
    }

    fn run<'a>(
        &self,
        buffer: &[u8],
        tensor: &'a mut [MaybeUninit<u8>],
        fill: &[u8],
        threads: &Threads,
        fresh: bool,
    ) -> Result<&'a mut [u8], Error> {
        self.check(buffer.len(), tensor.len())?;
        self.check_fill(fill)?;
        Ok(self.reading.run(buffer, tensor, fill, fresh, self.tuning, threads))
    }

    /// [`Plan::read_into`] over a tensor that has values: where the tracker is masked they stay.
    ///
    /// So a tensor whose elements come from several buffers is put together by as many plans, and each element is moved
    /// once: a chunk of one array from the chunks of another, a mosaic from its tiles.
    ///
    /// ```
    /// use shapetracker::ShapeTracker;
    /// use shapetracker_copy::{Plan, Threads};
    ///
    /// // The first two of five elements from one buffer, the others from another.
    /// let (left, right) = (ShapeTracker::contiguous([2])?.pad([(0, 3)])?, ShapeTracker::contiguous([3])?.pad([(2, 0)])?);
    /// let mut tensor = [0u8; 5];
    /// Plan::new(&left, 1)?.read_over(b"ab", &mut tensor, &Threads::one())?;
    /// Plan::new(&right, 1)?.read_over(b"xyz", &mut tensor, &Threads::one())?;
    /// assert_eq!(&tensor, b"abxyz");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As for [`Plan::read_into`].
    pub fn read_over<T: NoUninit + AnyBitPattern>(
        &self,
        buffer: &[T],
        tensor: &mut [T],
        threads: &Threads,
    ) -> Result<(), Error> {
        self.check_type::<T>()?;
        self.read_over_bytes(bytemuck::cast_slice(buffer), bytemuck::cast_slice_mut(tensor), threads)
    }

    /// [`Plan::read_over`] on bytes. Nothing need be aligned.
    ///
    /// ```
    /// use shapetracker::ShapeTracker;
    /// use shapetracker_copy::{Plan, Threads};
    ///
    /// let mut tensor = *b"..--..";
    /// let last = ShapeTracker::contiguous([1])?.pad([(2, 0)])?;
    /// Plan::new(&last, 2)?.read_over_bytes(b"ab", &mut tensor, &Threads::one())?;
    /// assert_eq!(&tensor, b"..--ab");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// A buffer or a tensor whose length does not fit, or is no whole number of elements.
    pub fn read_over_bytes(&self, buffer: &[u8], tensor: &mut [u8], threads: &Threads) -> Result<(), Error> {
        self.check(buffer.len(), tensor.len())?;
        self.reading.run_over(buffer, tensor, self.tuning, threads);
        Ok(())
    }

    /// Writes a contiguous, row-major tensor through the tracker into a buffer. What the tracker does not reach stays,
    /// and what stands where it is masked goes nowhere.
    ///
    /// Several threads share the work where the strides show that they cannot meet: in order of size, each is at least as large
    /// as all that the smaller ones reach together. Where strides interleave, or an address has a division, one thread writes.
    ///
    /// ```
    /// use shapetracker::ShapeTracker;
    /// use shapetracker_copy::{Plan, Threads};
    ///
    /// let evens = ShapeTracker::contiguous([6])?.step([2])?;
    /// let mut buffer = [9; 6];
    /// Plan::new(&evens, 4)?.write(&[1, 2, 3], &mut buffer, &Threads::one())?;
    /// assert_eq!(buffer, [1, 9, 2, 9, 3, 9]);
    ///
    /// let broadcast = ShapeTracker::contiguous([1])?.expand([3])?;
    /// let error = Plan::new(&broadcast, 4)?.write(&[1, 2, 3], &mut buffer, &Threads::one()).unwrap_err();
    /// assert!(error.to_string().starts_with("indices (0,) and (1,) share an address"), "{error}");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// A tracker under which two indices share an address, with such two; a type of another size; slices whose lengths
    /// do not fit.
    pub fn write<T: NoUninit + AnyBitPattern>(
        &self,
        tensor: &[T],
        buffer: &mut [T],
        threads: &Threads,
    ) -> Result<(), Error> {
        self.check_type::<T>()?;
        self.write_bytes(bytemuck::cast_slice(tensor), bytemuck::cast_slice_mut(buffer), threads)
    }

    /// [`Plan::write`] on bytes.
    ///
    /// ```
    /// use shapetracker::ShapeTracker;
    /// use shapetracker_copy::{Plan, Threads};
    ///
    /// let turned = ShapeTracker::contiguous([2, 2])?.permute([1, 0])?;
    /// let mut buffer = *b"........";
    /// Plan::new(&turned, 2)?.write_bytes(b"aabbccdd", &mut buffer, &Threads::one())?;
    /// assert_eq!(&buffer, b"aaccbbdd");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As for [`Plan::write`]; bytes that are no whole number of elements.
    pub fn write_bytes(&self, tensor: &[u8], buffer: &mut [u8], threads: &Threads) -> Result<(), Error> {
        self.check(buffer.len(), tensor.len())?;
        let writing = self.writing.get_or_init(|| {
            check_injective(&self.tracker)?;
            let plan = |whole| planned(Direction::Write, &self.tracker, self.width, self.effort, whole);
            Writing::new(self.tracker.shape(), plan)
        });
        writing.as_ref().map_err(Error::clone)?.run(tensor, buffer, threads);
        Ok(())
    }

    fn check_type<T>(&self) -> Result<(), Error> {
        if size_of::<T>() == self.width {
            return Ok(());
        }
        Err(Error::Type { name: std::any::type_name::<T>(), size: size_of::<T>(), plan: self.width })
    }

    #[inline]
    fn check_fill(&self, fill: &[u8]) -> Result<(), Error> {
        if fill.len() == self.width {
            return Ok(());
        }
        Err(Error::Fill { fill: fill.len(), width: self.width })
    }

    /// That the bytes of a buffer and of a tensor fit. Nearly always they do, which takes no question to the tracker.
    #[inline]
    fn check(&self, buffer: usize, tensor: usize) -> Result<(), Error> {
        let power = self.width & (self.width - 1) == 0;
        let whole = if power { buffer & (self.width - 1) == 0 } else { buffer.is_multiple_of(self.width) };
        if buffer >= self.enough && whole && self.reading.bytes() == Some(tensor) {
            return Ok(());
        }
        self.check_buffer(buffer)?;
        self.check_tensor(tensor)
    }

    #[cold]
    fn check_buffer(&self, bytes: usize) -> Result<(), Error> {
        let len = self.elements(bytes)?;
        let past = |reach: Option<(i64, i64)>| {
            let (_, last) = reach?;
            usize::try_from(last).map_or(true, |last| last >= len).then_some(last)
        };
        if past(self.reach()).is_some()
            && let Some(last) = past(self.addresses()?)
        {
            return Err(Error::Buffer { last, len });
        }
        Ok(())
    }

    #[cold]
    fn check_tensor(&self, bytes: usize) -> Result<(), Error> {
        let (len, numel) = (self.elements(bytes)?, self.tracker.numel());
        if usize::try_from(numel) == Ok(len) { Ok(()) } else { Err(Error::Length { numel, len }) }
    }

    fn elements(&self, bytes: usize) -> Result<usize, Error> {
        if !bytes.is_multiple_of(self.width) {
            return Err(Error::Ragged { bytes, width: self.width });
        }
        Ok(bytes / self.width)
    }
}

/// How many times [`Plan::tuned`] tries each way.
const TURNS: usize = 3;

/// What planning is worth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effort {
    /// No more than it saves when the plan is run once.
    OfOneRun,
    /// All that it takes to find loops.
    OfManyRuns,
}

/// The steps of a walk that planning may take as long as one unit of its work; the work that is there for few elements; and
/// the most of it. A unit is about a microsecond, and a step a few nanoseconds.
const STEPS: f64 = 340.0;
const FLOOR: u64 = 60;
const MOST: u64 = 12_000;

/// The work that planning for a stack of views is worth.
fn limit(tracker: &ShapeTracker) -> u64 {
    (FLOOR + (walk::steps(tracker) / STEPS) as u64).min(MOST)
}

/// How a whole tensor is moved: by loops for each of the regions into which it is cut, or by walking over its elements
/// where that is cheaper.
pub(crate) fn planned(
    direction: Direction,
    tracker: &ShapeTracker,
    width: usize,
    effort: Effort,
    whole: Region,
) -> Result<Planned<(Region, Nest)>, Error> {
    let limited = tracker.views().len() > 1 && effort == Effort::OfOneRun;
    let mut work = if limited { limit(tracker) } else { u64::MAX };
    let parts = nests(direction, tracker, width, whole, &mut work)?;
    let cost = |parts: &Vec<(Region, Nest)>| parts.iter().map(|(_, nest)| nest.cost()).sum::<f64>();
    if let Some(parts) = parts.filter(|parts| !limited || cost(parts) <= walk::cost(tracker)) {
        return Ok(Planned::Parts(parts));
    }
    Ok(Planned::Walk(Walk { direction, width, tracker: tracker.clone() }))
}

/// The loops for a whole tensor, by the regions into which it is cut; `None` where some work is too little for that, or the
/// numbers of a stack of views leave `i64`.
pub(crate) fn nests(
    direction: Direction,
    tracker: &ShapeTracker,
    width: usize,
    whole: Region,
    work: &mut u64,
) -> Result<Option<Vec<(Region, Nest)>>, Error> {
    let Some(pieces) = pieces(tracker, whole, work)? else { return Ok(None) };
    let mut nests = Vec::new();
    let nothing = Access::nothing();
    let addresses = OnceLock::new();
    let needed = || *addresses.get_or_init(|| tracker.address_range());
    let stage = |lines: &ShapeTracker, whole| planned(Direction::Read, lines, width, Effort::OfOneRun, whole);
    for piece in pieces {
        if piece.tracker.is_none() && direction == Direction::Write {
            continue;
        }
        let access = piece.access.as_ref().unwrap_or(&nothing);
        match Nest::new(direction, width, &piece.region, access) {
            Some(nest) => match piece.tracker.filter(|_| direction == Direction::Read && nest.is_scattered()) {
                None => nests.push((piece.region, nest)),
                Some(part) => match staged(piece.region, &part, width, needed, stage)? {
                    Ok(parts) => nests.extend(parts),
                    Err(region) => nests.push((region, nest)),
                },
            },
            None if tracker.views().len() > 1 => return Ok(None),
            None => return Err(Error::TooLarge { shape: tracker.shape().to_vec(), width }),
        }
    }
    Ok(Some(nests))
}

/// Steps of a walk that take less time than asking which addresses a stack of views reaches.
const FEW_STEPS: f64 = 1e4;

/// Elements that are walked over where that cannot be decided.
const MOST_WALKED: i64 = 1 << 26;

/// The lowest and the highest address that has an element.
fn addresses(tracker: &ShapeTracker) -> Result<Option<(i64, i64)>, Undecided> {
    let few = tracker.views().len() > 1 && walk::steps(tracker) <= FEW_STEPS;
    match if few { Err(Undecided) } else { tracker.address_range() } {
        Err(Undecided) if tracker.numel() <= MOST_WALKED => Ok(walk::addresses(tracker)),
        range => range,
    }
}

/// Refuses trackers under which two indices share an address.
fn check_injective(tracker: &ShapeTracker) -> Result<(), Error> {
    match tracker.collision()? {
        None => Ok(()),
        Some([first, second]) => Err(Error::NotInjective { first: first.to_vec(), second: second.to_vec() }),
    }
}

/// Bytes of text after which no further box of a plan is shown.
const PAGE: usize = 4_000;

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let nests = match self.reading.loops() {
            Planned::Parts(nests) => nests,
            Planned::Walk(walk) => return walk.fmt(f),
        };
        if nests.is_empty() {
            return writeln!(f, "nothing to move");
        }
        let several = nests.len() > 1;
        let mut text = String::new();
        for (at, nest) in nests.iter().enumerate() {
            if several {
                writeln!(text, "box {} of {}, from element {} on", at + 1, nests.len(), nest.start)?;
            }
            nest.show(&mut text, usize::from(several))?;
            if text.len() > PAGE && at + 1 < nests.len() {
                let rest = &nests[at + 1..];
                let numel: i64 = rest.iter().map(Nest::numel).sum();
                let boxes = if rest.len() == 1 { "box" } else { "boxes" };
                writeln!(text, "and {} more {boxes} of {numel} elements in all", rest.len())?;
                break;
            }
        }
        f.write_str(&text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nest::Nest;

    /// A small tensor, permuted, padded and reshaped in turn.
    fn deep(random: &mut impl FnMut(usize) -> usize) -> ShapeTracker {
        let mut st = ShapeTracker::contiguous([2 + random(12) as i64, 2 + random(12) as i64]).unwrap();
        for turn in 0..1 + random(10) {
            let axes: Vec<i64> = (0..st.rank() as i64).rev().collect();
            let moved = st.permute(&axes).unwrap();
            let pads: Vec<_> = axes.iter().map(|_| (random(2) as i64, random(2) as i64)).collect();
            let moved = if turn % 3 == 2 { moved } else { moved.pad(&pads).unwrap() };
            let mut shape = vec![1; 1 + random(3)];
            let (mut rest, mut factor) = (moved.numel(), 2);
            while rest > 1 {
                if rest % factor == 0 {
                    let axis = random(shape.len());
                    shape[axis] *= factor;
                    rest /= factor;
                } else {
                    factor += 1;
                }
            }
            st = moved.reshape(&shape).unwrap();
        }
        st
    }

    /// No clock says when planning ends: its work is in proportion to the steps of a walk, whatever the stack is, and the same
    /// each time; what is over it is walked.
    #[test]
    fn planning_takes_work_in_proportion_to_the_elements() {
        let mut state = 1u64;
        let mut random = |bound: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as usize % bound
        };
        let (mut walked, mut looped) = (0, 0);
        for _ in 0..400 {
            let tracker = deep(&mut random);
            let (numel, rank) = (tracker.numel() as f64, tracker.rank() as f64);
            let digits: usize = tracker.views().iter().map(View::rank).sum();
            let limit = limit(&tracker);
            assert!(limit as f64 <= FLOOR as f64 + numel * (2 + digits) as f64 / STEPS && limit <= MOST, "{tracker}");
            assert!(
                limit >= FLOOR && (limit as f64) < FLOOR as f64 + 1.0 + numel * (2.0 + rank + digits as f64) / STEPS
            );
            let spent = |most: u64| {
                let (mut left, mut parts) = (most, None);
                let plan = |whole| {
                    parts = nests(Direction::Read, &tracker, 4, whole, &mut left)?;
                    Ok(Planned::Walk(Walk { direction: Direction::Read, width: 4, tracker: tracker.clone() }))
                };
                Reading::new(tracker.shape(), 4, plan).unwrap();
                (most - left, parts.map(|parts| parts.iter().map(|(_, nest)| Nest::numel(nest)).collect::<Vec<_>>()))
            };
            let (work, boxes) = spent(limit);
            assert!(work <= limit, "{tracker}");
            assert_eq!((work, &boxes), (spent(limit).0, &spent(limit).1), "{tracker}");
            match boxes {
                Some(boxes) => {
                    assert!(boxes.len() <= 66 && boxes.iter().sum::<i64>() == tracker.numel(), "{tracker}");
                    looped += usize::from(tracker.views().len() > 1);
                }
                None => walked += 1,
            }
        }
        assert!(walked > 50 && looped > 50, "{walked} walked, {looped} of several views looped");
    }
}
