//! A quick look for evidence that a stack is no single view.

use smallvec::SmallVec;

use super::level::{Box, Point};
use super::stack::Stacked;
use super::{Step, Witness};

impl Stacked<'_> {
    /// A witness that comes up on a short random walk through the valid points, if one of them is soon found.
    ///
    /// Most stacks that are no single view end here, and none that is one gets further by it: this only saves time.
    pub(super) fn glance(&self, space: &Box) -> Option<Witness> {
        let axes: SmallVec<[usize; 8]> = (0..space.axes.len()).filter(|&l| space.axes[l].size > 1).collect();
        let mut state = 1u64;
        let mut draw = |bound: i64| {
            // The high bits of a linear congruence.
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as i64 % bound
        };
        let is_valid = |point: &Point| self.address(space.position(point)).is_some();
        let zero = Point::from_elem(0, space.axes.len());
        let mut anywhere = || space.axes.iter().map(|axis| draw(axis.size)).collect();
        let start = std::iter::once(zero).chain(std::iter::repeat_with(&mut anywhere).take(64)).find(is_valid)?;
        let mut at = start.clone();
        let mut corners = [at.clone(), at.clone()];
        let mut known: Vec<Option<Step>> = vec![None; space.axes.len()];
        for _ in 0..if axes.is_empty() { 0 } else { 96 } {
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
                let moved = |step: &Step| i128::from(step.to) - i128::from(step.from);
                let step = Step { index: space.index(&at, self.later), from, to };
                match &known[l] {
                    None => known[l] = Some(step),
                    Some(first) if moved(first) != moved(&step) => {
                        return Some(Witness::UnevenStep { axis: space.axes[l].axis, steps: [first.clone(), step] });
                    }
                    Some(_) => {}
                }
            }
            // Move a coordinate or two: one further, to an end, or anywhere.
            for _ in 0..4 {
                let mut next = at.clone();
                for _ in 0..=draw(2) {
                    let l = axes[draw(axes.len() as i64) as usize];
                    let size = space.axes[l].size;
                    next[l] = match draw(5) {
                        0 => 0,
                        1 => size - 1,
                        2 => (at[l] + 1).min(size - 1),
                        3 => (at[l] - 1).max(0),
                        _ => draw(size),
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
