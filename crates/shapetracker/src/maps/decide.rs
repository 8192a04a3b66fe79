//! Questions about index maps as systems of bounded linear equations.
//!
//! Every digit of a loop is an unknown with its range. A floor `q` of a form `m` by `d` is an unknown, too, with a remainder `r`
//! in `0..d` and the equation `m - d q - r = 0`, which has one solution for each choice of the digits. So a question such as
//! "is there an index at which this result is at least 12?" is whether a system has a solution, which is decided exactly and
//! with a counted amount of work ([`System`]). A solution is the index that the answer shows.
//!
//! Two indices with the same image are two copies of the digits. The first digit in which they differ is tried in turn: those
//! before it are shared by both copies, which keeps the system small. A digit that is in no floor is one unknown, the
//! difference of both: the images depend on nothing else.

use std::ops::Range;

use indexpr::{Binary, Expr, Floor, Graph, Linear, Term};

use super::digits::{Digits, Forms};
use super::{IndexMap, Unproved, elements};
use crate::error::{Error, Fault};
use crate::merge::system::System;
use crate::merge::work::{OutOfWork, Work};

impl IndexMap {
    /// Two indices with the same image, or `None` when no two have: the map is one-to-one.
    ///
    /// ```
    /// use shapetracker::IndexMap;
    ///
    /// let map = IndexMap::parse("lambda i, j: (i % 16 // 4 + 4 * (j % 8), i % 4)", &[("i", 0..16), ("j", 0..8)])?;
    /// assert_eq!(map.collision()?, None);
    ///
    /// let more = IndexMap::parse("lambda i, j: (i % 16 // 4 + 4 * (j % 8), i % 4)", &[("i", 0..16), ("j", 0..9)])?;
    /// let [a, b] = more.collision()?.unwrap();
    /// assert_ne!(a, b);
    /// assert_eq!(more.evaluate(&a)?, more.evaluate(&b)?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// Cost: depends on the expressions and not on the sizes, unless the equations take more than the work limit (some tenths
    /// of a second) or a result is not quasi-affine: then the indices are tried, if they are few.
    ///
    /// # Errors
    /// [`Unproved`], where they are many.
    pub fn collision(&self) -> Result<Option<[Vec<i64>; 2]>, Unproved> {
        let unproved = match self.collision_by_equations() {
            Err(unproved) => unproved,
            decided => return decided,
        };
        if self.is_walkable() {
            return Ok(self.collision_walked()?);
        }
        // Expressions that lead back are a proof, too; and indices near the beginning are a no where two of them meet.
        if self.left_inverse()?.is_some() {
            return Ok(None);
        }
        self.corner()?.collision_walked()?.map(Some).ok_or(unproved)
    }

    /// [`IndexMap::collision`], without trying indices.
    pub(super) fn collision_by_equations(&self) -> Result<Option<[Vec<i64>; 2]>, Unproved> {
        let (digits, forms) = Digits::of(self, &self.results)?;
        let forms = forms.map_err(|result| Unproved::NotQuasiAffine { result })?;
        let question = Question::new(&digits, &forms);
        let count = question.sizes.len();
        let mut work = question.work();
        let mut is_open = false;
        for first in 0..count {
            if question.sizes[first] == 1 {
                continue;
            }
            match question.pair(first, &mut work) {
                Ok(None) => {}
                Ok(Some(pair)) => return Ok(Some(pair.map(|values| digits.index(&values)))),
                Err(OutOfWork) => is_open = true,
            }
        }
        if is_open { Err(Unproved::WorkLimit) } else { Ok(None) }
    }

    /// An index that leads to an element, or `None` when no index does.
    ///
    /// ```
    /// use shapetracker::IndexMap;
    /// let map = IndexMap::parse("lambda i: (i // 4, i % 4)", &[("i", 0..14)])?;
    /// assert_eq!(map.preimage(&[3, 1])?, Some(vec![13]));
    /// assert_eq!(map.preimage(&[3, 2])?, None);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// An element of another number of entries than there are results; [`Unproved`] otherwise.
    pub fn preimage(&self, element: &[i64]) -> Result<Option<Vec<i64>>, Unproved> {
        const OP: &str = "preimage";
        self.check_count(OP, "entry", element.len())?;
        match self.preimage_by_equations(element) {
            Err(_) if self.is_walkable() => {
                let is_sought = |result: usize, value| value == element[result];
                Ok(self.found_walked(&self.results, is_sought, true)?)
            }
            decided => decided,
        }
    }

