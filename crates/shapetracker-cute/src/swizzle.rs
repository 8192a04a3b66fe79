//! Swizzles, and layouts under them.

use shapetracker::Dims;

use crate::error::Fault;
use crate::linear::runs_of_columns;
use crate::{Error, IntTuple, Layout, NoComposition};

/// A swizzle `<B,M,S>`: `B` bits of an address are combined, by exclusive or, into the bits `S` places below them, the
/// lowest of which is bit `M`. With a negative `S` it is the lower bits that are combined into the higher ones.
///
/// It acts on addresses as they are counted: those of a layout of elements count elements, those of a pointer bytes.
///
/// It is a permutation of the addresses, its own inverse, and leaves addresses below bit `M` as they are.
///
/// ```
/// use shapetracker_cute::Swizzle;
///
/// let swizzle = Swizzle::new(2, 0, 3)?;
/// assert_eq!(swizzle.to_string(), "Sw<2,0,3>");
/// assert_eq!(swizzle.apply(0b01_010), 0b01_011);
/// assert!((0..64).all(|x| swizzle.apply(swizzle.apply(x)) == x));
/// # Ok::<(), shapetracker_cute::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Swizzle {
    bits: u32,
    base: u32,
    shift: i32,
}

impl Swizzle {
    /// The swizzle that changes nothing.
    ///
    /// ```
    /// assert_eq!(shapetracker_cute::Swizzle::IDENTITY.apply(77), 77);
    /// ```
    pub const IDENTITY: Swizzle = Swizzle { bits: 0, base: 0, shift: 0 };

    /// The swizzle `<bits,base,shift>`.
    ///
    /// ```
    /// use shapetracker_cute::Swizzle;
    ///
    /// assert!(Swizzle::new(3, 4, 3).is_ok());
    /// assert!(Swizzle::new(3, 4, 2).is_err());
    /// ```
    ///
    /// # Errors
    /// A shift by fewer places than there are bits, and bits past the 62 that are used of an address.
    pub fn new(bits: u32, base: u32, shift: i32) -> Result<Swizzle, Error> {
        if bits > shift.unsigned_abs() {
            return Err(Error::new("swizzle", Fault::ShiftTooShort { bits, base, shift }));
        }
        let top = [base, shift.unsigned_abs()].into_iter().try_fold(bits, u32::checked_add);
        if top.is_none_or(|top| top > 62) {
            return Err(Error::new("swizzle", Fault::SwizzleTooWide { bits, base, shift }));
        }
        Ok(Swizzle { bits, base, shift })
    }

    /// How many bits are combined.
    ///
    /// ```
    /// assert_eq!(shapetracker_cute::Swizzle::new(3, 4, 5)?.bits(), 3);
    /// # Ok::<(), shapetracker_cute::Error>(())
    /// ```
    pub fn bits(&self) -> u32 {
        self.bits
    }

    /// The lowest bit that takes part: how many low bits stay as they are.
    ///
    /// ```
    /// assert_eq!(shapetracker_cute::Swizzle::new(3, 4, 5)?.base(), 4);
    /// # Ok::<(), shapetracker_cute::Error>(())
    /// ```
    pub fn base(&self) -> u32 {
        self.base
    }

    /// How many places further down the bits are combined; negative for further up.
    ///
    /// ```
    /// assert_eq!(shapetracker_cute::Swizzle::new(3, 4, 5)?.shift(), 5);
    /// # Ok::<(), shapetracker_cute::Error>(())
    /// ```
    pub fn shift(&self) -> i32 {
        self.shift
    }

    /// The address that an address is moved to. Negative addresses stay as they are: none of a layout under a swizzle
    /// is.
    ///
    /// ```
    /// assert_eq!(shapetracker_cute::Swizzle::new(1, 0, 1)?.apply(2), 3);
    /// # Ok::<(), shapetracker_cute::Error>(())
    /// ```
    pub fn apply(&self, address: i64) -> i64 {
        if address < 0 {
            return address;
        }
        let mask = ((1i64 << self.bits) - 1) << (self.base + self.shift.max(0) as u32);
        if self.shift >= 0 {
            address ^ ((address & mask) >> self.shift)
        } else {
            address ^ ((address & mask) << -self.shift)
        }
    }

