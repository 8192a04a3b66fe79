//! Index maps of several results, against every index of small boxes and against known answers for large ones.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::fmt;
use std::ops::Range;

use shapetracker::{IndexMap, NotComposed, NotInverted, Unproved};
use shapetracker_testing::held;

use crate::random::{Tape, cases, check, timed};

/// An expression, evaluated here and written as text for the library.
#[derive(Clone)]
enum Formula {
    Number(i64),
    Loop(usize),
    Binary(&'static str, Box<(Formula, Formula)>),
}

impl Formula {
    fn of(op: &'static str, a: Formula, b: Formula) -> Formula {
        Formula::Binary(op, Box::new((a, b)))
    }

    fn by(op: &'static str, a: Formula, b: i64) -> Formula {
        Formula::of(op, a, Formula::Number(b))
    }

    fn value(&self, index: &[i64]) -> i64 {
        match self {
            Formula::Number(value) => *value,
            Formula::Loop(at) => index[*at],
            Formula::Binary(op, both) => {
                let (a, b) = (both.0.value(index), both.1.value(index));
                // The quotient of Python: whole, with a remainder that has the sign of the divisor.
                let quotient = || {
                    let towards_zero = a / b;
                    if a % b != 0 && (a < 0) != (b < 0) { towards_zero - 1 } else { towards_zero }
                };
                match *op {
                    "+" => a + b,
                    "-" => a - b,
                    "*" => a * b,
                    "//" => quotient(),
                    "%" => a - b * quotient(),
                    "^" => a ^ b,
                    "min" => a.min(b),
                    "max" => a.max(b),
                    _ => unreachable!(),
                }
            }
        }
    }
}

impl fmt::Display for Formula {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Formula::Number(value) => write!(f, "{value}"),
            Formula::Loop(at) => write!(f, "{}", NAMES[*at]),
            Formula::Binary(op @ ("min" | "max"), both) => write!(f, "{op}({}, {})", both.0, both.1),
            Formula::Binary(op, both) => write!(f, "({} {op} {})", both.0, both.1),
        }
    }
}

const NAMES: [&str; 4] = ["i", "j", "k", "l"];

/// A map of formulas over a small box.
#[derive(Clone)]
struct Plain {
    loops: Vec<Range<i64>>,
    results: Vec<Formula>,
}

impl fmt::Debug for Plain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} over {:?}", self.text(), self.loops)
    }
}

impl Plain {
    fn text(&self) -> String {
        let results: Vec<String> = self.results.iter().map(Formula::to_string).collect();
        let space = if self.loops.is_empty() { "" } else { " " };
        format!("lambda{space}{}: [{}]", NAMES[..self.loops.len()].join(", "), results.join(", "))
    }

    fn map(&self) -> IndexMap {
        let ranges: Vec<_> = NAMES.into_iter().zip(self.loops.iter().cloned()).collect();
        IndexMap::parse(&self.text(), &ranges).unwrap_or_else(|err| panic!("{err}"))
    }

    fn image(&self, index: &[i64]) -> Vec<i64> {
        self.results.iter().map(|result| result.value(index)).collect()
    }

    fn contains(&self, index: &[i64]) -> bool {
        index.len() == self.loops.len() && index.iter().zip(&self.loops).all(|(at, range)| range.contains(at))
    }

    fn indices(&self) -> Vec<Vec<i64>> {
        all(&self.loops)
    }
}

/// Every element of a box.
fn all(ranges: &[Range<i64>]) -> Vec<Vec<i64>> {
    let mut all = vec![Vec::new()];
    for range in ranges {
        all = all.iter().flat_map(|index| range.clone().map(move |at| [&index[..], &[at]].concat())).collect();
    }
    all
}

/// The least box around some images.
fn around(images: &[Vec<i64>], results: usize) -> Vec<Range<i64>> {
    let range = |at: usize| {
        let values = || images.iter().map(|image| image[at]);
        values().min().unwrap()..values().max().unwrap() + 1
    };
    (0..results).map(range).collect()
}

