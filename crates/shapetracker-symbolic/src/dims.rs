//! The max merge view: the axes of a view joined as far as their strides are known to allow.

use crate::ask::Ask;
use crate::error::Error;
use crate::literal::Literal;
use crate::poly::Poly;
use crate::tracker::ShapeTracker;
use crate::view::View;

/// The same elements in row-major order with as few axes as are known to suffice for all values.
///
/// ```
/// use shapetracker_symbolic::{ShapeTracker, Sym};
///
/// let (h, t, d) = (Sym::new("H", 1..), Sym::new("T", 1..), Sym::new("D", 1..));
/// let st = ShapeTracker::contiguous([h, t, d])?.permute([1, 0, 2])?;
/// let merged = st.max_merge()?;
/// assert_eq!(merged.view.text(st.scope()), "(T, H, D):(D, T*D, 1)");
/// let joins: Vec<String> = merged.joins.iter().flatten().map(|literal| literal.text(st.scope())).collect();
/// assert_eq!(joins, ["D == H*T*D", "T*D == D"]);
/// # Ok::<(), shapetracker_symbolic::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MaxMerge {
    /// The view. Axes that are known to have one element are left out, and neighbours that are known to advance as one are
    /// joined.
    pub view: View,
    /// For each axis but the last, the condition under which it advances as one with the next axis; `None` where it does
    /// for no values, or the mask keeps them apart.
    pub joins: Vec<Option<Literal>>,
}

impl ShapeTracker {
    /// The max merge view of the last view: two axes are one where `outer stride == inner size * inner stride` is proved;
    /// what is neither proved nor refuted is reported as a condition.
    ///
    /// ```
    /// use shapetracker_symbolic::{ShapeTracker, Sym};
    /// let st = ShapeTracker::contiguous([Sym::new("B", 1..), Sym::new("T", 1..), 64.into()])?;
    /// assert_eq!(st.max_merge()?.view.text(st.scope()), "(64*B*T,):(1,)");
    /// # Ok::<(), shapetracker_symbolic::Error>(())
    /// ```
    ///
    /// # Errors
    /// A polynomial past 128 bits; conditions that no values satisfy.
    ///
    /// # Source
    /// Schillinger, Criteria and proof for when a new view must be appended, section 1.
    pub fn max_merge(&self) -> Result<MaxMerge, Error> {
        let mut ask = Ask::new("max_merge", self.scope(), self.needs().to_vec());
        let view = &self.views()[self.views().len() - 1];
        let one = Poly::one();
        // Axes from the outermost on: size, stride and valid range.
        let mut axes: Vec<(Poly, Poly, (Poly, Poly))> = Vec::new();
        let mut joins = Vec::new();
        for (axis, (size, stride)) in view.shape.iter().zip(&view.strides).enumerate() {
            let (begin, end) = view.range(axis);
            let full = begin.is_zero() && end == *size;
            if full && ask.equal(size, &one)? == Some(true) {
                continue;
            }
            if let Some(outer) = axes.last_mut() {
                let advance = ask.made(size.mul(stride).and_then(|advance| outer.1.sub(&advance)))?;
                let condition = Literal::equal(advance);
                match ask.known(&condition)? {
                    Some(true) if full => {
                        let (begin, end) = &outer.2;
                        let range = begin.mul(size).and_then(|begin| Ok((begin, end.mul(size)?)));
                        *outer = (ask.made(outer.0.mul(size))?, stride.clone(), ask.made(range)?);
                        continue;
                    }
                    Some(_) => joins.push(None),
                    None => joins.push(full.then_some(condition)),
                }
            }
            axes.push((size.clone(), stride.clone(), (begin, end)));
        }
        let masked = axes.iter().any(|(size, _, (begin, end))| !begin.is_zero() || end != size);
        let view = View {
            shape: axes.iter().map(|axis| axis.0.clone()).collect(),
            strides: axes.iter().map(|axis| axis.1.clone()).collect(),
            offset: view.offset.clone(),
            mask: masked.then(|| axes.into_iter().map(|axis| axis.2).collect()),
        };
        Ok(MaxMerge { view, joins })
    }
}
