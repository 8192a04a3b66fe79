//! Index expressions of random chains, evaluated at values of the names.

use std::sync::Arc;

use indexpr::{Language, Syntax};
use shapetracker_symbolic::{Poly, Scope, ShapeTracker, Sym, View};
use shapetracker_testing::{Rng, numbers};

use crate::random::{names, points, tracker};

/// Checks the code of a tracker at values of all names of its scope; how many elements that were.
fn check(tracker: &ShapeTracker, code: &indexpr::IndexExpr, point: &[i128]) -> usize {
    let graph = code.graph();
    let Ok(at) = tracker.at_point(point) else { return 0 };
    let names = tracker.scope().names();
    let value = |name: &str| {
        let place = names.iter().position(|known| &*known.name == name).expect("a name of the scope");
        i64::try_from(point[place]).expect("small")
    };
    let parameters: Vec<i64> = code.parameters().iter().map(|parameter| value(&parameter.name)).collect();
    let text = || {
        let text = |expr| graph.text(expr, Syntax::Python).expect("short");
        format!("{tracker:?} at {point:?}\n{}\n{}", text(code.valid()), text(code.index()))
    };
    for (variable, value) in code.parameters().iter().zip(&parameters) {
        assert!(variable.range.contains(value), "{} is not in {:?}: {}", variable.name, variable.range, text());
    }
    let with = |index: &[i64]| [index, &parameters].concat();
    let shape: Vec<i64> = match code.sizes() {
        [] => code.extents().to_vec(),
        sizes => {
            let zeros = with(&vec![0; sizes.len()]);
            sizes.iter().map(|size| graph.evaluate(*size, &zeros).expect("a size")).collect()
        }
    };
    assert_eq!(shape, at.shape(), "{}", text());
    let access = tracker.access().expect("an access");
    for axis in 0..at.rank() {
        // Along an axis with a stride each step moves by it, between elements that have addresses.
        let stride = access.stride(axis).map(|stride| stride.eval(point).expect("small"));
        let is_guarded = access.is_guarded(axis);
        for (position, here) in at.addresses().enumerate() {
            let mut index = shapetracker::unravel_index(position as i64, at.shape()).expect("an index");
            index[axis] += 1;
            if index[axis] == at.shape()[axis] {
                continue;
            }
            let next = at.address(&index);
            assert!(is_guarded || here.is_some() == next.is_some(), "axis {axis}: {}, {access:?}", text());
            if let (Some(stride), Some(here), Some(next)) = (stride, here, next) {
                assert_eq!(i128::from(next - here), stride, "axis {axis}: {}, {access:?}", text());
            }
        }
    }
    let mut count = 0;
    for (position, expected) in at.addresses().enumerate() {
        let index = shapetracker::unravel_index(position as i64, &shape).expect("a position");
        let values = with(&index);
        let valid = graph.evaluate(code.valid(), &values).expect("a condition") != 0;
        let address = valid.then(|| graph.evaluate(code.index(), &values).expect("an address"));
        assert_eq!(address, expected, "at {index:?}: {}", text());
        assert_eq!(access.at(point, &index), expected.map(i128::from), "at {index:?}: {}, {access:?}", text());
        count += 1;
    }
    count
}

#[test]
fn index_expressions_read_what_the_integers_read() {
    let seeds: Vec<u64> = numbers(2_000).collect();
    let count = seeds.len();
    let (mut elements, mut divisions, mut stacks) = (0, 0, 0);
    for seed in seeds {
        let rng = &mut Rng(1 << 40 | seed);
        let names = names(rng);
        let tracker = tracker(rng, &names);
        let code = tracker.index_expr().unwrap_or_else(|err| panic!("{tracker:?}: {err}"));
        // What is made of a shape by operations reads no address below 0.
        assert_eq!(code.lowest(), 0, "{tracker:?}");
        divisions += usize::from(code.index_divides());
        stacks += usize::from(tracker.views().len() > 1);
        for point in points(rng, &names).iter().step_by(3) {
            let at = |size: &shapetracker_symbolic::Poly| size.eval(point).expect("small");
            if tracker.shape().iter().map(at).product::<i128>() <= 400 {
                elements += check(&tracker, &code, point);
            }
        }
    }
    println!("{count} trackers, {stacks} of several views, {divisions} whose index divides; {elements} elements");
}

#[test]
fn there_are_no_kernels_where_some_values_read_below_address_0() {
    let kernel = |stride: i64, offset: &dyn Fn(Poly, Poly) -> Poly| {
        let mut scope = Scope::new();
        let [n, s] = [("N", Some(1), Some(64)), ("s", Some(0), None)]
            .map(|(name, lo, hi)| Poly::from(scope.declare(name, lo, hi).expect("a new name")));
        let view = View { shape: vec![n.clone()], strides: vec![stride.into()], offset: offset(n, s), mask: None };
        let tracker = ShapeTracker::from_views(Arc::new(scope), [view]).expect("a view");
        tracker.index_expr().expect("it fits").kernel(Language::Cuda).map_err(|err| err.to_string())
    };
    let minus = |a: &Poly, b: &Poly| a.sub(b).expect("small");
    let refused = kernel(1, &|_, _| (-3).into()).expect_err("it reads before the buffer");
    assert!(refused.contains("would read from address -3 on, 3 before the beginning of its buffer"), "{refused}");
    assert!(kernel(-1, &|_, _| 0.into()).is_err());
    assert!(kernel(1, &|_, s| minus(&s, &1.into())).is_err());
    assert!(kernel(-1, &|n, _| minus(&n, &2.into())).is_err());
    // The last element backwards, and whatever follows it.
    assert!(kernel(-1, &|n, _| minus(&n, &1.into())).is_ok());
    assert!(kernel(2, &|_, s| s).is_ok());
}

#[test]
fn names_without_an_end_get_the_greatest_with_which_everything_fits() {
    let ends = |names: &[Sym]| -> Vec<(i64, i64)> {
        let code = ShapeTracker::contiguous(names)
            .expect("a shape")
            .flip([0])
            .expect("an axis")
            .index_expr()
            .expect("it fits");
        code.parameters().iter().map(|parameter| (parameter.range.start, parameter.range.end)).collect()
    };
    let (free, small) = (|name| Sym::new(name, 1..), |name| Sym::new(name, 1..4097));
    assert_eq!(ends(&[free("a")]), [(1, 1 << 31)]);
    assert_eq!(ends(&[free("a"), free("b"), free("c")]), [(1, 1 << 21); 3]);
    assert_eq!(ends(&[small("a"), free("b"), small("c")]), [(1, 4097), (1, 1 << 31), (1, 4097)]);
}

#[test]
fn ranges_with_which_values_are_past_64_bits_are_refused() {
    let wide = |name| Sym::new(name, 1..1 << 20);
    let st = ShapeTracker::contiguous(["a", "b", "c", "d"].map(wide)).expect("a shape");
    let err = st.index_expr().expect_err("80 bits");
    assert_eq!(err.kind(), shapetracker::ErrorKind::Overflow);
    let text = err.to_string();
    assert!(text.starts_with("index_expr: code has numbers of 64 bits: the value ranges from 1 to 1208921"), "{text}");
    assert!(text.ends_with("past the range of 64-bit integers; give the names smaller ranges"), "{text}");
}