fn loops(tape: &mut Tape) -> Vec<Range<i64>> {
    let mut room = 400;
    let mut loops = Vec::new();
    for _ in 0..if tape.chance(3) { 0 } else { tape.within(1, 3) } {
        let most = tape.pick(&[3, 6, 9, 12, 16, 24, 60]).min(room);
        let size = if tape.chance(8) { 1 } else { tape.within(1, most) };
        room /= size;
        let begin = if tape.chance(80) { 0 } else { tape.signed(9) };
        loops.push(begin..begin + size);
    }
    loops
}

fn one_of(tape: &mut Tape, made: &[Formula]) -> Formula {
    made[tape.below(made.len() as i64) as usize].clone()
}

/// Formulas made of each other: divisions, remainders, sums; now and then what is not quasi-affine.
fn formulas(tape: &mut Tape, loops: usize, results: i64) -> Vec<Formula> {
    let mut made: Vec<Formula> = (0..loops).map(Formula::Loop).collect();
    made.push(Formula::Number(tape.signed(6)));
    for _ in 0..tape.below(9) {
        let (a, b) = (one_of(tape, &made), one_of(tape, &made));
        let by = tape.pick(&[2, 4, 3, 8, 6, 5, 7, 10, 12, 9, 16, 15]);
        let sign = if tape.chance(15) { -1 } else { 1 };
        made.push(match tape.below(14) {
            0..4 => Formula::by("//", a, by * if tape.chance(4) { -1 } else { 1 }),
            4..8 => Formula::by("%", a, by * if tape.chance(4) { -1 } else { 1 }),
            8 | 9 => Formula::of("+", Formula::by("*", a, sign * by), b),
            10 => Formula::of("+", a, b),
            11 => Formula::of("-", a, b),
            12 => Formula::by("+", a, tape.signed(9)),
            _ => Formula::of(tape.pick(&["^", "min", "max", "*"]), Formula::by("%", a, by), Formula::by("%", b, by)),
        });
    }
    let mut chosen = Vec::new();
    for _ in 0..results {
        chosen.push(one_of(tape, &made));
    }
    chosen
}

/// The digits of the loops, dealt to results with strides: what compilers write, mostly one-to-one.
fn dealt(tape: &mut Tape, loops: &[Range<i64>]) -> Vec<Formula> {
    let mut digits: Vec<(Formula, i64)> = Vec::new();
    for (at, range) in loops.iter().enumerate() {
        let (mut rest, mut size) = (Formula::Loop(at), range.end - range.start);
        for _ in 0..tape.below(3) {
            let by = tape.within(1, size.clamp(1, 6));
            digits.push((Formula::by("%", rest.clone(), by), by));
            (rest, size) = (Formula::by("//", rest, by), (size - 1) / by + 1);
        }
        digits.push((rest, size + 1));
    }
    let mut results = vec![(Formula::Number(0), 1); tape.below(4) as usize + 1];
    for _ in 0..digits.len() {
        let (digit, size) = digits.swap_remove(tape.below(digits.len() as i64) as usize);
        if tape.chance(3) {
            continue;
        }
        let at = tape.below(results.len() as i64) as usize;
        let (result, stride) = results[at].clone();
        let step = if tape.chance(92) { stride } else { tape.within(1, stride + 2) };
        let step = if tape.chance(90) { step } else { -step };
        results[at] = (Formula::of("+", result, Formula::by("*", digit, step)), stride * size);
    }
    results.into_iter().map(|(result, _)| result).collect()
}

fn plain(tape: &mut Tape) -> Plain {
    let loops = loops(tape);
    let results = if tape.chance(50) {
        dealt(tape, &loops)
    } else {
        let count = tape.below(5);
        formulas(tape, loops.len(), count)
    };
    Plain { loops, results }
}

/// The answer of the library, which decides every question about so small a box.
fn decided<T: fmt::Debug>(question: &'static str, ask: impl FnOnce() -> Result<T, Unproved>) -> Result<T, String> {
    timed(question, ask).map_err(|err| format!("{question}: {err}"))
}

fn expect(holds: bool, what: impl FnOnce() -> String) -> Result<(), String> {
    if holds { Ok(()) } else { Err(what()) }
}

