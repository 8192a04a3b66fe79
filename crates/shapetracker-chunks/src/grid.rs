//! How an array is cut into chunks.

use std::fmt;

use shapetracker::text::tuple;
use shapetracker::{Dims, Ranges};

use crate::Error;
use crate::error::Fault;

/// How an array is cut into a grid of boxes, its chunks: along each axis at some places, evenly or not.
///
/// Chunks are numbered in row-major order of the grid, from 0. An axis of size 0 has no chunks, and then the array has
/// none; an array of rank 0 has one. Evenly cut axes take no memory for their cuts, however many there are.
///
/// ```
/// use shapetracker_chunks::Grid;
///
/// let grid = Grid::regular([5, 4], [2, 4])?;
/// assert_eq!((&grid.counts()[..], grid.len()), (&[3, 1][..], 3));
/// assert_eq!(grid.chunk(2)?[..], [(4, 5), (0, 4)]); // the last one is shorter
/// # Ok::<(), shapetracker_chunks::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grid {
    shape: Dims,
    axes: Vec<Cuts>,
    counts: Dims,
    len: usize,
}

/// Where one axis is cut. The same cuts have one form: those that are even are never listed.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Cuts {
    /// Every so many elements.
    Even(i64),
    /// The begin of each chunk, and the end of the last one.
    Listed(Vec<i64>),
}

/// The sizes of the chunks along one axis, whose length is known.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Sizes {
    /// All of one size, but for a shorter last one.
    Even(i64),
    Listed(Vec<i64>),
}

impl Grid {
    /// Chunks of one shape; those at the ends of axes may be shorter.
    ///
    /// ```
    /// assert_eq!(shapetracker_chunks::Grid::regular([7], [3])?.sizes(0).collect::<Vec<_>>(), [3, 3, 1]);
    /// # Ok::<(), shapetracker_chunks::Error>(())
    /// ```
    ///
    /// # Errors
    /// A size per axis is missing, a chunk has size 0 or less; a shape that no tensor has; more than `usize` chunks.
    pub fn regular(shape: impl AsRef<[i64]>, chunk: impl AsRef<[i64]>) -> Result<Grid, Error> {
        let (shape, chunk) = (shape.as_ref(), chunk.as_ref());
        if shape.len() != chunk.len() {
            let (rank, given) = (shape.len(), chunk.len());
            return Err(Fault::Rank { shape: shape.into(), rank, given }.into());
        }
        if let Some(axis) = chunk.iter().position(|size| *size < 1) {
            return Err(Fault::Chunk { axis, chunk: chunk[axis] }.into());
        }
        let axes = chunk.iter().zip(shape).map(|(chunk, size)| Cuts::Even((*chunk).min(*size).max(1))).collect();
        Grid::with(shape.into(), axes)
    }

    /// Chunks whose sizes are listed for each axis, as dask does: the shape is their sums.
    ///
    /// ```
    /// let grid = shapetracker_chunks::Grid::new([vec![2, 3, 2], vec![4]])?;
    /// assert_eq!((grid.shape(), grid.len()), (&[7, 4][..], 3));
    /// # Ok::<(), shapetracker_chunks::Error>(())
    /// ```
    ///
    /// # Errors
    /// A chunk of size 0 or less; sizes whose sum leaves `i64`; a shape that no tensor has; more than `usize` chunks.
    pub fn new<List: AsRef<[i64]>>(sizes: impl IntoIterator<Item = List>) -> Result<Grid, Error> {
        let (mut shape, mut axes) = (Dims::new(), Vec::new());
        for (axis, sizes) in sizes.into_iter().enumerate() {
            let sizes = sizes.as_ref();
            if let Some(number) = sizes.iter().position(|size| *size < 1) {
                return Err(Fault::ListedChunk { axis, number, size: sizes[number] }.into());
            }
            let mut begins = vec![0i64];
            for size in sizes {
                let end = begins[begins.len() - 1].checked_add(*size);
                begins.push(end.ok_or(Fault::SumOverflow { axis })?);
            }
            shape.push(begins[begins.len() - 1]);
            axes.push(Cuts::of(begins));
        }
        Grid::with(shape, axes)
    }

