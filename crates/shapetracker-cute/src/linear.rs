//! Linear layouts: maps of bits, as Triton has them.

use shapetracker::Dims;

use crate::error::Fault;
use crate::profile::Profile;
use crate::{ComposedLayout, Error, IntTuple, Layout, NoComposition, Order, Swizzle};

/// A map of bits to bits that is linear over exclusive or: for each bit of each input its basis vector, which has a
/// number for each output.
///
/// Its text is what Triton prints, and the attribute `#ttg.linear<{..}>` is read as well.
///
/// ```
/// use shapetracker_cute::LinearLayout;
///
/// let text = " - lane=1 -> (0, 1)\n   lane=2 -> (1, 1)\n - warp is a size 1 dimension\n\
///             where out dims are: [dim0 (size 2), dim1 (size 2)]";
/// let linear: LinearLayout = text.parse()?;
/// assert_eq!(linear.at(&[3, 0]), Some(vec![1, 0])); // (0, 1) xor (1, 1)
/// assert_eq!(linear.to_string(), text);
/// assert_eq!(linear, "#ttg.linear<{lane = [[0, 1], [1, 1]], warp = []}>".parse()?);
/// # Ok::<(), shapetracker_cute::ParseError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinearLayout {
    pub(crate) inputs: Vec<(String, Vec<Vec<i64>>)>,
    pub(crate) outputs: Vec<(String, i64)>,
}

/// Why a layout is not linear over bits.
///
/// ```
/// use shapetracker_cute::{Layout, NotLinear};
///
/// let layout: Layout = "4:3".parse()?;
/// let why = layout.to_linear(&["lane"], "offset").unwrap_err();
/// assert_eq!(why, NotLinear::Carry { coordinates: [1, 2], value: 9, xor: 5 });
/// assert_eq!(
///     why.to_string(),
///     "coordinates 1 and 2 have no bit in common, and at their sum the value is 9, but the exclusive or of theirs is 5",
/// );
/// # Ok::<(), shapetracker_cute::ParseError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NotLinear {
    /// A size is no power of two, so that its coordinates have no bits of their own.
    #[error("leaf {leaf} has size {size}, which is no power of two: its coordinates have no bits of their own")]
    Size {
        /// The leaf, counted from the left.
        leaf: usize,
        /// Its size.
        size: i64,
    },
    /// A value is negative, and has no finite number of bits.
    #[error("coordinate {coordinate} has value {value}, and a negative number has no finite number of bits")]
    Negative {
        /// A number that the layout takes.
        coordinate: i64,
        /// Its value.
        value: i64,
    },
    /// Values carry: at the sum of two numbers without a common bit, which is their exclusive or, the value is not the
    /// exclusive or of the two values.
    #[error(
        "coordinates {} and {} have no bit in common, and at their sum the value is {value}, but the exclusive or of theirs is \
         {xor}", .coordinates[0], .coordinates[1]
    )]
    Carry {
        /// The two numbers.
        coordinates: [i64; 2],
        /// The value at their sum.
        value: i64,
        /// The exclusive or of their values.
        xor: i64,
    },
    /// The first value is not 0, and every linear map takes 0 to 0.
    #[error("coordinate 0 has value {value}, and a linear map takes 0 to 0")]
    Offset {
        /// The value at coordinate 0.
        value: i64,
    },
    /// What is wrong with the names.
    #[error(transparent)]
    Error(#[from] Error),
}

const OP: &str = "linear layout";