    pub(super) fn preimage_by_equations(&self, element: &[i64]) -> Result<Option<Vec<i64>>, Unproved> {
        let (digits, forms) = Digits::of(self, &self.results)?;
        let forms = forms.map_err(|result| Unproved::NotQuasiAffine { result })?;
        let question = Question::new(&digits, &forms);
        let wanted = element.iter().map(|&value| (value.into(), value.into()));
        let found = question.values_within(&wanted.collect::<Vec<_>>(), &mut question.work())?;
        Ok(found.map(|values| digits.index(&values)))
    }

    /// An index whose image is not in a box of half-open ranges, or `None` when all images are.
    ///
    /// ```
    /// use shapetracker::IndexMap;
    /// let map = IndexMap::parse("lambda i: (i // 4, i % 4)", &[("i", 0..14)])?;
    /// assert_eq!(map.outside(&[0..4, 0..4])?, None);
    /// assert_eq!(map.outside(&[0..3, 0..4])?.map(|index| index[0] / 4), Some(3));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Another number of ranges than there are results; [`Unproved`] otherwise.
    pub fn outside(&self, target: &[Range<i64>]) -> Result<Option<Vec<i64>>, Unproved> {
        self.check_count("outside", "range", target.len())?;
        let mut unproved = None;
        for (at, range) in target.iter().enumerate() {
            let (below, above) =
                ((i128::from(i64::MIN), i128::from(range.start) - 1), (range.end.into(), i64::MAX.into()));
            match self.one_within(self.results[at], at, &[below, above]) {
                Ok(None) => {}
                Err(err) => unproved = Some(err),
                found => return found,
            }
        }
        unproved.map_or(Ok(None), Err)
    }

    /// An index at which two maps of the same box have different images, or `None` when they are equal. Only the ranges of the
    /// loops count, and not their names.
    ///
    /// ```
    /// use shapetracker::IndexMap;
    ///
    /// let map = IndexMap::parse("lambda i: (i // 4 * 4 + i % 4,)", &[("i", 0..1 << 40)])?;
    /// let same = IndexMap::parse("lambda k: (k,)", &[("k", 0..1 << 40)])?;
    /// assert_eq!(map.difference(&same)?, None);
    ///
    /// let other = IndexMap::parse("lambda k: (k // 2 * 2,)", &[("k", 0..1 << 40)])?;
    /// assert!(map.difference(&other)?.is_some_and(|index| index[0] % 2 == 1));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Boxes that are not the same, or another number of results; [`Unproved`] otherwise.
    pub fn difference(&self, other: &IndexMap) -> Result<Option<Vec<i64>>, Unproved> {
        const OP: &str = "difference";
        self.check_count(OP, "result", other.results.len())?;
        let sizes = |map: &IndexMap| map.loops().iter().map(|variable| variable.range.clone()).collect::<Vec<_>>();
        let (ours, theirs) = (sizes(self), sizes(other));
        if ours != theirs {
            let bounds = |ranges: Vec<Range<i64>>| ranges.into_iter().map(|range| range.end - range.start).collect();
            return Err(Error::new(OP, Fault::ShapesDiffer { from: bounds(ours), to: bounds(theirs) }).into());
        }
        let mut graph = self.graph.clone();
        let theirs = graph.import(&other.graph, &other.results, |graph, place| {
            let variable = graph.variables()[place].clone();
            graph.variable(&variable.name, variable.range)
        })?;
        let mut unproved = None;
        for (at, (&ours, theirs)) in self.results.iter().zip(theirs).enumerate() {
            if ours == theirs {
                continue;
            }
            let found = graph.binary(Binary::Sub, ours, theirs).map_err(Unproved::from).and_then(|apart| {
                let apart = graph.simplify(apart);
                let map = IndexMap { graph: graph.clone(), results: Vec::new() };
                map.one_within(apart, at, &[(i64::MIN.into(), -1), (1, i64::MAX.into())])
            });
            match found {
                Ok(None) => {}
                Err(err) => unproved = Some(err),
                found => return found,
            }
        }
        unproved.map_or(Ok(None), Err)
    }

