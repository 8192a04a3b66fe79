//! Operations on axes, each by itself: which placements say what the devices hold afterwards?

use shapetracker::{Movement, PerAxis, ShapeTracker};

use crate::cut::{Cut, ceil};
use crate::lists::{List, lists};
use crate::reshape::pieces;
use crate::word::{Cursor, Word, run};
use crate::work::Work;
use crate::{Error, Placement, Sharded, Undecided};

/// Where the elements along an axis of the result come from: index `i` is index `begin + step * i` of an old axis where it
/// lies in the range `valid`, and new elsewhere.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Along {
    /// The old axis; nothing for an axis that repeats the whole tensor.
    pub(crate) axis: Option<usize>,
    pub(crate) begin: i64,
    pub(crate) step: i64,
    pub(crate) valid: (i64, i64),
}

impl Along {
    fn whole(axis: usize, size: i64) -> Self {
        Along { axis: Some(axis), begin: 0, step: 1, valid: (0, size) }
    }

    /// Whether the axis is the old one as it was.
    fn is_whole(&self, before: &Sharded, size: i64) -> bool {
        self.axis.is_some_and(|axis| before.shape()[axis] == size && *self == Along::whole(axis, size))
    }
}

/// The axes of the result of an operation on a shape, from which it makes another; `None` for a reshape.
pub(crate) fn of(op: &Movement, old: &[i64], new: &[i64]) -> Result<Option<Vec<Along>>, Error> {
    let resolve = |axis: i64| if axis < 0 { (axis + old.len() as i64) as usize } else { axis as usize };
    let mut alongs: Vec<Along> = old.iter().enumerate().map(|(axis, &size)| Along::whole(axis, size)).collect();
    let flip = |along: &mut Along| (along.begin, along.step) = (along.valid.1 - 1, -1);
    match op {
        Movement::Reshape(_) | Movement::Squeeze(_) | Movement::SqueezeAll | Movement::Unsqueeze(_) => return Ok(None),
        Movement::Permute(axes) => alongs = axes.iter().map(|&axis| alongs[resolve(axis)].clone()).collect(),
        Movement::Transpose(a, b) => alongs.swap(resolve(*a), resolve(*b)),
        Movement::Expand(_) | Movement::BroadcastTo(_) => {
            let mut added: Vec<Along> = new[..new.len() - old.len()]
                .iter()
                .map(|&size| Along { axis: None, begin: 0, step: 0, valid: (0, size) })
                .collect();
            for (along, (&from, &to)) in alongs.iter_mut().zip(old.iter().zip(&new[added.len()..])) {
                if from != to {
                    (along.step, along.valid) = (0, (0, to));
                }
            }
            added.append(&mut alongs);
            alongs = added;
        }
        Movement::Pad(pads) => {
            for (along, &(before, _)) in alongs.iter_mut().zip(pads.iter()) {
                (along.begin, along.valid) = (-before, (before, before + along.valid.1));
            }
        }
        Movement::Shrink(ranges) => {
            for (along, &(begin, end)) in alongs.iter_mut().zip(ranges.iter()) {
                (along.begin, along.valid) = (begin, (0, end - begin));
            }
        }
        Movement::Flip(axes) => axes.iter().for_each(|&axis| flip(&mut alongs[resolve(axis)])),
        Movement::FlipEach(reversed) => {
            alongs
                .iter_mut()
                .zip(reversed.iter())
                .filter(|(_, reversed)| **reversed)
                .for_each(|(along, _)| flip(along));
        }
        // Each axis by itself is a tracker of one axis, whose first two addresses say where it begins and how it goes on.
        Movement::Step(steps) => {
            for (along, &step) in alongs.iter_mut().zip(steps.iter()) {
                *along = sampled(along, &Movement::Step([step].into()))?;
            }
        }
        Movement::Slice(slices) => {
            for (along, &slice) in alongs.iter_mut().zip(slices.iter()) {
                *along = sampled(along, &Movement::Slice(vec![slice]))?;
            }
        }
        _ => return Ok(None),
    }
    Ok(Some(alongs))
}

fn sampled(along: &Along, op: &Movement) -> Result<Along, Error> {
    let line = ShapeTracker::contiguous([along.valid.1])?.apply(op)?;
    let begin = line.address(&[0]).unwrap_or(0);
    let step = line.address(&[1]).map_or(1, |next| next - begin);
    Ok(Along { begin, step, valid: (0, line.numel()), ..*along })
}

