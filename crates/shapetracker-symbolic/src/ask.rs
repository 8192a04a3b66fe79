//! What an operation needs to hold: proved, refuted, or added to the conditions of the result.

use crate::error::{Error, Mistake, PolyText};
use crate::literal::Literal;
use crate::poly::{MOST_STEPS, Poly, TooLarge, within};
use crate::region::{Region, Truth};
use crate::scope::Scope;

/// The conditions under which an operation is done, and what it adds to them.
pub(crate) struct Ask<'a> {
    /// The name of the operation in messages.
    pub(crate) op: &'static str,
    scope: &'a Scope,
    needs: Vec<Literal>,
    /// The values that `scope` and `needs` allow; made when it is first asked, since numbers need none.
    region: Option<Region>,
}

/// Whether a condition holds for all values or for none; `None` where that is not known.
pub(crate) type Known = Option<bool>;

impl<'a> Ask<'a> {
    pub(crate) fn new(op: &'static str, scope: &'a Scope, needs: Vec<Literal>) -> Ask<'a> {
        Ask { op, scope, needs, region: None }
    }

    /// The conditions that there are in the end.
    pub(crate) fn into_needs(self) -> Vec<Literal> {
        self.needs
    }

    pub(crate) fn err(&self, mistake: impl Into<Mistake>) -> Error {
        Error::new(self.op, mistake)
    }

    pub(crate) fn text(&self, poly: &Poly) -> PolyText {
        PolyText::of(self.scope, poly)
    }

    pub(crate) fn texts(&self, polys: &[Poly]) -> Vec<PolyText> {
        polys.iter().map(|poly| self.text(poly)).collect()
    }

    /// What to say of the names of a polynomial for it not to be negative: ranges for names that may be, as `B=0..`, and
    /// else the condition itself.
    pub(crate) fn not_negative(&self, poly: &Poly) -> String {
        let names = poly.vars().into_iter().map(|var| &self.scope.names()[usize::from(var.0)]);
        let ranges: Vec<String> =
            names.filter(|name| name.lo.is_none()).map(|name| format!("{}=0..", name.name)).collect();
        match ranges.is_empty() {
            true => Literal::at_least(poly.clone()).text(self.scope),
            false => ranges.join(", "),
        }
    }

    /// The result of arithmetic, or the error that it left 128 bits.
    pub(crate) fn made<T>(&self, result: Result<T, TooLarge>) -> Result<T, Error> {
        result.map_err(|err| self.err(err))
    }

    /// Whether it is known that no values are left.
    pub(crate) fn is_impossible(&self) -> bool {
        within(MOST_STEPS, || Region::of(self.scope, &self.needs)).is_none()
    }

    /// Whether a condition is known to hold for all values, or for none.
    pub(crate) fn known(&mut self, literal: &Literal) -> Result<Known, Error> {
        if literal.poly.number().is_some() {
            return Ok(literal.holds(&[]));
        }
        let region = match &self.region {
            Some(region) => region,
            None => {
                let region = within(MOST_STEPS, || Region::of(self.scope, &self.needs));
                let region = region.ok_or_else(|| Error::new(self.op, Mistake::NoValues))?;
                self.region.insert(region)
            }
        };
        Ok(match within(MOST_STEPS, || region.truth(literal)) {
            Truth::Always => Some(true),
            Truth::Never => Some(false),
            Truth::Depends { .. } => None,
        })
    }

    /// Whether `a >= b` is known.
    pub(crate) fn at_least(&mut self, a: &Poly, b: &Poly) -> Result<Known, Error> {
        let difference = self.made(a.sub(b))?;
        self.known(&Literal::at_least(difference))
    }

    /// Whether `a == b` is known.
    pub(crate) fn equal(&mut self, a: &Poly, b: &Poly) -> Result<Known, Error> {
        let difference = self.made(a.sub(b))?;
        self.known(&Literal::equal(difference))
    }

    /// Makes a condition hold: nothing if it is proved, an error if it is refuted, and else one more need.
    pub(crate) fn need<M: Into<Mistake>>(
        &mut self,
        literal: Literal,
        mistake: impl FnOnce(&Self) -> M,
    ) -> Result<(), Error> {
        within(MOST_STEPS, || self.need_within(literal, mistake))
    }

    fn need_within<M: Into<Mistake>>(
        &mut self,
        literal: Literal,
        mistake: impl FnOnce(&Self) -> M,
    ) -> Result<(), Error> {
        match self.known(&literal)? {
            Some(true) => Ok(()),
            Some(false) => Err(self.err(mistake(self))),
            None => {
                self.needs.push(literal.smallest());
                self.region = None;
                // Needs that contradict each other are refuted as the one that came last.
                if Region::of(self.scope, &self.needs).is_none() {
                    return Err(self.err(mistake(self)));
                }
                self.drop_implied();
                Ok(())
            }
        }
    }

    /// Drops the needs that the last one implies together with the others: `N >= s` beside `N >= s + L`.
    fn drop_implied(&mut self) {
        for place in (0..self.needs.len().saturating_sub(1)).rev() {
            let mut others = self.needs.clone();
            let need = others.remove(place);
            if Region::of(self.scope, &others).is_some_and(|region| region.truth(&need) == Truth::Always) {
                self.needs = others;
            }
        }
    }

    /// Makes `a >= b` hold.
    pub(crate) fn need_at_least<M: Into<Mistake>>(
        &mut self,
        a: &Poly,
        b: &Poly,
        mistake: impl FnOnce(&Self) -> M,
    ) -> Result<(), Error> {
        let difference = self.made(a.sub(b))?;
        self.need(Literal::at_least(difference), mistake)
    }

    /// The same under further conditions, for what matters only where they hold.
    pub(crate) fn assuming(&self, more: impl IntoIterator<Item = Literal>) -> Ask<'a> {
        let mut needs = self.needs.clone();
        needs.extend(more);
        Ask::new(self.op, self.scope, needs)
    }
}
