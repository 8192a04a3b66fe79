//! The worked examples of the documents that this library rests on, each named after its source.
//!
//! Where the code or the prose of a source disagrees with the definition of a view, the definition decides, and the
//! comment says so.

use shapetracker::{MergedDim, ShapeTracker, Unmerged, View, Witness, conditions, merge};

use crate::oracle::{Array, RawView, check_witness, evaluate, look_up};
use crate::pairs::judge;

fn view(shape: &[i64], strides: &[i64]) -> View {
    View::new(shape, strides, 0, None).unwrap()
}

fn addresses(st: &ShapeTracker) -> Vec<i64> {
    st.addresses().map(|address| address.expect("nothing is masked")).collect()
}

fn merged_dims(view: &View) -> Vec<(i64, i64, i64)> {
    view.merge_dims().into_iter().map(|MergedDim { size, stride, real, .. }| (size, stride, real)).collect()
}

/// Reshapes a masked view, and checks the answer element by element before handing it back.
fn reshape(view: &View, shape: &[i64]) -> Option<View> {
    let outcome = view.reshape(shape);
    let stack = [RawView::from(view), RawView::contiguous(shape)];
    assert_eq!(judge(&outcome, &evaluate(&stack)), Ok(()));
    outcome.ok()
}

mod uit_de_bos_merging_tensor_views {
    use super::*;

    #[test]
    fn definition_5_the_contiguous_view_of_a_shape() {
        assert_eq!(View::contiguous([2, 3, 4]).unwrap().strides(), [12, 4, 1]);
    }

    #[test]
    fn remark_7_and_section_5_unraveling() {
        // The unravelling of 5 in (2, 3, 4) is (0, 1, 1): seen through strides that keep the digits apart.
        let digits = view(&[2, 3, 4], &[100, 10, 1]);
        let five = View::new([1], [0], 5, None).unwrap();
        assert_eq!(merge(&digits, &five).unwrap().address(&[0]), Some(11));
    }

    /// Section 4: v = ((10, 3, 3), strides), v' = ((size), (4)).
    fn example(size: i64, strides: [i64; 3]) -> Result<View, Unmerged> {
        merge(&view(&[10, 3, 3], &strides), &view(&[size], &[4]))
    }

    #[test]
    fn table_1_four_elements_need_one_equation() {
        let later = view(&[4], &[4]);
        assert_eq!(conditions([10, 3, 3], &later).unwrap().to_string(), "s1 = 2*s2 + 3*s3");
        // The merged view is ((4), (s2 + s3)) wherever s1 = 2 s2 + 3 s3, and there is none elsewhere.
        for (s2, s3) in [(3, 1), (5, 7), (1, 0), (0, 1), (4, -3)] {
            assert_eq!(example(4, [2 * s2 + 3 * s3, s2, s3]).unwrap(), view(&[4], &[s2 + s3]));
            assert!(example(4, [2 * s2 + 3 * s3 + 1, s2, s3]).is_err());
        }
    }

    #[test]
    fn table_1_the_rows_of_the_unraveled_indices() {
        // The column (i1, i2, i3) of the table.
        let digits = view(&[10, 3, 3], &[100, 10, 1]);
        let st = ShapeTracker::from_views([digits, view(&[4], &[4])]).unwrap();
        assert_eq!(addresses(&st), [0, 11, 22, 110]);
    }

    #[test]
    fn table_2_six_elements_need_two_equations() {
        let later = view(&[6], &[4]);
        assert_eq!(conditions([10, 3, 3], &later).unwrap().to_string(), "s1 = 3*s2, s2 = 3*s3");
        for s3 in [1, 2, -5] {
            assert_eq!(example(6, [9 * s3, 3 * s3, s3]).unwrap(), view(&[6], &[4 * s3]));
        }
        // The equation of table 1 alone no longer is enough: (17, 7, 1) satisfies it and merges for 4, not for 6.
        assert!(example(4, [17, 7, 1]).is_ok());
        let Err(Unmerged::Witness(Witness::UnevenStep { axis: 0, steps })) = example(6, [17, 7, 1]) else { panic!() };
        assert!(steps.iter().any(|step| step.index[0] == 4), "the last row of the table is the one that fails");
    }