    /// An index at which an expression of the graph, result `at`, has a value in one of some ranges (both ends included).
    fn one_within(&self, expr: Expr, at: usize, ranges: &[(i128, i128)]) -> Result<Option<Vec<i64>>, Unproved> {
        let (low, high) = self.graph.range(expr);
        let may_be = |range: &&(i128, i128)| range.0 <= high.into() && i128::from(low) <= range.1 && range.0 <= range.1;
        if !ranges.iter().any(|range| may_be(&range)) {
            return Ok(None);
        }
        let unproved = match self.one_within_by_equations(expr, at, ranges) {
            Err(unproved) => unproved,
            decided => return decided,
        };
        let is_sought =
            |_: usize, value: i64| ranges.iter().any(|range| range.0 <= value.into() && i128::from(value) <= range.1);
        // Only the loops that occur are walked, or the beginnings of them.
        let (mut map, places) = self.of_loops_in(expr)?;
        let is_complete = map.is_walkable();
        if !is_complete {
            map = map.corner()?;
        }
        let Some(found) = map.found_walked(&map.results, is_sought, true)? else {
            return if is_complete { Ok(None) } else { Err(unproved) };
        };
        let mut index: Vec<i64> = self.loops().iter().map(|variable| variable.range.start).collect();
        for (place, value) in places.into_iter().zip(found) {
            index[place] = value;
        }
        Ok(Some(index))
    }

    /// An expression as a map from the loops that occur in it, and their places among all loops.
    fn of_loops_in(&self, expr: Expr) -> Result<(IndexMap, Vec<usize>), Error> {
        let (mut graph, mut places) = (Graph::new(), Vec::new());
        let results = graph.import(&self.graph, &[expr], |graph, place| {
            places.push(place);
            let variable = &self.loops()[place];
            graph.variable(&variable.name, variable.range.clone())
        })?;
        Ok((IndexMap { graph, results }, places))
    }

    fn one_within_by_equations(
        &self,
        expr: Expr,
        at: usize,
        ranges: &[(i128, i128)],
    ) -> Result<Option<Vec<i64>>, Unproved> {
        let (digits, forms) = Digits::of(self, &[expr])?;
        let forms = forms.map_err(|_| Unproved::NotQuasiAffine { result: at })?;
        let question = Question::new(&digits, &forms);
        let mut work = question.work();
        for range in ranges {
            if let Some(values) = question.values_within(&[*range], &mut work)? {
                return Ok(Some(digits.index(&values)));
            }
        }
        Ok(None)
    }

    /// An element of a box of half-open ranges that no index leads to, or `None` when all are reached: the map is onto the box.
    /// Images outside of the box are of no consequence here ([`IndexMap::outside`] finds them).
    ///
    /// ```
    /// use shapetracker::IndexMap;
    ///
    /// let map = IndexMap::parse("lambda i, j: (i + 4 * j,)", &[("i", 0..3), ("j", 0..1 << 30)])?;
    /// let missed = map.missed(&[0..1 << 32])?.unwrap();
    /// assert_eq!(map.preimage(&missed)?, None);
    ///
    /// let overlapping = IndexMap::parse("lambda i, j: (i + 4 * j,)", &[("i", 0..6), ("j", 0..1 << 30)])?;
    /// assert_eq!(overlapping.missed(&[0..1 << 32])?, None);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// A yes is proved by counting, if the map is one-to-one and the box has as many elements as the loops have indices, or by
    /// expressions that lead from each element to an index of it, which are checked like those of [`IndexMap::inverse`].
    ///
    /// # Errors
    /// Another number of ranges than there are results; [`Unproved`] otherwise. That of several proofs none was found is
    /// [`Unproved::WorkLimit`].
    pub fn missed(&self, target: &[Range<i64>]) -> Result<Option<Vec<i64>>, Unproved> {
        self.check_count("missed", "range", target.len())?;
        let unproved = match self.missed_by_equations(target) {
            Err(unproved) => unproved,
            decided => return decided,
        };
        if self.is_walkable() { Ok(self.missed_walked(target)?) } else { Err(unproved) }
    }

