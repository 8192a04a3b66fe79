//! The chunks in which the positions of a box lie.

use shapetracker::View;
use smallvec::SmallVec;

use crate::Grid;
use crate::descent::{Descent, Form, Keep, Level, Part, Stopped, progressions};

/// A grid of chunks as digits of a position.
#[derive(Clone, Debug)]
pub(crate) struct Places {
    /// Innermost first.
    digits: Vec<Place>,
    pub(crate) level: Level,
}

/// A digit: an axis of the grid together with the axes inside it that are not cut.
#[derive(Clone, Copy, Debug)]
struct Place {
    axis: usize,
    /// How many values of the digit there are for one index of the axis.
    scale: i64,
    /// How much the number of a chunk grows from one place along the axis to the next.
    weight: usize,
}

impl Places {
    pub(crate) fn of(grid: &Grid) -> Places {
        let mut digits: Vec<(Place, i64)> = Vec::new();
        let mut weight = 1usize;
        for (axis, &size) in grid.shape().iter().enumerate().rev() {
            let count = grid.counts()[axis];
            if size != 1 {
                let place = Place { axis, scale: 1, weight };
                match digits.last_mut() {
                    Some((inner, below)) if grid.counts()[inner.axis] == 1 => {
                        (*inner, *below) = (Place { scale: *below, ..place }, *below * size);
                    }
                    _ => digits.push((place, size)),
                }
            }
            weight = weight.saturating_mul(count as usize);
        }
        let level = Level::plain(digits.iter().map(|(_, size)| *size));
        Places { digits: digits.into_iter().map(|(place, _)| place).collect(), level }
    }
}

/// The places along one axis: all from the first to the last, or those that are listed.
#[derive(Clone, Debug)]
enum Along {
    Range(i64, i64),
    List(Vec<i64>),
}

/// The chunks that are found.
pub(crate) struct Found<'a> {
    grid: &'a Grid,
    places: &'a Places,
    pub(crate) numbers: Vec<usize>,
    /// Boxes of places that were found last.
    recent: [SmallVec<[(i64, i64); 4]>; 4],
    next: usize,
    /// How many numbers there may be before repetitions are dropped.
    room: usize,
    most: usize,
    pub(crate) too_many: bool,
}

