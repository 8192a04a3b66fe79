//! Which device has each element, as a word: the coordinates along one mesh axis, in the order of positions, compressed.

use std::rc::Rc;

use crate::Undecided;
use crate::cut::{Cut, ceil};
use crate::work::Work;

/// A sequence of coordinates, made of ramps and of repetitions.
///
/// No segment is empty, no two neighbouring ramps are constant and equal, and what is repeated is repeated at least twice and
/// not constant. A word still has several forms: two are compared by [`Word::difference`].
#[derive(Clone, Debug, Default)]
pub(crate) struct Word {
    len: i64,
    segments: Vec<Segment>,
}

#[derive(Clone, Debug)]
enum Segment {
    Ramp(Ramp),
    Repeat(i64, Rc<Word>),
}

/// The value `first` as often as `until` says, then each further value `width` times, `len` in all.
#[derive(Clone, Copy, Debug)]
struct Ramp {
    first: i64,
    until: i64,
    width: i64,
    len: i64,
}

impl Ramp {
    fn is_constant(self) -> bool {
        self.until >= self.len
    }

    /// Without the first few, which are fewer than all.
    fn after(self, count: i64) -> Ramp {
        let len = self.len - count;
        if count < self.until {
            return Ramp { until: self.until - count, len, ..self };
        }
        let past = count - self.until;
        Ramp { first: self.first + 1 + past / self.width, until: self.width - past % self.width, len, ..self }
    }

    /// The first place below `len` at which two ramps differ.
    ///
    /// They agree up to the first place where one of them goes up alone. After a place where both go up they are at the same
    /// value with all of their widths before them, so that they differ at the shorter of these or never.
    fn difference(self, other: Ramp, len: i64) -> Option<i64> {
        let place = if self.first != other.first {
            0
        } else if self.until != other.until {
            self.until.min(other.until)
        } else if self.width != other.width {
            self.until.checked_add(self.width.min(other.width))?
        } else {
            return None;
        };
        (place < len).then_some(place)
    }
}

impl Word {
    pub(crate) fn len(&self) -> i64 {
        self.len
    }

    /// 0 as often as `width` says, then 1, and so on.
    fn ramp(len: i64, width: i64) -> Word {
        let mut word = Word::default();
        word.push(Segment::Ramp(Ramp { first: 0, until: width, width, len }));
        word
    }

    /// Coordinates, each with how often it comes.
    pub(crate) fn of_runs(runs: impl IntoIterator<Item = (i64, i64)>) -> Word {
        let mut word = Word::default();
        for (first, len) in runs {
            word.push(Segment::Ramp(Ramp { first, until: len, width: len, len }));
        }
        word
    }

    fn push(&mut self, segment: Segment) {
        let len = match &segment {
            Segment::Ramp(ramp) => ramp.len,
            Segment::Repeat(count, word) => count * word.len,
        };
        if len == 0 {
            return;
        }
        self.len += len;
        if let (Some(Segment::Ramp(last)), Segment::Ramp(next)) = (self.segments.last_mut(), &segment)
            && last.is_constant()
            && next.is_constant()
            && last.first == next.first
        {
            let len = last.len + next.len;
            *last = Ramp { first: last.first, until: len, width: len, len };
            return;
        }
        self.segments.push(segment);
    }

    fn append(&mut self, other: Word) {
        other.segments.into_iter().for_each(|segment| self.push(segment));
    }

    /// The word as often as `count` says.
    pub(crate) fn repeated(self, count: i64) -> Word {
        let mut word = Word::default();
        match (count, &self.segments[..]) {
            (0, _) | (_, []) => {}
            (1, _) => return self,
            (_, [Segment::Ramp(ramp)]) if ramp.is_constant() => {
                let len = ramp.len * count;
                word.push(Segment::Ramp(Ramp { first: ramp.first, until: len, width: len, len }));
            }
            _ => word.push(Segment::Repeat(count, Rc::new(self))),
        }
        word
    }

    /// Whether every element is on the first device.
    pub(crate) fn is_zero(&self) -> bool {
        match &self.segments[..] {
            [] => true,
            [Segment::Ramp(ramp)] => ramp.first == 0 && ramp.is_constant(),
            _ => false,
        }
    }

