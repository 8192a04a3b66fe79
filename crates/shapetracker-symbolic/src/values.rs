//! Values of the names: which may be, and what an answer says of them.

use crate::answer::{Answer, Formula, Leaf, Verdict};
use crate::error::{Error, Fault, Mistake};
use crate::literal::Literal;
use crate::scope::Scope;
use crate::view::View;

impl Scope {
    /// The values of the names in their order, if they lie in their ranges, and the conditions of the scope and `needs` hold;
    /// `op` is what the error says was asked for. There may be values of other names, as an environment has them; that of a
    /// name that is defined must be the one that it has by its definition.
    ///
    /// ```
    /// use shapetracker_symbolic::Scope;
    ///
    /// let mut scope = Scope::new();
    /// scope.declare("H", Some(1), None);
    /// scope.declare("T", Some(1), Some(4096));
    /// assert_eq!(scope.point("at", &[], [("T", 5), ("H", 2)])?, [2, 5]);
    /// let err = scope.point("at", &[], [("T", 5), ("H", 0)]).unwrap_err();
    /// assert_eq!(err.to_string(), "at: 0 is not a value of H, which is 1 or more");
    /// # Ok::<(), shapetracker_symbolic::Error>(())
    /// ```
    ///
    /// # Errors
    /// A name without a value, or a value outside its range; a condition or need that does not hold.
    pub fn point<'n>(
        &self,
        op: &'static str,
        needs: &[Literal],
        values: impl IntoIterator<Item = (&'n str, i64)>,
    ) -> Result<Vec<i128>, Error> {
        let names = &self.names()[..self.names().len() - self.quotients().len()];
        let mut point: Vec<Option<i128>> = vec![None; names.len()];
        let (mut defined, mut other) = (Vec::new(), None);
        for (name, value) in values {
            if let Some(place) = names.iter().position(|known| &*known.name == name) {
                point[place] = Some(value.into());
            } else if let Some((_, poly)) = self.definitions().iter().find(|(known, _)| &**known == name) {
                defined.push((name, poly, i128::from(value)));
            } else {
                other.get_or_insert(name);
            }
        }
        let value = |(name, value): (&crate::Name, Option<i128>)| {
            value.ok_or_else(|| match other {
                // A name that there is not may be the one that is missing, misspelled.
                Some(other) => {
                    let known = names.iter().map(|known| known.name.to_string()).collect();
                    Error::new(op, Mistake::UnknownName { name: other.into(), known })
                }
                None => Error::new(op, Mistake::NoValue { name: name.name.to_string() }),
            })
        };
        let point = names.iter().zip(point).map(value).collect::<Result<Vec<_>, _>>()?;
        self.check_point(op, needs, &point)?;
        for (name, poly, value) in defined {
            if poly.eval(&point) != Some(value) {
                return Err(Error::new(op, Mistake::NotHeld { condition: format!("{name} == {}", self.text(poly)) }));
            }
        }
        Ok(point)
    }

    /// Refuses values that are too few, lie outside their ranges, or do not satisfy the conditions of the scope and `needs`.
    pub(crate) fn check_point(&self, op: &'static str, needs: &[Literal], point: &[i128]) -> Result<(), Error> {
        let names = &self.names()[..self.names().len() - self.quotients().len()];
        if let Some(missing) = names.get(point.len()) {
            return Err(Error::new(op, Mistake::NoValue { name: missing.name.to_string() }));
        }
        for (name, &value) in names.iter().zip(point) {
            if name.lo.is_some_and(|lo| value < lo) || name.hi.is_some_and(|hi| value > hi) {
                let range = match (name.lo, name.hi) {
                    (Some(lo), Some(hi)) => format!("from {lo} to {hi}"),
                    (Some(lo), None) => format!("{lo} or more"),
                    (_, hi) => format!("{} or less", hi.unwrap_or_default()),
                };
                return Err(Error::new(op, Mistake::ValueOutside { name: name.name.to_string(), value, range }));
            }
        }
        for literal in self.given().iter().chain(needs) {
            match literal.holds(point) {
                Some(true) => {}
                Some(false) => return Err(Error::new(op, Mistake::NotHeld { condition: literal.text(self) })),
                None => return Err(Error::new(op, Fault::Overflow { what: "at these values a number" })),
            }
        }
        Ok(())
    }
}