    #[test]
    fn table_2_the_rows_of_the_unraveled_indices() {
        let digits = view(&[10, 3, 3], &[100, 10, 1]);
        let st = ShapeTracker::from_views([digits, view(&[6], &[4])]).unwrap();
        assert_eq!(addresses(&st), [0, 11, 22, 110, 121, 202]);
    }

    #[test]
    fn section_4_up_to_which_size_which_equations_hold() {
        // The prose before the tables says "s <= 4" and "s > 4". The definition: three elements have no overflow at all
        // and need no equation; the second equation comes with the overflow from 16 to 20, which is the sixth element, so
        // that five elements still need one equation only.
        let text = |size| conditions([10, 3, 3], &view(&[size], &[4])).unwrap().to_string();
        assert!(conditions([10, 3, 3], &view(&[3], &[4])).unwrap().equations().is_empty());
        assert_eq!(text(5), "s1 = 2*s2 + 3*s3");
        assert_eq!(text(7), "s1 = 3*s2, s2 = 3*s3");
    }

    #[test]
    fn section_4_3_two_elements_always_merge() {
        for strides in [[1, 2, 3], [0, 0, 7], [-5, 100, 3], [1 << 40, -9, 1]] {
            assert!(example(2, strides).is_ok());
        }
    }

    #[test]
    fn section_4_3_double_overflows_do_not_follow_from_single_ones_and_may_cancel() {
        // "If all single overflows satisfy the required conditions, then more complex overflows will automatically hold":
        // but overflows that never happen alone need not satisfy any. Here two of them only happen together and cancel.
        assert_eq!(merge(&view(&[10, 9, 4], &[140, 11, 13]), &view(&[6], &[9])).unwrap(), view(&[6], &[35]));
    }

    #[test]
    fn theorem_10_the_strides_of_the_merged_view_are_the_first_differences() {
        let pair = [RawView::contiguous(&[4, 6]), RawView::new(&[2, 2, 3], &[12, 3, 1], 0, None)];
        let merged = merge(&pair[0].view(), &pair[1].view()).unwrap();
        let difference = |index: &[i64]| look_up(&pair, index).unwrap() as i64;
        assert_eq!(merged.strides(), [difference(&[1, 0, 0]), difference(&[0, 1, 0]), difference(&[0, 0, 1])]);
    }
}

mod schillinger_new_view_criteria {
    use super::*;

    #[test]
    fn section_1_reshape_order_of_a_contiguous_view_is_the_identity() {
        let st = ShapeTracker::contiguous([2, 3, 4]).unwrap();
        assert!(addresses(&st).into_iter().eq(0..24));
    }

    #[test]
    fn section_1_max_merge_view() {
        // Axes merge where stride times size is the stride before: (2, 3, 4) permuted to (4, 2, 3) leaves two blocks.
        let view = View::contiguous([2, 3, 4]).unwrap().permute([2, 0, 1]).unwrap();
        let max_merge = view.max_merge();
        assert_eq!((max_merge.shape(), max_merge.strides()), (&[4, 6][..], &[1, 4][..]));
        assert_eq!(View::contiguous([2, 3, 4]).unwrap().max_merge(), View::contiguous([24]).unwrap());
    }

    #[test]
    fn section_2_1_splitting_any_axis_appends_no_view() {
        // Any strides at all: here none of them continues another.
        let earlier = view(&[6, 10, 4], &[7, -11, 100]);
        let split: [(&[i64], &[i64]); 4] = [
            (&[2, 3, 10, 4], &[21, 7, -11, 100]),
            (&[3, 2, 10, 4], &[14, 7, -11, 100]),
            (&[6, 5, 2, 4], &[7, -22, -11, 100]),
            (&[6, 10, 2, 2], &[7, -11, 200, 100]),
        ];
        for (shape, strides) in split {
            assert_eq!(earlier.reshape(shape).unwrap(), View::new(shape, strides, 0, None).unwrap());
        }
    }

