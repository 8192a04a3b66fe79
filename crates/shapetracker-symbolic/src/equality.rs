//! Are two trackers the same map, for all values of the names?

use std::sync::Arc;

use shapetracker_base::list::sort_short_by_key;

use crate::answer::Formula;
use crate::ask::Ask;
use crate::error::{Error, Fault};
use crate::literal::Literal;
use crate::poly::Poly;
use crate::region::factors;
use crate::sym::united;
use crate::tracker::ShapeTracker;
use crate::view::View;

/// For which values of the names two trackers read the same addresses.
///
/// ```
/// use shapetracker_symbolic::{Equality, ShapeTracker, Sym};
///
/// let (b, t) = (Sym::new("B", 1..), Sym::new("T", 1..));
/// let rows = ShapeTracker::contiguous([b.clone(), t.clone()])?;
/// let columns = ShapeTracker::contiguous([t, b])?.permute([1, 0])?;
/// let Equality::When { formula, scope } = rows.equality(&columns)? else { panic!() };
/// assert_eq!(shapetracker_symbolic::formula_text(&formula, &scope), "T == 1 or B == 1");
/// # Ok::<(), shapetracker_symbolic::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Equality {
    /// For all of them.
    Always,
    /// For exactly those of a formula, which is neither proved nor refuted.
    When {
        /// The exact condition.
        formula: Formula,
        /// The names of both trackers, over which it is.
        scope: Arc<crate::Scope>,
    },
    /// For none of them.
    Never,
    /// Not decided: one of them is several views.
    Undecided,
}

impl ShapeTracker {
    /// For which values this tracker and another one of the same shape read the same address at every index, or are masked
    /// there both.
    ///
    /// Of single views the answer is exact: the valid indices are the same, and so is the address of the first of them and
    /// the stride of each axis that has more than one. Stacks are equal if all of their views are.
    ///
    /// ```
    /// use shapetracker_symbolic::{Equality, ShapeTracker, Sym};
    /// let st = ShapeTracker::contiguous([Sym::new("n", 1..), 4.into()])?;
    /// assert_eq!(st.flip([0])?.flip([0])?.equality(&st)?, Equality::Always);
    /// # Ok::<(), shapetracker_symbolic::Error>(())
    /// ```
    ///
    /// # Errors
    /// Shapes that are not known to be the same, one name with two ranges, conditions that contradict each other.
    pub fn equality(&self, other: &ShapeTracker) -> Result<Equality, Error> {
        const OP: &str = "equality";
        let (scope, renamed) = united(OP, self.scope(), other.scope())?;
        let rename = |var: crate::Var| renamed[usize::from(var.0)];
        let needs = self.needs().iter().cloned().chain(other.needs().iter().map(|need| need.renamed(rename)));
        let mut ask = Ask::new(OP, &scope, needs.collect());
        let views: Vec<View> = other.views().iter().map(|view| view.renamed(rename)).collect();
        let (mine, theirs) = (&self.views()[self.views().len() - 1], &views[views.len() - 1]);
        let mut same = mine.shape.len() == theirs.shape.len();
        for (a, b) in mine.shape.iter().zip(&theirs.shape) {
            same = same && ask.equal(a, b)? == Some(true);
        }
        if !same {
            return Err(ask.err(Fault::ShapesDiffer { from: ask.texts(&mine.shape), to: ask.texts(&theirs.shape) }));
        }
        let one = match (self.views(), &views[..]) {
            ([mine], [theirs]) => same_map(&mut ask, mine, theirs)?,
            (mine, theirs) if mine.len() == theirs.len() => {
                let mut all = true;
                for (mine, theirs) in mine.iter().zip(theirs) {
                    all = all
                        && mine.shape == theirs.shape
                        && matches!(same_map(&mut ask, mine, theirs)?, Some(formula) if formula == [Vec::new()]);
                }
                return Ok(if all { Equality::Always } else { Equality::Undecided });
            }
            _ => return Ok(Equality::Undecided),
        };
        Ok(match one {
            None => Equality::Never,
            Some(formula) if formula.iter().any(Vec::is_empty) => Equality::Always,
            Some(formula) => Equality::When { formula, scope: Arc::new(scope) },
        })
    }
}