/// The one view that a stack of views is at values of the names, one for each name of the scope, as the integers decide it;
/// `Some(None)` where it is none. `None` where a number leaves 64 bits, or the limit of the work ends the decision. The values
/// must be some that the question allows.
///
/// It is what is left to ask where [`Answer::is_one_at`] does not know.
///
/// ```
/// use shapetracker_symbolic::{ShapeTracker, Sym, one_view_at};
///
/// let (h, t) = (Sym::new("H", 1..), Sym::new("T", 1..));
/// let flat = ShapeTracker::contiguous([t, h])?.permute([1, 0])?.reshape([-1])?;
/// let one = one_view_at(flat.scope(), flat.views(), &[2, 1]).unwrap();
/// assert_eq!(one.unwrap().shape(), [2]);
/// assert_eq!(one_view_at(flat.scope(), flat.views(), &[2, 3]), Some(None));
/// # Ok::<(), shapetracker_symbolic::Error>(())
/// ```
pub fn one_view_at(scope: &Scope, views: &[View], values: &[i128]) -> Option<Option<shapetracker::View>> {
    let point = scope.complete(values)?;
    let views = views.iter().map(|view| view.at(&point)).collect::<Option<Vec<_>>>()?;
    match shapetracker::ShapeTracker::from_views(views).ok()?.single_view() {
        Ok(view) => Some(Some(view)),
        Err(shapetracker::Unmerged::Witness(_)) => Some(None),
        Err(_) => None,
    }
}

impl Answer {
    /// The part of the answer that values lie in, which are one for each name of the scope that was asked about, and are
    /// values that the question allows; `None` where a number leaves 128 bits.
    ///
    /// ```
    /// use shapetracker_symbolic::{ShapeTracker, Sym, Verdict};
    ///
    /// let (h, t) = (Sym::new("H", 1..), Sym::new("T", 1..));
    /// let flat = ShapeTracker::contiguous([t, h])?.permute([1, 0])?.reshape([-1])?;
    /// let answer = flat.single_view();
    /// assert_eq!(answer.leaf_at(flat.scope(), &[2, 3]).unwrap().verdict, Verdict::NotOne);
    /// # Ok::<(), shapetracker_symbolic::Error>(())
    /// ```
    pub fn leaf_at(&self, asked: &Scope, values: &[i128]) -> Option<&Leaf> {
        let point = self.scope(asked).complete(values)?;
        // The parts cover all values, and those with a view are told apart by more than they have to be.
        self.leaves().iter().find(|leaf| leaf.literals.iter().all(|literal| literal.holds(&point) == Some(true)))
    }

    /// Whether it is one view at values, as for [`Answer::leaf_at`]; `None` where that is not decided, or a number leaves 128
    /// bits.
    ///
    /// ```
    /// use shapetracker_symbolic::{ShapeTracker, Sym};
    ///
    /// let (h, t) = (Sym::new("H", 1..), Sym::new("T", 1..));
    /// let flat = ShapeTracker::contiguous([t, h])?.permute([1, 0])?.reshape([-1])?;
    /// let answer = flat.single_view();
    /// assert_eq!(answer.is_one_at(flat.scope(), &[2, 3]), Some(false));
    /// assert_eq!(answer.is_one_at(flat.scope(), &[2, 1]), Some(true));
    /// # Ok::<(), shapetracker_symbolic::Error>(())
    /// ```
    pub fn is_one_at(&self, asked: &Scope, values: &[i128]) -> Option<bool> {
        match self {
            Answer::Always { .. } => return Some(true),
            Answer::Never { .. } => return Some(false),
            Answer::When { formula, .. } | Answer::Undecided { formula, .. } => {
                let point = self.scope(asked).complete(values)?;
                let holds =
                    |literals: &Vec<Literal>| literals.iter().all(|literal| literal.holds(&point) == Some(true));
                if formula.iter().any(holds) {
                    return Some(true);
                }
                if formula.iter().flatten().any(|literal| literal.holds(&point).is_none()) {
                    return None;
                }
            }
        }
        match (self, &self.leaf_at(asked, values)?.verdict) {
            // The formula is exact.
            (Answer::When { .. }, _) | (_, Verdict::NotOne) => Some(false),
            (_, Verdict::View(_)) => Some(true),
            (_, Verdict::Undecided(_)) => None,
        }
    }
}

/// A formula as an expression of Python over the names, `True` where it always holds and `False` where it never does:
/// `s <= 3 or s <= 5 and s1 == 2*s2 + 3*s3`.
///
/// ```
/// use shapetracker_symbolic::{ShapeTracker, Sym, guard_text};
///
/// let (h, t) = (Sym::new("H", 1..), Sym::new("T", 1..));
/// let flat = ShapeTracker::contiguous([t, h])?.permute([1, 0])?.reshape([-1])?;
/// assert_eq!(guard_text(&flat.single_view().formula(), flat.scope()), "T == 1 or H == 1");
/// # Ok::<(), shapetracker_symbolic::Error>(())
/// ```
pub fn guard_text(formula: &Formula, scope: &Scope) -> String {
    if formula.iter().any(Vec::is_empty) {
        return "True".into();
    }
    let scope = &scope.total();
    let conjunction =
        |literals: &Vec<Literal>| literals.iter().map(|literal| literal.text(scope)).collect::<Vec<_>>().join(" and ");
    match &formula[..] {
        [] => "False".into(),
        _ => formula.iter().map(conjunction).collect::<Vec<_>>().join(" or "),
    }
}
