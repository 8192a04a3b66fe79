//! A pair of views as a question that is complete: what it needs of the values, and the answer.

use std::sync::Arc;

use crate::answer::{Answer, Counterexample, Reason, Verdict, formula_text};
use crate::ask::Ask;
use crate::error::Error;
use crate::literal::Literal;
use crate::merge::{merge, tidy};
use crate::movement::need_inside;
use crate::notation::{Chain, ChainError};
use crate::operation::Movement;
use crate::poly::Poly;
use crate::region::Region;
use crate::scope::Scope;
use crate::tracker::{ShapeTracker, need_view};
use crate::view::View;

/// Two views, one over the other, with what they need of the values, and for which values they are one view.
///
/// It is what the front ends ask and show; [`merge`](crate::merge()) alone takes the needs for granted.
///
/// ```
/// use std::sync::Arc;
/// use shapetracker_symbolic::{Pair, Question};
///
/// let mut question = Question::new(["T=1..4097"])?;
/// let (earlier, later) = (question.chain("(H, T):(1, H)")?, question.chain("(H*T)")?);
/// let pair = Pair::of_chains(&Arc::new(question.scope()?), &earlier, &later).unwrap();
/// assert_eq!(pair.sentence(), "one view if and only if T == 1 or H == 1");
/// # Ok::<(), shapetracker::ParseError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Pair {
    scope: Arc<Scope>,
    needs: Vec<Literal>,
    earlier: View,
    later: View,
    answer: Answer,
}

impl Pair {
    /// Asks about two views over the names of a scope, of which `earlier` is next to memory, under conditions.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use shapetracker_symbolic::{Pair, Poly, Scope, View};
    ///
    /// let mut scope = Scope::new();
    /// let n = Poly::from(scope.declare("n", Some(1), None).unwrap());
    /// let view = |size: &Poly, stride: i64| {
    ///     View { shape: vec![size.clone()], strides: vec![Poly::from(stride)], offset: Poly::default(), mask: None }
    /// };
    /// let pair = Pair::new(Arc::new(scope), Vec::new(), view(&Poly::from(12_i64), 5), view(&n, 3)).unwrap();
    /// // The later view reads 3*(n - 1), which must be one of 12 elements.
    /// assert_eq!(pair.needs()[0].text(pair.scope()), "n <= 4");
    /// assert_eq!(pair.sentence(), "one view for all values");
    /// ```
    ///
    /// # Errors
    /// Lists of different lengths, sizes or masks that no values allow, a later view that always reads outside of the
    /// earlier one, or one for which that depends on the unknown sign of a stride.
    ///
    /// # Cost
    /// That of [`merge`](crate::merge()).
    pub fn new(scope: Arc<Scope>, needs: Vec<Literal>, earlier: View, later: View) -> Result<Pair, Error> {
        let mut ask = Ask::new("views", &scope, needs);
        need_view(&mut ask, &earlier)?;
        need_view(&mut ask, &later)?;
        let len = ask.made(earlier.numel())?;
        need_inside(&mut ask, &later, &len)?;
        let needs = ask.into_needs();
        let answer = merge(&scope, &needs, &earlier, &later);
        Ok(Pair { scope, needs, earlier, later, answer })
    }

    /// Asks about the views of two chains over the names of a scope.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use shapetracker_symbolic::{Pair, Question};
    ///
    /// let mut question = Question::default();
    /// let (earlier, later) = (question.chain("(H, T):(1, H)")?, question.chain("(H*T)")?);
    /// let pair = Pair::of_chains(&Arc::new(question.scope()?), &earlier, &later).unwrap();
    /// assert!(Pair::of_chains(pair.scope(), &later, &later).is_ok());
    /// # Ok::<(), shapetracker::ParseError>(())
    /// ```
    ///
    /// # Errors
    /// A chain that cannot be done, or is several views; and, at the later one, what [`Pair::new`] refuses.
    pub fn of_chains(scope: &Arc<Scope>, earlier: &Chain, later: &Chain) -> Result<Pair, ChainError> {
        let ((first, mut needs), (second, more)) = (earlier.view(scope)?, later.view(scope)?);
        for literal in more {
            if !needs.contains(&literal) {
                needs.push(literal);
            }
        }
        Pair::new(scope.clone(), needs, first, second).map_err(|err| later.error(err))
    }

    /// Asks whether a view can be viewed under another shape: whether it is one view with the row-major view of that shape
    /// over it. One size may be -1 and is inferred.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use shapetracker_symbolic::{Pair, Question};
    ///
    /// let mut question = Question::default();
    /// let (chain, shape) = (question.chain("(H, T):(1, H)")?, question.sizes("-1")?);
    /// let scope = Arc::new(question.scope()?);
    /// let pair = Pair::of_reshape(scope.clone(), chain.view(&scope).unwrap().0, shape).unwrap();
    /// assert_eq!(pair.sentence(), "one view if and only if T == 1 or H == 1");
    /// # Ok::<(), shapetracker::ParseError>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`ShapeTracker::from_views`] and of [`ShapeTracker::reshape`].
    pub fn of_reshape(scope: Arc<Scope>, view: View, shape: Vec<Poly>) -> Result<Pair, Error> {
        // Of the reshape only the shape and what it needs is asked, which is that of any view: of this one it would be decided twice.
        let in_order = View::row_major(&view.shape).map_err(|err| Error::new("reshape", err))?;
        let after = ShapeTracker::from_views(scope.clone(), [in_order])?.apply(&Movement::Reshape(shape))?;
        let later = View::row_major(after.shape()).map_err(|err| Error::new("reshape", err))?;
        Pair::new(scope, after.needs().to_vec(), view, later)
    }

