//! Checks of the oracle itself: it knows views that are known, refuses what is no view, and catches wrong answers.

use shapetracker::{Dims, UnitStep, View, Witness};

use crate::oracle::{Array, Ratio, RawView, check_witness, conditions, evaluate, look_up, reduced, solutions};
use crate::pairs::judge;
use crate::random::check;

fn array(shape: &[i64], cells: &[Option<i64>]) -> Array {
    Array { shape: shape.into(), cells: cells.into() }
}

#[test]
fn a_stack_is_evaluated_as_written_out_by_hand() {
    let st = [RawView::new(&[2, 3], &[1, 2], 0, None), RawView::contiguous(&[3, 2])];
    assert_eq!(evaluate(&st), array(&[3, 2], &[0, 2, 4, 1, 3, 5].map(Some)));
    let masked = [RawView::new(&[2, 3], &[3, 1], -1, Some(&[(0, 2), (1, 3)])), RawView::new(&[6], &[-1], 5, None)];
    assert_eq!(evaluate(&masked), array(&[6], &[Some(4), Some(3), None, Some(1), Some(0), None]));
    let windows = [RawView::contiguous(&[4]), RawView::new(&[2, 3], &[1, 1], 0, Some(&[(0, 2), (2, 3)]))];
    assert_eq!(evaluate(&windows), array(&[2, 3], &[None, None, Some(2), None, None, Some(3)]));
    assert_eq!(evaluate(&[RawView::new(&[], &[], 7, Some(&[]))]), array(&[], &[None]));
    assert_eq!(evaluate(&[RawView::new(&[], &[], 7, None)]), array(&[], &[Some(7)]));
    assert_eq!(look_up(&st, &[1, 1]), Some(1));
}

#[test]
fn operations_do_what_numpy_does() {
    // Each line was compared with numpy.arange(6).reshape(2, 3) under the operation of the same name.
    let base = Array::contiguous(&[2, 3]);
    assert_eq!(base.permute(&[1, 0]), array(&[3, 2], &[0, 3, 1, 4, 2, 5].map(Some)));
    assert_eq!(base.reshape(&[3, 2]), array(&[3, 2], &[0, 1, 2, 3, 4, 5].map(Some)));
    assert_eq!(base.flip(&[1]), array(&[2, 3], &[2, 1, 0, 5, 4, 3].map(Some)));
    assert_eq!(base.step(&[1, 2]), array(&[2, 2], &[0, 2, 3, 5].map(Some)));
    assert_eq!(base.step(&[-1, -2]), array(&[2, 2], &[5, 3, 2, 0].map(Some)));
    assert_eq!(base.shrink(&[(1, 2), (0, 2)]), array(&[1, 2], &[3, 4].map(Some)));
    assert_eq!(base.pad(&[(0, 0), (1, 0)]).cells[..5], [None, Some(0), Some(1), Some(2), None]);
    assert_eq!(base.shrink(&[(0, 1), (0, 3)]).expand(&[2, 3]), array(&[2, 3], &[0, 1, 2, 0, 1, 2].map(Some)));
    assert_eq!(base.as_strided(&[2, 2], &[1, 2], 1), array(&[2, 2], &[1, 3, 2, 4].map(Some)));
    assert_eq!(Array::contiguous(&[2, 3, 4]).permute(&[2, 0, 1]).at(&[3, 1, 2]), Some(23));
}

#[test]
fn known_views_are_recognised() {
    let views = [
        RawView::new(&[], &[], 3, None),
        RawView::new(&[], &[], 0, Some(&[])),
        RawView::new(&[0, 3], &[0, 0], 0, None),
        RawView::new(&[2, 3], &[0, 0], 0, Some(&[(0, 0), (0, 0)])),
        RawView::new(&[2, 1, 3], &[-3, 0, 0], 3, None),
        RawView::new(&[4, 3], &[0, 1], 2, Some(&[(2, 3), (0, 3)])),
        RawView::new(&[4, 3], &[5, -1], -3, Some(&[(1, 3), (0, 2)])),
    ];
    for view in views {
        assert_eq!(view.array().single_view(), Some(view));
    }
}

#[test]
fn what_is_no_view_is_refused() {
    let none = [
        array(&[3], &[Some(0), Some(1), Some(3)]),
        array(&[3], &[Some(0), None, Some(2)]),
        array(&[2, 2], &[Some(0), Some(1), Some(2), None]),
        array(&[2, 2], &[None, Some(1), Some(2), None]),
        array(&[2, 2], &[Some(0), Some(1), Some(2), Some(4)]),
    ];
    for array in none {
        assert_eq!(array.single_view(), None, "{array:?}");
    }
}

