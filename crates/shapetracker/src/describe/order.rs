//! In which order the axes of a layout lie in memory, and what that order is called.

use std::fmt;

use shapetracker_base::list::sort_short_by_key;

use super::Laid;
use crate::Dims;
use crate::advice::channels_last;

/// The order in which the axes of a layout lie in memory: each one moves the address past all that those after it reach.
///
/// ```
/// use shapetracker::{ShapeTracker, describe::describe};
///
/// // Channels in blocks of 8, as oneDNN stores them: nChw8c.
/// let blocked = ShapeTracker::contiguous([2, 4, 5, 5, 8])?.permute([0, 1, 4, 2, 3])?.reshape([2, 32, 5, 5])?;
/// let found = describe(&blocked, None);
/// let order = found.order.unwrap();
/// let digits: Vec<_> = order.digits.iter().map(|digit| (digit.axis, digit.size)).collect();
/// assert_eq!(digits, [(0, 2), (1, 4), (2, 5), (3, 5), (1, 8)]);
/// assert_eq!((order.names, found.formats[0].name.as_str()), (vec!["blocked"], "aBcd8b"));
/// # Ok::<(), shapetracker::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Order {
    /// The axes that move the address, outermost first; an axis of which only a split is strided stands there once for each
    /// of its digits.
    pub digits: Vec<Digit>,
    /// What the order is called, as [`Description::is_named`](super::Description::is_named) has it. A layout that walks
    /// backwards or repeats its elements has no name.
    pub names: Vec<&'static str>,
    /// The axes along which the address goes down.
    pub backwards: Vec<usize>,
    /// The axes of several elements along which they repeat: those of stride 0.
    pub repeated: Vec<usize>,
}

/// An axis, or a digit of one, that moves the address.
///
/// ```
/// use shapetracker::{ShapeTracker, describe::describe};
///
/// let order = describe(&ShapeTracker::contiguous([2, 3])?, None).order.unwrap();
/// assert_eq!((order.digits[0].axis, order.digits[0].size, order.digits[0].stride), (0, 2, 3));
/// # Ok::<(), shapetracker::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Digit {
    /// The axis.
    pub axis: usize,
    /// How many of its entries, or values of the digit, are not masked.
    pub size: i64,
    /// How far one more moves the index along the axis: 1 but for the outer digits of an axis that is split.
    pub weight: i64,
    /// How far it moves the address, in elements.
    pub stride: i64,
}

/// What a library calls a layout: `NHWC` of cuDNN, `acdb` or `aBcd8b` of oneDNN.
///
/// Those of oneDNN are made by the rule of its documentation: a letter for each axis, outermost in memory first, capital where
/// the axis is blocked, and then the blocks with their sizes. Its header has constants for the usual ones.
///
/// ```
/// use shapetracker::{ShapeTracker, describe::describe};
///
/// let found = describe(&ShapeTracker::contiguous([8, 3, 5, 5])?, None);
/// assert_eq!(found.formats[0].to_string(), "NCHW (cuDNN)");
/// assert_eq!(found.formats[1].to_string(), "abcd (oneDNN)");
/// # Ok::<(), shapetracker::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Format {
    /// `cuDNN` or `oneDNN`.
    pub library: &'static str,
    /// The name.
    pub name: String,
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.name, self.library)
    }
}

/// oneDNN's tensors have at most so many axes.
const MOST_AXES: usize = 12;

impl Order {
    /// The order in which the digits nest; `None` where they do not.
    pub(super) fn of(laid: &Laid, rank: usize) -> Option<Order> {
        let view = &laid.view;
        let (mut digits, mut backwards, mut repeated) = (Vec::new(), Vec::new(), Vec::new());
        if !view.is_empty() {
            // The digits of an axis stand one after the other, the outermost first.
            let (mut weights, mut weight) = (vec![1; view.rank()], 1);
            for place in (0..view.rank()).rev() {
                let is_innermost = laid.axes.get(place + 1) != Some(&laid.axes[place]);
                weight = if is_innermost { 1 } else { weight * view.shape()[place + 1] };
                weights[place] = weight;
            }
            for (place, &stride) in view.strides().iter().enumerate() {
                let ((begin, end), axis) = (view.range(place), laid.axes[place]);
                match stride {
                    _ if end - begin < 2 => continue,
                    0 => repeated.push(axis),
                    _ => digits.push(Digit { axis, size: end - begin, weight: weights[place], stride }),
                }
                if stride < 0 {
                    backwards.push(axis);
                }
            }
        }
        sort_short_by_key(&mut digits, |digit: &Digit| digit.stride.unsigned_abs());
        let mut reach = 0;
        for digit in &digits {
            let step = i128::from(digit.stride).abs();
            if step <= reach {
                return None;
            }
            reach += step * i128::from(digit.size - 1);
        }
        digits.reverse();
        let named = backwards.is_empty() && repeated.is_empty();
        let names = if named { names(&digits, rank) } else { Vec::new() };
        Some(Order { digits, names, backwards, repeated })
    }

    /// All axes, outermost in memory first, where each is one digit: those that move no address stand behind the axis before
    /// them.
    pub(super) fn axes(&self, rank: usize) -> Option<Dims> {
        if self.names.contains(&"blocked") {
            return None;
        }
        if let Some(&name) = self.names.first() {
            return order_of(name, rank);
        }
        let mut axes: Vec<usize> = self.digits.iter().map(|digit| digit.axis).collect();
        for axis in 0..rank {
            if !axes.contains(&axis) {
                let behind = axes.iter().position(|&other| other + 1 == axis).map_or(0, |place| place + 1);
                axes.insert(behind, axis);
            }
        }
        Some(axes.into_iter().map(|axis| axis as i64).collect())
    }

