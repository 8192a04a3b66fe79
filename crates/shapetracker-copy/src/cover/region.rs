//! Regions: parts of a tensor that are disjoint by construction.

use crate::join::{continues, joined};

/// One axis of a region: how many indices it has, and how far from each other they are in the tensor, in elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Extent {
    pub(crate) count: i64,
    pub(crate) stride: i64,
}

/// A part of a contiguous tensor: the elements at `start` plus a multiple of each axis' stride. Every index is another
/// element of the tensor, and no axis is empty.
///
/// A region is never copied, and only [`Reading::new`](super::Reading::new) and [`Writing::new`](super::Writing::new) make one
/// out of nothing, the whole tensor: nothing outside of `cover` can.
/// All others come from taking one apart. So regions of one tensor are disjoint, whoever cuts them, and where.
#[derive(Debug)]
pub(crate) struct Region {
    start: i64,
    extents: Vec<Extent>,
}

impl Region {
    /// All elements of a tensor of some shape, if it has any.
    pub(super) fn whole(shape: &[i64]) -> Option<Region> {
        if shape.contains(&0) {
            return None;
        }
        let mut extents = vec![Extent { count: 1, stride: 1 }; shape.len()];
        let mut stride = 1i64;
        for (extent, count) in extents.iter_mut().zip(shape).rev() {
            assert!(*count > 0, "a size is negative");
            *extent = Extent { count: *count, stride };
            stride = stride.checked_mul(*count).expect("a tensor has at most 2^63 - 1 elements");
        }
        Some(Region { start: 0, extents })
    }

    /// Where the element of index 0 lies in the tensor.
    pub(crate) fn start(&self) -> i64 {
        self.start
    }

    pub(crate) fn extents(&self) -> &[Extent] {
        &self.extents
    }

    pub(crate) fn shape(&self) -> Vec<i64> {
        self.extents.iter().map(|extent| extent.count).collect()
    }

    pub(super) fn numel(&self) -> i64 {
        self.extents.iter().map(|extent| extent.count).product()
    }

    /// The region in parts along an axis: one up to each of the `ends`, from where the last one ended.
    ///
    /// # Panics
    /// If a part is empty, or the last one does not end where the axis does.
    pub(crate) fn cut(self, axis: usize, ends: impl IntoIterator<Item = i64>) -> Vec<Region> {
        let Extent { count, stride } = self.extents[axis];
        let mut begin = 0;
        let part = |end: i64| {
            assert!(begin < end && end <= count, "a part of an axis is empty, or outside of it");
            let mut extents = self.extents.clone();
            extents[axis].count = end - begin;
            let part = Region { start: self.start + begin * stride, extents };
            begin = end;
            part
        };
        let parts = ends.into_iter().map(part).collect();
        assert_eq!(begin, count, "the parts of an axis are not all of it");
        parts
    }

    /// The same elements with an axis as two: turns of so many steps.
    ///
    /// # Panics
    /// If the axis is no whole number of turns.
    pub(crate) fn split(mut self, axis: usize, steps: i64) -> Region {
        let Extent { count, stride } = self.extents[axis];
        assert!(steps > 0 && count % steps == 0, "an axis of {count} is no whole number of turns of {steps}");
        self.extents[axis] = Extent { count: count / steps, stride: stride * steps };
        self.extents.insert(axis + 1, Extent { count: steps, stride });
        self
    }

    /// The same elements with some axes in the other direction.
    pub(crate) fn flip(mut self, axes: &[usize]) -> Region {
        for axis in axes {
            let Extent { count, stride } = &mut self.extents[*axis];
            self.start += (*count - 1) * *stride;
            *stride = -*stride;
        }
        self
    }

    /// The same elements with fewer axes: without those of one index, and neighbours that are one loop in the tensor joined
    /// where `joins` allows it of an outer and an inner axis.
    pub(crate) fn join(self, joins: impl Fn(usize, usize) -> bool) -> Region {
        let axes = self.extents.iter().copied().enumerate().filter(|(_, extent)| extent.count > 1);
        let one = |(last, outer): (usize, Extent), (axis, inner): (usize, Extent)| {
            let one = continues(outer.stride, inner.count, inner.stride) && joins(last, axis);
            one.then(|| (axis, Extent { count: outer.count * inner.count, stride: inner.stride }))
        };
        let extents = joined(axes, one).into_iter().map(|(_, extent)| extent).collect();
        Region { extents, ..self }
    }
}