    pub(super) fn missed_by_equations(&self, target: &[Range<i64>]) -> Result<Option<Vec<i64>>, Unproved> {
        let Some(wanted) = elements(target.iter()) else { return Err(Unproved::WorkLimit) };
        if wanted == 0 {
            return Ok(None);
        }
        let indices = self.indices().unwrap_or(i128::MAX);
        // As many images as elements, all of them in the box.
        let mut is_bijective = false;
        if indices == wanted && matches!(self.outside(target), Ok(None)) {
            match self.collision_by_equations() {
                Ok(None) => return Ok(None),
                Ok(Some(_)) => {}
                Err(_) => is_bijective = matches!(self.left_inverse(), Ok(Some(_))),
            }
        }
        if is_bijective {
            return Ok(None);
        }
        let (digits, forms) = Digits::of(self, &self.results)?;
        let forms = forms.map_err(|result| Unproved::NotQuasiAffine { result })?;
        let question = Question::new(&digits, &forms);
        // Results that have every value between two, whatever the others have, say nothing of the others.
        let intervals = question.intervals();
        let mut rest = Vec::new();
        for (at, interval) in intervals.iter().enumerate() {
            let Some((low, high)) = *interval else {
                rest.push(at);
                continue;
            };
            let (first, last) = (target[at].start, target[at].end - 1);
            if i128::from(first) < low || i128::from(last) > high {
                let mut element: Vec<i64> = target.iter().map(|range| range.start).collect();
                element[at] = if i128::from(first) < low { first } else { last };
                return Ok(Some(element));
            }
        }
        if rest.len() < target.len() {
            let part =
                IndexMap { graph: self.graph.clone(), results: rest.iter().map(|&at| self.results[at]).collect() };
            let bounds: Vec<_> = rest.iter().map(|&at| target[at].clone()).collect();
            if rest.is_empty() {
                return Ok(None);
            }
            let mut element: Vec<i64> = target.iter().map(|range| range.start).collect();
            return Ok(part.missed(&bounds)?.map(|missed| {
                rest.into_iter().zip(missed).for_each(|(at, entry)| element[at] = entry);
                element
            }));
        }
        if indices >= wanted && self.has_right_inverse(target)? {
            return Ok(None);
        }
        // No proof was found. Elements that are likely not reached are tried: corners, and some between them.
        for element in self.gaps(&question, target)?.into_iter().chain(candidates(target, indices < wanted)) {
            let values: Vec<_> = element.iter().map(|&value| (value.into(), value.into())).collect();
            if let Ok(None) = question.values_within(&values, &mut Work::for_a_question()) {
                return Ok(Some(element));
            }
        }
        Err(Unproved::WorkLimit)
    }

    /// Elements of a box beside the image of the first index: in one entry, just above what its lightest terms reach together.
    fn gaps(&self, question: &Question<'_>, target: &[Range<i64>]) -> Result<Vec<Vec<i64>>, Error> {
        let first: Vec<i64> = self.loops().iter().map(|variable| variable.range.start).collect();
        let image = self.evaluate(&first)?;
        let mut found = Vec::new();
        for (at, form) in question.forms.values.iter().enumerate() {
            let mut terms: Vec<(i128, i128)> = form
                .terms()
                .iter()
                .filter_map(|(term, by)| match term {
                    Term::Variable(place) => Some((i128::from(*by), question.sizes[*place] - 1)),
                    Term::Floor(_) => None,
                })
                .collect();
            terms.sort_by_key(|(weight, _)| weight.abs());
            let (mut low, mut high) = (i128::from(form.constant()), i128::from(form.constant()));
            for (weight, most) in terms {
                let reach = weight * most;
                (low, high) = (low + reach.min(0), high + reach.max(0));
                for value in [high + 1, low - 1] {
                    let mut element = image.clone();
                    element[at] = i64::try_from(value).unwrap_or(i64::MAX);
                    if element.iter().zip(target).all(|(entry, range)| range.contains(entry)) {
                        found.push(element);
                    }
                }
            }
        }
        Ok(found)
    }

    /// Refuses lists that have not one entry for each result.
    fn check_count(&self, operation: &'static str, what: &'static str, given: usize) -> Result<(), Unproved> {
        let needed = self.results.len();
        if given == needed { Ok(()) } else { Err(Unproved::Count { operation, what, of: "result", needed, given }) }
    }
}

