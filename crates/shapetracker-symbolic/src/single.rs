//! For which values is a whole stack of views one view?

use crate::answer::{Answer, Leaf, Leaves, Verdict};
use crate::tracker::ShapeTracker;

impl ShapeTracker {
    /// For which values it is one view.
    ///
    /// Of two views that is what is known of the pair. A taller stack is one view where its pairs merge one after the other,
    /// from the last view down or from memory up. Values for which no order of merging works are not decided, since views
    /// may be one together although no two of them are.
    ///
    /// ```
    /// use shapetracker_symbolic::{Answer, ShapeTracker, Sym};
    /// let st = ShapeTracker::contiguous([Sym::new("n", 1..), 4.into()])?.permute([1, 0])?;
    /// assert!(matches!(st.single_view(), Answer::Always { .. }));
    /// # Ok::<(), shapetracker_symbolic::Error>(())
    /// ```
    ///
    /// Cost: that of [`merge`](crate::merge()) for each pair in each case the first time, a copy of the answer after that.
    pub fn single_view(&self) -> Answer {
        match self.views() {
            [view] => {
                let list = vec![Leaf { literals: Vec::new(), verdict: Verdict::View(view.clone()) }];
                Answer::Always { view: Some(view.clone()), leaves: Leaves { list, quotients: Vec::new() } }
            }
            _ => self.whole().clone(),
        }
    }
}