impl LinearLayout {
    /// A linear layout from its inputs, each with the basis vectors of its bits, the lowest bit first, and its outputs
    /// with their sizes.
    ///
    /// ```
    /// use shapetracker_cute::LinearLayout;
    ///
    /// let linear = LinearLayout::new([("lane", vec![vec![1], vec![6]])], [("offset", 8)])?;
    /// assert_eq!(linear.at(&[3]), Some(vec![7]));
    /// # Ok::<(), shapetracker_cute::Error>(())
    /// ```
    ///
    /// # Errors
    /// A size of an output that is no power of two, a basis vector outside of the outputs, a name twice, more than 62
    /// bits on either side.
    pub fn new<I: Into<String>, O: Into<String>>(
        inputs: impl IntoIterator<Item = (I, Vec<Vec<i64>>)>,
        outputs: impl IntoIterator<Item = (O, i64)>,
    ) -> Result<LinearLayout, Error> {
        let linear = LinearLayout {
            inputs: inputs.into_iter().map(|(name, bases)| (name.into(), bases)).collect(),
            outputs: outputs.into_iter().map(|(name, size)| (name.into(), size)).collect(),
        };
        for names in [
            linear.inputs.iter().map(|(name, _)| name).collect::<Vec<_>>(),
            linear.outputs.iter().map(|(name, _)| name).collect(),
        ] {
            if let Some(name) = (1..names.len()).find(|&k| names[..k].contains(&names[k])) {
                return Err(Error::new(OP, Fault::NameTwice { name: names[name].clone() }));
            }
        }
        for (name, size) in &linear.outputs {
            if *size < 1 || size.count_ones() != 1 {
                return Err(Error::new(OP, Fault::OutputSize { name: name.clone(), size: *size }));
            }
        }
        let bits = linear.inputs.iter().map(|(_, bases)| bases.len()).sum::<usize>();
        let given = bits.max(linear.output_bits() as usize);
        if given > 62 {
            return Err(Error::new(OP, Fault::TooManyBits { given }));
        }
        for (name, bases) in &linear.inputs {
            let inside = |basis: &Vec<i64>| {
                let mut entries = basis.iter().zip(&linear.outputs);
                basis.len() == linear.outputs.len() && entries.all(|(entry, (_, size))| (0..*size).contains(entry))
            };
            if let Some(basis) = bases.iter().find(|basis| !inside(basis)) {
                let fault =
                    Fault::BasisOutside { input: name.clone(), basis: basis.clone(), outputs: linear.outputs_text() };
                return Err(Error::new(OP, fault));
            }
        }
        Ok(linear)
    }

    /// The inputs: the name of each, and the basis vectors of its bits, the lowest bit first.
    ///
    /// ```
    /// let linear: shapetracker_cute::LinearLayout = "{lane = [[1], [2]]}".parse()?;
    /// assert_eq!(linear.inputs()[0].0, "lane");
    /// # Ok::<(), shapetracker_cute::ParseError>(())
    /// ```
    pub fn inputs(&self) -> &[(String, Vec<Vec<i64>>)] {
        &self.inputs
    }

    /// The outputs: the name of each, and its size.
    ///
    /// ```
    /// let linear: shapetracker_cute::LinearLayout = "{lane = [[1], [2]]}".parse()?;
    /// assert_eq!(linear.outputs(), [("dim0".to_owned(), 4)]);
    /// # Ok::<(), shapetracker_cute::ParseError>(())
    /// ```
    pub fn outputs(&self) -> &[(String, i64)] {
        &self.outputs
    }

    /// The outputs at a number for each input; nothing where one is outside, or there are too few or too many.
    ///
    /// ```
    /// let linear: shapetracker_cute::LinearLayout = "{lane = [[1], [6]], warp = [[8]]}".parse()?;
    /// assert_eq!(linear.at(&[3, 1]), Some(vec![15]));
    /// assert_eq!(linear.at(&[4, 0]), None);
    /// # Ok::<(), shapetracker_cute::ParseError>(())
    /// ```
    pub fn at(&self, inputs: &[i64]) -> Option<Vec<i64>> {
        if inputs.len() != self.inputs.len() {
            return None;
        }
        let mut outputs = vec![0; self.outputs.len()];
        for (&value, (_, bases)) in inputs.iter().zip(&self.inputs) {
            if value < 0 || value >> bases.len() != 0 {
                return None;
            }
            for basis in bases.iter().enumerate().filter(|(bit, _)| value >> bit & 1 == 1).map(|(_, basis)| basis) {
                outputs.iter_mut().zip(basis).for_each(|(output, entry)| *output ^= entry);
            }
        }
        Some(outputs)
    }

    /// The same map with the bits of its outputs shared out to other outputs, of as many bits in all.
    ///
    /// The order says how both lists of outputs are numbered: row-major with the last one fastest, or column-major with
    /// the first one fastest.
    ///
    /// ```
    /// use shapetracker_cute::{LinearLayout, Order};
    ///
    /// let linear: LinearLayout = "{lane = [[0, 1], [0, 2], [1, 0]]}".parse()?;
    /// let flat = linear.reshape_outputs([("offset", 8)], Order::RowMajor)?;
    /// assert_eq!(flat, LinearLayout::new([("lane", vec![vec![1], vec![2], vec![4]])], [("offset", 8)])?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Another number of bits; sizes that are no powers of two; a name twice.
    pub fn reshape_outputs<O: Into<String>>(
        &self,
        outputs: impl IntoIterator<Item = (O, i64)>,
        order: Order,
    ) -> Result<LinearLayout, Error> {
        let mut reshaped = LinearLayout::new(Vec::<(String, _)>::new(), outputs)?;
        let (have, need) = (self.output_bits(), reshaped.output_bits());
        if have != need {
            let (from, to) = (self.outputs_text(), reshaped.outputs_text());
            return Err(Error::new(OP, Fault::OutputBits { from, to, have, need }));
        }
        let bases = |bases: &Vec<Vec<i64>>| {
            let split = |basis: &Vec<i64>| reshaped.split(self.joined(basis, order), order);
            bases.iter().map(split).collect()
        };
        let inputs = self.inputs.iter().map(|(name, of)| (name.clone(), bases(of))).collect();
        reshaped.inputs = inputs;
        Ok(reshaped)
    }

