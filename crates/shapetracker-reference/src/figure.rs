//! Pictures of small tensors as SVG: a cell for each element, with the address that it reads. They need no script, and show their
//! numbers as text.

use shapetracker::ShapeTracker;

/// The size of a cell, and the gap between blocks of the innermost two axes, in pixels.
const CELL: (i64, i64) = (32, 24);
const GAP: i64 = 10;
/// The space between two tensors, and above each for its name.
const BETWEEN: i64 = 40;
const HEAD: i64 = 26;
/// A tensor of more elements is not drawn.
const MOST: i64 = 400;

/// Where the cells of a tensor are: the last axis runs to the right, the one before it down, and the others by turns. Each has
/// the offset of a step along it.
struct Placed {
    steps: Vec<(i64, i64)>,
    size: (i64, i64),
}

fn placed(shape: &[i64]) -> Placed {
    let (mut steps, mut size) = (vec![(0, 0); shape.len()], CELL);
    for (turn, axis) in (0..shape.len()).rev().enumerate() {
        let gap = if turn < 2 { 0 } else { GAP };
        if turn % 2 == 0 {
            steps[axis] = (size.0 + gap, 0);
            size.0 += (shape[axis] - 1).max(0) * (size.0 + gap);
        } else {
            steps[axis] = (0, size.1 + gap);
            size.1 += (shape[axis] - 1).max(0) * (size.1 + gap);
        }
    }
    Placed { steps, size }
}

/// What is drawn of a tensor: the address of each element, in row-major order; none where it is masked.
#[derive(Clone, Debug)]
pub struct Cells {
    /// What stands above it.
    pub name: String,
    /// Its shape.
    pub shape: Vec<i64>,
    /// The addresses.
    pub values: Vec<Option<i64>>,
}

impl Cells {
    /// A tensor with a name.
    pub fn of(name: &str, tensor: &ShapeTracker) -> Cells {
        let few = usize::try_from(MOST + 1).unwrap_or(0);
        Cells { name: name.to_owned(), shape: tensor.shape().to_vec(), values: tensor.addresses().take(few).collect() }
    }
}

/// Tensors side by side, each with its name, as an element of SVG; `None` where there is none, or one that is
/// too large to be drawn.
///
/// ```
/// use shapetracker_reference::{Cells, figure};
///
/// let x = shapetracker::ShapeTracker::contiguous([2, 3])?;
/// let svg = figure(&[Cells::of("x", &x), Cells::of("x.T", &x.permute([1, 0])?)], "A transpose").unwrap();
/// assert!(svg.starts_with("<svg") && svg.matches("<rect").count() == 12);
/// # Ok::<(), shapetracker::Error>(())
/// ```
pub fn figure(tensors: &[Cells], label: &str) -> Option<String> {
    if tensors.is_empty() || tensors.iter().any(|Cells { values, .. }| values.is_empty() || values.len() as i64 > MOST)
    {
        return None;
    }
    let highest = tensors.iter().flat_map(|cells| cells.values.iter().flatten()).max().copied().unwrap_or(0).max(1);
    let (mut cells, mut left, mut height) = (String::new(), 1, 0);
    for Cells { name, shape, values } in tensors {
        let Placed { steps, size } = placed(shape);
        cells += &format!("<text class=\"name\" x=\"{left}\" y=\"16\">{}</text>\n", escaped(name));
        let mut index = vec![0; shape.len()];
        for address in values {
            let (mut x, mut y) = (left, HEAD);
            for (place, step) in index.iter().zip(&steps) {
                x += place * step.0;
                y += place * step.1;
            }
            let (fill, text) = match address {
                // From light to less light, dark enough for none of the numbers to be hard to read.
                Some(address) => (format!("hsl(212 70% {}%)", 94 - 34 * address / highest), address.to_string()),
                None => ("none".into(), "\u{2013}".into()),
            };
            let class = if address.is_some() { "" } else { " class=\"masked\"" };
            cells += &format!(
                "<rect{class} x=\"{x}\" y=\"{y}\" width=\"{}\" height=\"{}\" fill=\"{fill}\"/><text{class} x=\"{}\" y=\"{}\">{text}</text>\n",
                CELL.0,
                CELL.1,
                x + CELL.0 / 2,
                y + CELL.1 / 2 + 5,
            );
            for axis in (0..index.len()).rev() {
                index[axis] += 1;
                if index[axis] < shape[axis] {
                    break;
                }
                index[axis] = 0;
            }
        }
        // A name may be wider than what is under it.
        let width = size.0.max(i64::try_from(name.chars().count()).unwrap_or(0) * 9);
        left += width + BETWEEN;
        height = height.max(size.1);
    }
    let (width, height) = (left - BETWEEN + 1, height + HEAD + 1);
    Some(format!(
        "<svg class=\"tensors\" role=\"img\" aria-label=\"{}\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\">\n{cells}</svg>",
        escaped(label),
    ))
}

/// A text as HTML, also in attributes.
pub(crate) fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
