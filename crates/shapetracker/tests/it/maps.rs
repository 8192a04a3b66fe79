//! Index maps of several results, against every index of small boxes and against known answers for large ones.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::fmt;
use std::ops::Range;

use shapetracker::{IndexMap, NotComposed, NotInverted, Unproved};
use shapetracker_testing::{held, is_text_held};

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
pub(crate) fn one_to_one_onto_and_preimages_are_those_of_the_walk() {
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
            let is_inside = |image: &Vec<i64>| image.iter().zip(&target).all(|(entry, range)| range.contains(entry));
            expect(outside.is_none() == images.iter().all(is_inside), || format!("outside {target:?}: {outside:?}"))?;
            let is_witness = |index: &Vec<i64>| plain.contains(index) && !is_inside(&plain.image(index));
            expect(outside.as_ref().is_none_or(is_witness), || format!("{outside:?} is not outside of {target:?}"))?;

            let size: i128 = target.iter().map(|range| i128::from(range.end - range.start)).product();
            let reached = distinct.iter().filter(|image| is_inside(image)).count() as i128;
            let missed = decided("map: an element that is not reached", || map.missed(&target))?;
            expect(missed.is_none() == (reached == size), || format!("missed {target:?}: {missed:?}"))?;
            let is_witness =
                |element: &Vec<i64>| element.len() == target.len() && is_inside(element) && !distinct.contains(element);
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
                    count(5);
                }
                Err(err) => return Err(err.to_string()),
            }
            Ok(())
        },
    );
    let [meet, apart, missed, onto, inverted, without] = counts.map(Cell::into_inner);
    eprintln!(
        "{meet} not one-to-one, {apart} one-to-one; {missed} not onto, {onto} onto; {inverted} inverted, {without} not"
    );
    let some = held(cases::MAPS) / 10;
    assert!([meet, apart, missed, onto, inverted].iter().all(|&count| count > some));
    assert!(without <= inverted / 20 + 5, "{without} of {inverted}");
}

#[test]
pub(crate) fn equality_and_composition_are_those_of_the_walk() {
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
                    0 => Formula::of(
                        "+",
                        Formula::by("*", Formula::by("//", result.clone(), by), by),
                        Formula::by("%", result.clone(), by),
                    ),
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

/// A map of up to 2^60 indices whose answers are known by how it is made: the loops and the results are the same digits, dealt
/// in two ways.
#[derive(Clone)]
struct Dealt {
    plain: Plain,
    target: Vec<Range<i64>>,
    one_to_one: bool,
    onto: bool,
}

impl fmt::Debug for Dealt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} onto {:?}", self.plain, self.target)
    }
}

fn large(tape: &mut Tape) -> Dealt {
    let sizes: Vec<i64> =
        (0..tape.within(2, 8)).map(|_| tape.pick(&[2, 4, 8, 3, 5, 16, 64, 7, 100, 1 << 10])).collect();
    // Each digit as a digit of a loop, from the lowest up.
    let mut loops = vec![1i64; tape.within(1, 4) as usize];
    let mut digits = Vec::new();
    for &size in &sizes {
        let at = tape.below(loops.len() as i64) as usize;
        if loops[at] > (1 << 30) / size {
            continue;
        }
        let digit = Formula::by("%", Formula::by("//", Formula::Loop(at), loops[at]), size);
        loops[at] *= size;
        digits.push((digit, size));
    }
    // A loop that is larger than the digits that are taken of it has several indices of one image.
    let (mut one_to_one, mut onto) = (true, true);
    if tape.chance(10) {
        let at = tape.below(loops.len() as i64) as usize;
        loops[at] *= 2;
        one_to_one = false;
    }
    let mut results: Vec<(Formula, i64)> = vec![(Formula::Number(0), 1); tape.within(1, 4) as usize];
    let change = if tape.chance(60) { i64::MAX } else { tape.below(digits.len().max(1) as i64) };
    for number in 0..digits.len() {
        let (digit, size) = digits.swap_remove(tape.below(digits.len() as i64) as usize);
        let open: Vec<usize> = (0..results.len()).filter(|&at| results[at].1 < 1 << 40).collect();
        if open.is_empty() {
            one_to_one = false;
            continue;
        }
        let at = open[tape.below(open.len() as i64) as usize];
        let (result, reach) = results[at].clone();
        let mut stride = reach;
        if number as i64 == change {
            match tape.below(3) {
                // Left out.
                0 => {
                    one_to_one = false;
                    continue;
                }
                // A gap below it.
                1 => {
                    stride += tape.within(1, 5);
                    onto = false;
                }
                // It overlaps with what is below it.
                _ if reach > 1 => {
                    stride -= 1;
                    one_to_one = false;
                }
                _ => {}
            }
        }
        results[at] = (Formula::of("+", result, Formula::by("*", digit, stride)), reach - 1 + stride * (size - 1) + 1);
    }
    let target = results.iter().map(|(_, reach)| 0..*reach).collect();
    let results = results.into_iter().map(|(result, _)| result).collect();
    let loops = loops.into_iter().map(|size| 0..size).collect();
    Dealt { plain: Plain { loops, results }, target, one_to_one, onto }
}

