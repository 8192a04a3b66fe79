//! A description as sentences, made once for all who show it.

use std::fmt;

use shapetracker_base::text::tuple;

use super::{Claim, Description, Matrix, Nearest, NoMatrix, Order, Reported, Shared, TensorMap, named_orders};
use crate::{Dims, Undecided, View};

/// A line of a description: what it is about, and what is said.
///
/// ```
/// use shapetracker::{ShapeTracker, describe::describe};
///
/// let lines = describe(&ShapeTracker::contiguous([2, 3])?, None).lines();
/// assert_eq!((lines[0].topic, &lines[0].text[..]), ("order", "dense, row-major"));
/// # Ok::<(), shapetracker::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// `order`, `addresses`, `writing`, `BLAS`, `TMA`, `formats`, `vectors`, `PyTorch`, `NumPy` or `JAX`.
    pub topic: &'static str,
    /// The sentence, which begins in lower case and ends without a full stop.
    pub text: String,
}

/// What is said where a question reached its work limit.
const UNDECIDED: &str = "not decided within the work limit";

impl Description {
    /// The description as lines of text, those on the memory first. That on tensor maps stands there only where the bytes of
    /// an element are known.
    ///
    /// ```
    /// use shapetracker::{ShapeTracker, describe::describe};
    ///
    /// let windows = ShapeTracker::contiguous([6])?.as_strided([4, 3], [1, 1], 0)?;
    /// let lines = describe(&windows, None).lines();
    /// assert_eq!(
    ///     lines[2].text,
    ///     "elements (0, 1) and (1, 0) both lie at address 1: writing to both in place is undefined, and a copy of 12 elements has \
    ///      them apart",
    /// );
    /// # Ok::<(), shapetracker::Error>(())
    /// ```
    pub fn lines(&self) -> Vec<Line> {
        let line = |topic, text| Line { topic, text };
        let mut lines = vec![
            line("order", self.order_text()),
            line("addresses", self.addresses_text()),
            line("writing", self.writing_text()),
            line("BLAS", self.matrix_text()),
        ];
        if let Some(map) = &self.tensor_map {
            let text = match map {
                Ok(map) => map.to_string(),
                Err(why) => format!("no tensor map: {why}{}", self.or_nearest(self.nearest_tensor_map.as_ref())),
            };
            lines.push(line("TMA", text));
        }
        let formats: Vec<String> = self.formats.iter().map(ToString::to_string).collect();
        let formats = if formats.is_empty() { "none of cuDNN or oneDNN".into() } else { formats.join(", ") };
        lines.push(line("formats", formats));
        lines.push(line("vectors", self.vectors_text()));
        lines.extend(self.reported.iter().map(|report| line(report.library, report.to_string())));
        lines
    }

    /// Why a claim holds or does not: the line of its [topic](Claim::topic), and for an order that it has not the copy that has it.
    ///
    /// ```
    /// use shapetracker::{ShapeTracker, describe::{Claim, describe}};
    ///
    /// let turned = describe(&ShapeTracker::contiguous([4, 6])?.permute([1, 0])?, None);
    /// let why = turned.reason(&Claim::Order("row-major"));
    /// assert_eq!(why, "dense, column-major; a copy of 24 elements with strides (4, 1) is row-major");
    /// # Ok::<(), shapetracker::Error>(())
    /// ```
    pub fn reason(&self, claim: &Claim) -> String {
        let topic = claim.topic();
        let line = self.lines().into_iter().find(|line| line.topic == topic);
        let mut text = line.map_or_else(|| UNDECIDED.into(), |line| line.text);
        let wanted = match claim {
            Claim::Dense => Some("row-major"),
            Claim::Order(name) => Some(*name),
            _ => None,
        };
        let shape = self.tracker.shape();
        if self.holds(claim) == Some(false)
            && let Some(name) = wanted
            && let Some((_, axes)) = named_orders(shape.len()).into_iter().find(|(order, _)| *order == name)
        {
            let (mut strides, mut stride) = (Dims::from_elem(0, shape.len()), 1);
            for &axis in axes.iter().rev() {
                strides[axis as usize] = stride;
                stride = stride.saturating_mul(shape[axis as usize]);
            }
            let elements = self.elements(self.tracker.numel().into());
            text += &format!("; a copy of {elements} with strides {} is {claim}", tuple(&strides));
        }
        text
    }

