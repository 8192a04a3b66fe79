//! What array libraries do with a chain of operations, and what to do instead: where it stops being one view, the least to
//! copy, and the code that copies no more.

use crate::error::Error;
use crate::fit::{Misfit, fit};
use crate::merge::{Unmerged, Witness};
use crate::notation::{ArrayLibrary, Chain, ChainError, list};
use crate::{Movement, ShapeTracker, Verdict, View};

/// Whether a chain is one view, where it stops being one, and what array libraries do with it.
///
/// ```
/// use shapetracker::{ArrayLibrary, Chain};
///
/// let chain: Chain = "(3, 2).permute(1, 0).reshape(6)".parse()?;
/// let advice = chain.advice(None).unwrap();
/// assert_eq!(advice.step, Some(1));
/// let numpy = advice.libraries.iter().find(|found| found.library == ArrayLibrary::NumPy).unwrap();
/// assert_eq!(numpy.copied, [(1, 6)]);
/// # Ok::<(), shapetracker::ParseError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Advice {
    /// The view that the chain is, or why it is none.
    pub view: Result<View, Unmerged>,
    /// The first operation after which there is more than one view until the end; nothing where there is one view.
    pub step: Option<usize>,
    /// What is to be copied where there is more than one view.
    pub copy: Option<LeastCopy>,
    /// What NumPy and PyTorch do.
    pub libraries: Vec<LibraryAdvice>,
}

/// A copy after which the rest of a chain is one view.
///
/// ```
/// let chain: shapetracker::Chain = "(3, 5).reshape(1, 15).expand(8, 15).reshape(4, 30)".parse()?;
/// let copy = chain.advice(None).unwrap().copy.unwrap();
/// assert_eq!((copy.elements, copy.of, copy.is_smallest), (30, 120, true));
/// # Ok::<(), shapetracker::ParseError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LeastCopy {
    /// How many elements are copied.
    pub elements: i64,
    /// How many there are.
    pub of: i64,
    /// Whether it is known that no buffer of fewer elements does.
    pub is_smallest: bool,
}

/// What a library does with a chain that is written in its own calls.
///
/// ```
/// use shapetracker::{ArrayLibrary, Chain};
///
/// let chain: Chain = "(4, 6).flip(0)".parse()?;
/// let copies: Vec<bool> = chain.advice(None).unwrap().libraries.iter().map(|found| !found.copied.is_empty()).collect();
/// // NumPy has negative strides, and PyTorch has not.
/// assert_eq!(copies, [true, false]);
/// # Ok::<(), shapetracker::ParseError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LibraryAdvice {
    /// The library.
    pub library: ArrayLibrary,
    /// Why the library has no such array to begin with, if it has none.
    pub missing: Option<String>,
    /// The operations that copy, each with the number of elements.
    pub copied: Vec<(usize, i64)>,
    /// The operations of the chain as one expression on an array `x`, which asks for a view wherever there is one, and
    /// copies no more than it must where there is none; nothing where the library has no such array.
    pub code: Option<String>,
}

impl Chain {
    /// Whether the chain is one view, where it stops being one, and what NumPy and PyTorch do with it; `base` is the shape
    /// that a chain without a start is done on.
    ///
    /// ```
    /// let chain: shapetracker::Chain = "(2, 3).permute(1, 0)".parse()?;
    /// let advice = chain.advice(None).unwrap();
    /// assert!(advice.view.is_ok() && advice.step.is_none() && advice.copy.is_none());
    /// # Ok::<(), shapetracker::ParseError>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`Chain::tracker`].
    ///
    /// # Cost
    /// That of the chain, and of [`fit`](fit()) for each reshape.
    pub fn advice(&self, base: Option<&[i64]>) -> Result<Advice, ChainError> {
        let mut trackers: Vec<ShapeTracker> = Vec::new();
        self.follow(base, |tracker: &ShapeTracker, _: Option<Verdict>| trackers.push(tracker.clone()))?;
        Ok(Advice::of(self, &trackers))
    }
}