    /// The layout, swizzled where it must be, whose modes are the inputs and whose addresses are the outputs, numbered
    /// in an order; or the reason why there is none.
    ///
    /// ```
    /// use shapetracker_cute::{LinearLayout, Order};
    ///
    /// let linear: LinearLayout = "{register = [[1], [2]], lane = [[4], [9]]}".parse()?;
    /// let layout = linear.to_layout(Order::RowMajor).unwrap();
    /// assert_eq!(layout.to_string(), "Sw<1,0,3> o 0 o (4,4):(1,4)");
    /// # Ok::<(), shapetracker_cute::ParseError>(())
    /// ```
    ///
    /// # Errors
    /// [`NoComposition`], with evidence against a layout without a swizzle; and no swizzle makes it one.
    ///
    /// # Cost
    /// Microseconds where no swizzle is needed; otherwise as many swizzles are tried as the cube of the number of output
    /// bits, at most, each of them on every basis vector.
    ///
    /// # Source
    /// The numbers of each input are a power of two, so that a layout of them has modes that are, too: it is one of
    /// modes of size 2, whose strides are the basis vectors, and sums of these are exclusive ors exactly if no two
    /// share a bit. A swizzle is its own inverse and linear, so that trying all of them is exact.
    pub fn to_layout(&self, order: Order) -> Result<ComposedLayout, NoComposition> {
        let column = |basis: &Vec<i64>| self.joined(basis, order);
        let columns: Vec<Vec<i64>> = self.inputs.iter().map(|(_, bases)| bases.iter().map(column).collect()).collect();
        let profile = Profile::flat_or_leaf(columns.len());
        let why = match runs_of_columns(&columns, &profile) {
            Ok(layout) => return Ok(layout.into()),
            Err(why) => why,
        };
        let bits = self.output_bits() as i32;
        for count in 1..=bits / 2 {
            for base in 0..=bits - 2 * count {
                for shift in (count..=bits - base - count).flat_map(|shift| [shift, -shift]) {
                    let swizzle = Swizzle::new(count as u32, base as u32, shift)?;
                    if are_disjoint(columns.iter().flatten().map(|&column| swizzle.apply(column))) {
                        let swizzled = |leaf: &Vec<i64>| leaf.iter().map(|&column| swizzle.apply(column)).collect();
                        let columns: Vec<Vec<i64>> = columns.iter().map(swizzled).collect();
                        return Ok(swizzle.compose(&runs_of_columns(&columns, &profile)?)?);
                    }
                }
            }
        }
        Err(why)
    }

    fn output_bits(&self) -> u32 {
        self.outputs.iter().fold(0, |bits, (_, size)| bits.saturating_add(size.trailing_zeros()))
    }

    /// Outputs as one number.
    fn joined(&self, basis: &[i64], order: Order) -> i64 {
        let shift = |number: i64, (entry, size): (i64, i64)| number << size.trailing_zeros() | entry;
        let digits = basis.iter().copied().zip(self.outputs.iter().map(|(_, size)| *size));
        match order {
            Order::RowMajor => digits.fold(0, shift),
            Order::ColumnMajor => digits.rev().fold(0, shift),
        }
    }

    /// A number as outputs.
    fn split(&self, number: i64, order: Order) -> Vec<i64> {
        let mut rest = number;
        let mut digit = |(_, size): &(String, i64)| {
            let digit = rest & (size - 1);
            rest >>= size.trailing_zeros();
            digit
        };
        match order {
            Order::ColumnMajor => self.outputs.iter().map(&mut digit).collect(),
            Order::RowMajor => {
                let mut digits: Vec<i64> = self.outputs.iter().rev().map(&mut digit).collect();
                digits.reverse();
                digits
            }
        }
    }