    /// The bits that it reads and those that it changes, in pairs.
    pub(crate) fn pairs(&self) -> impl Iterator<Item = (u32, u32)> + use<> {
        let (source, target) = (self.base + self.shift.max(0) as u32, self.base + self.shift.min(0).unsigned_abs());
        (0..self.bits).map(move |bit| (source + bit, target + bit))
    }

    /// How many low bits of an address decide what happens to it.
    pub(crate) fn width(&self) -> u32 {
        if self.bits == 0 { 0 } else { self.base + self.bits + self.shift.unsigned_abs() }
    }

    /// The addresses of a layout, swizzled.
    ///
    /// ```
    /// use shapetracker_cute::{Layout, Swizzle};
    ///
    /// let swizzled = Swizzle::new(3, 0, 3)?.compose(&Layout::row_major((8, 8))?)?;
    /// assert_eq!(swizzled.to_string(), "Sw<3,0,3> o 0 o (8,8):(8,1)");
    /// assert_eq!(swizzled.at(1), Some(9));
    /// # Ok::<(), shapetracker_cute::Error>(())
    /// ```
    ///
    /// # Errors
    /// A layout with negative values.
    pub fn compose(&self, layout: &Layout) -> Result<ComposedLayout, Error> {
        ComposedLayout::new(*self, 0, layout.clone())
    }
}

/// A layout whose values have an offset added to them, and are swizzled then: `Sw<3,3,3> o 0 o (8,8):(8,1)`.
///
/// A layout by itself becomes one by `into`.
///
/// ```
/// use shapetracker_cute::ComposedLayout;
///
/// let swizzled: ComposedLayout = "Sw<2,0,2> o 4 o (4,4):(4,1)".parse()?;
/// assert_eq!(swizzled.at(1), Some((4 + 4) ^ 2));
/// # Ok::<(), shapetracker_cute::ParseError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ComposedLayout {
    pub(crate) swizzle: Swizzle,
    pub(crate) offset: i64,
    pub(crate) layout: Layout,
}

/// The most coordinates of a layout of which every value is looked at, where nothing else decides.
pub(crate) const MOST_VALUES: i64 = 1 << 16;
/// How far below the largest address of a layout the largest swizzled one is looked for.
const MOST_BELOW: i64 = 1 << 20;

impl ComposedLayout {
    /// A layout, an offset and a swizzle.
    ///
    /// ```
    /// use shapetracker_cute::{ComposedLayout, Layout, Swizzle};
    ///
    /// let layout = Layout::new(4, -1)?;
    /// assert!(ComposedLayout::new(Swizzle::new(1, 0, 1)?, 3, layout.clone()).is_ok());
    /// assert!(ComposedLayout::new(Swizzle::new(1, 0, 1)?, 2, layout).is_err());
    /// # Ok::<(), shapetracker_cute::Error>(())
    /// ```
    ///
    /// # Errors
    /// An address past `i64`; a negative one, unless the swizzle changes nothing.
    pub fn new(swizzle: Swizzle, offset: i64, layout: Layout) -> Result<ComposedLayout, Error> {
        if let Some((low, high)) = layout.range() {
            let Some((low, _)) = low.checked_add(offset).zip(high.checked_add(offset)) else {
                return Err(Error::new("swizzle", Fault::Overflow { what: "an address" }));
            };
            if swizzle.bits > 0 && low < 0 {
                // The lowest address is where every entry of a negative stride is the largest.
                let mut weight = 1;
                let coordinate = layout.leaves().map(|(size, stride)| {
                    let here = weight;
                    weight *= size;
                    if stride < 0 { here * (size - 1) } else { 0 }
                });
                let fault = Fault::NegativeAddress { coordinate: coordinate.sum(), address: low };
                return Err(Error::new("swizzle", fault));
            }
        }
        Ok(ComposedLayout { swizzle, offset, layout })
    }

