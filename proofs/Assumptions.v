(** Prints what the theorems rest on.  The build fails unless all are closed under the global context: no axiom, no
    admitted lemma.

    They are printed in groups, because each printing takes a while: a group rests on what any of its members rests on. *)

From Shapetracker Require Import View Criterion Overflow Equation Bounding Merge Exact UitDeBos Schillinger FastPath
  FirstCarry Strip Solver Decide Reshape Witness Boundaries Cut Stack Refine Product Hardness
  Quotient SubSums RowMajor Period Simplify Rounding Splits Runs Cute Shards.

(** The main theorems. *)
Definition main :=
  ((single_view_criterion, canonical_unique, theorem_10, new_view_criterion, step_depends_on_pattern,
    pattern_iff_digits, question_is_equation, merge_correct),
   (merge_complete, merge_unique, exact_merge, exact_merge_full_boxes, no_has_evidence, solve_decides,
    decide_correct, fast_path_full),
   (walk_over_boundaries, reshape_correct, split_masked_anywhere, join_masked_anywhere, exact_merge_stack, refine,
    reduction, quotient_test_exact),
   (sub_sums_no, none_fails_view, reshape_iff_boundaries, reshape_strides, one_period_mergeable, walk_is_exact,
    pieces_walked, unwrap_holds),
   (without_quotient, saturated, decide_splits_exact, common_splits, compose_layouts_exact, complement_exact,
    repetitions_compared)).

(** 1. Words. *)
Definition words :=
  (unravel_inbox, ravel_bounds, unravel_ravel, ravel_unravel, contiguous_read, contiguous_neutral,
   affine_iff_even, single_view_criterion,
   canonical_unique).

(** 2. The sources. *)
Definition sources :=
  ((theorem_10, theorem_10_strides, theorem_10_unique, can_merge_iff_mergeable),
   (table_1, table_2, stride_conditions, delta_is_linear),
   (splitting, combining, change_inside_blocks, max_merge_spec, max_merge_same_order, across_blocks,
    blocks_same_order, reshapable_iff_mergeable, new_view_criterion)).

(** 3. Overflow patterns. *)
Definition overflow_patterns :=
  ((step_depends_on_pattern, same_pattern_same_step, pattern_iff_digits, no_carry_out, patterns_complete),
   (borrows_iff_digits, borrow_is_quotient, carry_is_quotient, jumps_up, jumps_down, same_carries_same_step,
    jump_weights_weights, boundaries_as_digits, walk_over_boundaries)).

(** 4. The exact merge. *)
Definition exact :=
  ((question_is_equation, enumerate_decides, least_spec, box_iff_fills, holes_iff, even_iff_no_other_pattern),
   (merge_correct, merge_complete, merge_unique, exact_merge, exact_merge_full_boxes, fitsb_iff),
   (others_bound, cut_is_safe, cut_ends, digit_in_blocks),
   (mergeable_decidable, witness_is_uneven, box_between,
    hole_proves_no, uneven_proves_no, unfilled_has_hole, no_has_evidence, decide_correct)).

(** 5. The solver of equations. *)
Definition equations :=
  ((flip, drop_zero_weight, drop_single, no_values, reorder, coalesce, range_cut, gcd_cut, search_step),
   (residue_class, residue_exists, one_term, strip, strip_of_two, floor_sum_is_sum, small_remainder_iff),
   (strip_point_iff, three_terms_iff, search_exact, solve_decides)).

(** 6. The fast path. *)
Definition fast_path :=
  (boundary_test_exact, address_by_boundaries, fast_path_yes, fast_path_no, mergeable_iff_even, fast_path_full,
   first_carry).

(** 7. Reshapes of masked views. *)
Definition reshapes :=
  ((reshape_correct, split_masked, join_masked, broadcast_joins),
   (product_mergeable, part_mergeable, reshape_in_context, split_masked_anywhere, join_masked_anywhere)).

(** 8. Stacks, refining, joining, hardness. *)
Definition more :=
  ((stack_of_two, pattern_borrows, one_level, one_level_digits, step_depends_on_trace, trace_iff_digits,
    question_is_system, exact_merge_stack),
   (refine, refine_by_splitting, same_positions_merge, drop_one_element, join_full_inner, join_single_outer),
   (reduction_fits, reduction)).

(** 9. Symbolic sizes. *)
Definition symbolic_sizes :=
  ((quotient_test_sound, quotient_test_counts, leftover_of_step, step_without_asking, carry_beside_first,
    steps_differ_by_sub_sum, one_sign_no_zero, directions_may_be_more),
   (sub_sums_no_full, one_sign_no, one_failure_no, none_fails_full),
   (down_to_stops, reshape_view, reshape_no),
   one_period_decides,
   (first_elements, transposed_as, heads_joined, steps_of_4)).

