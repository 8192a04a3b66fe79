//! Every index of a small box tried.

use std::ops::Range;

use indexpr::Expr;

use super::IndexMap;
use crate::error::Error;

/// How many indices a box may have to be walked.
const MOST_INDICES: i128 = 1 << 18;

/// How many operations that may take.
const MOST_OPERATIONS: i128 = 1 << 27;

impl IndexMap {
    /// Whether the box is small enough to be walked.
    pub(super) fn is_walkable(&self) -> bool {
        let operations = self.graph.parts(&self.results).len() as i128;
        self.indices().is_some_and(|count| count <= MOST_INDICES && count * operations <= MOST_OPERATIONS)
    }

    /// The index at a position of the walk: the last loop runs fastest.
    pub(super) fn unravelled(&self, position: usize) -> Vec<i64> {
        let mut rest = position as i64;
        let mut index: Vec<i64> = Vec::with_capacity(self.loops().len());
        for Range { start, end } in self.loops().iter().rev().map(|variable| variable.range.clone()) {
            index.push(start + rest % (end - start));
            rest /= end - start;
        }
        index.reverse();
        index
    }

    /// The values of each result at every index.
    fn columns(&self) -> Result<Vec<Vec<i64>>, Error> {
        self.results.iter().map(|result| Ok(self.graph.values(*result)?)).collect()
    }

    /// Two indices with the same image.
    pub(super) fn collision_walked(&self) -> Result<Option<[Vec<i64>; 2]>, Error> {
        let count = self.indices().unwrap_or(0) as usize;
        let columns = self.columns()?;
        let image = |at: u32| columns.iter().map(move |column| column[at as usize]);
        let mut order: Vec<u32> = (0..count as u32).collect();
        order.sort_by(|&a, &b| image(a).cmp(image(b)).then(a.cmp(&b)));
        let same = order.windows(2).filter(|pair| image(pair[0]).eq(image(pair[1])));
        let first = same.min_by_key(|pair| pair[1]);
        Ok(first.map(|pair| [pair[0], pair[1]].map(|at| self.unravelled(at as usize))))
    }

    /// An element of a box that no index leads to.
    pub(super) fn missed_walked(&self, target: &[Range<i64>]) -> Result<Option<Vec<i64>>, Error> {
        let count = self.indices().unwrap_or(0) as usize;
        // So many elements cannot all be reached: the first ones of the box are enough.
        let most = count as u128 + 1;
        let sizes: Vec<u128> = target.iter().map(|range| range.start.abs_diff(range.end).into()).collect();
        let all = sizes.iter().fold(1u128, |all, size| all.saturating_mul(*size)).min(most);
        let mut reached = vec![false; all as usize];
        let columns = self.columns()?;
        'next: for at in 0..count {
            let mut place = 0u128;
            for ((column, range), size) in columns.iter().zip(target).zip(&sizes) {
                if !range.contains(&column[at]) {
                    continue 'next;
                }
                // Past the first elements it stays there.
                place = place.saturating_mul(*size).saturating_add(range.start.abs_diff(column[at]).into());
            }
            if let Some(reached) = usize::try_from(place).ok().and_then(|place| reached.get_mut(place)) {
                *reached = true;
            }
        }
        let Some(place) = reached.iter().position(|reached| !reached) else { return Ok(None) };
        let mut rest = place as u128;
        let mut element = Vec::with_capacity(target.len());
        for (range, size) in target.iter().zip(&sizes).rev() {
            element.push((i128::from(range.start) + (rest % size) as i128) as i64);
            rest /= size;
        }
        element.reverse();
        Ok(Some(element))
    }

    /// The first index at which one of some expressions has a value that is asked for.
    pub(super) fn found_walked(
        &self,
        of: &[Expr],
        is_sought: impl Fn(usize, i64) -> bool,
        all: bool,
    ) -> Result<Option<Vec<i64>>, Error> {
        let (mut at, mut found) = (0, None);
        self.graph.evaluate_all(of, |block| {
            let count = block.first().map_or(0, |column| column.len());
            for place in 0..count {
                let mut each = block.iter().enumerate().map(|(of, column)| is_sought(of, column[place]));
                if found.is_none() && if all { each.all(|is| is) } else { each.any(|is| is) } {
                    found = Some(at + place);
                }
            }
            at += count;
        })?;
        Ok(found.map(|at| self.unravelled(at)))
    }

    /// The map of the indices near the beginning of the box, few enough to be walked.
    pub(super) fn corner(&self) -> Result<IndexMap, Error> {
        let mut graph = indexpr::Graph::new();
        let mut left = 1i64 << 12;
        let loops = self.loops().len() as u32;
        for (place, variable) in self.loops().iter().enumerate() {
            // The root of what is left, so that all loops have their share.
            let share = (left as f64).powf(1.0 / f64::from(loops - place as u32)).max(1.0) as i64;
            let Range { start, end } = variable.range;
            let size = if end.abs_diff(start) as u128 > share as u128 { share } else { end - start };
            left = (left / size).max(1);
            graph.variable(&variable.name, start..start + size)?;
        }
        let results = graph.import(&self.graph, &self.results, |graph, place| {
            let variable = graph.variables()[place].clone();
            graph.variable(&variable.name, variable.range)
        })?;
        IndexMap::new(graph, results)
    }
}