    /// What libraries call a dense layout of this order.
    pub(super) fn formats(&self, rank: usize) -> Vec<Format> {
        let tag = match &self.names[..] {
            _ if rank == 0 || rank > MOST_AXES => None,
            ["blocked"] => self.blocked_tag(rank),
            [] => self.axes(rank).map(|axes| letters(&axes)),
            names => return formats_of(names, rank),
        };
        tag.into_iter().map(|name| Format { library: "oneDNN", name }).collect()
    }

    /// The tag of a blocked layout: the outermost digits of all axes, and behind them the blocks. Nothing where a block lies
    /// outside of some axis, or inside of a smaller block of its own.
    fn blocked_tag(&self, rank: usize) -> Option<String> {
        let mut outer: Vec<usize> = Vec::new();
        let mut blocks: Vec<Digit> = Vec::new();
        for (place, digit) in self.digits.iter().enumerate() {
            let before = self.digits[..place].iter().rev().find(|other| other.axis == digit.axis);
            if before.is_some_and(|before| before.weight < digit.weight) {
                return None;
            }
            match outer.contains(&digit.axis) {
                true => blocks.push(*digit),
                false if !blocks.is_empty() => return None,
                false => outer.push(digit.axis),
            }
        }
        for axis in 0..rank {
            if !outer.contains(&axis) {
                let behind = outer.iter().position(|&other| other + 1 == axis).map_or(0, |place| place + 1);
                outer.insert(behind, axis);
            }
        }
        let is_blocked = |axis: usize| blocks.iter().any(|block| block.axis == axis);
        let outer = outer.iter().map(|&axis| match is_blocked(axis) {
            true => letter(axis).to_ascii_uppercase(),
            false => letter(axis),
        });
        let inner: String = blocks.iter().map(|block| format!("{}{}", block.size, letter(block.axis))).collect();
        Some(outer.collect::<String>() + &inner)
    }
}

/// What cuDNN and oneDNN call a dense layout of so many axes in orders that have these names; see
/// [`Description::is_named`](super::Description::is_named).
///
/// ```
/// let formats = shapetracker::describe::formats_of(&["channels_last"], 4);
/// assert_eq!(formats.iter().map(|format| &format.name[..]).collect::<Vec<_>>(), ["NHWC", "acdb"]);
/// ```
pub fn formats_of(names: &[&str], rank: usize) -> Vec<Format> {
    if rank == 0 || rank > MOST_AXES {
        return Vec::new();
    }
    let cudnn = |name: &&str| match (*name, rank) {
        ("row-major", 4) => Some("NCHW"),
        ("row-major", 5) => Some("NCDHW"),
        ("channels_last", _) => Some("NHWC"),
        ("channels_last_3d", _) => Some("NDHWC"),
        _ => None,
    };
    let mut tags: Vec<String> = names.iter().filter_map(|name| Some(letters(&order_of(name, rank)?))).collect();
    tags.dedup();
    let cudnn = names.iter().filter_map(cudnn).map(|name| Format { library: "cuDNN", name: name.into() });
    cudnn.chain(tags.into_iter().map(|name| Format { library: "oneDNN", name })).collect()
}

/// The letter of an axis in oneDNN.
fn letter(axis: usize) -> char {
    // There are at most twelve.
    char::from(b'a' + axis as u8)
}

fn letters(axes: &[i64]) -> String {
    axes.iter().map(|&axis| letter(axis as usize)).collect()
}

/// The axes in the order of a name, outermost first.
fn order_of(name: &str, rank: usize) -> Option<Dims> {
    let rows = 0..rank as i64;
    match name {
        "row-major" => Some(rows.collect()),
        "column-major" => Some(rows.rev().collect()),
        _ => Some(channels_last(rank)?.iter().rev().map(|&axis| axis as i64).collect()),
    }
}

/// All names of orders.
pub(super) const NAMES: [&str; 5] = ["row-major", "column-major", "channels_last", "channels_last_3d", "blocked"];

/// The orders of so many axes that have a name, with the axes of each, the outermost first: `row-major`, `column-major`, and of four
/// and five axes `channels_last` and `channels_last_3d`.
///
/// ```
/// let orders = shapetracker::describe::named_orders(4);
/// assert_eq!((orders[2].0, &orders[2].1[..]), ("channels_last", &[0, 2, 3, 1][..]));
/// ```
pub fn named_orders(rank: usize) -> Vec<(&'static str, Dims)> {
    let [rows, columns, channels, channels_3d, _] = NAMES;
    let names = [rows, columns, if rank == 5 { channels_3d } else { channels }].into_iter();
    names.filter_map(|name| Some((name, order_of(name, rank)?))).collect()
}

/// What the order of some digits is called.
fn names(digits: &[Digit], rank: usize) -> Vec<&'static str> {
    let mut axes: Vec<i64> = digits.iter().map(|digit| digit.axis as i64).collect();
    let is_named = |order: &Dims| order.iter().filter(|axis| axes.contains(axis)).eq(&axes);
    let names = named_orders(rank).into_iter().filter(|(_, order)| is_named(order)).map(|(name, _)| name).collect();
    let length = axes.len();
    axes.sort_unstable();
    axes.dedup();
    if axes.len() < length { vec!["blocked"] } else { names }
}