/// The placements of the result that say what the devices hold; `None` where there are none.
///
/// A coordinate depends on the index along one old axis, so that it depends on one axis of the result, and each of these is
/// asked by itself.
pub(crate) fn placements(
    before: &Sharded,
    alongs: &[Along],
    shape: &[i64],
) -> Result<Option<Vec<Placement>>, Undecided> {
    let mut work = Work::new("looking for placements");
    let mut placements: Vec<Placement> = before.placements().to_vec();
    let has_elements = before.numel() > 0 && alongs.iter().all(|along| along.valid.0 < along.valid.1);
    for (axis, along) in alongs.iter().enumerate() {
        let Some(old) = along.axis else { continue };
        let (mesh_axes, old_cuts): (Vec<usize>, Vec<Cut>) = before.cuts(old).unzip();
        for &mesh_axis in &mesh_axes {
            placements[mesh_axis] = before.placements()[mesh_axis].on(axis);
        }
        if !has_elements || mesh_axes.is_empty() || along.is_whole(before, shape[axis]) {
            continue;
        }
        let question = Question { along, n: before.shape()[old], cuts: &old_cuts, size: shape[axis] };
        let mut found = Vec::new();
        if !question.answer(&mut found, &mut work)? {
            return Ok(None);
        }
        // A coordinate that is 0 everywhere is better said of an axis of size 1, if there is one.
        let single = shape.iter().position(|&size| size == 1);
        for (&mesh_axis, pieces) in mesh_axes.iter().zip(found) {
            placements[mesh_axis] = match (pieces, single) {
                (Pieces::Zero, Some(single)) => Placement::Shard(single),
                (Pieces::Zero, None) => Placement::of_pieces(axis, shape[axis]),
                (Pieces::Of(pieces), _) => Placement::of_pieces(axis, pieces),
            };
        }
    }
    Ok(Some(placements))
}

/// What is asked of one axis of the result: how cuts of an old axis of `n` are cuts of `size` places.
struct Question<'a> {
    along: &'a Along,
    n: i64,
    cuts: &'a [Cut],
    size: i64,
}

/// How a cut is said.
#[derive(Clone, Copy)]
enum Pieces {
    /// In so many pieces.
    Of(i64),
    /// Any cut will do that leaves everything to the first device, and what it has remains as it is.
    Zero,
}

impl Question<'_> {
    /// Finds the numbers of pieces for the next cuts, where those of the earlier ones are known; whether there are any.
    ///
    /// If no element is new, there is one number of pieces at most that says what the old cut did, up to those that cut
    /// alike. If some are new, several may do, and the first of them with which the next cuts can be said is taken.
    fn answer(&self, found: &mut Vec<Pieces>, work: &mut Work) -> Result<bool, Undecided> {
        let Some(cut) = self.cuts.get(found.len()) else { return Ok(true) };
        if cut.parts == 1 {
            found.push(Pieces::Of(1));
            return self.answer_or_undo(found, work);
        }
        let is_total = self.along.valid == (0, self.size);
        let old = &self.cuts[..=found.len()];
        if self.along.valid.0 == 0 && run(old, self.n, self.along.begin).0 != 0 {
            return Ok(false);
        }
        let word = self.word(old, work)?;
        if is_total && word.is_zero() {
            found.push(Pieces::Zero);
            return self.answer_or_undo(found, work);
        }
        let earlier: Vec<Cut> = self
            .cuts
            .iter()
            .zip(found.iter())
            .filter_map(|(cut, pieces)| match pieces {
                Pieces::Of(pieces) => Some(Cut { pieces: *pieces, ..*cut }),
                Pieces::Zero => None,
            })
            .collect();
        let lists = lists(&earlier, self.size, work)?;
        let mut next = if is_total { pieces(&word, &lists, 1, work)? } else { Some(1) };
        while let Some(pieces) = next {
            work.step()?;
            let cuts: Vec<Cut> = earlier.iter().copied().chain([Cut { pieces, ..*cut }]).collect();
            if self.says(&cuts, &word, work)? {
                found.push(Pieces::Of(pieces));
                if self.answer_or_undo(found, work)? {
                    return Ok(true);
                }
            }
            // The next number of pieces that cuts some list otherwise.
            let changes =
                |list: &List| (ceil(list.len, pieces) > 1).then(|| ceil(list.len, ceil(list.len, pieces) - 1));
            next = if is_total { None } else { lists.iter().filter_map(changes).min() };
        }
        Ok(false)
    }

    fn answer_or_undo(&self, found: &mut Vec<Pieces>, work: &mut Work) -> Result<bool, Undecided> {
        let known = found.len();
        let answered = self.answer(found, work)?;
        if !answered {
            found.truncate(known - 1);
        }
        Ok(answered)
    }

    /// Whether cuts of the result give the valid places these coordinates.
    fn says(&self, cuts: &[Cut], word: &Word, work: &mut Work) -> Result<bool, Undecided> {
        let new = Word::of_axis(cuts, self.size, 1, work)?;
        let mut cursor: Cursor<'_> = new.from(self.along.valid.0);
        Ok(cursor.difference(&mut word.from(0), word.len(), work)?.is_none())
    }

    /// The coordinates of the valid places, by the old cuts.
    fn word(&self, cuts: &[Cut], work: &mut Work) -> Result<Word, Undecided> {
        let (begin, end) = self.along.valid;
        let [first, last] = [begin, end - 1].map(|i| self.along.begin + self.along.step * i);
        match self.along.step {
            0 => Ok(Word::of_runs([(run(cuts, self.n, first).0, end - begin)])),
            1 => Ok(Word::of_axis(cuts, self.n, 1, work)?.from(first).take(end - begin)),
            step => {
                let mut runs = PerAxis::new();
                let (mut place, high) = (first.min(last), first.max(last));
                while place <= high {
                    work.step()?;
                    let (owner, length) = run(cuts, self.n, place);
                    let by = step.unsigned_abs() as i64;
                    let count = ceil(length.min(high - place + 1), by);
                    runs.push((owner, count));
                    place = place.saturating_add(count * by);
                }
                if step < 0 {
                    runs.reverse();
                }
                Ok(Word::of_runs(runs.iter().copied()))
            }
        }
    }
}
