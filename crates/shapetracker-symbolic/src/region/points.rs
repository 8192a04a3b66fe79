//! Points that are known to lie in a region: they refute without a proof, and show that a case has values.

use std::cell::Cell;

use smallvec::SmallVec;

use crate::poly::{Poly, Var};
use crate::region::{Point, Region};

/// As many points are kept.
const SAMPLES: usize = 12;

/// So many terms at a point are one unit of work.
const TERMS: usize = 8;

impl Region {
    /// Keeps the points that lie in the region.
    pub(super) fn keep_samples(&mut self) {
        let samples = std::mem::take(&mut self.samples);
        self.samples = samples.into_iter().filter(|point| self.contains(point)).collect();
    }

    pub(super) fn keep_exactly(&mut self, keep: impl Fn(&[i128]) -> bool) {
        self.samples.retain(|point| keep(point));
    }

    /// Whether a point satisfies every condition of the region.
    pub(crate) fn contains(&self, point: &[i128]) -> bool {
        let in_range = |(var, range): (usize, &(Option<i128>, Option<i128>))| {
            let value = point.get(var).copied().unwrap_or(0);
            range.0.is_none_or(|lo| lo <= value) && range.1.is_none_or(|hi| value <= hi)
        };
        let terms = Cell::new(0);
        let value = |poly: &Poly| {
            terms.set(terms.get() + poly.terms().len());
            poly.eval(point)
        };
        let contains = self.bounds.iter().enumerate().all(|range| point.len() > range.0 && in_range(range))
            && self.solved.iter().all(|(var, by)| value(by) == point.get(usize::from(var.0)).copied())
            && self.at_least.iter().all(|poly| value(poly).is_some_and(|value| value >= 0))
            && self.zero.iter().all(|poly| value(poly) == Some(0))
            && self.nonzero.iter().all(|poly| value(poly).is_some_and(|value| value != 0))
            && self.others.iter().all(|literal| literal.holds(point) == Some(true));
        self.shared.spend(terms.get() / TERMS);
        contains
    }

    /// The first points to look at: every name at its end, a little above it, and all different.
    pub(super) fn first_samples(&self) -> Vec<Point> {
        const VALUES: [[i128; 6]; 9] = [
            [3, 5, 2, 7, 4, 6],
            [0, 0, 0, 0, 0, 0],
            [1, 1, 1, 1, 1, 1],
            [0, 1, 0, 2, 1, 0],
            [1, 0, 2, 0, 0, 3],
            [2, 3, 1, 0, 5, 1],
            [0, 2, 3, 1, 0, 4],
            [6, 1, 0, 3, 2, 0],
            [11, 6, 9, 4, 8, 5],
        ];
        let mut points = Vec::with_capacity(VALUES.len());
        for (round, values) in VALUES.iter().enumerate() {
            let value = |(var, range): (usize, &(Option<i128>, Option<i128>))| {
                let by = values[var % 6] + if round == 0 || round == 8 { var as i128 / 6 } else { 0 };
                match *range {
                    (Some(lo), Some(hi)) => (lo + by).min(hi),
                    (Some(lo), None) => lo.saturating_add(by),
                    (None, Some(hi)) => hi.saturating_sub(by),
                    (None, None) => by * if round % 3 == 2 { -1 } else { 1 } + var as i128 % 3,
                }
            };
            let point: Point = self.bounds.iter().enumerate().map(value).collect();
            if !points.contains(&point) {
                points.push(point);
            }
        }
        points
    }

