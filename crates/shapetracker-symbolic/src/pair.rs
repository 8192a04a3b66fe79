//! A pair of views as a question that is complete: what it needs of the values, and the answer.

use std::sync::Arc;

use crate::answer::{Answer, Counterexample, Reason, Verdict, formula_text};
use crate::ask::Ask;
use crate::error::Error;
use crate::literal::Literal;
use crate::merge::merge;
use crate::movement::need_inside;
use crate::notation::{Chain, ChainError};
use crate::scope::Scope;
use crate::tracker::need_view;
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
    /// assert_eq!(pair.needs()[0].text(pair.scope()), "3*n <= 14");
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

    /// The names, their ranges, and what is known of them.
    pub fn scope(&self) -> &Arc<Scope> {
        &self.scope
    }

    /// The conditions without which there is no question; they hold together.
    pub fn needs(&self) -> &[Literal] {
        &self.needs
    }

    /// The view next to memory, and the one over it.
    pub fn views(&self) -> [&View; 2] {
        [&self.earlier, &self.later]
    }

    /// For which values they are one view.
    pub fn answer(&self) -> &Answer {
        &self.answer
    }

    /// Values for which they are not one view, with the evidence.
    pub fn counterexample(&self) -> Option<&Counterexample> {
        self.answer.counterexample()
    }

    /// The answer in words, as the end of a sentence: `one view if and only if T == 1 or H == 1`.
    pub fn sentence(&self) -> String {
        sentence(&self.answer, &self.scope)
    }

    /// The values of the names at the counterexample: `H = 2, T = 2`; nothing where there is none.
    pub fn values(&self) -> String {
        let Some(counterexample) = self.counterexample() else { return String::new() };
        let names = self.scope.names().iter().zip(&counterexample.values);
        names.map(|(name, value)| format!("{} = {value}", name.name)).collect::<Vec<_>>().join(", ")
    }

    /// The cases in which there is a view, or in which nothing was decided: their conditions in words, and the view or why
    /// there is none.
    pub fn cases(&self) -> Vec<(String, Result<&View, Reason>)> {
        let names = self.answer.scope(&self.scope);
        let of = |literals: &[Literal]| match literals {
            [] => "always".to_owned(),
            _ => literals.iter().map(|literal| literal.text(&names)).collect::<Vec<_>>().join(" and "),
        };
        let leaves = self.answer.leaves().iter();
        let cases = leaves.filter_map(|leaf| match &leaf.verdict {
            Verdict::View(view) => Some((of(&leaf.literals), Ok(view))),
            Verdict::Undecided(reason) => Some((of(&leaf.literals), Err(*reason))),
            Verdict::NotOne => None,
        });
        cases.collect()
    }
}

impl Answer {
    /// The one view that serves wherever there is one, if one set of polynomials does.
    pub fn view(&self) -> Option<&View> {
        match self {
            Answer::Always { view, .. } | Answer::When { view, .. } => view.as_ref(),
            Answer::Never { .. } | Answer::Undecided { .. } => None,
        }
    }

    /// Values for which it is not one view, with the evidence.
    pub fn counterexample(&self) -> Option<&Counterexample> {
        match self {
            Answer::Always { .. } => None,
            Answer::When { counterexample, .. } | Answer::Never { counterexample, .. } => Some(counterexample),
            Answer::Undecided { counterexample, .. } => counterexample.as_ref(),
        }
    }

    /// Where it is known to be one view: the exact condition, unless the answer is [`Answer::Undecided`].
    pub fn formula(&self) -> crate::Formula {
        match self {
            Answer::Always { .. } => vec![Vec::new()],
            Answer::When { formula, .. } | Answer::Undecided { formula, .. } => formula.clone(),
            Answer::Never { .. } => Vec::new(),
        }
    }
}

/// An answer in words.
pub(crate) fn sentence(answer: &Answer, scope: &Scope) -> String {
    match answer {
        Answer::Always { .. } => "one view for all values".into(),
        Answer::When { formula, .. } => {
            format!("one view if and only if {}", formula_text(formula, &answer.scope(scope)))
        }
        Answer::Never { .. } => "not one view for any values".into(),
        Answer::Undecided { reason, formula, .. } if formula.is_empty() => format!("undecided, because {reason}"),
        Answer::Undecided { reason, formula, .. } => {
            let formula = formula_text(formula, &answer.scope(scope));
            format!("one view if {formula}, and undecided elsewhere, because {reason}")
        }
    }
}
