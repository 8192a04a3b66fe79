//! Chains: a shape or views, and movement operations, with polynomials for numbers.
//!
//! What is read, and what it means, is what the crate `shapetracker` says of chains: its reader is generic over numbers.

use std::ops::Range;

use shapetracker::{ArrayLibrary, ChainOf, ChainStartOf, Need};
use shapetracker_base::text::ParseError;

use super::Question;
use super::reading::Reading;
use crate::operation::Movement;
use crate::poly::Poly;

/// A chain as text whose sizes may be names: where it starts and the operations, with their places in the text.
///
/// ```
/// use shapetracker_symbolic::{ChainStart, Question};
///
/// let mut question = Question::default();
/// let text = "(B, T, 3*H*D).reshape(B, T, 3, H, D)";
/// let chain = question.chain(text)?;
/// assert!(matches!(chain.start(), ChainStart::Shape(shape) if shape.len() == 3));
/// assert_eq!(&text[chain.span(0)], "reshape(B, T, 3, H, D)");
/// # Ok::<(), shapetracker::ParseError>(())
/// ```
///
/// It is what [`shapetracker::Chain`] reads, with polynomials in the place of sizes, strides, offsets, masks and bounds; axes
/// and steps are numbers.
#[derive(Clone, Debug)]
pub struct Chain {
    read: ChainOf<Poly>,
    /// The numbers in the text with their bytes, in the order of the text.
    numbers: Vec<(Poly, Range<usize>)>,
    /// The shape of the array that the text has a name for, where that is known.
    base: Option<Vec<Poly>>,
    /// What libraries mean by the text, where that is something else.
    own: Vec<(ArrayLibrary, ChainOf<Poly>)>,
}

/// Where a [`Chain`] starts.
///
/// ```
/// use shapetracker_symbolic::{ChainStart, Question};
/// assert_eq!(*Question::default().chain("flip(0)")?.start(), ChainStart::Nothing);
/// # Ok::<(), shapetracker::ParseError>(())
/// ```
pub type ChainStart = ChainStartOf<Poly>;

impl Chain {
    /// Where the chain starts.
    ///
    /// ```
    /// use shapetracker_symbolic::{ChainStart, Question};
    ///
    /// let chain = Question::default().chain("(H, T):(1, H) offset 2*s mask ((0, H), (1, T)).flip(0)")?;
    /// assert!(matches!(chain.start(), ChainStart::Views(views) if views.len() == 1));
    /// # Ok::<(), shapetracker::ParseError>(())
    /// ```
    pub fn start(&self) -> &ChainStart {
        self.read.start()
    }

    /// The library that the text is code of, as far as it says so.
    ///
    /// ```
    /// use shapetracker::ArrayLibrary;
    /// use shapetracker_symbolic::Question;
    ///
    /// let chain = Question::default().chain("torch.zeros(H, T).T")?;
    /// assert_eq!(chain.library(), Some(ArrayLibrary::PyTorch));
    /// # Ok::<(), shapetracker::ParseError>(())
    /// ```
    pub fn library(&self) -> Option<ArrayLibrary> {
        self.read.library()
    }

    /// The operations, in the order in which they are done.
    ///
    /// ```
    /// use shapetracker_symbolic::{Movement, Question};
    ///
    /// let chain = Question::default().chain("(H, T).T")?;
    /// assert_eq!(chain.ops(), [Movement::Permute([1, 0].into())]);
    /// # Ok::<(), shapetracker::ParseError>(())
    /// ```
    pub fn ops(&self) -> &[Movement] {
        self.read.ops()
    }

    /// The call that an operation is of, as it is written.
    pub(crate) fn written_call(&self, op: usize) -> String {
        self.read.written_call(op)
    }

    /// What operations need of the names besides what they need by themselves.
    /// The shape of the array that the text has a name for.
    pub(super) fn base(&self) -> Option<&[Poly]> {
        self.base.as_deref()
    }

    /// The chain that a library means by the text, where that is another one.
    pub(crate) fn read_by(&self, library: ArrayLibrary) -> Option<Chain> {
        let (_, read) = self.own.iter().find(|(own, _)| *own == library)?;
        Some(Chain { read: read.clone(), numbers: Vec::new(), base: self.base.clone(), own: Vec::new() })
    }

    /// What was read.
    pub(crate) fn read(&self) -> &ChainOf<Poly> {
        &self.read
    }

    pub(super) fn needs(&self) -> &[Need<Poly>] {
        self.read.needs()
    }

