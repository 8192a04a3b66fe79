//! What is asked of a tracker: where its elements lie, for all values of the names at once.

use crate::ask::Ask;
use crate::equality::Equality;
use crate::error::Error;
use crate::literal::Literal;
use crate::poly::Poly;
use crate::sym::Sym;
use crate::tracker::ShapeTracker;
use crate::view::View;

impl ShapeTracker {
    /// For which values the elements lie one after the other in row-major order, at whatever offset.
    ///
    /// ```
    /// use shapetracker_symbolic::{Equality, ShapeTracker, Sym};
    ///
    /// let st = ShapeTracker::contiguous([Sym::new("n", 1..), 4.into()])?;
    /// assert_eq!(st.contiguity(), Equality::Always);
    /// assert!(matches!(st.permute([1, 0])?.contiguity(), Equality::When { .. })); // n == 1
    /// # Ok::<(), shapetracker_symbolic::Error>(())
    /// ```
    ///
    /// Cost: that of [`ShapeTracker::equality`].
    pub fn contiguity(&self) -> Equality {
        let Some(view) = self.as_view() else { return Equality::Undecided };
        let Ok(rows) = View::row_major(&view.shape) else { return Equality::Undecided };
        let rows = self.with_view(View { offset: view.offset.clone(), ..rows });
        self.equality(&rows).unwrap_or(Equality::Undecided)
    }

    /// The lowest and the highest address that a valid index reads, for all values for which one is valid.
    ///
    /// ```
    /// use shapetracker_symbolic::{ShapeTracker, Sym};
    ///
    /// let n = Sym::new("n", 2..);
    /// let st = ShapeTracker::contiguous([n.clone(), 4.into()])?.shrink([(1.into(), n), (0.into(), 3.into())])?;
    /// let (low, high) = st.address_range().unwrap();
    /// assert_eq!((low.to_string(), high.to_string()), ("4".into(), "4*n - 2".into()));
    /// # Ok::<(), shapetracker_symbolic::Error>(())
    /// ```
    ///
    /// `None` where that is not known: the tracker is several views, no index is ever valid, or the sign of a stride or where a
    /// mask begins and ends depends on the values.
    ///
    /// Cost: two questions about the values for each axis.
    pub fn address_range(&self) -> Option<(Sym, Sym)> {
        let mut ask = self.where_elements_are().ok()?;
        let (low, high) = self.ends(&mut ask).ok()??;
        Some((Sym::of(self.scope(), low), Sym::of(self.scope(), high)))
    }

    /// How many elements the buffer must have, for all values for which any is read: one more than the highest address.
    ///
    /// ```
    /// use shapetracker_symbolic::{ShapeTracker, Sym};
    ///
    /// let st = ShapeTracker::contiguous([4.into(), Sym::new("n", 1..)])?.step([2, 1])?;
    /// assert_eq!(st.buffer_len().unwrap().to_string(), "3*n");
    /// # Ok::<(), shapetracker_symbolic::Error>(())
    /// ```
    ///
    /// `None` where [`ShapeTracker::address_range`] is not known, and where an index may read an address below 0.
    pub fn buffer_len(&self) -> Option<Sym> {
        let mut ask = self.where_elements_are().ok()?;
        let (low, high) = self.ends(&mut ask).ok()??;
        let is_inside = ask.at_least(&low, &Poly::zero()).ok()? == Some(true);
        let len = high.plus_number(1).ok().filter(|_| is_inside)?;
        Some(Sym::of(self.scope(), len))
    }

    /// The values for which every axis of the one view has a valid index.
    pub(crate) fn where_elements_are(&self) -> Result<Ask<'_>, Error> {
        let ask = Ask::new("address_range", self.scope(), self.needs().to_vec());
        let view = &self.views()[self.views().len() - 1];
        let some = |axis: usize| {
            let (begin, end) = view.range(axis);
            Ok(Literal::at_least(end.sub(&begin)?.plus_number(-1)?))
        };
        let some = ask.made((0..view.shape.len()).map(some).collect::<Result<Vec<_>, _>>())?;
        Ok(ask.assuming(some))
    }

    /// The lowest and the highest address where elements are, if they are known.
    pub(crate) fn ends(&self, ask: &mut Ask<'_>) -> Result<Option<(Poly, Poly)>, Error> {
        let Some(view) = self.as_view() else { return Ok(None) };
        // Without axes a mask hides the one element.
        if view.shape.is_empty() && view.mask.is_some() {
            return Ok(None);
        }
        let (mut low, mut high) = (view.offset.clone(), view.offset.clone());
        for (axis, (size, stride)) in view.shape.iter().zip(&view.strides).enumerate() {
            let (begin, end) = view.range(axis);
            // A mask is cut off at the ends of the axis.
            let is_inside = view.mask.is_none()
                || ask.at_least(&begin, &Poly::zero())? == Some(true) && ask.at_least(size, &end)? == Some(true);
            if !is_inside {
                return Ok(None);
            }
            let (first, last) = ask.made((|| {
                let last = end.plus_number(-1)?;
                Ok((begin.mul(stride)?, last.mul(stride)?))
            })())?;
            let (least, most) = match ask.at_least(&last, &first)? {
                Some(true) => (first, last),
                _ if ask.at_least(&first, &last)? == Some(true) => (last, first),
                _ => return Ok(None),
            };
            (low, high) = (ask.made(low.add(&least))?, ask.made(high.add(&most))?);
        }
        Ok(Some((low, high)))
    }
}
