//! Composition, by brute force over all tuples that a number may become.

use shapetracker_cute::{ComposedLayout, Layout, NoComposition, Swizzle, audit};

use crate::oracle::{Tree, composition};
use crate::random::{cases, large_pair, nested, pair};
use crate::{has_values, is_evidence, layout};

#[derive(Default, Debug)]
struct Counts {
    found: u32,
    found_past: u32,
    length: u32,
    mode: u32,
    interact: u32,
}

#[test]
fn random_compositions_are_those_of_all_tuples() {
    let mut counts = Counts::default();
    let mut all = 0;
    for mut rng in cases(200_000) {
        all += 1;
        let [a, b] = pair(&mut rng, 12).map(|modes| nested(&mut rng, &modes));
        let (la, lb, ta, tb) = (layout(&a), layout(&b), Tree::parse(&a), Tree::parse(&b));
        let past = tb.values().iter().any(|&x| x >= ta.size());
        let expected = composition(&ta, &tb);
        let answer = la.compose(&lb);
        match (&answer, &expected) {
            (Ok(found), Some(modes)) => {
                let tree = Tree::of(found);
                assert!(tree.refines(&tb), "{a} o {b} = {found}");
                let values = tb.values().into_iter().map(|x| i64::try_from(ta.extended(x)).unwrap());
                assert!(values.eq(tree.values()), "{a} o {b} = {found}");
                assert_eq!(tree.leaves().len(), modes.iter().sum::<usize>(), "{a} o {b} = {found}");
                *if past { &mut counts.found_past } else { &mut counts.found } += 1;
                assert_eq!(audit(&la, &lb, found), Ok(None));
            }
            (Err(why), None) => {
                assert!(is_evidence(&ta, &tb, why), "{a} o {b}: {why}");
                match why {
                    NoComposition::Length { .. } => counts.length += 1,
                    NoComposition::Mode { .. } => counts.mode += 1,
                    _ => counts.interact += 1,
                }
            }
            _ => panic!("{a} o {b}: {answer:?}, and by brute force {expected:?}"),
        }
        match la.compose_strict(&lb) {
            Err(NoComposition::Outside { coordinate, value, size }) => {
                assert_eq!(size, ta.size());
                assert!(past && tb.values()[coordinate as usize] == value && value >= ta.size(), "{a} o {b}");
            }
            strict => assert!(!past && strict == answer, "{a} o {b}"),
        }
    }
    println!("{all} pairs: {counts:?}");
    let Counts { found, found_past, length, mode, interact } = counts;
    assert!([found, found_past, length, mode].iter().all(|&count| count > all / 50) && interact > all / 500);
}

#[test]
fn audits_find_the_first_coordinate_that_differs() {
    let mut wrong = 0;
    for mut rng in cases(20_000) {
        let [a, b] = pair(&mut rng, 9).map(|modes| nested(&mut rng, &modes));
        let (ta, tb) = (Tree::parse(&a), Tree::parse(&b));
        let expected: Vec<i64> = tb.values().into_iter().map(|x| i64::try_from(ta.extended(x)).unwrap()).collect();
        // What is claimed: the composition with a stride changed, or the modes that the values at powers suggest.
        let (mut claimed, mut weight) = (Vec::new(), 1);
        for (size, _) in tb.leaves() {
            claimed.push((size, *expected.get(weight).unwrap_or(&0)));
            weight *= size as usize;
        }
        if rng.int(3) == 0 {
            let k = rng.int(claimed.len() as i64) as usize;
            claimed[k] = match rng.int(2) {
                0 => (claimed[k].0, claimed[k].1 + 1),
                _ => (claimed[k].0 + 1, claimed[k].1),
            };
        }
        let r = nested(&mut rng, &claimed);
        let found = Tree::parse(&r).values();
        let first = (0..expected.len().max(found.len())).find(|&x| expected.get(x) != found.get(x));
        let mismatch = audit(&layout(&a), &layout(&b), &layout(&r)).unwrap();
        assert_eq!(mismatch.map(|at| at.coordinate as usize), first, "{a} o {b} against {r}");
        if let Some(at) = mismatch {
            wrong += 1;
            let x = at.coordinate as usize;
            assert_eq!((at.expected, at.found), (expected.get(x).copied(), found.get(x).copied()), "{a} o {b}: {r}");
        }
    }
    assert!(wrong > 0);
}