impl Advice {
    fn of(chain: &Chain, trackers: &[ShapeTracker]) -> Advice {
        let last = &trackers[trackers.len() - 1];
        let view = last.single_view();
        let step = match &view {
            Err(Unmerged::Witness(_)) => trackers.iter().rposition(|tracker| tracker.views().len() == 1),
            _ => None,
        };
        let copy = step.and_then(|step| {
            let (before, after) = (trackers[step].as_view()?, trackers.get(step + 1)?);
            let Err(Misfit::Blocked(blocked)) = fit(before, after.shape()) else { return None };
            let is_last = step + 2 == trackers.len();
            Some(LeastCopy {
                elements: blocked.elements(),
                of: before.numel(),
                is_smallest: is_last && blocked.is_smallest(),
            })
        });
        let libraries = [ArrayLibrary::PyTorch, ArrayLibrary::NumPy];
        let libraries = libraries.into_iter().map(|library| Hand::done(library, chain, trackers)).collect();
        Advice { view, step, copy, libraries }
    }
}

/// A library at work: the array that it has, and the expression that made it.
struct Hand {
    library: ArrayLibrary,
    view: View,
    code: String,
    copied: Vec<(usize, i64)>,
}

impl Hand {
    fn done(library: ArrayLibrary, chain: &Chain, trackers: &[ShapeTracker]) -> LibraryAdvice {
        let missing = |why: String| LibraryAdvice { library, missing: Some(why), copied: Vec::new(), code: None };
        let Some(start) = trackers[0].as_view() else {
            return missing(format!("{library} has no arrays that are several views"));
        };
        if start.mask().is_some() {
            return missing(format!("{library} has no arrays with masked elements"));
        }
        if !library.has(start) {
            return missing(format!("{library} has no negative strides"));
        }
        let mut hand = Hand { library, view: start.clone(), code: "x".into(), copied: Vec::new() };
        for (number, (op, after)) in chain.ops().iter().zip(&trackers[1..]).enumerate() {
            if let Err(err) = hand.step(number, op, after.shape()) {
                return missing(err.to_string());
            }
        }
        let Hand { copied, code, .. } = hand;
        LibraryAdvice { library, missing: None, copied, code: Some(code) }
    }

    fn step(&mut self, number: usize, op: &Movement, to: &[i64]) -> Result<(), Error> {
        let is_reshape =
            matches!(op, Movement::Reshape(_) | Movement::Squeeze(_) | Movement::SqueezeAll | Movement::Unsqueeze(_));
        let next = ShapeTracker::from(self.view.clone()).apply(op)?;
        match next.as_view() {
            Some(next) if self.library.has(next) && !matches!(op, Movement::Pad(_)) => {
                let code = match is_reshape && self.library == ArrayLibrary::PyTorch {
                    true => format!("x.view({})", if to.is_empty() { "()".into() } else { list(to) }),
                    false => self.library.call(op, self.view.shape(), to),
                };
                self.code = on(&self.code, &code);
                self.view = next.clone();
            }
            _ => {
                self.copied.push((number, self.view.numel()));
                let recipe = match fit(&self.view, to) {
                    Err(Misfit::Blocked(blocked)) if is_reshape => blocked.recipe(self.library),
                    _ => None,
                };
                let code = recipe.unwrap_or_else(|| self.library.call(op, self.view.shape(), to));
                self.code = on(&self.code, &code);
                self.view = View::contiguous(to)?;
            }
        }
        Ok(())
    }
}

/// An expression on `x`, with another one in the place of the first `x`.
fn on(array: &str, code: &str) -> String {
    let is_word = |byte: Option<&u8>| byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
    let bytes = code.as_bytes();
    let first = (0..bytes.len())
        .find(|&at| bytes[at] == b'x' && !is_word(bytes.get(at + 1)) && (at == 0 || !is_word(bytes.get(at - 1))));
    match first {
        Some(at) => format!("{}{array}{}", &code[..at], &code[at + 1..]),
        None => code.to_owned(),
    }
}

/// Proof that a chain is not one view.
impl Advice {
    /// The evidence that the chain is not one view; nothing where it is, or where that was not decided.
    ///
    /// ```
    /// let chain: shapetracker::Chain = "(3, 2).permute(1, 0).reshape(6)".parse()?;
    /// assert!(chain.advice(None).unwrap().witness().is_some());
    /// # Ok::<(), shapetracker::ParseError>(())
    /// ```
    pub fn witness(&self) -> Option<&Witness> {
        match &self.view {
            Err(Unmerged::Witness(witness)) => Some(witness),
            _ => None,
        }
    }
}
