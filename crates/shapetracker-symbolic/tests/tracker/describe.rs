//! Descriptions of layouts of named sizes, beside those of numbers at values of the names.

use shapetracker::describe::{Claim, Memory, describe};
use shapetracker_symbolic::{Equality, Formula, ShapeTracker, Sym};
use shapetracker_testing::{Rng, held, numbers};

use crate::random::{names, points, tracker};

/// How many trackers are described.
const CASES: u32 = 400;

fn holds(formula: &Formula, point: &[i128]) -> bool {
    formula.iter().any(|all| all.iter().all(|literal| literal.holds(point) == Some(true)))
}

/// What is said at a point; nothing where it is undecided.
fn said(when: &Equality, point: &[i128]) -> Option<bool> {
    match when {
        Equality::Always => Some(true),
        Equality::When { formula, .. } => Some(holds(formula, point)),
        Equality::Never => Some(false),
        Equality::Undecided => None,
    }
}

#[test]
fn what_is_said_for_all_values_is_said_of_the_numbers() {
    let (mut orders, mut forms, mut maps, mut holes, mut vectors) = ([0; 2], [0; 2], [0; 2], 0, 0);
    for seed in numbers(CASES) {
        let rng = &mut Rng(9 << 40 | seed);
        let names = names(rng);
        let named = tracker(rng, &names);
        let bytes = *rng.pick(&[1, 2, 4, 8]);
        let found = named.describe(Some(bytes));
        for point in points(rng, &names).iter().step_by(4) {
            let Ok(st) = named.at_point(point) else { continue };
            if st.numel() > 500 {
                continue;
            }
            let told = describe(&st, Some(Memory::of(bytes)));
            for (name, when) in &found.orders {
                let Some(said) = said(when, point) else { continue };
                // Whether the elements lie one after the other in that order, and none is masked.
                let is = st.numel() == 0 || told.is_dense() == Some(true) && told.is_named(name);
                // A mask that hides everything leaves addresses that nobody reads.
                if told.valid == Some(st.numel()) {
                    assert_eq!(said, is, "{name} of {named:?} at {point:?}: {when:?}");
                    orders[usize::from(said)] += 1;
                }
            }
            for form in found.matrix.iter().filter(|_| st.numel() > 0) {
                let Some(said) = said(&form.when, point) else { continue };
                let is = told
                    .matrix
                    .as_ref()
                    .is_ok_and(|matrix| matrix.forms.iter().any(|numbers| numbers.operation() == form.operation));
                assert_eq!(said, is, "{} of {named:?} at {point:?}: {:?}", form.operation, form.when);
                forms[usize::from(said)] += 1;
            }
            if let Some(said) = found.tensor_map.as_ref().and_then(|when| said(when, point)) {
                let is = matches!(told.tensor_map, Some(Ok(_)));
                // Along axes of one entry more will do than the condition says.
                if said || !st.shape().contains(&1) {
                    assert_eq!(said, is, "{named:?} at {point:?}: {:?}, {:?}", found.tensor_map, told.tensor_map);
                    maps[usize::from(said)] += 1;
                }
            }
            if let (Some(vector), true) = (found.vector, told.valid == Some(st.numel()) && st.numel() > 0) {
                assert!(
                    told.vector.is_some_and(|widest| widest.elements >= vector),
                    "{named:?} at {point:?}: {vector}"
                );
                vectors += i32::from(vector > 1);
            }
            if st.numel() > 0 && told.order.as_ref().is_some_and(|order| !order.names.is_empty()) {
                let formats = |format: &shapetracker::describe::Format| told.formats.contains(format);
                assert!(found.formats.iter().all(formats), "{named:?} at {point:?}: {:?}", found.formats);
            }
            if let (Some(left), Some((low, high))) = (&found.holes, &found.range)
                && told.valid.is_some_and(|valid| valid > 0)
            {
                let value = |sym: &Sym| sym.parts().ok().and_then(|(_, poly)| poly.eval(point));
                let range = told.range.unwrap().map(|(low, high)| (i128::from(low), i128::from(high)));
                assert_eq!(value(low).zip(value(high)), range, "{named:?} at {point:?}");
                assert_eq!(value(left), told.holes(), "{named:?} at {point:?}");
                holes += 1;
            }
        }
    }
    println!("orders {orders:?}, forms {forms:?}, maps {maps:?}, holes {holes}, vectors {vectors}");
    assert!(orders.iter().chain(&forms).all(|&count| count > 0) && maps[0] > 0 && holes > 0);
    // A small share of the cases has none of them.
    assert!(vectors > 0 || held(CASES) < CASES / 2);
}

