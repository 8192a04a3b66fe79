//! Every element of a small part of a stack, by its address.

use smallvec::SmallVec;

use crate::shape::unravel;
use crate::walk::runs_of;
use crate::{AddressRun, Dims, Ranges, ShapeTracker, View};

/// The most elements that are looked at one by one.
pub(super) const MOST: usize = 1 << 18;

/// Stands for "masked": the lowest number, which no table has as an address.
const MASKED: i64 = i64::MIN;

/// The addresses of the elements in a box of indices, in row-major order.
pub(super) struct Table {
    /// The box.
    elements: Ranges,
    sizes: Dims,
    addresses: Vec<i64>,
}

/// The views of a tracker, the last of which has only the elements in a box.
pub(super) fn within(st: &ShapeTracker, elements: &[(i64, i64)]) -> Option<SmallVec<[View; 4]>> {
    let mut views: SmallVec<[View; 4]> = st.views().into();
    let last = views.last_mut()?;
    *last = last.shrink(elements).ok()?;
    Some(views)
}

impl Table {
    /// The elements of a box that the mask of the last view leaves; `None` if they are too many.
    pub(super) fn of(st: &ShapeTracker, elements: &[(i64, i64)]) -> Option<Table> {
        let cut = |(axis, &(begin, end)): (usize, &(i64, i64))| {
            let (first, past) = st.last().range(axis);
            let begin = begin.max(first);
            (begin, end.min(past).max(begin))
        };
        Table::of_all(st, &elements.iter().enumerate().map(cut).collect::<Ranges>())
    }

    /// The elements of a box; `None` if they are too many.
    pub(super) fn of_all(st: &ShapeTracker, elements: &[(i64, i64)]) -> Option<Table> {
        let sizes: Dims = elements.iter().map(|(begin, end)| end - begin).collect();
        let count =
            sizes.iter().try_fold(1i64, |count, &size| count.checked_mul(size)).filter(|&n| n <= MOST as i64)?;
        let mut addresses = Vec::with_capacity(count as usize);
        for run in runs_of(&within(st, elements)?) {
            match run {
                AddressRun::Masked { count } => addresses.resize(addresses.len() + count as usize, MASKED),
                AddressRun::Valid { first, step, count } => {
                    // What is past the last element may be past `i64`.
                    let address = |k: i64| first.wrapping_add(step.wrapping_mul(k));
                    if first == MASKED || address(count - 1) == MASKED {
                        return None;
                    }
                    addresses.extend((0..count).map(address));
                }
            }
        }
        Some(Table { elements: elements.into(), sizes, addresses })
    }

    /// The index of an element by its place in the table.
    fn index(&self, place: usize) -> Dims {
        let mut index = unravel(place as i64, &self.sizes);
        index.iter_mut().zip(&self.elements).for_each(|(i, (begin, _))| *i += begin);
        index
    }

    /// The addresses along an axis in turn: each line is a start and an iterator over places in the table.
    fn lines(&self, axis: usize) -> impl Iterator<Item = impl Iterator<Item = i64> + '_> + '_ {
        let inner: usize = self.sizes[axis + 1..].iter().product::<i64>() as usize;
        let size = self.sizes[axis] as usize;
        let starts = self.addresses.len() / size.max(1);
        (0..starts).map(move |start| {
            let first = start / inner * inner * size + start % inner;
            (0..size).map(move |i| self.addresses[first + i * inner])
        })
    }

    /// The stride of an axis: the whole number by which the address moves per index between any two valid elements of a
    /// line; 0 where no line has two.
    pub(super) fn stride(&self, axis: usize) -> Option<i64> {
        let mut stride = None;
        for line in self.lines(axis) {
            let mut before: Option<(i64, i64)> = None;
            for (i, address) in (0..).zip(line).filter(|(_, address)| *address != MASKED) {
                if let Some((at, from)) = before.replace((i, address)) {
                    let (moved, apart) = (i128::from(address) - i128::from(from), i128::from(i - at));
                    let found = i64::try_from(moved / apart).ok().filter(|_| moved % apart == 0)?;
                    if *stride.get_or_insert(found) != found {
                        return None;
                    }
                }
            }
        }
        Some(stride.unwrap_or(0))
    }

    /// Whether some line along an axis has valid elements and masked ones.
    pub(super) fn is_masked(&self, axis: usize) -> bool {
        self.lines(axis).any(|mut line| {
            let first = line.next().is_none_or(|address| address == MASKED);
            line.any(|address| (address == MASKED) != first)
        })
    }

    /// The places of the valid elements, sorted by their addresses.
    fn sorted(&self) -> Vec<(i64, u32)> {
        let valid = (0u32..).zip(&self.addresses).filter(|(_, address)| **address != MASKED);
        let mut sorted: Vec<(i64, u32)> = valid.map(|(place, &address)| (address, place)).collect();
        sorted.sort_unstable();
        sorted
    }

    /// Two elements with one address.
    pub(super) fn collision(&self) -> Option<[Dims; 2]> {
        let sorted = self.sorted();
        let pair = sorted.windows(2).find(|pair| pair[0].0 == pair[1].0)?;
        Some([pair[0].1, pair[1].1].map(|place| self.index(place as usize)))
    }

    /// The least distance between the addresses of two elements, and the greatest; `None` with less than two elements.
    pub(super) fn gap_and_span(&self) -> Option<(i64, i64)> {
        let sorted = self.sorted();
        let gap = sorted.windows(2).map(|pair| pair[1].0.saturating_sub(pair[0].0)).min()?;
        Some((gap, sorted.last()?.0.saturating_sub(sorted.first()?.0)))
    }

    /// An index at which two tables of the same elements differ.
    pub(super) fn difference(&self, other: &Table) -> Option<Dims> {
        let place = self.addresses.iter().zip(&other.addresses).position(|(a, b)| a != b)?;
        Some(self.index(place))
    }
}
