//! Coalescing, complements, inverses, divisions and products, by lists of values.

use std::collections::HashMap;

use shapetracker_cute::{Layout, NoComplement, NoLeftInverse, NotBijective, NotTiled, Tiler};

use crate::layout;
use crate::oracle::{Tree, tiles};
use crate::random::{cases, modes, nested};

#[test]
fn coalesced_forms_are_equal_exactly_if_the_functions_are() {
    let mut equal = 0;
    for mut rng in cases(100_000) {
        let drawn = modes(&mut rng, 4, 5);
        let a = nested(&mut rng, &drawn);
        // The same with sizes split, or something else.
        let mut other = Vec::new();
        for &(size, stride) in &drawn {
            let divisor = 1 + rng.int(size);
            let odd = if rng.int(9) == 0 { 1 } else { 0 };
            if size % divisor == 0 && rng.int(2) == 0 {
                other.extend([(divisor, stride), (size / divisor, stride * divisor + odd)]);
            } else {
                other.push((size + odd, stride));
            }
        }
        let b = nested(&mut rng, &other);
        let (la, lb, va, vb) = (layout(&a), layout(&b), Tree::parse(&a).values(), Tree::parse(&b).values());
        let first = (0..va.len().max(vb.len())).find(|&x| va.get(x) != vb.get(x));
        assert_eq!(la.difference(&lb), first.map(|x| x as i64), "{a} and {b}");
        assert_eq!(la.coalesce() == lb.coalesce(), va == vb, "{a} and {b}");
        equal += u32::from(va == vb);
        let coalesced = Tree::of(&la.coalesce());
        assert_eq!(coalesced.values(), va, "{a}");
        assert!(coalesced.leaves().len() <= la.leaves().len().max(1));
        // What is left of the values where every entry of a stride 0 is 0.
        let leaves = Tree::parse(&a).leaves();
        let is_first = |x: usize| {
            let mut rest = x as i64;
            leaves.iter().all(|&(size, stride)| {
                let entry = rest % size;
                rest /= size;
                stride != 0 || entry == 0
            })
        };
        let kept: Vec<i64> = (0..va.len()).filter(|&x| is_first(x)).map(|x| va[x]).collect();
        assert_eq!(Tree::of(&la.filter()).values(), kept, "{a}");
        // Item by item the function is the same, too, and every item by itself.
        let by_item = la.coalesce_by(&vec![1; la.rank()].into()).unwrap();
        for (item, coalesced) in la.items().iter().zip(by_item.items()) {
            assert_eq!(item.coalesce(), coalesced, "{a}");
        }
        assert_eq!((la.size(), la.cosize()), (va.len() as i64, va.iter().max().map_or(0, |high| high + 1)), "{a}");
        assert_eq!(la.range(), va.iter().min().copied().zip(va.iter().max().copied()), "{a}");
        assert!((0..la.size()).map_while(|x| la.at(x)).eq(va.iter().copied()) && la.at(la.size()).is_none());
        for x in 0..la.size() {
            assert_eq!(la.at_coordinate(&la.coordinate(x).unwrap()), la.at(x), "{a}");
        }
    }
    assert!(equal > 0);
}

#[test]
fn complements_fill_what_is_left_out_and_refusals_leave_none() {
    let (mut found, mut refused) = (0, 0);
    for mut rng in cases(100_000) {
        let text = {
            let drawn = modes(&mut rng, 3, 4);
            nested(&mut rng, &drawn)
        };
        let cotarget = rng.int(80);
        // The addresses without repetitions by strides of 0.
        let kept: Vec<Tree> = Tree::parse(&text)
            .leaves()
            .into_iter()
            .filter(|leaf| leaf.1 != 0 && leaf.0 != 1)
            .map(|(n, d)| Tree::Leaf(n, d))
            .collect();
        let mut values = Tree::Node(kept).values();
        values.sort_unstable();
        let span = values.iter().map(|value| value.abs()).max().unwrap() + 1;
        match layout(&text).complement(cotarget) {
            Ok(complement) => {
                found += 1;
                let complement = Tree::of(&complement);
                let rest = complement.values();
                assert!(
                    rest.is_sorted() && complement.leaves().iter().all(|&(_, stride)| stride > 0 || rest.len() == 1)
                );
                let mut sums: Vec<i64> = values.iter().flat_map(|a| rest.iter().map(move |b| a + b)).collect();
                sums.sort_unstable();
                let len = sums.len() as i64;
                assert!(sums.into_iter().eq(0..len) && len >= cotarget, "{text} to {cotarget}");
                // No shorter one reaches the cotarget.
                assert!((cotarget.max(1)..len).all(|len| !tiles(&values, len)), "{text} to {cotarget}");
            }
            Err(why) => {
                refused += 1;
                match why {
                    NoComplement::Negative { stride } => assert!(values.contains(&stride), "{text}: {why}"),
                    NoComplement::Overlap { block, stride } => {
                        // The smaller strides fill blocks, and one of these contains the stride, not at its start.
                        let below = Tree::parse(&text)
                            .leaves()
                            .into_iter()
                            .filter(|leaf| leaf.1 != 0 && leaf.0 != 1 && leaf.1 < stride);
                        let below = Tree::Node(below.map(|(n, d)| Tree::Leaf(n, d)).collect()).values();
                        let fills = |len| {
                            tiles(
                                &{
                                    let mut v = below.clone();
                                    v.sort_unstable();
                                    v
                                },
                                len,
                            )
                        };
                        assert!(stride % block != 0 && values.contains(&stride), "{text}: {why}");
                        assert!(block > stride || fills(block), "{text}: {why}");
                        assert!((1..4 * span).all(|len| !tiles(&values, len)), "{text}: {why}");
                    }
                    why => panic!("{text}: {why}"),
                }
            }
        }
    }
    println!("{found} found, {refused} refused");
    assert!(refused > found / 20);
}

