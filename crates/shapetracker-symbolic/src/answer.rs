//! What is answered: for which values of the names two views are one.

use crate::literal::Literal;
use crate::poly::TooLarge;
use crate::scope::{Quotient, Scope};
use crate::view::View;
use shapetracker::Witness;

/// Conditions of which one must hold, each of them literals that must all hold. The empty list never holds; a list with
/// an empty list always does.
pub type Formula = Vec<Vec<Literal>>;

/// A part of the values of the names, and what is known there.
///
/// ```
/// use shapetracker_symbolic::{Answer, ShapeTracker, Sym};
/// let (h, t) = (Sym::new("H", 1..), Sym::new("T", 1..));
/// let st = ShapeTracker::contiguous([h.clone(), t.clone()])?.permute([1, 0])?.reshape([h * t])?;
/// let answer = st.single_view();
/// let leaf = &answer.leaves()[0];
/// assert!(!leaf.literals.is_empty());
/// # Ok::<(), shapetracker_symbolic::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Leaf {
    /// The conditions that describe the part.
    pub literals: Vec<Literal>,
    /// What holds there.
    pub verdict: Verdict,
}

/// The parts of the values that an answer is made of.
///
/// ```
/// use shapetracker_symbolic::{Answer, ShapeTracker, Sym};
/// let (h, t) = (Sym::new("H", 1..), Sym::new("T", 1..));
/// let st = ShapeTracker::contiguous([h.clone(), t.clone()])?.permute([1, 0])?.reshape([h * t])?;
/// let answer = st.single_view();
/// assert!(answer.leaves().len() >= 3); // T is 1, H is 1, or neither
/// # Ok::<(), shapetracker_symbolic::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Leaves {
    pub(crate) list: Vec<Leaf>,
    /// Quotients that the leaves have names for, after those of the scope.
    pub(crate) quotients: Vec<Quotient>,
}

impl std::ops::Deref for Leaves {
    type Target = [Leaf];

    fn deref(&self) -> &[Leaf] {
        &self.list
    }
}

/// What is known of a [`Leaf`].
///
/// ```
/// use shapetracker_symbolic::{Answer, ShapeTracker, Sym};
/// let (h, t) = (Sym::new("H", 1..), Sym::new("T", 1..));
/// let st = ShapeTracker::contiguous([h.clone(), t.clone()])?.permute([1, 0])?.reshape([h * t])?;
/// let answer = st.single_view();
/// use shapetracker_symbolic::Verdict;
/// assert!(answer.leaves().iter().any(|leaf| leaf.verdict == Verdict::NotOne));
/// # Ok::<(), shapetracker_symbolic::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It is this one view.
    View(View),
    /// It is not one view.
    NotOne,
    /// It was not decided, and why.
    Undecided(Reason),
}

/// Why a question was not decided.
///
/// ```
/// use shapetracker_symbolic::Reason;
/// assert_eq!(Reason::Quotient.to_string(), "a quotient is no polynomial");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
#[non_exhaustive]
pub enum Reason {
    /// The limit of the work was reached.
    #[error("the limit of the work was reached")]
    WorkLimit,
    /// There are more cases than are looked at.
    #[error("there are more cases than are told apart")]
    TooManyCases,
    /// A coefficient or a degree left what is computed with.
    #[error("a polynomial has coefficients past 128 bits, or more than 16 factors in a product")]
    TooLarge,
    /// A polynomial has, or may have, so many terms.
    #[error("{}", crate::TooLarge::Terms(*.0))]
    TooManyTerms(usize),
    /// A quotient is no polynomial.
    #[error("a quotient is no polynomial")]
    Quotient,
    /// Several carries may cancel.
    #[error("jumps at several boundaries may cancel each other")]
    Cancelling,
    /// The valid indices may or may not be a box.
    #[error("whether the valid indices are a box is not known")]
    Mask,
    /// No two neighbours of three or more views are one view, and whether all of them together are is not known.
    #[error("no two neighbours of three or more views are one view; whether all of them together are is not known")]
    Stack,
    /// The values for which a part of the answer is no are not known to exist.
    #[error("whether the values exist for which it is not one view is not known")]
    Existence,
}

impl From<TooLarge> for Reason {
    fn from(err: TooLarge) -> Reason {
        match err {
            TooLarge::Number => Reason::TooLarge,
            TooLarge::Terms(terms) => Reason::TooManyTerms(terms),
            TooLarge::Work(_) => Reason::WorkLimit,
        }
    }
}

/// Values of the names at which the views are not one, and the evidence there.
///
/// ```
/// use shapetracker_symbolic::{Answer, ShapeTracker, Sym};
/// let (h, t) = (Sym::new("H", 1..), Sym::new("T", 1..));
/// let st = ShapeTracker::contiguous([h.clone(), t.clone()])?.permute([1, 0])?.reshape([h * t])?;
/// let answer = st.single_view();
/// let Answer::When { counterexample, .. } = answer else { unreachable!() };
/// assert!(counterexample.values.iter().all(|&value| value > 1));
/// # Ok::<(), shapetracker_symbolic::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counterexample {
    /// A value for each name of the scope.
    pub values: Vec<i128>,
    /// The evidence at these values, which anyone can check.
    pub witness: Witness,
}