/// How many of the answers about large maps are undecided, and that all others are right.
#[test]
pub(crate) fn large_maps_have_the_answers_that_they_were_made_for() {
    let counts = [const { Cell::new(0u32) }; 4];
    let count = |at: usize| counts[at].set(counts[at].get() + 1);
    check(cases::LARGE_MAPS, large, |case| {
        let Dealt { plain, target, one_to_one, onto } = case;
        let map = plain.map();
        count(0);
        match timed("large map: two indices with one image", || map.collision()) {
            Ok(None) => expect(*one_to_one, || "it is not one-to-one".into())?,
            Ok(Some([a, b])) => {
                let same = a != b && plain.contains(&a) && plain.contains(&b) && plain.image(&a) == plain.image(&b);
                expect(same && !one_to_one, || format!("{a:?} and {b:?} are no collision"))?;
            }
            Err(_) => count(1),
        }
        let outside = map.outside(target).map_err(|err| err.to_string())?;
        expect(outside.is_none(), || format!("{outside:?} is not outside"))?;
        match timed("large map: an element that is not reached", || map.missed(target)) {
            Ok(None) => expect(*onto, || "it is not onto".into())?,
            // Such an element is a no by what `preimage` says of it, which is decided in another way than the yes.
            Ok(Some(element)) => {
                let inside = element.iter().zip(target).all(|(entry, range)| range.contains(entry));
                expect(inside && !onto, || format!("{element:?} is reached"))?;
            }
            Err(_) => count(2),
        }
        match timed("large map: the inverse", || map.inverse()) {
            Ok(inverse) => {
                expect(*one_to_one && inverse.is_everywhere == *onto, || "there is no inverse".into())?;
                for number in 0..20 {
                    let at = |range: &Range<i64>| (number * 7_919_111_317 + number * number * 104_729) % range.end;
                    let index: Vec<i64> = plain.loops.iter().map(at).collect();
                    let back = inverse.map.evaluate(&plain.image(&index));
                    expect(back.as_ref() == Ok(&index), || format!("{} is no inverse at {index:?}", inverse.map))?;
                }
            }
            Err(NotInverted::Collision { .. }) => expect(!one_to_one, || "there is an inverse".into())?,
            Err(_) => count(3),
        }
        Ok(())
    });
    let [cases, collision, missed, inverse] = counts.map(Cell::into_inner);
    eprintln!(
        "{cases} cases; undecided: {collision} one-to-one, {missed} onto; {inverse} without an inverse that was found"
    );
    assert!(collision * 100 <= cases && missed * 20 <= cases && inverse * 20 <= cases);
}

/// Maps that compilers write, and others, of sizes that nobody can walk.
#[test]
fn maps_of_compilers_have_their_known_answers() {
    let n = 1i64 << 30;
    for (text, sizes, one_to_one, onto, inverse) in [
        ("(i, j) -> (i // 4, j, i % 4)", vec![n, n], true, true, "(y0 * 4 + y2, y1)"),
        ("(i, j) -> (i // 4, j, i % 4)", vec![n - 3, n], true, false, "(y0 * 4 + y2, y1)"),
        (
            "(i, j) -> ((i*10 + j) // 15, (i*10 + j) % 15)",
            vec![6 * n, 10],
            true,
            true,
            "((y0 * 15 + y1) // 10, (y0 * 5 + y1) % 10)",
        ),
        ("(i, j) -> (i, (i + j) % 64)", vec![n, 64], true, true, "(y0, (y1 - y0) % 64)"),
        ("(i, j) -> (i, (i + j) % 64)", vec![n, 65], false, true, ""),
        (
            "(i, j, k) -> (i + j, j + k, k + i)",
            vec![n, n, n],
            true,
            false,
            "((y0 - y1 + y2) // 2, y0 + y1 - (y0 + y1 + y2) // 2, (y0 + y1 + y2) // 2 - y0)",
        ),
        ("(i, j) -> (2*i + 3*j, i + j)", vec![n, n], true, false, "(y1 * 3 - y0, y0 - y1 * 2)"),
        ("(i) -> (i % 7, i % 9, i % 11)", vec![693], true, true, ""),
        ("(i) -> (i % 7, i % 9, i % 11)", vec![694], false, true, ""),
        ("(i) -> (i % 1009, i % 1013)", vec![1009 * 1013], true, true, ""),
        ("(i) -> (i // 6, i % 4)", vec![6 * n], false, true, ""),
        ("(i, j) -> (3*i + 5*j)", vec![5, n], true, false, ""),
        ("(i, j) -> (3*i + 5*j)", vec![6, n], false, false, ""),
        ("(i, j) -> (i, j ^ i % 8)", vec![n, 8], true, true, "(y0, y0 % 8 ^ y1)"),
        (
            "(i, j) -> (i, j // 8 * 8 + (j % 8 ^ i % 8))",
            vec![n, 64],
            true,
            true,
            "(y0, (y0 % 8 ^ y1 % 8) + y1 // 8 * 8)",
        ),
        ("(i) -> (i // 512, i % 512 ^ i // 512 % 8 * 8)", vec![n], true, true, ""),
        ("(i) -> (i ^ i // 64 % 8)", vec![n], true, true, ""),
        ("(i, j) -> (i // 2, j ^ i // 2 % 8)", vec![n, 8], false, true, ""),
        ("(i) -> (-i // 4, (-i) % 4)", vec![n], true, false, "(y0 * -4 - y1,)"),
        (
            "(i, j) -> (i // 16, j // 16, i % 8 * 4 + j % 8 // 2, i % 16 // 8 * 4 + j % 16 // 8 * 2 + j % 2)",
            vec![n, n],
            true,
            true,
            "",
        ),
        (
            "(i, j) -> (i // 16, j // 16, i % 8 * 4 + j % 8 // 2, i % 16 // 8 * 2 + j % 16 // 8 * 2 + j % 2)",
            vec![n, n],
            false,
            true,
            "",
        ),
    ] {
        let ranges: Vec<_> = NAMES.into_iter().zip(sizes.iter().map(|&size| 0..size)).take(sizes.len()).collect();
        let names = text.split(" ->").next().unwrap().matches(char::is_alphabetic).count();
        let map = IndexMap::parse(text, &ranges[..names]).unwrap();
        assert_eq!(map.collision().map(|found| found.is_none()), Ok(one_to_one), "{text} {sizes:?}");
        assert_eq!(map.missed(&map.image_box()).map(|found| found.is_none()), Ok(onto), "{text} {sizes:?}");
        let found = map.inverse();
        if !inverse.is_empty() {
            let found = found.unwrap().map.to_string();
            assert_eq!(found.split_once(": ").unwrap().1, inverse, "{text} {sizes:?}");
        }
    }
}

