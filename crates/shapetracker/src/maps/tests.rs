//! The equations beside the walk: what each decides of the same small map.

use std::collections::BTreeMap;
use std::ops::Range;

use shapetracker_testing::Rng;

use super::IndexMap;

/// A map of random expressions: sums, divisions and remainders of each other.
fn random(rng: &mut Rng) -> IndexMap {
    let mut loops = Vec::new();
    let mut room = 300;
    for name in ["i", "j", "k"].iter().take(rng.index(4)) {
        let size = 1 + rng.int(16.min(room));
        room /= size;
        let begin = if rng.one_in(4) { rng.int(9) - 4 } else { 0 };
        loops.push((*name, begin..begin + size));
    }
    let mut texts: Vec<String> = loops.iter().map(|(name, _)| (*name).to_owned()).collect();
    texts.push(rng.int(5).to_string());
    for _ in 0..rng.index(9) {
        let (a, b) = (rng.pick(&texts).clone(), rng.pick(&texts).clone());
        let by = *rng.pick(&[1, 2, 2, 3, 4, 4, 5, 6, 7, 8, 10, 12]);
        texts.push(match rng.below(10) {
            0..3 => format!("({a}) // {by}"),
            3..6 => format!("({a}) % {by}"),
            6 => format!("({a}) * {} + ({b})", if rng.one_in(4) { -by } else { by }),
            7 => format!("({a}) - ({b})"),
            8 => format!("(({a}) % {by} ^ ({b}) % 8)"),
            _ => format!("({a}) + ({b}) * {by}"),
        });
    }
    let results: Vec<String> = (0..rng.index(5)).map(|_| rng.pick(&texts).clone()).collect();
    let text = format!("[{}]", results.join(", "));
    IndexMap::parse(&text, &loops).unwrap_or_else(|err| panic!("{err}"))
}

#[test]
fn the_equations_agree_with_the_walk() {
    let mut rng = Rng(0x3a95);
    let mut counts: BTreeMap<&str, [u32; 3]> = BTreeMap::new();
    let mut counted = |question: &'static str, answer: Option<bool>| {
        counts.entry(question).or_default()[answer.map_or(2, usize::from)] += 1;
    };
    for _ in 0..shapetracker_testing::drawn(4_000) {
        let map = random(&mut rng);
        let walked = map.collision_walked().unwrap();
        let solved = map.collision_by_equations();
        counted("collision", solved.as_ref().ok().map(Option::is_some));
        if let Ok(solved) = solved {
            assert_eq!(solved.is_some(), walked.is_some(), "{map}: {solved:?} {walked:?}");
            if let Some([a, b]) = solved {
                assert!(a != b && map.evaluate(&a).unwrap() == map.evaluate(&b).unwrap(), "{map} {a:?} {b:?}");
            }
        }
        // The box of the images, a part of it, or one that is larger.
        let mut target: Vec<Range<i64>> = map.image_box();
        if let Some(range) = target.first_mut() {
            range.end += rng.int(5) / 3 - rng.int(5) / 3;
        }
        let walked = map.missed_walked(&target).unwrap();
        let solved = map.missed_by_equations(&target);
        counted("missed", solved.as_ref().ok().map(Option::is_some));
        if let Ok(solved) = solved {
            assert_eq!(solved.is_some(), walked.is_some(), "{map} {target:?}: {solved:?} {walked:?}");
            assert!(solved.is_none_or(|missed| map.preimage(&missed) == Ok(None)), "{map}");
        }
        let element: Vec<i64> =
            target.iter().map(|range| range.start + rng.int((range.end - range.start).max(1))).collect();
        let walked = map.found_walked(&map.results, |at, value| value == element[at], true).unwrap();
        let walked = if map.results.is_empty() { Some(map.unravelled(0)) } else { walked };
        let solved = map.preimage_by_equations(&element);
        counted("preimage", solved.as_ref().ok().map(Option::is_some));
        if let Ok(solved) = solved {
            assert_eq!(solved.is_some(), walked.is_some(), "{map} {element:?}: {solved:?} {walked:?}");
            assert!(solved.is_none_or(|index| map.evaluate(&index).unwrap() == element), "{map} {element:?}");
        }
        let inverse = map.left_inverse().unwrap();
        if map.collision_walked().unwrap().is_none() {
            counted("inverse", Some(inverse.is_some()));
        } else {
            assert!(inverse.is_none(), "{map}");
        }
    }
    eprintln!("no, yes, undecided: {counts:?}");
    for (question, [no, yes, undecided]) in counts {
        let all = no + yes + undecided;
        assert!(undecided * 10 <= all, "{question}: {undecided} of {all} are undecided");
    }
}