/// Elements of a box that is not empty: first its corners and their neighbours, then others that are spread over it.
fn candidates(target: &[Range<i64>], many: bool) -> impl Iterator<Item = Vec<i64>> {
    let corners = 1u64 << target.len().min(6);
    let corner = move |number: u64| -> Vec<i64> {
        let end =
            |(at, range): (usize, &Range<i64>)| if number >> at.min(5) & 1 == 1 { range.end - 1 } else { range.start };
        target.iter().enumerate().map(end).collect()
    };
    // One to four steps from the first and the last corner, along one axis.
    let beside = move |number: usize| -> Option<Vec<i64>> {
        let (axis, step, is_last) = (number / 8, (number / 2 % 4) as i64 + 1, number.is_multiple_of(2));
        let mut element: Vec<i64> = corner(if is_last { corners - 1 } else { 0 });
        element[axis] = element[axis].checked_add(if is_last { -step } else { step })?;
        target[axis].contains(&element[axis]).then_some(element)
    };
    // The fractional parts of multiples of the golden ratio are spread evenly (Weyl); each axis has a multiple of its own.
    let spread = move |number: u64| {
        let part = |(at, range): (usize, &Range<i64>)| {
            let size = range.start.abs_diff(range.end);
            let turn = (number + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15u64.wrapping_mul(2 * at as u64 + 1));
            range.start.wrapping_add(((u128::from(turn) * u128::from(size)) >> 64) as i64)
        };
        target.iter().enumerate().map(part).collect()
    };
    let count = if many { 192 } else { 64 };
    (0..corners).rev().map(corner).chain((0..8 * target.len()).filter_map(beside)).chain((0..count).map(spread))
}

impl From<OutOfWork> for Unproved {
    fn from(_: OutOfWork) -> Self {
        Unproved::WorkLimit
    }
}

/// What the equations of a question are made of.
struct Question<'a> {
    digits: &'a Digits,
    forms: &'a Forms,
    /// How many values each digit has.
    sizes: Vec<i128>,
    /// Whether a digit is in a floor, or of a loop that ends before its digits do.
    is_bound: Vec<bool>,
}

/// One index as unknowns.
struct Copy {
    digits: Vec<usize>,
    floors: Vec<usize>,
}

type Terms = Vec<(usize, i128)>;

