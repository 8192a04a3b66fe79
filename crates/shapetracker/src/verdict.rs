//! What an operation of a chain does to the number of views.

use std::cmp::Ordering;

use crate::{ShapeTracker, Unmerged};

/// What an operation did to the number of views, as [`ShapeTracker::perform`](crate::ShapeTracker::perform) found it.
///
/// ```
/// use shapetracker::Chain;
///
/// let chain: Chain = "(3, 2).permute(1, 0).reshape(3, 2)".parse()?;
/// let verdicts = chain.progress(None).verdicts;
/// assert_eq!(verdicts.iter().map(|verdict| verdict.name()).collect::<Vec<_>>(), ["no_new_view", "new_view"]);
/// assert!(verdicts[1].reason().unwrap().to_string().ends_with("one stride cannot do both"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Verdict {
    /// There are as many views as before.
    NoNewView,
    /// There are fewer views than before: the last one has become one with views under it.
    Merged,
    /// There is one view more than before, and this is why the last view alone could not take the operation up.
    NewView(Unmerged),
    /// So many elements were copied into a new buffer. A [`ShapeTracker`] goes on to read the one that it was started over, and
    /// [`Stored`](crate::Stored) has a tracker over the new one.
    Copied(i64),
}

impl Verdict {
    /// What became of the number of views, given why a view that was put on the stack did not merge with the last one.
    ///
    /// A stack grows only by such a view, so that there is a reason wherever there are more views than before.
    pub(crate) fn new(before: usize, after: usize, refusal: Option<Unmerged>) -> Verdict {
        match (after.cmp(&before), refusal) {
            (Ordering::Less, _) => Verdict::Merged,
            (Ordering::Greater, Some(why)) => Verdict::NewView(why),
            _ => Verdict::NoNewView,
        }
    }

    /// Why the views of a tracker are not one: the answer of
    /// [`ShapeTracker::single_view`](crate::ShapeTracker::single_view), taken from the verdict of the operation that made
    /// the tracker where that has decided it. `None` where there is one view.
    ///
    /// ```
    /// use shapetracker::{Chain, Verdict};
    ///
    /// let chain: Chain = "(3, 2).permute(1, 0).reshape(6)".parse()?;
    /// let mut last = None;
    /// let st = chain.follow(None, |_, verdict| last = verdict)?;
    /// let why = Verdict::why_several_views(last.as_ref(), st.over_newest());
    /// assert_eq!(why.as_ref(), last.as_ref().and_then(Verdict::reason));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn why_several_views(verdict: Option<&Verdict>, tracker: &ShapeTracker) -> Option<Unmerged> {
        match verdict {
            // The pair that the operation left is the whole stack.
            Some(Verdict::NewView(why)) if tracker.views().len() == 2 => Some(why.clone()),
            _ => tracker.single_view().err(),
        }
    }

    /// Its name in JSON: `no_new_view`, `merged`, `new_view` or `copied`.
    ///
    /// ```
    /// assert_eq!(shapetracker::Verdict::Merged.name(), "merged");
    /// ```
    pub fn name(&self) -> &'static str {
        match self {
            Verdict::NoNewView => "no_new_view",
            Verdict::Merged => "merged",
            Verdict::NewView(_) => "new_view",
            Verdict::Copied(_) => "copied",
        }
    }

    /// How many elements were copied into a new buffer; `None` where no copy was made.
    ///
    /// ```
    /// use shapetracker::{Movement, ShapeTracker};
    ///
    /// let st = ShapeTracker::contiguous([3, 2])?;
    /// assert_eq!(st.perform(&Movement::Contiguous)?.1.copies(), None);
    /// assert_eq!(st.permute([1, 0])?.perform(&Movement::Contiguous)?.1.copies(), Some(6));
    /// # Ok::<(), shapetracker::Error>(())
    /// ```
    pub fn copies(&self) -> Option<i64> {
        match self {
            Verdict::Copied(elements) => Some(*elements),
            _ => None,
        }
    }

    /// Why there is a new view; `None` where there is none.
    ///
    /// ```
    /// use shapetracker::{Dims, Movement, ShapeTracker, Unmerged};
    ///
    /// let transposed = ShapeTracker::contiguous([3, 2])?.permute([1, 0])?;
    /// let (_, verdict) = transposed.perform(&Movement::Reshape(Dims::from_slice(&[6])))?;
    /// assert!(matches!(verdict.reason(), Some(Unmerged::Witness(_))));
    /// # Ok::<(), shapetracker::Error>(())
    /// ```
    pub fn reason(&self) -> Option<&Unmerged> {
        match self {
            Verdict::NewView(reason) => Some(reason),
            _ => None,
        }
    }
}
