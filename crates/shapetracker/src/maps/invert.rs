//! The digits of an index read back from its image.
//!
//! Over the digits of the loops each result is an affine sum of unknowns: digits, and floors that could not be avoided. A sum is
//! taken apart where its weights are superincreasing, that is, each is larger than all that the lighter terms can sum to: from
//! the heaviest down, each unknown is a quotient, and what it leaves is a remainder. What is known then is subtracted from the
//! other results, which may come apart in turn. A floor that is not known counts as an unknown of any value, so that what
//! remains is read modulo its weight. Where nothing comes apart, the results are combined by elimination.
//!
//! What is found is not trusted: that it leads back is decided before it is handed out.

use std::ops::Range;

use indexpr::{Binary, Expr, Graph, Linear, Term, Variable};
use shapetracker_base::int::{extended_gcd, gcd};

use super::digits::{Digits, Forms, Loop};
use super::{IndexMap, NotInverted, elements, xor};
use crate::error::Error;

/// What leads back from the images of a map.
///
/// ```
/// use shapetracker::IndexMap;
///
/// let map = IndexMap::parse("lambda i: (3 * i + 1,)", &[("i", 0..5)])?;
/// let inverse = map.inverse()?;
/// assert_eq!(inverse.map.to_string(), "lambda y0: ((y0 - 1) // 3,)");
/// assert_eq!(inverse.map.loops()[0].range, 1..14);
/// assert!(!inverse.is_everywhere); // 2 is in the box, and no image.
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Inverse {
    /// From the smallest box around the images to the indices: its loops are `y0`, `y1`, and so on, one for each result.
    pub map: IndexMap,
    /// Whether every element of that box is an image. Where one is not, the map may have any value there.
    pub is_everywhere: bool,
}

impl IndexMap {
    /// The map that leads back from each image to its index, as expressions.
    ///
    /// ```
    /// use shapetracker::IndexMap;
    ///
    /// let map = IndexMap::parse("lambda i, j: ((i + j) % 8, i + j // 8)", &[("i", 0..8), ("j", 0..8)])?;
    /// let inverse = map.inverse()?.map;
    /// assert_eq!(inverse.to_string(), "lambda y0, y1: (y1, (y0 - y1) % 8)");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// That it leads back is decided, as [`IndexMap::difference`] decides it, before it is handed out; so it is a proof that the
    /// map is one-to-one, too.
    ///
    /// # Errors
    /// [`NotInverted::Collision`] has two indices with the same image; [`NotInverted::NoForm`] where the map is one-to-one and no
    /// expressions were found that lead back.
    pub fn inverse(&self) -> Result<Inverse, NotInverted> {
        if let Some(map) = self.left_inverse()? {
            let images = elements(map.loops().iter().map(|variable| &variable.range));
            let is_everywhere = images.is_some() && images == self.indices();
            return Ok(Inverse { map, is_everywhere });
        }
        Err(match self.collision()? {
            Some(indices) => NotInverted::Collision { image: self.evaluate(&indices[0])?, indices },
            None => NotInverted::NoForm,
        })
    }

    /// The map that leads back, if one was found that provably does.
    pub(super) fn left_inverse(&self) -> Result<Option<IndexMap>, Error> {
        let target = self.image_box();
        // No half-open range has the greatest number in it.
        if target.iter().any(|range| range.end == i64::MAX) {
            return Ok(None);
        }
        for open in self.readable() {
            let Some(Back { map: back, .. }) = self.read_back(&open, &target, false) else { continue };
            if back.substituted(self).is_ok_and(|round| leads_back(&round)) {
                return Ok(Some(back));
            }
        }
        Ok(None)
    }

