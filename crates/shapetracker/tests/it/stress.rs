//! The random comparisons with the oracles, with fresh seeds for as long as one likes: `cargo xtask stress MINUTES`.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant, SystemTime};

use crate::random::{ANSWERED, set_seed};
use crate::{addresses, chains, describe, expressions, index, maps, pairs, queries, questions, refining, views, ways};
use shapetracker_testing::environment;

/// Every property that is held against random cases.
const PROPERTIES: &[(&str, fn())] = &[
    (
        "questions::every_question_about_a_random_chain_is_decided",
        questions::every_question_about_a_random_chain_is_decided,
    ),
    ("queries::every_query_agrees_with_the_addresses", queries::every_query_agrees_with_the_addresses),
    (
        "queries::two_indices_collide_exactly_when_they_read_one_address",
        queries::two_indices_collide_exactly_when_they_read_one_address,
    ),
    (
        "queries::an_inverse_undoes_and_exists_exactly_when_nothing_collides",
        queries::an_inverse_undoes_and_exists_exactly_when_nothing_collides,
    ),
    (
        "queries::trackers_are_equal_exactly_when_their_addresses_are",
        queries::trackers_are_equal_exactly_when_their_addresses_are,
    ),
    (
        "queries::conditions_are_exactly_the_equations_of_all_steps",
        queries::conditions_are_exactly_the_equations_of_all_steps,
    ),
    (
        "queries::a_shape_fits_exactly_when_it_is_a_view_and_the_copy_makes_it_one",
        queries::a_shape_fits_exactly_when_it_is_a_view_and_the_copy_makes_it_one,
    ),
    ("describe::descriptions_say_what_all_addresses_say", describe::descriptions_say_what_all_addresses_say),
    (
        "describe::two_layouts_overlap_exactly_when_they_read_one_address",
        describe::two_layouts_overlap_exactly_when_they_read_one_address,
    ),
    ("pairs::pairs_merge_exactly_when_they_are_one_view", pairs::pairs_merge_exactly_when_they_are_one_view),
    (
        "pairs::a_view_reshapes_exactly_when_the_result_is_one_view",
        pairs::a_view_reshapes_exactly_when_the_result_is_one_view,
    ),
    (
        "pairs::stacks_keep_their_addresses_and_end_in_one_view_when_there_is_one",
        pairs::stacks_keep_their_addresses_and_end_in_one_view_when_there_is_one,
    ),
    (
        "chains::every_operation_of_a_chain_moves_what_it_should",
        chains::every_operation_of_a_chain_moves_what_it_should,
    ),
    (
        "chains::composing_two_trackers_reads_the_one_through_the_other",
        chains::composing_two_trackers_reads_the_one_through_the_other,
    ),
    ("views::one_map_written_in_two_ways_is_one_view", views::one_map_written_in_two_ways_is_one_view),
    (
        "addresses::the_readers_of_an_address_are_the_elements_that_read_it",
        addresses::the_readers_of_an_address_are_the_elements_that_read_it,
    ),
    (
        "index::chains_of_operations_have_index_expressions_that_give_their_addresses",
        index::chains_of_operations_have_index_expressions_that_give_their_addresses,
    ),
    (
        "index::stacks_of_views_have_index_expressions_that_give_their_addresses",
        index::stacks_of_views_have_index_expressions_that_give_their_addresses,
    ),
    (
        "expressions::simplified_expressions_keep_their_values_at_no_more_cost",
        expressions::simplified_expressions_keep_their_values_at_no_more_cost,
    ),
    (
        "expressions::an_index_simplified_under_its_condition_keeps_what_matters_at_no_more_cost",
        expressions::an_index_simplified_under_its_condition_keeps_what_matters_at_no_more_cost,
    ),
    (
        "expressions::simplified_expressions_stay_and_do_not_depend_on_the_order_of_operands",
        expressions::simplified_expressions_stay_and_do_not_depend_on_the_order_of_operands,
    ),
    (
        "maps::one_to_one_onto_and_preimages_are_those_of_the_walk",
        maps::one_to_one_onto_and_preimages_are_those_of_the_walk,
    ),
    ("maps::equality_and_composition_are_those_of_the_walk", maps::equality_and_composition_are_those_of_the_walk),
    (
        "maps::large_maps_have_the_answers_that_they_were_made_for",
        maps::large_maps_have_the_answers_that_they_were_made_for,
    ),
    (
        "refining::three_views_of_which_the_middle_one_can_be_split_are_two",
        refining::three_views_of_which_the_middle_one_can_be_split_are_two,
    ),
    // 20,000 chains a round: 50 rounds are a million.
    (
        "ways::padded_and_reshaped_chains_end_the_same_whatever_the_way",
        ways::padded_and_reshaped_chains_end_the_same_whatever_the_way,
    ),
];

/// Ends with a table of all questions: how often each was asked, how often the answer was wrong or not decided, and how
/// long it took.
#[test]
#[ignore = "runs for SHAPETRACKER_MINUTES: cargo xtask stress MINUTES"]
fn stress() {
    let minutes: f64 = environment("SHAPETRACKER_MINUTES").unwrap_or(1.0);
    let end = Instant::now() + Duration::from_secs_f64(60.0 * minutes);
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let first: u64 = environment("SHAPETRACKER_SEED").unwrap_or(now);
    println!("seeds from {first}");
    let mut rounds = vec![(0u64, 0u64); PROPERTIES.len()];
    let mut number = 0;
    while Instant::now() < end {
        let (name, property) = PROPERTIES[number % PROPERTIES.len()];
        let (rounds, wrong) = &mut rounds[number % PROPERTIES.len()];
        let seed = first + (number / PROPERTIES.len()) as u64;
        set_seed(seed);
        *rounds += 1;
        if catch_unwind(AssertUnwindSafe(property)).is_err() {
            *wrong += 1;
            println!("wrong: SHAPETRACKER_SEED={seed} cargo test -p shapetracker --release --test it {name}");
        }
        number += 1;
    }
    println!("\n{:<88} {:>7} {:>6}", "property", "rounds", "wrong");
    for ((name, _), (rounds, wrong)) in PROPERTIES.iter().zip(&rounds) {
        println!("{name:<88} {rounds:>7} {wrong:>6}");
    }
    println!("\n{:<40} {:>12} {:>10} {:>10} {:>10}", "question", "cases", "undecided", "mean", "worst");
    for (question, answered) in ANSWERED.lock().expect("no answer panics").iter() {
        let mean = answered.total / u32::try_from(answered.cases).unwrap_or(u32::MAX).max(1);
        let (cases, undecided, worst) = (answered.cases, answered.undecided, answered.worst);
        println!("{question:<40} {cases:>12} {undecided:>10} {mean:>10.1?} {worst:>10.1?}");
    }
    assert!(rounds.iter().all(|(_, wrong)| *wrong == 0), "some answers are wrong");
}
