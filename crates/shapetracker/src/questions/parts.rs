//! Axes that have to do with each other, and axes that have not.

use crate::{Access, Dims, Ranges, ShapeTracker};

/// Up to so many elements a tracker is looked at as a whole: finding its parts would cost as much.
const FEW: i64 = 1 << 11;
/// The same for stacks of so many views that their access mixes all axes.
const MANY_VIEWS: usize = 6;

/// The axes of a tracker in groups: the address is a sum of one function of each group, and the conditions are some for
/// each group, by the tracker's [`Access`]. What is true of a group at one valid index of the others is true at all.
pub(super) struct Parts<'a> {
    st: &'a ShapeTracker,
    access: Option<Access>,
    /// The group of each axis.
    groups: Vec<usize>,
    count: usize,
}

impl<'a> Parts<'a> {
    /// All axes in one group.
    pub(super) fn whole(st: &'a ShapeTracker) -> Parts<'a> {
        Parts { st, access: None, groups: vec![0; st.rank()], count: 1 }
    }

    /// The smallest groups that the access shows, where it is worth while to find them.
    pub(super) fn of(st: &'a ShapeTracker) -> Parts<'a> {
        let few = st.numel() <= FEW || (st.views().len() > MANY_VIEWS && st.numel() <= super::table::MOST as i64);
        let Some(access) = (!few).then(|| st.access().ok()).flatten() else { return Parts::whole(st) };
        let mut groups: Vec<usize> = (0..st.rank()).collect();
        let forms = access.forms();
        let floors = (0..forms.floors().len()).map(|at| indexpr::Linear::from(indexpr::Term::Floor(at)));
        // A floor ties the axes in it together, and so does a condition; the sum of the address does not.
        for form in floors.chain(access.conditions().iter().map(|condition| condition.form.clone())) {
            let mut axes = (0..st.rank()).filter(|&axis| forms.depends_on(&form, axis));
            if let Some(first) = axes.next() {
                axes.for_each(|axis| join(&mut groups, first, axis));
            }
        }
        let mut parts = Parts { st, access: Some(access), groups, count: 0 };
        parts.number();
        parts
    }

    /// Groups that are made of groups of both, for two trackers of one shape.
    pub(super) fn joined(mut self, other: &Parts<'_>) -> Parts<'a> {
        for axis in 0..self.groups.len() {
            if let Some(first) = (0..axis).find(|&first| other.groups[first] == other.groups[axis]) {
                join(&mut self.groups, first, axis);
            }
        }
        self.access = None;
        self.number();
        self
    }

    /// Numbers the groups from 0.
    fn number(&mut self) {
        let mut first: Vec<usize> = Vec::new();
        for group in &mut self.groups {
            *group = first.iter().position(|known| known == group).unwrap_or_else(|| {
                first.push(*group);
                first.len() - 1
            });
        }
        self.count = first.len();
    }

    /// How many groups there are.
    pub(super) fn count(&self) -> usize {
        self.count
    }

    /// The group of an axis.
    pub(super) fn part(&self, axis: usize) -> usize {
        self.groups[axis]
    }

    /// The elements of a group: all indices of its axes, and those of an index on the others.
    pub(super) fn elements(&self, part: usize, point: &Dims) -> Ranges {
        let range = |axis: usize| {
            if self.groups[axis] == part { (0, self.st.shape()[axis]) } else { (point[axis], point[axis] + 1) }
        };
        (0..self.groups.len()).map(range).collect()
    }

    /// The stride of an axis, wherever two valid indices differ in it alone, if the access shows it.
    pub(super) fn stride(&self, axis: usize) -> Option<i64> {
        self.access.as_ref()?.stride(axis)
    }

    /// Whether the access shows that no condition depends on an axis.
    pub(super) fn is_unguarded(&self, axis: usize) -> bool {
        self.access.as_ref().is_some_and(|access| !access.is_guarded(axis))
    }
}

/// Makes one group of those of two axes.
fn join(groups: &mut [usize], a: usize, b: usize) {
    let (to, from) = (groups[a], groups[b]);
    groups.iter_mut().filter(|group| **group == from).for_each(|group| *group = to);
}