#[test]
fn one_to_one_onto_and_preimages_are_those_of_the_walk() {
    let counts = [const { Cell::new(0u32) }; 6];
    let count = |at: usize| counts[at].set(counts[at].get() + 1);
    check(
        cases::MAPS,
        |tape| {
            let plain = plain(tape);
            let changes: Vec<i64> = (0..4).map(|_| if tape.chance(70) { 0 } else { tape.signed(2) }).collect();
            (plain, changes)
        },
        |(plain, changes)| {
            let map = plain.map();
            let indices = plain.indices();
            let images: Vec<Vec<i64>> = indices.iter().map(|index| plain.image(index)).collect();
            let distinct: BTreeSet<&Vec<i64>> = images.iter().collect();
            for (index, image) in indices.iter().zip(&images).step_by(7) {
                expect(map.evaluate(index).as_ref() == Ok(image), || format!("evaluate {index:?}"))?;
            }
            let found = decided("map: two indices with one image", || map.collision())?;
            expect(found.is_none() == (distinct.len() == images.len()), || format!("collision: {found:?}"))?;
            if let Some([a, b]) = &found {
                let inside = plain.contains(a) && plain.contains(b);
                let same = a != b && inside && plain.image(a) == plain.image(b);
                expect(same, || format!("{a:?} and {b:?} are no collision"))?;
            }
            count(usize::from(found.is_none()));

            let mut target = around(&images, plain.results.len());
            for (range, change) in target.iter_mut().zip(changes) {
                range.end = (range.end + change).max(range.start);
            }
            let outside = decided("map: an image outside of a box", || map.outside(&target))?;
            let is_inside =
                |image: &Vec<i64>| image.iter().zip(&target).all(|(entry, range)| range.contains(entry));
            expect(outside.is_none() == images.iter().all(is_inside), || format!("outside {target:?}: {outside:?}"))?;
            let is_witness = |index: &Vec<i64>| plain.contains(index) && !is_inside(&plain.image(index));
            expect(outside.as_ref().is_none_or(is_witness), || format!("{outside:?} is not outside of {target:?}"))?;

            let size: i128 = target.iter().map(|range| i128::from(range.end - range.start)).product();
            let reached = distinct.iter().filter(|image| is_inside(image)).count() as i128;
            let missed = decided("map: an element that is not reached", || map.missed(&target))?;
            expect(missed.is_none() == (reached == size), || format!("missed {target:?}: {missed:?}"))?;
            let is_witness = |element: &Vec<i64>| {
                element.len() == target.len() && is_inside(element) && !distinct.contains(element)
            };
            expect(missed.as_ref().is_none_or(is_witness), || format!("{missed:?} is reached, or not in {target:?}"))?;
            count(2 + usize::from(missed.is_none()));

            let mut asked: Vec<Vec<i64>> = missed.into_iter().collect();
            asked.extend(images.iter().step_by(1 + images.len() / 3).cloned());
            for element in asked {
                let found = decided("map: an index of an element", || map.preimage(&element))?;
                expect(found.is_some() == distinct.contains(&element), || format!("preimage {element:?}: {found:?}"))?;
                let leads_there = |index: &Vec<i64>| plain.contains(index) && plain.image(index) == element;
                expect(found.as_ref().is_none_or(leads_there), || format!("{found:?} does not lead to {element:?}"))?;
            }

            match timed("map: the inverse", || map.inverse()) {
                Ok(inverse) => {
                    expect(distinct.len() == images.len(), || "an inverse of what has none".into())?;
                    for (index, image) in indices.iter().zip(&images) {
                        let back = inverse.map.evaluate(image);
                        expect(back.as_ref() == Ok(index), || format!("{} at {image:?}: {back:?}", inverse.map))?;
                    }
                    let ranges: Vec<_> = inverse.map.loops().iter().map(|each| each.range.clone()).collect();
                    let size: i128 = ranges.iter().map(|range| i128::from(range.end - range.start)).product();
                    expect(inverse.is_everywhere == (size == distinct.len() as i128), || "is_everywhere".into())?;
                    count(4);
                }
                Err(NotInverted::Collision { indices: [a, b], image }) => {
                    let same = a != b && plain.image(&a) == image && plain.image(&b) == image;
                    expect(same, || format!("{a:?} and {b:?} are no collision"))?;
                }
                Err(NotInverted::NoForm) => {
                    expect(distinct.len() == images.len(), || "there is a collision".into())?;
                    if std::env::var("SHOW").is_ok() { eprintln!("{plain:?}"); }
                    count(5);
                }
                Err(err) => return Err(err.to_string()),
            }
            Ok(())
        },
    );
    let [meet, apart, missed, onto, inverted, without] = counts.map(Cell::into_inner);
    eprintln!("{meet} not one-to-one, {apart} one-to-one; {missed} not onto, {onto} onto; {inverted} inverted, {without} not");
    let some = held(cases::MAPS) / 10;
    assert!([meet, apart, missed, onto, inverted].iter().all(|&count| count > some));
    assert!(without <= inverted / 20 + 5, "{without} of {inverted}");
}