    /// [`Grid::new`] for an array whose shape is known, with which the sizes must agree.
    ///
    /// ```
    /// let error = shapetracker_chunks::Grid::of([7], [[3, 3]]).unwrap_err();
    /// assert_eq!(error.to_string(), "the chunks of axis 0 add up to 6, but the axis has size 7");
    /// ```
    ///
    /// # Errors
    /// As for [`Grid::new`]; sizes that do not add up to the shape, or lists for another number of axes.
    pub fn of<List: AsRef<[i64]>>(
        shape: impl AsRef<[i64]>,
        sizes: impl IntoIterator<Item = List>,
    ) -> Result<Grid, Error> {
        let shape = shape.as_ref();
        let grid = Grid::new(sizes)?;
        if grid.rank() != shape.len() {
            return Err(Fault::Rank { shape: shape.into(), rank: shape.len(), given: grid.rank() }.into());
        }
        match (0..shape.len()).find(|axis| grid.shape[*axis] != shape[*axis]) {
            Some(axis) => Err(Fault::Sum { axis, sum: grid.shape[axis].into(), size: shape[axis] }.into()),
            None => Ok(grid),
        }
    }

    /// Chunks of sizes for each axis, which fit its length.
    pub(crate) fn of_sizes(shape: &[i64], sizes: Vec<Sizes>) -> Result<Grid, Error> {
        let cuts = |(sizes, length): (Sizes, &i64)| match sizes {
            Sizes::Even(size) => Cuts::Even(size.min(*length).max(1)),
            Sizes::Listed(list) => {
                let ends = list.iter().scan(0, |end, size| {
                    *end += size;
                    Some(*end)
                });
                Cuts::of([0].into_iter().chain(ends).collect())
            }
        };
        let axes = sizes.into_iter().zip(shape).map(cuts).collect();
        Grid::with(shape.into(), axes)
    }

    /// The whole array as one chunk.
    ///
    /// ```
    /// assert_eq!(shapetracker_chunks::Grid::whole([3, 4])?.len(), 1);
    /// assert_eq!(shapetracker_chunks::Grid::whole([3, 0])?.len(), 0);
    /// # Ok::<(), shapetracker_chunks::Error>(())
    /// ```
    ///
    /// # Errors
    /// A shape that no tensor has.
    pub fn whole(shape: impl AsRef<[i64]>) -> Result<Grid, Error> {
        let shape = shape.as_ref();
        Grid::with(shape.into(), shape.iter().map(|size| Cuts::Even((*size).max(1))).collect())
    }

    fn with(shape: Dims, axes: Vec<Cuts>) -> Result<Grid, Error> {
        shapetracker::View::contiguous(&shape)?;
        let counts: Dims = axes.iter().zip(&shape).map(|(cuts, size)| cuts.count(*size)).collect();
        // The product may have factors past the limit beside one that is 0.
        let len = if counts.contains(&0) {
            Some(0)
        } else {
            counts.iter().try_fold(1usize, |len, count| len.checked_mul(usize::try_from(*count).ok()?))
        };
        match len {
            Some(len) => Ok(Grid { shape, axes, counts, len }),
            None => Err(Fault::Count { shape }.into()),
        }
    }

    /// The shape of the array.
    ///
    /// ```
    /// assert_eq!(shapetracker_chunks::Grid::regular([7, 2], [3, 2])?.shape(), [7, 2]);
    /// # Ok::<(), shapetracker_chunks::Error>(())
    /// ```
    pub fn shape(&self) -> &[i64] {
        &self.shape
    }

    /// The number of axes.
    ///
    /// ```
    /// assert_eq!(shapetracker_chunks::Grid::regular([7, 2], [3, 2])?.rank(), 2);
    /// # Ok::<(), shapetracker_chunks::Error>(())
    /// ```
    pub fn rank(&self) -> usize {
        self.axes.len()
    }

    /// How many chunks there are along each axis.
    ///
    /// ```
    /// assert_eq!(shapetracker_chunks::Grid::regular([7, 2], [3, 2])?.counts()[..], [3, 1]);
    /// # Ok::<(), shapetracker_chunks::Error>(())
    /// ```
    pub fn counts(&self) -> &[i64] {
        &self.counts
    }

