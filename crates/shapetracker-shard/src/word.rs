//! Which device has each element, as a word: the coordinates along one mesh axis, in the order of positions, compressed.

use std::rc::Rc;

use crate::Undecided;
use crate::cut::{Cut, ceil};
use crate::lists::{List, lists};
use crate::work::Work;

/// A sequence of coordinates, made of ramps and of repetitions.
///
/// No segment is empty, no two neighbouring ramps are constant and equal, and what is repeated is repeated at least twice and
/// not constant. A word still has several forms: two are compared by [`Word::difference`].
#[derive(Clone, Debug, Default)]
pub(crate) struct Word {
    len: i64,
    segments: Vec<Segment>,
    /// Where each segment begins.
    starts: Vec<i64>,
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
    // Proved: `after_is_rest` in `proofs/Shards.v`.
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
    // Proved: `ramps_differ_exact` in `proofs/Shards.v`.
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
        let start = self.len;
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
        self.starts.push(start);
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
    /// lengths: the word repeats that of the longer one, and ends with that of the shorter one. A cut into several pieces can
    /// be the last, or be followed by those of [`Word::of_rows`]. Any other word is made run by run, under the work limit.
    pub(crate) fn of_axis(cuts: &[Cut], n: i64, weight: i64, work: &mut Work) -> Result<Word, Undecided> {
        if let Some(word) = Word::of_intervals(cuts, n, weight, work)? {
            return Ok(word);
        }
        // A cut whose pieces have one place each, on every device, leaves everything to the first.
        if let Some((last, earlier)) = cuts.split_last()
            && lists(earlier, n, work)?.iter().all(|list| last.piece(list.len) == 1)
        {
            return Ok(Word::of_runs([(0, n * weight)]));
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
            return if n % piece == 0 { Word::of_rows(cuts, n, weight, work) } else { Ok(None) };
        }
        let part = ceil(n, cut.parts);
        let full = Word::of_intervals(inner, part, weight, work)?;
        let last = Word::of_intervals(inner, n % part, weight, work)?;
        let (Some(full), Some(last)) = (full, last) else { return Ok(None) };
        let mut word = full.repeated(n / part);
        word.append(last);
        Ok(Some(word))
    }

    /// [`Word::of_intervals`] where the first cut makes several pieces of one length, and is not the last.
    ///
    /// The pieces are rows, and the cut is one of the places in a row, which leaves each device a list of rows times a list of
    /// places. A further cut of such a list is one of the rows if it has the widths of that, as often as a row is long; and one
    /// of the places if its pieces divide a row. Either must be so whatever device the list is of.
    fn of_rows(cuts: &[Cut], n: i64, weight: i64, work: &mut Work) -> Result<Option<Word>, Undecided> {
        let row = cuts[0].piece(n);
        let rows = n / row;
        let (mut of_rows, mut of_places) = (Vec::new(), vec![Cut { pieces: 1, ..cuts[0] }]);
        for (i, &cut) in cuts.iter().enumerate().skip(1) {
            let is_last = i + 1 == cuts.len();
            let lengths = |lists: Vec<List>| lists.into_iter().map(|list| list.len).filter(|&len| len > 0);
            let places: Vec<i64> = lengths(lists(&of_places, row, work)?).collect();
            let lists: Vec<(i64, i64)> = lengths(lists(&of_rows, rows, work)?)
                .flat_map(|rows| places.iter().map(move |&places| (rows, places)))
                .collect();
            let cuts_rows = |&(rows, places): &(i64, i64)| {
                let (long, short) = (cut.piece(rows * places), cut.piece(rows));
                let widths = |n: i64, by: i64| ceil(n * by, cut.parts) == ceil(n, cut.parts) * by;
                long == short * places && widths(short, places) && widths(rows % short, places)
            };
            // The fewest pieces of a row that are as long as those of the list, or else of the longest.
            let piece_of = |&(rows, places): &(i64, i64)| cut.piece(rows * places).min(places);
            let pieces = lists.iter().map(|list| ceil(list.1, piece_of(list))).max().unwrap_or(1);
            let of_row = Cut { pieces, ..cut };
            let cuts_places = |&(rows, places): &(i64, i64)| {
                let piece = cut.piece(rows * places);
                places % piece == 0 && of_row.piece(places) == piece
            };
            if lists.iter().all(|&(rows, places)| cut.parts == 1 || cut.piece(rows * places) == 1) {
                if is_last {
                    return Ok(Some(Word::of_runs([(0, n * weight)])));
                }
            } else if lists.iter().all(cuts_rows) {
                of_rows.push(cut);
                if is_last {
                    return Word::of_intervals(&of_rows, rows, weight * row, work);
                }
            } else if lists.iter().all(cuts_places) {
                of_places.push(of_row);
                if is_last {
                    return Ok(Word::of_intervals(&of_places, row, weight, work)?.map(|word| word.repeated(rows)));
                }
            } else {
                return Ok(None);
            }
        }
        Ok(None)
    }

