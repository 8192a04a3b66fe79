//! What is asked of a tracker besides its views, and the sentences of its errors.

use std::sync::Arc;

use shapetracker::ErrorKind;
use shapetracker_symbolic::{
    Equality, Error, Formula, Literal, Movement, Parts, Poly, Scope, ShapeTracker, Sym, View, formula_text,
};
use shapetracker_testing::{Rng, numbers};

use crate::random::{names, operation, plus, points, times, tracker, var};

fn holds(formula: &Formula, point: &[i128]) -> bool {
    formula.iter().any(|all| all.iter().all(|literal| literal.holds(point) == Some(true)))
}

#[test]
fn equality_is_that_of_the_integers() {
    let (mut always, mut when, mut never, mut undecided) = (0, 0, 0, 0);
    for seed in numbers(2_000) {
        let rng = &mut Rng(2 << 40 | seed);
        let names = names(rng);
        let one = tracker(rng, &names);
        // Another tracker, of the same shape more often than chance would have it.
        let other = match rng.index(4) {
            0 => one.flip([0]).and_then(|there| if rng.one_in(2) { there.flip([0]) } else { Ok(there) }),
            1 if one.rank() > 1 => one.transpose(0, 1),
            2 => one.apply(&operation(rng, one.shape())),
            _ => Ok(ShapeTracker::in_scope(names.scope.clone(), one.shape().to_vec()).expect("a shape")),
        };
        let Ok(other) = other else { continue };
        let Ok(equality) = one.equality(&other) else { continue };
        match &equality {
            Equality::Always => always += 1,
            Equality::When { .. } => when += 1,
            Equality::Never => never += 1,
            Equality::Undecided => undecided += 1,
        }
        for point in points(rng, &names).iter().step_by(4) {
            let (Ok(a), Ok(b)) = (one.at_point(point), other.at_point(point)) else { continue };
            if a.numel() > 500 {
                continue;
            }
            let same = a.shape() == b.shape() && a.addresses().eq(b.addresses());
            let said = match &equality {
                Equality::Always => true,
                Equality::When { formula, .. } => holds(formula, point),
                Equality::Never => false,
                Equality::Undecided => continue,
            };
            assert_eq!(said, same, "{one:?}\n{other:?}\nat {point:?}: {equality:?}");
        }
    }
    println!("{always} always, {when} by a formula, {never} never, {undecided} undecided");
    assert!(always > 0 && when > 0 && never > 0);
}

#[test]
fn the_max_merge_view_reads_the_same_elements_and_its_conditions_join_axes() {
    let (mut axes, mut merged, mut conditions) = (0, 0, 0);
    for seed in numbers(2_000) {
        let rng = &mut Rng(3 << 40 | seed);
        let names = names(rng);
        let tracker = tracker(rng, &names);
        let last = tracker.views().last().expect("a view");
        let max = tracker.max_merge().expect("small");
        axes += tracker.rank();
        merged += tracker.rank() - max.view.shape.len();
        conditions += max.joins.iter().flatten().count();
        assert_eq!(max.joins.len(), max.view.shape.len().saturating_sub(1));
        for point in points(rng, &names).iter().step_by(4) {
            if tracker.at_point(point).is_err() {
                continue;
            }
            let (view, merged) = (last.at(point).expect("small"), max.view.at(point).expect("small"));
            let addresses = |view: shapetracker::View| -> Vec<_> {
                shapetracker::ShapeTracker::from(view).addresses().take(500).collect()
            };
            assert_eq!(addresses(view), addresses(merged.clone()), "{tracker:?} at {point:?}: {:?}", max.view);
            // Where a condition holds the two axes advance as one: the integers join them, or one has a single element.
            for (axis, join) in max.joins.iter().enumerate() {
                let Some(join) = join.as_ref().filter(|_| !merged.is_empty()) else { continue };
                let (outer, inner) = (axis, axis + 1);
                let advance = merged.shape()[inner] * merged.strides()[inner];
                let single = |axis: usize| merged.strides()[axis] == 0;
                if join.holds(point) == Some(true) && !single(outer) && !single(inner) {
                    assert_eq!(merged.strides()[outer], advance, "{tracker:?} at {point:?}");
                }
            }
        }
    }
    println!("{merged} of {axes} axes are joined for all values; {conditions} conditions");
}