    /// How many chunks there are in all.
    ///
    /// ```
    /// assert_eq!(shapetracker_chunks::Grid::regular([7, 4], [3, 2])?.len(), 6);
    /// # Ok::<(), shapetracker_chunks::Error>(())
    /// ```
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are no chunks: some axis has size 0.
    ///
    /// ```
    /// assert!(shapetracker_chunks::Grid::regular([7, 0], [3, 2])?.is_empty());
    /// # Ok::<(), shapetracker_chunks::Error>(())
    /// ```
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The sizes of the chunks along an axis; none for an axis that does not exist.
    ///
    /// ```
    /// let grid = shapetracker_chunks::Grid::regular([7], [3])?;
    /// assert!(grid.sizes(0).eq([3, 3, 1]));
    /// # Ok::<(), shapetracker_chunks::Error>(())
    /// ```
    pub fn sizes(&self, axis: usize) -> impl Iterator<Item = i64> + '_ {
        let count = self.counts.get(axis).copied().unwrap_or(0);
        (0..count).map(move |number| {
            let (begin, end) = self.range(axis, number);
            end - begin
        })
    }

    /// The size of all chunks along each axis but for shorter last ones, if the grid is regular: what Zarr can say.
    ///
    /// ```
    /// use shapetracker_chunks::Grid;
    ///
    /// assert_eq!(Grid::new([vec![3, 3, 1]])?.regular_chunk().as_deref(), Some(&[3][..]));
    /// assert_eq!(Grid::new([vec![3, 1, 3]])?.regular_chunk(), None);
    /// # Ok::<(), shapetracker_chunks::Error>(())
    /// ```
    pub fn regular_chunk(&self) -> Option<Dims> {
        let size = |cuts: &Cuts| match cuts {
            Cuts::Even(chunk) => Some(*chunk),
            Cuts::Listed(_) => None,
        };
        self.axes.iter().map(size).collect()
    }

    /// The box of a chunk, by its number: one half-open range per axis.
    ///
    /// ```
    /// assert_eq!(shapetracker_chunks::Grid::regular([7, 2], [3, 2])?.chunk(1)?[..], [(3, 6), (0, 2)]);
    /// # Ok::<(), shapetracker_chunks::Error>(())
    /// ```
    ///
    /// # Errors
    /// A number that no chunk has.
    pub fn chunk(&self, number: usize) -> Result<Ranges, Error> {
        let coordinates = self.coordinates(number)?;
        Ok(coordinates.iter().enumerate().map(|(axis, at)| self.range(axis, *at)).collect())
    }

    /// Where a chunk stands in the grid, by its number.
    ///
    /// ```
    /// let grid = shapetracker_chunks::Grid::regular([7, 4], [3, 2])?;
    /// assert_eq!((&grid.coordinates(3)?[..], grid.number(&[1, 1])), (&[1, 1][..], Some(3)));
    /// # Ok::<(), shapetracker_chunks::Error>(())
    /// ```
    ///
    /// # Errors
    /// A number that no chunk has.
    pub fn coordinates(&self, number: usize) -> Result<Dims, Error> {
        if number >= self.len {
            return Err(Fault::NoChunk { number, count: self.len }.into());
        }
        let mut coordinates = self.counts.clone();
        let mut rest = number;
        for coordinate in coordinates.iter_mut().rev() {
            // Each count divides the number of chunks, which is a `usize`.
            let count = *coordinate as usize;
            *coordinate = (rest % count) as i64;
            rest /= count;
        }
        Ok(coordinates)
    }

    /// The number of the chunk that stands somewhere in the grid; `None` outside of it.
    ///
    /// ```
    /// assert_eq!(shapetracker_chunks::Grid::regular([7, 4], [3, 2])?.number(&[3, 0]), None);
    /// # Ok::<(), shapetracker_chunks::Error>(())
    /// ```
    pub fn number(&self, coordinates: &[i64]) -> Option<usize> {
        let inside = coordinates.len() == self.rank()
            && coordinates.iter().zip(&self.counts).all(|(at, count)| (0..*count).contains(at));
        let number =
            || coordinates.iter().zip(&self.counts).fold(0, |sum, (at, count)| sum * *count as usize + *at as usize);
        inside.then(number)
    }

    /// The number of the chunk in which an element lies; `None` outside of the array.
    ///
    /// ```
    /// assert_eq!(shapetracker_chunks::Grid::regular([7, 4], [3, 2])?.locate(&[6, 1]), Some(4));
    /// # Ok::<(), shapetracker_chunks::Error>(())
    /// ```
    pub fn locate(&self, index: &[i64]) -> Option<usize> {
        let inside =
            index.len() == self.rank() && index.iter().zip(&self.shape).all(|(i, size)| (0..*size).contains(i));
        let at: Option<Dims> = inside.then(|| index.iter().enumerate().map(|(axis, i)| self.find(axis, *i)).collect());
        self.number(&at?)
    }

    /// How many elements a chunk has, by its number; 0 for one that does not exist.
    ///
    /// ```
    /// assert_eq!(shapetracker_chunks::Grid::regular([7, 4], [3, 2])?.numel(4), 2);
    /// # Ok::<(), shapetracker_chunks::Error>(())
    /// ```
    pub fn numel(&self, number: usize) -> i64 {
        self.chunk(number).map_or(0, |ranges| ranges.iter().map(|(begin, end)| end - begin).product())
    }

    /// The range of the chunks that stand at a place along an axis; both exist.
    pub(crate) fn range(&self, axis: usize, at: i64) -> (i64, i64) {
        match &self.axes[axis] {
            Cuts::Even(chunk) => (at * chunk, at.saturating_add(1).saturating_mul(*chunk).min(self.shape[axis])),
            Cuts::Listed(begins) => (begins[at as usize], begins[at as usize + 1]),
        }
    }

    /// The place along an axis of the chunks in which an index of that axis lies.
    pub(crate) fn find(&self, axis: usize, index: i64) -> i64 {
        match &self.axes[axis] {
            Cuts::Even(chunk) => index / chunk,
            Cuts::Listed(begins) => begins.partition_point(|begin| *begin <= index) as i64 - 1,
        }
    }

    /// The size of the smallest chunk at places `first ..= last` along an axis, none of them the last of the axis.
    pub(crate) fn smallest(&self, axis: usize, first: i64, last: i64) -> i64 {
        match &self.axes[axis] {
            Cuts::Even(chunk) => *chunk,
            Cuts::Listed(begins) => {
                let sizes = begins[first as usize..=last as usize + 1].windows(2).map(|ends| ends[1] - ends[0]);
                sizes.min().unwrap_or(i64::MAX)
            }
        }
    }
}

