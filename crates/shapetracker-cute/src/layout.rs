//! A layout: nested sizes and strides.

use shapetracker::{Dims, MAX_RANK};

use crate::error::Fault;
use crate::profile::Profile;
use crate::{Error, IntTuple};

const OP: &str = "layout";

/// A layout of CuTe: nested sizes, and a stride for each of them, such as `((2,2),4):((1,8),2)`.
///
/// It maps coordinates to integers. The leaves, from left to right, are *modes*; a coordinate has an entry for each,
/// and the value is the sum of the entries times their strides. A number is a coordinate as well: it is taken apart in
/// colexicographic order, the leftmost mode fastest. Strides are any integers, sizes are not negative.
///
/// As a function of numbers a layout has two readings. The *strict* one ends where the coordinates do ([`Layout::at`]).
/// In the *extended* one, which CuTe composes with, the last mode goes on for ever ([`Layout::at_extended`]).
///
/// A layout that exists has at most `i64::MAX` coordinates, and all of their values are in `i64`; where a size is 0, so
/// has the layout of the other modes, so that the modes of a layout are layouts, too.
///
/// ```
/// use shapetracker_cute::Layout;
///
/// let layout = Layout::new(((2, 2), 4), ((1, 8), 2))?;
/// assert_eq!(layout, "((2,2),4):((1,8),2)".parse().unwrap());
/// assert_eq!((layout.size(), layout.cosize()), (16, 16));
/// assert!((0..6).map_while(|x| layout.at(x)).eq([0, 1, 8, 9, 2, 3]));
/// # Ok::<(), shapetracker_cute::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Layout {
    pub(crate) sizes: Dims,
    pub(crate) strides: Dims,
    pub(crate) profile: Profile,
}

/// A mode without nesting: its size and its stride.
pub(crate) type Mode = (i64, i64);

impl Layout {
    /// A layout from its shape and its strides.
    ///
    /// ```
    /// let layout = shapetracker_cute::Layout::new((4, 8), (8, 1))?;
    /// assert_eq!(layout.at_coordinate(&(2, 3).into()), Some(19));
    /// # Ok::<(), shapetracker_cute::Error>(())
    /// ```
    ///
    /// # Errors
    /// Other parentheses, a negative size, more than 64 leaves, more than `i64::MAX` coordinates, a value past `i64`.
    pub fn new(shape: impl Into<IntTuple>, stride: impl Into<IntTuple>) -> Result<Layout, Error> {
        let (shape, stride) = (shape.into(), stride.into());
        if !shape.is_congruent(&stride) {
            return Err(Error::new(OP, Fault::NotCongruent { shape, stride }));
        }
        Layout::checked(shape.leaves, stride.leaves, shape.profile)
    }

    /// The layout whose modes lie one after the other, the leftmost with stride 1: what CuTe makes of a shape alone.
    ///
    /// ```
    /// let layout = shapetracker_cute::Layout::column_major((2, (3, 4)))?;
    /// assert_eq!(layout.to_string(), "(2,(3,4)):(1,(2,6))");
    /// # Ok::<(), shapetracker_cute::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Layout::new`].
    pub fn column_major(shape: impl Into<IntTuple>) -> Result<Layout, Error> {
        Layout::compact(shape.into(), |leaves| (0..leaves).collect())
    }

    /// The layout whose modes lie one after the other, the rightmost with stride 1.
    ///
    /// ```
    /// let layout = shapetracker_cute::Layout::row_major((2, (3, 4)))?;
    /// assert_eq!(layout.to_string(), "(2,(3,4)):(12,(4,1))");
    /// # Ok::<(), shapetracker_cute::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Layout::new`].
    pub fn row_major(shape: impl Into<IntTuple>) -> Result<Layout, Error> {
        Layout::compact(shape.into(), |leaves| (0..leaves).rev().collect())
    }

    fn compact(shape: IntTuple, order: impl Fn(usize) -> Vec<usize>) -> Result<Layout, Error> {
        let mut strides = Dims::from_elem(0, shape.leaves.len());
        check_sizes(&shape.leaves)?;
        let mut product = 1i64;
        for leaf in order(shape.leaves.len()) {
            strides[leaf] = product;
            product *= shape.leaves[leaf];
        }
        Layout::checked(shape.leaves, strides, shape.profile)
    }