    #[test]
    fn section_2_2_combining_axes_of_a_contiguous_block() {
        // 3 * 4 = 12 is the stride before, so that these two axes combine.
        let earlier = view(&[2, 5, 4], &[1, 12, 3]);
        assert_eq!(earlier.reshape([2, 20]).unwrap(), view(&[2, 20], &[1, 3]));
    }

    #[test]
    fn section_2_3_any_factors_inside_contiguous_blocks() {
        let earlier = view(&[2, 3, 4, 5], &[3, 1, 30, 6]);
        assert_eq!(earlier.max_merge(), view(&[6, 20], &[1, 6]));
        assert_eq!(earlier.reshape([3, 2, 10, 2]).unwrap(), view(&[3, 2, 10, 2], &[2, 1, 12, 6]));
        assert_eq!(earlier.reshape([6, 20]).unwrap(), view(&[6, 20], &[1, 6]));
    }

    #[test]
    fn section_3_reshaping_across_blocks_appends_a_view() {
        let earlier = view(&[2, 3, 4, 5], &[3, 1, 30, 6]);
        for shape in [&[3, 4, 10][..], &[24, 5], &[12, 10], &[120], &[4, 30]] {
            assert_eq!(reshape(&earlier, shape), None, "{shape:?} does not keep the blocks of 6 and 20 apart");
            assert_eq!(ShapeTracker::from(earlier.clone()).reshape(shape).unwrap().views().len(), 2);
        }
    }
}

mod how_dimension_merging_works {
    use super::*;

    #[test]
    fn cube_is_one_dimension() {
        let cube = view(&[2, 2, 2], &[4, 2, 1]);
        assert_eq!(ShapeTracker::contiguous([2, 2, 2]).unwrap().views(), std::slice::from_ref(&cube));
        assert_eq!(merged_dims(&cube), [(8, 1, 8)]);
    }

    #[test]
    fn broadcast_cube_is_a_grid() {
        let st = ShapeTracker::contiguous([2]).unwrap().reshape([1, 1, 2]).unwrap().expand([2, 2, 2]).unwrap();
        assert_eq!(st.views(), [view(&[2, 2, 2], &[0, 0, 1])]);
        assert_eq!(addresses(&st), [0, 1, 0, 1, 0, 1, 0, 1]);
        assert_eq!(st.address(&[0, 0, 1]), Some(1));
        assert_eq!(st.address(&[1, 1, 0]), Some(0));
        assert_eq!(merged_dims(&st.views()[0]), [(4, 0, 0), (2, 1, 2)]);
    }

    #[test]
    fn broadcast_cube_needs_its_axes_of_size_one_first() {
        // "The 1 by 1 part is required, if you reshape it as (2, 2, 2) it won't work."
        assert!(ShapeTracker::contiguous([2]).unwrap().reshape([2, 2, 2]).is_err());
        assert!(ShapeTracker::contiguous([2]).unwrap().expand([2, 2, 2]).is_err());
    }
}

mod reshape_without_symbolic {
    use super::*;

    #[test]
    fn claim_reshape_is_possible_only_if_products_meet() {
        // p1 = 6 and p2 = 4 do not merge with each other. Products of 6 are met by (2, 3, 4) and (6, 2, 2), not by (4, 6).
        let earlier = view(&[6, 4], &[1, 6]);
        assert!(reshape(&earlier, &[2, 3, 4]).is_some() && reshape(&earlier, &[6, 2, 2]).is_some());
        assert_eq!(reshape(&earlier, &[4, 6]), None);
        // The claim is about reshapes that walk all elements, and is no condition on other views of the elements.
        assert!(merge(&earlier, &view(&[6], &[4])).is_ok());
    }

    #[test]
    fn mergeability_case_1_no_stride_is_zero() {
        // They merge if stride x is stride x + 1 times size x + 1.
        assert_eq!(reshape(&view(&[3, 4], &[8, 2]), &[12]), Some(view(&[12], &[2])));
        assert_eq!(reshape(&view(&[3, 4], &[9, 2]), &[12]), None);
    }