/// For which values of the names two views are one.
///
/// ```
/// use shapetracker_symbolic::{Answer, ShapeTracker, Sym};
/// let (h, t) = (Sym::new("H", 1..), Sym::new("T", 1..));
/// let st = ShapeTracker::contiguous([h.clone(), t.clone()])?.permute([1, 0])?.reshape([h * t])?;
/// let answer = st.single_view();
/// let Answer::When { formula, .. } = &answer else { unreachable!() };
/// assert_eq!(formula.len(), 2); // T == 1 or H == 1
/// # Ok::<(), shapetracker_symbolic::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// For all of them: every leaf has a view, and `view` is one that serves all where there is one polynomial view.
    Always {
        /// The one view, if one set of polynomials serves all leaves.
        view: Option<View>,
        /// The parts.
        leaves: Leaves,
    },
    /// For exactly those of a formula.
    When {
        /// The exact condition.
        formula: Formula,
        /// The one view wherever the formula holds, if one set of polynomials serves.
        view: Option<View>,
        /// The parts.
        leaves: Leaves,
        /// Values at which it is not one view.
        counterexample: Counterexample,
    },
    /// For none of them.
    Never {
        /// The parts.
        leaves: Leaves,
        /// Values, with the evidence there.
        counterexample: Counterexample,
    },
    /// Not decided for all values; what is known is in the leaves.
    Undecided {
        /// Why.
        reason: Reason,
        /// Where it is known to be one view.
        formula: Formula,
        /// The parts.
        leaves: Leaves,
        /// Values at which it is not one view, if some are known.
        counterexample: Option<Counterexample>,
    },
}

impl Answer {
    /// Its name in JSON: `all`, `formula`, `never` or `undecided`.
    ///
    /// ```
    /// use shapetracker_symbolic::{Answer, ShapeTracker, Sym};
    /// let (h, t) = (Sym::new("H", 1..), Sym::new("T", 1..));
    /// let st = ShapeTracker::contiguous([h.clone(), t.clone()])?.permute([1, 0])?.reshape([h * t])?;
    /// let answer = st.single_view();
    /// assert_eq!(answer.kind(), "formula");
    /// # Ok::<(), shapetracker_symbolic::Error>(())
    /// ```
    pub fn kind(&self) -> &'static str {
        match self {
            Answer::Always { .. } => "all",
            Answer::When { .. } => "formula",
            Answer::Never { .. } => "never",
            Answer::Undecided { .. } => "undecided",
        }
    }

    /// The names in which the answer is written: those of the scope that was asked about, and names such as `(n//2)` for
    /// quotients that it needs. [`Scope::complete`] gives their values.
    ///
    /// ```
    /// use shapetracker_symbolic::{Answer, ShapeTracker, Sym};
    /// let (h, t) = (Sym::new("H", 1..), Sym::new("T", 1..));
    /// let st = ShapeTracker::contiguous([h.clone(), t.clone()])?.permute([1, 0])?.reshape([h * t])?;
    /// let answer = st.single_view();
    /// assert_eq!(answer.scope(st.scope()).names().len(), 2); // H and T, and no quotient
    /// # Ok::<(), shapetracker_symbolic::Error>(())
    /// ```
    pub fn scope(&self, asked: &Scope) -> Scope {
        asked.with_quotients(&self.leaves().quotients)
    }

    /// The parts of the values, and what is known in each.
    ///
    /// ```
    /// use shapetracker_symbolic::{Answer, ShapeTracker, Sym};
    /// let (h, t) = (Sym::new("H", 1..), Sym::new("T", 1..));
    /// let st = ShapeTracker::contiguous([h.clone(), t.clone()])?.permute([1, 0])?.reshape([h * t])?;
    /// let answer = st.single_view();
    /// assert!(answer.leaves().iter().all(|leaf| leaf.literals.len() <= 2));
    /// # Ok::<(), shapetracker_symbolic::Error>(())
    /// ```
    pub fn leaves(&self) -> &Leaves {
        match self {
            Answer::Always { leaves, .. }
            | Answer::When { leaves, .. }
            | Answer::Never { leaves, .. }
            | Answer::Undecided { leaves, .. } => leaves,
        }
    }
}

/// The text of a formula: `T == 1 or H == 1`, with commas where several conditions hold together.
///
/// ```
/// use shapetracker_symbolic::{Answer, ShapeTracker, Sym};
/// let (h, t) = (Sym::new("H", 1..), Sym::new("T", 1..));
/// let st = ShapeTracker::contiguous([h.clone(), t.clone()])?.permute([1, 0])?.reshape([h * t])?;
/// let answer = st.single_view();
/// use shapetracker_symbolic::formula_text;
/// assert_eq!(formula_text(&answer.formula(), st.scope()), "H == 1 or T == 1");
/// # Ok::<(), shapetracker_symbolic::Error>(())
/// ```
pub fn formula_text(formula: &Formula, scope: &Scope) -> String {
    let conjunction = |literals: &Vec<Literal>| match &literals[..] {
        [] => "always".to_owned(),
        _ => literals.iter().map(|literal| literal.text(scope)).collect::<Vec<_>>().join(" and "),
    };
    // A comma where the alternatives are more than names with numbers: `s <= 3, or s <= 5 and s1 == 2*s2`.
    let or = if formula.iter().all(|literals| literals.len() < 2) { " or " } else { ", or " };
    match &formula[..] {
        [] => "never".into(),
        _ => formula.iter().map(conjunction).collect::<Vec<_>>().join(or),
    }
}