    /// `[dim0 (size 2), dim1 (size 4)]`, as Triton prints outputs.
    pub(crate) fn outputs_text(&self) -> String {
        let outputs: Vec<String> = self.outputs.iter().map(|(name, size)| format!("{name} (size {size})")).collect();
        format!("[{}]", outputs.join(", "))
    }
}

/// What Triton prints, without the empty line in front of it.
impl std::fmt::Display for LinearLayout {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.inputs.is_empty() {
            return match self.outputs.is_empty() {
                true => write!(f, "(empty layout)"),
                false => write!(f, "(empty layout with out-dims {})", self.outputs_text()),
            };
        }
        for (name, bases) in &self.inputs {
            if bases.is_empty() {
                writeln!(f, " - {name} is a size 1 dimension")?;
            }
            for (bit, basis) in bases.iter().enumerate() {
                let entries: Vec<String> = basis.iter().map(i64::to_string).collect();
                let begin = if bit == 0 { " - " } else { "   " };
                writeln!(f, "{begin}{name}={} -> ({})", 1i64 << bit, entries.join(", "))?;
            }
        }
        write!(f, "where out dims are: {}", self.outputs_text())
    }
}

impl Layout {
    /// The layout as a linear map of bits, with an input for each mode and one output, the
    /// address; or the reason why it is none.
    ///
    /// ```
    /// use shapetracker_cute::Layout;
    ///
    /// let layout: Layout = "((2,2),4):((1,8),2)".parse()?;
    /// let linear = layout.to_linear(&["lane", "register"], "offset").unwrap();
    /// assert_eq!(linear.inputs()[0], ("lane".to_owned(), vec![vec![1], vec![8]]));
    /// assert_eq!(linear.outputs(), [("offset".to_owned(), 16)]);
    /// # Ok::<(), shapetracker_cute::ParseError>(())
    /// ```
    ///
    /// # Errors
    /// [`NotLinear`], with the coordinate at which a carry breaks it; another number of names than of modes.
    ///
    /// # Source
    /// A sum is the exclusive or of its parts exactly if no two of them share a bit; the parts are the strides times
    /// powers of two.
    pub fn to_linear(&self, names: &[&str], output: &str) -> Result<LinearLayout, NotLinear> {
        let items = self.profile.items();
        if names.len() != items.len() {
            return Err(Error::new(OP, Fault::Names { given: names.len(), need: items.len() }).into());
        }
        let mut weight = 1;
        for (leaf, (size, stride)) in self.leaves().enumerate() {
            if size.count_ones() != 1 {
                return Err(NotLinear::Size { leaf, size });
            }
            if size > 1 && stride < 0 {
                return Err(NotLinear::Negative { coordinate: weight, value: stride });
            }
            weight *= size;
        }
        let columns: Vec<Vec<i64>> = self.leaves().map(columns_of).collect();
        let all: Vec<i64> = columns.iter().flatten().copied().collect();
        for (bit, &column) in all.iter().enumerate() {
            if let Some(before) = (0..bit).find(|&before| all[before] & column != 0) {
                let coordinates = [1 << before, 1 << bit];
                return Err(NotLinear::Carry { coordinates, value: all[before] + column, xor: all[before] ^ column });
            }
        }
        let inputs = names.iter().zip(items).map(|(&name, (_, leaves))| {
            (name, columns[leaves].iter().flatten().map(|&column| vec![column]).collect::<Vec<_>>())
        });
        Ok(LinearLayout::new(inputs, [(output, size_above(all.iter().fold(0, |high, column| high | column)))])?)
    }

    /// The strides times powers of two, leaf by leaf, if the layout is linear over bits.
    pub(crate) fn columns(&self) -> Option<Vec<Vec<i64>>> {
        let fits = self.leaves().all(|(size, stride)| size.count_ones() == 1 && (size == 1 || stride >= 0));
        let columns: Vec<Vec<i64>> = fits.then(|| self.leaves().map(columns_of).collect())?;
        are_disjoint(columns.iter().flatten().copied()).then_some(columns)
    }
}