#[test]
fn inverses_undo_and_what_is_said_of_them_holds() {
    let (mut longest, mut open, mut left, mut left_open, mut collisions) = (0, 0, 0, 0, 0);
    for mut rng in cases(100_000) {
        let text = {
            let drawn = modes(&mut rng, 3, 5);
            nested(&mut rng, &drawn)
        };
        let (a, tree) = (layout(&text), Tree::parse(&text));
        let values = tree.values();
        let mut numbers: HashMap<i64, Vec<i64>> = HashMap::new();
        values.iter().enumerate().for_each(|(x, &value)| numbers.entry(value).or_default().push(x as i64));
        let is_injective = numbers.values().all(|numbers| numbers.len() == 1);

        let right = a.right_inverse().unwrap();
        let undone = Tree::of(&right.layout).values();
        assert!(undone.iter().enumerate().all(|(i, &x)| values[x as usize] == i as i64), "{text}: {}", right.layout);
        let is_past = !numbers.contains_key(&(undone.len() as i64));
        assert_eq!(right.is_longest, is_past, "{text}: {}", right.layout);
        // Without the modes of stride 0.
        let kept = tree.leaves().into_iter().filter(|leaf| leaf.1 != 0).map(|(n, d)| Tree::Leaf(n, d)).collect();
        let mut kept = Tree::Node(kept).values();
        kept.sort_unstable();
        if kept[0] >= 0 && kept.windows(2).all(|pair| pair[0] < pair[1]) {
            assert!(right.is_longest, "{text}");
        }
        *if right.is_longest { &mut longest } else { &mut open } += 1;

        assert_eq!(a.is_injective().unwrap(), is_injective, "{text}");
        if let Some([x, y]) = a.collision().unwrap() {
            assert!(x != y && values[x as usize] == values[y as usize], "{text}");
        }
        match a.left_inverse() {
            Ok(inverse) => {
                left += 1;
                let inverse = Tree::of(&inverse);
                assert!((0..).zip(&values).all(|(x, &value)| inverse.extended(value) == x), "{text}: {inverse:?}");
            }
            Err(NoLeftInverse::Collision { coordinates: [x, y], value }) => {
                collisions += 1;
                assert!(x != y && values[x as usize] == value && values[y as usize] == value, "{text}");
            }
            Err(NoLeftInverse::Negative { coordinate, value }) => {
                assert!(value < 0 && values[coordinate as usize] == value, "{text}");
            }
            Err(NoLeftInverse::Open) => {
                left_open += 1;
                assert!(is_injective, "{text}");
                let mut sorted: Vec<_> = Tree::of(&a.coalesce()).leaves();
                sorted.sort_by_key(|leaf| leaf.1);
                let nests = |pair: &[(i64, i64)]| {
                    pair[0].1 > 0 && pair[1].1 % pair[0].1 == 0 && pair[0].0 * pair[0].1 <= pair[1].1
                };
                assert!(!sorted.windows(2).all(nests), "{text}");
            }
            Err(err) => panic!("{text}: {err}"),
        }

        let mut sorted = values.clone();
        sorted.sort_unstable();
        let is_bijective = sorted.iter().copied().eq(0..values.len() as i64);
        match a.bijective() {
            Ok(()) => assert!(is_bijective, "{text}"),
            Err(why) => {
                assert!(!is_bijective, "{text}: {why}");
                match why {
                    NotBijective::Negative { coordinate, value } => {
                        assert!(value < 0 && values[coordinate as usize] == value)
                    }
                    NotBijective::Collision { coordinates: [x, y], value } => {
                        assert!(x != y && values[x as usize] == value && values[y as usize] == value, "{text}: {why}");
                    }
                    NotBijective::Gap { value } => {
                        assert!(!values.contains(&value) && value < values.len() as i64, "{text}: {why}");
                        assert!((0..value).all(|value| values.contains(&value)), "{text}: {why}");
                    }
                }
            }
        }
    }
    println!("right: {longest} longest, {open} open; left: {left}, {left_open} open, {collisions} collide");
    let all = longest + open;
    assert!([longest, open, left, collisions].iter().all(|&count| count > all / 100) && left_open > all / 400);
}