#[test]
fn claims_that_hold_for_all_values_hold_of_the_numbers() {
    const CLAIMS: [&str; 10] =
        ["dense", "row-major", "column-major", "channels_last", "injective", "matrix", "tma", "vector=2", "NCHW", "ab"];
    let claims = CLAIMS.map(|word| word.parse::<Claim>().unwrap());
    // How many hold for all values, and how many not.
    let mut counts = [0; 2];
    for seed in numbers(CASES) {
        let rng = &mut Rng(11 << 40 | seed);
        let names = names(rng);
        let named = tracker(rng, &names);
        let found = named.describe(Some(2));
        let told: Vec<_> = points(rng, &names)
            .iter()
            .filter_map(|point| named.at_point(point).ok())
            .filter(|st| (1..=500).contains(&st.numel()))
            .map(|st| describe(&st, Some(Memory::of(2))))
            .collect();
        for claim in &claims {
            let Some(always) = found.holds(claim) else { continue };
            let at = |which: bool| told.iter().filter(|numbers| numbers.holds(claim) == Some(which)).count();
            match (always, claim) {
                (true, _) => assert_eq!(at(false), 0, "{claim} of {named:?}"),
                // What is not so for some values may be so for those that are tried.
                (false, Claim::Injective | Claim::Dense) => {}
                // Where axes have one entry more will do, and orders of no name are one of some.
                (false, Claim::TensorMap) => {}
                (false, _) => assert_eq!(at(true), 0, "{claim} of {named:?}"),
            }
            counts[usize::from(always)] += 1;
        }
    }
    println!("not for all values, for all: {counts:?}");
    assert!(counts.iter().all(|&count| count > held(CASES) / 2), "{counts:?}");
}

#[test]
fn conditions_are_told_in_the_names() {
    let (b, t, d) = (Sym::new("B", 1..), Sym::new("T", 1..), Sym::new("D", 1..));
    let st = ShapeTracker::contiguous([b, t, d]).unwrap();
    let told = |st: &ShapeTracker, topic: &str| {
        st.describe(Some(2)).lines().into_iter().find(|line| line.topic == topic).unwrap().text
    };
    assert_eq!(told(&st, "order"), "dense, row-major; other orders for some values");
    let found = st.describe(None);
    let Some(Equality::When { formula, scope }) = found.order("column-major") else { panic!() };
    let text = shapetracker_symbolic::formula_text(formula, scope);
    assert_eq!(text, "B == 1 and T == 1, or T == 1 and D == 1, or B == 1 and D == 1");
    let turned = st.permute([0, 2, 1]).unwrap();
    assert!(told(&turned, "BLAS").contains("N with leading dimension D"));
    assert_eq!(told(&turned, "addresses"), "0 to B*T*D - 1, all of them read");
    assert_eq!(told(&turned, "writing"), "no two elements share an address");
}

#[test]
fn layouts_that_are_apart_for_all_values_are_apart_at_each() {
    let (mut apart, mut shared, mut unknown) = (0, 0, 0);
    for seed in numbers(200) {
        let rng = &mut Rng(10 << 40 | seed);
        let names = names(rng);
        let (one, two) = (tracker(rng, &names), tracker(rng, &names));
        let found = one.overlap(&two);
        let addresses =
            |st: &shapetracker::ShapeTracker| st.addresses().flatten().collect::<std::collections::HashSet<i64>>();
        match &found {
            Ok(Some(found)) => {
                shared += 1;
                let values = || found.values.iter().map(|(name, value)| (&name[..], *value));
                let read = |st: &ShapeTracker, which: usize| {
                    let own: Vec<&str> = st.scope().names().iter().map(|name| &*name.name).collect();
                    let st = st.at(values().filter(|(name, _)| own.contains(name))).unwrap();
                    st.address(&found.indices[which])
                };
                assert_eq!(
                    (read(&one, 0), read(&two, 1)),
                    (Some(found.address), Some(found.address)),
                    "{one:?} {two:?}"
                );
            }
            Ok(None) => {
                apart += 1;
                for point in points(rng, &names).iter().step_by(4) {
                    let (Ok(a), Ok(b)) = (one.at_point(point), two.at_point(point)) else { continue };
                    if a.numel().max(b.numel()) <= 500 {
                        assert!(addresses(&a).is_disjoint(&addresses(&b)), "{one:?} {two:?} at {point:?}");
                    }
                }
            }
            Err(_) => unknown += 1,
        }
    }
    println!("{apart} apart, {shared} shared, {unknown} not known");
    assert!(shared > 0 && unknown < shared);
}