(** 10. Index expressions. *)
Definition rules_of_forms :=
  ((negative_divisor, divided, divided_rounds_nowhere, common_divisor, divisor_one, flattened, affine_part,
    multiples_leave, reduced),
   (remainder_as_atom, normal_form, without_quotient, range_of_remainders, unwrapped, unwrap_is_congruent,
    nearest_is_shortest, least_shift, add_holds),
   (bounds_of_pieces, unwrap_holds, bounds_are_attained, quotient_range, remainder_range, digit_range,
    difference_range, elimination_eliminates, elimination_bounds),
   (known_value, truth_by_bounds, implied_bounds, tail_dropped, saturated, ends_are_least, saturated_above,
    affine_in_pieces, long_reach),
   (step_from_remainder, walk_is_exact, pieces_walked, judged_by_others, implied_by_others, on_one_form,
    extremes_joined, widened, shifted),
   (remainder_is_difference, quotient_by_remainder, reduced_numerator, unnested_remainder, remainder_of_quotient,
    turned_bounds, difference_tested, opposite_test, own_remainder),
   (operands_are_a_set, extremum_in_sum, common_part_outside, extrema_taken_apart, beaten_operand_goes,
    beaten_by_difference, shared_operands, saturated_operand, maximum_is_minimum),
   (beaten_within, quotient_of_extremum, constant_in_numerator, choices_by_one_condition, choice_in_sum,
    common_part_of_choice, equal_where_chosen, choice_is_extremum, both_extrema, product_of_extrema),
   (xor_twice, xor_neutral, bounds_of_extremum, bounds_of_cases, bounds_of_choice, spans_met, never_decides,
    replaced_where_it_decides, bounds_of_sum_contradict),
   (empty_span, bound_of_extremum, decided_but_for_one, test_of_choice, own_conditions, one_implies_other,
    chosen_conditions, implied_on_one_form, either_on_one_form),
   (primitive_form, product_of_primitives, distributed, term_divided, known_remainder, nothing_left, quotient_below,
    factor_in_common, bounds_by_corners, negated_divisor),
   (negative_remainder_range, scaled_remainder, multiple_by_remainder, difference_of_quotients, hermite,
    constant_taken_in, other_half, lower_half, quotient_of_own_remainder),
   (any_large_divisor, digit_of_quotients, eliminated_condition, floor_of_min_negative, floor_of_max_negative,
    ceiling_of_min, clamp_orders, clamp_of_clamp, capped_numerator),
   (excess, capped_product, capped_product_steps, quotient_of_digit, quotient_of_remainder, remainder_of_remainder,
    remainder_by_no_less, remainder_in_digits, remainder_of_multiple),
   (digits_joined, constant_taken_out, constant_of_remainder, complete_residues)).

Definition rules_of_machines :=
  ((rounds_alike, raised, negative_remainder, corrected, rounded_up_by_signs, truncated, raised_by_sign,
    truncated_signs, truncated_twice, truncated_small),
   (rounded_up, reciprocal, reciprocal_factor, shift_and_mask, euclid_rounds_down, raised_in_columns,
    divided_by_product, small_factor, wide_factor),
   (product_corners, quotient_corners, class_of_sum, class_of_product, class_of_quotient, remainder_is_shifted,
    remainder_interval, class_of_remainder, classes_differ),
   (class_of_either, class_divided, xor_is_sum, xor_range, xor_class, axis_cut, groups_are_whole, outermost_digit,
    digits_written),
   (remainder_by_one)).

(** 11. Splits of loops. *)
Definition splits_of_loops :=
  (split_at_run, split_loop_exact, several_loops, candidate_exact, cuts_chain, finer_serves, refines_antisymmetric,
   coarsest_splits_unique, unlike_counts, followed_run, narrowed_run, named_splits_refine, divisors_are_no_runs).

(** 12. Layouts of CuTe, and shards. *)
Definition layouts :=
  ((extended_agrees, coalesce_same, coalesced_unique, inside_iff, reached_agrees, compose_layouts_coarsest,
    complement_tiles, complement_unique, left_inverse_undoes, right_inverse_undoes, right_inverse_longest),
   (fine_wilf, one_period, after_is_rest, ramps_differ_exact, difference_exact, placed_digit, axis_of_digit),
   (rank_of_place, digit_stays, digit_among_others, placed_among_others, below_counts, place_exact, piece_is_read),
   (pieces_interval, digits_found_exact, digits_of_axis, left_inverse_answers, right_inverse_answers, not_undone,
    undone_without_nesting)).

Print Assumptions main.
Print Assumptions words.
Print Assumptions sources.
Print Assumptions overflow_patterns.
Print Assumptions exact.
Print Assumptions equations.
Print Assumptions fast_path.
Print Assumptions reshapes.
Print Assumptions more.
Print Assumptions symbolic_sizes.
Print Assumptions rules_of_forms.
Print Assumptions rules_of_machines.
Print Assumptions splits_of_loops.
Print Assumptions layouts.