impl<'a> Question<'a> {
    fn new(digits: &'a Digits, forms: &'a Forms) -> Question<'a> {
        let sizes: Vec<i128> = digits.graph.variables().iter().map(|digit| digit.range.end.into()).collect();
        let mut is_bound = vec![false; sizes.len()];
        for floor in &forms.floors {
            floor.numerator.variables().for_each(|place| is_bound[place] = true);
        }
        for each in digits.loops.iter().filter(|each| !each.is_full()) {
            each.digits.iter().for_each(|digit| is_bound[digit.place] = true);
        }
        Question { digits, forms, sizes, is_bound }
    }

    /// A limit of some tenths of a second: a unit of work goes through all equations.
    fn work(&self) -> Work {
        Work::for_stack(self.forms.terms())
    }

    /// The least and the greatest value of each form that has all values between them, whatever the other forms have: of digits
    /// that no other form has, each of a weight at most 1 above what the lighter ones reach, so that there is no gap.
    fn intervals(&self) -> Vec<Option<(i128, i128)>> {
        let mut uses = vec![0u32; self.sizes.len()];
        self.forms.values.iter().flat_map(Linear::variables).for_each(|place| uses[place] += 1);
        let interval = |form: &Linear| {
            let mut terms = Vec::with_capacity(form.terms().len());
            for (term, by) in form.terms() {
                match term {
                    Term::Variable(place) if uses[*place] == 1 && !self.is_bound[*place] => {
                        terms.push((i128::from(*by), self.sizes[*place] - 1));
                    }
                    _ => return None,
                }
            }
            terms.sort_by_key(|(weight, _)| weight.abs());
            let (mut low, mut high) = (i128::from(form.constant()), i128::from(form.constant()));
            for (weight, most) in terms {
                if weight.abs() > high - low + 1 {
                    return None;
                }
                let reach = weight * most;
                (low, high) = (low + reach.min(0), high + reach.max(0));
            }
            Some((low, high))
        };
        self.forms.values.iter().map(interval).collect()
    }

    /// Values of the digits for which each form is in its range (both ends included).
    fn values_within(&self, ranges: &[(i128, i128)], work: &mut Work) -> Result<Option<Vec<i128>>, OutOfWork> {
        let mut system = System::default();
        let digits = self.sizes.iter().map(|size| system.variable(0, size - 1)).collect();
        let copy = self.copy(&mut system, digits, None)?;
        for (form, range) in self.forms.values.iter().zip(ranges) {
            let value = system.variable(range.0, range.1);
            let mut terms = terms(form, &copy, 1);
            terms.push((value, -1));
            system.equation(terms, -i128::from(form.constant()));
        }
        let Some(solution) = solve(system, work)? else { return Ok(None) };
        Ok(Some(copy.digits.iter().map(|&unknown| solution[unknown]).collect()))
    }

    /// Two choices of the digits with equal forms, of which the first digit that differs is this one.
    fn pair(&self, first: usize, work: &mut Work) -> Result<Option<[Vec<i128>; 2]>, OutOfWork> {
        let mut system = System::default();
        let (mut one, mut other) = (Vec::new(), Vec::new());
        // Digits of which only the difference counts.
        let mut apart: Vec<Option<usize>> = Vec::new();
        for (place, &size) in self.sizes.iter().enumerate() {
            let least = if place == first { 1 } else { 1 - size };
            let (unknown, difference) = match (place < first, self.is_bound[place]) {
                // Shared; where nothing depends on it, any value will do.
                (true, _) => (system.variable(0, if self.is_bound[place] { size - 1 } else { 0 }), None),
                (false, false) => (system.variable(0, 0), Some(system.variable(least, size - 1))),
                (false, true) => (system.variable(0, size - 1), None),
            };
            one.push(unknown);
            apart.push(difference);
            other.push(if place < first || difference.is_some() { unknown } else { system.variable(0, size - 1) });
            if place == first && difference.is_none() {
                let gap = system.variable(1, size - 1);
                system.equation([(one[place], 1), (other[place], -1), (gap, -1)], 0);
            }
        }
        let one = self.copy(&mut system, one, None)?;
        let other = self.copy(&mut system, other, Some(&one))?;
        for form in &self.forms.values {
            let mut difference = terms(form, &one, 1);
            difference.extend(terms(form, &other, -1));
            for (place, unknown) in apart.iter().enumerate() {
                if let Some(unknown) = unknown {
                    difference.push((*unknown, form.coefficient(Term::Variable(place)).into()));
                }
            }
            system.equation(difference, 0);
        }
        let Some(solution) = solve(system, work)? else { return Ok(None) };
        let values = |copy: &Copy, sign: i128| {
            let value = |place: usize| match apart[place] {
                // Both within the range, and so far apart.
                Some(unknown) => (sign * solution[unknown]).max(0),
                None => solution[copy.digits[place]],
            };
            (0..self.sizes.len()).map(value).collect()
        };
        Ok(Some([values(&other, -1), values(&one, 1)]))
    }

    /// The floors of one index, and the ends of its loops, as equations. What is the same in another copy is shared with it.
    fn copy(&self, system: &mut System, digits: Vec<usize>, shared: Option<&Copy>) -> Result<Copy, OutOfWork> {
        let mut copy = Copy { digits, floors: Vec::new() };
        for (at, Floor { numerator, divisor, .. }) in self.forms.floors.iter().enumerate() {
            let own = terms(numerator, &copy, 1);
            if let Some(shared) = shared
                && own == terms(numerator, shared, 1)
            {
                copy.floors.push(shared.floors[at]);
                continue;
            }
            let divisor = i128::from(*divisor);
            let (mut low, mut high) = (i128::from(numerator.constant()), i128::from(numerator.constant()));
            for &(unknown, weight) in &own {
                let (from, to) = system.bounds[unknown];
                let ends = [weight.checked_mul(from), weight.checked_mul(to)].map(|end| end.ok_or(OutOfWork));
                let ends = [ends[0]?, ends[1]?];
                low = low.checked_add(ends[0].min(ends[1])).ok_or(OutOfWork)?;
                high = high.checked_add(ends[0].max(ends[1])).ok_or(OutOfWork)?;
            }
            let quotient = system.variable(low.div_euclid(divisor), high.div_euclid(divisor));
            let rest = system.variable(0, divisor - 1);
            copy.floors.push(quotient);
            let all = own.into_iter().chain([(quotient, -divisor), (rest, -1)]);
            system.equation(all.collect::<Vec<_>>(), -i128::from(numerator.constant()));
        }
        for each in self.digits.loops.iter().filter(|each| !each.is_full()) {
            let value = each.digits.iter().map(|digit| (copy.digits[digit.place], i128::from(digit.weight)));
            let value: Vec<_> = value.collect();
            if let Some(shared) = shared
                && each.digits.iter().all(|digit| shared.digits[digit.place] == copy.digits[digit.place])
            {
                continue;
            }
            let place = system.variable(0, i128::from(each.size) - 1);
            system.equation(value.into_iter().chain([(place, -1)]).collect::<Vec<_>>(), each.first.into());
        }
        Ok(copy)
    }
}