    /// The names, their ranges, and what is known of them.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use shapetracker_symbolic::{Pair, Question};
    ///
    /// let mut question = Question::default();
    /// let (earlier, later) = (question.chain("(H, T):(1, H)")?, question.chain("(H*T)")?);
    /// let pair = Pair::of_chains(&Arc::new(question.scope()?), &earlier, &later).unwrap();
    /// assert_eq!(pair.scope().names().len(), 2);
    /// # Ok::<(), shapetracker::ParseError>(())
    /// ```
    pub fn scope(&self) -> &Arc<Scope> {
        &self.scope
    }

    /// The conditions without which there is no question; they hold together.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use shapetracker_symbolic::{Pair, Question};
    ///
    /// let mut question = Question::default();
    /// let (earlier, later) = (question.chain("(H, T):(1, H)")?, question.chain("(H*T)")?);
    /// let pair = Pair::of_chains(&Arc::new(question.scope()?), &earlier, &later).unwrap();
    /// assert!(pair.needs().is_empty());
    /// # Ok::<(), shapetracker::ParseError>(())
    /// ```
    pub fn needs(&self) -> &[Literal] {
        &self.needs
    }

    /// The view next to memory, and the one over it.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use shapetracker_symbolic::{Pair, Question};
    ///
    /// let mut question = Question::default();
    /// let (earlier, later) = (question.chain("(H, T):(1, H)")?, question.chain("(H*T)")?);
    /// let pair = Pair::of_chains(&Arc::new(question.scope()?), &earlier, &later).unwrap();
    /// assert_eq!(pair.views()[1].text(pair.scope()), "(H*T,):(1,)");
    /// # Ok::<(), shapetracker::ParseError>(())
    /// ```
    pub fn views(&self) -> [&View; 2] {
        [&self.earlier, &self.later]
    }

    /// For which values they are one view.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use shapetracker_symbolic::{Pair, Question};
    ///
    /// let mut question = Question::default();
    /// let (earlier, later) = (question.chain("(H, T):(1, H)")?, question.chain("(H*T)")?);
    /// let pair = Pair::of_chains(&Arc::new(question.scope()?), &earlier, &later).unwrap();
    /// assert_eq!(pair.answer().kind(), "formula");
    /// # Ok::<(), shapetracker::ParseError>(())
    /// ```
    pub fn answer(&self) -> &Answer {
        &self.answer
    }

    /// The answer in words, as the end of a sentence: `one view if and only if T == 1 or H == 1`.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use shapetracker_symbolic::{Pair, Question};
    ///
    /// let mut question = Question::default();
    /// let (earlier, later) = (question.chain("(H, T):(1, H)")?, question.chain("(H*T)")?);
    /// let pair = Pair::of_chains(&Arc::new(question.scope()?), &earlier, &later).unwrap();
    /// assert_eq!(pair.sentence(), "one view if and only if T == 1 or H == 1");
    /// # Ok::<(), shapetracker::ParseError>(())
    /// ```
    pub fn sentence(&self) -> String {
        self.answer.sentence(&self.scope)
    }

    /// The cases in which there is a view, or in which nothing was decided: their conditions in words, and the view or why
    /// there is none.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use shapetracker_symbolic::{Pair, Question};
    ///
    /// let mut question = Question::default();
    /// let (earlier, later) = (question.chain("(H, T):(1, H)")?, question.chain("(H*T)")?);
    /// let pair = Pair::of_chains(&Arc::new(question.scope()?), &earlier, &later).unwrap();
    /// assert_eq!(pair.cases()[0].0, "T == 1");
    /// # Ok::<(), shapetracker::ParseError>(())
    /// ```
    pub fn cases(&self) -> Vec<(String, Result<&View, Reason>)> {
        self.answer.cases(&self.scope, &self.needs)
    }
}