    #[test]
    fn mergeability_case_2_a_stride_of_zero() {
        // "If sj = 1, reshape is trivial."
        assert_eq!(reshape(&view(&[1, 4], &[0, 1]), &[4]), Some(view(&[4], &[1])));
        // "If maskj has range > 1, reshape is not possible": here the whole axis of 3.
        assert_eq!(reshape(&view(&[3, 4], &[0, 1]), &[12]), None);
        let two_rows = View::new([3, 4], [0, 1], 0, Some(&[(0, 2), (0, 4)])).unwrap();
        assert_eq!(reshape(&two_rows, &[12]), None);
        // "If maskj has range = 1, reshape is possible, since it is virtually shape = 1, with some offset."
        let one_row = View::new([3, 4], [0, 1], 0, Some(&[(1, 2), (0, 4)])).unwrap();
        assert_eq!(reshape(&one_row, &[12]), Some(View::new([12], [1], -4, Some(&[(4, 8)])).unwrap()));
    }

    #[test]
    fn masks_case_1_a_cut_axis_cannot_be_split() {
        // [1..8] with mask (2, 6) as two rows of four: "new_mask[1] = not possible". The sketch writes ((0, 2)) for
        // the outer axis, which is trivial; the definition says that no single view exists.
        let cut = View::new([8], [1], 0, Some(&[(2, 6)])).unwrap();
        let Err(Unmerged::Witness(witness)) = cut.reshape([2, 4]) else { panic!() };
        let stack = [RawView::from(&cut), RawView::contiguous(&[2, 4])];
        assert_eq!(check_witness(&witness, &[2, 4], |index| look_up(&stack, index)), Ok(()));
    }

    #[test]
    fn masks_case_1_an_axis_that_is_whole_or_lies_inside_one_part_splits() {
        // "Only possible if mask spans [1-8] or lies within a single dimension [1-4] or [5-8]."
        assert_eq!(reshape(&view(&[8], &[1]), &[2, 4]), Some(view(&[2, 4], &[4, 1])));
        for (begin, end) in (0..8).flat_map(|begin| (begin + 1..=8).map(move |end| (begin, end))) {
            let masked = View::new([8], [1], 0, Some(&[(begin, end)])).unwrap();
            let inside_one_part = end <= 4 || begin >= 4;
            let whole = (begin, end) == (0, 8);
            assert_eq!(reshape(&masked, &[2, 4]).is_some(), whole || inside_one_part, "mask ({begin}, {end})");
        }
        let second = View::new([8], [1], 0, Some(&[(5, 7)])).unwrap();
        let expected = View::new([2, 4], [0, 1], 4, Some(&[(1, 2), (1, 3)])).unwrap();
        assert_eq!(reshape(&second, &[2, 4]), Some(expected));
    }

    #[test]
    fn masks_case_1_a_mask_of_whole_rows_splits_too() {
        // The sketch leaves this out: a mask that cuts between the new rows is not "within a single dimension".
        let rows = View::new([12], [1], 0, Some(&[(4, 12)])).unwrap();
        let expected = View::new([3, 4], [4, 1], 0, Some(&[(1, 3), (0, 4)])).unwrap();
        assert_eq!(reshape(&rows, &[3, 4]), Some(expected));
    }

    #[test]
    fn masks_case_2_combining_axes_that_unfold() {
        // [1, 2], [3, 4], [5, 6] with mask ((0, 2), (0, 2)) becomes (0, 4): the inner mask spans its axis.
        let outer = View::new([3, 2], [2, 1], 0, Some(&[(0, 2), (0, 2)])).unwrap();
        assert_eq!(reshape(&outer, &[6]), Some(View::new([6], [1], 0, Some(&[(0, 4)])).unwrap()));
        // If it does not, the outer mask must have range 1: [1, 2, 3], [4, 5, 6] with ((1, 2), (0, 2)) is (3, 5).
        let inner = View::new([2, 3], [3, 1], 0, Some(&[(1, 2), (0, 2)])).unwrap();
        assert_eq!(reshape(&inner, &[6]), Some(View::new([6], [1], 0, Some(&[(3, 5)])).unwrap()));
        let neither = View::new([2, 3], [3, 1], 0, Some(&[(0, 2), (0, 2)])).unwrap();
        assert_eq!(reshape(&neither, &[6]), None);
    }
}