    /// The coordinates along an axis of `n` places, each of which is `weight` positions: of the last cut, where each cut
    /// applies to what the earlier ones left.
    ///
    /// As long as a cut makes no more than one piece, what it leaves to a device is an interval, and the intervals have two
    /// lengths: the word repeats that of the longer one, and ends with that of the shorter one. A cut into several pieces
    /// can be the last. Any other word is made run by run, under the work limit.
    pub(crate) fn of_axis(cuts: &[Cut], n: i64, weight: i64, work: &mut Work) -> Result<Word, Undecided> {
        if let Some(word) = Word::of_intervals(cuts, n, weight, work)? {
            return Ok(word);
        }
        let mut runs = Vec::new();
        let mut place = 0;
        while place < n {
            work.step()?;
            let (owner, length) = run(cuts, n, place);
            runs.push((owner, length * weight));
            place += length;
        }
        Ok(Word::of_runs(runs))
    }

    fn of_intervals(cuts: &[Cut], n: i64, weight: i64, work: &mut Work) -> Result<Option<Word>, Undecided> {
        work.step()?;
        let (Some((&cut, inner)), true) = (cuts.split_first(), n > 0) else { return Ok(Some(Word::default())) };
        let piece = cut.piece(n);
        if inner.is_empty() {
            let ramp = |n: i64| Word::ramp(n * weight, ceil(n, cut.parts) * weight);
            let mut word = ramp(piece).repeated(n / piece);
            word.append(ramp(n % piece));
            return Ok(Some(word));
        }
        // The first device has every place, in their order.
        if piece == 1 || cut.parts == 1 {
            return Word::of_intervals(inner, n, weight, work);
        }
        if piece < n {
            return Ok(None);
        }
        let part = ceil(n, cut.parts);
        let full = Word::of_intervals(inner, part, weight, work)?;
        let last = Word::of_intervals(inner, n % part, weight, work)?;
        let (Some(full), Some(last)) = (full, last) else { return Ok(None) };
        let mut word = full.repeated(n / part);
        word.append(last);
        Ok(Some(word))
    }

    /// The first place at which two words of one length differ; `None` where they are the same.
    pub(crate) fn difference(&self, other: &Word, work: &mut Work) -> Result<Option<i64>, Undecided> {
        debug_assert_eq!(self.len, other.len);
        Cursor::new(self).difference(&mut Cursor::new(other), self.len, work)
    }

    /// The rest of the word from a place on.
    pub(crate) fn from(&self, place: i64) -> Cursor {
        let mut cursor = Cursor::new(self);
        cursor.skip(place);
        cursor
    }
}

/// The coordinate of the last cut at a place, and how many places from it on all cuts treat alike.
///
/// Consecutive places of one part have consecutive ranks in it, so that the runs of the lists under each other meet in the
/// shortest.
pub(crate) fn run(cuts: &[Cut], n: i64, place: i64) -> (i64, i64) {
    let (mut n, mut place, mut owner, mut run) = (n, place, 0, n - place);
    for cut in cuts {
        run = run.min(cut.run(n, place));
        owner = cut.owner(n, place);
        (n, place) = (cut.len(n, owner), cut.below(n, owner, place));
    }
    (owner, run)
}

/// What is still to be read of a word: its next segment last.
#[derive(Clone)]
pub(crate) struct Cursor(Vec<Segment>);

impl Cursor {
    fn new(word: &Word) -> Self {
        Cursor(word.segments.iter().rev().cloned().collect())
    }

    /// The next places, as a word.
    pub(crate) fn take(mut self, len: i64) -> Word {
        let mut word = Word::default();
        while let (Some(segment), left @ 1..) = (self.0.last(), len - word.len) {
            match segment {
                Segment::Ramp(ramp) => {
                    let ramp = Ramp { len: ramp.len.min(left), ..*ramp };
                    self.skip(ramp.len);
                    word.push(Segment::Ramp(ramp));
                }
                Segment::Repeat(count, repeated) if left / repeated.len > 0 => {
                    let whole = (left / repeated.len).min(*count);
                    let repeated = repeated.clone();
                    self.skip(whole * repeated.len);
                    word.append(Word::clone(&repeated).repeated(whole));
                }
                Segment::Repeat(..) => self.open(),
            }
        }
        word
    }

    /// Goes into the repetition that comes next.
    fn open(&mut self) {
        if let Some(Segment::Repeat(count, word)) = self.0.pop() {
            if count > 1 {
                self.0.push(Segment::Repeat(count - 1, word.clone()));
            }
            self.0.extend(word.segments.iter().rev().cloned());
        }
    }