#[test]
fn audits_under_swizzles_find_the_first_coordinate_that_differs() {
    let (mut same, mut wrong) = (0, 0);
    for mut rng in cases(5_000) {
        let [a, b] = pair(&mut rng, 8).map(|modes| nested(&mut rng, &modes));
        let (la, lb) = (layout(&a), layout(&b));
        let Ok(plain) = la.compose(&lb) else { continue };
        let low = [&la, &plain].map(|layout| layout.range().unwrap().0).into_iter().min().unwrap().min(0);
        let swizzle = |bits| Swizzle::new(bits, 0, 2).unwrap();
        let under = |bits, offset, of: &Layout| ComposedLayout::new(swizzle(bits), offset, of.clone()).unwrap();
        let (ours, r) = (under(2, -low, &la), rng.int(4));
        // The composition, another offset or swizzle, or one stride more.
        let claimed = match r {
            0 => under(2, -low, &plain),
            1 => under(2, -low + 1, &plain),
            2 => under(1, -low, &plain),
            _ => under(2, -low, &Layout::concat([&plain, &layout("2:1")]).unwrap()),
        };
        let expected = |x: i64| lb.at(x).and_then(|x| la.at_extended(x)).map(|value| swizzle(2).apply(value - low));
        let first = (0..lb.size().max(claimed.layout().size())).find(|&x| expected(x) != claimed.at(x));
        let mismatch = ours.audit(&lb, &claimed).unwrap();
        assert_eq!(mismatch.map(|at| at.coordinate), first, "{ours} o {b} against {claimed}");
        if let Some(at) = mismatch {
            assert_eq!((at.expected, at.found), (expected(at.coordinate), claimed.at(at.coordinate)));
        }
        *if first.is_some() { &mut wrong } else { &mut same } += 1;
    }
    assert!(same > 0 && wrong > 0);
    // Values that a layout has past its end may be past `i64` with an offset.
    let far = ComposedLayout::new(Swizzle::IDENTITY, i64::MAX, layout("1:1")).unwrap();
    assert!(far.audit(&layout("2:1"), &far).is_err());
    let large: ComposedLayout = "Sw<1,0,1> o 0 o 1000000:0".parse().unwrap();
    assert_eq!(large.audit(&layout("1000000:1"), &layout("1000000:0").into()), Err(NoComposition::Undecided));
    assert_eq!(large.audit(&layout("1000000:1"), &large), Ok(None));
}

#[test]
fn audits_far_from_the_start() {
    // No layout, and equal to what is claimed for a thousand million numbers.
    let a = layout("(1000000000,7):(1,1000000001)");
    let b = layout("3000000000:1");
    let claimed = layout("3000000000:1");
    let at = audit(&a, &b, &claimed).unwrap().unwrap();
    assert_eq!((at.coordinate, at.expected, at.found), (1_000_000_000, Some(1_000_000_001), Some(1_000_000_000)));
    let b = layout("2500000000:1");
    assert!(matches!(a.compose(&b), Err(NoComposition::Length { run: 1_000_000_000, .. })));
    let at = audit(&a, &b, &layout("(1000000000,3):(1,1000000001)")).unwrap().unwrap();
    assert_eq!((at.coordinate, at.expected, at.found), (2_500_000_000, None, Some(2_500_000_002)));
    let at = audit(&a, &b, &layout("2500000000:1")).unwrap().unwrap();
    assert_eq!(at.coordinate, 1_000_000_000);
}

#[test]
fn random_compositions_of_large_layouts_have_the_values_and_the_evidence() {
    let (mut found, mut refused) = (0, 0);
    for mut rng in cases(20_000) {
        let [a, b] = large_pair(&mut rng).map(|modes| nested(&mut rng, &modes));
        let (ta, tb) = (Tree::parse(&a), Tree::parse(&b));
        match layout(&a).compose(&layout(&b)) {
            Ok(answer) => {
                found += 1;
                let (tree, size) = (Tree::of(&answer), tb.size());
                assert!(tree.refines(&tb), "{a} o {b} = {answer}");
                let ends = [0, 1, size / 2, size - 1].into_iter();
                for x in ends.chain((0..300).map(|_| rng.int(size))).filter(|&x| x < size) {
                    let position = i64::try_from(tb.extended(x)).unwrap();
                    assert_eq!(ta.extended(position), tree.extended(x), "{a} o {b} = {answer} at {x}");
                }
            }
            Err(why) => {
                refused += 1;
                // Runs are long here: their beginnings, their ends and some of what is between are looked at.
                let at = |leaf: usize, i: i64| ta.extended(tb.leaves()[leaf].1 * i);
                match &why {
                    NoComposition::Length { leaf, unit, run, left, .. } => {
                        assert!(has_values(&ta, &tb, &why), "{a} o {b}: {why}");
                        let value = |i: i64| at(*leaf, i * unit);
                        assert!(left % run != 0 && unit * left == tb.leaves()[*leaf].0, "{a} o {b}: {why}");
                        assert_ne!(value(*run), i128::from(*run) * value(1), "{a} o {b}: {why}");
                        let some = [run - 1].into_iter().chain((0..300).map(|_| rng.int(*run)));
                        for i in some {
                            assert_eq!(value(i), i128::from(i) * value(1), "{a} o {b}: {why}");
                        }
                    }
                    NoComposition::Mode { leaf, number, value, .. } => {
                        assert_eq!(at(*leaf, *number), i128::from(*value), "{a} o {b}: {why}");
                    }
                    why => assert!(is_evidence(&ta, &tb, why), "{a} o {b}: {why}"),
                }
            }
        }
    }
    println!("{found} found, {refused} refused");
    assert!(found > 4 * refused / 10 && refused > found / 20);
}