    /// Looks for points of the region near those of a larger one, where a condition on `towards` has left few.
    pub(super) fn refill(&mut self, from: &[Point], towards: &Poly) {
        if self.samples.len() >= 3 {
            self.samples.truncate(SAMPLES);
            return;
        }
        let mut state = 0x9e37_79b9_7f4a_7c15_u64;
        let mut random = |below: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % below
        };
        let free: Vec<Var> = (0..self.bounds.len())
            .map(|var| Var(var as u8))
            .filter(|var| self.solved.iter().all(|solved| solved.0 != *var))
            .collect();
        let starts: Vec<Point> = self.samples.iter().chain(from).take(6).cloned().collect();
        let mut tries = 0;
        for point in &starts {
            // As it is, with what has been solved set right.
            self.offer(point, &[]);
            // Where a condition has its end along one name.
            for &var in &free {
                for value in self.ends(towards, var, point) {
                    tries += 1;
                    self.offer(point, &[(var, value)]);
                }
                if self.samples.len() >= 3 {
                    return;
                }
            }
        }
        if free.is_empty() || starts.is_empty() {
            return;
        }
        while tries < 60 && self.samples.len() < 2 {
            tries += 1;
            let point = starts[random(starts.len() as u64) as usize].clone();
            let count = 1 + random(3);
            let changes: Vec<(Var, i128)> = (0..count)
                .map(|_| {
                    let var = free[random(free.len() as u64) as usize];
                    let by = random(if tries > 30 { 40 } else { 6 }) as i128;
                    let value = match self.bounds(var) {
                        (Some(lo), Some(hi)) => (lo + by).min(hi),
                        (Some(lo), None) => lo.saturating_add(by),
                        (None, Some(hi)) => hi.saturating_sub(by),
                        (None, None) => by - 5,
                    };
                    (var, value)
                })
                .collect();
            self.offer(&point, &changes);
        }
    }

    /// Looks harder for a point: all small values of the names, as far as they are few.
    pub(crate) fn search(&mut self) {
        let free: Vec<Var> = (0..self.bounds.len())
            .map(|var| Var(var as u8))
            .filter(|&var| !self.is_solved(var) && self.matters(var))
            .collect();
        let widest = match free.len() {
            0 | 1 => 4096,
            2 => 64,
            3 => 16,
            4 => 8,
            5 => 5,
            _ => 3,
        };
        let range = |var: Var| match self.bounds(var) {
            (Some(lo), hi) => (lo, hi.map_or(widest, |hi| (hi - lo + 1).min(widest))),
            (None, Some(hi)) => (hi.saturating_sub(widest - 1), widest),
            (None, None) => (-widest / 2, widest),
        };
        let ranges: Vec<(i128, i128)> = free.iter().map(|&var| range(var)).collect();
        let all = ranges.iter().map(|range| range.1).product::<i128>().min(1 << 13);
        let start: Vec<i128> = self.bounds.iter().map(|range| range.0.or(range.1).unwrap_or(0)).collect();
        for mut place in 0..all {
            let mut changes: SmallVec<[(Var, i128); 8]> = SmallVec::new();
            for (&var, &(first, count)) in free.iter().zip(&ranges) {
                changes.push((var, first + place % count));
                place /= count;
            }
            self.offer(&start, &changes);
            if !self.samples.is_empty() {
                return;
            }
        }
    }

    /// Whether a name occurs in what the region is described by.
    fn matters(&self, var: Var) -> bool {
        let lists = [&self.at_least, &self.nonzero, &self.zero];
        lists.into_iter().flatten().any(|poly| poly.has(var)) || self.solved.iter().any(|(_, by)| by.has(var))
    }

    /// Values of a name at which a polynomial that is linear in it changes its sign, and those beside them.
    fn ends(&self, poly: &Poly, var: Var, point: &[i128]) -> Vec<i128> {
        let mut values = Vec::new();
        if let Some((by, rest)) = poly.linear_in(var)
            && let (Some(by), Some(rest)) = (by.eval(point), rest.eval(point))
            && by != 0
            && let Some(end) = rest.checked_neg().and_then(|rest| rest.checked_div(by))
        {
            values.extend([end, end.saturating_add(1), end.saturating_sub(1)]);
        }
        let (lo, hi) = self.bounds(var);
        values.extend(lo.into_iter().chain(hi));
        values
    }

    /// Adds a point with some values changed, if it lies in the region.
    fn offer(&mut self, point: &[i128], changes: &[(Var, i128)]) {
        self.shared.spend(1);
        let mut moved = point.to_vec();
        let last = self.solved.iter().map(|solved| usize::from(solved.0.0) + 1).max().unwrap_or(0);
        moved.resize(self.bounds.len().max(moved.len()).max(last), 0);
        for &(var, value) in changes {
            moved[usize::from(var.0)] = value;
        }
        for (var, by) in &self.solved {
            match by.eval(&moved) {
                Some(value) => moved[usize::from(var.0)] = value,
                None => return,
            }
        }
        if self.contains(&moved) && !self.samples.iter().any(|known| **known == moved[..]) {
            self.samples.push(moved.into());
        }
    }
}

/// A point with some values changed, longer if that is needed.
pub(super) fn with_values(point: &[i128], values: &[(Var, i128)]) -> Point {
    let mut moved = point.to_vec();
    for &(var, value) in values {
        let place = usize::from(var.0);
        if moved.len() <= place {
            moved.resize(place + 1, 0);
        }
        moved[place] = value;
    }
    moved.into()
}
