//! What a caller does wrong with a nest, as a sentence.

use std::ops::Range;

use crate::error::{Error, ErrorKind, Reason, were};
use crate::render::Language;

#[derive(Clone, Debug, thiserror::Error)]
pub(crate) enum Mistake {
    #[error("there is a loop or a parameter `{name}` already")]
    LoopTwice { name: Box<str> },
    #[error("something of the nest is called `{name}` already")]
    Taken { name: Box<str> },
    #[error("there is no loop {}; there are {loops}", shapetracker_base::text::quoted(.name))]
    NoLoop { name: Box<str>, loops: Box<str> },
    #[error("there is no access {}; there are {accesses}", shapetracker_base::text::quoted(.name))]
    NoAccess { name: Box<str>, accesses: Box<str> },
    #[error("`{name}` is a guard, which has no address")]
    NoAddress { name: Box<str> },
    #[error("takes each loop once: there are {loops}")]
    EachLoopOnce { loops: Box<str> },
    #[error("there are no loops to be fused")]
    FusesNothing,
    #[error("`{name}` is named twice")]
    FusedTwice { name: Box<str> },
    #[error("`{reduced}` is reduced, and `{each}` is not")]
    FusedKinds { reduced: Box<str>, each: Box<str> },
    #[error("the size of `{name}` may be 0, and only the outermost of fused loops may have no index")]
    FusedEmpty { name: Box<str> },
    #[error("`{name}` has an index over {loops} loops, but {given} expressions {} given for them", were(*.given))]
    Axes { name: Box<str>, loops: usize, given: usize },
    #[error("axis {axis} of `{name}` has size {size}, but `{given}`, which is taken there, {how}")]
    Leaves { name: Box<str>, axis: usize, size: Box<str>, given: Box<str>, how: Box<str> },
    #[error(
        "`{name}` has values in {}..{} in the nest, but in {}..{} in the index that is read",
        .given.start, .given.end, .known.start, .known.end
    )]
    Values { name: Box<str>, given: Range<i64>, known: Range<i64> },
    #[error("`{name}` is neither a loop of the nest nor a parameter")]
    NeitherLoopNorParameter { name: Box<str> },
    #[error("the factors {factors} do not make the size of `{name}`, which is {size}")]
    Factors { name: Box<str>, factors: Box<str>, size: Box<str> },
    #[error("32 bits do not hold {what}, which ranges from {low} to {high}{hint}")]
    TooNarrow { what: Box<str>, low: i64, high: i64, hint: Box<str> },
    // Of text.
    #[error("body: {} is called `{name}`; there are {known}", if *.guard { "no access" } else { "nothing" })]
    Body { name: Box<str>, guard: bool, known: Box<str> },
    #[error("body: `{name}` is a guard, which has no address")]
    GuardAsAddress { name: Box<str> },
    #[error("body: `{name}` depends on `{variable}`, a loop inside of which it does not stand")]
    Inside { name: Box<str>, variable: Box<str> },
    #[error("{language}: there are no loops in this language")]
    NoLoops { language: Language },
    #[error("width: 32 bits were given, and a bound of a loop needs more")]
    Given,
    #[error("mlir: the guard of `{name}` is no value there; loops and conditions can take its place (`Nest::clip`)")]
    GuardAsValue { name: Box<str> },
}

impl Mistake {
    /// The error of an operation that failed for this reason.
    #[cold]
    pub(crate) fn in_op(self, op: &'static str) -> Error {
        let text = self.to_string().into();
        let kind = match self {
            Mistake::LoopTwice { .. } | Mistake::Taken { .. } => ErrorKind::Name,
            Mistake::TooNarrow { .. } => ErrorKind::Width,
            _ => ErrorKind::Loop,
        };
        Reason::Nest(kind, text).in_op(op)
    }
}