    /// The swizzle.
    ///
    /// ```
    /// let composed: shapetracker_cute::ComposedLayout = "Sw<2,0,2> o 4 o 8:1".parse()?;
    /// assert_eq!(composed.swizzle().bits(), 2);
    /// # Ok::<(), shapetracker_cute::ParseError>(())
    /// ```
    pub fn swizzle(&self) -> Swizzle {
        self.swizzle
    }

    /// What is added to the values of the layout before they are swizzled.
    ///
    /// ```
    /// let composed: shapetracker_cute::ComposedLayout = "Sw<2,0,2> o 4 o 8:1".parse()?;
    /// assert_eq!(composed.offset(), 4);
    /// # Ok::<(), shapetracker_cute::ParseError>(())
    /// ```
    pub fn offset(&self) -> i64 {
        self.offset
    }

    /// The layout.
    ///
    /// ```
    /// let composed: shapetracker_cute::ComposedLayout = "Sw<2,0,2> o 4 o 8:1".parse()?;
    /// assert_eq!(composed.layout().to_string(), "8:1");
    /// # Ok::<(), shapetracker_cute::ParseError>(())
    /// ```
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// The layout, where neither the swizzle nor the offset changes anything; else nothing.
    ///
    /// ```
    /// use shapetracker_cute::ComposedLayout;
    ///
    /// let plain: ComposedLayout = "Sw<0,0,0> o 0 o 8:1".parse()?;
    /// assert_eq!(plain.as_layout(), Some(plain.layout()));
    /// assert_eq!("Sw<1,0,1> o 0 o 8:1".parse::<ComposedLayout>()?.as_layout(), None);
    /// # Ok::<(), shapetracker_cute::ParseError>(())
    /// ```
    pub fn as_layout(&self) -> Option<&Layout> {
        (self.swizzle == Swizzle::IDENTITY && self.offset == 0).then_some(&self.layout)
    }

    /// The address at a number, which is taken apart in colexicographic order; nothing outside of the layout.
    ///
    /// ```
    /// let composed: shapetracker_cute::ComposedLayout = "Sw<1,0,1> o 0 o 4:1".parse()?;
    /// assert!((0..4).map_while(|x| composed.at(x)).eq([0, 1, 3, 2]));
    /// # Ok::<(), shapetracker_cute::ParseError>(())
    /// ```
    pub fn at(&self, x: i64) -> Option<i64> {
        self.layout.at(x).map(|value| self.swizzle.apply(self.offset + value))
    }

    /// The address at a coordinate, as [`Layout::at_coordinate`] takes it; nothing outside of the layout.
    ///
    /// ```
    /// let composed: shapetracker_cute::ComposedLayout = "Sw<1,0,1> o 0 o (2,2):(1,2)".parse()?;
    /// assert_eq!(composed.at_coordinate(&(0, 1).into()), Some(3));
    /// # Ok::<(), shapetracker_cute::ParseError>(())
    /// ```
    pub fn at_coordinate(&self, coordinate: &IntTuple) -> Option<i64> {
        self.layout.at_coordinate(coordinate).map(|value| self.swizzle.apply(self.offset + value))
    }