#[test]
fn a_negative_stride_leaves_open_whether_an_inverse_is_longer() {
    // The values are 0, -1, 2, 1, each once: 2:3 is a right inverse of size 2, and the rule does not find it.
    let a = layout("(2,2):(-1,2)");
    assert_eq!(Tree::of(&a).values(), [0, -1, 2, 1]);
    let right = a.right_inverse().unwrap();
    assert_eq!((right.layout.to_string(), right.is_longest), ("1:0".into(), false));
    let longer = layout("2:3");
    assert!((0..2).all(|i| a.at(longer.at(i).unwrap()) == Some(i)));
}

#[test]
fn what_fits_is_answered_near_the_end_of_the_integers() {
    // Left inverses: the last mode goes on for ever, and needs no more entries than there is room for.
    for text in
        ["2:9223372036854775807", "2:4611686018427387904", "(2,2):(1,4611686018427387904)", "3:3074457345618258603"]
    {
        let a = layout(text);
        let left = Tree::of(&a.left_inverse().unwrap());
        assert!((0..a.size()).all(|x| left.extended(a.at(x).unwrap()) == i128::from(x)), "{text}: {left:?}");
    }
    let left = layout("2:9223372036854775807").left_inverse().unwrap();
    assert_eq!(left.to_string(), "(9223372036854775807,1):(0,1)");
    // A complement: together the two have the addresses that are divisible by the stride, and what is between.
    let complement = layout("4:2305843009213693952").complement(9).unwrap();
    assert_eq!(complement.to_string(), "2305843009213693952:1");
    // More than that is past `i64` indeed: the next block begins at 2 to the power of 63.
    let past = layout("(2,4):(2305843009213693952,1)").complement(i64::MAX).unwrap();
    let (last, span) = (past.cosize() - 1, 4611686018427387904_i64);
    assert_eq!((last / span, past.size()), (1, 2 * (span / 8)));
    let past = layout("2:3458764513820540928").complement(i64::MAX);
    assert!(matches!(past, Err(NoComplement::Error(_))), "{past:?}");
    // A product whose size is past `i64` as a cotarget.
    let product = layout("1073741824:0").logical_product(&layout("2:1099511627776").into()).unwrap();
    assert_eq!(product.to_string(), "(1073741824,2):(0,1099511627776)");
    // The repeats that would begin past `i64` are refused, and those that stay below are there.
    let tile = layout("4:2305843009213693952");
    assert_eq!(tile.logical_product(&2.into()).unwrap().to_string(), "(4,2):(2305843009213693952,1)");
    let past = tile.logical_product(&layout("2:2305843009213693952").into());
    assert!(matches!(past, Err(NotTiled::Complement(NoComplement::Error(_)))), "{past:?}");
}

#[test]
fn known_inverses() {
    // The rule stops at 3, and one of 10 is known: it is not claimed that there is none.
    let right = layout("(5,3):(2,1)").right_inverse().unwrap();
    assert_eq!((right.layout.to_string(), right.is_longest), ("3:5".into(), false));
    // Where strides do not divide each other some layouts have a left inverse,
    let a = layout("(2,2):(2,3)");
    assert_eq!(a.left_inverse(), Err(NoLeftInverse::Open));
    let left = Tree::of(&layout("(2,3):(1,1)"));
    assert!((0..).zip(Tree::of(&a).values()).all(|(x, value)| left.extended(value) == x));
    // and some have none, though no value comes twice (`not_undone` in `proofs/Cute.v`). A first digit of size 2 is worth 2 from value 2 to 3
    // and -1 from 6 to 7; a larger one would give half of 1 to value 1.
    let a = layout("(3,3):(2,3)");
    assert_eq!(Tree::of(&a).values(), [0, 2, 4, 3, 5, 7, 6, 8, 10]);
    assert_eq!(a.left_inverse(), Err(NoLeftInverse::Open));
    // Of two modes with stride 1 the one that another goes on with.
    let right = layout("(5,2,4):(1,1,2)").right_inverse().unwrap();
    assert_eq!(right.layout.to_string(), "8:5");
}