    /// The first place that is not on the first device, if the word begins with one that is.
    pub(crate) fn first_change(&self) -> Option<i64> {
        let mut cursor = self.from(0);
        let mut place = 0;
        while let Some((0, alike)) = cursor.alike() {
            cursor.skip(alike);
            place += alike;
        }
        (place < self.len).then_some(place)
    }

    /// The first place at which two words of one length differ; `None` where they are the same.
    pub(crate) fn difference(&self, other: &Word, work: &mut Work) -> Result<Option<i64>, Undecided> {
        debug_assert_eq!(self.len, other.len);
        self.from(0).difference(&mut other.from(0), self.len, work)
    }

    /// The rest of the word from a place on.
    pub(crate) fn from(&self, place: i64) -> Cursor<'_> {
        let at = self.starts.partition_point(|&start| start <= place).saturating_sub(1);
        let mut cursor = Cursor { open: Vec::new(), rest: &self.segments[at..] };
        cursor.skip(place - self.starts.get(at).unwrap_or(&0));
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

/// What is still to be read of a word.
#[derive(Clone)]
pub(crate) struct Cursor<'a> {
    /// What was taken out of `rest`: the next segment last.
    open: Vec<Segment>,
    rest: &'a [Segment],
}

impl Cursor<'_> {
    fn of(segment: Segment) -> Self {
        Cursor { open: vec![segment], rest: &[] }
    }

    /// The next segment, which nothing has been read of, or only its beginning.
    fn next(&mut self) -> Option<&mut Segment> {
        if let (true, [first, rest @ ..]) = (self.open.is_empty(), self.rest) {
            self.open.push(first.clone());
            self.rest = rest;
        }
        self.open.last_mut()
    }

    /// The next places, as a word.
    pub(crate) fn take(mut self, len: i64) -> Word {
        let mut word = Word::default();
        while let (Some(segment), left @ 1..) = (self.next(), len - word.len) {
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
        if let Some(Segment::Repeat(count, word)) = self.open.pop() {
            if count > 1 {
                self.open.push(Segment::Repeat(count - 1, word.clone()));
            }
            self.open.extend(word.segments.iter().rev().cloned());
        }
    }

    /// Goes on by so many places, or to the end.
    pub(crate) fn skip(&mut self, mut places: i64) {
        while places > 0 {
            match self.next() {
                None => return,
                Some(Segment::Ramp(ramp)) if places < ramp.len => {
                    *ramp = ramp.after(places);
                    return;
                }
                Some(Segment::Ramp(ramp)) => {
                    places -= ramp.len;
                    self.open.pop();
                }
                Some(Segment::Repeat(count, word)) => {
                    let whole = (places / word.len).min(*count);
                    *count -= whole;
                    places -= whole * word.len;
                    if *count == 0 {
                        self.open.pop();
                    } else if places > 0 {
                        self.open();
                    }
                }
            }
        }
    }

    /// The ramp that comes next.
    fn ramp(&mut self) -> Option<Ramp> {
        while let Some(Segment::Repeat(..)) = self.next() {
            self.open();
        }
        match self.next() {
            Some(Segment::Ramp(ramp)) => Some(*ramp),
            _ => None,
        }
    }

    /// The next coordinate, and how many places from here on are on the first device if this one is, and are not if it is not:
    /// not all of them, but those that one ramp says it of.
    pub(crate) fn alike(&mut self) -> Option<(i64, i64)> {
        let ramp = self.ramp()?;
        Some((ramp.first, if ramp.first == 0 { ramp.until.min(ramp.len) } else { ramp.len }))
    }

    /// The first of the next `len` places at which two words differ; where there is none, both have gone on by `len`.
    ///
    /// Repetitions are not spelt out. Two periodic words agree for ever if they agree for as long as their periods together
    /// are long (N. J. Fine and H. S. Wilf, Uniqueness theorems for periodic functions, 1965), so that two repetitions are
    /// compared on that much, with the longer period opened, and what is left of the shorter one is skipped. What is opened
    /// lies deeper, and words are as deep as cuts are under each other.
    // Proved: `fine_wilf`, `one_period`, `repetitions_compared`, `difference_exact` in `proofs/Shards.v`.
    pub(crate) fn difference(
        &mut self,
        other: &mut Cursor<'_>,
        len: i64,
        work: &mut Work,
    ) -> Result<Option<i64>, Undecided> {
        let mut place = 0;
        while place < len {
            work.step()?;
            match (self.next(), other.next()) {
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
                    let both = (*m * a.len).min(*n * b.len).min(len - place);
                    let enough = if a.len == b.len { a.len } else { a.len.saturating_add(b.len) };
                    if both > enough {
                        let [mut first, mut second] =
                            [(m, a), (n, b)].map(|(&mut count, word)| Cursor::of(Segment::Repeat(count, word.clone())));
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
