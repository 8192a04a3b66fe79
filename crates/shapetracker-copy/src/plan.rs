//! From a tracker to loops, and running them.

use std::fmt;
use std::mem::MaybeUninit;
use std::sync::OnceLock;

use bytemuck::{AnyBitPattern, NoUninit};
use shapetracker::ShapeTracker;

use crate::cover::region::Region;
use crate::cover::{Reading, Writing};
use crate::form::Access;
use crate::memory;
use crate::nest::{Direction, Nest};
use crate::pieces::pieces;
use crate::{Error, Threads};

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
    /// The lowest and the highest address that has an element.
    addresses: Option<(i64, i64)>,
    reading: Reading,
    /// Made when it is needed first.
    writing: OnceLock<Result<Writing, Error>>,
}

impl Plan {
    /// A plan for elements of a width in bytes.
    ///
    /// One view takes about a microsecond. For several the address comes from their index expression
    /// ([`ShapeTracker::index_expr`]), which takes some tens of microseconds, for each of the boxes into which the
    /// indices are cut; there are at most 64.
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
    /// A width of 0, or of more than a slice can hold; a tracker that reaches below the start of its buffer, or for which
    /// it cannot be decided which addresses it reaches ([`ShapeTracker::address_range`]); more bytes along an axis
    /// than can be counted.
    pub fn new(tracker: &ShapeTracker, width: usize) -> Result<Plan, Error> {
        let most = isize::MAX as usize;
        if width == 0 || width > most {
            return Err(Error::Width { width, most });
        }
        let addresses = tracker.address_range()?;
        if let Some((first, _)) = addresses
            && first < 0
        {
            return Err(Error::BeforeBuffer { first });
        }
        let plan = |whole| nests(Direction::Read, tracker, width, whole);
        let reading = Reading::new(tracker.shape(), width, plan)?;
        Ok(Plan { tracker: tracker.clone(), width, addresses, reading, writing: OnceLock::new() })
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
    pub fn buffer_len(&self) -> usize {
        self.addresses.map_or(0, |(_, last)| usize::try_from(last).map_or(usize::MAX, |last| last + 1))
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
    /// is written once.
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
        self.check_buffer(buffer.len())?;
        self.check_tensor(tensor.len())?;
        if fill.len() != self.width {
            return Err(Error::Fill { fill: fill.len(), width: self.width });
        }
        Ok(self.reading.run(buffer, tensor, fill, fresh, threads))
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
        self.check_buffer(buffer.len())?;
        self.check_tensor(tensor.len())?;
        let writing = self.writing.get_or_init(|| {
            check_injective(&self.tracker)?;
            let plan = |whole| nests(Direction::Write, &self.tracker, self.width, whole);
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

    fn check_buffer(&self, bytes: usize) -> Result<(), Error> {
        let len = self.elements(bytes)?;
        match self.addresses {
            Some((_, last)) if usize::try_from(last).map_or(true, |last| last >= len) => {
                Err(Error::Buffer { last, len })
            }
            _ => Ok(()),
        }
    }

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

/// Regions that a stack of views may fall into.
pub(crate) const MOST_BOXES: usize = 1 << 12;

/// The loops for a whole tensor, by the regions into which it is cut.
pub(crate) fn nests(
    direction: Direction,
    tracker: &ShapeTracker,
    width: usize,
    whole: Region,
) -> Result<Vec<(Region, Nest)>, Error> {
    let mut nests = Vec::new();
    let nothing = Access::nothing();
    let mut open = pieces(tracker, whole)?;
    open.reverse();
    while let Some(piece) = open.pop() {
        let access = match (&piece.tracker, &piece.access) {
            (None, _) if direction == Direction::Write => continue,
            (None, _) => Some(&nothing),
            (Some(_), access) => access.as_ref(),
        };
        match access.and_then(|access| Nest::new(direction, width, &piece.region, access)) {
            Some(nest) => nests.push((piece.region, nest)),
            None => {
                // Of several views a part is simpler than the whole, down to an element, whose address is a number.
                let several = tracker.views().len() > 1;
                let halves = if several { piece.halves()? } else { None };
                let too_large = || Error::TooLarge { shape: tracker.shape().to_vec(), width };
                open.extend(halves.ok_or_else(too_large)?.into_iter().rev());
                if nests.len() + open.len() > MOST_BOXES {
                    return Err(Error::TooManyBoxes { shape: tracker.shape().to_vec(), views: tracker.views().len() });
                }
            }
        }
    }
    Ok(nests)
}

/// Refuses trackers under which two indices share an address.
fn check_injective(tracker: &ShapeTracker) -> Result<(), Error> {
    match tracker.collision()? {
        None => Ok(()),
        Some([first, second]) => Err(Error::NotInjective { first: first.to_vec(), second: second.to_vec() }),
    }
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let nests = self.reading.nests();
        if nests.is_empty() {
            return writeln!(f, "nothing to move");
        }
        let several = nests.len() > 1;
        for (at, nest) in nests.iter().enumerate() {
            if several {
                writeln!(f, "box {} of {}, from element {} on", at + 1, nests.len(), nest.start)?;
            }
            nest.show(f, usize::from(several))?;
        }
        Ok(())
    }
}
