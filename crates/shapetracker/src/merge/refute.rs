//! Evidence that a stack is no single view, found by sampling.

use smallvec::SmallVec;

use super::level::{IndexBox, Point};
use super::sample::Sample;
use super::stack::Stacked;
use super::{UnitStep, Witness};

/// How many points the walk visits. Of the stacks of three views and more that tensor programs make while they pad and
/// reshape in turns, 99 of 100 are refuted within a hundred, the others within some hundreds.
const STEPS: usize = 512;

/// A point, and the addresses there and one step further.
type Step = (Point, [i64; 2]);

impl Stacked<'_> {
    /// A witness that a short random walk through the valid points comes across.
    ///
    /// The exact decision takes systems of equations, and most stacks that are no single view show it at a few dozen
    /// points. `None` says nothing: no point that was looked at contradicts a single view.
    ///
    /// The walk keeps the componentwise smallest and largest of the points that it has met. If the valid points are a
    /// box both are valid, and so is everything between them; of each axis it keeps the first step.
    pub(super) fn refute(&self, space: &IndexBox) -> Option<Witness> {
        let axes: SmallVec<[usize; 8]> = (0..space.axes.len()).filter(|&l| space.axes[l].size > 1).collect();
        let mut sample = Sample::new();
        let is_valid = |point: &Point| self.address(space.position(point)).is_some();
        let zero = Point::from_elem(0, space.axes.len());
        let anywhere = std::iter::repeat_with(|| sample.point(space));
        let start = std::iter::once(zero).chain(anywhere.take(64)).find(is_valid)?;
        let mut at = start.clone();
        let mut corners = [at.clone(), at.clone()];
        let mut known: SmallVec<[Option<Step>; 8]> = space.axes.iter().map(|_| None).collect();
        for _ in 0..if axes.is_empty() { 0 } else { STEPS } {
            let from = self.address(space.position(&at))?;
            for (corner, pick) in corners.iter_mut().zip([i64::min, i64::max]) {
                let moved: Point = corner.iter().zip(&at).map(|(&a, &b)| pick(a, b)).collect();
                if self.address(space.position(&moved)).is_none() {
                    let valid = [&*corner, &at].map(|point| space.index(point, self.later));
                    return Some(Witness::NotABox { valid, invalid: space.index(&moved, self.later) });
                }
                *corner = moved;
            }
            for &l in axes.iter().filter(|&&l| at[l] + 1 < space.axes[l].size) {
                let Some(to) = self.address(space.position(&at) + space.axes[l].stride) else { continue };
                let moved = |[from, to]: [i64; 2]| i128::from(to) - i128::from(from);
                match &known[l] {
                    None => known[l] = Some((at.clone(), [from, to])),
                    Some((first, ends)) if moved(*ends) != moved([from, to]) => {
                        let step = |point: &Point, [from, to]: [i64; 2]| UnitStep {
                            index: space.index(point, self.later),
                            from,
                            to,
                        };
                        let steps = [step(first, *ends), step(&at, [from, to])];
                        return Some(Witness::UnevenStep { axis: space.axes[l].axis, steps });
                    }
                    Some(_) => {}
                }
            }
            // Move along an axis or two: one further, to an end, or anywhere.
            for _ in 0..4 {
                let mut next = at.clone();
                for _ in 0..=sample.below(2) {
                    let l = axes[sample.below(axes.len() as i64) as usize];
                    let size = space.axes[l].size;
                    next[l] = match sample.below(5) {
                        0 => 0,
                        1 => size - 1,
                        2 => (at[l] + 1).min(size - 1),
                        3 => (at[l] - 1).max(0),
                        _ => sample.below(size),
                    };
                }
                if self.address(space.position(&next)).is_some() {
                    at = next;
                    break;
                }
                let [low, high] = &corners;
                if next.iter().zip(low.iter().zip(high)).all(|(i, (low, high))| low <= i && i <= high) {
                    let valid = [low, high].map(|point| space.index(point, self.later));
                    return Some(Witness::NotABox { valid, invalid: space.index(&next, self.later) });
                }
            }
        }
        None
    }
}