impl Cuts {
    /// From the begins of chunks and the end of the last one, in order.
    fn of(begins: Vec<i64>) -> Cuts {
        let Some(chunk) = begins.get(1).copied() else { return Cuts::Even(1) };
        let last = begins.len() - 2;
        let even = begins.windows(2).enumerate().all(|(number, ends)| {
            let size = ends[1] - ends[0];
            size == chunk || (number == last && size < chunk)
        });
        if even { Cuts::Even(chunk) } else { Cuts::Listed(begins) }
    }

    fn count(&self, size: i64) -> i64 {
        match self {
            Cuts::Even(chunk) => size / chunk + i64::from(size % chunk > 0),
            Cuts::Listed(begins) => begins.len() as i64 - 1,
        }
    }
}

/// `(7, 4) in chunks of (3, 2)`, or the sizes per axis where they are uneven.
impl fmt::Display for Grid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} in chunks of ", tuple(&self.shape))?;
        if let Some(chunk) = self.regular_chunk() {
            return write!(f, "{}", tuple(&chunk));
        }
        let sizes = (0..self.rank()).map(|axis| match &self.axes[axis] {
            Cuts::Even(chunk) => chunk.to_string(),
            Cuts::Listed(_) => {
                const SHOWN: usize = 8;
                let shown: Vec<String> = self.sizes(axis).take(SHOWN).map(|size| size.to_string()).collect();
                let more = if self.counts[axis] > SHOWN as i64 { ", .." } else { "" };
                format!("[{}{more}]", shown.join(", "))
            }
        });
        write!(f, "({})", sizes.collect::<Vec<_>>().join(", "))
    }
}