/// For which values two views of one shape are the same map; `None` for none.
fn same_map(ask: &mut Ask<'_>, a: &View, b: &View) -> Result<Option<Formula>, Error> {
    // Without axes a mask hides the one element.
    match (a.shape.is_empty(), a.mask.is_some(), b.mask.is_some()) {
        (true, true, true) => return Ok(Some(vec![Vec::new()])),
        (true, a, b) if a != b => return Ok(None),
        _ => {}
    }
    // Both read something: the same indices, the same address of the first, and the same strides where there is a second.
    // Each condition is a list of literals of which one must hold.
    let mut conditions: Vec<Vec<Poly>> = Vec::new();
    let (mut first_a, mut first_b) = (a.offset.clone(), b.offset.clone());
    let (mut empty_a, mut empty_b) = (Vec::new(), Vec::new());
    for (axis, (stride_a, stride_b)) in a.strides.iter().zip(&b.strides).enumerate() {
        let ((begin_a, end_a), (begin_b, end_b)) = (a.range(axis), b.range(axis));
        let made = (|| {
            first_a = first_a.add(&begin_a.mul(stride_a)?)?;
            first_b = first_b.add(&begin_b.mul(stride_b)?)?;
            let (len_a, len_b) = (end_a.sub(&begin_a)?, end_b.sub(&begin_b)?);
            conditions.push(vec![begin_a.sub(&begin_b)?]);
            conditions.push(vec![end_a.sub(&end_b)?]);
            conditions.push(vec![stride_a.sub(stride_b)?, len_a.plus_number(-1)?]);
            empty_a.push(len_a);
            empty_b.push(len_b);
            Ok(())
        })();
        ask.made(made)?;
    }
    conditions.push(vec![ask.made(first_a.sub(&first_b))?]);
    let mut formula = zeros(ask, &conditions)?;
    // Neither reads anything.
    for empty_a in &empty_a {
        for empty_b in &empty_b {
            let mut both = Some(Vec::new());
            for len in [empty_a, empty_b] {
                let literal = nothing(ask, len)?;
                match ask.known(&literal)? {
                    Some(true) => {}
                    Some(false) => both = None,
                    None => {
                        both = both.map(
                            |all: Vec<Literal>| {
                                if all.contains(&literal) { all } else { [all, vec![literal]].concat() }
                            },
                        )
                    }
                }
            }
            formula.extend(both);
        }
    }
    absorb(&mut formula);
    Ok(Some(formula).filter(|formula| !formula.is_empty()))
}

/// That a range of so many indices has none; polynomials that serve in several cases may give it less than none.
fn nothing(ask: &mut Ask<'_>, len: &Poly) -> Result<Literal, Error> {
    match ask.known(&Literal::at_least(len.clone()))? {
        Some(true) => Ok(Literal::equal(len.clone())),
        _ => Ok(Literal::at_least(ask.made(len.neg())?)),
    }
}

/// The most conjunctions that a formula is multiplied out to.
const MOST_CASES: usize = 64;

/// For which values in each list of polynomials one is 0, as a disjunction of conjunctions.
fn zeros(ask: &mut Ask<'_>, conditions: &[Vec<Poly>]) -> Result<Formula, Error> {
    let mut formula: Formula = vec![Vec::new()];
    for alternatives in conditions {
        let mut open = Vec::new();
        let mut holds = false;
        for poly in alternatives {
            // A product is 0 where one of its factors is: `T*D == D` is `T == 1` where D is never 0.
            let factors = if poly.number().is_some() { vec![poly.clone()] } else { factors(poly) };
            for poly in factors {
                // One sign of two, so that equal conditions are equal literals.
                let negative = poly.terms().first().is_some_and(|term| term.1 < 0);
                let literal = Literal::equal(if negative { ask.made(poly.neg())? } else { poly });
                match ask.known(&literal)? {
                    Some(known) => holds |= known,
                    None if open.contains(&literal) => {}
                    None => open.push(literal),
                }
            }
        }
        if holds {
            continue;
        }
        if formula.len() * open.len() > MOST_CASES {
            // A product is 0 where one of its factors is.
            let factors = open.iter().map(|literal| &literal.poly);
            let product = factors.into_iter().try_fold(Poly::one(), |product, factor| product.mul(factor));
            open = vec![Literal::equal(ask.made(product)?)];
        }
        let with = |all: &Vec<Literal>, literal: &Literal| {
            let mut all = all.clone();
            if !all.contains(literal) {
                all.push(literal.clone());
            }
            all
        };
        formula = formula.iter().flat_map(|all| open.iter().map(|literal| with(all, literal))).collect();
        absorb(&mut formula);
    }
    Ok(formula)
}

/// Leaves out each conjunction that has all literals of another one.
pub(crate) fn absorb(formula: &mut Formula) {
    let mut kept = Formula::new();
    sort_short_by_key(formula, Vec::len);
    for all in formula.drain(..) {
        if !kept.iter().any(|fewer| fewer.iter().all(|literal| all.contains(literal))) {
            kept.push(all);
        }
    }
    *formula = kept;
}