    /// How many elements, and how many bytes if they are known.
    fn elements(&self, count: i128) -> String {
        let elements = counted(count, "element");
        match self.memory {
            Some(memory) => format!("{elements} ({})", counted(count * i128::from(memory.width()), "byte")),
            None => elements,
        }
    }

    /// The copy that is dense.
    fn copied(&self) -> Option<String> {
        let nearest = self.nearest_dense.as_ref()?;
        Some(format!("a copy of {}", self.elements(nearest.elements.into())))
    }

    fn or_nearest(&self, nearest: Option<&Nearest>) -> String {
        let Some(Nearest { view, elements }) = nearest else { return String::new() };
        format!("; a copy of {} with strides {} is one", self.elements((*elements).into()), tuple(view.strides()))
    }

    fn order_text(&self) -> String {
        let order = self.order.as_ref().map(|order| order.to_string());
        match self.is_dense() {
            None => UNDECIDED.into(),
            Some(true) => match order {
                Some(order) => format!("dense, {order}"),
                None => "dense, in no order of its axes".into(),
            },
            Some(false) => {
                let numel = self.tracker.numel();
                let why = match (self.valid, self.distinct) {
                    (Some(valid), _) if valid != numel => {
                        format!("{} of {} are masked", numel - valid, counted(numel.into(), "element"))
                    }
                    (Some(valid), Some(distinct)) if valid != distinct => {
                        format!("{} read {}", counted(valid.into(), "element"), addresses(distinct.into()))
                    }
                    _ => format!("{} in between not read", addresses(self.holes().unwrap_or_default())),
                };
                let order = match (order, self.tracker.as_view()) {
                    (Some(order), _) => order,
                    (None, Some(view)) => format!("strides {} interleave", tuple(view.strides())),
                    (None, None) => {
                        format!("{} views, of which no split of the axes is strided", self.tracker.views().len())
                    }
                };
                format!("not dense, {why}; {order}")
            }
        }
    }

    fn addresses_text(&self) -> String {
        match self.range {
            Err(Undecided) => UNDECIDED.into(),
            Ok(None) => "nothing is read".into(),
            Ok(Some((low, high))) => {
                let range = if low == high { format!("{low}") } else { format!("{low} to {high}") };
                let holes = match self.holes() {
                    None => "how many of them are read was not decided".into(),
                    Some(0) => "all of them read".into(),
                    Some(holes) => match self.memory {
                        Some(memory) => {
                            let bytes = counted(holes * i128::from(memory.width()), "byte");
                            format!("{holes} of them ({bytes}) not read")
                        }
                        None => format!("{holes} of them not read"),
                    },
                };
                let copy = self.copied().filter(|_| self.holes().is_some_and(|holes| holes > 0));
                let copy = copy.map_or_else(String::new, |copy| format!("; {copy} has no gaps"));
                format!("{range}, {holes}{copy}")
            }
        }
    }

    fn writing_text(&self) -> String {
        match &self.collision {
            Err(Undecided) => UNDECIDED.into(),
            Ok(None) => "no two elements share an address".into(),
            Ok(Some(shared)) => {
                let copy = self.copied().map_or_else(String::new, |copy| format!(", and {copy} has them apart"));
                format!("{shared}: writing to both in place is undefined{copy}")
            }
        }
    }

    fn matrix_text(&self) -> String {
        match &self.matrix {
            Ok(matrix) => matrix.to_string(),
            Err(NoMatrix::Rank { rank: 1 }) => match self.tracker.as_view().map(View::strides) {
                Some([stride]) if *stride > 0 && self.tracker.views()[0].mask().is_none() => {
                    format!("a vector with increment {stride}")
                }
                _ => format!("no matrix: {}", NoMatrix::Rank { rank: 1 }),
            },
            Err(why) => format!("no matrix: {why}{}", self.or_nearest(self.nearest_matrix.as_ref())),
        }
    }

    fn vectors_text(&self) -> String {
        let Some(vector) = self.vector else { return "not known of a stack of views".into() };
        format!("{} at a time, in runs of {}", self.elements(vector.elements.into()), vector.run)
    }
}