#[test]
fn divisions_and_products_are_made_of_their_parts() {
    let (mut divided, mut multiplied) = (0, 0);
    for mut rng in cases(60_000) {
        let a = {
            let drawn = modes(&mut rng, 3, 6);
            nested(&mut rng, &drawn)
        };
        let b = {
            let drawn = modes(&mut rng, 2, 4);
            nested(&mut rng, &drawn)
        };
        let (la, lb, ta, tb) = (layout(&a), layout(&b), Tree::parse(&a), Tree::parse(&b));
        let tiler = Tiler::from(lb.clone());
        match la.logical_divide(&tiler) {
            Ok(result) => {
                divided += 1;
                let rest = Tree::of(&lb.complement(la.size()).unwrap());
                let expected = rest.values().into_iter().flat_map(|rest| {
                    let ta = &ta;
                    tb.values().into_iter().map(move |tile| ta.extended(tile + rest) as i64)
                });
                let tree = Tree::of(&result);
                assert!(
                    expected.eq(tree.values()) && tree.items().len() == 2 && tree.items()[0].refines(&tb),
                    "{a} / {b} = {result}"
                );
            }
            Err(NotTiled::Complement(_)) => assert!(lb.complement(la.size()).is_err(), "{a} / {b}"),
            Err(NotTiled::Composition(why)) => {
                let rest = lb.complement(la.size()).unwrap();
                let parts = Layout::concat([&lb, &rest]).unwrap();
                assert_eq!(la.compose(&parts), Err(why), "{a} / {b}");
            }
            Err(why) => panic!("{a} / {b}: {why}"),
        }
        if let Ok(result) = la.logical_product(&tiler) {
            multiplied += 1;
            let room = Tree::of(&la.complement(la.size() * lb.cosize()).unwrap());
            let expected = tb.values().into_iter().flat_map(|repeat| {
                let ta = &ta;
                let at = room.extended(repeat) as i64;
                ta.values().into_iter().map(move |value| value + at)
            });
            let tree = Tree::of(&result);
            assert!(expected.eq(tree.values()) && tree.items()[0] == ta, "{a} * {b} = {result}");
            let distinct =
                |values: Vec<i64>| values.iter().collect::<std::collections::HashSet<_>>().len() == values.len();
            if distinct(ta.values()) {
                assert_eq!(distinct(tree.values()), distinct(tb.values()), "{a} * {b}");
            }
        }
    }
    println!("{divided} divided, {multiplied} multiplied");
    assert!(divided > 0 && multiplied > 0);
}

#[test]
fn tiles_of_items_are_the_same_in_other_orders() {
    let mut done = 0;
    for mut rng in cases(20_000) {
        let items: Vec<String> = (0..2 + rng.int(2))
            .map(|_| {
                let drawn = modes(&mut rng, 2, 6);
                nested(&mut rng, &drawn)
            })
            .collect();
        let layouts: Vec<Layout> = items.iter().map(|item| layout(item)).collect();
        let a = Layout::concat(&layouts).unwrap();
        let tiles: Vec<i64> = (0..2).map(|_| 1 + rng.int(4)).collect();
        let tiler = Tiler::by_item(tiles.iter().copied());
        let Ok(logical) = a.logical_divide(&tiler) else { continue };
        done += 1;
        let parts: Vec<Layout> = logical.items();
        for (k, (part, tile)) in parts.iter().zip(&tiles).enumerate() {
            assert_eq!(part, &layouts[k].logical_divide(&(*tile).into()).unwrap());
        }
        let first: Vec<Layout> = parts[..2].iter().map(|part| part.items()[0].clone()).collect();
        let second: Vec<Layout> =
            parts[..2].iter().map(|part| part.items()[1].clone()).chain(parts[2..].iter().cloned()).collect();
        let (first, rest) = (Layout::concat(&first).unwrap(), Layout::concat(&second).unwrap());
        assert_eq!(a.zipped_divide(&tiler).unwrap(), Layout::concat([&first, &rest]).unwrap());
        assert_eq!(a.tiled_divide(&tiler).unwrap(), Layout::concat([&first].into_iter().chain(&second)).unwrap());
        let flat = Layout::concat(first.items().iter().chain(&second)).unwrap();
        assert_eq!(a.flat_divide(&tiler).unwrap(), flat);
        if let Ok(zipped) = a.zipped_product(&tiler) {
            let parts = zipped.items();
            let flat: Vec<Layout> = parts.iter().flat_map(Layout::items).collect();
            assert_eq!(a.flat_product(&tiler).unwrap(), Layout::concat(&flat).unwrap());
        }
    }
    assert!(done > 0);
    let too_many = layout("4:1").logical_divide(&Tiler::by_item([2, 2])).unwrap_err().to_string();
    assert_eq!(too_many, "divide: the tiler has 2 modes, but the layout has 1");
    assert!(layout("4:1").compose_by(&Tiler::from(-3)).is_err());
}
