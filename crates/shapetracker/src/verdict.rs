//! What an operation of a chain does to the number of views.

use std::cmp::Ordering;

use crate::{Movement, ShapeTracker, Unmerged, View, merge};

/// What an operation did to the number of views.
///
/// ```
/// use shapetracker::{Chain, Verdict};
///
/// let chain: Chain = "(3, 2).permute(1, 0).reshape(3, 2)".parse()?;
/// let steps = chain.steps()?;
/// let verdict = Verdict::of(&chain.ops()[1], &steps[1], &steps[2]);
/// assert_eq!(verdict.name(), "new_view");
/// assert!(verdict.reason().unwrap().to_string().ends_with("one stride cannot do both"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// There are as many views as before.
    NoNewView,
    /// There are fewer views than before.
    Merged,
    /// There are more views than before, and why; nothing where the views under it are in the way.
    NewView(Option<Unmerged>),
}

impl Verdict {
    /// What an operation did that led from one tracker to another. Cost: where there is a new view, that of asking once
    /// more whether the operation could be done in the last view alone.
    pub fn of(op: &Movement, before: &ShapeTracker, after: &ShapeTracker) -> Verdict {
        match after.views().len().cmp(&before.views().len()) {
            Ordering::Less => Verdict::Merged,
            Ordering::Equal => Verdict::NoNewView,
            Ordering::Greater => {
                let last = &before.views()[before.views().len() - 1];
                let merged = match op {
                    Movement::AsStrided(shape, strides, offset) => View::new(shape, strides, *offset, None)
                        .map_err(Unmerged::Error)
                        .and_then(|view| merge(last, &view)),
                    _ => last.reshape(after.shape()),
                };
                Verdict::NewView(merged.err())
            }
        }
    }

    /// Its name in JSON: `no_new_view`, `merged` or `new_view`.
    pub fn name(&self) -> &'static str {
        match self {
            Verdict::NoNewView => "no_new_view",
            Verdict::Merged => "merged",
            Verdict::NewView(_) => "new_view",
        }
    }

    /// Why there is a new view.
    pub fn reason(&self) -> Option<&Unmerged> {
        match self {
            Verdict::NewView(reason) => reason.as_ref(),
            _ => None,
        }
    }
}
