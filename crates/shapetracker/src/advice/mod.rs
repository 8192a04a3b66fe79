//! The question that people come with: is this still one view? If not, what is the least to copy, and what do NumPy and
//! PyTorch do with it?
//!
//! - [`Chain::advice`] answers it for a chain, with the code that copies no more than it must.
//! - [`one_view`] answers it for an index expression over variables.

mod array;
mod code;
mod expression;
mod hand;
mod library;
mod number;

pub use array::Array;
pub(crate) use array::channels_last;
pub use expression::one_view;
pub(crate) use hand::Hand;
pub use library::{Performed, library_advice};
pub use number::ArrayNumber;
use shapetracker_base::text::{tuple, tuple_of_pairs};

use crate::fit::{Misfit, fit};
use crate::merge::{Unmerged, Witness};
use crate::notation::{ArrayLibrary, Call, Chain, ChainError, Integers};
use crate::{Buffer, Movement, ShapeTracker, View};

/// Whether a chain is one view, where it stops being one, and what array libraries do with it.
///
/// ```
/// use shapetracker::{ArrayLibrary, Chain};
///
/// let chain: Chain = "(3, 2).permute(1, 0).reshape(6)".parse()?;
/// let advice = chain.advice(None).unwrap();
/// assert_eq!(advice.step, Some(1));
/// assert_eq!(advice.sentence, "Not one view: `.reshape(6)` needs a second one.");
/// let numpy = advice.libraries.iter().find(|found| found.library == ArrayLibrary::NumPy).unwrap();
/// assert_eq!(numpy.copied, [(1, 6)]);
/// # Ok::<(), shapetracker::ParseError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Advice {
    /// The view that the chain is, or why it is none.
    pub view: Result<View, Unmerged>,
    /// The buffer that [`view`](Advice::view) is of: the one that the chain starts with, as the copies on the way change no
    /// value; or the last copy that it asks for, where the chain is a view of this one only.
    pub buffer: Buffer,
    /// The answer as a sentence, in which code stands between backticks.
    pub sentence: String,
    /// The first operation after which there is more than one view until the end; nothing where there is one view, or where
    /// the chain starts with several.
    pub step: Option<usize>,
    /// What is to be copied where there is more than one view.
    pub copy: Option<LeastCopy>,
    /// What PyTorch and NumPy do.
    pub libraries: Vec<LibraryAdvice>,
}

/// A copy after which a chain is one view.
///
/// ```
/// let chain: shapetracker::Chain = "(3, 5).reshape(1, 15).expand(8, 15).reshape(4, 30)".parse()?;
/// let copy = chain.advice(None).unwrap().copy.unwrap();
/// assert_eq!((copy.elements, copy.of, copy.is_smallest), (30, 120, true));
/// assert_eq!(copy.to_string(), "No less than 30 of 120 elements must be copied.");
/// # Ok::<(), shapetracker::ParseError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LeastCopy {
    /// How many elements are copied.
    pub elements: i64,
    /// How many elements the tensors have that cannot be views: one, or several where the rest of the chain is no view of the
    /// first copy.
    pub of: i64,
    /// Whether it is known that no buffer of fewer elements does.
    pub is_smallest: bool,
}

/// What a library does with a chain that is written in its own calls.
///
/// ```
/// use shapetracker::{Chain, advice::Does};
///
/// let chain: Chain = "(4, 6).flip(0)".parse()?;
/// let advice = chain.advice(None).unwrap();
/// let [pytorch, numpy] = &advice.libraries[..] else { panic!() };
/// assert_eq!((pytorch.does, numpy.does), (Does::Copies, Does::View));
/// assert_eq!(pytorch.sentence, "`.flip(0)` copies all 24 elements: PyTorch has no negative strides.");
/// # Ok::<(), shapetracker::ParseError>(())
/// ```
pub type LibraryAdvice = LibraryAdviceOf<i64>;

/// What a library does with a chain over numbers of some kind: [`LibraryAdvice`] is that of whole numbers.
///
/// ```
/// let chain: shapetracker::Chain = "(4, 6).flatten()".parse()?;
/// let advice: shapetracker::advice::LibraryAdviceOf<i64> = chain.advice(None).unwrap().libraries[1].clone();
/// assert_eq!(advice.copied, [(0, 24)]);
/// # Ok::<(), shapetracker::ParseError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LibraryAdviceOf<N> {
    /// The library.
    pub library: ArrayLibrary,
    /// What it does, in a word.
    pub does: Does,
    /// The operations that copy, each with the number of elements that it writes into new memory; where one raises, as if it
    /// were the call that copies. What is padded counts as written, as `pad` writes it.
    pub copied: Vec<(usize, N)>,
    /// The same as sentences, in which code stands between backticks.
    pub sentence: String,
    /// What to write instead, where something may be: Python whose last line is an expression. It asks for a view wherever
    /// there is one, and copies no more than it must.
    pub code: Option<String>,
    /// Which calls copy or raise and why, and how what must be written compares with what is: two answers in which these are the
    /// same differ in numbers only.
    decided: library::Decided,
}