#[test]
fn where_elements_lie_is_what_the_integers_say() {
    let (mut ranges, mut lengths, mut below, mut unknown, mut order) = (0, 0, 0, 0, 0);
    for seed in numbers(2_000) {
        let rng = &mut Rng(5 << 40 | seed);
        let names = names(rng);
        let mut tracker = tracker(rng, &names);
        // Windows, and strides that are no number or walk backwards.
        if rng.one_in(3) {
            let strides = [Poly::from(-1), Poly::from(2), plus(&var(3), &Poly::from(-1)), var(0), var(1)];
            let stride: Vec<Poly> = tracker.shape().iter().map(|_| rng.pick(&strides).clone()).collect();
            let offset = rng.pick(&[Poly::from(0), var(4), times(&var(0), &var(1)), Poly::from(-2)]).clone();
            let view = View { shape: tracker.shape().to_vec(), strides: stride, offset, mask: None };
            let Ok(strided) = ShapeTracker::from_views(names.scope.clone(), [view]) else { continue };
            tracker = strided;
        }
        let (range, len, contiguity) = (tracker.address_range(), tracker.buffer_len(), tracker.contiguity());
        match (&range, &len) {
            (Some(_), Some(_)) => lengths += 1,
            (Some(_), None) => below += 1,
            (None, Some(_)) => panic!("a length without a range: {tracker:?}"),
            (None, None) => unknown += 1,
        }
        for point in points(rng, &names).iter().step_by(4) {
            let Ok(at) = tracker.at_point(point) else { continue };
            if at.numel() > 500 {
                continue;
            }
            let addresses = || at.addresses().flatten();
            let value = |sym: &Sym| sym.parts().expect("a polynomial").1.eval(point).expect("small");
            if let (Some((low, high)), Some(least), Some(most)) = (&range, addresses().min(), addresses().max()) {
                assert_eq!((value(low), value(high)), (least.into(), most.into()), "{tracker:?} at {point:?}");
                ranges += 1;
                if let Some(len) = &len {
                    assert_eq!(value(len), i128::from(most) + 1, "{tracker:?} at {point:?}");
                    assert!(least >= 0, "{tracker:?} at {point:?}");
                }
            }
            let said = match &contiguity {
                Equality::Always => true,
                Equality::When { formula, .. } => holds(formula, point),
                Equality::Never => false,
                Equality::Undecided => continue,
            };
            // Every element is one further than the one before it; where there is none, all layouts are the same.
            let all: Vec<Option<i64>> = at.addresses().collect();
            let follows = all.windows(2).all(|pair| matches!(pair, [Some(a), Some(b)] if *b == a + 1));
            assert_eq!(said, follows && !all.contains(&None), "{tracker:?} at {point:?}: {contiguity:?}");
            order += usize::from(said);
        }
    }
    println!("{ranges} ranges; {lengths} lengths, {below} below 0, {unknown} not known; {order} in order");
    assert!(ranges > 0 && lengths > 0 && below > 0 && unknown > 0 && order > 0);
}

#[test]
fn a_formula_has_the_factors_that_may_be_0() {
    let [b, t, h, d] = ["B", "T", "H", "D"].map(|name| Sym::new(name, 1..));
    let heads = ShapeTracker::contiguous([b, t, h, d]).and_then(|st| st.permute([0, 2, 1, 3])).expect("a shape");
    let copies = heads.copies(&Movement::Contiguous).text(heads.scope());
    assert_eq!(copies.as_deref(), Some("copies B*T*H*D elements unless T == 1 or H == 1"));
}

#[test]
fn numbers_are_layouts_of_names_without_names() {
    for seed in numbers(500) {
        let rng = &mut Rng(6 << 40 | seed);
        let names = names(rng);
        let tracker = tracker(rng, &names);
        for point in points(rng, &names).iter().step_by(16) {
            let Ok(at) = tracker.at_point(point) else { continue };
            let again = ShapeTracker::from(&at);
            assert_eq!(again.at([]).expect("no names"), at);
            if let (Some((low, high)), Ok(Some((least, most)))) = (again.address_range(), at.address_range()) {
                assert_eq!((low, high), (Sym::from(least), Sym::from(most)), "{at:?}");
            } else if let (Some(view), Ok(Some(_))) = (at.as_view(), at.address_range()) {
                panic!("the range of {view} is known");
            }
        }
    }
}