    /// One more than the largest address: how many elements an array must have that holds all of them. A layout without
    /// coordinates needs none.
    ///
    /// A swizzle may move an address past the largest one of the layout.
    ///
    /// ```
    /// use shapetracker_cute::ComposedLayout;
    ///
    /// let composed: ComposedLayout = "Sw<2,0,2> o 0 o 14:1".parse()?;
    /// assert_eq!((composed.layout().cosize(), composed.cosize()?), (14, 16)); // 12 is moved to 15
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::is_limit`] for swizzles that change bits past the lowest 20 of an address.
    ///
    /// # Cost
    /// Proportional to the number of modes times 2 to the number of low bits within which the swizzle changes something,
    /// and independent of the sizes.
    ///
    /// # Source
    /// A swizzle keeps the bits above those that it changes, so that the largest address is one of those with the
    /// largest of these: less than a power of two below the largest one of the layout, from which they differ by sums of
    /// absolute strides, each at most as often as its size allows.
    pub fn cosize(&self) -> Result<i64, Error> {
        let Some((_, high)) = self.layout.range() else { return Ok(0) };
        let high = high + self.offset;
        let Some(top) = self.swizzle.pairs().map(|(_, target)| target + 1).max() else {
            return Ok(high.saturating_add(1));
        };
        // How far below the largest address the bits that stay are the same.
        let slack = high & ((1 << top) - 1);
        if slack >= MOST_BELOW {
            let fault = Fault::TooMuchWork { what: "the largest address under a swizzle", limit: MOST_BELOW as u64 };
            return Err(Error::new("swizzle", fault));
        }
        let mut reached = vec![false; slack as usize + 1];
        reached[0] = true;
        for (size, stride) in self.layout.leaves() {
            let stride = stride.unsigned_abs();
            if size == 1 || stride == 0 || stride > slack as u64 {
                continue;
            }
            // How often the stride was taken for what is reached: as few times as possible.
            let mut taken: Vec<i64> = reached.iter().map(|&reached| if reached { 0 } else { size }).collect();
            for below in stride as usize..reached.len() {
                taken[below] = taken[below].min(taken[below - stride as usize] + 1);
                reached[below] = taken[below] < size;
            }
        }
        let below = (0..).zip(reached).filter(|&(_, reached)| reached);
        let largest = below.map(|(below, _)| self.swizzle.apply(high - below)).max();
        Ok(largest.unwrap_or(high).saturating_add(1))
    }

    /// The same addresses at the values of another layout: [`Layout::compose`] under the swizzle.
    ///
    /// ```
    /// use shapetracker_cute::{ComposedLayout, Layout};
    ///
    /// let tile: ComposedLayout = "Sw<3,0,3> o 0 o (8,8):(8,1)".parse()?;
    /// let rows: Layout = "(8,4):(1,8)".parse()?;
    /// assert_eq!(tile.compose(&rows).unwrap().to_string(), "Sw<3,0,3> o 0 o (8,4):(8,1)");
    /// # Ok::<(), shapetracker_cute::ParseError>(())
    /// ```
    ///
    /// # Errors
    /// [`NoComposition`] of the two layouts. A swizzle is a permutation: with it there is a composition exactly if
    /// there is one without it.
    pub fn compose(&self, other: &Layout) -> Result<ComposedLayout, NoComposition> {
        Ok(ComposedLayout::new(self.swizzle, self.offset, self.layout.compose(other)?)?)
    }

