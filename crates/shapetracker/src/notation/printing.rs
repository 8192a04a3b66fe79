//! Chains and operations as text, which reads back as an equal chain or operation.

use std::fmt;

use super::{Chain, ChainStart};
use crate::Movement;
use crate::operation::Arguments;
use indexpr::text::{separated, tuple};

/// The chain in one line: `(3, 2).permute(1, 0).reshape(3, 2)`. Views print in the form that the field pastes.
///
/// ```
/// let chain: shapetracker::Chain = "[3,2] .permute([1,0])\n .view((6,))".parse()?;
/// assert_eq!(chain.to_string(), "(3, 2).permute(1, 0).reshape(6)");
/// # Ok::<(), shapetracker::ParseError>(())
/// ```
impl fmt::Display for Chain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.start() {
            ChainStart::Nothing => {}
            ChainStart::Shape(shape) => match shape[..] {
                [size] => write!(f, "({size})")?,
                _ => write!(f, "{}", tuple(shape))?,
            },
            ChainStart::Views(views) => match &views[..] {
                [view] => write!(f, "{view:?}")?,
                _ => {
                    f.write_str("ShapeTracker(views=(")?;
                    separated(f, views, |f, view| write!(f, "{view:?}"))?;
                    f.write_str("))")?;
                }
            },
        }
        for (i, op) in self.ops().iter().enumerate() {
            let dot = if i == 0 && *self.start() == ChainStart::Nothing { "" } else { "." };
            write!(f, "{dot}{op}")?;
        }
        Ok(())
    }
}

/// The operation as it stands in a chain: `permute(1, 0)`, `pad((0, 0), (1, 1))`.
impl fmt::Display for Movement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (kind, arguments) = self.parts();
        write!(f, "{}({arguments})", kind.name())
    }
}

impl fmt::Display for Arguments<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Arguments::All => Ok(()),
            Arguments::ListedAxes([]) => f.write_str("()"),
            Arguments::Numbers(numbers) | Arguments::ListedAxes(numbers) => {
                separated(f, numbers, |f, number| write!(f, "{number}"))
            }
            Arguments::Pairs(pairs) => separated(f, pairs, |f, (first, second)| write!(f, "({first}, {second})")),
            Arguments::Booleans(each) => {
                separated(f, each, |f, each| f.write_str(if *each { "True" } else { "False" }))
            }
            Arguments::Axis(axis) => write!(f, "{axis}"),
            Arguments::TwoAxes(a, b) => write!(f, "{a}, {b}"),
            Arguments::Slices(slices) => separated(f, slices, |f, (begin, end, step)| {
                let bound = |bound: &Option<i64>| bound.map_or(String::new(), |bound| bound.to_string());
                write!(f, "{}:{}", bound(begin), bound(end))?;
                if *step != 1 {
                    write!(f, ":{step}")?;
                }
                Ok(())
            }),
            Arguments::Strided(shape, strides, offset) => {
                write!(f, "{}, {}", tuple(shape), tuple(strides))?;
                if offset != 0 {
                    write!(f, ", {offset}")?;
                }
                Ok(())
            }
        }
    }
}