#[test]
fn a_wrong_answer_is_caught() {
    // The right answer passes and each answer with one number changed does not.
    let stack = [RawView::contiguous(&[4, 6]), RawView::new(&[4, 3], &[6, 1], 1, Some(&[(0, 4), (1, 3)]))];
    let array = evaluate(&stack);
    let right = array.single_view().expect("a slice is a view");
    assert_eq!(judge(&Ok(right.view()), &array), Ok(()));
    let wrong: [fn(&mut RawView); 6] = [
        |view| view.offset += 1,
        |view| view.strides[0] += 1,
        |view| view.strides[1] = 0,
        |view| view.mask = None,
        |view| view.mask = Some(vec![(0, 4), (1, 2)]),
        |view| view.shape[0] = 5,
    ];
    for change in wrong {
        let mut view = right.clone();
        change(&mut view);
        assert!(judge(&Ok(view.view()), &array).is_err(), "{view:?} passed for {right:?}");
    }
    let transposed = evaluate(&[RawView::new(&[2, 3], &[1, 2], 0, None), RawView::contiguous(&[6])]);
    assert!(judge(&Ok(View::contiguous([6]).unwrap()), &transposed).is_err());
}

#[test]
fn a_wrong_witness_is_caught() {
    let dims = |index: &[i64]| Dims::from(index);
    let uneven = [RawView::new(&[2, 3], &[1, 2], 0, None), RawView::contiguous(&[6])];
    let found = |axis, a: (&[i64], i64, i64), b: (&[i64], i64, i64)| {
        let steps = [a, b].map(|(index, from, to)| UnitStep::new(index, from, to));
        check_witness(&Witness::UnevenStep { axis, steps }, &[6], |index| look_up(&uneven, index))
    };
    assert_eq!(found(0, (&[0], 0, 2), (&[2], 4, 1)), Ok(()));
    assert!(found(0, (&[0], 0, 2), (&[1], 2, 4)).is_err(), "even steps");
    assert!(found(0, (&[0], 0, 2), (&[2], 4, 3)).is_err(), "an address that is not read");
    assert!(found(0, (&[0], 0, 2), (&[5], 5, 6)).is_err(), "a step out of the shape");
    assert!(found(1, (&[0], 0, 2), (&[2], 4, 1)).is_err(), "an axis that there is not");
    assert!(found(0, (&[0, 0], 0, 2), (&[2], 4, 1)).is_err(), "an index of another rank");

    let triangle = array(&[2, 2], &[Some(0), Some(1), Some(2), None]);
    let found = |a: &[i64], b: &[i64], invalid: &[i64]| {
        let witness = Witness::NotABox { valid: [dims(a), dims(b)], invalid: dims(invalid) };
        check_witness(&witness, &[2, 2], |index| triangle.at(index).map(i128::from))
    };
    assert_eq!(found(&[0, 1], &[1, 0], &[1, 1]), Ok(()));
    assert!(found(&[0, 1], &[0, 0], &[1, 1]).is_err(), "not between");
    assert!(found(&[1, 1], &[1, 0], &[1, 1]).is_err(), "not valid");
    assert!(found(&[0, 1], &[1, 0], &[0, 0]).is_err(), "not invalid");
}

#[test]
fn queries_of_arrays_are_right_where_the_answer_is_plain() {
    let unit = Ratio { rise: 1, run: 1 };
    let grid = Array::contiguous(&[2, 3]);
    assert_eq!((grid.stride(0), grid.stride(1)), (Some(Some(Ratio { rise: 3, run: 1 })), Some(Some(unit))));
    let turned = Array::contiguous(&[3, 2]).permute(&[1, 0]).reshape(&[3, 2]);
    assert_eq!((turned.stride(0), turned.stride(1)), (None, None));
    let gap = array(&[4], &[Some(0), None, None, Some(6)]);
    assert_eq!(gap.stride(0), Some(Some(Ratio { rise: 2, run: 1 })));
    assert_eq!(array(&[2], &[Some(0), None]).stride(0), Some(None));
    assert!(gap.validity_depends_on(0) && !grid.validity_depends_on(0));
    assert!(!grid.pad(&[(1, 0), (0, 0)]).validity_depends_on(1));
    assert_eq!((grid.buffer_len(), gap.buffer_len(), array(&[1], &[None]).buffer_len()), (6, 7, 0));
    assert!(grid.is_injective() && !grid.shrink(&[(0, 1), (0, 3)]).expand(&[2, 3]).is_injective());
}

#[test]
fn conditions_are_the_equations_of_the_tables_of_uit_de_bos() {
    let conditions = |size| conditions(&[10, 3, 3], &RawView::new(&[size], &[4], 0, None));
    assert_eq!(conditions(2), reduced(vec![]));
    assert_eq!(conditions(4), [[1, -2, -3]]);
    assert_eq!(conditions(6), [[1, 0, -9], [0, 1, -3]]);
    assert_eq!(conditions(6), reduced(vec![vec![1, -3, 0], vec![1, -2, -3]]));
    assert_eq!(solutions(&conditions(6), 3), [[9, 3, 1]]);
    assert_eq!(solutions(&conditions(4), 3), [[2, 1, 0], [3, 0, 1]]);
}

#[test]
fn a_failing_case_is_reported_and_simple() {
    let shrunk = std::panic::catch_unwind(|| {
        check(1000, |tape| tape.below(1 << 20), |number| if *number < 1000 { Ok(()) } else { Err("too large".into()) });
    });
    let message = *shrunk.expect_err("some draw is large").downcast::<String>().expect("a message");
    assert!(message.contains("too large") && message.contains("1000"), "{message}");
}