    /// The layout without a swizzle that has the same addresses, and what must be added to its values; or the reason
    /// why there is none.
    ///
    /// ```
    /// use shapetracker_cute::ComposedLayout;
    ///
    /// // The bits that are combined are never set in more than one place.
    /// let composed: ComposedLayout = "Sw<2,0,2> o 0 o (4,4):(4,16)".parse()?;
    /// let (layout, offset) = composed.plain().unwrap();
    /// assert_eq!((layout.to_string(), offset), ("(4,4):(5,16)".into(), 0));
    ///
    /// let composed: ComposedLayout = "Sw<2,0,2> o 0 o (4,4):(4,1)".parse()?;
    /// let why = composed.plain().unwrap_err();
    /// assert!(why.to_string().starts_with("at coordinate (1,1) the value is 4, but"), "{why}");
    /// # Ok::<(), shapetracker_cute::ParseError>(())
    /// ```
    ///
    /// # Errors
    /// [`NoComposition`], with evidence; [`NoComposition::Undecided`] for layouts of more than 65,536 coordinates that
    /// are not linear over bits.
    ///
    /// # Cost
    /// Of layouts that are linear over bits, proportional to the square of the number of bits; of others, to the number of
    /// coordinates, of which there are at most 65,536.
    ///
    /// # Source
    /// A linear layout under a swizzle is linear, and is a layout exactly if no two of its basis vectors share a bit
    /// ([`LinearLayout`](crate::LinearLayout)). Of small layouts every value is looked at.
    pub fn plain(&self) -> Result<(Layout, i64), NoComposition> {
        let high = self.layout.range().map_or(0, |(_, high)| high + self.offset);
        if self.swizzle.pairs().next().is_none_or(|(source, _)| high < 1 << source) {
            return Ok((self.layout.clone(), self.offset));
        }
        if let (0, Some(columns)) = (self.offset, self.layout.columns()) {
            let swizzled = |leaf: Vec<i64>| leaf.into_iter().map(|column| self.swizzle.apply(column)).collect();
            let columns: Vec<Vec<i64>> = columns.into_iter().map(swizzled).collect();
            return Ok((runs_of_columns(&columns, &self.layout.profile)?, 0));
        }
        if self.layout.size() > MOST_VALUES {
            return Err(NoComposition::Undecided);
        }
        Ok((self.by_values()?, self.swizzle.apply(self.offset)))
    }

    /// [`ComposedLayout::plain`] by all values: each leaf is split at its longest affine runs, and the sums are
    /// compared.
    fn by_values(&self) -> Result<Layout, NoComposition> {
        let first = self.swizzle.apply(self.offset);
        let value = |x: i64| self.at(x).unwrap_or(first) - first;
        let (mut parts, mut counts, mut weight) = (Vec::new(), Vec::new(), 1);
        for (leaf, &size) in self.layout.sizes.iter().enumerate() {
            let (mut unit, mut left) = (1, size);
            let before = parts.len();
            while left > 1 {
                let step = weight * unit;
                let stride = value(step);
                let run = (2..left).find(|&x| value(x * step) != x * stride).unwrap_or(left);
                if left % run != 0 {
                    let value = |x: i64| Some(value(x * step));
                    return Err(NoComposition::length(&self.layout.profile, leaf, [unit, run, left], value));
                }
                parts.push((run, stride));
                (unit, left) = (unit * run, left / run);
            }
            if size == 1 {
                parts.push((1, 0));
            }
            let runs = &parts[before..];
            for number in 1..size {
                let (value, sum) = (value(number * weight), sum_of(runs, number));
                if value != sum {
                    let runs = runs.iter().map(|run| run.0).collect();
                    return Err(NoComposition::Mode { leaf, runs, number, value, sum });
                }
            }
            counts.push(parts.len() - before);
            weight *= size;
        }
        if let Some(x) = (0..self.layout.size()).find(|&x| value(x) != sum_of(&parts, x)) {
            let coordinate = self.layout.coordinate(x).unwrap_or_else(|| IntTuple::from(x));
            return Err(NoComposition::Interact { coordinate, value: value(x), sum: sum_of(&parts, x).into() });
        }
        let profile = self.layout.profile.with_leaves_split(counts);
        let (sizes, strides): (Dims, Dims) = (parts.iter().map(|p| p.0).collect(), parts.iter().map(|p| p.1).collect());
        Ok(Layout::checked(sizes, strides, profile)?)
    }
}

/// What modes add up to at a number.
fn sum_of(modes: &[(i64, i64)], number: i64) -> i64 {
    let mut rest = number;
    let part = |&(size, stride): &(i64, i64)| {
        let digit = rest % size;
        rest /= size;
        digit * stride
    };
    modes.iter().map(part).sum()
}

impl From<Layout> for ComposedLayout {
    fn from(layout: Layout) -> ComposedLayout {
        ComposedLayout { swizzle: Swizzle::IDENTITY, offset: 0, layout }
    }
}