/// A line for each topic.
impl fmt::Display for Description {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, Line { topic, text }) in self.lines().into_iter().enumerate() {
            if place > 0 {
                writeln!(f)?;
            }
            write!(f, "{topic:<9}  {text}")?;
        }
        Ok(())
    }
}

impl fmt::Display for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [a, b] = &self.indices;
        write!(f, "elements {} and {} both lie at address {}", tuple(a), tuple(b), self.address)
    }
}

/// `row-major`, or the axes: `axes 2, 0, 1 from the outermost inwards`.
impl fmt::Display for Order {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.names[..] {
            [] | ["blocked"] => {
                let digits: Vec<usize> = self.digits.iter().map(|digit| digit.axis).collect();
                match &digits[..] {
                    [] => f.write_str("no axis moves the address")?,
                    [axis] => write!(f, "along axis {axis}")?,
                    digits => {
                        let digits: Vec<String> = digits.iter().map(ToString::to_string).collect();
                        let blocked = if self.names.is_empty() { "" } else { "blocked, " };
                        write!(f, "{blocked}axes {} from the outermost inwards", digits.join(", "))?;
                    }
                }
            }
            names => f.write_str(&names.join(" and "))?,
        }
        if !self.backwards.is_empty() {
            write!(f, ", backwards along {}", named_axes(&self.backwards))?;
        }
        if !self.repeated.is_empty() {
            write!(f, ", repeated along {}", named_axes(&self.repeated))?;
        }
        Ok(())
    }
}

/// `64 x 12 matrices, T with leading dimension 16 (N where CBLAS is row-major); 8 of them, batch stride 1024`.
impl fmt::Display for Matrix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Matrix { rows, columns, forms, batch } = self;
        let one = if batch.is_empty() { "a matrix" } else { "matrices" };
        write!(f, "{one} of {rows} x {columns}, ")?;
        for (place, form) in forms.iter().enumerate() {
            let or = if place > 0 { " or " } else { "" };
            write!(f, "{or}{} with leading dimension {}", form.operation(), form.leading)?;
        }
        match &batch[..] {
            [] => Ok(()),
            [(count, stride)] => write!(f, "; {count} of them, batch stride {stride}"),
            batch => {
                let count: i128 = batch.iter().map(|&(count, _)| i128::from(count)).product();
                let (sizes, strides): (Vec<i64>, Vec<i64>) = batch.iter().copied().unzip();
                let (sizes, strides) = (tuple(&sizes).to_string(), tuple(&strides).to_string());
                write!(f, "; {count} of them, which have no one batch stride: sizes {sizes}, strides {strides}")
            }
        }
    }
}

/// `sizes (24, 64), strides (48,) bytes, innermost first; ..`
impl fmt::Display for TensorMap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sizes: Vec<i64> = self.dims.iter().map(|dim| dim.size).collect();
        let strides: Vec<i128> = self.dims.iter().skip(1).map(|dim| dim.stride).collect();
        write!(f, "a tensor map with sizes {}, strides {} in bytes", tuple(&sizes), tuple(&strides))?;
        write!(f, ", innermost first, and boxes of a multiple of {}", counted(self.box_multiple.into(), "element"))
    }
}

/// `strides (60, 20, 5, 1), is_contiguous() is true`.
impl fmt::Display for Reported {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut parts = Vec::new();
        if let Some(strides) = &self.strides {
            parts.push(format!("strides {}", tuple(strides)));
        }
        if let Some(axes) = &self.minor_to_major {
            parts.push(format!("minor_to_major {}", tuple(axes)));
        }
        parts.extend(self.says.iter().map(|(question, answer)| format!("{question} is {answer}")));
        if let Some(why) = self.none {
            parts.push(format!("no such array: {why}"));
        }
        f.write_str(&parts.join(", "))
    }
}

fn counted(count: i128, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

fn addresses(count: i128) -> String {
    format!("{count} address{}", if count == 1 { "" } else { "es" })
}

/// `0, 2 and 3`.
fn listed(axes: &[usize]) -> String {
    let texts: Vec<String> = axes.iter().map(ToString::to_string).collect();
    match texts.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, others)) => format!("{} and {last}", others.join(", ")),
        None => String::new(),
    }
}

fn named_axes(axes: &[usize]) -> String {
    format!("{} {}", if axes.len() == 1 { "axis" } else { "axes" }, listed(axes))
}
