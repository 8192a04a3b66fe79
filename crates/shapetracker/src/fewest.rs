//! Regroups and refines a stack of views to the fewest.

use smallvec::SmallVec;

use crate::View;
use crate::merge::merge_fitting;

pub(crate) type Stack = SmallVec<[View; 1]>;

/// Reduces a stack whose views fit into each other.
pub(crate) fn reduce(views: &mut Stack) {
    let mut i = 1;
    while i < views.len() {
        if let Ok(view) = merge_fitting(&views[i - 1], &views[i]) {
            views[i - 1] = view;
            views.remove(i);
            i = i.saturating_sub(1).max(1);
        } else {
            i += 1;
        }
    }
}