impl Answer {
    /// The cases in which there is a view, or in which nothing was decided: their conditions in words, and the view or why
    /// there is none; given the names and the needs of the question.
    ///
    /// ```
    /// use shapetracker_symbolic::{ShapeTracker, Sym};
    ///
    /// let (h, t) = (Sym::new("H", 1..), Sym::new("T", 1..));
    /// let flat = ShapeTracker::contiguous([t, h])?.permute([1, 0])?.reshape([-1])?;
    /// let answer = flat.boundary(0).unwrap();
    /// assert_eq!(answer.cases(flat.scope(), flat.needs())[1].0, "T >= 2 and H == 1");
    /// # Ok::<(), shapetracker_symbolic::Error>(())
    /// ```
    pub fn cases(&self, asked: &Scope, needs: &[Literal]) -> Vec<(String, Result<&View, Reason>)> {
        let names = self.scope(asked);
        let region = Region::of(asked, needs);
        let of = |literals: &[Literal]| {
            let mut literals = literals.to_vec();
            if let Some(region) = &region {
                tidy(region, &mut literals);
            }
            match &literals[..] {
                [] => "always".to_owned(),
                _ => literals.iter().map(|literal| literal.text(&names)).collect::<Vec<_>>().join(" and "),
            }
        };
        let cases = self.leaves().iter().filter_map(|leaf| match &leaf.verdict {
            Verdict::View(view) => Some((of(&leaf.literals), Ok(view))),
            Verdict::Undecided(reason) => Some((of(&leaf.literals), Err(*reason))),
            Verdict::NotOne => None,
        });
        cases.collect()
    }

    /// The one view that serves wherever there is one, if one set of polynomials does.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use shapetracker_symbolic::{Pair, Question};
    ///
    /// let mut question = Question::default();
    /// let (earlier, later) = (question.chain("(H, T):(1, H)")?, question.chain("(H*T)")?);
    /// let pair = Pair::of_chains(&Arc::new(question.scope()?), &earlier, &later).unwrap();
    /// assert_eq!(pair.answer().view().unwrap().text(pair.scope()), "(H*T,):(1,)");
    /// # Ok::<(), shapetracker::ParseError>(())
    /// ```
    pub fn view(&self) -> Option<&View> {
        match self {
            Answer::Always { view, .. } | Answer::When { view, .. } => view.as_ref(),
            Answer::Never { .. } | Answer::Undecided { .. } => None,
        }
    }

    /// Values for which it is not one view, with the evidence.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use shapetracker_symbolic::{Pair, Question};
    ///
    /// let mut question = Question::default();
    /// let (earlier, later) = (question.chain("(H, T):(1, H)")?, question.chain("(H*T)")?);
    /// let pair = Pair::of_chains(&Arc::new(question.scope()?), &earlier, &later).unwrap();
    /// assert_eq!(pair.answer().counterexample().unwrap().values.len(), 2);
    /// # Ok::<(), shapetracker::ParseError>(())
    /// ```
    pub fn counterexample(&self) -> Option<&Counterexample> {
        match self {
            Answer::Always { .. } => None,
            Answer::When { counterexample, .. } | Answer::Never { counterexample, .. } => Some(counterexample),
            Answer::Undecided { counterexample, .. } => counterexample.as_ref(),
        }
    }

    /// Where it is known to be one view: the exact condition, unless the answer is [`Answer::Undecided`].
    ///
    /// ```
    /// use std::sync::Arc;
    /// use shapetracker_symbolic::{Pair, Question};
    ///
    /// let mut question = Question::default();
    /// let (earlier, later) = (question.chain("(H, T):(1, H)")?, question.chain("(H*T)")?);
    /// let pair = Pair::of_chains(&Arc::new(question.scope()?), &earlier, &later).unwrap();
    /// assert_eq!(pair.answer().formula().len(), 2);
    /// # Ok::<(), shapetracker::ParseError>(())
    /// ```
    pub fn formula(&self) -> crate::Formula {
        match self {
            Answer::Always { .. } => vec![Vec::new()],
            Answer::When { formula, .. } | Answer::Undecided { formula, .. } => formula.clone(),
            Answer::Never { .. } => Vec::new(),
        }
    }

    /// The answer in words, as the end of a sentence: `one view if and only if T == 1 or H == 1`.
    ///
    /// ```
    /// use shapetracker_symbolic::{ShapeTracker, Sym};
    ///
    /// let (h, t) = (Sym::new("H", 1..), Sym::new("T", 1..));
    /// let flat = ShapeTracker::contiguous([t, h])?.permute([1, 0])?.reshape([-1])?;
    /// let answer = flat.boundary(0).unwrap();
    /// assert_eq!(answer.sentence(flat.scope()), "one view if and only if T == 1 or H == 1");
    /// # Ok::<(), shapetracker_symbolic::Error>(())
    /// ```
    pub fn sentence(&self, asked: &Scope) -> String {
        let formula = |formula: &crate::Formula| shortened(formula, &self.scope(asked));
        match self {
            Answer::Always { .. } => "one view for all values".into(),
            Answer::When { formula: found, .. } => format!("one view if and only if {}", formula(found)),
            Answer::Never { .. } => "not one view for any values".into(),
            Answer::Undecided { reason, formula: found, .. } if found.is_empty() => {
                format!("undecided, because {reason}")
            }
            Answer::Undecided { reason, formula: found, .. } => {
                format!("one view if {}, and undecided elsewhere, because {reason}", formula(found))
            }
        }
    }
}

/// A formula as a part of a sentence: one of sixty alternatives would say nothing.
pub(crate) fn shortened(formula: &crate::Formula, scope: &Scope) -> String {
    const MOST: usize = 12;
    let text = formula_text(&formula[..formula.len().min(MOST)].to_vec(), scope);
    match formula.len().saturating_sub(MOST) {
        0 => text,
        more => format!("{text}, or in {more} more cases"),
    }
}