impl<N> LibraryAdviceOf<N> {
    /// The same with other numbers: `None` where one has none.
    ///
    /// ```
    /// let chain: shapetracker::Chain = "(4, 6).flatten()".parse()?;
    /// let advice = chain.advice(None).unwrap().libraries[1].clone();
    /// assert_eq!(advice.try_map(|elements| Some(elements / 2)).unwrap().copied, [(0, 12)]);
    /// # Ok::<(), shapetracker::ParseError>(())
    /// ```
    pub fn try_map<M>(self, number: impl Fn(N) -> Option<M>) -> Option<LibraryAdviceOf<M>> {
        let LibraryAdviceOf { library, does, copied, sentence, code, decided } = self;
        let copied = copied.into_iter().map(|(op, elements)| Some((op, number(elements)?))).collect::<Option<_>>()?;
        Some(LibraryAdviceOf { library, does, copied, sentence, code, decided })
    }

    /// Whether the library does the same by both, so that they differ in numbers only.
    ///
    /// ```
    /// let advice = |text: &str| text.parse::<shapetracker::Chain>().unwrap().advice(None).unwrap().libraries[1].clone();
    /// assert!(advice("(4, 6).flatten()").does_as(&advice("(4, 7).flatten()")));
    /// assert!(!advice("(4, 6).flatten()").does_as(&advice("(4, 6).ravel()")));
    /// ```
    pub fn does_as(&self, other: &Self) -> bool {
        let ops = |advice: &Self| advice.copied.iter().map(|(op, _)| *op).collect::<Vec<_>>();
        (self.does, &self.decided, ops(self)) == (other.does, &other.decided, ops(other))
    }
}

/// What a library does with a chain, in a word.
///
/// ```
/// use shapetracker::{Chain, advice::Does};
///
/// let chain: Chain = "(3, 2).permute(1, 0).view(6)".parse()?;
/// assert_eq!(chain.advice(None).unwrap().libraries[0].does, Does::Raises);
/// assert_eq!(Does::Raises.name(), "raises");
/// # Ok::<(), shapetracker::ParseError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Does {
    /// It makes a view: nothing is copied.
    View,
    /// A call that is written, PyTorch's `view`, fails.
    Raises,
    /// A call copies elements.
    Copies,
    /// It has no array with that layout.
    Cannot,
    /// It depends on the values of names, in more ways than were followed.
    Undecided,
}

impl Does {
    /// Its name in JSON: `view`, `raises`, `copies`, `cannot` or, where sizes have names, `undecided`.
    ///
    /// ```
    /// assert_eq!(shapetracker::advice::Does::Copies.name(), "copies");
    /// ```
    pub const fn name(self) -> &'static str {
        match self {
            Does::View => "view",
            Does::Raises => "raises",
            Does::Copies => "copies",
            Does::Cannot => "cannot",
            Does::Undecided => "undecided",
        }
    }
}

impl std::fmt::Display for LeastCopy {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let LeastCopy { elements, of, is_smallest } = self;
        let plural = if *of == 1 { "" } else { "s" };
        let some =
            if elements == of { format!("all {of} element{plural}") } else { format!("{elements} of {of} elements") };
        match is_smallest {
            true => write!(f, "No less than {some} must be copied."),
            false => write!(f, "It is enough to copy {some}."),
        }
    }
}

impl Chain {
    /// Whether the chain is one view, where it stops being one, and what NumPy and PyTorch do with it; `base` is the shape
    /// that a chain without a start is done on.
    ///
    /// What the libraries do is derived from the layouts that they keep: NumPy's views are those that
    /// [`fit`](fit()) finds without a mask, PyTorch's those without negative strides, and `pad` copies in both.
    ///
    /// ```
    /// let chain: shapetracker::Chain = "(2, 3).permute(1, 0)".parse()?;
    /// let advice = chain.advice(None).unwrap();
    /// assert_eq!(advice.sentence, "One view: shape (3, 2), strides (1, 3).");
    /// assert!(advice.step.is_none() && advice.copy.is_none());
    ///
    /// // A mistake that is made every day, and what to write instead.
    /// let chain: shapetracker::Chain = "x.transpose(1, 2).view(8, 15)".parse()?;
    /// let advice = chain.advice(Some(&[8, 3, 5])).unwrap();
    /// assert_eq!(
    ///     advice.libraries[0].sentence,
    ///     "`.view(8, 15)` raises a RuntimeError; `.reshape(8, 15)` copies all 120 elements.",
    /// );
    /// assert_eq!(advice.libraries[0].code.as_deref(), Some("x.transpose(1, 2).contiguous().view(8, 15)"));
    /// # Ok::<(), shapetracker::ParseError>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`Chain::tracker`].
    ///
    /// # Cost
    /// That of the chain, and of [`fit`](fit()) for each reshape of each library.
    pub fn advice(&self, base: Option<&[i64]>) -> Result<Advice, ChainError> {
        self.advice_knowing(base, None)
    }

