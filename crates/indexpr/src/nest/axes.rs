//! Whether what stands in the place of an axis stays within it, for all values of the loops and parameters.

use super::{Loop, Mistake, Nest};
use crate::constants::constant;
use crate::error::Error;
use crate::extremes::Extremes;
use crate::graph::{Binary, Expr};

impl Nest {
    /// Refuses an expression that is not known to be at least 0 and less than a size wherever the nest runs. It is given as the
    /// caller wrote it, and over the loops that there are now.
    pub(super) fn stays_within(
        &mut self,
        op: &'static str,
        name: &str,
        axis: usize,
        size: Expr,
        [written, given]: [Expr; 2],
    ) -> Result<(), Error> {
        let never_runs = |one: &Loop| self.graph.range(one.size).1 <= 0;
        if self.loops.iter().any(never_runs) {
            return Ok(());
        }
        // A loop by itself along an axis of its size.
        if self.loops.iter().any(|one| one.variable == given && one.size == size) {
            return Ok(());
        }
        let one = self.graph.int(1);
        let last = self.graph.binary(Binary::Sub, size, one)?;
        let left = self.graph.binary(Binary::Sub, last, given)?;
        if self.is_never_negative(given)? && self.is_never_negative(left)? {
            return Ok(());
        }
        let text = |expr: Expr| self.graph.text(expr, crate::Syntax::Python);
        let (name, size_text, given_text) = (name.into(), text(size)?.into(), text(written)?.into());
        let how = self.how_it_leaves(given, size)?.into();
        Err(Mistake::Leaves { name, axis, size: size_text, given: given_text, how }.in_op(op))
    }

    /// Whether an expression is known to be 0 or more wherever the nest runs.
    // No rule: it asks for ranges.
    fn is_never_negative(&mut self, expr: Expr) -> Result<bool, Error> {
        if self.graph.range(expr).0 >= 0 {
            return Ok(true);
        }
        let least = self.pushed(expr, false)?;
        if self.graph.range(least).0 >= 0 {
            return Ok(true);
        }
        let inside = self.inside()?;
        // `None`: the nest never runs.
        Ok(self.graph.extremes(least, inside).is_none_or(|found| found.low >= 0))
    }

    /// An expression with each loop in turn at its last or its first index where it is known that it grows or falls along it:
    /// it is nowhere less, or nowhere more, than that.
    ///
    /// Where a loop never runs for some values of parameters, its last index is -1: that asks for more than is needed.
    // No rule: it replaces variables by bounds of them.
    fn pushed(&mut self, expr: Expr, to_greatest: bool) -> Result<Expr, Error> {
        let mut pushed = self.graph.simplify(expr);
        let one = self.graph.int(1);
        for at in (0..self.loops.len()).rev() {
            let Loop { variable, size, .. } = self.loops[at].clone();
            if self.graph.parts(&[pushed]).binary_search(&variable).is_err() {
                continue;
            }
            // What leaves 64 bits or may divide by 0 beyond the last index is left as it is.
            let Ok(after) = self.graph.binary(Binary::Add, variable, one) else { continue };
            let Ok(next) = self.replaced(&[pushed], &[(variable, after)]) else { continue };
            let Ok(step) = self.graph.binary(Binary::Sub, next[0], pushed) else { continue };
            let step = self.graph.simplify(step);
            let (low, high) = self.graph.range(step);
            let end = match (low >= 0, high <= 0) {
                (false, false) => continue,
                (grows, _) if grows == to_greatest => self.graph.binary(Binary::Sub, size, one)?,
                _ => self.graph.int(0),
            };
            let Ok(there) = self.replaced(&[pushed], &[(variable, end)]) else { continue };
            pushed = self.graph.simplify(there[0]);
        }
        Ok(pushed)
    }

    /// How an expression leaves an axis, or may leave it, for the end of a sentence.
    fn how_it_leaves(&mut self, given: Expr, size: Expr) -> Result<String, Error> {
        let [least, most] = [self.pushed(given, false)?, self.pushed(given, true)?];
        let inside = self.inside()?;
        let bound = Extremes::bound(self.graph.range(given));
        let found = self.graph.extremes(given, inside).unwrap_or(bound);
        let is_number = constant(&self.graph, size).is_some();
        if found.exact && (is_number || found.low < 0) {
            return Ok(format!("ranges from {} to {}", found.low, found.high));
        }
        let depends = |expr: Expr| self.loops.iter().any(|one| self.graph.parts(&[expr]).contains(&one.variable));
        if depends(least) || depends(most) {
            return Ok(format!("is not known to stay within: it may range from {} to {}", found.low, found.high));
        }
        let text = |expr: Expr| self.graph.text(expr, crate::Syntax::Python);
        Ok(format!("ranges from `{}` to `{}`", text(least)?, text(most)?))
    }
}