/// Whatever the numbers are, there is an answer or a sentence.
#[test]
fn nothing_panics_on_large_numbers() {
    const NUMBERS: [i64; 12] =
        [1, 2, 3, 7, 64, 1000, (1 << 31) - 1, 1 << 31, 1 << 40, (1 << 62) - 1, i64::MAX, i64::MIN];
    let mut rng = shapetracker_testing::Rng(0x5a3);
    let (mut asked, mut answered) = (0, 0);
    for case in 0..shapetracker_testing::drawn(3_000) {
        let mut number = || {
            let number = NUMBERS[rng.index(NUMBERS.len())];
            if rng.one_in(4) { number.wrapping_neg() } else { number }
        };
        let ranges: Vec<(&str, Range<i64>)> = NAMES[..2]
            .iter()
            .map(|name| {
                let (a, b) = (number(), number());
                (*name, a.min(b)..a.max(b))
            })
            .collect();
        let [a, b, c, d, e] = [(); 5].map(|()| number());
        if !shapetracker_testing::is_held(case.into()) {
            continue;
        }
        let text = format!("((i * {a} + j * {b}) // {c}, (i + {d}) % {e}, j // {b} - i)");
        let Ok(map) = IndexMap::parse(&text, &ranges) else { continue };
        asked += 1;
        let target = [0..d, e.min(0)..e, a..b];
        answered += u32::from(map.collision().is_ok());
        let _ = (map.missed(&target), map.outside(&target), map.missed(&map.image_box()), map.preimage(&[a, b, c]));
        let _ =
            (map.inverse().map(|inverse| inverse.map.after(&map).map(|round| round.difference(&map))), map.to_mlir());
    }
    assert!(answered > asked / 2 && asked > shapetracker_testing::held(3_000) / 30, "{answered} of {asked}");
}

/// Texts that make more of a map than anyone would write have an answer, or the sentence that there is none, in time.
#[test]
fn long_maps_are_answered() {
    let nested = |count: usize| format!("{}i{}", "(".repeat(count), "+ j) // 2".repeat(count));
    let sum: Vec<String> = (1..4_000).map(|k| format!("(i * {} + j) // {}", k % 97, k % 1000 + 2)).collect();
    let xor: Vec<String> = (1..400).map(|k| format!("(i + {k}) // {k}")).collect();
    let tuple: Vec<String> = (1..65).map(|k| format!("(i // {k} + j * {k}) % {}", k + 2)).collect();
    for text in [nested(20_000), nested(500), sum.join(" + "), xor.join(" ^ "), tuple.join(", ")] {
        for (number, size) in [9, 100_000].into_iter().enumerate() {
            if !is_text_held(&text, number) {
                continue;
            }
            let map = IndexMap::parse(&text, &[("i", 0..size), ("j", 0..size)]).unwrap();
            if let Ok(Some([a, b])) = map.collision() {
                assert!(a != b && map.evaluate(&a) == map.evaluate(&b));
            }
            let target = map.image_box();
            assert!(!matches!(map.outside(&target), Ok(Some(_))));
            let _ = (map.missed(&target), map.inverse().is_ok());
            assert!(!matches!(map.difference(&map.simplify()), Ok(Some(_))));
        }
    }
}