    /// [`advice`](Chain::advice) where it is known already why the result of the chain is no single view, as
    /// [`ShapeTracker::single_view`] says it of the tracker over the newest buffer: that is not decided again, which is most of
    /// the work where it is hard to decide.
    ///
    /// ```
    /// let chain: shapetracker::Chain = "(3, 2).permute(1, 0).reshape(6)".parse()?;
    /// let why = chain.tracker().unwrap().single_view().unwrap_err();
    /// assert_eq!(chain.advice_knowing(None, Some(why)), chain.advice(None));
    /// # Ok::<(), shapetracker::ParseError>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`Chain::tracker`].
    pub fn advice_knowing(&self, base: Option<&[i64]>, why: Option<Unmerged>) -> Result<Advice, ChainError> {
        let Followed { trackers, newest, buffer } = Followed::of(self, base)?;
        let last = &trackers[trackers.len() - 1];
        let whole = match why {
            Some(why) if buffer == Buffer::Base => Err(why),
            _ => last.single_view(),
        };
        // What is no view of the first buffer may be one of the copy that was asked for.
        let of_copy = match (&whole, buffer) {
            (Err(_), Buffer::Copy { op, .. }) => newest.single_view().ok().map(|view| (op, view)),
            _ => None,
        };
        let is_several = matches!(whole, Err(Unmerged::Witness(_))) && of_copy.is_none();
        let step = trackers.iter().rposition(|tracker| tracker.views().len() == 1).filter(|_| is_several);
        // Where the last tracker was kept as one view there is no such operation.
        let step = step.filter(|&step| step + 1 < trackers.len());
        let sentence = match (&whole, &of_copy) {
            (Ok(view), _) => described(view),
            (Err(_), Some((op, view))) => {
                let of = format!("One view of the copy that `{}` makes:", self.written_call(*op));
                described(view).replacen("One view:", &of, 1)
            }
            (Err(Unmerged::Witness(_)), None) => match step {
                Some(step) => {
                    let is_view = self.call(step).0 == Call::View || self.order_of_reading(step).is_some();
                    let call = if is_view { self.written_call(step) } else { format!(".{}", self.ops()[step]) };
                    format!("Not one view: `{call}` needs a second one.")
                }
                None => "Not one view.".into(),
            },
            (Err(_), None) => "Whether this is one view was not decided within the work limit.".into(),
        };
        let sentence = match self.unit() {
            Some(unit) => format!("{sentence} Strides and addresses count elements of {unit}."),
            None => sentence,
        };
        let copy = step.and_then(|step| least(self.ops(), &trackers, step));
        let advised = |library: ArrayLibrary, chain: &Chain, trackers: &[ShapeTracker], view: Option<&View>| {
            let start = match library::array_of(library, &trackers[0]) {
                Ok(start) => start,
                Err(why) => return library::cannot(library, why),
            };
            let shapes = trackers.iter().map(|tracker| tracker.shape().into()).collect();
            let view = view.filter(|view| view.mask().is_none()).map(Array::from);
            let performed = Performed { start, ops: chain.ops().to_vec(), shapes, view };
            library_advice(library, chain, &performed)
        };
        let libraries = [ArrayLibrary::PyTorch, ArrayLibrary::NumPy].map(|library| {
            // Where a library means something else by the text, it does that.
            let Some(own) = self.read_by(library, base, &mut Integers) else {
                return advised(library, self, &trackers, whole.as_ref().ok());
            };
            match Followed::of(&own, base) {
                Ok(Followed { trackers, .. }) => {
                    let view = trackers.last().and_then(|last| last.single_view().ok());
                    let mut advised = advised(library, &own, &trackers, view.as_ref());
                    if whole.is_err() {
                        // What is said of it before is of another chain.
                        let as_read = format!(" Yet the whole chain is one view, as {library} reads it.");
                        advised.sentence = advised.sentence.replace(library::ONE_VIEW, &as_read);
                    }
                    advised
                }
                Err(err) => library::refused(library, &own, base, &err),
            }
        });
        let libraries = libraries.into();
        let (buffer, view) = match of_copy {
            Some((_, view)) => (buffer, Ok(view)),
            None => (Buffer::Base, whole),
        };
        Ok(Advice { view, buffer, sentence, step, copy, libraries })
    }
}