#[test]
fn an_environment_may_have_more_names() {
    let mut scope = Scope::new();
    let h = Poly::from(scope.declare("h", Some(1), None).expect("a name"));
    let size = times(&h, &Poly::from(8));
    scope.define("H", size.clone());
    let st = ShapeTracker::in_scope(Arc::new(scope), vec![size]).expect("a shape");
    assert_eq!(st.at([("T", 5), ("h", 2), ("H", 16)]).expect("values").shape(), [16]);
    let refused = |values: &[(&'static str, i64)]| st.at(values.iter().copied()).expect_err("a mistake").to_string();
    assert_eq!(refused(&[("h", 2), ("H", 15)]), "at: at these values H == 8*h does not hold");
    assert_eq!(refused(&[("g", 2)]), "at: there is no name g: the only one is h");
    assert_eq!(refused(&[("H", 16)]), "at: the name h has no value");
}

fn sentence(result: Result<ShapeTracker, Error>) -> (ErrorKind, String) {
    let err = result.expect_err("a mistake");
    (err.kind(), err.to_string())
}

/// What is wrong with numbers is told by both libraries in one sentence, of one kind.
#[test]
fn mistakes_in_numbers_are_told_in_the_sentences_of_numbers() {
    for (shape, op) in [
        ([2, 3], "reshape(4, 2)"),
        ([2, 3], "reshape(-1, 4)"),
        ([2, 3], "reshape(-1, -1)"),
        ([2, 0], "reshape(0, -1)"),
        ([2, 3], "reshape(-2, -3)"),
        ([2, 3], "permute(0)"),
        ([2, 3], "permute(0, 2)"),
        ([2, 3], "permute(1, -1)"),
        ([2, 3], "transpose(0, 2)"),
        ([2, 3], "expand(2, 6)"),
        ([2, 3], "broadcast_to(3)"),
        ([2, 3], "pad((0, 0), (-1, 0))"),
        ([2, 3], "shrink((0, 2), (1, 4))"),
        ([2, 3], "shrink((2, 1), (0, 3))"),
        ([2, 3], "shrink((0, 2))"),
        ([2, 3], "flip(5)"),
        ([2, 3], "flip(True)"),
        ([2, 3], "step(1, 0)"),
        ([2, 3], "slice(:, ::0)"),
        ([2, 3], "squeeze(0)"),
        ([2, 3], "unsqueeze(4)"),
        ([1, 1], "as_strided((2,), (1,), 0)"),
        ([2, 3], "as_strided((2,), (1, 1), 0)"),
    ] {
        let chain: shapetracker::Chain = op.parse().expect("an operation");
        let numbers = &chain.ops()[0];
        let polys = numbers.try_map(|&number| Some(Poly::from(number))).expect("a polynomial each");
        let integers = shapetracker::ShapeTracker::contiguous(shape).expect("a shape").apply(numbers);
        let symbolic = ShapeTracker::contiguous(shape).expect("a shape").apply(&polys);
        let (expected, found) = (integers.expect_err(op), symbolic.expect_err(op));
        assert_eq!((found.kind(), found.to_string()), (expected.kind(), expected.to_string()));
    }
}

#[test]
fn mistakes_are_told_in_sentences() {
    let (n, m) = (Sym::new("n", 1..), Sym::new("m", 1..));
    let st = || ShapeTracker::contiguous([n.clone(), m.clone()]).expect("a shape");
    let one = |value: i64| Sym::from(value);
    for (result, kind, text) in [
        (
            st().reshape([n.clone() * 2, m.clone()]),
            ErrorKind::SizeMismatch,
            "reshape: shape (n, m) has n*m elements, but shape (2*n, m) needs 2*n*m, whatever values the names have",
        ),
        (
            st().reshape([one(-1), 7.into()]),
            ErrorKind::Infer,
            "reshape: the size of axis 0 cannot be inferred: n*m elements are not divisible by 7, the product of the \
             other sizes, as polynomials; give the size, or define a name as a product (H = 8*h)",
        ),
        (
            st().reshape([-1, -1]),
            ErrorKind::Infer,
            "reshape: axes 0 and 1 are both -1, but only one size can be inferred",
        ),
        (
            st().expand([n.clone() + 1, m.clone()]),
            ErrorKind::NotOne,
            "expand: axis 0 has size n, which is not known to be 1 or n + 1, so that it cannot become n + 1: only an axis \
             of size 1 can be broadcast",
        ),
        (
            st().pad([(one(0), one(0)), (-n.clone(), one(0))]),
            ErrorKind::NegativePad,
            "pad: axis 1 is padded by (-n, 0), but a pad cannot be negative (shrink takes elements away)",
        ),
        (
            st().shrink([(n.clone(), one(0)), (one(0), m.clone())]),
            ErrorKind::RangeOutside,
            "shrink: axis 0 has size n, but the range (n, 0) ends before it begins, whatever values the names have; a range \
             (begin, end) needs 0 <= begin <= end <= n",
        ),
        (
            st().unsqueeze(3),
            ErrorKind::AxisOutOfRange,
            "unsqueeze: the new axis cannot be axis 3: the tensor has 2 axes, so that it can be any of -3 to 2",
        ),
        (
            st().step([2, 1]),
            ErrorKind::Undecided,
            "step: axis 0 has size n, whose remainder modulo 2 is not known, so that it is open how many elements a step of 2 \
             takes: write the size with a multiple of 2, such as 2*k",
        ),
        (
            ShapeTracker::contiguous([n.clone(), Sym::new("n", 2..)]),
            ErrorKind::RangesDiffer,
            "shape: the name n has two ranges or two definitions, but one name is one number: rename one of them",
        ),
        (
            ShapeTracker::contiguous([Sym::new("n", 5..5)]),
            ErrorKind::EmptyRange,
            "size: the range of n is empty: its least value would be 5, and its greatest 4",
        ),
        (
            ShapeTracker::contiguous([Sym::new("for", 1..)]),
            ErrorKind::Expression,
            "size: `for` cannot be a name: it is a keyword of Python",
        ),
        (
            ShapeTracker::contiguous([Sym::from(i128::MAX) + 1]),
            ErrorKind::Overflow,
            "size: a polynomial has coefficients past 128 bits, or more than 16 factors in a product",
        ),
        (st().given(&n.at_most(0)), ErrorKind::EmptyRange, "given: no values of the names satisfy all conditions"),
        (st().as_strided([n.clone()], [n.clone() * &m], 0), ErrorKind::AddressOutside, ""),
    ] {
        // What is neither right nor wrong for all values is done, and needed.
        match (text, result) {
            ("", Ok(st)) => assert_eq!(st.needs().len(), 1, "{st:?}"),
            (text, result) => assert_eq!(sentence(result), (kind, text.to_owned())),
        }
    }
}

#[test]
fn what_an_operation_needs_is_said() {
    let needs = |st: Result<ShapeTracker, Error>| {
        let st = st.expect("it can be done");
        formula_text(&vec![st.needs().to_vec()], st.scope())
    };
    let (n, s, l) = (Sym::new("N", 1..), Sym::new("s", 0..), Sym::new("L", 1..));
    let st = || ShapeTracker::contiguous([n.clone(), 64.into()]).expect("a shape");
    let all = (Sym::from(0), Sym::from(64));
    assert_eq!(needs(st().shrink([(s.clone(), s.clone() + &l), all.clone()])), "N >= s + L");
    assert_eq!(needs(st().reshape([s.clone() + 1, l.clone()])), "64*N == s*L + L");
    assert_eq!(needs(st().slice([(None, Some(l.clone()), 1), (None, None, 1)])), "N >= L");
    assert_eq!(needs(st().slice([(None, None, -1), (Some(1.into()), None, 7)])), "always");
    // What follows from what is known is not needed again.
    let cut = st().shrink([(Sym::from(0), l.clone()), all.clone()]).expect("a range");
    assert_eq!(needs(cut.shrink([(Sym::from(0), l.clone()), all])), "N >= L");
}

#[test]
fn a_tracker_over_another_one() {
    let (h, t) = (Sym::new("H", 1..), Sym::new("T", 1..));
    let turned = ShapeTracker::contiguous([h.clone(), t.clone()]).and_then(|st| st.permute([1, 0])).expect("axes");
    let back = ShapeTracker::contiguous([t, h]).and_then(|st| st.permute([1, 0])).expect("axes");
    let both = turned.compose(&back).expect("it fits");
    assert_eq!(both.to_string(), "(H, T):(T, 1)");
    assert!(both.needs().is_empty());
}

#[test]
fn a_masked_scalar_is_not_the_scalar() {
    let scalar = |mask: Option<Vec<(Poly, Poly)>>| {
        let view = View { shape: Vec::new(), strides: Vec::new(), offset: Poly::default(), mask };
        ShapeTracker::from_views(Arc::new(Scope::new()), [view]).expect("a view")
    };
    let (masked, valid) = (scalar(Some(Vec::new())), scalar(None));
    assert_eq!(masked.equality(&valid).expect("one shape"), Equality::Never);
    assert_eq!(valid.equality(&masked).expect("one shape"), Equality::Never);
    assert_eq!(masked.equality(&masked).expect("one shape"), Equality::Always);
    let at = |tracker: &ShapeTracker| tracker.at_point(&[]).expect("no names").address(&[]);
    assert_eq!((at(&masked), at(&valid)), (None, Some(0)));
    // And it stays masked under what adds axes, and in code.
    for (tracker, expected) in [(&masked, None), (&valid, Some(0))] {
        let element = |moved: Result<ShapeTracker, Error>, index: &[i64]| {
            moved.expect("an operation").at_point(&[]).expect("no names").address(index)
        };
        assert_eq!(element(tracker.unsqueeze(0), &[0]), expected);
        assert_eq!(element(tracker.reshape([Sym::from(1), Sym::from(1)]), &[0, 0]), expected);
        assert_eq!(element(tracker.broadcast_to([Sym::from(3)]), &[2]), expected);
        assert_eq!(element(tracker.unsqueeze(0).and_then(|one| one.squeeze([0])), &[]), expected);
        let code = tracker.index_expr().expect("it fits");
        assert_eq!(code.graph().range(code.valid()), if expected.is_some() { (1, 1) } else { (0, 0) });
    }
}

#[test]
fn a_tracker_is_made_again_of_its_parts() {
    let mut views = 0;
    for seed in numbers(800) {
        let rng = &mut Rng(8 << 40 | seed);
        let mut names = names(rng);
        if rng.one_in(2) {
            // What is known beyond ranges, of names that no view may have.
            let mut scope = (*names.scope).clone();
            scope.require(Literal::equal(plus(&Poly::from(3), &times(&var(1), &Poly::from(-1)))));
            scope.require(Literal::divisible(plus(&var(0), &var(2)), 2));
            scope.define("H", times(&var(0), &Poly::from(8)));
            names.scope = Arc::new(scope);
        }
        let tracker = tracker(rng, &names);
        views += usize::from(tracker.views().len() > 1);
        let parts = tracker.parts();
        let again = ShapeTracker::from_parts(&parts).unwrap_or_else(|err| panic!("{tracker:?}: {err}"));
        assert_eq!(again, tracker);
        assert_eq!(again.parts(), parts);
        #[cfg(feature = "serde")]
        {
            let text = serde_json::to_string(&tracker).expect("text");
            assert_eq!(serde_json::from_str::<ShapeTracker>(&text).expect("a tracker"), tracker, "{text}");
        }
    }
    assert!(views > 0);
}

#[test]
fn parts_that_are_no_tracker_are_refused_with_a_sentence() {
    let parts = ShapeTracker::contiguous([Sym::new("n", 1..), 4.into()]).unwrap().permute([1, 0]).unwrap().parts();
    let refused = |change: &dyn Fn(&mut Parts)| {
        let mut parts = parts.clone();
        change(&mut parts);
        ShapeTracker::from_parts(&parts).unwrap_err().to_string()
    };
    for (message, change) in [
        ("parts: a tracker needs at least one view", (&|parts: &mut Parts| parts.views.clear()) as &dyn Fn(&mut Parts)),
        ("parts: `n` is given twice", &|parts| parts.names.push(parts.names[0].clone())),
        ("parts: `idx1` cannot be the name of a size: it is the name of an index", &|parts| {
            parts.names[0].0 = "idx1".into()
        }),
        ("parts: there is no name `m`: the only one is `n`", &|parts| parts.views[0].2 = "m - n".into()),
        ("parts: `n` is given twice", &|parts| parts.definitions.push(("n".into(), "4".into()))),
        ("parts: `<` is none of `==`, `>=` and `!=`", &|parts| parts.given.push(("n".into(), "<".into(), None))),
        (
            "parts: `n` is compared by `>=` modulo 2: modulo a number, which is 1 or more, there is only `==` and `!=`",
            &|parts| {
                parts.needs.push(("n".into(), ">=".into(), Some(2)));
            },
        ),
        ("parts: axis 0 has size -4, but a size cannot be negative", &|parts| parts.views[0].0[0] = "-4".into()),
    ] {
        let found = refused(change);
        assert!(found.starts_with(message), "{found}");
    }
}

#[test]
fn elements_at_one_address_are_found_and_what_has_none_is_undone() {
    let (mut never, mut found, mut unknown, mut undone, mut refused, mut compared) = (0, 0, 0, 0, 0, 0);
    for seed in numbers(2_000) {
        let rng = &mut Rng(9 << 40 | seed);
        let names = names(rng);
        let mut tracker = tracker(rng, &names);
        if rng.one_in(3) {
            let strides = [Poly::from(1), Poly::from(2), var(0), var(1), times(&var(0), &var(1)), Poly::from(-3)];
            let stride: Vec<Poly> = tracker.shape().iter().map(|_| rng.pick(&strides).clone()).collect();
            let offset = times(&Poly::from(40), &times(&var(0), &var(1)));
            let view = View { shape: tracker.shape().to_vec(), strides: stride, offset, mask: None };
            let Ok(strided) = ShapeTracker::from_views(names.scope.clone(), [view]) else { continue };
            tracker = strided;
        }
        let collision = tracker.collision();
        match &collision {
            Ok(None) => never += 1,
            Ok(Some(collision)) => {
                found += 1;
                let at = tracker.at(collision.values.iter().map(|(name, value)| (&name[..], *value))).expect("values");
                let [a, b] = &collision.indices;
                assert_ne!(a, b, "{tracker:?}");
                assert_eq!((at.address(a), at.address(b)), (Some(collision.address), Some(collision.address)));
            }
            Err(_) => unknown += 1,
        }
        let len = tracker.buffer_len().map(|len| len + 2);
        let inverse = len.map(|len| tracker.invert([len]));
        match &inverse {
            Some(Ok(_)) => undone += 1,
            Some(Err(_)) => refused += 1,
            None => {}
        }
        for point in points(rng, &names).iter().step_by(4) {
            let Ok(at) = tracker.at_point(point) else { continue };
            if at.numel() > 300 {
                continue;
            }
            let mut addresses: Vec<i64> = at.addresses().flatten().collect();
            if collision == Ok(None) {
                let all = addresses.len();
                addresses.sort_unstable();
                addresses.dedup();
                assert_eq!(addresses.len(), all, "{tracker:?} at {point:?}");
            }
            if let Some(Ok(inverse)) = &inverse
                && let Ok(inverse) = inverse.at_point(point)
                && inverse.numel() < 2000
            {
                let len = inverse.numel();
                // Where the tracker has an element, its position is there, and nothing anywhere else.
                let mut expected = vec![None; len as usize];
                for (position, address) in at.addresses().enumerate() {
                    if let Some(address) = address {
                        expected[address as usize] = Some(position as i64);
                    }
                }
                assert!(inverse.addresses().eq(expected), "{tracker:?} at {point:?}: {inverse}");
                compared += 1;
            }
        }
    }
    println!(
        "{never} have none, {found} some, {unknown} not known; {undone} undone, {refused} not; {compared} compared at values"
    );
    assert!(never > 0 && found > 0 && undone > refused && compared > undone);
}