mod shapetracker_notes {
    use super::*;

    #[test]
    fn two_by_two_matrix() {
        let st = ShapeTracker::contiguous([2, 2]).unwrap();
        assert_eq!(st.views(), [view(&[2, 2], &[2, 1])]);
        assert_eq!(st.address(&[1, 0]), Some(2), "second row, first column: the third element");
    }

    #[test]
    fn two_by_two_transposed_by_exchanging_strides() {
        let st = ShapeTracker::contiguous([2, 2]).unwrap().permute([1, 0]).unwrap();
        assert_eq!(st.views(), [view(&[2, 2], &[1, 2])]);
        assert_eq!(addresses(&st), [0, 2, 1, 3]);
        assert_eq!(st.permute([1, 0]).unwrap(), ShapeTracker::contiguous([2, 2]).unwrap());
    }

    #[test]
    fn two_by_two_mask_of_the_first_row() {
        // The visualiser's masks include their end, "0, 0" for the first row. Here every range is half-open.
        let first_row = View::new([2, 2], [2, 1], 0, Some(&[(0, 1), (0, 2)])).unwrap();
        let st = ShapeTracker::from(first_row);
        assert!(st.addresses().eq([Some(0), Some(1), None, None]));
    }

    #[test]
    fn stride_of_zero_repeats_a_row_four_times() {
        let st = ShapeTracker::contiguous([1, 4]).unwrap().expand([4, 4]).unwrap();
        assert_eq!(st.views(), [view(&[4, 4], &[0, 1])]);
        assert_eq!(addresses(&st), [0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3]);
    }

    #[test]
    fn elements_with_gaps_every_row_four_apart() {
        let gaps = ShapeTracker::contiguous([4, 2]).unwrap().step([2, 1]).unwrap();
        assert_eq!(gaps.views(), [view(&[2, 2], &[4, 1])]);
        assert_eq!(addresses(&gaps), [0, 1, 4, 5]);
    }

    #[test]
    fn multi_views_three_by_two_transposed_and_reshaped() {
        let transposed = View::contiguous([3, 2]).unwrap().permute([1, 0]).unwrap();
        assert_eq!((transposed.shape(), transposed.strides()), (&[2, 3][..], &[1, 2][..]));
        assert!(transposed.reshape([3, 2]).is_err(), "the notes: the returned value is None");
        let st = ShapeTracker::contiguous([3, 2]).unwrap().permute([1, 0]).unwrap().reshape([3, 2]).unwrap();
        assert_eq!(
            format!("{st:?}"),
            "ShapeTracker(views=(View(shape=(2, 3), strides=(1, 2), offset=0, mask=None, contiguous=False), \
             View(shape=(3, 2), strides=(2, 1), offset=0, mask=None, contiguous=True)))",
        );
        assert_eq!(addresses(&st), [0, 2, 4, 1, 3, 5]);
        let directly = Array::contiguous(&[3, 2]).permute(&[1, 0]).reshape(&[3, 2]);
        assert_eq!(directly.cells, [0, 2, 4, 1, 3, 5].map(Some));
    }

    #[test]
    fn multi_views_the_rendered_index_expression() {
        // (((ridx0*2)+ridx1)%3)*2 + (((ridx0*2)+ridx1)//3)
        let st = ShapeTracker::from_views([view(&[2, 3], &[1, 2]), view(&[3, 2], &[2, 1])]).unwrap();
        for (row, col) in (0..3).flat_map(|row| (0..2).map(move |col| (row, col))) {
            let index = row * 2 + col;
            assert_eq!(st.address(&[row, col]), Some(index % 3 * 2 + index / 3));
        }
    }
}