/// The trackers of a chain, before any operation and after each.
struct Followed {
    /// Those of the buffer that the chain starts with: the copies on the way change no value.
    trackers: Vec<ShapeTracker>,
    /// The last one of the newest buffer, and which this is.
    newest: ShapeTracker,
    buffer: Buffer,
}

impl Followed {
    fn of(chain: &Chain, base: Option<&[i64]>) -> Result<Followed, ChainError> {
        let mut trackers: Vec<ShapeTracker> = Vec::new();
        let end = chain.follow(base, |step, _| trackers.push(step.over_newest().clone()))?;
        if end.buffer() != Buffer::Base {
            for (number, op) in chain.ops().iter().enumerate() {
                trackers[number + 1] = trackers[number].apply(op).map_err(|err| chain.op_error(number, err))?;
            }
        }
        Ok(Followed { trackers, newest: end.over_newest().clone(), buffer: end.buffer() })
    }
}

impl Advice {
    /// The evidence that the chain is not one view; nothing where it is, or where that was not decided.
    ///
    /// ```
    /// let chain: shapetracker::Chain = "(3, 2).permute(1, 0).reshape(6)".parse()?;
    /// assert!(chain.advice(None).unwrap().witness().is_some());
    /// # Ok::<(), shapetracker::ParseError>(())
    /// ```
    pub fn witness(&self) -> Option<&Witness> {
        self.view.as_ref().err()?.witness()
    }
}

/// A view as a sentence, as [`Advice::sentence`] has it.
///
/// ```
/// use shapetracker::{View, advice::described};
///
/// let view = View::new([3, 2], [1, 3], 4, None)?;
/// assert_eq!(described(&view), "One view: shape (3, 2), strides (1, 3), offset 4.");
/// # Ok::<(), shapetracker::Error>(())
/// ```
pub fn described(view: &View) -> String {
    let mut text = format!("One view: shape {}, strides {}", tuple(view.shape()), tuple(view.strides()));
    if view.offset() != 0 {
        text += &format!(", offset {}", view.offset());
    }
    if let Some(mask) = view.mask() {
        text += &format!(", mask {}", tuple_of_pairs(mask));
    }
    text + "."
}

/// The least to copy where an operation needs a second view: at that operation, and again wherever the rest of the chain is
/// not one view of the copy; or the whole result, where that is less.
fn least(ops: &[Movement], trackers: &[ShapeTracker], step: usize) -> Option<LeastCopy> {
    let (mut at, mut elements, mut of) = (step, 0_i64, 0_i64);
    let mut is_smallest;
    let mut before = trackers[step].clone();
    loop {
        let view = before.single_view().ok()?;
        let to = trackers[at + 1].shape();
        let (copied, is_least, fresh) = match fit(&view, to) {
            Err(Misfit::Blocked(blocked)) if hand::is_reshape(&ops[at]) => {
                (blocked.elements(), blocked.is_smallest(), blocked.view().clone())
            }
            // What reads the elements in their order as memory, or a decision that took too long: the result is copied.
            _ => (trackers[at + 1].numel(), false, View::contiguous(to).ok()?),
        };
        let rest = &ops[at + 1..];
        // What exchanges axes keeps what any buffer must have.
        let keeps = |op: &Movement| {
            matches!(
                op,
                Movement::Permute(_)
                    | Movement::Transpose(..)
                    | Movement::Unsqueeze(_)
                    | Movement::Squeeze(_)
                    | Movement::SqueezeAll
                    | Movement::Contiguous
                    | Movement::Copy
            )
        };
        is_smallest = elements == 0 && is_least && rest.iter().all(keeps);
        elements = elements.checked_add(copied)?;
        of = trackers[at + 1].numel().checked_add(of)?;
        // The rest of the chain on the copy, up to where it is no view of that, either.
        let mut after = ShapeTracker::from(fresh);
        let mut blocked_at = None;
        let mut last = after.clone();
        for (number, op) in ops.iter().enumerate().skip(at + 1).filter(|(_, op)| !op.may_copy()) {
            last = after.clone();
            after = after.apply(op).ok()?;
            if after.views().len() > 1 {
                blocked_at = Some(number);
                break;
            }
        }
        match blocked_at {
            Some(number) => (at, before) = (number, last),
            None => break,
        }
    }
    let all = trackers[trackers.len() - 1].numel();
    if all <= elements && !is_smallest {
        return Some(LeastCopy { elements: all, of: of.max(all), is_smallest: false });
    }
    Some(LeastCopy { elements, of, is_smallest })
}