#[test]
fn equality_and_composition_are_those_of_the_walk() {
    let counts = [const { Cell::new(0u32) }; 4];
    let count = |at: usize| counts[at].set(counts[at].get() + 1);
    check(
        cases::MAPS / 2,
        |tape| {
            let inner = plain(tape);
            // Another one of the same box: one result changed, or written in another way.
            let mut other = inner.clone();
            if let Some(result) = other.results.last_mut() {
                let by = tape.within(2, 7);
                *result = match tape.below(4) {
                    0 => Formula::of("+", Formula::by("*", Formula::by("//", result.clone(), by), by), Formula::by("%", result.clone(), by)),
                    1 => Formula::by("//", Formula::by("*", result.clone(), by), by),
                    2 => Formula::by("+", result.clone(), tape.below(2)),
                    _ => Formula::by("%", result.clone(), tape.within(2, 60)),
                };
            }
            let images: Vec<Vec<i64>> = inner.indices().iter().map(|index| inner.image(index)).collect();
            let mut loops = around(&images, inner.results.len());
            loops.truncate(4);
            for range in &mut loops {
                range.end = (range.end + if tape.chance(80) { tape.below(3) } else { -1 }).max(range.start + 1);
            }
            let results = tape.below(4);
            let results = formulas(tape, loops.len(), results);
            (inner, other, Plain { loops, results })
        },
        |(inner, other, outer)| {
            let map = inner.map();
            let differs = inner.indices().into_iter().find(|index| inner.image(index) != other.image(index));
            let found = decided("map: an index at which two differ", || map.difference(&other.map()))?;
            expect(found.is_some() == differs.is_some(), || format!("difference: {found:?}, {differs:?}"))?;
            let is_witness = |index: &Vec<i64>| inner.contains(index) && inner.image(index) != other.image(index);
            expect(found.as_ref().is_none_or(is_witness), || format!("no difference at {found:?}"))?;
            count(usize::from(found.is_none()));
            if outer.loops.len() != inner.results.len() {
                return Ok(());
            }
            match timed("map: composition", || outer.map().after(&map)) {
                Ok(composed) => {
                    for index in inner.indices() {
                        let image = inner.image(&index);
                        expect(outer.contains(&image), || format!("{index:?} leads out"))?;
                        let value = composed.evaluate(&index);
                        expect(value == Ok(outer.image(&image)), || format!("{composed} at {index:?}: {value:?}"))?;
                    }
                    count(2);
                }
                Err(NotComposed::Outside { index, image, result }) => {
                    let is_outside = inner.image(&index) == image && !outer.loops[result].contains(&image[result]);
                    expect(inner.contains(&index) && is_outside, || format!("{index:?} does not lead out"))?;
                    count(3);
                }
                // Ranges alone do not say that a divisor is not zero, or a value in 64 bits.
                Err(NotComposed::Unproved(Unproved::Error(_))) => {}
                Err(err) => return Err(err.to_string()),
            }
            Ok(())
        },
    );
    let counts = counts.map(Cell::into_inner);
    eprintln!("{counts:?}: different, equal; composed, leading out");
    assert!(counts.iter().all(|&count| count > held(cases::MAPS) / 60), "{counts:?}");
}
