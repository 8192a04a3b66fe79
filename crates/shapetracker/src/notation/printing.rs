//! Chains and operations as text, which reads back as an equal chain or operation.

use std::fmt;

use shapetracker_base::text::{separated, tuple};

use super::{Chain, ChainStart};
use crate::Movement;
use crate::number::Number;
use crate::operation::Arguments;

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

impl fmt::Display for Arguments<'_, i64> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(f, |f, number| write!(f, "{number}"))
    }
}

impl<N: Number> Arguments<'_, N> {
    /// Writes what stands between the parentheses, with numbers as `number` writes them.
    pub(crate) fn write<W: fmt::Write>(&self, f: &mut W, number: impl Fn(&mut W, &N) -> fmt::Result) -> fmt::Result {
        let tuple = |f: &mut W, numbers: &[N]| {
            f.write_str("(")?;
            separated(f, numbers, &number)?;
            f.write_str(if numbers.len() == 1 { ",)" } else { ")" })
        };
        match *self {
            Arguments::All => Ok(()),
            Arguments::ListedAxes([]) => f.write_str("()"),
            Arguments::Numbers(numbers) => separated(f, numbers, &number),
            Arguments::Integers(numbers) | Arguments::ListedAxes(numbers) => {
                separated(f, numbers, |f, number| write!(f, "{number}"))
            }
            Arguments::Pairs(pairs) => separated(f, pairs, |f, (first, second)| {
                f.write_str("(")?;
                number(f, first)?;
                f.write_str(", ")?;
                number(f, second)?;
                f.write_str(")")
            }),
            Arguments::Booleans(each) => {
                separated(f, each, |f, each| f.write_str(if *each { "True" } else { "False" }))
            }
            Arguments::Axis(axis) => write!(f, "{axis}"),
            Arguments::TwoAxes(a, b) => write!(f, "{a}, {b}"),
            Arguments::Slices(slices) => separated(f, slices, |f, (begin, end, step)| {
                if let Some(begin) = begin {
                    number(f, begin)?;
                }
                f.write_str(":")?;
                if let Some(end) = end {
                    number(f, end)?;
                }
                if *step != 1 {
                    write!(f, ":{step}")?;
                }
                Ok(())
            }),
            Arguments::Strided(shape, strides, offset) => {
                tuple(f, shape)?;
                f.write_str(", ")?;
                tuple(f, strides)?;
                if offset.integer() != Some(0) {
                    f.write_str(", ")?;
                    number(f, offset)?;
                }
                Ok(())
            }
        }
    }
}