    /// The name of the array that the chain starts with, where nothing is known of it but that.
    ///
    /// ```
    /// let chain = shapetracker_symbolic::Question::default().chain("x.reshape(B*T)")?;
    /// assert_eq!(chain.start_name(), Some("x"));
    /// # Ok::<(), shapetracker::ParseError>(())
    /// ```
    pub fn start_name(&self) -> Option<&str> {
        self.read.start_name()
    }

    /// How many operations there are.
    ///
    /// ```
    /// let chain = shapetracker_symbolic::Question::default().chain("(H, T).T.reshape(-1)")?;
    /// assert_eq!(chain.len(), 2);
    /// # Ok::<(), shapetracker::ParseError>(())
    /// ```
    pub fn len(&self) -> usize {
        self.read.ops().len()
    }

    /// Whether there are no operations.
    ///
    /// ```
    /// assert!(shapetracker_symbolic::Question::default().chain("(H, T)")?.is_empty());
    /// # Ok::<(), shapetracker::ParseError>(())
    /// ```
    pub fn is_empty(&self) -> bool {
        self.read.ops().is_empty()
    }

    /// The bytes of an operation in the text, without the dot; an empty range at the end for one that there is not.
    ///
    /// ```
    /// let chain = shapetracker_symbolic::Question::default().chain("(H, T).T.reshape(-1)")?;
    /// assert_eq!((chain.span(0), chain.span(9)), (7..8, 20..20));
    /// # Ok::<(), shapetracker::ParseError>(())
    /// ```
    pub fn span(&self, op: usize) -> Range<usize> {
        self.read.span(op)
    }

    /// The bytes of the start in the text; empty for one that there is not.
    ///
    /// ```
    /// let chain = shapetracker_symbolic::Question::default().chain(" (H, T).T")?;
    /// assert_eq!(chain.start_span(), 1..7);
    /// # Ok::<(), shapetracker::ParseError>(())
    /// ```
    pub fn start_span(&self) -> Range<usize> {
        self.read.start_span()
    }

    /// The text with values in the place of the names, one for each name of the question's
    /// [scope](crate::Question::scope); `None` where a number is past the range of 64-bit integers.
    ///
    /// ```
    /// let mut question = shapetracker_symbolic::Question::new(["D=64"])?;
    /// let chain = question.chain("torch.zeros(B, T, 3*D).transpose(0, -1)[:T - 1]")?;
    /// // The names are B and T, in the order of the text.
    /// assert_eq!(chain.at(&[2, 5]).unwrap(), "torch.zeros(2, 5, 192).transpose(0, -1)[:4]");
    /// # Ok::<(), shapetracker::ParseError>(())
    /// ```
    pub fn at(&self, values: &[i128]) -> Option<String> {
        let (mut text, mut from, text_of) = (String::new(), 0, self.text());
        for (poly, span) in &self.numbers {
            // A number that is one already stays as it is written.
            let is_written = !text_of[span.clone()].contains(|c: char| !c.is_ascii_digit() && !"_-".contains(c));
            if !is_written {
                text += &text_of[from..span.start];
                text += &i64::try_from(poly.eval(values)?).ok()?.to_string();
                from = span.end;
            }
        }
        text += &text_of[from..];
        Some(text)
    }

    /// The text as it was written.
    ///
    /// ```
    /// assert_eq!(shapetracker_symbolic::Question::default().chain("( H,T )")?.text(), "( H,T )");
    /// # Ok::<(), shapetracker::ParseError>(())
    /// ```
    pub fn text(&self) -> &str {
        self.read.text()
    }
}

/// Reads a chain, the whole text.
pub(super) fn read(text: &str, base: Option<Vec<Poly>>, question: &mut Question) -> Result<Chain, ParseError> {
    let mut reading = Reading::new(question);
    let (read, error) = ChainOf::read_with(text, base.as_deref(), &mut reading);
    if let Some(err) = error {
        return Err(err);
    }
    let mut numbers = std::mem::take(&mut reading.numbers);
    // What is read once more after a look ahead is the same number.
    numbers.sort_by_key(|(_, span)| span.start);
    numbers.dedup_by_key(|(_, span)| span.start);
    // Of an array whose shape is not known there is nothing that a library could do.
    let libraries: &[ArrayLibrary] = if base.is_some() { ArrayLibrary::ALL } else { &[] };
    let own = libraries
        .iter()
        .filter_map(|&library| read.read_by(library, base.as_deref(), &mut reading).map(|own| (library, own)));
    let own = own.collect();
    Ok(Chain { read, numbers, base, own })
}