#[test]
fn negative_values_and_missing_coordinates_are_outside() {
    let outside = |a: &str, b: &str| layout(a).compose(&layout(b)).unwrap_err();
    assert_eq!(outside("8:1", "(2,3):(4,-1)"), NoComposition::Outside { coordinate: 2, value: -1, size: 8 });
    assert_eq!(outside("(0,3):(1,1)", "2:1"), NoComposition::Outside { coordinate: 1, value: 1, size: 0 });
    assert_eq!(outside("():()", "2:1"), NoComposition::Outside { coordinate: 1, value: 1, size: 1 });
    // Nothing is asked for, or only the value at 0.
    assert_eq!(layout("():()").compose(&layout("(2,3):(0,0)")).unwrap().to_string(), "(2,3):(0,0)");
    assert_eq!(layout("(4,2):(3,1)").compose(&layout("(2,0):(5,9)")).unwrap().to_string(), "(2,0):(0,0)");
    // What is composed takes a number exactly if the extended function does, a last mode of no coordinate included.
    for a in ["0:1", "0:7", "(4,0):(3,5)", "(0,3):(1,1)", "(2,0,3):(1,1,1)", "():()", "1:0"] {
        for b in ["1:0", "4:0", "4:1", "(2,3):(3,5)", "0:1"] {
            let (la, lb, values) = (layout(a), layout(b), Tree::parse(b).values());
            let takes = values.iter().all(|&x| la.at_extended(x).is_some());
            match la.compose(&lb) {
                Ok(found) => {
                    assert!(takes, "{a} o {b} = {found}");
                    let expected = values.iter().map(|&x| la.at_extended(x).unwrap());
                    assert!(expected.eq(Tree::of(&found).values()), "{a} o {b} = {found}");
                }
                Err(why) if takes => assert!(is_evidence(&Tree::parse(a), &Tree::parse(b), &why), "{a} o {b}: {why}"),
                Err(why) => {
                    let NoComposition::Outside { coordinate, value, size } = why else { panic!("{a} o {b}: {why}") };
                    assert!(
                        values[coordinate as usize] == value && la.at_extended(value).is_none(),
                        "{a} o {b}: {why}"
                    );
                    assert_eq!(size, la.size());
                }
            }
            let is_past = values.iter().any(|&x| la.at(x).is_none());
            assert_eq!(la.compose_strict(&lb).is_err(), is_past, "{a} o {b}");
        }
    }
    assert_eq!(layout("0:1").compose(&layout("4:0")).unwrap().to_string(), "4:0");
    // Past `i64` there is an error, and no panic.
    let far = layout("(2,2):(1,4611686018427387904)").compose(&layout("3:4"));
    assert!(matches!(far, Err(NoComposition::Error(_))), "{far:?}");
}

#[test]
fn reasons_are_sentences_about_values() {
    let reason = |a: &str, b: &str| layout(a).compose_strict(&layout(b)).unwrap_err().to_string();
    assert_eq!(
        reason("(4,6,8):(2,3,5)", "6:3"),
        "along leaf 0, in steps of 2, the values rise evenly for 2 numbers: number 2 has 9, not 14. A mode must end there, but 2 \
         does not divide 3"
    );
    assert_eq!(
        reason("(4,2,8):(3,9,97)", "4:3"),
        "along leaf 0 the only possible modes have sizes [2, 2]; they would give 24 at 3, but the value there is 100"
    );
    assert_eq!(
        reason("(6,2):(1,7)", "(3,2):(2,3)"),
        "at coordinate (2,1) the value is 8, but the values at (2,0) and (0,1) add up to 7; in a layout the two would be equal"
    );
    assert_eq!(
        reason("(4,1):(1,7)", "8:1"),
        "at coordinate 7 of the second layout the value is 7, but the first layout has only 4 coordinates"
    );
    assert_eq!(reason("8:1", "3:-1"), "at coordinate 1 of the second layout the value is -1, which is negative");
    assert_eq!(
        reason("(0,3):(1,1)", "2:1"),
        "at coordinate 1 of the second layout the value is 1, but the first layout has no coordinate"
    );
    // With the coordinate in the parentheses of the second layout.
    assert!(reason("(6,2):(1,7)", "((3,1),2):((2,0),3)").contains("the values at ((2,0),0) and ((0,0),1) add up to 7"));
}