    /// A layout with these modes, which become one tuple.
    ///
    /// ```
    /// use shapetracker_cute::Layout;
    ///
    /// let tile: Layout = "(2,2):(1,8)".parse()?;
    /// let layout = Layout::concat([&tile, &"4:2".parse()?])?;
    /// assert_eq!(layout.to_string(), "((2,2),4):((1,8),2)");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`Layout::new`].
    pub fn concat<'a>(modes: impl IntoIterator<Item = &'a Layout>) -> Result<Layout, Error> {
        let modes: Vec<&Layout> = modes.into_iter().collect();
        Layout::checked(
            modes.iter().flat_map(|mode| mode.sizes.iter().copied()).collect(),
            modes.iter().flat_map(|mode| mode.strides.iter().copied()).collect(),
            Profile::tuple(modes.iter().map(|mode| &mode.profile)),
        )
    }

    /// A layout from its parts, the leaves of which are as many as the profile has.
    pub(crate) fn checked(sizes: Dims, strides: Dims, profile: Profile) -> Result<Layout, Error> {
        check_sizes(&sizes)?;
        check_nesting(OP, &profile)?;
        let layout = Layout { sizes, strides, profile };
        let [low, high] = layout.ends();
        if i64::try_from(low).is_err() || i64::try_from(high).is_err() {
            return Err(Error::new(OP, Fault::Overflow { what: "a value" }));
        }
        Ok(layout)
    }

    /// A layout of these modes: a number where there is one, and otherwise a tuple.
    pub(crate) fn of_modes(modes: impl IntoIterator<Item = Mode>) -> Result<Layout, Error> {
        let (sizes, strides): (Vec<i64>, Vec<i64>) = modes.into_iter().unzip();
        let profile = Profile::flat_or_leaf(sizes.len());
        Layout::checked(Dims::from_vec(sizes), Dims::from_vec(strides), profile)
    }

    /// The least and the largest value; where a size is 0 those without that mode.
    fn ends(&self) -> [i128; 2] {
        let mut ends = [0, 0];
        for (size, stride) in self.leaves() {
            let reach = i128::from(stride) * i128::from((size - 1).max(0));
            ends[usize::from(reach > 0)] += reach;
        }
        ends
    }

    /// The shape.
    ///
    /// ```
    /// let layout: shapetracker_cute::Layout = "(2,(3,4)):(12,(4,1))".parse()?;
    /// assert_eq!(layout.shape(), (2, (3, 4)).into());
    /// # Ok::<(), shapetracker_cute::ParseError>(())
    /// ```
    pub fn shape(&self) -> IntTuple {
        IntTuple { leaves: self.sizes.clone(), profile: self.profile.clone() }
    }

    /// The strides, in the parentheses of the shape.
    ///
    /// ```
    /// let layout: shapetracker_cute::Layout = "(2,(3,4)):(12,(4,1))".parse()?;
    /// assert_eq!(layout.stride(), (12, (4, 1)).into());
    /// # Ok::<(), shapetracker_cute::ParseError>(())
    /// ```
    pub fn stride(&self) -> IntTuple {
        IntTuple { leaves: self.strides.clone(), profile: self.profile.clone() }
    }

    /// The leaves, from left to right: size and stride of each.
    ///
    /// ```
    /// let layout: shapetracker_cute::Layout = "(2,(3,4)):(12,(4,1))".parse()?;
    /// assert!(layout.leaves().eq([(2, 12), (3, 4), (4, 1)]));
    /// # Ok::<(), shapetracker_cute::ParseError>(())
    /// ```
    pub fn leaves(&self) -> impl DoubleEndedIterator<Item = (i64, i64)> + ExactSizeIterator {
        self.sizes.iter().copied().zip(self.strides.iter().copied())
    }

    /// The number of modes; 1 for a layout such as `4:1`.
    ///
    /// ```
    /// let layout: shapetracker_cute::Layout = "(2,(3,4)):(12,(4,1))".parse()?;
    /// assert_eq!(layout.rank(), 2);
    /// # Ok::<(), shapetracker_cute::ParseError>(())
    /// ```
    pub fn rank(&self) -> usize {
        self.profile.rank()
    }

    /// The modes as layouts; a layout such as `4:1` is its own only mode.
    ///
    /// ```
    /// let layout: shapetracker_cute::Layout = "(2,(3,4)):(12,(4,1))".parse()?;
    /// assert_eq!(layout.items()[1].to_string(), "(3,4):(4,1)");
    /// # Ok::<(), shapetracker_cute::ParseError>(())
    /// ```
    pub fn items(&self) -> Vec<Layout> {
        let item = |(profile, leaves): (Profile, std::ops::Range<usize>)| Layout {
            sizes: Dims::from_slice(&self.sizes[leaves.clone()]),
            strides: Dims::from_slice(&self.strides[leaves]),
            profile,
        };
        self.profile.items().into_iter().map(item).collect()
    }

    /// The same leaves without nesting.
    ///
    /// ```
    /// let layout: shapetracker_cute::Layout = "(2,(3,4)):(12,(4,1))".parse()?;
    /// assert_eq!(layout.flatten().to_string(), "(2,3,4):(12,4,1)");
    /// # Ok::<(), shapetracker_cute::ParseError>(())
    /// ```
    pub fn flatten(&self) -> Layout {
        let profile = if self.profile.is_leaf() { Profile::leaf() } else { Profile::flat(self.sizes.len()) };
        Layout { profile, ..self.clone() }
    }

    /// The number of coordinates.
    ///
    /// ```
    /// let layout: shapetracker_cute::Layout = "(2,(3,4)):(12,(4,1))".parse()?;
    /// assert_eq!(layout.size(), 24);
    /// # Ok::<(), shapetracker_cute::ParseError>(())
    /// ```
    pub fn size(&self) -> i64 {
        if self.is_empty() { 0 } else { self.sizes.iter().product() }
    }

    /// Whether there is no coordinate: a size is 0.
    ///
    /// ```
    /// let layout: shapetracker_cute::Layout = "(2,0):(1,2)".parse()?;
    /// assert!(layout.is_empty());
    /// # Ok::<(), shapetracker_cute::ParseError>(())
    /// ```
    pub fn is_empty(&self) -> bool {
        self.sizes.contains(&0)
    }

    /// One more than the largest value: how many elements an array must have that the layout reads from its start. A
    /// layout without coordinates needs none.
    ///
    /// Where a stride is negative CuTe's C++ takes its absolute value, and its Python the value at the last coordinate:
    /// neither is the largest.
    ///
    /// ```
    /// let layout: shapetracker_cute::Layout = "(4,3):(1,10)".parse()?;
    /// assert_eq!(layout.cosize(), 24);
    /// # Ok::<(), shapetracker_cute::ParseError>(())
    /// ```
    pub fn cosize(&self) -> i64 {
        self.range().map_or(0, |(_, high)| high.saturating_add(1))
    }

    /// The least and the largest value; nothing where there is no coordinate.
    ///
    /// ```
    /// let layout: shapetracker_cute::Layout = "(4,3):(1,-10)".parse()?;
    /// assert_eq!(layout.range(), Some((-20, 3)));
    /// # Ok::<(), shapetracker_cute::ParseError>(())
    /// ```
    pub fn range(&self) -> Option<(i64, i64)> {
        let [low, high] = if self.is_empty() { return None } else { self.ends() };
        Some((low as i64, high as i64))
    }

    /// The value at a number, which is taken apart in colexicographic order; nothing outside `0..size`.
    ///
    /// ```
    /// let layout: shapetracker_cute::Layout = "(4,3):(1,10)".parse()?;
    /// assert_eq!((layout.at(6), layout.at(12)), (Some(12), None));
    /// # Ok::<(), shapetracker_cute::ParseError>(())
    /// ```
    pub fn at(&self, x: i64) -> Option<i64> {
        if (0..self.size()).contains(&x) { self.at_extended(x) } else { None }
    }

    /// The value at a number where the last mode is taken to go on for ever, as CuTe does; nothing at a negative
    /// number, past `i64`, and where another mode has size 0.
    ///
    /// ```
    /// let layout: shapetracker_cute::Layout = "(4,3):(1,10)".parse()?;
    /// assert_eq!(layout.at_extended(12), Some(30));
    ///
    /// // A last mode of one coordinate is no different.
    /// let layout: shapetracker_cute::Layout = "(4,1):(1,7)".parse()?;
    /// assert_eq!(layout.at_extended(4), Some(7));
    /// # Ok::<(), shapetracker_cute::ParseError>(())
    /// ```
    pub fn at_extended(&self, x: i64) -> Option<i64> {
        if x < 0 {
            return None;
        }
        let (mut rest, mut value) = (x, 0i128);
        let last = self.sizes.len().checked_sub(1);
        for (leaf, (size, stride)) in self.leaves().enumerate() {
            let entry = if Some(leaf) == last { std::mem::take(&mut rest) } else { rest.checked_rem(size)? };
            value += i128::from(entry) * i128::from(stride);
            rest = rest.checked_div(size).unwrap_or(0);
        }
        // Without modes there is nothing that could go on.
        if last.is_none() && x > 0 { None } else { i64::try_from(value).ok() }
    }

    /// The value at a coordinate, which has an entry for each mode: a number, which is taken
    /// apart, or a coordinate of the mode. Nothing where it has other parentheses, or an entry is outside.
    ///
    /// ```
    /// let layout: shapetracker_cute::Layout = "((2,2),4):((1,8),2)".parse()?;
    /// assert_eq!(layout.at_coordinate(&((0, 1), 3).into()), Some(14));
    /// assert_eq!(layout.at_coordinate(&(2, 3).into()), Some(14));
    /// assert_eq!(layout.at_coordinate(&14.into()), Some(14));
    /// assert_eq!(layout.at_coordinate(&(4, 3).into()), None);
    /// # Ok::<(), shapetracker_cute::ParseError>(())
    /// ```
    pub fn at_coordinate(&self, coordinate: &IntTuple) -> Option<i64> {
        let (mut value, mut leaf, mut entry, mut node) = (0i128, 0, 0, 0);
        let nodes = self.profile.nodes();
        for &given in coordinate.profile.nodes() {
            if given > 0 {
                // A tuple, which must be one here, too, with as many items.
                if nodes.get(node) != Some(&given) {
                    return None;
                }
                node += 1;
                continue;
            }
            // A number stands for everything that belongs to this node.
            let end = if node < nodes.len() { self.profile.end(node) } else { return None };
            let leaves = nodes[node..end].iter().filter(|&&node| node == 0).count();
            let mut rest = *coordinate.leaves.get(entry)?;
            if rest < 0 {
                return None;
            }
            for (&size, &stride) in self.sizes[leaf..leaf + leaves].iter().zip(&self.strides[leaf..leaf + leaves]) {
                value += i128::from(rest.checked_rem(size)?) * i128::from(stride);
                rest /= size;
            }
            if rest > 0 {
                return None;
            }
            (leaf, entry, node) = (leaf + leaves, entry + 1, end);
        }
        i64::try_from(value).ok()
    }

    /// A number as a coordinate in the parentheses of the shape; nothing outside `0..size`.
    ///
    /// ```
    /// let layout: shapetracker_cute::Layout = "((2,2),4):((1,8),2)".parse()?;
    /// assert_eq!(layout.coordinate(14), Some(((0, 1), 3).into()));
    /// # Ok::<(), shapetracker_cute::ParseError>(())
    /// ```
    pub fn coordinate(&self, x: i64) -> Option<IntTuple> {
        if !(0..self.size()).contains(&x) {
            return None;
        }
        let mut rest = x;
        let entry = |&size: &i64| {
            let entry = rest % size;
            rest /= size;
            entry
        };
        Some(IntTuple { leaves: self.sizes.iter().map(entry).collect(), profile: self.profile.clone() })
    }
}

/// Refuses shapes with negative sizes, too many leaves, or more coordinates than `i64` counts.
fn check_sizes(sizes: &[i64]) -> Result<(), Error> {
    if sizes.len() > MAX_RANK {
        return Err(Error::new(OP, Fault::TooManyLeaves { given: sizes.len() }));
    }
    if let Some(&size) = sizes.iter().find(|&&size| size < 0) {
        return Err(Error::new(OP, Fault::NegativeSize { size }));
    }
    let product = sizes.iter().try_fold(1i64, |product, &size| product.checked_mul(size.max(1)));
    if product.is_none() {
        return Err(Error::new(OP, Fault::Overflow { what: "the number of coordinates" }));
    }
    Ok(())
}

/// The most parentheses and numbers of a shape. Those of programs have a few dozen; without a limit crafted ones could
/// take very long to take apart.
const MOST_NODES: usize = 16 * MAX_RANK;

/// Refuses parentheses that are too many.
pub(crate) fn check_nesting(op: &'static str, profile: &Profile) -> Result<(), Error> {
    let given = profile.nodes().len();
    if given > MOST_NODES { Err(Error::new(op, Fault::TooNested { given, most: MOST_NODES })) } else { Ok(()) }
}