impl<'a> Found<'a> {
    pub(crate) fn new(grid: &'a Grid, places: &'a Places, most: u64) -> Found<'a> {
        let recent = [(); 4].map(|()| SmallVec::new());
        let most = most as usize;
        Found { grid, places, numbers: Vec::new(), recent, next: 0, room: 1 << 12, most, too_many: false }
    }

    /// Finds the chunks of a box of a view's indices, through the levels under it, of which the lowest is that of the
    /// places.
    pub(crate) fn search(
        &mut self,
        view: &View,
        region: &[(i64, i64)],
        levels: &[Level],
        work: &mut u64,
    ) -> Result<(), Stopped> {
        let mut descent = Descent { levels, keep: Keep::Positions, work, masked: false, until_masked: false };
        let outcome = descent.start(view, region, &mut |descent, part| self.arrived(descent, part));
        self.numbers.sort_unstable();
        self.numbers.dedup();
        outcome
    }

    /// A part whose forms are the digits of the places.
    fn arrived(&mut self, descent: &mut Descent, part: Part) -> Result<(), Stopped> {
        let mut waiting: SmallVec<[Part; 4]> = SmallVec::from_iter([part]);
        while let Some(mut part) = waiting.pop() {
            let bounds: SmallVec<[(i64, i64); 4]> = self
                .places
                .digits
                .iter()
                .zip(&part.forms)
                .map(|(place, form)| {
                    let (low, high) = form.bounds(&part.counts);
                    let find = |value: i128| self.grid.find(place.axis, value as i64 / place.scale);
                    (find(low), find(high))
                })
                .collect();
            let inside = |known: &&SmallVec<[(i64, i64); 4]>| {
                known.len() == bounds.len()
                    && bounds.iter().zip(known.iter()).all(|(new, known)| known.0 <= new.0 && new.1 <= known.1)
            };
            // A scalar has no bounds, and one chunk.
            if !bounds.is_empty() && self.recent.iter().find(inside).is_some() {
                continue;
            }
            descent.spend()?;
            // What moves one digit from chunk to chunk must not move another one, for the places to be a product.
            let several: SmallVec<[usize; 4]> = (0..bounds.len()).filter(|at| bounds[*at].0 < bounds[*at].1).collect();
            let moves = |at: usize| several.iter().filter(|digit| part.forms[**digit].steps[at] != 0).count();
            let coupled = (0..part.counts.len()).filter(|at| part.counts[*at] > 1 && moves(*at) > 1);
            if let Some(at) = coupled.max_by_key(|at| part.counts[*at]) {
                let half = part.counts[at] / 2;
                waiting.push(part.split_off(at, half));
                waiting.push(part);
                continue;
            }
            let mut along: SmallVec<[Along; 4]> =
                bounds.iter().map(|(first, last)| Along::Range(*first, *last)).collect();
            for digit in several {
                let place = self.places.digits[digit];
                along[digit] = self.along(descent, place, &part.forms[digit], &part.counts, bounds[digit])?;
            }
            if along.iter().all(|along| matches!(along, Along::Range(..))) {
                self.recent[self.next] = bounds;
                self.next = (self.next + 1) % self.recent.len();
            }
            self.add(&along)?;
        }
        Ok(())
    }

    /// The places along one axis that the values of a digit meet, of which the first and the last are known.
    fn along(
        &self,
        descent: &mut Descent,
        place: Place,
        form: &Form,
        counts: &[i64],
        (first, last): (i64, i64),
    ) -> Result<Along, Stopped> {
        // No gap between two values is wider than this.
        let gap = |steps: &[(i64, i64)]| {
            let (mut gap, mut reach) = (0i128, 0i128);
            for (step, count) in steps {
                gap = gap.max(i128::from(*step) - reach);
                reach += i128::from(*step) * i128::from(count - 1);
            }
            gap
        };
        let every = |first: i64, last: i64, steps: &[(i64, i64)]| {
            last - first <= 1
                || gap(steps) <= i128::from(self.grid.smallest(place.axis, first, last)) * i128::from(place.scale)
        };
        let (base, steps) = progressions(form, counts);
        if every(first, last, &steps) {
            return Ok(Along::Range(first, last));
        }
        let mut list = Vec::new();
        let mut waiting = vec![(base, steps)];
        while let Some((base, mut steps)) = waiting.pop() {
            descent.spend()?;
            let reach: i128 = steps.iter().map(|(step, count)| i128::from(*step) * i128::from(count - 1)).sum();
            let find = |value: i64| self.grid.find(place.axis, value / place.scale);
            let (first, last) = (find(base), find((i128::from(base) + reach) as i64));
            if every(first, last, &steps) {
                list.extend(first..=last);
                continue;
            }
            // The widest steps come last.
            let Some((step, count)) = steps.pop() else { continue };
            for (from, to) in [(0, count / 2), (count / 2, count)] {
                let mut half = steps.clone();
                if to - from > 1 {
                    half.push((step, to - from));
                }
                waiting.push((base + step * from, half));
            }
        }
        list.sort_unstable();
        list.dedup();
        Ok(Along::List(list))
    }

    /// Adds the chunks that stand at all combinations of places.
    fn add(&mut self, along: &[Along]) -> Result<(), Stopped> {
        let len = |along: &Along| match along {
            Along::Range(first, last) => (last - first + 1) as u64,
            Along::List(list) => list.len() as u64,
        };
        let count = along.iter().try_fold(1u64, |count, along| count.checked_mul(len(along)));
        if count.is_none_or(|count| count > self.most as u64) {
            self.too_many = true;
            return Err(Stopped);
        }
        let start = self.numbers.len();
        self.numbers.push(0);
        for (place, along) in self.places.digits.iter().zip(along).rev() {
            let end = self.numbers.len();
            let places: &mut dyn Iterator<Item = i64> = match along {
                Along::Range(first, last) => &mut (*first..=*last),
                Along::List(list) => &mut list.iter().copied(),
            };
            for at in places {
                let more = at as usize * place.weight;
                for known in start..end {
                    self.numbers.push(self.numbers[known] + more);
                }
            }
            self.numbers.drain(start..end);
        }
        if self.numbers.len() > self.room {
            self.numbers.sort_unstable();
            self.numbers.dedup();
            if self.numbers.len() > self.most {
                self.too_many = true;
                return Err(Stopped);
            }
            self.room = 2 * self.numbers.len().max(1 << 11);
        }
        Ok(())
    }
}