/// A form over the unknowns of an index, without its constant.
fn terms(form: &Linear, copy: &Copy, sign: i128) -> Terms {
    let unknown = |term: &Term| match term {
        Term::Variable(place) => copy.digits[*place],
        Term::Floor(at) => copy.floors[*at],
    };
    form.terms().iter().map(|(term, by)| (unknown(term), sign * i128::from(*by))).collect()
}

/// A solution of a system: as it stands with a little work, and else with unknowns eliminated.
fn solve(system: System, work: &mut Work) -> Result<Option<Vec<i128>>, OutOfWork> {
    // Eliminating goes through all equations for each of them.
    const MOST_TERMS: usize = 2000;
    if system.rows.iter().map(|row| row.terms.len()).sum::<usize>() > MOST_TERMS {
        return Err(OutOfWork);
    }
    check_sums(&system)?;
    let mut little = Work::a_little();
    if let Ok(found) = system.solve(&mut little) {
        return Ok(found);
    }
    let system = eliminated(system)?;
    check_sums(&system)?;
    system.solve(work)
}

/// Refuses systems with sums near the end of `i128`, so that no step of the search leaves it.
fn check_sums(system: &System) -> Result<(), OutOfWork> {
    const MOST: i128 = 1 << 100;
    for row in &system.rows {
        let reach = row.terms.iter().try_fold(row.target.unsigned_abs() as i128, |sum: i128, &(unknown, weight)| {
            let (from, to) = system.bounds[unknown];
            sum.checked_add(weight.checked_abs()?.checked_mul(from.checked_abs()?.max(to.checked_abs()?))?)
        });
        if reach.is_none_or(|reach| reach > MOST) {
            return Err(OutOfWork);
        }
    }
    Ok(())
}

/// The same system with the equations solved for unknowns of weight 1 or -1, which then occur in no other equation.
///
/// Each equation is kept: its unknown has bounds, so that the equation says that what is left lies between them. What is
/// gained is that fewer unknowns occur in several equations, and those are what the search cuts in halves.
fn eliminated(mut system: System) -> Result<System, OutOfWork> {
    let mut is_solved = vec![false; system.rows.len()];
    loop {
        // The unknown with the most values among all equations that are not solved yet.
        let mut best: Option<(i128, usize, usize)> = None;
        for (at, row) in system.rows.iter().enumerate().filter(|(at, _)| !is_solved[*at]) {
            for &(unknown, weight) in &row.terms {
                let width = system.bounds[unknown].1.saturating_sub(system.bounds[unknown].0);
                if weight.abs() == 1 && best.is_none_or(|(most, _, _)| width > most) {
                    best = Some((width, at, unknown));
                }
            }
        }
        let Some((_, at, unknown)) = best else { return Ok(system) };
        is_solved[at] = true;
        let pivot = system.rows[at].clone();
        let Some(sign) = pivot.terms.iter().find(|term| term.0 == unknown).map(|term| term.1) else { continue };
        for other in (0..system.rows.len()).filter(|other| *other != at) {
            let row = &system.rows[other];
            let Some(by) = row.terms.iter().find(|term| term.0 == unknown).map(|term| term.1) else { continue };
            // row - by / sign * pivot, and sign is its own inverse.
            let factor = by.checked_mul(-sign).ok_or(OutOfWork)?;
            let mut terms: Terms = row.terms.to_vec();
            for &(term, weight) in &pivot.terms {
                let more = weight.checked_mul(factor).ok_or(OutOfWork)?;
                match terms.iter_mut().find(|(known, _)| *known == term) {
                    Some((_, sum)) => *sum = sum.checked_add(more).ok_or(OutOfWork)?,
                    None => terms.push((term, more)),
                }
            }
            let target = pivot.target.checked_mul(factor).and_then(|more| row.target.checked_add(more));
            terms.retain(|(_, weight)| *weight != 0);
            (system.rows[other].terms, system.rows[other].target) =
                (terms.into_iter().collect(), target.ok_or(OutOfWork)?);
        }
    }
}
