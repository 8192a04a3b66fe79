//! Do two layouts of one buffer share an address, for some values of the names?

use std::sync::Arc;

use crate::ask::Ask;
use crate::error::{Error, Mistake};
use crate::inverse::Collision;
use crate::literal::Literal;
use crate::poly::{MOST_STEPS, within};
use crate::region::Region;
use crate::scope::Scope;
use crate::sym::united;
use crate::tracker::ShapeTracker;
use crate::view::View;

impl ShapeTracker {
    /// An element of this tracker and one of another that some values of the names put at one address of one buffer; `None` where
    /// none do for any values.
    ///
    /// ```
    /// use shapetracker_symbolic::{ShapeTracker, Sym};
    ///
    /// // Two halves of a cache of 2*N rows.
    /// let n = Sym::new("N", 1..);
    /// let cache = ShapeTracker::contiguous([n.clone() * 2, 64.into()])?;
    /// let rows = |from: Sym, to: Sym| cache.shrink([(from, to), (0.into(), 64.into())]);
    /// let (first, second) = (rows(0.into(), n.clone())?, rows(n.clone(), n.clone() * 2)?);
    /// assert_eq!(first.overlap(&second)?, None);
    /// assert!(cache.overlap(&second)?.is_some());
    /// # Ok::<(), shapetracker_symbolic::Error>(())
    /// ```
    ///
    /// It is none where one ends before the other begins, for all values. Else the integers are asked at some values.
    ///
    /// # Errors
    /// That it is not known; one name with two ranges.
    pub fn overlap(&self, other: &ShapeTracker) -> Result<Option<Collision>, Error> {
        const OP: &str = "overlap";
        within(MOST_STEPS, || {
            let (scope, renamed) = united(OP, self.scope(), other.scope())?;
            let rename = |var: crate::Var| renamed[usize::from(var.0)];
            let needs: Vec<Literal> =
                self.needs().iter().cloned().chain(other.needs().iter().map(|need| need.renamed(rename))).collect();
            let scope = Arc::new(scope);
            let theirs: Vec<View> = other.views().iter().map(|view| view.renamed(rename)).collect();
            let one = ShapeTracker::from_views(scope.clone(), self.views().iter().cloned())?;
            let two = ShapeTracker::from_views(scope.clone(), theirs)?;
            if one.is_apart_from(&two, &needs)? {
                return Ok(None);
            }
            match one.found_overlap(&two, &scope, &needs) {
                Some(found) => Ok(Some(found)),
                None => Err(Error::new(OP, Mistake::NotKnown("whether the two share an address"))),
            }
        })
    }

    /// Whether one of two ends before the other begins, wherever both have elements.
    fn is_apart_from(&self, other: &ShapeTracker, needs: &[Literal]) -> Result<bool, Error> {
        let mut ask = Ask::new("overlap", self.scope(), needs.to_vec());
        for st in [self, other] {
            let Some(view) = st.as_view() else { return Ok(false) };
            let some = |axis: usize| {
                let (begin, end) = view.range(axis);
                Ok(Literal::at_least(end.sub(&begin)?.plus_number(-1)?))
            };
            let some = ask.made((0..view.shape.len()).map(some).collect::<Result<Vec<_>, _>>())?;
            ask = ask.assuming(some);
        }
        if ask.is_impossible() {
            return Ok(true);
        }
        let (Some(a), Some(b)) = (self.ends(&mut ask)?, other.ends(&mut ask)?) else { return Ok(false) };
        let is_before = |ask: &mut Ask<'_>, high: &crate::Poly, low: &crate::Poly| {
            let next = ask.made(high.plus_number(1))?;
            Ok::<_, Error>(ask.at_least(low, &next)? == Some(true))
        };
        Ok(is_before(&mut ask, &a.1, &b.0)? || is_before(&mut ask, &b.1, &a.0)?)
    }

    /// Two elements at one address, at values that are tried.
    fn found_overlap(&self, other: &ShapeTracker, scope: &Scope, needs: &[Literal]) -> Option<Collision> {
        let mut region = Region::of(scope, needs)?;
        if region.samples().is_empty() {
            region.search();
        }
        let named = &scope.names()[..scope.names().len() - scope.quotients().len()];
        region.samples().iter().find_map(|point| {
            let point = &point[..named.len()];
            let (one, two) = (self.at_point(point).ok()?, other.at_point(point).ok()?);
            let shapetracker::describe::Overlap::Shared { indices, address } = one.overlap(&two).ok()? else {
                return None;
            };
            let value =
                |(name, value): (&crate::Name, &i128)| Some((name.name.to_string(), i64::try_from(*value).ok()?));
            let values = named.iter().zip(point).map(value).collect::<Option<_>>()?;
            Some(Collision { values, indices, address })
        })
    }
}