impl ComposedLayout {
    /// [`Layout::to_linear`] of a layout under a swizzle.
    ///
    /// ```
    /// use shapetracker_cute::{ComposedLayout, Order};
    ///
    /// let tile: ComposedLayout = "Sw<1,0,2> o 0 o (4,4):(1,4)".parse()?;
    /// let linear = tile.to_linear(&["column", "row"], "offset").unwrap();
    /// assert_eq!(linear.inputs()[1], ("row".to_owned(), vec![vec![5], vec![8]]));
    /// assert_eq!(linear.to_layout(Order::RowMajor).unwrap(), tile);
    /// # Ok::<(), shapetracker_cute::ParseError>(())
    /// ```
    ///
    /// # Errors
    /// [`NotLinear`], with evidence, of the layout without the swizzle; an offset; another number of names than of
    /// modes.
    ///
    /// # Source
    /// A swizzle is linear over bits and its own inverse, so that the composition is linear exactly if the layout is.
    pub fn to_linear(&self, names: &[&str], output: &str) -> Result<LinearLayout, NotLinear> {
        let mut inputs = self.layout.to_linear(names, output)?.inputs;
        if self.offset != 0 {
            return Err(NotLinear::Offset { value: self.swizzle.apply(self.offset) });
        }
        let mut high = 0;
        for entry in inputs.iter_mut().flat_map(|(_, bases)| bases).flatten() {
            *entry = self.swizzle.apply(*entry);
            high |= *entry;
        }
        Ok(LinearLayout::new(inputs, [(output, size_above(high))])?)
    }
}

/// The least power of two that is more than a number.
fn size_above(high: i64) -> i64 {
    1i64.checked_shl(64 - high.leading_zeros()).unwrap_or(i64::MAX)
}

fn columns_of((size, stride): (i64, i64)) -> Vec<i64> {
    (0..size.trailing_zeros()).map(|bit| stride << bit).collect()
}

/// Whether no two numbers share a bit.
fn are_disjoint(mut columns: impl Iterator<Item = i64>) -> bool {
    columns.try_fold(0, |seen, column| (seen & column == 0).then_some(seen | column)).is_some()
}

/// The exclusive or of the columns of the bits of a number.
fn combined(columns: &[i64], number: i64) -> i64 {
    columns.iter().enumerate().filter(|(bit, _)| number >> bit & 1 == 1).fold(0, |value, (_, column)| value ^ column)
}

/// The layout of a linear map whose leaves have these columns, each leaf of the profile as its longest runs.
pub(crate) fn runs_of_columns(columns: &[Vec<i64>], profile: &Profile) -> Result<Layout, NoComposition> {
    let (mut sizes, mut strides, mut counts) = (Dims::new(), Dims::new(), Vec::new());
    for (leaf, bits) in columns.iter().enumerate() {
        let (before, mut bit) = (sizes.len(), 0);
        while bit < bits.len() {
            // Affine as long as each column is twice the one before it; one that shares a bit with the first of them is
            // added to it for the first time one past its own number, which as an odd number more than 1 divides
            // nothing here.
            let mut run = 1;
            while bit + run < bits.len() && bits[bit] <= i64::MAX >> run && bits[bit + run] == bits[bit] << run {
                if bits[bit] & bits[bit + run] != 0 {
                    let (unit, left) = (1 << bit, 1 << (bits.len() - bit));
                    let value = |x: i64| Some(combined(&bits[bit..], x));
                    return Err(NoComposition::length(profile, leaf, [unit, (1 << run) + 1, left], value));
                }
                run += 1;
            }
            sizes.push(1 << run);
            strides.push(bits[bit]);
            bit += run;
        }
        if bits.is_empty() {
            sizes.push(1);
            strides.push(0);
        }
        for (b, &column) in bits.iter().enumerate() {
            if let Some(a) = (0..b).find(|&a| bits[a] & column != 0) {
                let runs = Dims::from_slice(&sizes[before..]);
                let (value, sum) = (bits[a] ^ column, bits[a] + column);
                return Err(NoComposition::Mode { leaf, runs, number: 1 << a | 1 << b, value, sum });
            }
        }
        counts.push(sizes.len() - before);
    }
    for (leaf, bits) in columns.iter().enumerate() {
        for (bit, &column) in bits.iter().enumerate() {
            for (other, more) in columns[..leaf].iter().enumerate() {
                if let Some(b) = more.iter().position(|&more| more & column != 0) {
                    let mut entries = Dims::from_elem(0, columns.len());
                    (entries[leaf], entries[other]) = (1 << bit, 1 << b);
                    return Err(NoComposition::Interact {
                        coordinate: IntTuple { leaves: entries, profile: profile.clone() },
                        value: column ^ more[b],
                        sum: i128::from(column) + i128::from(more[b]),
                    });
                }
            }
        }
    }
    Ok(Layout::checked(sizes, strides, profile.with_leaves_split(counts))?)
}