    /// Whether expressions are found that lead from each element of a box to an index that leads to it.
    pub(super) fn has_right_inverse(&self, target: &[Range<i64>]) -> Result<bool, Error> {
        for open in self.readable() {
            if self.has_right_inverse_by(&open, target)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn has_right_inverse_by(&self, open: &IndexMap, target: &[Range<i64>]) -> Result<bool, Error> {
        const MOST_PARTS: usize = 32;
        let (mut pending, mut parts) = (vec![target.to_vec()], 1);
        while let Some(mut target) = pending.pop() {
            let Some(back) = self.read_back(open, &target, true) else { return Ok(false) };
            if self.is_right_inverse(&back)? {
                continue;
            }
            let Some((at, middle)) = back.split.filter(|_| parts < MOST_PARTS) else { return Ok(false) };
            parts += 1;
            let mut upper = target.clone();
            (target[at].end, upper[at].start) = (middle, middle);
            pending.extend([target, upper]);
        }
        Ok(true)
    }

    fn is_right_inverse(&self, back: &Back) -> Result<bool, Error> {
        let ranges: Vec<_> = self.loops().iter().map(|variable| variable.range.clone()).collect();
        if !back.is_inside && !matches!(back.map.outside(&ranges), Ok(None)) {
            return Ok(false);
        }
        let Ok(round) = self.substituted(&back.map) else { return Ok(false) };
        Ok(leads_back(&round))
    }

    /// The maps from which indices are read back: with exclusive or as an unknown, which leads to the shorter expressions, and as
    /// sums of bits.
    fn readable(&self) -> impl Iterator<Item = IndexMap> {
        [false, true].into_iter().filter_map(|is_split| xor::as_loops(self, is_split)).chain([self.clone()])
    }

    /// The indices of the elements of a box, as far as they can be read back: of some index that leads to each where any will
    /// do, and else of the one. Of the other map it has the loops and results first.
    fn read_back(&self, open: &IndexMap, target: &[Range<i64>], any: bool) -> Option<Back> {
        let mut results = open.results.clone();
        let mut entries: Vec<usize> = (0..results.len()).collect();
        let (digits, forms) = loop {
            match Digits::of(open, &results).ok()? {
                (digits, Ok(forms)) => break (digits, forms),
                // The other results may have all that is needed.
                (_, Err(at)) if !any && entries[at] < self.results.len() => {
                    results.remove(at);
                    entries.remove(at);
                }
                _ => return None,
            }
        };
        let loops = &digits.loops[..self.loops().len()];
        let own: usize = loops.iter().map(|each| each.digits.len()).sum();
        let mut graph = Graph::new();
        let mut values = Vec::with_capacity(target.len());
        for (at, range) in target.iter().enumerate() {
            values.push(graph.variable(&format!("y{at}"), range.clone()).ok()?);
        }
        let values = entries.into_iter().filter_map(|at| values.get(at).copied()).collect();
        let mut reader = Reader::new(graph, &forms, &digits, values)?;
        reader.xors = digits.loops[loops.len()..].to_vec();
        while !reader.known[..own].iter().all(Option::is_some) {
            if reader.go_on()? {
                continue;
            }
            if !any || !reader.choose()? {
                return None;
            }
        }
        let Reader { mut graph, known, split, .. } = reader;
        let mut results = Vec::with_capacity(loops.len());
        for each in loops {
            let mut value = graph.int(each.begin);
            for digit in &each.digits {
                let weight = graph.int(digit.weight);
                let term = graph.binary(Binary::Mul, known[digit.place]?, weight).ok()?;
                value = graph.binary(Binary::Add, value, term).ok()?;
            }
            results.push(value);
        }
        // A digit depends on fewer entries than the index does.
        let places = known[..own].iter().copied().collect::<Option<Vec<_>>>()?;
        let is_digit = |(expr, digit): (Expr, &Variable)| {
            IndexMap::new(graph.clone(), [expr])
                .is_ok_and(|map| map.simplify().outside(std::slice::from_ref(&digit.range)) == Ok(None))
        };
        let is_inside =
            any && loops.iter().all(Loop::is_full) && places.into_iter().zip(digits.graph.variables()).all(is_digit);
        Some(Back { map: IndexMap::new(graph, results).ok()?.simplify(), is_inside, split })
    }
}

/// What was read back from the elements of a box.
struct Back {
    map: IndexMap,
    /// Whether the indices are known to be in the box of the loops.
    is_inside: bool,
    /// An entry, and a value of it below which and from which on the box has simpler expressions.
    split: Option<(usize, i64)>,
}

/// Whether a map of a box to itself leaves every index as it is.
fn leads_back(round: &IndexMap) -> bool {
    let mut round = round.simplify();
    if let Some(cancelled) = xor::cancelled(&round) {
        round = cancelled.simplify();
    }
    if (0..round.results.len()).all(|at| round.result_is_variable(at, at)) {
        return true;
    }
    let loops: Vec<_> = round.loops().iter().map(|variable| (&variable.name[..], variable.range.clone())).collect();
    IndexMap::identity(&loops).is_ok_and(|identity| matches!(round.difference(&identity), Ok(None)))
}

/// A sum of unknowns with a known value.
#[derive(Clone)]
struct Row {
    /// Unknowns and their weights.
    terms: Vec<(usize, i128)>,
    value: Expr,
}

/// The state of reading back.
struct Reader<'a> {
    /// Over the entries of an image.
    graph: Graph,
    forms: &'a Forms,
    /// How many of the unknowns are digits; the floors come after them.
    digits: usize,
    /// The least value of each unknown, and how many it may have.
    ranges: Vec<(i128, i128)>,
    known: Vec<Option<Expr>>,
    rows: Vec<Row>,
    /// How many unknowns there were when the rows were combined.
    combined: Option<usize>,
    /// Where an entry is best split, as [`Back::split`].
    split: Option<(usize, i64)>,
    /// Unknowns that are an exclusive or, each of two forms: the last ones, two by two, and those of the first unknown first.
    /// One that is used has no digits any more.
    xors: Vec<Loop>,
}

/// An unknown of a sum with the weight without its sign: `low + t` or `low + size - 1 - t`, for `t` in `0..size`.
struct Part {
    unknown: usize,
    weight: i128,
    is_turned: bool,
    low: i128,
    size: i128,
}

impl<'a> Reader<'a> {
    fn new(graph: Graph, forms: &'a Forms, digits: &Digits, values: Vec<Expr>) -> Option<Reader<'a>> {
        let mut graph = graph;
        let sizes = digits.graph.variables().iter().map(|digit| i128::from(digit.range.end));
        let mut ranges: Vec<(i128, i128)> = sizes.map(|size| (0, size)).collect();
        let count = ranges.len();
        for floor in &forms.floors {
            let divisor = i128::from(floor.divisor);
            let ends = terms(&floor.numerator, count).into_iter().map(|(unknown, by)| {
                let (low, size) = ranges[unknown];
                let ends = (by.checked_mul(low)?, by.checked_mul(low + size - 1)?);
                Some((ends.0.min(ends.1), ends.0.max(ends.1)))
            });
            let constant = i128::from(floor.numerator.constant());
            let (mut low, mut high) = (constant, constant);
            for end in ends {
                let end: (i128, i128) = end?;
                (low, high) = (low.checked_add(end.0)?, high.checked_add(end.1)?);
            }
            let low = low.div_euclid(divisor);
            ranges.push((low, high.div_euclid(divisor) - low + 1));
        }
        let mut rows = Vec::with_capacity(values.len());
        for (form, value) in forms.values.iter().zip(values) {
            let constant = graph.int(form.constant());
            rows.push(Row { terms: terms(form, count), value: graph.binary(Binary::Sub, value, constant).ok()? });
        }
        let mut known = vec![None; ranges.len()];
        for (unknown, (low, size)) in ranges.iter().enumerate() {
            if *size == 1 {
                known[unknown] = Some(graph.int(i64::try_from(*low).ok()?));
            }
        }
        Some(Reader { graph, forms, digits: count, ranges, known, rows, combined: None, split: None, xors: Vec::new() })
    }

    /// Learns something new, if it can.
    fn go_on(&mut self) -> Option<bool> {
        // What is known of a floor's numerator tells the floor.
        for (at, floor) in self.forms.floors.iter().enumerate() {
            let unknown = self.digits + at;
            if self.known[unknown].is_none() && self.is_known(&floor.numerator) {
                let value = self.value(&floor.numerator)?;
                self.known[unknown] = Some(self.divided(value, floor.divisor.into())?);
                return Some(true);
            }
        }
        if self.floor_solved(false)? || self.xor_solved()? {
            return Some(true);
        }
        self.subtract_known()?;
        for at in 0..self.rows.len() {
            let row = self.rows[at].clone();
            if self.taken_apart(&row)? {
                return Some(true);
            }
        }
        let unknown = self.known.iter().filter(|known| known.is_none()).count();
        // Each time the rows are at most doubled.
        const MOST_ROWS: usize = 256;
        if self.combined.is_some_and(|before| before <= unknown) || self.rows.len() > MOST_ROWS {
            return Some(false);
        }
        self.combined = Some(unknown);
        self.combine()?;
        Some(true)
    }

    /// Reads a digit from a floor that is known, where it is the only unknown of what is divided: the least value that makes
    /// the floor what it is. There is no other one if the divisor is at most its weight, and else this is one of several.
    fn floor_solved(&mut self, any: bool) -> Option<bool> {
        for (at, floor) in self.forms.floors.iter().enumerate() {
            let Some(quotient) = self.known[self.digits + at] else { continue };
            let terms = terms(&floor.numerator, self.digits);
            let mut open = terms.iter().filter(|term| self.known[term.0].is_none());
            let (Some(&(unknown, weight)), None) = (open.next(), open.next()) else { continue };
            if !any && weight.abs() < floor.divisor.into() {
                continue;
            }
            // divisor * quotient <= weight * t + rest.
            let mut rest = self.graph.int(floor.numerator.constant());
            for (term, by) in terms.into_iter().filter(|term| term.0 != unknown) {
                rest = self.plus(rest, by, self.known[term]?)?;
            }
            let short = self.plus(rest, -i128::from(floor.divisor), quotient)?;
            self.known[unknown] = Some(if weight > 0 {
                // Rounded up: what is missing, divided.
                let (zero, down) = (self.graph.int(0), self.divided(short, weight)?);
                self.plus(zero, -1, down)?
            } else {
                self.divided(short, -weight)?
            });
            return Some(true);
        }
        Some(false)
    }

    /// Reads one of `a`, `b` and `a ^ b` from the two others.
    fn xor_solved(&mut self) -> Option<bool> {
        let first = self.forms.values.len().checked_sub(2 * self.xors.len())?;
        for at in 0..self.xors.len() {
            let each = self.xors[at].clone();
            let Some(digits) = each.digits.iter().map(|digit| self.known[digit.place]).collect::<Option<Vec<_>>>()
            else {
                let [a, b] = [0, 1].map(|side| &self.forms.values[first + 2 * at + side]);
                if self.is_known(a) && self.is_known(b) {
                    let (a, b) = (self.value(a)?, self.value(b)?);
                    let value = self.graph.binary(Binary::Xor, a, b).ok()?;
                    for digit in each.digits {
                        let quotient = self.divided(value, digit.weight.into())?;
                        self.known[digit.place] = Some(self.remainder(quotient, digit.size.into())?);
                    }
                    return Some(true);
                }
                continue;
            };
            for side in (0..2).filter(|_| !digits.is_empty()) {
                let (known, open) =
                    (&self.forms.values[first + 2 * at + side], &self.forms.values[first + 2 * at + 1 - side]);
                if !self.is_known(known) || self.is_known(open) {
                    continue;
                }
                let mut value = self.graph.int(0);
                for (digit, known) in each.digits.iter().zip(&digits) {
                    value = self.plus(value, digit.weight.into(), *known)?;
                }
                let known = self.value(known)?;
                let value = self.graph.binary(Binary::Xor, value, known).ok()?;
                let constant = self.graph.int(open.constant());
                let value = self.graph.binary(Binary::Sub, value, constant).ok()?;
                self.rows.push(Row { terms: terms(open, self.digits), value });
                self.xors[at].digits.clear();
                return Some(true);
            }
        }
        Some(false)
    }

    /// Whether all unknowns of a form are known.
    fn is_known(&self, form: &Linear) -> bool {
        terms(form, self.digits).iter().all(|(term, _)| self.known[*term].is_some())
    }

    /// The value of a form that is known.
    fn value(&mut self, form: &Linear) -> Option<Expr> {
        let mut value = self.graph.int(form.constant());
        for (term, by) in terms(form, self.digits) {
            value = self.plus(value, by, self.known[term]?)?;
        }
        Some(value)
    }

    /// Moves what is known to the values of the rows.
    fn subtract_known(&mut self) -> Option<()> {
        for at in 0..self.rows.len() {
            let mut row = std::mem::replace(&mut self.rows[at], Row { terms: Vec::new(), value: self.graph.int(0) });
            let mut left = Vec::with_capacity(row.terms.len());
            for (unknown, by) in row.terms {
                match self.known[unknown] {
                    Some(value) => row.value = self.plus(row.value, -by, value)?,
                    None => left.push((unknown, by)),
                }
            }
            row.terms = left;
            self.rows[at] = row;
        }
        self.rows.retain(|row| !row.terms.is_empty());
        Some(())
    }

    /// Reads the unknowns of a row from its value, if that has them all.
    fn taken_apart(&mut self, row: &Row) -> Option<bool> {
        let Some(all) = self.parts(&row.terms) else { return Some(false) };
        if is_superincreasing(&all) {
            self.read(row.value, &all, None)?;
            return Some(true);
        }
        // The lightest terms are read modulo what all others are multiples of, and floors that are not known are among those.
        for count in (1..all.len()).rev() {
            let (low, high) = all.split_at(count);
            let modulus = high.iter().fold(0, |modulus, part| gcd(part.weight, modulus));
            if is_superincreasing(low) && low.iter().map(Part::reach).sum::<i128>() < modulus {
                self.read(row.value, low, Some(modulus))?;
                return Some(true);
            }
        }
        // A term by itself likewise, whatever its weight: weight * t is the value less all that is a multiple of the modulus.
        for at in 0..all.len() {
            let part = &all[at];
            let others = all.iter().filter(|other| other.unknown != part.unknown);
            let modulus = others.fold(0, |modulus, part| gcd(part.weight, modulus));
            if modulus < 2 {
                continue;
            }
            let (common, inverse, _) = extended_gcd(part.weight.rem_euclid(modulus), modulus);
            let values = modulus / common;
            if part.size <= values {
                let base = self.number(-part.base())?;
                let value = self.graph.binary(Binary::Add, row.value, base).ok()?;
                let rest = self.remainder(value, modulus)?;
                let rest = self.divided(rest, common)?;
                let zero = self.graph.int(0);
                let product = self.plus(zero, inverse.rem_euclid(values), rest)?;
                let digit = self.remainder(product, values)?;
                self.learn(part, digit)?;
                return Some(true);
            }
        }
        Some(false)
    }

    /// The terms of a sum, lightest first; `None` where sums of them are past anything that a result can be.
    fn parts(&self, terms: &[(usize, i128)]) -> Option<Vec<Part>> {
        const MOST: i128 = 1 << 100;
        let part = |&(unknown, by): &(usize, i128)| {
            let (low, size) = self.ranges[unknown];
            Part { unknown, weight: by.abs(), is_turned: by < 0, low, size }
        };
        let mut parts: Vec<Part> = terms.iter().map(part).collect();
        parts.sort_by_key(|part| part.weight);
        let reach = parts.iter().try_fold(0i128, |sum, part| {
            sum.checked_add(part.weight.checked_mul(part.low.checked_abs()?.checked_add(part.size)?)?)
        });
        reach.is_some_and(|reach| reach < MOST).then_some(parts)
    }

    /// Reads the parts of a value from the heaviest down.
    fn read(&mut self, value: Expr, parts: &[Part], modulus: Option<i128>) -> Option<()> {
        let base: i128 = parts.iter().map(Part::base).sum();
        let base = self.number(-base)?;
        let mut rest = self.graph.binary(Binary::Add, value, base).ok()?;
        if let Some(modulus) = modulus {
            rest = self.remainder(rest, modulus)?;
        }
        for part in parts.iter().rev() {
            let digit = self.divided(rest, part.weight)?;
            rest = self.remainder(rest, part.weight)?;
            self.learn(part, digit)?;
        }
        Some(())
    }

    /// Notes an unknown that is `t` above its least value, or below its greatest one.
    fn learn(&mut self, part: &Part, digit: Expr) -> Option<()> {
        let end = self.number(if part.is_turned { part.low + part.size - 1 } else { part.low })?;
        let op = if part.is_turned { Binary::Sub } else { Binary::Add };
        self.known[part.unknown] = Some(self.graph.binary(op, end, digit).ok()?);
        Some(())
    }

    /// Adds combinations of the rows in which unknowns are eliminated (Gauss and Jordan, without fractions).
    fn combine(&mut self) -> Option<()> {
        let mut rows = self.rows.clone();
        let mut used = vec![false; rows.len()];
        while let Some(at) = (0..rows.len()).find(|&at| !used[at] && !rows[at].terms.is_empty()) {
            used[at] = true;
            let pivot = rows[at].clone();
            // The lightest term: products stay small.
            let &(unknown, weight) = pivot.terms.iter().min_by_key(|term| term.1.abs())?;
            for other in (0..rows.len()).filter(|other| *other != at) {
                let Some(by) = rows[other].terms.iter().find(|term| term.0 == unknown).map(|term| term.1) else {
                    continue;
                };
                let common = gcd(weight, by);
                let (ours, theirs) = (-by / common, weight / common);
                let mut terms: Vec<(usize, i128)> = Vec::new();
                for (row, factor) in [(&rows[other], theirs), (&pivot, ours)] {
                    for &(unknown, by) in &row.terms {
                        let more = by.checked_mul(factor)?;
                        match terms.iter_mut().find(|term| term.0 == unknown) {
                            Some(term) => term.1 = term.1.checked_add(more)?,
                            None => terms.push((unknown, more)),
                        }
                    }
                }
                terms.retain(|term| term.1 != 0);
                let zero = self.graph.int(0);
                let value = self.plus(zero, theirs, rows[other].value)?;
                let value = self.plus(value, ours, pivot.value)?;
                rows[other] = Row { terms, value };
            }
        }
        self.rows.extend(rows.into_iter().filter(|row| !row.terms.is_empty()));
        Some(())
    }

    /// Decides on values where several are possible: of a sum as much as possible of the heaviest term, where the others can
    /// make up for what it leaves; or the least value of a digit.
    fn choose(&mut self) -> Option<bool> {
        if self.floor_solved(true)? {
            return Some(true);
        }
        for at in 0..self.rows.len() {
            let Some(parts) = self.parts(&self.rows[at].terms) else { continue };
            // The lighter parts, together, leave no gap below the heaviest one.
            let mut reach = 0;
            let has_gap = parts.iter().any(|part| {
                let gap = part.weight > reach + 1;
                reach += part.reach();
                gap
            });
            if has_gap || self.rows[at].terms.iter().any(|term| term.0 >= self.digits) {
                continue;
            }
            let base: i128 = parts.iter().map(Part::base).sum();
            let base = self.number(-base)?;
            let mut rest = self.graph.binary(Binary::Add, self.rows[at].value, base).ok()?;
            for (at, part) in parts.iter().enumerate().rev() {
                let mut digit = self.divided(rest, part.weight)?;
                // What the lightest one has is all that is left.
                if at > 0 && self.graph.range(digit).1 >= part.size as i64 {
                    self.split = self.split.or(self.reached(rest, part.reach()));
                    let most = self.number(part.size - 1)?;
                    digit = self.graph.binary(Binary::Min, digit, most).ok()?;
                }
                rest = self.plus(rest, -part.weight, digit)?;
                self.learn(part, digit)?;
            }
            return Some(true);
        }
        // A digit that no row has may be anything.
        let is_in_rows = |unknown: usize| self.rows.iter().any(|row| row.terms.iter().any(|term| term.0 == unknown));
        let open = |&unknown: &usize| self.known[unknown].is_none();
        let free = (0..self.digits).filter(open).find(|&unknown| !is_in_rows(unknown));
        let Some(unknown) = free.or_else(|| (0..self.digits).find(open)) else { return Some(false) };
        self.known[unknown] = Some(self.number(self.ranges[unknown].0)?);
        Some(true)
    }

    /// The entry that a value is, up to a number, and from where on it is at least so much: between the ends of its range.
    fn reached(&mut self, value: Expr, least: i128) -> Option<(usize, i64)> {
        let forms = Forms::of(&mut self.graph, &[value]).ok()?;
        let form = &forms.values[0];
        let &[(Term::Variable(entry), 1)] = form.terms() else { return None };
        let at = i64::try_from(least - i128::from(form.constant())).ok()?;
        let range = &self.graph.variables()[entry].range;
        (range.start < at && at < range.end).then_some((entry, at))
    }

    /// `value + by * more`.
    fn plus(&mut self, value: Expr, by: i128, more: Expr) -> Option<Expr> {
        let by = self.number(by)?;
        let product = self.graph.binary(Binary::Mul, more, by).ok()?;
        self.graph.binary(Binary::Add, value, product).ok()
    }

    fn divided(&mut self, value: Expr, divisor: i128) -> Option<Expr> {
        let divisor = self.number(divisor)?;
        self.graph.binary(Binary::Div, value, divisor).ok()
    }

    fn remainder(&mut self, value: Expr, divisor: i128) -> Option<Expr> {
        let divisor = self.number(divisor)?;
        self.graph.binary(Binary::Mod, value, divisor).ok()
    }

    fn number(&mut self, value: i128) -> Option<Expr> {
        Some(self.graph.int(i64::try_from(value).ok()?))
    }
}

impl Part {
    /// The most that it adds to the least sum.
    fn reach(&self) -> i128 {
        self.weight * (self.size - 1)
    }

    /// What it is at `t = 0`.
    fn base(&self) -> i128 {
        if self.is_turned { -self.weight * (self.low + self.size - 1) } else { self.weight * self.low }
    }
}

/// Whether each weight is larger than all that the lighter parts reach.
fn is_superincreasing(parts: &[Part]) -> bool {
    let mut reach = 0;
    !parts.is_empty()
        && parts.iter().all(|part| {
            let is_larger = part.weight > reach;
            reach += part.reach();
            is_larger
        })
}

/// The terms of a form, with floors after so many digits.
fn terms(form: &Linear, digits: usize) -> Vec<(usize, i128)> {
    let unknown = |term: &Term| match term {
        Term::Variable(place) => *place,
        Term::Floor(at) => digits + at,
    };
    form.terms().iter().map(|(term, by)| (unknown(term), i128::from(*by))).collect()
}