    /// Goes on by so many places, or to the end.
    pub(crate) fn skip(&mut self, mut places: i64) {
        while places > 0 {
            match self.0.last_mut() {
                None => return,
                Some(Segment::Ramp(ramp)) if places < ramp.len => {
                    *ramp = ramp.after(places);
                    return;
                }
                Some(Segment::Ramp(ramp)) => {
                    places -= ramp.len;
                    self.0.pop();
                }
                Some(Segment::Repeat(count, word)) => {
                    let whole = (places / word.len).min(*count);
                    *count -= whole;
                    places -= whole * word.len;
                    if *count == 0 {
                        self.0.pop();
                    } else if places > 0 {
                        self.open();
                    }
                }
            }
        }
    }

    /// The ramp that comes next.
    fn ramp(&mut self) -> Option<Ramp> {
        while let Some(Segment::Repeat(..)) = self.0.last() {
            self.open();
        }
        match self.0.last() {
            Some(Segment::Ramp(ramp)) => Some(*ramp),
            _ => None,
        }
    }

    /// Looks at the next `len` places: the first of them that is not 0, and after it the first that is 0 again, from which on
    /// nothing is looked at. `state` has been told what came before.
    pub(crate) fn look(&mut self, len: i64, state: &mut First, work: &mut Work) -> Result<(), Undecided> {
        let mut place = 0;
        while place < len && state.again.is_none() {
            work.step()?;
            let Some(ramp) = self.ramp() else { break };
            let until = ramp.len.min(len - place);
            if ramp.first == 0 {
                if state.other.is_some() {
                    state.again = Some(state.seen + place);
                    break;
                }
                if ramp.until < until {
                    state.other = Some(state.seen + place + ramp.until);
                }
            } else if state.other.is_none() {
                state.other = Some(state.seen + place);
            }
            self.skip(until);
            place += until;
        }
        state.seen += len;
        Ok(())
    }

    /// The first of the next `len` places at which two words differ; where there is none, both have gone on by `len`.
    ///
    /// Repetitions are not spelt out. Two periodic words agree for ever if they agree for as long as their periods together
    /// are long (N. J. Fine and H. S. Wilf, Uniqueness theorems for periodic functions, 1965), so that two repetitions are
    /// compared on that much, with the longer period opened, and what is left of the shorter one is skipped. What is opened
    /// lies deeper, and words are as deep as cuts are under each other.
    pub(crate) fn difference(
        &mut self,
        other: &mut Cursor,
        len: i64,
        work: &mut Work,
    ) -> Result<Option<i64>, Undecided> {
        let mut place = 0;
        while place < len {
            work.step()?;
            match (self.0.last(), other.0.last()) {
                (Some(Segment::Ramp(a)), Some(Segment::Ramp(b))) => {
                    let both = a.len.min(b.len).min(len - place);
                    if let Some(offset) = a.difference(*b, both) {
                        return Ok(Some(place + offset));
                    }
                    self.skip(both);
                    other.skip(both);
                    place += both;
                }
                (Some(Segment::Repeat(m, a)), Some(Segment::Repeat(n, b))) => {
                    let both = (m * a.len).min(n * b.len).min(len - place);
                    let enough = if a.len == b.len { a.len } else { a.len.saturating_add(b.len) };
                    if both > enough {
                        let [mut first, mut second] =
                            [(m, a), (n, b)].map(|(&count, word)| Cursor(vec![Segment::Repeat(count, word.clone())]));
                        if let Some(offset) = first.difference(&mut second, enough, work)? {
                            return Ok(Some(place + offset));
                        }
                        self.skip(both);
                        other.skip(both);
                        place += both;
                    } else {
                        let (shorter, longer) = (a.len <= b.len, a.len >= b.len);
                        if longer {
                            self.open();
                        }
                        if shorter {
                            other.open();
                        }
                    }
                }
                (Some(Segment::Repeat(..)), Some(_)) => self.open(),
                (Some(_), Some(Segment::Repeat(..))) => other.open(),
                (None, _) | (_, None) => return Ok(Some(place)),
            }
        }
        Ok(None)
    }
}

/// What has been seen of a list of places: how many, the first that is not on the first device, and the next that is.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct First {
    pub(crate) seen: i64,
    pub(crate) other: Option<i64>,
    pub(crate) again: Option<i64>,
}
